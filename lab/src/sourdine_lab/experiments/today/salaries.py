"""Nine deciles of salaries: the error in dollars against epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.canesse.salaries import BOUNDS, RECORDS, salaries
from sourdine_lab.experiments.today.errors import mean_and_error, uncertainty
from sourdine_lab.experiments.today.quantile_methods import (
    colour_name,
    how_many,
    quantile_settings,
    released,
    sample_quantiles,
)
from sourdine_lab.settings import Setting, integer, numbers, spaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

OBSERVED = 20.0
"""Dollars: the error that the document observes."""


SETTINGS = (
    Setting("epsilons", spaced(0.05, 5, 10), numbers(above=0),
            "privacy loss of all quantiles together", quick=spaced(0.05, 5, 4), split=True),
    Setting("n", RECORDS, integer(least=100), "salaries", quick=100_000, split=True),
    Setting("runs", 48, integer(least=2), "releases for each epsilon", quick=8, split=True),
    *quantile_settings(BOUNDS, 1),
)  # fmt: skip


def parts(settings: Settings) -> list[Settings]:
    """One part a value of epsilon."""
    common = {"runs": settings["runs"], "records": settings["n"]}
    return [{"epsilon": float(e), **common} for e in settings["epsilons"]]


def compute(part: Part) -> Iterator[Row]:
    """Yield each method's root mean square error over the quantiles, in dollars."""
    x, source = salaries(part["records"]).astype(float), part.source
    truth = sample_quantiles(x, part["orders"])
    common = {name: part[name] for name in ("bounds", "step", "epsilon")}
    for method in part["methods"]:
        errors = []
        for _ in range(part["runs"]):
            told = released(method, x, part["orders"], **common, source=source)
            errors.append(float(np.sqrt(np.mean((told - truth) ** 2))))
        error, deviation = mean_and_error(errors)
        yield {"epsilon": part["epsilon"], "method": method, "records": len(x),
               "runs": part["runs"], "error": error, "deviation": deviation}  # fmt: skip


def draw(table: Table, settings: Settings) -> Any:
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
    low, high = settings["bounds"]
    what = how_many(settings["orders"]).capitalize()
    look.titled(
        axes, f"{what} of {table['records'][0]:,} salaries, bounds {low:,} and {high:,}",
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
    settings=SETTINGS,
    figures=(),
    stand_in="salaries interpolated from the nine published deciles",
)
