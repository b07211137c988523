"""``sourdine explain``: what an epsilon means to one person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sourdine.cli.guard_options import read_number
from sourdine.cli.output import picture, print_sheet
from sourdine.cli.streams import Terminal
from sourdine.plan.explanation import explain

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["run"]


def run(
    epsilon: str, delta: str, releases: Sequence[int], *, plot: str | None, as_json: bool
) -> None:
    """Print the explanation, and draw it if so asked."""
    picture.check(plot)
    said = explain(
        read_number(epsilon, "epsilon", example=0.5),
        read_number(delta, "delta", example=1e-6),
        releases=releases,
    )
    if as_json:
        print(said.to_json())  # noqa: T201 - the answer
    else:
        print_sheet(Terminal(), said.sheet())
    if plot is not None:
        picture.draw(said, plot, title=str(said.guarantee))
