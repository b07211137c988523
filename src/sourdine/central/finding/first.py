"""A statistic of which something must be found first, privately, for part of its epsilon."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sourdine.exact import rational
from sourdine.privacy.printing import shown
from sourdine.question.kinds import spelled
from sourdine.question.question import plain_parameter
from sourdine.release import Drawer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.central.statistic import Statistic
    from sourdine.errors import PythonWording
    from sourdine.privacy import Part
    from sourdine.release import Columns, Release
    from sourdine.tally import Frame

    Drawn = Mapping[str, Any]

__all__ = ["FoundFirst"]


@dataclass(frozen=True, kw_only=True)
class FoundFirst(Drawer):
    """Find what the question leaves open, then draw the question that is settled.

    Everything drawn is published: what was found, what each part cost (``spent``) and, as
    ``answer``, what the settled question drew with the rest of epsilon.

    Parameters
    ----------
    question
        The statistic, with the epsilon of the whole.
    """

    question: Statistic

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
    def shares(self, n: int | None) -> str:
        """Return what each part will cost, before anything is paid."""

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
        """What a reader must know: a function of the call alone."""

    @cached_property
    def _drawer(self) -> Drawer:
        return self.like.drawer

    def __str__(self) -> str:
        return f"{self._drawer}, {self.what} found first"

    @property
    @abstractmethod
    def what(self) -> str:
        """What is found."""

    @property
    def head(self) -> str:
        """What the numbers are."""
        return self._drawer.head

    @property
    def shown(self) -> float:
        """The confidence of the intervals that are shown."""
        return self._drawer.shown

    @property
    def title(self) -> str:
        """What stands above a picture."""
        return self.question.title

    @property
    def from_zero(self) -> bool:
        """Whether a picture's axis begins at 0."""
        return self._drawer.from_zero

    @property
    def protected(self) -> str:
        """What the promise is for."""
        return self.question.protected

    @property
    def populations(self) -> bool:
        """Whether there are intervals for the population too."""
        return self._drawer.populations

    @property
    def beside(self) -> tuple[str, ...]:
        """Which intervals are printed beside those of the sample."""
        return self._drawer.beside

    @property
    def intervals(self) -> bool:
        """Whether the values are numbers."""
        return self._drawer.intervals

    @property
    def prints_intervals(self) -> bool:
        """Whether tables, frames and pictures show the intervals."""
        return self._drawer.prints_intervals

    def draw(self, data: Frame) -> dict[str, Any]:
        """Find, settle and draw."""
        drawn = self.find(data)
        question = self.settled(drawn)
        drawn["spent"] |= {self.question.kind: plain_parameter(question.epsilon)}
        return {**drawn, "answer": question.drawer.draw(self.rows(data, drawn))}

    def rows(self, data: Frame, drawn: Drawn) -> Frame:
        """Return the rows that the settled question is asked of."""
        del drawn
        return data

    def left(self, drawn: Drawn) -> Fraction:
        """Return the epsilon that finding has left."""
        parts = drawn["spent"].items()
        spent = (rational(spelled(x), "epsilon") for name, x in parts if name in PARTS)
        return self.question.epsilon - sum(spent, Fraction(0))

    def part(self, release: Release) -> Release:
        """Return the answer alone, with what drew it."""
        question = self.settled(release.drawn)
        return replace(
            release,
            mechanism=question.drawer,
            drawn=release.drawn["answer"],
            grid=getattr(question, "grid", None),
        )

    def value(self, drawn: Drawn) -> Any:  # noqa: ANN401
        """Return the answer's value."""
        return self.settled(drawn).drawer.value(drawn["answer"])

    def limits(self, release: Release, beta: float, of: str) -> Any:  # noqa: ANN401
        """Return the answer's ends."""
        part = self.part(release)
        return part.mechanism.limits(part, beta, of)

    def labels(self, release: Release) -> Mapping[str, Sequence[Any]]:
        """Return what tells the numbers apart."""
        part = self.part(release)
        return part.mechanism.labels(part)

    def answered(self, release: Release) -> Release:
        """Return the answer alone, whatever was found before it."""
        part = self.part(release)
        return part.mechanism.answered(part)

    def columns(self, release: Release) -> Columns:
        """Return the answer's numbers, with labels and the ends that are shown."""
        part = self.part(release)
        return part.mechanism.columns(part)

    def printed(self, release: Release) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the answer's table as it is printed."""
        part = self.part(release)
        return part.mechanism.printed(part)

    @property
    def lead(self) -> int | None:  # type: ignore[override]
        """How many columns begin each part of a table that is cut to a page."""
        return self._drawer.lead

    @property
    def release_kind(self) -> type[Release]:
        """What its releases are: those of the answer."""
        return self._drawer.release_kind

    def difference(self, release: Release, first: object, second: object) -> Release:
        """Return how far one group is above another."""
        part = self.part(release)
        return part.mechanism.difference(part, first, second)

    def findings(self, release: Release) -> list[tuple[str, str]]:
        """Return what was found, what each part cost, and what the answer has to say."""
        part = self.part(release)
        spent = release.drawn["spent"].items()
        told = ", ".join(f"{name} {shown(rational(spelled(x), 'epsilon'))}" for name, x in spent)
        lines = [self.found(release.drawn), ("spent", f"epsilon: {told}")]
        return lines + part.mechanism.findings(part)

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        """Return what the answer suggests to type."""
        part = self.part(release)
        return part.mechanism.remarks(part, words)

    def to_dict(self) -> dict[str, Any]:
        """Return the question."""
        return self.question.to_dict()

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw the answer as it is drawn where nothing is found."""
        part = self.part(release)
        return part.mechanism.plot(part, **options)


PARTS = ("count", "centre", "bounds", "rows")
"""What finding is paid for, by name."""
