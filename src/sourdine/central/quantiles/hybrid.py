r"""Two levels of JointExp, for many quantiles.

One draw of :math:`m` quantiles errs like a bridge of :math:`m + 1` Laplace steps, so by
:math:`\sqrt m`; two levels of about :math:`\sqrt m` each err by :math:`\sqrt[4]{m}` at half the
budget.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain, combinations_with_replacement, pairwise, product
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from sourdine.central.quantiles.algorithm import QuantileMechanism
from sourdine.central.quantiles.chain import Targets
from sourdine.central.quantiles.expected import two_level_error
from sourdine.central.quantiles.joint import JointFree, by_ranks, free_law, joint_log_weights
from sourdine.central.quantiles.lattice import Fixed, FreeTotal, rounded_goals
from sourdine.central.quantiles.points import NotReadError
from sourdine.central.quantiles.sampler import JointSampler, first_reach
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import integer
from sourdine.mechanisms.mechanism import read_beta, settle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.central.quantiles.algorithm import Drawn
    from sourdine.central.quantiles.joint import Cut
    from sourdine.central.quantiles.points import Points
    from sourdine.exact.parameters import Number
    from sourdine.laws import Law
    from sourdine.noise import Source

    Slices = dict[tuple[tuple[int, int], tuple[int, int], tuple[int, ...]], JointSampler]

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
        :math:`s`, about :math:`\sqrt{m+1}` if left out.

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
            epsilon=self.epsilon / 2,
            q=self.orders[self.stride - 1 :: self.stride],
            cells=self.cells,
            relation=self.relation,
            rows=self.rows,
        )

    def windows(self, n: int) -> list[tuple[int, int]]:
        """Return the ranks that a draw mostly needs."""
        half = int(first_reach(self.stride) / (2 * self.first.c) + 25 / self.first.c) + 8
        inner = [(round(q * n) - half, round(q * n) + half) for q in self.orders]
        return self.first.windows(n) + inner

    def one(self, x: Points, source: Source) -> list[int]:
        """Draw the total's number, the first level's ticks, then those of each slice."""
        return self._within(x, self.first.cut(x, source), {}, source)

    def many(self, x: Points, size: int, source: Source) -> list[Drawn]:
        """Draw many times from weights that are summed up once."""
        first = JointSampler(x, self.first.lattice, self.first.c)
        slices: Slices = {}
        return [self._within(x, first.draw(source), slices, source) for _ in range(size)]

    def _within(self, x: Points, cut: Cut, slices: Slices, source: Source) -> list[int]:
        """Draw the ticks of each slice that the first level cuts."""
        k, ticks, ranks = cut
        drawn = [k, *ticks]
        cuts, places = [0, *ranks, x.n], [0, *ticks, self.cells - 1]
        for i, goals in enumerate(self.goals(k)):
            if len(goals) > 1:
                key = (cuts[i], cuts[i + 1]), (places[i], places[i + 1]), tuple(goals)
                if key not in slices:
                    slices[key] = self._slice(x, *key)
                drawn += [places[i] + tick for tick in slices[key].draw(source)[1]]
        return drawn

    def goals(self, k: int) -> list[list[int]]:
        """Return the cumulative targets inside each slice for the total's number k."""
        total = self.first.lattice.h * k
        goals = [*rounded_goals(self.orders, total), total]
        s, m = self.stride, len(self.orders)
        ends = [-1, *range(s - 1, m, s), m]
        base = [0, *goals]
        return [[base[j + 1] - base[a + 1] for j in range(a + 1, b + 1)] for a, b in pairwise(ends)]

    def _slice(
        self, x: Points, ranks: tuple[int, int], ticks: tuple[int, int], goals: tuple[int, ...]
    ) -> JointSampler:
        lattice, c = Fixed.of(goals), self.first.c
        try:
            return JointSampler(x.cut(ranks, ticks), lattice, c)
        except NotReadError:
            return JointSampler(x.complete().cut(ranks, ticks), lattice, c)

    def published(self, drawn: Drawn) -> NDArray[np.int64]:
        """Return the ticks of both levels, in order."""
        return np.sort(np.asarray(drawn[1:], np.int64))

    def law(self, x: Points) -> Law:
        """Return the law of both levels, as rows of `support`."""
        ks = range(self.first.totals)
        ranks, logs = by_ranks(x, self.first.lattice.targets(x.n, ks), self.first.c)
        goals = [self.goals(k) for k in ks]
        parts = []
        for i, o in enumerate(self._first_level()):
            cuts = [r for r in range(len(ranks)) if logs[0, i, r] > -np.inf]
            second = [self._second(x, o, ranks[r], goals) + logs[:, i, r, None] for r in cuts]
            parts.append(np.logaddexp.reduce(np.array(second), axis=0))
        every = FreeTotal(self.orders, self.first.lattice.h)
        volume = self.first.log_volume
        return free_law(np.concatenate(parts, axis=1), x.n, every, self.first.c, volume)

    def support(self) -> NDArray[np.int64]:
        """Return every total's number, first level's ticks, and ticks of the slices."""
        found = []
        for o in self._first_level():
            slices = zip(pairwise((0, *o, self.cells - 1)), self._sizes(), strict=True)
            inner = [combinations_with_replacement(range(a, b + 1), m) for (a, b), m in slices]
            found += [(*o, *chain.from_iterable(ticks)) for ticks in product(*inner)]
        tuples = self._all(iter(found))
        ks = np.repeat(np.arange(self.first.totals), len(tuples))
        return np.column_stack((ks, np.tile(tuples, (self.first.totals, 1))))

    def _first_level(self) -> list[tuple[int, ...]]:
        return list(combinations_with_replacement(range(self.cells), len(self.first.orders)))

    def _sizes(self) -> list[int]:
        """Return how many quantiles each slice has."""
        return [len(goals) - 1 for goals in self.goals(0)]

    def _second(
        self, x: Points, o: tuple[int, ...], r: tuple[int, ...], goals: list[list[list[int]]]
    ) -> NDArray[np.float64]:
        """Return the log probabilities of the slices' ticks for a cut; a row for each total."""
        logs = np.zeros((len(goals), 1))
        parts = zip(pairwise((0, *r, x.n)), pairwise((0, *o, self.cells - 1)), strict=True)
        for i, (ranks, ticks) in enumerate(parts):
            if len(goals[0][i]) == 1:
                continue
            part = x.cut(ranks, ticks)
            rows = Targets(part.n, np.array([row[i] for row in goals], np.int64))
            inner = joint_log_weights(part, rows, self.first.c)
            inner -= np.logaddexp.reduce(inner, axis=1, keepdims=True)
            logs = (logs[:, :, None] + inner[:, None, :]).reshape(len(goals), -1)
        return logs

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
