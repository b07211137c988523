"""What the randomisers of a category share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import exp_neg, given, integer, positive
from sourdine.laws import Law
from sourdine.mechanisms.mechanism import read_beta, settle
from sourdine.mechanisms.randomized_response import FrequencyOracle
from sourdine.privacy import LOCAL, Guarantee

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.exact import Number, Real


# ---- What the randomisers of this package share: their parameters, and how wrong a report is -----


MOST_CATEGORIES = (1 << 24) - 1  # so that no tally has more than 2**24 cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle(FrequencyOracle):
    r"""An :math:`\varepsilon`-LDP report of one of :math:`k` categories.

    A report is as wrong as it can be, 1, if it does not support the person's category, else 0.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0.
    categories
        :math:`k`, at least 2.
    """

    most: ClassVar[int] = MOST_CATEGORIES

    epsilon: Number
    categories: int
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        epsilon = positive(self.epsilon, "epsilon")
        categories = read_categories(self.categories, self.most)
        guarantee = Guarantee(epsilon, 0, LOCAL)
        settle(self, epsilon=epsilon, categories=categories, guarantee=guarantee)

    @property
    @abstractmethod
    def miss(self) -> Real:
        r"""The chance :math:`1 - p` that a report does not support the truth, to any precision."""

    @abstractmethod
    def supports(self, y: NDArray[np.int64], x: int) -> NDArray[np.bool_]:
        """Return which outcomes of `law` support a category."""

    def law(self, x: int) -> Law:
        right = self.supports(np.arange(self.codes), x)
        return Law.finite(np.where(right, 0.0, -float(self.epsilon)))

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.where(self.supports(y, x), 0.0, 1.0)

    def error(self, beta: Number = 0.05) -> float:
        return float(self.miss.above() > read_beta(beta))


@lru_cache(1024)
def share(weight: int, other: int, drop: Fraction) -> Real:
    r"""Return :math:`\frac{w e^{-d}}{u + w e^{-d}}` to any precision.

    It is the chance of something of weight :math:`w e^{-d}` against one of weight :math:`u`. The
    same object is returned for the same numbers: coins are quick where they know theirs.
    """
    b = weight * exp_neg(drop)
    return b / (other + b)


def read_categories(categories: object, most: int) -> int:
    k = integer(categories, "categories", least=2)
    if k > most:
        hint = "Group the answers first, to {categories} or fewer, or use RandomizedResponse."
        raise ParameterError("categories", f"be at most {most}", given(k), hint, categories=most)
    return k


# ---- Reports of one bit for each category, packed into bytes -------------------------------------
#
# Category :math:`v` is bit :math:`v \bmod 8` of byte :math:`\lfloor v/8 \rfloor`; the bits after
# the last category are 0. As a whole number the report is :math:`\sum_v 2^v` over the bits that are
# 1.
#
# The ones of each category are counted without unpacking. Every other bit of a byte makes four
# fields of two bits, so three bytes can be added without a carry; then fields of four bits take
# five such sums, and fields of eight bits seventeen of those: 255 rows in all.


LARGEST = 16  # categories at most for which the law is written down
WORD = 62  # outcomes of up to this many categories fit in 64 bits
COINS = 1 << 20
BYTES = 1 << 19
STAGES = ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F))
ADDED = (3, 5, 17)


@dataclass(frozen=True, slots=True, kw_only=True)
class BitRows(Oracle):
    """A frequency oracle whose report supports the categories whose bits are 1."""

    @property
    def width(self) -> int:
        return -(-self.categories // 8)

    @property
    def codes(self) -> int:
        return 1 << self.categories

    @property
    def cells(self) -> int:
        return self.categories

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        return ones(reports)[: self.categories]

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows, from any source, have nothing after the last category."""
        if reports.dtype != np.uint8 or reports.shape[1:] != (self.width,):
            return np.zeros(len(reports), np.bool_)
        used = self.categories - 8 * (self.width - 1)
        return np.asarray(reports[:, -1] >> (used - 1) < 2)

    def outcomes(self, reports: NDArray[Any]) -> NDArray[Any]:
        if self.categories > WORD:
            return np.array([int.from_bytes(row.tobytes(), "little") for row in reports], object)
        wide = np.zeros((len(reports), 8), np.uint8)
        wide[:, : self.width] = reports
        return wide.view("<i8")[:, 0].astype(np.int64, copy=False)

    def supports(self, y: NDArray[np.int64], x: int) -> NDArray[np.bool_]:
        return (np.asarray(y) >> x & 1).astype(np.bool_)

    def every(self) -> NDArray[np.uint8]:
        """Return the bits of all outcomes, a row each, if they are few enough for a law."""
        if self.categories > LARGEST:
            must = f"be at most {LARGEST} for a law over all rows of bits"
            hint = "Use the law of fewer categories."
            raise ParameterError("categories", must, str(self.categories), hint)
        wide = np.arange(self.codes, dtype="<u2")[:, None].view(np.uint8)
        return np.unpackbits(wide, axis=1, bitorder="little")[:, : self.categories]


def people_at_once(categories: int) -> int:
    """Return for how many people rows are drawn at once: enough work, and within the cache."""
    return max(1, COINS // categories)


def ones(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return how many of the rows have each bit."""
    people, width = rows.shape
    counts = np.zeros((width, 8), np.int64)
    sets = 8 * max(1, min(BYTES // width, people + 255) // (8 * 255))
    for start in range(0, people, 255 * sets):
        part = rows[start : start + 255 * sets].reshape(-1)
        full = np.pad(part, (0, 255 * sets * width - part.size))
        _add(counts, full.view(np.uint64).reshape(*ADDED, -1), 0, 0)
    return counts.ravel()


def _add(counts: NDArray[np.int64], fields: NDArray[np.uint64], stage: int, position: int) -> None:
    """Widen the fields until they are bytes, and add these to the counts of their position."""
    if stage == len(STAGES):
        octets = fields.view(np.uint8).reshape(-1, len(counts))
        counts[:, position] += octets.sum(axis=0, dtype=np.int64)
        return
    shift, mask = STAGES[stage]
    for upper in (0, shift):
        wider = np.add.reduce(fields >> np.uint64(upper) & np.uint64(mask), axis=0)
        _add(counts, wider, stage + 1, position + upper)
