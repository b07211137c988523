"""The public categories of a column, and the one that a value belongs to.

Whatever a value is, it belongs to one of them by a fixed rule, so no value of a row can fail. What
cannot be right is refused by the type of a column, which is public: words for a column of numbers,
dates for one of words. A column of objects (a list, say) may hold anything, and is never refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["ANYTHING", "Categories", "Codes", "kind_of", "read_categories"]

ANYTHING = "anything"
KINDS = dict.fromkeys("biuf", "numbers") | dict.fromkeys("UST", "words") | {"M": "dates"}
"""What arrays hold, by the letter of their type."""
DECLARED = (
    dict.fromkeys(("int", "uint", "float", "double", "decimal", "bool"), "numbers")
    | dict.fromkeys(("str", "utf8", "large_string", "categorical", "enum"), "words")
    | dict.fromkeys(("date", "timestamp"), "dates")
)
"""What columns of pandas, Polars and Arrow hold, by how the name of their type begins."""


class Categories(Protocol):
    """What a column may be."""

    kind: str
    values: NDArray[Any]

    def places(self, column: NDArray[Any]) -> NDArray[np.int64]:
        """Return the index of each value's category."""


class Codes:
    """Numbers, or booleans: the nearest, the lower of two, the first for what is no number.

    Examples
    --------
    >>> Codes(np.array([0, 10, 20])).places(np.array([4, 15, 99, np.nan])).tolist()
    [0, 1, 2, 0]
    """

    kind = "numbers"

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = _frozen(values)

    def places(self, column: NDArray[Any]) -> NDArray[np.int64]:
        """Return the index of the nearest category."""
        numbers, categories = _numbers(column), self.values.astype(np.float64)
        order = np.argsort(categories)
        ranked = categories[order]
        between = ranked[:-1] + np.diff(ranked) / 2
        places = order[np.searchsorted(between, numbers, side="left")]
        return np.where(np.isnan(numbers), 0, places).astype(np.int64)


class Words:
    """Words and other things: the equal one, and None for anything else.

    Examples
    --------
    >>> cities = Words(["ulm", "bonn"], "words")
    >>> cities.values.tolist(), cities.places(np.array(["bonn", "Ulm"])).tolist()
    (['ulm', 'bonn', None], [1, 2])
    """

    def __init__(self, listed: list[Any], kind: str) -> None:
        self.kind = kind
        self.values = _frozen(_objects(listed if None in listed else [*listed, None]))
        self._index = {category: i for i, category in enumerate(self.values.tolist())}

    def places(self, column: NDArray[Any]) -> NDArray[np.int64]:
        """Return the index of the equal category."""
        return _places(self._index, column, self._index[None], lambda x: x)


class Dates:
    """Dates and times, in UTC if they have a zone: the equal one, and NaT for anything else.

    Examples
    --------
    >>> days = Dates([date(2026, 5, 1), date(2026, 5, 2)])
    >>> days.values.astype(str).tolist()
    ['2026-05-01', '2026-05-02', 'NaT']
    >>> days.places(np.array(["2026-05-02T00:00", "2026-05-02T10:30"], "M8[s]")).tolist()
    [1, 2]
    """

    kind = "dates"

    def __init__(self, listed: list[Any]) -> None:
        moments = list(map(_moment, listed))
        times = np.array([*moments, None], "M8[us]")
        days = times.astype("M8[D]")
        whole = np.array_equal(days[:-1].astype(times.dtype), times[:-1])
        self.values = _frozen(days if whole else times)
        self._index: dict[Any, int] = {moment: i for i, moment in enumerate(moments)}

    def places(self, column: NDArray[Any]) -> NDArray[np.int64]:
        """Return the index of the equal category."""
        moments = column.astype("M8[us]") if column.dtype.kind == "M" else column
        return _places(self._index, moments, len(self._index), _moment)


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
    return Words(listed, "words" if all(isinstance(x, str) for x in there) else ANYTHING)


def kind_of(given: Any, values: NDArray[Any]) -> str:  # noqa: ANN401
    """Return what a column holds by its type, ``"anything"`` where that does not say."""
    if values.dtype.kind in KINDS:
        return KINDS[values.dtype.kind]
    native = given.to_native() if hasattr(given, "to_native") else given
    declared = str(getattr(native, "dtype", getattr(native, "type", ""))).lower()
    return next((kind for begin, kind in DECLARED.items() if declared.startswith(begin)), ANYTHING)


def _read_numbers(name: object, listed: list[Any]) -> Codes:
    if None in listed or not all(map(isfinite, listed)):
        raise ParameterError(
            f"categories of {name!r} must be finite, got one that is not. Leave it out: a row "
            "without a number belongs to the first, one without bounds to an end."
        )
    values = np.asarray(listed)
    return Codes(values if values.dtype.kind in "biuf" else values.astype(np.float64))


def _listed(name: object, given: Any) -> list[Any]:  # noqa: ANN401
    """Return categories as a list, None for what is missing."""
    values = given.to_numpy() if hasattr(given, "to_numpy") else given
    if isinstance(values, np.ndarray) and values.ndim == 1:
        listed = (values.astype("M8[us]") if values.dtype.kind == "M" else values).tolist()
    elif isinstance(values, Sequence) and not isinstance(values, (str, bytes)):
        listed = list(values)
    else:
        raise ParameterTypeError(
            f"universe must list the categories of {name!r}, got {type(given).__name__}. "
            f"Type universe={{{name!r}: ['a', 'b']}} or a range."
        )
    return [None if _missing(x) else x for x in listed]


def _different(name: object, listed: list[Any]) -> list[Any]:
    try:
        many = len(set(listed))
    except TypeError as error:
        raise ParameterTypeError(
            f"categories of {name!r} must be words, numbers or dates, got some that cannot be "
            f"compared. Type universe={{{name!r}: ['a', 'b']}}."
        ) from error
    if not listed or many != len(listed):
        raise ParameterError(
            f"categories of {name!r} must be different, at least one, got {len(listed)} with "
            f"{many} different ones. Type each once."
        )
    return listed


def _missing(x: object) -> bool:
    if type(x).__name__ == "NAType":
        return True
    return x is None or (isinstance(x, (float, date, np.datetime64)) and x != x)  # noqa: PLR0124


def _moment(x: Any) -> Any:  # noqa: ANN401
    """Return a date as the time it begins, a time without its zone, anything else as it is."""
    if isinstance(x, np.datetime64):
        return x.astype("M8[us]").item()
    if isinstance(x, datetime):
        return x if x.tzinfo is None else x.astimezone(UTC).replace(tzinfo=None)
    return datetime(x.year, x.month, x.day) if isinstance(x, date) else x  # noqa: DTZ001


def _places(
    index: dict[Any, int], column: NDArray[Any], other: int, key: Callable[[Any], Any]
) -> NDArray[np.int64]:
    def place(x: Any) -> int:  # noqa: ANN401
        try:
            return index.get(key(x), other)
        except Exception:  # noqa: BLE001 - whatever a private value does, it is none of them
            return other

    return np.fromiter(map(place, column.tolist()), np.int64, len(column))


def _numbers(column: NDArray[Any]) -> NDArray[np.float64]:
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    return np.fromiter(map(_number, column.tolist()), np.float64, len(column))


def _number(x: Any) -> float:  # noqa: ANN401
    try:
        return float(x)
    except Exception:  # noqa: BLE001 - whatever a private value does, it is no number
        return float("nan")


def _objects(listed: list[Any]) -> NDArray[Any]:
    values = np.empty(len(listed), object)
    values[:] = listed
    return values


def _frozen(values: NDArray[Any]) -> NDArray[Any]:
    values.setflags(write=False)
    return values
