"""An attack on min-cuts that are estimated from a sample of the edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from sourdine.adaptive.attacks.generator import generator
from sourdine.adaptive.graphs.edges import Edge, graph_of
from sourdine.errors import ParameterError
from sourdine.exact import given, integer

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

__all__ = ["MinCutEstimator", "Toggled", "toggle", "weak_vertex"]


class MinCutEstimator(Protocol):
    """What is attacked: a dynamic algorithm on edges."""

    def update(self, u: int, v: int, present: bool, /) -> None:  # noqa: FBT001 - a change of state
        """Put an edge into the graph or take it out."""

    def query(self) -> float:
        """Return the min-cut, or about it."""


class Toggled(NamedTuple):
    """How an attack ended: the graph's edges, the last answer, and the number of questions."""

    edges: frozenset[Edge]
    answer: float
    queries: int


def weak_vertex(
    n: int, degree: int, *, rng: np.random.Generator, density: float = 0.9
) -> frozenset[Edge]:
    """Return a dense graph on the vertices 1, ..., n - 1 with vertex 0 hung on by few edges.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> graph = weak_vertex(30, 8, rng=default_rng(0))
    >>> sum(u == 0 for u, _ in graph)
    8
    """
    n = integer(n, "n", least=3)
    degree = integer(degree, "degree", least=1)
    if degree >= n:
        raise ParameterError(
            "degree",
            f"be at most the number of other vertices ({n - 1})",
            given(degree),
            "Type {degree}.",
            degree=n // 3,
        )
    generator(rng)
    core = {(u, v) for u in range(1, n) for v in range(u + 1, n) if rng.random() < density}
    hung = rng.choice(n - 1, degree, replace=False) + 1
    return frozenset(core | {(0, int(v)) for v in hung})


def toggle(  # noqa: PLR0913 - the graph, and how long to go on
    victim: MinCutEstimator,
    n: int,
    edges: Iterable[tuple[int, int]],
    *,
    vertex: int = 0,
    rounds: int = 2,
    least: int = 12,
) -> Toggled:
    """Take away each edge of a vertex in turn, and give it back if the answer did not fall.

    An edge whose removal lowers the answer was in the sample. What is left in the end are the
    edges that were not: a sample that has none of them answers 0, whatever the vertex still has.

    Parameters
    ----------
    victim
        A dynamic algorithm that holds the graph already.
    n, edges
        The graph.
    vertex
        The vertex whose edges make the min-cut.
    rounds
        How often to go round the edges.
    least
        Stop where so few of the vertex' edges are left.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> from sourdine.adaptive.graphs.mincut import SkeletonMinCut, mincut
    >>> graph = weak_vertex(50, 20, density=1.0, rng=default_rng(1))
    >>> victim = SkeletonMinCut(50, graph, keep=0.5, seed=2**90)
    >>> end = toggle(victim, 50, graph, least=4)
    >>> end.answer, mincut(50, end.edges)
    (0.0, 6)
    """
    _, present = graph_of(n, edges)
    around = sorted(edge for edge in present if vertex in edge)
    left, queries, shown = len(around), 1, victim.query()
    for _ in range(rounds):
        for edge in around:
            if left <= least:
                break
            if edge not in present:
                continue
            victim.update(*edge, False)  # noqa: FBT003 - a change of state
            answer = victim.query()
            queries += 1
            if answer < shown:
                shown, left = answer, left - 1
                present.discard(edge)
            else:
                victim.update(*edge, True)  # noqa: FBT003 - a change of state
        shown = victim.query()
        queries += 1
    return Toggled(frozenset(present), shown, queries)
