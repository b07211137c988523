r"""The pieces of a law, and comparison of two laws: divergence, hockey stick, total variation.

Both laws are cut at each other's ends, so on every common segment both are geometric and the log
ratio is a straight line: its supremum is at an end, its crossing with :math:`\varepsilon` is one
division. Parallel tails repeat their first common period indefinitely, so that period decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, lcm
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from fractions import Fraction

    from sourdine.exact import Number
    from sourdine.laws.law import Law
    from sourdine.noise.source import Bools, Floats, Ints


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


def offset_of_mass(mass: Floats, w: Floats, a: Floats, n: Floats) -> Ints:
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

    start: Ints
    length: Ints
    log_weight: Floats
    log_ratio: Floats

    @staticmethod
    def joined(*parts: Pieces) -> Pieces:
        return Pieces(*map(np.concatenate, zip(*parts, strict=True)))

    def where(self, keep: Bools) -> Pieces:
        return Pieces._make(column[keep] for column in self)

    def log_mass(self) -> Floats:
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
        return int(self.pieces.length.sum())

    @property
    def rate(self) -> Fraction:
        return self.decay / self.period

    def log_mass(self) -> float:
        """Return the logarithm of the whole tail's mass, in closed form."""
        periods = np.log(-np.expm1(-float(self.decay)))
        return float(np.logaddexp.reduce(self.pieces.log_mass()) - periods)

    def scaled(self, log_factor: float) -> Tail:
        """Return the tail with every weight times ``exp(log_factor)``."""
        p = self.pieces
        return Tail(p._replace(log_weight=p.log_weight + log_factor), self.decay)

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

    def log_pmf(self, offset: Ints) -> Floats:
        """Return the log weight of the cells at these offsets from the edge."""
        k, i = np.divmod(offset, self.period)
        j = np.searchsorted(self.pieces.start, i, side="right") - 1
        inside = (i - self.pieces.start[j]) * self.pieces.log_ratio[j]
        return np.asarray(self.pieces.log_weight[j] + inside - k * float(self.decay))


# ---- Divergence, hockey stick and total variation of two laws ------------------------------------


ROUNDING = 2.0**-49
FOLLOW = 90.0  # tails that are not parallel are followed until they weigh less than e^-90
MOST_LOSSES = 1 << 18


class Certified(NamedTuple):
    """A computed value, a certified upper end, and the cell at which it is attained."""

    value: float
    upper: float
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Segments:
    """Runs of cells on which both laws are geometric; ``repeat`` counts a tail's first period."""

    start: Ints
    length: Ints
    p: Floats
    q: Floats
    p_slope: Floats
    q_slope: Floats
    repeat: Floats
    left_over: float
    unbounded: bool


class Losses(NamedTuple):
    """The log ratios of two laws, and the probability of each under either.

    ``slack`` bounds the error of the ratios, ``beyond`` the mass that is not described.
    """

    loss: Floats
    p: Floats
    q: Floats
    slack: float
    beyond: float

    @property
    def swapped(self) -> Losses:
        """The same for the second law against the first."""
        return Losses(-self.loss, self.q, self.p, self.slack, self.beyond)

    def beside(self, other: Losses) -> Losses:
        """Return those of two independent numbers; if there are too many, dominating ones."""
        if len(self.loss) * len(other.loss) > MOST_LOSSES:
            few = int(MOST_LOSSES**0.5)
            return self.fewer(few).beside(other.fewer(few))
        with np.errstate(invalid="ignore"):
            loss = np.add.outer(self.loss, other.loss).ravel()
        p, q = (np.multiply.outer(a, b).ravel() for a, b in ((self.p, other.p), (self.q, other.q)))
        kept = (p > 0) | (q > 0)
        slack, beyond = self.slack + other.slack, self.beyond + other.beyond
        return Losses(loss[kept], p[kept], q[kept], slack, beyond)

    def fewer(self, most: int) -> Losses:
        """Return losses on a lattice of which these are a post-processing: both masses are kept."""
        finite = np.isfinite(self.loss)
        loss, p = self.loss[finite], self.p[finite]
        if len(self.loss) <= most or not len(loss):
            return self
        if np.ptp(loss):
            at = np.linspace(loss.min(), loss.max(), most - 2)
            i = np.clip(at.searchsorted(loss, side="right") - 1, 0, len(at) - 2)
            up = np.expm1(np.minimum(at[i] - loss, 0.0)) / np.expm1(at[i] - at[i + 1]) * p
            mass = np.bincount(i, p - up, len(at)) + np.bincount(i + 1, up, len(at))
        else:  # one number of several that did not move
            at, mass = loss[:1], p.sum(keepdims=True)
        rest = ~finite
        return Losses(
            np.concatenate((at, self.loss[rest])), np.concatenate((mass, self.p[rest])),
            np.concatenate((mass * np.exp(-at), self.q[rest])), self.slack + 2.0**-40, self.beyond,
        )  # fmt: skip


def losses(p: Law, other: Law) -> Losses:
    """Return the log ratios of two laws; a geometric segment is enumerated cell by cell."""
    s = _segments(p, other)
    slack = p.slack + other.slack + ROUNDING * (1.0 + float(np.abs(s.p[s.p > -inf]).max()))
    beyond = s.left_over + p.beyond + other.beyond
    if s.length.max() == s.repeat.max() == 1 and min(s.p.min(), s.q.min()) > -inf:
        return Losses(s.p - s.q, np.exp(s.p), np.exp(s.q), slack, beyond)
    along = np.where((s.p > -inf) & (s.q > -inf) & (s.p_slope != s.q_slope), s.length, 1)
    run = np.repeat(np.arange(len(along)), along)
    k = np.arange(len(run)) - np.repeat(np.cumsum(along) - along, along)
    count = np.where(along == 1, s.length, 1)[run].astype(np.float64)
    with np.errstate(invalid="ignore"):
        here, there = s.p[run] + k * s.p_slope[run], s.q[run] + k * s.q_slope[run]
        loss = np.where(here == -inf, -inf, here - there)
    masses = (
        np.where(first > -inf, np.exp(log_sum(first, slope[run], count)), 0.0) * s.repeat[run]
        for first, slope in ((here, s.p_slope), (there, s.q_slope))
    )
    some = (here > -inf) | (there > -inf)
    a, b = (mass[some] for mass in masses)
    return Losses(loss[some], a, b, slack, beyond)


def divergence(p: Law, other: Law) -> Certified:
    r"""Return :math:`\sup_y \ln (P(y)/Q(y))`, with a certified upper end."""
    s = _segments(p, other)
    here = s.p > -inf
    with np.errstate(invalid="ignore"):
        first = np.where(here, s.p - s.q, -inf)
        slope = np.where(here & (s.q > -inf), s.p_slope - s.q_slope, 0.0)
    last = first + slope * (s.length - 1)
    ends = np.maximum(first, last)
    i = int(np.argmax(ends))
    value = float(ends[i])
    at = int(s.start[i] + (s.length[i] - 1 if last[i] > first[i] else 0))
    if s.unbounded or p.beyond:
        return Certified(inf if s.unbounded else value, inf, at)
    logs = np.abs(np.concatenate((s.p[here], s.q[here & (s.q > -inf)])))
    slopes = np.abs(slope) * s.length
    rounding = ROUNDING * (1.0 + float(logs.max(initial=0.0)) + float(slopes.max(initial=0.0)))
    return Certified(value, value + p.slack + other.slack + rounding, at)


def hockey_stick(p: Law, other: Law, epsilon: Number) -> Certified:
    r"""Return :math:`\sum_y (P(y) - e^\varepsilon Q(y))_+`, with a certified upper end."""
    s, epsilon = _segments(p, other), float(epsilon)
    n = s.length.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        d = np.where(s.q > -inf, s.p - s.q - epsilon, inf)
        slope = np.where(s.q > -inf, s.p_slope - s.q_slope, 0.0)
        crossing = np.where(slope == 0.0, inf, -d / slope)
    rising, falling = slope > 0, slope < 0
    begin = np.where(rising, np.clip(np.floor(crossing) + 1, 0, n), 0.0)
    count = np.where(falling, np.clip(np.ceil(crossing), 0, n), n - begin)
    count = np.where((slope == 0) & (d <= 0), 0.0, count)
    with np.errstate(invalid="ignore"):
        p_mass = np.exp(log_sum(s.p + begin * s.p_slope, s.p_slope, count))
        q_mass = np.exp(epsilon + log_sum(s.q + begin * s.q_slope, s.q_slope, count))
        single = p_mass * -np.expm1(-np.maximum(d + begin * slope, 0.0))
    gain = np.where(n == 1, single, p_mass - np.nan_to_num(q_mass, nan=0.0))
    gain = np.where(count > 0, np.maximum(gain, 0.0), 0.0) * s.repeat
    value = min(float(gain.sum()), 1.0)
    slack = p.slack + other.slack + ROUNDING * (1.0 + float(np.abs(s.p[s.p > -inf]).max()))
    highest = np.maximum(d, d + slope * (n - 1))
    near = np.where(highest > -slack, np.exp(log_sum(s.p, s.p_slope, n)) * s.repeat, 0.0)
    upper = value + 2 * min(slack, 1.0) * float(near.sum()) + s.left_over + p.beyond
    at = int(s.start[int(np.argmax(gain))]) if value > 0 else None
    return Certified(value, min(upper, 1.0), at)


def _segments(p: Law, q: Law) -> Segments:
    a, b = p.pieces, q.pieces
    tails = p.left or p.right or q.left or q.right
    if not tails and np.array_equal(a.start, b.start) and np.array_equal(a.length, b.length):
        return Segments(
            a.start, a.length, a.log_weight, b.log_weight, a.log_ratio, b.log_ratio,
            np.ones(len(a.start)), left_over=0.0, unbounded=False,
        )  # fmt: skip
    first, end = min(p.first, q.first), max(p.end, q.end)
    left = _sides(p.left, q.left, p.first - first, q.first - first)
    right = _sides(p.right, q.right, end - p.end, end - q.end)
    p_all = _laid_out(p, left.p, right.p)
    q_all = _laid_out(q, left.q, right.q)
    ends = [v for x in (p_all, q_all) for v in (x.start, x.start + x.length)]
    cuts = np.sort(np.concatenate(ends))
    cuts = cuts[np.diff(cuts, prepend=cuts[0] - 1) > 0]
    start, length = cuts[:-1], np.diff(cuts)
    p_at, p_slope = _read(p_all, start)
    q_at, q_slope = _read(q_all, start)
    repeat = np.ones(len(start))
    repeat[start < first] = left.repeat
    repeat[start >= end] = right.repeat
    return Segments(
        start, length, p_at, q_at, p_slope, q_slope, repeat,
        left.left_over + right.left_over, left.unbounded or right.unbounded,
    )  # fmt: skip


class _Sides(NamedTuple):
    """Both tails on one side, laid out up to a common cell, and what holds beyond it."""

    p: Pieces
    q: Pieces
    repeat: float
    left_over: float
    unbounded: bool


def _sides(p: Tail | None, q: Tail | None, p_gap: int, q_gap: int) -> _Sides:
    """Follow two tails through their gaps to the common edge, and one common period further."""
    cells, logs = np.empty(0, np.int64), np.empty(0, np.float64)
    none = Pieces(cells, cells, logs, logs)
    if p is None or q is None:
        run, rest, further = none, 0.0, 0
        if p is not None:
            run, rest = followed(p, least=p_gap)
            further = int(run.length.sum()) - p_gap
        far = none if q is None else _cells(q, q_gap + further)
        return _Sides(run, far, 1.0, rest, unbounded=p is not None)
    common = lcm(p.period, q.period)
    if p.rate == q.rate:
        repeat = 1.0 / -np.expm1(-float(p.rate * common))
        near, far = _cells(p, p_gap + common), _cells(q, q_gap + common)
        return _Sides(near, far, repeat, 0.0, unbounded=False)
    run, rest = followed(p, least=p_gap + common)
    reach = int(run.length.sum()) - p_gap
    return _Sides(run, _cells(q, q_gap + reach), 1.0, rest, unbounded=p.rate < q.rate)


def followed(tail: Tail, depth: float = FOLLOW, least: int = 0) -> tuple[Pieces, float]:
    """Lay a tail out for ``least`` cells and until exp(-depth) is left; return that rest too."""
    enough = int((depth + tail.log_mass()) / float(tail.decay)) + 1
    periods = max(-(-least // tail.period), enough, 1)
    run, rest = tail.unrolled(periods)
    return run, exp(rest.log_mass())


def _cells(tail: Tail, cells: int) -> Pieces:
    """Lay out exactly the first ``cells`` cells of a tail."""
    run, _ = tail.unrolled(-(-cells // tail.period))
    length = np.clip(cells - run.start, 0, run.length)
    return run._replace(length=length).where(length > 0)


def _laid_out(law: Law, left: Pieces, right: Pieces) -> Pieces:
    outer = right._replace(start=right.start + law.end)
    return Pieces.joined(left.mirrored(law.first), law.pieces, outer)


def _read(p: Pieces, cells: Ints) -> tuple[Floats, Floats]:
    """Return log weight and slope at each cell, minus infinity outside all pieces."""
    j = np.clip(np.searchsorted(p.start, cells, side="right") - 1, 0, None)
    offset = cells - p.start[j]
    inside = (offset >= 0) & (offset < p.length[j])
    weight = np.where(inside, p.log_weight[j] + offset * p.log_ratio[j], -inf)
    return weight, np.where(inside, p.log_ratio[j], 0.0)
