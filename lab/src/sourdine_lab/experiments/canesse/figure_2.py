"""Figure 2: the bound on the expected error of the histogram method, and the error itself."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.bounds import histogram_error, histogram_error_printed, histogram_steps
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.canesse import uniform
from sourdine_lab.experiments.canesse.deciles import first_edges
from sourdine_lab.settings import Kind, Setting, integer, number, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

SEARCHES = {"listed": False, "monotone": True}
"""Lap(4/epsilon) on each count, as in the report's listing; Lap(2/epsilon), which suffices."""
LABELS = {"listed": "error, Lap(4/ε) as listed", "monotone": "error, Lap(2/ε)"}
COROLLARY = "corollary"


def _beta(given: Any) -> float | str:
    return COROLLARY if given == COROLLARY else number(above=0, below=1).read(given)


BETA = Kind(f"be a number above 0 and below 1, or {COROLLARY} for 1/(√n ln n)", _beta)


def parts(settings: Settings) -> list[Settings]:
    """One part a size of the sample."""
    return [{"n": n, "runs": settings["runs"]} for n in settings["sizes"]]


def compute(part: Part) -> Iterator[Row]:
    """Yield the printed bound, the corrected one and the errors in simulation.

    Only the counts of the cells matter, so they are drawn in place of the data.
    """
    n, rng, source, q = part["n"], part.rng, part.source, part["order"]
    beta = None if part["beta"] == COROLLARY else part["beta"]
    steps, each = histogram_steps(n), uniform.share(part)
    row: Row = {
        "n": n, "runs": part["runs"],
        "printed": histogram_error_printed(n, q, epsilon=part["epsilon"], beta=beta),
        "corrected": histogram_error(
            n, q, epsilon=part["epsilon"], beta=beta, calls=part["quantiles"]
        ),
    }  # fmt: skip
    found: dict[str, list[float]] = {name: [] for name in part["methods"]}
    for _ in range(part["runs"]):
        below = np.cumsum(rng.multinomial(n, np.full(steps, 1 / steps)))
        for name, away in found.items():
            edge = first_edges(
                below, n, Fraction(str(q)), source, epsilon=each, monotone=SEARCHES[name]
            )[0]
            away.append(abs(edge / steps - q))
    for name, away in found.items():
        row[name] = float(np.mean(away))
        row[f"{name}_deviation"] = float(np.std(away, ddof=1)) / len(away) ** 0.5
    yield row


def draw(table: Table, settings: Settings) -> Any:
    """Draw the bounds and the errors against n."""
    figure, (axes,) = look.panels(1, width=8)
    n = table["n"]
    look.stated(axes, n, table["printed"], "bound as printed")
    look.band(axes, n, table["corrected"], method="bound", label="bound, corrected")
    for name in settings["methods"]:
        look.band(
            axes, n, table[name], table[f"{name}_deviation"], method="histogram",
            label=LABELS[name], dashed=name == "listed",
        )  # fmt: skip
    look.titled(
        axes, f"Expected error of the histogram method: {uniform.what(settings)}",
        x="records n", y=f"mean distance from the law's {uniform.quantile(settings)}",
    )  # fmt: skip
    look.note(axes, uniform.note(settings), 0.02, 0.14)
    look.logarithmic(axes)
    look.name_lines(axes)
    return figure


EXPERIMENT = Experiment(
    name="canesse-2",
    ids=("C3", "C4", "C5", "C6", "C7"),
    title="Expected error of the histogram method",
    question="How does the bound of corollary 3.4.1.1 compare with the error itself?",
    stated="a bound at epsilon 1 that falls with n, 0.047 at n = 5000; its proof gives each of the "
    "nine searches all of epsilon",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        *uniform.settings(),
        Setting("beta", COROLLARY, BETA, "probability of the bound that is left to the noise"),
        uniform.sizes(1000, 200_000, 16, quick=(1000, 50_000, 6), even=True),
        Setting("runs", 200, integer(least=2), "data sets for each size", quick=40, split=True),
        Setting("methods", list(SEARCHES), words(*SEARCHES), "the noise on counts, as listed or "
                "for counts, which are monotone"),
    ),
)  # fmt: skip
