r"""What lies beyond the last piece of a law: one period of pieces, repeated for ever.

Each period weighs :math:`e^{-\text{decay}}` times the one before, with a rational decay, so two
tails of one decay are known to be parallel without any rounding. A geometric tail is a period of
one cell; a staircase's tail is a period of two steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sourdine.laws.geometric import log_sum

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

__all__ = ["Pieces", "Tail"]


class Pieces(NamedTuple):
    """Runs of cells: cell ``start + i`` weighs ``exp(log_weight + i * log_ratio)``, i < length."""

    start: NDArray[np.int64]
    length: NDArray[np.int64]
    log_weight: NDArray[np.float64]
    log_ratio: NDArray[np.float64]

    @staticmethod
    def none() -> Pieces:
        """Return no pieces at all."""
        cells, logs = np.empty(0, np.int64), np.empty(0, np.float64)
        return Pieces(cells, cells, logs, logs)

    @staticmethod
    def joined(*parts: Pieces) -> Pieces:
        """Return all pieces of all parts, in the order given."""
        return Pieces(
            np.concatenate([p.start for p in parts]),
            np.concatenate([p.length for p in parts]),
            np.concatenate([p.log_weight for p in parts]),
            np.concatenate([p.log_ratio for p in parts]),
        )

    def where(self, keep: NDArray[np.bool_]) -> Pieces:
        """Return some of the pieces."""
        return Pieces(
            self.start[keep], self.length[keep], self.log_weight[keep], self.log_ratio[keep]
        )

    def log_mass(self) -> NDArray[np.float64]:
        """Return the logarithm of each piece's mass."""
        return log_sum(self.log_weight, self.log_ratio, self.length.astype(np.float64))

    def mirrored(self, edge: int) -> Pieces:
        """Return the pieces read leftwards: offset j becomes cell ``edge - 1 - j``."""
        at_end = self.log_weight + (self.length - 1) * self.log_ratio
        start = edge - self.start - self.length
        return Pieces(start[::-1], self.length[::-1], at_end[::-1], -self.log_ratio[::-1])


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """One period of pieces, by offset from the edge outwards, and how much each period loses."""

    pieces: Pieces
    decay: Fraction

    @staticmethod
    def geometric(log_weight: float, decay: Fraction) -> Tail:
        r"""Return a tail whose cell :math:`j` weighs :math:`e^{w - j\,\text{decay}}`."""
        zero, one = np.zeros(1, np.int64), np.ones(1, np.int64)
        return Tail(Pieces(zero, one, np.array([log_weight]), np.zeros(1)), decay)

    @property
    def period(self) -> int:
        """How many cells one period has."""
        return int(self.pieces.length.sum())

    @property
    def rate(self) -> Fraction:
        """Return the decay a cell."""
        return self.decay / self.period

    def log_mass(self) -> float:
        """Return the logarithm of the whole tail's mass, in closed form."""
        return float(np.logaddexp.reduce(self.pieces.log_mass())) - float(
            np.log(-np.expm1(-float(self.decay)))
        )

    def scaled(self, log_factor: float) -> Tail:
        """Return the tail with every weight times ``exp(log_factor)``."""
        return Tail(
            self.pieces._replace(log_weight=self.pieces.log_weight + log_factor), self.decay
        )

    def unrolled(self, periods: int) -> tuple[Pieces, Tail]:
        """Return the first periods as pieces by offset, and the tail that is left."""
        rest = self.scaled(-float(self.decay * periods))
        p = self.pieces
        if self.period == 1:
            run = np.array([periods] if periods else [], np.int64)
            slope = np.full(len(run), -float(self.decay))
            return Pieces(run * 0, run, np.full(len(run), p.log_weight[0]), slope), rest
        k = np.arange(periods)[:, None]
        start = (p.start + k * self.period).ravel()
        length = np.broadcast_to(p.length, (periods, len(p.length))).ravel()
        log_weight = (p.log_weight - k * float(self.decay)).ravel()
        log_ratio = np.broadcast_to(p.log_ratio, (periods, len(p.length))).ravel()
        return Pieces(start, length, log_weight, log_ratio), rest

    def log_pmf(self, offset: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the log weight of the cells at these offsets from the edge."""
        k, i = np.divmod(offset, self.period)
        j = np.searchsorted(self.pieces.start, i, side="right") - 1
        inside = (i - self.pieces.start[j]) * self.pieces.log_ratio[j]
        return np.asarray(self.pieces.log_weight[j] + inside - k * float(self.decay))
