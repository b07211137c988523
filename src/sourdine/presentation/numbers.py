"""Numbers as a person wants to read them."""

from __future__ import annotations

from decimal import Decimal
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["decimals", "grouped", "outward", "own_width", "row", "shown"]


def decimals(width: float) -> int:
    """Return how many decimals a number deserves that is known to within ``width``.

    Two digits of the width are kept, so what is cut off is at most a twentieth of it.

    Examples
    --------
    >>> decimals(0.034), decimals(1200.0), decimals(0.0)
    (3, -2, 6)
    """
    return 6 if width <= 0 else 1 - floor(log10(width))


def shown(value: float, width: float) -> str:
    """Return a number with as many digits as the interval's width supports.

    Examples
    --------
    >>> shown(51234.5678, 120.0), shown(0.123456, 0.004), shown(7, 0.5), shown(12345.6, 5e4)
    ('51 230', '0.1235', '7', '12 000')
    >>> shown(40.0, 0.0)
    '40'
    """
    digits = decimals(width)
    if isinstance(value, int):
        return grouped(str(value))
    rounded = round(float(value), digits) + 0.0
    text = f"{rounded:.{max(digits, 0)}f}"
    return grouped(text if width > 0 or not digits else text.rstrip("0").rstrip("."))


def grouped(text: str) -> str:
    """Set a thin gap between thousands of five digits and more."""
    sign, rest = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, _, part = rest.partition(".")
    if len(whole) > 4:
        head = len(whole) % 3 or 3
        whole = " ".join([whole[:head], *(whole[i : i + 3] for i in range(head, len(whole), 3))])
    return sign + whole + (f".{part}" if part else "")


def row(value: float, ends: Sequence[float]) -> tuple[str, str, str]:
    """Return the texts of a value and of the ends of its interval, which are rounded outward.

    Examples
    --------
    >>> row(51234.5678, (51004.2, 51496.1))
    ('51 230', '51 000', '51 500')
    """
    low, high = ends
    width = float(high) - float(low)
    value_text = shown(value, own_width(value, width))
    return value_text, outward(low, width, floor), outward(high, width, ceil)


def outward(end: float, width: float, rounded: Callable[[Decimal], int]) -> str:
    """Return an end of an interval, never inside of it.

    Examples
    --------
    >>> outward(0.3, 0.1, floor), outward(0.30000001, 0.1, ceil), outward(0.3, 0.1, ceil)
    ('0.30', '0.31', '0.30')
    """
    if isinstance(end, int) or not isfinite(end):
        return shown(end, width)
    place = Decimal(1).scaleb(-decimals(width))
    return shown(float(rounded(Decimal(repr(float(end))) / place) * place), width)


def own_width(value: float, width: float) -> float:
    """Return the width to round a value by: that of its interval, but three digits are kept.

    Examples
    --------
    >>> shown(33199.5, own_width(33199.5, 200_000.0))
    '33 200'
    """
    return min(width, abs(float(value)) / 100) if value else width
