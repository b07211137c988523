"""Hadamard response: a report of log k bits, read back by a fast transform."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1
from typing import TYPE_CHECKING

import numpy as np

from sourdine import noise
from sourdine.laws import Law
from sourdine.local.categorical.oracle import Oracle, share
from sourdine.mechanisms.registry import Specimen, register

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact import Real
    from sourdine.noise import Source

__all__ = ["HadamardResponse"]

CHUNK = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class HadamardResponse(Oracle):
    r"""Report any :math:`y` of :math:`K` words with :math:`\langle x + 1, y\rangle` mostly even.

    :math:`K` is the least power of two above :math:`k`, and :math:`\langle a, b \rangle` the number
    of bits that are 1 in both. A report supports the categories :math:`v` for which
    :math:`\langle v + 1, y\rangle` is even:

    .. math:: p = \frac{e^\varepsilon}{e^\varepsilon + 1}, \qquad q = \frac12, \qquad
              \frac{q(1-q)}{(p-q)^2} = \left(\frac{e^\varepsilon + 1}{e^\varepsilon - 1}\right)^2

    Its variance is fine for small :math:`\varepsilon` only, but a report is short and a survey of
    many categories quickly read: the supports are one Walsh-Hadamard transform, in integers.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0.
    categories
        :math:`k`, at least 2.

    Notes
    -----
    :math:`v + 1` is never 0, so the words are even for half of all :math:`y`. For
    :math:`v \ne x` the two parities are different linear forms, neither 0: within the even, and
    within the odd words of :math:`x`, half are even for :math:`v`. Hence :math:`q = 1/2` exactly.
    *Checked by* ``test_supports_have_their_chances``. *Claim*: :math:`\varepsilon`-LDP, no less.
    *Checked by* ``test_exact_worst_case[category.hadamard]``.

    References
    ----------
    .. [1] J. Acharya, Z. Sun, H. Zhang, "Hadamard response: estimating distributions privately,
       efficiently, and with little communication", AISTATS 2019.

    Examples
    --------
    >>> from sourdine.noise import SeededSource
    >>> survey = HadamardResponse(epsilon=1, categories=12)
    >>> survey.bits
    4
    >>> tally = survey.tally(survey.randomise([3] * 1000, source=SeededSource(1)))
    >>> bool(survey.support(tally).argmax() == 3)
    True
    """

    @property
    def codes(self) -> int:
        """The number of words, K."""
        return 1 << self.categories.bit_length()

    @property
    def miss(self) -> Real:
        """The chance of an odd word, to any precision."""
        return share(1, 1, Fraction(self.epsilon))

    @property
    def chances(self) -> tuple[float, float]:
        """The chances p of an even word, and q = 1/2."""
        return 1 / (1 + exp(-float(self.epsilon))), 0.5

    @property
    def noise_variance(self) -> float:
        """The number of reports times the variance of the estimate of a rare category."""
        return ((1 + exp(-float(self.epsilon))) / expm1(-float(self.epsilon))) ** 2

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Decide the parity, take any word, and flip a bit of it if its parity is the other."""
        drawn, miss = np.empty(codes.size, np.int64), self.miss
        for start in range(0, codes.size, CHUNK):
            row = codes[start : start + CHUNK] + 1
            odd = noise.bernoulli(miss, row.size, source=source)
            word = noise.uniform_below(self.codes, row.size, source=source)
            wrong = np.bitwise_count(row & word) & 1 ^ odd
            drawn[start : start + CHUNK] = word ^ (row & -row) * wrong
        return drawn

    def supports(self, y: NDArray[np.int64], x: int) -> NDArray[np.bool_]:
        """Return which words are even for a category."""
        even: NDArray[np.bool_] = np.bitwise_count(np.asarray(y) & (x + 1)) & 1 == 0
        return even

    def support(self, tally: NDArray[np.int64]) -> NDArray[np.int64]:
        r"""Return :math:`(n + \hat t_{v+1})/2`, from the Walsh-Hadamard transform of the tally."""
        t = np.array(tally, np.int64)
        for half in (1 << i for i in range(self.bits)):
            pairs = t.reshape(-1, 2, half)
            pairs[:, 0], pairs[:, 1] = pairs.sum(axis=1), pairs[:, 0] - pairs[:, 1]
        return np.asarray((t[0] + t[1 : self.categories + 1]) // 2)

    def law(self, x: int) -> Law:
        """Return the two levels, of the even and of the odd words."""
        even = self.supports(np.arange(self.codes), x)
        return Law.finite(np.where(even, 0.0, -float(self.epsilon)))


register(
    Specimen(
        name="category.hadamard",
        make=lambda epsilon: HadamardResponse(epsilon=epsilon, categories=6),
        inputs=tuple(range(6)),
        tight=True,
    )
)
