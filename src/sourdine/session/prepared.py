"""Questions as a session asks them: what they cost, how they are refused, how they are drawn."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sourdine.errors import LEFT_OUT, BudgetExceededError
from sourdine.session.accounts import FilterAccount
from sourdine.session.could import too_many, too_much
from sourdine.session.ledger import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.central import Statistic
    from sourdine.release import Release
    from sourdine.session.accounts import Account

__all__ = ["Prepared"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Questions that a session would ask; nothing is charged and nothing read yet.

    Whoever draws must have charged before.

    Parameters
    ----------
    questions
        The questions, with what the session says for all of them.
    by_error
        Whether the only question was asked by its error, and not by its epsilon.
    account
        Returns what was spent until now.
    release
        Reads the data and draws the answer to one question.
    """

    questions: tuple[Statistic, ...]
    by_error: bool
    account: Callable[[], Account]
    release: Callable[[Statistic], Release]

    @property
    def calls(self) -> list[Call]:
        """The public facts of the questions, as a ledger writes them."""
        return [
            Call(
                cost=question.cost,
                parts=question.parts,
                what=question.name,
                mechanism=str(question.drawer),
                parameters=json.dumps(question.to_dict(), ensure_ascii=False),
            )
            for question in self.questions
        ]

    def charged(self, charge: Callable[[Sequence[Call]], T]) -> T:
        """Charge the questions; a refusal is in the words of whoever asked."""
        try:
            return charge(self.calls)
        except BudgetExceededError as refusal:
            raise self._refused(refusal) from None

    def draw(self) -> list[str]:
        """Read the data, draw, and return the answers as JSON."""
        return [self.release(question).to_json() for question in self.questions]

    def _refused(self, refusal: BudgetExceededError) -> BudgetExceededError:
        account = self.account()
        if len(self.questions) > 1:
            return too_many(self.questions, account) or refusal
        if isinstance(account, FilterAccount):
            refusal = too_much(self.questions[0], account) or refusal
        if not self.by_error or "epsilon" not in refusal.tries:
            return refusal
        return refusal.hinting(
            "That is what the {error} needs: ask for a larger one, or leave it out and type "
            "{epsilon} or less.",
            {**refusal.tries, "error": LEFT_OUT},
        )
