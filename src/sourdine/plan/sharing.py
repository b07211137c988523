"""One total for several statistics."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.plan.errors import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.plan.errors import Error
    from sourdine.plan.plans import Plan

__all__ = ["balanced"]

ROUNDS = 60
EVEN = 1.001
LEAST = 1e-9


def balanced(total: Fraction, plans: Sequence[Plan], wanted: Sequence[Error]) -> list[Fraction]:
    r"""Share a total so that all errors are the same multiple of what was wanted.

    With :math:`r_i` the error over the wanted error at the share :math:`\varepsilon_i`, the shares

    .. math:: \varepsilon_i \leftarrow \varepsilon\,
              \frac{\varepsilon_i r_i}{\sum_j \varepsilon_j r_j}

    stay as they are where all :math:`r_i` agree, and an error that falls as
    :math:`1/\varepsilon_i` is there after one round. Errors that are whole numbers never agree
    quite, so the round with the smallest worst :math:`r_i` is kept. *Checked by*
    ``test_shared_errors_are_balanced``.
    """
    shares = _scaled([float(plan.epsilon) for plan in plans], float(total))
    best, least = shares, float("inf")
    for _ in range(ROUNDS):
        ratios = [
            max(number(plan.at(share)), LEAST) / max(number(want), LEAST)
            for plan, share, want in zip(plans, shares, wanted, strict=True)
        ]
        if max(ratios) < least:
            best, least = shares, max(ratios)
        if max(ratios) < EVEN * min(ratios):
            break
        shares = _scaled([s * r for s, r in zip(shares, ratios, strict=True)], float(total))
    return [_down(share) for share in best]


def _scaled(shares: Sequence[float], total: float) -> list[float]:
    most = sum(shares)
    return [max(share / most, LEAST) * total for share in shares]


def _down(share: float) -> Fraction:
    """Round down to four digits, so that the shares stay within the total."""
    return Fraction(Context(prec=4, rounding=ROUND_FLOOR).create_decimal(Decimal(share)))
