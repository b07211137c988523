"""Statistics in two stages: find a parameter privately, then use it."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from sourdine.central.finding.search import OutwardSearch
from sourdine.errors import ParameterError
from sourdine.exact import rational
from sourdine.mechanisms.mechanism import source_of_keys
from sourdine.parameters.kinds import spelled
from sourdine.parameters.question import plain_parameter
from sourdine.privacy.accounting.parts import widest
from sourdine.privacy.guarantee import shown
from sourdine.results.release import Estimator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.central.statistic import Statistic
    from sourdine.errors import PythonWording
    from sourdine.frames.frame import Frame
    from sourdine.privacy import Part
    from sourdine.results.release import Display, Release

    Drawn = Mapping[str, Any]


# ---- A statistic of which something must be found first, privately, for part of its epsilon ------


@dataclass(frozen=True, kw_only=True)
class TwoStage(Estimator):
    """Find what the question leaves open, then draw the question that is settled.

    Everything drawn is published: what was found, what each part cost (``spent``) and, as
    ``answer``, what the settled question drew with the rest of epsilon.
    """

    question: Statistic
    what: ClassVar[str] = "bounds"
    """What is found."""

    @property
    @abstractmethod
    def like(self) -> Statistic:
        """A settled question of this kind: all that does not depend on what is found."""

    @abstractmethod
    def find(self, data: Frame) -> dict[str, Any]:
        """Return everything that is drawn before the answer."""

    @abstractmethod
    def settled(self, drawn: Drawn) -> Statistic:
        """Return the question with what was found."""

    @abstractmethod
    def costs(self, n: int | None) -> dict[str, Fraction]:
        """Return what each part will cost; for a number of records that is not known, at most."""

    def shares(self, n: int | None) -> str:
        """Return what each part will cost, before anything is paid."""
        parts = self.costs(n)
        return told({**parts, self.question.kind: self.question.epsilon - sum(parts.values())})

    @abstractmethod
    def planned(self, beta: Fraction, n: int | None) -> float:
        """Return the error to expect, in `sourdine.central.Statistic.units`."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """What finding and the answer lose, at most."""

    @abstractmethod
    def check(self) -> None:
        """Refuse early whatever a settled question would refuse."""

    @abstractmethod
    def found(self, drawn: Drawn) -> tuple[str, str]:
        """Return what was found, as a line of a table."""

    @property
    @abstractmethod
    def caveats(self) -> tuple[str, ...]:
        """The caveats: a function of the call alone."""

    @cached_property
    def _estimator(self) -> Estimator:
        return self.like.estimator

    def __str__(self) -> str:
        return f"{self._estimator}, {self.what} found first"

    @property
    def display(self) -> Display:
        own = self.question.display
        return replace(self._estimator.display, title=own.title, protected=own.protected)

    def draw(self, data: Frame) -> dict[str, Any]:
        drawn = self.find(data)
        question = self.settled(drawn)
        drawn["spent"] |= {self.question.kind: plain_parameter(question.epsilon)}
        return {**drawn, "answer": question.estimator.draw(self.rows(data, drawn))}

    def rows(self, data: Frame, drawn: Drawn) -> Frame:
        """Return the rows that the settled question is asked of."""
        return data

    def left(self, drawn: Drawn) -> Fraction:
        parts = spent(drawn)
        return self.question.epsilon - sum(parts[name] for name in PARTS if name in parts)

    def part(self, release: Release) -> Release:
        """Return the answer alone, with what drew it."""
        question = self.settled(release.drawn)
        return replace(
            release, mechanism=question.estimator, drawn=release.drawn["answer"],
            grid=getattr(question, "grid", None),
        )  # fmt: skip

    def value(self, drawn: Drawn) -> Any:
        return self.settled(drawn).estimator.value(drawn["answer"])

    def limits(self, release: Release, beta: float, of: str) -> Any:
        part = self.part(release)
        return part.mechanism.limits(part, beta, of)

    def answered(self, release: Release) -> Release:
        part = self.part(release)
        return part.mechanism.answered(part)

    @property
    def release_kind(self) -> type[Release]:
        return self._estimator.release_kind

    def findings(self, release: Release) -> list[tuple[str, str]]:
        """Return what was found, what each part cost, and what the answer has to say."""
        part = self.part(release)
        lines = [self.found(release.drawn), ("spent", f"epsilon: {told(spent(release.drawn))}")]
        return lines + part.mechanism.findings(part)

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        answer = self.answered(release)
        return answer.mechanism.remarks(answer, words)

    def to_dict(self) -> dict[str, Any]:
        return self.question.to_dict()


PARTS = ("count", "centre", "bounds", "edges", "rows")
"""What finding is paid for, by name."""


def spent(drawn: Drawn) -> dict[str, Fraction]:
    """Return what each part has cost, exactly."""
    return {name: rational(spelled(x), "epsilon") for name, x in drawn["spent"].items()}


def told(parts: Mapping[str, Fraction]) -> str:
    return ", ".join(f"{name} {shown(epsilon)}" for name, epsilon in parts.items())


# ---- How many rows of a person to keep, found privately ------------------------------------------
#
# `OutwardSearch` goes over k = 1, 2, 3, 4, 6, 8, 12, ... for the first that few *people* pass. One
# person, whatever rows they own or come to own, moves all these counts one way and by at most 1,
# under either relation, so a person counts as one record of a search on one side.


SEARCHING = Fraction(3, 10)
MOST = 12
CANDIDATES = (1, *(k << e for e in range(MOST) for k in (2, 3)))


@dataclass(frozen=True, kw_only=True)
class RowsFirst(TwoStage):
    """A statistic for persons, the number of whose rows is sought.

    Examples
    --------
    >>> from sourdine.central import Count
    >>> asked = Count(unit="who", rows="find", epsilon=1).estimator
    >>> asked.candidates[:7], asked.candidates[-1]
    ((1, 2, 3, 4, 6, 8, 12), 6144)
    """

    what: ClassVar[str] = "rows"

    @cached_property
    def like(self) -> Statistic:
        return self._settled(1)

    def check(self) -> None:
        _ = self.like, self.search

    @cached_property
    def candidates(self) -> tuple[int, ...]:
        """How many rows may be found: all but those that the noise of the answer cannot carry."""
        return CANDIDATES[: bisect(CANDIDATES, 0, lo=1, key=self._too_many)]

    def _too_many(self, rows: int) -> int:
        try:
            self._settled(rows)
        except ParameterError:
            return 1
        return 0

    @cached_property
    def search(self) -> OutwardSearch:
        question = self.question
        return OutwardSearch(
            epsilon=question.epsilon * SEARCHING,
            sides=[len(self.candidates)],
            relation=question.relation,
        )

    @property
    def parts(self) -> tuple[Part, ...]:
        """What the search loses, and the answer for whatever number of rows is found."""
        answers = (self._settled(rows).parts for rows in self.candidates)
        return (*self.search.parts, *widest(self.like.cost, *answers))

    def find(self, data: Frame) -> dict[str, Any]:
        """Count the people who own more than each candidate, and search."""
        cells = data.owners(str(self.question.unit), self.candidates)[1:]
        (named,) = self.search.release(cells, source=self.question.source).value
        rows = self.candidates[min(int(named), len(self.candidates) - 1)]
        return {"rows": rows, "spent": {"rows": plain_parameter(self.search.epsilon)}}

    def rows(self, data: Frame, drawn: Mapping[str, Any]) -> Frame:
        needed, keys = data.only(*self.question.needs(data)), source_of_keys(self.question.source)
        return needed.bound(str(self.question.unit), drawn["rows"], source=keys)

    def settled(self, drawn: Mapping[str, Any]) -> Statistic:
        return self._settled(drawn["rows"])

    def _settled(self, rows: int) -> Statistic:
        left = self.question.epsilon * (1 - SEARCHING)
        return self.question.changed(rows=rows, epsilon=left)

    def found(self, drawn: Mapping[str, Any]) -> tuple[str, str]:
        kept = f"at most {drawn['rows']} of each {self.question.unit}"
        return "rows", f"{kept}; about {self.search.target} may have more"

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        whom = self.question.unit
        kept = (
            f"The guarantee is for each {whom}, not each row. The number of rows kept of each was "
            "found privately; intervals do not cover the rows that were dropped."
        )
        rest = tuple(getattr(self._estimator, "caveats", ()))
        return (*(text for text in rest if text not in self.like.person), kept)

    def costs(self, n: int | None) -> dict[str, Fraction]:
        return {"rows": self.search.epsilon}

    def planned(self, beta: Fraction, n: int | None) -> float:
        """Return the error where one row of each person is enough."""
        return self.like.error(beta, n=n)
