"""What a ledger is for, what it holds, and what it refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.privacy import protected
from sourdine.release import Release
from sourdine.release.answer import brief

if TYPE_CHECKING:
    from fractions import Fraction

    from sourdine.privacy import Guarantee

__all__ = ["Charge", "Terms"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a ledger is for; fixed when it is opened first.

    Parameters
    ----------
    total
        What may be spent in all, and under which relation.
    unit
        The column that names a person; None if each record is a person.
    rows
        How many records of one person are used.
    name
        What the data are called: the caller's word or a file's name, never a function of what is
        inside. A fingerprint of the data would tell whoever reads the ledger whether a guess at
        them is right.

    Notes
    -----
    The name guards against a mistake, not against a loss: two data sets charged to one ledger
    cost each of them too much, never too little. So a missing name fits every name.
    """

    total: Guarantee
    unit: str | None = None
    rows: int = 1
    name: str | None = None

    @property
    def protected(self) -> str:
        """What the promise is for."""
        return protected(self.unit, self.rows)

    def require(self, given: Terms, where: str) -> None:
        """Refuse other terms than these: the ledger's own rule."""
        mine, yours = self.total, given.total
        checks: tuple[tuple[str, Any, Any], ...] = (
            ("epsilon", mine.exact_epsilon(), yours.exact_epsilon()),
            ("delta", mine.delta, yours.delta),
            ("relation", mine.relation.value, yours.relation.value),
            ("unit", self.unit, given.unit),
            ("rows", self.rows, given.rows),
            ("name", self.name or given.name, given.name or self.name),
        )
        for name, own, other in checks:
            if own != other:
                raise ParameterError(
                    name,
                    f"be {'none' if own is None else own}, as {where} says since it was opened",
                    "none" if other is None else str(other),
                    f"{_HINTS.get(name, 'Leave out' if own is None else 'Type')} {{{name}}}, or "
                    "open another ledger, whose total comes on top of this one.",
                    **{name: LEFT_OUT if own is None else own},
                )


_HINTS = {"name": "If these are the data it was opened for, moved or renamed, type"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One line of a ledger: public facts of a call, written before it ran, and its answer.

    Parameters
    ----------
    number
        1 for the first.
    when
        The time of the call, in UTC, as ISO 8601.
    what
        The statistic and its column.
    mechanism
        What drew the answer.
    parameters
        The public parameters of the call, as JSON.
    cost
        What was charged.
    spent
        What has been charged since the ledger was opened, this call included.
    answer
        What was released for it, as JSON; None where none was kept.
    version
        The version of the library that drew the answer.
    """

    number: int
    when: str
    what: str
    mechanism: str
    parameters: str
    cost: Guarantee
    spent: Guarantee
    answer: str | None = None
    version: str | None = None

    @property
    def release(self) -> Release | None:
        """What was released for it; None where no answer was kept.

        Examples
        --------
        >>> from sourdine.session import Session
        >>> session = Session(range(1000), epsilon=1)
        >>> release = session.count(epsilon=0.5)
        >>> session.history[0].release == release
        True
        """
        return None if self.answer is None else Release.from_json(self.answer)

    @property
    def value(self) -> str:
        """What was released for it, in a few words."""
        try:
            release = self.release
        except ParameterError:
            return "not readable"
        return "none kept" if release is None else brief(release)

    @property
    def epsilon(self) -> Fraction:
        """What was charged, but for delta."""
        return self.cost.exact_epsilon()

    @property
    def delta(self) -> Fraction:
        """The delta that was charged."""
        return self.cost.delta

    def __str__(self) -> str:
        return f"{self.number}  {self.when}  {self.what}  {self.cost}"
