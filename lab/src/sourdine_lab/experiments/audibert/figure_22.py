"""Figures 22 and 23: the probabilities of the exponential mechanism beside the Laplace law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.grid_answers import N_RECORDS, chances

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

EPSILON, LOW, HIGH = 0.8, 0.49, 0.51
RATE = N_RECORDS * EPSILON / 2
"""Of the limit: n epsilon', with epsilon' = epsilon/2."""


def parts(settings: Settings) -> list[Settings]:
    """One part a number of answers, and one for the limit."""
    sizes = [{"answers": n, "draws": 0} for n in (100, 200, 1_000)]
    return [*sizes, {"answers": 0, "draws": settings["draws"]}]


def compute(part: Part) -> Iterator[Row]:
    """Yield the density at each answer; for the limit, that of draws in cells of 0.0005."""
    n = part["answers"]
    if n:
        heights = n * chances(0.5, EPSILON, n)
        for k in range(round(LOW * n), round(HIGH * n) + 1):
            yield {"answers": n, "at": k / n, "density": float(heights[k]), "draws": 0}
        return
    drawn = part.rng.laplace(0.5, 1 / RATE, part["draws"])
    edges = np.linspace(LOW, HIGH, 41)
    counts = np.histogram(drawn[(drawn >= 0) & (drawn <= 1)], edges)[0]
    for left, count in zip(edges[:-1].tolist(), counts.tolist(), strict=True):
        high = count / part["draws"] / (edges[1] - edges[0])
        yield {"answers": 0, "at": left, "density": float(high), "draws": part["draws"]}


def draw(table: Table) -> Any:
    """Draw the mechanism's densities on the left, the limit's draws on the right."""
    figure, axes = look.panels(2, width=11.0, height=3.8)
    y = np.linspace(LOW, HIGH, 801)
    limit = RATE / 2 * np.exp(-RATE * np.abs(y - 0.5))
    pink = look.colour("exponential")
    for i, (n, rows) in enumerate(table.by("answers")):
        if n:
            style = {"linewidth": 1.4, "alpha": 0.4 + 0.3 * i, "label": f"_{n}"}
            axes[0].step(rows["at"], rows["density"], where="mid", color=pink, **style)
            peak = float(rows["density"].max())
            axes[0].annotate(
                f"N = {n}", (0.5 - 0.5 / n, peak), (-4, 0), textcoords="offset points",
                ha="right", va="center", color=pink, fontsize=9,
            )  # fmt: skip
        else:
            axes[1].bar(
                rows["at"], rows["density"], width=0.0005, align="edge", alpha=0.5, linewidth=0,
                color=look.colour("laplace"),
            )  # fmt: skip
    for one in axes:
        look.stated(one, y, limit, "_limit")
        one.set_xticks(np.linspace(LOW, HIGH, 5))
    look.titled(
        axes[0], f"N times the chance of each answer, n = {N_RECORDS}, ε = {EPSILON}",
        x="answer", y="density",
    )  # fmt: skip
    look.titled(axes[1], "Draws from Laplace(1/2, 1/(nε')), ε' = 0.4", x="draw", y="")
    look.note(axes[1], "dotted: the density\n(nε'/2) exp(-nε'|y - 1/2|)", 0.98)
    return figure


EXPERIMENT = Experiment(
    name="audibert-22",
    figures=("audibert-22", "audibert-23"),
    ids=("A12",),
    title="The exponential mechanism on a grid, and the Laplace law it tends to",
    question="Do the probabilities tend to a Laplace law, and to which?",
    stated="the curves come ever closer to a Laplace law with epsilon' = epsilon/2 = 0.4",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"draws": 200_000},
    quick={"draws": 20_000},
)
