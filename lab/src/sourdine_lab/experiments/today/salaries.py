"""Nine deciles of salaries: the error in dollars against epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.canesse.salaries import BOUNDS, RECORDS, STAND_IN, salaries
from sourdine_lab.experiments.today.errors import mean_and_error, uncertainty
from sourdine_lab.experiments.today.quantile_methods import (
    DECILES,
    METHODS,
    colour_name,
    released,
    sample_quantiles,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

OBSERVED = 20.0
"""Dollars: the error that the document observes."""


def parts(settings: Settings) -> list[Settings]:
    """One part a value of epsilon."""
    epsilons = np.geomspace(0.05, 5, settings["epsilons"]).round(4).tolist()
    common = {"runs": settings["runs"], "records": settings["records"]}
    return [{"epsilon": e, **common} for e in epsilons]


def compute(part: Part) -> Iterator[Row]:
    """Yield each method's root mean square error over the deciles, in dollars."""
    x, source = salaries(part["records"]).astype(float), part.source
    truth = sample_quantiles(x, DECILES)
    for method in METHODS:
        errors = []
        for _ in range(part["runs"]):
            told = released(
                method, x, DECILES, bounds=BOUNDS, step=1, epsilon=part["epsilon"], source=source
            )
            errors.append(float(np.sqrt(np.mean((told - truth) ** 2))))
        error, deviation = mean_and_error(errors)
        yield {"epsilon": part["epsilon"], "method": method, "records": len(x),
               "runs": part["runs"], "error": error, "deviation": deviation}  # fmt: skip


def draw(table: Table) -> Any:
    """Draw the errors against epsilon."""
    figure, (axes,) = look.panels(1, width=8.5, height=5.0)
    for method, rows in table.by("method"):
        look.band(
            axes, rows["epsilon"], rows["error"], uncertainty(rows), method=colour_name(method),
            label=method, dashed=method == "IndExp",
        )  # fmt: skip
    ends = [table["epsilon"].min(), table["epsilon"].max()]
    look.stated(axes, ends, [OBSERVED] * 2, "stated: near 20")
    look.logarithmic(axes)
    thousands = int(table["records"][0]) // 1000
    look.titled(
        axes, f"Nine deciles of {thousands},000 salaries, bounds 0 and 500,000",
        x="ε, in all", y="root mean square error, dollars",
    )  # fmt: skip
    look.name_lines(axes)
    return figure


EXPERIMENT = Experiment(
    name="today-salaries",
    ids=("C11", "A9", "A10"),
    title="Nine deciles of salaries, by today's methods",
    question="What epsilon does each method need for an error of a few dollars?",
    stated="an error near 20 dollars, inverse sensitivity a little more precise than the histogram "
    "method",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"epsilons": 10, "runs": 48, "records": RECORDS},
    quick={"epsilons": 4, "runs": 8, "records": 100_000},
    figures=(),
    stand_in=STAND_IN,
)
