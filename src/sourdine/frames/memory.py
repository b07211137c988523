"""Data in memory: NumPy columns, their declared types, and frames of any library."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache, cached_property, partial, reduce
from itertools import pairwise, starmap
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sourdine.calendar import DAY, NOWHERE, counted, instants_of, moment
from sourdine.errors import ParameterError
from sourdine.frames.cells import Codes
from sourdine.frames.engine import Engine, add_products, gather, read_like, require_different
from sourdine.frames.people import numbered, shared, values_of, whole_numbers
from sourdine.frames.reading import STANDARD, as_float, read_text
from sourdine.frames.units import kept
from sourdine.grid import BLOCK, MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from sourdine.frames.cells import Cell, Ticks, Whole
    from sourdine.frames.engine import Groups, Named, NamedTicks, Occurring, Powers, Tally, Types
    from sourdine.frames.people import Reduction
    from sourdine.frames.reading import Reading

    Coded = tuple[list[str | None], Whole]


T = TypeVar("T")


# ---- Series of dates and times as instants -------------------------------------------------------


def instants_of_series(series: Any) -> Whole | None:
    """Return the instants of a narwhals series of dates or times; None if it must be read singly.

    The underlying integers are read directly: engines differ in how they convert dates before the
    year 1 or after the year 9999, and in how they round.
    """
    import narwhals as nw

    native, kind = nw.to_native(series), series.implementation
    unit = "D" if series.dtype == nw.Date else getattr(series.dtype, "time_unit", "")
    try:
        if kind.is_polars():
            physical = nw.from_native(native.to_physical(), series_only=True)
            whole = physical.cast(nw.Int64).fill_null(NOWHERE)
            return counted(np.asarray(whole.to_numpy(), np.int64), unit)
        if kind.is_pyarrow():
            return _of_arrow(native, unit)
        if not kind.is_pandas():
            return None
        if hasattr(native.array, "__arrow_array__") and str(native.dtype).endswith("[pyarrow]"):
            import pyarrow as pa

            return _of_arrow(pa.chunked_array(native.array.__arrow_array__()), unit)
        plain = native if native.dt.tz is None else native.dt.tz_convert(None)
        return instants_of(plain.to_numpy())
    except Exception:  # noqa: BLE001 - every engine has its own errors
        return None


def _of_arrow(native: Any, unit: str) -> Whole:
    import pyarrow as pa

    narrow = pa.types.is_date32(native.type)
    whole = native.cast(pa.int32()).cast(pa.int64()) if narrow else native.cast(pa.int64())
    x = np.asarray(whole.fill_null(NOWHERE).to_numpy(), np.int64)
    if not pa.types.is_date64(native.type):
        return counted(x, unit)
    instants = counted(x, "ms")
    return np.where(instants == NOWHERE, NOWHERE, instants // DAY * DAY)


# ---- Columns -------------------------------------------------------------------------------------


NUMBERS, WORDS, DATES = "numbers", "words", "dates"
HOLDS = (NUMBERS, WORDS, DATES)
_HOLDS = dict.fromkeys("biuf", NUMBERS) | dict.fromkeys("UST", WORDS) | {"M": DATES}
"""What arrays hold, by the letter of their type."""
_INT64 = 1 << 63
_TEXT = {str, type(None)}
_ALIKE = (_TEXT | {float}, _TEXT | {int})
"""Types of which equal values have equal texts: so not 2**53 and the same as a float."""


class Column:
    """The values of a column, each converted on its own.

    ``data`` are booleans, integers, floats, or objects of any kind; ``gone`` says which booleans or
    integers are missing. ``holds`` is the declared kind: `NUMBERS`, `WORDS` or `DATES`, or None if
    there is no declared type, as in a list.
    """

    def __init__(
        self,
        data: NDArray[Any],
        gone: NDArray[np.bool_] | None = None,
        *,
        holds: str | None = None,
        reading: Reading = STANDARD,
    ) -> None:
        self.data = data
        self.gone = gone if gone is not None and gone.any() else None
        self.holds = holds
        self.reading = reading

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, rows: Any) -> Column:
        gone = None if self.gone is None else self.gone[rows]
        part = Column(self.data[rows], gone, holds=self.holds, reading=self.reading)
        return self._pass_on(part, rows)

    def _pass_on(self, part: Column, rows: Any) -> Column:
        """Give a part of the column what was converted already."""
        for read in ("numbers", "instants"):
            if read in vars(self):
                vars(part)[read] = vars(self)[read][rows]
        if "coded" in vars(self):
            texts, which = self.coded
            vars(part)["coded"] = texts, which[rows]
        return part

    @property
    def kind(self) -> str:
        """The letter of the type of the array that holds the values."""
        return self.data.dtype.kind

    def read_as(self, *, numbers: bool, dates: bool) -> Column:
        """Convert all values once, so that parts of the column need not."""
        if dates:
            _ = self.instants
        elif self.kind == "O" or self.data.dtype == np.uint64:
            _ = self.numbers if numbers else self.coded
        return self

    @classmethod
    def of(
        cls, values: Sequence[Any], *, holds: str | None = None, reading: Reading = STANDARD
    ) -> Column:
        """Convert Python values one by one: none of them changes how another is read."""
        kinds = set(map(type, values))
        if kinds == {float}:
            return cls(np.array(values, np.float64), holds=holds)
        if kinds == {bool}:
            return cls(np.array(values, bool), holds=holds)
        if kinds == {int} and all(-_INT64 <= v < _INT64 for v in (min(values), max(values))):
            return cls(np.array(values, np.int64), holds=holds)
        column = cls(_objects(values), holds=holds, reading=reading)
        column._types = kinds
        return column

    @classmethod
    def of_array(cls, array: NDArray[Any]) -> Column:
        """Convert a NumPy array; masked values are missing."""
        gone = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
        data = np.asarray(array)
        holds = _HOLDS.get(data.dtype.kind)
        if data.dtype.kind == "f":
            data = data if data.dtype.itemsize <= 8 else data.astype(np.float64)
            return cls(data if gone is None else np.where(gone, np.nan, data), holds=holds)
        if data.dtype.kind in "biu":
            return cls(data, gone, holds=holds)
        if data.dtype.kind == "M":
            there = data if gone is None else np.where(gone, np.datetime64("NaT"), data)
            return Moments(instants_of(there), lambda: _objects(list(there)))
        objects = _objects(list(data) if data.dtype.kind == "m" else data.tolist())
        if gone is not None:
            objects[gone] = None
        return cls(objects, holds=holds)

    @cached_property
    def numbers(self) -> NDArray[Any]:
        """Integers (see `gone`), floats with NaN, or objects: each an int, a float or None."""
        if self.kind == "b":
            x = self.data.astype(np.float64)
            return x if self.gone is None else np.where(self.gone, np.nan, x)
        if self.kind == "O":
            if not self._types <= _TEXT:
                return _objects([self.reading.number(v) for v in self.data])
            texts, which = self.coded
            found = [self.reading.number(text) for text in texts]
            if any(type(x) is int for x in found):
                return _objects(found)[which]
            return np.array([np.nan if x is None else x for x in found], np.float64)[which]
        if self.data.dtype == np.uint64 and not (self.data >> np.uint64(63)).any():
            return self.data.astype(np.int64)
        return self.data

    @cached_property
    def instants(self) -> Whole:
        """Microseconds from 1970 to each date or time; `NOWHERE` where missing."""
        if self.kind != "O":
            return np.full(len(self), NOWHERE)
        alike, read = self._types <= _TEXT, self.reading.instant
        once = cache(read)  # the same text is read once
        values = self.coded[0] if alike else self.data
        found = [once(v) if type(v) is str else read(v) for v in values]
        instants = np.array([NOWHERE if x is None else x for x in found], np.int64)
        return instants[self.coded[1]] if alike else instants

    @cached_property
    def _types(self) -> AbstractSet[type]:
        """The types of the values, where they are objects."""
        return set(map(type, self.data.tolist()))

    @cached_property
    def coded(self) -> Coded:
        """Texts, and the index of each value's text; equal values share one, and texts may repeat.

        So a million values of a few words are converted as these words.
        """
        if self.kind != "O":
            distinct, which = np.unique(self.data, return_inverse=True)
            texts = [read_text(v) for v in distinct.tolist()]
            return (texts, which) if self.gone is None else _without(texts, which, self.gone)
        values = self.data.tolist()
        if not any(self._types <= alike for alike in _ALIKE):
            values = [read_text(v) for v in values]
        place = {v: i for i, v in enumerate(dict.fromkeys(values))}
        which = np.fromiter(map(place.__getitem__, values), np.int64, len(values))
        return [read_text(v) for v in place], which

    @property
    def texts(self) -> NDArray[Any]:
        """The text of each value, None where missing."""
        texts, which = self.coded
        return _objects(texts)[which]

    def by_text(self, of: Callable[[str | None], int]) -> Whole:
        """Return an integer for each value, by a function of its text."""
        texts, which = self.coded
        if len(texts) <= len(which):
            return np.fromiter(map(of, texts), np.int64, len(texts))[which]
        return np.fromiter((of(texts[i]) for i in which.tolist()), np.int64, len(which))

    def occurring(self, counts: Whole | None = None) -> dict[str | None, int]:
        """Return the texts that occur and how often, None for missing values.

        ``counts`` are the numbers of rows that have each value; None for one each.
        """
        texts, which = self.coded
        n = np.bincount(which, minlength=len(texts))
        if counts is not None:
            n = np.zeros(len(texts), np.int64)
            np.add.at(n, which, counts)
        found: dict[str | None, int] = {}
        for text, k in zip(texts, n.tolist(), strict=True):
            if k:
                found[text] = found.get(text, 0) + k
        return found

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which values have a text."""
        kind = self.kind
        if kind == "f":
            return np.asarray(~np.isnan(self.data), np.bool_)
        if kind == "O":
            texts, which = self.coded
            return np.array([text is not None for text in texts], np.bool_)[which]
        return np.ones(len(self), np.bool_) if self.gone is None else ~self.gone

    @property
    def floats(self) -> NDArray[np.float64]:
        """The numbers as floats, NaN where missing."""
        x = self.numbers
        if x.dtype.kind == "O":
            return np.array([np.nan if v is None else as_float(v) for v in x], np.float64)
        floats = x.astype(np.float64)
        return floats if self.gone is None else np.where(self.gone, np.nan, floats)

    @property
    def values(self) -> NDArray[Any]:
        """The original values: NaN or None where missing."""
        if self.gone is None:
            return self.data
        if (x := self.array) is not None:
            return x
        objects = self.data.astype(object)
        objects[self.gone] = None
        return objects

    @property
    def array(self) -> NDArray[Any] | None:
        """The values as one NumPy array of numbers; None if floats would lose digits."""
        x = self.numbers
        gone = self.gone
        if x.dtype.kind == "O":
            lossy = any(type(v) is int and abs(v) > 1 << 53 for v in x)
            return None if lossy else np.array([np.nan if v is None else v for v in x], np.float64)
        if gone is None or x.dtype.kind == "f":
            return x
        present = x[~gone]
        if present.size and max(-int(present.min()), int(present.max())) > 1 << 53:
            return None
        return np.where(gone, np.nan, x.astype(np.float64))


class Typed(Column):
    """Values that were read by their type: single ones are made when they are requested."""

    own: str

    def __init__(self, read: Any, values: Callable[[], NDArray[Any]]) -> None:
        self.gone, self.reading, self._values = None, STANDARD, values
        vars(self)[self.own] = read

    def __len__(self) -> int:
        return len(self.instants)

    @cached_property
    def data(self) -> NDArray[Any]:  # type: ignore[override]
        return self._values()

    def __getitem__(self, rows: Any) -> Column:
        part = type(self)(vars(self)[self.own], lambda: self.data[rows])
        part.reading = self.reading
        return self._pass_on(part, rows)


class Moments(Typed):
    """Dates or times, as instants."""

    own, holds = "instants", DATES

    @cached_property
    def numbers(self) -> NDArray[Any]:
        return np.full(len(self), None)


def moments(instants: Whole, *, date: bool = False) -> Moments:
    """Return a column of instants, whose values are dates or times of Python's."""

    def values() -> NDArray[Any]:
        known = {v: moment(v, date=date) for v in np.unique(instants).tolist() if v != NOWHERE}
        return _objects([known.get(v) for v in instants.tolist()])

    return Moments(instants, values)


class CodedText(Typed):
    """Texts, as the distinct ones and the index of each value's."""

    own, holds, kind = "coded", WORDS, "O"
    _types = frozenset({str})

    def __len__(self) -> int:
        return len(self.coded[1])


def _without(texts: list[str | None], which: Whole, gone: NDArray[np.bool_]) -> Coded:
    """Return texts with one more for missing values."""
    return [*texts, None], np.where(gone, len(texts), which)


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    return np.fromiter(values, object, len(values))


# ---- Declared types of columns -------------------------------------------------------------------
#
# Types are public: they are in a schema, not in the rows. So a column whose type cannot hold what
# a query needs is refused before anything is charged, without reading a value. Lists, text files
# and pandas columns of type ``object`` declare no type, and are read value by value.


NESTED, OTHER = "nested", "other"
"""Lists, structs and maps; and types that are neither numbers, text nor dates, as durations."""
TEXTS, ANYTHING = "texts", "anything"
"""What a statistic may need besides `NUMBERS` and `DATES`: values that have a text, or any."""
_BY_LETTER = {**_HOLDS, "m": OTHER, "c": OTHER, "V": NESTED}


@dataclass(frozen=True, slots=True)
class Declared:
    """The declared type of a column.

    Parameters
    ----------
    holds
        `NUMBERS` (including booleans), `WORDS`, `DATES`, `NESTED` or `OTHER`.
    dtype
        The type as its library writes it.

    Examples
    --------
    >>> from sourdine.frames.reading import Reading
    >>> Declared(WORDS, "VARCHAR").fits(NUMBERS, Reading())
    False
    >>> Declared(WORDS, "VARCHAR").fits(NUMBERS, Reading(decimal=","))
    True
    """

    holds: str
    dtype: str

    def fits(self, need: str, reading: Reading) -> bool:
        """Return whether a column of this type can be read as what a statistic needs.

        Text is read as numbers or dates only if their format is declared.

        Parameters
        ----------
        need
            `NUMBERS`, `DATES`, `TEXTS` or `ANYTHING`.
        reading
            How text is read.
        """
        if need == ANYTHING:
            return True
        if need == TEXTS:
            return self.holds != NESTED
        if self.holds == WORDS:
            return reading.writes_numbers if need == NUMBERS else reading.date_format is not None
        return self.holds == need


@cache
def declared_by_numpy(dtype: np.dtype[Any]) -> Declared | None:
    """Return the declared type of a NumPy array; None for objects, which may be anything.

    Examples
    --------
    >>> import numpy as np
    >>> declared_by_numpy(np.dtype("datetime64[D]"))
    Declared(holds='dates', dtype='datetime64[D]')
    """
    holds = _BY_LETTER.get(dtype.kind)
    return None if holds is None else Declared(holds, str(dtype))


def declared_by_series(series: Any) -> Declared | None:
    """Return the declared type of a narwhals series; None for objects, which may be anything."""
    import narwhals as nw

    native = str(getattr(nw.to_native(series), "dtype", ""))
    if native == "object":  # narwhals would inspect the values of these
        return None
    if native.startswith("datetime64"):  # also those with a zone that narwhals does not know
        return Declared(DATES, native)
    if native.startswith(("period", "interval")):
        return Declared(OTHER, native)
    return declared_by_type(series.dtype, native)


def declared_by_type(dtype: Any, written: str = "") -> Declared | None:
    """Return the declared type for a narwhals type; None if it is unknown."""
    import narwhals as nw

    written = written or str(dtype)
    if dtype.is_numeric() or dtype == nw.Boolean:
        return Declared(NUMBERS, written)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return Declared(WORDS, written)
    if dtype in (nw.Date, nw.Datetime):
        return Declared(DATES, written)
    if dtype.is_nested():
        return Declared(NESTED, written)
    return Declared(OTHER, written) if dtype in (nw.Duration, nw.Time, nw.Binary) else None


# ---- The engine: NumPy columns, snapped and counted block by block -------------------------------


UNNAMED = "value"
PARALLEL = 4 * 10**6
"""From this many rows on they are counted in parts, on all processors (`threads`)."""


def threads() -> int:
    """Return how many threads count: ``SOURDINE_THREADS``, or all processors there are."""
    typed = os.environ.get("SOURDINE_THREADS", "")
    if not typed and hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    if not typed:
        return os.cpu_count() or 1
    if not (typed.isdecimal() and int(typed)):
        raise ParameterError(
            "the variable SOURDINE_THREADS", "be a positive integer", repr(typed),
            "Use 1, or unset it.",
        )  # fmt: skip
    return int(typed)


class Memory(Engine):
    """Columns, or functions that read them when they are first needed.

    ``part`` returns the slots of some rows; without it they are cut out of the whole column.
    """

    def __init__(
        self,
        readers: Mapping[str, Column | Callable[[], Column]],
        rows: int,
        part: Callable[[str, Cell, slice], Whole] | None = None,
        *,
        types: Types | None = None,
    ) -> None:
        self.columns = tuple(readers)
        self._readers, self._rows, self._part, self._types = readers, rows, part, types or {}
        self._read: dict[str, Column] = {}
        if "SOURDINE_THREADS" in os.environ:
            threads()  # refused here if wrong, however many rows there are

    def rows(self) -> int:
        return self._rows

    def declared(self, name: str) -> Declared | None:
        return self._types.get(name)

    def column(self, name: str, *, strict: bool = False) -> Column:
        if name not in self._read:
            read = self._readers[name]
            self._read[name] = read if isinstance(read, Column) else read()
            self._read[name].reading = self.reading
        return self._read[name]

    def groups(self, cells: Named) -> Iterator[Groups]:
        return _blocks(self._cut(cells), range(self._rows))

    def moments(self, name: str, cell: Ticks, most: int) -> list[int]:
        ((column, _),) = self._cut([(name, cell)])
        if self._rows <= BLOCK:
            return cell.moments_of(column, most)

        def count(rows: range) -> list[int]:
            found = (cell.moments_of(column[block], most) for block in _cuts(rows))
            return [sum(sums) for sums in zip(*found, strict=True)]

        return [sum(sums) for sums in zip(*self._in_parts(count), strict=True)]

    def products(self, cells: NamedTicks, powers: Powers) -> list[int]:
        cut = self._cut(cells)
        parts = self._in_parts(lambda rows: add_products(cells, powers, _blocks(cut, rows)))
        return [sum(sums) for sums in zip(*parts, strict=True)]

    def tally(self, cells: Named) -> Tally:
        cut, sizes = self._cut(cells), tuple(cell.size for _, cell in cells)
        return reduce(add, self._in_parts(lambda rows: gather(sizes, _blocks(cut, rows))))

    def _cut(self, cells: Named) -> list[tuple[Column, Cell]]:
        """Return the columns of cells, converted once."""
        return [
            (self.column(name).read_as(numbers=cell.numeric, dates=cell.dated), cell)
            for name, cell in cells
        ]

    def _in_parts(self, count: Callable[[range], T]) -> list[T]:
        """Count parts of the rows, each in its own thread: NumPy runs outside of Python's lock."""
        workers = min(threads(), self._rows // BLOCK) if self._rows >= PARALLEL else 1
        if workers <= 1:
            return [count(range(self._rows))]
        from concurrent.futures import ThreadPoolExecutor

        ends = [self._rows * i // workers for i in range(workers + 1)]
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(count, starmap(range, pairwise(ends))))

    def slots(self, cells: Named, rows: int) -> Iterator[list[Whole]]:
        """Yield the slots of each block of rows, without reading a whole column."""
        for start in range(0, self._rows, rows):
            block = slice(start, start + rows)
            yield [self._slots_of(name, cell, block) for name, cell in cells]

    def _slots_of(self, name: str, cell: Cell, block: slice) -> Whole:
        whole = name in self._read or cell.dated or not self.reading.is_standard
        if self._part is None or whole:
            return cell.slots(self.column(name)[block])
        return self._part(name, cell, block)

    def combinations(self, names: Sequence[str]) -> Iterator[Occurring]:
        yield [self.column(name) for name in names], None

    def array(self, name: str) -> NDArray[Any] | None:
        return self.column(name).array

    def split(self, name: str, keys: Codes) -> list[Engine]:
        slots = keys.slots(self.column(name))
        return [self.take(np.flatnonzero(slots == code)) for code in range(keys.size)]

    def bound(self, unit: str, rows: int, key: bytes) -> Engine:
        """Keep at most ``rows`` rows of each person; see `sourdine.frames.units`."""
        columns = [self.column(name) for name in self.columns]
        return self.take(kept(self.column(unit), columns, rows, key))

    def with_columns(
        self, readers: Mapping[str, Callable[[], Column]], types: Mapping[str, Declared]
    ) -> Memory:
        """Return an engine with more columns, which are read when first needed."""
        own = {name: partial(self.column, name) for name in self.columns}
        stated = {**self._types, **types}
        return read_like(Memory({**own, **readers}, self._rows, types=stated), self)

    def take(self, rows: Whole) -> Memory:
        """Return only some rows."""

        def reader(name: str) -> Callable[[], Column]:
            return lambda: self.column(name)[rows]

        readers = {name: reader(name) for name in self.columns}
        return read_like(Memory(readers, len(rows), types=self._types), self)

    def reduced(self, how: Reduction) -> Engine:
        """Return one row for each person; see `sourdine.frames.people`."""
        columns = {name: self.column(name) for name in how.needed}
        people, size = numbered(columns[how.unit])
        k, there = whole_numbers(how, people, size, columns)
        if how.dated and not how.counts:
            read: Column = moments(np.where(there, k, NOWHERE))
        else:
            read = Column(values_of(how, k, there), holds=NUMBERS)
        found = {how.name: read}
        for name in how.groups:
            found[name] = Column.of(shared(people, size, columns[name]), holds=WORDS)
        return read_like(Memory(found, size), self)


def in_memory(engine: Engine, names: Sequence[str]) -> Memory:
    """Read some columns of an engine, row by row."""
    parts = [
        columns if n is None else [column[np.repeat(np.arange(len(n)), n)] for column in columns]
        for columns, n in engine.combinations(names)
    ]
    columns = {n: concatenated([part[i] for part in parts]) for i, n in enumerate(names)}
    types = {name: engine.declared(name) for name in names}
    return read_like(Memory(columns, sum(len(part[0]) for part in parts), types=types), engine)


def concatenated(pieces: Sequence[Column]) -> Column:
    """Return a column that came in pieces."""
    if len(pieces) == 1:
        return pieces[0]
    values = [v for piece in pieces for v in piece.values.tolist()]
    return Column.of(values, holds=pieces[0].holds if pieces else None)


def _blocks(cut: Sequence[tuple[Column, Cell]], rows: range) -> Iterator[tuple[list[Whole], None]]:
    """Yield the slots of some rows, in blocks that stay in the processor's cache."""
    for block in _cuts(rows):
        yield [cell.slots(column[block]) for column, cell in cut], None


def _cuts(rows: range) -> Iterator[slice]:
    for start in range(rows.start, rows.stop, BLOCK):
        yield slice(start, min(start + BLOCK, rows.stop))


# ---- Frames and series that narwhals supports ----------------------------------------------------


def memory_of_series(series: Any) -> Memory:
    name = series.name or UNNAMED
    types = {name: declared_by_series(series)}
    return Memory({name: lambda: column_of_series(series)}, len(series), types=types)


def memory_of_frame(frame: Any) -> Memory:
    """Return the engine of a frame; a column is read when it is needed."""

    def reader(name: str) -> Callable[[], Column]:
        return lambda: column_of_series(frame.get_column(name))

    def part(name: str, cell: Cell, rows: slice) -> Whole:
        return _slots(frame.get_column(name)[rows], cell)

    require_different(frame.columns)
    readers = {name: reader(name) for name in frame.columns}
    types = {name: declared_by_series(frame.get_column(name)) for name in frame.columns}
    return Memory(readers, len(frame), part, types=types)


def memory_of_arrow(table: Any, reading: Reading = STANDARD) -> Memory:
    import narwhals as nw

    engine = memory_of_frame(nw.from_native(table, eager_only=True))
    engine.reading = reading
    return engine


def _slots(series: Any, cell: Cell) -> Whole:
    """Return the slots of a series; texts are looked up by its engine."""
    import narwhals as nw

    if not (isinstance(cell, Codes) and series.dtype == nw.String):
        return cell.slots(column_of_series(series))
    texts, codes = list(cell.codes), list(cell.codes.values())
    found = series.replace_strict(texts, codes, default=MISSING, return_dtype=nw.Int64)
    return np.asarray(found.to_numpy(), np.int64)


def column_of_series(series: Any) -> Column:
    import narwhals as nw

    dtype = series.dtype
    declared = declared_by_series(series)
    holds = declared.holds if declared is not None and declared.holds in HOLDS else None
    if dtype.is_float():
        kind = np.float32 if dtype == nw.Float32 else np.float64
        return Column(np.asarray(series.to_numpy(), kind), holds=holds)
    if dtype == nw.Boolean or is_whole(dtype):
        gone = np.asarray(series.is_null().to_numpy(), bool)
        filled = (
            series.fill_null(value=False if dtype == nw.Boolean else 0) if gone.any() else series
        )
        return Column(np.asarray(filled.to_numpy()), gone, holds=holds)
    if dtype in (nw.Categorical, nw.Enum):
        series = series.cast(nw.String)
    if holds == DATES and (instants := instants_of_series(series)) is not None:
        return Moments(instants, lambda: np.fromiter(_values(series), object, len(series)))
    if holds == WORDS and (coded := _coded(series)) is not None:
        return CodedText(coded, lambda: np.fromiter(_values(series), object, len(series)))
    return Column.of(_values(series), holds=holds)


def _coded(series: Any) -> Coded | None:
    """Return the distinct texts of a series and the index of each value's; None without Arrow."""
    import narwhals as nw

    try:
        if series.implementation.is_pandas():
            codes, distinct = nw.to_native(series).factorize()
            texts = [text or None for text in distinct.tolist()]
            some = bool(len(codes)) and codes.min() < 0
            return [*texts, None], np.where(codes < 0, len(texts), codes) if some else codes
        array = series.to_arrow()
        encoded = getattr(array, "combine_chunks", lambda: array)().dictionary_encode()
        texts = [text or None for text in encoded.dictionary.to_pylist()]
        which = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
        return [*texts, None], which.astype(np.int64)
    except Exception:  # noqa: BLE001 - no Arrow, or text that it cannot hold: values are read singly
        return None


def _values(series: Any) -> list[Any]:
    """Return the values as Python objects; only values that Python cannot hold are missing."""
    if series.dtype.is_temporal() and series.implementation.is_polars():
        series = _within_python(series)
    try:
        return list(series.to_list())
    except Exception:  # noqa: BLE001 - every engine has its own errors
        return [_value(series, i) for i in range(len(series))]


def _value(series: Any, i: int) -> Any:
    try:
        return series[i : i + 1].to_list()[0]
    except Exception:  # noqa: BLE001 - as above
        return None


def _within_python(series: Any) -> Any:
    """Return a Polars series of times without those before year 1 or after year 9999."""
    import narwhals as nw

    native = nw.to_native(series)
    ticks = {"ms": 10**3, "us": 10**6, "ns": 10**9}.get(getattr(series.dtype, "time_unit", ""), 1)
    day = 1 if series.dtype == nw.Date else 86_400 * ticks
    low, high = (
        (-_LONGEST * day, _LONGEST * day)
        if series.dtype == nw.Duration
        else (_FIRST_DAY * day, (_LAST_DAY + 1) * day - 1)
    )
    if series.dtype == nw.Time:
        return series
    inside = native.to_physical().is_between(max(low, -(1 << 63)), min(high, (1 << 63) - 1))
    return nw.from_native(
        native.zip_with(inside.fill_null(value=False), native.clear(len(native))), series_only=True
    )


_FIRST_DAY, _LAST_DAY, _LONGEST = -719_162, 2_932_896, 999_999_998
"""Days from 1970 to the years 1 and 9999, and the most days of a Python duration."""


def is_whole(dtype: Any) -> bool:
    """Return whether a type is one of NumPy's integer types."""
    import narwhals as nw

    return dtype.is_integer() and dtype not in {nw.Int128, nw.UInt128}
