"""Square Wave and Piecewise: a window that slides with the truth."""

from __future__ import annotations

from abc import abstractmethod
from math import exp, expm1, log1p
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.exact import exp_neg, given, integer, positive
from sourdine.laws import Law
from sourdine.mechanisms.mechanism import Specimen, TickReport, read_beta, read_last, register

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact import Number
    from sourdine.grid import Grid
    from sourdine.noise import Source

    Floats = NDArray[np.float64]


# ---- What the randomisers of a number share whose reports can be averaged ------------------------


@frozen(kw_only=True)
class UnbiasedReport(TickReport):
    r"""One person's tick :math:`x` of 0 to :math:`m`, as a report whose mean is a line in it.

    So a line through the reports, `estimates`, has the mean :math:`x`: its average over many people
    is an unbiased estimate of theirs, whatever they answered. Between neighbouring `nodes` the law
    itself is linear in :math:`x`, so what holds there for a linear function holds for every tick.
    """

    @abstractmethod
    def estimates(self, reports: ArrayLike) -> Floats:
        """Return an unbiased estimate, in ticks, of each reporter's tick."""

    @abstractmethod
    def variance(self, x: ArrayLike) -> Floats:
        """Return the variance of `estimates` for a tick."""

    @abstractmethod
    def nodes(self) -> Floats:
        """Return the positions between which the law is linear, from 0 to m."""

    @abstractmethod
    def rows(self) -> Floats:
        """Return the probabilities of all reports, a row for each of the nodes."""

    def values(self, reports: ArrayLike, grid: Grid) -> Floats:
        """Return an unbiased estimate of each reporter's number; it may lie far outside the grid.

        Parameters
        ----------
        reports
            What `randomise` drew.
        grid
            The column's lattice, whose highest tick is ``last``.
        """
        on_grid(self, grid)
        return float(grid.lower) + float(grid.step) * self.estimates(reports)

    def loss(self, x: int, y: NDArray[np.int64]) -> Floats:
        return np.abs(self.estimates(y) - x)

    def farthest(self) -> float:
        """Return how far the estimate from one report can be from any tick."""
        ends = self.estimates([0, self.codes - 1])
        return float(max(np.abs(ends - self.last).max(), np.abs(ends).max()) * (1 + 1e-12))

    def error(self, beta: Number = 0.05) -> float:
        """Return the farthest an estimate can be: one report is rarely near for all ticks."""
        read_beta(beta)
        return self.farthest()


def log_mixed(share: float, epsilon: float) -> float:
    r"""Return :math:`\ln(1 - t + te^{-\varepsilon})`, the weight of two levels mixed."""
    return -epsilon if share >= 1 else log1p(share * expm1(-epsilon))


def on_grid(report: Any, grid: Grid) -> None:
    """Refuse a grid on which the reports were not drawn."""
    if grid.last != report.last:
        must = f"have the highest tick {report.last}, like the reports"
        hint = "Use the grid that the answers were read with."
        raise ParameterError("grid", must, str(grid.last), hint)


# ---- A window that slides with the truth: Square Wave and Piecewise are two of them --------------


FINEST = 512
"""The builders let the window slide over this many cells; finer ticks are rounded at random."""
COARSEST = 256
"""`piecewise` has at least this many, so that its window's width can be chosen finely."""
MOST_CELLS = 1 << 11
CHUNK = 1 << 17


def _cells(value: object, name: str) -> int:
    cells = integer(value, name, least=1)
    if cells > MOST_CELLS:
        hint, tries = f"Use {{{name}}} or less, of wider cells.", {name: MOST_CELLS}
        raise ParameterError(name, f"be at most {MOST_CELLS}", given(cells), hint, **tries)
    return cells


def _slide(x: int) -> int:
    return _cells(x, "slide")


def _width(x: int) -> int:
    return _cells(x, "width")


@frozen(kw_only=True)
class SlidingWindow(UnbiasedReport):
    r"""Report a cell of a window that slides with the tick, or with a smaller chance another.

    There are :math:`N = S + w` cells. For the tick :math:`x` of 0 to :math:`m`, ``last``, the
    window holds the :math:`w` cells from :math:`s = Sx/m` on; its cells have the probability
    :math:`p`, all others :math:`q`:

    .. math:: p = \frac{e^\varepsilon}{w e^\varepsilon + S}, \qquad q = \frac{1}{w e^\varepsilon +S}

    If :math:`Sx/m` is not whole, :math:`s` is rounded up or down at random, so that it has this
    mean. `square_wave` and `piecewise` choose :math:`S` and :math:`w`.

    Parameters
    ----------
    slide
        :math:`S`, by how many cells the window moves from the lowest tick to the highest.
    width
        :math:`w`, the cells of the window.

    Notes
    -----
    *Claim*: exactly :math:`\varepsilon`-LDP: every cell has the probability :math:`p`, :math:`q`
    or, by random rounding, a mean of them. *Checked by*
    ``test_exact_worst_case[number.square-wave]`` and ``test_exact_worst_case[number.piecewise]``.
    *Claim*: `estimates` is unbiased with the `variance` given, for all ticks. *Checked by*
    ``test_estimates_are_unbiased``.

    References
    ----------
    .. [1] Z. Li, T. Wang, M. Lopuhaä-Zwakenberg, N. Li, B. Škorić, "Estimating numerical
       distributions under local differential privacy", SIGMOD 2020.
    .. [2] N. Wang, X. Xiao, Y. Yang et al., "Collecting and analyzing multidimensional data with
       local differential privacy", ICDE 2019.

    Examples
    --------
    >>> report = SlidingWindow(epsilon=1, last=4, slide=4, width=3)
    >>> report.law(1).pmf(range(7)).round(3).tolist()
    [0.082, 0.224, 0.224, 0.224, 0.082, 0.082, 0.082]
    >>> report.estimates([0, 3, 6]).round(2).tolist()
    [-5.07, 2.0, 9.07]
    """

    slide: int = field(converter=_slide)
    width: int = field(converter=_width)

    @property
    def codes(self) -> int:
        return self.slide + self.width

    @property
    def chances(self) -> tuple[float, float]:
        """The probabilities p of a cell of the window and q of each other one."""
        b = exp(-float(self.epsilon))
        p = 1 / (self.width + self.slide * b)
        return p, b * p

    @property
    def slope(self) -> float:
        return -expm1(-float(self.epsilon)) * self.chances[0] * self.width

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Place the window, decide inside or outside, then take any of those cells."""
        b = exp_neg(self.epsilon)
        outside = self.slide * b / (self.width + self.slide * b)
        drawn = np.empty(codes.size, np.int64)
        for begin in range(0, codes.size, CHUNK):
            start = self._start(codes[begin : begin + CHUNK], source)
            cell = noise.uniform_below(self.slide, start.size, source=source)
            cell += (cell >= start) * self.width
            start += noise.uniform_below(self.width, start.size, source=source)
            np.copyto(start, cell, where=noise.bernoulli(outside, start.size, source=source))
            drawn[begin : begin + CHUNK] = start
        return drawn

    def _start(self, x: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Return the first cell of each window, rounded at random where it is not whole."""
        if self.slide % self.last == 0:
            return x * (self.slide // self.last)
        return (x * self.slide + noise.uniform_below(self.last, x.size, source=source)) // self.last

    def law(self, x: int) -> Law:
        start, rest = divmod(x * self.slide, self.last)
        epsilon = float(self.epsilon)
        if rest == 0:
            return Law.two_levels(start, self.width, self.codes, epsilon)
        up = rest / self.last
        weights = np.full(self.codes, -epsilon)
        weights[start : start + self.width] = 0.0
        weights[[start, start + self.width]] = [log_mixed(t, epsilon) for t in (up, 1 - up)]
        return Law.finite(weights)

    def estimates(self, reports: ArrayLike) -> Floats:
        r"""Return :math:`\frac m2 + \frac{m}{S}\frac{y - (N-1)/2}{(p - q)w}`, in ticks."""
        y = np.asarray(reports, np.float64) - (self.codes - 1) / 2
        return self.last / 2 + y * (self.last / self.slide / self.slope)

    def variance(self, x: ArrayLike) -> Floats:
        r"""Return the variance of `estimates` for a tick, rounding included.

        With :math:`c = s + \frac{w-N}{2}`, the window's distance from the middle, :math:`Y` has
        the mean :math:`(p-q)wc` and

        .. math:: E[Y^2] = q\frac{N(N^2-1)}{12} + (p-q)\Big(wc^2 + \frac{w(w^2-1)}{12}\Big).
        """
        (p, q), w, n = self.chances, self.width, self.codes
        s = np.asarray(x, np.float64) * self.slide / self.last
        up = s - np.floor(s)
        c = s + (w - n) / 2
        square = c * c + up * (1 - up)
        second = q * n * (n * n - 1) / 12 + (p - q) * (w * square + w * (w * w - 1) / 12)
        scale = self.last / self.slide / self.slope
        return np.asarray((second - (self.slope * c) ** 2) * scale**2)

    def nodes(self) -> Floats:
        if self.slide < self.last:
            return np.linspace(0.0, self.last, self.slide + 1)
        return np.arange(self.last + 1, dtype=np.float64)

    def rows(self) -> Floats:
        start = self.nodes()[:, None] * (self.slide / self.last)
        if self.slide < self.last:
            start = start.round()
        cell = np.arange(self.codes)
        covered = np.minimum(cell + 1, start + self.width) - np.maximum(cell, start)
        p, q = self.chances
        return np.asarray(q + (p - q) * np.clip(covered, 0, 1))

    def error(self, beta: Number = 0.05) -> float:
        """Return the farthest a report of the window can be, if others are rarer than ``beta``."""
        inside = self.width * self.chances[0]
        if 1 - inside > read_beta(beta) * (1 - 1e-9):
            return self.farthest()
        start = self.nodes() * (self.slide / self.last)
        ends = [np.floor(start - 1e-9), np.ceil(start + 1e-9) + self.width - 1]
        return float(max(np.abs(self.estimates(e) - self.nodes()).max() for e in ends))


def square_wave(epsilon: Number, last: int) -> SlidingWindow:
    r"""Return the window that tells most about the distribution of the ticks 0 to ``last``.

    Its width is :math:`2bS + 1` cells for :math:`S = \min(m, 512)` and Li et al.'s

    .. math:: b = \frac{\varepsilon e^\varepsilon - e^\varepsilon + 1}
                       {2e^\varepsilon(e^\varepsilon - 1 - \varepsilon)}.

    Examples
    --------
    >>> square_wave(1, 100)
    SlidingWindow(epsilon=Fraction(1, 1), last=100, slide=100, width=53)
    """
    e, slide = float(positive(epsilon, "epsilon")), min(read_last(last), FINEST)
    if e < 1e-3:  # the first terms of both series
        half = 0.5 * (1 - e / 3 + e * e / 12) / (1 + e / 3 + e * e / 12)
    else:
        b = exp(-e)
        half = b * (e + expm1(-e)) / (2 * (1 - b - e * b))
    width = 2 * round(half * slide) + 1
    return SlidingWindow(epsilon=epsilon, last=last, slide=slide, width=width)


def piecewise(epsilon: Number, last: int) -> SlidingWindow:
    r"""Return the window whose reports have the smallest worst variance, of Wang et al.

    A report is of the window with probability
    :math:`e^{\varepsilon/2}/(1 + e^{\varepsilon/2})`, that is :math:`w = S e^{-\varepsilon/2}`. Of
    up to 512 ticks each moves the window by a whole number of cells.

    Examples
    --------
    >>> piecewise(1, 100)
    SlidingWindow(epsilon=Fraction(1, 1), last=100, slide=300, width=182)
    """
    spent, top = float(positive(epsilon, "epsilon")), read_last(last)
    slide = top * -(-COARSEST // top) if top <= FINEST else FINEST
    width = max(1, round(slide * exp(-spent / 2)))
    return SlidingWindow(epsilon=epsilon, last=last, slide=slide, width=width)


register(
    Specimen(
        "number.square-wave", lambda e: square_wave(e, 12), range(13), also=("density.square-wave",)
    ),
    Specimen(
        "number.piecewise", lambda e: SlidingWindow(epsilon=e, last=5, slide=12, width=7), range(6)
    ),
)
