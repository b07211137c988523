"""The mean of bounded records: the risk of four kinds of noise, exactly, against epsilon."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine_lab import look
from sourdine_lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

RECORDS, RANGE, STEP = 1000, 1000, 10
"""The document's records, uniform on 0 to 1000, here on a lattice of steps of 10."""
DELTA = 1 / (100 * RECORDS)
SAMPLING = RANGE**2 / 12 / RECORDS
CLASSIC, TIGHT = "Gaussian, classic", "Gaussian, tight"


def parts(settings: Settings) -> list[Settings]:
    """One part for some neighbouring values of epsilon."""
    epsilons = [round(float(e), 4) for e in np.geomspace(0.05, 10, settings["points"])]
    return [{"epsilons": epsilons[i : i + 8]} for i in range(0, len(epsilons), 8)]


def compute(part: Part) -> Iterator[Row]:
    """Yield the variance of the noise, from each mechanism's own law, and the whole risk.

    The sum of the records moves by at most 100 steps of 10 when one is replaced. The classic
    Gaussian is left out where the library refuses it, its delta being too small a promise there.
    """
    from sourdine.mechanisms import Gaussian, Laplace, Staircase

    made: dict[str, Callable[..., Any]] = {
        "Laplace": Laplace,
        "staircase": partial(Staircase, minimise="l2"),
        CLASSIC: partial(Gaussian, delta=DELTA, method="classic"),
        TIGHT: partial(Gaussian, delta=DELTA),
    }
    for epsilon in part["epsilons"]:
        for method, make in made.items():
            try:
                mechanism = make(epsilon=epsilon, sensitivity=RANGE // STEP)
            except ParameterError:
                continue
            noise = mechanism.law(0).variance() * (STEP / RECORDS) ** 2
            yield {"epsilon": epsilon, "method": method, "noise": noise,
                   "risk": noise + SAMPLING}  # fmt: skip


def draw(table: Table) -> Any:
    """Draw the risk of the noise against epsilon, beside the risk of sampling."""
    figure, (axes,) = look.panels(1, width=8.0, height=4.6)
    for method, rows in table.by("method"):
        look.band(
            axes, rows["epsilon"], rows["noise"], method=method.split(",")[0].lower(),
            label=method, dashed=method == CLASSIC,
        )  # fmt: skip
    ends = np.array([table["epsilon"].min(), table["epsilon"].max()])
    look.band(axes, ends, [SAMPLING] * 2, method="no privacy", label="sampling alone", dashed=True)
    look.stated(axes, ends, 2 * (RANGE / (RECORDS * ends)) ** 2, "stated: 2 (Λ/nε)²")
    look.logarithmic(axes)
    look.titled(
        axes, "Mean of 1000 records in [0, 1000]; δ = 10⁻⁵ for both Gaussians",
        x="ε", y="mean squared error of the noise",
    )  # fmt: skip
    look.name_lines(axes)
    return figure


EXPERIMENT = Experiment(
    name="today-mean",
    ids=("A1", "A2", "A4"),
    title="The mean, by four kinds of noise",
    question="How much noise does the mean need at the same epsilon, and is it more than sampling "
    "costs anyway?",
    stated="risks 2 (b-a)^2/(n eps)^2 for Laplace and c^2 (b-a)^2/(n eps)^2 for Gaussian noise, "
    "with c about 5",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"points": 40},
    quick={"points": 12},
    figures=(),
)
