"""Counts over bins or categories, and the most common category."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from attrs import field, frozen

from sourdine import calendar
from sourdine.calendar import DAY, moment, written
from sourdine.central.intervals import each
from sourdine.central.keys import NamedCounts
from sourdine.central.statistic import CHECK, Statistic
from sourdine.central.weights import Weighted
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given, integer, one_of
from sourdine.frames.cells import Codes, Edges
from sourdine.frames.memory import DATES, NUMBERS, TEXTS
from sourdine.mechanisms import Laplace, PermuteAndFlip
from sourdine.mechanisms.laplace import laplace_error
from sourdine.parameters import converters, kinds
from sourdine.parameters import converters as read
from sourdine.parameters.converters import dates
from sourdine.parameters.kinds import WHAT, param
from sourdine.results import charts
from sourdine.results.charts import Chart, ChartAxis
from sourdine.results.tables import places, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.central.finding.two_stage import TwoStage
    from sourdine.errors import PythonWording
    from sourdine.exact import Number
    from sourdine.frames.frame import Frame
    from sourdine.parameters.converters import Bounds
    from sourdine.privacy import Part
    from sourdine.results.release import Release


# ---- Edges of bins: where they lie, and how they are written -------------------------------------


def even_edges(lower: Any, upper: Any, bins: int) -> list[Any]:
    """Return the edges of bins of one width between bounds."""
    if isinstance(lower, dt.date):
        return calendar.even_edges(lower, upper, bins)
    return [lower + (upper - lower) * i / bins for i in range(bins + 1)]


def edge_values(cell: Edges) -> list[Any]:
    """Return the edges as numbers, or as dates or times."""
    if not cell.dated:
        return [float(edge) for edge in cell.edges]
    dates = all(edge % DAY == 0 for edge in cell.edges)
    return [moment(int(edge), date=dates) for edge in cell.edges]


def edge_texts(cell: Edges) -> list[str]:
    """Return the edges as a person reads them."""
    if cell.dated:
        return [written(edge) for edge in edge_values(cell)]
    edges = [float(e) for e in cell.edges]
    width = min(b - a for a, b in pairwise(edges))
    return [shown(int(e) if e.is_integer() else e, width) for e in edges]


# ---- Counts over bins or categories --------------------------------------------------------------


UNKNOWN = "unknown"
AnyEdges = tuple[Fraction, ...] | tuple[dt.date, ...]
MOST_BINS = 1_000_000
POLICIES = ("exclude", "count")
SHOWN_NAMES = 5


def read_bins(x: int | Sequence[Number | dt.date | str] | None) -> int | AnyEdges | None:
    example = [0, 18, 65, 120]
    if x is None:
        return None
    word = isinstance(x, (str, bool))
    if word or not (isinstance(x, Iterable) or hasattr(x, "__index__")):
        raise ParameterTypeError(
            "bins", "be a whole number, or a list of edges", given(x),
            "Use {bins}; edges may be dates, such as the first of each month.", bins=example,
        )  # fmt: skip
    if not isinstance(x, Iterable):
        count = integer(x, "bins", least=1)
        if count >= MOST_BINS:
            must = f"be below {MOST_BINS}"
            raise ParameterError("bins", must, str(count), "Use {bins}.", bins=100)
        return count
    typed = list(x)
    if len(typed) > 1 and (moments := dates(typed, "bins")) is not None:
        return moments
    edges = tuple(read.part(edge, "bins", "be finite numbers", example) for edge in typed)
    if len(edges) < 2 or any(a >= b for a, b in pairwise(edges)):
        must = "be at least two edges in increasing order"
        raise ParameterError("bins", must, f"{len(edges)} edges", "Use {bins}.", bins=example)
    return edges


def read_categories(x: Sequence[Any] | str | None) -> tuple[Any, ...] | str | None:
    found: tuple[Any, ...] | str | None = read.listed_or_unknown(x, "categories", ["yes", "no"])
    return found


def read_bounds(x: Sequence[Number] | None) -> Bounds | None:
    return None if x is None else converters.bounds_or_find(x)


def read_missing(x: str) -> str:
    return one_of(x, "missing", *POLICIES)


@frozen(kw_only=True, slots=False)
class Histogram(Weighted):
    r"""Count the records in each bin, or in each category.

    Notes
    -----
    One record added or removed moves one count by 1; one replaced moves two. With the L1
    sensitivity each count gets discrete Laplace noise of scale ``rows``:math:`/\varepsilon`, or
    twice that. Released counts are whole numbers and may be negative: their sums stay unbiased.
    Their intervals begin at 0, or at the count where that is lower.
    *Claim*: intervals and the planned error are for all bins together. *Checked by*
    ``test_histogram_intervals_hold_together``.

    Examples
    --------
    >>> Histogram(bins=10, bounds=(0, 100), epsilon=1).error(0.05)
    5.0
    """

    kind: ClassVar[str] = "histogram"
    shown: ClassVar[Mapping[str, Any]] = {"head": "count", "populations": False}
    text: ClassVar[str] = "Count records by bins of numbers, or by categories."
    examples: ClassVar[tuple[str, str]] = (
        "people.csv -c age --bins 12 --bounds 0 120 --epsilon 0.5 --plot ages.png",
        "--bins 12 --bounds 0 120 --error 20",
    )

    bins: int | AnyEdges | None = field(default=None, converter=read_bins, metadata=param(
        kinds.BINS, "The number of bins of equal width between the bounds; or their edges, such as "
        "0,18,65,120 or 2020-01-01,2020-07-01,2021-01-01.", group=WHAT, unit="values",
    ))  # fmt: skip
    bounds: Bounds | None = field(default=None, converter=read_bounds, metadata=param(
        kinds.BOUNDS, "Public bounds, if bins is a number. Values outside are counted in the first "
        "or the last bin. If the bounds are unknown: find.", group=WHAT, unit="values",
    ))  # fmt: skip
    categories: tuple[Any, ...] | str | None = field(
        default=None, converter=read_categories, metadata=param(
            kinds.CATEGORIES, "The categories to count; or unknown, to find those with many "
            "records by a private threshold (needs delta).", group=WHAT,
    ))  # fmt: skip
    missing: str = field(default="exclude", converter=read_missing, metadata=param(
        kinds.one_of(*POLICIES), "count: add a bin for values that are missing or in none of the "
        "categories.", group=WHAT,
    ))  # fmt: skip

    def first(self) -> TwoStage | None:
        return super().first() or self.bounds_first()

    @property
    def needed(self) -> str:
        if self.categories is not None:
            return TEXTS
        return NUMBERS if converters.is_unknown(self.bounds) or not self.edges.dated else DATES

    @property
    def reading_step(self) -> tuple[Fraction | None, tuple[Fraction, ...]]:
        if self.bins is None or converters.is_unknown(self.bounds):
            return None, ()
        first, last = self.edges.edges[0], self.edges.edges[-1]
        return (last - first) / MOST_BINS, (first, last)

    def check(self) -> None:
        if (self.bins is None) == (self.categories is None):
            raise ParameterError(
                "bins", "be given, or {categories} instead: neither is read from the data",
                "" if self.bins is None else "both",
                "Use {bins} with {bounds}, a list of edges, or the categories alone.", bins=10,
                bounds=(0, 100), **({} if self.bins is None else {"categories": LEFT_OUT}),
            )  # fmt: skip
        self._check_unknown()
        counted = isinstance(self.bins, int)
        if self.bounds is not None and not counted:
            must = "be omitted unless {bins} is a number"
            raise ParameterError("bounds", must, "", "Omit {bounds}.", bounds=LEFT_OUT)
        if counted and self.bounds is None:
            raise ParameterError(
                "bounds", "be given if {bins} is a number: the bins divide this range", "",
                "Use {bounds} from public knowledge, or {bounds:find} to spend part of epsilon on "
                "finding them; or list the edges of the bins.", bounds=(0, 120),
            )  # fmt: skip
        if counted:
            read.bounds(self.bounds)
        _ = self.cell, self.mechanism

    def _check_unknown(self) -> None:
        if not (self.unknown or self.finds):
            read.unused(self.delta, "delta", "where categories are known")
        if not self.unknown:
            return
        if not self.delta:
            raise ParameterError(
                "delta", "be above 0 if categories are unknown: naming a category that only one "
                "person has would reveal that person", "0", "List the categories, or use {delta}.",
                delta=1e-6,
            )  # fmt: skip
        if self.by is not None:
            must, hint = "be listed for a histogram by group", "Use {categories}, and omit {delta}."
            tries = {"categories": ["yes", "no"], "delta": LEFT_OUT}
            raise ParameterError("categories", must, "'unknown'", hint, **tries)
        if self.missing == "count":
            read.unused(self.missing, "missing", "where categories are unknown")

    @cached_property
    def cell(self) -> Edges | Codes | None:
        """How values fall into bins; None where categories are unknown."""
        if self.unknown:
            return None
        return self.edges if self.bins is not None else Codes(self.column, self.categories or ())

    @cached_property
    def edges(self) -> Edges:
        if isinstance(self.bins, int):
            low, high = read.bounds(self.bounds)
            return Edges(self.column, even_edges(low, high, self.bins))
        return Edges(self.column, self.bins or ())

    @property
    def unknown(self) -> bool:
        """Whether the categories are found by a private threshold."""
        return self.categories == UNKNOWN

    needs_delta = unknown

    @cached_property
    def mechanism(self) -> Laplace | NamedCounts:
        if self.cell is None:
            return NamedCounts(
                epsilon=self.epsilon, delta=self.delta, rows=self.rows, relation=self.relation
            )
        moved = (2 if self.substitutes and self.size > 1 else 1) * self.copies
        return Laplace(epsilon=self.epsilon, sensitivity=moved, relation=self.relation)

    @property
    def own_parts(self) -> tuple[Part, ...]:
        return self.mechanism.parts

    @property
    def size(self) -> int:
        """How many known bins there are."""
        return 0 if self.cell is None else self.cell.size + (self.missing == "count")

    @property
    def how(self) -> str:
        noisy = "discrete Laplace noise"
        return f"{noisy} above a private threshold" if self.unknown else noisy

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        together = "The intervals hold simultaneously for all"
        if isinstance(self.mechanism, NamedCounts):
            least = self.mechanism.threshold
            named = f"Categories with a noisy count of {least} or more are listed."
            return (named, f"{together} listed categories.", *self.person)
        counted = "count as missing" if self.missing == "count" else "are not counted"
        outside = self.clipping or f"Values in none of the categories {counted}."
        together += " bins. Noise may make counts negative."
        return (outside, together, *self.weighing, *self.person)

    @property
    def clipping(self) -> str:
        if self.bins is None:
            return ""
        first, *_, last = edge_texts(self.edges)
        return f"Values outside {first} to {last} are counted in the first or the last bin."

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        """Say of which listed categories no record was told apart from none."""
        if not isinstance(self.cell, Codes):
            return super().remarks(release, words)
        low, _ = release.interval(self.display.confidence)
        none = [str(c) for c, x in zip(self.cell.categories, low, strict=False) if x <= 0]
        if not none:
            return ()
        listed = ", ".join(none[:SHOWN_NAMES]) + (" and others" if len(none) > SHOWN_NAMES else "")
        return (f"No or almost no records: {listed}. If this is unexpected, {CHECK}.",)

    def prefetch(self, data: Frame) -> None:
        if self.cell is not None:
            data.prefetch(self.cell)

    def draw(self, data: Frame) -> dict[str, Any]:
        if self.cell is None:
            found = dict(zip(*(list(part) for part in data.distinct(self.column)), strict=True))
            named = self.mechanism.release(found, source=self.source).value
            return {"keys": list(named), "counts": list(named.values())}
        counts = data.tally(self.cell).counts
        counted = counts if self.missing == "count" else counts[:-1]
        return {"counts": self.mechanism.release(counted, source=self.source).value}

    def value(self, drawn: Mapping[str, Any]) -> Any:
        if self.unknown:
            return dict(zip(drawn["keys"], drawn["counts"], strict=True))
        return self.of_units(np.asarray(drawn["counts"], np.int64))

    def planned(self, beta: float, n: int | None) -> float:
        return float(self.of_units(self._half(beta, max(self.size, 1))))

    def _half(self, beta: float, m: int) -> float:
        """Return what none of ``m`` independent noises passes, but with probability ``beta``."""
        return laplace_error(self.mechanism.scale, each(beta, m))

    def limits(self, release: Release, beta: float, of: str) -> Any:
        counts = np.array(release.drawn["counts"], np.int64)
        if not isinstance(self.mechanism, NamedCounts):
            half = int(self._half(beta, self.size))
            low, high = np.maximum(counts - half, 0), np.maximum(counts + half, 0)
            return self.of_units(low), self.of_units(high)
        half = int(self.mechanism.half(each(beta, max(len(counts), 1))))
        low = np.where(counts - half > self.mechanism.threshold, counts - half, 1)
        high, keys = counts + half, list(release.drawn["keys"])
        return dict(zip(keys, zip(low.tolist(), high.tolist(), strict=True), strict=True))

    def labels(self, release: Release) -> dict[str, Sequence[str]]:
        if self.cell is None:
            return {"category": [str(key) for key in release.drawn["keys"]]}
        gone = ["missing"] if self.missing == "count" else []
        if isinstance(self.cell, Codes):
            return {"category": [*map(str, self.cell.categories), *gone]}
        return {"bin": [*(f"{a} to {b}" for a, b in pairwise(edge_texts(self.cell))), *gone]}

    def further(self, release: Release) -> dict[str, Sequence[Any]]:
        """Return the edges of bins as numbers or dates; the bin of what is missing has none."""
        if self.bins is None:
            return {}
        edges = edge_values(self.edges)
        gone = [None] if self.missing == "count" else []
        return {"bin_from": [*edges[:-1], *gone], "bin_to": [*edges[1:], *gone]}

    def chart(self, release: Release, truth: Any = None) -> Chart:
        columns = release.columns()
        names = [str(name) for name in list(columns.labels.values())[-1]]
        series, x = charts.series_of(columns, None, truth), ChartAxis(scale="names", names=names)
        label = "records" if self.weights is None else f"sum of {self.weights}"
        if columns.by and series:
            x = replace(x, names=names[: len(series[0].value)])
        if self.bins is not None and self.missing != "count":
            edges = places(edge_values(self.edges))
            texts = [name.split(" to ") for name in x.names]
            x = ChartAxis(
                scale="date" if self.edges.dated else "number", view=(edges[0], edges[-1]),
                names=[first for first, _ in texts] + [last for _, last in texts[-1:]],
            )  # fmt: skip
            series = tuple(replace(one, x=edges) for one in series)
        return Chart(
            mark="bars", x=x, y=ChartAxis(label=label), series=series,
            grouped=bool(columns.by), told=charts.told(columns),
        )  # fmt: skip


# ---- The most common category -------------------------------------------------------------------


def read_candidates(x: Sequence[Any] | None) -> tuple[Any, ...]:
    listed = read.listed(x, "categories", ["bus", "car", "foot"])
    if listed is None:
        must, tries = "be listed, as which of them occur is private", ["bus", "car", "foot"]
        raise ParameterError("categories", must, "", "Use {categories}.", categories=tries)
    return listed


@frozen(kw_only=True, slots=False)
class Mode(Statistic):
    r"""Name the most common of the listed categories, by permute-and-flip over their counts.

    A person added or removed moves every count by at most ``rows``, all in one direction; one whose
    records are replaced moves some up and others down, which needs twice the noise. A tie is
    broken at random, as is a near tie: the winner's count falls short of the largest by no more
    than the planned error.

    Notes
    -----
    *Claim*: a replaced, an added or a removed person moves the counts as said. *Checked by*
    ``test_a_mode_moves_no_further_than_it_says``. *Claim*: the count of what is named falls short
    of the largest by more than the planned error with probability ``beta`` at most. *Checked by*
    ``test_the_mode_is_as_common_as_planned``.

    Examples
    --------
    >>> asked = Mode(categories=["bus", "car", "foot"], epsilon=1)
    >>> asked.release(["bus"] * 400 + ["car"] * 300 + ["foot"] * 50).value
    'bus'
    """

    kind: ClassVar[str] = "mode"
    shown: ClassVar[Mapping[str, Any]] = {"numeric": False, "intervals": False}
    needed = TEXTS
    how = "permute-and-flip"
    required: ClassVar[tuple[str, ...]] = ("categories",)
    text: ClassVar[str] = "Find the most common of the listed categories."
    examples: ClassVar[tuple[str, str]] = (
        "survey.csv -c travel --categories bus,car,foot --epsilon 0.5",
        "--categories bus,car,foot --error 20",
    )

    categories: tuple[Any, ...] = field(default=None, converter=read_candidates, metadata=param(
        kinds.KEYS, "The candidate values. List them yourself, because which of them occur is "
        "private.", group=WHAT,
    ))  # fmt: skip

    @cached_property
    def cell(self) -> Codes:
        return Codes(self.column, self.categories)

    @cached_property
    def mechanism(self) -> PermuteAndFlip:
        return PermuteAndFlip(
            epsilon=self.epsilon, candidates=self.cell.size, sensitivity=self.rows,
            monotone=not self.substitutes, relation=self.relation,
        )  # fmt: skip

    @property
    def own_parts(self) -> tuple[Part, ...]:
        return self.mechanism.parts

    def check(self) -> None:
        _ = self.mechanism

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        return (
            "Values in none of the categories are not counted.",
            "A category that is nearly as common may be returned instead.",
            *self.person,
        )

    def prefetch(self, data: Frame) -> None:
        data.prefetch(self.cell)

    def draw(self, data: Frame) -> dict[str, Any]:
        counts = data.tally(self.cell).counts[:-1]
        return {"winner": int(self.mechanism.release(counts, source=self.source).value)}

    def value(self, drawn: Mapping[str, Any]) -> Any:
        return self.categories[drawn["winner"]]

    def planned(self, beta: float, n: int | None) -> float:
        """Return by how many records the winner may fall short of the most common one."""
        return self.mechanism.error(beta)
