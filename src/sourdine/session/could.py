"""Whether a question would be admitted, and if not, what would."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sourdine.central import Describe
from sourdine.errors import BudgetExceededError, SourdineError
from sourdine.privacy import Part
from sourdine.privacy.printing import percent, shown
from sourdine.question import Face
from sourdine.questions import Statistics, named
from sourdine.release import Sheet, Shown
from sourdine.session.accounts import FilterAccount

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sourdine.central import Statistic
    from sourdine.plan import Plan
    from sourdine.question import Question
    from sourdine.session.accounts import Account

__all__ = ["Asking", "Could", "too_many", "too_much"]

NOTHING = "Nothing is left: another total would come on top of this one."


@dataclass(frozen=True, slots=True)
class Could(Shown):
    """Whether a question would be admitted now, and why: true or false, and a sentence.

    Another process may charge the ledger meanwhile; what decides is the call itself.

    Parameters
    ----------
    question
        What would be asked.
    account
        What was spent until now.
    """

    question: Statistic
    account: Account

    @property
    def after(self) -> Account | None:
        """The account after the question; None if it is refused."""
        try:
            return self.account.after(self.question.cost, self.question.parts)
        except BudgetExceededError:
            return None

    @property
    def refusal(self) -> BudgetExceededError | None:
        """The error that asking would raise; None if the question is admitted."""
        try:
            self.account.after(self.question.cost, self.question.parts)
        except BudgetExceededError as refusal:
            return too_much(self.question, self.account) or refusal
        return None

    @property
    def reason(self) -> str:
        """What would be left, or why the question is refused."""
        what = f"{self.question.name} at epsilon {shown(self.question.epsilon)}"
        after = self.after
        if after is None:
            return f"{what}: {self.refusal}"
        if isinstance(after, FilterAccount):
            left = f"{percent(after.filter.remaining)} of {after.filter.whole}"
            return f"{what}: {left} would be left"
        return f"{what}: {after.remaining} would be left"

    @property
    def largest(self) -> Fraction:
        """The largest epsilon with which this very question would be admitted now."""
        return largest(self.question, self.account)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON knows."""
        return {"fits": bool(self), "reason": self.reason, "largest": float(self.largest)}

    def __bool__(self) -> bool:
        return self.after is not None

    def sheet(self) -> Sheet:
        """Return what is printed."""
        return Sheet(notes=[("yes" if self else "no", self.reason)])

    def __repr__(self) -> str:
        return f"<Could: {'yes' if self else 'no'}, {self.reason}>"


class Asking(Statistics[Could]):
    """Every statistic as a method that says whether it would be admitted.

    Parameters
    ----------
    read, checked
        Make a question of what is typed, as the session does; refuse one that it would refuse.
    account
        What was spent until now.
    """

    __slots__ = ("_account", "_checked", "_read")

    describe = Face(Describe)

    def __init__(
        self,
        read: Callable[[type[Question], Mapping[str, Any]], Statistic],
        checked: Callable[[Statistic | Plan], Statistic],
        account: Account,
    ) -> None:
        self._read, self._checked, self._account = read, checked, account

    def __call__(self, question: Statistic | Plan | str, **parameters: Any) -> Could:  # noqa: ANN401
        """Say it of a question, of a plan, or of a statistic by its name."""
        if isinstance(question, str):
            cls = Describe if question == Describe.kind else named(question)
            question = self._read(cls, parameters)
        return Could(self._checked(question), self._account)

    def _ask(self, cls: type[Question], typed: dict[str, Any]) -> Could:
        return self(self._read(cls, typed))


def largest(question: Statistic, account: Account) -> Fraction:
    """Return the largest epsilon, to six digits, with which a question fits; 0 if none does.

    The search is monotone: it halves the step until the price of the question itself, with the
    method and the parts that it has at that epsilon, just fits.
    """

    def at(epsilon: Fraction) -> tuple[Part, ...]:
        try:
            return question.at(epsilon).parts
        except SourdineError:  # too small for its grid
            return (Part.delta(1),)

    return account.largest(at)


def too_much(question: Statistic, account: Account) -> BudgetExceededError | None:
    """Return the refusal of a question's epsilon; None if its delta is refused, or nothing is."""
    if not isinstance(account, FilterAccount):
        return None
    after = account.filter.after(question.parts)
    if after.share <= 1 or after.own_delta > account.filter.reserve:
        return None
    most = largest(question, account)
    left = f"{percent(account.filter.remaining)} left of {account.filter.whole}"
    return BudgetExceededError(
        "epsilon",
        f"be at most {shown(most, up=False)}, the largest that fits into the {left}",
        shown(question.epsilon),
        "Type {epsilon} or less." if most else NOTHING,
        **({"epsilon": most} if most else {}),
    )


def too_many(batch: Sequence[Statistic], account: Account) -> BudgetExceededError | None:
    """Return the refusal of a batch as a whole; None if it is refused for its delta."""
    if isinstance(account, FilterAccount):
        after = account.filter.after(part for question in batch for part in question.parts)
        if after.share <= 1 or after.own_delta > account.filter.reserve:
            return None
        left = f"{percent(account.filter.remaining)} of {account.filter.whole}"
        needed = percent(after.share - account.share, up=True)
    else:
        most = account.largest(lambda _: ())
        epsilon = sum((question.epsilon for question in batch), Fraction(0))
        if epsilon <= most:
            return None
        left, needed = f"epsilon {shown(most, up=False)}", f"epsilon {shown(epsilon)}"
    return BudgetExceededError(
        "the batch",
        f"be at most {left}, what is left",
        needed,
        "Ask for fewer answers, or with smaller epsilons. Nothing was charged.",
    )
