"""Figure 21: the mean chosen among N answers, against N and epsilon."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.grid_answers import (
    FINE,
    N_RECORDS,
    answers,
    chances,
    records,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


def parts(settings: Settings) -> list[Settings]:
    """One part: the same data sets for every epsilon."""
    return [settings]


SHOWN = {0.1: "histogram", 1: "exponential", 10: "today"}
"""The epsilons whose estimates are shown, and their colours."""
EPSILONS = (0.1, 0.3, 1, 3, 10)


def compute(part: Part) -> Iterator[Row]:
    """Yield estimates for one data set, as the report has them, and expected distances."""
    yield from _estimates(part)
    yield from _distances(part)


def _estimates(part: Part) -> Iterator[Row]:
    """Yield one estimate for each epsilon and number of answers, for one data set."""
    x, source = records(part.rng), part.source
    centre = float(x.mean()) / FINE
    sizes = np.unique(np.geomspace(10, part["largest"], part["estimates"]).astype(int)).tolist()
    for epsilon, n in product(EPSILONS, sizes):
        estimate = float(answers(x, epsilon, n, 1, source)[0])
        yield {"panel": "estimates", "epsilon": epsilon, "answers": n, "estimate": estimate,
               "mean": centre}  # fmt: skip


def _distances(part: Part) -> Iterator[Row]:
    """Yield the expected distance from the mean of X: over the law exactly, over data sets drawn.

    Every second data set has one answer more: an even N has 1/2 among its answers, an odd one has
    not.
    """
    means = part.rng.random((part["sets"], N_RECORDS)).mean(axis=1).tolist()
    sizes = np.unique(np.geomspace(10, part["largest"], part["sizes"]).astype(int)).tolist()
    for epsilon, n in product(EPSILONS, sizes):
        apart = [_distance(mean, epsilon, n + i % 2) for i, mean in enumerate(means)]
        deviation = float(np.std(apart, ddof=1)) / len(apart) ** 0.5
        yield {"panel": "distance", "epsilon": epsilon, "answers": n,
               "distance": float(np.mean(apart)), "deviation": deviation,
               "sets": len(apart)}  # fmt: skip


def _distance(mean: float, epsilon: float, n: int) -> float:
    return float(chances(mean, epsilon, n) @ np.abs(np.arange(n) / n - mean))


def draw(table: Table) -> Any:
    """Draw the estimates, and the expected distances with where each must end."""
    figure, (left, right) = look.panels(2, width=11.5, height=4.4, sharey=False)
    _draw_estimates(left, table.where(panel="estimates"))
    _draw_distances(right, table.where(panel="distance"))
    return figure


def _draw_estimates(axes: Any, table: Table) -> None:
    for epsilon, rows in table.by("epsilon"):
        if epsilon in SHOWN:
            axes.plot(
                rows["answers"], rows["estimate"], ".", color=look.colour(SHOWN[epsilon]),
                markersize=4, label=f"_{epsilon}",
            )  # fmt: skip
    n, centre = table["answers"], float(table["mean"][0])
    look.stated(axes, [n.min(), n.max()], [0.5, 0.5], "_half")
    axes.plot([n.min(), n.max()], [centre] * 2, color=look.colour("truth"), label="_mean")
    axes.set_ylim(0.4, 0.6)
    look.logarithmic(axes, "x")
    for i, (epsilon, method) in enumerate(SHOWN.items()):
        axes.text(
            0.98, 0.97 - 0.07 * i, f"ε = {epsilon:g}", transform=axes.transAxes, ha="right",
            va="top", fontsize=9, color=look.colour(method),
        )  # fmt: skip
    words = "one estimate a dot; line: mean of X;\ndotted: 0.5, which the report names"
    look.note(axes, words, y=0.1)
    look.titled(axes, "Estimates for one data set", x="possible answers N", y="estimated mean")


def _draw_distances(axes: Any, table: Table) -> None:
    pink = look.colour("exponential")
    for i, (epsilon, rows) in enumerate(table.by("epsilon")):
        n, y, wide = rows["answers"], rows["distance"], 2 * rows["deviation"]
        shade = 0.4 + 0.15 * i
        axes.fill_between(n, y - wide, y + wide, color=pink, alpha=0.15, linewidth=0)
        axes.plot(n, y, color=pink, alpha=shade, linewidth=1.6, label=f"ε = {epsilon:g}")
        end = np.full(len(n), 2 / (N_RECORDS * epsilon))
        look.stated(axes, n, end, "_the limit")
    look.logarithmic(axes)
    look.titled(
        axes, f"On average: n = {N_RECORDS} records, N answers",
        x="possible answers N", y="expected distance from the mean of X",
    )  # fmt: skip
    look.name_lines(axes)
    look.note(axes, "dotted: the limit law's, 2/(nε)", 0.98)


EXPERIMENT = Experiment(
    name="audibert-21",
    ids=("A12",),
    title="The estimated mean against the number of answers and epsilon",
    question="How fine must the set of answers be, and what is left when it is fine?",
    stated="'a quicker convergence for large epsilon'. A larger epsilon needs a finer set of "
    "answers (N about n epsilon/8) before the limit is reached, and ends nearer to the mean",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"largest": 20_000, "sizes": 30, "sets": 120, "estimates": 120},
    quick={"largest": 10_000, "sizes": 18, "sets": 40, "estimates": 40},
)
