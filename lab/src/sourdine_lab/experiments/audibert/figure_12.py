"""Figure 12: the squared risks of IndExp and RecExp against the number of quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.against_m import FULL, METHODS, QUICK, draw_against_m, parts
from sourdine_lab.experiments.audibert.many_quantiles import N, orders, risks, squares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row
    from sourdine_lab.table import Table


def compute(part: Part) -> Iterator[Row]:
    """Yield the risk of each method on U(0, 1)."""
    rng, q = part.rng, orders(part["m"])
    found = risks(
        METHODS, q, part["epsilon"], truth=np.array(q), data=lambda: rng.random(N), norm=squares,
        runs=part["runs"], source=part.source,
    )  # fmt: skip
    for row in found:
        yield {"epsilon": part["epsilon"], "m": part["m"], **row}


def draw(table: Table) -> Any:
    """Draw a panel an epsilon."""
    return draw_against_m(table, f"U(0, 1), n = {N}", "squared distance, summed over quantiles")


EXPERIMENT = Experiment(
    name="audibert-12",
    ids=("A8", "A10", "A11"),
    title="Many quantiles by IndExp and by RecExp, squared risk",
    question="Does IndExp beat RecExp in the squared norm, as the report says?",
    stated="RecExp's curve lies above IndExp's, for m from 10 on, at an epsilon that is not given; "
    "the norm is said to be the reason",
    parts=parts,
    compute=compute,
    draw=draw,
    full=FULL,
    quick=QUICK,
)
