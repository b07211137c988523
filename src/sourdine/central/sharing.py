"""One total for several answers."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["balanced"]

ROUNDS, FULL = 60, 8
"""So many rounds at most, the first of them of full steps."""
EVEN = 1.001
LEAST = 1e-9


def balanced(
    total: Fraction, errors: Sequence[Callable[[float], float]], start: Sequence[float]
) -> list[Fraction]:
    r"""Share a total so that the largest of several errors is as small as it can be.

    With :math:`r_i` the error (over what is wanted) at the share :math:`\varepsilon_i`, the shares

    .. math:: \varepsilon_i \leftarrow \varepsilon\,
              \frac{\varepsilon_i r_i}{\sum_j \varepsilon_j r_j}

    stay as they are where all :math:`r_i` agree, and an error that falls as
    :math:`1/\varepsilon_i` is there after one round. Where another method is chosen an error jumps,
    and full steps may go to and fro across the jump: later ones go half as far,
    :math:`\sqrt{r_i}`. Errors that are whole numbers never agree quite, so the round with the
    smallest worst :math:`r_i` is kept. *Checked by* ``test_shared_errors_are_balanced`` and
    ``test_no_split_beats_the_shares``.

    Parameters
    ----------
    total
        What all may spend together.
    errors
        Of each, the error at a share, over the error that is wanted.
    start
        Shares to begin with.

    Examples
    --------
    >>> shares = balanced(Fraction(1), [lambda e: 3 / e, lambda e: 1 / e], [1, 1])
    >>> [float(share) for share in shares]
    [0.75, 0.25]
    """
    shares = _scaled(start, float(total))
    best, least = shares, float("inf")
    for i in range(ROUNDS):
        ratios = [max(error(share), LEAST) for error, share in zip(errors, shares, strict=True)]
        if max(ratios) < least:
            best, least = shares, max(ratios)
        if max(ratios) < EVEN * min(ratios):
            break
        power = 1 if i < FULL else 0.5
        shares = _scaled([s * r**power for s, r in zip(shares, ratios, strict=True)], float(total))
    return [_down(share) for share in best]


def _scaled(shares: Sequence[float], total: float) -> list[float]:
    most = sum(shares)
    return [max(share / most, LEAST) * total for share in shares]


def _down(share: float) -> Fraction:
    """Round down to four digits, so that the shares stay within the total."""
    return Fraction(Context(prec=4, rounding=ROUND_FLOOR).create_decimal(Decimal(share)))
