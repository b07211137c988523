"""Figure 24: the expected loss of inverse sensitivity for a proportion, and the lower bound."""

from __future__ import annotations

from math import sinh
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.mean_methods import BernoulliMean
from sourdine_lab import look
from sourdine_lab.bounds import (
    proportion_limit,
    proportion_limit_printed,
    proportion_loss,
    unbiased_lower_bound,
)
from sourdine_lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

EPSILON = 1


def parts(settings: Settings) -> list[Settings]:
    """One part a number of records."""
    halves = np.unique(np.geomspace(2, settings["largest"] / 2, settings["sizes"]).astype(int))
    return [{"n": 2 * int(half), "runs": settings["runs"]} for half in halves]


def compute(part: Part) -> Iterator[Row]:
    """Yield the loss by draws on data of Bernoulli(1/2), by the law, and all formulas."""
    n, runs, source = part["n"], part["runs"], part.source
    ones = part.rng.binomial(n, 0.5, runs).tolist()
    made = BernoulliMean(epsilon=EPSILON, n=n, method="printed")
    losses = np.array([abs(made.draw(k, None, source) - k) / n for k in ones])
    yield {
        "n": n, "runs": runs, "simulated": float(losses.mean()),
        "deviation": float(losses.std(ddof=1)) / runs**0.5,
        "exact": proportion_loss(n, n // 2, EPSILON),
        "printed": proportion_limit_printed(EPSILON) / n,
        "corrected": proportion_limit(EPSILON) / n,
        "laplace": 1 / (n * EPSILON),
        "geometric": 1 / (n * sinh(EPSILON)),
        "bound": unbiased_lower_bound(n, EPSILON),
    }  # fmt: skip


def draw(table: Table) -> Any:
    """Draw the loss as the report does, and the loss times n, which shows what is near what."""
    figure, (left, right) = look.panels(2, width=11.0, height=4.4, sharey=False)
    for axes, times, scales in ((left, 1, "x"), (right, table["n"], "xy")):
        n = table["n"]
        look.stated(axes, n, table["printed"] * times, "equivalent as printed")
        look.band(
            axes, n, table["simulated"] * times, table["deviation"] * times,
            method="inverse sensitivity", label="inverse sensitivity, drawn",
        )  # fmt: skip
        look.band(axes, n, table["corrected"] * times, method="truth", label="limit: 1/sinh(ε/2)")
        look.band(axes, n, table["laplace"] * times, method="laplace", label="Laplace noise")
        look.band(axes, n, table["geometric"] * times, method="geometric", label="geometric noise")
        look.band(axes, n, table["bound"] * times, method="bound", label="lower bound", dashed=True)
        look.logarithmic(axes, scales)
    look.titled(left, "Expected loss, ε = 1, proportion 1/2", x="records n", y="E|M - f|")
    look.titled(right, "The same, times n", x="records n", y="n E|M - f|")
    look.note(left, "colours as on the right", 0.98)
    look.name_lines(right)
    return figure


EXPERIMENT = Experiment(
    name="audibert-24",
    ids=("A13", "A14", "A15", "A16", "A17"),
    title="Inverse sensitivity for a proportion, and the lower bound",
    question="Does the loss approach the lower bound as n grows, and is the equivalent right?",
    stated="the loss 'comes near both to the equivalent', 3.164/n at epsilon 1, 'and to the lower "
    "bound', 0.0596/n. It is 1.919/n, so 32.2 times the bound at every large n; and Laplace noise, "
    "1/n, is nearer to the truth than the mechanism that is called optimal",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"largest": 10_000, "sizes": 25, "runs": 4000},
    quick={"largest": 3_000, "sizes": 10, "runs": 200},
)
