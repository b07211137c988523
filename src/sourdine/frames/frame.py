"""`Frame`: any data, opened by the right engine, as exact counts over public cells."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import integer, kind
from sourdine.frames.cells import Codes, Ticks, joined
from sourdine.frames.engine import Asked, Engine, listed_columns, name_twice
from sourdine.frames.grouped import Partition, WeightedRows, occurring
from sourdine.frames.memory import (
    UNNAMED,
    Column,
    Memory,
    declared_by_numpy,
    memory_of_frame,
    memory_of_series,
)
from sourdine.frames.reading import STANDARD, Reading
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.cells import Cell
    from sourdine.frames.engine import Tally
    from sourdine.frames.memory import Declared
    from sourdine.frames.people import Reduction
    from sourdine.noise import Source


# ---- Choosing the engine -------------------------------------------------------------------------


def open_data(data: object, reading: Reading = STANDARD) -> Engine:
    if isinstance(data, Engine):
        return data
    if isinstance(data, (str, PathLike)):
        from sourdine.frames.files import open_file

        return open_file(fspath(data), reading)
    if isinstance(data, np.ndarray):
        _require_one_dimension(data)
        types = {UNNAMED: declared_by_numpy(data.dtype)}
        engine: Engine = Memory({UNNAMED: lambda: Column.of_array(data)}, len(data), types=types)
    elif isinstance(data, (list, tuple, range)):
        column, _ = _column(data)  # now, since a list may grow
        engine = Memory({UNNAMED: column}, len(column))
    else:
        engine = _of_dict(data) if isinstance(data, Mapping) else _of_native(data)
    engine.reading = reading
    return engine


def _column(values: Any) -> tuple[Column, Declared | None]:
    """Convert one column, a sequence, an array or a series; return it with its declared type."""
    if isinstance(values, np.ndarray):
        _require_one_dimension(values)
        return Column.of_array(values), declared_by_numpy(values.dtype)
    if isinstance(values, (list, tuple, range)):
        _require_values(values)
        return Column.of(values), None
    engine = _of_native(values)
    if len(engine.columns) != 1:
        raise _no_data(values)
    (name,) = engine.columns
    return engine.column(name), engine.declared(name)


def _require_values(values: Sequence[Any]) -> None:
    """Refuse a list of rows, each itself a list or a dict: it has the shape of a table.

    One such element among others is treated like any other value, as missing.
    """
    if values and all(isinstance(v, (list, tuple, Mapping, np.ndarray)) for v in values):
        raise ParameterError(
            "data", "be a list of single values, or a dict of columns", "a list of rows",
            'Pass one column, or a dict such as {"age": [31, 17]}; pandas.DataFrame(data)'
            " converts rows to columns.",
        )  # fmt: skip


def _require_one_dimension(values: NDArray[Any]) -> None:
    if values.ndim != 1:
        raise ParameterError(
            "data", "have one dimension", f"an array of {values.ndim} dimensions",
            "Pass one column, such as data[:, 0], or a dict of columns.",
        )  # fmt: skip


def _of_dict(data: Mapping[Any, Any]) -> Memory:
    readers: dict[str, Column | Callable[[], Column]] = {}
    types: dict[str, Declared | None] = {}
    lengths = set()
    for key, values in data.items():
        name = str(key)
        if isinstance(values, np.ndarray):  # converted where it is needed
            _require_one_dimension(values)
            readers[name] = partial(Column.of_array, values)
            types[name] = declared_by_numpy(values.dtype)
            lengths.add(len(values))
        else:
            column, types[name] = _column(values)
            readers[name] = column
            lengths.add(len(column))
    if len(lengths) != 1 or len(readers) != len(data):
        raise ParameterError(
            "data", "be columns of equal length with different names",
            f"{len(data)} columns of {len(lengths)} lengths",
            "Pass columns with one value per row.",
        )  # fmt: skip
    return Memory(readers, lengths.pop(), types=types)


def _of_native(data: object) -> Engine:
    if type(data).__module__.split(".")[0] in {"_duckdb", "duckdb"}:
        from sourdine.frames.duck import Duck

        return Duck(data)
    if is_spark(data):
        from sourdine.frames.spark.engine import Spark

        return Spark(data)
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame: Any = nw.from_native(data, allow_series=True)
    except TypeError:
        return _of_export(data)
    except DuplicateError:
        raise name_twice() from None
    if isinstance(frame, nw.LazyFrame) and frame.implementation.is_dask():
        from sourdine.frames.batches import batches_of_dask

        return batches_of_dask(data)
    if isinstance(frame, nw.LazyFrame):
        from sourdine.frames.lazy import LazyEngine

        return LazyEngine(frame)
    return memory_of_series(frame) if isinstance(frame, nw.Series) else memory_of_frame(frame)


def is_spark(data: object) -> bool:
    """Return whether something is a Spark data frame, classic or Connect.

    Examples
    --------
    >>> is_spark([1, 2])
    False
    """
    kind = type(data)
    return kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame"


def _of_export(data: object) -> Engine:
    """Return the engine of a dataset, or of any other object that exports Arrow data."""
    from sourdine.frames.batches import batches_of_dataset, is_dataset
    from sourdine.frames.duck import exports_arrow, open_capsule

    if is_dataset(data):
        return batches_of_dataset(data)
    if not exports_arrow(data):
        raise _no_data(data) from None
    return open_capsule(data)


def _no_data(data: object) -> ParameterTypeError:
    return ParameterTypeError(
        "data", "be a list, an array, a frame or a path", kind(data),
        "Pass a list, a NumPy array, a pandas, Polars, PyArrow, DuckDB or Spark frame, "
        "or the path of a CSV or Parquet file.",
    )  # fmt: skip


# ---- `Frame` -------------------------------------------------------------------------------------


_KEY_BYTES = 32


class Frame:
    """Rows of named columns: in memory, in a file, or in an engine.

    A frame returns exact integers only, and the same ones for the same data in any engine
    (``test_engines_agree_on_hostile_values``). They are private: a mechanism must be applied
    before they are published.

    Parameters
    ----------
    data
        A list, tuple or one-dimensional NumPy array; a dict of such columns; a frame or series of
        pandas, Polars (also lazy), PyArrow, Spark or another library that narwhals supports; a
        DuckDB relation; anything else that exports Arrow data (``__arrow_c_stream__`` or
        ``__arrow_c_array__``); the path of a CSV or Parquet file (``*`` matches several), of a text
        file with one value per line, of a saved NumPy array, or of a file of Excel
        (``people.xlsx#Sheet2``), SPSS, SAS, Stata, JSON Lines or Arrow; or the address of a table
        (`sourdine.frames.databases`). CSV files, Parquet files and lazy frames are counted in place
        and may be larger than memory. Data of one unnamed column calls it ``value``.
    read
        How text is read, a `Reading` or a dict of its parameters: a file's encoding and header,
        decimal commas, symbols next to numbers.

    Examples
    --------
    >>> from sourdine.grid import Grid
    >>> frame = Frame({"age": [31, 17, None, 999], "vote": ["yes", "no", "no", "?"]})
    >>> frame.tally(Ticks("age", Grid(0, 120, step=40))).counts.tolist()
    [1, 1, 0, 1, 1]
    >>> frame.tally(Codes("vote", ["yes", "no"])).counts.tolist()
    [1, 2, 1]
    >>> frame.total(Ticks("age", Grid(0, 120, step=1)))
    168
    """

    __slots__ = ("_engine",)

    def __init__(self, data: object, *, read: Reading | Mapping[str, Any] | None = None) -> None:
        reading = read if isinstance(read, Reading) else Reading.of(read)
        self._engine = data.engine if isinstance(data, Frame) else open_data(data, reading)
        if read is not None and reading not in {STANDARD, self._engine.reading}:
            raise ParameterError(
                "read", "be omitted for a frame, which was opened with its own", "", "Omit {read}.",
                read=LEFT_OUT,
            )  # fmt: skip

    @property
    def reading(self) -> Reading:
        """How text is read."""
        return self._engine.reading

    @property
    def engine(self) -> Engine:
        """The engine that holds the rows."""
        return self._engine

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._engine.columns

    @property
    def parsed(self) -> bool:
        """Whether it was parsed from text: the number of rows then depends on their cells."""
        return self._engine.parsed

    def kind(self, column: str | None = None) -> str | None:
        """Return the type a file states: integer, float, boolean, text, ...; None if it does not.

        Values are not read.
        """
        return self._engine.kind(self.resolve(column))

    def declared(self, column: str | None = None) -> Declared | None:
        """Return the declared type of a column; None if there is none, as in a list.

        Examples
        --------
        >>> Frame(np.array(["3", "4"])).declared()
        Declared(holds='words', dtype='<U1')
        """
        return self._engine.declared(self.resolve(column))

    def __len__(self) -> int:
        """Return the number of rows, missing values included."""
        return self._engine.rows()

    def __getitem__(self, column: str) -> Frame:
        """Return a frame with one column.

        Examples
        --------
        >>> Frame({"age": [31, 17], "vote": ["yes", "no"]})["vote"]
        Frame(columns=['vote'])
        """
        return self.only(column)

    def only(self, *columns: str) -> Frame:
        """Return a frame with only these columns, in their old order; the others are not read.

        Examples
        --------
        >>> Frame({"age": [31], "vote": ["yes"], "who": ["ann"]}).only("who", "age")
        Frame(columns=['age', 'who'])
        """
        wanted = {self.resolve(column) for column in columns}
        return _of(self._engine.only(*(name for name in self.columns if name in wanted)))

    def __repr__(self) -> str:
        return f"Frame(columns={list(self.columns)})"

    def resolve(self, column: str | None) -> str:
        """Return the name of an existing column; None means the only one."""
        if column is None and len(self.columns) == 1:
            return self.columns[0]
        if column is None or column not in self.columns:
            must, got = "be one of the columns", "" if column is None else repr(column)
            if column is None and self.columns:
                must = "be given, because the data have several columns"
            raise ParameterError("column", must, got, listed_columns(self, column))
        return column

    def tally(self, *cells: Cell) -> Tally:
        """Count the rows in each cell.

        Parameters
        ----------
        cells
            One for each axis. Together they may have a million public cells; a single one may have
            more, and is then counted as a list of the ticks that occur.
        """
        return self._engine.tally(self._named(cells))

    def codes(self, *cells: Cell, chunk: int = 1 << 17) -> Iterator[list[NDArray[np.int64]]]:
        """Yield the slots of the rows in their order, block by block, `MISSING` among them.

        This is for local randomisers, which work record by record: the result is as private as the
        data. Files are read as a stream; do not query the frame until it is finished.

        Parameters
        ----------
        cells
            One for each array of a block. A single cell may have any number of slots.
        chunk
            The maximum number of rows of a block; an engine may return fewer.

        Examples
        --------
        >>> frame = Frame({"age": [31, 17, None, 999], "vote": ["yes", "no", "no", "?"]})
        >>> from sourdine.grid import Grid
        >>> cells = Ticks("age", Grid(0, 120, step=40)), Codes("vote", ["yes", "no"])
        >>> for age, vote in frame.codes(*cells, chunk=3):
        ...     print(age.tolist(), vote.tolist())
        [1, 0, -1] [0, 1, 1]
        [3] [-1]
        """
        return self._engine.slots(self._named(cells), integer(chunk, "chunk", least=1))

    def _named(self, cells: Sequence[Cell]) -> list[tuple[str, Cell]]:
        if not cells:
            raise ParameterError("cells", "hold at least one", "", "Pass a Ticks or Codes.")
        return [(self.resolve(cell.column), cell) for cell in cells]

    def total(self, cell: Ticks, power: int = 1) -> int:
        """Return the exact sum of a power of the ticks, over the values that are not missing."""
        if type(power) is not int or power < 0:
            power = integer(power, "power", least=0)
        return self._engine.total(self.resolve(cell.column), cell, power)

    def moments(self, cell: Ticks, most: int) -> list[int]:
        """Return the number of values, the sum of their ticks, of their squares, and so on.

        Parameters
        ----------
        cell
            The column and its grid.
        most
            The highest power.

        Examples
        --------
        >>> from sourdine.grid import Grid
        >>> ages = Ticks("age", Grid(0, 120, step=1))
        >>> Frame({"age": [20, 30, None]}).moments(ages, 2)
        [2, 50, 1300]
        """
        return self._engine.moments(self.resolve(cell.column), cell, most)

    def products(self, cells: Sequence[Ticks], powers: Sequence[tuple[int, ...]]) -> list[int]:
        """Return exact sums of products of powers of ticks, over the rows in which none is missing.

        Parameters
        ----------
        cells
            Columns and their grids.
        powers
            For each sum, the power of each cell's tick; all zeros count the rows.

        Examples
        --------
        >>> from sourdine.grid import Grid
        >>> cells = [Ticks("age", Grid(0, 120, step=1)), Ticks("visits", Grid(0, 9, step=1))]
        >>> people = Frame({"age": [20, 30, None], "visits": [2, 3, 9]})
        >>> people.products(cells, [(0, 0), (1, 0), (1, 1)])
        [2, 50, 130]
        """
        named = [(self.resolve(cell.column), cell) for cell in cells]
        return self._engine.products(named, powers)

    def between(
        self, cell: Ticks, ranges: Sequence[tuple[int, int]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count only the ticks in some ranges.

        Parameters
        ----------
        cell
            The column and its grid.
        ranges
            Half-open: ``(3, 5)`` holds the ticks 3 and 4.

        Returns
        -------
        tuple
            The ticks that occur, in order, and their counts.
        """
        name = self.resolve(cell.column)
        return self._engine.between(name, cell, joined(ranges, cell.size))

    def derived(
        self,
        where: str | None = None,
        *columns: tuple[str, str],
        lookup: Mapping[str, str] | None = None,
        mark: str | None = None,
    ) -> Frame:
        """Return the rows that a condition keeps, with columns computed by formulas.

        Nothing is read; formulas are checked against the types of columns.

        Parameters
        ----------
        where
            A condition on one row; None keeps all. See :doc:`/guides/formulas`.
        columns
            Names of columns or formulas, each after the parameter that holds it, for errors. A
            formula becomes a column that is named by its text.
        lookup
            Public tables, by their paths, and the column of the data that identifies a row of each.
        mark
            If given, all rows stay, and a column of this name is true where the condition is.

        Examples
        --------
        >>> from sourdine.grid import Grid
        >>> people = Frame({"age": [31, 17, None, 52], "vote": ["yes", "no", "no", "yes"]})
        >>> adults = people.derived("age >= 18", ("by", "age // 10 * 10"))
        >>> len(adults), adults.distinct("age // 10 * 10")[0]
        (2, ['30', '50'])
        """
        if (
            where is None
            and not lookup
            and all(text in self._engine.columns for _, text in columns)
        ):
            return self
        from sourdine.frames.formulas.engine import with_formulas

        tables = [(path, key, open_data(path)) for path, key in (lookup or {}).items()]
        return _of(with_formulas(self._engine, where, columns, tables, mark))

    def computed(self) -> Frame:
        """Return the rows with formulas computed by the engine itself, where it can."""
        if not hasattr(self._engine, "computed"):
            return self
        return _of(self._engine.computed())

    def weighted(self, weight: Ticks) -> Frame:
        """Return the same rows, each counted as often as the tick of its weight says.

        Parameters
        ----------
        weight
            The column of weights and its lattice, which begins at 0. A missing weight is 0.

        Examples
        --------
        >>> from sourdine.grid import Grid
        >>> votes = Frame({"vote": ["yes", "no", "yes"], "w": [2, 5, None]})
        >>> weighted = votes.weighted(Ticks("w", Grid(0, 9, step=1)))
        >>> len(weighted), weighted.tally(Codes("vote", ["yes", "no"])).counts.tolist()
        (7, [2, 5, 0])
        """
        return _of(WeightedRows(self._engine, (self.resolve(weight.column), weight)))

    def afresh(self) -> Frame:
        """Return the same rows for another query, without prefetched or cached answers."""
        return _of(self._engine.afresh())

    def prefetch(
        self, *cells: Cell, most: int | None = None, ranges: Sequence[tuple[int, int]] | None = None
    ) -> None:
        """Announce the next queries, so that they may share a pass.

        Parameters
        ----------
        cells
            Those of a `tally`; none for the number of rows.
        most
            For `moments` of a cell: the highest power.
        ranges
            For `between`: the ranges.
        """
        if type(self._engine).prefetch is Engine.prefetch:
            return  # it answers one by one
        named = tuple((self.resolve(cell.column), cell) for cell in cells)
        within = None if ranges is None else tuple(joined(ranges, cells[0].size))
        self._engine.prefetch(Asked(named, most, within))

    def column(self, column: str | None = None, *, strict: bool = False) -> Column:
        """Return all values of a column, in the order of the rows, each converted on its own.

        They are as private as the data, and all in memory. This is for uses that need single
        records, such as labels under guard or the rows of linear queries.

        Parameters
        ----------
        column
            Its name; None if the data has only one.
        strict
            Whether a text file must be well-formed: UTF-8, every quote closed, as many fields in
            each line as in the first. Otherwise it is refused; without ``strict`` it is read as by
            `codes`. Blank lines at the end are then ignored.

        Examples
        --------
        >>> Frame({"age": [31, None, "44"]}).column().numbers.tolist()
        [31, None, 44]
        """
        return self._engine.column(self.resolve(column), strict=strict)

    def present(self, column: str | None = None) -> int:
        """Return the number of values of a column that are not missing, as `distinct` counts.

        None, NaN and the empty text are missing; any other value is present.

        Examples
        --------
        >>> Frame([3, None, float("nan"), "", "none", 0]).present()
        3
        """
        return self._engine.present(self.resolve(column))

    def distinct(self, column: str | None = None) -> tuple[list[str], NDArray[np.int64]]:
        """Return the values that occur, as texts in order, and their counts.

        Which values occur is private: this is for mechanisms that decide what may be named.
        """
        found: dict[str, int] = {}
        for values, counts in self._engine.values(self.resolve(column)):
            for text, k in values.occurring(counts).items():
                if text is not None:
                    found[text] = found.get(text, 0) + k
        keys = sorted(found)
        return keys, np.array([found[k] for k in keys], np.int64)

    def owners(self, unit: str, ends: Sequence[int]) -> NDArray[np.int64]:
        """Return how many people own up to each number of rows, and how many more than the last.

        Rows without a name belong to one person. No names are returned.

        Parameters
        ----------
        unit
            The column that names the person.
        ends
            Increasing numbers of rows: the first counts the people who own up to it, each further
            one those who own more than the one before.

        Examples
        --------
        >>> Frame({"who": ["a", "b", "b", "b", None]}).owners("who", [1, 2]).tolist()
        [2, 0, 1]
        """
        owned = self._engine.owned(self.resolve(unit), max(ends) + 1)
        sizes, people = np.array(list(owned)), np.array(list(owned.values()), np.int64)
        found = np.zeros(len(ends) + 1, np.int64)
        np.add.at(found, np.searchsorted(ends, sizes), people)
        return found

    def split(self, column: str | None, keys: Sequence[Any]) -> list[Frame]:
        """Return the rows of each key; rows with no listed key are dropped.

        Parameters
        ----------
        column
            The column that holds the keys.
        keys
            Public keys, matched as in `Codes`.
        """
        name = self.resolve(column)
        return [_of(part) for part in self._engine.split(name, Codes(name, keys))]

    def groups(
        self, columns: Sequence[str], keys: Sequence[tuple[Any, ...]], *, other: bool = False
    ) -> list[Frame]:
        """Return the rows of each key of one or several columns, to be counted.

        A query of one group is counted for all of them in one pass. A group only counts and
        returns no rows; where single rows are needed, use `split`.

        Parameters
        ----------
        columns
            The columns that hold the keys.
        keys
            Public keys, one tuple each, matched as in `Codes`.
        other
            Whether the rows without a listed key form one more group, the last.

        Examples
        --------
        >>> people = Frame({"sex": ["f", "m", "f"], "vote": ["yes", "no", None]})
        >>> keys = [("f", "yes"), ("m", "yes")]
        >>> [len(part) for part in people.groups(["sex", "vote"], keys, other=True)]
        [1, 0, 2]
        """
        names = [self.resolve(column) for column in columns]
        return [_of(part) for part in Partition(self._engine, names, keys, other=other).parts]

    def combinations(self, columns: Sequence[str]) -> dict[tuple[str, ...], int]:
        """Return the combinations of texts that occur in columns, without missing ones, and counts.

        Which occur is private: this is for mechanisms that decide what may be named.

        Examples
        --------
        >>> Frame({"sex": ["f", "m", "f"], "age": [3, 4, None]}).combinations(["sex", "age"])
        {('f', '3'): 1, ('m', '4'): 1}
        """
        names = [self.resolve(column) for column in columns]
        found: dict[tuple[str, ...], int] = {}
        for values, counts in self._engine.combinations(names):
            for key, n in occurring(values, counts).items():
                found[key] = found.get(key, 0) + n
        return {key: found[key] for key in sorted(found)}

    def bound(self, unit: str, rows: int, *, source: Source = SYSTEM) -> Frame:
        """Keep at most ``rows`` rows of each person, so that a guarantee can be per person.

        Which rows are kept is decided by a fresh secret key and by all columns that the frame has
        (`sourdine.frames.units`): select the needed ones with `only` first.
        Files, DuckDB relations and Spark frames stay where they are, and the same choice is made
        again for each count, which sorts the rows; other lazy frames are read into memory.

        Parameters
        ----------
        unit
            The column that names the person. Rows without a name belong to one person.
        rows
            The number of rows to keep.
        source
            The source of the key; a seeded source repeats the choice, for tests.
        """
        rows = integer(rows, "rows", least=1)
        key = source.bytes(_KEY_BYTES)
        return _of(self._engine.bound(self.resolve(unit), rows, key))

    def reduced(self, how: Reduction) -> Frame:
        """Return one record for each person, whose value is made of all of their rows.

        Which one is defined in `sourdine.frames.people`. Files, DuckDB relations and Spark frames
        are grouped where they are, as are lazy frames of Polars if the columns are numbers, text
        or truth values; other data are reduced in memory.

        Parameters
        ----------
        how
            The columns, and how the rows of a person become one.

        Examples
        --------
        >>> from sourdine.frames.people import Reduction
        >>> visits = Frame({"who": ["a", "b", "a", None], "cost": [3, 5, 4, None]})
        >>> visits.reduced(Reduction("who", "sum", "cost")).column("cost").floats.tolist()
        [7.0, 5.0, nan]
        """
        for name in how.needed:
            self.resolve(name)
        return _of(self._engine.reduced(how))

    def array(self, column: str | None = None) -> NDArray[Any] | None:
        """Return the numbers of a column as a NumPy array, NaN for missing values.

        None if the data is not in memory, or if a column has both integers beyond 2**53 and missing
        values, which no NumPy array of numbers can hold.
        """
        return self._engine.array(self.resolve(column))


def _of(engine: Engine) -> Frame:
    frame = Frame.__new__(Frame)
    frame._engine = engine  # noqa: SLF001
    return frame
