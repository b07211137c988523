"""The rows that a query server holds: categories, universe, averages."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import isfinite, prod
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.queries import ROUNDING, clipped, vector_of
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind
from sourdine.frames.cells import Codes
from sourdine.frames.engine import listed_columns
from sourdine.frames.frame import Frame
from sourdine.frames.memory import DATES, NUMBERS, UNNAMED, WORDS, Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.adaptive.queries import Query, Values


# ---- The public categories of a column, and the one that a value belongs to ----------------------
#
# Whatever a value is, it belongs to one of them by a fixed rule, so no value of a row can fail.
# What cannot be right is refused by the type of a column, which is public: words for a column of
# numbers, dates for one of words. A column without a type (a list, or one of a CSV file) may hold
# anything, and is never refused. How a value is read is said in `sourdine.frames.reading`.


ANYTHING = "anything"


class Numbers:
    """Numbers, or booleans: the nearest, the lower of two, the first for what is no number."""

    kind: str = NUMBERS

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = _frozen(values)

    def places(self, column: Column) -> NDArray[np.int64]:
        """Return the index of the nearest category; booleans may also be written out."""
        numbers, categories = column.floats, self.values.astype(np.float64)
        order = np.argsort(categories)
        ranked = categories[order]
        between = ranked[:-1] + np.diff(ranked) / 2
        places = order[np.searchsorted(between, numbers, side="left")]
        places = np.where(np.isnan(numbers), 0, places).astype(np.int64)
        if self.values.dtype != bool:
            return places
        written = Codes(None, self.values.tolist()).slots(column)
        return np.where(written < 0, places, written)


class Words:
    """Words and other things: the one of the same text, and None for anything else."""

    def __init__(self, listed: list[Any], kind: str) -> None:
        self.kind = kind
        listed = listed if None in listed else [*listed, None]
        self.values = np.empty(len(listed), object)
        self.values[:] = listed
        self.values.setflags(write=False)
        there = [i for i, word in enumerate(listed) if word is not None]
        self._codes = Codes(None, [listed[i] for i in there])
        self._order = np.array([*there, listed.index(None)])

    def places(self, column: Column) -> NDArray[np.int64]:
        """Return the index of the category of the same text; that of None stands last."""
        return self._order[self._codes.slots(column)]


class Dates:
    """Dates and times, in UTC if they have a zone: the equal one, and NaT for anything else."""

    kind: str = DATES

    def __init__(self, listed: list[Any]) -> None:
        moments = list(map(_moment, listed))
        times = np.array([*moments, None], "M8[us]")
        days = times.astype("M8[D]")
        whole = np.array_equal(days[:-1].astype(times.dtype), times[:-1])
        self.values = _frozen(days if whole else times)
        self._index: dict[Any, int] = {moment: i for i, moment in enumerate(moments)}

    def places(self, column: Column) -> NDArray[np.int64]:
        """Return the index of the equal category."""
        texts, other = column.texts, len(self._index)
        place = {text: self._index.get(_written_moment(text), other) for text in set(texts)}
        return np.fromiter((place[text] for text in texts), np.int64, len(texts))


Categories = Numbers | Words | Dates


def read_categories(name: object, given: Any) -> Categories:
    """Return the categories of a column: a list, a range, an array, an index or a series."""
    listed = _listed(name, given)
    try:
        many = len(set(listed))
    except TypeError as error:
        must, hint = "be strings, numbers or dates that can be compared", "Use {universe}."
        raise ParameterTypeError(
            f"categories of {name!r}", must, "", hint, universe={name: ["a", "b"]}
        ) from error
    if not listed or many != len(listed):
        must, got = "be distinct, and at least one", f"{len(listed)}, {many} of them distinct"
        raise ParameterError(f"categories of {name!r}", must, got, "List each category once.")
    there = [x for x in listed if x is not None]
    if there and all(isinstance(x, (Real, np.bool_)) for x in there):
        return _read_numbers(name, listed)
    if there and all(isinstance(x, (date, np.datetime64)) for x in there):
        return Dates(there)
    return Words(listed, WORDS if all(isinstance(x, str) for x in there) else ANYTHING)


def _read_numbers(name: object, listed: list[Any]) -> Numbers:
    if None in listed or not all(map(isfinite, listed)):
        hint = (
            "Remove the others: a row without a number is counted in the first category, an "
            "infinite one in the first or last."
        )
        raise ParameterError(f"categories of {name!r}", "be finite", "one that is not", hint)
    values = np.asarray(listed)
    return Numbers(values if values.dtype.kind in "biuf" else values.astype(np.float64))


def _listed(name: object, categories: Any) -> list[Any]:
    """Return categories as a list, None for what is missing."""
    values = categories.to_numpy() if hasattr(categories, "to_numpy") else categories
    if isinstance(values, np.ndarray) and values.ndim == 1:
        listed = (values.astype("M8[us]") if values.dtype.kind == "M" else values).tolist()
    elif isinstance(values, Sequence) and not isinstance(values, (str, bytes)):
        listed = list(values)
    else:
        must, hint = f"list the categories of {name!r}", "Use {universe}, or a range."
        got = kind(categories)
        raise ParameterTypeError("universe", must, got, hint, universe={name: ["a", "b"]})
    return [None if _missing(x) else x for x in listed]


def _missing(x: object) -> bool:
    if type(x).__name__ == "NAType":
        return True
    return x is None or (isinstance(x, (float, date, np.datetime64)) and x != x)  # noqa: PLR0124


def _moment(x: Any) -> datetime:
    """Return a date as the time it begins, and a time without its zone."""
    if isinstance(x, np.datetime64):
        x = x.astype("M8[us]").item()
    if isinstance(x, datetime):
        return x if x.tzinfo is None else x.astimezone(UTC).replace(tzinfo=None)
    return datetime(x.year, x.month, x.day)  # noqa: DTZ001


def _written_moment(text: str | None) -> datetime | None:
    """Return the time that a text in ISO form says; None for any other text."""
    if text is None or text[4:5] + text[7:8] != "--":
        return None
    try:
        return _moment(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None


def _frozen(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array that no query can write to."""
    view = values.view()
    view.setflags(write=False)
    return view


# ---- A public list of all the rows there could be ------------------------------------------------
#
# What a query is asked of: the cells of the universe, never the data. A row belongs to one cell by
# a fixed rule, so nothing about the values of the rows can fail.


MOST_CELLS = 1 << 16


@dataclass(frozen=True, slots=True)
class Universe:
    """All cells that a row can be in.

    Parameters
    ----------
    categories
        Those of each column, in public order; of rows that are plain codes, the codes under the
        one name ``""``.
    coordinates
        The columns of the cells, or the codes: what a query is given.

    Notes
    -----
    The rule for a row's cell, column by column: of numbers and booleans the nearest category, the
    lower of two, and the first for what is no number; of words the one of the same text, and for
    anything else a category None, which is added; of dates the equal one, with NaT. *Checked by*
    ``test_every_value_has_a_cell``, ``test_a_word_that_is_not_listed_is_none_of_them`` and
    ``test_rows_of_all_forms_of_data_have_the_same_cells``. Words for a column whose type is a
    number, and the like, are refused.

    Examples
    --------
    >>> people = Universe.read({"age": range(100), "sex": ["f", "m"]})
    >>> people.size
    300
    >>> people.codes({"age": [3, 150, None], "sex": ["m", "f", "?"]}).tolist()
    [10, 297, 2]
    >>> int(people.vector(lambda d: (d["age"] > 40) & (d["sex"] == "f")).sum())
    59
    """

    categories: Mapping[str, Categories]
    coordinates: Any

    @classmethod
    def read(cls, universe: object) -> Universe:
        """Return the universe of N codes, or that of named columns."""
        if isinstance(universe, Mapping):
            lists = {str(name): read_categories(name, given) for name, given in universe.items()}
            _within_limit(prod(len(each.values) for each in lists.values()) if lists else 0)
            grid = np.meshgrid(
                *(np.arange(len(each.values)) for each in lists.values()), indexing="ij"
            )
            cells = {
                name: _frozen(each.values[index.ravel()])
                for (name, each), index in zip(lists.items(), grid, strict=True)
            }
            return cls(MappingProxyType(lists), MappingProxyType(cells))
        size = integer(universe, "universe", least=1)
        _within_limit(size)
        codes = Numbers(np.arange(size))
        return cls(MappingProxyType({"": codes}), codes.values)

    @property
    def size(self) -> int:
        return prod(len(each.values) for each in self.categories.values())

    def vector(self, query: Query) -> Values:
        """Return the value of a query in each cell; a function is given the cells' columns."""
        values = np.asarray(query(self.coordinates) if callable(query) else query)
        if values.shape == (self.size,):  # those that are fine as they are cost no copy
            if values.dtype == bool:
                return values.astype(np.float64)
            if values.dtype == np.float64 and values.min() >= 0 and values.max() <= 1:
                return values
        return vector_of(values, self.size)

    def codes(self, data: object) -> NDArray[np.int64]:
        """Return the cell of each row; no value of a row raises."""
        columns = _columns_of(data, self.categories)
        codes = np.zeros(len(next(iter(columns.values()))), np.int64)
        for name, each in self.categories.items():
            codes = codes * len(each.values) + each.places(columns[name])
        return codes


def _columns_of(data: object, expected: Mapping[str, Categories]) -> dict[str, Column]:
    """Return the columns that are expected; with the one name ``""``, the only one."""
    frame = Frame(data)
    if tuple(expected) == ("",):
        if len(frame.columns) != 1:
            must, hint = "be one column of codes", "Use {universe} for the columns of a frame."
            got = f"{len(frame.columns)} columns"
            raise ParameterError("data", must, got, hint, universe={"age": range(100)})
        return {"": _checked("", frame.column(), expected[""])}
    missing = [name for name in expected if name not in frame.columns]
    if missing:
        must = f"have a column {missing[0]!r}, which the universe names"
        hint = f"{listed_columns(frame, missing[0])} Use {{universe}} with the names of columns."
        raise ParameterError("data", must, "", hint)
    return {name: _checked(name, frame.column(name), each) for name, each in expected.items()}


def _within_limit(size: int) -> None:
    if not 1 <= size <= MOST_CELLS:
        must = f"have from 1 to {MOST_CELLS} cells"
        hint = "Use fewer columns or coarser categories, or {guess}, and omit {universe}."
        raise ParameterError("universe", must, given(size), hint, guess="split", universe=LEFT_OUT)


def _checked(name: str, column: Column, categories: Categories) -> Column:
    """Return a column that may hold such categories, by its type."""
    holds = column.holds or ANYTHING
    if ANYTHING not in (holds, categories.kind) and holds != categories.kind:
        what = f"the column {name!r}" if name else "data"
        must = f"hold {categories.kind}, like its categories in the universe"
        hint = "Use categories of the column's type, or convert the column first."
        raise ParameterError(what, must, holds, hint)
    return column


# ---- What the server holds: the rows, of which it gives out one average at a time ----------------


class Cells:
    """Rows counted in the cells of a universe; queries are vectors over the cells."""

    __slots__ = ("_codes", "counts", "law", "universe")

    def __init__(self, universe: Universe, codes: NDArray[np.int64]) -> None:
        self.universe = universe
        self._codes = codes
        self.counts = np.bincount(codes, minlength=universe.size)
        self.law: Values = self.counts / max(len(codes), 1)

    @property
    def n(self) -> int:
        return len(self._codes)

    def read(self, query: Query) -> Values:
        """Return a query in standard form, its value in each cell; touches no row."""
        return self.universe.vector(query)

    def span(self, query: Values) -> tuple[float, float]:
        """Return the least and the largest value a row may have, public."""
        return float(query.min()), float(query.max())

    def average(self, query: Values) -> float:
        """Return the average over the rows, private."""
        return float(query @ self.law)

    def take(self, index: NDArray[np.int64]) -> Cells:
        return Cells(self.universe, self._codes[index])


class Rows:
    """Rows of any kind; a query is a function of them that returns one value for each.

    A query is given what the rows are: an array, or a frame of pandas, Polars or PyArrow. Any
    other data are given as a dict of arrays, by column; those of a text file hold texts.

    The value of a row may depend on that row alone: an average of anything else is no average of
    independent values, and no interval holds for it. On private rows that cannot be seen; on rows
    that are public it is tried out.

    A query that raises, warns or returns the wrong shape on private rows counts as 0 for all of
    them, and values beyond 0 and 1 are clipped: its failure would tell about them, and say so to
    nobody. *Checked by* ``test_a_query_that_fails_on_private_rows_says_nothing``.
    """

    __slots__ = ("_rows", "n")

    def __init__(self, rows: object) -> None:
        self._rows = _standard(rows)
        of_one = next(iter(self._rows.values())) if isinstance(self._rows, dict) else self._rows
        self.n = len(of_one)

    def read(self, query: Query) -> Query:
        if not callable(query):
            hint = "Use a function such as lambda rows: rows > 40, or give a universe."
            raise ParameterTypeError("query", "be a function of the rows", kind(query), hint)
        return query

    def span(self, query: Query) -> tuple[float, float]:
        return 0.0, 1.0

    def values(self, query: Any) -> Values:
        """Return the values of rows that are public: what is wrong with them raises."""
        values = vector_of(np.asarray(query(self.handed())), self.n)
        halves = (self.take(part) for part in np.array_split(np.arange(self.n), 2))
        apart = [np.asarray(query(half.handed())) for half in halves if half.n]
        if not np.allclose(np.concatenate(apart), values, rtol=0, atol=ROUNDING):
            hint = "Use a function such as lambda rows: rows > 40."
            raise ParameterError("a query", "depend on one row at a time", "", hint)
        return values

    def average(self, query: Any) -> float:
        """Return the average over the rows, of values clipped; 0 for a query that fails."""
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return float(clipped(np.asarray(query(self.handed())), self.n).mean())
        except Exception:  # noqa: BLE001 - a failure may depend on the rows
            return 0.0

    def handed(self) -> Any:
        """Return the rows so that a query does not change them by mistake."""
        if isinstance(self._rows, dict):
            return dict(self._rows)
        if isinstance(self._rows, np.ndarray):
            return self._rows
        return _eager(self._rows).clone().to_native()

    def take(self, index: NDArray[np.int64]) -> Rows:
        if isinstance(self._rows, dict):
            return Rows({name: column[index] for name, column in self._rows.items()})
        if isinstance(self._rows, np.ndarray):
            return Rows(self._rows[index])
        return Rows(_eager(self._rows)[index.tolist(), :].to_native())


def _standard(rows: object) -> Any:
    """Return an array or a frame in memory as it is, any other data as arrays, by column."""
    if isinstance(rows, np.ndarray):
        return _frozen(rows)
    if _eager(rows) is not None:
        return rows
    frame = Frame(rows)
    columns = {name: _frozen(frame.column(name).values) for name in frame.columns}
    return columns[UNNAMED] if isinstance(rows, (list, tuple, range)) else columns


def _eager(rows: object) -> Any:
    """Return narwhals' view of a frame in memory; None for anything else."""
    from narwhals import DataFrame, from_native

    frame = from_native(rows, eager_only=True, pass_through=True)
    return frame if isinstance(frame, DataFrame) else None


Evidence = Cells | Rows
