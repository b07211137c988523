"""Quantiles drawn one by one at an equal share of epsilon; IndExp draws each by QExp."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from sourdine.central.quantiles.algorithm import QuantileMechanism
from sourdine.central.quantiles.exponential import QExp, rank_bound
from sourdine.laws import Law
from sourdine.mechanisms.mechanism import read_beta
from sourdine.privacy import Part

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.central.quantiles.points import Points
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

__all__ = ["IndExp", "Independent", "rank_errors"]


@frozen(kw_only=True)
class Independent(QuantileMechanism):
    r"""Draw each of the :math:`m` quantiles on its own; the losses add up.

    What is drawn for a quantile is a number below `outcomes`, a tick unless said otherwise. The
    draws may come in any order; they are published sorted, which passes no rank error that the
    worst of them had not.
    """

    @property
    def share(self) -> Fraction:
        """The epsilon of each quantile."""
        return self.epsilon / len(self.orders)

    @property
    def parts(self) -> tuple[Part, ...]:
        """So many draws of a pure share, unless more is known of one."""
        return (Part.pure(self.share, len(self.orders)),)

    @property
    def outcomes(self) -> int:
        """How many outcomes the draw of one quantile has."""
        return self.cells

    @abstractmethod
    def single(self, x: Points, j: int, source: Source) -> int:
        """Draw the j-th quantile."""

    @abstractmethod
    def single_law(self, x: Points, j: int) -> Law:
        """Return the law of the j-th quantile's draw."""

    def one(self, x: Points, source: Source) -> Sequence[int]:
        """Draw all quantiles, in no order."""
        return [self.single(x, j, source) for j in range(len(self.orders))]

    def support(self) -> NDArray[np.int64]:
        """Return all m-tuples of outcomes."""
        return self._all(product(range(self.outcomes), repeat=len(self.orders)))

    def law(self, x: Points) -> Law:
        """Return the product of the quantiles' laws, over `support`."""
        laws = [self.single_law(x, j) for j in range(len(self.orders))]
        logs = np.zeros(1)
        for law in laws:
            logs = np.add.outer(logs, law.log_pmf(np.arange(self.outcomes))).ravel()
        return Law.finite(logs, slack=sum(law.slack for law in laws))


@frozen(kw_only=True)
class IndExp(Independent):
    r"""Draw each of :math:`m` quantiles by `QExp` at :math:`\varepsilon/m`.

    Simple, and :math:`m` times as wrong as one quantile alone; the yardstick of the others.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy, by composition. *Checked by*
    ``test_indexp_worst_case`` and ``test_indexp_ten_percent_too_weak_is_rejected``. The draws are
    unsorted, the published ticks sorted: ``test_indexp_publishes_in_order``.

    References
    ----------
    .. [1] J. Gillenwater, M. Joseph, A. Kulesza, "Differentially private quantiles", ICML 2021
       (as the base line).

    Examples
    --------
    >>> quartiles = IndExp(epsilon=1, q=[0.25, 0.5, 0.75], cells=101)
    >>> quartiles.windows(1_000_000)[1]
    (499852, 500148)
    """

    def check(self) -> None:
        """Refuse an epsilon too small for floats."""
        _ = self.singles

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""So many draws of range :math:`\varepsilon/m`.

        *Checked by* ``test_whole_curve[quantiles.exponential.several.add_remove]``.
        """
        return (Part.range(self.share, len(self.orders)),)

    @cached_property
    def singles(self) -> tuple[QExp, ...]:
        """What draws each quantile."""
        share, cells, relation, rows = self.share, self.cells, self.relation, self.rows
        each = (
            QExp(epsilon=share, q=[q], cells=cells, relation=relation, rows=rows)
            for q in self.orders
        )
        return tuple(each)

    def windows(self, n: int) -> list[tuple[int, int]]:
        """Return the ranks that the draws weigh, first and last, a pair for each quantile."""
        return [part.windows(n)[0] for part in self.singles]

    def single(self, x: Points, j: int, source: Source) -> int:
        """Draw the j-th quantile by QExp."""
        return self.singles[j].one(x, source)[0]

    def single_law(self, x: Points, j: int) -> Law:
        """Return QExp's law."""
        return self.singles[j].law(x)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        r"""Return the greatest of the quantiles' bounds at :math:`\beta/m`."""
        each = read_beta(beta) / len(self.singles)
        return max(rank_bound(self.cells, part.c, each, n) for part in self.singles)


def rank_errors(
    targets: Sequence[float], below: NDArray[np.int64], up_to: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return each row's largest distance from a target to the ranks of what was drawn for it."""
    t = np.asarray(targets, np.float64)
    return np.asarray(np.maximum(np.maximum(below - t, t - up_to), 0.0).max(axis=1))
