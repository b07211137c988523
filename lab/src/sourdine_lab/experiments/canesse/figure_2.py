"""Figure 2: the bound on the expected error of the histogram method, and the error itself."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.bounds import histogram_error, histogram_error_printed, histogram_steps
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.canesse.deciles import first_edges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

MEDIAN = Fraction(1, 2)
EACH = Fraction(1, 9)
"""The share of each decile in epsilon = 1."""
SEARCHES = {"listed": False, "monotone": True}
"""Lap(4/epsilon) on each count, as in the report's listing; Lap(2/epsilon), which suffices."""


def parts(settings: Settings) -> list[Settings]:
    """One part a size of the sample."""
    sizes = np.geomspace(settings["least"], settings["largest"], settings["sizes"])
    return [{"n": 2 * round(n / 2), "runs": settings["runs"]} for n in sizes]


def compute(part: Part) -> Iterator[Row]:
    """Yield the printed bound, the corrected one and the errors in simulation.

    Only the counts of the cells matter, so they are drawn in place of the data.
    """
    n, rng, source = part["n"], part.rng, part.source
    steps = histogram_steps(n)
    row: Row = {
        "n": n, "runs": part["runs"], "printed": histogram_error_printed(n, 0.5, epsilon=1),
        "corrected": histogram_error(n, 0.5, epsilon=1),
    }  # fmt: skip
    found: dict[str, list[float]] = {name: [] for name in SEARCHES}
    for _ in range(part["runs"]):
        below = np.cumsum(rng.multinomial(n, np.full(steps, 1 / steps)))
        for name, monotone in SEARCHES.items():
            edge = first_edges(below, n, MEDIAN, source, epsilon=EACH, monotone=monotone)[0]
            found[name].append(abs(edge / steps - 0.5))
    for name, away in found.items():
        row[name] = float(np.mean(away))
        row[f"{name}_deviation"] = float(np.std(away, ddof=1)) / len(away) ** 0.5
    yield row


def draw(table: Table) -> Any:
    """Draw the bounds and the errors against n."""
    figure, (axes,) = look.panels(1, width=8)
    n = table["n"]
    look.stated(axes, n, table["printed"], "bound as printed")
    look.band(axes, n, table["corrected"], method="bound", label="bound, corrected")
    for name, label in (("listed", "error, Lap(4/ε) as listed"), ("monotone", "error, Lap(2/ε)")):
        look.band(
            axes, n, table[name], table[f"{name}_deviation"], method="histogram",
            label=label, dashed=name == "listed",
        )  # fmt: skip
    look.titled(
        axes, "Expected error of the histogram method: the median of U(0, 1), ε = 1",
        x="records n", y="mean distance from the law's median",
    )  # fmt: skip
    look.note(axes, "each of nine deciles has ε/9;\nno answer is farther than 0.5", 0.02, 0.14)
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
    full={"least": 1000, "largest": 200_000, "sizes": 16, "runs": 200},
    quick={"least": 1000, "largest": 50_000, "sizes": 6, "runs": 40},
)
