r"""The global min-cut of a changing graph: exact, and estimated from a sample of the edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.graphs.edges import Edge, edge_of, edges_of
from sourdine.adaptive.sketches.siphash import KEY_BYTES, siphash, siphash_many
from sourdine.exact import integer, number
from sourdine.look.figures import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from sourdine.exact.parameters import Number

__all__ = ["ExactMinCut", "SkeletonMinCut", "mincut"]

WORD = 1 << 64


def mincut(n: int, edges: Collection[tuple[int, int]]) -> int:
    """Return the fewest edges whose removal separates the graph, exactly (by igraph).

    Examples
    --------
    >>> mincut(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    2
    >>> mincut(4, [(0, 1), (2, 3)])
    0
    """
    try:
        from igraph import Graph  # noqa: PLC0415 - an extra, loaded late
    except ImportError as error:
        raise MissingExtraError(
            "igraph must be installed to cut graphs, got none. Type pip install 'sourdine[graphs]'."
        ) from error
    return int(Graph(n=n, edges=list(edges)).mincut_value())


class ExactMinCut:
    """The min-cut of a changing graph, computed anew at every question.

    Deterministic, so nobody learns anything that helps to mislead it.

    Parameters
    ----------
    n
        The number of vertices, 2 or more.
    edges
        The pairs that the graph starts with.

    Examples
    --------
    >>> ring = ExactMinCut(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> ring.update(0, 1, False)
    >>> ring.query()
    1.0
    """

    __slots__ = ("edges", "n")

    def __init__(self, n: int, edges: Iterable[tuple[int, int]] = ()) -> None:
        self.n = integer(n, "n", least=2)
        self.edges = edges_of(self.n, edges)

    def update(self, u: int, v: int, present: bool) -> None:  # noqa: FBT001 - a change of state
        """Put an edge into the graph or take it out; what is so already stays so."""
        _set(self.edges, edge_of(self.n, u, v), present=present)

    def query(self) -> float:
        """Return the min-cut."""
        return float(mincut(self.n, self.edges))


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
    n
        The number of vertices, 2 or more.
    edges
        The pairs that the graph starts with.
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

    def __init__(
        self, n: int, edges: Iterable[tuple[int, int]] = (), *, keep: Number, seed: int
    ) -> None:
        self.n = integer(n, "n", least=2)
        share = number(keep, "keep", above=0, most=1)
        self.keep = float(share)
        self._below = int(share * WORD)
        self._key = (integer(seed, "seed", least=0) % (1 << 128)).to_bytes(KEY_BYTES, "little")
        self.edges = self._kept(edges_of(self.n, edges))

    def update(self, u: int, v: int, present: bool) -> None:  # noqa: FBT001 - a change of state
        """Put an edge into the graph or take it out; what is so already stays so."""
        edge = edge_of(self.n, u, v)
        if siphash(edge[0] * self.n + edge[1], self._key) < self._below:
            _set(self.edges, edge, present=present)

    def query(self) -> float:
        """Return the min-cut of the kept edges over their share."""
        return mincut(self.n, self.edges) / self.keep

    def _kept(self, edges: set[Edge]) -> set[Edge]:
        if not edges:
            return set()
        ends = np.array(sorted(edges), np.uint64)
        words = siphash_many(ends[:, 0] * np.uint64(self.n) + ends[:, 1], self._key)
        chosen = ends[words <= np.uint64(max(self._below, 1) - 1)]
        return {(a, b) for a, b in chosen.tolist()}


def _set(edges: set[Edge], edge: Edge, *, present: bool) -> None:
    (edges.add if present else edges.discard)(edge)
