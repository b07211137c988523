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
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from jinja2 import Environment

    from sourdine.reports.report import FiledRelease, FiledReport
    from sourdine.results.release import Release


# ---- The parts of a report in every format: sections of texts, facts and tables ------------------


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
    r"""Return the report as Markdown."""
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
    """Return the report as a part of a page."""
    return _rendered("article.html", title=title, sections=sections)


def _rendered(template: str, **facts: object) -> Markup:
    return Markup(_templates().get_template(template).render(facts))  # noqa: S704 - it escapes


@cache
def _templates() -> Environment:
    made = environment("sourdine.reports")
    made.filters |= {"text": _text, "sides": _sides}
    made.filters["lines"] = lambda text: Markup("<br>").join(plain_lines(text))
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


def _overview(report: FiledReport) -> TextTable:
    """Return a line for each release: what was asked, what was answered, what it cost."""
    adds = report.terms.filter is None
    rows = []
    for filed in report.filed:
        c = filed.charge
        so_far = shown(c.spent.exact_epsilon()) if adds else percent(c.share, up=True)
        rows.append((str(c.number), c.what, filed.value, shown(c.epsilon), shown(c.delta), so_far))
    head = "epsilon so far" if adds else "spent so far"
    return TextTable(("", "question", "answer", "epsilon", "delta", head), rows)


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
    shown_pictures = drawn(release, charge.what) if pictures else []
    aside = filed.value if len(release.columns().values) == 1 else ""
    texts = map(Text, release.caveats)
    return Subsection(title, [_table(release), *shown_pictures, Facts(facts), *texts], aside)


def _table(release: Release) -> TextTable:
    """Return the table of a release, with intervals wherever there are some, cut where long."""
    answer = release.answer
    heads, rows = answer.mechanism.printed(answer)
    lines = len(rows)
    if isinstance(release.mechanism, ByGroup):  # of whose groups a sheet prints some
        groups = release.mechanism.together(release.drawn)
        lines = lines * groups // max(min(groups, PRINTED), 1)
    if lines > MOST_ROWS:
        more = f"and {lines - MOST_ROWS} more, in the ledger and in the JSON"
        rows = [*rows[:MOST_ROWS], (more, *[""] * (len(heads) - 1))]
    return TextTable(heads, rows)


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


def algorithms(report: FiledReport) -> list[tuple[str, ...]]:
    """Return every mechanism once, with the releases that it drew and the library's version."""
    drawn_by = _used(
        report, lambda filed: [(_mechanism(filed), filed.charge.version or "not kept")]
    )
    return [(how, numbers, version) for how, version, numbers in drawn_by]


def _used(
    report: FiledReport, lines: Callable[[FiledRelease], Iterable[tuple[str, ...]]]
) -> list[tuple[str, ...]]:
    """Return each line that releases have once, with the numbers of those that have it."""
    found: dict[tuple[str, ...], list[str]] = {}
    for filed in report.filed:
        for line in lines(filed):
            found.setdefault(line, []).append(str(filed.charge.number))
    return [(*line, ", ".join(numbers)) for line, numbers in found.items()]


def _bounds(filed: FiledRelease) -> Iterator[tuple[str, ...]]:
    """Yield column, bounds, step and where they are from, of one question."""
    asked = json.loads(filed.charge.parameters)
    if asked.get("statistic") == "describe":
        yield "every column of numbers", "none given", "", FOUND
        return
    given, steps = asked.get("bounds"), asked.get("steps", {})
    if given is None:
        return
    if not isinstance(given, Mapping):
        column = asked.get("column", "the only one")
        given, steps = {column: given}, {column: asked.get("step", "")}
    for column, own in given.items():
        ends = own if isinstance(own, (list, tuple)) else ()
        source = GIVEN if len(ends) == 2 and None not in ends else FOUND
        span = " to ".join("open" if end is None else _number(end) for end in ends[:2])
        yield column, span or "none given", label(steps.get(column, "")), source


def _number(end: object) -> str:
    return label(float(end)) if isinstance(end, (int, float)) else str(end)


def _lists(filed: FiledRelease) -> Iterator[tuple[str, str]]:
    """Yield column and public values, of the categories and groups of one question."""
    asked = json.loads(filed.charge.parameters)
    for name, of in (("categories", "column"), ("keys", "by")):
        if name in asked:
            where = asked.get(of, "the only one")
            yield where if isinstance(where, str) else ", ".join(where), _names(asked[name])


def _names(names: object) -> str:
    if not isinstance(names, list):
        return FOUND if names == "unknown" else str(names)
    texts = [", ".join(map(str, x)) if isinstance(x, list) else str(x) for x in names]
    left = len(texts) - MOST_NAMES
    return "; ".join(texts[:MOST_NAMES]) + (f"; and {left} more" if left > 0 else "")


# ---- The words of a report, under the headings by which NIST SP 800-226 looks at a promise -------
#
# The headings follow the parts of its pyramid: the parameters and the unit above, then algorithms,
# bounds and composition, below them trust, implementation and access, and data collection at the
# base. The sentences are ours, and say what holds for this ledger and this library.


def sections(report: FiledReport, *, pictures: bool) -> list[Section]:
    """Return what stands in a report; what the owner did not say is stated as such."""

    def stated(**heads: str) -> Facts:
        return Facts([(head, report.about.said(name)) for name, head in heads.items()])

    named = ("Data, as the ledger names them", report.terms.name or "not named")
    purpose = stated(
        purpose="Purpose", description="What is published", curators="Published by",
        contact="Contact", legal_basis="Legal basis", region="Region", sector="Sector",
        release_type="Way of publishing", published="First published",
    )  # fmt: skip
    bounds, lists = _used(report, _bounds), _used(report, _lists)
    limits = []
    if bounds:
        limits.append(TextTable(("column", "bounds", "step", "where from", "releases"), bounds))
    if lists:
        limits.append(TextTable(("column", "public list", "releases"), lists))
    releases = [_release(report, filed, pictures=pictures) for filed in report.filed]
    overview = [_overview(report)] if releases else []
    library = ("Library", f"Sourdine {__version__} made this report")
    passed = [(c.what, "passed" if c.passed else "FAILED", c.found) for c in report.checks]
    blocks: dict[str, Sequence[Block]] = {
        "Summary": _summary(report),
        "Purpose and responsibility": [Facts([*purpose.pairs, named])],
        "Privacy parameters": [
            *_parameters(report), stated(justification="Why these parameters"),
        ],
        "What this means for one person": _meaning(report),
        "Unit of privacy": _unit(report),
        "Algorithms and composition": [
            TextTable(("mechanism", "releases", "version"), algorithms(report)),
            Text(report.composition), Text(UNANSWERED),
        ],
        "Bounds and clipping": [
            *limits, Text(CLAMPED), stated(preprocessing="Done to the data before"),
        ],
        "Releases and their accuracy": [Text(READING), *overview, *releases],
        "Trust model": [Text(TRUSTED), stated(
            actors="Who takes part, and is trusted with what", access="Who may ask",
            access_type="Way of asking",
        )],
        "Implementation and side channels": [Facts([library, *IMPLEMENTED.items()])],
        "Data security and access control": [
            stated(security="What guards the raw data", retention="Kept for"), Text(KEPT),
        ],
        "Data collection exposure": [Text(COLLECTED), stated(
            data="The data", collection="How they were collected",
            data_source="Static or dynamic", unprotected="Published without protection",
            post_processing="Done to the releases afterwards",
        )],
        "Checks": [TextTable(("check", "result", "what was done"), passed)],
        "Sources": [
            *map(Text, SOURCES),
            stated(sources="Of the owner", notes="Notes", authors="Filled in by"),
        ],
    }  # fmt: skip
    return [Section(title, own) for title, own in blocks.items()]


def _summary(report: FiledReport) -> list[Block]:
    whom, charges, checks = report.terms.protected, report.charges, report.checks
    lacking = sum(filed.release is None for filed in report.filed)
    missing = f" {lacking} of them without an answer that was kept." if lacking else ""
    failed = sum(not check.passed for check in checks)
    were = "1 release was" if len(charges) == 1 else f"{len(charges)} releases were"
    text = f"{were} charged to this ledger, which admits no more than its total.{missing} " + (
        f"{failed} of {len(checks)} checks failed: see Checks."
        if failed
        else f"All {len(checks)} checks of the ledger passed."
    )
    first, last = (_day(charges[i].when) if charges else "none" for i in (0, -1))
    kept = "kept in memory"
    if report.identity is not None:
        kept = f"{report.ledger}, identity {report.identity}"
    facts = [
        ("Total", report.terms.told()), ("Spent", report.spent.told(whom)),
        ("Left", report.remaining.told(whom)), ("First release", first), ("Last release", last),
        ("Ledger", kept), ("Report made", f"{_day(report.when)}, by Sourdine {__version__}"),
    ]  # fmt: skip
    return [Text(text), Facts(facts)]


def _day(when: str) -> str:
    return f"{when[:10]} {when[11:16]} UTC"


def _parameters(report: FiledReport) -> list[Block]:
    """Return the total and what is left: a filter has no epsilon so far, but a share."""
    total, promise, account = report.terms.total, report.promise, report.account
    variant = "concentrated"
    if isinstance(total, Guarantee):
        variant = "pure" if total.is_pure else "approximate"
    if report.terms.filter is None:
        amounts = (("total", promise), ("spent", report.spent), ("remaining", report.remaining))
        sums = [
            (name, *(shown(x, up=name != "remaining") for x in (own.exact_epsilon(), own.delta)))
            for name, own in amounts
        ]
        table = TextTable(("", "epsilon", "delta"), sums)
    else:
        shares = [
            ("total", shown(promise.exact_epsilon()), shown(promise.delta), "100%"),
            ("spent", "", "", percent(account.share, up=True)),
            ("remaining", "", "", percent(max(1 - account.share, Fraction(0)))),
        ]
        table = TextTable(("", "epsilon", "delta", "share"), shares)
    return [table, Text(f"{VARIANTS[variant]} {TOTAL}")]


def _meaning(report: FiledReport) -> list[Block]:
    said = Explanation(report.promise, (1,), "everything that may be released under this ledger")
    promises = [("total", report.promise)]
    if report.terms.filter is None:  # of a total with delta, nothing is promised of what was spent
        promises.insert(0, ("spent", report.account.spent))
    rows = [(name, *Explanation(part, (1,)).sheet().lines[0][1:]) for name, part in promises]
    texts = (Text(text) for _, text in said.sentences())
    return [*texts, TextTable(("", *said.sheet().heads[1:]), rows)]


def _unit(report: FiledReport) -> list[Block]:
    terms, relation = report.terms, report.terms.total.relation
    change, number = f"one {terms.protected} is replaced by another", "public"
    if relation is ADD_REMOVE:
        change, number = f"one has one {terms.protected} more than the other", "protected too"
    worlds = f"Two data sets are neighbours if {change}; how many records there are is {number}."
    kept = "1 record" if terms.rows == 1 else f"at most {terms.rows} records"
    who = (
        f"A person is named by the column {terms.unit}; {kept} of each person are used."
        if terms.unit
        else f"There is no column that names a person: it is taken for granted that a person has "
        f"{kept}. Somebody with more is protected less, epsilon counting once for each."
    )
    unit = [("Unit", terms.protected), ("Neighbours", relation.describe(terms.protected))]
    return [Facts(unit), Text(worlds), Text(who), Text(HOUSEHOLDS)]
