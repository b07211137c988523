"""The certified privacy curve of a batch of answers that is declared ahead."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, exp, expm1, floor, inf, log, log1p, log2, nextafter, prod, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sourdine.exact import at_least, probability
from sourdine.privacy.accounting.losses import (
    HUGE,
    ULP,
    Laid,
    Pair,
    Value,
    dominated,
    dominating,
    is_exact,
    is_on,
    laid_down,
    laid_up,
    lattice_step,
    reach_of,
    simplified,
)
from sourdine.privacy.accounting.parts import Part, plain, read_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sourdine.exact import Number

    Floats = NDArray[np.float64]


# ---- The law of a sum of losses by one tilted FFT, with error bounds -----------------------------
#
# Masses are multiplied by :math:`e^{\theta l}` and normalised before they are transformed, with
# :math:`\theta` at the saddle point of :math:`\varepsilon`, so that the relevant part is in the
# middle of the law and not in its tail: the error is relative to delta, however small delta is.
#
# * Transforms of size :math:`N` have an error of at most :math:`8u\log_2 N` relative to their
#   2-norm [1]_. The transforms of laws are at most 1, so the errors of factors add up.
# * Relative errors of masses stay relative: all masses are positive.
# * The mass that wraps around the end of the window is bounded by Chernoff's inequality.
#
# References
# ----------
# .. [1] N. Higham, "Accuracy and stability of numerical algorithms", SIAM 2002, theorem 24.2.


NEGLIGIBLE = log(1e-16)


class Cumulants:
    """The cumulant generating function of a sum, in lattice steps."""

    def __init__(self, draws: Sequence[Laid]) -> None:
        self.draws = draws
        sizes = np.array([len(d.mass) for d in draws])
        self._start = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        self._part = np.repeat(np.arange(len(draws)), sizes)
        self._x = np.concatenate([d.first + np.arange(len(d.mass)) for d in draws]).astype(float)
        self._mass = np.concatenate([d.mass for d in draws])
        self._times = np.array([d.times for d in draws], float)
        self.least = sum(d.times * d.first for d in draws)
        self.most = sum(d.times * (d.first + len(d.mass) - 1) for d in draws)

    def at(self, theta: float) -> tuple[float, float, float]:
        """Return the function and its first two derivatives."""
        exponent = theta * self._x
        top = np.maximum.reduceat(exponent, self._start)
        e = self._mass * np.exp(exponent - top[self._part])
        total = np.add.reduceat(e, self._start)
        mean = np.add.reduceat(e * self._x, self._start) / total
        spread = np.add.reduceat(e * (self._x - mean[self._part]) ** 2, self._start) / total
        n = self._times
        sums = (n * (np.log(total) + top), n * mean, n * spread)
        k0, k1, k2 = (float(x.sum()) for x in sums)
        return k0, k1, k2

    def saddle(self, where: float) -> float:
        """Return roughly the tilt at which the mean is ``where``; 0 if it is above without one."""
        where = min(where, self.most - 1e-3)
        if self.at(0.0)[1] >= where:
            return 0.0
        low, high = 0.0, 1e-3
        while self.at(high)[1] < where and high < 600:
            low, high = high, 2 * high
        theta = (low + high) / 2
        for _ in range(40):
            _, mean, variance = self.at(theta)
            low, high = (theta, high) if mean < where else (low, theta)
            better = theta + (where - mean) / max(variance, 1e-300)
            better = better if low < better < high else (low + high) / 2
            if abs(better - theta) <= 1e-6 * theta:
                break
            theta = better
        return theta

    def tail(self, theta: float, where: float) -> float:
        """Bound the logarithm of the tilted mass beyond ``where``, on its side of the mean."""
        k0, k1, k2 = self.at(theta)
        lean = (where - k1) / max(k2, 1e-300)
        best = 0.0
        for part in 2.0 ** np.arange(1, -40, -1):
            found = self.at(theta + part * lean)[0] - k0 - part * lean * where
            if found > best and best < 0:
                break
            best = min(best, found)
        return best + 1e-6


@dataclass(frozen=True, eq=False)
class Tilted:
    r"""The law of a sum: its mass at :math:`j` is :math:`y_j e^{c - \theta j}`.

    :math:`\theta` and :math:`c` are for a lattice point ``origin`` in place of 0, where the tilt is
    1; ``y`` begins at ``first``. Bounded are the 2-norm of the error of ``y``, the relative error
    of everything else, and the tilted mass that wrapped around the window.
    """

    theta: float
    scale: float
    origin: int
    first: int
    y: Floats
    error: float
    relative: float
    wrapped: float

    @cached_property
    def _size(self) -> float:
        return _norm(self.y)

    def ends(
        self, weight: Floats, offset: int, position: Fraction, most: float
    ) -> tuple[float, float]:
        r"""Return two ends of :math:`\sum_j w_j P_j` from weights :math:`w_j e^{-\theta(j - x)}`.

        These begin at ``offset`` in ``y``; x is ``position``, in steps, and ``most`` bounds all of
        them, in the window or not.
        """
        y = self.y[offset : offset + len(weight)]
        value, norm = float((weight * y).sum()), _norm(weight)
        dot = 32 * ULP * norm * self._size
        away = float(self.origin - position)
        exponent = self.scale + self.theta * away
        slack = self.error * norm + dot + self.wrapped * most
        loose = self.relative + 8 * ULP * (abs(self.scale) + self.theta * abs(away) + 1000)
        factor = exp(exponent) if exponent < 700 else inf
        upper = factor * (value + slack) * exp(loose)
        return max(factor * (value - slack) * exp(-loose), 0.0), upper


def tilted(sums: Cumulants, theta: float) -> Tilted:
    """Return the law of a sum under a tilt of ``theta`` a step."""
    draws = sums.draws
    first, last, wrapped = _window(sums, theta)
    size = 1 << max(int(last - first).bit_length(), 4)
    tau = 8 * ULP * log2(size)
    z: NDArray[np.complex128] | None = None
    scale = error = relative = 0.0
    origin = lows = 0
    for draw in draws:
        n, length = draw.times, len(draw.mass)
        back = np.arange(1 - length, 1) if theta >= 0 else np.arange(length)
        e = draw.mass * np.exp(theta * back)
        total = float(e.sum())
        b = np.zeros(size)
        np.add.at(b, np.arange(length) % size, e / total)
        power = _power(np.fft.rfft(b), n)
        z = power if z is None else z * power
        scale += n * log(total)
        origin += n * (draw.first + length - 1)
        lows += n * draw.first
        error += n * (tau + 8 * ULP) * _norm(b)
        rounding = 2 * abs(theta) * length + 2 * log2(length + 1) + 32 + 2 * abs(log(total))
        relative += n * (draw.slack + ULP * rounding)
    y = np.fft.irfft(np.ones(size // 2 + 1, complex) if z is None else z, size)
    error = 1.01 * error + tau * _norm(y)
    y = np.roll(y, (lows - first) % size)
    return Tilted(theta, scale, origin, first, y, error, relative, wrapped)


def _norm(x: Floats) -> float:
    """Return the 2-norm, by sums in pairs: threads of a BLAS cost more than they save."""
    return sqrt(float(np.square(x).sum()))


def _power(z: NDArray[np.complex128], n: int) -> NDArray[np.complex128]:
    """Return a power by squaring, with an error of a few units in the last place each time."""
    result, square = None, z
    while n:
        if n & 1:
            result = square if result is None else result * square
        n >>= 1
        square = square * square if n else square
    return z if result is None else result


def _window(sums: Cumulants, theta: float) -> tuple[int, int, float]:
    """Return where the tilted law begins and ends, and a bound on the mass elsewhere."""
    _, mean, variance = sums.at(theta)
    half = 9.5 * sqrt(max(variance, 1.0)) + 2
    for _ in range(12):
        first, last = max(sums.least, floor(mean - half)), min(sums.most, ceil(mean + half))
        above = -inf if last == sums.most else sums.tail(theta, last + 1)
        below = -inf if first == sums.least else sums.tail(theta, first - 1)
        if max(above, below) < NEGLIGIBLE:
            break
        half *= 1.4
    return first, last, exp(above) + exp(below)


# ---- The curve of a batch, with two certified ends -----------------------------------------------


LEAST = Fraction(1, 10**290)
"""Below this delta floats are too coarse: the sum of epsilons is the bound."""


class Ends(NamedTuple):
    """A number between two certified ends.

    The upper one may be claimed; the lower one is lost by some mechanism with these parts.
    """

    lower: float
    upper: float


def compose(parts: Iterable[Part] | Part) -> Composition:
    """Compose parts that were all declared before the first answer.

    Questions may depend on earlier answers; the parts, and so every epsilon, may not. For charges
    that are sized adaptively use `Filter`.

    Examples
    --------
    >>> counts = compose(Part.laplace(shift=1, scale=10, times=100))  # 100 counts at 0.1
    >>> ends = counts.epsilon(1e-6)
    >>> round(ends.lower, 6), round(ends.upper, 6)
    (4.774568, 4.774568)
    >>> deciles = compose([Part.pure(0.002, times=100), Part.range(0.098, times=100)])
    >>> deciles.epsilon(1e-6).upper < 2.22
    True
    """
    return Composition(read_parts(parts))


@dataclass(frozen=True, eq=False)
class Composition:
    r"""A batch of parts and its curve of :math:`(\varepsilon, \delta)`.

    Losses add up, so their law is a convolution [1]_, computed by one tilted FFT on a lattice
    with every error bounded. Draws of bounded range have no worst pair of laws; they are composed
    last, by an exact recursion over all choices of an analyst [2]_. Parts on a sample are composed
    in both directions, and the larger result counts.

    Parameters
    ----------
    parts
        All parts of the batch.

    Notes
    -----
    *Claim*: the truth lies between the ends. *Checked by*
    ``test_the_truth_to_sixty_digits_is_within_the_ends``.

    References
    ----------
    .. [1] Y. Zhu, J. Dong, Y.-X. Wang, "Optimal accounting of differential privacy via
       characteristic function", AISTATS 2022.
    .. [2] J. Dong, D. Durfee, R. Rogers, "Optimal differential privacy composition for
       exponential mechanisms", ICML 2020.
    """

    parts: tuple[Part, ...]

    def delta(self, epsilon: Number) -> Ends:
        """Return delta at an epsilon.

        Examples
        --------
        >>> ends = compose(Part.pure(0.1, times=100)).delta(5)
        >>> f"{ends.lower:.8g} {ends.upper:.8g}"
        '2.7926361e-07 2.7926361e-07'
        """
        e = at_least(epsilon, "epsilon", 0)
        whole, own = self._plain
        if whole is not None and e >= whole:
            return _with_own(own, Ends(0.0, 0.0))
        lower = max(side.delta(e, upper=False) for side in self._lower)
        upper = max(side.delta(e, upper=True) for side in self._upper)
        if self._all_ranges:
            exponents = (
                over * (price - float(e)) - log(over) - (1 + over) * log1p(1 / over)
                for over, price in self._orders
            )
            upper = min(upper, exp(min(*exponents, 0.0)) * (1 + 1e-9))
        return _with_own(own, Ends(lower, upper))

    def epsilon(self, delta: Number) -> Ends:
        """Return epsilon at a delta; infinite where the parts have as much delta of their own.

        Examples
        --------
        >>> compose(Part.pure(1)).epsilon(0)
        Ends(lower=1.0, upper=1.0)
        """
        target = probability(delta, "delta", example=1e-6)
        whole, own = self._plain
        if own > target or (target == 0 and whole is None):
            return Ends(inf, inf)
        most = inf if whole is None else _above(whole)
        rest = (target - own) / (1 - own) if own < 1 else Fraction(1)
        if rest < LEAST:
            return Ends(most if rest == 0 else 0.0, most)
        lower = max(side.epsilon(rest, upper=False) for side in self._lower)
        upper = max(side.epsilon(rest, upper=True) for side in self._upper)
        if self._all_ranges:
            by_orders = (
                price - log1p(1 / over) - (log(float(rest)) + log1p(over)) / over
                for over, price in self._orders
            )
            upper = min(upper, max(min(by_orders), 0.0) * (1 + 1e-12) + 1e-12)
        return Ends(min(lower, most), min(upper, most))

    @cached_property
    def _orders(self) -> list[tuple[float, float]]:
        """Rényi orders minus 1, and divergences of the batch, which need no recursion."""
        orders: list[float] = (2.0 ** np.arange(-3, 12, 0.5)).tolist()
        return [
            (over, float(sum((p.price(1 + Fraction(over)) for p in self.parts), Fraction(0))))
            for over in orders
        ]

    @cached_property
    def _plain(self) -> tuple[Fraction | None, Fraction]:
        deltas = (part for part in self.parts if part.kind == "delta")
        kept = prod(((1 - part.size) ** part.times for part in deltas), start=Fraction(1))
        return plain(self.parts)[0], 1 - kept

    @cached_property
    def _draws(self) -> Counter[Part]:
        """Count every part of one draw; zCDP parts are merged into one."""
        draws: Counter[Part] = Counter()
        rho = Fraction(0)
        for part in self.parts:
            if is_exact(part) and part.kind != "delta":
                draws[replace(part, times=1)] += part.times
            elif part.kind != "delta":
                rho += part.rho
        if rho:
            draws[Part.concentrated(rho)] += 1
        return draws

    @cached_property
    def _directions(self) -> tuple[bool, ...]:
        return (True, False) if any(part.of for part in self._draws) else (True,)

    @cached_property
    def _all_ranges(self) -> Counter[Fraction]:
        return Counter({part.size: n for part, n in self._draws.items() if part.kind == "range"})

    @cached_property
    def _ranges(self) -> tuple[Counter[Fraction], Counter[Fraction]]:
        """Count every range, and those replaced by pure guarantees."""
        huge = Counter({eta: n for eta, n in self._all_ranges.items() if eta > HUGE})
        ranges, promised = simplified(self._all_ranges - huge)
        return ranges, promised + huge

    @cached_property
    def _upper(self) -> list[_Side]:
        ranges, promised = self._ranges
        draws = Counter({part: n for part, n in self._draws.items() if part.kind != "range"})
        draws.update({Part.pure(eta): n for eta, n in promised.items()})
        found = []
        for present in self._directions:
            pairs = [(dominating(part, present=present), n) for part, n in draws.items()]
            step = lattice_step(pairs, ranges)
            found.append(_Side(step, [laid_up(pair, n, step) for pair, n in pairs], ranges))
        return found

    @cached_property
    def _lower(self) -> list[_Side]:
        found = []
        for present in self._directions:
            drawn = [(dominated(part, present=present), n) for part, n in self._draws.items()]
            pairs: list[tuple[Pair, int]] = [(pair, n) for pair, n in drawn if pair is not None]
            step = lattice_step(pairs, Counter())
            same = len(drawn) == len(pairs) and all(is_on(pair, step) for pair, _ in pairs)
            ranged = any(part.kind == "range" for part in self._draws)
            if same and not ranged and len(self._directions) == 1:
                return self._upper
            found.append(_Side(step, [laid_down(pair, n, step) for pair, n in pairs], Counter()))
        return found

    def __str__(self) -> str:
        return "\n".join(map(str, self.parts)) or "nothing"


class _Side:
    """One direction of a batch on a lattice."""

    def __init__(self, step: Fraction, draws: list[Laid], ranges: Counter[Fraction]) -> None:
        self.step = step
        self.draws = [draw for draw in draws if draw.mass.any()] or [Laid(0, np.ones(1), 1, 0.0)]
        self.ranges = ranges
        # the mass of infinite loss of all draws together, rounded up
        logs = sum(d.times * log1p(-min(d.beyond, 0.99)) for d in draws)
        lost = -expm1(logs) * (1 + 1e-12) if logs else 0.0
        self.beyond = 1.0 if any(d.beyond > 0.99 for d in draws) else lost
        self.sums = Cumulants(self.draws)
        pairs = [(dominated(Part.range(eta)), n) for eta, n in ranges.items()]
        middle = [laid_up(pair, n, step) for pair, n in pairs if pair is not None]
        self.all = Cumulants([*self.draws, *middle])

    @cached_property
    def value(self) -> Value:
        steps = [(ceil(eta / self.step), n) for eta, n in self.ranges.items()]
        return Value(self.step, ceil(reach_of(self.ranges) / float(self.step)) + 2, steps)

    def tilt(self, epsilon: Fraction) -> Tilted:
        """Return the law of the sum, tilted for an epsilon, within the range of floats."""
        theta = self.all.saddle(float(epsilon / self.step))
        if self.ranges:
            square = sum(n * float(eta) ** 2 for eta, n in self.ranges.items())
            theta = min(theta, (sqrt(1 + 9600 / square) - 1) / 2 * float(self.step))
        return tilted(self.sums, theta)

    def delta(self, epsilon: Fraction, *, upper: bool, law: Tilted | None = None) -> float:
        position = epsilon / self.step
        if upper and self.beyond >= 1:
            return 1.0
        if not self.ranges and position >= self.sums.most:
            return min(self.beyond, 1.0) if upper else 0.0
        law = self.tilt(epsilon) if law is None else law
        weights = self._ranged if self.ranges else self._plain
        ends = law.ends(*weights(law, position))
        return min(ends[1] + self.beyond, 1.0) if upper else ends[0]

    def _plain(self, law: Tilted, position: Fraction) -> tuple[np.ndarray, int, Fraction, float]:
        start = max(floor(position) + 1, law.first)
        count = max(law.first + len(law.y) - start, 0)
        x = float(start - position) + np.arange(count)
        x = x[x * law.theta < 700] if law.theta else x
        weight = -np.expm1(-x * float(self.step)) * np.exp(-law.theta * x)
        return weight, start - law.first, position, 1.0

    def _ranged(self, law: Tilted, position: Fraction) -> tuple[np.ndarray, int, Fraction, float]:
        index = floor(position)
        v = self.value.at(index - law.first, float(position - index), len(law.y))
        x = float(law.first - position) + np.arange(len(law.y))
        tilt = law.theta / float(self.step)
        log_most = sum(
            n * tilt * (1 + tilt) * float(eta) ** 2 / 8 for eta, n in self.ranges.items()
        )
        most = exp(log_most) * (1 + 1e-9)
        weight = np.exp(np.minimum(np.log(np.maximum(v, 1e-300)) - law.theta * x, log_most))
        return weight * (1 + 1e-12), 0, position, most

    def epsilon(self, delta: Fraction, *, upper: bool) -> float:
        """Return one end of epsilon: the least whose delta is certainly at most the given one."""
        if (self.beyond if upper else 0.0) >= delta:
            return inf
        if self.delta(Fraction(0), upper=upper) <= delta:
            return 0.0
        guess = self._guess(float(delta))
        low, high = 0.0, guess
        for _ in range(4):
            law = self.tilt(_meant(guess))
            low, high = self._bracket(law, delta, guess, upper=upper)
            if abs(high - guess) <= 0.01 * high:
                break
            guess = high
        return high if upper else low

    def _bracket(
        self, law: Tilted, delta: Fraction, guess: float, *, upper: bool
    ) -> tuple[float, float]:
        """Return two epsilons close together whose deltas enclose the given one."""

        def over(epsilon: float) -> float:
            found = self.delta(_meant(epsilon), upper=upper, law=law)
            ratio = log(max(found, 1e-320) / float(delta))
            return max(ratio, 1e-300) if found > delta else min(ratio, 0.0)

        low, high, width = 0.0, guess, 0.02 * guess
        at_low, at_high = inf, over(high)
        while at_high > 0:
            low, at_low, high, width = high, at_high, high + width, 2 * width
            if high > 1e300:
                return low, inf
            at_high = over(high)
        while not low and width < high:
            at_low = over(high - width)
            if at_low > 0:
                low = high - width
            else:
                high, at_high, width = high - width, at_low, 2 * width
        for i in range(80):
            if high - low <= 1e-12 * high:
                break
            part = at_low / (at_low - at_high) if low and i % 3 < 2 else 0.5
            middle = low + (high - low) * min(max(part, 0.01), 0.99)
            if not low < middle < high:
                break
            found = over(middle)
            low, at_low, high, at_high = (
                (middle, found, high, at_high) if found > 0 else (low, at_low, middle, found)
            )
        return low, high

    def _guess(self, delta: float) -> float:
        """Return roughly the least epsilon that Chernoff's inequality gives."""
        h = float(self.step)
        found: list[float] = [
            (self.all.at(t * h)[0] - log(delta) - log1p(t)) / t
            for t in np.exp(np.linspace(-3, 8, 23)).tolist()
        ]
        return max(min(found), h / 1024)


def _with_own(own: Fraction, rest: Ends) -> Ends:
    if not own:
        return rest
    lower, upper = (own + (1 - own) * Fraction(end) for end in rest)
    return Ends(-_above(-lower), min(_above(upper), 1.0))


def _meant(x: float) -> Fraction:
    """Return the decimal that a float prints as, exactly."""
    return Fraction(repr(x))


def _above(x: Fraction) -> float:
    """Return the least float that is no less, as it prints."""
    nearest = float(x)
    return nearest if _meant(nearest) >= x else nextafter(nearest, inf)
