"""``sourdine plan``: what a statistic will cost, or how far off it will be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.cli.output import picture, print_sheet
from sourdine.cli.statistics import typed
from sourdine.cli.streams import Terminal
from sourdine.plan import Plan
from sourdine.plan.errors import error_text
from sourdine.privacy.printing import shown
from sourdine.question import read
from sourdine.release import Sheet

if TYPE_CHECKING:
    from sourdine.central import Statistic

__all__ = ["run"]


def run(cls: type[Statistic], given: dict[str, Any]) -> None:
    """Plan a statistic, and show the plan."""
    asked = typed(given)
    as_json, plot = asked.pop("json", False), asked.pop("plot", None)
    picture.check(plot)
    planned = Plan(question=read(cls, asked))
    if as_json:
        print(planned.to_json())  # noqa: T201 - the answer
    else:
        print_sheet(Terminal(), _sheet(planned))
    if plot is not None:
        picture.draw(planned, plot)


def _sheet(planned: Plan) -> Sheet:
    sheet = planned.sheet()
    units = f"{planned.units} " if planned.units else ""
    error = f"{error_text(planned.error)} {units}"
    if planned.ranks and not planned.units:
        error = f"{100 * planned.error:.4g} percentage points of rank "
    promise = (
        f"With epsilon {shown(planned.epsilon)} the error stays within {error}with probability "
        f"{float(planned.confidence):g}. "
        "Nothing was spent."
    )
    return Sheet(heads=sheet.heads, lines=sheet.lines, notes=[*sheet.notes, ("note", promise)])
