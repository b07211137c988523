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
from sourdine_lab.settings import Setting, integer, integers, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


def _sizes(largest: int, count: int) -> list[int]:
    """Return even numbers at even ratios."""
    return [2 * int(half) for half in np.unique(np.geomspace(2, largest / 2, count).astype(int))]


def parts(settings: Settings) -> list[Settings]:
    """One part a number of records."""
    return [{"n": n, "runs": settings["runs"]} for n in settings["sizes"]]


def compute(part: Part) -> Iterator[Row]:
    """Yield the loss by draws on Bernoulli data, by the law, and all formulas."""
    n, runs, source = part["n"], part["runs"], part.source
    epsilon, p = part["epsilon"], part["p"]
    ones = part.rng.binomial(n, p, runs).tolist()
    made = BernoulliMean(epsilon=epsilon, n=n, method="printed")
    losses = np.array([abs(made.draw(k, None, source) - k) / n for k in ones])
    yield {
        "n": n, "runs": runs, "simulated": float(losses.mean()),
        "deviation": float(losses.std(ddof=1)) / runs**0.5,
        "exact": proportion_loss(n, round(p * n), epsilon),
        "printed": proportion_limit_printed(epsilon) / n,
        "corrected": proportion_limit(epsilon) / n,
        "laplace": 1 / (n * epsilon),
        "geometric": 1 / (n * sinh(epsilon)),
        "bound": unbiased_lower_bound(n, epsilon),
    }  # fmt: skip


def draw(table: Table, settings: Settings) -> Any:
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
    p = "1/2" if settings["p"] == 0.5 else f"{settings['p']:g}"
    look.titled(
        left, f"Expected loss, ε = {settings['epsilon']:g}, proportion {p}", x="records n",
        y="E|M - f|",
    )  # fmt: skip
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
    settings=(
        Setting("epsilon", 1, number(above=0), "privacy loss of the mean"),
        Setting("p", 0.5, number(least=0, most=1), "the parameter of the Bernoulli law"),
        Setting("sizes", _sizes(10_000, 25), integers(least=2), "records n",
                quick=_sizes(3_000, 10), split=True),
        Setting("runs", 4000, integer(least=2), "samples for each n; the report has 100", quick=200,
                split=True),
    ),
)  # fmt: skip
