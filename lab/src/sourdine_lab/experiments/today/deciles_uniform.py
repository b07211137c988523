"""Nine deciles of uniform records: the document's two methods and today's, as n grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.today.quantile_methods import (
    DECILES,
    deciles_against_n,
    draw_against_n,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

FITS = {"35 n⁻¹·⁰¹⁵": (35.0, -1.015), "21.5 n⁻⁰·⁹⁹⁵": (21.5, -0.995)}
"""The document's fits: of the histogram method and of inverse sensitivity."""


def parts(settings: Settings) -> list[Settings]:
    """One part a size of the sample."""
    sizes = np.unique(np.geomspace(100, 5000, settings["sizes"]).astype(int))
    return [{"n": int(n), "runs": settings["runs"]} for n in sizes]


def compute(part: Part) -> Iterator[Row]:
    """Yield the errors of all methods."""
    return deciles_against_n(
        part, lambda rng, n: rng.random(n), np.array(DECILES), bounds=(0, 1), step=2**-20
    )


def draw(table: Table) -> Any:
    """Draw the errors, with the document's fits."""
    n = np.unique(table["n"])

    def fits(axes: Any) -> None:
        for name, (factor, power) in FITS.items():
            look.stated(axes, n, factor * n**power, f"stated: {name}")

    return draw_against_n(table, "U(0, 1)", fits)


EXPERIMENT = Experiment(
    name="today-deciles",
    ids=("C11", "C12", "A9", "A10"),
    title="Nine deciles of uniform records, by today's methods",
    question="How much nearer than the document's two methods do today's come to the deciles, at "
    "the same epsilon?",
    stated="35 n^-1.015 for the histogram method, 21.5 n^-0.995 for inverse sensitivity, from the "
    "sample's deciles",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"sizes": 12, "runs": 150},
    quick={"sizes": 5, "runs": 20},
    figures=(),
)
