"""Figure 3: the bound on the expected error of inverse sensitivity, and the error itself."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.quantiles.independent import InverseSensitivity
from sourdine.central.quantiles.points import Points
from sourdine_lab import look
from sourdine_lab.bounds import inverse_sensitivity_error, inverse_sensitivity_error_printed
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.canesse.deciles import TICKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.experiments.canesse.deciles import Floats
    from sourdine_lab.table import Table

SMOOTHINGS = {"root": -0.5, "fine": -1.0}
"""The report's rho for this bound, as a power of n, and the one of our figure 4."""


REACH = 60 * 2 * 9
"""Ranks on either side of the median that a draw at a ninth of epsilon = 1 can reach."""


def parts(settings: Settings) -> list[Settings]:
    """One part a size of the sample."""
    sizes = np.geomspace(settings["least"], settings["largest"], settings["sizes"])
    return [{"n": round(n), "sets": settings["sets"]} for n in sizes]


def compute(part: Part) -> Iterator[Row]:
    """Yield the printed bound, the corrected one, and the mean error by the law of the draw.

    Of each data set the draw's expected distance from 1/2 is computed, not sampled.
    """
    n, rng = part["n"], part.rng
    row: Row = {
        "n": n, "sets": part["sets"], "printed": inverse_sensitivity_error_printed(n, epsilon=1),
        "corrected": inverse_sensitivity_error(n, 0.5, epsilon=1),
    }  # fmt: skip
    mechanisms = {
        name: InverseSensitivity(
            epsilon=Fraction(1, 9), q=[0.5], cells=TICKS, relation="substitute",
            rho=round(TICKS * n**power),
        )
        for name, power in SMOOTHINGS.items()
    }  # fmt: skip
    found: dict[str, list[float]] = {name: [] for name in SMOOTHINGS}
    for _ in range(part["sets"]):
        x = Points.of((_near_median(rng.random(n)) * TICKS).astype(np.int64), TICKS)
        for name, mechanism in mechanisms.items():
            law = mechanism.single_law(x, 0)
            found[name].append(law.expectation_abs(TICKS // 2) / TICKS)
    for name, away in found.items():
        row[name] = float(np.mean(away))
        row[f"{name}_deviation"] = float(np.std(away, ddof=1)) / len(away) ** 0.5
    yield row


def _near_median(x: Floats) -> Floats:
    """Return the values that matter: those beyond `REACH` ranks weigh e^-60 of the median's."""
    middle = (len(x) - 1) // 2
    if middle <= REACH:
        return x
    low, high = middle - REACH, middle + REACH
    return np.partition(x, (low, high))[low : high + 1]


def draw(table: Table) -> Any:
    """Draw the bounds and the errors against n."""
    figure, (axes,) = look.panels(1, width=8)
    n = table["n"]
    look.stated(axes, n, table["printed"], "bound as printed")
    look.band(axes, n, table["corrected"], method="bound", label="bound, corrected")
    for name, label in (("root", r"error, $\rho=1/\sqrt{n}$"), ("fine", r"error, $\rho=1/n$")):
        look.band(
            axes, n, table[name], table[f"{name}_deviation"], method="inverse sensitivity",
            label=label, dashed=name == "fine",
        )  # fmt: skip
    look.titled(
        axes, "Expected error of inverse sensitivity: the median of U(0, 1), ε = 1",
        x="records n", y="mean distance from the law's median",
    )  # fmt: skip
    look.note(axes, "each of nine deciles has ε/9;\nno answer is farther than 0.5", 0.02, 0.14)
    look.logarithmic(axes)
    look.name_lines(axes)
    return figure


EXPERIMENT = Experiment(
    name="canesse-3",
    ids=("C9", "C10"),
    title="Expected error of inverse sensitivity",
    question="How does the bound of theorem 4.3.0.2 with rho = 1/√n compare with the error itself?",
    stated="5/√n and terms that vanish, as all of epsilon went to one decile and the sample's "
    "decile were the law's",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"least": 100, "largest": 200_000, "sizes": 16, "sets": 400},
    quick={"least": 100, "largest": 20_000, "sizes": 6, "sets": 40},
)
