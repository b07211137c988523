"""Edges of an undirected simple graph on the vertices 0, ..., n - 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sourdine.errors import ParameterError
from sourdine.exact import integer

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Edge", "edge_of", "edges_of"]

Edge: TypeAlias = tuple[int, int]


def edge_of(n: int, u: int, v: int) -> Edge:
    """Return an edge with its smaller end first.

    Examples
    --------
    >>> edge_of(5, 3, 1)
    (1, 3)
    """
    a, b = (u, v) if u < v else (v, u)
    if not 0 <= a < b < n:
        raise ParameterError(
            f"an edge must join two different vertices from 0 to {n - 1}, got ({u}, {v}). "
            "Type update(0, 1, True)."
        )
    return int(a), int(b)


def edges_of(n: int, edges: Iterable[tuple[int, int]]) -> set[Edge]:
    """Return the edges as a set, each with its smaller end first.

    Examples
    --------
    >>> sorted(edges_of(3, [(0, 1), (2, 1), (1, 0)]))
    [(0, 1), (1, 2)]
    """
    integer(n, "n", least=2)
    return {edge_of(n, u, v) for u, v in edges}
