r"""Three levels of JointExp, for thousands of quantiles on a grid too wide for a tree of its ticks.

Two levels of about :math:`\sqrt m` quantiles err like a bridge of so many steps; three levels of
about :math:`\sqrt[3]m` have bridges of fewer steps at a third of the budget.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, combinations_with_replacement, pairwise, product
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from attrs import field, frozen

from sourdine.central.quantiles.chain import Targets
from sourdine.central.quantiles.expected import many_level_error
from sourdine.central.quantiles.hybrid import Hybrid
from sourdine.central.quantiles.joint import by_ranks, joint_log_weights
from sourdine.central.quantiles.lattice import Fixed, FreeTotal
from sourdine.central.quantiles.points import Points
from sourdine.central.quantiles.sampler import JointSampler
from sourdine.central.quantiles.slices import Slices, cut_logs, sliced, slices_logs
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import integer
from sourdine.mechanisms.mechanism import read_beta, settle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine.central.quantiles.slices import Sampler
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

__all__ = ["ThreeLevels"]


def _inner(x: int | None) -> int:
    """Return the stride inside slices; 0 where it was left out."""
    return 0 if x is None else integer(x, "inner", least=2)


@frozen(kw_only=True)
class ThreeLevels(Hybrid):
    r"""`Hybrid` with slices that are drawn in two levels themselves.

    Level one is `JointFree` at :math:`\varepsilon/3` for every :math:`s`-th quantile. In each of
    its slices level two draws every :math:`t`-th of those inside, and level three, in each slice of
    level two, the rest; both are JointExp at :math:`\varepsilon/3` with targets that follow from
    the total of level one. Ranks are used, not published.

    Parameters
    ----------
    stride
        :math:`s`, about :math:`(m+1)^{2/3}` if left out.
    inner
        :math:`t`, about :math:`(m+1)^{1/3}` if left out.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy, ties or not, with
    :math:`c = \varepsilon/6`, or :math:`\varepsilon/12` under substitution. *Proof*. As for
    `Hybrid`, with :math:`M_2` itself a two-level draw. Let :math:`z, p` be the positions of the
    records and of level one's quantiles inside their cells, and for each slice :math:`i` let
    :math:`z_i, p_i` be fresh positions of its records and of its level-two quantiles:

    .. math::

        P_D(k, o, o', o'') = \frac{1}{Z_D}\, E_{z,p}\Bigl[e^{-c\sum|n_j - t_j|} \prod_i
        \frac{1}{Z_i} E_{z_i, p_i}\bigl[e^{-c\sum|n'_j - t'_j|} M_3(o''_i \mid z_i, p_i, o'_i)
        \bigr]\Bigr].

    Let :math:`D'` have one record more, the common records keeping all their positions. Whatever
    :math:`z` and :math:`p`, the record lies in one slice of level one, and the records of the other
    slices are the same; whatever :math:`z_i` and :math:`p_i`, it lies in one slice of level two.
    So the first factor moves by at most :math:`e^{\pm c}` and :math:`Z_D` by :math:`e^{\pm c}`; in
    one slice the second factor and :math:`Z_i` move by :math:`e^{\pm c}` each, and in one slice of
    that :math:`M_3` moves by :math:`e^{\pm 2c}` (`JointExp` with given targets). In all
    :math:`6c = \varepsilon`. Under substitution everything happens twice, at half the decay.
    *Checked by* ``test_three_levels_law_keeps_the_claim`` and
    ``test_exact_worst_case[quantiles.levels.add_remove]``.

    Examples
    --------
    >>> many = ThreeLevels(epsilon=1, q=[j / 1000 for j in range(1, 1000)], cells=1 << 40)
    >>> many.stride, many.inner, len(many.first.orders)
    (100, 10, 9)
    """

    levels: ClassVar[int] = 3

    inner: int = field(default=None, converter=_inner)

    def check(self) -> None:
        """Choose both strides, or refuse some that leave a level with nothing to draw."""
        m = len(self.orders)
        root = (m + 1) ** (1 / 3)
        inner = self.inner or max(2, round(root))
        stride = self.stride or max(inner + 1, round(root * root))
        if not 2 <= inner < stride <= m:
            raise ParameterError(
                "stride",
                "be above inner and at most the number of quantiles",
                f"{stride} and {inner} for {m}",
                "Leave {stride} and {inner} out, or take Hybrid for few quantiles.",
                stride=LEFT_OUT, inner=LEFT_OUT,
            )  # fmt: skip
        settle(self, stride=stride, inner=inner)
        _ = self.first

    def inside(self, points: Points, goals: tuple[int, ...]) -> Sampler:
        """Return what draws the quantiles of a slice: in two levels, if there are so many."""
        if len(goals) <= self.inner:
            return super().inside(points, goals)
        return _Nested(points, goals, self.inner, self.first.c)

    def ticks_inside(self, low: int, high: int, m: int) -> Iterator[tuple[int, ...]]:
        """Yield level two's ticks, then those of its slices."""
        if m < self.inner:
            yield from super().ticks_inside(low, high, m)
            return
        sizes = [len(part) - 1 for part in sliced([0] * (m + 1), self.inner)]
        for o in super().ticks_inside(low, high, m // self.inner):
            ends = zip(pairwise((low, *o, high)), sizes, strict=True)
            slices = [list(super(ThreeLevels, self).ticks_inside(a, b, k)) for (a, b), k in ends]
            for ticks in product(*slices):
                yield (*o, *chain.from_iterable(ticks))

    def logs_inside(self, points: Points, targets: Targets) -> NDArray[np.float64]:
        """Return the log probabilities of both levels inside a slice."""
        if targets.m < self.inner:
            return super().logs_inside(points, targets)
        m = targets.m // self.inner
        own = [*range(self.inner - 1, targets.m, self.inner), targets.m]
        ranks, logs = by_ranks(points, Targets(points.n, targets.T[:, own]), self.first.c)
        outer = list(combinations_with_replacement(range(points.cells), m))
        goals = [sliced(row, self.inner) for row in targets.T.tolist()]

        def last(part: Points, own: Targets) -> NDArray[np.float64]:
            rows = tuple(map(tuple, own.T.tolist()))
            return _last_logs(tuple(part), part.cells, rows, self.first.c)

        def inside(i: int, r: int) -> NDArray[np.float64]:
            return slices_logs(points, (outer[i], ranks[r]), goals, last)

        both = cut_logs(logs, inside)
        return np.asarray(both - np.logaddexp.reduce(both, axis=1, keepdims=True))

    @property
    def totals(self) -> int:
        """How many totals the law tells apart: enough for a dozen records, close orders or not."""
        return max(super().totals, FreeTotal(self.orders, self.first.lattice.h).beyond(12, 0) + 1)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return a bound that all rank errors keep: the three levels' together."""
        third, m = read_beta(beta) / 3, len(self.orders)
        largest = max((self.stride - 1) // self.inner, self.inner - 1, 1)
        more = max(1.0, largest / len(self.first.orders))
        slices = m // self.inner + 1
        return self.first.error(third, n) + 2 * more * self.first.error(third / slices, n)

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return the error of the three levels' bridges."""
        del n
        strides = (self.stride, self.inner)
        return many_level_error(self.orders, strides, read_beta(beta)) / self.first.c


@lru_cache(2048)
def _last_logs(
    ticks: tuple[int, ...], cells: int, rows: tuple[tuple[int, ...], ...], c: float
) -> NDArray[np.float64]:
    """Return the log probabilities of a slice of level three: the same ones come often."""
    logs = joint_log_weights(Points.of(ticks, cells), Targets(len(ticks), np.array(rows)), c)
    return np.asarray(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))


class _Nested:
    """A slice drawn in two levels, both with given targets."""

    __slots__ = ("_first", "_goals", "_slices")

    def __init__(self, points: Points, goals: tuple[int, ...], stride: int, c: float) -> None:
        aims = [*goals[stride - 1 : -1 : stride], goals[-1]]
        self._first = JointSampler(points, Fixed.of(aims), c)
        self._goals = sliced(goals, stride)
        self._slices = Slices(points, lambda part, own: JointSampler(part, Fixed.of(own), c))

    def draw(self, source: Source) -> tuple[int, list[int], list[int]]:
        """Draw level two's ticks, then those of its slices."""
        k, ticks, ranks = self._first.draw(source)
        return k, [*ticks, *self._slices.draw(ticks, ranks, self._goals, source)], ranks
