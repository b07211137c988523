"""Subset selection: a random set of categories that mostly holds the true one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, expm1
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine import noise
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import exp_neg, given, integer
from sourdine.laws import Law
from sourdine.local.categorical.oracle import BitRows, Oracle, people_at_once, share
from sourdine.mechanisms.mechanism import Specimen, register, settle
from sourdine.noise.coins import bernoulli_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact import Real
    from sourdine.noise import Source


FEWEST = 1 << 14  # people whose sets are mended together: fewer would not be worth a round


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetSelection(BitRows):
    r"""Report a set of :math:`w` categories; sets that hold the true one are likelier.

    .. math:: p = \frac{w e^\varepsilon}{w e^\varepsilon + k - w}, \qquad
              q = \frac{w - p}{k - 1}, \qquad
              \frac{q(1-q)}{(p-q)^2} = \frac{(w - 1 + (k-w)b)(w + (k-1-w)b)}{w(k-w)(1-b)^2}

    with :math:`b = e^{-\varepsilon}`. No other randomiser of this package has a smaller variance at
    the best :math:`w`, near :math:`k/(e^\varepsilon + 1)`; with :math:`w = 1` this is
    `RandomizedResponse`.

    Parameters
    ----------
    size
        :math:`w`, from 1 to :math:`k - 1`; without it the one of least variance.

    Notes
    -----
    *Claim*: a set has probability proportional to 1 or to :math:`e^{-\varepsilon}`, with the same
    total for all, so the report is :math:`\varepsilon`-LDP, no less. *Checked by*
    ``test_exact_worst_case[category.subset]``. *Claim*: supports have the chances p and q.
    *Checked by* ``test_supports_have_their_chances``.

    *How sets are drawn*. With probability :math:`\frac{w(1-b)}{w + (k-w)b}` the true category is
    put in, else no category is special: it then lies in the set with probability :math:`p`, and
    the rest is uniform either way. Independent coins make a set that is uniform among those of its
    size; taking out, or putting in, any category that is there, or not, keeps it so. This goes on
    until the size is right (``test_sets_are_uniform``).

    References
    ----------
    .. [1] M. Ye, A. Barg, "Optimal schemes for discrete distribution estimation under locally
       differential privacy", IEEE Trans. Information Theory 64(8), 2018.

    Examples
    --------
    >>> survey = SubsetSelection(epsilon=1, categories=10)
    >>> survey.size, round(survey.noise_variance, 2)
    (2, 2.82)
    >>> np.bitwise_count(survey.randomise([3, 3, 3])).sum(axis=1).tolist()
    [2, 2, 2]
    """

    size: int | None = None

    def __post_init__(self) -> None:
        Oracle.__post_init__(self)
        epsilon, k = float(self.epsilon), self.categories
        if self.size is None:  # that of least variance lies next to k / (e^epsilon + 1)
            near = int(k * exp(-epsilon) / (1 + exp(-epsilon)))
            w = np.arange(max(1, near - 1), min(k, near + 4))
            settle(self, size=int(w[_noise_variance(epsilon, k, w).argmin()]))
        elif integer(self.size, "size", least=1) >= k:
            must, got = f"be below the number of categories ({k})", given(self.size)
            raise ParameterError(
                "size", must, got, "Omit {size} for the best value.", size=LEFT_OUT
            )

    @property
    def chosen(self) -> int:
        """The size w of the sets."""
        return int(self.size or 1)

    @property
    def miss(self) -> Real:
        return share(self.categories - self.chosen, self.chosen, Fraction(self.epsilon))

    @property
    def chances(self) -> tuple[float, float]:
        """The chances p and q that a set holds a category: the true one, and any other."""
        w, others = self.chosen, (self.categories - self.chosen) * exp(-float(self.epsilon))
        p = w / (w + others)
        return p, p * (w - 1 + others) / (self.categories - 1)

    @property
    def noise_variance(self) -> float:
        w = np.array([self.chosen])
        return float(_noise_variance(float(self.epsilon), self.categories, w)[0])

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows, from any source, are sets of the right size."""
        valid = BitRows.valid(self, reports)
        if valid.any():
            valid &= np.bitwise_count(reports).sum(axis=1) == self.chosen
        return valid

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.uint8]:
        w, k = self.chosen, self.categories
        put_in = _put_in(Fraction(self.epsilon), k, w)
        drawn = np.empty((codes.size, self.width), np.uint8)
        at_once = max(people_at_once(k), FEWEST)
        for start in range(0, codes.size, at_once):
            part = codes[start : start + at_once]
            rows = bernoulli_bits(Fraction(w, k), part.size, k, source=source)
            special = np.where(noise.bernoulli(put_in, part.size, source=source), part, -1)
            (lane,) = (special >= 0).nonzero()
            rows[lane, part[lane] >> 3] |= _bit(part[lane])
            _mend(rows, w, k, special, source)
            drawn[start : start + at_once] = rows
        return drawn

    def law(self, x: int) -> Law:
        bits = self.every()
        weights = np.where(bits[:, x] == 1, 0.0, -float(self.epsilon))
        return Law.finite(np.where(bits.sum(axis=1) == self.chosen, weights, -np.inf))


@lru_cache(256)
def _put_in(epsilon: Fraction, k: int, w: int) -> Real:
    """Return the chance that the true category is put in, to any precision."""
    b = exp_neg(epsilon)
    return w * (1 - b) / (w + (k - w) * b)


def _mend(
    rows: NDArray[np.uint8], size: int, categories: int, special: NDArray[np.int64], source: Source
) -> None:
    """Put in or take out any categories but the special ones until every set has its size."""
    flat, width = rows.reshape(-1), rows.shape[1]
    lacking = size - np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
    (lane,) = lacking.nonzero()
    first, special, lacking = lane * width, special[lane], lacking[lane]
    while first.size:
        any_one = noise.uniform_below(categories, first.size, source=source)
        place, bit = first + (any_one >> 3), _bit(any_one)
        there = flat[place] & bit != 0
        moves = (there == (lacking < 0)) & (any_one != special)
        flat[place] ^= bit * moves
        lacking -= np.sign(lacking) * moves
        still = lacking != 0
        first, special, lacking = first[still], special[still], lacking[still]


def _bit(category: NDArray[np.int64]) -> NDArray[np.uint8]:
    return np.uint8(1) << (category & 7).astype(np.uint8)


def _noise_variance(epsilon: float, k: int, w: NDArray[np.int64]) -> NDArray[np.float64]:
    b = exp(-epsilon)
    above = (w - 1 + (k - w) * b) * (w + (k - 1 - w) * b)
    return np.asarray(above / (w * (k - w) * expm1(-epsilon) ** 2))


register(
    Specimen(
        "category.subset", lambda e: SubsetSelection(epsilon=e, categories=6, size=2), range(6)
    )
)
