"""Columns of dates: their bounds must be known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.tally.column import DATES
from sourdine.tally.memory import Memory

if TYPE_CHECKING:
    from sourdine.tally import Frame

__all__ = ["EXAMPLE", "holds_dates", "refuse_dates"]

EXAMPLE = ("2020-01-01", "2024-12-31")
STATED = ("date", "timestamp", DATES)


def holds_dates(data: Frame, column: str) -> bool:
    """Return whether a column's type states that it holds dates: values are not looked at."""
    known = data.kind(column)
    if known is None and isinstance(data.engine, Memory):
        known = data.column(column).holds
    return known in STATED


def refuse_dates(data: Frame, column: str | None, *, by_column: bool = False) -> None:
    """Refuse to find bounds of a column of dates."""
    name = data.resolve(column)
    if not holds_dates(data, name):
        return
    bounds: Any = {name: EXAMPLE} if by_column else EXAMPLE
    raise ParameterError(
        "bounds",
        "be two dates for a column of dates: only those of numbers are found",
        "find",
        "Choose them from what everybody knows, before looking. Type {bounds}.",
        bounds=bounds,
    )
