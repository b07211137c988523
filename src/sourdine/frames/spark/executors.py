"""Python functions on Spark executors, and the interpreter that runs them."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from weakref import WeakSet
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from sourdine.errors import ParameterError
from sourdine.frames.cells import inside
from sourdine.frames.engine import Flat, merge
from sourdine.frames.memory import memory_of_arrow
from sourdine.frames.reading import STANDARD
from sourdine.frames.spark.dataframe import functions, is_remote, unlogged
from sourdine.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sourdine.frames.cells import Cell, Codes, Whole
    from sourdine.frames.engine import Asked
    from sourdine.frames.reading import Reading


# ---- The executors' Python -----------------------------------------------------------------------
#
# Spark starts ``python3`` on every executor unless ``PYSPARK_PYTHON`` names another, and that
# Python may lack packages that the driver has. Three cases:
#
# * Spark runs on this machine and ``PYSPARK_PYTHON`` is not set: our functions run under the
#   interpreter of the driver.
# * The executors' Python has NumPy and pyarrow, which functions over Arrow need: missing pure
#   Python packages, including Sourdine itself, are sent along once per session.
# * Anything else is refused before a row is read, with the Python that was found and what to type.


_COMPILED = ("numpy", "pyarrow")
"""Packages that the executors must have."""
_PLAIN = ("sourdine", "narwhals", "attr", "attrs")
"""Packages that are sent to them if missing."""
_PYTHON = "PYSPARK_PYTHON"
_OTHER_VERSION = re.compile(r"different version: (\d+\.\d+)")

_prepared: WeakSet[Any] = WeakSet()
"""The Spark contexts, and the sessions of Connect, whose executors have all they need."""
_sent: list[TemporaryDirectory[str]] = []
"""Executors that start later fetch what was sent, so it is kept until this process ends."""


def mapped(rows: Any, work: Callable[[Iterator[Any]], Iterator[Any]], types: Any) -> Any:
    """Return the frame that a function makes of batches of rows, on the executors."""
    with _python_of_the_driver(rows.sparkSession) as same:
        if not same:
            _prepare(rows)
        return rows.mapInArrow(work, types)


@contextmanager
def _python_of_the_driver(session: Any) -> Iterator[bool]:
    """Let a local Spark run the next functions under this interpreter, unless another is set.

    Yields whether it will. The user's own functions are not affected.
    """
    if not _is_local(session) or _PYTHON in os.environ or not sys.executable:
        yield False
        return
    context = session.sparkContext
    before = context.pythonExec
    context.pythonExec = sys.executable
    try:
        yield True
    finally:
        context.pythonExec = before


def _is_local(session: Any) -> bool:
    """Return whether Spark runs on this machine, and was started by this process."""
    return not is_remote(session) and session.sparkContext.master.startswith("local")


def _prepare(rows: Any) -> None:
    """Check once per session what the executors' Python lacks, and send what can be sent."""
    session = rows.sparkSession
    owner = session if is_remote(session) else session.sparkContext
    if owner in _prepared:
        return
    lacking = _lacking(rows)
    if lacking:
        _send(session, lacking)
    _prepared.add(owner)


def _lacking(rows: Any) -> list[str]:
    """Return which pure Python packages the executors lack; refuse if they lack others.

    The query reads no data, so its error may be inspected.
    """
    session, names, version = rows.sparkSession, (*_COMPILED, *_PLAIN), __version__

    def look() -> str:  # sent by value: it must use nothing of this module
        import json
        import sys
        from importlib.util import find_spec
        from pathlib import Path

        lacks = [name for name in names if find_spec(name) is None]
        own = find_spec("sourdine")
        if own is not None and own.origin is not None:
            written = Path(own.origin).with_name("version.py").read_text(encoding="utf-8")
            if f'"{version}"' not in written:
                lacks.append("sourdine")
        return json.dumps([sys.executable, lacks])

    f = functions(rows)
    try:
        with unlogged():
            asked = session.range(1).select(f.udf(look, "string", useArrow=False)().alias("told"))
            found, lacks = json.loads(asked.collect()[0]["told"])
    except Exception as error:  # noqa: BLE001 - Spark has many types of errors
        other = _OTHER_VERSION.search(str(error))
        raise _refusal(
            session, f"Python {other[1]}" if other else "one that does not start"
        ) from None
    compiled = [name for name in _COMPILED if name in lacks]
    if compiled:
        raise _refusal(session, f"{found} without {' and '.join(compiled)}", found, compiled)
    return [name for name in lacks if name in _PLAIN]


def _refusal(
    session: Any, found: str, python: str = "", lacks: Sequence[str] = ()
) -> ParameterError:
    """Return the error that says which Python the executors run, and what to type."""
    version = ".".join(map(str, sys.version_info[:2]))
    if _is_local(session):
        hint = f"Before Spark starts, set os.environ[{_PYTHON!r}] = {sys.executable!r}."
    elif lacks:
        hint = f"On every executor, run {python} -m pip install {' '.join(lacks)}."
    else:
        hint = f"Set {_PYTHON} to python{version} where Spark is started."
    return ParameterError(
        "the Python of Spark's executors", f"be Python {version} with {' and '.join(_COMPILED)}",
        found, hint,
    )  # fmt: skip


def _send(session: Any, names: Sequence[str]) -> None:
    """Send packages to the executors, whose Python then finds them before others."""
    folder = TemporaryDirectory(prefix="sourdine-")
    _sent.append(folder)
    archive = Path(folder.name) / f"sourdine-{__version__}-packages.zip"
    with ZipFile(archive, "w", ZIP_DEFLATED) as packed:
        for name in dict.fromkeys(names):
            spec = find_spec(name)
            for place in (spec and spec.submodule_search_locations) or ():
                for file in sorted(Path(place).rglob("*.py")):
                    packed.write(file, Path(name) / file.relative_to(place))
    if is_remote(session):
        session.addArtifacts(str(archive), pyfile=True)
        return
    paths = list(sys.path)
    session.sparkContext.addPyFile(str(archive))
    sys.path[:] = paths  # it also puts the archive on the driver's path


# ---- Counting on the executors -------------------------------------------------------------------
#
# Each task reads its batches with the engine for data in memory and yields, once, the slots that
# occur in them and their sums. Spark adds up the tasks. A task that runs again yields the same.


ROWS = 1 << 17
"""Batches are joined to this many rows: Spark's batches of 10,000 are small for NumPy."""
DENSE = 1 << 21
DIGIT = 32
"""Sums leave a task in digits of this many bits, so that those of all tasks fit 64 bits."""
COUNTED = 44
_HALF = 31


def tables(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the rows as tables of about `ROWS`, and at most twice as many."""
    import pyarrow as pa

    held: list[Any] = []
    n = 0
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS):
            held.append(batch.slice(start, ROWS))
            n += held[-1].num_rows
            if n >= ROWS:
                yield pa.Table.from_batches(held).combine_chunks()
                held, n = [], 0
    if n:
        yield pa.Table.from_batches(held).combine_chunks()


def digits(asked: Asked) -> list[int]:
    """Return the number of digits of each number of an answer: the rows, then the sums."""
    if asked.most is None:
        return [1]
    cell: Any = asked.cells[-1][1]
    most = [(cell.grid.last**p).bit_length() + COUNTED for p in range(1, asked.most + 1)]
    return [1, 1, *(-(-bits // DIGIT) for bits in most)]


def decoded(asked: Asked, row: Sequence[int]) -> list[int]:
    """Return the numbers that digits stand for."""
    found, start = [], 0
    for n in digits(asked):
        own = row[start : start + n]
        found.append(sum(int(d) << (DIGIT * i) for i, d in enumerate(own)))
        start += n
    return found


@dataclass(frozen=True)
class Work:
    """Counts one partition's batches, for several queries at once.

    ``ready`` are the cells whose slots are in the batches, and their columns.
    """

    asked: tuple[Asked, ...]
    ready: dict[tuple[str, Cell], str]
    reading: Reading = STANDARD

    @property
    def axes(self) -> int:
        """The number of slots of an output row."""
        return max((len(asked.axes) for asked in self.asked), default=0)

    @property
    def names(self) -> list[str]:
        """The columns of the output: the query, slots, numbers."""
        most = max(sum(digits(asked)) for asked in self.asked)
        return ["q", *(f"k{i}" for i in range(self.axes)), *(f"v{i}" for i in range(most))]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the slots that occur in the partition, and their numbers."""
        import pyarrow as pa

        totals = [Sums(asked) if asked.most is not None else Counts(asked) for asked in self.asked]
        for table in tables(batches):
            found = self._slots(table)
            for asked, total in zip(self.asked, totals, strict=True):
                slots = [found[each] for each in asked.cells]
                if asked.within is not None:
                    there = inside(slots[-1], asked.within)
                    slots = [slot[there] for slot in slots]
                total.add(slots, table.num_rows)
        for q, total in enumerate(totals):
            slots, numbers = total.found()
            if not len(numbers[0]):
                continue
            blank = np.zeros(len(numbers[0]), np.int64)
            columns = [blank + q, *slots, *[blank] * (self.axes - len(slots)), *numbers]
            columns += [blank] * (len(self.names) - len(columns))
            arrays = [pa.array(column, pa.int64()) for column in columns]
            yield pa.RecordBatch.from_arrays(arrays, names=self.names)

    def _slots(self, table: Any) -> dict[tuple[str, Cell], Whole]:
        found: dict[tuple[str, Cell], Whole] = {}
        engine = memory_of_arrow(table, self.reading)
        for name, cell in {each for asked in self.asked for each in asked.cells}:
            place = self.ready.get((name, cell))
            own = (
                cell.slots(engine.column(name)) if place is None else table.column(place).to_numpy()
            )
            found[name, cell] = np.asarray(own, np.int64)
        return found


class Counts:
    """Counts how many rows have each combination of slots."""

    def __init__(self, asked: Asked) -> None:
        self._flat = Flat(cell for _, cell in asked.cells)
        self._table = np.zeros(self._flat.width if self._flat.width <= DENSE else 0, np.int64)
        self._parts: list[Any] = []

    def add(self, slots: Sequence[Whole], rows: int) -> None:
        flat = self._flat.of(slots, np.zeros(len(slots[0]) if slots else rows, np.int64))
        if len(self._table):
            self._table += np.bincount(flat, minlength=len(self._table))
            return
        self._parts.append((flat, None))
        if len(self._parts) >= 16:
            self._parts = [merge(self._parts)]

    def found(self) -> tuple[list[Whole], list[Whole]]:
        """Return the slots that occur, and their counts."""
        if len(self._table):
            flat: Any = np.flatnonzero(self._table)
            counts = self._table[flat]
        else:
            flat, counts = merge(self._parts)
        return self._flat.back(flat), [counts]


class Sums:
    """Adds up rows and powers of ticks, exactly, for each combination of slots."""

    def __init__(self, asked: Asked) -> None:
        self._asked, self._flat = asked, Flat(cell for _, cell in asked.axes)
        self._sums: dict[int, list[int]] = {}

    def add(self, slots: Sequence[Whole], rows: int) -> None:
        *axes, ticks = slots
        flat = self._flat.of(axes, np.zeros(len(ticks), np.int64))
        groups, which = np.unique(flat, return_inverse=True)
        there = ticks >= 0
        t, g = ticks[there], which[there]
        added = [np.bincount(place, minlength=len(groups)).tolist() for place in (which, g)]
        cell: Any = self._asked.cells[-1][1]
        last, powers = cell.grid.last, range(1, (self._asked.most or 0) + 1)
        added += [_powers(t, g, len(groups), power, last) for power in powers]
        for group, own in zip(groups.tolist(), zip(*added, strict=True), strict=True):
            known = self._sums.setdefault(group, [0] * len(own))
            self._sums[group] = [a + int(b) for a, b in zip(known, own, strict=True)]

    def found(self) -> tuple[list[Whole], list[Whole]]:
        """Return the slots that occur, and the digits of their numbers."""
        keys = np.array(list(self._sums), self._flat.kind)
        columns = []
        for i, length in enumerate(digits(self._asked)):
            values = [own[i] for own in self._sums.values()]
            for d in range(length):
                mask = (1 << DIGIT) - 1 if length > 1 else -1
                columns.append(np.array([(v >> (DIGIT * d)) & mask for v in values], np.int64))
        return self._flat.back(keys), columns


def _powers(ticks: Whole, which: Whole, groups: int, power: int, last: int) -> list[int]:
    """Return the exact sum of a power of the ticks of each group."""
    if last**power >= 1 << (2 * _HALF):
        total = [0] * groups
        for g, t in zip(which.tolist(), ticks.tolist(), strict=True):
            total[g] += t**power
        return total
    halves = (ticks**power >> _HALF, ticks**power & ((1 << _HALF) - 1))
    high, low = (np.bincount(which, half, groups).tolist() for half in halves)
    return [(int(a) << _HALF) + int(b) for a, b in zip(high, low, strict=True)]


@dataclass(frozen=True)
class Texts:
    """Counts the combinations of texts in a partition's columns."""

    columns: tuple[str, ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the texts that occur, and their counts."""
        import pyarrow as pa

        found: dict[tuple[str | None, ...], int] = {}
        for table in tables(batches):
            engine = memory_of_arrow(table)
            texts = [engine.column(name).texts.tolist() for name in self.columns]
            for key in zip(*texts, strict=True):
                found[key] = found.get(key, 0) + 1
        keys = list(zip(*found, strict=True)) or [()] * len(self.columns)
        columns = [pa.array(list(key), pa.string()) for key in keys]
        names = [*(f"k{i}" for i in range(len(columns))), "n"]
        counts = pa.array(list(found.values()), pa.int64())
        yield pa.RecordBatch.from_arrays([*columns, counts], names=names)


@dataclass(frozen=True)
class Chosen:
    """Selects the rows of one key, by its index among all listed keys."""

    column: str
    keys: Codes
    code: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows that have the key."""
        for table in tables(batches):
            codes = self.keys.slots(memory_of_arrow(table).column(self.column))
            yield from table.filter(np.asarray(codes) == self.code).to_batches()
