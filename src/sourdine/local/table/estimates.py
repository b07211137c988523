"""`Estimates`: what a sanitised table, or reports, say about all people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import one_of
from sourdine.local.estimators.distribution import distribution, quantiles
from sourdine.local.estimators.frequencies import frequencies
from sourdine.local.estimators.means import mean
from sourdine.local.table.answered import (
    mean_of_answers,
    quantiles_of_answers,
    share_answered,
    shares_of_answers,
)
from sourdine.local.table.columns import NO_ANSWER, Choices, Number
from sourdine.local.table.crossed import BINS, Crossed, axis, pair
from sourdine.local.table.figures import MOST_DRAWN, panels
from sourdine.local.table.part import PaidFlag
from sourdine.privacy import Guarantee
from sourdine.results.answer import plain
from sourdine.results.release import SHOWN, Estimator, Release, read_estimator
from sourdine.results.tables import JsonDisplayable, Sheet, framed, interval_head

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sourdine.exact import Number as Numeric
    from sourdine.grid import Grid
    from sourdine.local.table.columns import Use
    from sourdine.local.table.part import ColumnPart
    from sourdine.local.table.schema import Schema
    from sourdine.results.charts import Chart
    from sourdine.results.release import Display
    from sourdine.results.tables import Columns


# ---- An estimate of a column: by its name, and for all people although some were asked -----------


@dataclass(frozen=True, slots=True, kw_only=True)
class OfColumn(Estimator):
    """An estimate that knows its column, and whether all people were asked.

    If each column is asked of some people, drawn at random without replacement, the error is at
    most that of a sample drawn from a population: intervals for the population hold for all
    people too.
    """

    kind: ClassVar[str] = "column"

    estimate: Estimator
    column: str
    sampled: bool

    @property
    def display(self) -> Display:
        return replace(self.estimate.display, title="")

    def limits(self, release: Release, beta: float, of: str) -> Any:
        return self.estimate.limits(release, beta, "population" if self.sampled else of)

    def labels(self, release: Release) -> Mapping[str, Sequence[Any]]:
        return self.estimate.labels(release)

    def columns(self, release: Release) -> Columns:
        return self.estimate.columns(release)

    def printed(self, release: Release) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        return self.estimate.printed(release)

    def value(self, drawn: Mapping[str, Any]) -> Any:
        return self.estimate.value(drawn)

    def chart(self, release: Release, truth: Any = None) -> Chart:
        return self.estimate.chart(release, truth)

    def plot(self, release: Release, *, title: str | None = None, **options: Any) -> Any:
        return self.estimate.plot(release, title=title or self.column, **options)

    def to_dict(self) -> dict[str, Any]:
        own = {"column": self.column, "sampled": self.sampled}
        return {"statistic": self.kind, "estimate": self.estimate.to_dict(), **own}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> OfColumn:
        estimate = read_estimator(facts["estimate"])
        return cls(estimate=estimate, column=facts["column"], sampled=facts["sampled"])

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "estimate"), name)

    def __str__(self) -> str:
        return f"{self.column}: {self.estimate}"


# ---- Estimates of several columns as tables, and those that were saved ---------------------------


Named = tuple[str, str, Release]
"""A column or two, what is estimated, and the estimate."""
PICTURED = ("shares", "quartiles")
"""What is drawn of what was saved."""


def sheet_of(estimates: Iterable[Named], notes: Sequence[tuple[str, str]]) -> Sheet:
    """Return what is printed of single columns: a line for each number."""
    rows = [
        (name, what, ", ".join(row[:-2]), *row[-2:])
        for name, what, release in estimates
        if not isinstance(release.mechanism, Crossed)
        for row in release.columns().cells()[1]
    ]
    heads = ("column", "what", "of", "estimate", interval_head(SHOWN))
    return Sheet(heads=heads, lines=rows, notes=notes)


def sheets_of(estimates: Iterable[Named], notes: Sequence[tuple[str, str]]) -> Iterator[Sheet]:
    """Yield all that is printed: the columns one by one, then a table for each pair."""
    listed = [*estimates]
    yield sheet_of(listed, notes)
    for name, what, release in listed:
        if isinstance(release.mechanism, Crossed) and what == PICTURED[0]:
            title = f"{name}, with {100 * SHOWN:g}% intervals"
            caveats = [("note", caveat) for caveat in release.caveats]
            yield replace(release.sheet(), title=title, notes=caveats)


@dataclass(frozen=True, kw_only=True)
class SavedEstimates:
    """What `Estimates.to_json` wrote, read back to be looked at."""

    cost: Guarantee
    estimates: tuple[Named, ...]

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> SavedEstimates:
        """Return the estimates that `Estimates.to_dict` wrote."""
        read = tuple(
            (name, what, Release.from_dict(one))
            for name, found in facts["estimates"].items()
            for what, one in found.items()
        )
        return cls(cost=Guarantee.from_dict(facts["cost"]), estimates=read)

    def plot(self, **options: Any) -> Any:
        """Draw every column: numbers by their quartiles, the only ones that are saved."""
        panes = [(name, release) for name, what, release in self.estimates if what in PICTURED]
        return panels(self, panes, **options)

    def _repr_html_(self) -> str:
        notes = [("cost", f"{self.cost}, for all columns of a record")]
        return "".join(sheet.html() for sheet in sheets_of(self.estimates, notes))


# ---- `Estimates`: what a sanitised table, or the reports of many people, say about all of them ---


ABSENT = (
    "empty, unreadable and unlisted answers were replaced by random ones, which pulls estimates "
    "towards equal shares; declare missing= to estimate how many there are: {columns}"
)
DECILES = tuple(i / 10 for i in range(1, 10))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Estimates(JsonDisplayable, Mapping[str, "Release"]):
    """Shares, means, quantiles and pairs of columns, each a `Release` with its interval.

    ``estimates["vote"]`` is the column's own: shares of categories, the mean of numbers.

    Parameters
    ----------
    schema, use
        By which the answers were randomised, and whether they stood in a table or in reports.
    tallies, counts
        For each column the tally of its reports, and how many there are.
    joint
        For pairs of columns how many people have each pair of cells.
    dropped
        For each column how many cells held what no report could be.
    notes
        What else a reader must know.

    Examples
    --------
    >>> from sourdine.local import Choice, Schema
    >>> from sourdine.noise import SeededSource
    >>> schema = Schema(vote=Choice("yes", "no", missing=True), epsilon=2)
    >>> clean = schema.sanitize({"vote": ["yes"] * 700 + ["no"] * 300}, source=SeededSource(1))
    >>> low, high = schema.estimate(clean)["vote"].interval(0.999)
    >>> bool(low[0] < 0.7 < high[0])
    True
    """

    schema: Schema
    use: Use
    tallies: Mapping[str, NDArray[np.int64]]
    counts: Mapping[str, int]
    joint: Mapping[tuple[str, str], NDArray[np.int64]] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Release:
        return self.mean(name) if isinstance(self._part(name).column, Number) else self.shares(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.schema.columns)

    def __len__(self) -> int:
        return len(self.schema.columns)

    def _part(self, name: str) -> ColumnPart:
        parts = self.schema.parts(self.use)
        if name not in parts:
            hint = f"The columns are: {', '.join(map(repr, parts))}."
            if isinstance(name, tuple) and len(name) == 2:
                hint = "Use pair(one, other) for two columns together."
            raise ParameterError("column", "be a column of the schema", repr(name), hint)
        return parts[name]

    def _number(self, name: str, what: str) -> tuple[ColumnPart, NDArray[np.int64], Grid]:
        part = self._part(name)
        if not isinstance(part.column, Number):
            must = f"{what} is not available for {name!r}, a column of categories."
            raise ParameterError(what, must, repr(name), f"Use shares({name!r}).")
        return part, np.asarray(self.tallies[name]), part.column.grid

    def _may_be_absent(self, name: str, what: str) -> ColumnPart:
        """Return a column that declares absent answers; refuse others."""
        part = self._part(name)
        if isinstance(part.column, Choices) or not part.column.missing:
            must = f"{what} is not available for {name!r}, which declares no missing answers."
            hint = f"Declare it in the schema, or ask for shares of all people: shares({name!r})."
            if isinstance(part.column, Number):
                hint = "Use Number(..., missing=True) in the schema."
            raise ParameterError(what, must, repr(name), hint)
        return part

    def reports(self, name: str) -> int:
        """Return how many people reported a column."""
        self._part(name)
        return self.counts[name]

    def shares(
        self,
        name: str,
        *,
        of: Literal["all", "answered"] = "all",
        consistent: str | None = None,
        together: bool = False,
    ) -> Release:
        """Return the share of each category, or of people who have each of several choices.

        Parameters
        ----------
        of
            ``"all"``: shares of all people, *no answer* being a category where the column declares
            ``missing``. ``"answered"``: there, shares of those who answered.
        together
            Whether intervals shall hold for all categories at once, as they must where the largest
            are picked out.
        consistent
            ``"norm-sub"`` or ``"em"`` for shares that are not negative and add up to 1; the raw
            ones and their variance are kept in ``drawn``.
        """
        part = self._part(name)
        if isinstance(part.column, Number):
            must = f"shares() is not available for {name!r}, a column of numbers."
            hint = f"Use mean({name!r}), quantiles({name!r}) or distribution({name!r})."
            raise ParameterError("shares", must, repr(name), hint)
        if one_of(of, "of", "all", "answered") == "answered":
            self._may_be_absent(name, "shares(of='answered')")
        several = isinstance(part.column, Choices)
        if several and consistent is not None:
            must = "be omitted for a column of several choices, whose shares do not add up to 1"
            got, hint = repr(consistent), "Omit {consistent}."
            raise ParameterError("consistent", must, got, hint, consistent=LEFT_OUT)
        found = frequencies(
            part.answer, self.tallies[name], self.reports(name), labels=part.column.names,
            consistent=consistent, together=together, several=several,
        )  # fmt: skip
        return self._of(name, found if of == "all" else shares_of_answers(found))

    def _of(self, name: str, found: Release) -> Release:
        """Return an estimate from those who were asked as one of its column, for all people."""
        sampled, caveats = self.schema.method == "sample", found.caveats
        if sampled:
            note = "Asked of some people, drawn at random; the interval is for all of them."
            caveats = (*caveats, note)
        whole = OfColumn(estimate=found.mechanism, column=name, sampled=sampled)
        return replace(found, mechanism=whole, caveats=caveats)

    def answered(self, name: str) -> Release:
        """Return the share of people who answered, for columns that declare ``missing``."""
        part, tally = self._may_be_absent(name, "answered()"), self.tallies[name]
        labels = ("answered", NO_ANSWER)
        if not isinstance(part.mechanism, PaidFlag):
            found = frequencies(part.answer, tally, self.reports(name))
            return self._of(name, share_answered(found, labels))
        n, none = int(tally.sum()), int(tally[-1])
        both = np.array([n - none, none])
        return self._of(name, frequencies(part.mechanism.flag, both, n, labels=labels))

    def mean(self, name: str) -> Release:
        """Return the mean of a column of numbers; of those who answered, if that is known."""
        part, tally, grid = self._number(name, "mean()")
        if isinstance(part.mechanism, PaidFlag):
            return self._of(name, mean_of_answers(part.mechanism, tally, grid))
        return self._of(name, mean(part.answer, tally, grid))

    def quantiles(self, name: str, q: Sequence[Numeric] = DECILES) -> Release:
        """Return quantiles of a column of numbers; of those who answered, if that is known."""
        part, tally, grid = self._number(name, "quantiles()")
        if isinstance(part.mechanism, PaidFlag):
            return self._of(name, quantiles_of_answers(part.mechanism, tally, grid, q))
        return self._of(name, quantiles(part.answer, tally, grid, q))

    def distribution(self, name: str, *, bins: int = 32) -> Release:
        """Return the shares of bins of a column of numbers."""
        part, tally, grid = self._number(name, "distribution()")
        if isinstance(part.mechanism, PaidFlag):
            must = f"distribution() is not available for {name!r}, which declares missing answers."
            raise ParameterError("distribution", must, repr(name), f"Use quantiles({name!r}).")
        return self._of(name, distribution(part.answer, tally, grid, bins=bins))

    def pair(self, one: str, other: str, *, bins: Any = BINS) -> Release:
        """Return the share of people in each part of one column and each of another.

        Parameters
        ----------
        one, other
            Columns that were counted together: ``estimate(clean, pairs=[(one, other)])``.
        bins
            How numbers are cut: how many bins of one width, or their inner edges; or a dict of
            these by column.
        """
        return self._crossed(one, other, bins, within=False)

    def within(self, one: str, other: str, *, bins: Any = BINS) -> Release:
        """Return, of the people in each part of one column, the share in each part of another.

        The parameters are those of `pair`.
        """
        return self._crossed(one, other, bins, within=True)

    def _crossed(self, one: str, other: str, bins: Any, *, within: bool) -> Release:
        if (one, other) in self.joint:
            tally = self.joint[one, other]
        elif (other, one) in self.joint:
            tally = self.joint[other, one].T
        else:
            got, hint = repr((one, other)), "Use {pairs} in estimate(...)."
            raise ParameterError("pairs", "include this pair", got, hint, pairs=[(one, other)])
        n, cut = int(tally.sum()), bins if isinstance(bins, Mapping) else {one: bins, other: bins}
        first, second = (axis(self._part(c), n, cut.get(c, BINS)) for c in (one, other))
        return pair(first, second, tally, self.schema.guarantee, within=within)

    def releases(self) -> Iterator[tuple[str, str, Release]]:
        """Yield column, what is estimated, and the estimate: all that a printed report shows."""
        for name, column in self.schema.columns.items():
            if not isinstance(column, Number):
                yield name, "shares", self.shares(name)
                if column.missing and not isinstance(column, Choices):
                    yield name, "shares of answers", self.shares(name, of="answered")
                continue
            if isinstance(self._part(name).mechanism, PaidFlag):
                yield name, "answered", self.answered(name)
            yield name, "mean", self.mean(name)
            yield name, "quartiles", self.quantiles(name, (0.25, 0.5, 0.75))
        for one, other in self.joint:
            yield f"{one} x {other}", "shares", self.pair(one, other)
            yield f"{one} x {other}", "shares of the row", self.within(one, other)

    def to_dict(self) -> dict[str, Any]:
        """Return every estimate as a dict for JSON, and how many reports were dropped.

        Each is what `Release.from_json` reads, with its interval beside it.
        """
        found: dict[str, Any] = {}
        for name, what, release in self.releases():
            ends = {"confidence": SHOWN, "ends": plain(release.interval(SHOWN))}
            found.setdefault(name, {})[what] = {**release.to_dict(), "interval": ends}
        whole = {"cost": self.cost.to_dict(), "estimates": found}
        return {**whole, "dropped": dict(self.dropped), "notes": [*self.notes]}

    def plot(self, **options: Any) -> Any:
        """Draw every column; ``path=`` saves the picture."""
        panes = []
        for name, column in self.schema.columns.items():
            if isinstance(column, Number):
                # bins of a distribution are known far less well than its quantiles
                panes.append((name, self.quantiles(name)))
            else:
                panes.append((name, self.shares(name, together=len(column.names) > MOST_DRAWN)))
        panes += [(f"{one} and {other}", self.pair(one, other)) for one, other in self.joint]
        return panels(self, panes, **options)

    @property
    def cost(self) -> Guarantee:
        """What a record costs, all its columns together."""
        return self.schema.guarantee

    def remarks(self) -> Iterator[tuple[str, str]]:
        """Yield what a reader must know of all columns: a word, and a sentence."""
        yield "cost", f"{self.cost}, for all columns of a record"
        if self.schema.method == "sample":
            asked = ", ".join(f"{name} {n}" for name, n in self.counts.items())
            yield "asked", f"of each column some people, drawn at random: {asked}"
        lost = ", ".join(f"{name} {n}" for name, n in self.dropped.items() if n)
        if lost:
            yield "dropped", f"what this schema cannot have written: {lost}"
        random = [name for name, column in self.schema.columns.items() if not column.missing]
        if random and self.schema.missing == "random":
            yield "absent", ABSENT.format(columns=", ".join(random))
        yield from (("note", text) for text in self.notes)

    def sheet(self) -> Sheet:
        """Return what is printed of single columns: a line for each number."""
        return sheet_of(self.releases(), [*self.remarks()])

    def sheets(self) -> Iterator[Sheet]:
        """Yield all that is printed: the columns one by one, then a table for each pair."""
        return sheets_of(self.releases(), [*self.remarks()])

    def __str__(self) -> str:
        return "\n\n".join(sheet.text() for sheet in self.sheets())

    def _repr_html_(self) -> str:
        return "".join(sheet.html() for sheet in self.sheets())

    def to_frame(self, library: str = "pandas") -> Any:
        """Return all numbers as a frame of ``"pandas"``, ``"polars"`` or ``"pyarrow"``."""
        rows = [
            (name, what, ", ".join(map(str, label)), *numbers)
            for name, what, release in self.releases()
            for label, numbers in _lines(release.columns())
        ]
        heads = ("column", "what", "of", "estimate", "lower", "upper")
        return framed(dict(zip(heads, map(list, zip(*rows, strict=True)), strict=True)), library)

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {n} reports" for name, n in self.counts.items())
        return f"Estimates({counts})"


def _lines(columns: Columns) -> Iterator[tuple[tuple[Any, ...], tuple[float, ...]]]:
    """Yield the labels of each number, and the number with its ends."""
    ends: Any = (columns.values, columns.lower, columns.upper)
    labels = zip(*columns.labels.values(), strict=True) if columns.labels else [()]
    return zip(labels, zip(*(map(float, x) for x in ends), strict=True), strict=True)
