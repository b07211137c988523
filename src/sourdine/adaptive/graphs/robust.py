r"""Min-cuts that stay right when the next change depends on the last answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sourdine.adaptive.graphs.edges import edge_of, graph_of, set_edge
from sourdine.adaptive.graphs.mincut import ExactMinCut, SkeletonMinCut, mincut
from sourdine.adaptive.robust import Lazy, Robust
from sourdine.exact import flag
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from sourdine.adaptive.graphs.edges import GraphOrSize, Pairs
    from sourdine.adaptive.robust import Proof
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

__all__ = ["RobustMinCut", "lazy_mincut"]


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
        :math:`\alpha`, as `sourdine.adaptive.robust.Robust` takes them.
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

    def __init__(  # noqa: PLR0913 - the graph, then the lecture's symbols
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
