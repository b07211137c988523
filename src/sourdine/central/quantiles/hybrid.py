r"""Two levels of JointExp, for many quantiles.

One draw of :math:`m` quantiles errs like a bridge of :math:`m + 1` Laplace steps, so by
:math:`\sqrt m`; two levels of about :math:`\sqrt m` each err by :math:`\sqrt[4]{m}` at half the
budget.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain, combinations_with_replacement, pairwise, product
from math import sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from attrs import field, frozen

from sourdine.central.quantiles.algorithm import QuantileMechanism
from sourdine.central.quantiles.expected import two_level_error
from sourdine.central.quantiles.joint import JointFree, by_ranks, free_law, joint_log_weights
from sourdine.central.quantiles.lattice import Fixed, FreeTotal, rounded_goals
from sourdine.central.quantiles.sampler import JointSampler, first_reach
from sourdine.central.quantiles.slices import Slices, cut_logs, sliced, slices_logs
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import integer
from sourdine.mechanisms.mechanism import read_beta, settle
from sourdine.privacy import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine.central.quantiles.algorithm import Drawn
    from sourdine.central.quantiles.chain import Targets
    from sourdine.central.quantiles.joint import Cut
    from sourdine.central.quantiles.points import Points
    from sourdine.central.quantiles.slices import Sampler
    from sourdine.exact.parameters import Number
    from sourdine.laws import Law
    from sourdine.noise import Source

__all__ = ["Hybrid"]


def _stride(x: int | None) -> int:
    """Return the stride; 0 where it was left out."""
    return 0 if x is None else integer(x, "stride", least=2)


@frozen(kw_only=True)
class Hybrid(QuantileMechanism):
    r"""Draw every :math:`s`-th quantile jointly with a free total, then the rest slice by slice.

    Level one is `JointFree` at :math:`\varepsilon/2` for :math:`q_s, q_{2s}, \ldots`; it gives
    ticks, a total :math:`N`, and the ranks at which the ticks cut the records. Level two is
    JointExp at :math:`\varepsilon/2` in each slice, on the cells from its left to its right tick,
    with the targets :math:`\lfloor q_jN + \tfrac12\rfloor` less that of the slice's left end. The
    ranks are used, not published.

    Parameters
    ----------
    stride
        :math:`s`, about :math:`\sqrt{m+1}` if left out: then both levels have as many quantiles.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy, ties or not. *Proof*. Let :math:`z` be
    independent uniform positions of all records inside their cells, and :math:`p` of the level-one
    quantiles inside theirs; given the ticks :math:`o`, they decide which tied records lie in
    which slice. The pair :math:`(z, p)` and :math:`(k, o)` are drawn together with weight
    :math:`e^{-c\sum_j|n_j - t_j|}`; only the cut matters. So, with
    :math:`M_2(o' \mid z, p, k, o)` the law of level two for that cut and total,

    .. math::

        P_D(k, o, o') = \frac{1}{Z_D}\,
        E_{z,p}\left[e^{-c\sum|n_j - t_j|} M_2(o' \mid z, p, k, o)\right].

    Let :math:`D'` have one more record, with its own position, the common records keeping theirs.
    For all positions the first factor moves by at most :math:`e^{\pm c}`; the slices of :math:`D'`
    are those of :math:`D` with one record added to one of them, so the second moves by at most
    :math:`e^{\pm 2c}` (`JointExp` with given targets); :math:`Z_D` moves by at most
    :math:`e^{\pm c}`. In all :math:`2c + 2c = \varepsilon`. Under substitution everything happens
    twice, at half the decay. *Checked by* ``test_hybrid_law_keeps_the_claim``.
    """

    levels: ClassVar[int] = 2
    """How many levels share epsilon."""

    stride: int = field(default=None, converter=_stride)

    def check(self) -> None:
        """Choose the stride, or refuse one that leaves nothing to draw first."""
        m = len(self.orders)
        stride = self.stride or max(2, round(sqrt(m + 1)))
        if not 2 <= stride <= m:
            raise ParameterError(
                "stride",
                "be from 2 to the number of quantiles",
                f"{stride} for {m}",
                "Leave {stride} out, or take JointFree for few quantiles.",
                stride=LEFT_OUT,
            )
        settle(self, stride=stride)
        _ = self.first

    @cached_property
    def first(self) -> JointFree:
        """Level one."""
        return JointFree(
            epsilon=self.epsilon / self.levels,
            q=self.orders[self.stride - 1 :: self.stride],
            cells=self.cells,
            relation=self.relation,
            rows=self.rows,
        )

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""A draw of range :math:`\varepsilon/l` for each of :math:`l` levels.

        All positions in cells may be told too: then each level is a draw of its own, with weights
        on a space that is the same for both data sets. *Checked by*
        ``test_whole_curve[quantiles.hybrid.add_remove]`` and ``[quantiles.levels.add_remove]``.
        """
        return (Part.range(self.epsilon / self.levels, self.levels),)

    def windows(self, n: int) -> list[tuple[int, int]]:
        """Return the ranks that a draw mostly needs."""
        half = int(first_reach(self.stride) / (2 * self.first.c) + 25 / self.first.c) + 8
        inner = [(round(q * n) - half, round(q * n) + half) for q in self.orders]
        return self.first.windows(n) + inner

    def one(self, x: Points, source: Source) -> list[int]:
        """Draw the total's number, the first level's ticks, then those of each slice."""
        return self._within(Slices(x, self.inside), self.first.cut(x, source), source)

    def many(self, x: Points, size: int, source: Source) -> list[Drawn]:
        """Draw many times from weights that are summed up once."""
        first = JointSampler(x, self.first.lattice, self.first.c)
        slices = Slices(x, self.inside)
        return [self._within(slices, first.draw(source), source) for _ in range(size)]

    def _within(self, slices: Slices, cut: Cut, source: Source) -> list[int]:
        """Draw the ticks of each slice that the first level cuts."""
        k, ticks, ranks = cut
        return [k, *ticks, *slices.draw(ticks, ranks, self.goals(k), source)]

    def goals(self, k: int) -> list[list[int]]:
        """Return the cumulative targets inside each slice for the total's number k."""
        total = self.first.lattice.h * k
        return sliced([*rounded_goals(self.orders, total), total], self.stride)

    def inside(self, points: Points, goals: tuple[int, ...]) -> Sampler:
        """Return what draws the quantiles of a slice."""
        return JointSampler(points, Fixed.of(goals), self.first.c)

    def published(self, drawn: Drawn) -> NDArray[np.int64]:
        """Return the ticks of both levels, in order."""
        return np.sort(np.asarray(drawn[1:], np.int64))

    def law(self, x: Points) -> Law:
        """Return the law of both levels, as rows of `support`."""
        ks = range(self.totals)
        ranks, logs = by_ranks(x, self.first.lattice.targets(x.n, ks), self.first.c)
        goals = [self.goals(k) for k in ks]

        def inside(i: int, r: int) -> NDArray[np.float64]:
            return self._second(x, self._first_level()[i], ranks[r], goals)

        weights = cut_logs(logs, inside)
        every = FreeTotal(self.orders, self.first.lattice.h)
        volume = self.first.log_volume
        return free_law(weights, x.n, every, self.first.c, volume)

    def support(self) -> NDArray[np.int64]:
        """Return every total's number, first level's ticks, and ticks of the slices."""
        found = []
        for o in self._first_level():
            slices = zip(pairwise((0, *o, self.cells - 1)), self._sizes(), strict=True)
            inner = [list(self.ticks_inside(a, b, m)) for (a, b), m in slices]
            found += [(*o, *chain.from_iterable(ticks)) for ticks in product(*inner)]
        tuples = self._all(iter(found))
        ks = np.repeat(np.arange(self.totals), len(tuples))
        return np.column_stack((ks, np.tile(tuples, (self.totals, 1))))

    @property
    def totals(self) -> int:
        """How many totals the law tells apart."""
        return self.first.totals

    def _first_level(self) -> list[tuple[int, ...]]:
        return list(combinations_with_replacement(range(self.cells), len(self.first.orders)))

    def _sizes(self) -> list[int]:
        """Return how many quantiles each slice has."""
        return [len(goals) - 1 for goals in self.goals(0)]

    def _second(
        self, x: Points, o: tuple[int, ...], r: tuple[int, ...], goals: list[list[list[int]]]
    ) -> NDArray[np.float64]:
        """Return the log probabilities of the slices' ticks for a cut; a row for each total."""
        return slices_logs(x, (o, r), goals, self.logs_inside)

    def ticks_inside(self, low: int, high: int, m: int) -> Iterator[tuple[int, ...]]:
        """Yield all that m quantiles of a slice between two ticks can be."""
        return combinations_with_replacement(range(low, high + 1), m)

    def logs_inside(self, points: Points, targets: Targets) -> NDArray[np.float64]:
        """Return the log probabilities of a slice's ticks; a row for each row of targets."""
        logs = joint_log_weights(points, targets, self.first.c)
        return np.asarray(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))

    def total(self, drawn: Drawn) -> int:
        """Return the first level's total."""
        return self.first.total(drawn)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return a bound that all rank errors keep: both levels' together."""
        half = read_beta(beta) / 2
        slices = len(self.first.orders) + 1
        return self.first.error(half, n) + self.first.error(half / slices, n)

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return the error of both levels' bridges."""
        del n
        return two_level_error(self.orders, self.stride, read_beta(beta)) / self.first.c
