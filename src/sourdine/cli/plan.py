"""``sourdine plan``: what a statistic will cost, or how far off it will be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console

from sourdine.cli.output import notes, picture, print_table
from sourdine.cli.reading import parameters, statistic_parameters
from sourdine.privacy.printing import shown

if TYPE_CHECKING:
    from sourdine.plan import Plan

__all__ = ["run"]


def run(name: str, given: dict[str, Any]) -> None:
    """Plan a statistic, and show the plan."""
    from sourdine import plan  # noqa: PLC0415 - commands load what they need

    typed = parameters(given)
    as_json, plot = typed.pop("json", False), typed.pop("plot", None)
    picture.check(plot)
    planned = getattr(plan, name)(**statistic_parameters(name, typed))
    if as_json:
        print(planned.to_json())  # noqa: T201 - the answer
    else:
        _show(name, planned)
    if plot is not None:
        picture.draw(planned, plot)


def _show(name: str, planned: Plan) -> None:
    console = Console()
    print_table(console, *planned.table())
    ranks = " of the rank, as a part of n," if name == "quantiles" else ""
    promise = (
        f"With epsilon {shown(planned.epsilon)} the error{ranks} stays within {planned.error:.4g} "
        f"with probability {float(planned.confidence):g}. Nothing was spent."
    )
    notes(console, [("by", str(planned.statistic)), ("note", promise)])
