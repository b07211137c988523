"""Confidence intervals from noise of a known law, for the records and the population."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import expm1, inf, log, log1p, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.exact import rational

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Fractions = tuple[float, float]


# ---- What noise of a known law says of the numbers beneath it ------------------------------------
#
# *Sums of Laplace noises.* Independent continuous Laplace noises of scales
# :math:`a_1, \ldots, a_k`, all different, have a sum with
#
# .. math:: P(|X| > x) = \sum_i c_i e^{-x/a_i}, \qquad c_i = \prod_{j \ne i}
# \frac{a_i^2}{a_i^2-a_j^2}
#
# (partial fractions of the characteristic function :math:`\prod 1/(1 + a_i^2 s^2)`). Scales that
# are nearly equal are moved apart upwards, by a thousandth, so a quantile can only grow. The noises
# of a release are discrete, on a lattice a thousand times finer than their scale; one lattice step
# for each of them is added. *Checked by* ``test_the_quantile_of_a_sum_of_noises``.
#
# *A ratio.* If :math:`z(p)` is a line in :math:`p` whose value at the truth is pure noise with
# quantile :math:`q(p)`, then :math:`\{p : |z(p)| \le q(p)\}` holds the truth with the probability
# of the quantile: E. C. Fieller, "Some problems in interval estimation", J. Royal Statistical
# Society B 16, 1954. *Checked by* ``test_ratio_intervals_cover``.
#
# *Sampling.* The mean :math:`\bar x` of n independent values in [0, 1] with mean m satisfies
# :math:`P(\bar x \ge t) \le e^{-n\,\mathrm{kl}(t, m)}` for :math:`t \ge m` and likewise below:
# W. Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 58, 1963.


FINE = 1024
"""Noises treated as continuous have at least this many lattice steps to their scale."""

KNOTS = np.linspace(0.0, 1.0, 129)
"""Quantiles are known at these; in between a chord lies above a convex function."""

APART = 1 + 1e-3
STEPS = 8
"""Of Newton's method on the log tail, which is concave: from the first on, all are above."""


def laplace_quantile(scales: ArrayLike, beta: float) -> Floats:
    r"""Return what a sum of Laplace noises passes with probability ``beta`` at most.

    Scales stand along the last axis: zero or more, not all of them zero.
    """
    a, c = laplace_parts(scales)
    x = a.max(-1) * log(1 / beta)
    for _ in range(STEPS):
        parts = c * np.exp(-x[..., None] / a)
        tail = parts.sum(-1)
        x = x + np.log(tail / beta) * tail / (parts / a).sum(-1)
    return np.asarray(x * (1 + 1e-9))


def laplace_parts(scales: ArrayLike) -> tuple[Floats, Floats]:
    """Return the scales, sorted and moved apart upwards, and the coefficients of the tail."""
    typed = np.asarray(scales, np.float64)
    a = np.sort(np.maximum(typed, typed.max(-1, keepdims=True) * 1e-4), axis=-1)
    for i in range(1, a.shape[-1]):
        a[..., i] = np.maximum(a[..., i], a[..., i - 1] * APART)
    square = a * a
    apart = square[..., :, None] - square[..., None, :]
    own = np.arange(a.shape[-1])
    apart[..., own, own] = square
    return a, (square[..., :, None] / apart).prod(-1)


def accepted(at_0: float, at_1: float, q: Floats) -> tuple[float, float] | None:
    """Return the ends of the p in [0, 1] at which a line is within ``q``; None if there are none.

    The line is given at p = 0 and p = 1, the quantiles at `KNOTS`.
    """
    z = at_0 + (at_1 - at_0) * KNOTS
    begin, end = np.zeros(len(KNOTS) - 1), np.ones(len(KNOTS) - 1)
    for f in (z - q, -z - q):
        first, slope = f[:-1], np.diff(f)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.where(slope == 0, np.where(first <= 0, -inf, inf), -first / slope)
        rising = slope > 0
        end = np.where(rising, np.minimum(end, root), end)
        begin = np.where(rising, begin, np.maximum(begin, root))
    some = np.flatnonzero(begin <= end)
    if not len(some):
        return None
    step = 1 / (len(KNOTS) - 1)
    low = (some[0] + begin[some[0]]) * step
    high = (some[-1] + end[some[-1]]) * step
    return float(low), float(high)


def lower_risks(beta: float) -> Iterator[float]:
    """Yield ``beta`` and ever lower risks, to try while an interval is empty.

    An interval that is empty covers nothing, so one of a higher confidence may take its place: it
    is wrong on fewer data still.
    """
    return (beta / 10**k for k in range(8))


def sampled(low: float, high: float, n: float, beta: float) -> tuple[float, float]:
    """Return the ends of a law's mean, given those of the mean of ``n`` draws from [0, 1]."""
    if n <= 0:
        return 0.0, 1.0
    most = log(2 / beta) / n
    return 1 - _above(1 - low, most), _above(high, most)


def _above(p: float, most: float) -> float:
    """Return the largest m from p to 1 with kl(p, m) at most ``most``."""

    def part(x: float, y: float) -> float:
        if x <= 0:
            return 0.0
        return inf if y <= 0 else x * log(x / y)

    low, high = p, 1.0
    for _ in range(60):
        m = (low + high) / 2
        low, high = (m, high) if part(p, m) + part(1 - p, 1 - m) <= most else (low, m)
    return high


def least_fixed(f: Callable[[float], float], most: float) -> float:
    """Return the least e with f(e) <= e, for an f that rises slowly; at most ``most``."""
    e = 0.0
    for _ in range(100):
        before, e = e, f(e)
        if e >= most or e - before <= 1e-6 * e:
            break
    return min(e * (1 + 1e-6), most)


def each(beta: float, m: int) -> float:
    """Return the risk of each of ``m`` independent answers that adds up to ``beta``."""
    return float(rational(-expm1(log1p(-beta) / m), "beta")) if beta < 1 else 1.0


# ---- What a noisy sum says of the mean of the law that its records were drawn from ---------------
#
# Values :math:`u_1, \ldots, u_n` in [0, 1] are independent with mean :math:`\mu` and
# :math:`V = n\operatorname{Var}(u)`. Released are a line and, in one way or another, V:
#
# .. math:: z(\mu) = M - \mu N = \sum_i (u_i - \mu) + \text{noise}.
#
# All :math:`\mu` are kept with :math:`-t_-(\mu) \le z(\mu) \le t_+(\mu)` (Fieller), where t is
# passed with a probability that is known at the true :math:`\mu`.
#
# *For any law.* With probability :math:`1 - \beta/10` V is at most :math:`V^+`, and with
# probability :math:`1 - \beta/20` at least :math:`V^-`. For the other :math:`0.85\beta`, with
# :math:`r = 1-\mu` upward and :math:`r = \mu` downward, t is the least of three:
#
# 1. the noise's quantile (:math:`0.2\beta`) plus Bennett's (:math:`0.65\beta`);
# 2. Chernoff's bound for both at once,
#    :math:`\inf_\lambda [V r^{-2}(e^{\lambda r}-1-\lambda r) - \sum_i \ln(1-\lambda^2a_i^2)
#    + \ln(2/0.85\beta)]/\lambda`, with the noises' scales :math:`a_i`;
# 3. Berry and Esseen's: :math:`P(\mathcal N(0, V) + \text{noise} > t) \le 0.425\beta -
#    0.469\,R/\sqrt{V}`, with :math:`R = \max(\mu, 1-\mu)`.
#
# At the true V each of the three is a number, passed with probability :math:`0.85\beta` at most, so
# their least is one too: nothing is paid for choosing. Each only grows when V is replaced by
# :math:`V^+` and, in the last term of the third, by :math:`V^-`.
#
# *Normal.* t is passed by :math:`\mathcal N(0, \hat V)` plus noise with probability :math:`\beta`.
# This is asymptotic, and is labelled so.
#
# The proofs stand in the manual, under *Intervals for a population*. References: G. Bennett,
# "Probability inequalities for the sum of independent random variables", JASA 57, 1962;
# I. Shevtsova, "On the absolute constants in the Berry-Esseen inequality", 2011 (0.4690 for equal
# laws).


ASKED = (
    "Population intervals assume that records are drawn independently from one distribution. The "
    "normal interval also uses a normal approximation; the other holds for any distribution."
)
ABOVE, BELOW, REST = 0.1, 0.05, 0.85
"""The parts of the risk for V's upper end, for its lower end, and for everything else."""
NOISE, CHANCE = 0.2, 0.65
"""The parts of the rest, where noise and chance are bounded one by one."""
BERRY_ESSEEN = 0.469
FAR = 2.0
"""The normal interval's V has room for this many records as far away as they can be."""
CELLS, ROUNDS = 32, 4
"""Candidates are excluded in this many cells; the outermost that is left is cut again."""
LAMBDAS = np.geomspace(1e-4, 0.98, 48)


class SumEvidence(ABC):
    """What was drawn, for stretches of candidates from ``low`` to ``high``."""

    at_0: float
    at_1: float

    def line(self, mu: Floats) -> Floats:
        return self.at_0 + (self.at_1 - self.at_0) * mu

    @abstractmethod
    def noise(self, low: Floats, high: Floats) -> Floats:
        """Return the scales of the line's noises, along the last axis: the largest of a stretch."""

    @abstractmethod
    def spread(
        self, low: Floats, high: Floats, above: float, below: float
    ) -> tuple[Floats, Floats]:
        """Return the ends of V that fail with these probabilities, the widest of a stretch."""

    @abstractmethod
    def number(self, beta: float) -> Fractions:
        """Return the ends of the number of records, which fail with probability ``beta``."""

    @abstractmethod
    def guess(self, low: Floats, high: Floats) -> Floats:
        """Return about V, rather too large."""


@dataclass(frozen=True, kw_only=True)
class MomentEvidence(SumEvidence):
    r"""A line and the sum of squares :math:`Q(\mu) = q_0 + q_1\mu + q_2\mu^2`, with noise."""

    at_0: float
    at_1: float
    square: tuple[float, float, float]
    """The three coefficients; the last is about the number of records."""
    scale: float
    weights: Callable[[Floats, Floats], tuple[Floats, Floats]]
    """What the noises weigh in the line and in the sum of squares, at most, in a stretch."""
    counted: tuple[float, ...] = ()
    """What the noises weigh in the number of records."""
    n: int | None = None

    def noise(self, low: Floats, high: Floats) -> Floats:
        return self.scale * self.weights(low, high)[0]

    def spread(
        self, low: Floats, high: Floats, above: float, below: float
    ) -> tuple[Floats, Floats]:
        r"""Return the ends of V.

        :math:`\sqrt V \le R\sqrt{\ell/2} + \sqrt{S + R^2\ell/2}` and
        :math:`\sqrt V \ge \sqrt S - R\sqrt{\ell/2}` each fail with probability :math:`e^{-\ell}`
        for :math:`S = \sum(u_i-\mu)^2`; half of each risk is for that, half for the noise on S.
        """
        far = np.maximum(high, 1 - low)
        least, most = self._squares(low, high)
        scales = self.scale * self.weights(low, high)[1]
        s = np.maximum(most + _noise_quantile(scales, above), 0.0)
        ell = log(2 / above)
        upper = (far * sqrt(ell / 2) + np.sqrt(s + far * far * ell / 2)) ** 2
        if self.n is not None:
            upper = np.minimum(upper, self.n * high * (1 - low))
        s = np.maximum(least - _noise_quantile(scales, below), 0.0)
        lower = np.maximum(np.sqrt(s) - far * sqrt(log(2 / below) / 2), 0.0) ** 2
        return upper, lower

    def number(self, beta: float) -> Fractions:
        return _about(self.square[2], self.scale * np.array(self.counted), beta)

    def guess(self, low: Floats, high: Floats) -> Floats:
        """Return the sum of squares, one standard deviation of its noise and two far records."""
        scales = self.scale * self.weights(low, high)[1]
        most = np.maximum(self._squares(low, high)[1], 0.0)
        far = np.maximum(high, 1 - low)
        return np.asarray(most + np.sqrt(2 * (scales**2).sum(-1)) + FAR * far * far)

    def _squares(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest Q of each stretch; it is convex."""
        a, b, c = self.square

        def q(mu: Floats) -> Floats:
            return a + mu * (b + mu * c)

        return q(np.clip(-b / (2 * c), low, high)), np.maximum(q(low), q(high))


@dataclass(frozen=True, kw_only=True)
class ShareEvidence(SumEvidence):
    r"""A line of zeros and ones: :math:`V = n\mu(1-\mu)`, n with noise."""

    at_0: float
    at_1: float
    n: float
    scales: tuple[float, ...]
    """The scales of the noises on n: none if it is public."""
    noises: Callable[[Floats, Floats], Floats]
    """The scales of the line's noises, at most, in a stretch."""

    @classmethod
    def of_public(cls, ones: int, n: int, scale: float) -> ShareEvidence:
        """Return what a noisy number of ones says, among a public number of records."""
        return cls(
            at_0=float(ones), at_1=float(ones - n), n=float(n), scales=(),
            noises=lambda low, _: np.full((*low.shape, 1), scale),
        )  # fmt: skip

    def noise(self, low: Floats, high: Floats) -> Floats:
        return self.noises(low, high)

    def spread(
        self, low: Floats, high: Floats, above: float, below: float
    ) -> tuple[Floats, Floats]:
        scales = np.array(self.scales)
        n = np.asarray(self.n)
        most = np.maximum(n + _noise_quantile(scales, 2 * above), 0.0)
        least = np.maximum(n - _noise_quantile(scales, 2 * below), 0.0)
        ends = np.minimum(low * (1 - low), high * (1 - high))
        return most * _most_apart(low, high), least * ends

    def number(self, beta: float) -> Fractions:
        return _about(self.n, np.array(self.scales), beta)

    def guess(self, low: Floats, high: Floats) -> Floats:
        """Return about V, with one standard deviation of n's noise and one far record."""
        n = np.maximum(self.n, 0.0) + sqrt(2 * sum(s * s for s in self.scales))
        return np.asarray(n * _most_apart(low, high) + np.maximum(high, 1 - low) ** 2)


def _about(n: float, scales: Floats, beta: float) -> Fractions:
    half = float(_noise_quantile(scales, beta))
    return n - half, n + half


def _most_apart(low: Floats, high: Floats) -> Floats:
    p = np.clip(0.5, low, high)
    return np.asarray(p * (1 - p))


def proved_reach(
    evidence: SumEvidence, low: Floats, high: Floats, beta: float
) -> tuple[Floats, Floats]:
    """Return what the line passes downwards and upwards, whatever the law."""
    upper, lower = evidence.spread(low, high, ABOVE * beta, BELOW * beta)
    upper = np.maximum(upper, 1e-9)
    scales = evidence.noise(low, high)
    noise = _noise_quantile(scales, NOISE * beta)
    room = REST * beta / 2 - BERRY_ESSEEN * np.maximum(high, 1 - low) / np.sqrt(
        np.maximum(lower, 1e-9)
    )
    near = passed(upper, scales, room)

    def least(far: Floats) -> Floats:
        union = noise + _bennett(upper, far, CHANCE * beta / 2)
        return np.minimum(np.minimum(union, _chernoff(upper, far, scales, REST * beta / 2)), near)

    return least(high), least(1 - low)


def normal_reach(
    evidence: SumEvidence, low: Floats, high: Floats, beta: float
) -> tuple[Floats, Floats]:
    """Return what the line passes downwards and upwards, if sums of records are normal."""
    half = np.full(low.shape, beta / 2)
    t = passed(evidence.guess(low, high), evidence.noise(low, high), half)
    return t, t


def _hull(
    reach: Callable[..., tuple[Floats, Floats]], evidence: SumEvidence, beta: float
) -> Fractions:
    """Return the least and the largest candidate that is kept; see `lower_risks` if none is."""
    if evidence.at_1 >= evidence.at_0:  # no records, as far as one can see
        return 0.0, 1.0
    for risk in lower_risks(beta):

        def kept(low: Floats, high: Floats, risk: float = risk) -> NDArray[np.bool_]:
            down, up = reach(evidence, low, high, risk)
            return (evidence.line(low) >= -down) & (evidence.line(high) <= up)

        if ends := _outermost(kept):
            return ends
    return 0.0, 1.0


def proved(evidence: SumEvidence, beta: float) -> Fractions:
    """Return the ends of the law's mean, whatever the law."""
    return _hull(proved_reach, evidence, beta)


def normal(evidence: SumEvidence, beta: float) -> Fractions:
    """Return the ends of the law's mean, sums of records being taken for normal."""
    return _hull(normal_reach, evidence, beta)


def _outermost(kept: Callable[[Floats, Floats], NDArray[np.bool_]]) -> Fractions | None:
    """Return the ends of all stretches that are kept: the outermost are cut ever finer."""
    knots = np.linspace(0.0, 1.0, CELLS + 1)
    keep = kept(knots[:-1], knots[1:])
    if not keep.any():
        return None
    first, last = _cut(knots, keep, 0), _cut(knots, keep, -1)
    for _ in range(ROUNDS - 1):
        a, b = (np.linspace(*stretch, CELLS + 1) for stretch in (first, last))
        keep = kept(np.concatenate((a[:-1], b[:-1])), np.concatenate((a[1:], b[1:])))
        first, last = _cut(a, keep[:CELLS], 0), _cut(b, keep[CELLS:], -1)
    return first[0], last[1]


def _cut(knots: Floats, keep: NDArray[np.bool_], which: int) -> Fractions:
    """Return the first or the last stretch that is kept; if none is, the point where they end."""
    some = np.flatnonzero(keep)
    if not len(some):
        inner = float(knots[0] if which else knots[-1])
        return inner, inner
    return float(knots[some[which]]), float(knots[some[which] + 1])


def _noise_quantile(scales: Floats, beta: float) -> Floats:
    """Return what a sum of noises passes, to either side, one lattice step each included."""
    if not scales.shape[-1]:
        return np.zeros(scales.shape[:-1])
    return np.asarray(laplace_quantile(scales, beta) * (1 + scales.shape[-1] / FINE))


def _bennett(v: Floats, r: Floats, beta: float) -> Floats:
    r"""Return t with :math:`e^{-(V/r^2)h(tr/V)} \le \beta`, :math:`h(u) = (1+u)\ln(1+u) - u`.

    Newton's method from Bernstein's bound, which lies above: so does each step, as h is convex.
    """
    r = np.maximum(r, 1e-9)
    y = log(1 / beta) * r * r / v
    u = y / 3 + np.sqrt(y * y / 9 + 2 * y)
    for _ in range(6):
        rise = np.log1p(u)
        u = u - ((1 + u) * rise - u - y) / np.maximum(rise, 1e-300)
    return np.asarray(u * v / r * (1 + 1e-9))


def _chernoff(v: Floats, r: Floats, scales: Floats, beta: float) -> Floats:
    """Return Chernoff's bound for chance and noise together; every lambda is valid."""
    r = np.maximum(r, 1e-9)[..., None]
    rate = LAMBDAS * np.minimum(1 / scales.max(-1, keepdims=True), 8 / r)
    chance = v[..., None] / (r * r) * (np.expm1(rate * r) - rate * r)
    noise = -np.log1p(-((rate[..., None] * scales[..., None, :]) ** 2)).sum(-1)
    return np.asarray(((chance + noise + log(1 / beta)) / rate).min(-1))


def passed(v: Floats, scales: Floats, room: Floats) -> Floats:
    """Return what a normal and the noises together pass upwards with probability ``room``."""
    from scipy.special import ndtri

    some = room > 1e-9
    chance = np.where(some, room, 0.01)
    a, c = laplace_parts(scales)
    sd = np.sqrt(v)
    most = -ndtri(chance / 2) * sd + a.max(-1) * np.log(4 * np.abs(c).sum(-1) / chance)
    low, high = np.zeros_like(most), most
    for _ in range(32):
        middle = (low + high) / 2
        enough = _normal_tail(middle, sd, a, c) <= chance
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    steps = scales.sum(-1) / FINE
    return np.asarray(np.where(some, high + steps, np.inf))


def _normal_tail(t: Floats, sd: Floats, a: Floats, c: Floats) -> Floats:
    r"""Return :math:`P(\mathcal N(0, s^2) + \sum \text{Laplace} > t)`, by partial fractions.

    With one Laplace noise of scale a it is :math:`\Phi(-t/s) + \frac12[e^{s^2/2a^2 - t/a}
    \Phi(t/s - s/a) - e^{s^2/2a^2 + t/a}\Phi(-t/s - s/a)]`; the exponentials are taken together
    with the normal tails, as :math:`e^{-t^2/2s^2}\operatorname{erfcx}/2`, where they are large.
    """
    from scipy.special import erfcx, ndtr

    z, x = (t / sd)[..., None], sd[..., None] / a
    bell = np.exp(-z * z / 2) / 2
    y = x - z
    near = bell * erfcx(np.maximum(y, 0.0) / sqrt(2))
    far = np.exp(np.minimum(x * x / 2 - z * x, 0.0)) * ndtr(-y)
    up = np.where(y > 0, near, far)
    down = bell * erfcx((x + z) / sqrt(2))
    return np.asarray((c * (ndtr(-z) + (up - down) / 2)).sum(-1))
