"""The same statistic for each of several groups."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from itertools import islice, takewhile
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.intervals import each
from sourdine.central.keys import NamedCounts
from sourdine.parameters import converters as grouping
from sourdine.parameters.converters import OTHER
from sourdine.results.charts import dots
from sourdine.results.figures import BLUE, INK, NOTE, PALE, RED, RULE, gaps, panels, saved
from sourdine.results.release import Estimator
from sourdine.results.tables import (
    interval_head,
    interval_text,
    key_text,
    with_ends,
    with_free_names,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.central.statistic import Statistic
    from sourdine.errors import PythonWording
    from sourdine.frames.frame import Frame
    from sourdine.privacy import Part
    from sourdine.results.charts import Chart
    from sourdine.results.release import Display, Release
    from sourdine.results.tables import Columns

    Floats = NDArray[np.float64]


# ---- A table of many statistics on a page: a row for each group, or a small picture of each ------


OWN = ("column", "statistic", "q")
"""What tells the numbers of a group apart."""


def across(columns: Columns) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return heads and lines, a line for each group; without groups a line for each number.

    A column is named once: where quantiles follow one another, only their orders do. Intervals
    stand behind their numbers.
    """
    names, keys, own = _labelled(columns)
    groups = list(dict.fromkeys(keys))
    per = len(keys) // max(len(groups), 1)
    called = [_order(word, q) or word for _, word, q in own[:per]]
    heads = [
        name if names and i and own[i - 1][:2] == own[i][:2] else f"{own[i][0]} {name}".strip()
        for i, name in enumerate(called)
    ]
    texts = columns.texts()
    if names:
        shown = [with_ends(*text) for text in texts]
        lines = [(*map(str, key), *shown[i * per : (i + 1) * per]) for i, key in enumerate(groups)]
        return (*names, *heads), lines
    named = list(zip(heads, texts, strict=True))
    if not columns.bounded:
        return ("statistic", columns.name), [(name, *text) for name, text in named]
    top = ("statistic", columns.name, interval_head(columns.confidence))
    return top, [(name, text, interval_text(*ends)) for name, (text, *ends) in named]


def _labelled(columns: Columns) -> tuple[list[str], list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the columns of groups, and of each number its group and what tells it apart there.

    The columns of groups stand first, and one of them may be called q.
    """
    names = list(takewhile(lambda name: name != OWN[0], columns.labels))
    own = {name: column for name, column in columns.labels.items() if name not in names}
    blank: list[Any] = [""] * len(columns.values)
    keys = list(zip(*(columns.labels[name] for name in names), strict=True)) or [() for _ in blank]
    q = own.get("q") or [None for _ in blank]
    called = [own.get(name) or blank for name in OWN[:2]]
    return names, keys, list(zip(*called, q, strict=True))


def _order(word: str, q: float | None) -> str:
    """Return the order of a quantile; empty for other statistics."""
    return "" if q is None or word == "median" else f"{100 * q:g}%"


def charts_of_table(columns: Columns, names: Sequence[str] = ()) -> dict[str, Chart]:
    """Return a chart for each statistic of a table, with a dot for each group and order.

    Statistics are called by ``names``, by default by their columns.
    """
    _, keys, own = _labelled(columns)
    found = {}
    for k, (column, word) in enumerate(dict.fromkeys(one[:2] for one in own)):
        rows = [i for i, one in enumerate(own) if one[:2] == (column, word)]
        called = names[k] if names else word
        dotted = [
            ", ".join(filter(None, [*map(str, keys[i]), _order(word, own[i][2])])) or called
            for i in rows
        ]
        part = replace(columns.picked(rows), by=())
        title = f"{word} of {column}" if column and not names else called
        found[title] = dots(part, names=dotted, from_zero=word == "count")
    return found


def multiples(
    release: Release,
    *,
    names: Sequence[str] = (),
    path: str | None = None,
    title: str | None = None,
) -> Any:
    """Draw a panel for each statistic of a table, groups from top to bottom.

    ``names`` are written above the panels; by default the statistics and their columns.
    """
    columns = release.columns()
    _, keys, own = _labelled(columns)
    groups = list(dict.fromkeys(keys))
    wanted = list(dict.fromkeys(one[:2] for one in own)) or [("", "")]  # no group was found
    heads = names
    if len(names) != len(wanted):
        heads = [f"{word} of {column}" if column else word for column, word in wanted]
    lines = [*map(key_text, groups)]
    figure, axes = panels(len(wanted), 2.6 + 2.3 * len(wanted), 1.5 + 0.26 * len(groups))
    place = {key: len(groups) - 1 - i for i, key in enumerate(groups)}
    for panel, one, head in zip(axes, wanted, heads, strict=True):
        rows = [i for i, pair in enumerate(own) if pair[:2] == one]
        at = np.array([place[keys[i]] for i in rows], float)
        _panel(panel, columns, rows, at, np.array([own[i][2] for i in rows], float))
        panel.set_title(head, color=INK, fontsize=9)
        panel.set_ylim(-0.6, len(groups) - 0.4)
        panel.set_yticks(range(len(groups)), lines[::-1])
        if one[1] == "count":
            panel.set_xlim(left=0)
    for panel in axes[1:]:
        panel.tick_params(axis="y", labelleft=False)
    display = release.mechanism.display
    whole = "\n".join(wrap(title or str(display.title), WIDE * len(wanted)))
    figure.suptitle(whole, x=0.01, ha="left", color=INK, fontsize=11)
    note = f"{release.price} · {100 * display.confidence:g}% intervals of all together"
    figure.supxlabel(note, x=0.01, ha="left", color=NOTE, fontsize=8)
    return saved(figure, path)


def _panel(panel: Any, columns: Columns, rows: list[int], at: Floats, orders: Floats) -> None:
    """Draw the numbers of one statistic: dots with intervals, or quantiles on a line."""
    if columns.lower is None or columns.upper is None:
        return
    dates: Any = import_module("matplotlib.dates")

    def place(value: Any) -> Any:
        """Return where a value is drawn: dates and durations in days."""
        if isinstance(value, dt.timedelta):
            return value / dt.timedelta(days=1)
        return dates.date2num(value) if isinstance(value, dt.date) else value

    x, low, high = (
        np.array([place(ends[i]) for i in rows], float)
        for ends in (columns.values, columns.lower, columns.upper)
    )
    if len(set(orders[~np.isnan(orders)].tolist())) > 1:
        for line in sorted(set(at.tolist())):
            inside = at == line
            panel.plot(x[inside], at[inside], "-", color=PALE, lw=3, zorder=1)
        panel.plot(x, at, "|", color=BLUE, ms=6, zorder=2)
        middle = orders == 0.5
        panel.plot(x[middle], at[middle], "o", color=RED, ms=3.5, zorder=3)
    else:
        panel.hlines(at, low, high, color=PALE, linewidth=5)
        panel.plot(x, at, "o", color=BLUE, ms=4)
    panel.margins(x=0.08)
    if any(isinstance(columns.values[i], dt.date) for i in rows):
        _as_dates(panel.xaxis)
    else:
        panel.locator_params(axis="x", nbins=4)
        gaps(panel.xaxis)
    panel.grid(axis="x", color=RULE, linewidth=0.8)
    panel.tick_params(axis="y", length=0, labelsize=8)
    panel.tick_params(axis="x", labelsize=8)


def _as_dates(axis: Any) -> None:
    dates: Any = import_module("matplotlib.dates")
    locator = dates.AutoDateLocator(minticks=2, maxticks=5)
    axis.set_major_locator(locator)
    axis.set_major_formatter(dates.ConciseDateFormatter(locator))
    axis.get_offset_text().set_fontsize(8)


# ---- The same statistic for each of several groups -----------------------------------------------


FINDING = Fraction(1, 4)
"""The part of epsilon that finds keys that nobody can list."""
WIDE = 34
"""Letters of a title above each panel."""
PRINTED = 200


@dataclass(frozen=True, kw_only=True)
class ByGroup(Estimator):
    r"""A statistic of the rows of each key that the question lists, or that is found.

    A listed key that is not in the data gets an ordinary noisy answer. Rows with other keys are in
    no group, or in one more.

    Notes
    -----
    *Claim*: the whole costs what the question says. A record is in one group, so if it is added or
    removed, one group's answer moves and each may spend the whole epsilon. If it is replaced it may
    leave one group and enter another, so each spends half. A person of several rows spends in each
    group in proportion to the rows there, as rows are bounded across all groups first. *Checked by*
    ``test_groups_cost_what_they_say``.

    *Claim*: with unknown keys the whole is (epsilon, delta)-differentially private. *Proof*. A
    quarter of epsilon, and delta (half of it, if the statistic needs one), find the keys by
    `NamedCounts`. Whatever set K of keys was named, the groups of K (and the rest of the rows, if
    they are a group) are a partition of the rows fixed by K, so what is drawn next is the case of
    listed keys at three quarters of epsilon. The two follow one another, and the second may depend
    on the first: epsilons and deltas add up. *Checked by*
    ``test_found_groups_keep_their_promise`` (the whole law over all neighbours of small data) and
    ``test_found_groups_cost_what_they_say``.

    Under pure epsilon no key can be found among all texts. If a key that c people have is named
    with probability p, then one that nobody has is named with probability :math:`p\,
    e^{-c\varepsilon}` or more, and that for every text at once: of a domain of N texts some
    :math:`N p\, e^{-c\varepsilon}` would be named that do not exist, without end as N grows. Where
    the domain is small enough to be listed, list it.

    Examples
    --------
    >>> from sourdine.central import Count
    >>> both = Count(epsilon=1, relation="substitute", by="sex", keys=["f", "m"])
    >>> ByGroup(question=both).part.epsilon
    Fraction(1, 2)
    >>> found = Count(epsilon=1, by="city", keys="unknown", delta=1e-6)
    >>> ByGroup(question=found).finder.threshold
    54
    """

    question: Statistic
    """The statistic, with the columns of groups, their keys and the epsilon of the whole."""
    first: int | None = None
    """Of how many groups a release holds the first; their intervals hold for all groups."""

    @property
    def columns_of(self) -> tuple[str, ...]:
        return grouping.columns(self.question.by)

    @property
    def rest(self) -> tuple[Any, ...]:
        if not self.question.other:
            return ()
        m = len(self.columns_of)
        return ((OTHER,) * m,) if m > 1 else (OTHER,)

    def keys(self, drawn: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the keys: those that are listed, of which some may not occur, or were found."""
        named = drawn["keys"] if self.question.finds else self.question.keys
        keys = *(tuple(key) if isinstance(key, list) else key for key in named), *self.rest
        return keys[: self.first]

    @property
    def planned_for(self) -> int:
        """How many groups an error is planned for: if they are not known, one."""
        return 1 if self.question.finds else len(self.question.keys) + len(self.rest)

    @cached_property
    def part(self) -> Statistic:
        """The statistic of one group, with what it spends."""
        whole = self.question
        share = Fraction(1, 2) if whole.substitutes else Fraction(1)
        epsilon = whole.epsilon * share * (1 - FINDING if whole.finds else 1)
        delta = whole.delta * share * (Fraction(1, 2) if whole.finds else 1)
        own = {"epsilon": epsilon, "delta": delta if whole.needs_delta else 0}
        one = whole.changed(by=None, keys=None, other=False, **own)
        return one.of_private_number.one_of(self.planned_for)

    @cached_property
    def finder(self) -> NamedCounts:
        """What names the keys, where they are unknown."""
        asked = self.question
        return NamedCounts(
            epsilon=asked.epsilon * FINDING,
            delta=asked.delta / 2 if asked.needs_delta else asked.delta,
            rows=asked.rows,
            relation=asked.relation,
        )

    @property
    def parts(self) -> tuple[Part, ...]:
        """What finds the keys, then one group's parts; twice where a record may change its group.

        Of a person with rows in several groups the shifts, or the ranges, add up to those of one.
        *Checked by* ``test_whole_curves_of_groups_keep_the_claim``.
        """
        own, twice = self.part.own_parts, self.question.substitutes
        found = self.finder.parts if self.question.finds else ()
        return (*found, *(part.repeated(2) if twice else part for part in own))

    def check(self) -> None:
        _ = self.part
        if self.question.finds:
            _ = self.finder.threshold

    def __str__(self) -> str:
        columns = " and ".join(self.columns_of)
        if self.question.finds:
            return f"{self.part}, for each group of {columns} above a private threshold"
        groups = "one group" if self.planned_for == 1 else f"each of {self.planned_for} groups"
        return f"{self.part}, for {groups} of {columns}"

    @property
    def display(self) -> Display:
        own = self.question.display
        lead = len(self.columns_of) if self.part.wide else None  # columns that name the group
        return replace(self.part.display, title=own.title, protected=own.protected, lead=lead)

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        columns, named = " and ".join(self.columns_of), []
        if self.question.finds:
            least = self.finder.threshold
            paid = "this takes a quarter of epsilon."
            named = [f"Groups with a noisy count of {least} or more are listed; {paid}"]
        where = f"in the group {OTHER!r}" if self.rest else "not included"
        verb = "is" if len(self.columns_of) == 1 else "are"
        outside = f"Rows whose {columns} {verb} not among the keys are {where}."
        together = "The intervals hold simultaneously for all groups."
        shown = [together] if self.part.display.intervals else []
        return (*self.part.caveats, *named, outside, *shown)

    def draw(self, data: Frame) -> dict[str, Any]:
        """Find the keys if they are unknown, and draw each group's answer."""
        drawn: dict[str, Any] = {}
        if self.question.finds:
            single = len(self.columns_of) == 1
            found = {
                key[0] if single else key: n
                for key, n in data.combinations(self.columns_of).items()
                if not (self.rest and OTHER in key)
            }
            drawn["keys"] = list(self.finder.release(found, source=self.question.source).value)
        return {**drawn, "groups": self.part.draw_all(self.groups(data, drawn))}

    def groups(self, data: Frame, drawn: Mapping[str, Any]) -> list[Frame]:
        """Return the rows of each key."""
        keys = self.keys(drawn)
        listed = keys[: len(keys) - len(self.rest)]
        tuples = [key if isinstance(key, tuple) else (key,) for key in listed]
        return data.groups(self.columns_of, tuples, other=self.question.other)

    def value(self, drawn: Mapping[str, Any]) -> dict[Any, Any]:
        values = map(self.part.value, drawn["groups"])
        return dict(zip(self.keys(drawn), values, strict=True))

    def releases(self, release: Release) -> list[Release]:
        """Return a release for each group, with what was drawn for it."""
        return [
            replace(release, value=value, mechanism=self.part, drawn=drawn)
            for value, drawn in zip(release.value.values(), release.drawn["groups"], strict=True)
        ]

    def limits(self, release: Release, beta: float, of: str) -> dict[Any, Any]:
        keys = self.keys(release.drawn)
        risk = each(beta, max(self.together(release.drawn), 1))
        ends = [self.part.limits(part, risk, of) for part in self.releases(release)]
        return dict(zip(keys, ends, strict=True))

    def together(self, drawn: Mapping[str, Any]) -> int:
        """Return for how many groups intervals hold together."""
        return len(replace(self, first=None).keys(drawn))

    def labels(self, release: Release) -> dict[str, Sequence[Any]]:
        own = [self.part.labels(part) for part in self.releases(release)]
        sizes = [max((len(column) for column in labels.values()), default=1) for labels in own]
        return self.labelled(self.keys(release.drawn), sizes, _joined(own))

    def labelled(
        self, keys: Sequence[Any], sizes: Sequence[int], own: Mapping[str, Sequence[Any]]
    ) -> dict[str, Sequence[Any]]:
        """Return labels of numbers behind the keys of their groups, of which each has some."""
        tuples = [key if isinstance(key, tuple) else (key,) for key in keys]
        listed = [key for key, size in zip(tuples, sizes, strict=True) for _ in range(size)]
        by = {name: [key[i] for key in listed] for i, name in enumerate(self.columns_of)}
        return with_free_names(by, own)

    def further(self, release: Release) -> dict[str, Sequence[Any]]:
        return _joined([self.part.further(part) for part in self.releases(release)])

    def printed_rows(self, release: Release) -> Sequence[int] | None:
        parts, found, start = self.releases(release), [], 0
        for part in parts:
            rows = self.part.printed_rows(part)
            if rows is None:
                return None
            found += [start + row for row in rows]
            start += len(part.value)
        return found

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        few = self._excerpt(release)
        said = (self.part.remarks(part, words) for part in self.releases(few))
        texts = tuple(dict.fromkeys(text for texts in said for text in texts))
        if few is release:
            return texts
        many = self.together(release.drawn)
        rest = f"The first {PRINTED} of {many} groups are shown; to_frame() and JSON contain all."
        return (rest, *texts)

    def _excerpt(self, release: Release) -> Release:
        """Return a release of the groups that are printed."""
        if self.together(release.drawn) <= PRINTED or not self.part.excerpts:
            return release
        drawn = {**release.drawn, "groups": release.drawn["groups"][:PRINTED]}
        value = dict(islice(release.value.items(), PRINTED))
        return replace(release, mechanism=replace(self, first=PRINTED), drawn=drawn, value=value)

    @property
    def release_kind(self) -> type[Release]:
        return self.part.release_kind

    def to_dict(self) -> dict[str, Any]:
        return self.question.to_dict()

    def difference(self, release: Release, first: object, second: object) -> Release:
        from sourdine.central.differences import difference

        return difference(self, release, first, second)

    def printed(self, release: Release) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        few = self._excerpt(release)
        return self.part.printed(few) if self.part.wide else super().printed(few)

    def columns(self, release: Release) -> Columns:
        columns = super().columns(release)
        by = list(columns.labels)[: len(self.columns_of)]
        return self.part.arranged(replace(columns, by=by))

    # The statistic itself draws groups: a dot each, lines, or small panels.

    def chart(self, release: Release, truth: Any = None) -> Chart:
        return self.part.chart(release, truth)

    def charts(self, release: Release) -> Mapping[str, Chart]:
        return self.part.charts(release)

    def plot(self, release: Release, **options: Any) -> Any:
        return self.part.plot(release, **options)


def _joined(parts: Sequence[Mapping[str, Sequence[Any]]]) -> dict[str, Sequence[Any]]:
    """Return the columns of several groups, one group below the other."""
    return {name: [x for part in parts for x in part[name]] for name in parts[0]} if parts else {}
