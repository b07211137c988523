r"""How many rows of a person to keep, found privately.

`OutwardSearch` goes over k = 1, 2, 3, 4, 6, 8, 12, ... for the first that few *people* pass. One
person, whatever rows they own or come to own, moves all these counts one way and by at most 1,
under either relation, so a person counts as one record of a search on one side.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sourdine.central.finding.first import FoundFirst
from sourdine.central.finding.search import OutwardSearch
from sourdine.errors import ParameterError
from sourdine.privacy.accounting import widest
from sourdine.privacy.printing import shown
from sourdine.question.question import plain_parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.central.statistic import Statistic
    from sourdine.privacy import Part
    from sourdine.tally import Frame

__all__ = ["RowsFirst"]

SEARCHING = Fraction(3, 10)
MOST = 12
CANDIDATES = (1, *(k << e for e in range(MOST) for k in (2, 3)))


@dataclass(frozen=True, kw_only=True)
class RowsFirst(FoundFirst):
    """A statistic for persons, the number of whose rows is sought.

    Examples
    --------
    >>> from sourdine.central import Count
    >>> asked = Count(unit="who", rows="find", epsilon=1).drawer
    >>> asked.candidates[:7], asked.candidates[-1]
    ((1, 2, 3, 4, 6, 8, 12), 6144)
    """

    @property
    def what(self) -> str:
        """What is found."""
        return "rows"

    @cached_property
    def like(self) -> Statistic:
        """The statistic with one row of each person."""
        return self._settled(1)

    def check(self) -> None:
        """Refuse early whatever a settled question would refuse."""
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
        """The search."""
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
        assert self.question.unit is not None  # noqa: S101 - checked at construction
        cells = data.owners(self.question.unit, self.candidates)[1:]
        (named,) = self.search.release(cells, source=self.question.source).value
        rows = self.candidates[min(int(named), len(self.candidates) - 1)]
        return {"rows": rows, "spent": {"rows": plain_parameter(self.search.epsilon)}}

    def rows(self, data: Frame, drawn: Mapping[str, Any]) -> Frame:
        """Return the rows that are kept."""
        question = self.question
        assert question.unit is not None  # noqa: S101 - checked at construction
        needed = data.only(*question.needs(data))
        return needed.bound(question.unit, drawn["rows"], source=question.source)

    def settled(self, drawn: Mapping[str, Any]) -> Statistic:
        """Return the statistic with the rows found and the epsilon left."""
        return self._settled(drawn["rows"])

    def _settled(self, rows: int) -> Statistic:
        left = self.question.epsilon * (1 - SEARCHING)
        return self.question.changed(rows=rows, epsilon=left)

    def found(self, drawn: Mapping[str, Any]) -> tuple[str, str]:
        """Return how many rows of each person were kept."""
        kept = f"at most {drawn['rows']} of each {self.question.unit}"
        return "rows", f"{kept}; some {self.search.target} may own more"

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know."""
        whom = self.question.unit
        kept = (
            f"The promise is for each {whom}, not for each row. How many rows of each are used was "
            "found privately; intervals do not cover what that leaves out."
        )
        rest = tuple(getattr(self._drawer, "caveats", ()))
        return (*(text for text in rest if text not in self.like.person), kept)

    def shares(self, n: int | None) -> str:
        """Return what each part will cost."""
        del n
        rows, left = self.search.epsilon, self.like.epsilon
        return f"rows {shown(rows)}, {self.question.kind} {shown(left)}"

    def planned(self, beta: Fraction, n: int | None) -> float:
        """Return the error where one row of each person is enough."""
        return self.like.error(beta, n=n)
