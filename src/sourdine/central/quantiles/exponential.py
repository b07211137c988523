"""QExp: one quantile by the exponential mechanism over ranks."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil, exp, floor, inf, log, nextafter
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from sourdine import noise
from sourdine.central.quantiles.algorithm import QuantileMechanism, one_error
from sourdine.errors import ParameterError
from sourdine.laws import Law
from sourdine.mechanisms.mechanism import read_beta
from sourdine.privacy import Part

if TYPE_CHECKING:
    from sourdine.central.quantiles.points import Points
    from sourdine.exact import Number
    from sourdine.noise import Source
    from sourdine.noise.source import Floats


FAR = 1 << 26
"""Rank errors beyond this many records count as this many."""

ROUNDING = Fraction(1, 1 << 20)
"""This part of epsilon pays for the rounding of float weights."""

LEAST = Fraction(1, 10**6)
"""The least epsilon of one draw: below, `ROUNDING` would not pay."""

MARGIN = 45.0
MOST_RECORDS = 1 << 63


@frozen(kw_only=True)
class QExp(QuantileMechanism):
    r"""Draw one quantile, a cell weighing by how far its ranks are from :math:`t = qn`.

    A cell with :math:`f` records and :math:`L` records below it has the weight

    .. math:: w(v) = \frac{1}{f+1} \sum_{r=L}^{L+f} e^{-c\,|r - t|}, \qquad
              c = \frac{\varepsilon}{2\max(q, 1-q)} \text{ (add/remove)}, \quad
              c = \frac{\varepsilon}{2} \text{ (substitution)}.

    Without ties this is Smith's mechanism on the grid; the records of one cell are spread evenly
    over it. ``rows`` divides :math:`c`.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy. Let a record be added at :math:`x`. A cell
    above :math:`x` has :math:`r' = r + 1`, one below :math:`r' = r`, and :math:`t' = t + q`, so
    :math:`|r' - t'|` differs from :math:`|r - t|` by at most :math:`1 - q` and :math:`q`. In the
    cell of :math:`x` itself let :math:`r` be uniform on :math:`0 \ldots f` and
    :math:`r' = r + 1` with probability :math:`(r+1)/(f+2)`, else :math:`r' = r`: then :math:`r'`
    is uniform on :math:`0 \ldots f+1`, so the two averages are matched term by term, each within
    :math:`\max(q, 1-q)` in the exponent. Hence :math:`\ln w` moves by at most
    :math:`c \max(q, 1-q)`, the logarithm of the sum as much the other way. Under substitution
    :math:`t` stays and :math:`r` moves by at most 1 (add and remove in turn, in opposite
    directions); a value gone missing is a record removed, and :math:`\max(q, 1-q) < 1`.
    *Checked by* ``test_qexp_worst_case`` and ``test_qexp_ten_percent_too_weak_is_rejected``.

    *Claim*: floats do not break it. Weights are computed with :math:`|r - t|` counted up to
    :math:`R = 2^{26}`, which moves no more than :math:`|r - t|` does. Every logarithm errs by
    :math:`\eta \le 2^{-44} + c R 2^{-49}` at most (three roundings of the mass, the exponential's
    units in the last place, and a few roundings of a number up to :math:`cR`), so the loss grows
    by at most :math:`4\eta`. As :math:`c \le \varepsilon`, that is below
    :math:`2^{-20}\varepsilon` (`ROUNDING`) for every :math:`\varepsilon \ge 10^{-6}`, and
    :math:`c` is computed from the rest. *Checked by* ``test_floats_pay_for_their_rounding``.

    *Claim*: the draw has this law, though it looks at few ranks. Ranks within
    :math:`W = (45 + \ln B)/c` of the nearest to :math:`t` are weighed; all others weigh at most
    :math:`B e^{-cW}` together. A draw that falls there reads all records, and either takes one of
    those ranks or, in the part of the bound that they do not fill, starts again. *Checked by*
    ``test_qexp_draws_follow_the_law`` and ``test_qexp_draws_outside_the_window``.

    *Claim*: the rank error passes `error` with probability :math:`\beta` at most: the nearest rank
    weighs :math:`e^{-c/2}/(n+1)` or more, all cells with an error above :math:`e` together
    :math:`B e^{-ce}` at most. *Checked by* ``test_qexp_error_bound``.

    References
    ----------
    .. [1] A. Smith, "Privacy-preserving statistical estimation with optimal convergence rates",
       STOC 2011.
    .. [2] Audibert 2024, section 4.1: QExp, against noise on the quantile itself.

    Examples
    --------
    >>> median = QExp(epsilon=1, q=[0.5], cells=101)
    >>> round(median.c, 4)
    1.0
    >>> median.windows(1_000_000)
    [(499951, 500049)]
    >>> bool(0 <= median.release(list(range(20, 80))).value[0] <= 100)
    True
    """

    def check(self) -> None:
        if len(self.orders) != 1:
            raise ParameterError(
                "q", "be a single order for QExp", str(len(self.orders)), "Use {q}, or use IndExp.",
                q=[0.5],
            )  # fmt: skip
        read_share(self.epsilon)

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""A draw of range :math:`\varepsilon`: four weights, each with its rounding, decide it.

        *Checked by* ``test_whole_curve[quantiles.exponential.add_remove]`` and
        ``[quantiles.exponential.substitute]``.
        """
        return (Part.range(self.epsilon),)

    @cached_property
    def c(self) -> float:
        """The decay of the weights, in one rank."""
        moves = sensitivity(self.orders[0], substitutes=self.substitutes)
        return decay(self.epsilon, self.rows * moves)

    def windows(self, n: int) -> list[tuple[int, int]]:
        return [window(self.orders[0] * n, n, reach(self.c, self.cells))]

    def one(self, x: Points, source: Source) -> list[int]:
        return [tick_near(x, self.orders[0] * x.n, self.c, source)]

    def law(self, x: Points) -> Law:
        return near_law(x, self.orders[0] * x.n, self.c)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        r"""Return :math:`\frac12 + \ln(B(n+1)/\beta)/c`; without ``n``, for any number of records.

        An atom of :math:`f` records is spread over :math:`f + 1` ranks, so :math:`n` enters, but
        as a logarithm only.
        """
        return rank_bound(self.cells, self.c, read_beta(beta), n)

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        """Return that of a Laplace variable, and half a rank for the target's rounding."""
        return one_error(read_beta(beta)) / self.c + 0.5


def sensitivity(q: Fraction, *, substitutes: bool) -> Fraction:
    """Return by how much the rank error of any cell moves between neighbours."""
    return Fraction(1) if substitutes else max(q, 1 - q)


def read_share(epsilon: Fraction) -> Fraction:
    """Return the epsilon of one draw if it can pay for the rounding of floats."""
    if epsilon < LEAST:
        raise ParameterError(
            "epsilon", "be at least 1e-6 for each quantile drawn", f"{float(epsilon):g}",
            "Use a larger value, such as {epsilon}.", epsilon=1,
        )  # fmt: skip
    return epsilon


def decay(epsilon: Fraction, moves: Fraction) -> float:
    r"""Return a float :math:`c` with :math:`2 c \Delta` within epsilon less `ROUNDING`."""
    exact = (1 - ROUNDING) * epsilon / (2 * moves)
    c = float(exact)
    return nextafter(c, 0.0) if Fraction(c) > exact else c


def reach(c: float, cells: int) -> float:
    """Return beyond which rank distance all cells together hardly weigh anything."""
    return min((MARGIN + log(cells)) / c, float(FAR))


def window(t: Fraction, n: int, far: float) -> tuple[int, int]:
    """Return the first and last rank within ``far`` of the rank nearest to ``t``."""
    whole = floor(t)
    part = float(t - whole)
    wide = far + min(part, 1.0 - part)
    return max(whole + ceil(part - wide), 0), min(whole + floor(part + wide), n)


def distances(low: int, high: int, t: Fraction) -> Floats:
    r"""Return :math:`\min(|r - t|, R)` for the ranks from ``low`` to ``high``.

    The whole part of :math:`t` is subtracted exactly, so each errs by
    :math:`2^{-52}(|r-t| + 1)` at most.
    """
    whole = floor(t)
    r = np.arange(low - whole, high + 1 - whole, dtype=np.float64)
    return np.minimum(np.abs(r - float(t - whole)), float(FAR))


def tick_near(points: Points, t: Fraction, c: float, source: Source) -> int:
    r"""Draw a tick: a rank with weight :math:`\mu(r) e^{-c|r-t|}`, then a cell of its mass."""
    far = reach(c, points.cells)
    low, high = window(t, points.n, far)
    d = distances(low, high, t)
    inside = points.masses(low, high + 1) * np.exp(-c * (d - d.min()))
    if low == 0 and high == points.n:
        return points.cell(noise.by_weight(inside, source=source), source=source)[0]
    bound = points.cells * exp(-c * far) * (1 + 2.0**-30)
    weights = np.append(inside, bound)
    while True:
        drawn = noise.by_weight(weights, source=source)
        if drawn < len(inside):
            return points.cell(low + drawn, source=source)[0]
        whole = points.complete()
        rank = _outside(whole, t, c, (low, high), log(bound) - c * float(d.min()), source)
        if rank is not None:
            return whole.cell(rank, source=source)[0]


def _outside(
    points: Points, t: Fraction, c: float, inner: tuple[int, int], log_bound: float, source: Source
) -> int | None:
    """Draw a rank outside of the window, or None in the part of the bound that is not filled."""
    low, high = inner
    logs = np.log(points.masses(0, points.n + 1)) - c * distances(0, points.n, t) - log_bound
    logs[low : high + 1] = -inf
    return by_part(logs, source)


def by_part(logs: Floats, source: Source) -> int | None:
    """Draw by weights that add up to at most 1; None in the part that they do not fill."""
    with np.errstate(under="ignore", divide="ignore"):
        rest = np.log(np.maximum(1.0 - np.exp(logs).sum(), 0.0))
    drawn = noise.by_log_weight(np.append(logs, rest), source=source)
    return drawn if drawn < len(logs) else None


def cell_logs(points: Points, t: Fraction, c: float) -> Floats:
    r"""Return :math:`\ln w(v)` for every cell (only where all records were read)."""
    atoms = points.windows[0]
    below = np.zeros(points.cells, np.int64)
    below[atoms.ticks] = atoms.counts
    below = np.cumsum(below) - below
    d = distances(0, points.n, t)
    logs = -c * d[below]
    for v, f in zip(atoms.ticks.tolist(), atoms.counts.tolist(), strict=True):
        ranks = -c * d[below[v] : below[v] + f + 1]
        logs[v] = np.logaddexp.reduce(ranks) - log(f + 1)
    return logs


def near_law(points: Points, t: Fraction, c: float) -> Law:
    return Law.finite(cell_logs(points, t, c), slack=2.0**-44 + c * points.n * 2.0**-49)


def rank_bound(cells: int, c: float, beta: float, n: int | None) -> float:
    """Return the rank error that `tick_near` passes with probability ``beta`` at most."""
    records = MOST_RECORDS if n is None else n
    bound = 0.5 + (log(cells) + log(records + 1) - log(beta)) / c
    return bound if bound < FAR else inf
