"""A public list of all the rows there could be.

What a query is asked of: the cells of the universe, never the data. A row belongs to one cell by a
fixed rule, so nothing about the values of the rows can fail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, prod
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.queries import vector_of
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.adaptive.queries import Query, Values

__all__ = ["MOST_CELLS", "Universe", "columns_of"]

MOST_CELLS = 1 << 16


@dataclass(frozen=True, slots=True)
class Universe:
    """All cells that a row can be in.

    Parameters
    ----------
    categories
        The values of each column, in public order; of rows that are plain codes, the codes under
        the one name ``""``.

    Notes
    -----
    The rule for a row's cell, column by column: of numbers the nearest category, the lower of two,
    and the first for what is no number; of anything else the category that is equal, and the first
    if none is. Put first what should gather the strange ones. *Checked by*
    ``test_every_value_has_a_cell``.

    Examples
    --------
    >>> people = Universe.read({"age": range(100), "sex": ["f", "m"]})
    >>> people.size
    200
    >>> people.codes({"age": [3, 150, None], "sex": ["m", "f", "?"]}).tolist()
    [7, 198, 0]
    >>> int(people.vector(lambda d: (d["age"] > 40) & (d["sex"] == "f")).sum())
    59
    """

    categories: Mapping[str, NDArray[Any]]
    coordinates: Any

    @classmethod
    def read(cls, universe: object) -> Universe:
        """Return the universe of N codes, or that of named columns."""
        if isinstance(universe, Mapping):
            lists = {str(name): _categories(name, given) for name, given in universe.items()}
            _within_limit(prod(len(values) for values in lists.values()) if lists else 0)
            grid = np.meshgrid(*(np.arange(len(v)) for v in lists.values()), indexing="ij")
            cells = {
                name: _frozen(values[index.ravel()])
                for (name, values), index in zip(lists.items(), grid, strict=True)
            }
            return cls(MappingProxyType(lists), MappingProxyType(cells))
        size = integer(universe, "universe", least=1)
        _within_limit(size)
        codes = _frozen(np.arange(size))
        return cls(MappingProxyType({"": codes}), codes)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return prod(len(values) for values in self.categories.values())

    def vector(self, query: Query) -> Values:
        """Return the value of a query in each cell; a function is given the cells' columns."""
        values = np.asarray(query(self.coordinates) if callable(query) else query)
        return _plain(values) if values.shape == (self.size,) else vector_of(values, self.size)

    def codes(self, rows: object) -> NDArray[np.int64]:
        """Return the cell of each row; no value of a row raises."""
        columns = columns_of(rows, tuple(self.categories))
        codes = np.zeros(len(next(iter(columns.values()))), np.int64)
        for name, values in self.categories.items():
            codes = codes * len(values) + _places(columns[name], values)
        return codes


def _plain(values: NDArray[Any]) -> Values:
    """Return a query's values; those that are fine as they are cost no copy."""
    if values.dtype == bool:
        return values.astype(np.float64)
    if values.dtype == np.float64 and values.min() >= 0 and values.max() <= 1:
        return values
    return vector_of(values, len(values))


def columns_of(rows: object, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Return the columns of a dict or a frame; with the one name ``""``, the rows themselves."""
    if names == ("",):
        return {"": _column(rows)}
    frame: Any = rows
    if not isinstance(rows, Mapping):
        from narwhals import from_native  # noqa: PLC0415 - costs time to import

        try:
            frame = from_native(rows, eager_only=True)
        except TypeError as error:
            raise ParameterTypeError(
                f"rows must be a frame or a dict of columns, got {type(rows).__name__}. "
                "Type QueryServer({'age': ages}, universe={'age': range(100)})."
            ) from error
    there = list(rows if isinstance(rows, Mapping) else frame.columns)
    missing = [name for name in names if name not in there]
    if missing:
        raise ParameterError(
            f"rows must have the universe's column {missing[0]!r}, got {there}. "
            "Type the name of a column that is there."
        )
    columns = {name: _column(frame[name]) for name in names}
    if len({len(column) for column in columns.values()}) != 1:
        raise ParameterError("columns must be equally long, got others. Type whole rows.")
    return columns


def _within_limit(size: int) -> None:
    if not 1 <= size <= MOST_CELLS:
        raise ParameterError(
            f"universe must have from 1 to {MOST_CELLS} cells, got {size}. Type fewer columns or "
            "coarser categories, or guess='split', which needs no universe."
        )


def _categories(name: object, given: object) -> NDArray[Any]:
    if isinstance(given, (str, bytes)) or not isinstance(given, (Sequence, np.ndarray, range)):
        raise ParameterTypeError(
            f"universe must list the categories of {name!r}, got {type(given).__name__}. "
            f"Type universe={{{name!r}: ['a', 'b']}} or a range."
        )
    listed = given.tolist() if isinstance(given, np.ndarray) else list(given)
    if not listed or len(set(listed)) != len(listed):
        raise ParameterError(
            f"categories of {name!r} must be different, at least one, got {len(listed)} with "
            f"{len(set(listed))} different ones. Type each once."
        )
    if all(isinstance(x, Real) and not isinstance(x, bool) and isfinite(x) for x in listed):
        return _frozen(np.asarray(listed))
    if all(isinstance(x, str) for x in listed):
        return _frozen(np.asarray(listed))
    values = np.empty(len(listed), object)
    values[:] = listed
    return _frozen(values)


def _frozen(values: NDArray[Any]) -> NDArray[Any]:
    values.setflags(write=False)
    return values


def _column(given: Any) -> NDArray[Any]:  # noqa: ANN401
    """Return one column, each value left as it is."""
    values = given.to_numpy() if hasattr(given, "to_numpy") else given
    if isinstance(values, np.ndarray):
        if values.ndim == 1:
            return values
        raise ParameterError(
            f"rows must be one value each, got the shape {values.shape}. Type codes, or a dict of "
            "columns with universe={'age': range(100)}."
        )
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Sequence):
        raise ParameterTypeError(
            f"rows must be a list or an array, got {type(values).__name__}. "
            "Type codes below the universe's size, or a dict of columns."
        )
    column = np.empty(len(values), object)
    for i, value in enumerate(values):
        column[i] = value
    return column


def _places(column: NDArray[Any], categories: NDArray[Any]) -> NDArray[np.int64]:
    """Return the index of each value's category."""
    if categories.dtype.kind in "iuf":
        return _nearest(_numbers(column), categories.astype(np.float64))
    index = {category: i for i, category in enumerate(categories.tolist())}
    return np.fromiter((_found(index, x) for x in column.tolist()), np.int64, len(column))


def _nearest(values: NDArray[np.float64], categories: NDArray[np.float64]) -> NDArray[np.int64]:
    order = np.argsort(categories)
    ranked = categories[order]
    between = ranked[:-1] + np.diff(ranked) / 2
    places = order[np.searchsorted(between, values, side="left")]
    return np.where(np.isnan(values), 0, places).astype(np.int64)


def _numbers(column: NDArray[Any]) -> NDArray[np.float64]:
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    return np.fromiter((_number(x) for x in column.tolist()), np.float64, len(column))


def _number(x: Any) -> float:  # noqa: ANN401
    try:
        return float(x)
    except Exception:  # noqa: BLE001 - whatever a private value does, it is no number
        return float("nan")


def _found(index: dict[Any, int], x: Any) -> int:  # noqa: ANN401
    try:
        return index.get(x, 0)
    except Exception:  # noqa: BLE001 - whatever a private value does, it is none of them
        return 0
