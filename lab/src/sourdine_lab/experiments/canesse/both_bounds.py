"""Section 5.1: the bounds of the two methods on one picture, as printed and as corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.bounds import (
    histogram_error,
    histogram_error_printed,
    inverse_sensitivity_error,
    inverse_sensitivity_error_printed,
)
from sourdine_lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

METHODS = {"histogram": "histogram", "inverse": "inverse sensitivity"}


def parts(settings: Settings) -> list[Settings]:
    """One part for all sizes."""
    return [settings]


def compute(part: Part) -> Iterator[Row]:
    """Yield the four bounds of the median's expected error, epsilon = 1 for nine deciles."""
    for size in np.geomspace(1000, part["largest"], part["sizes"]):
        n = 2 * round(size / 2)
        yield {
            "n": n,
            "histogram_printed": histogram_error_printed(n, 0.5, epsilon=1),
            "histogram": histogram_error(n, 0.5, epsilon=1),
            "inverse_printed": inverse_sensitivity_error_printed(n, epsilon=1),
            "inverse": inverse_sensitivity_error(n, 0.5, epsilon=1),
        }


def draw(table: Table) -> Any:
    """Draw what is printed beside what holds."""
    figure, axes = look.panels(2, width=11.5, height=4.4)
    for one, ending in zip(axes, ("_printed", ""), strict=True):
        for column, method in METHODS.items():
            look.band(
                one, table["n"], table[f"{column}{ending}"], method=method,
                dashed=bool(ending),
            )  # fmt: skip
        look.logarithmic(one)
        title = "The bounds as printed" if ending else "The bounds that hold"
        look.titled(one, f"{title}: the median of U(0, 1), ε = 1", x="records n", y="")
    axes[0].set_ylabel("bound of the mean distance from the law's median")
    look.note(axes[1], "each of nine deciles has ε/9;\nrho = 1/√n for inverse sensitivity", 0.98)
    for one in axes:
        look.name_lines(one)
    return figure


EXPERIMENT = Experiment(
    name="canesse-bounds",
    ids=("C6", "C10"),
    title="Both bounds on one picture",
    question="Which of the two methods has the better bound of its expected error?",
    stated="section 5.1 is to compare the bounds and is left empty; as printed, that of the "
    "histogram method is the lower one from n = 1500 or so on, as corrected from 60,000 on",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"largest": 10**7, "sizes": 60},
    quick={"largest": 10**6, "sizes": 20},
    figures=(),
)
