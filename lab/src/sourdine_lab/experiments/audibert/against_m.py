"""What figures 12 and 13 share: IndExp and RecExp for m - 1 quantiles, against m.

The report does not state its epsilon: 1 and 10 are drawn side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine_lab import look
from sourdine_lab.experiments.audibert.many_quantiles import AS_DRAWN

if TYPE_CHECKING:
    from sourdine_lab.experiment import Settings
    from sourdine_lab.table import Table

__all__ = ["FULL", "METHODS", "QUICK", "draw_against_m", "parts"]

METHODS = ("indexp", AS_DRAWN, "recexp", "recexp unscaled", "today")
NAMES = {
    "no privacy": "the sample's",
    "indexp": "IndExp, sorted",
    AS_DRAWN: "IndExp as drawn",
    "recexp": "RecExp",
    "recexp unscaled": "RecExp as printed",
    "today": "Sourdine",
}
FULL = {"largest": 100, "step": 10, "runs": 100}
QUICK = {"largest": 100, "step": 30, "runs": 12}


def parts(settings: Settings) -> list[Settings]:
    """One part an epsilon and an m."""
    sizes = range(10, settings["largest"] + 1, settings["step"])
    return [{"epsilon": e, "m": m, "runs": settings["runs"]} for e in (1, 10) for m in sizes]


def draw_against_m(table: Table, title: str, y: str) -> Any:
    """Draw the risks against m, a panel an epsilon."""
    figure, axes = look.panels(2, width=11.0, height=4.4)
    for one, (epsilon, part) in zip(axes, table.by("epsilon"), strict=True):
        for method, rows in part.by("method"):
            look.band(
                one, rows["m"], rows["risk"], rows["deviation"],
                method="indexp" if method == AS_DRAWN else method,
                label=NAMES[method], dashed=method in (AS_DRAWN, "no privacy"),
            )  # fmt: skip
        look.titled(one, f"{title}, ε = {epsilon}", x="m, for m - 1 quantiles", y=y)
    axes[1].set_ylabel("")
    look.logarithmic(axes[0], "y")
    for one in axes:
        look.name_lines(one)
    return figure
