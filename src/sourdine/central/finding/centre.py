r"""Where the data lie: a rough median on the lattice of octaves, round numbers first."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import log
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.central.quantiles.algorithm import QuantileMechanism
from sourdine.central.quantiles.inverse_sensitivity import Runs
from sourdine.errors import ParameterTypeError
from sourdine.exact import kind
from sourdine.laws import Law
from sourdine.mechanisms.mechanism import read_beta
from sourdine.mechanisms.registry import Specimen, register
from sourdine.privacy import Part
from sourdine.tally.octaves import Octaves

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.central.quantiles.points import Points
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

    Ints = NDArray[np.int64]

__all__ = ["Centre"]

HALF = Fraction(1, 2)


def _grid(x: Octaves) -> Octaves:
    if not isinstance(x, Octaves):
        raise ParameterTypeError("grid", "be a lattice of octaves", kind(x), "Type Octaves().")
    return x


@frozen(kw_only=True)
class Centre(QuantileMechanism):
    r"""Draw a point near the median, by inverse sensitivity with a public prior.

    With :math:`L` of n records below a point and :math:`f` on it, its weight is

    .. math:: \pi(v)\, e^{-c\,\mathrm{len}(v)}, \qquad
        \mathrm{len}(v) = \max(0,\; L - \tfrac n2,\; \tfrac n2 - L - f),

    with :math:`c = \varepsilon` if records are added or removed, and :math:`\varepsilon/2` under
    substitution; a k-th of it for a person of k records. The prior :math:`\pi` puts one half on
    the point nearest to 0 and shares the other half among the nested lattices of 0, 1, 2, ... bits
    of the mantissa, evenly within each: few bits are cheap, so few records still find a rough
    centre. In whole numbers, a point whose mantissa needs k of b bits weighs
    :math:`2^{b-k} + \ldots + 2 + 1`, and the point nearest to 0 as much as all octaves together.

    Parameters
    ----------
    grid
        The lattice.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy. The prior is public, and a record added or
    removed moves :math:`L - n/2` and :math:`n/2 - L - f` by one half each, up or down; a record
    replaced, or gone missing, by 1 at most. So weights and their sum move by a factor
    :math:`e^{\pm\varepsilon/2}` at most. Weights are whole numbers times :math:`e^{-cd/2}` with
    whole d, which `sourdine.noise.choose_run` draws exactly. *Checked by*
    ``test_exact_worst_case[choice.centre.add_remove]``.

    *Claim*: the rank is wrong by more than `error` with probability :math:`\beta` at most: some
    point of weight 1 or more has len 0, and all points with len above e weigh
    :math:`W e^{-ce}` at most, W the sum of the prior. *Checked by* the same audit.

    References
    ----------
    .. [1] H. Asi, J. Duchi, "Near instance-optimality in differential privacy", 2020.

    Examples
    --------
    >>> centre = Centre(epsilon=1, grid=Octaves())
    >>> ticks = centre.grid.ticks([1e6] * 200)
    >>> centre.grid.values(centre.release(ticks).value).tolist()
    [1000000.0]
    """

    grid: Octaves = field(converter=_grid)
    q: tuple[Fraction, ...] = field(init=False, default=(HALF,))
    cells: int = field(init=False)

    @cells.default
    def _size(self) -> int:
        return self.grid.size

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""A draw of one range. *Checked by* ``test_whole_curve[choice.centre.add_remove]``."""
        return (Part.range(self.epsilon),)

    @property
    def decay(self) -> Fraction:
        """Return c over 2: distances are counted in halves of a rank."""
        return self.epsilon / (4 if self.substitutes else 2) / self.rows

    @cached_property
    def home(self) -> int:
        """The tick of the point nearest to 0."""
        return min(max(-self.grid.first, 0), self.grid.last)

    @cached_property
    def octaves(self) -> int:
        """What all points of all octaves weigh together, and what `home` does."""
        ends = self._up_to(np.array([self.grid.first - 1, self.grid.first + self.grid.last]))
        return max(int(ends[1] - ends[0]), 1)

    def _up_to(self, number: Ints) -> Ints:
        """Return what the points from 0 to a signed number weigh, less than 0 below it; 0 weighs 0.

        Of the points above 0 with numbers up to i, every s-th weighs s, for every power s of two up
        to :math:`2^b`.
        """
        above = np.where(number < 0, -number - 1, number)
        before = np.maximum(above - 1, 0)
        total = np.full(number.shape, (2 << self.grid.bits) - 1, np.int64)
        for k in range(self.grid.bits + 1):
            total += before >> k << k
        total[above == 0] = 0
        return np.where(number < 0, -total, total)

    def prior(self, start: Ints) -> Ints:
        """Return what the points of runs of ticks weigh, each from one start to the next."""
        ends = np.append(start, self.cells)
        weights = np.diff(self._up_to(ends + (self.grid.first - 1)))
        weights[np.searchsorted(ends, self.home, side="right") - 1] += self.octaves
        return weights

    def _runs(self, x: Points) -> tuple[Runs, Ints]:
        """Return runs of equal distance and what they weigh."""
        runs = Runs.of(x.complete(), HALF, whole=False)
        return runs, self.prior(runs.start)

    def one(self, x: Points, source: Source) -> list[int]:
        """Draw a run, then a point of it."""
        runs, weights = self._runs(x)
        i = noise.choose_run(weights, runs.distance, self.decay, source=source)
        stop = [*runs.start[i + 1 : i + 2].tolist(), self.cells][0] - 1
        return [self._point(int(runs.start[i]), stop, source)]

    def _point(self, start: int, stop: int, source: Source) -> int:
        """Draw a point between two ticks by the prior."""
        if start == stop:
            return start
        low, high = start + self.grid.first, stop + self.grid.first
        spaced = [1 << k for k in range(self.grid.bits, -1, -1)]
        levels = [s * (_multiples(low, high, s) + _multiples(-high, -low, s)) for s in spaced]
        levels.append(self.octaves if start <= self.home <= stop else 0)
        ends = list(accumulate(levels))
        drawn = noise.uniform_below(ends[-1], source=source)
        level = next(k for k, end in enumerate(ends) if drawn < end)
        if level == len(spaced):
            return self.home
        nth = (drawn - (ends[level] - levels[level])) // spaced[level]
        return _nth(low, high, spaced[level], nth) - self.grid.first

    def law(self, x: Points) -> Law:
        """Return the law over the ticks (of a small lattice)."""
        runs, _ = self._runs(x)
        ticks = np.arange(self.cells)
        at = np.searchsorted(runs.start, ticks, side="right") - 1
        logs = np.log(self.prior(ticks)) - float(self.decay) * runs.distance[at]
        return Law.finite(logs)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        r"""Return :math:`\ln(W/\beta)/c`, in ranks."""
        del n
        return (log(2 * self.octaves) - log(read_beta(beta))) / float(2 * self.decay)


def _multiples(low: int, high: int, s: int) -> int:
    """Return how many of the points above 0 numbered from low to high have a mantissa s divides."""
    low = max(low, 1)
    return (high - 1) // s - (low - 2) // s if high >= low else 0


def _nth(low: int, high: int, s: int, nth: int) -> int:
    """Return the n-th of all such points, above 0 first and then below."""
    above = _multiples(low, high, s)
    if nth < above:
        return (-(-(max(low, 1) - 1) // s) + nth) * s + 1
    return -((-(-(max(-high, 1) - 1) // s) + nth - above) * s + 1)


def _enter(relation: str, *inputs: list[int]) -> None:
    register(
        Specimen(
            name=f"choice.centre.{relation}",
            make=lambda spent: Centre(
                epsilon=spent, relation=relation, grid=Octaves(-8, 2000, step=1, bits=2)
            ),
            inputs=inputs,
            tight=False,
            draws=4_000,
            also=("mean.find.centre", "variance.find.centre", "histogram.find.centre"),
        )
    )


_enter("add_remove", [1], [2, 5, 17, 30], [20] * 8)
_enter("substitute", [1, 3], [2, 5, 17, 30], [20] * 16)
