"""Large numbers as pictures have them."""

from __future__ import annotations

from math import floor, log10

__all__ = ["powers"]


def powers(count: float) -> str:
    """Return a number of ten thousand and more as a multiple of a power of ten.

    Examples
    --------
    >>> powers(220_100_000), powers(10**6), powers(6400)
    ('2.2 · 10⁸', '10⁶', '6400')
    """
    if count < 10**4:
        return f"{count:g}"
    power = floor(log10(count) + 1e-12)
    raised = str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    times = f"{count / 10**power:.1f}"
    return f"10{raised}" if times == "1.0" else f"{times} · 10{raised}"
