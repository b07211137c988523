"""Figure 8: the risk of one private quartile against the number of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.one_quantile import curves, risks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

STATED = 100.0


def parts(settings: Settings) -> list[Settings]:
    """One part a number of values."""
    sizes = np.geomspace(10, 10_000, settings["sizes"])
    return [{"n": round(n), "top": 200, "epsilon": 0.2, "runs": settings["runs"]} for n in sizes]


def compute(part: Part) -> Iterator[Row]:
    """Yield the risk of each method."""
    yield from risks(part)


def draw(table: Table) -> Any:
    """Draw all risks against n."""
    figure, (axes,) = look.panels(1, width=8.2, height=5)
    curves(axes, table, "n")
    look.logarithmic(axes)
    look.said(axes, STATED, "stated for QExp: of this order; for which n is not said")
    look.titled(
        axes, "Risk of a private first quartile, U[0, 200), ε = 0.2", x="values n",
        y="mean squared distance to the law's quartile",
    )  # fmt: skip
    look.name_lines(axes)
    return figure


EXPERIMENT = Experiment(
    name="audibert-8",
    ids=("A7",),
    title="Risk of one private quantile against the number of values",
    question=(
        "How far is a private first quartile from the truth as values are added, and for how many "
        "is the risk of QExp of the order of 100?"
    ),
    stated="the values of the curve of QExp are of the order of 10²; the range of n is not given",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"sizes": 16, "runs": 4000},
    quick={"sizes": 7, "runs": 300},
)
