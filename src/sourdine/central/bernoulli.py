"""The share of ones among n, by inverse sensitivity."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache
from math import exp, log
from typing import TYPE_CHECKING, Literal

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.exact import integer, one_of
from sourdine.laws import Law
from sourdine.mechanisms import parameters as read
from sourdine.mechanisms.inputs import read_code
from sourdine.mechanisms.laplace import laplace_error
from sourdine.mechanisms.mechanism import Mechanism, read_beta
from sourdine.mechanisms.registry import Specimen, register
from sourdine.privacy import SUBSTITUTE, Guarantee, Part, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number
    from sourdine.mechanisms.inputs import Value
    from sourdine.noise import Source

__all__ = ["BernoulliMean"]

MOST_RECORDS = 1 << 40

Method = Literal["tight", "printed"]


def _n(x: int) -> int:
    n = integer(x, "n", least=0)
    if n > MOST_RECORDS:
        raise ParameterError("n", "be at most 2**40", str(n), "Type {n} or less.", n=MOST_RECORDS)
    return n


def _method(x: Method) -> Method:
    return one_of(x, "method", "tight", "printed")


@frozen(kw_only=True)
class BernoulliMean(Mechanism[int]):
    r"""Report :math:`k` of 0 to n with :math:`P(k) \propto e^{-\lambda|k - f|}`, f the true number.

    Inverse sensitivity for a mean of zeros and ones: :math:`|k - f|` records must change before
    the truth is :math:`k`.

    Parameters
    ----------
    epsilon
        The privacy loss, above 0.
    n
        How many records there are, a public number; an f outside 0 to n counts as the nearest end.
    rows
        How many records one person may own.
    relation
        Which data sets are neighbours; f moves by at most ``rows`` between them.
    method
        ``"printed"``: :math:`\lambda = \varepsilon/2`, as in the source. ``"tight"``: the
        largest :math:`\lambda` that keeps the promise.

    Notes
    -----
    With :math:`q = e^{-\lambda}` the normaliser is
    :math:`Z(f) = (1 + q - q^{f+1} - q^{n-f+1})/(1 - q)`, least at both ends and greatest in the
    middle. Between :math:`f` and :math:`f + r` the loss is :math:`r\lambda` and
    :math:`|\ln Z(f+r)/Z(f)|`, which is greatest at :math:`f = 0`:

    .. math:: \varepsilon = r\lambda + \ln\frac{1 + q - q^{r+1} - q^{n-r+1}}{1 - q^{n+1}}

    for :math:`r \le n/2` (beyond, the middle's Z is used, an upper bound). *Claim*: that is the
    loss exactly, so :math:`\lambda > \varepsilon/2` is within the promise. *Checked by*
    ``test_bernoulli_conformance`` and ``test_the_printed_constant_is_not_tight``.

    References
    ----------
    .. [1] H. Asi, J. Duchi, "Instance-optimality in differential privacy via approximate inverse
       sensitivity mechanisms", NeurIPS 2020.

    Examples
    --------
    >>> share = BernoulliMean(epsilon=1, n=100)
    >>> round(float(share.decay), 3)
    0.778
    """

    epsilon: Fraction = field(converter=read.epsilon)
    n: int = field(converter=_n)
    rows: int = field(default=1, converter=read.rows)
    relation: Relation = field(default=SUBSTITUTE, converter=read.relation)
    method: Method = field(default="tight", converter=_method)

    @cached_property
    def decay(self) -> Fraction:
        """The rate at which the law falls, in one record."""
        if self.method == "tight" and self.n:
            return _tight(self.epsilon, self.n, min(self.rows, self.n))
        return self.epsilon / (2 * self.rows)

    @cached_property
    def guarantee(self) -> Guarantee:
        """The promise of one release."""
        return Guarantee(self.epsilon, 0, self.relation)

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""A draw of range :math:`2r\lambda = \varepsilon` as printed; the tight one is wider.

        *Checked by* ``test_the_printed_constant_has_a_range``.
        """
        return (Part.range(self.epsilon),) if self.method == "printed" else super().parts

    def read(self, x: object) -> int:
        """Return the number of ones, within 0 to n."""
        return read_code(x, self.n)

    def draw(self, x: int, size: int | None, source: Source) -> Value:
        """Draw by the inverse law."""
        return noise.bounded_laplace(x, self.n, self.decay, size, source=source)

    def law(self, x: int) -> Law:
        """Return two geometric pieces that meet at ``x``."""
        a = float(self.decay)
        start, length, log_weight, slope = [x], [self.n + 1 - x], [0.0], [-a]
        if x > 0:
            start, length = [0, *start], [x, *length]
            log_weight, slope = [-float(self.decay * x), *log_weight], [a, *slope]
        return Law.of(start, length, log_weight, slope)

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distance from the truth."""
        return np.abs(np.asarray(y) - x).astype(np.float64)

    def error(self, beta: Number = 0.05) -> float:
        """Return the error without bounds, which they can only lower."""
        return min(float(self.n), laplace_error(1 / self.decay, read_beta(beta)))

    def neighbours(self, x: int) -> Iterator[int]:
        """Yield the numbers of ones that one person can make of ``x``."""
        yield from range(max(x - self.rows, 0), min(x + self.rows, self.n) + 1)

    def adjacent(self, x: int, y: int) -> bool:
        """Return whether one person lies between the two."""
        return abs(x - y) <= self.rows


@lru_cache(256)
def _tight(epsilon: Fraction, n: int, rows: int) -> Fraction:
    """Return the largest decay that keeps the promise, less a part in 10**12."""
    goal, middle = float(epsilon), min(rows, n // 2)

    def spent(decay: float) -> float:
        q = exp(-decay)

        def z(f: int) -> float:
            return 1 + q - exp(-decay * (f + 1)) - exp(-decay * (n - f + 1))

        return rows * decay + log(z(middle) / z(0))

    low, high = goal / (2 * rows), goal / rows
    for _ in range(60):
        guess = (low + high) / 2
        low, high = (guess, high) if spent(guess) < goal else (low, guess)
    return Fraction(low) * (1 - Fraction(1, 10**12))


register(
    Specimen(
        name="proportion.inverse_sensitivity",
        make=lambda epsilon: BernoulliMean(epsilon=epsilon, n=12),
        inputs=(0, 5, 12),
        tight=True,
    )
)
