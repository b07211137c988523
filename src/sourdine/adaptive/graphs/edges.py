"""Edges of an undirected simple graph on the vertices 0, ..., n - 1."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, Union

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import integer, kind

if TYPE_CHECKING:
    from igraph import Graph

__all__ = ["Edge", "GraphOrSize", "Pairs", "edge_of", "graph_of", "set_edge"]

Edge: TypeAlias = tuple[int, int]
Pairs: TypeAlias = Iterable[tuple[int, int]]
GraphOrSize: TypeAlias = Union[int, "Graph"]


def edge_of(n: int, u: int, v: int) -> Edge:
    """Return an edge with its smaller end first.

    Examples
    --------
    >>> edge_of(5, 3, 1)
    (1, 3)
    """
    try:
        a, b = sorted((index(u), index(v)))
    except TypeError as error:
        raise ParameterTypeError(
            "a vertex",
            f"be a whole number from 0 to {n - 1}",
            kind(_other(u, v)),
            "Type (0, 1), and number your vertices.",
        ) from error
    if not 0 <= a < b < n:
        raise ParameterError(
            "an edge",
            f"join two different vertices from 0 to {n - 1}",
            f"({u}, {v})",
            "Type (0, 1).",
        )
    return a, b


def graph_of(graph: GraphOrSize, edges: Pairs = ()) -> tuple[int, set[Edge]]:
    """Return the number of vertices, and the edges as a set, each with its smaller end first.

    Parameters
    ----------
    graph
        The number of vertices, 2 or more; or a graph of igraph, undirected, without loops,
        multiple edges and weights.
    edges
        Pairs; left out where ``graph`` is one already.

    Examples
    --------
    >>> n, edges = graph_of(3, [(0, 1), (2, 1), (1, 0)])
    >>> n, sorted(edges)
    (3, [(0, 1), (1, 2)])
    """
    if _is_graph(graph):
        return _read_graph(graph, edges)
    size = integer(graph, "graph", least=2)
    return size, {edge_of(size, *_pair(edge)) for edge in _listed(edges)}


def set_edge(edges: set[Edge], edge: Edge, *, present: bool) -> None:
    """Put an edge into a set or take it out."""
    (edges.add if present else edges.discard)(edge)


def _is_graph(x: object) -> TypeGuard[Graph]:
    return hasattr(x, "get_edgelist") and hasattr(x, "vcount")


def _read_graph(graph: Graph, edges: object) -> tuple[int, set[Edge]]:
    if not isinstance(edges, tuple) or edges:
        raise ParameterTypeError(
            "edges", "be left out where a graph is given", "both", "Type mincut(graph)."
        )
    if graph.is_directed() or not graph.is_simple() or "weight" in graph.es.attributes():
        raise ParameterError(
            "a graph",
            "be undirected, without loops, multiple edges and weights",
            "another graph",
            "Type graph.as_undirected().simplify(), and del graph.es['weight'].",
        )
    size = integer(graph.vcount(), "the number of vertices", least=2)
    return size, {edge_of(size, u, v) for u, v in graph.get_edgelist()}


def _listed(edges: Any) -> Pairs:  # noqa: ANN401 - whatever was typed
    if isinstance(edges, (str, bytes)) or not isinstance(edges, Iterable):
        raise ParameterTypeError(
            "edges", "be a list of pairs", kind(edges), "Type {edges}.", edges=[(0, 1), (1, 2)]
        )
    return edges


def _pair(edge: Any) -> Edge:  # noqa: ANN401 - whatever was typed
    try:
        u, v = edge
    except (TypeError, ValueError) as error:
        raise ParameterTypeError(
            "an edge",
            "be a pair of vertices, without a weight",
            kind(edge),
            "Type {edges}.",
            edges=[(0, 1), (1, 2)],
        ) from error
    return u, v


def _other(*ends: object) -> object:
    return next(end for end in ends if not hasattr(end, "__index__"))
