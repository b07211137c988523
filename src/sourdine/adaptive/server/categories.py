"""The public categories of a column, and the one that a value belongs to.

Whatever a value is, it belongs to one of them by a fixed rule, so no value of a row can fail. What
cannot be right is refused by the type of a column, which is public: words for a column of numbers,
dates for one of words. A column without a type (a list, or one of a CSV file) may hold anything,
and is never refused. How a value is read is said in `sourdine.tally.number_or_text`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import kind
from sourdine.tally import Codes
from sourdine.tally.column import DATES, NUMBERS, WORDS, Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ANYTHING", "Categories", "Numbers", "read_categories"]

ANYTHING = "anything"


class Categories(Protocol):
    """What a column may be."""

    kind: str
    values: NDArray[Any]

    def places(self, column: Column) -> NDArray[np.int64]:
        """Return the index of each value's category."""


class Numbers:
    """Numbers, or booleans: the nearest, the lower of two, the first for what is no number.

    Examples
    --------
    >>> Numbers(np.array([0, 10, 20])).places(Column.of([4, 15, "99", None])).tolist()
    [0, 1, 2, 0]
    """

    kind = NUMBERS

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
    """Words and other things: the one of the same text, and None for anything else.

    Examples
    --------
    >>> cities = Words(["ulm", "bonn"], "words")
    >>> cities.values.tolist(), cities.places(Column.of(["bonn", "Ulm"])).tolist()
    (['ulm', 'bonn', None], [1, 2])
    """

    def __init__(self, listed: list[Any], kind: str) -> None:
        self.kind = kind
        listed = listed if None in listed else [*listed, None]
        self.values = _frozen(_objects(listed))
        there = [i for i, word in enumerate(listed) if word is not None]
        self._codes = Codes(None, [listed[i] for i in there])
        self._order = np.array([*there, listed.index(None)])

    def places(self, column: Column) -> NDArray[np.int64]:
        """Return the index of the category of the same text; that of None stands last."""
        return self._order[self._codes.slots(column)]


class Dates:
    """Dates and times, in UTC if they have a zone: the equal one, and NaT for anything else.

    Examples
    --------
    >>> days = Dates([date(2026, 5, 1), date(2026, 5, 2)])
    >>> days.values.astype(str).tolist()
    ['2026-05-01', '2026-05-02', 'NaT']
    >>> days.places(Column.of(["2026-05-02", datetime(2026, 5, 2, 10, 30)])).tolist()
    [1, 2]
    """

    kind = DATES

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


def read_categories(name: object, given: Any) -> Categories:  # noqa: ANN401
    """Return the categories of a column: a list, a range, an array, an index or a series.

    Examples
    --------
    >>> read_categories("flag", [False, True]).values.dtype
    dtype('bool')
    """
    listed = _different(name, _listed(name, given))
    there = [x for x in listed if x is not None]
    if there and all(isinstance(x, (Real, np.bool_)) for x in there):
        return _read_numbers(name, listed)
    if there and all(isinstance(x, (date, np.datetime64)) for x in there):
        return Dates(there)
    return Words(listed, WORDS if all(isinstance(x, str) for x in there) else ANYTHING)


def _read_numbers(name: object, listed: list[Any]) -> Numbers:
    if None in listed or not all(map(isfinite, listed)):
        raise ParameterError(
            f"categories of {name!r}",
            "be finite",
            "one that is not",
            "Take it out of the list: a row without a number belongs to the first category, an "
            "infinite one to an end.",
        )
    values = np.asarray(listed)
    return Numbers(values if values.dtype.kind in "biuf" else values.astype(np.float64))


def _listed(name: object, categories: Any) -> list[Any]:  # noqa: ANN401
    """Return categories as a list, None for what is missing."""
    values = categories.to_numpy() if hasattr(categories, "to_numpy") else categories
    if isinstance(values, np.ndarray) and values.ndim == 1:
        listed = (values.astype("M8[us]") if values.dtype.kind == "M" else values).tolist()
    elif isinstance(values, Sequence) and not isinstance(values, (str, bytes)):
        listed = list(values)
    else:
        raise ParameterTypeError(
            "universe",
            f"list the categories of {name!r}",
            kind(categories),
            "Type {universe}, or a range.",
            universe={name: ["a", "b"]},
        )
    return [None if _missing(x) else x for x in listed]


def _different(name: object, listed: list[Any]) -> list[Any]:
    try:
        many = len(set(listed))
    except TypeError as error:
        raise ParameterTypeError(
            f"categories of {name!r}",
            "be words, numbers or dates",
            "some that cannot be compared",
            "Type {universe}.",
            universe={name: ["a", "b"]},
        ) from error
    if not listed or many != len(listed):
        raise ParameterError(
            f"categories of {name!r}",
            "be different, and at least one",
            f"{len(listed)}, of which {many} differ",
            "List each of them once.",
        )
    return listed


def _missing(x: object) -> bool:
    if type(x).__name__ == "NAType":
        return True
    return x is None or (isinstance(x, (float, date, np.datetime64)) and x != x)  # noqa: PLR0124


def _moment(x: Any) -> datetime:  # noqa: ANN401
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


def _objects(listed: list[Any]) -> NDArray[Any]:
    values = np.empty(len(listed), object)
    values[:] = listed
    return values


def _frozen(values: NDArray[Any]) -> NDArray[Any]:
    values.setflags(write=False)
    return values
