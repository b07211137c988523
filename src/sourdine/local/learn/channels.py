"""Randomised numbers as channels, and Gaussian classes behind them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import log, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.laws import alone

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.local.table.part import ColumnPart
    from sourdine.local.table.schema import Schema
    from sourdine.mechanisms.mechanism import Report

    Floats = NDArray[np.float64]


# ---- A randomised number as a channel: how likely each report is, given the truth ----------------
#
# The truth is a number of the column's lattice, of which up to 128 evenly spaced *nodes* stand for
# all; reports are put into up to 1024 *groups* of neighbours. A classifier needs no more of the
# noise than the matrix of these :math:`P(y \mid x)`.


NODES, GROUPS = 128, 1024
BLANK = -1
"""The group of a blank cell."""


@lru_cache(64)
def matrix(report: Report) -> Floats:
    """Return the probabilities of the groups of reports, a row for each node."""
    codes, width = report.codes, _width(report.codes)
    ends = np.minimum(np.arange(width, codes + width, width), codes) - 1
    rows = np.array([alone(report.law(x)).cdf(ends) for x in _nodes(report.top).tolist()])
    found = np.maximum(np.diff(rows, axis=1, prepend=0.0), 0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _nodes(top: int) -> NDArray[np.int64]:
    size = min(top + 1, NODES)
    return np.array([(2 * i * top + size - 1) // (2 * (size - 1)) for i in range(size)], np.int64)


def _width(codes: int) -> int:
    return -(-codes // GROUPS)


@dataclass(frozen=True)
class Feature:
    """A randomised column of numbers, with its mechanism."""

    part: ColumnPart

    @cached_property
    def nodes(self) -> Floats:
        """The nodes, from 0 at the lower bound to 1 at the upper."""
        return np.asarray(_nodes(self.part.answer.top) / self.part.answer.top)

    @property
    def matrix(self) -> Floats:
        """The probabilities of the groups of reports, a row for each node."""
        return matrix(self.part.answer)

    @property
    def grid(self) -> Any:
        column: Any = self.part.column
        return column.grid

    @property
    def lower(self) -> float:
        return float(self.grid.lower)

    @property
    def range(self) -> float:
        return float(self.grid.step * self.grid.last)

    @cached_property
    def _shown(self) -> tuple[Floats, NDArray[np.intp]]:
        """Return the numbers that stand for the reports, rising, and which they stand for."""
        shown = np.asarray(self.part.written.values(np.arange(self.part.answer.codes)), np.float64)
        order = np.argsort(shown, kind="stable")
        return shown[order], order

    def groups(self, values: Floats) -> NDArray[np.int64]:
        """Return the group of the report that stands nearest to each number; `BLANK` for none."""
        width = _width(self.part.answer.codes)
        if isinstance(getattr(self.part.written, "ticks", None), range):  # a report is a tick
            ticks: NDArray[np.int64] = self.grid.ticks(values, missing=BLANK)
            return np.where(ticks == BLANK, BLANK, ticks // width)
        shown, order = self._shown
        at = np.clip(np.searchsorted(shown, values), 1, len(shown) - 1)
        below = values - shown[at - 1] < shown[at] - values
        codes = order[np.where(below, at - 1, at)]
        return np.where(np.isnan(values), BLANK, codes // width)


def features(schema: Schema, label: str | None) -> dict[str, Feature]:
    """Return the columns of a schema that are not the label; they must be numbers."""
    if schema.method != "split":
        must = "be 'split' to learn how columns depend on each other"
        hint = "With 'sample', each person reports a single column. Use {method}."
        raise ParameterError("method", must, "'sample'", hint, method="split")
    parts = {name: part for name, part in schema.parts().items() if name != label}
    for name, part in parts.items():
        if part.column.kind != "number":
            must, got = "be a Number, like all columns but the label", f"a {part.column.kind}"
            hint = "Use {label}, or omit the column from the schema."
            raise ParameterError(f"column {name!r}", must, got, hint, label=name)
    return {name: Feature(part) for name, part in parts.items()}


# ---- Gaussian classes behind two channels: that of a feature and that of the label ---------------
#
# A person of the class :math:`c` has the feature :math:`z \sim N(\mu_c, \sigma_c^2)`, clamped and
# snapped to a node :math:`x` of the lattice (with probability :math:`f_c(x)`), reports :math:`y`
# with :math:`P(y \mid x)`, and reports the label :math:`l` with :math:`R(l \mid c)`. So
#
# .. math:: P(l, y) = \sum_c \pi_c R(l \mid c) \sum_x f_c(x) P(y \mid x)
#
# and the counts :math:`N(l, y)` are all that the rows say of a feature: the work does not grow with
# their number. `fitted` maximises the likelihood of the counts times a weak prior, by Fisher's
# scoring, and takes the uncertainty that is left from the same matrix.


CENTRE, SPREAD = (1 / 2, 1 / 3), (log(1 / 6), 0.7)
"""The prior of the mean and of the log standard deviation, the range being 1: six deviations."""
APART, UNLIKE = 1 / 12, 0.05
"""The prior of how classes differ: by half a deviation in the mean, by 5% in the deviation."""
EVEN, STEPS = 0.01, 10
"""A share of answers that are spread evenly, and the steps by which the laws are loosened."""
ROUNDS, CLOSE = 60, 1e-5
LEAST = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gaussians:
    """The classes' laws of one feature, the range being 1.

    ``error`` is the variance that is left in each estimated mean.
    """

    mean: Floats
    variance: Floats
    error: Floats


def cells(mean: Floats, deviation: Floats, nodes: Floats) -> tuple[Floats, Floats, Floats]:
    r"""Return :math:`f_c(x)` and its derivatives by :math:`\mu_c` and :math:`\ln\sigma_c`.

    What lies beyond the bounds is clamped, so the first and the last node have the tails.
    """
    from scipy.special import ndtr

    z = ((nodes[1:] + nodes[:-1]) / 2 - mean[:, None]) / deviation[:, None]
    bell = np.exp(-z * z / 2) / sqrt(2 * pi)
    none, one = np.zeros((len(mean), 1)), np.ones((len(mean), 1))
    f = np.diff(np.hstack([none, ndtr(z), one]))
    by_mean = -np.diff(np.hstack([none, bell, none])) / deviation[:, None]
    return f, by_mean, -np.diff(np.hstack([none, z * bell, none]))


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """The counts of a feature, and all that is known of the noise."""

    counts: Floats  # N[l, y]
    joint: Floats  # pi_c R(l | c), [l, c]
    channel: Floats  # P(y | x), [x, y]
    nodes: Floats

    def prior(self) -> tuple[Floats, Floats]:
        """Return the mean and the precision of means and log deviations."""
        k = len(self.joint)
        same, unlike = np.full((k, k), 1 / k**2), np.eye(k) - 1 / k
        precision = np.zeros((2 * k, 2 * k))
        precision[:k, :k] = same / CENTRE[1] ** 2 + unlike / APART**2
        precision[k:, k:] = same / SPREAD[1] ** 2 + unlike / UNLIKE**2
        return np.repeat([CENTRE[0], SPREAD[0]], k), precision

    def laws(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        mean, log_deviation = np.split(theta, 2)
        return cells(mean, np.exp(log_deviation), self.nodes)

    def chances(self, f: Floats) -> Floats:
        """Return P(l, y)."""
        return np.maximum(self.joint @ (f @ self.channel), LEAST)

    def value(self, theta: Floats) -> float:
        centre, precision = self.prior()
        off, chances = theta - centre, self.chances(self.laws(theta)[0])
        return float((self.counts * np.log(chances)).sum() - off @ precision @ off / 2)

    def slope(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return the log posterior's gradient and its expected curvature."""
        centre, precision = self.prior()
        f, by_mean, by_spread = self.laws(theta)
        moved = np.vstack([by_mean, by_spread]) @ self.channel
        each = np.hstack([self.joint, self.joint]).T[:, :, None] * moved[:, None, :]
        p = self.chances(f)
        flat = (each / np.sqrt(p)).reshape(len(theta), -1)
        gradient = (each * (self.counts / p)).sum(axis=(1, 2)) - precision @ (theta - centre)
        return gradient, self.counts.sum() * flat @ flat.T + precision

    def solve(self) -> Floats:
        """Return the parameters of the highest posterior, by Fisher's scoring."""
        k = len(self.joint)
        theta = self.prior()[0]
        value = self.value(theta)
        for _ in range(ROUNDS):
            gradient, curvature = self.slope(theta)
            step = np.linalg.solve(curvature, gradient)
            for part in 0.5 ** np.arange(12):
                new = theta + part * step
                new = np.hstack([np.clip(new[:k], -0.5, 1.5), np.clip(new[k:], log(0.005), 1)])
                found = self.value(new)
                if found >= value:
                    break
            else:
                return theta
            moved = np.abs(new - theta).max()
            theta, value = new, found
            if moved < CLOSE:
                break
        return theta

    def loosened(self, f: Floats) -> Floats:
        """Return the laws after some steps of EM that may leave the Gaussian form."""
        f = (1 - EVEN) * f + EVEN / f.shape[1]
        for _ in range(STEPS):
            ratio = self.counts / self.chances(f)
            f = f * (self.joint.T @ ratio @ self.channel.T + LEAST)
            f /= f.sum(axis=1, keepdims=True)
        return f


def fitted(counts: Floats, joint: Floats, channel: Floats, nodes: Floats) -> Gaussians:
    r"""Estimate the classes' laws of one feature.

    The counts are of reports, by noisy label and group; ``joint`` is :math:`\pi_c R(l \mid c)`, a
    row for each label, and ``channel`` :math:`P(y \mid x)`, a row for each node.

    The Gaussian fit is loosened by ten steps of EM on free laws :math:`f_c`, a few of the answers
    being spread evenly at the start. The means and the common variance are those of the free laws,
    the ratios of the classes' deviations those of the fit. Where reports say much, ten steps lead
    to the moments of the data, of whatever form; where they say little, nothing moves. A Gaussian
    fit alone takes the tail of a long-tailed feature for noise, at large epsilon.
    """
    problem, k = _Problem(counts, joint, channel, nodes), len(joint)
    theta, shares = problem.solve(), joint.sum(axis=0)
    left: Floats = np.linalg.inv(problem.slope(theta)[1]).diagonal()[:k].astype(np.float64)
    f = problem.loosened(problem.laws(theta)[0])
    mean = f @ nodes
    common = shares @ (f @ nodes**2 - mean**2) / shares.sum()
    unlike = theta[k:] - shares @ theta[k:] / shares.sum()
    return Gaussians(mean=mean, variance=common * np.exp(2 * unlike), error=left)
