r"""Which losses a part can have, and how likely each is: pairs of laws that dominate it.

A pair :math:`(P, Q)` dominates a mechanism if its hockey stick
:math:`\sup_S P(S) - e^x Q(S)` is at least that of any two neighbours, for every :math:`x`. It is
kept as the losses :math:`l = \ln P/Q` with their masses under :math:`P`. Where losses are whole
multiples of a rational unit, they are exact; the masses are floats with a known relative error.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.privacy.accounting.part import Part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["ULP", "Pair", "dominated", "dominating"]

ULP = 2.0**-53
MOST = 1 << 15
"""Discrete Laplace noise has no more atoms than this."""
REACH = 100.0
"""Gaussian noise is kept to a weight of e**-100 of its peak."""
WIDEST = 1 << 20
HUGE = 300
"""Of a larger epsilon, or rho, everything is taken for lost."""
ONE = np.ones(1)


@dataclass(frozen=True, eq=False)
class Pair:
    """Losses and their masses under P.

    Parameters
    ----------
    loss
        The finite losses.
    mass
        Their masses.
    slack
        A bound on the relative error of every mass.
    unit
        What every loss is a whole multiple of, exactly; 0 if the losses are floats that are known
        to a few units in the last place.
    beyond
        A bound on the mass of infinite loss.
    """

    loss: Floats
    mass: Floats
    slack: float
    unit: Fraction = Fraction(0)
    beyond: float = 0.0

    @classmethod
    def on(cls, unit: Fraction, steps: NDArray[np.int64], mass: Floats, slack: float) -> Pair:
        """Return the pair whose losses are so many steps of a unit each."""
        common = int(np.gcd.reduce(steps)) or 1
        return cls(steps.astype(np.float64) * float(unit), mass, slack, unit * common)

    @property
    def is_lost(self) -> bool:
        """Whether all mass is at infinity."""
        return not self.mass.any()

    @property
    def variance(self) -> float:
        """The variance of a finite loss, roughly."""
        mean = (self.mass * self.loss).sum()
        return float((self.mass * (self.loss - mean) ** 2).sum())

    def sampled(self, rate: Fraction, *, present: bool) -> Pair:
        """Return the pair on a Poisson sample: with the record against without, or the reverse.

        What is left of the mass under Q, which tails dropped, is put at the largest loss.
        """
        q, rest = float(rate), float(1 - rate)
        if self.is_lost:
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
    """Return a pair that dominates one draw of a part.

    Parameters
    ----------
    part
        Any part but a range, which has no single worst pair, and a delta. A range on a sample is
        taken for a pure promise.
    present
        Of what runs on a sample, which of the two laws stands first: that with the record.
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

    Of a range it is that with a fixed offset, of 9/16 of its length; of zCDP, and of Gaussian noise
    too wide to be gone through, nothing.
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
    """Whether the losses are beyond what exponentials of floats tell."""
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
    r"""Return a shift of few atoms that has this one as a post-processing.

    Noise of scale :math:`b` is :math:`m` times noise of scale :math:`b/m` plus something
    independent, so a shift by :math:`mK` is a post-processing of a shift by :math:`K`.
    """
    if shift <= MOST:
        return shift, scale
    least = -(-shift // MOST)
    m = min(range(least, 4 * least + 1), key=lambda m: -(-shift // m) * m)
    return -(-shift // m), scale / m


def _laplace(shift: int, scale: Fraction) -> Pair:
    """Discrete Laplace noise moved by a whole shift: losses (shift - 2k) / scale."""
    r = 1 / float(scale)
    k = np.arange(shift + 1)
    mass = -expm1(-r) / (1 + exp(-r)) * np.exp(-r * k)
    mass[0] = 1 / (1 + exp(-r))
    mass[-1] = exp(-r * shift) / (1 + exp(-r))
    return Pair.on(1 / scale, shift - 2 * k, mass, ULP * (16 + 4 * r * shift))


def _grouped(shift: int, scale: Fraction) -> Pair:
    """Return the same with many atoms rounded down to one: a bound from below."""
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
    """Discrete Gaussian noise moved by a whole shift: losses shift (shift - 2k) / (2 variance)."""
    s2, far = float(part.size), _reach(part)
    k = np.arange(-far, far + 1)
    weight = np.exp(-(k.astype(float) ** 2) / (2 * s2))
    tail = exp(-(far**2) / (2 * s2)) / -expm1(-far / s2)
    mass = weight / weight.sum()
    unit = part.count / (2 * part.size)
    pair = Pair.on(unit, part.count - 2 * k, mass, ULP * (64 + 8 * REACH) + 4 * tail)
    return Pair(pair.loss, pair.mass, pair.slack, pair.unit, beyond=2 * tail)


def concentrated(rho: float) -> Pair:
    r"""Return a pair that dominates everything that is :math:`\rho`-zCDP.

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
