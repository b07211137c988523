"""Designs for numbers between bounds: the reports that tell most about a whole distribution."""

from __future__ import annotations

from functools import lru_cache
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.exact import given
from sourdine.laws import Law
from sourdine.local.designs.channels import (
    LEAST_EPSILON,
    MOST_EPSILON,
    NUMBERS,
    UNIT,
    matrix,
    nearest,
    parse,
    read_epsilon,
    thinned,
    written,
)
from sourdine.local.designs.design import Design, value_of, workload
from sourdine.local.estimators.means import RANDOMISERS
from sourdine.local.numeric.sliding import CHUNK, SlidingWindow, UnbiasedReport, square_wave
from sourdine.mechanisms.mechanism import Specimen, read_last, register

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact import Number
    from sourdine.noise import Source

    Floats = NDArray[np.float64]


FINEST = 121  # the most nodes; finer ticks are rounded to them at random
MOST_REST = 3  # the output that is left over has at most a part 2**-3 of all reports
ALIKE = 1e-10
"""Nodes are alike if the least eigenvalue of their information is this part of the greatest.

That of the known designs is 1e-6 or more."""


@frozen(kw_only=True)
class DesignedReport(UnbiasedReport):
    r"""Report a number by a design for its distribution function.

    Between 0 and the highest tick :math:`m` there are :math:`k` nodes in equal steps. A tick is
    rounded to one of its two nodes at random, so that the node has the mean :math:`x`, and the
    node is reported by a `Design`. `designed` chooses the design.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, from 0.05 to 12.
    last
        The highest tick :math:`m`; inputs outside 0 to m count as the nearest end.
    channel
        The design as a text (`sourdine.local.designs.channels`): the number of nodes, at most
        :math:`m + 1`, then subset and lower weight of each output in hexadecimal digits.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-LDP: a report's law is a mixture of two rows of a channel whose
    ratios are certified in whole numbers when the object is made. *Checked by*
    ``test_exact_worst_case[number.design]``. *Claim*: `estimates` is unbiased with the `variance`
    given, for all ticks, and the same floats on every machine. *Checked by*
    ``test_designed_numbers_are_unbiased``. So there are such estimates: a channel that reports some
    nodes alike, or one as a mixture of others, is refused. *Checked by*
    ``test_channels_that_report_nodes_alike_are_refused``.

    Examples
    --------
    >>> report = designed(1, 120)
    >>> print(report)
    DesignedReport(epsilon=1, last=120, nodes=121, outputs=1825)
    >>> bool(abs(report.law(40).pmf(range(report.codes)).sum() - 1) < 1e-12)
    True
    """

    epsilon: Fraction = field(converter=read_epsilon)
    last: int = field(converter=read_last)
    channel: str
    design: Design = field(init=False, repr=False, eq=False)

    @design.default
    def _parsed(self) -> Design:
        found, epsilon = parse(self.channel), self.epsilon
        if found is None or not 2 <= found[0] <= self.last + 1:
            must = "be the text of a design with at most as many nodes as there are ticks"
            got, hint = given(str(self.channel)[:20]), "Use designed(epsilon, last), or omit it."
            raise ParameterError("channel", must, got, hint)
        k, subsets, lows = found
        hint = "Use designed(epsilon, last); in a schema, omit it."
        rest = matrix(subsets, lows, epsilon, k)[-1]
        if not 0 < int(rest.min()) <= int(rest.max()) <= UNIT >> MOST_REST:
            must, got = f"be made for epsilon {float(epsilon):g}", "the text of another design"
            raise ParameterError("channel", must, got, hint)
        asked = "distribution"
        design = Design(epsilon=epsilon, categories=k, question=asked, subsets=subsets, lows=lows)
        rows = design.rows()
        eigenvalues = np.linalg.eigvalsh((rows / rows.mean(axis=0)) @ rows.T)
        if eigenvalues[0] < ALIKE * eigenvalues[-1]:
            must = "distinguish all nodes, so that numbers can be estimated"
            raise ParameterError("channel", must, "a design that reports some alike", hint)
        return design

    @property
    def steps(self) -> int:
        """The number of steps between the lowest node and the highest."""
        return self.design.categories - 1

    @property
    def codes(self) -> int:
        return self.design.codes

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        if self.steps == self.last:
            return self.design.reports(codes, source)
        drawn = np.empty(codes.size, np.int64)
        for begin in range(0, codes.size, CHUNK):
            x = codes[begin : begin + CHUNK]
            up = noise.uniform_below(self.last, x.size, source=source)
            node = (x * self.steps + up) // self.last
            drawn[begin : begin + CHUNK] = self.design.reports(node, source)
        return drawn

    def law(self, x: int) -> Law:
        node, rest = divmod(x * self.steps, self.last)
        weights = self.design.weights
        row = weights[:, node].astype(np.float64)
        if rest:
            row = row * (1 - rest / self.last) + weights[:, node + 1] * (rest / self.last)
        return Law.finite(np.log(row))

    def estimates(self, reports: ArrayLike) -> Floats:
        """Return a score for each report, in ticks, whose mean is the tick.

        They are the best for evenly spread answers, to three digits of their weights. No two
        outputs have the same, so a table may show them.
        """
        return np.asarray(_estimates(self)[np.asarray(reports)])

    def variance(self, x: ArrayLike) -> Floats:
        tick = np.asarray(x, np.float64)
        square = self.rows() @ _estimates(self) ** 2
        return np.asarray(np.interp(tick, self.nodes(), square) - tick**2)

    def nodes(self) -> Floats:
        return np.linspace(0.0, self.last, self.steps + 1)

    def rows(self) -> Floats:
        return self.design.rows()

    def farthest(self) -> float:
        found = _estimates(self)
        return float(max(self.last - found.min(), found.max()))

    def __str__(self) -> str:
        size = f"nodes={self.design.categories}, outputs={self.codes}"
        return f"DesignedReport(epsilon={float(self.epsilon):g}, last={self.last}, {size})"


def designed(epsilon: Number, last: int, nodes: int = FINEST) -> DesignedReport:
    """Return the report of a known design, with a node for every tick up to so many nodes.

    These designs are for the distribution function and the mean together: without the mean, points
    of the distribution function would be known better by a tenth of their variance, and the mean
    much less well.

    Examples
    --------
    >>> designed(1, 7).steps, designed(1, 1000).steps
    (7, 120)
    """
    top, spent = read_last(last), read_epsilon(epsilon)
    found = thinned(min(top + 1, nodes), spent, NUMBERS)
    return DesignedReport(epsilon=spent, last=top, channel=written(*found))


def best(epsilon: Fraction, last: int) -> DesignedReport | SlidingWindow:
    """Return the report that knows a distribution best: a design, or Square Wave.

    Both are compared by the variance of a point of the distribution function for evenly spread
    answers on the nodes of the design, each with its best linear estimate: public numbers. On a
    grid of more ticks Square Wave knows quantiles of very many people better all the same, as a
    design tells nothing of what lies between its nodes. *Checked by*
    ``test_designs_know_quantiles_better_up_to_a_number_of_people``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> print(best(Fraction(1), 120).design)
    Design(distribution, epsilon=1, categories=121, outputs=1825)
    >>> print(best(Fraction(1, 30), 120))
    SlidingWindow(epsilon=1/30, last=120, slide=120, width=119)
    """
    window = square_wave(epsilon, last)
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        return window
    report = designed(epsilon, last)
    asked = workload("distribution", report.steps + 1)
    rows = square_wave(epsilon, report.steps).rows()
    return report if report.design.value() < value_of(rows, asked) else window


INSTRUMENT = 10
"""Bits of the weights of the scores.

A probability is at most 256 times its mean over as many nodes, so weights are at most 2**18. As
the probabilities of a node are 2**40 units in all, their means stay below 2**58 for any number of
outputs, and so does every sum on the way.
"""


@lru_cache(16)
def _estimates(report: DesignedReport) -> Floats:
    """Return scores g with P g = nodes, for B c in place of the best ones.

    B, the probabilities over their means, is rounded to whole numbers, so that P B is exact. The
    rest are floating-point operations in a fixed order: every machine finds the same numbers.
    """
    weights = report.design.weights
    k = len(weights[0])
    b = (weights * k << INSTRUMENT) // weights.sum(axis=1, keepdims=True)
    exact = (weights.T @ b).tolist()
    matrix = [[float(v / UNIT) for v in row] for row in exact]
    nodes = [report.last * i / (k - 1) - report.last / 2 for i in range(k)]
    c = solved(matrix, nodes)
    middle = report.last / 2
    scores = [middle + fsum(x * y for x, y in zip(row, c, strict=True)) for row in b.tolist()]
    tick = report.last * 2.0**-44
    order, least = sorted(range(len(scores)), key=lambda y: (scores[y], y)), -np.inf
    found = np.empty(len(scores))
    for y in order:
        least = max(round(scores[y] / tick) * tick, least + tick)
        found[y] = least
    return found


def solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Return the solution of a system by elimination with pivots, one operation at a time."""
    n = len(right)
    rows = [[*row, r] for row, r in zip(matrix, right, strict=True)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda j: abs(rows[j][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        own = rows[i]
        for j in range(i + 1, n):
            factor = rows[j][i] / own[i]
            rows[j] = [x - factor * y for x, y in zip(rows[j], own, strict=True)]
    found = [0.0] * n
    for i in reversed(range(n)):
        known = fsum(rows[i][j] * found[j] for j in range(i + 1, n))
        found[i] = (rows[i][n] - known) / rows[i][i]
    return found


RANDOMISERS[DesignedReport.__name__] = DesignedReport


def _specimen(epsilon: Any) -> DesignedReport:
    channel = written(*nearest(5, read_epsilon(epsilon), NUMBERS))
    return DesignedReport(epsilon=epsilon, last=12, channel=channel)


register(Specimen("number.design", _specimen, range(13), also=("density.design",)))
