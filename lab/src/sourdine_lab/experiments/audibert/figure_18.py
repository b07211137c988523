"""Figures 18 to 20: the estimated mean against the number of possible answers."""

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
    common,
    records,
)
from sourdine_lab.settings import DataLaw, Setting, integer, number, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


def parts(settings: Settings) -> list[Settings]:
    """One part: the same records for all three figures."""
    return [{"largest": settings["largest"], "sizes": settings["points"]}]


def compute(part: Part) -> Iterator[Row]:
    """Yield one estimate for each number of answers, and the law's central 90%."""
    x, source = records(part.rng, part["law"], part["n"]), part.source
    centre = float(x.mean()) / FINE
    spaced = np.geomspace(part["smallest"], part["largest"], part["sizes"])
    sizes = np.unique(spaced.astype(int)).tolist()
    outside = (1 - part["coverage"]) / 2
    for epsilon, n in product(part["epsilons"], sizes):
        below = np.cumsum(chances(centre, epsilon, n, part["n"]))
        low, high = (int(below.searchsorted(p)) / n for p in (outside, 1 - outside))
        estimate = float(answers(x, epsilon, n, 1, source)[0])
        yield {"epsilon": epsilon, "answers": n, "estimate": estimate, "low": low, "high": high,
               "mean": centre}  # fmt: skip


def draw(table: Table, settings: Settings) -> Any:
    """Draw the estimates, a panel an epsilon."""
    epsilons = settings["epsilons"]
    figure, axes = look.panels(len(epsilons), width=max(11 * len(epsilons) / 3, 6), height=3.8)
    usual = not EXPERIMENT.other(settings, quick=True)
    half = DataLaw.read(settings["law"]).mean == 0.5
    for i, (one, (epsilon, rows)) in enumerate(zip(axes, table.by("epsilon"), strict=True)):
        n = rows["answers"]
        if half:
            look.stated(one, n, np.full(len(n), 0.5), "0.5")
        pink = look.colour("exponential")
        one.fill_between(n, rows["low"], rows["high"], color=pink, alpha=0.2, linewidth=0)
        one.plot(n, rows["estimate"], ".", color=pink, markersize=3, label="_estimates")
        look.band(one, n, rows["mean"], 0.0, method="truth", label="mean of X")
        look.logarithmic(one, "x")
        look.titled(
            one, f"Figure {18 + i}: ε = {epsilon:g}" if usual else f"ε = {epsilon:g}",
            x="possible answers N", y="estimated mean",
        )  # fmt: skip
    if usual:
        axes[0].set_ylim(0.44, 0.56)
    for one in axes:
        look.name_lines(one)
    for one in axes[1:]:
        one.set_ylabel("")
    look.note(
        axes[0], f"dots: one estimate each\nshade: {settings['coverage']:.0%} of its law", 0.98
    )
    return figure


EXPERIMENT = Experiment(
    name="audibert-18",
    figures=("audibert-18", "audibert-19", "audibert-20"),
    ids=("A12",),
    title="A mean chosen among N answers, as N grows",
    question="Where do the estimates go as the set of answers becomes finer?",
    stated="'seems to converge quite quickly to 0.5', the quicker the larger epsilon. The law "
    f"settles at a width of 2/(n epsilon) (n = {N_RECORDS}) around the mean of X, which the "
    "report's utility does not look at; it does not shrink to a point",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("epsilons", [0.8, 3, 0.1], numbers(above=0), "privacy losses, a panel each"),
        Setting("largest", 20_000, integer(least=2), "the largest number of answers N", quick=5_000,
                split=True),
        Setting("points", 260, integer(least=2), "numbers of answers, at even ratios", quick=80,
                split=True),
        Setting("coverage", 0.9, number(above=0, below=1), "the part of the law that is shaded"),
        *common(),
    ),
)  # fmt: skip
