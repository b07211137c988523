"""What a report says of each release: its table, its picture, its bounds, what drew it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sourdine.central.groups import PRINTED, ByGroup
from sourdine.privacy.printing import percent, shown
from sourdine.release.columns import label
from sourdine.session.filing import words
from sourdine.session.filing.blocks import Facts, Section, Subsection, Text, TextTable
from sourdine.session.filing.pictures import drawn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sourdine.release import Release
    from sourdine.session.filing.report import FiledRelease, FiledReport

__all__ = ["algorithms", "bounds", "lists", "released"]

MOST_ROWS = 100
"""How many rows of one release stand in a report."""
MOST_NAMES = 12
"""How many categories or groups are listed."""
GIVEN = "given, public"
FOUND = "found privately, paid within epsilon"


def released(report: FiledReport, *, pictures: bool) -> Section:
    """Return every release with value, interval and cost."""
    return Section(
        "Releases and their accuracy",
        [
            Text(words.READING),
            *([_overview(report)] if report.filed else []),
            *(_release(report, filed, pictures=pictures) for filed in report.filed),
        ],
    )


def _overview(report: FiledReport) -> TextTable:
    """Return a line for each release: what was asked, what was answered, what it cost."""
    adds = report.terms.filter is None
    rows = [
        (
            str(c.number),
            c.what,
            c.value,
            shown(c.epsilon),
            shown(c.delta),
            shown(c.spent.exact_epsilon()) if adds else percent(c.share, up=True),
        )
        for c in report.charges
    ]
    so_far = "epsilon so far" if adds else "spent so far"
    return TextTable(("", "question", "answer", "epsilon", "delta", so_far), rows)


def _release(report: FiledReport, filed: FiledRelease, *, pictures: bool) -> Subsection:
    charge, release = filed.charge, filed.release
    facts = [
        ("When", f"{charge.when[:10]} {charge.when[11:19]} UTC"),
        ("Cost", charge.cost.told(report.terms.protected)),
        ("Mechanism", _mechanism(filed)),
    ]
    title = f"{charge.number}. {charge.what}"
    if release is None:
        return Subsection(title, [Facts(facts), Text(f"{filed.state.capitalize()}.")], filed.state)
    facts += [(word.capitalize(), text) for word, text in release.mechanism.findings(release)]
    picture = drawn(release, f"r{charge.number}", charge.what) if pictures else None
    return Subsection(
        title,
        [
            _table(release),
            *([picture] if picture else []),
            Facts(facts),
            *(Text(text) for text in release.caveats),
        ],
        charge.value if len(release.columns().values) == 1 else "",
    )


def _table(release: Release) -> TextTable:
    """Return the table of a release, with intervals wherever there are some, cut where long."""
    sheet = release.sheet()
    heads, rows = sheet.heads, list(sheet.lines)
    left = _lines(release, len(rows)) - MOST_ROWS
    if left > 0:
        more = f"and {left} more, in the ledger and in the JSON"
        rows = [*rows[:MOST_ROWS], (more, *[""] * (len(heads) - 1))]
    return TextTable(heads, rows)


def _lines(release: Release, printed: int) -> int:
    """Return how many lines a release has, of which a sheet prints some."""
    if not isinstance(release.mechanism, ByGroup):
        return printed
    groups = release.mechanism.together(release.drawn)
    return printed * groups // max(min(groups, PRINTED), 1)


def _mechanism(filed: FiledRelease) -> str:
    """Return what drew an answer, and by which algorithm where one was chosen."""
    ran = [] if filed.release is None else sorted(set(_methods(filed.release.drawn)))
    return filed.charge.mechanism + (f" (ran: {', '.join(ran)})" if ran else "")


def _methods(drawn: object) -> Iterator[str]:
    """Yield the algorithms that are named among what was drawn."""
    parts: Iterable[Any] = ()
    if isinstance(drawn, Mapping):
        if isinstance(drawn.get("method"), str):
            yield drawn["method"]
        parts = drawn.values()
    elif isinstance(drawn, (list, tuple)) and any(isinstance(x, (Mapping, list)) for x in drawn):
        parts = drawn
    for part in parts:
        yield from _methods(part)


def algorithms(report: FiledReport) -> list[tuple[str, str, str]]:
    """Return every mechanism once, with the releases that it drew and the library's version."""
    found: dict[tuple[str, str], list[int]] = {}
    for filed in report.filed:
        version = filed.charge.version or "not kept"
        found.setdefault((_mechanism(filed), version), []).append(filed.charge.number)
    return [(how, _listed(numbers), version) for (how, version), numbers in found.items()]


def bounds(report: FiledReport) -> list[tuple[str, ...]]:
    """Return the bounds of each column once, and the releases that used them."""
    found: dict[tuple[str, ...], list[int]] = {}
    for filed in report.filed:
        asked = json.loads(filed.charge.parameters)
        for line in _bounds(asked):
            found.setdefault(line, []).append(filed.charge.number)
    return [(*line, _listed(numbers)) for line, numbers in found.items()]


def _bounds(asked: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield column, bounds, step and where they are from, of one question."""
    if asked.get("statistic") == "describe":
        yield "every column of numbers", "none given", "", FOUND
        return
    given, steps = asked.get("bounds"), asked.get("steps", {})
    if given is None:
        return
    if isinstance(given, Mapping):
        for column, own in given.items():
            yield column, _span(own), label(steps.get(column, "")), _source(own)
    else:
        column = asked.get("column", "the only one")
        yield column, _span(given), label(asked.get("step", "")), _source(given)


def _span(given: object) -> str:
    if not isinstance(given, (list, tuple)):
        return "none given"
    low, high = ("open" if end is None else _number(end) for end in given[:2])
    return f"{low} to {high}"


def _number(end: object) -> str:
    return label(float(end)) if isinstance(end, (int, float)) else str(end)


def _source(given: object) -> str:
    fixed = isinstance(given, (list, tuple)) and len(given) == 2 and None not in given
    return GIVEN if fixed else FOUND


def lists(report: FiledReport) -> list[tuple[str, str, str]]:
    """Return the categories and groups of each column once, and the releases that used them."""
    found: dict[tuple[str, str], list[int]] = {}
    for filed in report.filed:
        asked = json.loads(filed.charge.parameters)
        for name, of in (("categories", "column"), ("keys", "by")):
            if name in asked:
                where = asked.get(of, "the only one")
                column = where if isinstance(where, str) else ", ".join(where)
                line = (column, _names(asked[name]))
                found.setdefault(line, []).append(filed.charge.number)
    return [(*line, _listed(numbers)) for line, numbers in found.items()]


def _names(names: object) -> str:
    if not isinstance(names, list):
        return FOUND if names == "unknown" else str(names)
    texts = [", ".join(map(str, x)) if isinstance(x, list) else str(x) for x in names]
    first = "; ".join(texts[:MOST_NAMES])
    left = len(texts) - MOST_NAMES
    return f"{first}; and {left} more" if left > 0 else first


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
