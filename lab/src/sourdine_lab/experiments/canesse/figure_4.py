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
    """Draw both truths, and the report's fits where they belong: to the sample's deciles."""
    figure, axes = samples.draw_panels(table, settings)
    n = np.array([table["n"].min(), table["n"].max()])
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
    stated="35 n^-1.015 for the histogram method, 21.5 n^-0.995 for inverse sensitivity, called "
    "mean square errors; they are root mean square errors against the deciles of the sample",
    parts=samples.parts,
    compute=samples.errors,
    draw=draw,
    settings=samples.settings("uniform(0,1)", (0, 1), "public bounds of the records"),
)
