"""A report as Markdown and as one HTML page: its sentences, and its sections by NIST SP 800-226."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, assert_never

from markupsafe import Markup, escape

from sourdine.central.groups import PRINTED, ByGroup
from sourdine.errors import SourdineError
from sourdine.plan.explanation import Explanation
from sourdine.privacy import ADD_REMOVE, Guarantee
from sourdine.privacy.guarantee import percent, shown
from sourdine.results import figures, svg
from sourdine.results.figures import environment
from sourdine.results.tables import label, printable
from sourdine.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from jinja2 import Environment

    from sourdine.reports.report import FiledRelease, FiledReport
    from sourdine.results.release import Release


# ---- What a report is made of, whichever way it is written: sections of texts, facts and tables --


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """A word and a text, line by line."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class TextTable:
    """Heads and rows of texts."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing, as SVG that only our own palette and letters went into.

    One with a title stands beside others.
    """

    svg: str
    alt: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Subsection:
    """Something of its own within a section, such as one release."""

    title: str
    blocks: Sequence[Text | Facts | TextTable | Picture]
    aside: str = ""


Block = Text | Facts | TextTable | Picture | Subsection


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: Sequence[Block]


# ---- Pictures of releases that stand inside a page and take its colours, by light and by dark ----


FEWEST, MOST = 2, 60
"""Of how many numbers there is a picture: one alone needs none, thousands fit in a curve only."""
COLOURS = {
    "ink": (figures.INK, "#e4e7eb"), "note": (figures.NOTE, "#a3afbb"),
    "grey": (figures.GREY, "#66727e"), "blue": (figures.BLUE, "#7db4dc"),
    "red": (figures.RED, "#e58a75"), "pale": (figures.PALE, "#2c4a60"),
    "soft": (figures.SOFT, "#44759a"), "rule": (figures.RULE, "#333d47"),
}  # fmt: skip
"""The palette by light, and what takes its place in the dark."""
WIDTH, HALF = 640, 320
"""The pixels of a picture, and of one beside another."""


def drawn(release: Release, alt: str) -> list[Picture]:
    """Return the pictures of a release; none where there is nothing to draw.

    Parameters
    ----------
    release
        What was published.
    alt
        What it is a picture of.
    """
    columns = release.columns()
    panels = 0 < len(columns.by) < len(columns.labels)  # several numbers of each group
    fits = columns.printed is not None or panels
    if not (len(columns.values) >= FEWEST and (len(columns.values) <= MOST or fits)):
        return []
    try:
        charts = release.charts()
    except SourdineError:  # no intervals to draw
        return []
    wide = WIDTH if len(charts) == 1 else HALF
    return [
        Picture(svg.draw(chart, wide), alt, title)
        for title, chart in charts.items()
        if chart.mark != "dots" or len(chart.x.names) <= MOST
    ]


# ---- A report as Markdown, in which names that strangers chose mark nothing ----------------------


MARKS = re.compile(r"([\\`*_{}\[\]<>|#~$&])")
LEADING = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)", re.MULTILINE)


def markdown(title: str, sections: Sequence[Section]) -> str:
    r"""Return the report as Markdown.

    Examples
    --------
    >>> from sourdine.reports.sections import Facts, Section
    >>> print(markdown("Ages", [Section("Unit", [Facts([("Unit", "<b>record</b>")])])]))
    # Ages
    <BLANKLINE>
    ## Unit
    <BLANKLINE>
    - **Unit**: \<b\>record\</b\>
    <BLANKLINE>
    """
    parts = [f"# {_one_line(title)}"]
    for section in sections:
        parts.append(f"## {_one_line(section.title)}")
        parts += [text for block in section.blocks for text in _block(block)]
    return "\n\n".join(parts) + "\n"


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text, each as it may be shown."""
    return [printable(line) for line in text.replace("\r\n", "\n").split("\n")]


def _block(block: Block) -> Iterator[str]:
    match block:
        case Text(text):
            yield _lines(text, "\n")
        case Facts(pairs):
            if pairs:
                facts = [(_one_line(word), _lines(text, "\n  ")) for word, text in pairs]
                yield "\n".join(f"- **{word}**: {text}" for word, text in facts)
        case TextTable(heads, rows):
            lines = [list(map(_one_line, row)) for row in (heads, *rows)]
            lines.insert(1, ["---"] * len(heads))
            yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
        case Subsection(title, blocks):
            yield f"### {_one_line(title)}"
            for each in blocks:
                yield from _block(each)
        case Picture():
            return
        case _:
            assert_never(block)


def _one_line(text: str) -> str:
    return MARKS.sub(r"\\\1", printable(text))


def _lines(text: str, between: str) -> str:
    lines = between.join(MARKS.sub(r"\\\1", line) for line in plain_lines(text))
    return LEADING.sub(r"\1\\\2", lines)


# ---- A report as one page: no network, light and dark, fit for a phone and for paper -------------


NUMBER = re.compile(r"^-?[\d,]+(\.\d+)?(e[+-]?\d+)?%?( ±.*)?$|^\[[-\d., e+]*\]$|^$")
"""A cell that stands to the right."""
WIDE = 4
"""From this many columns on, a table is pushed sideways on a phone, not squeezed."""
SHORT = 24
"""Cells of up to this many letters stay in one line."""
SMALL = 6
"""Up to this many rows, a table stays on one sheet of paper."""


def page(title: str, sections: Sequence[Section]) -> str:
    """Return a whole page that needs nothing else."""
    light, dark = (
        "".join(f"--{word}:{both[i]};" for word, both in COLOURS.items()) for i in (0, 1)
    )
    style = files("sourdine.reports").joinpath("web", "report.css").read_text("utf-8")
    style = style.replace("LIGHT", light).replace("DARK", dark)
    facts = {"title": title, "style": style, "article": article(title, sections)}
    return f"{_rendered('page.html', **facts)}\n"


def article(title: str, sections: Sequence[Section]) -> Markup:
    """Return the report as a part of a page.

    Examples
    --------
    >>> from sourdine.reports.sections import Section, Text
    >>> print(article("Ages", [Section("Unit", [Text("a <b> record")])]))
    <article><header><h1>Ages</h1></header>
    <nav><ol><li><a href="#s1">Unit</a></li></ol></nav>
    <section id="s1"><h2><span>1</span> Unit</h2><p>a &lt;b&gt; record</p></section></article>
    """
    return _rendered("article.html", title=title, sections=sections)


def _rendered(template: str, **facts: object) -> Markup:
    return Markup(_templates().get_template(template).render(facts))  # noqa: S704 - it escapes


@cache
def _templates() -> Environment:
    made = environment("sourdine.reports")
    made.filters |= {"text": _text, "lines": _html_lines, "sides": _sides}
    made.filters["kind"] = lambda block: type(block).__name__
    made.globals |= {"SMALL": SMALL, "WIDE": WIDE}
    return made


def _sides(table: TextTable) -> list[str]:
    """Return the class of each column: numbers stand to the right, short texts in one line."""
    heads, rows = table.heads, table.rows
    right = [bool(rows) and all(map(NUMBER.match, cells)) for cells in zip(*rows, strict=True)]
    right += [False] * (len(heads) - len(right))
    brief = [max(map(len, cells)) <= SHORT for cells in zip(heads, *rows, strict=True)]
    return ["n" if side else "short" * short for side, short in zip(right, brief, strict=True)]


def _html_lines(text: str) -> Markup:
    return Markup("<br>").join(plain_lines(text))


def _text(text: str) -> Markup:
    return Markup(escape(printable(text)))  # noqa: S704 - escaped


# ---- The sentences that hold for every report: what the library does, and what it does not cover -


TOTAL = (
    "The total is the promise to report: it holds whatever is asked until it is used up. Two "
    "ledgers on the same people add up, as does everything that was published about them by other "
    "means."
)
HOUSEHOLDS = (
    "Records that carry the same information, such as those of a household, are protected "
    "jointly only if they belong to one unit."
)
_CHARGED = (
    "Each call is charged before anything is drawn, and refused if the total would be passed; that "
    "holds however each question was chosen after earlier answers. Groups of which a record is in "
    "one at most are charged once."
)
COMPOSED = {
    "sum": "Composition: the sum of all epsilons, and of all deltas, as exact fractions. "
    f"{_CHARGED}",
    "renyi": "Composition: a filter at one Rényi order, fixed when the ledger was opened (Feldman "
    "and Zrnic 2021), beside the sum of all epsilons: a call is admitted by either. Each is "
    f"charged a price from the parts of its loss, rounded up. {_CHARGED}",
    "rho": "Composition: the sum of the zero-concentrated prices of the parts of each loss, "
    f"rounded up (Bun and Steinke 2016). {_CHARGED}",
}
DECLARED = (
    "The charges were declared as one batch before the first release and admitted by the "
    "certified curve of all their losses (Zhu, Dong and Wang 2022) instead of the filter. They "
    "use the whole total."
)
VARIANTS = {
    "pure": "Pure differential privacy: delta is 0.",
    "approximate": "Approximate differential privacy: delta is the probability that is not "
    "covered by epsilon.",
    "concentrated": "Zero-concentrated differential privacy: epsilon and delta follow from rho.",
}
UNANSWERED = (
    "A charge without an answer counts in full: the process ended before the release, or the "
    "session does not keep answers."
)
CLAMPED = (
    "Values are clamped to the bounds and rounded to the step. This biases sums and means if "
    "many values lie outside, which intervals do not cover. Bounds, steps, categories and groups "
    "are assumed to have been chosen without looking at the data; the library cannot verify this."
)
READING = (
    "Each release has a confidence interval for the statistic of the given records, so it "
    "accounts for noise only. The intervals of a table hold simultaneously unless a note says "
    "otherwise."
)
TRUSTED = (
    "Central model: the party that runs the session holds the raw data and is trusted. "
    "Recipients of the releases need not be trusted, regardless of their prior knowledge and "
    "computing power; what they learn about one unit is bounded as above. All releases are "
    "charged to one total, so recipients may share them."
)
FLOATS = (
    "Inputs are multiples of a public step and sums are integers. Noise is drawn exactly from "
    "its distribution, and released values lie on the public grid. If the weights of candidates "
    "are floats, their rounding error is bounded and included in epsilon."
)
TIME = (
    "The time to draw noise does not depend on the noise, for up to 20,000 draws at a time. The "
    "time to read data, or to select among candidates, does depend on the data: do not let "
    "untrusted parties measure it."
)
UNCOVERED = "Memory, swap files, other users of the machine, and copies of the data elsewhere."
IMPLEMENTED = {
    "Floating point": FLOATS,
    "Randomness": "The operating system's generator, through OpenSSL. A session takes no seed.",
    "Time": TIME,
    "Errors": "No error, warning or note depends on a value of the data.",
    "Not covered": UNCOVERED,
}
KEPT = (
    "The ledger is append-only, and each line carries a hash of all lines before it. This "
    "protects against accidents, not against a party that can write the file. The ledger holds "
    "questions, costs and released answers, but no other data."
)
COLLECTED = (
    "Exposure of the data during collection, transfer and storage is not covered by the guarantee."
)
NIST = (
    "J. Near, D. Darais, N. Lefkovitz, G. Howarth, Guidelines for Evaluating Differential Privacy "
    "Guarantees, NIST Special Publication 800-226, March 2025, doi:10.6028/NIST.SP.800-226: the "
    "headings of this report follow it."
)
DEFINITION = (
    "C. Dwork, F. McSherry, K. Nissim, A. Smith, Calibrating noise to sensitivity in private data "
    "analysis, TCC 2006: the definition."
)
FILTER = (
    "R. Rogers, A. Roth, J. Ullman, S. Vadhan, Privacy odometers and filters, NeurIPS 2016: a "
    "fixed total holds even if each request is chosen after the earlier answers were seen."
)
SOURCES = (NIST, DEFINITION, FILTER)


# ---- What a report says of each release: its table, its picture, its bounds, what drew it --------


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
            Text(READING),
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
            filed.value,
            shown(c.epsilon),
            shown(c.delta),
            shown(c.spent.exact_epsilon()) if adds else percent(c.share, up=True),
        )
        for filed in report.filed
        for c in [filed.charge]
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
    return Subsection(
        title,
        [
            _table(release),
            *(drawn(release, charge.what) if pictures else []),
            Facts(facts),
            *(Text(text) for text in release.caveats),
        ],
        filed.value if len(release.columns().values) == 1 else "",
    )


def _table(release: Release) -> TextTable:
    """Return the table of a release, with intervals wherever there are some, cut where long."""
    answer = release.answer
    heads, lines = answer.mechanism.printed(answer)
    rows = list(lines)
    left = _line_count(release, len(rows)) - MOST_ROWS
    if left > 0:
        more = f"and {left} more, in the ledger and in the JSON"
        rows = [*rows[:MOST_ROWS], (more, *[""] * (len(heads) - 1))]
    return TextTable(heads, rows)


def _line_count(release: Release, printed: int) -> int:
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


# ---- The words of a report, under the headings by which NIST SP 800-226 looks at a promise -------
#
# The headings follow the parts of its pyramid: the parameters and the unit above, then algorithms,
# bounds and composition, below them trust, implementation and access, and data collection at the
# base. The sentences are ours, and say what holds for this ledger and this library.


def sections(report: FiledReport, *, pictures: bool) -> list[Section]:
    return [
        _summary(report), _purpose(report), _parameters(report), _meaning(report), _unit(report),
        _algorithms(report), _bounds_section(report), released(report, pictures=pictures),
        _trust(report), _implementation(report), _access(report), _collection(report),
        _checks(report), _sources(report),
    ]  # fmt: skip


def _summary(report: FiledReport) -> Section:
    whom = report.terms.protected
    lacking = sum(filed.release is None for filed in report.filed)
    missing = f" {lacking} of them without an answer that was kept." if lacking else ""
    failed = sum(not check.passed for check in report.checks)
    charges = len(report.charges)
    return Section(
        "Summary",
        [
            Text(
                f"{charges} {'release was' if charges == 1 else 'releases were'} charged to this "
                f"ledger, which admits no more than its total.{missing} "
                + (
                    f"{failed} of {len(report.checks)} checks failed: see Checks."
                    if failed
                    else f"All {len(report.checks)} checks of the ledger passed."
                )
            ),
            Facts(
                [
                    ("Total", report.terms.told()),
                    ("Spent", report.spent.told(whom)),
                    ("Left", report.remaining.told(whom)),
                    ("First release", _day(report.charges[0].when) if charges else "none"),
                    ("Last release", _day(report.charges[-1].when) if charges else "none"),
                    ("Ledger", _ledger(report)),
                    ("Report made", f"{_day(report.when)}, by Sourdine {__version__}"),
                ]
            ),
        ],
    )


def _purpose(report: FiledReport) -> Section:
    named = report.terms.name or "not named"
    names = {
        "purpose": "Purpose", "description": "What is published", "curators": "Published by",
        "contact": "Contact", "legal_basis": "Legal basis", "region": "Region", "sector": "Sector",
        "release_type": "Way of publishing", "published": "First published",
    }  # fmt: skip
    facts = _stated(report, names)
    return Section(
        "Purpose and responsibility", [Facts([*facts, ("Data, as the ledger names them", named)])]
    )


def _parameters(report: FiledReport) -> Section:
    table = _amounts(report) if report.terms.filter is None else _shares(report)
    return Section(
        "Privacy parameters",
        [
            table,
            Text(f"{VARIANTS[_variant(report)]} {TOTAL}"),
            Facts(_stated(report, {"justification": "Why these parameters"})),
        ],
    )


def _variant(report: FiledReport) -> str:
    if not isinstance(report.terms.total, Guarantee):
        return "concentrated"
    return "pure" if report.terms.total.is_pure else "approximate"


def _amounts(report: FiledReport) -> TextTable:
    amounts = (("total", report.promise), ("spent", report.spent), ("remaining", report.remaining))
    rows = [
        (name, shown(part.exact_epsilon(), up=name != "left"), shown(part.delta, up=name != "left"))
        for name, part in amounts
    ]
    return TextTable(("", "epsilon", "delta"), rows)


def _shares(report: FiledReport) -> TextTable:
    """Return the total, and how much of it is spent: a filter has no epsilon so far."""
    account, promise = report.account, report.promise
    epsilon, delta = shown(promise.exact_epsilon()), shown(promise.delta)
    rows = [
        ("total", epsilon, delta, "100%"),
        ("spent", "", "", percent(account.share, up=True)),
        ("remaining", "", "", percent(max(1 - account.share, Fraction(0)))),
    ]
    return TextTable(("", "epsilon", "delta", "share"), rows)


def _meaning(report: FiledReport) -> Section:
    seen = "everything that may be released under this ledger"
    said = Explanation(report.promise, (1,), seen)
    heads = said.sheet().heads[1:]
    rows = [
        (name, *Explanation(part, (1,)).sheet().lines[0][1:]) for name, part in _promises(report)
    ]
    return Section(
        "What this means for one person",
        [*(Text(text) for _, text in said.sentences()), TextTable(("", *heads), rows)],
    )


def _promises(report: FiledReport) -> list[tuple[str, Guarantee]]:
    """Return what is promised: of a total with delta, nothing is of what was spent so far."""
    total = ("total", report.promise)
    return [("spent", report.account.spent), total] if report.terms.filter is None else [total]


def _unit(report: FiledReport) -> Section:
    terms = report.terms
    relation = terms.total.relation
    worlds = (
        f"Two data sets are neighbours if one has one {terms.protected} more than the other; how "
        "many records there are is protected too."
        if relation is ADD_REMOVE
        else f"Two data sets are neighbours if one {terms.protected} is replaced by another; how "
        "many records there are is public."
    )
    kept = "1 record" if terms.rows == 1 else f"at most {terms.rows} records"
    who = (
        f"A person is named by the column {terms.unit}; {kept} of each person are used."
        if terms.unit
        else f"There is no column that names a person: it is taken for granted that a person has "
        f"{kept}. Somebody with more is protected less, epsilon counting once for each."
    )
    return Section(
        "Unit of privacy",
        [
            Facts([("Unit", terms.protected), ("Neighbours", relation.describe(terms.protected))]),
            Text(worlds),
            Text(who),
            Text(HOUSEHOLDS),
        ],
    )


def _algorithms(report: FiledReport) -> Section:
    return Section(
        "Algorithms and composition",
        [
            TextTable(("mechanism", "releases", "version"), algorithms(report)),
            Text(report.composition),
            Text(UNANSWERED),
        ],
    )


def _bounds_section(report: FiledReport) -> Section:
    found = bounds(report)
    listed = lists(report)
    return Section(
        "Bounds and clipping",
        [
            *(
                [TextTable(("column", "bounds", "step", "where from", "releases"), found)]
                * bool(found)
            ),
            *([TextTable(("column", "public list", "releases"), listed)] * bool(listed)),
            Text(CLAMPED),
            Facts(_stated(report, {"preprocessing": "Done to the data before"})),
        ],
    )


def _trust(report: FiledReport) -> Section:
    stated = {
        "actors": "Who takes part, and is trusted with what",
        "access": "Who may ask",
        "access_type": "Way of asking",
    }
    return Section("Trust model", [Text(TRUSTED), Facts(_stated(report, stated))])


def _implementation(report: FiledReport) -> Section:
    del report
    library = ("Library", f"Sourdine {__version__} made this report")
    return Section("Implementation and side channels", [Facts([library, *IMPLEMENTED.items()])])


def _access(report: FiledReport) -> Section:
    stated = {"security": "What guards the raw data", "retention": "Kept for"}
    return Section("Data security and access control", [Facts(_stated(report, stated)), Text(KEPT)])


def _collection(report: FiledReport) -> Section:
    stated = {
        "data": "The data", "collection": "How they were collected",
        "data_source": "Static or dynamic", "unprotected": "Published without protection",
        "post_processing": "Done to the releases afterwards",
    }  # fmt: skip
    return Section("Data collection exposure", [Text(COLLECTED), Facts(_stated(report, stated))])


def _checks(report: FiledReport) -> Section:
    rows = [(c.what, "passed" if c.passed else "FAILED", c.found) for c in report.checks]
    return Section("Checks", [TextTable(("check", "result", "what was done"), rows)])


def _sources(report: FiledReport) -> Section:
    stated = {"sources": "Of the owner", "notes": "Notes", "authors": "Filled in by"}
    return Section("Sources", [*map(Text, SOURCES), Facts(_stated(report, stated))])


def _stated(report: FiledReport, names: dict[str, str]) -> list[tuple[str, str]]:
    """Return what the owner said under these names, each with its heading."""
    return [(head, report.about.said(name)) for name, head in names.items()]


def _ledger(report: FiledReport) -> str:
    if report.identity is None:
        return "kept in memory"
    return f"{report.ledger}, identity {report.identity}"


def _day(when: str) -> str:
    return f"{when[:10]} {when[11:16]} UTC"
