"""Tables with notes, columns of numbers with intervals, and numbers and dates as printed."""

from __future__ import annotations

import datetime as dt
import json
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from decimal import Decimal
from html import escape
from math import ceil, floor, isfinite, log10
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sourdine.calendar import DAY, moment, read_instant, unit_of
from sourdine.errors import ParameterError
from sourdine.exact import one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


# ---- Untrusted texts -----------------------------------------------------------------------------


STEERING = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
"""Control characters, line ends, bidirectional controls, and lone surrogates."""


def printable(text: str) -> str:
    r"""Return a text with a visible escape for each character that is not printable.

    Names of columns and keys come from data and schemas, which are untrusted. An escape sequence in
    them would recolour a terminal or overwrite a line, and a line end would forge one. (Markup in
    HTML is escaped by `Sheet.html`.)

    Examples
    --------
    >>> print(printable("yes\x1b[2J\ncost  epsilon 0"))
    yes\x1b[2J\ncost  epsilon 0
    """
    return STEERING.sub(lambda found: ascii(found[0])[1:-1], text)


def json_text(facts: object) -> str:
    r"""Return JSON in one line, in which letters are kept and everything else is escaped."""
    text = json.dumps(facts, ensure_ascii=False)
    return STEERING.sub(lambda found: json.dumps(found[0])[1:-1], text)


# ---- Numbers -------------------------------------------------------------------------------------


def decimals(width: float) -> int:
    """Return how many decimals to print of a number that is known to within ``width``.

    Two digits of the width are kept, so rounding loses at most a twentieth of it.
    """
    return 6 if width <= 0 else 1 - floor(log10(width))


def shown(value: float, width: float) -> str:
    """Return a number with as many digits as the interval's width supports.

    Examples
    --------
    >>> shown(51234.5678, 120.0), shown(0.123456, 0.004), shown(7, 0.5), shown(12345.6, 5e4)
    ('51,230', '0.1235', '7', '12,000')
    >>> shown(40.0, 0.0)
    '40'
    """
    digits = decimals(width)
    if isinstance(value, int):
        return grouped(str(value))
    rounded = round(float(value), digits) + 0.0
    text = f"{rounded:.{max(digits, 0)}f}"
    return grouped(text if width > 0 or not digits else text.rstrip("0").rstrip("."))


def grouped(text: str) -> str:
    """Separate the thousands of numbers of five digits and more by commas."""
    sign, rest = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, _, part = rest.partition(".")
    if len(whole) > 4:
        head = len(whole) % 3 or 3
        whole = ",".join([whole[:head], *(whole[i : i + 3] for i in range(head, len(whole), 3))])
    return sign + whole + (f".{part}" if part else "")


def brief(x: float, digits: int = 10) -> str:
    """Return a public number in a limited number of significant digits."""
    text = f"{x:.{digits}g}"
    return f"{float(text):,.10g}" if abs(x) >= 10_000 else f"{float(text):g}"


def key_text(key: object) -> str:
    """Return the key of a group as a person reads it."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def unbounded(value: Any) -> str:
    """Return the text of a value that any number may be near: of a float, three digits."""
    inexact = isinstance(value, float) and isfinite(value) and value
    return brief(value, 3) if inexact else label(value)


def row(value: float, ends: Sequence[float]) -> tuple[str, str, str]:
    """Return the texts of a value and of the ends of its interval, which are rounded outward."""
    low, high = ends
    width = float(high) - float(low)
    own = min(width, abs(float(value)) / 100) if value else width  # three digits are kept
    return shown(value, own), outward(low, width, floor), outward(high, width, ceil)


def outward(end: float, width: float, rounded: Callable[[Decimal], int]) -> str:
    """Return an end of an interval, rounded away from its middle."""
    if isinstance(end, int) or not isfinite(end):
        return shown(end, width)
    place = Decimal(1).scaleb(-decimals(width))
    return shown(float(rounded(Decimal(repr(float(end))) / place) * place), width)


# ---- Dates and times -----------------------------------------------------------------------------


_UNITS = (
    *((DAY, "days"), (60 * 10**6, "minutes"), (10**6, "seconds"), (1000, "milliseconds")),
    (1, "microseconds"),
)
_KEPT = 10
"""A time is shown in a unit of which its interval has at least this many."""


def is_date(x: object) -> bool:
    """Return whether something is a date or a time."""
    return isinstance(x, dt.date)


def is_duration(x: object) -> bool:
    """Return whether something is a duration, as the difference of two dates."""
    return isinstance(x, dt.timedelta)


def micros(x: dt.date | dt.timedelta) -> int:
    """Return the microseconds of a duration, or from 1970 to a date or a time."""
    if isinstance(x, dt.timedelta):
        return x // dt.timedelta(microseconds=1)
    return read_instant(x) or 0


def places(values: Sequence[Any]) -> list[float]:
    """Return positions on an axis: dates in days from 1970, durations in days, numbers."""
    return [micros(v) / DAY if is_date(v) or is_duration(v) else float(v) for v in values]


def shown_date(x: dt.date, width: float, *, up: bool = False) -> str:
    """Return a date, or a time with as much of the clock as an interval's width supports.

    Parameters
    ----------
    x
        A date or a time.
    width
        The width in microseconds.
    up
        Whether the dropped part is rounded up, not down.

    Examples
    --------
    >>> at = dt.datetime(2020, 1, 31, 9, 59, 30, 500)
    >>> shown_date(at, 30 * DAY), shown_date(at, 3600e6), shown_date(at, 30e6, up=True)
    ('2020-01-31', '2020-01-31 09:59', '2020-01-31 09:59:31')
    >>> shown_date(dt.date(2020, 1, 31), 1.0)
    '2020-01-31'
    """
    if not isinstance(x, dt.datetime):
        return x.isoformat()
    unit, spec = next((pair for pair in _UNITS if width >= _KEPT * pair[0]), _UNITS[-1])
    instant = micros(x)
    rounded = -(-instant // unit) * unit if up else instant // unit * unit
    try:
        shown = moment(rounded, date=spec == "days")
    except OverflowError:  # rounded up from the last day of the year 9999
        shown = x
    return str(shown.isoformat() if spec == "days" else shown.isoformat(" ", spec))


def any_row(value: Any, ends: Sequence[Any]) -> tuple[str, str, str]:
    """Return the texts of a number, a date or a duration and of the ends of its interval.

    The ends are rounded outward, and durations have one unit.
    """
    if is_date(value):
        low, high = ends
        width = micros(high) - micros(low)
        return shown_date(value, width), shown_date(low, width), shown_date(high, width, up=True)
    if not is_duration(value):
        return row(value, ends)
    name, size = unit_of(max(abs(micros(x)) for x in (value, *ends)))
    texts = row(micros(value) / size, [micros(end) / size for end in ends])
    first, first_end, last_end = (f"{text} {name}" for text in texts)
    return first, first_end, last_end


def date_axis(axis: Any, *, small: bool = False) -> None:
    """Let an axis whose numbers are days from 1970 show dates, as few and as short as possible."""
    from matplotlib import dates as drawn

    dates: Any = drawn
    locator = dates.AutoDateLocator(minticks=2 if small else 3, maxticks=5 if small else 8)
    axis.set_major_locator(locator)
    looks: dict[str, Any] = {
        "formats": ["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%H:%M:%S"],
        "zero_formats": ["", "%Y", "%b", "%d %b", "%H:%M", "%H:%M"],
        "offset_formats": ["", "%Y", "%Y", "%d %b %Y", "%d %b %Y", "%d %b %Y"],
    }
    if axis.axis_name == "y":  # the cost is written above it, so each date is written in full
        looks["formats"] = ["%Y", "%b %Y", "%d %b %Y", *["%d %b %Y %H:%M"] * 2, "%H:%M:%S"]
        looks |= {"zero_formats": looks["formats"], "show_offset": False}
    axis.set_major_formatter(dates.ConciseDateFormatter(locator, **looks))


# ---- Tables with notes ---------------------------------------------------------------------------


SIZE = re.compile(r"^[\d. ]+ ([kMGT]?B|pp)$")
"""A number of bytes or percentage points, which is right-aligned like other numbers."""
PAGE, GAP = 80, 2
"""The width of a line, and of the gap between columns, in letters."""
LEFT = "style='text-align:left'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Heads, rows and notes, as printable texts (`sourdine.results.tables`).

    Examples
    --------
    >>> print(Sheet(heads=("key", "count"), lines=[("yes", "12"), ("no", "7")]).text())
    key  count
    yes     12
    no       7
    """

    heads: Sequence[str] = ()
    """The names of the columns; empty if there are only notes."""
    lines: Sequence[Sequence[str]] = ()
    """The cells of each line."""
    notes: Sequence[tuple[str, str]] = ()
    """The notes below the table: a word and a text each."""
    title: str | None = None
    """The title above the table, if any."""
    lead: int | None = None
    """If a table may be split to the width of a page: how many columns begin each part. None: it is
    never split."""

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "heads", tuple(map(printable, self.heads)))
        set_(self, "lines", [tuple(map(printable, line)) for line in self.lines])
        set_(self, "notes", [(printable(word), printable(text)) for word, text in self.notes])
        set_(self, "title", self.title and printable(self.title))

    def text(self) -> str:
        """Return the table for a terminal: names left-aligned, numbers right-aligned."""
        columns = [
            _aligned(head, cells) for head, *cells in zip(self.heads, *self.lines, strict=True)
        ]
        lines: list[str] = []
        for part in self.pages():
            lines += [""] if lines else []
            kept = [columns[i] for i in part]
            lines += ["  ".join(line).rstrip() for line in zip(*kept, strict=True)]
        width = max((len(word) for word, _ in self.notes), default=0)
        wrapped = TextWrapper(
            PAGE, subsequent_indent=" " * (width + 2), break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip
        below = [wrapped.fill(f"{word:<{width}}  {text}") for word, text in self.notes]
        return "\n".join([*([self.title] if self.title else []), *lines, *below])

    def pages(self, gap: int = GAP) -> list[list[int]]:
        """Return which columns are printed together, so that no part is wider than a page.

        Parameters
        ----------
        gap
            Letters between columns, and in total at the edges.

        Examples
        --------
        >>> Sheet(heads=("key", "a" * 50, "b" * 50), lead=1).pages()
        [[0, 1], [0, 2]]
        """
        every = list(range(len(self.heads)))
        if self.lead is None:
            return [every]
        wide = [max(map(len, cells)) + gap for cells in zip(self.heads, *self.lines, strict=True)]
        first = every[: self.lead]
        parts, room = [list(first)], PAGE - sum(wide[: self.lead])
        for i in every[self.lead :]:
            if wide[i] > room and len(parts[-1]) > len(first):
                parts.append(list(first))
                room = PAGE - sum(wide[: self.lead])
            parts[-1].append(i)
            room -= wide[i]
        return parts

    def html(self) -> str:
        """Return the table as HTML that needs no style sheet."""
        title = f"<h4>{escape(self.title)}</h4>" if self.title else ""
        if not self.heads:
            facts = "".join(
                f"<tr><th>{escape(word)}</th><td>{escape(text)}</td></tr>"
                for word, text in self.notes
            )
            return f"{title}<table>{facts}</table>"
        below = "<br>".join(f"{escape(word)}: {escape(text)}" for word, text in self.notes)
        notes = f"<div style='max-width:48em'>{below}</div>" if below else ""
        parts: list[list[Sequence[str]]] = [[]]
        for line in self.lines:  # empty lines separate parts, which begin with heads of their own
            if any(line):
                parts[-1].append(line)
            else:
                parts.append([])
        first, *rest = parts
        further = "".join(
            f"<tbody {LEFT}>{_row(part[0], 'th')}{_rows(part[1:])}</tbody>" for part in rest if part
        )
        head = f"<thead {LEFT}>{_row(self.heads, 'th')}</thead>"
        return f"{title}<table>{head}<tbody>{_rows(first)}</tbody>{further}</table>{notes}"


class Displayable(ABC):
    """Prints as a sheet: a small table in a terminal, HTML in a notebook."""

    __slots__ = ()

    @abstractmethod
    def sheet(self) -> Sheet:
        """Return the printed table."""

    def __str__(self) -> str:
        return self.sheet().text()

    def _repr_html_(self) -> str:
        return self.sheet().html()


class JsonDisplayable(Displayable):
    """Prints as a sheet, and becomes JSON."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything public as a dict for JSON."""

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json_text(self.to_dict())


def _row(cells: Sequence[str], kind: str) -> str:
    return "<tr>" + "".join(f"<{kind}>{escape(text)}</{kind}>" for text in cells) + "</tr>"


def _rows(lines: Sequence[Sequence[str]]) -> str:
    return "".join(_row(line, "td") for line in lines)


def _aligned(head: str, texts: Sequence[str]) -> list[str]:
    """Return a column of one width: names left-aligned, numbers right-aligned."""
    width = max(map(len, (head, *texts)))
    names = any(letter.isalpha() for text in texts for letter in SIZE.sub("", text))
    return [text.ljust(width) if names else text.rjust(width) for text in (head, *texts)]


# ---- Columns of numbers with labels and intervals ------------------------------------------------


C = TypeVar("C")

EXTRA_HEADS = {"normal": "population (normal)", "population": "population (any law)"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Columns of one length: labels, values and, where they are known, the ends of intervals.

    Examples
    --------
    >>> ages = Columns(labels={"sex": ["f", "m"]}, name="mean", values=[41.2, 39.9])
    >>> ages.cells()
    (('sex', 'mean'), [('f', '41.2'), ('m', '39.9')])
    """

    labels: Mapping[str, Sequence[Any]]
    """The labels of the rows, by name; may be empty for a single number."""
    name: str
    """The name of the values."""
    values: Sequence[Any]
    """The numbers."""
    lower: Sequence[Any] | None = None
    upper: Sequence[Any] | None = None
    """The ends of their intervals; None if a value has none."""
    extra_intervals: Mapping[str, tuple[Sequence[Any], Sequence[Any]]] = field(default_factory=dict)
    """The ends of further intervals: of a ``"population"``, and by the ``"normal"`` approximation.
    """
    confidence: float | None = 0.95
    """The confidence level of the intervals; None if it is stated elsewhere."""
    even: bool = False
    """Whether all numbers are printed with the precision of the narrowest interval, as for shares
    of one whole; otherwise each with that of its own interval."""
    most: int | None = None
    """The maximum number of printed rows: of more, those with the largest values. None for all."""
    further: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Further columns of a frame, such as the edges of bins as numbers; not printed."""
    printed: Sequence[int] | None = None
    """Which rows are printed; defaults to all."""
    by: Sequence[str] = ()
    """The labels that name a group, which come first."""

    def largest(self, most: int | None) -> Columns:
        """Return the rows with the largest values, in their original order."""
        if most is None or len(self.values) <= most:
            return self
        down = sorted(range(len(self.values)), key=lambda i: -self.values[i])[:most]
        return self.picked(sorted(down))

    def picked(self, kept: Sequence[int]) -> Columns:
        def picked(column: Sequence[Any]) -> list[Any]:
            return [column[i] for i in kept]

        extra = {of: (picked(low), picked(up)) for of, (low, up) in self.extra_intervals.items()}
        return replace(
            self, values=picked(self.values), lower=self.lower and picked(self.lower),
            upper=self.upper and picked(self.upper), extra_intervals=extra,
            labels={name: picked(column) for name, column in self.labels.items()},
            further={name: picked(column) for name, column in self.further.items()},
        )  # fmt: skip

    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return heads and rows as texts, each number with the digits its interval supports."""
        kept = self.largest(self.most) if self.printed is None else self.picked(self.printed)
        names = [list(map(label, column)) for column in kept.labels.values()]
        texts = kept.texts()
        own = [[interval_text(*ends) for _, *ends in texts]] if self.bounded else []
        extra = [
            [interval_text(*any_row(pair[0], pair)[1:]) for pair in zip(*ends, strict=True)]
            for ends in kept.extra_intervals.values()
        ]
        heads = (
            *self.labels, self.name, *([interval_head(self.confidence)] if self.bounded else []),
            *(EXTRA_HEADS[of] for of in self.extra_intervals),
        )  # fmt: skip
        rows = list(zip(*names, [text for text, *_ in texts], *own, *extra, strict=True))
        left = len(self.values) - len(kept.values)
        if left > 0 and self.printed is None:
            rows.append((f"and {left} smaller", *[""] * (len(heads) - 1)))
        return heads, rows

    @property
    def bounded(self) -> bool:
        return self.lower is not None and self.upper is not None

    def texts(self) -> list[tuple[str, ...]]:
        """Return the texts of each value and of the ends of its interval."""
        if self.lower is None or self.upper is None:
            return [(label(v),) for v in self.values]
        ends = list(zip(self.lower, self.upper, strict=True))
        if not self.even:
            return [
                (unbounded(v), "", "") if None in pair else any_row(v, pair)
                for v, pair in zip(self.values, ends, strict=True)
            ]
        width = min((high - low for low, high in ends if high > low), default=0.0)
        return [
            (shown(v, width), outward(low, width, floor), outward(high, width, ceil))
            for v, (low, high) in zip(self.values, ends, strict=True)
        ]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns by name, as a frame holds them."""
        own = {self.name: _of_one_type(self.values)}
        if self.lower is not None and self.upper is not None:
            own |= {"lower": _of_one_type(self.lower), "upper": _of_one_type(self.upper)}
        for of, (low, high) in self.extra_intervals.items():
            own |= {f"{of}_lower": list(low), f"{of}_upper": list(high)}
        labels = {**self.labels, **self.further}
        return with_free_names({name: _of_one_type(x) for name, x in labels.items()}, own)

    def to_frame(self, library: str) -> Any:
        """Return a frame of the named library: pandas, polars or pyarrow."""
        return framed(self.to_dict(), library)


def with_free_names(labels: Mapping[str, C], own: Mapping[str, C]) -> dict[str, C]:
    """Return both in order; a label with the name of an own column gets a ``_`` appended."""
    named: dict[str, C] = {}
    for name, column in labels.items():
        free = name
        while free in own or free in named or (free != name and free in labels):
            free += "_"
        named[free] = column
    return {**named, **own}


def framed(columns: Mapping[str, Sequence[Any]], library: str) -> Any:
    """Return columns as a frame of the named library: pandas, polars or pyarrow."""
    one_of(library, "library", "pandas", "polars", "pyarrow")
    import narwhals

    try:
        return narwhals.from_dict(columns, backend=cast("Any", library)).to_native()
    except ImportError:
        raise ParameterError(
            "library", "be an installed library", repr(library), f"Run pip install {library}."
        ) from None


def interval_head(confidence: float | None) -> str:
    """Return the title of a column of confidence intervals."""
    return "interval" if confidence is None else f"{100 * confidence:g}% CI"


def interval_text(low: str, high: str) -> str:
    """Return an interval in one cell; empty if there is none."""
    return f"[{low}, {high}]" if low or high else ""


def with_ends(value: str, *ends: str) -> str:
    """Return a number and its interval in one line."""
    return f"{value} {interval_text(*ends)}" if any(ends) else value


def label(x: object) -> str:
    """Return a label as printed: numbers with few digits."""
    if not isinstance(x, float):
        return "" if x is None else str(x)
    text = shown(x, 1e-6 * abs(x)) if x else "0"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _of_one_type(labels: Sequence[Any]) -> list[Any]:
    """Return labels of one type for a frame: numbers as floats, other mixtures as texts."""
    types = {type(x) for x in labels if x is not None}
    if types == {int, float}:
        return [None if x is None else float(x) for x in labels]
    return list(labels) if len(types) <= 1 else list(map(str, labels))
