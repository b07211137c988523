r"""The global min-cut of a changing graph: exact, and estimated from a sample of the edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.graphs.edges import (
    Edge,
    GraphOrSize,
    Pairs,
    edge_of,
    graph_of,
    set_edge,
)
from sourdine.adaptive.robust.proof import ENDLESS, Proof
from sourdine.adaptive.sketches.siphash import KEY_BYTES, siphash, siphash_many
from sourdine.exact import flag, integer, number
from sourdine.presentation.figures import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from sourdine.exact.parameters import Number

__all__ = ["ExactMinCut", "SkeletonMinCut", "mincut"]

WORD = 1 << 64


def mincut(graph: GraphOrSize, edges: Pairs = ()) -> int:
    """Return the fewest edges whose removal separates the graph, exactly (by igraph).

    Parameters
    ----------
    graph
        The number of vertices, 2 or more; or a graph of igraph that is undirected and simple.
    edges
        The pairs of vertices, numbered from 0, that are joined. A pair named twice is one edge.

    Examples
    --------
    >>> mincut(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    2
    >>> mincut(4, [(0, 1), (2, 3)])
    0
    >>> from igraph import Graph
    >>> mincut(Graph.Ring(5))
    2
    """
    return _cut(*graph_of(graph, edges))


def _cut(n: int, edges: AbstractSet[Edge]) -> int:
    try:
        from igraph import Graph  # noqa: PLC0415 - an extra, loaded late
    except ImportError as error:
        raise MissingExtraError(
            "igraph",
            "be installed to cut graphs",
            "none",
            "In the checkout, type pip install '.[graphs]'.",
        ) from error
    return int(Graph(n=n, edges=list(edges)).mincut_value())


class ExactMinCut:
    """The min-cut of a changing graph, computed anew at every question.

    Deterministic, so nobody learns anything that helps to mislead it.

    Parameters
    ----------
    graph, edges
        The graph to start with: the number of vertices and pairs of them, as `mincut` takes them,
        or a graph of igraph alone.

    Examples
    --------
    >>> ring = ExactMinCut(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> ring.update(0, 1, False)
    >>> ring.query()
    1.0
    """

    __slots__ = ("edges", "n")

    def __init__(self, graph: GraphOrSize, edges: Pairs = ()) -> None:
        self.n, self.edges = graph_of(graph, edges)

    def update(self, u: int, v: int, present: bool) -> None:  # noqa: FBT001 - a change of state
        """Put an edge into the graph or take it out; what is so already stays so."""
        set_edge(self.edges, edge_of(self.n, u, v), present=flag(present, "present"))

    def query(self) -> float:
        """Return the min-cut."""
        return float(_cut(self.n, self.edges))

    def certificate(self) -> int:
        """Return how many adaptive steps are proved: more than anyone takes."""
        return self.proof().steps

    def proof(self) -> Proof:
        """Return what is proved and on which grounds."""
        return Proof(ENDLESS, 0.0, "deterministic, and computed anew at every question")

    def __repr__(self) -> str:
        return f"ExactMinCut(n={self.n}): edges={len(self.edges)}"


class SkeletonMinCut:
    r"""The min-cut of a sample of the edges, divided by the share sampled.

    An edge is kept if a keyed hash of it falls below :math:`p`; the answer is the min-cut of the
    kept edges over :math:`p`. If :math:`p \ge 3 (d + 2) \ln n / (\epsilon^2 c)`, for a min-cut of
    :math:`c`, all cuts of the skeleton are within :math:`1 \pm \epsilon` of :math:`p` times
    the graph's, but for a chance of order :math:`n^{-d}` [1]_. That holds for updates *fixed in
    advance*; who sees the answers learns which edges were kept and takes them away
    (`sourdine.adaptive.attacks.graphs.toggle`, ``test_toggling_fools_a_skeleton``).

    Parameters
    ----------
    graph, edges
        The graph to start with, as for `ExactMinCut`.
    keep
        The share :math:`p` of the edges to keep, above 0, at most 1.
    seed
        128 secret bits, as a whole number.

    References
    ----------
    .. [1] D. R. Karger, "Random sampling in cut, flow, and network design problems", Mathematics
       of Operations Research 24(2), 1999.

    Examples
    --------
    >>> ring = SkeletonMinCut(4, [(0, 1), (1, 2), (2, 3), (3, 0)], keep=1, seed=7)
    >>> ring.update(0, 2, True)
    >>> ring.query()
    2.0
    """

    __slots__ = ("_below", "_key", "edges", "keep", "n")

    def __init__(self, graph: GraphOrSize, edges: Pairs = (), *, keep: Number, seed: int) -> None:
        self.n, given = graph_of(graph, edges)
        share = number(keep, "keep", above=0, most=1)
        self.keep = float(share)
        self._below = int(share * WORD)
        self._key = (integer(seed, "seed", least=0) % (1 << 128)).to_bytes(KEY_BYTES, "little")
        self.edges = self._kept(given)

    def update(self, u: int, v: int, present: bool) -> None:  # noqa: FBT001 - a change of state
        """Put an edge into the graph or take it out; what is so already stays so."""
        edge, stays = edge_of(self.n, u, v), flag(present, "present")
        if siphash(edge[0] * self.n + edge[1], self._key) < self._below:
            set_edge(self.edges, edge, present=stays)

    def query(self) -> float:
        """Return the min-cut of the kept edges over their share."""
        return _cut(self.n, self.edges) / self.keep

    def __repr__(self) -> str:
        return f"SkeletonMinCut(n={self.n}, keep={self.keep:g})"

    def _kept(self, edges: set[Edge]) -> set[Edge]:
        if not edges:
            return set()
        ends = np.array(sorted(edges), np.uint64)
        words = siphash_many(ends[:, 0] * np.uint64(self.n) + ends[:, 1], self._key)
        chosen = ends[words <= np.uint64(max(self._below, 1) - 1)]
        return {(a, b) for a, b in chosen.tolist()}
