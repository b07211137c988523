"""Figure 21: the mean chosen among N answers, against N and epsilon."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.grid_answers import N_RECORDS, chances

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


def parts(settings: Settings) -> list[Settings]:
    """One part: the same data sets for every epsilon."""
    return [settings]


def compute(part: Part) -> Iterator[Row]:
    """Yield the expected distance from the mean of X: over the law exactly, over data sets drawn.

    Every second data set has one answer more: an even N has 1/2 among its answers, an odd one has
    not.
    """
    means = part.rng.random((part["sets"], N_RECORDS)).mean(axis=1).tolist()
    sizes = np.unique(np.geomspace(10, part["largest"], part["sizes"]).astype(int)).tolist()
    for epsilon, n in product((0.1, 0.3, 1, 3, 10), sizes):
        apart = [_distance(mean, epsilon, n + i % 2) for i, mean in enumerate(means)]
        deviation = float(np.std(apart, ddof=1)) / len(apart) ** 0.5
        yield {"epsilon": epsilon, "answers": n, "distance": float(np.mean(apart)),
               "deviation": deviation, "sets": len(apart)}  # fmt: skip


def _distance(mean: float, epsilon: float, n: int) -> float:
    return float(chances(mean, epsilon, n) @ np.abs(np.arange(n) / n - mean))


def draw(table: Table) -> Any:  # noqa: ANN401 - a figure
    """Draw a line an epsilon, and where each must end."""
    figure, (axes,) = look.panels(1, height=4.4)
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
        axes, f"A mean of n = {N_RECORDS} records, chosen among N answers",
        x="possible answers N", y="expected distance from the mean of X",
    )  # fmt: skip
    look.name_lines(axes)
    look.note(axes, "dotted: the limit law's, 2/(nε)", 0.98)
    return figure


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
    full={"largest": 20_000, "sizes": 30, "sets": 120},
    quick={"largest": 10_000, "sizes": 18, "sets": 40},
)
