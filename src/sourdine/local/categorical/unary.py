"""Unary encoding of one category, and flipped sets of several."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, exp, expm1, log, log1p
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from sourdine import noise
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import Real, exp_neg, given, integer, one_of
from sourdine.laws import Law
from sourdine.local.categorical.oracle import BitRows, Oracle, people_at_once, share
from sourdine.mechanisms.mechanism import Specimen, read_beta, register, settle
from sourdine.noise.coins import bernoulli_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.noise import Source


# ---- Unary encoding: one bit for each category, all of them flipped at random --------------------


HALF = Real.of(Fraction(1, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnaryEncoding(BitRows):
    r"""Report a bit for each category: the true one is 1 with chance p, any other with q.

    ============= ========================================== =======================================
    ``method``    :math:`p,\; q`                             :math:`n` times the variance of a rare
                                                             category
    ============= ========================================== =======================================
    ``optimal``   :math:`\frac12,\; \frac{1}{e^\varepsilon   :math:`\frac{4e^\varepsilon}
                  + 1}`                                      {(e^\varepsilon - 1)^2}`
    ``symmetric`` :math:`\frac{e^{\varepsilon/2}}            :math:`\frac{e^{\varepsilon/2}}
                  {e^{\varepsilon/2} + 1},\; 1 - p`          {(e^{\varepsilon/2} - 1)^2}`
    ============= ========================================== =======================================

    The first is OUE [1]_; the second flips every bit alike, as basic RAPPOR does [2]_.

    Parameters
    ----------
    method
        ``"optimal"`` or ``"symmetric"``.

    Notes
    -----
    *Claim*: two people's rows differ in two bits, so the worst ratio is
    :math:`\frac{p(1-q)}{q(1-p)} = e^\varepsilon` in both forms, no less. *Checked by*
    ``test_exact_worst_case[category.unary]`` and ``[category.symmetric]``. *Claim*: supports have
    the chances p and q. *Checked by* ``test_supports_have_their_chances``.

    References
    ----------
    .. [1] T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for
       frequency estimation", USENIX Security 2017.
    .. [2] U. Erlingsson, V. Pihur, A. Korolova, "RAPPOR: randomized aggregatable
       privacy-preserving ordinal response", CCS 2014.

    Examples
    --------
    >>> from sourdine.noise import SeededSource
    >>> survey = UnaryEncoding(epsilon=1, categories=12)
    >>> reports = survey.randomise([3] * 1000, source=SeededSource(1))
    >>> reports.shape, reports.dtype
    ((1000, 2), dtype('uint8'))
    >>> bool(survey.tally(reports).argmax() == 3)
    True
    """

    method: Literal["optimal", "symmetric"] = "optimal"

    def __post_init__(self) -> None:
        Oracle.__post_init__(self)
        one_of(self.method, "method", "optimal", "symmetric")

    @property
    def drop(self) -> Fraction:
        r"""The log odds :math:`\ln\frac{1-q}{q}` of a bit that is not the person's."""
        epsilon = Fraction(self.epsilon)
        return epsilon if self.method == "optimal" else epsilon / 2

    @property
    def stray(self) -> Real:
        """The chance q of a bit that is not the person's, to any precision."""
        return share(1, 1, self.drop)

    @property
    def miss(self) -> Real:
        return HALF if self.method == "optimal" else self.stray

    @property
    def chances(self) -> tuple[float, float]:
        b = exp(-float(self.drop))
        return (0.5 if self.method == "optimal" else 1 / (1 + b)), b / (1 + b)

    @property
    def noise_variance(self) -> float:
        b = exp(-float(self.drop))
        return (4 if self.method == "optimal" else 1) * b / expm1(-float(self.drop)) ** 2

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.uint8]:
        """Toss all bits, then the person's own again with its own coin."""
        drawn = np.empty((codes.size, self.width), np.uint8)
        at_once, stray, miss = people_at_once(self.categories), self.stray, self.miss
        for start in range(0, codes.size, at_once):
            part = codes[start : start + at_once]
            rows = bernoulli_bits(stray, part.size, self.categories, source=source)
            own = noise.bernoulli(miss, part.size, source=source).view(np.uint8) ^ np.uint8(1)
            place = np.arange(0, rows.size, self.width) + (part >> 3)
            bit = (part & 7).astype(np.uint8)
            flat = rows.reshape(-1)
            flat[place] = flat[place] & ~(np.uint8(1) << bit) | own << bit
            drawn[start : start + at_once] = rows
        return drawn

    def law(self, x: int) -> Law:
        bits = self.every().astype(np.float64)
        zero = -log1p(exp(-float(self.drop)))
        one = zero - float(self.drop)
        weights = zero * (1 - bits) + one * bits
        own = (log(0.5), log(0.5)) if self.method == "optimal" else (one, zero)
        weights[:, x] = np.where(bits[:, x], own[1], own[0])
        return Law.finite(weights.sum(axis=1))


# ---- Flipped sets: which of several choices a person ticked, with a random few of them changed ---


MOST_CHOICES = 16  # a tally has a cell for every set


@dataclass(frozen=True, slots=True, kw_only=True)
class FlippedSet(Oracle):
    r"""Report a set of choices in which some are flipped; few flips are likelier than many.

    A person's set :math:`S` of :math:`k` choices is a whole number, :math:`\sum_{v \in S} 2^v`. The
    set of flips :math:`F` is drawn without a look at it, and the report is :math:`S \triangle F`:

    .. math:: P(F) = \frac{1}{N + (2^k - N)b} \cdot \begin{cases} 1 & |F| \le t \\
              b = e^{-\varepsilon} & |F| > t \end{cases}, \qquad N = \sum_{a \le t} \binom ka

    So each choice is reported rightly with the same chance :math:`p`, and

    .. math:: p - q = 2p - 1 = \frac{(1 - b)\binom{k-1}{t}}{N + (2^k - N)b}

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0, whatever else the person could have ticked.
    categories
        :math:`k`, how many choices there are, from 2 to 16.
    flips
        :math:`t`, from 0 to :math:`k - 1`; without it the one of least variance.

    Notes
    -----
    *Claim*: the report is :math:`\varepsilon`-LDP for any two sets, no less: its probabilities have
    two levels, :math:`e^\varepsilon` apart, with the same total for all. *Checked by*
    ``test_exact_worst_case[category.flipped]``. *Claim*: each choice is reported with the chances p
    and q, whatever the others are. *Checked by* ``test_each_choice_has_its_chances``.

    *Why this one*. One person's whole set may change, so a bit for each choice has to share
    epsilon: its variance is that of :math:`\varepsilon/k`. To ask each person for one choice only
    costs a factor :math:`k`. The variance of a share, times the number of people, at
    :math:`k = 8` (``test_the_table_of_variances``):

    ======================== ====== ==== ==== ====
    epsilon                  0.5    1    2    4
    ======================== ====== ==== ==== ====
    a bit for each choice    255.9  63.9 15.9 3.9
    one choice for each      33.1   9.1  3.2  1.9
    flipped sets             48.3   11.7 3.1  0.7
    ======================== ====== ==== ==== ====

    At a small epsilon it has at most twice the variance of the second one, and about
    :math:`\pi/2` times for many choices (``test_a_small_epsilon_costs_at_most_a_factor_of_two``);
    from 2 on it is ahead. Its report is a set, so a table can show it, and two choices of one
    person stay together.

    References
    ----------
    .. [1] J. Duchi, M. Jordan, M. Wainwright, "Minimax optimal procedures for locally private
       estimation", JASA 113, 2018: the cube with t half of k.

    Examples
    --------
    >>> media = FlippedSet(epsilon=2, categories=4)
    >>> media.flips, round(media.noise_variance, 2)
    (1, 1.31)
    >>> media.law(0b0101).pmf([0b0101, 0b0111, 0b1111]).round(3).tolist()
    [0.154, 0.154, 0.021]
    """

    most: ClassVar[int] = MOST_CHOICES

    flips: int | None = None

    def __post_init__(self) -> None:
        Oracle.__post_init__(self)
        k = self.categories
        if self.flips is None:
            settle(self, flips=max(range(k), key=lambda t: _gap(float(self.epsilon), k, t)))
        elif integer(self.flips, "flips", least=0) >= k:
            must, hint = f"be below the number of choices ({k})", "Omit {flips} for the best value."
            raise ParameterError("flips", must, given(self.flips), hint, flips=LEFT_OUT)

    @property
    def likely(self) -> int:
        """The most flips that a likely set of them has, t."""
        return int(self.flips or 0)

    @property
    def top(self) -> int:
        return (1 << self.categories) - 1

    @property
    def miss(self) -> Real:
        few = sum(comb(self.categories - 1, a - 1) for a in range(1, self.likely + 1))
        return self._chance(few, 2 ** (self.categories - 1) - few)

    def _chance(self, few: int, many: int) -> Real:
        """Return the chance of so many likely sets of flips, and so many others."""
        b, sizes = exp_neg(Fraction(self.epsilon)), _sizes(self.categories, self.likely)
        return (few + many * b) / (sizes[0] + sizes[1] * b)

    @property
    def chances(self) -> tuple[float, float]:
        """The chances p and q that a choice is reported: of who ticked it, and of others."""
        gap = _gap(float(self.epsilon), self.categories, self.likely)
        return (1 + gap) / 2, (1 - gap) / 2

    @property
    def noise_variance(self) -> float:
        gap = _gap(float(self.epsilon), self.categories, self.likely)
        return (1 - gap * gap) / (4 * gap * gap)

    def support(self, tally: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(tally, np.int64) @ bits_of(self.categories)

    def supports(self, y: NDArray[np.int64], x: int) -> NDArray[np.bool_]:
        return (np.asarray(y) >> x & 1).astype(np.bool_)

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        k, t = self.categories, self.likely
        few, many = _sizes(k, t)
        odds = share(many, few, Fraction(self.epsilon))
        rare = noise.bernoulli(odds, codes.size, source=source)
        above = few + noise.uniform_below(many, codes.size, source=source)
        place = np.where(rare, above, noise.uniform_below(few, codes.size, source=source))
        return np.asarray(codes ^ _by_size(k)[place], np.int64)

    def law(self, x: int) -> Law:
        flips = np.bitwise_count(np.arange(self.codes) ^ x)
        return Law.finite(np.where(flips <= self.likely, 0.0, -float(self.epsilon)))

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(np.bitwise_count(np.asarray(y) ^ x), np.float64)

    def error(self, beta: Number = 0.05) -> float:
        """Return how many choices at most are reported wrongly, but for probability ``beta``."""
        k, t, chance = self.categories, self.likely, read_beta(beta)
        for flips in range(k):
            few = sum(comb(k, a) for a in range(flips + 1, t + 1))
            many = sum(comb(k, a) for a in range(max(flips, t) + 1, k + 1))
            if self._chance(few, many).above() <= chance:
                return float(flips)
        return float(k)


def _sizes(k: int, t: int) -> tuple[int, int]:
    """Return how many sets of flips are likely, and how many are not."""
    few = sum(comb(k, a) for a in range(t + 1))
    return few, 2**k - few


def _gap(epsilon: float, k: int, t: int) -> float:
    b, (few, many) = exp(-epsilon), _sizes(k, t)
    return (1 - b) * comb(k - 1, t) / (few + b * many)


@lru_cache(MOST_CHOICES)
def _by_size(k: int) -> NDArray[np.int64]:
    """Return all sets, those with few members first."""
    every = np.arange(1 << k)
    return every[np.argsort(np.bitwise_count(every), kind="stable")]


@lru_cache(MOST_CHOICES)
def bits_of(k: int) -> NDArray[np.int64]:
    """Return for each set, a row, which choices it holds."""
    return np.arange(1 << k)[:, None] >> np.arange(k) & 1


register(
    Specimen("category.unary", lambda e: UnaryEncoding(epsilon=e, categories=4), range(4)),
    Specimen(
        "category.symmetric", lambda e: UnaryEncoding(epsilon=e, categories=4, method="symmetric"),
        range(4),
    ),
    Specimen(
        "category.flipped", lambda e: FlippedSet(epsilon=e, categories=4, flips=1), (0, 5, 15)
    ),
)  # fmt: skip
