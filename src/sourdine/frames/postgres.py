"""PostgreSQL tables, counted in the database: only values and their counts come out.

Every value leaves as the text that PostgreSQL writes of it, grouped by that text byte for byte, and
is converted here to a value of its type, on its own. So no row changes how another is read, and
each falls into the same cell as from any other engine (``test_postgres_is_an_engine``).
"""

from __future__ import annotations

import datetime as dt
from copy import copy
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.frames import sql
from sourdine.frames.engine import Engine, require_different
from sourdine.frames.memory import (
    DATES,
    NESTED,
    NUMBERS,
    OTHER,
    WORDS,
    Column,
    Declared,
    memory_of_columns,
)
from sourdine.frames.reading import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.cells import Cell, Codes
    from sourdine.frames.memory import Memory
    from sourdine.frames.people import Reduction
    from sourdine.frames.reading import Reading
    from sourdine.storage.postgres import ColumnType, Snapshot


Whole = np.ndarray[Any, np.dtype[np.int64]]


def _date(text: str) -> dt.date | None:
    """Parse a date; None for infinite dates and those beyond Python's calendar."""
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return None


def _time(text: str) -> dt.datetime | None:
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        return None


TRUE = "true"
KINDS: dict[int, tuple[str, str, Callable[[str], Any]]] = {
    16: ("boolean", NUMBERS, TRUE.__eq__),
    20: ("integer", NUMBERS, int),
    21: ("integer", NUMBERS, int),
    23: ("integer", NUMBERS, int),
    700: ("float", NUMBERS, float),
    701: ("float", NUMBERS, float),
    1700: ("decimal", NUMBERS, Decimal),
    1082: ("date", DATES, _date),
    1114: ("timestamp", DATES, _time),
    1184: ("timestamp", DATES, _time),
}
"""By the OID of the type: its name, what it holds, and its parser."""
TEXT: tuple[str, str, Callable[[str], Any]] = ("text", WORDS, str)
CATEGORIES = {"S": WORDS, "E": WORDS, "N": WORDS, "A": NESTED, "C": NESTED}
"""What other types hold, by PostgreSQL's category: strings, enums, arrays, composites.

Other numbers, such as money, are treated as text.
"""


def _declared(one: ColumnType) -> Declared:
    known = KINDS.get(one.number)
    return Declared(known[1] if known else CATEGORIES.get(one.category, OTHER), one.name)


def open_table(url: str, table: str, reading: Reading = STANDARD) -> Postgres:
    """Return the engine over a table or a view.

    Parameters
    ----------
    url
        The database: ``postgresql://user@host/database``.
    table
        Its name, optionally with a schema and a dot before it.
    reading
        How texts are read.
    """
    from sourdine.storage.postgres import Snapshot

    quoted = ".".join(sql.name(part) for part in table.split(".", 1))
    engine = Postgres(lambda: Snapshot(url), quoted)
    engine.reading = reading
    return engine


class Postgres(Engine):
    """The rows of a table; a query sees all of them as of one moment.

    Parameters
    ----------
    look
        Opens a snapshot of the database.
    table
        The table, quoted.
    """

    away = True

    def __init__(self, look: Callable[[], Snapshot], table: str) -> None:
        self._begin, self._table = look, table
        types = look().types(table)
        require_different(tuple(types))
        self._types = {name: one.number for name, one in types.items()}
        self._declared = {name: _declared(one) for name, one in types.items()}
        self._names = tuple(self._types)
        self._snapshot: Snapshot | None = None
        self._cuts: tuple[tuple[str, Codes, int], ...] = ()

    def afresh(self) -> Postgres:
        """Return the rows as of the first query after this call."""
        engine = copy(self)
        engine._snapshot = self._begin()  # noqa: SLF001
        return engine

    @property
    def columns(self) -> tuple[str, ...]:
        return self._names

    def kind(self, name: str) -> str | None:
        return self._type(name)[0]

    def declared(self, name: str) -> Declared | None:
        return self._declared[name]

    def _type(self, name: str) -> tuple[str, str, Callable[[str], Any]]:
        return KINDS.get(self._types[name], TEXT)

    def rows(self) -> int:
        return sum(int(counts.sum()) for _, counts in self._counted(()))

    def groups(self, cells: Sequence[tuple[str, Cell]]) -> Iterator[tuple[list[Whole], Whole]]:
        for columns, counts in self._counted([name for name, _ in cells]):
            yield [cell.slots(c) for (_, cell), c in zip(cells, columns, strict=True)], counts

    def combinations(self, names: Sequence[str]) -> Iterator[tuple[list[Column], Whole]]:
        yield from self._counted(names)

    def _counted(self, names: Sequence[str]) -> Iterator[tuple[list[Column], Whole]]:
        """Yield values and how many of the selected rows have them."""
        needed = self._needed(names)
        keys = ", ".join(str(i + 1) for i in range(len(needed)))
        grouped = f" GROUP BY {keys}" if needed else ""
        for found in self._asked([*map(self._written, needed), "count(*)::text"], grouped):
            *texts, written = zip(*found, strict=True)
            values = {n: self._column(n, own) for n, own in zip(needed, texts, strict=True)}
            counts = np.array([int(n) for n in written], np.int64)
            there = self._uncut(values, len(counts))
            yield [values[name][there] for name in names], counts[there]

    def _needed(self, names: Sequence[str]) -> list[str]:
        return list(dict.fromkeys([*names, *(name for name, _, _ in self._cuts)]))

    def _uncut(self, values: dict[str, Column], n: int) -> NDArray[np.bool_]:
        there = np.ones(n, np.bool_)
        for name, keys, code in self._cuts:
            there &= keys.slots(values[name]) == code
        return there

    def _asked(self, columns: Sequence[str], grouped: str = "") -> Iterator[list[tuple[Any, ...]]]:
        snapshot = self._begin() if self._snapshot is None else self._snapshot
        query = f"SELECT {', '.join(columns)} FROM {self._table}{grouped}"  # noqa: S608 - quoted
        yield from snapshot.rows(query)

    def _written(self, name: str) -> str:
        """Return a value as a text; a single-precision float as the equal double."""
        value = f"{sql.name(name)}::float8" if self._types[name] == 700 else sql.name(name)
        return f'{value}::text COLLATE "C"'

    def _column(self, name: str, texts: Sequence[str | None]) -> Column:
        _, holds, read = self._type(name)
        values = [None if text is None else read(text) for text in texts]
        return Column.of(values, holds=holds, reading=self._reading_of(name))

    def _reading_of(self, name: str) -> Reading:
        return self.reading if self._type(name) is TEXT else STANDARD

    def only(self, *names: str) -> Postgres:
        engine = copy(self)
        engine._names = names  # noqa: SLF001
        return engine

    def split(self, name: str, keys: Codes) -> list[Engine]:
        parts: list[Engine] = []
        for code in range(keys.size):
            part = copy(self)
            part._cuts = (*self._cuts, (name, keys, code))  # noqa: SLF001
            parts.append(part)
        return parts

    def bound(self, unit: str, rows: int, key: bytes) -> Engine:
        """Read the needed columns into memory, and keep at most ``rows`` rows of each person."""
        return self._in_memory(self._names).bound(unit, rows, key)

    def reduced(self, how: Reduction) -> Engine:
        """Read the needed columns into memory, and reduce the rows of each person there."""
        return self._in_memory(how.needed).reduced(how)

    def _in_memory(self, names: Sequence[str]) -> Memory:
        needed = self._needed(names)
        found = [row for some in self._asked(list(map(self._written, needed))) for row in some]
        texts = list(zip(*found, strict=True)) or [()] * len(needed)
        values = {n: self._column(n, own) for n, own in zip(needed, texts, strict=True)}
        there = self._uncut(values, len(found))
        engine = memory_of_columns({n: values[n][there] for n in names}, int(there.sum()))
        engine.reading = self.reading
        return engine

    def slots(self, cells: Sequence[tuple[str, Cell]], rows: int) -> Iterator[list[Whole]]:
        """Raise: single rows do not leave the engine."""
        del cells, rows
        raise _away()

    def column(self, name: str, *, strict: bool = False) -> Column:
        """Raise: single rows do not leave the engine."""
        del name, strict
        raise _away()


def _away() -> ParameterError:
    return ParameterError(
        "data",
        "be on this machine to be read row by row",
        "a PostgreSQL table",
        "Copy the necessary columns to a file, if they are small.",
    )
