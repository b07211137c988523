"""The pieces and tails that a law consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


# ---- Sums over one piece: cells :math:`i = 0, \dots, n-1` of weight :math:`e^{w + i a}` ----------
#
# All functions are vectorised over pieces and stable for every slope :math:`a`, zero included.


def log_sum(w: Floats, a: Floats, n: Floats) -> Floats:
    r"""Return :math:`\ln \sum_{i<n} e^{w + i a}`, minus infinity where :math:`n = 0`."""
    w, a, n = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (w, a, n)))
    top = w + np.maximum(a, 0.0) * np.maximum(n - 1, 0)  # the heaviest cell
    slope = np.abs(a)
    steep = slope > 0
    ratio = np.divide(np.expm1(-slope * n), np.expm1(-slope), out=np.array(n), where=steep)
    with np.errstate(divide="ignore"):
        return np.where(n > 0, top + np.log(np.maximum(ratio, 0.0)), -np.inf)


def offset_of_mass(
    mass: Floats,
    w: Floats,
    a: Floats,
    n: Floats,
) -> NDArray[np.int64]:
    r"""Return the least :math:`k` in :math:`0..n-1` whose first :math:`k+1` cells hold ``mass``."""
    flat = np.abs(a) * n < 1e-12
    with np.errstate(divide="ignore", invalid="ignore"):
        cells = np.exp(np.log(mass) - w)  # in units of the first cell
        curved = np.log1p(np.maximum(cells * np.expm1(a), -1.0)) / a
    guess = np.ceil(np.where(flat, cells, curved)) - 1
    k = np.clip(np.nan_to_num(guess, nan=0.0, posinf=0.0), 0, n - 1)
    k = np.where(np.isposinf(guess), n - 1, k)
    for _ in range(2):  # a rounding error moves the guess by one cell at most
        k = np.where((k > 0) & (np.exp(log_sum(w, a, k)) >= mass), k - 1, k)
        k = np.where((k < n - 1) & (np.exp(log_sum(w, a, k + 1)) < mass), k + 1, k)
    return k.astype(np.int64)


def mean_offset(a: Floats, n: Floats) -> Floats:
    r"""Return the mean of :math:`i`: :math:`1/(e^{-a}-1) - n/(e^{-an}-1)`."""
    flat = np.abs(a * n) < 1e-4
    safe = np.where(flat, 1.0, a)
    with np.errstate(over="ignore"):
        exact = 1 / np.expm1(-safe) - n / np.expm1(-safe * n)
    return np.where(flat, (n - 1) / 2 + a * (n * n - 1) / 12, exact)


def variance_offset(a: Floats, n: Floats) -> Floats:
    r"""Return the variance of :math:`i`: with :math:`s(x) = x^2/(2\sinh(x/2))^2`, a difference."""
    flat = np.abs(a * n) < 3e-3
    safe = np.where(flat, 1.0, a)
    with np.errstate(over="ignore"):
        exact = 1 / (2 * np.sinh(safe / 2)) ** 2 - (n / (2 * np.sinh(safe * n / 2))) ** 2
    return np.where(flat, (n * n - 1) / 12 - a * a * (n**4 - 1) / 240, exact)


# ---- Tails: one period of pieces, repeated indefinitely ------------------------------------------
#
# Each period weighs :math:`e^{-\text{decay}}` times the one before, with a rational decay, so two
# tails of one decay are known to be parallel without any rounding. A geometric tail is a period of
# one cell; a staircase's tail is a period of two steps.


class Pieces(NamedTuple):
    """Runs of cells: cell ``start + i`` weighs ``exp(log_weight + i * log_ratio)``, i < length."""

    start: NDArray[np.int64]
    length: NDArray[np.int64]
    log_weight: NDArray[np.float64]
    log_ratio: NDArray[np.float64]

    @staticmethod
    def none() -> Pieces:
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
    """One period of pieces, by offset from the edge outwards, and its decay."""

    pieces: Pieces
    decay: Fraction

    @staticmethod
    def geometric(log_weight: float, decay: Fraction) -> Tail:
        r"""Return a tail whose cell :math:`j` weighs :math:`e^{w - j\,\text{decay}}`."""
        zero, one = np.zeros(1, np.int64), np.ones(1, np.int64)
        return Tail(Pieces(zero, one, np.array([log_weight]), np.zeros(1)), decay)

    @property
    def period(self) -> int:
        """The number of cells of one period."""
        return int(self.pieces.length.sum())

    @property
    def rate(self) -> Fraction:
        """Return the decay per cell."""
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
