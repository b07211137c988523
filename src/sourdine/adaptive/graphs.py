"""The min-cut of a changing graph: exact, sampled, kept up to date, and robust."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from heapq import heappop, heappush
from math import ceil, log
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np

from sourdine.adaptive.robust.proof import ENDLESS, Lazy, Proof
from sourdine.adaptive.robust.wrapper import Robust
from sourdine.adaptive.sketches.keyed import key_of, siphash, siphash_many
from sourdine.errors import MissingExtraError, ParameterError, ParameterTypeError
from sourdine.exact import flag, integer, kind, number
from sourdine.exact import given as given_as
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
    """Return an edge with its smaller end first."""
    try:
        a, b = sorted((index(u), index(v)))
    except TypeError as error:
        other = next(end for end in (u, v) if not hasattr(end, "__index__"))
        must = f"be a whole number from 0 to {n - 1}"
        hint = "Number the vertices from 0, such as (0, 1)."
        raise ParameterTypeError("a vertex", must, kind(other), hint) from error
    if not 0 <= a < b < n:
        must = f"join two different vertices from 0 to {n - 1}"
        raise ParameterError("an edge", must, f"({u}, {v})", "Use (0, 1).")
    return a, b


def graph_of(graph: GraphOrSize, edges: Pairs = ()) -> tuple[int, set[Edge]]:
    """Return the number of vertices, and the edges as a set, each with its smaller end first."""
    if hasattr(graph, "get_edgelist") and hasattr(graph, "vcount"):
        return _read_graph(graph, edges)
    size = integer(graph, "graph", least=2)
    if isinstance(edges, (str, bytes)) or not isinstance(edges, Iterable):
        must, example = "be a list of pairs", [(0, 1), (1, 2)]
        raise ParameterTypeError("edges", must, kind(edges), "Use {edges}.", edges=example)
    return size, {edge_of(size, *_pair(edge)) for edge in edges}


def set_edge(edges: set[Edge], edge: Edge, *, present: bool) -> None:
    """Put an edge into a set or take it out."""
    (edges.add if present else edges.discard)(edge)


def _read_graph(graph: Any, edges: object) -> tuple[int, set[Edge]]:
    if not isinstance(edges, tuple) or edges:
        must = "be omitted when a graph is given"
        raise ParameterTypeError("edges", must, "", "Use mincut(graph).")
    if graph.is_directed() or not graph.is_simple() or "weight" in graph.es.attributes():
        must = "be undirected, without loops, multiple edges or weights"
        hint = "Use graph.as_undirected().simplify(), and del graph.es['weight']."
        raise ParameterError("graph", must, "", hint)
    size = integer(graph.vcount(), "the number of vertices", least=2)
    return size, {edge_of(size, u, v) for u, v in graph.get_edgelist()}


def _pair(edge: Any) -> Edge:
    try:
        u, v = edge
    except (TypeError, ValueError) as error:
        must, hint, got = "be a pair of vertices, without a weight", "Use {edges}.", kind(edge)
        raise ParameterTypeError("an edge", must, got, hint, edges=[(0, 1), (1, 2)]) from error
    return u, v


# ---- The global min-cut of a changing graph: exact, and estimated from a sample of the edges -----


WORD = 1 << 64
HALF = Fraction(1, 2)


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
        raise MissingExtraError.of("graphs") from error
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
        self._key = key_of(seed)
        edges_of = zip(*_words(self.n, given, self._key), strict=True)
        self.edges = {edge for edge, word in edges_of if word < self._below}

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


def _words(n: int, edges: set[Edge], key: bytes) -> tuple[list[Edge], list[int]]:
    """Return edges in their order, and the keyed hash of each."""
    listed = sorted(edges)
    ends = np.array(listed, np.uint64).reshape(-1, 2)
    return listed, siphash_many(ends[:, 0] * np.uint64(n) + ends[:, 1], key).tolist()


# ---- The min-cut of a sample that is kept up to date: cheap changes, a number to be read ---------
#
# *Levels.* A keyed hash gives each edge a level: :math:`j` or more with probability :math:`2^{-j}`.
# Sample :math:`j` holds the edges of level :math:`j` or more. One sample is *in use*: its min-cut
# :math:`v` was computed when something had changed enough, and :math:`v 2^j` is the answer. Write
# :math:`\kappa` for the strength, :math:`\eta = \alpha/4`, :math:`\epsilon = 2\alpha/3`,
# :math:`\kappa_0 = 3 (d + 2) \ln n / \epsilon^2`. The cut is computed anew when more than
# :math:`\eta v/(1 + \eta)` edges of the sample in use were added or taken away since; then a sample
# with :math:`v < \kappa` gives way to the next larger one, and one with :math:`v \ge 4\kappa` to
# the next smaller one if that has :math:`\kappa` left.
#
# *Theorem.* Let :math:`\alpha \le 1/2` and :math:`\kappa \ge (1 + \epsilon)(1 + \eta)\kappa_0`. At
# any step of changes fixed in advance the answer is within :math:`1 \pm \alpha` of the min-cut
# :math:`c`, but for a chance of :math:`(\log_2 n + 2)(2 + 4/d) n^{-d}`.
#
# *Proof.* Fix the step. (1) Let :math:`2^{-j}c \ge \kappa_0`. A cut of :math:`ac` edges keeps more
# or less than its share by a factor :math:`1 \pm \epsilon` with probability :math:`2 n^{-a(d + 2)}`
# at most (Chernoff). At most :math:`n^{2a}` cuts have :math:`ac` edges or fewer, so the
# :math:`k`-th smallest has :math:`a \ge \ln k/(2 \ln n)`; the first :math:`n^2` fail with
# probability :math:`2n^{-d}`, the others with :math:`\sum_{k > n^2} 2k^{-(d + 2)/2} \le (4/d)
# n^{-d}` [1]_. So the sample's min-cut is within :math:`1 \pm \epsilon` of :math:`2^{-j}c`. (2) Let
# :math:`2^{-j}c < \kappa_0`. The edges of one min-cut of the graph bound the sample's from above;
# they reach :math:`(1 + \epsilon)\kappa_0` with probability :math:`n^{-(d + 2)}` at most. (3)
# Outside these events for all levels, look at the sample in use. One edge changes a min-cut by one
# at most, so :math:`v` is within a factor :math:`1 \pm \eta` of its min-cut now, which is therefore
# :math:`\kappa/(1 + \eta)` or more, unless all edges are in use. By (2) it is a sample of (1), and
# :math:`(1 + \epsilon)(1 + \eta) \le 1 + \alpha`, :math:`(1 - \epsilon)(1 - \eta) \ge 1 - \alpha`.
# ∎ *Checked by* ``test_a_kept_sample_is_right_at_the_strength_that_is_proved``.
#
# *Cost.* A question reads a number. Making it takes a hash for each of :math:`m` edges, and the
# cuts of samples whose sizes double: :math:`O(m)`. A change takes a hash and, where it concerns the
# sample in use, a share of a computation. While there are :math:`m` edges at most and the cut is
# :math:`c` at least, samples in use have :math:`2^{-j} \le 5\kappa/c`, unless level 0 is in use;
# :math:`N` changes hit one :math:`2^{-j}N` times on average, which pays for :math:`(1 + \eta)
# 2^{-j} N / \eta\kappa` computations on :math:`2^{-j}m` edges. Summed over levels: :math:`O(1 +
# r\,\kappa m / \eta c^2)` a change, where a computation runs :math:`r` times over its edges
# (`least_cut`: once or twice on the graphs measured, :math:`n` at worst). That is below
# :math:`\sqrt n` where :math:`c^2` is above :math:`r \kappa m / (\eta \sqrt n)`, and more for
# smaller cuts: at level 0 it is :math:`O(r m / \eta c)`. Thorup's algorithm [2]_, which the lecture
# quotes, takes :math:`\tilde O(\sqrt n)` whatever the cut is, and in the worst case rather than on
# average. *Checked by* ``test_changes_of_a_kept_sample_are_cheap``.
#
# References
# ----------
# .. [1] D. R. Karger, "Random sampling in cut, flow, and network design problems", Mathematics of
#    Operations Research 24(2), 1999.
# .. [2] M. Thorup, "Fully-dynamic min-cut", Combinatorica 27(1), 2007.


def least_cut(n: int, edges: Iterable[Edge]) -> tuple[int, int]:
    r"""Return the min-cut of a graph, exactly, and how many ends of edges were looked at.

    Vertices are put in an order of largest adjacency, contracted where two are joined by at least
    as many paths as the best cut found has edges, and so on until one is left [1]_. Each run
    contracts one edge or more; on graphs whose least cuts are small sides a few runs are enough.
    *Checked by* ``test_least_cut_is_that_of_all_cuts``.

    References
    ----------
    .. [1] H. Nagamochi, T. Ono, T. Ibaraki, "Implementing an efficient minimum capacity cut
       algorithm", Mathematical Programming 67, 1994.
    """
    near: list[dict[int, int]] = [{} for _ in range(n)]
    for u, v in edges:
        near[u][v] = near[v][u] = 1
    scans, best = 0, min(len(ends) for ends in near)
    while len(near) > 1 and best:
        scans += sum(map(len, near))
        root, best = _joined(near, best)
        near = _contracted(near, root)
        if len(near) > 1:
            best = min(best, *(sum(ends.values()) for ends in near))
    return best, scans


def _joined(near: list[dict[int, int]], best: int) -> tuple[list[int], int]:
    """Go through the vertices by largest adjacency; return whom to contract, and the best cut."""
    size = len(near)
    root, reach, seen = list(range(size)), [0] * size, [False] * size
    heap, cut, left = [(0, 0)], 0, size
    while left:
        if not heap:
            return root, 0
        _, u = heappop(heap)
        if seen[u]:
            continue
        seen[u] = True
        left -= 1
        cut += sum(near[u].values()) - 2 * reach[u]
        if left:
            best = min(best, cut)
        for v, weight in near[u].items():
            if not seen[v]:
                reach[v] += weight
                heappush(heap, (-reach[v], v))
                if reach[v] >= best:
                    root[_root(root, u)] = _root(root, v)
    return root, best


def _root(root: list[int], u: int) -> int:
    while root[u] != u:
        root[u] = root[root[u]]
        u = root[u]
    return u


def _contracted(near: list[dict[int, int]], root: list[int]) -> list[dict[int, int]]:
    tops = [_root(root, u) for u in range(len(near))]
    place = {top: i for i, top in enumerate(sorted(set(tops)))}
    fewer: list[dict[int, int]] = [{} for _ in place]
    for u, ends in enumerate(near):
        own, mine = place[tops[u]], fewer[place[tops[u]]]
        for v, weight in ends.items():
            other = place[tops[v]]
            if other != own:
                mine[other] = mine.get(other, 0) + weight
    return fewer


def proved_strength(n: int, error: Number) -> int:
    r"""Return the least strength at which `DynamicMinCut` is proved right, with :math:`d = 2`.

    Examples
    --------
    >>> proved_strength(1000, 0.25)
    3700
    """
    size, off = integer(n, "n", least=2), float(number(error, "error", above=0, most=HALF))
    spread, lag = 2 * off / 3, off / 4
    return ceil((1 + spread) * (1 + lag) * 12 * log(size) / spread**2)


class DynamicMinCut:
    r"""The min-cut of a changing graph, from samples of its edges, kept up to date.

    A change is hashed, and concerns the sample in use with the probability of that sample; a
    question reads a number. That holds for changes *fixed in advance*, as for `SkeletonMinCut`;
    `RobustMinCut` takes many of them against anybody else. How long a change takes depends on the
    seed: somebody who can measure it learns something of the sample.

    Parameters
    ----------
    graph, edges
        The graph to start with, as for `ExactMinCut`.
    error
        :math:`\alpha`, at most one half: how far, relatively, an answer may be off.
    strength
        :math:`\kappa`: edges that a min-cut of the sample in use has at least, unless all edges are
        in use. The one that is proved if left out, `proved_strength`: thousands, so that cuts up to
        that are exact but for the lag. Smaller ones are quicker, and off by
        :math:`1/\sqrt\kappa` or more.
    seed
        128 secret bits, as a whole number.

    Attributes
    ----------
    level
        The sample in use has each edge with probability ``2**-level``.
    operations
        Hashes, edges collected and ends of edges looked at, so far.
    computations
        How often the cut of a sample was computed.

    Notes
    -----
    With the strength proved an answer is within :math:`1 \pm \alpha` of the min-cut at any step of
    changes fixed in advance, but for a chance of order :math:`n^{-2}\log n`. A change costs
    :math:`O(1 + r \kappa m / \alpha c^2)` on average, for :math:`m` edges, a min-cut of :math:`c`
    and :math:`r` runs of `least_cut`: no more than :math:`\sqrt n` if the cut is large enough.

    Examples
    --------
    >>> complete = [(u, v) for u in range(40) for v in range(u)]
    >>> cut = DynamicMinCut(40, complete, error=0.25, seed=7)
    >>> cut.query(), cut.level
    (39.0, 0)
    >>> quick = DynamicMinCut(40, complete, error=0.25, strength=12, seed=7)
    >>> quick.level, 20 < quick.query() < 60
    (1, True)
    """

    __slots__ = (
        "_added", "_key", "_lag", "_samples", "_taken", "_value", "computations", "level", "n",
        "operations", "strength",
    )  # fmt: skip

    def __init__(
        self,
        graph: GraphOrSize,
        edges: Pairs = (),
        *,
        error: Number,
        seed: int,
        strength: int | None = None,
    ) -> None:
        self.n, given = graph_of(graph, edges)
        off = number(error, "error", above=0, most=HALF)
        self._lag = float(off) / 4
        proved = proved_strength(self.n, off) if strength is None else strength
        self.strength = integer(proved, "strength", least=1)
        self._key = key_of(seed)
        self._samples: list[set[Edge]] = [set() for _ in range(self.n.bit_length() + 1)]
        self.operations, self.computations = len(given), 0
        for edge, word in zip(*_words(self.n, given, self._key), strict=True):
            self._samples[self._depth(word)].add(edge)
        self.level = len(self._samples) - 1
        self._settle()

    def update(self, u: int, v: int, present: bool) -> None:  # noqa: FBT001 - a change of state
        """Put an edge into the graph or take it out; what is so already stays so."""
        edge, stays = edge_of(self.n, u, v), flag(present, "present")
        depth = self._depth(siphash(edge[0] * self.n + edge[1], self._key))
        self.operations += 1
        if (edge in self._samples[depth]) is stays:
            return
        set_edge(self._samples[depth], edge, present=stays)
        if depth < self.level:
            return
        self._added += stays
        self._taken += not stays
        changed = max(self._added, self._taken if self._value else 0)
        if changed * (1 + self._lag) > self._lag * self._value:
            self._settle()

    def query(self) -> float:
        """Return the min-cut of the sample in use, as last computed, over its share."""
        return float(self._value << self.level)

    def __repr__(self) -> str:
        return f"DynamicMinCut(n={self.n}, strength={self.strength}): level={self.level}"

    def _depth(self, word: int) -> int:
        return min(64 - int(word).bit_length(), len(self._samples) - 1)

    def _settle(self) -> None:
        """Compute the cut of the sample in use, and of others until one is of the right size."""
        self._added = self._taken = 0
        value = self._computed(self.level)
        while value >= 4 * self.strength and self.level + 1 < len(self._samples):
            fewer = self._computed(self.level + 1)
            if fewer < self.strength:
                break
            self.level, value = self.level + 1, fewer
        while value < self.strength and self.level:
            self.level -= 1
            value = self._computed(self.level)
        self._value = value

    def _computed(self, level: int) -> int:
        chosen = [edge for sample in self._samples[level:] for edge in sample]
        value, scans = least_cut(self.n, chosen)
        self.operations += len(chosen) + scans
        self.computations += 1
        return value


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

    It is here to be compared with. With skeletons it is slower than to compute the cut anew at each
    question, with `DynamicMinCut` faster from a few hundred vertices on; `lazy_mincut` is faster
    than both at such sizes, deterministic and proved.

    Parameters
    ----------
    graph, edges
        The graph to start with, as for `ExactMinCut`; the chooser of the changes may know it.
    keep
        The share of the edges in a skeleton. If left out, the copies are `DynamicMinCut`, whose
        questions cost nothing, within three quarters of ``error``.
    strength
        What the copies of `DynamicMinCut` take; the one that is proved if left out.
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
        copies: int,
        epsilon0: Number,
        steps: int,
        keep: Number | None = None,
        strength: int | None = None,
        sample: int | None = None,
        error: Number = 0.25,
        source: Source = SYSTEM,
    ) -> None:
        self.n, self.edges = graph_of(graph, edges)
        if keep is not None and strength is not None:
            must = "be omitted when keep is given"
            hint = "Use {strength} without keep, or keep alone."
            raise ParameterTypeError("strength", must, given_as(strength), hint, strength=strength)

        def copy(seed: int) -> SkeletonMinCut | DynamicMinCut:
            if keep is not None:
                return SkeletonMinCut(self.n, self.edges, keep=keep, seed=seed)
            off = number(error, "error", above=0, most=Fraction(2, 3)) * 3 / 4
            return DynamicMinCut(self.n, self.edges, error=off, strength=strength, seed=seed)

        self._robust = Robust(
            copy, copies=copies, sample=sample, epsilon0=epsilon0, steps=steps, error=error,
            start=mincut(self.n, self.edges), current=lambda: (), source=source,
        )  # fmt: skip

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
