"""Figures 4 to 6: estimates of a median by QExp, as printed and corrected.

The weight that is printed, with epsilon in the exponent, is that of the library's `QExp` at twice
the epsilon.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.quantiles.exponential import QExp
from sourdine.central.quantiles.points import Points
from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.settings import DataLaw, Setting, integer, integers, law, number, numbers, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

FIRST = 4
EPSILONS = [0.05, 0.8, exp(-32)]
SPANS = [40.0, 3.2, 100.0]
"""How far from the middle the document's epsilons are shown."""
LEAST = 1e-6
"""The library takes no smaller epsilon; at this one no weight is off by more than 0.05%."""
SPENT = {"as printed": 2, "corrected": 1}
"""What a weight spends under substitution, in units of the epsilon that it names."""


def parts(settings: Settings) -> list[Settings]:
    """One part a figure and a form of the weight."""
    return [
        {"figure": FIRST + i, "form": form, "runs": settings["runs"]}
        for form in settings["methods"]
        for i in range(len(settings["epsilons"]))
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield, for each bin, how many estimates fell there and how many the law expects."""
    place, runs, source, bins = part["figure"] - FIRST, part["runs"], part.source, part["bins"]
    (low, high), order, ticks = part["bounds"], part["order"], part["ticks"]
    epsilon, cells = part["epsilons"][place], (high - low) * ticks + 1
    rng = np.random.default_rng(part["data_seed"])
    x = np.sort(np.clip(DataLaw.read(part["law"]).draw(rng, part["n"]), low, high))
    points = Points.of(np.round((x - low) * ticks), cells)
    spent = SPENT[part["form"]] * max(epsilon, LEAST)
    mechanism = QExp(epsilon=spent, q=[order], cells=cells, relation="substitute")
    half, true = _span(part, place), _quantile(x, order)
    middle = (low + high) / 2 if half == (high - low) / 2 else true
    edges = np.linspace(middle - half, middle + half, bins + 1)
    drawn = low + np.array([mechanism.one(points, source)[0] for _ in range(runs)]) / ticks
    counts, _ = np.histogram(drawn, edges)
    law = mechanism.law(points)
    expected = runs * np.diff(law.cdf(np.ceil((edges - low) * ticks).astype(np.int64) - 1))
    deviation = law.variance() ** 0.5 / ticks
    for i in range(bins):
        yield {
            "figure": part["figure"], "form": part["form"], "epsilon": epsilon, "runs": runs,
            "low": edges[i], "high": edges[i + 1], "estimates": counts[i], "expected": expected[i],
            "median": true, "deviation": deviation,
        }  # fmt: skip


def _quantile(x: NDArray[np.float64], order: float) -> float:
    return float(np.median(x) if order == 0.5 else np.quantile(x, order))


def _span(part: Part, place: int) -> float:
    """Return how far from the middle estimates are shown: about 3.5 deviations if near uniform."""
    (low, high), epsilons = part["bounds"], part["epsilons"]
    if epsilons == EPSILONS and part["n"] == 1000 and high - low == 200:
        return SPANS[place]
    return float(min((high - low) / 2, 10 * (high - low) / (part["n"] * epsilons[place])))


def draw(table: Table, settings: Settings) -> Any:
    """Draw a row for each form of the weight."""
    forms, epsilons = settings["methods"], settings["epsilons"]
    figure, panels = look.panels(
        len(forms) * len(epsilons), rows=len(forms), width=3.5 * len(epsilons),
        height=2.8 * len(forms), sharey=False,
    )  # fmt: skip
    usual = not EXPERIMENT.other(settings, quick=True)
    cases = [(form, FIRST + i, e) for form in forms for i, e in enumerate(epsilons)]
    what = "private median" if settings["order"] == 0.5 else "private quantile"
    for axes, (form, place, epsilon) in zip(panels, cases, strict=True):
        title = f"{_said(epsilon)}, {form}"
        _histogram(axes, table.where(form=form, figure=place))
        look.titled(
            axes, f"Figure {place}: {title}" if usual and form == "as printed" else title,
            x=what if form == forms[-1] else "",
            y=f"estimates of {table['runs'][0]} per bin" if place == FIRST else "",
        )  # fmt: skip
        axes.set_ylim(0, 1.35 * table.where(figure=place)["estimates"].max())
    return figure


def _said(epsilon: float) -> str:
    return "ε = e⁻³²" if epsilon == exp(-32) else f"ε = {epsilon:.3g}"


def _histogram(axes: Any, rows: Table) -> None:
    """Draw the estimates and their law, dotted where it is the printed one."""
    printed = rows["form"][0] == "as printed"
    tint = look.colour("stated" if printed else "qexp")
    edges = np.append(rows["low"], rows["high"][-1])
    axes.axvline(rows["median"][0], color=look.colour("truth"), linewidth=0.8)
    axes.stairs(rows["estimates"], edges, fill=True, color=tint, alpha=0.25)
    axes.stairs(
        rows["expected"], edges, color=tint, linewidth=1.5, linestyle=":" if printed else "-"
    )
    spends = "spends 2ε" if printed else "spends ε"
    look.note(axes, f"standard\ndeviation {rows['deviation'][0]:.3g}\n{spends}")
    axes.set_xlim(edges[0], edges[-1])


EXPERIMENT = Experiment(
    name="audibert-4",
    ids=("A5",),
    title="A private median by QExp at three epsilons",
    question=(
        "How do 500 estimates of the median of 1000 values, uniform on [0, 200], spread, with the "
        "weight as printed, which spends twice its epsilon when a value is replaced, and corrected?"
    ),
    stated=(
        "clearly better at epsilon 0.8 than at 0.05; at e^-32 all precision is lost, the noise "
        "has become too strong"
    ),
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("epsilons", EPSILONS, numbers(above=0), "privacy losses, a column each"),
        Setting("methods", list(SPENT), words(*SPENT), "forms of the weight", split=True),
        Setting("n", 1000, integer(least=1), "values in the data set"),
        Setting("law", "uniform(0,200)", law(), "the law of the values"),
        Setting("bounds", [0, 200], integers(count=2), "public; values are cut off there"),
        Setting("order", 0.5, number(above=0, below=1), "order of the quantile"),
        Setting("runs", 500, integer(least=1), "estimates from the data set", split=True),
        Setting("bins", 40, integer(least=2), "bins of a histogram"),
        Setting("ticks", 1024, integer(least=1), "steps of the grid of answers in a unit"),
        Setting("data_seed", 4, integer(least=0), "seed of the data set"),
    ),
    figures=("audibert-4", "audibert-5", "audibert-6"),
)  # fmt: skip
