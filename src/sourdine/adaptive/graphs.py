"""The min-cut of a changing graph: exact, sampled and robust."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, Union

import numpy as np

from sourdine.adaptive.robust.lazy import Lazy
from sourdine.adaptive.robust.proof import ENDLESS, Proof
from sourdine.adaptive.robust.wrapper import Robust
from sourdine.adaptive.sketches.keyed import KEY_BYTES, siphash, siphash_many
from sourdine.errors import MissingExtraError, ParameterError, ParameterTypeError
from sourdine.exact import flag, integer, kind, number
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from igraph import Graph

    from sourdine.exact import Number
    from sourdine.noise import Source


# ---- Edges of an undirected simple graph on the vertices 0, ..., n - 1 ---------------------------


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
            "Number the vertices from 0, such as (0, 1).",
        ) from error
    if not 0 <= a < b < n:
        raise ParameterError(
            "an edge",
            f"join two different vertices from 0 to {n - 1}",
            f"({u}, {v})",
            "Use (0, 1).",
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
            "edges", "be omitted when a graph is given", "", "Use mincut(graph)."
        )
    if graph.is_directed() or not graph.is_simple() or "weight" in graph.es.attributes():
        raise ParameterError(
            "graph",
            "be undirected, without loops, multiple edges or weights",
            "",
            "Use graph.as_undirected().simplify(), and del graph.es['weight'].",
        )
    size = integer(graph.vcount(), "the number of vertices", least=2)
    return size, {edge_of(size, u, v) for u, v in graph.get_edgelist()}


def _listed(edges: Any) -> Pairs:
    if isinstance(edges, (str, bytes)) or not isinstance(edges, Iterable):
        raise ParameterTypeError(
            "edges", "be a list of pairs", kind(edges), "Use {edges}.", edges=[(0, 1), (1, 2)]
        )
    return edges


def _pair(edge: Any) -> Edge:
    try:
        u, v = edge
    except (TypeError, ValueError) as error:
        raise ParameterTypeError(
            "an edge",
            "be a pair of vertices, without a weight",
            kind(edge),
            "Use {edges}.",
            edges=[(0, 1), (1, 2)],
        ) from error
    return u, v


def _other(*ends: object) -> object:
    return next(end for end in ends if not hasattr(end, "__index__"))


# ---- The global min-cut of a changing graph: exact, and estimated from a sample of the edges -----


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
        from igraph import Graph
    except ImportError as error:
        raise MissingExtraError(
            "graphs",
            "be installed",
            "",
            "In the checkout, run pip install '.[graphs]'.",
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
    (`sourdine.adaptive.attacks.toggle`, ``test_toggling_fools_a_skeleton``).

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


# ---- Min-cuts that stay right when the next change depends on the last answer --------------------


class RobustMinCut:
    r"""Many skeletons under secret seeds, and the private median of their answers.

    The construction of Stemmer's lecture 9 [1]_ for the min-cut: every change goes to all
    :math:`k` skeletons, a question to :math:`s` of them, and after :math:`T` looks all are drawn
    anew from the current graph, which is kept for that. It withstands the toggling that
    brings a single skeleton to 0 (``test_toggling_does_not_fool_many_skeletons``), which is an
    observation; `certificate` says how many looks are proved, and for a few dozen copies that is 0.
    It speaks of skeletons that are off by more than three quarters of ``error`` with probability
    0.01 at most on changes fixed in advance. Whether they are is for you to see to: by
    `SkeletonMinCut` that takes a min-cut of order :math:`\ln n / (p \alpha^2)` at all times, or a
    share :math:`p` of 1. A cut that falls far is followed by further looks, within one question.

    It is here to be compared with. With the best code at hand it is slower than to compute the
    cut anew at each question, and `lazy_mincut` is faster than both, deterministic and proved.

    Parameters
    ----------
    graph, edges
        The graph to start with, as for `ExactMinCut`; whoever chooses the changes may know it.
    keep
        The share of the edges in a skeleton.
    copies, sample, epsilon0, steps, error
        :math:`k`, :math:`s` (all, if left out), :math:`\varepsilon_0`, :math:`T` and
        :math:`\alpha`, as `sourdine.adaptive.robust.wrapper.Robust` takes them.
    source
        Where seeds, samples and noise come from.

    References
    ----------
    .. [1] A. Beimel, H. Kaplan, Y. Mansour, K. Nissim, T. Saranurak, U. Stemmer, "Dynamic
       algorithms against an adaptive adversary: generic constructions and lower bounds", STOC 2022.

    Examples
    --------
    >>> complete = [(u, v) for u in range(20) for v in range(u)]
    >>> cut = RobustMinCut(20, complete, keep=1, copies=30, epsilon0=4, steps=100)
    >>> cut.update(0, 1, False)
    >>> 12 < cut.query() < 27, cut.certificate()
    (True, 0)
    """

    __slots__ = ("_robust", "edges", "n")

    def __init__(
        self,
        graph: GraphOrSize,
        edges: Pairs = (),
        *,
        keep: Number,
        copies: int,
        epsilon0: Number,
        steps: int,
        sample: int | None = None,
        error: Number = 0.25,
        source: Source = SYSTEM,
    ) -> None:
        self.n, self.edges = graph_of(graph, edges)
        self._robust = Robust(
            lambda seed: SkeletonMinCut(self.n, self.edges, keep=keep, seed=seed),
            copies=copies,
            sample=sample,
            epsilon0=epsilon0,
            steps=steps,
            error=error,
            start=mincut(self.n, self.edges),
            current=lambda: (),
            source=source,
        )

    def update(self, u: int, v: int, present: bool) -> None:  # noqa: FBT001 - a change of state
        """Put an edge into the graph or take it out; what is so already stays so."""
        edge = edge_of(self.n, u, v)
        set_edge(self.edges, edge, present=flag(present, "present"))
        self._robust.update(*edge, present)

    def query(self) -> float:
        """Return about the min-cut; every look that it takes counts as a step."""
        return self._robust.query()

    def certificate(self) -> int:
        """Return how many adaptive steps of a phase are proved: 0 if nothing is."""
        return self._robust.certificate()

    def proof(self) -> Proof:
        """Return what is proved and on which grounds."""
        return self._robust.proof()

    def __repr__(self) -> str:
        return f"RobustMinCut(n={self.n}): edges={len(self.edges)}, by {self._robust!r}"


def lazy_mincut(graph: GraphOrSize, edges: Pairs = (), *, error: Number = 0.25) -> Lazy:
    r"""Return the min-cut of a changing graph, computed anew only when it must be.

    One edge changes a min-cut by one at most, so a min-cut of :math:`c` is good for about
    :math:`\alpha c / (1 + \alpha)` changes. Nothing is random: right whatever the changes depend
    on. *Checked by* ``test_lazy_cuts_are_always_right``.

    Parameters
    ----------
    graph, edges
        The graph to start with, as for `ExactMinCut`.
    error
        :math:`\alpha`: how far, relatively, an answer may be off.

    Examples
    --------
    >>> complete = [(u, v) for u in range(20) for v in range(u)]
    >>> cut = lazy_mincut(20, complete, error=0.25)
    >>> answers = []
    >>> for v in range(1, 10):
    ...     cut.update(0, v, False)
    ...     answers.append(cut.query())
    >>> answers, cut.recomputations
    ([18.0, 18.0, 18.0, 18.0, 14.0, 14.0, 14.0, 11.0, 11.0], 3)
    """
    exact = ExactMinCut(graph, edges)
    return Lazy(exact.query, exact, error=error)
