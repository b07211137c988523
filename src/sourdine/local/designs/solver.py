r"""The best channel for a question: a convex problem, solved with a certificate.

Let :math:`W` be the question: a row for each wanted mean, a column for each of :math:`k` cells.
An extreme channel has the outputs :math:`o` with

.. math:: P(o \mid u) = \theta_o a_o(u), \qquad a_o(u) \in \{1, e^\varepsilon\}, \qquad
          \theta_o \ge 0, \qquad \sum_o \theta_o a_o(u) = 1 .

With the best unbiased linear read-out and answers spread evenly over the cells, :math:`n` times
the sum of the variances of all rows is

.. math:: f(\theta) - \frac{\|W\|^2}{k}, \qquad f(\theta) = \operatorname{tr} M^{-1} W^\top W,
          \qquad M = \sum_o \theta_o \frac{a_o a_o^\top}{\bar a_o},

with :math:`\bar a_o` the mean of :math:`a_o`. :math:`M` is linear in :math:`\theta`, so the
problem is convex. The proofs are in ``docs/mathematics/designs.md``.

*Certificate.* With :math:`H = M^{-1} W^\top W M^{-1}` let
:math:`s(a) = a^\top H a / \bar a`. If :math:`\lambda^\top a \ge s(a)` for all
:math:`a \in \{1, e^\varepsilon\}^k`, then no :math:`\varepsilon`-LDP channel, extreme or not, has a
smaller value than :math:`f(\theta)^2 / \sum_u \lambda_u`.

*Symmetry.* Rows are centred, which subtracts :math:`\|W\|^2/k` of their part from both terms. If
:math:`W^\top W` is then the same after the cells are reversed or rotated, the best channel can be
chosen so: a subset stands for its whole orbit.

*Method.* For a list of subsets, Newton steps on :math:`f` with a logarithmic barrier, which gives
:math:`\lambda` as well. New subsets are those with the largest :math:`s(a) / \lambda^\top a`: among
all for :math:`k \le 16`, found by flipping bits for larger :math:`k`. At the end the outputs are
reduced to few with the same :math:`M`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Subsets = NDArray[np.bool_]


ALL_SUBSETS = 16  # up to this many cells, certificates are over all subsets
GAP, WIDER_GAP = 0.004, 0.015
"""The search ends once the certificate shows the value to be this near to the least, relatively:
over all subsets, or over those that were found."""
LARGE = 32  # for more cells, only the heaviest subsets are kept from one round to the next
STALLED = 2e-3
"""It also ends once a few rounds have improved the value by less than this, relatively."""
SMALLEST_BARRIER = 4e-4
FEWER = 12  # linear programs for a certificate of more cells
FINE = 0.01
"""Over subsets that were found, the search goes on until the barrier is worth less than this."""
CANDIDATES = 300
MOST_KEPT = 800
ROUNDS = 80
FEASIBLE = 1e-9
CLOSED = 0.002


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """A channel in floats, and what is known of it."""

    subsets: Subsets  # the cells on which each output is likelier, a row for each output
    theta: Floats  # the probability of each output for a cell outside its subset
    value: float  # n times the variance for evenly spread answers, the mean over the rows
    bound: float  # no channel's value is below
    every: bool  # whether that is so for all channels, or for those of the subsets that were found


class Workload:
    """A workload at an epsilon, with its symmetries."""

    def __init__(self, workload: Floats, epsilon: float) -> None:
        centred = workload - workload.mean(axis=1, keepdims=True)
        self.k = workload.shape[1]
        self.rows = len(workload)
        self.gram = centred.T @ centred
        self.own = float((centred**2).sum()) / self.k
        self.likelier = float(np.exp(epsilon))
        self.symmetries = _symmetries(self.gram)
        images = self.symmetries.min(axis=0)
        self.of, self.orbit, self.sizes = np.unique(images, return_inverse=True, return_counts=True)

    def weights(self, subsets: Subsets) -> Floats:
        return np.where(subsets, self.likelier, 1.0)

    def sums(self, a: Floats) -> Floats:
        """Return the mean of each row over each orbit of cells, a row for each orbit."""
        members = np.eye(len(self.of))[self.orbit] / self.sizes[self.orbit][:, None]
        return np.asarray((a @ members).T)

    def information(self, a: Floats, theta: Floats) -> Floats:
        """Return :math:`M`, with every subset spread over its orbit."""
        m = (a * (theta / a.mean(axis=1))[:, None]).T @ a
        return np.asarray(np.mean([m[np.ix_(p, p)] for p in self.symmetries], axis=0))

    def value(self, total: float) -> float:
        return float((total - self.own) / self.rows)

    def representatives(self, subsets: Subsets) -> Subsets:
        """Return one subset of each orbit, without the empty and the full one."""
        held = subsets.sum(axis=1)
        inside = subsets[(held > 0) & (held < self.k)]
        least = np.packbits(inside, axis=1)
        for p in self.symmetries[1:]:
            other = np.packbits(inside[:, p], axis=1)
            unlike = other != least
            first = unlike.argmax(axis=1)[:, None]
            lower = np.take_along_axis(other, first, 1) < np.take_along_axis(least, first, 1)
            least = np.where(lower, other, least)
        found = np.unpackbits(np.unique(least, axis=0), axis=1, count=self.k)
        return found.astype(np.bool_)


def _symmetries(gram: Floats) -> NDArray[np.intp]:
    """Return the permutations of the cells under which the question stays as it is."""
    cells = np.arange(len(gram))

    def same(p: NDArray[np.intp]) -> bool:
        return bool(np.allclose(gram[np.ix_(p, p)], gram, rtol=0, atol=1e-9 * np.abs(gram).max()))

    if same(np.roll(cells, 1)) and same(cells[::-1]):
        turned = [np.roll(cells, i) for i in cells.tolist()]
        return np.array([*turned, *(p[::-1] for p in turned)])
    return np.array([cells, cells[::-1]] if same(cells[::-1]) else [cells])


# ---- The best weights of some subsets: Newton steps with a barrier -------------------------------


class _Point(NamedTuple):
    """Weights on the central path, with the multipliers of the sums."""

    theta: Floats
    total: float
    h: Floats
    lam: Floats

    def scores(self, a: Floats) -> Floats:
        r"""Return :math:`s(a) / \lambda^\top a`: above 1, the subset improves the channel.

        While the channel is far from the best, a price may be 0 or less: infinity.
        """
        gain, price = np.einsum("oi,oi->o", a @ self.h, a) / a.mean(axis=1), a @ self.lam
        return np.asarray(np.divide(gain, price, out=np.full(len(a), np.inf), where=price > 0))


def _centred(question: Workload, a: Floats, theta: Floats, start: float, end: float) -> _Point:
    """Follow the central path until the barrier is worth ``end`` of the value."""
    from scipy.linalg import cho_factor, cho_solve

    gram, sums, n = question.gram, question.sums(a), len(theta)
    images = [a[:, p] / np.sqrt(a.mean(axis=1))[:, None] for p in question.symmetries]
    diagonal = np.diag_indices(n)
    barrier = max(start, end)
    while True:
        for _ in range(30):
            inverse = np.linalg.inv(question.information(a, theta))
            h = inverse @ gram @ inverse
            total = float(np.trace(inverse @ gram))
            m = barrier * total / n
            slope = theta * -np.einsum("oi,oi->o", images[0] @ h, images[0]) - m
            left, right = images[0] @ inverse, images[0] @ h
            curved = np.zeros((n, n))
            for image in images:
                curved += (left @ image.T) * (right @ image.T)
            curved *= (2 / len(images)) * theta[:, None] * theta
            curved[diagonal] += m * (1 + 1e-9)
            factor = cho_factor(curved, check_finite=False)
            held = (sums * theta).T
            solved = cho_solve(factor, np.column_stack([-slope, held]), check_finite=False)
            missing = 1 - sums @ theta
            nu = np.linalg.lstsq(held.T @ solved[:, 1:], held.T @ solved[:, 0] - missing)[0]
            step = solved[:, 0] - solved[:, 1:] @ nu
            size = min(1.0, 0.95 / max(-float(step.min()), 1e-300))
            if np.abs(missing).max() < FEASIBLE:
                before, fall = total - m * np.log(theta).sum(), float(slope @ step)
                while size > 1e-8:  # until the value with its barrier has fallen enough
                    after = theta * (1 + size * step)
                    found = np.trace(np.linalg.solve(question.information(a, after), gram))
                    least = before + 0.1 * size * fall + 1e-12 * total
                    if found - m * np.log(after).sum() <= least:
                        break
                    size /= 2
            theta = theta * (1 + size * step)
            feasible = np.abs(1 - sums @ theta).max() < FEASIBLE
            if feasible and step @ curved @ step < 1e-3 * m * n:
                break
        if barrier <= end:
            break
        barrier = max(barrier / 6, end)
    inverse = np.linalg.inv(question.information(a, theta))
    lam = (nu / question.sizes)[question.orbit]
    return _Point(theta, float(np.trace(inverse @ gram)), inverse @ gram @ inverse, lam)


# ---- Further subsets: all that there are, or by flipping bits ------------------------------------


def _climbed(question: Workload, start: Subsets, point: _Point) -> Subsets:
    r"""Flip the bit that raises :math:`s(a) - \lambda^\top a` most, until none does."""
    e, k, h, lam = question.likelier, question.k, point.h, point.lam
    a = question.weights(start)
    ha, mean, price = a @ h, a.mean(axis=1), a @ lam
    square, live = np.einsum("oi,oi->o", ha, a), np.arange(len(a))
    for _ in range(8 * k):
        flip = np.where(a[live] > 1, 1 - e, e - 1)
        squares = square[live, None] + 2 * flip * ha[live] + flip * flip * np.diag(h)
        values = squares / (mean[live, None] + flip / k) - price[live, None] - flip * lam
        now = square[live] / mean[live] - price[live]
        best = values.argmax(axis=1)
        better = np.take_along_axis(values, best[:, None], 1)[:, 0] > now + 1e-10 * np.abs(now)
        if not better.any():
            break
        change, live, best = flip[better, best[better]], live[better], best[better]
        square[live] += 2 * change * ha[live, best] + change**2 * np.diag(h)[best]
        mean[live] += change / k
        price[live] += change * lam[best]
        ha[live] += change[:, None] * h[best]
        a[live, best] += change
    return np.asarray(a > (1 + e) / 2)


def _candidates(
    question: Workload, subsets: Subsets, point: _Point, rng: np.random.Generator
) -> tuple[Subsets, float]:
    """Return subsets that improve the channel, and the largest score of any subset looked at."""
    if question.k <= ALL_SUBSETS:
        found = every_subset(question.k)
    else:
        known = point.scores(question.weights(subsets))
        heavy = rng.choice(len(subsets), min(150, len(subsets)), replace=False)
        near = subsets[np.concatenate([np.argsort(-known)[:50], heavy])]
        flipped = near ^ (rng.random(near.shape) < 1.5 / question.k)
        cells, ends = np.arange(question.k), rng.integers(0, question.k + 1, (2, len(near), 1))
        turned = near ^ ((ends.min(axis=0) <= cells) & (cells < ends.max(axis=0)))
        switches = rng.random((100, question.k)) < rng.random((100, 1)) ** 2
        fresh = np.logical_xor.accumulate(switches, axis=1)
        starts = np.vstack([near, flipped, turned, fresh])
        climbed = np.vstack([_climbed(question, starts, point), turned, fresh])
        found = np.vstack([question.representatives(climbed), subsets])
    scores = point.scores(question.weights(found))
    best = np.argsort(-scores)[:CANDIDATES]
    return found[best[scores[best] > 1 + 1e-4]], float(scores.max())


def every_subset(k: int) -> Subsets:
    """Return all subsets of ``k`` cells but the empty and the full one, a row each."""
    return (np.arange(1, 2**k - 1)[:, None] >> np.arange(k) & 1).astype(np.bool_)


def _first(question: Workload, near: Subsets | None) -> Subsets:
    """Return the subsets to begin with: single cells, runs of cells, and those of a like design."""
    k = question.k
    if k <= 8:
        return question.representatives(every_subset(k))
    runs = [
        np.roll(np.arange(k) < width, by)
        for width in range(1, k, max(1, k // 12))
        for by in range(0, k, max(1, k // 16))
    ]
    known = [] if near is None else [near]
    return question.representatives(np.vstack([np.eye(k, dtype=np.bool_), np.array(runs), *known]))


# ---- The whole search ----------------------------------------------------------------------------


def solve(
    workload: Floats,
    epsilon: float,
    *,
    near: Subsets | None = None,
    progress: Callable[[int, float, float], object] | None = None,
) -> Solution:
    """Return the best channel for a workload, up to a small gap.

    Parameters
    ----------
    workload
        A row for each wanted mean, a column for each cell.
    epsilon
        The privacy loss of a report.
    near
        Subsets to begin with, such as those of half as many cells, each doubled.
    progress
        Called after each round with its number, the value and the bound.

    Examples
    --------
    >>> two = solve(np.eye(2), 1.0)
    >>> two.subsets.astype(int).tolist(), two.theta.round(3).tolist()
    ([[0, 1], [1, 0]], [0.269, 0.269])
    >>> round(two.value, 4), round(two.bound, 3)
    (0.9207, 0.919)
    """
    question, rng = Workload(workload, epsilon), np.random.default_rng(0)
    subsets = _first(question, near)
    a = question.weights(subsets)
    theta = np.where(subsets.sum(axis=1) == 1, 1.0, 0.02)
    theta /= float((question.sums(a) @ theta).mean())
    barrier, totals, every = 0.1, [np.inf], question.k <= ALL_SUBSETS
    most = min(question.k**2 * 2 // 5 + 100, MOST_KEPT) if question.k > LARGE else question.k**2
    gap = GAP if every else WIDER_GAP
    for i in range(ROUNDS):
        point = _centred(question, a, theta, 0.3 if i == 0 else 3 * barrier, barrier)
        found, score = _candidates(question, subsets, point, rng)
        bound = point.total**2 / (float(point.lam.sum()) * max(score, 1.0))
        value, least = question.value(point.total), question.value(bound)
        if progress is not None:
            progress(i, value, least)
        totals.append(point.total)
        stalled = len(totals) > 4 and totals[-4] < totals[-1] * (1 + STALLED)
        if value <= least * (1 + gap) and (every or barrier < FINE):
            break
        if not every and stalled and barrier < FINE:
            break
        if score - 1 < 2 * barrier or stalled or not len(found):
            if barrier <= SMALLEST_BARRIER:
                break
            barrier = max(barrier / 4, SMALLEST_BARRIER)
        kept = point.theta > 1e-7
        if not every:
            kept[np.argsort(-point.theta)[most:]] = False
        theta = point.theta[kept] / float((question.sums(a[kept]) @ point.theta[kept]).mean())
        known = {row.tobytes() for row in subsets[kept]}
        fresh = [row for row in question.representatives(found) if row.tobytes() not in known]
        subsets = np.vstack([subsets[kept], *fresh])
        a = question.weights(subsets)
        theta = np.append(theta, np.full(len(fresh), 0.1 * barrier / len(subsets)))
    if not every:
        least = _certified(question, subsets, point)
    few = _few(question, a, point.theta)
    subsets, theta = _spread(question, subsets[few > 0], few[few > 0])
    return Solution(subsets=subsets, theta=theta, value=value, bound=least, every=every)


def _few(question: Workload, a: Floats, theta: Floats) -> Floats:
    r"""Return weights of few subsets with the same :math:`M`.

    There are at most :math:`k(k+1)/2` equations, half as many with a symmetry, so no more subsets
    are needed (Caratheodory). The weights move along the null space until one of them is 0; the
    rest of the null space is then cleared of it.
    """
    from scipy.linalg import null_space

    upper = np.triu_indices(question.k)
    scaled = a / np.sqrt(a.mean(axis=1))[:, None]
    each = np.zeros((len(upper[0]), len(a)))
    for p in question.symmetries:
        image = scaled[:, p]
        each += (image[:, upper[0]] * image[:, upper[1]]).T
    mixed = np.random.default_rng(2).normal(size=(len(a), 2))
    _, first = np.unique((each @ mixed).round(6), axis=0, return_index=True)  # equations once
    free = null_space(each[first], rcond=1e-11)
    x = theta.copy()
    while free.shape[1]:
        way = free[:, 0] if free[:, 0].min() < -free[:, 0].max() else -free[:, 0]
        down = np.flatnonzero(way < 0)
        steps = x[down] / -way[down]
        gone = int(down[steps.argmin()])
        x = np.maximum(x + float(steps.min()) * way, 0.0)
        x[gone] = 0.0
        by = int(np.abs(free[gone]).argmax())
        rest = np.delete(free, by, axis=1)
        free = rest - np.outer(free[:, by] / free[gone, by], np.delete(free[gone], by))
        free[gone] = 0.0
    return x


def _spread(question: Workload, subsets: Subsets, theta: Floats) -> tuple[Subsets, Floats]:
    """Return all subsets of the orbits, each with its part of the weight."""
    images = np.array([subsets[:, p] for p in question.symmetries]).reshape(-1, question.k)
    parts = np.tile(theta / len(question.symmetries), len(question.symmetries))
    distinct, place = np.unique(images, axis=0, return_inverse=True)
    weights = np.zeros(len(distinct))
    np.add.at(weights, place.ravel(), parts)
    return distinct, weights


# ---- The certificate of any channel --------------------------------------------------------------


def bound(workload: Floats, epsilon: float, solution: Solution) -> float:
    r"""Return a lower bound of every channel's value, from an extreme channel that may be rounded.

    Up to 16 categories it holds for all :math:`\varepsilon`-LDP channels, up to the rounding of
    floats; for more, for those made of subsets that the search has looked at.
    """
    question = Workload(workload, epsilon)
    a = question.weights(solution.subsets)
    theta = solution.theta / float((question.sums(a) @ solution.theta).mean())
    inverse = np.linalg.inv(question.information(a, theta))
    h, total = inverse @ question.gram @ inverse, float(np.trace(inverse @ question.gram))
    point = _Point(theta, total, h, np.ones(question.k))
    return _certified(question, question.representatives(solution.subsets), point)


def _certified(question: Workload, subsets: Subsets, point: _Point) -> float:
    r"""Return the value that goes with :math:`f^2` over the largest :math:`\sum_o s_o x_o`.

    The linear program has a variable for each orbit of cells; subsets that its multipliers violate
    are added until none is found.
    """
    from scipy.optimize import linprog

    rng, total = np.random.default_rng(1), point.total
    least = 0.0
    for _ in range(60 if question.k <= ALL_SUBSETS else FEWER):
        a = question.weights(subsets)
        scores = np.einsum("oi,oi->o", a @ point.h, a) / a.mean(axis=1) / total
        each = a @ np.eye(len(question.of))[question.orbit]
        found = linprog(question.sizes, A_ub=-each, b_ub=-scores, bounds=(None, None))
        if found.x is None:
            break
        lam = total * found.x[question.orbit]
        point = _Point(point.theta, total, point.h, lam)
        fresh, score = _candidates(question, subsets, point, rng)
        least = total**2 / float(lam.sum() * max(score, 1.0))
        if score < 1 + CLOSED or not len(fresh):
            break
        subsets = np.vstack([subsets, question.representatives(fresh)])
    return question.value(least)
