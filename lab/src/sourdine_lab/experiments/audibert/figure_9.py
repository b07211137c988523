"""Figure 9: the risk of one private quartile against the bound of the data."""

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

STATED = 90.0


def parts(settings: Settings) -> list[Settings]:
    """One part a bound."""
    tops = np.geomspace(10, 2000, settings["sizes"])
    return [
        {"n": 1000, "top": round(float(top), 3), "epsilon": 0.2, "runs": settings["runs"]}
        for top in tops
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield the risk of each method."""
    yield from risks(part)


def draw(table: Table) -> Any:
    """Draw all risks against the bound."""
    figure, (axes,) = look.panels(1, width=8.2, height=5)
    curves(axes, table, "top")
    look.logarithmic(axes)
    look.said(axes, STATED, "stated for QExp: of this order; for which Λ is not said")
    look.titled(
        axes, "Risk of a private first quartile, 1000 values U[0, Λ), ε = 0.2",
        x="bound Λ of the data", y="mean squared distance to the law's quartile",
    )  # fmt: skip
    look.name_lines(axes)
    return figure


EXPERIMENT = Experiment(
    name="audibert-9",
    ids=("A7",),
    title="Risk of one private quantile against the bound of the data",
    question=(
        "How does the risk of a private first quartile grow with the range of the data, and is any "
        "one number the order of such a curve?"
    ),
    stated="the values of the curve of QExp are of the order of 90; the range of Λ is not given",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"sizes": 10, "runs": 4000},
    quick={"sizes": 5, "runs": 300},
)
