"""`Law`: a distribution on the integers in closed form, and the normal quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterError
from sourdine.laws import compare
from sourdine.laws.compare import (
    Pieces,
    Tail,
    followed,
    log_sum,
    mean_offset,
    offset_of_mass,
    variance_offset,
)
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from sourdine.laws.compare import Certified
    from sourdine.noise import Source
    from sourdine.noise.source import Floats, Ints


# ---- Normal and Student's t quantiles ------------------------------------------------------------


def gaussian_quantile(beta: float) -> float:
    """Return the value that a standard normal exceeds, in absolute value, with probability beta."""
    from statistics import NormalDist

    return -NormalDist().inv_cdf(beta / 2)


def student_quantile(beta: float, freedom: int) -> float:
    """Return the value that Student's t exceeds, in absolute value, with probability ``beta``.

    Examples
    --------
    >>> round(student_quantile(0.05, 4), 2), round(student_quantile(0.05, 10**6), 2)
    (2.78, 1.96)
    """
    from scipy.special import stdtrit

    return float(-stdtrit(freedom, beta / 2))


# ---- `Law`: a distribution on the integers in closed form ----------------------------------------
#
# A law is a list of pieces (start, length, log weight, log ratio) and up to two tails, so a million
# equal cells or an endless geometric tail cost one entry each. It is the oracle of a mechanism's
# draws and the evidence for its guarantee; it depends on private data, so it is for tests, audits
# and public data, never for a release.
#
# Two numbers bound how far the floats can be from the truth. ``slack`` bounds the error of the log
# probabilities of the pieces and of where each tail begins; comparisons add what rounding does
# further out. ``beyond`` bounds the mass of cells that are not described (the far tail of a
# Gaussian); it is always counted against the claim.


ULP = 2.0**-52
NEGLIGIBLE = 60.0  # tails are followed until they weigh less than e^-60


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    r"""A distribution on the integers; build it with `of`, `finite` or `mixture`.

    Examples
    --------
    A discrete Laplace law of scale 2, at 0 and at 1:

    >>> from fractions import Fraction
    >>> def laplace(x):
    ...     tail = Tail.geometric(-0.5, Fraction(1, 2))
    ...     return Law.of([x], [1], [0.0], [0.0], left=tail, right=tail)
    >>> laplace(0).pmf([0, 1, -1]).round(4).tolist()
    [0.2449, 0.1486, 0.1486]
    >>> laplace(0).divergence(laplace(1)).value
    0.5
    """

    pieces: Pieces
    left: Tail | None
    right: Tail | None
    beyond: float
    slack: float

    @staticmethod
    def of(
        start: ArrayLike,
        length: ArrayLike,
        log_weight: ArrayLike,
        log_ratio: ArrayLike,
        *,
        left: Tail | None = None,
        right: Tail | None = None,
        log_beyond: float = -np.inf,
        slack: float = 0.0,
    ) -> Law:
        """Normalise pieces (in increasing order) and tails (from their edges outwards).

        Parameters
        ----------
        log_beyond
            Bounds the logarithm of the mass left out, in the units of the log weights.
        slack
            Bounds the error of the log weights given, beyond rounding.
        """
        p = Pieces(
            np.asarray(start, np.int64), np.asarray(length, np.int64),
            np.asarray(log_weight, np.float64), np.asarray(log_ratio, np.float64),
        )  # fmt: skip
        if not len(p.start):
            raise ParameterError("a law", "have at least one piece", "", "Add a cell.")
        if (p.length < 1).any() or (p.start[1:] < p.start[:-1] + p.length[:-1]).any():
            raise ParameterError(
                "pieces", "be in order and have length 1 or more", "", "Sort them."
            )
        tails = [t.log_mass() for t in (left, right) if t]
        log_z = float(np.logaddexp.reduce(np.append(p.log_mass(), tails)))
        omitted = exp(min(log_beyond - log_z, 0.0))
        outer = [np.abs(t.pieces.log_weight).max() + float(t.decay) for t in (left, right) if t]
        size = 1 + abs(log_z) + max(np.abs(p.log_weight).max(), *outer, 0.0)
        size += np.abs(p.length * p.log_ratio).max()
        return Law(
            p._replace(log_weight=p.log_weight - log_z), left and left.scaled(-log_z),
            right and right.scaled(-log_z), beyond=omitted,
            slack=slack + omitted + ULP * (8 * float(size) + 2 * len(p.start) + 64),
        )  # fmt: skip

    @staticmethod
    def finite(log_weights: ArrayLike, start: int = 0, slack: float = 0.0) -> Law:
        """Return the law on cells ``start, start + 1, ...`` with these log weights.

        Cells of weight zero (log weight minus infinity) are left out.
        """
        w = np.asarray(log_weights, np.float64)
        if np.isnan(w).any():
            raise ParameterError("log_weights", "be numbers", "NaN", "Use -inf for no weight.")
        cells = start + np.flatnonzero(w > -np.inf)
        w = w[w > -np.inf]
        return Law.of(cells, np.ones_like(cells), w, np.zeros_like(w), slack=slack)

    @staticmethod
    def two_levels(first: int, width: int, cells: int, drop: float) -> Law:
        """Return the law on 0 to ``cells - 1`` with a run of weight 1, and e^-drop elsewhere."""
        after = first + width
        parts = [(0, first, -drop), (first, width, 0.0), (after, cells - after, -drop)]
        start, length, weight = zip(*[p for p in parts if p[1] > 0], strict=True)
        return Law.of(start, length, weight, np.zeros(len(start)))

    @staticmethod
    def mixture(weights: Sequence[float], laws: Sequence[Law]) -> Law:
        """Return the law of drawing from ``laws[i]`` with probability ``weights[i]``.

        Laws with tails must have geometric tails of one decay.
        """
        chances = np.asarray(weights, np.float64)
        if len(chances) != len(laws) or not len(laws) or not (chances >= 0).all():
            raise ParameterError(
                "weights", f"hold one number, 0 or more, for each of the {len(laws)} laws",
                f"{len(chances)} numbers", "Use {weights}." if laws else "Mix at least one law.",
                **({"weights": [1 / len(laws)] * len(laws)} if laws else {}),
            )  # fmt: skip
        first = min(int(law.pieces.start[0]) for law in laws)
        end = max(int(law.pieces.start[-1] + law.pieces.length[-1]) for law in laws)
        cells = np.arange(first - 1, end + 1)  # one cell of each tail
        logs = np.array([law.log_pmf(cells) for law in laws])
        with np.errstate(divide="ignore"):
            w = np.logaddexp.reduce(logs + np.log(chances)[:, None], axis=0)
        keep = np.isfinite(w[1:-1])
        inner, w_in = cells[1:-1][keep], w[1:-1][keep]
        return Law.of(
            inner, np.ones_like(inner), w_in, np.zeros_like(w_in),
            left=_common_tail([law.left for law in laws], float(w[0])),
            right=_common_tail([law.right for law in laws], float(w[-1])),
            log_beyond=log(b) if (b := max(law.beyond for law in laws)) else -np.inf,
            slack=max(law.slack for law in laws),
        )  # fmt: skip

    @property
    def factors(self) -> tuple[Law, ...]:
        """The law itself, as a product of one."""
        return (self,)

    @property
    def first(self) -> int:
        """The first cell of the pieces; a left tail ends just before it."""
        return int(self.pieces.start[0])

    @property
    def end(self) -> int:
        """The cell after the last piece; a right tail begins there."""
        return int(self.pieces.start[-1] + self.pieces.length[-1])

    def log_pmf(self, cells: ArrayLike) -> Floats:
        """Return the log probability of each cell, minus infinity where there is none."""
        x = np.asarray(cells, np.int64)
        p = self.pieces
        j = np.clip(np.searchsorted(p.start, x, side="right") - 1, 0, None)
        offset = x - p.start[j]
        inside = (offset >= 0) & (offset < p.length[j])
        out = np.where(inside, p.log_weight[j] + offset * p.log_ratio[j], -np.inf)
        for tail, away in ((self.left, self.first - 1 - x), (self.right, x - self.end)):
            if tail:
                out = np.where(away >= 0, tail.log_pmf(np.maximum(away, 0)), out)
        return np.asarray(out)

    def pmf(self, cells: ArrayLike) -> Floats:
        """Return the probability of each cell."""
        return np.exp(self.log_pmf(cells))

    def cdf(self, cells: ArrayLike) -> Floats:
        """Return the probability of each cell and all below it."""
        p = self.followed()
        x = np.asarray(cells, np.int64)
        mass = np.exp(p.log_mass())
        before = np.concatenate(([0.0], np.cumsum(mass)))
        j = np.searchsorted(p.start, x, side="right") - 1
        i = np.maximum(j, 0)
        count = np.minimum(x - p.start[i] + 1, p.length[i]).astype(np.float64)
        part = np.exp(log_sum(p.log_weight[i], p.log_ratio[i], np.maximum(count, 0.0)))
        return np.asarray(np.where(j < 0, 0.0, np.minimum(before[i] + part, 1.0)))

    def quantile(self, q: ArrayLike) -> Ints:
        """Return the least cell whose cdf reaches each q."""
        p = self.followed()
        before = np.concatenate(([0.0], np.cumsum(np.exp(p.log_mass()))))
        target = np.asarray(q, np.float64) * before[-1]
        j = np.clip(np.searchsorted(before, target, side="left") - 1, 0, len(p.start) - 1)
        length = p.length[j].astype(np.float64)
        rest = np.maximum(target - before[j], 0.0)
        return np.asarray(
            p.start[j] + offset_of_mass(rest, p.log_weight[j], p.log_ratio[j], length)
        )

    def mean(self) -> float:
        """Return the mean."""
        mass, centre, _ = _piece_moments(self.followed())
        return float(mass @ centre)

    def variance(self) -> float:
        """Return the variance."""
        mass, centre, spread = _piece_moments(self.followed())
        return float(mass @ (spread + (centre - mass @ centre) ** 2))

    def expectation_abs(self, centre: int = 0) -> float:
        """Return the mean distance to ``centre``."""
        p = self.followed()
        near = np.clip(centre - p.start, 0, p.length)  # how many cells of each lie below it
        further = p._replace(
            start=p.start + near,
            length=p.length - near,
            log_weight=p.log_weight + near * p.log_ratio,
        )
        parts = Pieces.joined(p._replace(length=near), further)
        mass, mean, _ = _piece_moments(parts.where(parts.length > 0))
        return float(mass @ np.abs(mean - centre))

    def sample(self, size: int, *, source: Source = SYSTEM) -> Ints:
        """Draw by inverse cdf in floats: for plots and experiments, never for a release."""
        u = np.frombuffer(source.bytes(8 * size), np.uint64) >> np.uint64(11)
        return self.quantile((u.astype(np.float64) + 0.5) * 2.0**-53)

    divergence = compare.divergence
    hockey_stick = compare.hockey_stick
    losses = compare.losses

    def total_variation(self, other: Law) -> Certified:
        """Return half the sum of the absolute differences."""
        return self.hockey_stick(other, 0)

    def followed(self) -> Pieces:
        """Return the pieces with the tails followed until the rest is negligible."""
        parts = [self.pieces]
        if self.left:
            parts.insert(0, followed(self.left, NEGLIGIBLE)[0].mirrored(self.first))
        if self.right:
            run = followed(self.right, NEGLIGIBLE)[0]
            parts.append(run._replace(start=run.start + self.end))
        return Pieces.joined(*parts)


def _piece_moments(p: Pieces) -> tuple[Floats, Floats, Floats]:
    n = p.length.astype(np.float64)
    mass = np.exp(p.log_mass())
    return mass / mass.sum(), p.start + mean_offset(p.log_ratio, n), variance_offset(p.log_ratio, n)


def _common_tail(tails: Sequence[Tail | None], log_weight: float) -> Tail | None:
    """Return the geometric tail of a mixture, given the weight of its first cell."""
    present = [t for t in tails if t]
    if not present:
        return None
    if any(t.period != 1 or t.decay != present[0].decay for t in present):
        raise ParameterError(
            "laws", "have geometric tails of the same decay", "", "Mix laws of the same scale."
        )
    return Tail.geometric(log_weight, present[0].decay)
