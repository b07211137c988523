"""The words of a report, under the headings by which NIST SP 800-226 looks at a promise.

The headings follow the parts of its pyramid: the parameters and the unit above, then algorithms,
bounds and composition, below them trust, implementation and access, and data collection at the
base. The sentences are ours, and say what holds for this ledger and this library.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.plan.explanation import Explanation
from sourdine.privacy import ADD_REMOVE, Guarantee
from sourdine.privacy.printing import percent, shown
from sourdine.session.filing import words
from sourdine.session.filing.blocks import Facts, Section, Text, TextTable
from sourdine.session.filing.releases import algorithms, bounds, lists, released
from sourdine.version import __version__

if TYPE_CHECKING:
    from sourdine.session.filing.report import FiledReport

__all__ = ["sections"]


def sections(report: FiledReport, *, pictures: bool) -> list[Section]:
    """Return the whole report, section by section."""
    return [
        _summary(report),
        _purpose(report),
        _parameters(report),
        _meaning(report),
        _unit(report),
        _algorithms(report),
        _bounds(report),
        released(report, pictures=pictures),
        _trust(report),
        _implementation(report),
        _access(report),
        _collection(report),
        _checks(report),
        _sources(report),
    ]


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
        "purpose": "Purpose",
        "description": "What is published",
        "curators": "Published by",
        "contact": "Contact",
        "legal_basis": "Legal basis",
        "region": "Region",
        "sector": "Sector",
        "release_type": "Way of publishing",
        "published": "First published",
    }
    facts = _stated(report, names)
    return Section(
        "Purpose and responsibility",
        [Facts([*facts, ("Data, as the ledger names them", named)])],
    )


def _parameters(report: FiledReport) -> Section:
    table = _amounts(report) if report.terms.filter is None else _shares(report)
    return Section(
        "Privacy parameters",
        [
            table,
            Text(f"{words.VARIANTS[_variant(report)]} {words.TOTAL}"),
            Facts(_stated(report, {"justification": "Why these parameters"})),
        ],
    )


def _variant(report: FiledReport) -> str:
    if not isinstance(report.terms.total, Guarantee):
        return "concentrated"
    return "pure" if report.terms.total.is_pure else "approximate"


def _amounts(report: FiledReport) -> TextTable:
    amounts = (("total", report.promise), ("spent", report.spent), ("left", report.remaining))
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
        ("total", epsilon, delta, "100 %"),
        ("spent", "", "", percent(account.share, up=True)),
        ("left", "", "", percent(max(1 - account.share, Fraction(0)))),
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
            Text(words.HOUSEHOLDS),
        ],
    )


def _algorithms(report: FiledReport) -> Section:
    return Section(
        "Algorithms and composition",
        [
            TextTable(("mechanism", "releases", "version"), algorithms(report)),
            Text(report.composition),
            Text(words.UNANSWERED),
        ],
    )


def _bounds(report: FiledReport) -> Section:
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
            Text(words.CLAMPED),
            Facts(_stated(report, {"preprocessing": "Done to the data before"})),
        ],
    )


def _trust(report: FiledReport) -> Section:
    stated = {
        "actors": "Who takes part, and is trusted with what",
        "access": "Who may ask",
        "access_type": "Way of asking",
    }
    return Section("Trust model", [Text(words.TRUSTED), Facts(_stated(report, stated))])


def _implementation(report: FiledReport) -> Section:
    del report
    library = ("Library", f"Sourdine {__version__} made this report")
    return Section(
        "Implementation and side channels", [Facts([library, *words.IMPLEMENTED.items()])]
    )


def _access(report: FiledReport) -> Section:
    stated = {"security": "What guards the raw data", "retention": "Kept for"}
    return Section(
        "Data security and access control", [Facts(_stated(report, stated)), Text(words.KEPT)]
    )


def _collection(report: FiledReport) -> Section:
    stated = {
        "data": "The data",
        "collection": "How they were collected",
        "data_source": "Static or dynamic",
        "unprotected": "Published without protection",
        "post_processing": "Done to the releases afterwards",
    }
    return Section(
        "Data collection exposure", [Text(words.COLLECTED), Facts(_stated(report, stated))]
    )


def _checks(report: FiledReport) -> Section:
    rows = [(c.what, "passed" if c.passed else "FAILED", c.found) for c in report.checks]
    return Section("Checks", [TextTable(("check", "result", "what was done"), rows)])


def _sources(report: FiledReport) -> Section:
    stated = {"sources": "Of the owner", "notes": "Notes", "authors": "Filled in by"}
    return Section("Sources", [*map(Text, words.SOURCES), Facts(_stated(report, stated))])


def _stated(report: FiledReport, names: dict[str, str]) -> list[tuple[str, str]]:
    """Return what the owner said under these names, each with its heading."""
    return [(head, report.about.said(name)) for name, head in names.items()]


def _ledger(report: FiledReport) -> str:
    if report.identity is None:
        return "kept in memory"
    return f"{report.ledger}, identity {report.identity}"


def _day(when: str) -> str:
    return f"{when[:10]} {when[11:16]} UTC"
