"""Distributions of privacy losses: dominating pairs, bounded range, and lattices."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from math import ceil, exp, expm1, gcd, lcm, prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.privacy.accounting.parts import Part

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


# ---- Dominating pairs of laws --------------------------------------------------------------------
#
# A pair :math:`(P, Q)` dominates a mechanism if its hockey stick
# :math:`\sup_S P(S) - e^x Q(S)` is at least that of any two neighbours, for every :math:`x`. It is
# kept as the losses :math:`l = \ln P/Q` with their masses under :math:`P`. Where losses are whole
# multiples of a rational unit, they are exact; the masses are floats with a known relative error.


ULP = 2.0**-53
MOST = 1 << 15
"""The maximum number of atoms of discrete Laplace noise."""
REACH = 100.0
"""Gaussian noise is kept down to e**-100 of its peak."""
WIDEST = 1 << 20
HUGE = 300
"""Above this epsilon, or rho, everything counts as lost."""
ONE = np.ones(1)


@dataclass(frozen=True, eq=False)
class Pair:
    """Losses and their masses under P.

    ``slack`` bounds the relative error of every mass, ``beyond`` the mass of infinite loss. Every
    loss is an exact multiple of ``unit``; if that is 0, losses are floats that are known to a few
    units in the last place.
    """

    loss: Floats
    mass: Floats
    slack: float
    unit: Fraction = Fraction(0)
    beyond: float = 0.0

    @classmethod
    def on(cls, unit: Fraction, steps: NDArray[np.int64], mass: Floats, slack: float) -> Pair:
        """Return the pair whose losses are multiples of a unit."""
        common = int(np.gcd.reduce(steps)) or 1
        return cls(steps.astype(np.float64) * float(unit), mass, slack, unit * common)

    @property
    def variance(self) -> float:
        """The variance of a finite loss, roughly."""
        mean = (self.mass * self.loss).sum()
        return float((self.mass * (self.loss - mean) ** 2).sum())

    def sampled(self, rate: Fraction, *, present: bool) -> Pair:
        """Return the pair on a Poisson sample: with the record against without, or the reverse.

        The mass under Q that truncated tails lost is put at the largest loss.
        """
        q, rest = float(rate), float(1 - rate)
        if not self.mass.any():  # all of it is at infinity
            loss = np.array([np.log(rest)])
            return Pair(loss, np.array([rest]), ULP, beyond=q) if present else Pair(-loss, ONE, ULP)
        without = self.mass * np.exp(-self.loss)
        moved = q * np.expm1(self.loss)
        loss = np.log1p(np.maximum(moved, -0.5))
        loss = np.where(moved < -0.5, np.log(rest + q * np.exp(self.loss)), loss)
        slack = self.slack + 8 * ULP * (2 + float(np.abs(self.loss).max()))
        if present:
            return Pair(loss, rest * without + q * self.mass, slack, beyond=q * self.beyond)
        if not self.beyond:
            return Pair(-loss, without, slack)
        missing = max(1 - float(without.sum()), 0.0) + 2 * slack
        return Pair(np.append(-loss, -np.log(rest)), np.append(without, missing), slack)


def dominating(part: Part, *, present: bool = True) -> Pair:
    """Return a pair that dominates one draw of a part, but a range or a delta.

    A range, which has no single worst pair, counts as a pure guarantee on a sample. There the law
    with the record comes first if it is ``present``.
    """
    if part.of is not None:
        inner = Part.pure(part.of.size) if part.of.kind == "range" else part.of
        return dominating(inner).sampled(part.size, present=present)
    if is_huge(part):
        return Pair(0 * ONE, 0 * ONE, 0.0, beyond=1.0)
    if part.kind == "pure":
        return _response(part.size, 2)
    if part.kind == "response":
        return _response(part.size, part.count)
    if part.kind == "laplace":
        return _laplace(*_fewer(part.count, part.size))
    return _gaussian(part) if is_exact(part) else concentrated(float(part.rho) * (1 + 4 * ULP))


def dominated(part: Part, *, present: bool = True) -> Pair | None:
    r"""Return the pair of a mechanism that has the part: no bound can be below its hockey stick.

    For a range it is the pair with a fixed offset, 9/16 of its length; for zCDP, and for Gaussian
    noise that is too wide to enumerate, None.
    """
    if part.of is not None:
        inner = dominated(part.of)
        return None if inner is None else inner.sampled(part.size, present=present)
    if is_huge(part):
        return None
    if part.kind == "range":
        return _offset(part.size)
    if part.kind == "laplace" and part.count > MOST:
        return _grouped(part.count, part.size)
    return None if not is_exact(part) else dominating(part)


def is_huge(part: Part) -> bool:
    """Whether the losses are too large for exponentials of floats."""
    return (part.rho if part.epsilon is None else part.epsilon) > HUGE


def is_exact(part: Part) -> bool:
    """Whether the pair is that of the noise itself."""
    wide = part.kind == "gaussian" and _reach(part) > WIDEST
    return not wide and part.kind != "concentrated"


def _response(epsilon: Fraction, k: int) -> Pair:
    """Two inputs of randomised response among k categories."""
    b = exp(-float(epsilon))
    whole = 1 + (k - 1) * b
    slack = ULP * (16 + 2 * float(epsilon))
    if k == 2:
        return Pair.on(epsilon, np.array([-1, 1]), np.array([b, 1.0]) / whole, slack)
    return Pair.on(epsilon, np.array([-1, 0, 1]), np.array([b, (k - 2) * b, 1.0]) / whole, slack)


def _offset(eta: Fraction) -> Pair:
    """Losses at 9/16 and -7/16 of a range."""
    whole = expm1(float(eta))
    above = exp(9 * float(eta) / 16) * expm1(7 * float(eta) / 16) / whole
    mass = np.array([expm1(9 * float(eta) / 16) / whole, above])
    return Pair.on(eta / 16, np.array([-7, 9]), mass, ULP * (32 + 8 * float(eta)))


def _fewer(shift: int, scale: Fraction) -> tuple[int, Fraction]:
    r"""Return a shift with few atoms of which this one is a post-processing.

    Noise of scale :math:`b` is :math:`m` times noise of scale :math:`b/m` plus something
    independent, so a shift by :math:`mK` is a post-processing of a shift by :math:`K`.
    """
    if shift <= MOST:
        return shift, scale
    least = -(-shift // MOST)
    m = min(range(least, 4 * least + 1), key=lambda m: -(-shift // m) * m)
    return -(-shift // m), scale / m


def _laplace(shift: int, scale: Fraction) -> Pair:
    """Discrete Laplace noise shifted by an integer: losses (shift - 2k) / scale."""
    r = 1 / float(scale)
    k = np.arange(shift + 1)
    mass = -expm1(-r) / (1 + exp(-r)) * np.exp(-r * k)
    mass[0] = 1 / (1 + exp(-r))
    mass[-1] = exp(-r * shift) / (1 + exp(-r))
    return Pair.on(1 / scale, shift - 2 * k, mass, ULP * (16 + 4 * r * shift))


def _grouped(shift: int, scale: Fraction) -> Pair:
    """Return the same with many atoms rounded down to one: a lower bound."""
    r = 1 / float(scale)
    ends = np.arange(MOST + 1, dtype=np.int64) * shift // MOST
    first, last = ends[:-1] + 1, ends[1:].copy()
    last[-1] -= 1
    mass = np.exp(-r * first) * -np.expm1(-r * (last - first + 1)) / (1 + exp(-r))
    steps = np.append(shift - 2 * last, [shift, -shift])
    mass = np.append(mass, np.array([1.0, exp(-r * shift)]) / (1 + exp(-r)))
    return Pair.on(1 / scale, steps, mass, ULP * (32 + 8 * r * shift))


def _reach(part: Part) -> int:
    return int(sqrt(2 * REACH * float(part.size))) + 2 * part.count + 2


def _gaussian(part: Part) -> Pair:
    """Discrete Gaussian noise shifted by an integer: losses shift (shift - 2k) / (2 variance)."""
    s2, far = float(part.size), _reach(part)
    k = np.arange(-far, far + 1)
    weight = np.exp(-(k.astype(float) ** 2) / (2 * s2))
    tail = exp(-(far**2) / (2 * s2)) / -expm1(-far / s2)
    mass = weight / weight.sum()
    unit = part.count / (2 * part.size)
    pair = Pair.on(unit, part.count - 2 * k, mass, ULP * (64 + 8 * REACH) + 4 * tail)
    return replace(pair, beyond=2 * tail)


def concentrated(rho: float) -> Pair:
    r"""Return a pair that dominates every :math:`\rho`-zCDP mechanism.

    The curve :math:`\delta(x) = \min_a e^{(a-1)(a\rho-x)}(1 - 1/a)^a/(a - 1)` bounds every
    hockey stick, which is convex in :math:`e^x`; so its lower convex hull does. A convex
    piecewise linear curve is that of a pair whose losses are the kinks.
    """
    spread = sqrt(2 * rho)
    if rho + 14 * spread > 600:
        return Pair(0 * ONE, 0 * ONE, 0.0, beyond=1.0)
    x = np.linspace(0, rho + 14 * spread, 6001)
    over = np.exp(np.linspace(-4, 4, 801))[:, None] * max(6 / spread, 1e-3)
    log_delta = np.full(len(x), 0.0)
    for chunk in np.array_split(over, 80):
        exponent = chunk * ((1 + chunk) * rho - x) - np.log(chunk)
        bound = exponent - (1 + chunk) * np.log1p(1 / chunk)
        log_delta = np.minimum(log_delta, bound.min(axis=0))
    positive = np.exp(log_delta) * (1 + 1e-9)
    y = np.exp(np.concatenate((-x[:0:-1], x)))
    negative = -np.expm1(-x[:0:-1]) + np.exp(-x[:0:-1]) * positive[:0:-1]
    curve = np.minimum(np.concatenate((negative, positive)), 1.0)
    kinks = _hull(np.append(0.0, y), np.append(1.0, curve))
    y, curve = np.append(0.0, y)[kinks], np.append(1.0, curve)[kinks]
    slope = np.append(np.diff(curve) / np.diff(y), 0.0)
    error = 8 * ULP * (curve[:-1] + curve[1:]) / np.diff(y)
    mass = y[1:] * (np.diff(slope) + error + np.append(error[1:], 0.0))
    return Pair(np.log(y[1:]), mass, 1e-12, beyond=float(curve[-1]))


def _hull(x: Floats, y: Floats) -> list[int]:
    """Return the points of the lower convex hull."""
    kept: list[int] = []
    for i in range(len(x)):
        while len(kept) > 1:
            a, b = kept[-2:]
            if (y[b] - y[a]) * (x[i] - x[a]) < (y[i] - y[a]) * (x[b] - x[a]):
                break
            kept.pop()
        kept.append(i)
    return kept


# ---- Bounded range with adaptive offsets: an exact recursion -------------------------------------
#
# A draw of range :math:`\eta` has losses in some :math:`[t - \eta, t]`. The worst has the two
# ends alone, the upper one with probability :math:`p_t = (e^\eta - e^t)/(e^\eta - 1)`; but which
# :math:`t` is worst depends on the losses before [1]_. So
#
# .. math::
#     V_0(x) = (1 - e^x)_+, \qquad
#     V_{k+1}(x) = \sup_{0 \le t \le \eta} p_t V_k(x - t) + (1 - p_t) V_k(x - t + \eta)
#
# and :math:`\delta_k(\varepsilon) = V_k(\varepsilon)`.
#
# References
# ----------
# .. [1] J. Dong, D. Durfee, R. Rogers, "Optimal differential privacy composition for exponential
#    mechanisms", ICML 2020.


WORK = 1e8
"""The approximate maximum number of steps of the recursion, of some nanoseconds each."""


class Value:
    """An upper bound of V on a lattice from -reach to reach.

    ``reach`` steps are kept on either side of 0; ``ranges`` are in steps, rounded up, with the
    number of their draws.

    Notes
    -----
    Right of the lattice V is at most its last value. Left of it, as the roles of P and Q can be
    exchanged, :math:`V(x) = 1 - e^x + e^x V(-x)`, which bounds it again by the last value.

    Draws of different ranges do not commute, so V is the maximum over all orders, by recursion over
    how many of each are left.

    *Claim*: it is no less than the truth. *Checked by*
    ``test_the_range_recursion_is_above_every_offset``.
    """

    def __init__(self, step: Fraction, reach: int, ranges: Iterable[tuple[int, int]]) -> None:
        self.step, self.reach = float(step), reach
        kinds = list(ranges)
        x = np.arange(-reach, reach + 1) * self.step
        start = np.maximum(-np.expm1(np.minimum(x, 0.0)), 0.0) * (1 + 8 * ULP)
        found: dict[tuple[int, ...], Floats] = {}
        for counts in product(*(range(n + 1) for _, n in kinds)):
            found[counts] = start
            best = None
            for i, (m, _) in enumerate(kinds):
                if counts[i]:
                    fewer = (*counts[:i], counts[i] - 1, *counts[i + 1 :])
                    v = self._drawn(found[fewer], m)
                    best = v if best is None else np.maximum(best, v)
                    if i == 0:
                        del found[fewer]
            found[counts] = start if best is None else best
        self.v = found[tuple(n for _, n in kinds)]

    def _left(self, v: Floats, index: NDArray[np.int64]) -> Floats:
        """Return a bound at points left of the lattice."""
        kept = np.exp(np.maximum(index * self.step, -700.0)) * (1 - v[-1])
        return np.asarray(np.minimum((1 - kept) * (1 + 8 * ULP), 1.0))

    def _drawn(self, v: Floats, m: int) -> Floats:
        r"""Return V with one draw of range :math:`mh` before the others.

        Between two lattice offsets both losses are split onto the lattice so that their masses
        under P and Q are kept. The gain is then a chord in :math:`e^t` plus at most
        :math:`4B\lambda(1-\lambda)`, the maximum of which is in closed form.
        """
        h, n = self.step, len(v)
        left = self._left(v, np.arange(-self.reach - m, -self.reach))
        padded = np.concatenate((left, v, np.full(m, v[-1])))
        whole, bend = expm1(m * h), expm1(h) / expm1(m * h)
        best, before = v.copy(), v
        for j in range(m):
            up0, up1 = padded[m - j :][:n], padded[m - j - 1 :][:n]
            down0, down1 = padded[2 * m - j :][:n], padded[2 * m - j - 1 :][:n]
            share = expm1((j + 1) * h) / whole
            kept = (share * whole + 1) * expm1((m - j - 1) * h) / whole
            after = kept * up1 + share * down1
            four = np.maximum((whole + 1) * (up1 - up0) - (down1 - down0), 0.0) * bend
            rise = after - before
            inside = np.abs(rise) < four
            top = before + (rise + four) ** 2 / (4 * np.where(inside, four, 1.0))
            np.maximum(best, np.where(inside, top, after), out=best)
            before = after
        return np.asarray(np.minimum(best * (1 + 64 * ULP), 1.0))

    def at(self, index: int, part: float, count: int) -> Floats:
        """Return a bound of V at ``index + part``, and at ``count`` whole steps further left.

        V is convex in e^x, so between lattice points it is below the chord.
        """
        points = np.arange(index, index - count - 1, -1) + 1
        on = self.v[np.clip(points, -self.reach, self.reach) + self.reach]
        found = np.where(points < -self.reach, self._left(self.v, np.minimum(points, 0)), on)
        if not part:
            return np.asarray(found[1:])
        weight = expm1(part * self.step) / expm1(self.step)
        return np.asarray(((1 - weight) * found[1:] + weight * found[:-1]) * (1 + 64 * ULP))


def reach_of(ranges: Counter[Fraction]) -> float:
    """Return how far from 0 losses of draws of these ranges need to be followed."""
    variance = sum(n * float(eta) ** 2 / 4 for eta, n in ranges.items())
    far = 14 * sqrt(variance) + variance + float(max(ranges))
    return min(far, sum(n * float(eta) for eta, n in ranges.items()))


def recursion_step(ranges: Counter[Fraction]) -> float:
    """Return a spacing at which the recursion is short: a fraction of the least range, or more."""
    states = prod(n + 1 for n in ranges.values())
    work = states * float(sum(ranges)) * 2 * reach_of(ranges)  # over the spacing squared
    least = float(min(ranges))
    return max(least / 512, min(least / 32, sqrt(10 * work / WORK)), sqrt(work / WORK))


def simplified(ranges: Counter[Fraction]) -> tuple[Counter[Fraction], Counter[Fraction]]:
    """Return ranges for which the recursion is short, and those treated as pure guarantees.

    Ranges are rounded up to larger ones, or treated as pure, whichever adds less variance.
    """
    kept, pure = Counter(ranges), Counter[Fraction]()
    while kept and recursion_step(kept) > float(min(kept)) / 4:
        sizes = sorted(kept)
        promise = min(sizes, key=lambda eta: 3 * kept[eta] * eta**2)
        cost = 3 * kept[promise] * promise**2
        larger = dict(pairwise(sizes))
        merges = {s: kept[s] * (large**2 - s**2) for s, large in larger.items()}
        small = min(merges, key=merges.__getitem__, default=None)
        if small is not None and merges[small] < cost:
            kept[larger[small]] += kept.pop(small)
        else:
            pure[promise] += kept.pop(promise)
    return kept, pure


# ---- Losses on a lattice -------------------------------------------------------------------------
#
# A loss :math:`l` between lattice points :math:`jh` and :math:`(j+1)h` is split between them so
# that its masses under :math:`P` and :math:`Q` are kept ("connect the dots" [1]_): the share
# :math:`(1 - e^{-(l - jh)})/(1 - e^{-h})` goes up. The new pair has the old one as a
# post-processing. Rounding every loss down, and keeping the masses under :math:`P`, gives a lower
# bound.
#
# References
# ----------
# .. [1] V. Doroshenko, B. Ghazi, P. Kamath, R. Kumar, P. Manurangsi, "Connect the dots: tighter
#    discrete approximations of privacy loss distributions", PoPETs 2022.


POINTS = 1 << 17
"""Approximate number of points of a lattice on which not all losses lie."""
EXACT = 1 << 18
"""Maximum number of points of a lattice on which all losses lie."""


@dataclass(frozen=True, eq=False)
class Laid:
    """Masses on consecutive lattice points, of each of several equal draws."""

    first: int
    mass: NDArray[np.float64]
    times: int
    slack: float
    beyond: float = 0.0


def is_on(pair: Pair, step: Fraction) -> bool:
    """Whether all losses are lattice points, exactly."""
    return bool(pair.unit) and (pair.unit / step).denominator == 1


def laid_up(pair: Pair, times: int, step: Fraction) -> Laid:
    """Return a pair on the lattice that dominates this one."""
    index, over = _between(pair, step, 1)
    higher = np.minimum(np.expm1(-over) / expm1(-float(step)), 1.0)
    first, slack = int(index.min()), pair.slack + 64 * ULP
    mass = np.zeros(int(index.max()) - first + 2)
    np.add.at(mass, index - first, pair.mass * (1 - higher))
    np.add.at(mass, index - first + 1, pair.mass * higher)
    return _trimmed(Laid(first, mass, times, slack, pair.beyond))


def laid_down(pair: Pair, times: int, step: Fraction) -> Laid:
    """Return masses on the lattice with no loss above what it was."""
    index, _ = _between(pair, step, -1)
    first, slack = int(index.min()), pair.slack + 8 * ULP
    mass = np.bincount(index - first, weights=pair.mass).astype(np.float64)
    return _trimmed(Laid(first, mass, times, slack))


def _trimmed(laid: Laid) -> Laid:
    """Drop masses too small for a float at either end, against the user."""
    kept = np.flatnonzero(laid.mass > 1e-290)
    if not len(kept):
        return laid
    lost = 1e-280 if (laid.mass[: kept[0]].any() or laid.mass[kept[-1] + 1 :].any()) else 0.0
    mass = laid.mass[kept[0] : kept[-1] + 1]
    return Laid(laid.first + int(kept[0]), mass, laid.times, laid.slack, laid.beyond + lost)


def _between(
    pair: Pair, step: Fraction, direction: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the lattice point below each loss, and how far above it the loss is.

    Losses with a unit are divided exactly; others are first shifted by more than their error.
    """
    h, ratio = float(step), pair.unit / step
    top = float(np.abs(pair.loss).max())
    multiples = top / float(pair.unit) + 1 if pair.unit else 0.0
    if pair.unit and max(ratio.numerator * multiples, ratio.denominator) < 2**62:
        multiple = np.rint(pair.loss / float(pair.unit)).astype(np.int64) * ratio.numerator
        index, over = np.divmod(multiple, ratio.denominator)
        return index, over * (h / ratio.denominator)
    loss = pair.loss + direction * 64 * ULP * (1 + top) * np.abs(pair.loss)
    index = np.floor(loss / h - (direction < 0) * 4 * ULP * np.abs(loss / h)).astype(np.int64)
    return index, np.clip(loss - index * h, 0.0, h)


def common_unit(units: Iterable[Fraction]) -> Fraction:
    """Return the largest rational of which all are whole multiples; 0 for none."""

    def both(x: Fraction, y: Fraction) -> Fraction:
        below = lcm(x.denominator, y.denominator)
        return Fraction(gcd(int(x * below), int(y * below)), below)

    return reduce(both, units, Fraction(0))


def lattice_step(pairs: Iterable[tuple[Pair, int]], ranges: Counter[Fraction]) -> Fraction:
    """Return the spacing of a lattice for all losses of a batch.

    It is the common unit of the losses, where that is not too fine; otherwise a spacing that
    keeps as many of the largest losses on the lattice as possible.
    """
    drawn = list(pairs)
    exact = common_unit([*(pair.unit for pair, _ in drawn), *ranges])
    tops = [float(np.abs(pair.loss).max()) for pair, _ in drawn]
    variance = sum(n * pair.variance for pair, n in drawn)
    most = sum(2 * n * top for top, (_, n) in zip(tops, drawn, strict=True))
    span = min(most, 24 * sqrt(variance) + 2 * max(tops, default=0.0)) or 1.0
    if ranges:
        aim = Fraction(max(recursion_step(ranges), span / (2 * POINTS) if drawn else 0.0))
    else:
        if all(pair.unit for pair, _ in drawn) and span <= EXACT * exact:
            return exact or Fraction(1)
        aim = Fraction(span / POINTS)
    large = [Fraction(top).limit_denominator(10**6) for top in tops if top > aim]
    for unit in (exact, common_unit([*large, *ranges]), common_unit(ranges)):
        if unit > aim / 2:
            return unit / ceil(unit / aim)
    return aim
