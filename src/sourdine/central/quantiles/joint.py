r"""JointExp: all quantiles in one draw, and its form with a free total.

The law over ascending ticks :math:`o_1 \le \ldots \le o_m` on a grid with ties. A cell with
:math:`f` records that receives :math:`k` of the quantiles has :math:`\binom{f+k}{k}` equally likely
interleavings of them with its records; averaging the weight over these gives

.. math::

    W_D(o) = \prod_{\text{cells}} \frac{f!}{(f+k)!} \;
             \sum_{r_1 \le \ldots \le r_m} \; \prod_{j=1}^{m+1} e^{-c|r_j - r_{j-1} - t_j|},
    \qquad r_0 = 0,\; r_{m+1} = n,

the sum running over the ranks :math:`L \le r_j \le L + f` that :math:`o_j`'s cell allows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement
from math import lgamma, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine.central.quantiles.algorithm import FLOATS, QuantileMechanism
from sourdine.central.quantiles.lattice import FreeTotal, OfRecords
from sourdine.central.quantiles.sampler import JointSampler, first_reach
from sourdine.errors import ParameterError
from sourdine.laws import Law
from sourdine.mechanisms.mechanism import read_beta, settle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.central.quantiles.chain import Targets
    from sourdine.central.quantiles.lattice import Lattice
    from sourdine.central.quantiles.points import Points
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

__all__ = ["JointExp", "JointFree", "joint_log_weights"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Joint(QuantileMechanism):
    """What the two forms share: a lattice of totals and the decay."""

    c: float = field(init=False, repr=False, compare=False)
    lattice: Lattice = field(init=False, repr=False, compare=False)

    def _settle(self, decay: Fraction, lattice: Lattice) -> None:
        """Set the decay a little below its bound, so that rounding is paid for."""
        c = float(decay * (1 - FLOATS) / self.rows)
        m = len(self.orders)
        rounding = 4 * m * (3 * 700 / c + 2000) * 2.0**-53
        if rounding > float(FLOATS * Fraction(self.epsilon)):
            raise ParameterError(
                f"epsilon must leave room for the rounding of {m} quantiles, got {self.epsilon}. "
                f"Type an epsilon of 0.001 or more for each of the {self.rows} rows."
            )
        settle(self, c=c, lattice=lattice)

    def windows(self, n: int) -> list[tuple[int, int]]:
        """Return the ranks that a draw mostly needs."""
        distance = first_reach(len(self.orders)) / self.c
        far = [(round(q * n), int(max(q, 1 - q) * distance) + 8) for q in self.orders]
        return [(middle - half, middle + half) for middle, half in far]

    def cut(self, x: Points, source: Source) -> tuple[int, list[int], list[int]]:
        """Draw the total's number, the ticks, and the ranks at which these cut the records."""
        return JointSampler(x, self.lattice, self.c).draw(source)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        r"""Return a bound that all rank errors keep for n records; for any number without n.

        Aiming at the nearest total, some tuple has distances :math:`\sum|d_j| \le h/2 + m` and, the
        records of a cell being spread, a weight of at least :math:`(n+1)^{-m}` of its volume; all
        tuples whose distances pass that by :math:`x` weigh :math:`B^m (2x/h + 3) e^{-cx}` at most.
        No rank errs by more than the distances' sum.
        """
        m, h = self.lattice.m, getattr(self.lattice, "h", 0)
        most = 1 << 62 if n is None else n + 1
        logs = m * (log(self.cells) + log(most)) - log(read_beta(beta))
        x = logs / self.c
        for _ in range(3):
            x = (logs + log(2 * x / max(h, 1) + 3)) / self.c
        return h / 2 + m + x


@dataclass(frozen=True, slots=True, kw_only=True)
class JointFree(_Joint):
    r"""JointExp whose total is a coordinate of the draw.

    Drawn is a pair :math:`(k, o)` with weight :math:`W_D(o)` for the targets of the total
    :math:`N = hk`: :math:`T_j = \lfloor q_j N + \tfrac12 \rfloor`.

    Notes
    -----
    *Claim*: :math:`2c`-private under ``ADD_REMOVE`` and :math:`4c`-private under ``SUBSTITUTE``.
    *Proof*. Fix :math:`(k, o)`: the targets do not depend on the data. Let :math:`D'` be :math:`D`
    with one more record, in cell :math:`v`. Spread the records of every cell uniformly and
    independently over it: :math:`W_D(o)` is, up to a factor that depends on :math:`o` alone, the
    mean of :math:`\prod_j e^{-c|n_j - t_j|}` over the spreads and over the positions of the
    quantiles in their cells, :math:`n_j` being the records between neighbouring quantiles. Give the
    common records of :math:`D` and :math:`D'` the same positions: the new record adds 1 to exactly
    one :math:`n_j`, so every term moves by a factor within :math:`e^{\pm c}`, and so does the mean.
    The normaliser, a sum of such weights over a space that does not depend on the data, moves by
    as much again. A replaced record is one removed and one added. Several rows of one person: so
    many steps. *Checked by* ``test_joint_laws_keep_the_claim`` and
    ``test_joint_constants_cannot_be_raised``.

    *Claim*: not knowing the number of records costs next to nothing: the gaps' errors are
    :math:`m + 1` free Laplace variables, and the ranks err like a bridge.

    References
    ----------
    .. [1] J. Gillenwater, M. Joseph, A. Kulesza, "Differentially private quantiles", ICML 2021.

    Examples
    --------
    >>> deciles = JointFree(epsilon=1, q=[i / 10 for i in range(1, 10)], cells=1000)
    >>> deciles.lattice.h
    40
    """

    def __post_init__(self) -> None:
        super(_Joint, self).__post_init__()
        decay = Fraction(self.epsilon) / (4 if self.substitutes else 2)
        m = len(self.orders)
        h = max(1, round((2 if m <= 12 else 1) * (m + 1) * self.rows / decay))
        self._settle(decay, FreeTotal(self.orders, h))

    def one(self, x: Points, source: Source) -> list[int]:
        """Draw the total's number and the ticks."""
        k, ticks, _ = self.cut(x, source)
        return [k, *ticks]

    def published(self, drawn: Sequence[int]) -> NDArray[np.int64]:
        """Return the ticks; the total is left out."""
        return np.asarray(drawn[1:], np.int64)

    def total(self, drawn: Sequence[int]) -> int:
        """Return the total, hk."""
        return int(self.lattice.h * drawn[0])  # type: ignore[union-attr]

    def support(self) -> NDArray[np.int64]:
        """Return all ascending ticks, for the totals up to where the rest has no weight."""
        tuples = list(combinations_with_replacement(range(self.cells), len(self.orders)))
        last = self._last_total()
        return np.array([(k, *o) for k in range(last + 1) for o in tuples], np.int64)

    def _last_total(self) -> int:
        return int(80 / (self.c * self.lattice.h)) + 2  # type: ignore[union-attr]

    def law(self, x: Points) -> Law:
        """Return the law of the total's number and the ticks, as rows of `support`."""
        rows = [
            joint_log_weights(x, self.lattice.targets(x.n, [k]), self.c)
            for k in range(self._last_total() + 1)
        ]
        return Law.finite(np.concatenate(rows), error=1e-11)

    def loss(self, x: Points, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the largest rank error of each output."""
        orders = combinations_with_replacement(range(self.cells), len(self.orders))
        return super(_Joint, self).loss(x, np.asarray(y) % len(list(orders)))


@dataclass(frozen=True, slots=True, kw_only=True)
class JointExp(_Joint):
    r"""The published JointExp: targets :math:`t_j = w_j n`, :math:`w_j = q_j - q_{j-1}`.

    Notes
    -----
    *Claim*: with :math:`c = \varepsilon / (4(1 - \min w))` private under ``ADD_REMOVE``: one record
    more raises :math:`n`, so :math:`\sum_j|n_j - w_j n|` moves by at most
    :math:`2(1 - w_j)`. Under ``SUBSTITUTE`` :math:`c = \varepsilon/4`: a replaced record moves two
    gaps by 1, one that goes missing moves as above, less than 2. The targets are not rounded:
    rounding them would let several move at once. *Checked by* ``test_joint_laws_keep_the_claim``.

    References
    ----------
    .. [1] J. Gillenwater, M. Joseph, A. Kulesza, "Differentially private quantiles", ICML 2021.
    """

    def __post_init__(self) -> None:
        super(_Joint, self).__post_init__()
        ends = (Fraction(0), *self.orders, Fraction(1))
        least = min(b - a for a, b in zip(ends, ends[1:], strict=False))
        span = Fraction(4) if self.substitutes else 4 * (1 - least)
        self._settle(Fraction(self.epsilon) / span, OfRecords(self.orders))

    def one(self, x: Points, source: Source) -> list[int]:
        """Draw the ticks."""
        return self.cut(x, source)[1]

    def law(self, x: Points) -> Law:
        """Return the law of the ticks, as rows of `support`."""
        return Law.finite(joint_log_weights(x, self.lattice.targets(x.n, [0]), self.c), error=1e-11)


def joint_log_weights(x: Points, row: Targets, c: float) -> NDArray[np.float64]:
    r"""Return :math:`\ln W_D(o)` for all ascending tuples, by going through all ranks.

    The definition itself, written apart from the sampler it judges: for small inputs.
    """
    counts = np.bincount(list(x), minlength=x.cells)
    below = np.concatenate(([0], np.cumsum(counts)))
    shift = np.zeros(row.m + 1) if row.shift is None else row.shift
    t = np.diff(row.T[0], prepend=0) + shift
    logs = []
    for o in combinations_with_replacement(range(x.cells), row.m):
        message = {0: 0.0}
        for j, v in enumerate(o):
            reached: dict[int, list[float]] = {}
            for before, log_weight in message.items():
                for r in range(max(below[v], before), below[v + 1] + 1):
                    reached.setdefault(r, []).append(log_weight - c * abs(r - before - t[j]))
            message = {r: float(np.logaddexp.reduce(parts)) for r, parts in reached.items()}
        ends = [w - c * abs(x.n - r - t[-1]) for r, w in message.items()]
        cells = sum(lgamma(counts[v] + 1) - lgamma(counts[v] + o.count(v) + 1) for v in set(o))
        logs.append(float(np.logaddexp.reduce(ends)) + cells)
    return np.array(logs)
