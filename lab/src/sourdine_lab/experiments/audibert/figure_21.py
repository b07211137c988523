"""Figure 21: the mean chosen among N answers, against N and epsilon."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.grid_answers import (
    FINE,
    answers,
    chances,
    common,
    records,
)
from sourdine_lab.settings import DataLaw, Setting, integer, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


def parts(settings: Settings) -> list[Settings]:
    """One part: the same data sets for every epsilon."""
    own = {name: settings[name] for name in ("largest", "sets", "estimates")}
    return [{**own, "sizes": settings["points"]}]


TINTS = ("histogram", "exponential", "today")
"""Colours of the epsilons whose estimates are shown."""


def _shown(epsilons: list[float]) -> dict[float, str]:
    """Return the epsilons whose estimates are shown, ends and middle, with their colours."""
    ends = dict.fromkeys((epsilons[0], epsilons[len(epsilons) // 2], epsilons[-1]))
    return dict(zip(ends, TINTS, strict=False))


def _sizes(part: Part, count: int) -> list[int]:
    spaced = np.geomspace(part["smallest"], part["largest"], count)
    return [int(n) for n in np.unique(spaced.astype(int))]


def compute(part: Part) -> Iterator[Row]:
    """Yield estimates for one data set, as the report has them, and expected distances."""
    yield from _estimates(part)
    yield from _distances(part)


def _estimates(part: Part) -> Iterator[Row]:
    """Yield one estimate for each epsilon and number of answers, for one data set."""
    x, source = records(part.rng, part["law"], part["n"]), part.source
    centre = float(x.mean()) / FINE
    for epsilon, n in product(part["epsilons"], _sizes(part, part["estimates"])):
        estimate = float(answers(x, epsilon, n, 1, source)[0])
        yield {"panel": "estimates", "epsilon": epsilon, "answers": n, "estimate": estimate,
               "mean": centre}  # fmt: skip


def _distances(part: Part) -> Iterator[Row]:
    """Yield the expected distance from the mean of X: over the law exactly, over data sets drawn.

    Every second data set has one answer more: an even N has 1/2 among its answers, an odd one has
    not.
    """
    sets = DataLaw.read(part["law"]).draw(part.rng, (part["sets"], part["n"]))
    means = sets.mean(axis=1).tolist()
    for epsilon, n in product(part["epsilons"], _sizes(part, part["sizes"])):
        apart = [_distance(mean, epsilon, n + i % 2, part["n"]) for i, mean in enumerate(means)]
        deviation = float(np.std(apart, ddof=1)) / len(apart) ** 0.5
        yield {"panel": "distance", "epsilon": epsilon, "answers": n,
               "distance": float(np.mean(apart)), "deviation": deviation,
               "sets": len(apart)}  # fmt: skip


def _distance(mean: float, epsilon: float, n: int, records: int) -> float:
    return float(chances(mean, epsilon, n, records) @ np.abs(np.arange(n) / n - mean))


def draw(table: Table, settings: Settings) -> Any:
    """Draw the estimates, and the expected distances with where each must end."""
    figure, (left, right) = look.panels(2, width=11.5, height=4.4, sharey=False)
    _draw_estimates(left, table.where(panel="estimates"), settings)
    _draw_distances(right, table.where(panel="distance"), settings)
    return figure


def _draw_estimates(axes: Any, table: Table, settings: Settings) -> None:
    shown = _shown(settings["epsilons"])
    for epsilon, rows in table.by("epsilon"):
        if epsilon in shown:
            axes.plot(
                rows["answers"], rows["estimate"], ".", color=look.colour(shown[epsilon]),
                markersize=4, label=f"_{epsilon}",
            )  # fmt: skip
    n, centre = table["answers"], float(table["mean"][0])
    half = DataLaw.read(settings["law"]).mean == 0.5
    if half:
        look.stated(axes, [n.min(), n.max()], [0.5, 0.5], "_half")
    axes.plot([n.min(), n.max()], [centre] * 2, color=look.colour("truth"), label="_mean")
    if abs(centre - 0.5) < 0.05:
        axes.set_ylim(0.4, 0.6)
    look.logarithmic(axes, "x")
    for i, (epsilon, method) in enumerate(shown.items()):
        axes.text(
            0.98, 0.97 - 0.07 * i, f"ε = {epsilon:g}", transform=axes.transAxes, ha="right",
            va="top", fontsize=9, color=look.colour(method),
        )  # fmt: skip
    words = "one estimate a dot; line: mean of X"
    if half:
        words += ";\ndotted: 0.5, which the report names"
    look.note(axes, words, y=0.1)
    look.titled(axes, "Estimates for one data set", x="possible answers N", y="estimated mean")


def _draw_distances(axes: Any, table: Table, settings: Settings) -> None:
    count = len(settings["epsilons"])
    pink = look.colour("exponential")
    for i, (epsilon, rows) in enumerate(table.by("epsilon")):
        n, y, wide = rows["answers"], rows["distance"], 2 * rows["deviation"]
        shade = 0.4 + 0.6 * i / max(count - 1, 1)
        axes.fill_between(n, y - wide, y + wide, color=pink, alpha=0.15, linewidth=0)
        axes.plot(n, y, color=pink, alpha=shade, linewidth=1.6, label=f"ε = {epsilon:g}")
        end = np.full(len(n), 2 / (settings["n"] * epsilon))
        look.stated(axes, n, end, "_the limit")
    look.logarithmic(axes)
    look.titled(
        axes, f"On average: n = {settings['n']} records, N answers",
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
    settings=(
        Setting("epsilons", [0.1, 0.3, 1, 3, 10], numbers(above=0), "privacy losses"),
        Setting("largest", 20_000, integer(least=2), "the largest number of answers N",
                quick=10_000, split=True),
        Setting("points", 30, integer(least=2), "numbers of answers on the right", quick=18,
                split=True),
        Setting("estimates", 120, integer(least=2), "numbers of answers on the left", quick=40,
                split=True),
        Setting("sets", 120, integer(least=2), "data sets that distances are a mean over", quick=40,
                split=True),
        *common(),
    ),
)  # fmt: skip
