"""Figures 22 and 23: the probabilities of the exponential mechanism beside the Laplace law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.grid_answers import N_RECORDS, chances
from sourdine_lab.settings import Setting, integer, integers, number, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


def _rate(settings: Settings | Part) -> float:
    """Return the rate of the limit: n epsilon', with epsilon' = epsilon/2."""
    return float(settings["n"] * settings["epsilon"] / 2)


def parts(settings: Settings) -> list[Settings]:
    """One part a number of answers, and one for the limit."""
    sizes = [{"answers": n, "draws": 0} for n in settings["answers"]]
    return [*sizes, {"answers": 0, "draws": settings["draws"]}]


def compute(part: Part) -> Iterator[Row]:
    """Yield the density at each answer; for the limit, that of draws in cells."""
    n, centre, (low, high) = part["answers"], part["centre"], part["shown"]
    if n:
        heights = n * chances(centre, part["epsilon"], n, part["n"])
        for k in range(round(low * n), min(round(high * n), n - 1) + 1):
            yield {"answers": n, "at": k / n, "density": float(heights[k]), "draws": 0}
        return
    drawn = part.rng.laplace(centre, 1 / _rate(part), part["draws"])
    edges = np.linspace(low, high, part["bins"] + 1)
    counts = np.histogram(drawn[(drawn >= 0) & (drawn <= 1)], edges)[0]
    for left, count in zip(edges[:-1].tolist(), counts.tolist(), strict=True):
        height = count / part["draws"] / (edges[1] - edges[0])
        yield {"answers": 0, "at": left, "density": float(height), "draws": part["draws"]}


def draw(table: Table, settings: Settings) -> Any:
    """Draw the mechanism's densities on the left, the limit's draws on the right."""
    figure, axes = look.panels(2, width=11.0, height=3.8)
    (low, high), centre, rate = settings["shown"], settings["centre"], _rate(settings)
    y = np.linspace(low, high, 801)
    limit = rate / 2 * np.exp(-rate * np.abs(y - centre))
    cell = (high - low) / settings["bins"]
    pink = look.colour("exponential")
    for i, (n, rows) in enumerate(table.by("answers")):
        if n:
            style = {"linewidth": 1.4, "alpha": min(0.4 + 0.3 * i, 1.0), "label": f"_{n}"}
            axes[0].step(rows["at"], rows["density"], where="mid", color=pink, **style)
            top = int(rows["density"].argmax())
            at, peak = float(rows["at"][top]), float(rows["density"][top])
            axes[0].annotate(
                f"N = {n}", (at - 0.5 / n, peak), (-4, 0), textcoords="offset points", ha="right",
                va="center", color=pink, fontsize=9,
            )  # fmt: skip
        else:
            axes[1].bar(
                rows["at"], rows["density"], width=cell, align="edge", alpha=0.5, linewidth=0,
                color=look.colour("laplace"),
            )  # fmt: skip
    for one in axes:
        look.stated(one, y, limit, "_limit")
        one.set_xticks(np.linspace(low, high, 5))
    look.titled(
        axes[0], f"N times the chance of each answer, n = {settings['n']}, "
        f"ε = {settings['epsilon']:g}", x="answer", y="density",
    )  # fmt: skip
    middle = "1/2" if centre == 0.5 else f"{centre:g}"
    look.titled(
        axes[1], f"Draws from Laplace({middle}, 1/(nε')), ε' = {settings['epsilon'] / 2:g}",
        x="draw", y="",
    )  # fmt: skip
    look.note(axes[1], f"dotted: the density\n(nε'/2) exp(-nε'|y - {middle}|)", 0.98)
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
    settings=(
        Setting("epsilon", 0.8, number(above=0), "privacy loss of the choice"),
        Setting("n", N_RECORDS, integer(least=1), "records in the data set"),
        Setting("centre", 0.5, number(least=0, most=1), "mean of the records"),
        Setting("answers", [100, 200, 1_000], integers(least=2), "N, a line each", split=True),
        Setting("draws", 200_000, integer(least=1), "of the limit", quick=20_000, split=True),
        Setting("shown", [0.49, 0.51], numbers(count=2, least=0, most=1), "answers shown"),
        Setting("bins", 40, integer(least=1), "bins of the limit's histogram"),
    ),
)  # fmt: skip
