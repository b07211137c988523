"""A public list of all the rows there could be.

What a query is asked of: the cells of the universe, never the data. A row belongs to one cell by a
fixed rule, so nothing about the values of the rows can fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.queries import vector_of
from sourdine.adaptive.server.categories import ANYTHING, Numbers, read_categories
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import given, integer
from sourdine.tally import Frame
from sourdine.tally.absent import listed_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.adaptive.queries import Query, Values
    from sourdine.adaptive.server.categories import Categories
    from sourdine.tally.column import Column

__all__ = ["MOST_CELLS", "Universe"]

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
        """How many cells there are."""
        return prod(len(each.values) for each in self.categories.values())

    def vector(self, query: Query) -> Values:
        """Return the value of a query in each cell; a function is given the cells' columns."""
        values = np.asarray(query(self.coordinates) if callable(query) else query)
        return _plain(values) if values.shape == (self.size,) else vector_of(values, self.size)

    def codes(self, data: object) -> NDArray[np.int64]:
        """Return the cell of each row; no value of a row raises."""
        columns = _columns_of(data, self.categories)
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


def _columns_of(data: object, expected: Mapping[str, Categories]) -> dict[str, Column]:
    """Return the columns that are expected; with the one name ``""``, the only one."""
    frame = Frame(data)
    if tuple(expected) == ("",):
        if len(frame.columns) != 1:
            raise ParameterError(
                "data",
                "be codes in one column",
                f"{len(frame.columns)} columns",
                "Type {universe} for columns of a frame.",
                universe={"age": range(100)},
            )
        return {"": _checked("", frame.column(), expected[""])}
    missing = [name for name in expected if name not in frame.columns]
    if missing:
        raise ParameterError(
            "data",
            f"have the universe's column {missing[0]!r}",
            "none of that name",
            f"{listed_columns(frame, missing[0])} Type {{universe}} with the names of columns.",
        )
    return {name: _checked(name, frame.column(name), each) for name, each in expected.items()}


def _within_limit(size: int) -> None:
    if not 1 <= size <= MOST_CELLS:
        raise ParameterError(
            "universe",
            f"have from 1 to {MOST_CELLS} cells",
            given(size),
            "Type fewer columns or coarser categories, or {guess}, and leave {universe} out.",
            guess="split",
            universe=LEFT_OUT,
        )


def _checked(name: str, column: Column, categories: Categories) -> Column:
    """Return a column that may hold such categories, by its type."""
    holds = column.holds or ANYTHING
    if ANYTHING not in (holds, categories.kind) and holds != categories.kind:
        what = f"the column {name!r}" if name else "data"
        raise ParameterError(
            what,
            f"hold {categories.kind}, as its categories in the universe are",
            holds,
            "Type categories of the column's kind, or convert the column first.",
        )
    return column
