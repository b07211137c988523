"""Nine deciles of normal records: the document's two methods and today's, as n grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.today.deciles_uniform import parts
from sourdine_lab.experiments.today.quantile_methods import (
    DECILES,
    deciles_against_n,
    draw_against_n,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row
    from sourdine_lab.table import Table

BOUNDS = (-5, 5)
"""The document does not name its own."""


def compute(part: Part) -> Iterator[Row]:
    """Yield the errors of all methods."""
    from scipy.special import ndtri

    return deciles_against_n(
        part, lambda rng, n: rng.normal(size=n), ndtri(DECILES), bounds=BOUNDS, step=2**-16
    )


def draw(table: Table) -> Any:
    """Draw the errors."""
    return draw_against_n(table, "N(0, 1) in [-5, 5]", lambda _: None)


EXPERIMENT = Experiment(
    name="today-normal",
    ids=("C11", "C12", "C8"),
    title="Nine deciles of normal records, by today's methods",
    question="Does the order of the methods stay the same for a law with tails, in wide bounds?",
    stated="results like those of the uniform law, the histogram method behind inverse "
    "sensitivity; no figures are given",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"sizes": 12, "runs": 150},
    quick={"sizes": 5, "runs": 20},
    figures=(),
)
