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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

N, TOP, TICKS = 1000, 200, 1024
CELLS = TOP * TICKS + 1
BINS = 40
DATA = 4
LEAST = 1e-6
"""The library takes no smaller epsilon; at this one no weight is off by more than 0.05%."""
SHOWN = {4: ("ε = 0.05", 0.05, 40.0), 5: ("ε = 0.8", 0.8, 3.2), 6: ("ε = e⁻³²", exp(-32), 100.0)}
"""The epsilon of each figure, in words and as a number, and how far from the middle it shows."""
SPENT = {"as printed": 2, "corrected": 1}
"""What a weight spends under substitution, in units of the epsilon that it names."""


def parts(settings: Settings) -> list[Settings]:
    """One part a figure and a form of the weight."""
    return [
        {"figure": figure, "form": form, "runs": settings["runs"]}
        for form in SPENT
        for figure in SHOWN
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield, for each bin, how many estimates fell there and how many the law expects."""
    (_, epsilon, half), runs, source = SHOWN[part["figure"]], part["runs"], part.source
    x = np.sort(np.random.default_rng(DATA).uniform(0, TOP, N))
    points = Points.of(np.round(x * TICKS), CELLS)
    spent = SPENT[part["form"]] * max(epsilon, LEAST)
    mechanism = QExp(epsilon=spent, q=[0.5], cells=CELLS, relation="substitute")
    middle = TOP / 2 if half == TOP / 2 else float(np.median(x))
    edges = np.linspace(middle - half, middle + half, BINS + 1)
    drawn = np.array([mechanism.one(points, source)[0] for _ in range(runs)]) / TICKS
    counts, _ = np.histogram(drawn, edges)
    law = mechanism.law(points)
    expected = runs * np.diff(law.cdf(np.ceil(edges * TICKS).astype(np.int64) - 1))
    deviation = law.variance() ** 0.5 / TICKS
    for i in range(BINS):
        yield {
            "figure": part["figure"], "form": part["form"], "epsilon": epsilon, "runs": runs,
            "low": edges[i], "high": edges[i + 1], "estimates": counts[i], "expected": expected[i],
            "median": float(np.median(x)), "deviation": deviation,
        }  # fmt: skip


def draw(table: Table) -> Any:
    """Draw the weight as printed above, the corrected one below."""
    figure, panels = look.panels(6, rows=2, width=10.5, height=5.6, sharey=False)
    cases = [(form, number) for form in SPENT for number in SHOWN]
    for axes, (form, number) in zip(panels, cases, strict=True):
        printed, epsilon = form == "as printed", SHOWN[number][0]
        _histogram(axes, table.where(form=form, figure=number))
        look.titled(
            axes, f"Figure {number}: {epsilon}, {form}" if printed else f"{epsilon}, {form}",
            x="" if printed else "private median",
            y=f"estimates of {table['runs'][0]} per bin" if number == 4 else "",
        )  # fmt: skip
        axes.set_ylim(0, 1.35 * table.where(figure=number)["estimates"].max())
    return figure


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
    full={"runs": 500},
    quick={"runs": 500},
    figures=("audibert-4", "audibert-5", "audibert-6"),
)
