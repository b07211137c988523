"""`describe` for private data: count, missing, bounds, mean, deciles of each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs
import numpy as np
from attrs import field, frozen

from sourdine.central.cdf import Cdf
from sourdine.central.count import Count
from sourdine.central.histogram import Histogram
from sourdine.central.intervals import laplace_quantile
from sourdine.central.mean import Mean
from sourdine.central.statistic import Statistic
from sourdine.central.variance import Variance
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given
from sourdine.frames.cells import Ticks
from sourdine.frames.memory import DATES, NUMBERS, TEXTS, WORDS
from sourdine.grid import Grid
from sourdine.mechanisms import PermuteAndFlip
from sourdine.parameters import converters, kinds
from sourdine.parameters.kinds import DATA, PRIVACY, WHAT, param
from sourdine.parameters.question import plain_parameter
from sourdine.privacy import Part
from sourdine.results.charts import dots, quantiles
from sourdine.results.figures import BLUE, GREY, INK, NOTE, PALE, SOFT, canvas, gaps, saved
from sourdine.results.release import Release, holding, read_confidence
from sourdine.results.tables import Columns, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.errors import PythonWording
    from sourdine.frames.frame import Frame
    from sourdine.frames.reading import Reading
    from sourdine.results.charts import Chart

    NumbersByName = Mapping[str, tuple[Any, Any, Any]]


# ---- What is published of one column, each part an ordinary statistic at a share of its epsilon --
#
# its kind       :math:`\varepsilon/20`, unless it is declared or its type states it: numbers or
#                categories, by permute-and-flip over twice the number of values that can be read as
#                numbers and the number of all values
# numbers        :math:`11\varepsilon/20` for the mean with bounds that are found first, whose three
#                sums give the number of values and their standard deviation as well; the rest for
#                a distribution function within the same bounds, with the deciles on it
# categories     :math:`3\varepsilon/20` for the number of values, the rest for a histogram of the
#                categories that many records have, and all of the column's delta
# dates          :math:`3\varepsilon/20` for the number of values


NUMBER, WHOLE, CATEGORY, DATE = KINDS = ("number", "whole", "category", "date")
KIND, MEAN, COUNT = Fraction(1, 20), Fraction(11, 20), Fraction(3, 20)
DECILES = tuple(Fraction(k, 10) for k in range(1, 10))
EDGES = 14_000
"""For fewer records times epsilon a distribution function is drawn at edges, not at all ticks."""
Numbers = dict[str, tuple[Any, Any, Any]]
"""A value and the ends of its interval, by name; None for ends that do not exist."""


@dataclass(frozen=True, kw_only=True)
class Described:
    """One column of a description."""

    name: str
    declared: str | None
    """Its kind, where that is public."""
    epsilon: Fraction
    delta: Fraction
    rows: int
    """About how many rows there are, as was drawn."""
    common: Mapping[str, Any]
    """Relation, rows and source of everything that is drawn."""

    @cached_property
    def choosing(self) -> PermuteAndFlip:
        """What chooses the kind, where it is not declared."""
        relation = self.common["relation"]
        return PermuteAndFlip(
            epsilon=self.epsilon * KIND, candidates=2, sensitivity=2 * self.common["rows"],
            monotone=relation.value == "add_remove", relation=relation,
        )  # fmt: skip

    @cached_property
    def mean(self) -> Mean:
        """The mean, within bounds that are found."""
        within: dict[str, Any] = {"bounds": "find", "population": True, "missing": "exclude"}
        step = 1 if self.declared == WHOLE else None
        return Mean(n=self.rows, step=step, **within, **self._asked(MEAN))

    @cached_property
    def count(self) -> Count:
        return Count(**self._asked(COUNT))

    @cached_property
    def histogram(self) -> Histogram:
        return Histogram(categories="unknown", delta=self.delta, **self._asked(1 - KIND - COUNT))

    def check(self) -> None:
        _ = self.mean, self.count, self.histogram, self.choosing
        asked = self._asked(1 - KIND - MEAN)
        for n in (1, max(1, int(EDGES / asked["epsilon"]))):
            Cdf(bounds=(0, 1), n=n, **asked)

    def _asked(self, share: Fraction) -> dict[str, Any]:
        return {"column": self.name, "epsilon": self.epsilon * share, **self.common}

    def deciles(self, drawn: Mapping[str, Any]) -> Cdf:
        """Return the distribution function within the bounds found, for the deciles on it.

        It is told of fewer records than there are where those are many: a few edges are enough.
        """
        settled, asked = self._settled(drawn), self._asked(1 - KIND - MEAN)
        seen = self.variance(drawn).three.in_records(drawn["mean"]["answer"]).sum()
        n = max(1, min(int(seen), int(EDGES / asked["epsilon"])))
        return Cdf(bounds=settled.bounds, step=settled.step, n=n, **asked)

    def variance(self, drawn: Mapping[str, Any]) -> Variance:
        """Return what explains the variance that the three sums hold."""
        settled = self._settled(drawn)
        asked = {**self._asked(MEAN), "epsilon": settled.epsilon}
        return Variance(bounds=settled.bounds, step=settled.step, **asked)

    def _settled(self, drawn: Mapping[str, Any]) -> Any:
        """Return the mean within the bounds that were found."""
        first: Any = self.mean.estimator
        return first.settled(drawn["mean"])

    def draw(self, data: Frame) -> dict[str, Any]:
        kind = self.declared
        if kind is None:
            (numbers,) = data.moments(Ticks(self.name, Grid(0, 1)), 0)
            scores = [2 * numbers, data.present(self.name)]
            winner = self.choosing.release(scores, source=self.common["source"]).value
            kind = CATEGORY if winner else NUMBER
        drawn: dict[str, Any] = {"kind": kind}
        if kind in {NUMBER, WHOLE}:
            drawn["mean"] = self.mean.estimator.draw(data)
            drawn["deciles"] = self.deciles(drawn).draw(data)
        else:
            drawn["count"] = self.count.draw(data)
            if kind == CATEGORY:
                drawn["histogram"] = self.histogram.draw(data)
        return drawn

    def counted(self, drawn: Mapping[str, Any], beta: float) -> tuple[int, int, int]:
        """Return the number of values, with the ends of its interval."""
        if drawn["kind"] not in {NUMBER, WHOLE}:
            return _ends(self.count, drawn["count"], beta)
        three = self.variance(drawn).three
        n = float(three.in_records(drawn["mean"]["answer"]).sum())
        half = float(laplace_quantile([1.0, 1.0, 1.0], beta)) * three.scale
        return max(round(n), 0), max(floor(n - half), 0), max(ceil(n + half), 0)

    def numbers(self, drawn: Mapping[str, Any], beta: float) -> Numbers:
        """Return everything that was drawn, with the ends of its intervals."""
        found: Numbers = {"count": self.counted(drawn, beta)}
        if "mean" in drawn:
            first: Any = self.mean.estimator
            settled, sums = self._settled(drawn), drawn["mean"]["answer"]
            low, high = (float(b) for b in settled.bounds)
            beyond = int(first.outside(drawn["mean"]))
            for name, bound in (("lowest", low), ("highest", high), ("beyond", beyond)):
                found[name] = (bound, None, None)
            found["mean"] = _ends(settled, sums, beta)
            v, least, most = _ends(self.variance(drawn), sums, beta)
            found["sd"] = sqrt(v), sqrt(least), sqrt(most)
            asked = self.deciles(drawn)
            knots = asked.knots(drawn["deciles"])
            ticks = (knots.quantiles(DECILES), *knots.quantile_ends(DECILES, beta, "sample"))
            ends = zip(DECILES, *(asked.grid.values(t).tolist() for t in ticks), strict=True)
            found |= {f"{int(100 * q)} %": (value, low, high) for q, value, low, high in ends}
        if "histogram" in drawn:
            n, least, most = (max(float(x), 1.0) for x in self.counted(drawn, beta / 2))
            values, pairs = _both(self.histogram, drawn["histogram"], beta / 2)
            for key in sorted(values, key=lambda key: -values[key]):
                shares = values[key] / n, pairs[key][0] / most, pairs[key][1] / least
                value, low, high = (min(max(share, 0.0), 1.0) for share in shares)
                found[f"= {key}"] = value, low, high
        return found


def _both(statistic: Statistic, drawn: Mapping[str, Any], beta: float) -> tuple[Any, Any]:
    value = statistic.value(drawn)
    release = Release(value=value, cost=statistic.cost, mechanism=statistic, drawn=drawn)
    return value, statistic.widened_limits(release, beta, "sample")


def _ends(statistic: Statistic, drawn: Mapping[str, Any], beta: float) -> tuple[Any, Any, Any]:
    value, (low, high) = _both(statistic, drawn, beta)
    return value, low, high


# ---- A description as text: a few columns side by side, the next below them ----------------------


CELL, BESIDE = 20, 3
"""How many letters a column takes, so that three fit beside each other in 80 letters."""
TOP = 5
OWN = ("count", "missing", "lowest", "highest", "beyond")


def cells(
    found: Mapping[str, NumbersByName], kinds: Mapping[str, str]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return heads and lines; columns of one kind stand together."""
    kinds = {
        name: "number" if "mean" in numbers else kinds[name] for name, numbers in found.items()
    }

    def block(names: Sequence[str]) -> list[tuple[str, ...]]:
        columns = [_column(found[name], kinds[name]) for name in names]
        blank = [""] * (BESIDE - len(names))
        sides = max(columns, key=len)
        lines = [(side, *(column.get(side, "") for column in columns), *blank) for side in sides]
        return [("", *map(cut, names), *blank), *lines]

    names = sorted(found, key=kinds.__getitem__, reverse=True)
    groups = [list(alike) for _, alike in groupby(names, key=kinds.__getitem__)]
    blocks = [block(one[i : i + BESIDE]) for one in groups for i in range(0, len(one), BESIDE)]
    (first, *lines), *rest = blocks
    for below in rest:
        lines += [("",) * len(first), *below]
    return first, lines


def _column(numbers: NumbersByName, kind: str) -> dict[str, str]:
    texts = {"count": _within(*numbers["count"]), "missing": _percent(*numbers["missing"])}
    if kind == "number":
        low, high = numbers["lowest"][0], numbers["highest"][0]
        width = (high - low) / 50
        if low == int(low) and high == int(high):
            low, high = int(low), int(high)
        within = f"{shown(low, width)} to {shown(high, width)}"
        texts["within"] = within if len(within) <= CELL else f"{low:.2g} to {high:.2g}"
        texts["beyond"] = f"about {numbers['beyond'][0]} each"
        for what, x in numbers.items():
            if what not in OWN:
                texts[what.replace(" %", "%")] = _within(*x)
        return texts
    named = [(what[2:], x) for what, x in numbers.items() if what not in OWN]
    for i, (name, x) in enumerate(named[:TOP], 1):
        share = _percent(*x)
        texts[f"top {i}"] = f"{cut(name, CELL - len(share) - 1)} {share}"
    return texts


def leaves_many_out(numbers: Mapping[str, Any]) -> bool:
    """Return whether more than a tenth of the records may lie beyond each bound."""
    return bool(10 * numbers.get("beyond", 0) > numbers["count"])


def cut(name: str, most: int = CELL) -> str:
    """Return a name that takes no more letters than there is room for."""
    return name if len(name) <= most else name[: most - 1] + "…"


def _within(value: float, low: float, high: float) -> str:
    half = max(high - value, value - low, 0)
    text = f"{shown(value, half)} ±{shown(half, half)}" if half else f"{value:g} ±0"
    return text if len(text) <= CELL else f"{value:.3g} ±{half:.2g}"


def _percent(value: float, low: float, high: float) -> str:
    half = 100 * max(high - value, value - low, 0)
    digits = 0 if half >= 1 else 1
    return f"{100 * value:.{digits}f} ±{max(half, 10.0**-digits):.{digits}f}%"


# ---- A description as a picture: a small one for each column -------------------------------------


ACROSS = 3


def panels(
    question: Describe, release: Release, *, path: str | None = None, title: str | None = None
) -> Any:
    """Draw, of each column, its deciles as bars of equal numbers of records, or its categories."""
    found = question.numbers(release.drawn, read_confidence(question.display.confidence))
    down = ceil(len(found) / ACROSS)
    figure, first = canvas(3.3 * ACROSS, 0.9 + 1.9 * down)
    first.remove()
    grid = figure.subplots(down, ACROSS, squeeze=False).ravel()
    for axes in grid[len(found) :]:
        axes.remove()
    for axes, (name, numbers) in zip(grid, found.items(), strict=False):
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color(GREY)
        axes.tick_params(colors=INK, labelcolor=INK, labelsize=7, length=2)
        if release.drawn["columns"][name]["kind"] == DATE:
            _empty(axes, "dates are only counted")
        elif _too_few(*numbers["count"]):
            _empty(axes, "too few values to show")
        else:
            (_deciles if "mean" in numbers else _categories)(axes, numbers)
        gone = numbers["missing"][0]
        said = [f"{100 * gone:.0f}% missing"] if gone >= 0.005 else []
        if leaves_many_out({what: x[0] for what, x in numbers.items()}):
            said.append("many may lie outside")
        more = ", ".join(said)
        axes.set_title(cut(name, 30), loc="left", fontsize=9, color=INK)
        axes.text(1, 1.03, more, transform=axes.transAxes, ha="right", fontsize=7, color=NOTE)
    figure.suptitle(title or "Private description", x=0.01, ha="left", fontsize=12, color=INK)
    note = f"{release.price} · each bar holds a tenth of the records"
    figure.supxlabel(note, fontsize=8, color=NOTE, x=0.01, ha="left")
    return saved(figure, path)


def _too_few(count: float, low: float, high: float) -> bool:
    """Return whether the number of values is within twice its error of 0: bars would be noise."""
    return count <= 2 * max(count - low, high - count)


def _deciles(axes: Any, numbers: NumbersByName) -> None:
    """Draw a histogram whose bars hold a tenth of the records each, and the mean."""
    deciles = [x[0] for what, x in numbers.items() if what.endswith(" %")]
    edges = np.array([numbers["lowest"][0], *deciles, numbers["highest"][0]], float)
    width = np.maximum(np.diff(edges), (edges[-1] - edges[0]) / 60)
    look = {"color": SOFT, "edgecolor": "white", "linewidth": 0.4}
    axes.bar(edges[:-1], 1 / width, width, align="edge", **look)
    mean, low, high = numbers["mean"]
    axes.axvspan(low, high, color=PALE, zorder=0)
    axes.axvline(mean, color=BLUE, linewidth=1.2)
    axes.set_yticks([])
    axes.locator_params(axis="x", nbins=4)
    gaps(axes.xaxis)


def _empty(axes: Any, text: str) -> None:
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", fontsize=7, color=NOTE)
    axes.set_xticks([])
    axes.set_yticks([])


def _categories(axes: Any, numbers: NumbersByName) -> None:
    """Draw the most common categories as bars with their intervals."""
    named = [(what[2:], x) for what, x in numbers.items() if what.startswith("= ")][:TOP]
    if not named:
        _empty(axes, "no category is common enough")
        return
    place = np.arange(len(named))[::-1]
    share, low, high = (100 * np.array([x[i] for _, x in named], float) for i in range(3))
    axes.barh(place, share, color=SOFT, height=0.7)
    off = np.maximum([share - low, high - share], 0)
    axes.errorbar(share, place, xerr=off, fmt="none", ecolor=INK, elinewidth=0.8, capsize=1.5)
    axes.set_yticks(place, [cut(name, 16) for name, _ in named])
    axes.xaxis.set_major_formatter("{x:.0f}%")
    axes.locator_params(axis="x", nbins=4)


# ---- What pandas' ``describe`` is to data that may be seen, for data that may not ----------------


EACH = "Each number is followed by its margin of error at 95% confidence."
ASSUMED = (
    "Only the names of the columns and the declared kinds are taken as known. Bounds were found "
    "privately: about as many records as 'beyond' says may lie outside each bound and were clamped "
    "to it; intervals do not cover this."
)
LEFT_OUT = (
    "Cells of a numeric column that are not numbers count as missing. Rare categories are not "
    "listed. Dates are only counted; use quantiles with two dates as bounds."
)
ROWS = Fraction(1, 50)
"""The part of epsilon that pays for the number of rows."""
STATED = {WORDS: CATEGORY, DATES: DATE}


def read_columns(x: object) -> tuple[str, ...] | None:
    names = converters.listed(x, "columns", ["age", "sex"])
    if names is not None and not all(isinstance(name, str) for name in names):
        tries = ["age", "sex"]
        raise ParameterTypeError(
            "columns", "be column names", given(x), "Use {columns}.", columns=tries
        )
    return names


def read_kinds(x: object) -> tuple[tuple[str, str], ...]:
    """Return the kinds that are declared, by the names of columns."""
    if x is None:
        return ()
    pairs: Any = tuple(x.items()) if isinstance(x, Mapping) else x
    listed: Any = pairs if isinstance(pairs, (list, tuple)) else [x]
    for pair in listed:
        two = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not (two and all(pair) and pair[1] in KINDS):
            typed = pair[1] if two and isinstance(pair, tuple) else pair
            raise ParameterError(
                "kinds", "be 'number', 'whole', 'category' or 'date' for each column", given(typed),
                "Use {kinds}.", kinds={"zip": CATEGORY},
            )  # fmt: skip
    return tuple((str(name), str(kind)) for name, kind in pairs)


@frozen(kw_only=True, slots=False)
class Describe(Statistic):
    r"""Of each column: how many values, which share is missing, bounds, mean, spread, deciles.

    Of a column of categories the most common ones. Nothing has to be public but the names of the
    columns: their kinds are chosen privately, unless they are declared or stated by the types of a
    frame or of a Parquet file, and bounds are found.

    Notes
    -----
    *Claim*: everything together costs what the question says: :math:`\varepsilon/50` for the number
    of rows and an equal share of the rest for each column, of which the parts are in
    `sourdine.central.describe`; sequential composition adds them up. *Checked by*
    ``test_a_description_costs_what_it_says`` and ``test_neighbours_see_the_same[describe]``.
    *Claim*: each interval holds on its own. *Checked by* ``test_intervals_of_descriptions_cover``.

    Examples
    --------
    >>> table = {"age": list(range(20, 70)) * 100, "sex": ["f", "m"] * 2500}
    >>> found = Describe(epsilon=4).release(table).value
    >>> abs(found["age"]["mean"] - 44.5) < 2, found["sex"]["= f"] > 0.4
    (True, True)
    """

    kind: ClassVar[str] = "describe"
    shown: ClassVar[Mapping[str, Any]] = {"populations": False}
    needs_delta = True
    how = "an equal share of epsilon for each column"
    name = "describe"
    unlisted: ClassVar[tuple[str, ...]] = ("source", "per_person")
    text: ClassVar[str] = "Describe each column of a table, without public bounds or categories."
    examples: ClassVar[tuple[str, str]] = ("people.csv --epsilon 1 --plot people.png", "")

    columns_: tuple[str, ...] | None = field(
        default=None, converter=read_columns, alias="columns",
        metadata=param(kinds.KEYS, "The columns. Defaults to all.", group=DATA),
    )  # fmt: skip
    declared: tuple[tuple[str, str], ...] = field(
        default=(), converter=read_kinds, alias="kinds", metadata=param(
            kinds.KINDS, "The kinds of columns: number, whole (integers), category or date. By "
            "default the types of the frame are used, or the kind is chosen privately.", group=WHAT,
    ))  # fmt: skip
    delta: Fraction = field(default=Fraction(1, 10**6), converter=converters.delta, metadata=param(
        kinds.PROBABILITY, "The probability with which the privacy loss may exceed epsilon; needed "
        "to name categories.", group=PRIVACY,
    ))  # fmt: skip
    column: None = field(init=False, default=None)
    target: None = field(init=False, default=None, eq=False, repr=False)
    confidence: Fraction = field(init=False, default=Fraction(19, 20), eq=False, repr=False)
    n: None = field(init=False, default=None)
    by: None = field(init=False, default=None)
    keys: None = field(init=False, default=None)
    other: bool = field(init=False, default=False)

    def check(self) -> None:
        if not self.delta:
            must = "be above 0, as categories are found with a threshold"
            raise ParameterError("delta", must, "0", "Use {delta}.", delta=1e-6)
        self._require_enough(len(self.columns_ or "1"))

    def _require_enough(self, columns: int) -> None:
        """Refuse an epsilon too small to draw the noise of one of these columns."""

        def refusal(epsilon: Fraction) -> ParameterError | None:
            try:
                self.part("value", None, columns, 1, epsilon).check()
                Count(epsilon=epsilon * ROWS, **self.common)
            except ParameterError as error:
                return error
            return None

        if error := refusal(self.epsilon):
            tenfold = (self.epsilon * 10**k for k in range(1, 400))
            enough = next((x for x in tenfold if refusal(x) is None), None)
            if enough is None:  # something else is wrong
                raise error
            if columns == 1:
                many, hint = "1 column", "Use {epsilon} or more."
            else:
                many, hint = f"{columns} columns", "Use {epsilon} or more, or fewer columns."
            got = given(plain_parameter(self.epsilon))
            raise ParameterError(
                "epsilon", f"be larger to describe {many}", got, hint, epsilon=enough
            )

    def as_read(self, reading: Reading) -> Self:
        return self.changed(read=reading)

    def changed(self, **parameters: object) -> Self:
        typed: dict[str, Any] = parameters
        return attrs.evolve(self, **typed)

    @cached_property
    def common(self) -> dict[str, Any]:
        own = {"relation": self.relation, "rows": self.rows, "source": self.source}
        return own if self.where is None else {**own, "where": self.where}

    @cached_property
    def counting(self) -> Count:
        return Count(epsilon=self.epsilon * ROWS, **self.common)

    def part(
        self, name: str, declared: str | None, of: int, rows: int, epsilon: Fraction | None = None
    ) -> Described:
        """Return what is drawn of one of several columns, of about so many ``rows``."""
        return Described(
            name=name, declared=declared, epsilon=(epsilon or self.epsilon) * (1 - ROWS) / of,
            delta=self.delta / of, rows=max(rows, 1), common=self.common,
        )  # fmt: skip

    @property
    def own_parts(self) -> tuple[Part, ...]:
        """What the count of rows loses, and the promise of each listed column, or of all."""
        columns = len(self.columns_) if self.columns_ else 1
        each = Part.pure(self.epsilon * (1 - ROWS) / columns, columns)
        return (*self.counting.own_parts, each, Part.delta(self.delta / columns, columns))

    def reads(self) -> dict[str, str | None]:
        return {} if self.unit is None else {"unit": self.unit}

    def names(self) -> list[tuple[str, str | None]]:
        named = (*(self.columns_ or ()), *dict(self.declared))
        return [*super().names(), *(("columns", name) for name in named)]

    def needs(self, data: Frame) -> list[str]:
        """Return the columns that it reads: all, unless some are named."""
        return [*filter(None, [self.unit]), *(self.columns_ or data.columns)]

    def held(self, parameter: str, column: str | None) -> str:
        numeric = dict(self.declared).get(column or "") in {NUMBER, WHOLE}
        return NUMBERS if parameter == "columns" and numeric else TEXTS

    def require_columns(self, data: Frame) -> None:
        super().require_columns(data)
        names = self._described(data)
        if not converters.is_unknown(self.rows):  # else once they are found
            self._require_enough(len(names))
        for name in names:
            self.require_column(data, name, self.held("columns", name), "columns")

    def _described(self, data: Frame) -> tuple[str, ...]:
        return self.columns_ or tuple(name for name in data.columns if name != self.unit)

    def draw(self, data: Frame) -> dict[str, Any]:
        names, declared = self._described(data), dict(self.declared)
        counted, drawn = self.counting.draw(data), {}
        rows = self.counting.value(counted)
        for name in names:
            stated = declared.get(name) or _stated(data, name)
            drawn[name] = self.part(name, stated, len(names), rows).draw(data)
        return {"rows": counted, "columns": drawn}

    def numbers(self, drawn: Mapping[str, Any], beta: float) -> dict[str, dict[str, Any]]:
        """Return every number with its ends, by column."""
        rows = _ends(self.counting, drawn["rows"], beta / 2)
        found = {}
        for name, own in drawn["columns"].items():
            part = self.part(name, own["kind"], len(drawn["columns"]), rows[0])
            first, *rest = part.numbers(own, beta).items()
            missing = "missing", _missing(part.counted(own, beta / 2), rows)
            numbers = [first, missing, *rest]
            found[name] = {what: (v, *holding(v, ends)) for what, (v, *ends) in numbers}
        return found

    def value(self, drawn: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        found = self.numbers(drawn, 0.05).items()
        return {name: {what: x[0] for what, x in numbers.items()} for name, numbers in found}

    def limits(self, release: Release, beta: float, of: str) -> dict[str, Any]:
        found = self.numbers(release.drawn, beta).items()
        return {name: {what: x[1:] for what, x in numbers.items()} for name, numbers in found}

    def columns(self, release: Release) -> Columns:
        found = self.numbers(release.drawn, read_confidence(self.display.confidence))
        rows = [(name, what, *x) for name, numbers in found.items() for what, x in numbers.items()]
        names, what, values, lower, upper = zip(*rows, strict=True)
        labels = {"column": list(names), "statistic": list(what)}
        return Columns(labels=labels, name="value", values=values, lower=lower, upper=upper)

    def printed(self, release: Release) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return columns side by side, as many as a terminal is wide."""
        found = self.numbers(release.drawn, read_confidence(self.display.confidence))
        return cells(found, {name: own["kind"] for name, own in release.drawn["columns"].items()})

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        """Say of which columns the bounds that were found may leave many records out."""
        rough = [name for name, numbers in release.value.items() if leaves_many_out(numbers)]
        if not rough:
            return ()
        more = f"fewer {words.subject('columns')}, or a larger {words.subject('epsilon')}"
        outside = "more than a tenth of the records may lie beyond each bound"
        use = f"these numbers are unreliable. Use {more}; or known bounds for each."
        return (f"Of {', '.join(rough)} {outside}: {use}",)

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        return (EACH, ASSUMED, LEFT_OUT, *self.person)

    def planned(self, beta: float, n: int | None) -> float:
        """Refuse: a description has many errors, in the units of its columns."""
        hint = "Plan a mean or a quantile at its share of epsilon."
        raise ParameterTypeError("error", "error() is not available for a description.", "", hint)

    def charts(self, release: Release) -> Mapping[str, Chart]:
        """Return the deciles or the most common categories of each column with enough values."""
        found: dict[str, Chart] = {}
        whole = self.numbers(release.drawn, read_confidence(self.display.confidence))
        for name, numbers in whole.items():
            if release.drawn["columns"][name]["kind"] == DATE or _too_few(*numbers["count"]):
                continue
            deciles = {int(w[:-2]) / 100: x for w, x in numbers.items() if w.endswith(" %")}
            common = [(w[2:], x) for w, x in numbers.items() if w.startswith("= ")][:TOP]
            if rows := deciles or dict(common):
                value, low, high = zip(*rows.values(), strict=True)
                labels = {name: list(rows)}
                columns = Columns(labels=labels, name=name, values=value, lower=low, upper=high)
                found[name] = quantiles(columns) if deciles else dots(columns)
        return found

    def plot(self, release: Release, **options: Any) -> Any:
        return panels(self, release, **options)


def _missing(count: tuple[Any, Any, Any], rows: tuple[int, int, int]) -> tuple[float, float, float]:
    """Return the share of rows that have no value, between the ends of both counts."""
    n, least, most = (max(float(x), 1.0) for x in rows)

    def share(there: float, of: float) -> float:
        return min(max(1 - float(there) / of, 0.0), 1.0)

    return share(count[0], n), share(count[2], least), share(count[1], most)


def _stated(data: Frame, name: str) -> str | None:
    """Return the kind that a column's type states: values are not looked at."""
    known = data.declared(name)
    if known is None or known.holds != NUMBERS:
        return None if known is None else STATED.get(known.holds)
    dtype = known.dtype.lower()  # such as int64, BIGINT, integer; bool, BOOLEAN
    if dtype.startswith("bool"):
        return CATEGORY
    return WHOLE if "int" in dtype else NUMBER
