"""The same statistic for each of several groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import expm1, log1p
from typing import TYPE_CHECKING, Any

import attrs

from sourdine.exact import rational
from sourdine.release import Drawer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.central.statistic import Statistic
    from sourdine.release import Release
    from sourdine.tally import Frame

__all__ = ["ByGroup", "each"]


@dataclass(frozen=True, kw_only=True)
class ByGroup(Drawer):
    r"""A statistic of the rows of each key that the question lists.

    A key that is not in the data gets an ordinary noisy answer; rows with other keys are in none.

    Parameters
    ----------
    question
        The statistic, with the column of groups, their keys and the epsilon of the whole.

    Notes
    -----
    *Claim*: the whole costs what the question says. A record is in one group, so if it is added or
    removed, one group's answer moves and each may spend the whole epsilon. If it is replaced it may
    leave one group and enter another, so each spends half. A person of several rows spends in each
    group in proportion to the rows there, as rows are bounded across all groups first. *Checked by*
    ``test_groups_cost_what_they_say``.

    Examples
    --------
    >>> from sourdine.central import Count
    >>> both = Count(epsilon=1, relation="substitute", by="sex", keys=["f", "m"])
    >>> ByGroup(question=both).part.epsilon
    Fraction(1, 2)
    """

    question: Statistic

    @property
    def keys(self) -> tuple[Any, ...]:
        """The public keys; which of them occur is private."""
        return self.question.keys or ()

    @cached_property
    def part(self) -> Statistic:
        """The statistic of one group, with what it spends."""
        share = Fraction(1, 2) if self.question.substitutes else Fraction(1)
        whole = self.question.of_private_number()
        spent: dict[str, Any] = {"epsilon": whole.epsilon * share}
        if whole.spare:
            spent["delta"] = whole.spare * share
        return attrs.evolve(whole, by=None, keys=None, error=None, **spent)

    def __str__(self) -> str:
        return f"{self.part}, for each of {len(self.keys)} groups of {self.question.by}"

    @property
    def head(self) -> str:
        """What the numbers are."""
        return self.part.head

    @property
    def shown(self) -> float:
        """The confidence of the intervals that are shown."""
        return self.part.shown

    @property
    def title(self) -> str:
        """What stands above a picture."""
        return self.question.title

    @property
    def from_zero(self) -> bool:
        """Whether a picture's axis begins at 0."""
        return self.part.from_zero

    @property
    def protected(self) -> str:
        """What the promise is for."""
        return self.question.protected

    @property
    def populations(self) -> bool:
        """Whether there are intervals for the population too."""
        return self.part.populations

    @property
    def beside(self) -> tuple[str, ...]:
        """Which intervals are printed beside those of the sample."""
        return self.part.beside

    @property
    def intervals(self) -> bool:
        """Whether the values are numbers."""
        return self.part.intervals

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know."""
        together = ("The intervals hold for all groups together.",) if self.intervals else ()
        outside = f"Rows whose {self.question.by} is none of the listed keys are in no group."
        return (*self.part.caveats, outside, *together)

    def draw(self, data: Frame) -> dict[str, Any]:
        """Draw each group's answer."""
        return {
            "groups": [self.part.draw(rows) for rows in data.split(self.question.by, self.keys)]
        }

    def value(self, drawn: Mapping[str, Any]) -> dict[Any, Any]:
        """Return each group's value, by its key."""
        values = map(self.part.value, drawn["groups"])
        return dict(zip(self.keys, values, strict=True))

    def parts(self, release: Release) -> list[Release]:
        """Return a release for each group, with what was drawn for it."""
        return [
            replace(release, value=value, mechanism=self.part, drawn=drawn)
            for value, drawn in zip(release.value.values(), release.drawn["groups"], strict=True)
        ]

    def limits(self, release: Release, beta: float, of: str) -> dict[Any, Any]:
        """Return each group's ends; they hold for all groups together."""
        risk = each(beta, len(self.keys))
        ends = [self.part.limits(part, risk, of) for part in self.parts(release)]
        return dict(zip(self.keys, ends, strict=True))

    def labels(self, release: Release) -> dict[str, Sequence[Any]]:
        """Return the key of each number, and what tells the numbers of one group apart."""
        own = [dict(self.part.labels(part)) for part in self.parts(release)]
        sizes = [max((len(column) for column in labels.values()), default=1) for labels in own]
        keys = [key for key, size in zip(self.keys, sizes, strict=True) for _ in range(size)]
        rest = {head: [x for labels in own for x in labels[head]] for head in own[0]}
        return {str(self.question.by): keys, **rest}

    def to_dict(self) -> dict[str, Any]:
        """Return the question."""
        return self.question.to_dict()

    def difference(self, release: Release, first: object, second: object) -> Release:
        """Return how far one group is above another."""
        from sourdine.central.differences import difference  # noqa: PLC0415 - it is of groups

        return difference(release, first, second)

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw a dot with its interval for each group."""
        from sourdine.presentation import figures  # noqa: PLC0415 - matplotlib is loaded there, late

        return figures.dots(release, **options)


def each(beta: float, m: int) -> float:
    """Return the risk of each of ``m`` independent answers that adds up to ``beta``."""
    return float(rational(-expm1(log1p(-beta) / m), "beta")) if beta < 1 else 1.0
