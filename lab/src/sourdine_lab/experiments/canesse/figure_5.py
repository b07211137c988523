"""Figure 5: the error of nine deciles against n, on the standard normal law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.canesse import samples

if TYPE_CHECKING:
    from sourdine_lab.experiment import Settings
    from sourdine_lab.table import Table


def draw(table: Table, settings: Settings) -> Any:
    """Draw both truths."""
    normal = settings["law"] == EXPERIMENT.values()["law"]
    unit = ", standard deviations" if normal else ""
    figure, axes = samples.draw_panels(table, settings, unit=unit)
    for one in axes:
        look.logarithmic(one)
        look.name_lines(one)
    return figure


EXPERIMENT = Experiment(
    name="canesse-5",
    ids=("C11", "C12"),
    title="Error of nine deciles against n, N(0, 1)",
    question="Does the comparison of figure 4 hold on the normal law?",
    stated="the histogram method is less precise than inverse sensitivity, follows a power of n "
    "less closely, and seems asymptotically better (no fit is given, nor the bounds)",
    parts=samples.parts,
    compute=samples.errors,
    draw=draw,
    settings=samples.settings(
        "normal(0,1)", (-5, 5), "public bounds, at which records are cut off; the report has none"
    ),
)
