"""Edges of bins: where they lie, and how they are written."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sourdine import calendar
from sourdine.calendar import DAY, moment, written
from sourdine.presentation.numbers import shown

if TYPE_CHECKING:
    from sourdine.tally import Edges

__all__ = ["edge_texts", "edge_values", "even_edges"]


def even_edges(lower: Any, upper: Any, bins: int) -> list[Any]:  # noqa: ANN401 - numbers or dates
    """Return the edges of bins of one width between bounds.

    Examples
    --------
    >>> even_edges(0, 12, 3)
    [0.0, 4.0, 8.0, 12.0]
    """
    if isinstance(lower, dt.date):
        return calendar.even_edges(lower, upper, bins)
    return [lower + (upper - lower) * i / bins for i in range(bins + 1)]


def edge_values(cell: Edges) -> list[Any]:
    """Return the edges as numbers, or as dates or times.

    Examples
    --------
    >>> from sourdine.tally import Edges
    >>> edge_values(Edges(None, [0, 0.5, 2]))
    [0.0, 0.5, 2.0]
    """
    if not cell.dated:
        return [float(edge) for edge in cell.edges]
    dates = all(edge % DAY == 0 for edge in cell.edges)
    return [moment(int(edge), date=dates) for edge in cell.edges]


def edge_texts(cell: Edges) -> list[str]:
    """Return the edges as a person reads them.

    Examples
    --------
    >>> from sourdine.tally import Edges
    >>> edge_texts(Edges(None, ["2020-01-01", "2020-02-01"]))
    ['2020-01-01', '2020-02-01']
    """
    if cell.dated:
        return [written(edge) for edge in edge_values(cell)]
    edges = [float(e) for e in cell.edges]
    width = min(b - a for a, b in pairwise(edges))
    return [shown(int(e) if e.is_integer() else e, width) for e in edges]
