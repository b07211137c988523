"""Which keys may be named: counts above a private threshold."""

from __future__ import annotations

from functools import cached_property
from itertools import product
from math import ceil, exp, log, log1p
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind, positive
from sourdine.laws import Law, Product
from sourdine.laws.compare import Tail
from sourdine.mechanisms import mechanism as read
from sourdine.mechanisms.laplace import laplace_error, laplace_law
from sourdine.mechanisms.mechanism import Mechanism, Specimen, read_beta, register
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE, Guarantee, Part, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.noise import Source
    from sourdine.results.release import Release

    Counts = dict[str, int]


MOST_ROWS = 1000


def _delta(x: Number) -> Fraction:
    delta = positive(x, "delta")
    if delta >= 1:
        hint = "Use a small value, such as {delta}."
        raise ParameterError("delta", "be below 1", given(x), hint, delta=1e-6)
    return delta


def _rows(x: int) -> int:
    rows = integer(x, "rows", least=1)
    if rows > MOST_ROWS:
        must = f"be at most {MOST_ROWS}"
        raise ParameterError("rows", must, str(rows), "Use {rows} or less.", rows=MOST_ROWS)
    return rows


@frozen(kw_only=True)
class NamedCounts(Mechanism["dict[str, int]"]):
    r"""Add Laplace noise to the count of each key that occurs; name those that reach a threshold.

    Parameters
    ----------
    epsilon, delta
        The promise. Without a delta no key could be named: one that only one person has would
        be seen with that person and never without.
    rows
        How many records one person may own, k.
    relation
        Which data sets are neighbours.

    Notes
    -----
    The noise has the scale :math:`s = k/\varepsilon`, or :math:`2k/\varepsilon` if records are
    replaced; write :math:`q = e^{-1/s}`, so that :math:`P(\eta \ge m) = q^m/(1 + q)` for
    :math:`m \ge 1`. Let :math:`D` hold keys that :math:`D'` does not, j of them with counts
    :math:`c_i` that add up to :math:`c \le k`, all of one person; :math:`D'` may hold j' keys
    that :math:`D` does not (only if records are replaced). Call the release on the common keys K.

    *Claim*: (epsilon, delta)-differential privacy with the least threshold
    :math:`\tau > k` at which

    .. math:: \frac{q^\tau}{1+q} \max_{j, j'} \left(j\,q^{-(k-j+1)} +
              j'\,q^{-(k_2 - j - j' + 1)}\right) \le \delta, \qquad k_2 = k \text{ or } 2k.

    *Proof*. Let :math:`\delta_D` be the probability that a key of D alone is named; by the union
    bound it is at most :math:`\sum_i q^{\tau - c_i}/(1+q)`, and :math:`c_i \le k - j + 1`. Then
    :math:`P(M(D) \in S) \le P(K(D) \in S) + \delta_D`. What is left of the person's records moves
    the common counts by at most :math:`k_2 - c - c'`, so
    :math:`P(K(D) \in S) \le q^{-(k_2-c-c')} P(K(D') \in S)`, and
    :math:`P(K(D') \in S) \le P(M(D') \in S) + \delta_{D'}`. The factor is at most
    :math:`e^\varepsilon`, and before :math:`\delta_{D'}` it leaves
    :math:`\sum_i q^{\tau - (k_2 - c - c' + c'_i)}/(1+q)`, where :math:`c \ge j` and
    :math:`c' - c'_i \ge j' - 1`. *Checked by* ``test_named_counts_keep_their_claim``,
    ``test_exact_worst_case[histogram.unlisted.add_remove]`` and
    ``[histogram.unlisted.substitute]``.

    References
    ----------
    .. [1] A. Korolova, K. Kenthapadi, N. Mishra, A. Ntoulas, "Releasing search queries and clicks
       privately", WWW 2009.

    Examples
    --------
    >>> NamedCounts(epsilon=1, delta=1e-6).threshold
    15
    """

    epsilon: Fraction = field(converter=read.epsilon)
    delta: Fraction = field(converter=_delta)
    rows: int = field(default=1, converter=_rows)
    relation: Relation = field(default=ADD_REMOVE, converter=read.relation)

    @property
    def moves(self) -> int:
        """How far one person moves the counts of keys that others have too."""
        return (2 if self.relation is SUBSTITUTE else 1) * self.rows

    @cached_property
    def scale(self) -> Fraction:
        return self.moves / self.epsilon

    @cached_property
    def threshold(self) -> int:
        """The least count that is named; the logarithms are trusted to a part in 10**9."""
        rate, mine = float(1 / self.scale), np.arange(self.rows + 1)
        theirs = mine if self.relation is SUBSTITUTE else np.zeros(1, np.int64)
        with np.errstate(divide="ignore"):
            first = np.log(mine) + rate * (self.rows - mine + 1)
            second = np.log(theirs) + rate * (self.moves - mine[:, None] - theirs + 1)
            worst = float(np.logaddexp(first[:, None], second).max()) - log1p(exp(-rate))
        return max(self.rows + 1, ceil((worst - log(self.delta)) / rate * (1 + 1e-9)))

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.delta, self.relation)

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""Noise on the common keys, moved by :math:`k_2`, unless a key of one person is named.

        *Checked by* ``test_whole_curve[histogram.unlisted.add_remove]`` and
        ``[histogram.unlisted.substitute]``.
        """
        return Part.laplace(self.moves, self.scale), Part.delta(self.delta)

    def read(self, x: object) -> Counts:
        if not isinstance(x, dict):
            raise ParameterTypeError(
                "the input", "be a dict of counts", kind(x), "Count the keys first."
            )
        return {key: int(c) for key, c in x.items() if c > 0}

    def draw(self, x: Counts, size: int | None, source: Source) -> Any:
        """Add the noises and keep what reaches the threshold; many times, as rows of `law`."""
        keys = sorted(x)
        if size is not None:
            drawn = noise.discrete_laplace(self.scale, (size, len(x)), source=source)
            return np.maximum(drawn + [x[key] for key in keys], self.hidden)
        noises = noise.discrete_laplace(self.scale, len(x), source=source).tolist()
        noisy = {key: x[key] + k for key, k in zip(keys, noises, strict=True)}
        return {key: v for key, v in noisy.items() if v >= self.threshold}

    @property
    def hidden(self) -> int:
        """The cell of `law` that stands for a key that is not named."""
        return self.threshold - 1

    def law(self, x: Counts) -> Product:
        """Return the law of each key's count, all below the threshold in one cell."""
        keys = sorted(x)
        factors = tuple(self._law(x[key]) for key in keys)
        return Product(factors, tuple(keys), Law.finite([0.0], self.hidden))

    def _law(self, count: int) -> Law:
        whole, tau, rate = laplace_law(count, self.scale), self.threshold, 1 / self.scale
        first = max(count, tau)
        start, weight = [self.hidden], [log(float(whole.cdf([self.hidden])[0]))]
        length, slope = [1], [0.0]
        if first > tau:
            start, length = [*start, tau], [*length, first - tau]
            weight, slope = [*weight, float(whole.log_pmf([tau])[0])], [*slope, float(rate)]
        tail = Tail.geometric(float(whole.log_pmf([first])[0]), rate)
        return Law.of(start, length, weight, slope, right=tail, slack=1e-13)

    def outcome(self, release: Release) -> Counts:
        return dict(release.value)

    def loss(self, x: Counts, y: NDArray[np.int64]) -> NDArray[np.float64]:
        away = np.abs(np.asarray(y, np.float64) - [x[key] for key in sorted(x)])
        return np.where(y == self.hidden, 0.0, away)

    def error(self, beta: Number = 0.05) -> float:
        """Return what the noise of one key passes with probability ``beta`` at most."""
        return laplace_error(self.scale, read_beta(beta))

    def half(self, beta: float) -> float:
        r"""Return how far a named count is from the truth, with probability ``1 - beta``.

        This is *given* that the key is named, at the noisy count v. A true count of at least
        :math:`\tau` is named with probability 1/2 at least, so the chance that its noise passes h
        at most doubles. A true count below :math:`\tau` leaves :math:`P(v' \ge v) =
        q^{v-\tau}`, so it is ruled out if :math:`v - h > \tau`, and else the lower end is 1.
        *Checked by* ``test_intervals_of_named_keys_hold_given_that_they_are_named``.
        """
        return laplace_error(self.scale, beta / 2)

    def neighbours(self, x: Counts) -> Iterator[Counts]:
        """Yield the counts that one person's records, of old or of new keys, lie between."""
        keys = [*x, *(f"\0new{i}" for i in range(self.rows))]
        for moves in product(range(-self.rows, self.rows + 1), repeat=len(keys)):
            moved = zip(keys, moves, strict=True)
            y = self.read({key: x.get(key, 0) + move for key, move in moved})
            if self.adjacent(x, y):
                yield y

    def adjacent(self, x: Counts, y: Counts) -> bool:
        moves = [y.get(key, 0) - x.get(key, 0) for key in {*x, *y}]
        gained, lost = sum(m for m in moves if m > 0), -sum(m for m in moves if m < 0)
        if self.relation is SUBSTITUTE:
            return max(gained, lost) <= self.rows
        return min(gained, lost) == 0 and gained + lost <= self.rows


def _specimen(relation: Relation) -> Specimen:
    return Specimen(
        name=f"histogram.unlisted.{relation.value}", tight=False, draws=20_000,
        make=lambda epsilon: NamedCounts(epsilon=epsilon, delta=0.005, relation=relation),
        inputs=({"a": 1}, {"a": 2}, {"a": 1, "b": 2}, {"a": 40, "b": 38}),
    )  # fmt: skip


for _relation in (ADD_REMOVE, SUBSTITUTE):
    register(_specimen(_relation))
