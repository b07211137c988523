"""`Density`, its chart, and the protocol between people and server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import log10
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, integer, probability, rational
from sourdine.grid import MISSING, Grid
from sourdine.local.estimators.frequencies import norm_sub
from sourdine.mechanisms.mechanism import epsilon
from sourdine.noise import SYSTEM
from sourdine.privacy import LOCAL, Guarantee
from sourdine.results.answer import Answer
from sourdine.results.figures import BLUE, INK, PALE, RED, canvas, gaps, headed, saved
from sourdine.results.tables import Columns, Sheet, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact import Number
    from sourdine.mechanisms.mechanism import Report
    from sourdine.noise import Source

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


# ---- `Density`: an estimate that is a density, with its noise and its cost -----------------------


POINTS = 2000
ROWS = 10
NORMAL = 1.959963984540054
BAND = (
    "The band is pointwise: 95 % of the estimates would fall in it if the people answered again "
    "and the truth were what is drawn. It says nothing of what smoothing hides."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Density(Answer):
    """A density on public bounds: constant on equal cells, not negative, of integral 1.

    Parameters
    ----------
    bounds
        Where it lives.
    mass
        The share of each cell.
    raw
        The heights before they were made a density: unbiased where the estimator is linear.
    spread
        The standard deviation of each height by the known noise and by sampling.
    cost
        What each person's report cost that person.
    method
        What drew the reports, and how they were read.
    reports
        How many people answered.

    Notes
    -----
    *Claim*: whatever the reports, it is not negative and its integral is 1. *Checked by*
    ``test_always_a_density``. *Claim*: `cdf` and `quantile` are inverse to each other where the
    density is positive. *Checked by* ``test_quantiles_invert_the_cdf``.

    Examples
    --------
    >>> half = Density(
    ...     bounds=(0, 10), mass=np.array([0.5, 0.25, 0.25, 0.0]), raw=np.zeros(4),
    ...     spread=np.zeros(4), cost=Guarantee(1, 0, "local"), method="example", reports=9,
    ... )
    >>> half.cdf(2.5), half.quantile(0.5), half.integral(0, 5), half.mean
    (0.5, 2.5, 0.75, 3.125)
    >>> half.pdf([1, 9, 11]).tolist()
    [0.2, 0.0, 0.0]
    """

    bounds: tuple[Number, Number]
    mass: Floats
    raw: Floats
    spread: Floats
    cost: Guarantee
    method: str
    reports: int

    @property
    def ends(self) -> tuple[float, float]:
        """The bounds, as floats."""
        return float(self.bounds[0]), float(self.bounds[1])

    @property
    def edges(self) -> Floats:
        """The ends of the cells."""
        return np.linspace(*self.ends, self.mass.size + 1)

    @property
    def width(self) -> float:
        """The width of a cell."""
        low, high = self.ends
        return (high - low) / self.mass.size

    @property
    def heights(self) -> Floats:
        """The density in each cell."""
        return self.mass / self.width

    def pdf(self, x: ArrayLike) -> Any:
        """Return the density at x; 0 outside the bounds."""
        at = np.asarray(x, np.float64)
        low, high = self.ends
        cell = np.searchsorted(self.edges, at, side="right") - 1
        height = self.heights[np.clip(cell, 0, self.mass.size - 1)]
        return _plain(np.where((at >= low) & (at <= high), height, 0.0))

    def cdf(self, x: ArrayLike) -> Any:
        """Return the share of people at x or below."""
        return _plain(np.interp(np.asarray(x, np.float64), self.edges, self._cumulative))

    def quantile(self, q: ArrayLike) -> Any:
        """Return the least x that a share ``q`` of people does not pass."""
        for order in np.ravel(q):
            probability(float(order), "q")
        total, order = self._cumulative, np.asarray(q, np.float64)
        cell = np.searchsorted(total, order, side="left") - 1
        cell = np.maximum(cell, np.flatnonzero(self.mass)[0])
        part = np.clip((order - total[cell]) / np.diff(total)[cell], 0, 1)
        return _plain(self.ends[0] + (cell + part) * self.width)

    @property
    def _cumulative(self) -> Floats:
        total = np.append(0.0, np.cumsum(self.mass))
        return np.asarray(total / total[-1])

    def integral(self, a: Number, b: Number) -> float:
        """Return the share of people between ``a`` and ``b``."""
        ends = self.cdf([float(rational(a, "a")), float(rational(b, "b"))])
        return float(ends[1] - ends[0])

    @property
    def mean(self) -> float:
        """The mean of the density."""
        return float(self.mass @ ((self.edges[:-1] + self.edges[1:]) / 2))

    def band(self) -> tuple[Floats, Floats]:
        """Return the ends of the pointwise 95% band of the heights.

        The spread is that of the estimate over fresh answers, were the estimate the truth: known
        noise and sampling, for whatever smoothing was chosen. What smoothing hides is not in it.
        """
        half = NORMAL * self.spread
        return np.maximum(self.heights - half, 0), self.heights + half

    def plot(
        self,
        path: str | None = None,
        *,
        truth: Callable[[Floats], ArrayLike] | None = None,
        title: str | None = None,
    ) -> Any:
        """Draw the density with its band; ``truth`` is a function to draw beside it."""
        (figure, axes), (low, high) = canvas(), self.band()
        told, stairs = "95% band of the noise, pointwise", {"step": "post", "linewidth": 0}
        band = np.append(low, low[-1]), np.append(high, high[-1])
        axes.fill_between(self.edges, *band, color=PALE, label=told, **stairs)
        line = {"baseline": None, "color": BLUE, "linewidth": 1.6, "label": "estimate"}
        axes.stairs(self.heights, self.edges, **line)
        if truth is not None:
            x = np.linspace(*self.ends, POINTS)
            axes.plot(x, np.asarray(truth(x)), color=RED, linewidth=1, label="truth")
        axes.set_xlim(*self.ends)
        axes.set_ylim(bottom=0)
        unit = 10.0 ** round(log10((self.ends[1] - self.ends[0]) / 50))
        each = shown(round(unit), 1.0) if unit >= 1 else f"{unit:g}"
        axes.set_ylabel(f"share of people for each {each}", color=INK)
        axes.locator_params(axis="x", nbins=6)
        gaps(axes.xaxis)
        axes.yaxis.set_major_formatter(lambda y, _: f"{100 * y * unit:.3g}%")
        said = f"{self.cost} · {self.method}, {shown(self.reports, 1.0)} reports"
        headed(axes, title or "Density", said)
        look = {"frameon": False, "fontsize": 8, "labelcolor": INK, "handlelength": 1.2}
        figure.legend(loc="outside lower right", ncols=3, **look)
        return saved(figure, path, self)

    def columns(self) -> Columns:
        edges, (low, high) = self.edges.tolist(), self.band()
        labels, values = {"from": edges[:-1], "to": edges[1:]}, self.heights.tolist()
        ends = {"lower": low.tolist(), "upper": high.tolist()}
        return Columns(labels=labels, name="density", values=values, **ends)

    def sheet(self) -> Sheet:
        edges = np.linspace(*self.ends, ROWS + 1)
        width = (self.ends[1] - self.ends[0]) / ROWS
        rows = [
            (shown(a, width), shown(b, width), f"{100 * share:.1f}%")
            for (a, b), share in zip(pairwise(edges), np.diff(self.cdf(edges)), strict=True)
        ]
        return Sheet(heads=("from", "to", "share"), lines=rows, notes=self.notes())

    def notes(self) -> list[tuple[str, str]]:
        method = f"{self.method}, {shown(self.reports, 1)} reports"
        return [("cost", str(self.cost)), ("method", method)]

    def to_dict(self) -> dict[str, Any]:
        return {
            "bounds": [str(rational(b, "bounds")) for b in self.bounds],
            **{name: getattr(self, name).tolist() for name in ("mass", "raw", "spread")},
            "cost": self.cost.to_dict(),
            "method": self.method,
            "reports": self.reports,
            "note": BAND,
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Density:
        low, high = map(Fraction, facts["bounds"])
        own: dict[str, Any] = {name: facts[name] for name in ("method", "reports")}
        own |= {name: np.array(facts[name], np.float64) for name in ("mass", "raw", "spread")}
        return cls(bounds=(low, high), cost=Guarantee.from_dict(facts["cost"]), **own)


def _plain(x: NDArray[Any]) -> Any:
    """Return a number for a number, an array for an array."""
    return float(x) if np.ndim(x) == 0 else np.asarray(x)


# ---- The two halves of every density: what a person does, and what the server does ---------------


BITS = 12  # values are snapped to the middles of 2**BITS equal cells


def read_bounds(bounds: tuple[Number, Number]) -> tuple[Fraction, Fraction]:
    """Return two numbers in order."""
    hint, tries = "Use the public bounds, such as {bounds}.", {"bounds": (0, 100)}
    if not isinstance(bounds, (tuple, list, np.ndarray)) or len(bounds) != 2:
        raise ParameterTypeError("bounds", "be two numbers", given(bounds), hint, **tries)
    low, high = rational(bounds[0], "bounds[0]"), rational(bounds[1], "bounds[1]")
    if low >= high:
        got = f"({given(bounds[0])}, {given(bounds[1])})"
        raise ParameterError("bounds", "lower must be below upper", got, hint, **tries)
    return low, high


@frozen(kw_only=True, eq=False)
class DensityProtocol(ABC):
    r"""A way to learn a density from people who each randomise their own value.

    A person calls `randomise` and sends the report; the server adds up `tally`\ s and calls
    `estimate`. All parameters are public and the same for both. What a person does is on whole
    numbers and the law of the report is exact; what the server does is free post-processing. The
    report is drawn by an audited mechanism, ``report``: ``test_every_protocol_draws_by_a_report``.
    """

    bits: ClassVar[int] = BITS
    bounds: tuple[Fraction, Fraction] = field(converter=read_bounds)
    epsilon: Fraction = field(converter=epsilon)

    if TYPE_CHECKING:

        @property
        def report(self) -> Report:
            """What draws the reports."""

    def __attrs_post_init__(self) -> None:
        _ = self.report  # refuses early

    @cached_property
    def grid(self) -> Grid:
        """The lattice of the values: the middles of the cells."""
        low, high = self.bounds
        step = (high - low) / (1 << self.bits)
        return Grid(low + step / 2, high - step / 2, step)

    @property
    def guarantee(self) -> Guarantee:
        return self.report.guarantee

    def randomise(self, values: ArrayLike, *, source: Source = SYSTEM) -> NDArray[Any]:
        """Draw one report for each value, from that value alone; a missing one counts as any."""
        ticks = np.ravel(self.grid.ticks(values, missing=MISSING))
        return self.reports(anywhere(ticks, self.grid, source), source)

    def reports(self, ticks: Ints, source: Source) -> NDArray[Any]:
        """Draw one report for each person, from the cells that hold the ticks of the grid."""
        shift = self.bits - self.report.top.bit_length()
        return self.report.randomise(ticks >> shift if shift else ticks, source=source)

    def tally(self, reports: NDArray[Any]) -> Ints:
        return self.report.tally(reports)

    @abstractmethod
    def read(self, tally: Ints, n: int) -> tuple[Floats, Floats]:
        """Return heights on equal cells of [0, 1] and their standard deviations."""

    @property
    @abstractmethod
    def method(self) -> str:
        """What a reader is told of it."""

    def estimate(self, tally: Ints, n: int, *, cost: Guarantee | None = None) -> Density:
        """Return the density that a tally of ``n`` reports tells of."""
        people = integer(n, "n", least=0)
        raw, spread = self.read(np.asarray(tally), people) if people else (np.ones(1), np.ones(1))
        width = float(self.bounds[1] - self.bounds[0])
        return Density(
            bounds=self.bounds, mass=norm_sub(raw / raw.size), raw=raw / width,
            spread=spread / width, cost=self.guarantee if cost is None else cost,
            method=self.method, reports=people,
        )  # fmt: skip

    def density(self, ticks: Iterable[Ints], *, source: Source = SYSTEM) -> Density:
        """Randomise everybody here, in parts, and estimate: each person is on their own."""
        total, people = self.tallied(ticks, source)
        cost = self.guarantee if source.private else Guarantee.none(LOCAL)
        return self.estimate(total, people, cost=cost)

    def tallied(self, ticks: Iterable[Ints], source: Source) -> tuple[Ints, int]:
        """Randomise everybody here, in parts, and add up: the tally, and how many they are."""
        total = self.tally(self.reports(np.zeros(0, np.int64), source))
        people = 0
        for block in ticks:
            part = anywhere(block, self.grid, source)
            for start in range(0, part.size, self.chunk):
                some = part[start : start + self.chunk]
                total = total + self.tally(self.reports(some, source))
                people += some.size
        return total, people

    @property
    def chunk(self) -> int:
        return 1 << 17


def anywhere(ticks: Ints, grid: Grid, source: Source) -> Ints:
    """Return ticks with any, all alike, where a value is missing."""
    (gone,) = np.nonzero(ticks < 0)
    if gone.size:
        ticks = ticks.copy()
        ticks[gone] = noise.uniform_below(grid.size, gone.size, source=source)
    return ticks
