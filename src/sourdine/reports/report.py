"""`FiledReport`: everything that was released under a ledger, checked."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sourdine import questions
from sourdine.errors import ParameterError, SourdineError
from sourdine.exact import given
from sourdine.privacy import Guarantee
from sourdine.privacy.guarantee import percent, shown
from sourdine.reports import sections as words
from sourdine.reports.about import About
from sourdine.reports.sections import article, markdown, page, sections
from sourdine.results.answer import brief
from sourdine.results.tables import json_text
from sourdine.session.charges import UnreadableError, require_sound
from sourdine.storage.journal import now
from sourdine.version import __version__

if TYPE_CHECKING:
    import os

    from sourdine.reports.sections import Section
    from sourdine.results.release import Release
    from sourdine.session.charges import Account, Charge, Charged, RemainingBudget, Terms, Total
    from sourdine.session.ledger import Ledger


# ---- What a report checks of its ledger: sums recomputed, answers rebuilt ------------------------


@dataclass(frozen=True, slots=True)
class Check:
    """Something that was checked, and what was found."""

    what: str
    """What must hold."""
    passed: bool
    """Whether it does."""
    found: str
    """What was looked at."""


def checks(report: FiledReport) -> tuple[Check, ...]:
    """Check a ledger once more, from its lines alone."""
    sums = _added(report) if report.terms.filter is None else _priced(report)
    return _chain(report), sums, *_answers(report)


def _chain(report: FiledReport) -> Check:
    found = (
        "the charges were kept in memory: there is no file to check"
        if report.identity is None
        else "read to the end: every line carries a check of all before it, and none is missing"
    )
    return Check("The ledger is whole", passed=True, found=found)


def _priced(report: FiledReport) -> Check:
    what = "The prices of the charges are within the total"
    try:
        plain = [replace(charge, answer=None, version=None) for charge in report.charges]
        require_sound(report.terms, plain)
    except UnreadableError as error:
        return Check(what, passed=False, found=str(error))
    found = f"priced again from the parts of each loss: {report.spent.told()}"
    return Check(what, passed=True, found=found)


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


def _answers(report: FiledReport) -> tuple[Check, Check]:
    """Check that the answers which were kept belong to their charges, and can be rebuilt."""
    kept = [filed for filed in report.filed if filed.charge.answer is not None]
    lacking = len(report.filed) - len(kept)
    counts = f"{len(kept)} answers to {len(report.filed)} charges"
    counts += f"; {lacking} charged, no answer kept" if lacking else ""
    changed = [
        filed
        for filed in kept
        if filed.release is None or filed.release.to_json() != filed.charge.answer
    ]
    foreign = [filed for filed in kept if not _belongs(filed)]
    paired = "Every kept answer belongs to its charge: same question, same cost"
    drawn = "Every kept answer follows from the numbers that were drawn"
    again = "computed again, equal to the last digit"
    return _without(paired, foreign, counts), _without(drawn, changed, again)


def _without(what: str, wrong: list[FiledRelease], found: str) -> Check:
    """Return a check that holds unless something is wrong with some releases."""
    numbers = ", ".join(f"number {each.charge.number}" for each in wrong)
    return Check(what, passed=not wrong, found=f"not so for {numbers}" if wrong else found)


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
    found: dict[str, Any] = question.of_private_number.to_dict()
    return found


# ---- A report of everything that was released under a ledger, to be filed ------------------------


ONE_IN_A_MILLION = Fraction(1, 10**6)
ENDINGS = (".html", ".md", ".json")
"""How a report can be written."""


@dataclass(frozen=True, slots=True)
class FiledRelease:
    """A charge with the answer that was kept for it, read back."""

    charge: Charge
    """The line of the ledger."""
    release: Release | None
    """The answer; None where none was kept, or it cannot be read."""

    @classmethod
    def of(cls, charge: Charge) -> FiledRelease:
        """Read the answer of a charge back."""
        try:
            return cls(charge, charge.release)
        except ParameterError:
            return cls(charge, None)

    @property
    def value(self) -> str:
        """The answer in a few words."""
        if self.release is not None:
            return brief(self.release)
        return "none kept" if self.charge.answer is None else "not readable"

    @property
    def state(self) -> str:
        if self.release is not None:
            return "kept"
        return "charged, no answer kept" if self.charge.answer is None else "kept, not readable"


@dataclass(frozen=True, kw_only=True)
class FiledReport:
    """Everything released under one total, what it means and what was checked.

    Parameters
    ----------
    terms
        What the ledger is for.
    charges
        Its lines, with the answers that were kept.
    about
        What the owner of the data adds.
    ledger
        The file's name; None if the charges were kept in memory.
    identity
        What tells this ledger from all others; None if there is no file.
    when
        When the report was made, in UTC.

    Notes
    -----
    *Claim*: a report holds what the ledger holds, and nothing else that depends on the data; names
    and answers reach a page as letters alone. *Checked by* ``test_markup_in_names_stays_letters``.

    Examples
    --------
    >>> import sourdine as sd
    >>> session = sd.Session({"age": [20, 30, 40] * 1000}, epsilon=1)
    >>> release = session.mean(column="age", bounds=(0, 120), step=1, epsilon=0.5)
    >>> report = session.report(about={"title": "Ages", "purpose": "Planning"})
    >>> print(report)
    <FiledReport: Ages, 1 release, 50% spent of epsilon 1, one record added or removed>
    >>> [check.passed for check in report.checks]
    [True, True, True, True]
    >>> print(report.to_markdown().splitlines()[0])
    # Ages: privacy report
    """

    terms: Terms
    charges: tuple[Charge, ...]
    about: About = field(default_factory=About)
    ledger: str | None = None
    identity: str | None = None
    when: str = field(default_factory=now)

    @classmethod
    def of(cls, ledger: Ledger, about: About) -> FiledReport:
        """Return the report of a ledger as it is now."""
        path = getattr(ledger, "path", None)
        return cls(
            terms=ledger.terms, charges=tuple(ledger.history), about=about,
            ledger=path and path.name, identity=ledger.identity,
        )  # fmt: skip

    @cached_property
    def filed(self) -> tuple[FiledRelease, ...]:
        """Every charge with its answer, read back."""
        return tuple(map(FiledRelease.of, self.charges))

    @property
    def account(self) -> Account:
        """What was spent, by the way in which the ledger counts."""
        return self.charges[-1].account if self.charges else self.terms.start

    @property
    def spent(self) -> Guarantee | Charged:
        """What has been charged: a promise, or a share of a total with delta."""
        return self.account.used

    @property
    def remaining(self) -> Guarantee | RemainingBudget:
        """What is left: a promise, or a share of a total with delta."""
        return self.account.remaining

    @property
    def promise(self) -> Guarantee:
        """The total as epsilon and delta; one of rho at a delta of one in a million."""
        total = self.terms.total
        return total if isinstance(total, Guarantee) else total.at(ONE_IN_A_MILLION)

    @property
    def composition(self) -> str:
        """How the charges were admitted, in words."""
        declared = any(charge.declared for charge in self.charges)
        said = words.COMPOSED[self.terms.account]
        return f"{said} {words.DECLARED}" if declared else said

    @property
    def title(self) -> str:
        """What is published: the owner's word, or the data's name."""
        return self.about.title or self.terms.name or "Untitled"

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """What was checked just now, and whether it held."""
        return checks(self)

    def sections(self, *, pictures: bool = True) -> list[Section]:
        """Return what stands in the report, under the headings of NIST SP 800-226."""
        return sections(self, pictures=pictures)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dict for JSON."""
        terms, about = self.terms, self.about
        return {
            "report": "sourdine", "version": __version__, "made": self.when,
            "about": {name: getattr(about, name) or None for name in about.__slots__},
            "ledger": {"name": self.ledger, "identity": self.identity}, "data": terms.name,
            "unit": {"column": terms.unit, "rows": terms.rows, "protected": terms.protected},
            "total": _total(terms.total), "account": terms.account, "spent": self.spent.to_dict(),
            "remaining": self.remaining.to_dict(),
            "releases": [_facts(filed) for filed in self.filed],
            "checks": [{"what": c.what, "passed": c.passed, "found": c.found} for c in self.checks],
        }  # fmt: skip

    def to_json(self) -> str:
        return json_text(self.to_dict())

    def to_markdown(self) -> str:
        """Return the report as Markdown, without pictures."""
        return markdown(f"{self.title}: privacy report", self.sections(pictures=False))

    def to_html(self) -> str:
        """Return the report as one page that needs nothing else."""
        return page(f"{self.title}: privacy report", self.sections())

    def _repr_html_(self) -> str:
        return article(f"{self.title}: privacy report", self.sections())

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file; its ending, html, md or json, says how."""
        write = {".html": self.to_html, ".md": self.to_markdown, ".json": self.to_json}
        text = write[ending(path)]()
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise SourdineError(f"{path} could not be written: {error.strerror}.") from None

    def __repr__(self) -> str:
        releases = "1 release" if len(self.charges) == 1 else f"{len(self.charges)} releases"
        spent = percent(self.account.share, up=True)
        return f"<FiledReport: {self.title}, {releases}, {spent} spent of {self.terms.told()}>"


def _total(total: Total) -> dict[str, str]:
    if isinstance(total, Guarantee):
        return total.to_dict()
    return {"rho": str(total.rho), "relation": total.relation.value}


def ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a report's path, or refuse it."""
    found = Path(path).suffix.lower()
    if found not in ENDINGS:
        raise ParameterError(
            "report", "end in .html, .md or .json", given(str(path)),
            report="report.html")  # fmt: skip
    return found


def _facts(filed: FiledRelease) -> dict[str, Any]:
    charge = filed.charge
    return {
        "number": charge.number, "when": charge.when, "what": charge.what,
        "mechanism": charge.mechanism, "version": charge.version,
        "question": json.loads(charge.parameters), "cost": charge.cost.to_dict(),
        "spent": charge.spent.to_dict(), "state": filed.state, "answer": _answer(filed),
    }  # fmt: skip


def _answer(filed: FiledRelease) -> Any:
    """Return what was kept: as it stands if it cannot be read."""
    answer = filed.charge.answer
    return answer if answer is None or filed.release is None else json.loads(answer)
