"""What a batch of answers that was declared ahead is worth, with two certified ends."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, exp, floor, inf, log, log1p, nextafter, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sourdine.exact import at_least, probability
from sourdine.privacy.accounting.convolution import Cumulants, Tilted, combined_beyond, tilted
from sourdine.privacy.accounting.lattice import (
    Laid,
    is_on,
    laid_down,
    laid_up,
    lattice_step,
)
from sourdine.privacy.accounting.lists import plain, read_parts
from sourdine.privacy.accounting.pairs import HUGE, Pair, dominated, dominating, is_exact
from sourdine.privacy.accounting.part import Part
from sourdine.privacy.accounting.ranges import Value, reach_of, simplified

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sourdine.exact.parameters import Number

__all__ = ["Composition", "Ends", "compose"]

LEAST = Fraction(1, 10**290)
"""Below such a delta floats tell nothing: the sum of epsilons is the bound."""


class Ends(NamedTuple):
    """A number between two certified ends.

    The upper one may be promised; the lower one is what some mechanism with these parts loses.
    """

    lower: float
    upper: float


def compose(parts: Iterable[Part] | Part) -> Composition:
    """Return what parts are worth together that were all declared before the first answer.

    Questions may depend on earlier answers; the parts, and so every epsilon, may not. For charges
    that are sized on the way there is `Filter`.

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
    with every error bounded. Draws of bounded range have no worst pair of laws; they are taken
    last, by an exact recursion over all that an analyst may do [2]_. What runs on a sample is
    composed in both directions, and the larger is taken.

    Parameters
    ----------
    parts
        All that is done.

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
            upper = min(upper, self._delta_by_orders(float(e)))
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
            upper = min(upper, self._by_orders(float(rest)))
        return Ends(min(lower, most), min(upper, most))

    @cached_property
    def _orders(self) -> list[tuple[float, float]]:
        """Rényi orders, less 1, and divergences of the batch, which need no recursion."""
        orders: list[float] = (2.0 ** np.arange(-3, 12, 0.5)).tolist()
        return [
            (over, float(sum((p.price(1 + Fraction(over)) for p in self.parts), Fraction(0))))
            for over in orders
        ]

    def _by_orders(self, delta: float) -> float:
        """Return an epsilon by Rényi divergences, rounded up."""
        found = [
            price - log1p(1 / over) - (log(delta) + log1p(over)) / over
            for over, price in self._orders
        ]
        return max(min(found), 0.0) * (1 + 1e-12) + 1e-12

    def _delta_by_orders(self, epsilon: float) -> float:
        """Return a delta by Rényi divergences, rounded up."""
        found = [
            over * (price - epsilon) - log(over) - (1 + over) * log1p(1 / over)
            for over, price in self._orders
        ]
        return exp(min(*found, 0.0)) * (1 + 1e-9)

    @cached_property
    def _plain(self) -> tuple[Fraction | None, Fraction]:
        epsilon, _ = plain(self.parts)
        kept = Fraction(1)
        for part in self.parts:
            if part.kind == "delta":
                kept *= (1 - part.size) ** part.times
        return epsilon, 1 - kept

    @cached_property
    def _draws(self) -> Counter[Part]:
        """Every part of one draw, and how often; zCDP parts as one."""
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
        """Every range and how often; and those that are taken for pure promises."""
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
        self.beyond = combined_beyond(draws)
        self.sums = Cumulants(self.draws)
        middle = [
            laid_up(pair, n, step)
            for eta, n in ranges.items()
            for pair in [dominated(Part.range(eta))]
            if pair is not None
        ]
        self.all = Cumulants([*self.draws, *middle])
        self._last: Tilted | None = None

    @cached_property
    def value(self) -> Value:
        steps = [(ceil(eta / self.step), n) for eta, n in self.ranges.items()]
        return Value(self.step, ceil(reach_of(self.ranges) / float(self.step)) + 2, steps)

    def tilt(self, epsilon: Fraction) -> Tilted:
        """Return the law of the sum, tilted for an epsilon, but not beyond what floats hold."""
        theta = self.all.saddle(float(epsilon / self.step))
        if self.ranges:
            square = sum(n * float(eta) ** 2 for eta, n in self.ranges.items())
            theta = min(theta, (sqrt(1 + 9600 / square) - 1) / 2 * float(self.step))
        return tilted(self.sums, theta)

    def delta(self, epsilon: Fraction, *, upper: bool, law: Tilted | None = None) -> float:
        """Return one end of delta."""
        position = epsilon / self.step
        if upper and self.beyond >= 1:
            return 1.0
        if not self.ranges and position >= self.sums.most:
            return min(self.beyond, 1.0) if upper else 0.0
        law = self.tilt(epsilon) if law is None else law
        if self.ranges:
            ends = law.ends(*self._ranged(law, position))
        else:
            ends = law.ends(*self._plain(law, position))
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
        """Return two epsilons close together with delta between their deltas."""

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
        """Return about the least epsilon that Chernoff's inequality gives."""
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
    """Return what a float means to whoever reads it: the decimal that it prints."""
    return Fraction(repr(x))


def _above(x: Fraction) -> float:
    """Return the least float that is no less, as it prints."""
    nearest = float(x)
    return nearest if _meant(nearest) >= x else nextafter(nearest, inf)
