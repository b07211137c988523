"""Figure 10: the risk of one private quartile of ten values against epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.one_quantile import LARGE, curves, risks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


def parts(settings: Settings) -> list[Settings]:
    """One part an epsilon."""
    epsilons = np.geomspace(0.05, 64, settings["sizes"])
    near = [float(f"{e:.3g}") for e in epsilons]
    return [
        {"n": 10, "top": 200, "epsilon": e, "runs": settings["runs"]}
        for e in sorted({*near, LARGE})
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield the risk of each method."""
    yield from risks(part)


def draw(table: Table) -> Any:
    """Draw all risks against epsilon."""
    figure, (left, right) = look.panels(2, width=10, height=4.8)
    curves(left, table, "epsilon")
    curves(right, table, "epsilon", of="sample_")
    for axes, whose in ((left, "law's"), (right, "sample's")):
        look.logarithmic(axes)
        look.titled(axes, f"Distance to the {whose} quartile", x="ε", y="")
    left.set_ylabel("mean squared distance, 10 values U[0, 200)", color=look.BLACK)
    look.note(
        right, f"Sourdine: QExp itself below ε = {LARGE:g},\npiecewise Laplace from there on", 0.98
    )
    look.name_lines(right)
    own = table.where(method="no privacy")
    left.annotate(
        "the sample's quartile", (own["epsilon"][0], own["risk"].min()), (0, -8),
        textcoords="offset points", color=look.colour("no privacy"), fontsize=9, va="top",
    )  # fmt: skip
    return figure


EXPERIMENT = Experiment(
    name="audibert-10",
    ids=("A7",),
    title="Risk of one private quantile of ten values against epsilon",
    question=(
        "What does epsilon buy for ten values, and from which epsilon on is noise on the quartile "
        "itself nearer than QExp, which answers anywhere between two values?"
    ),
    stated="a comparison of QExp, Laplace and Gaussian noise; the range of epsilon is not given",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"sizes": 16, "runs": 8000},
    quick={"sizes": 6, "runs": 300},
)
