"""Figure 11: the risks of JointExp and RecExp for the three quartiles, against epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.many_quantiles import N, orders, risks, squares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

METHODS = ("jointexp", "recexp", "recexp unscaled", "today")
NAMES = {
    "no privacy": "the sample's quartiles",
    "jointexp": "JointExp",
    "recexp": "RecExp",
    "recexp unscaled": "RecExp as printed",
    "today": "Sourdine",
}


def parts(settings: Settings) -> list[Settings]:
    """One part an epsilon."""
    epsilons = np.geomspace(0.1, 20, settings["epsilons"]).round(3)
    return [{"epsilon": float(e), "runs": settings["runs"]} for e in epsilons]


def compute(part: Part) -> Iterator[Row]:
    """Yield the risk of each method."""
    rng, quartiles = part.rng, orders(4)
    found = risks(
        METHODS, quartiles, part["epsilon"], truth=np.array(quartiles), data=lambda: rng.random(N),
        norm=squares, runs=part["runs"], source=part.source,
    )  # fmt: skip
    for row in found:
        yield {"epsilon": part["epsilon"], **row}


def draw(table: Table) -> Any:
    """Draw the risks against epsilon."""
    figure, (axes,) = look.panels(1)
    for method, rows in table.by("method"):
        look.band(
            axes, rows["epsilon"], rows["risk"], rows["deviation"], method=method,
            label=NAMES[method], dashed=method == "no privacy",
        )  # fmt: skip
    look.logarithmic(axes)
    look.titled(
        axes, f"Risk of three quartiles of U(0, 1), n = {N}", x="ε of all three together",
        y="mean squared distance, summed over the quartiles",
    )  # fmt: skip
    look.name_lines(axes)
    return figure


EXPERIMENT = Experiment(
    name="audibert-11",
    ids=("A9", "A10", "A11"),
    title="Quartiles by JointExp and by RecExp, against epsilon",
    question="Which algorithm is nearer to the quartiles of the law, at which epsilon?",
    stated="two curves that fall with epsilon, without numbers; RecExp 'of a precision that beats "
    "all records'. Its orders are not rescaled in the text, so the first quartile aims at 1/8",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"epsilons": 13, "runs": 1000},
    quick={"epsilons": 6, "runs": 100},
)
