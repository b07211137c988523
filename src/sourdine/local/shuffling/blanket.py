r"""The privacy blanket: people whose report says nothing of them hide the one who is looked for.

If :math:`R_x(y) \ge \gamma\,\omega(y)` for every answer :math:`x`, a report is with probability
:math:`\gamma` a draw from :math:`\omega`, whatever the answer. Tell the adversary everything but
the reports of those people; among their number :math:`m`, binomial, one person stays hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1
from typing import TYPE_CHECKING

import numpy as np

from sourdine.local.shuffling.binomial import below, chance, reach

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Blanket"]

SLICES = 64
CAUTION = 5.0
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Blanket:
    r"""A randomiser of two levels, as far as the answers :math:`x_0, x_1` can be told apart.

    A hidden report *supports* some answers, and :math:`R_x(y) = \lambda e^{\varepsilon_0}\omega(y)`
    if :math:`y` supports :math:`x`, else :math:`R_x(y) = \lambda\omega(y)`. Of :math:`m` hidden
    reports and the person's own, let :math:`A` support :math:`x_0` alone, :math:`B` support
    :math:`x_1` alone and :math:`S` both. Then

    .. math:: \delta_m(\varepsilon) = \frac{\lambda}{m+1}\,\mathbb E\Bigl[
       (e^{\varepsilon_0}-1)(A - e^\varepsilon B)
       - (e^\varepsilon-1)\bigl(m + 1 + (e^{\varepsilon_0}-1)S\bigr)\Bigr]_+

    and :math:`\delta(\varepsilon) = \mathbb E\,\delta_m(\varepsilon)` [1]_.

    Parameters
    ----------
    epsilon
        :math:`\varepsilon_0`, of one report.
    hidden
        :math:`\gamma`, the chance that another person's report is of the blanket.
    level
        :math:`\lambda`.
    apart
        The chance that a hidden report supports exactly one of the two answers.
    both
        The chance that it supports both.

    Notes
    -----
    The expectation is summed over slices, each from above. Fewer people hide less, so a slice of
    :math:`m` counts as its lowest. Given :math:`T = A + B`, the mean of the sum falls with
    :math:`T` and its spread grows, so a slice of :math:`T` takes the mean of its lowest and the
    spread of its highest. :math:`S` counts as five standard deviations below its mean, and as 0
    where it is less. *Claim*: never below the truth. *Checked by* ``test_blanket_is_above_truth``.

    References
    ----------
    .. [1] B. Balle, J. Bell, A. Gascon, K. Nissim, "The privacy blanket of the shuffle model",
       CRYPTO 2019, lemma 5.3.
    """

    epsilon: float
    hidden: float
    level: float
    apart: float
    both: float

    @classmethod
    def general(cls, epsilon: float) -> Blanket:
        r"""Return what holds for every randomiser of this epsilon.

        With :math:`a = e^{\varepsilon_0}/(1+e^{\varepsilon_0})` the two laws are mixtures
        :math:`R_{x_0} = aQ_0 + (1-a)Q_1` and :math:`R_{x_1} = (1-a)Q_0 + aQ_1`, and every other
        :math:`R_x \ge e^{-\varepsilon_0}(R_{x_0}+R_{x_1})/2 = e^{-\varepsilon_0}(Q_0+Q_1)/2` [1]_.
        The chance :math:`2/(1+e^{\varepsilon_0})` of a clone that is often quoted in place of
        :math:`e^{-\varepsilon_0}` needs :math:`R_x \ge (R_{x_0}+R_{x_1})/(1+e^{\varepsilon_0})`,
        which randomised response has and others lack: ``test_more_clones_need_more``.

        References
        ----------
        .. [1] V. Feldman, A. McMillan, K. Talwar, "Stronger privacy amplification by shuffling for
           Renyi and approximate differential privacy", SODA 2023.
        """
        return cls(
            epsilon=epsilon,
            hidden=exp(-epsilon),
            level=2 / (1 + exp(epsilon)),
            apart=1.0,
            both=0.0,
        )

    @classmethod
    def two_levels(cls, epsilon: float, p: float, q: float | None = None) -> Blanket:
        r"""Return the blanket of a randomiser whose reports support answers.

        They support the person's own with chance :math:`p`, and any other with chance :math:`q`.
        The blanket is the lower level: :math:`\gamma = 1 - p + pe^{-\varepsilon_0}`, and a report
        of it supports an answer with chance :math:`t = pe^{-\varepsilon_0}/\gamma`, two answers
        with chance :math:`(q/\gamma - t)/(e^{\varepsilon_0}-1)`. Without :math:`q`, reports that
        support both are taken to be as rare as can be: that tells the answers apart best.
        """
        gamma = 1 + p * expm1(-epsilon)
        t = p * exp(-epsilon) / gamma
        least = max(0.0, 2 * t - 1)
        both = least if q is None else max(least, (q / gamma - t) / expm1(epsilon))
        return cls(
            epsilon=epsilon, hidden=gamma, level=gamma, apart=min(2 * (t - both), 1.0), both=both
        )

    def delta(self, epsilon: float, n: int) -> float:
        """Return an upper bound of delta at this epsilon among n people."""
        most = max(exp(self.epsilon) - exp(epsilon), 0.0) / (1 + exp(self.epsilon))
        first, _, weight = _slices(np.array([n - 1.0]), self.hidden)
        told = self._told(epsilon, first[0] + 1)
        return float(weight[0] @ np.minimum(told, most)) * (1 + ROUNDING)

    def _told(self, epsilon: float, people: Floats) -> Floats:
        """Return delta for a number of people: the person and those who hide them."""
        slices = _slices(people, self.apart)
        row, column = slices[2].nonzero()
        least, most, weight = (values[row, column] for values in slices)
        count = people[row]
        gain, loss = expm1(self.epsilon), expm1(epsilon)
        fall, slope = loss * (gain * least / 2 + count), gain * (2 + loss)
        if self.both:
            some, fewer = self._supported_by_both(count - most)
            told = _above(slope, most, fall + loss * gain * some)
            told += fewer * _above(slope, most, fall)
        else:
            told = _above(slope, most, fall)
        told *= self.level / count * weight
        return np.asarray(np.bincount(row, told, people.size), np.float64)

    def _supported_by_both(self, people: Floats) -> tuple[Floats, Floats]:
        """Return a low count of the reports that support both, and the chance of fewer."""
        r = self.both / (1 - self.apart)
        mean, wide = people * r, CAUTION * np.sqrt(people * r * (1 - r))
        low = np.maximum(np.floor(mean - wide), 0)
        return low, below(low, people, r)


def _slices(n: Floats, r: float) -> tuple[Floats, Floats, Floats]:
    """Return lowest, highest and chance of slices of the heads of n coins, a row for each n."""
    low, high = reach(n, r)
    steps = np.arange(SLICES + 1) / SLICES
    inner = np.floor(low[:, None] + (high + 1 - low)[:, None] * steps)
    cuts = np.concatenate([np.zeros_like(inner[:, :1]), inner, n[:, None] + 1], axis=1)
    weight = np.diff(below(cuts, n[:, None], r), axis=1)
    return cuts[:, :-1], np.maximum(cuts[:, 1:] - 1, cuts[:, :-1]), np.maximum(weight, 0)


def _above(slope: float, n: Floats, fall: Floats) -> Floats:
    r"""Return :math:`\mathbb E[c(A - n/2) - d]_+` for the heads A of n fair coins, from above.

    With :math:`x` the first count for which it is positive this is
    :math:`\frac{cx}{2} P(A = x) - d\,P(A \ge x)`.
    """
    x = np.floor(n / 2 + fall / slope) + 1
    seen = x <= n
    x = np.where(seen, x, n)
    gain = slope * x / 2 * chance(x, n) * (1 + ROUNDING)
    loss = fall * below(n - x + 1, n, 0.5) * (1 - ROUNDING)
    return np.where(seen, np.maximum(gain - loss, 0), 0)
