"""Figure 13: the risks of IndExp and RecExp in the greatest norm, on Beta(2, 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.against_m import FULL, METHODS, QUICK, draw_against_m, parts
from sourdine_lab.experiments.audibert.many_quantiles import N, largest, orders, risks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row
    from sourdine_lab.table import Table


def compute(part: Part) -> Iterator[Row]:
    """Yield the risk of each method on Beta(2, 2)."""
    from scipy.special import betaincinv

    rng, q = part.rng, orders(part["m"])
    found = risks(
        METHODS, q, part["epsilon"], truth=betaincinv(2.0, 2.0, np.array(q)),
        data=lambda: rng.beta(2.0, 2.0, N), norm=largest, runs=part["runs"], source=part.source,
    )  # fmt: skip
    for row in found:
        yield {"epsilon": part["epsilon"], "m": part["m"], **row}


def draw(table: Table) -> Any:
    """Draw a panel an epsilon."""
    return draw_against_m(table, f"Beta(2, 2), n = {N}", "greatest distance of all quantiles")


EXPERIMENT = Experiment(
    name="audibert-13",
    ids=("A8", "A10", "A11"),
    title="Many quantiles by IndExp and by RecExp, greatest error",
    question="Does RecExp beat IndExp in the greatest norm on Beta(2, 2), as the report says?",
    stated="RecExp's curve lies below IndExp's, for m from 10 on, at an epsilon that is not given",
    parts=parts,
    compute=compute,
    draw=draw,
    full=FULL,
    quick=QUICK,
)
