"""The min-cut of a changing graph, while edges are taken away by what the answers tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.attacks import toggle, weak_vertex
from sourdine.adaptive.graphs import ExactMinCut, RobustMinCut, SkeletonMinCut, lazy_mincut, mincut
from sourdine_lab import look
from sourdine_lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.adaptive.attacks import MinCutEstimator
    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

COPIES, SAMPLE, EPSILON0, STEPS, ACCURACY = 24, 12, 4, 100, 0.25
NAMES = {
    "plain": "One sample of the edges",
    "robust": "Private median of 24 samples",
    "lazy": "Exact, only when it must be",
    "exact": "Exact at each question",
}
METHODS = {"plain": "unprotected", "robust": "protected", "lazy": "today", "exact": "today"}


class Watched:
    """An algorithm whose answers are written down beside the truth."""

    def __init__(self, victim: MinCutEstimator, n: int, edges: frozenset[tuple[int, int]]) -> None:
        self.victim, self.truth = victim, ExactMinCut(n, edges)
        self.seen: list[tuple[float, float]] = []

    def update(self, u: int, v: int, present: bool, /) -> None:  # noqa: FBT001 - a change of state
        """Hand a change to both."""
        self.victim.update(u, v, present)
        self.truth.update(u, v, present)

    def query(self) -> float:
        """Return the answer of the victim."""
        answer = self.victim.query()
        self.seen.append((answer, self.truth.query()))
        return answer


def parts(settings: Settings) -> list[Settings]:
    """One part an algorithm and graph."""
    return [
        {"algorithm": name, "graph": graph, "vertices": settings["vertices"],
         "degree": settings["degree"], "keep": settings["keep"]}
        for name in NAMES
        for graph in range(settings["graphs"])
    ]  # fmt: skip


def compute(part: Part) -> Iterator[Row]:
    """Yield the answer and the truth at each question of the attack."""
    n, degree = part["vertices"], part["degree"]
    edges = weak_vertex(n, degree, rng=np.random.default_rng(part["graph"]), density=1.0)
    victim = made(part["algorithm"], n, edges, keep=part["keep"], source=part.source)
    watched = Watched(victim, n, edges)
    end = toggle(watched, n, edges, least=3 * degree // 10)
    last = mincut(n, end.edges)
    for question, (answer, truth) in enumerate(watched.seen, 1):
        yield {"algorithm": part["algorithm"], "graph": part["graph"], "vertices": n,
               "edges": len(edges), "question": question, "answer": answer, "truth": truth,
               "left": last}  # fmt: skip


def made(
    name: str, n: int, edges: frozenset[tuple[int, int]], *, keep: float, source: Source
) -> MinCutEstimator:
    """Return an algorithm that holds the graph, by its name."""
    if name == "plain":
        return SkeletonMinCut(n, edges, keep=keep, seed=int.from_bytes(source.bytes(16), "little"))
    if name == "robust":
        return RobustMinCut(
            n, edges, keep=keep, copies=COPIES, sample=SAMPLE, epsilon0=EPSILON0, steps=STEPS,
            error=ACCURACY, source=source,
        )  # fmt: skip
    return lazy_mincut(n, edges, error=ACCURACY) if name == "lazy" else ExactMinCut(n, edges)


def draw(table: Table) -> Any:
    """Draw answers and truths over the questions, a panel an algorithm."""
    figure, axes = look.panels(4, rows=2, width=11.0, height=6.4, sharex=True)
    for one, (name, own) in zip(axes, table.by("algorithm"), strict=True):
        first = own.where(graph=0)
        one.fill_between(
            first["question"], (1 - ACCURACY) * first["truth"], (1 + ACCURACY) * first["truth"],
            color=look.colour("truth"), alpha=0.1, linewidth=0, step="post",
        )  # fmt: skip
        for graph, rest in own.by("graph"):
            if graph:
                some = slice(len(first))
                one.step(rest["question"][some], rest["answer"][some], where="post", linewidth=0.7,
                         alpha=0.5, color=look.colour(METHODS[name]), label="_other")  # fmt: skip
        for column, method in (("truth", "truth"), ("answer", METHODS[name])):
            one.step(first["question"], first[column], where="post", linewidth=1.6,
                     color=look.colour(method), label=column)  # fmt: skip
        look.titled(one, NAMES[name], x="question of the attacker", y="min-cut")
        one.label_outer()
    axes[0].set_xlim(1, table["question"].max() * 1.17)
    axes[0].set_ylim(-2, table["truth"].max() * 1.75)
    for one in axes:
        look.name_lines(one)
    look.note(axes[0], f"{int(table['vertices'][0])} vertices, {int(table['edges'][0])} edges; an "
              "edge of one vertex is taken away,\nand given back if the answer did not fall; "
              "grey: within 25%;\nthin: other graphs")  # fmt: skip
    return figure


EXPERIMENT = Experiment(
    name="stemmer-s4",
    ids=("S4",),
    title="The min-cut of a changing graph under attack",
    question="Which estimates of a min-cut withstand an attacker who sees the answers?",
    stated="the robust construction gives an adaptive min-cut at sqrt|E| |V|^(1/4) a step, where "
    "computing anew costs |E|",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"vertices": 120, "degree": 40, "keep": 0.25, "graphs": 3},
    quick={"vertices": 50, "degree": 20, "keep": 0.5, "graphs": 2},
)
