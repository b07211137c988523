"""The piecewise Laplace mechanism: ranks that rise along a gap instead of standing still."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import floor, inf, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from attrs import frozen

from sourdine import noise
from sourdine.central.quantiles.exponential import (
    FAR,
    by_part,
    decay,
    reach,
    read_share,
    sensitivity,
)
from sourdine.central.quantiles.independent import Independent
from sourdine.errors import ParameterError
from sourdine.laws import Law
from sourdine.laws.compare import log_sum
from sourdine.mechanisms.mechanism import read_beta
from sourdine.privacy import Part

if TYPE_CHECKING:
    from sourdine.central.quantiles.points import Points, Window
    from sourdine.exact import Number
    from sourdine.noise import Source
    from sourdine.noise.source import Bools, Floats, Ints


WIDEST = 1 << 52


@frozen(kw_only=True)
class PiecewiseLaplace(Independent):
    r"""Draw a cell with weight :math:`e^{-c\,|\varrho(v) - t|}`, the rank interpolated in gaps.

    Let the atoms be :math:`v_1 < v_2 < \ldots` with :math:`f_i` records, :math:`L_i` below, and
    put a mark of rank 0 just below the grid and one of rank :math:`n + 1` just above. An atom has
    all the ranks :math:`L_i + 1, \ldots, L_i + f_i` of its records; along the gap to the next atom
    the rank rises evenly by 1:

    .. math:: \varrho(v) = L_i + f_i + \frac{v - v_i}{v_{i+1} - v_i}, \qquad v_i < v < v_{i+1}.

    With :math:`t = q(n+1)` the distance of a cell is that of :math:`t` to its rank or ranks, and
    :math:`c` is as in `QExp`. Where :math:`c \ge 1` it is the better of the two, since most of a
    gap is then a worse answer than its ends, and a cell of many ties weighs in full. Each of
    several quantiles is drawn on its own at :math:`\varepsilon/m`.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy. Let :math:`\varrho_-` and :math:`\varrho_+`
    be the least and greatest rank of a cell. A record added at :math:`x` moves both up by something
    in :math:`[0, 1]`, everywhere: nothing at the atoms below :math:`x`, 1 at those above; if
    :math:`x` is an atom, 0 and 1 there; if it lies in a gap, at the part :math:`\lambda`, the rank
    at :math:`x` becomes :math:`L + f + 1` from :math:`L + f + \lambda`, and the difference of two
    functions that are linear on both sides of :math:`x` is linear there, from 0 over
    :math:`1 - \lambda` to 1. Since :math:`t` moves up by :math:`q`, the distance
    :math:`\max(0, \varrho_- - t, t - \varrho_+)` moves by at most :math:`\max(q, 1-q)`. A record
    replaced moves ranks by something in :math:`[-1, 1]` and :math:`t` not at all; a value gone
    missing is a record removed. The rounding of floats is paid for as in `QExp`. *Checked by*
    ``test_piecewise_laplace_worst_case`` and
    ``test_piecewise_laplace_ten_percent_too_weak_is_rejected``.

    *Claim*: the draw has this law. The cells of a gap are geometric: gaps and atoms are drawn by
    their sums, a cell of a gap exactly; what is far away stands under one bound, as in `QExp`.
    *Checked by* ``test_piecewise_laplace_draws_follow_the_law`` and
    ``test_piecewise_laplace_draws_outside_the_window``.

    *Claim*: the rank error passes `error` with probability :math:`\beta` at most: some atom or mark
    is within 1/2 of :math:`t` (a mark's neighbour within 1), and the rank error of a cell is at
    most its distance and :math:`\max(q, 1-q)`. *Checked by*
    ``test_piecewise_laplace_error_bound``.

    References
    ----------
    .. [1] D. Durfee, "Instance-optimal differentially private estimation of quantiles: the
       piecewise Laplace mechanism", arXiv 2505.02798, 2025.

    Examples
    --------
    >>> median = PiecewiseLaplace(epsilon=4, q=[0.5], cells=1001)
    >>> round(median.error(0.05), 2)
    3.98
    """

    def check(self) -> None:
        if self.cells > WIDEST:
            raise ParameterError(
                "cells", "be at most 2**52", str(self.cells), "Use a coarser grid."
            )
        read_share(self.share)

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""So many draws of range :math:`\varepsilon/m`.

        *Checked by* ``test_whole_curve[quantiles.piecewise_laplace.add_remove]`` and
        ``[quantiles.piecewise_laplace.substitute]``.
        """
        return (Part.range(self.share, len(self.orders)),)

    @cached_property
    def c(self) -> tuple[float, ...]:
        """The decay of each quantile's weights, in one rank."""
        moves = [sensitivity(q, substitutes=self.substitutes) for q in self.orders]
        return tuple(decay(self.share, self.rows * move) for move in moves)

    def target(self, n: int, j: int) -> Fraction:
        return self.orders[j] * (n + 1)

    def windows(self, n: int) -> list[tuple[int, int]]:
        pairs = []
        for j, c in enumerate(self.c):
            t, far = self.target(n, j), Fraction(reach(c, self.cells)) + 3
            pairs.append((max(floor(t - far), 0), min(floor(t + far) + 1, n)))
        return pairs

    def single(self, x: Points, j: int, source: Source) -> int:
        """Draw a stretch, near or far, then a cell of it."""
        t, c = self.target(x.n, j), self.c[j]
        far = min(reach(c, self.cells) + 1, float(FAR))
        low, high = self.windows(x.n)[j]
        held = next((w for w in x.windows if w.start <= low and high <= w.stop), None)
        window = x.complete().windows[0] if held is None else held.holding(low, high + 1)
        stretches = Stretch.all(window, x, t, c)
        close = stretches.only(stretches.distance < far)
        bound = log(self.cells * (1 + 2.0**-30)) - c * far
        while True:
            drawn = noise.by_log_weight(np.append(close.log_mass, bound), source=source)
            if drawn < len(close.log_mass):
                return close.cell(drawn, c, source)
            whole = x.complete()
            others = Stretch.all(whole.windows[0], whole, t, c)
            others = others.only(others.distance >= far)
            i = by_part(others.log_mass - bound, source)
            if i is not None:
                return others.cell(i, c, source)

    def single_law(self, x: Points, j: int) -> Law:
        """Return the law over the ticks, a geometric piece for each stretch."""
        t, c = self.target(x.n, j), self.c[j]
        s = Stretch.all(x.windows[0], x, t, c)
        slack = 2.0**-44 + c * (x.n + 2) * 2.0**-49
        return Law.of(s.start, s.length, s.log_weight, s.slope, slack=slack)

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        r"""Return :math:`\ln(mB/\beta)/c + 1 + \max(q, 1-q)`, the greatest of the quantiles."""
        logs = log(len(self.orders) * self.cells / read_beta(beta))
        pairs = zip(self.orders, self.c, strict=True)
        bound = max(logs / c + 1 + float(max(q, 1 - q)) for q, c in pairs)
        return bound if bound < FAR else inf


class Stretch(NamedTuple):
    """Stretches of cells whose distances are linear: atoms, and gaps, cut in two at the target.

    ``distance`` is the least any of its cells could have; ``slope`` is of the log weight.
    """

    start: Ints
    length: Ints
    log_weight: Floats
    slope: Floats
    steps: Ints
    distance: Floats
    log_mass: Floats

    @staticmethod
    def all(window: Window, points: Points, t: Fraction, c: float) -> Stretch:
        """Return the stretches from a window's first atom to its last, and to the grid's ends."""
        at_start, at_end = window.start == 0, window.stop == points.n
        marks = int(at_start), int(at_end)
        ticks = np.pad(window.ticks, marks, constant_values=(-1, points.cells))
        highest = np.pad(window.ends, marks, constant_values=(0, points.n + 1))
        lowest = np.pad(window.ends - window.counts + 1, marks, constant_values=(0, points.n + 1))
        whole = floor(t)
        part = float(t - whole)
        above, under = (lowest - whole) - part, part - (highest - whole)
        inner = slice(marks[0], len(ticks) - marks[1])
        one, away = np.ones(len(ticks), np.int64)[inner], np.maximum(above, under)[inner]
        atoms = _Parts(ticks[inner], one, np.maximum(away, 0.0), np.zeros(len(one)), one)
        gaps = _Parts.gaps(ticks, (highest - whole)[:-1], part)
        return _Parts.joined(atoms, gaps).capped().weighed(c)

    def only(self, keep: Bools) -> Stretch:
        return Stretch._make(column[keep] for column in self)

    def cell(self, i: int, c: float, source: Source) -> int:
        """Draw a cell of the i-th stretch: geometric from its heavier end."""
        start, top = int(self.start[i]), int(self.length[i]) - 1
        if top == 0:
            return start
        if self.slope[i] == 0:
            return start + noise.uniform_below(top + 1, source=source)
        rate = Fraction(c) / int(self.steps[i])
        k = noise.truncated_geometric(rate, top, source=source)
        return start + (k if self.slope[i] < 0 else top - k)


class _Parts(NamedTuple):
    """Stretches by distance: that of the first cell, and the change a cell, in steps of 1/s."""

    start: Ints
    length: Ints
    first: Floats
    sign: Floats
    steps: Ints

    @staticmethod
    def gaps(ticks: Ints, rank: Ints, part: float) -> _Parts:
        """Return each gap's cells up to the target, which fall, and those beyond, which rise."""
        steps, start = np.diff(ticks), ticks[:-1] + 1
        before = np.clip(np.floor((part - rank) * steps), 0, steps - 1).astype(np.int64)
        falling = _Parts(start, before, (part - rank) - 1.0 / steps, -np.ones(len(rank)), steps)
        first = (rank - part) + (before + 1) / steps
        rising = _Parts(start + before, steps - 1 - before, first, np.ones(len(rank)), steps)
        return _Parts.joined(falling, rising)

    @staticmethod
    def joined(a: _Parts, b: _Parts) -> _Parts:
        both = _Parts._make(map(np.concatenate, zip(a, b, strict=True)))
        order = np.argsort(both.start, kind="stable")
        order = order[both.length[order] > 0]
        return _Parts._make(column[order] for column in both)

    def last(self) -> Floats:
        return self.first + self.sign * (self.length - 1) / self.steps

    def capped(self) -> _Parts:
        """Return the parts with distances beyond `FAR` counted as that: level there."""
        last = self.last()
        if not len(last) or max(self.first.max(), last.max()) <= FAR:
            return self
        near = np.floor((FAR - np.minimum(self.first, last)) * self.steps) + 1
        near = np.clip(near, 0, self.length).astype(np.int64)
        far, rising = self.length - near, self.sign >= 0
        start = np.where(rising, self.start, self.start + far)
        first = np.where(rising, self.first, self.first - far / self.steps)
        inner = _Parts(start, near, first, self.sign, self.steps)
        start, level = np.where(rising, self.start + near, self.start), np.zeros(len(far))
        return _Parts.joined(inner, _Parts(start, far, level + FAR, level, self.steps))

    def weighed(self, c: float) -> Stretch:
        first, slope = np.maximum(self.first, 0.0), -c * self.sign / self.steps
        log_mass = log_sum(-c * first, slope, self.length.astype(np.float64))
        nearest = np.minimum(first, self.last())
        return Stretch(self.start, self.length, -c * first, slope, self.steps, nearest, log_mass)
