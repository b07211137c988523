"""What a step of a changing graph's min-cut costs, beside the formula, under attack.

Run ``python benchmarks/mincut.py`` (``--quick`` for one graph). A graph of 120 vertices hangs one
of them on by 40 edges; the attacker takes away and gives back its edges (`toggle`) and asks after
each change. Every algorithm plays against the same graphs. The formula is the lecture's with its
factors k and s, from times measured on single skeletons before; the lecture's own stands beside.
A Markdown copy goes to ``benchmarks/out/mincut.md``; the exit status is 1 if the attack fails on
the plain skeleton or works on any other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from platform import machine, python_version
from statistics import fmean, median
from time import process_time

import igraph
import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sourdine.adaptive.attacks import MinCutEstimator, toggle, weak_vertex
from sourdine.adaptive.graphs import ExactMinCut, RobustMinCut, SkeletonMinCut, lazy_mincut, mincut
from sourdine.adaptive.robust.proof import Lazy, copies_needed, cost
from sourdine_lab.lecture import balanced, lecture_cost

OUT = Path(__file__).parent / "out" / "mincut.md"
N, DEGREE, KEEP, STEPS, COPIES = 120, 40, 0.25, 100, 24
Graph = frozenset[tuple[int, int]]
Make = Callable[[Graph, int], MinCutEstimator]


def robust(sample: int, epsilon0: float) -> Make:
    """Return what makes the lecture's algorithm."""
    return lambda edges, _: RobustMinCut(
        N, edges, keep=KEEP, copies=COPIES, sample=sample, epsilon0=epsilon0, steps=STEPS
    )


@dataclass
class Row:
    """One algorithm, what the attack made of it, and its cost."""

    name: str
    make: Make
    formula: Callable[[dict[str, float]], float]
    holds: bool = True
    ends: list[tuple[float, int]] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    recomputed: list[float] = field(default_factory=list)

    def play(self, edges: Graph, seed: int) -> None:
        """Attack a new copy, its making included in the cost."""
        start = process_time()
        victim = self.make(edges, seed)
        end = toggle(victim, N, edges)
        self.milliseconds.append(1e3 * (process_time() - start) / end.queries)
        if isinstance(victim, Lazy):
            self.recomputed.append(victim.recomputations / end.queries)
        shown = median(victim.query() for _ in range(5))
        self.ends.append((shown, mincut(N, end.edges)))

    @property
    def as_expected(self) -> bool:
        """Whether the answers held, or fell to 0 where they should."""
        if self.holds:
            return all(abs(shown / true - 1) < 0.4 for shown, true in self.ends)
        return all(shown == 0 < true for shown, true in self.ends)


ROWS = (
    Row("one skeleton", lambda e, s: SkeletonMinCut(N, e, keep=KEEP, seed=s),
        lambda t: t["t_init"] / STEPS + t["t_update"] + t["t_query"], holds=False),
    Row("robust, s=24 eps0=2", robust(24, 2.0),
        lambda t: cost(STEPS, **t, copies=COPIES, sample=24)),
    Row("robust, s=12 eps0=4", robust(12, 4.0),
        lambda t: cost(STEPS, **t, copies=COPIES, sample=12)),
    Row("exact at each question", lambda e, _: ExactMinCut(N, e), lambda _: float("nan")),
    Row("lazy exact", lambda e, _: lazy_mincut(N, e), lambda _: float("nan")),
)  # fmt: skip


def measured(edges: Graph, repeats: int = 20) -> dict[str, float]:
    """Return the three times of one skeleton, in milliseconds."""
    start = process_time()
    copies = [SkeletonMinCut(N, edges, keep=KEEP, seed=seed) for seed in range(repeats)]
    made = process_time()
    pairs = sorted(edges)
    for copy in copies:
        for u, v in pairs[:50]:
            copy.update(u, v, True)  # noqa: FBT003 - a change of state
    updated = process_time()
    for copy in copies:
        copy.query()
    asked = process_time()
    return {
        "t_init": 1e3 * (made - start) / repeats,
        "t_update": 1e3 * (updated - made) / repeats / 50,
        "t_query": 1e3 * (asked - updated) / repeats,
    }


def main() -> int:
    """Play, print, and say whether all went as it should."""
    graphs = [
        weak_vertex(N, DEGREE, rng=np.random.default_rng(seed))
        for seed in range(1 if "--quick" in sys.argv else 3)
    ]
    with Progress() as progress:
        task = progress.add_task("attacks", total=len(ROWS) * len(graphs))
        times = measured(graphs[0])
        for seed, edges in enumerate(graphs):
            for row in ROWS:
                row.play(edges, seed)
                progress.advance(task)
    columns = ("algorithm", "answer / truth", "ms a step", "by the formula", "proved")
    lines = [
        (
            row.name,
            ", ".join(f"{shown:.0f} / {true}" for shown, true in row.ends),
            f"{fmean(row.milliseconds):.1f}",
            "" if np.isnan(row.formula(times)) else f"{row.formula(times):.1f}",
            "any number" if row.name.startswith(("exact", "lazy")) else "0",
        )
        for row in ROWS
    ]
    show(columns, lines, remarks(times, len(graphs[0])))
    return 0 if all(row.as_expected for row in ROWS) else 1


def remarks(times: dict[str, float], edges: int) -> list[str]:
    """Return what goes below the table."""
    phase = balanced(N, edges)
    t_init, t_update, t_query = times.values()
    return [
        (
            f"One skeleton: t_init {t_init:.2f} ms, t_update {t_update:.4f} ms, t_query "
            f"{t_query:.2f} ms. A phase has T = {STEPS} steps, "
            f"robust ones k = {COPIES} copies; lazy exact is within 0.25."
        ),
        (
            f"The lecture's t_init/sqrt T + sqrt T t_update + t_query, with sqrt T = "
            f"{STEPS**0.5:.0f} copies and no factor s: {lecture_cost(STEPS, **times):.1f} ms."
        ),
        (
            f"Copies for which {STEPS} steps would be proved, by the exponential mechanism: "
            f"{copies_needed(STEPS, method='exponential')}."
        ),
        (
            f"The lecture's best phase here, by orders alone: T = {phase.steps:.0f}, cost "
            f"{phase.cost:.0f} against |E| = {edges}."
        ),
        f"Lazy exact recomputed at {100 * fmean(ROWS[-1].recomputed):.0f}% of the questions.",
        f"Python {python_version()}, igraph {igraph.__version__}, {machine()}, CPU time.",
    ]


def show(columns: tuple[str, ...], lines: list[tuple[str, ...]], notes: list[str]) -> None:
    """Print the table and keep a Markdown copy."""
    table = Table()
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i > 1 else "left")
    for line in lines:
        table.add_row(*line)
    console = Console()
    console.print(table)
    for note in notes:
        console.print(note)
    rows = [columns, ("---",) * len(columns), *lines]
    text = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("# Min-cut of a changing graph\n\n" + text + "\n\n" + "\n\n".join(notes) + "\n")


if __name__ == "__main__":
    sys.exit(main())
