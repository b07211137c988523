r"""The tug-of-war sketch of the second moment :math:`F_2 = \sum_x f_x^2`.

:math:`f_x` is the sum of the weights that item :math:`x` was given, negative ones included. The
square root of :math:`F_2` is the length of the vector; over a stream of single items it is the size
of a self-join.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sourdine.adaptive.sketches.signs import Signs
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import integer, kind, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sourdine.adaptive.sketches.items import Item
    from sourdine.exact.parameters import Number

__all__ = ["AmsSketch", "F2Sketch", "tail"]

HEAVIEST = 1 << 61
"""The weights of one sketch may add up to so much, signs aside: no counter can overflow."""


class F2Sketch(Protocol):
    """What is asked of a sketch of the second moment."""

    def update(self, item: Item, weight: int = 1) -> None:
        """Add a weight to an item."""

    def query(self) -> float:
        """Return an estimate of the second moment."""


def tail(epsilon: float, width: int) -> float:
    r"""Return :math:`e^{-r(\epsilon^2/4 - \epsilon^3/6)}`, a bound of either tail of the mean.

    For :math:`0 < \epsilon \le 1`: the mean of :math:`r` independent squares :math:`z_i^2` passes
    :math:`(1 + \epsilon)F_2` with this probability at most, and falls below
    :math:`(1 - \epsilon)F_2` with this probability at most [1]_.

    References
    ----------
    .. [1] D. Achlioptas, "Database-friendly random projections: Johnson-Lindenstrauss with binary
       coins", J. Comput. Syst. Sci. 66, 2003 (lemma 5.1 and what follows).
    """
    return float(np.exp(-width * (epsilon**2 / 4 - epsilon**3 / 6)))


class AmsSketch:
    r"""Counters :math:`z_i = \sum_x s_i(x) f_x` with random signs; the mean of their squares.

    Parameters
    ----------
    width
        How many counters, :math:`r`.
    seed
        The secret key of the signs. An answer depends on it, so a sketch with a seed that somebody
        knows tells that person how to deceive it.

    Notes
    -----
    *Claim*: for every vector chosen before the first answer,
    :math:`E z_i^2 = F_2` and :math:`\operatorname{Var} z_i^2 \le 2F_2^2` [1]_, so the estimate is
    off by more than `error(beta)` with probability ``beta`` at most. *Checked by*
    ``test_plain_error_bound_holds``.

    For a vector that depends on earlier answers nothing holds: `sourdine.adaptive.attacks.f2`
    halves the estimate of a sketch of 20 000 counters in 10 000 questions.
    ``test_probes_break_a_plain_sketch``.

    References
    ----------
    .. [1] N. Alon, Y. Matias, M. Szegedy, "The space complexity of approximating the frequency
       moments", J. Comput. Syst. Sci. 58, 1999.

    Examples
    --------
    >>> sketch = AmsSketch(width=1000, seed=7)
    >>> sketch.update_many(["a", "b", "c"], [30, 40, 50])
    >>> sketch.update("c", -50)
    >>> round(sketch.query()), 30**2 + 40**2
    (2591, 2500)
    >>> round(sketch.error(0.05), 3)
    0.127
    """

    __slots__ = ("_added", "_carried", "_signs", "_term", "_twice")

    def __init__(self, width: int, seed: int) -> None:
        self._signs = Signs(width, seed)
        self._twice = np.zeros(self.width, np.int64)
        self._term = np.empty(self.width, np.int64)
        self._added = self._carried = 0

    @property
    def width(self) -> int:
        """How many counters there are."""
        return self._signs.width

    @property
    def memory(self) -> int:
        """The bytes of the counters."""
        return self._twice.nbytes

    def update(self, item: Item, weight: int = 1) -> None:
        """Add a weight, which may be negative, to an item."""
        w = integer(weight, "weight")
        bits = self._signs.bits(item)
        self._carry(abs(w))
        # z = 2 * (sum of w where the sign is +) - (sum of all w), the latter kept as one number
        np.multiply(bits, np.int64(2 * w), out=self._term)
        np.add(self._twice, self._term, out=self._twice)
        self._added += w

    def update_many(self, items: Iterable[Item], weights: Iterable[int] | int = 1) -> None:
        """Add weights, one for each item or one for all, to many items."""
        every = list(items)
        each = [weights] * len(every) if isinstance(weights, (int, np.integer)) else list(weights)
        if len(each) != len(every):
            raise ParameterError(
                "weights",
                f"be as many as the items ({len(every)})",
                f"{len(each)}",
                "Type one weight for each item, or one number for all.",
            )
        for item, weight in zip(every, each, strict=True):
            self.update(item, weight)

    def merge(self, other: AmsSketch) -> None:
        """Add what another sketch with the same width and seed was given."""
        if not isinstance(other, AmsSketch):
            raise ParameterTypeError(
                "other",
                "be an AmsSketch",
                kind(other),
                "Type AmsSketch(width, seed) with the width and the seed of this one.",
            )
        if (self.width, self._signs.seed) != (other.width, other._signs.seed):
            raise ParameterError(
                "other",
                "have the same width and seed",
                "another one",
                "Type AmsSketch(width, seed) with the width and the seed of this one.",
            )
        self._carry(other._carried)
        self._twice += other._twice
        self._added += other._added

    def counters(self) -> NDArray[np.float64]:
        """Return the counters. Who sees one can deceive the sketch."""
        return (self._twice - self._added).astype(np.float64)

    def query(self) -> float:
        """Return the estimate."""
        z = self.counters()
        return float(z @ z) / self.width

    def error(self, beta: Number = 0.05) -> float:
        r"""Return the relative error that is passed with probability ``beta`` at most.

        The lesser of Chebyshev's :math:`\sqrt{2/(r\beta)}`, which needs four-wise independent signs
        alone, and the solution of :math:`2e^{-r(\epsilon^2/4-\epsilon^3/6)} = \beta`, which needs
        fully independent ones. Only for vectors that do not depend on earlier answers.
        """
        chance = float(number(beta, "beta", above=0, most=1))
        chebyshev = sqrt(2 / (self.width * chance))
        if 2 * tail(1.0, self.width) > chance:
            return chebyshev
        low, high = 0.0, 1.0
        while high - low > 1e-9:
            middle = (low + high) / 2
            low, high = (middle, high) if 2 * tail(middle, self.width) > chance else (low, middle)
        return min(chebyshev, high)

    def _carry(self, weight: int) -> None:
        if self._carried + weight > HEAVIEST:
            raise ParameterError(
                "weights",
                "add up to at most 2**61 in magnitude",
                "more",
                "Type smaller weights, in a larger unit.",
            )
        self._carried += weight

    def __repr__(self) -> str:
        return f"AmsSketch(width={self.width}, memory={self.memory})"
