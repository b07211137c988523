"""What a person may type for quantiles, and what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sourdine.central.quantiles.algorithm import is_one, read_orders
from sourdine.central.quantiles.methods import METHODS
from sourdine.errors import ParameterError
from sourdine.exact import one_of, positive
from sourdine.question import converters as read
from sourdine.question.dates import duration

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence
    from fractions import Fraction

    from sourdine.calendar import Duration
    from sourdine.exact.parameters import Number

__all__ = ["AUTO", "read_interval", "read_method", "read_population", "read_q", "read_spread"]

AUTO = "auto"
"""The default of interval: 0.95, where the method has intervals that hold for any data."""


def read_q(x: Number | Sequence[Number] | None) -> Fraction | tuple[Fraction, ...]:
    """Return the orders, ascending; of a single one, not in a list, the order itself."""
    if x is None:
        raise ParameterError(
            "q", "be an order, or several", "none", "Type {q}; 50 % is 0.5.", q=[0.25, 0.5, 0.75]
        )
    orders = read_orders(x)
    return orders[0] if is_one(x) else orders


def read_method(x: str) -> str:
    """Return the name of an algorithm."""
    return one_of(x, "method", *METHODS)


def read_interval(x: Number | Literal["auto", "none"] | None) -> Fraction | str | None:
    """Return the confidence of intervals that are paid for, None without, or the word auto."""
    if x is None or (isinstance(x, str) and x == AUTO):
        return x
    return read.between_0_and_1(x, "interval", 0.95)


def read_spread(x: Number | Duration | None) -> Fraction | dt.timedelta | None:
    """Return the guess of a standard deviation: a number, or how long dates lie apart."""
    if x is None:
        return None
    lasting = duration(x, "spread")
    return positive(x, "spread") if lasting is None else lasting


def read_population(x: bool) -> bool:  # noqa: FBT001
    """Return whether the population is asked about."""
    return read.flag(x, "population")
