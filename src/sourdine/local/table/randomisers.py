"""The mechanisms of a column by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.mechanisms import BoundedLaplace, BoundedStaircase, RandomizedResponse

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.mechanisms.frequency_oracle import FrequencyOracle
    from sourdine.mechanisms.mechanism import Report

__all__ = ["CATEGORICAL", "NUMERIC", "oracle", "report", "shown_ticks"]

NUMERIC = (
    *("square-wave", "piecewise", "duchi", "hybrid"),
    *("laplace", "staircase", "truncated-staircase"),
)
"""For numbers; the first is the best for most uses."""
CATEGORICAL = ("response", "unary", "symmetric", "hashing", "hadamard", "subset", "auto")
"""For categories."""


def report(*, epsilon: Fraction, method: str, last: int) -> Report:
    """Return the mechanism of that name for the ticks 0 to ``last``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> print(report(epsilon=Fraction(1), method="laplace", last=120))
    BoundedLaplace(epsilon=1, last=120)
    """
    from sourdine.local import numeric  # noqa: PLC0415

    make: dict[str, Any] = {
        "laplace": lambda: BoundedLaplace(epsilon=epsilon, last=last),
        "staircase": lambda: BoundedStaircase(epsilon=epsilon, last=last),
        "truncated-staircase": lambda: BoundedStaircase(
            epsilon=epsilon, last=last, method="truncated"
        ),
        "duchi": lambda: numeric.Duchi(epsilon=epsilon, last=last),
        "hybrid": lambda: numeric.HybridReport(epsilon=epsilon, last=last),
        "piecewise": lambda: numeric.piecewise(epsilon, last),
        "square-wave": lambda: numeric.square_wave(epsilon, last),
    }
    built: Report = make[method]()
    return built


def oracle(*, epsilon: Fraction, method: str | None, categories: int) -> FrequencyOracle:
    """Return the frequency oracle of that name; by None or ``"auto"`` the best.

    Examples
    --------
    >>> from fractions import Fraction
    >>> print(oracle(epsilon=Fraction(1), method="response", categories=3))
    RandomizedResponse(epsilon=1, categories=3)
    """
    if method == "response":
        return RandomizedResponse(epsilon=epsilon, categories=categories)
    from sourdine.local import categorical  # noqa: PLC0415

    if method is None or method == "auto":
        return categorical.best_oracle(epsilon, categories)
    make: dict[str, Any] = {
        "unary": categorical.UnaryEncoding,
        "symmetric": lambda **own: categorical.UnaryEncoding(**own, method="symmetric"),
        "hashing": categorical.LocalHashing,
        "hadamard": categorical.HadamardResponse,
        "subset": categorical.SubsetSelection,
    }
    built: FrequencyOracle = make[method](epsilon=epsilon, categories=categories)
    return built


def shown_ticks(value: Any, method: str) -> NDArray[np.int64] | range | None:  # noqa: ANN401
    r"""Return the tick at which a table shows each report; None if it shows estimates.

    Laplace and staircase report ticks. A cell of Square Wave is shown at its place: the cell in
    the middle of the window of :math:`x` at :math:`x`, so some lie outside the bounds. With
    :math:`S` cells for :math:`m \ge S` steps of the lattice, cell :math:`y` is at the tick nearest
    to :math:`(y - h)m/S`, :math:`h` being half the window; these are :math:`m/S \ge 1` apart, so
    each cell has a tick of its own. The mechanisms for means have estimates instead.
    """
    if method in {"laplace", "staircase", "truncated-staircase"}:
        return range(value.last + 1)
    if method != "square-wave":
        return None
    half, m, slide = value.width // 2, value.last, value.slide
    place = (np.arange(value.codes) - half) * m
    return np.asarray((2 * place + slide) // (2 * slide), np.int64)
