"""What every statistic is: public parameters that can plan, release and explain.

=============  ==================================================================================
``release``    reads a `Frame`, runs the mechanisms once and returns a `Release`
``cost``       the total guarantee of the call, fixed before any data is read
``error``      what to expect before paying: a bound from public quantities alone
``between``    intervals, from released numbers and public parameters alone
=============  ==================================================================================

The functions a person types (`sourdine.mean` and its kin), a session, the planner and the command
line all build the same object.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sourdine.exact import integer, positive
from sourdine.noise import SYSTEM
from sourdine.privacy import ADD_REMOVE, Guarantee, Relation
from sourdine.release import readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.exact.parameters import Number
    from sourdine.noise import Source
    from sourdine.release import Release
    from sourdine.tally import Frame

__all__ = ["Statistic", "charged"]


@dataclass(frozen=True, kw_only=True)
class Statistic(ABC):
    """A statistic of one column: a frozen dataclass of its public parameters on top of this.

    Parameters
    ----------
    epsilon
        The privacy loss of everything the call releases, in total.
    delta
        The probability with which the loss may pass epsilon; 0 for most.
    relation
        Which data sets are neighbours: ``"add_remove"`` or ``"substitute"``. Substitution fixes
        the number of records; a value may become missing.
    rows
        How many records one person may own; the promise is for the person.
    column
        The column of a frame; None for data that has one column.
    """

    kind: ClassVar[str]

    epsilon: Number
    delta: Number = 0
    relation: Relation | str = ADD_REMOVE
    rows: int = 1
    column: str | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in vars(cls):
            readable(cls.kind, cls)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "relation", Relation.read(self.relation))
        object.__setattr__(self, "rows", integer(self.rows, "rows", least=1))

    @property
    def cost(self) -> Guarantee:
        """The total guarantee."""
        return Guarantee(self.epsilon, self.delta, self.relation)

    @property
    @abstractmethod
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know: a function of the call alone."""

    @abstractmethod
    def release(self, data: Frame, *, source: Source = SYSTEM) -> Release:
        """Draw and publish; what is spent is `cost`."""

    @abstractmethod
    def error(self, beta: Number = 0.05, *, n: int | None = None) -> float:
        """Return what the error passes with probability ``beta`` at most, for ``n`` records."""

    @abstractmethod
    def between(self, release: Release, confidence: Number, of: str) -> tuple[Any, Any]:
        """Return the ends between which the truth lies with probability ``confidence``."""

    @abstractmethod
    def table(self, release: Release) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Return the heads and the rows of a release, as texts."""

    @abstractmethod
    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw a release."""

    def facts(self) -> dict[str, Any]:
        """Return the public parameters as JSON knows them; ``type(self)(**facts)`` rebuilds it."""
        public = {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.init}
        return {"kind": self.kind, **public}

    def __str__(self) -> str:
        return self.kind


def charged(statistic: Statistic, source: Source) -> Guarantee:
    """Return what a release costs: everything, if its randomness can be repeated."""
    return statistic.cost if source.private else Guarantee.none(statistic.cost.relation)


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, Fraction):
        decimal = repr(float(value)) if value.denominator > 1 else str(value)
        return float(value) if Fraction(decimal) == value else str(value)
    if isinstance(value, Relation):
        return value.name.lower()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value
