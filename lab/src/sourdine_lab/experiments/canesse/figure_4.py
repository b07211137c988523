"""Figure 4: the error of nine deciles against n, on the uniform law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.canesse import samples

if TYPE_CHECKING:
    from sourdine_lab.experiment import Settings
    from sourdine_lab.table import Table

STATED = {"histogram": (35.0, -1.015), "inverse sensitivity": (21.5, -0.995)}
"""The report's fits A n^B."""


def draw(table: Table, settings: Settings) -> Any:
    """Draw both truths, and the report's fits where they belong: to the sample's deciles.

    They are those of the report's epsilon, law and orders, and left out with others.
    """
    figure, axes = samples.draw_panels(table, settings)
    n = np.array([table["n"].min(), table["n"].max()])
    own = EXPERIMENT.values()
    if all(settings[name] == own[name] for name in ("epsilon", "law", "bounds", "orders")):
        for level, power in STATED.values():
            look.stated(axes[0], n, level * n**power, f"{level:g} n^{power:g}")
    for one in axes:
        look.logarithmic(one)
        look.name_lines(one)
    return figure


EXPERIMENT = Experiment(
    name="canesse-4",
    ids=("C2", "C4", "C9", "C11", "C12"),
    title="Error of nine deciles against n, U(0, 1)",
    question="How fast does the error fall with n, and against which deciles?",
    stated="root mean square errors (écart quadratique moyen) of 35 n^-1.015 for the histogram "
    "method and 21.5 n^-0.995 for inverse sensitivity; they come out against the sample's deciles, "
    "the former with half of the listing's noise",
    parts=samples.parts,
    compute=samples.errors,
    draw=draw,
    settings=samples.settings(
        "uniform(0,1)", (0, 1), "public bounds of the records", (*samples.METHODS, samples.DRAWN)
    ),
)
