"""The min-cut of a changing graph, while edges are taken away by what the answers tell."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.attacks import toggle, weak_vertex
from sourdine.adaptive.graphs import ExactMinCut, RobustMinCut, SkeletonMinCut, lazy_mincut, mincut
from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.settings import Setting, integer, number, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.adaptive.attacks import MinCutEstimator
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

NAMES = {
    "plain": "One sample of the edges",
    "robust": "Private median of {copies} samples",
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
        for name in settings["algorithms"]
        for graph in range(settings["graphs"])
    ]  # fmt: skip


def compute(part: Part) -> Iterator[Row]:
    """Yield the answer and the truth at each question of the attack."""
    n, degree = part["vertices"], part["degree"]
    edges = weak_vertex(
        n, degree, rng=np.random.default_rng(part["graph"]), density=part["density"]
    )
    victim = made(part, edges)
    watched = Watched(victim, n, edges)
    end = toggle(watched, n, edges, least=_stop(part["least"], degree))
    last = mincut(n, end.edges)
    for question, (answer, truth) in enumerate(watched.seen, 1):
        yield {"algorithm": part["algorithm"], "graph": part["graph"], "vertices": n,
               "edges": len(edges), "question": question, "answer": answer, "truth": truth,
               "left": last}  # fmt: skip


def _stop(share: float, degree: int) -> int:
    """Return the edges at which the attacker stops; 0.3 of 10 is 3, whatever floats say."""
    return int(Fraction(str(share)) * degree)


def made(part: Part, edges: frozenset[tuple[int, int]]) -> MinCutEstimator:
    """Return the algorithm of a part, which holds the graph."""
    name, n, keep, source = part["algorithm"], part["vertices"], part["keep"], part.source
    if name == "plain":
        return SkeletonMinCut(n, edges, keep=keep, seed=int.from_bytes(source.bytes(16), "little"))
    if name == "robust":
        return RobustMinCut(
            n, edges, keep=keep, copies=part["copies"], sample=part["sample"],
            epsilon0=part["epsilon0"], steps=part["steps"], error=part["accuracy"], source=source,
        )  # fmt: skip
    return (
        lazy_mincut(n, edges, error=part["accuracy"]) if name == "lazy" else ExactMinCut(n, edges)
    )


def draw(table: Table, settings: Settings) -> Any:
    """Draw answers and truths over the questions, a panel an algorithm."""
    shown, off = settings["algorithms"], settings["accuracy"]
    rows = 2 if len(shown) > 2 else 1
    figure, axes = look.panels(
        len(shown), rows=rows, width=11.0, height=0.6 + 2.9 * rows, sharex=True
    )
    for one, (name, own) in zip(axes, table.by("algorithm"), strict=True):
        first = own.where(graph=0)
        one.fill_between(
            first["question"], (1 - off) * first["truth"], (1 + off) * first["truth"],
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
        look.titled(one, NAMES[name].format(**settings), x="question of the attacker", y="min-cut")
        one.label_outer()
    axes[0].set_xlim(1, table["question"].max() * 1.17)
    axes[0].set_ylim(-2, table["truth"].max() * 1.75)
    for one in axes:
        look.name_lines(one)
    look.note(axes[0], f"{int(table['vertices'][0])} vertices, {int(table['edges'][0])} edges; an "
              "edge of one vertex is taken away,\nand given back if the answer did not fall; "
              f"grey: within {off:.0%};\nthin: other graphs")  # fmt: skip
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
    settings=(
        Setting("vertices", 120, integer(least=5), "vertices of a graph", quick=50, split=True),
        Setting("degree", 40, integer(least=2), "edges of the vertex that is attacked", quick=20,
                split=True),
        Setting("keep", 0.25, number(above=0, most=1), "share of the edges in a sample", quick=0.5,
                split=True),
        Setting("graphs", 3, integer(least=1), "graphs", quick=2, split=True),
        Setting("algorithms", list(NAMES), words(*NAMES), "the algorithms that are attacked",
                split=True),
        Setting("copies", 24, integer(least=1), "samples under the private median"),
        Setting("sample", 12, integer(least=1), "samples that are asked, s"),
        Setting("epsilon0", 4, number(above=0), "privacy loss of one median"),
        Setting("steps", 100, integer(least=1), "looks of a phase, T"),
        Setting("accuracy", 0.25, number(above=0, most=1), "relative error that is allowed"),
        Setting("density", 1.0, number(above=0, most=1), "chance of each edge between the others"),
        Setting("least", 0.3, number(least=0, most=1),
                "share of its edges at which the attack on the vertex ends"),
    ),
)  # fmt: skip
