"""What a report checks of its ledger: sums recomputed, answers rebuilt."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sourdine import questions
from sourdine.errors import SourdineError
from sourdine.privacy.printing import shown
from sourdine.session.lines import UnreadableError, require_sound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sourdine.session.filing.report import FiledRelease, FiledReport

__all__ = ["Check", "checks"]


@dataclass(frozen=True, slots=True)
class Check:
    """Something that was checked, and what was found.

    Parameters
    ----------
    what
        What must hold.
    passed
        Whether it does.
    found
        What was looked at.
    """

    what: str
    passed: bool
    found: str


def checks(report: FiledReport) -> tuple[Check, ...]:
    """Check a ledger once more, from its lines alone."""
    return _chain(report), _sums(report), _paired(report), _rebuilt(report)


def _chain(report: FiledReport) -> Check:
    found = (
        "the charges were kept in memory: there is no file to check"
        if report.identity is None
        else "read to the end: every line carries a check of all before it, and none is missing"
    )
    return Check("The ledger is whole", passed=True, found=found)


def _sums(report: FiledReport) -> Check:
    return _added(report) if report.terms.filter is None else _priced(report)


def _priced(report: FiledReport) -> Check:
    plain = [replace(charge, answer=None, version=None) for charge in report.charges]
    found = f"priced again from the parts of each loss: {report.spent.told()}"
    try:
        require_sound(report.terms, plain)
    except UnreadableError as error:
        found = str(error)
        passed = False
    else:
        passed = True
    return Check("The prices of the charges are within the total", passed=passed, found=found)


def _added(report: FiledReport) -> Check:
    epsilon = sum(charge.epsilon for charge in report.charges)
    delta = sum(charge.delta for charge in report.charges)
    spent, total = report.account.spent, report.promise
    same = (epsilon, delta) == (spent.exact_epsilon(), spent.delta)
    found = f"added up again, as exact fractions: epsilon {shown(spent.exact_epsilon())}"
    if spent.delta:
        found += f", delta {shown(spent.delta)}"
    return Check(
        "The charges add up to what is reported, within the total",
        passed=bool(same and epsilon <= total.exact_epsilon() and delta <= total.delta),
        found=found,
    )


def _paired(report: FiledReport) -> Check:
    kept = [filed for filed in report.filed if filed.charge.answer is not None]
    wrong = _numbers(filed for filed in kept if not _belongs(filed))
    return Check(
        "Every kept answer belongs to its charge: same question, same cost",
        passed=not wrong,
        found=f"not so for {wrong}" if wrong else _how_many(len(kept), len(report.filed)),
    )


def _belongs(filed: FiledRelease) -> bool:
    charge, release = filed.charge, filed.release
    if release is None:
        return False
    asked, answered = json.loads(charge.parameters), release.mechanism.to_dict()
    return release.cost == charge.cost and (answered == asked or answered == _of_text(asked))


def _of_text(asked: dict[str, Any]) -> dict[str, Any] | None:
    """Return a question as it is asked of a text file, where the number of records is private."""
    try:
        question: Any = questions.read(asked)
    except SourdineError:
        return None
    found: dict[str, Any] = question.of_private_number().to_dict()
    return found


def _rebuilt(report: FiledReport) -> Check:
    kept = [filed for filed in report.filed if filed.charge.answer is not None]
    wrong = _numbers(
        filed
        for filed in kept
        if filed.release is None or filed.release.to_json() != filed.charge.answer
    )
    return Check(
        "Every kept answer follows from the numbers that were drawn",
        passed=not wrong,
        found=f"not so for {wrong}" if wrong else "computed again, equal to the last digit",
    )


def _numbers(filed: Iterable[FiledRelease]) -> str:
    return ", ".join(f"number {each.charge.number}" for each in filed)


def _how_many(kept: int, charges: int) -> str:
    lacking = charges - kept
    return f"{kept} answers to {charges} charges" + (
        f"; {lacking} charged, no answer kept" if lacking else ""
    )
