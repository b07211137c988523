"""Amplification by shuffling: what reports cost when nobody knows who sent which."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain
from math import exp, expm1
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind, number, positive
from sourdine.local.categorical.oracle import Oracle
from sourdine.local.numeric.duchi import Duchi, HybridReport
from sourdine.local.numeric.sliding import SlidingWindow
from sourdine.mechanisms import BoundedStaircase, RandomizedResponse, Warner
from sourdine.mechanisms.mechanism import Report
from sourdine.privacy import LOCAL, SUBSTITUTE, Guarantee

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from sourdine.exact import Number

    Floats = NDArray[np.float64]


# ---- Binomial laws to full relative accuracy, from one person to thousands of millions -----------


REACH = 9.0  # standard deviations beyond which a binomial law weighs less than 1e-18
STEPS = 60  # added to the reach: where the mean is small the tail is a Poisson law's


def reach(n: Floats, r: float) -> tuple[Floats, Floats]:
    """Return between which counts nearly all of the law of n coins with chance r lies."""
    wide = REACH * np.sqrt(n * r * (1 - r)) + (STEPS if r < 1 else 0)
    return np.maximum(np.floor(n * r - wide), 0), np.minimum(np.ceil(n * r + wide), n)


def below(x: Floats, n: Floats, r: float) -> Floats:
    """Return the chance that n coins with chance r come up fewer than x times."""
    from scipy.special import betainc

    inside = (x > 0) & (x <= n)
    a, b = np.where(inside, n - x + 1, 1.0), np.where(inside, x, 1.0)
    return np.where(inside, betainc(a, b, 1 - r), x > n)


def chance(x: Floats, n: Floats) -> Floats:
    r"""Return the chance of x heads of n fair coins.

    The factorials are taken apart by Stirling's series, so nothing large cancels: C. Loader, "Fast
    and accurate computation of binomial probabilities", 2000.
    """

    def away(x: Floats) -> Floats:  # from the mean: x ln(x / mean) - x + mean
        u = (x - half) / half
        return half * ((1 + u) * np.log1p(u) - u)

    inner = (x > 0) & (n - x > 0)
    x, y, half = (np.where(inner, v, 1.0) for v in (x, n - x, n / 2))
    rest = _stirling(2 * half) - _stirling(x) - _stirling(y)
    middle = np.sqrt(half / (np.pi * x * y)) * np.exp(rest - (away(x) + away(y)))
    return np.where(inner, middle, np.exp2(-n))


def run(n: int, r: float) -> tuple[int, Floats]:
    """Return the first count within reach, and the chances of it and of all that follow."""
    low, high = (int(end[0]) for end in reach(np.array([float(n)]), r))
    x = np.arange(low + 1, high + 1, dtype=np.float64)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - x + 1) / x * (r / (1 - r))))])
    law = np.exp(logs - logs.max())
    return low, law / law.sum()


def _stirling(n: Floats) -> Floats:
    r"""Return :math:`\ln n! - \ln(\sqrt{2\pi n}\,(n/e)^n)`."""
    from scipy.special import gammaln

    big = np.maximum(n, 16.0)
    s = 1 / (big * big)
    series = (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / big
    small = np.minimum(n, 16.0)
    direct = gammaln(small + 1) - (small + 0.5) * np.log(small) + small - 0.5 * np.log(2 * np.pi)
    return np.where(n >= 16, series, direct)


# ---- Two answers, shuffled: all that is left is the number of ones -------------------------------
#
# Let :math:`a` and :math:`b` be the chances that a one and a zero are reported as one. Of the
# others :math:`j` have a one; :math:`f_j` is the law of their ones, and
#
# .. math:: \delta_j(\varepsilon) = \max_N\ \alpha f_j(N-1) - (\beta - \alpha) F_j(N), \qquad
#           \alpha = a - e^\varepsilon b,\quad \beta = e^\varepsilon(1-b) - (1-a)
#
# with :math:`F_j(N)` the chance of :math:`N` or more: :math:`f_j` is log-concave, so the outcomes
# that tell more than :math:`\varepsilon` are those from some :math:`N` on. The worst of all
# :math:`\delta_j` counts.


BLOCKS = 64
MANY = 10**7
DIRECT = 1 << 22
ROUNDING = 1e-9


class Ones(NamedTuple):
    """The law of the ones that others report: how well it hides one person's, from above.

    ``at`` are upper bounds of its chances from the likeliest count on, ``past`` lower bounds of the
    chances of more. Counts below the likeliest never decide: there the maximum's terms still rise.
    """

    a: float
    b: float
    at: Floats
    past: Floats

    @classmethod
    def of(cls, a: float, b: float, law: Floats, doubt: float) -> Ones:
        right = law[max(int(law.argmax()) - 1, 0) :]
        past = np.append(np.cumsum(right[:0:-1])[::-1], 0.0)
        sure = np.maximum(past * (1 - ROUNDING) - right.size * doubt, 0)
        return cls(a, b, right * (1 + ROUNDING) + doubt, sure)

    def delta(self, epsilon: float) -> float:
        """Return an upper bound of delta at this epsilon, for a person who has a one."""
        fall = expm1(epsilon)
        rise = self.a - self.b - self.b * fall
        return max(float((rise * self.at - fall * self.past).max()), 0.0) if rise > 0 else 0.0


def others(a: float, b: float, n: int) -> Iterator[Ones]:
    """Yield laws of which one is at least as bad as each number j of ones among n - 1 others.

    If n is large, one law serves a block of j: the people who differ within it are left out, and
    fewer people hide less. *Checked by* ``test_leaving_people_out_is_worse``.
    """
    size = -(-n // (BLOCKS if n <= MANY else BLOCKS // 4))
    for last in range(n - 1, -1, -size):
        yield _ones(a, b, max(last - size + 1, 0), n - 1 - last)


def _ones(a: float, b: float, ones: int, zeros: int) -> Ones:
    """Return the law of the ones reported by those who have a one and those who have not."""
    (_, f), (_, g) = run(ones, a), run(zeros, b)
    if f.size * g.size <= DIRECT:
        return Ones.of(a, b, np.convolve(f, g), 1e-18)
    size = f.size + g.size - 1
    unit = 1 << max(size.bit_length() - 4, 0)
    length = -(-size // unit) * unit
    law = np.fft.irfft(np.fft.rfft(f, length) * np.fft.rfft(g, length), length)[:size]
    doubt = 64 * np.finfo(float).eps * float(np.sqrt((f @ f) * (g @ g)))
    return Ones.of(a, b, np.maximum(law, 0), doubt + 1e-18)


# ---- The privacy blanket: people whose report says nothing of them hide the one who is looked for
#
# If :math:`R_x(y) \ge \gamma\,\omega(y)` for every answer :math:`x`, a report is with probability
# :math:`\gamma` a draw from :math:`\omega`, whatever the answer. Tell the adversary everything but
# the reports of those people; among their number :math:`m`, binomial, one person stays hidden.


SLICES = 64
CAUTION = 5.0


class Blanket(NamedTuple):
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
        return cls(epsilon, hidden=exp(-epsilon), level=2 / (1 + exp(epsilon)), apart=1.0, both=0.0)

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
        return cls(epsilon, hidden=gamma, level=gamma, apart=min(2 * (t - both), 1.0), both=both)

    def delta(self, epsilon: float, n: int) -> float:
        """Return an upper bound of delta at this epsilon among n people."""
        most = max(exp(self.epsilon) - exp(epsilon), 0.0) / (1 + exp(self.epsilon))
        first, _, weight = _slices(np.array([n - 1.0]), self.hidden)
        told = self._told(epsilon, first[0] + 1)
        return float(weight[0] @ np.minimum(told, most)) * (1 + ROUNDING)

    def _told(self, epsilon: float, people: Floats) -> Floats:
        slices = _slices(people, self.apart)
        row, column = slices[2].nonzero()
        least, most, weight = (values[row, column] for values in slices)
        count = people[row]
        gain, loss = expm1(self.epsilon), expm1(epsilon)
        fall, slope = loss * (gain * least / 2 + count), gain * (2 + loss)
        told = _above(slope, most, fall)
        if self.both:  # some of the others support both, but for a chance of fewer
            among, r = count - most, self.both / (1 - self.apart)
            wide = CAUTION * np.sqrt(among * r * (1 - r))
            some = np.maximum(np.floor(among * r - wide), 0)
            told = _above(slope, most, fall + loss * gain * some) + below(some, among, r) * told
        told *= self.level / count * weight
        return np.asarray(np.bincount(row, told, people.size), np.float64)


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


# ---- How much less a report says among others, and what it may say in return ---------------------


LEAST_DELTA = Fraction(1, 10**12)
MOST_PEOPLE = 10**10
LARGEST = 30  # local epsilons above are not helped: the others who could hide a person are too rare
CLOSE = 1e-6  # epsilon is rounded up by this much of itself at most


def shuffled(report: Report | Guarantee, n: int, *, delta: Number) -> Guarantee:
    r"""Return what the shuffled reports of n people promise each of them.

    Parameters
    ----------
    report
        The randomiser that every person uses once; or a pure local guarantee, if all that is known
        of the randomiser is its epsilon.
    n
        How many people report, honestly and once each. If some may collude, do not count them.
    delta
        The delta of the promise, from 1e-12 to below 1; choose it well below 1/n.

    Returns
    -------
    Guarantee
        Epsilon, rounded up, and delta, for one record replaced; never above the report's epsilon.

    Notes
    -----
    Two answers (`Warner`, `RandomizedResponse` of two categories, `Duchi`): the exact trade between
    epsilon and delta in the worst population, up to the people left out of a block: none up to 64
    people, about 0.8% of epsilon beyond, 3% beyond ten million. *Checked by*
    ``test_binary_is_exact``. Randomisers of two levels: the privacy blanket [1]_. Every other: the
    clones of [2]_, in the form that is proved (see `Blanket.general`). All sums are rounded up:
    ``test_blanket_is_above_truth``.

    References
    ----------
    .. [1] B. Balle, J. Bell, A. Gascon, K. Nissim, "The privacy blanket of the shuffle model",
       CRYPTO 2019.
    .. [2] V. Feldman, A. McMillan, K. Talwar, "Stronger privacy amplification by shuffling for
       Renyi and approximate differential privacy", SODA 2023.

    Examples
    --------
    >>> print(shuffled(RandomizedResponse(epsilon=1, categories=2), 100_000, delta=1e-6))
    epsilon 0.0102304, delta 1e-06, one record replaced
    >>> print(shuffled(RandomizedResponse(epsilon=2, categories=50), 100_000, delta=1e-6))
    epsilon 0.011839, delta 1e-06, one record replaced
    >>> print(shuffled(Guarantee(1, 0, LOCAL), 100_000, delta=1e-6))
    epsilon 0.0152871, delta 1e-06, one record replaced
    """
    own, people, loose = _own(report), _people(n), _delta(delta)
    if not 0 < own <= LARGEST:
        return Guarantee(own, loose, SUBSTITUTE)
    blanket = _blanket(report, float(own))
    epsilon = _smallest(lambda e: blanket.delta(e, people), loose, float(own))
    if coins := _coins(report):
        exact = 0.0
        for ones in chain.from_iterable(others(a, b, people) for a, b in coins):
            exact = _smallest(ones.delta, loose, epsilon, exact)
        epsilon = exact
    return Guarantee(min(Fraction(epsilon), own), loose, SUBSTITUTE)


def shuffled_allowance(
    guarantee: Guarantee, n: int, *, make: Callable[[Fraction], Report | Guarantee] | None = None
) -> Guarantee:
    r"""Return what each of n reports may spend so that ``guarantee`` holds once they are shuffled.

    The inverse of `shuffled`, rounded down. *Checked by* ``test_shuffled_allowance_is_within``.

    Parameters
    ----------
    guarantee
        The wanted epsilon, and a delta from 1e-12 to below 1, for one record replaced.
    n
        How many people report.
    make
        The randomiser for a given epsilon; without it, whatever holds for all of them.

    Examples
    --------
    >>> survey = lambda epsilon: RandomizedResponse(epsilon=epsilon, categories=10)
    >>> print(shuffled_allowance(Guarantee(0.1, 1e-6, "substitute"), 100_000, make=survey))
    epsilon 3.84663, any two inputs of one person
    """
    total, people, loose = _wanted(guarantee), _people(n), _delta(guarantee.delta)
    low, high = total, Fraction(LARGEST)
    while high - low > low / (1 << 12):
        middle = Fraction(float((low + high) / 2))
        report = Guarantee(middle, 0, LOCAL) if make is None else make(middle)
        kept = _keeps(report, people, float(total) * (1 - CLOSE), loose)
        low, high = (middle, high) if kept else (low, middle)
    return Guarantee(low, 0, LOCAL)


def _keeps(report: Report | Guarantee, n: int, epsilon: float, delta: Fraction) -> bool:
    """Return whether shuffled reports surely keep the promise."""
    if _blanket(report, float(_own(report))).delta(epsilon, n) <= _most(delta):
        return True
    found = [others(a, b, n) for a, b in _coins(report)]
    laws = chain.from_iterable(found)
    return bool(found) and all(ones.delta(epsilon) <= _most(delta) for ones in laws)


def _most(delta: Fraction) -> float:
    return float(delta) * (1 - 1e-12)


def _smallest(
    delta_at: Callable[[float], float], delta: Fraction, high: float, low: float = 0.0
) -> float:
    """Return an epsilon from ``low`` to ``high`` at which delta is kept, close to the smallest."""
    most = _most(delta)
    if delta_at(low) <= most:
        return low
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if delta_at(middle) <= most else (middle, high)
    return high


def _blanket(report: Report | Guarantee, own: float) -> Blanket:
    """Return what is known of the people who hide one."""
    if isinstance(report, (RandomizedResponse, Oracle)):
        p, q = report.chances
        return Blanket.two_levels(own, float(p), float(q))
    if isinstance(report, SlidingWindow):
        return Blanket.two_levels(own, report.width * report.chances[0])
    if isinstance(report, BoundedStaircase) and report.method == "window":
        width = report.near(0)[1]
        return Blanket.two_levels(own, width / (width + (report.last + 1 - width) * exp(-own)))
    return Blanket.general(own)


def _coins(report: Report | Guarantee) -> list[tuple[float, float]]:
    """Return the chances of a one for either answer if there are two, for each side to protect."""
    if isinstance(report, Warner):
        a, b = (float(chance) for chance in report.channel)
        return [(a, b)] if sum(report.channel) == 1 else [(a, b), (1 - b, 1 - a)]
    two = isinstance(report, RandomizedResponse) and report.categories == 2
    if two or isinstance(report, Duchi) or (isinstance(report, HybridReport) and report.always_bit):
        b = 1 / (1 + exp(float(_own(report))))
        return [(1 - b, b)]
    return []


def _own(report: object) -> Fraction:
    tries = {"report": Guarantee(1, relation=LOCAL)}
    if not isinstance(report, (Report, Guarantee)):
        hint = "Use {report}, or RandomizedResponse(epsilon=1, categories=4)."
        raise ParameterTypeError("report", "be a local randomiser", kind(report), hint, **tries)
    guarantee = report.guarantee if isinstance(report, Report) else report
    if guarantee.relation is not LOCAL or guarantee.delta:
        must, got = "satisfy pure local privacy", str(guarantee)
        raise ParameterError("report", must, got, "Use {report}.", **tries)
    return guarantee.exact_epsilon()


def _wanted(guarantee: object) -> Fraction:
    wanted = Guarantee.read(guarantee, relation=SUBSTITUTE)
    if wanted.relation is not SUBSTITUTE:
        must, tries = f"be for {SUBSTITUTE.description}", Guarantee(1, 1e-6, SUBSTITUTE)
        got, hint = wanted.relation.name, "Use {guarantee}."
        raise ParameterError("guarantee", must, got, hint, guarantee=tries)
    return positive(wanted.exact_epsilon(), "epsilon")


def _people(n: object) -> int:
    people = integer(n, "n", least=1)
    if people > MOST_PEOPLE:
        must, hint = f"be at most {MOST_PEOPLE}", "Use {n}, which gives a valid, weaker bound."
        raise ParameterError("n", must, given(people), hint, n=MOST_PEOPLE)
    return people


def _delta(delta: object) -> Fraction:
    value = number(delta, "delta", above=0, most=1)
    if not LEAST_DELTA <= value < 1:
        must, hint = "be at least 1e-12 and below 1", "Use {delta}, or 1e-9."
        raise ParameterError("delta", must, given(delta), hint, delta=1e-6)
    return value
