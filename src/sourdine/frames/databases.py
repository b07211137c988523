"""Tables of databases by their addresses, and the engine over those of PostgreSQL.

======================================  =========================================================
``duckdb:////srv/w.db#wages``           a table or a view of a DuckDB file, opened to be read only
``postgresql://user@host/db#wages``     a table or a view of PostgreSQL, counted there
``spark:wages``, ``sc://host#wages``    a table of Spark's: on this machine, or on a cluster
======================================  =========================================================

The path of a DuckDB file is relative after three slashes and absolute after four. A schema may
stand before the name of a table, and a dot between them. An address may hold a password: errors,
reports and ledgers repeat the name of the table alone (``test_no_output_holds_the_password``).

A table of PostgreSQL is counted in the database: only values and their counts come out. Every value
leaves as the text that PostgreSQL writes of it, grouped by that text byte for byte, and is
converted here to a value of its type, on its own. So no row changes how another is read, and each
falls into the same cell as from any other engine (``test_postgres_is_an_engine``).
"""

from __future__ import annotations

import datetime as dt
from copy import copy
from decimal import Decimal
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote
from weakref import finalize

import numpy as np

from sourdine.errors import ParameterError, SourdineError
from sourdine.frames import sql
from sourdine.frames.engine import RemoteEngine, require_different
from sourdine.frames.formulas.engine import Derived, Formulas
from sourdine.frames.memory import DATES, NESTED, NUMBERS, OTHER, WORDS, Column, Declared, in_memory
from sourdine.frames.paths import DATABASE, TABLE
from sourdine.frames.reading import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sourdine.frames.cells import Codes, Whole
    from sourdine.frames.engine import Engine
    from sourdine.frames.reading import Reading
    from sourdine.storage.postgres import ColumnType, Snapshot


def open_address(source: str, reading: Reading) -> Engine:
    """Return the engine over a table, or refuse it in words that repeat nothing of its address."""
    database, table = DATABASE.fullmatch(source), TABLE.fullmatch(source)
    if table is not None:
        return _of_spark(table["table"], None, reading)
    if database is None:
        raise not_readable()
    address, name = source.partition("#")[0], unquote(database["table"])
    if database["kind"] == "duckdb":
        path = Path(unquote(database["where"].removeprefix("/")))
        return _of_duckdb(path.absolute(), name, reading)
    if database["kind"] in {"spark", "sc"}:
        return _of_spark(name, address, reading)
    return open_table(address, name, reading)


def _of_spark(table: str, master: str | None, reading: Reading) -> Engine:
    from sourdine.frames.spark.opening import open_stored

    try:
        return open_stored(f"spark:{table}", master, reading)
    except SourdineError as error:
        if error.name != "master":
            raise
        raise not_readable() from None  # an address of Spark's may hold a token


def _of_duckdb(path: Path, table: str, reading: Reading) -> Engine:
    """Return a table or a view, which reads nothing but its own file."""
    import duckdb

    from sourdine.frames.duck import Duck

    if not path.is_file():
        raise not_readable()
    folder = mkdtemp(prefix="sourdine-")
    config: dict[str, Any] = {
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "temp_directory": folder,
    }
    try:
        connection = duckdb.connect(str(path), read_only=True, config=config)
    except duckdb.Error:
        rmtree(folder, ignore_errors=True)
        raise not_readable() from None
    finalize(connection, rmtree, folder, ignore_errors=True)
    try:
        engine = Duck(_table(connection, table))
    except duckdb.Error:
        connection.close()
        raise not_readable() from None
    engine.reading = reading
    return engine


def _table(connection: Any, table: str) -> Any:
    """Return a table by its whole name; else, by the part after a dot, of the schema before it."""
    import duckdb

    try:
        return connection.sql(f"FROM {sql.name(table)}")
    except duckdb.CatalogException:
        if "." not in table:
            raise
    return connection.sql(f"FROM {'.'.join(map(sql.name, table.split('.', 1)))}")


def not_readable() -> ParameterError:
    """Return the error for a source that cannot be opened, which does not repeat it."""
    return ParameterError(
        "source",
        "name readable data",
        "",
        "Use another path; the address of a database ends in # and the name of a table.",
    )


# ---- The engine over tables of PostgreSQL --------------------------------------------------------


T = TypeVar("T")


def _within(read: Callable[[str], T]) -> Callable[[str], T | None]:
    """Read dates; None for infinite ones and those beyond Python's calendar."""

    def found(text: str) -> T | None:
        try:
            return read(text)
        except ValueError:
            return None

    return found


_date, _time = _within(dt.date.fromisoformat), _within(dt.datetime.fromisoformat)
KINDS: dict[int, tuple[str, str, Callable[[str], Any]]] = {
    16: ("boolean", NUMBERS, "true".__eq__),
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
    """Return the engine over a table or a view of ``postgresql://user@host/database``.

    Its name may have a schema and a dot before it.
    """
    from sourdine.storage.postgres import Snapshot

    quoted = ".".join(sql.name(part) for part in table.split(".", 1))
    engine = Postgres(lambda: Snapshot(url), quoted)
    engine.reading = reading
    return engine


class Postgres(RemoteEngine):
    """The rows of a table; a query sees all of them as of one moment.

    ``look`` opens a snapshot of the database.
    """

    _what = "a PostgreSQL table", "Copy the necessary columns to a file, if they are small."

    def __init__(self, look: Callable[[], Snapshot], table: str) -> None:
        self._begin, self._table = look, table
        types = look().types(table)
        require_different(tuple(types))
        self._numbers = {name: one.number for name, one in types.items()}
        self._types = {name: _declared(one) for name, one in types.items()}
        self.columns = tuple(types)
        self._places: dict[str, str] = {}
        self._snapshot: Snapshot | None = None

    def afresh(self) -> Postgres:
        """Return the rows as of the first query after this call."""
        engine = copy(self)
        engine._snapshot = self._begin()  # noqa: SLF001
        return engine

    def kind(self, name: str) -> str | None:
        return self._type(name)[0]

    def declared(self, name: str) -> Declared | None:
        return self._types[name]

    def _type(self, name: str) -> tuple[str, str, Callable[[str], Any]]:
        return KINDS.get(self._numbers[name], TEXT)

    def rows(self) -> int:
        return sum(int(counts.sum()) for _, counts in self.combinations(()))

    def combinations(self, names: Sequence[str]) -> Iterator[tuple[list[Column], Whole]]:
        """Yield values and how many rows have them."""
        needed = list(dict.fromkeys(names))
        keys = ", ".join(str(i + 1) for i in range(len(needed)))
        written = ", ".join([*map(self._written, needed), "count(*)::text"])
        query = f"SELECT {written} FROM {self._table}"  # noqa: S608 - quoted
        snapshot = self._begin() if self._snapshot is None else self._snapshot
        for found in snapshot.rows(f"{query} GROUP BY {keys}" if needed else query):
            *texts, counts = zip(*found, strict=True)
            values = {n: self._column(n, own) for n, own in zip(needed, texts, strict=True)}
            yield [values[name] for name in names], np.array(list(map(int, counts)), np.int64)

    def split(self, name: str, keys: Codes) -> list[Engine]:
        """Return the rows of each key, which are selected here by the values that occur."""
        return Derived(self, Formulas(None, {})).split(name, keys)

    def _written(self, name: str) -> str:
        """Return a value as a text; a single-precision float as the equal double."""
        place = sql.name(self._places.get(name, name))
        value = f"{place}::float8" if self._numbers[name] == 700 else place
        return f'{value}::text COLLATE "C"'

    def _in_memory(self, names: Sequence[str]) -> Engine:
        return in_memory(self, names)

    def _column(self, name: str, texts: Sequence[str | None]) -> Column:
        kind = _, holds, read = self._type(name)
        values = [None if text is None else read(text) for text in texts]
        return Column.of(values, holds=holds, reading=self.reading if kind is TEXT else STANDARD)

    def derived(self, formulas: Formulas) -> Postgres | None:
        """Return filtered rows with derived columns, if they are computed as NumPy does."""
        from sourdine.frames.formulas.sql import PostgresOf
        from sourdine.frames.formulas.tree import NotExactError

        to = PostgresOf(self._numbers)
        try:
            added = {name: to.column(node) for name, node in formulas.columns.items()}
            kept = "" if formulas.where is None else f" WHERE {to.write(formulas.where)}"
        except NotExactError:
            return None
        places, numbers, types, listed = {**self._places}, {**self._numbers}, {**self._types}, ["*"]
        for name, (written, kind, number) in added.items():
            place = f"derived {len(listed)}"  # names have at most 63 bytes there
            while place in self._numbers:
                place += "'"
            listed.append(f"{written} AS {sql.name(place)}")
            places[name], numbers[name] = place, number
            types[name] = Declared(KINDS.get(number, TEXT)[1], kind)
        rows = f"SELECT {', '.join(listed)} FROM {self._table}{kept}"  # noqa: S608 - quoted
        engine = copy(self)
        engine.columns = (*self.columns, *added)
        own = {"_table": f"({rows}) AS computed", "_numbers": numbers, "_types": types}
        vars(engine).update(own, _places=places)
        return engine
