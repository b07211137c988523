"""Two further means: by the exponential mechanism on a grid, and of ones among n."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, exp, log
from typing import TYPE_CHECKING, Literal

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import Real, exp_neg, integer, kind, one_of
from sourdine.laws import Law
from sourdine.mechanisms import mechanism as read
from sourdine.mechanisms.laplace import laplace_error
from sourdine.mechanisms.mechanism import Mechanism, Specimen, read_beta, read_code, register
from sourdine.noise.source import LazyUniform
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE, Guarantee, Part, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.mechanisms.mechanism import Value
    from sourdine.noise import Source

    Sums = tuple[int, int]


# ---- The mean by the exponential mechanism over the points of a grid -----------------------------


def _last(x: int) -> int:
    return integer(x, "last", least=1)


@frozen(kw_only=True)
class GridMean(Mechanism["Sums"]):
    r"""Choose a tick :math:`o` of 0 to L with :math:`P(o) \propto e^{-\lambda|\sum_i (t_i - o)|}`.

    .. math:: \lambda = \frac{\varepsilon}{2 L k}, \qquad k \text{ records to a person.}

    The input is the pair :math:`(2T, n)` of the doubled sum of ticks and their number (doubled, as
    a missing value may count as half of L).

    Parameters
    ----------
    epsilon
        The privacy loss of the choice, above 0.
    last
        L, the highest tick.
    relation
        Which data sets are neighbours.
    rows
        k, how many records one person may own.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy. A record with tick :math:`t` that is added or
    removed moves the score of :math:`o` by at most :math:`|t - o| \le \max(o, L - o)`. A scale
    of its own for each candidate would change the order of the scores, so the one scale is that of
    the worst candidate, :math:`\max_o \max(o, L - o) = L`. A replaced record moves every score by
    :math:`|t - t'| \le L` too. Then weights and their sum each move by :math:`e^{\lambda L k}` at
    most. *Checked by* ``test_the_grid_mean_keeps_its_claim`` on all neighbours of small inputs and
    by ``test_exact_worst_case[mean.exponential.add_remove]`` and ``[mean.exponential.substitute]``
    where it comes near the claim: all records at 0, so many that one cannot move the best tick.
    *Claim*: for n records the chosen tick is within :math:`\lceil \ln(1/\beta)/(\lambda n) \rceil`
    of the mean with probability :math:`1 - \beta`: on either side of the mean the law is a
    geometric one of ratio :math:`e^{-\lambda n}`, cut off. *Checked by*
    ``test_the_grid_mean_is_near``.

    As the grid becomes finer the law tends to that of the mean with Laplace noise of
    scale :math:`2(b-a)/(n\varepsilon)`, cut off at the bounds [2]_.

    References
    ----------
    .. [1] F. McSherry, K. Talwar, "Mechanism design via differential privacy", FOCS 2007.
    .. [2] Audibert 2024, section 5.1.

    Examples
    --------
    >>> choice = GridMean(epsilon=1, last=4)
    >>> choice.law((2 * 3, 1)).pmf([2, 3, 4]).round(3).tolist()  # one record, of tick 3
    [0.209, 0.236, 0.209]
    """

    epsilon: Fraction = field(converter=read.epsilon)
    last: int = field(converter=_last)
    relation: Relation = field(default=ADD_REMOVE, converter=read.relation)
    rows: int = field(default=1, converter=read.rows)

    @cached_property
    def decay(self) -> Fraction:
        return self.epsilon / (2 * self.last * self.rows)

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0, self.relation)

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""A draw of range :math:`\varepsilon`: every weight moves by :math:`e^{\lambda Lk}`.

        *Checked by* ``test_whole_curve[mean.exponential.add_remove]``.
        """
        return (Part.range(self.epsilon),)

    def read(self, x: object) -> Sums:
        """Return the doubled sum, within what n records can have, and n."""
        if not isinstance(x, tuple) or len(x) != 2:
            must, hint = "be a pair of a doubled sum and a count", "Pass a pair, such as (6, 1)."
            raise ParameterTypeError("the input", must, kind(x), hint)
        n = max(integer(x[1], "n"), 0)
        return min(max(integer(x[0], "the doubled sum"), 0), 2 * n * self.last), n

    def _sides(self, x: Sums) -> tuple[int, Fraction, Fraction]:
        """Return the last tick at or below the mean, and the scores there and one tick above."""
        doubled, n = x
        below = min(doubled // (2 * n), self.last)
        return below, Fraction(doubled, 2) - n * below, n * (below + 1) - Fraction(doubled, 2)

    def draw(self, x: Sums, size: int | None, source: Source) -> int | NDArray[np.int64]:
        draws = [self._one(x, source) for _ in range(1 if size is None else size)]
        return draws[0] if size is None else np.array(draws, np.int64)

    def _one(self, x: Sums, source: Source) -> int:
        if x[1] == 0:
            return noise.uniform_below(self.last + 1, source=source)
        below, down, up = self._sides(x)
        r = self.decay * x[1]
        if below == self.last:
            return below - noise.truncated_geometric(r, below, source=source)
        near = min(down, up)  # both weights are divided by that of the nearer side
        left = exp_neg(self.decay * (down - near)) * (1 - exp_neg(r * (below + 1)))
        right = exp_neg(self.decay * (up - near)) * (1 - exp_neg(r * (self.last - below)))
        if LazyUniform(source).below(Real.of(left) / (left + right)):
            return below - noise.truncated_geometric(r, below, source=source)
        room = self.last - below - 1
        return below + 1 + noise.truncated_geometric(r, room, source=source)

    def law(self, x: Sums) -> Law:
        if x[1] == 0:
            return Law.of([0], [self.last + 1], [0.0], [0.0])
        below, down, up = self._sides(x)
        r = float(self.decay * x[1])
        start, length = [0], [below + 1]
        weight, slope = [-float(self.decay * (down + x[1] * below))], [r]
        if below < self.last:
            start, length = [*start, below + 1], [*length, self.last - below]
            weight, slope = [*weight, -float(self.decay * up)], [*slope, -r]
        return Law.of(start, length, weight, slope)

    def loss(self, x: Sums, y: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.abs(x[0] / 2 - x[1] * np.asarray(y, np.float64))

    def error(self, beta: Number = 0.05) -> float:
        r"""Return :math:`\ln((L+1)/\beta)/\lambda`, which holds for any number of records."""
        return log((self.last + 1) / read_beta(beta)) / float(self.decay)

    def ticks(self, beta: float, n: float) -> float:
        """Return how many ticks the choice is from the mean of at least ``n`` records."""
        return float(ceil(log(1 / beta) / (float(self.decay) * n) * (1 + 1e-12)))

    def neighbours(self, x: Sums) -> Iterator[Sums]:
        doubled, n = x
        for k in range(-min(self.rows, n), self.rows + 1):
            low, high = self._moves(k)
            for moved in range(low, high + 1):
                if 0 <= doubled + moved <= 2 * self.last * (n + k):
                    yield doubled + moved, n + k

    def adjacent(self, x: Sums, y: Sums) -> bool:
        k = y[1] - x[1]
        low, high = self._moves(k)
        return abs(k) <= self.rows and low <= y[0] - x[0] <= high

    def _moves(self, k: int) -> Sums:
        """Return how far the doubled sum may move when n grows by k.

        Under substitution k records lose or gain a value and the others take another.
        """
        span = 2 * self.last
        others = span * (self.rows - abs(k)) if self.relation is SUBSTITUTE else 0
        return (-others, span * k + others) if k >= 0 else (span * k - others, others)


def _specimen(relation: str) -> Specimen:
    return Specimen(
        name=f"mean.exponential.{relation}",
        make=lambda epsilon: GridMean(epsilon=epsilon, last=20, relation=relation),
        inputs=((0, 0), (0, 80), (80, 4)), tight=False, draws=5_000, epsilon=4,
    )  # fmt: skip


for _relation in ("add_remove", "substitute"):
    register(_specimen(_relation))


# ---- The share of ones among n, by inverse sensitivity -------------------------------------------


MOST_RECORDS = 1 << 40

Method = Literal["tight", "printed"]


def _n(x: int) -> int:
    n = integer(x, "n", least=0)
    if n > MOST_RECORDS:
        raise ParameterError("n", "be at most 2**40", str(n), "Use {n} or less.", n=MOST_RECORDS)
    return n


def _method(x: Method) -> Method:
    return one_of(x, "method", "tight", "printed")


@frozen(kw_only=True)
class BernoulliMean(Mechanism[int]):
    r"""Report :math:`k` of 0 to n with :math:`P(k) \propto e^{-\lambda|k - f|}`, f the true number.

    Inverse sensitivity for a mean of zeros and ones: :math:`|k - f|` records must change before
    the truth is :math:`k`.

    Parameters
    ----------
    epsilon
        The privacy loss, above 0.
    n
        How many records there are, a public number; an f outside 0 to n counts as the nearest end.
    rows
        How many records one person may own.
    relation
        Which data sets are neighbours; f moves by at most ``rows`` between them.
    method
        ``"printed"``: :math:`\lambda = \varepsilon/2`, as in [2]_. ``"tight"``: the largest
        :math:`\lambda` that keeps the promise.

    Notes
    -----
    With :math:`q = e^{-\lambda}` the normaliser is
    :math:`Z(f) = (1 + q - q^{f+1} - q^{n-f+1})/(1 - q)`, least at both ends and greatest in the
    middle. Between :math:`f` and :math:`f + r` the loss is :math:`r\lambda` and
    :math:`|\ln Z(f+r)/Z(f)|`, which is greatest at :math:`f = 0`:

    .. math:: \varepsilon = r\lambda + \ln\frac{1 + q - q^{r+1} - q^{n-r+1}}{1 - q^{n+1}}

    for :math:`r \le n/2` (beyond, the middle's Z is used, an upper bound). *Claim*: that is the
    loss exactly, so :math:`\lambda > \varepsilon/2` is within the promise. *Checked by*
    ``test_bernoulli_conformance`` and ``test_the_printed_constant_is_not_tight``.

    References
    ----------
    .. [1] H. Asi, J. Duchi, "Instance-optimality in differential privacy via approximate inverse
       sensitivity mechanisms", NeurIPS 2020.
    .. [2] Audibert 2024, section 6.1.

    Examples
    --------
    >>> share = BernoulliMean(epsilon=1, n=100)
    >>> round(float(share.decay), 3)
    0.778
    """

    epsilon: Fraction = field(converter=read.epsilon)
    n: int = field(converter=_n)
    rows: int = field(default=1, converter=read.rows)
    relation: Relation = field(default=SUBSTITUTE, converter=read.relation)
    method: Method = field(default="tight", converter=_method)

    @cached_property
    def decay(self) -> Fraction:
        if self.method == "tight" and self.n:
            return _tight(self.epsilon, self.n, min(self.rows, self.n))
        return self.epsilon / (2 * self.rows)

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0, self.relation)

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""A draw of range :math:`2r\lambda = \varepsilon` as printed; the tight one is wider.

        *Checked by* ``test_the_printed_constant_has_a_range``.
        """
        return (Part.range(self.epsilon),) if self.method == "printed" else super().parts

    def read(self, x: object) -> int:
        return read_code(x, self.n)

    def draw(self, x: int, size: int | None, source: Source) -> Value:
        return noise.bounded_laplace(x, self.n, self.decay, size, source=source)

    def law(self, x: int) -> Law:
        """Return two geometric pieces that meet at ``x``."""
        a = float(self.decay)
        start, length, log_weight, slope = [x], [self.n + 1 - x], [0.0], [-a]
        if x > 0:
            start, length = [0, *start], [x, *length]
            log_weight, slope = [-float(self.decay * x), *log_weight], [a, *slope]
        return Law.of(start, length, log_weight, slope)

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.abs(np.asarray(y) - x).astype(np.float64)

    def error(self, beta: Number = 0.05) -> float:
        return min(float(self.n), laplace_error(1 / self.decay, read_beta(beta)))

    def neighbours(self, x: int) -> Iterator[int]:
        yield from range(max(x - self.rows, 0), min(x + self.rows, self.n) + 1)

    def adjacent(self, x: int, y: int) -> bool:
        return abs(x - y) <= self.rows


@lru_cache(256)
def _tight(epsilon: Fraction, n: int, rows: int) -> Fraction:
    """Return the largest decay that keeps the promise, less a part in 10**12."""
    goal, middle = float(epsilon), min(rows, n // 2)

    def spent(decay: float) -> float:
        q = exp(-decay)

        def z(f: int) -> float:
            return 1 + q - exp(-decay * (f + 1)) - exp(-decay * (n - f + 1))

        return rows * decay + log(z(middle) / z(0))

    low, high = goal / (2 * rows), goal / rows
    for _ in range(60):
        guess = (low + high) / 2
        low, high = (guess, high) if spent(guess) < goal else (low, guess)
    return Fraction(low) * (1 - Fraction(1, 10**12))


register(Specimen(
    name="proportion.inverse_sensitivity", tight=True, inputs=(0, 5, 12),
    make=lambda epsilon: BernoulliMean(epsilon=epsilon, n=12),
))  # fmt: skip
