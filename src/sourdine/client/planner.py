"""Plans for a session on a server: it reads the question, the errors are computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.plan import Planner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sourdine.central import Statistic
    from sourdine.plan import Plan
    from sourdine.privacy.accounting import Filter
    from sourdine.question import Question
    from sourdine.session import Terms

__all__ = ["RemotePlanner"]


class RemotePlanner(Planner):
    """Every statistic as a method that plans it with what a server's data set has left.

    Parameters
    ----------
    remaining
        What is left: epsilon, or a filter.
    terms
        What the data set's ledger is for.
    read
        Has the server read what was typed, with what its owner says of the columns.
    """

    __slots__ = ("_read",)

    def __init__(
        self,
        remaining: Any,  # noqa: ANN401 - as in a planner
        terms: Terms,
        read: Callable[[type[Question], Mapping[str, Any]], Statistic],
    ) -> None:
        room: Filter | Any = remaining
        super().__init__(room, relation=terms.total.relation, unit=terms.unit, rows=terms.rows)
        self._read = read

    def _ask(self, cls: type[Question], typed: dict[str, Any]) -> Plan:
        return self.ask(self._read(cls, typed))
