"""Figure 5: the error of nine deciles against n, on the standard normal law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.bounds import normal_quantile
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.canesse import samples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row
    from sourdine_lab.table import Table

    Floats = samples.Floats

LOWER, UPPER = -5.0, 5.0
"""The public bounds; the report does not say its own."""


def compute(part: Part) -> Iterator[Row]:
    """Yield the errors on data sets of N(0, 1), cut off at the bounds."""
    law = _fraction(np.array([normal_quantile(i / 10) for i in range(1, 10)]))
    yield from samples.errors(part, draw_normal, law, width=UPPER - LOWER)


def draw(table: Table) -> Any:
    """Draw both truths."""
    figure, axes = samples.draw_panels(table, law="N(0, 1)", unit=", standard deviations")
    for one in axes:
        look.logarithmic(one)
        look.name_lines(one)
    return figure


def draw_normal(rng: np.random.Generator, n: int) -> Floats:
    """Return a sample, as fractions of the public range."""
    return _fraction(rng.standard_normal(n))


def _fraction(x: Floats) -> Floats:
    return np.clip((x - LOWER) / (UPPER - LOWER), 0, np.nextafter(1, 0))


EXPERIMENT = Experiment(
    name="canesse-5",
    ids=("C11", "C12"),
    title="Error of nine deciles against n, N(0, 1)",
    question="Does the comparison of figure 4 hold on the normal law?",
    stated="the histogram method is less precise than inverse sensitivity, follows a power of n "
    "less closely, and seems asymptotically better (no fit is given, nor the bounds)",
    parts=samples.parts,
    compute=compute,
    draw=draw,
    full=samples.FULL,
    quick=samples.QUICK,
)
