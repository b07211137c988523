"""`Product`: the joint law of independent integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.laws.compare import Certified, Losses
from sourdine.laws.law import NEGLIGIBLE, Law

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.exact import Number
    from sourdine.noise.source import Bools, Floats, Ints


MOST_CELLS = 1 << 23


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    r"""A distribution on rows of integers whose entries are independent.

    Parameters
    ----------
    factors
        The law of each entry.
    names
        The names of the entries, where the names themselves depend on private data: laws with
        different names are compared name by name.
    rest
        The law of an entry of any other name.

    Notes
    -----
    The largest log ratio of two products is the sum of those of their factors, since all entries
    may take their worst values at once. The hockey stick is summed over all rows of the entries
    whose laws differ, with tails followed until they weigh less than :math:`e^{-60}`.
    *Checked by* ``test_products_are_compared_as_all_their_rows``.

    Examples
    --------
    >>> fair, biased = Law.finite([0.0, 0.0]), Law.finite([0.0, 1.0])
    >>> apart = Product((biased, biased)).divergence(Product((fair, fair)))
    >>> round(apart.value, 4), round(2 * biased.divergence(fair).value, 4)
    (0.7598, 0.7598)
    >>> Product((fair, biased)).pmf([[0, 1], [1, 2]]).round(4).tolist()
    [0.3655, 0.0]
    """

    factors: tuple[Law, ...]
    names: tuple[str, ...] | None = None
    rest: Law | None = None

    def log_pmf(self, x: Sequence[Any] | Ints) -> Floats:
        """Return the log probability of each row; with names, a row may be a dict."""
        columns = zip(self.factors, self.rows(x).T, strict=True)
        logs = [law.log_pmf(column) for law, column in columns]
        found = np.sum(logs, axis=0) if logs else np.zeros(len(x))
        return np.where(self.knows(x), found, -np.inf)

    def rows(self, x: Sequence[Any] | Ints) -> Ints:
        """Return the entries of rows; with names, a row may be a dict without the rest."""
        listed: Any = x
        if not isinstance(x, np.ndarray) or x.dtype == object:
            listed = [self._row(row) if isinstance(row, Mapping) else row for row in x]
        return np.asarray(listed, np.int64).reshape(len(x), len(self.factors))

    def knows(self, x: Sequence[Any] | Ints) -> Bools:
        """Return for which rows every name is known."""
        if isinstance(x, np.ndarray) and x.dtype != object:
            return np.ones(len(x), bool)
        names = set(self.names or ())
        return np.array([not isinstance(row, Mapping) or set(row) <= names for row in x], bool)

    def pmf(self, x: Sequence[Any] | Ints) -> Floats:
        """Return the probability of each row."""
        return np.exp(self.log_pmf(x))

    def divergence(self, other: Product) -> Certified:
        r"""Return :math:`\sup_y \ln (P(y)/Q(y))`, with a certified upper end."""
        apart = [p.divergence(q) for p, q in self._beside(other)]
        return Certified(sum(a.value for a in apart), sum(a.upper for a in apart))

    def hockey_stick(self, other: Product, epsilon: Number) -> Certified:
        r"""Return :math:`\sum_y (P(y) - e^\varepsilon Q(y))_+`, with a certified upper end."""
        pairs = self._beside(other)
        differ = [(p, q) for p, q in pairs if not _same(p, q)]
        slack = sum(p.slack + q.slack for p, q in pairs)
        if len(differ) == 1:
            found = differ[0][0].hockey_stick(differ[0][1], epsilon)
            return Certified(found.value, min(found.upper + 2 * slack, 1.0), found.at)
        cells = [_cells(p, q) for p, q in differ]
        if np.prod([float(len(c)) for c in cells]) > MOST_CELLS:
            raise ParameterError(
                "laws of rows", "have few cells if several entries differ", "too many cells",
                "Compare smaller inputs.",
            )  # fmt: skip
        logs = [(p.log_pmf(c), q.log_pmf(c)) for (p, q), c in zip(differ, cells, strict=True)]
        here, there = (
            reduce(np.add.outer, (side[i] for side in logs), np.zeros(())) for i in range(2)
        )
        gain = np.maximum(np.exp(here) - np.exp(float(epsilon) + there), 0.0)
        value = min(float(gain.sum()), 1.0)
        beyond = sum(p.beyond + 2 * exp(-NEGLIGIBLE) for p, _ in differ)
        return Certified(value, min(value + 2 * min(slack, 1.0) + beyond, 1.0))

    def losses(self, other: Product) -> Losses:
        """Return the log ratios of the two laws, and the probability of each."""
        one = np.ones(1)
        found = Losses(np.zeros(1), one, one, 0.0, 0.0)
        for p, q in self._beside(other):
            if not _same(p, q):
                found = found.beside(p.losses(q))
        return found

    def _beside(self, other: Product) -> list[tuple[Law, Law]]:
        """Return the laws of each entry in both, for each name that either has."""
        if self.names is None or other.names is None:
            return list(zip(self.factors, other.factors, strict=True))
        names = sorted({*self.names, *other.names})
        return [(self._of(name), other._of(name)) for name in names]

    def _of(self, name: str) -> Law:
        known = dict(zip(self.names or (), self.factors, strict=True))
        return known[name] if name in known or self.rest is None else self.rest

    def _row(self, row: Mapping[str, int]) -> list[int]:
        """Return the entries of a dict, with the value of the rest for missing names."""
        left_out = self.rest.first if self.rest else 0
        return [row.get(name, left_out) for name in self.names or ()]


def alone(law: Law | Product) -> Law:
    """Return the law of one number; refuse that of a row, which cannot be mixed."""
    if isinstance(law, Product):
        raise ParameterError(
            "law", "be of one number here", "the law of a row", "Use the laws of its entries."
        )
    return law


def _cells(p: Law, q: Law) -> Ints:
    """Return all cells at which either law has weight."""
    ends = [(f.start[0], f.start[-1] + f.length[-1]) for f in (p.followed(), q.followed())]
    return np.arange(min(a for a, _ in ends), max(b for _, b in ends), dtype=np.int64)


def _same(p: Law, q: Law) -> bool:
    """Return whether the two laws have identical descriptions."""
    if p is q:
        return True
    pairs = [(p.pieces, q.pieces)]
    for a, b in ((p.left, q.left), (p.right, q.right)):
        if a and b and a.decay == b.decay:
            pairs.append((a.pieces, b.pieces))
        elif a or b:
            return False
    columns = (both for a, b in pairs for both in zip(a, b, strict=True))
    return p.beyond == q.beyond and all(np.array_equal(x, y) for x, y in columns)
