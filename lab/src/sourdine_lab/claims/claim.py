r"""A claim of a document, judged by what is computed.

Each claim has two forms: what is *printed*, and what stands *instead*: the corrected formula where
the printed one is wrong, a rival that must fail where it is right. `check` runs one form and finds
whether it holds, with the number that decides. The verdict follows:

===========  ===================  ===================  =============================
verdict      printed holds        instead holds        instead is
===========  ===================  ===================  =============================
confirmed    yes                  no                   a rival
corrected    no                   yes                  the corrected form
misprint     no                   yes                  what was plainly meant
refuted      no                   yes                  the opposite
===========  ===================  ===================  =============================

Anything else is *undecided*: the check cannot tell the two forms apart. Swapping the forms must
change the verdict; a claim that does not mind is no claim.

A document is judged by its own words, parameters and relation between neighbours: whatever is
called corrected, a misprint or refuted quotes them. Where the document does not say which are
meant, or where the statement is an observation of ours, the claim is marked ``ours`` and its
verdict is *observed* whichever way it goes.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Claim", "Finding", "Instead", "Judged", "Verdict"]

Form = TypeVar("Form")


class Verdict(StrEnum):
    """What became of a claim."""

    CONFIRMED = "confirmed"
    CORRECTED = "corrected"
    MISPRINT = "misprint"
    REFUTED = "refuted"
    OBSERVED = "observed"
    UNDECIDED = "undecided"


class Instead(StrEnum):
    """What the other form of a claim is."""

    RIVAL = "rival"
    CORRECTION = "correction"
    MEANT = "what was meant"
    OPPOSITE = "opposite"


_WRONG = {
    Instead.CORRECTION: Verdict.CORRECTED,
    Instead.MEANT: Verdict.MISPRINT,
    Instead.OPPOSITE: Verdict.REFUTED,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found.

    Parameters
    ----------
    holds
        Does the form hold?
    number
        The number that decides.
    uncertainty
        Its standard error; 0 where it is computed exactly.
    words
        The finding in a line, with the number that it was compared with.
    """

    holds: bool
    number: float
    uncertainty: float = 0.0
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Generic[Form]):
    """One row of the sources.

    Parameters
    ----------
    id
        The row, as ``C5``; where a row says several things, ``C5b``, ``C5c``.
    statement
        The claim in a line.
    printed, instead
        The two forms.
    other
        What the second form is.
    check
        From a form to a finding; the same for both.
    quote
        The document's own words, in its language, as few as decide.
    ours
        The statement is our reading of the document, or our observation, not its words.
    """

    id: str
    statement: str
    printed: Form
    instead: Form
    other: Instead
    check: Callable[[Form], Finding]
    quote: str = ""
    ours: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[CALWS]\d+[a-z]?", self.id):
            raise ParameterError(f"a claim's id must be like C3 or C3b, got {self.id}.")

    @property
    def row(self) -> str:
        """The row of the sources, ``C3`` for ``C3b``."""
        return self.id.rstrip("abcdefghijklmnopqrstuvwxyz")

    def find(self) -> tuple[Finding, Finding]:
        """Run both forms."""
        return self.check(self.printed), self.check(self.instead)

    def exchanged(self) -> Claim[Form]:
        """Return the claim with its two forms in each other's place."""
        return replace(self, printed=self.instead, instead=self.printed)

    def judged(self, printed: Finding, instead: Finding, *, steady: bool = True) -> Judged:
        """Return the verdict on what was found."""
        verdict = _verdict(self.other, printed, instead)
        if self.ours and verdict is not Verdict.UNDECIDED:
            verdict = Verdict.OBSERVED
        return Judged(self, printed, instead, verdict, steady=steady)

    def judge(self, *, twice: bool = False) -> Judged:
        """Run both forms and return the verdict; ``twice``: once more, exchanged."""
        found = self.find()
        steady = not twice or self.exchanged().find() == found[::-1]
        return self.judged(*found, steady=steady)


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with its findings and its verdict.

    ``steady``: the same was found when the two forms were exchanged and run once more.
    """

    claim: Claim[Any]
    printed: Finding
    instead: Finding
    verdict: Verdict
    steady: bool = True

    @property
    def words(self) -> str:
        """What was found of the printed form, and of what stands instead."""
        return f"{self.printed.words}; {self.claim.other.value}: {self.instead.words}"

    @property
    def where(self) -> str:
        """The file and line of the check."""
        line = inspect.getsourcelines(self.claim.check)[1]
        module = self.claim.check.__module__.replace(".", "/")
        return f"lab/src/{module}.py:{line}"

    @property
    def code(self) -> str:
        """The check itself."""
        return inspect.getsource(self.claim.check)

    @property
    def facts(self) -> dict[str, str | float]:
        """The row as JSON knows it."""
        return {
            "id": self.claim.id,
            "verdict": self.verdict.value,
            "statement": self.claim.statement,
            "quote": self.claim.quote,
            "words": self.words,
            "number": self.printed.number,
            "uncertainty": self.printed.uncertainty,
            "where": self.where,
        }

    @property
    def minds_swapping(self) -> bool:
        """Whether the verdict changes when the two forms are exchanged."""
        other = self.claim.other
        exchanged = _verdict(other, self.instead, self.printed)
        return self.steady and exchanged != _verdict(other, self.printed, self.instead)


def _verdict(other: Instead, printed: Finding, instead: Finding) -> Verdict:
    if printed.holds and not instead.holds:
        return Verdict.CONFIRMED if other is Instead.RIVAL else Verdict.UNDECIDED
    if instead.holds and not printed.holds:
        return _WRONG.get(other, Verdict.UNDECIDED)
    return Verdict.UNDECIDED
