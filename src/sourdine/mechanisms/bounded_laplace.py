"""Bounded Laplace: a number of an interval, disturbed without leaving it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.exact import given, integer
from sourdine.laws import Law
from sourdine.mechanisms import parameters as read
from sourdine.mechanisms.laplace import laplace_error
from sourdine.mechanisms.mechanism import Report, read_beta
from sourdine.mechanisms.registry import Specimen, register
from sourdine.privacy import LOCAL, Guarantee

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

__all__ = ["BoundedLaplace", "read_last"]

HIGHEST_TICK = 1 << 40


def _last(x: int) -> int:
    return read_last(x, least=1)


@frozen(kw_only=True)
class BoundedLaplace(Report):
    r"""Report a tick :math:`y` of 0 to :math:`m`, :math:`P(y) \propto e^{-\varepsilon|y-x|/m}`.

    It is drawn by its inverse law, with the same work for every input: to redraw until the result
    is inside, as is often done, takes a time that depends on the input.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0.
    last
        :math:`m`, the highest tick; inputs outside 0 to m count as the nearest end.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-LDP, no less. The normaliser :math:`Z(x)` is not
    constant, but :math:`-\varepsilon|y-x|/m - \ln Z(x)` rises in :math:`x` up to :math:`y` and
    falls after, so the worst pair is the two ends, where :math:`Z(0) = Z(m)`. *Checked by*
    ``test_exact_worst_case[number.laplace]``.

    The output is drawn to the middle: it is not an unbiased report (`bias`).

    References
    ----------
    .. [1] N. Holohan, S. Antonatos, S. Braghin, P. Mac Aonghusa, "The bounded Laplace mechanism in
       differential privacy", J. Privacy and Confidentiality 10(1), 2020.

    Examples
    --------
    >>> report = BoundedLaplace(epsilon=1, last=100)
    >>> round(report.bias(0), 1), abs(report.bias(50)) < 1e-9
    (41.6, True)
    """

    epsilon: Fraction = field(converter=read.epsilon)
    last: int = field(converter=_last)

    @cached_property
    def decay(self) -> Fraction:
        """The rate at which the law falls, in one tick."""
        return self.epsilon / self.last

    @cached_property
    def guarantee(self) -> Guarantee:
        """The promise of one report."""
        return Guarantee(self.epsilon, 0, LOCAL)

    @property
    def top(self) -> int:
        """The highest tick, m."""
        return self.last

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Report by the inverse law."""
        return noise.bounded_laplace(codes, self.last, self.decay, source=source)

    def law(self, x: int) -> Law:
        """Return two geometric pieces that meet at ``x``."""
        a = float(self.decay)
        start, length, log_weight, slope = [x], [self.last + 1 - x], [0.0], [-a]
        if x > 0:
            start, length = [0, *start], [x, *length]
            log_weight, slope = [-float(self.decay * x), *log_weight], [a, *slope]
        return Law.of(start, length, log_weight, slope)

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distance from the truth."""
        return np.abs(y - x).astype(np.float64)

    def error(self, beta: Number = 0.05) -> float:
        """Return the unbounded Laplace's error, which the bounds can only lower."""
        return min(float(self.last), laplace_error(1 / self.decay, read_beta(beta)))

    def bias(self, x: int) -> float:
        """Return how far the mean report lies from ``x``."""
        return self.law(self.read(x)).mean() - x


def read_last(last: object, least: int) -> int:
    """Return the highest tick of an interval, small enough for 64 bits."""
    value = integer(last, "last", least=least)
    if value > HIGHEST_TICK:
        raise ParameterError(
            "last",
            "be at most 2**40",
            given(value),
            "Type a coarser grid's highest tick, such as {last}.",
            last=1000,
        )
    return value


register(
    Specimen(
        name="number.laplace",
        make=lambda epsilon: BoundedLaplace(epsilon=epsilon, last=12),
        inputs=tuple(range(13)),
        tight=True,
    )
)
