"""Columns whose declared type cannot hold what a statistic reads in them.

Types are public, so such a column is refused, before anything is charged. What declares no type,
such as a text file, is read as it is: there every value that cannot be read is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.question import sought
from sourdine.tally.column import DATES, NUMBERS, WORDS
from sourdine.tally.types import NESTED

if TYPE_CHECKING:
    from sourdine.central.statistic import Statistic
    from sourdine.tally import Frame

__all__ = ["require_type"]

EXAMPLES: dict[str, tuple[Any, Any]] = {
    NUMBERS: (0, 100),
    DATES: ("2020-01-01", "2024-12-31"),
}
DATELESS = ("sum", "variance")
"""What dates do not have."""
WRITTEN = {NUMBERS: {"decimal": "."}, DATES: {"date_format": "%Y-%m-%d"}}


def require_type(
    asked: Statistic, data: Frame, column: str, need: str, parameter: str = "column"
) -> None:
    """Refuse a column whose type cannot be read as a statistic needs it.

    Parameters
    ----------
    asked
        The statistic.
    data
        The data.
    column
        A column that is there.
    need
        What the statistic reads in it (`sourdine.tally.types`).
    parameter
        What names the column.
    """
    declared = data.declared(column)
    if declared is None or declared.fits(need, data.reading):
        return
    bounds: Any = getattr(asked, "bounds", None)
    own = dict(bounds).get(column) if parameter == "of" else bounds
    tries: dict[str, Any] = {}
    dateless = asked.kind in DATELESS
    if declared.holds == DATES and sought.is_sought(own) and not dateless:
        name, got = "bounds", "find"
        must = f"be two dates for {column!r}, which holds dates: only those of numbers are found"
    else:
        what = "single values" if declared.holds == NESTED else need
        name, must = parameter, f"hold {what} for this {asked.kind}"
        got = f"{column!r} of type {declared.dtype}"
    if declared.holds == NESTED:
        hint = "Put single values into a column of their own."
    elif declared.holds == WORDS and asked.kind == "proportion":
        tries, hint = {"category": "yes"}, "Type {category}, the text whose share is asked."
    elif declared.holds == WORDS:
        tries = {"read": WRITTEN[need]}
        hint = f"Convert it to {need}; or, if its texts are {need}, type {{read}}."
    elif own is not None and declared.holds in EXAMPLES and not dateless:
        example = EXAMPLES[declared.holds]
        tries = {"bounds": {column: example} if parameter == "of" else example}
        hint = f"Type two {declared.holds}: {{bounds}}."
    else:
        hint = f"Convert it to {need}, or name another column."
    raise ParameterError(name, must, got, hint, **tries)
