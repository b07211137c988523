"""A public list of all the rows there could be.

What a query is asked of: the cells of the universe, never the data. A row belongs to one cell by a
fixed rule, so nothing about the values of the rows can fail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.queries import vector_of
from sourdine.adaptive.server.categories import ANYTHING, Codes, kind_of, read_categories
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.adaptive.queries import Query, Values
    from sourdine.adaptive.server.categories import Categories

__all__ = ["MOST_CELLS", "Universe", "columns_of"]

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
    lower of two, and the first for what is no number; of words the equal one, and for anything
    else a category None, which is added; of dates likewise, with NaT. *Checked by*
    ``test_every_value_has_a_cell`` and ``test_a_word_that_is_not_listed_is_none_of_them``. Words
    for a column whose type is a number, and the like, are refused.

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
        codes = Codes(np.arange(size))
        return cls(MappingProxyType({"": codes}), codes.values)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return prod(len(each.values) for each in self.categories.values())

    def vector(self, query: Query) -> Values:
        """Return the value of a query in each cell; a function is given the cells' columns."""
        values = np.asarray(query(self.coordinates) if callable(query) else query)
        return _plain(values) if values.shape == (self.size,) else vector_of(values, self.size)

    def codes(self, rows: object) -> NDArray[np.int64]:
        """Return the cell of each row; no value of a row raises."""
        columns = columns_of(rows, self.categories)
        codes = np.zeros(len(next(iter(columns.values()))), np.int64)
        for name, each in self.categories.items():
            codes = codes * len(each.values) + each.places(columns[name])
        return codes


def _plain(values: NDArray[Any]) -> Values:
    """Return a query's values; those that are fine as they are cost no copy."""
    if values.dtype == bool:
        return values.astype(np.float64)
    if values.dtype == np.float64 and values.min() >= 0 and values.max() <= 1:
        return values
    return vector_of(values, len(values))


def _frozen(values: NDArray[Any]) -> NDArray[Any]:
    values.setflags(write=False)
    return values


def columns_of(rows: object, expected: Mapping[str, Categories]) -> dict[str, NDArray[Any]]:
    """Return the columns of a dict or a frame; with the one name ``""``, the rows themselves."""
    if tuple(expected) == ("",):
        return {"": _checked("", rows, expected[""])}
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
    missing = [name for name in expected if name not in there]
    if missing:
        raise ParameterError(
            f"rows must have the universe's column {missing[0]!r}, got {there}. "
            "Type the name of a column that is there."
        )
    columns = {name: _checked(name, frame[name], each) for name, each in expected.items()}
    if len({len(column) for column in columns.values()}) != 1:
        raise ParameterError("columns must be equally long, got others. Type whole rows.")
    return columns


def _within_limit(size: int) -> None:
    if not 1 <= size <= MOST_CELLS:
        raise ParameterError(
            f"universe must have from 1 to {MOST_CELLS} cells, got {size}. Type fewer columns or "
            "coarser categories, or guess='split', which needs no universe."
        )


def _checked(name: str, given: Any, categories: Categories) -> NDArray[Any]:  # noqa: ANN401
    """Return a column that may hold such categories, by its type."""
    values = _column(given)
    holds = kind_of(given, values)
    if ANYTHING not in (holds, categories.kind) and holds != categories.kind:
        column = f"the column {name!r}" if name else "rows"
        raise ParameterError(
            f"{column} must hold {categories.kind}, as its categories in the universe are, got "
            f"{holds}. Type categories of the column's kind, or convert the column first."
        )
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
