"""A noisy sum over a noisy count, drawn together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import islice
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine.central.intervals import (
    FINE,
    KNOTS,
    ShareEvidence,
    accepted,
    laplace_quantile,
    least_fixed,
    lower_risks,
    sampled,
)
from sourdine.errors import ParameterTypeError
from sourdine.exact import kind
from sourdine.laws import Product
from sourdine.laws.law import gaussian_quantile
from sourdine.mechanisms import Gaussian
from sourdine.mechanisms import mechanism as read
from sourdine.mechanisms.laplace import LaplaceNoise, laplace_law
from sourdine.mechanisms.mechanism import Specimen, register, within
from sourdine.privacy import SUBSTITUTE, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.noise import Source

    Whole = tuple[int, ...]
    Pair = tuple[int, int]


# ---- Several whole numbers that move together, each with Laplace noise ---------------------------


@frozen(kw_only=True)
class Together(LaplaceNoise["Whole"]):
    r"""Add discrete Laplace noise to each of several whole numbers of any size.

    The Laplace mechanism for a vector whose L1 norm moves by at most :math:`\Delta`: the loss
    between two vectors is their L1 distance over :math:`t = \Delta/\varepsilon`, and no less
    (``test_exact_worst_case[noise.laplace.together]``).
    Sums of squares of ticks pass 64 bits, so the numbers are Python's.

    Examples
    --------
    >>> both = Together(epsilon=1, sensitivity=10)
    >>> len(both.release((2**70, -5)).value)
    2
    """

    def read(self, x: object) -> Whole:
        if not isinstance(x, tuple) or not all(type(v) is int for v in x):
            raise ParameterTypeError(
                "the input", "be a tuple of whole numbers", kind(x), "Pass a tuple, such as (3, 4)."
            )
        return x

    def draw(self, x: Whole, size: int | None, source: Source) -> Any:
        if size is not None:
            return np.array([self.draw(x, None, source) for _ in range(size)])
        return tuple(self.sampler.one(source, v) for v in x)

    def draw_all(self, xs: Sequence[Whole], source: Source) -> list[Whole]:
        drawn = iter(self.sampler.around([v for x in xs for v in x], source))
        return [tuple(islice(drawn, len(x))) for x in xs]

    def law(self, x: Whole) -> Product:
        """Return the law of each number; they are independent."""
        return Product(tuple(laplace_law(v, self.scale) for v in x))

    def neighbours(self, x: Whole) -> Iterator[Whole]:
        for moved in within(np.array(x, object), int(self.sensitivity), norm=1):
            yield tuple(moved.tolist())


_MADE_OF_IT = ("mean", "variance", "std", "proportion", "table", "sql")
register(
    Specimen(
        name="noise.laplace.together", tight=True, draws=20_000,
        make=lambda epsilon: Together(epsilon=epsilon, sensitivity=2),
        inputs=((0, 0), (5, -3)), also=tuple(f"{name}.laplace" for name in _MADE_OF_IT),
    )
)  # fmt: skip


@frozen(kw_only=True, slots=False)
class UnitSums(ABC):
    """Sums that one record moves by 1 in all, or by 2 where it is replaced, drawn together."""

    epsilon: Fraction
    relation: Relation
    rows: int = 1

    @property
    @abstractmethod
    def whole(self) -> int:
        """What 1 is, in the products of ticks that are added up."""

    @cached_property
    def boost(self) -> int:
        """What all sums are multiplied by, so that their lattice is fine beside the noise."""
        return max(1, ceil(FINE * self.epsilon / self.whole))

    @cached_property
    def filled(self) -> int:
        """What 1 is, in steps of the lattice."""
        return self.whole * self.boost

    @cached_property
    def moves(self) -> int:
        """How far one person moves the sums together."""
        return (2 if self.relation is SUBSTITUTE else 1) * self.rows * self.filled

    @cached_property
    def mechanism(self) -> Together:
        return Together(epsilon=self.epsilon, sensitivity=self.moves, relation=self.relation)

    @cached_property
    def scale(self) -> float:
        """The scale of the noise, in records."""
        return float(self.mechanism.scale / self.filled)


# ---- A noisy sum over a noisy count, for values in an interval -----------------------------------
#
# With ticks :math:`t_i` from 0 to L let :math:`T = \sum t_i` and :math:`n` their number, both
# private. The mean is a fraction :math:`p = T/(Ln)` of the range.
#
# *One record added or removed.* Release :math:`U = T` and :math:`V = Ln - T`. A record adds
# :math:`t` to the first and :math:`L - t` to the second, together always L: with noise of scale
# :math:`L/\varepsilon` on each, both are covered by the whole of :math:`\varepsilon`, none of it is
# split. (In the coordinates of a centred sum and a count this is the K-norm mechanism of the exact
# set of moves, a rectangle; M. Hardt, K. Talwar, "On the geometry of differential privacy", STOC
# 2010.) The best split into a sum and a count, if one knew p, would leave between half and twice
# its variance.
#
# *One record replaced.* Release :math:`S = 2T - Ln` and :math:`C = Ln`. A replaced record moves
# them by at most :math:`(2L, 0)`, one that becomes missing by :math:`(|2t - L|, L)`: 2L in all, so
# noise of scale :math:`2L/\varepsilon` covers both.
#
# The value is :math:`\hat p = U/(U+V)`, or :math:`(1 + S/C)/2`, moved into [0, 1]. At the true
# :math:`p` the line :math:`z(p) = (1-p)U - pV`, or :math:`S - (2p-1)C`, is pure noise, and
# :math:`\hat p > p + e` exactly if the noise at :math:`p + e` exceeds :math:`ne` (:math:`2Lne`):
# both the interval (Fieller's) and the planned error follow.
#
# All numbers are multiplied by a public whole number, so that the lattice is fine beside the noise.


PLANNED = 0.15
"""Errors are planned for a mean this far inside the bounds; further inside they are smaller."""


@frozen(kw_only=True)
class Ratio:
    """The mean of ticks from 0 to ``last`` whose number is private, as a fraction of ``last``.

    With a delta the noise is Gaussian.
    """

    last: int
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    relation: Relation = field(default=SUBSTITUTE, converter=read.relation)
    rows: int = 1

    @property
    def replaced(self) -> bool:
        return self.relation is SUBSTITUTE

    @cached_property
    def boost(self) -> int:
        return max(1, ceil(FINE * self.epsilon / self.last))

    @property
    def sensitivity(self) -> int:
        """How far one person moves both numbers together, in the L1 norm (and in the L2 norm)."""
        return (2 if self.replaced else 1) * self.last * self.boost * self.rows

    @cached_property
    def mechanism(self) -> Together | Gaussian:
        own: dict[str, Any] = {"epsilon": self.epsilon, "relation": self.relation}
        if not self.delta:
            return Together(sensitivity=self.sensitivity, **own)
        return Gaussian(delta=self.delta, sensitivity=self.sensitivity, method="zcdp", **own)

    @cached_property
    def scale(self) -> float:
        m = self.mechanism
        return sqrt(float(m.variance)) if isinstance(m, Gaussian) else float(m.scale)

    def numbers(self, n: int, total: int) -> Pair:
        """Return the two numbers beneath the noise."""
        k, filled = self.boost, self.last * n
        return (k * (2 * total - filled), k * filled) if self.replaced else (
            k * total, k * (filled - total))  # fmt: skip

    def draw_all(self, moments: Sequence[Sequence[int]], source: Source) -> list[dict[str, int]]:
        """Return the two numbers of each group with noise, by name."""
        pairs: list[Any] = [self.numbers(n, total) for n, total in moments]
        if not isinstance(self.mechanism, Together):
            pairs = [np.array(pair, object) for pair in pairs]
        drawn = self.mechanism.release_all(pairs, source=source)
        a, b = self.names
        return [{a: int(first), b: int(second)} for first, second in drawn]

    @property
    def names(self) -> tuple[str, str]:
        """What the two numbers are called."""
        return ("centred", "filled") if self.replaced else ("total", "complement")

    def pair(self, drawn: Mapping[str, Any]) -> Pair:
        """Return the two numbers that were drawn."""
        first, second = self.names
        return drawn[first], drawn[second]

    def fraction(self, drawn: Pair) -> float:
        """Return the mean as a fraction of the range; the middle, if nothing seems to be there."""
        first, second = drawn
        below = second if self.replaced else first + second
        if below <= 0:
            return 0.5
        p = (1 + first / below) / 2 if self.replaced else first / below
        return min(max(p, 0.0), 1.0)

    def least(self, drawn: Pair, beta: float) -> float:
        """Return a number that the number of values is below with probability ``beta`` at most."""
        q = self._quantile((0.0, 1.0) if self.replaced else (1.0, 1.0), min(2 * beta, 1.0))
        filled, unit = drawn[1] if self.replaced else drawn[0] + drawn[1], self.last * self.boost
        return max(filled / unit - q / unit, 0.0)

    def _quantile(self, weights: tuple[float, ...], beta: float) -> float:
        """Return what these multiples of the noises pass, one lattice step each included."""
        noise = float(_quantiles(np.array(weights), beta, gaussian=bool(self.delta)))
        return noise * self.scale + sum(weights)

    def limits(self, drawn: Pair, beta: float) -> tuple[float, float]:
        """Return the ends of the fraction, by Fieller.

        Noise that no fraction explains leaves that set empty; then see `lower_risks`.
        """
        first, second = drawn
        at_0, at_1 = (first + second, first - second) if self.replaced else (first, -second)
        for b in lower_risks(beta):
            q = _table(b, replaced=self.replaced, gaussian=bool(self.delta)) * self.scale + 2
            if inside := accepted(float(at_0), float(at_1), q):
                p = self.fraction(drawn)
                return min(inside[0], p), max(inside[1], p)
        return 0.0, 1.0

    def evidence(self, drawn: Pair) -> ShareEvidence:
        """Return what the two numbers say, if they are of zeros and ones; a record is 1."""
        first, second = (x / (self.last * self.boost) for x in drawn)
        scale = self.scale / (self.last * self.boost)
        if not self.replaced:
            return ShareEvidence(
                at_0=first, at_1=-second, n=first + second, scales=(scale, scale),
                noises=lambda low, high: scale * np.stack((1 - low, high), -1),
            )  # fmt: skip

        def noises(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
            tilted = np.maximum(np.abs(1 - 2 * low), np.abs(1 - 2 * high))
            return scale / 2 * np.stack((np.ones_like(low), tilted), -1)

        return ShareEvidence(
            at_0=(first + second) / 2, at_1=(first - second) / 2, n=second, scales=(scale,),
            noises=noises,
        )  # fmt: skip

    def population(self, drawn: Pair, beta: float) -> tuple[float, float]:
        """Return the ends of the law's mean: a fifth of ``beta`` for noise, the rest for chance."""
        low, high = self.limits(drawn, 0.15 * beta)
        return sampled(low, high, self.least(drawn, 0.05 * beta), 0.8 * beta)

    def error(self, beta: float, n: int) -> float:
        """Return the error, as a fraction of the range, of a mean `PLANNED` inside the bounds."""
        filled = n * self.last * self.boost * (2 if self.replaced else 1)

        def noisy(e: float) -> float:
            p = max(PLANNED - e, 0.0)
            weights = (1.0, 1 - 2 * p) if self.replaced else (1 - p, p)
            return self._quantile(weights, beta) / filled

        return least_fixed(noisy, 1.0)


def _quantiles(weights: NDArray[np.float64], beta: float, *, gaussian: bool) -> NDArray[np.float64]:
    if gaussian:
        return np.asarray(gaussian_quantile(beta) * np.sqrt((weights * weights).sum(-1)))
    return laplace_quantile(weights, beta)


@lru_cache(256)
def _table(beta: float, *, replaced: bool, gaussian: bool) -> NDArray[np.float64]:
    """Return the quantiles of the line's noise at `KNOTS`, for noises of scale 1."""
    p = KNOTS
    first, second = (np.ones_like(p), np.abs(1 - 2 * p)) if replaced else (1 - p, p)
    return _quantiles(np.stack((first, second), -1), beta, gaussian=gaussian)
