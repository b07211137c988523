"""Unary encoding: one bit for each category, all of them flipped at random."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, log, log1p
from typing import TYPE_CHECKING, Literal

import numpy as np

from sourdine import noise
from sourdine.exact import Real, one_of
from sourdine.laws import Law
from sourdine.local.categorical.oracle import Oracle, share
from sourdine.local.categorical.rows import BitRows, people_at_once
from sourdine.mechanisms.registry import Specimen, register
from sourdine.noise.coins import bernoulli_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.noise import Source

__all__ = ["UnaryEncoding"]

HALF = Real.of(Fraction(1, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnaryEncoding(BitRows):
    r"""Report a bit for each category: the true one is 1 with chance p, any other with q.

    ============= ========================================== =======================================
    ``form``      :math:`p,\; q`                             :math:`n` times the variance of a rare
                                                             category
    ============= ========================================== =======================================
    ``optimal``   :math:`\frac12,\; \frac{1}{e^\varepsilon   :math:`\frac{4e^\varepsilon}
                  + 1}`                                      {(e^\varepsilon - 1)^2}`
    ``symmetric`` :math:`\frac{e^{\varepsilon/2}}            :math:`\frac{e^{\varepsilon/2}}
                  {e^{\varepsilon/2} + 1},\; 1 - p`          {(e^{\varepsilon/2} - 1)^2}`
    ============= ========================================== =======================================

    The first is OUE [1]_; the second flips every bit alike, as basic RAPPOR does [2]_.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0.
    categories
        :math:`k`, at least 2; the report has as many bits.
    method
        ``"optimal"`` or ``"symmetric"``.

    Notes
    -----
    *Claim*: two people's rows differ in two bits, so the worst ratio is
    :math:`\frac{p(1-q)}{q(1-p)} = e^\varepsilon` in both forms, no less. *Checked by*
    ``test_exact_worst_case[category.unary]`` and ``[category.symmetric]``. *Claim*: supports have
    the chances p and q. *Checked by* ``test_supports_have_their_chances``.

    References
    ----------
    .. [1] T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for
       frequency estimation", USENIX Security 2017.
    .. [2] U. Erlingsson, V. Pihur, A. Korolova, "RAPPOR: randomized aggregatable
       privacy-preserving ordinal response", CCS 2014.

    Examples
    --------
    >>> from sourdine.noise import SeededSource
    >>> survey = UnaryEncoding(epsilon=1, categories=12)
    >>> reports = survey.randomise([3] * 1000, source=SeededSource(1))
    >>> reports.shape, reports.dtype
    ((1000, 2), dtype('uint8'))
    >>> bool(survey.tally(reports).argmax() == 3)
    True
    """

    method: Literal["optimal", "symmetric"] = "optimal"

    def __post_init__(self) -> None:
        Oracle.__post_init__(self)
        one_of(self.method, "method", "optimal", "symmetric")

    @property
    def drop(self) -> Fraction:
        r"""The log odds :math:`\ln\frac{1-q}{q}` of a bit that is not the person's."""
        epsilon = Fraction(self.epsilon)
        return epsilon if self.method == "optimal" else epsilon / 2

    @property
    def stray(self) -> Real:
        """The chance q of a bit that is not the person's, to any precision."""
        return share(1, 1, self.drop)

    @property
    def miss(self) -> Real:
        """The chance that the person's own bit is 0, to any precision."""
        return HALF if self.method == "optimal" else self.stray

    @property
    def chances(self) -> tuple[float, float]:
        """The chances p and q that a bit is 1: the person's, and any other."""
        b = exp(-float(self.drop))
        return (0.5 if self.method == "optimal" else 1 / (1 + b)), b / (1 + b)

    @property
    def noise_variance(self) -> float:
        """The number of reports times the variance of the estimate of a rare category."""
        b = exp(-float(self.drop))
        return (4 if self.method == "optimal" else 1) * b / expm1(-float(self.drop)) ** 2

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.uint8]:
        """Toss all bits, then the person's own again with its own coin."""
        drawn = np.empty((codes.size, self.width), np.uint8)
        at_once, stray, miss = people_at_once(self.categories), self.stray, self.miss
        for start in range(0, codes.size, at_once):
            part = codes[start : start + at_once]
            rows = bernoulli_bits(stray, part.size, self.categories, source=source)
            own = noise.bernoulli(miss, part.size, source=source).view(np.uint8) ^ np.uint8(1)
            place = np.arange(0, rows.size, self.width) + (part >> 3)
            bit = (part & 7).astype(np.uint8)
            flat = rows.reshape(-1)
            flat[place] = flat[place] & ~(np.uint8(1) << bit) | own << bit
            drawn[start : start + at_once] = rows
        return drawn

    def law(self, x: int) -> Law:
        r"""Return the law over the :math:`2^k` rows, as whole numbers; k at most 16."""
        bits = self.every().astype(np.float64)
        zero = -log1p(exp(-float(self.drop)))
        one = zero - float(self.drop)
        weights = zero * (1 - bits) + one * bits
        own = (log(0.5), log(0.5)) if self.method == "optimal" else (one, zero)
        weights[:, x] = np.where(bits[:, x], own[1], own[0])
        return Law.finite(weights.sum(axis=1))


register(
    Specimen(
        name="category.unary",
        make=lambda epsilon: UnaryEncoding(epsilon=epsilon, categories=4),
        inputs=tuple(range(4)),
        tight=True,
    )
)
register(
    Specimen(
        name="category.symmetric",
        make=lambda epsilon: UnaryEncoding(epsilon=epsilon, categories=4, method="symmetric"),
        inputs=tuple(range(4)),
        tight=True,
    )
)
