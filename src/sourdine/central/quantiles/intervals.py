"""Intervals of quantiles that hold for any data."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import ceil, inf, log
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from attrs import frozen

from sourdine.central.quantiles.algorithm import FreeTotal, bracket_error, whole
from sourdine.central.quantiles.joint import JointFree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.central.quantiles.algorithm import Drawn
    from sourdine.noise.source import Floats, Ints

    Aim = tuple[Fraction, int, bool]


# ---- How far the error of sampling and the noise of counts reach together ------------------------
#
# Let :math:`n` records be drawn independently from a law whose :math:`q`-quantile is :math:`\xi`,
# the least :math:`x` with :math:`F(x) \ge q`. Released are ticks :math:`e_i`, drawn from the data
# in whatever way, and noisy counts; :math:`\hat C_i - q\hat N = \#\{x < e_i\} - qn + X_i`, where
# the noises :math:`X_i` have a public law and are independent of the records and of the ticks.
#
# *Claim*: let :math:`t` be the :math:`1 - \beta/2` point of
# :math:`(qn - \mathrm{Bin}(n, q)) + \max_i X_i`. With probability :math:`1 - \beta/2` no
# :math:`e_i > \xi` has :math:`\hat C_i - q\hat N \le -t`. *Proof*. If :math:`e_i > \xi`, then
# :math:`\#\{x < e_i\} \ge \#\{x \le \xi\} =: B`, which does not depend on :math:`i` nor on how the
# ticks were drawn; :math:`B` is :math:`\mathrm{Bin}(n, F(\xi))` with :math:`F(\xi) \ge q`, so
# stochastically no smaller than :math:`\mathrm{Bin}(n, q)`, and independent of the noise. So if
# some such :math:`e_i` has :math:`\hat C_i - q\hat N \le -t`, then
# :math:`qn - B + \max_i(-X_i) \ge t`; and :math:`-X` has the law of :math:`X`. Above: if
# :math:`e_i \le \xi`, then :math:`\#\{x < e_i\} \le \#\{x < \xi\}`, no larger than
# :math:`\mathrm{Bin}(n, q)`, and the 1 - beta/2 point of
# :math:`(\mathrm{Bin}(n, q) - qn) + \max_i X_i` serves. :math:`\square`
#
# :math:`n` is private: the reach is that of the most records that the counts allow, and one rank
# more, for the binomial's own lattice. The law of :math:`\max_i X_i` is sampled once, with a fixed
# seed, and rounded up to 400 of its order statistics. *Checked by*
# ``test_population_intervals_cover``.
#
# *A whole distribution function.* By A. Dvoretzky, J. Kiefer, J. Wolfowitz and P. Massart ("The
# tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Annals of Probability 18, 1990),
# :math:`P(n\sup_x|F_n(x) - F(x)| > s) \le 2e^{-2s^2/n}`. With the independent reach :math:`R` of
# the counts' noise the band's half height is the least :math:`t` at which
# :math:`E\min(1, 2e^{-2((t - R)^+)^2/n}) \le \beta`. *Checked by* ``benchmarks/cdf.py``.


INDEPENDENT = (
    "Population intervals assume that records are drawn independently from one distribution."
)
SAMPLES = 40_000
GROUPS = 400
SAFETY = 1.02
"""What the sampling of the noise may err by."""
RAREST = 5e-4
"""Below this the two errors are bounded one by one."""
RISKS = np.geomspace(1.0, 1e-12, 500)
OF_NUMBER = 0.02
"""This part of a risk is that of there being more records than the counts allow."""


def most_records(total: float, noises: int, scale: float, beta: float) -> float:
    r"""Return at most how many records there are, with probability ``1 - beta``.

    The sum of K noises passes x with probability :math:`e^{-\lambda x}(1 - \lambda^2)^{-K}` at
    most, in units of their scale, for every lambda below 1.
    """
    tilts = np.arange(1, 200) / 200
    far = (log(1 / beta) - noises * np.log1p(-(tilts**2))) / tilts
    return max(total + scale * float(far.min()), 1.0)


def population_reach(
    edges: int, order: Fraction, scale: float, n: float, beta: float
) -> tuple[float, float]:
    """Return t below and above: what both errors pass with probability ``beta`` on each side.

    There are ``edges`` ticks and one count more, each with noise of ``scale``, of at most ``n``
    records.

    Examples
    --------
    >>> from fractions import Fraction
    >>> low, high = population_reach(2, Fraction(1, 2), 2.0, 2000, 0.025)
    >>> 44 < low == high < 52
    True
    """
    return _reach(edges, float(order), scale, ceil(n), beta)


@lru_cache(512)
def _reach(edges: int, q: float, scale: float, n: int, beta: float) -> tuple[float, float]:
    from scipy.special import bdtr, bdtrc

    far = SAFETY * scale * _farthest(edges, q)
    if beta < RAREST:
        far = np.array([scale * _bounded(edges, [q], beta / 2)])
        beta /= 2

    def below(t: float) -> float:
        at = np.floor(n * q + far - t)
        return float(np.where(at < 0, 0.0, bdtr(np.clip(at, 0, n), n, q)).mean())

    def above(t: float) -> float:
        at = np.ceil(n * q - far + t) - 1
        return float(np.where(at < 0, 1.0, bdtrc(np.clip(at, 0, n), n, q)).mean())

    return _least(below, n, beta) + 1, _least(above, n, beta) + 1


def _least(passed: Callable[[float], float], n: float, beta: float) -> float:
    low, high = 0.0, 1.0
    while passed(high) > beta:
        low, high = high, 2 * high + 0.01 * n
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (middle, high) if passed(middle) > beta else (low, middle)
    return high


@lru_cache(128)
def _farthest(edges: int, q: float) -> Floats:
    """Return order statistics of the greatest noise of all edges, for noise of scale 1."""
    (noise,) = _noise_of(edges, [q], seed=1)
    most = np.sort(noise.max(axis=1, initial=-np.inf)) if edges else np.zeros(SAMPLES)
    return np.asarray(most.reshape(GROUPS, -1)[:, -1])


def _noise_of(edges: int, orders: list[float], *, seed: int) -> list[Floats]:
    """Sample the noise :math:`S_i - qS_{K+1}` of all edges, of scale 1, for each order."""
    walk = np.cumsum(np.random.default_rng(seed).laplace(size=(SAMPLES, edges + 1)), axis=1)
    return [walk[:, :-1] - q * walk[:, -1:] for q in orders]


def _bounded(edges: int, orders: list[float], beta: float) -> float:
    """Return what no edge's noise of scale 1 passes upwards, by Chernoff and a union."""
    if not edges:
        return 0.0
    tilts = np.arange(1, 400) / 400 / max(max(q, 1 - q) for q in orders)
    before = np.arange(1, edges + 1)[:, None]
    logs = [
        -before * np.log1p(-((tilts * (1 - q)) ** 2))
        - (edges + 1 - before) * np.log1p(-((tilts * q) ** 2))
        for q in orders
    ]
    log_sum = np.logaddexp.reduce(np.concatenate(logs), axis=0)
    return max(0.0, float(((log_sum + log(1 / beta)) / tilts).min()))


def band_reach(far: Callable[[float], float], n: float, beta: float) -> float:
    """Return the half height of a population's band in records, for noise of a known reach.

    ``far`` gives what the noise passes with a probability at most; there are ``n`` records at most.
    """
    reaches = np.array([far(float(risk)) for risk in RISKS[1:]])
    chances = np.append(RISKS[:-2] - RISKS[1:-1], RISKS[-2])

    def passed(t: float) -> float:
        sampling = 2 * np.exp(-2 * np.maximum(t - reaches, 0) ** 2 / n)
        return float(chances @ np.minimum(sampling, 1))

    return _least(passed, n, beta)


# ---- Intervals that hold for all data, from noisy counts between published ticks -----------------
#
# Ticks :math:`e_1 \le \ldots \le e_K` that are already public cut the grid into :math:`K + 1`
# stretches. How many records lie in each is released with Laplace noise; a record lies in one
# stretch, so all counts together cost no more than one. Let :math:`\hat C_i` be the sum of the
# first :math:`i` and :math:`\hat N` that of all. The noise of :math:`\hat C_i - q_j \hat N` has a
# law that does not depend on the data: with probability :math:`1 - \beta` none passes :math:`z`,
# and then
#
# .. math::
#
#     \hat C_i - q_j\hat N \le -z &\;\Rightarrow\; \text{the quantile is at least } e_i, \\
#     \hat C_i - q_j\hat N \ge +z &\;\Rightarrow\; \text{it is at most } e_i - 1 .
#
# *Checked by* ``test_certified_intervals_cover_whatever_the_data``.
#
# *How far the noise reaches.* Let :math:`X_1, \ldots, X_{K+1}` be the noises, of scale :math:`s`,
# and :math:`S_i` their running sums. :math:`|S_i - qS_{K+1}|` is convex in :math:`q`, so the least
# and the greatest order decide. Down to :math:`\beta = 10^{-3}` the law of the greatest is sampled,
# as if the noise were continuous. Below, for every :math:`0 < \lambda < 1/\max(q, 1-q)`,
#
# .. math::
#
#     P\Bigl(\max_{i,q}|S_i - qS_{K+1}| \ge sz\Bigr) \le 2e^{-\lambda z}\sum_{i,q}
#     \bigl(1 - \lambda^2(1-q)^2\bigr)^{-i}\bigl(1 - \lambda^2q^2\bigr)^{-(K+1-i)},
#
# and :math:`z` is the least at which some :math:`\lambda` makes that :math:`\beta`. *Proof*.
# Markov's inequality for :math:`e^{\lambda(S_i - qS_{K+1})/s}`, a union over edges, the two orders
# and the two signs, and :math:`Ee^{uX} \le 1/(1 - u^2s^2)`: an equality for continuous noise; the
# discrete law has :math:`1/(1 - \sinh^2(u/2)/\sinh^2(1/2s))`, and :math:`\sinh(x)/x` rises.
# *Checked by* ``test_rare_noise_stays_within_its_reach``, with
# ``test_rare_noise_on_the_lattice_stays_within_its_reach``.


COUNT_SAFETY = 1.03
"""What the sampling of z may err by."""
COUNT_RAREST = 1e-3
"""Below this z is bounded, not sampled."""


def noise_reach(edges: int, orders: tuple[Fraction, ...], scale: float, beta: float) -> int:
    """Return z: what no noise passes, of all edges and orders, with probability ``1 - beta``."""
    return ceil(scale * _reach_of_counts(edges, orders, beta)) + 1


@lru_cache(256)
def _reach_of_counts(edges: int, orders: tuple[Fraction, ...], beta: float) -> float:
    extremes = sorted({float(min(orders)), float(max(orders))})
    if beta < COUNT_RAREST:
        return _bounded(edges, extremes, beta / 2)
    noises = _noise_of(edges, extremes, seed=0)
    worst = np.max([np.abs(noise).max(axis=1, initial=0.0) for noise in noises], axis=0)
    return COUNT_SAFETY * float(np.quantile(worst, 1 - beta))


def certified(
    edges: Ints,
    between: Ints,
    orders: tuple[Fraction, ...],
    z: float | Sequence[tuple[float, float]],
    last: int,
) -> tuple[Ints, Ints]:
    """Return the lower and the upper ends, as ticks; the grid's own where nothing is certain.

    Between the edges lie the noisy counts; ``z`` is how far the noise reaches, in ranks, or for
    each order how far it and the error of sampling reach below and above.

    Examples
    --------
    >>> from fractions import Fraction
    >>> edges, between = np.array([10, 20, 30]), np.array([400, 95, 110, 395])
    >>> [end.tolist() for end in certified(edges, between, (Fraction(1, 2),), 50, 99)]
    [[10], [29]]
    """
    counts, total = np.cumsum(between)[:-1], int(np.sum(between))
    apart = counts - np.array(list(map(float, orders)))[:, None] * total
    down, up = np.broadcast_to(z, (len(orders), 2)).T[:, :, None]
    low = np.where(apart <= -down, edges, 0).max(axis=1, initial=0)
    beyond = np.where(apart >= up, edges - 1, last + 1).min(axis=1, initial=last + 1)
    high = np.where(beyond > last, last, np.maximum(beyond, low))
    # A noisy total below 0 puts ends out of order. Wider ones hold as well, and in order they keep
    # the quantiles that are moved between them in order too.
    return np.minimum.accumulate(low[::-1])[::-1], np.maximum.accumulate(high)


# ---- Quantiles with an interval of their own: brackets are drawn beside them ---------------------
#
# Beside the ranks :math:`q_jN` the joint draw aims at others, so that each order has one at least
# :math:`u` below and one at least :math:`u` above it. Where the drawn ticks really lie is counted
# afterwards, with noise (`sourdine.central.quantiles.intervals`), so intervals hold for all
# data; :math:`u` only decides how wide they are.
#
# Every further aim makes all of them err more, so orders that lie close share their brackets. With
# about :math:`n` records between neighbouring orders,
#
# :math:`n < 2u`                  nothing is added: orders bracket each other
# :math:`2u \le n < 3u`           one aim in the middle serves both
# :math:`3u \le n`                each order has its own bracket, :math:`u` away


USUAL = 0.03
"""The probability that a bracket lands on the wrong side, where records lie evenly.

An interval whose bracket does is as wide as the range: with 0.03 that happens to one median in 200,
with 0.1 to one in 45, and the others are 14% narrower.
"""
ROUNDS = 6
HALF = Fraction(1, 2)


class Aims(NamedTuple):
    """What is aimed at: each order with an offset in ranks, and whether it is published.

    The aims are the same for all numbers of records from ``least`` to ``below``.
    """

    aims: list[Aim]
    offset: int
    least: float
    below: float

    @property
    def own(self) -> tuple[int, ...]:
        return tuple(i for i, (*_, own) in enumerate(self.aims) if own)


@frozen(kw_only=True)
class Brackets(JointFree):
    r"""`JointFree` for each quantile and for brackets on both sides of it.

    It is as private as `JointFree`, whose proof holds for whatever targets follow from the drawn
    total. *Checked by* ``test_exact_worst_case[quantiles.joint.brackets.add_remove]`` and
    ``[quantiles.joint.brackets.substitute]``.

    Parameters
    ----------
    slack
        How many ranks further out the brackets aim, for the noise of the counts that follow.
    records
        About how many records there are, if that is known: close orders then share brackets.

    Examples
    --------
    >>> deciles = {"epsilon": 1, "q": [i / 10 for i in range(1, 10)], "cells": 1000, "slack": 20}
    >>> [Brackets(records=n, **deciles).lattice.m for n in (200, 900, 100_000)]
    [9, 19, 27]
    """

    looks: ClassVar[float] = 1.25  # offsets move aims between totals

    slack: int = whole("slack", 0, default=0)
    records: float | None = None

    @cached_property
    def lattice(self) -> FreeTotal:
        aims = self._aims.aims
        h = max(1, round((2 if len(aims) <= 12 else 1) * (len(aims) + 1) / self.c))
        return FreeTotal(tuple(q for q, *_ in aims), h, tuple(offset for _, offset, _ in aims))

    @property
    def offset(self) -> int:
        """How many records a bracket is away from its quantile."""
        return self._aims.offset

    @cached_property
    def _aims(self) -> Aims:
        """The aims and the offset that they need: more aims need more."""
        found = Aims([(q, 0, True) for q in self.orders], 0, 0.0, inf)
        for _ in range(ROUNDS):
            errs = bracket_error(tuple(q for q, *_ in found.aims), found.own, USUAL)
            wanted = ceil(errs / self.c) + self.slack
            if wanted <= found.offset:
                break
            found = self._with_brackets(wanted, found)
        return found

    def fit(self, records: float | None) -> bool:
        """Return whether the aims are also those for another number of records."""
        return self._aims.least <= (inf if records is None else max(records, 1)) < self._aims.below

    def _with_brackets(self, u: int, last: Aims) -> Aims:
        n, edges = inf if self.records is None else max(self.records, 1), list[float]()

        def room(part: Fraction, wanted: int) -> bool:
            """Return whether a part of the records are so many."""
            edges.append(wanted / float(part))
            return n >= edges[-1]

        first, final = self.orders[0], self.orders[-1]
        aims: list[Aim] = [(first, -u, False)] if room(first, u) else []
        for a, b in pairwise(self.orders):
            aims.append((a, 0, True))
            if room(b - a, 3 * u):
                aims += [(a, u, False), (b, -u, False)]
            elif room(b - a, 2 * u):
                aims.append(((a + b) * HALF, 0, False))
        aims.append((final, 0, True))
        aims += [(final, u, False)] if room(1 - final, u) else []
        least = max([last.least, *(edge for edge in edges if edge <= n)])
        return Aims(aims, u, least, min([last.below, *(edge for edge in edges if edge > n)]))

    def published(self, drawn: Drawn) -> Ints:
        return np.asarray(drawn[1:], np.int64)[self.own(drawn[0])]

    def own(self, k: int) -> list[int]:
        """Return which of the ticks, in order, are the quantiles asked for."""
        place = np.argsort(np.argsort(self.lattice.goals(k), kind="stable"), kind="stable")
        own: list[int] = place[list(self._aims.own)].tolist()
        return own

    def edges(self, drawn: Drawn) -> list[int]:
        """Return the ticks below which records are worth counting, in order.

        Of a lower bracket it matters how many records are below it, of an upper one how many are
        below or in it, and of what is neither, both.
        """
        lattice, ticks = self.lattice, drawn[1:]
        order = np.argsort(lattice.goals(drawn[0]), kind="stable")
        own = set(self.own(drawn[0])) if any(lattice.offsets) else set()
        edges = []
        for i, tick in enumerate(ticks):
            offset = lattice.offsets[order[i]]
            if i in own:
                continue
            if offset <= 0:
                edges.append(tick)
            if offset >= 0:
                edges.append(tick + 1)
        return sorted(edges)
