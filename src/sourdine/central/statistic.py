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
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from sourdine.errors import ParameterError
from sourdine.exact import integer, positive, probability
from sourdine.look.numbers import row
from sourdine.noise import SYSTEM
from sourdine.privacy import ADD_REMOVE, LOCAL, SUBSTITUTE, Guarantee, Relation
from sourdine.release import SHOWN, readable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.exact.parameters import Number
    from sourdine.noise import Source
    from sourdine.release import Release
    from sourdine.tally import Frame

__all__ = ["Statistic", "charged", "no_population", "public_n"]


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
        relation = Relation.read(self.relation)
        if relation is LOCAL:
            raise ParameterError(
                "relation must be 'add_remove' or 'substitute', got 'local'. "
                "Type relation='add_remove'."
            )
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability(self.delta, "delta"))
        object.__setattr__(self, "relation", relation)
        object.__setattr__(self, "rows", integer(self.rows, "rows", least=1))

    @cached_property
    def cost(self) -> Guarantee:
        """The total guarantee."""
        return Guarantee(self.epsilon, self.delta, self.relation)

    @property
    def substitutes(self) -> bool:
        """Whether the number of records is fixed."""
        return self.relation is SUBSTITUTE

    @property
    @abstractmethod
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know: a function of the call alone."""

    @property
    def person(self) -> tuple[str, ...]:
        """The caveat on whom the promise is for, where a person may own several records."""
        if self.rows == 1:
            return ()
        return (f"The promise is for a person, with at most {self.rows} records.",)

    @property
    def known(self) -> bool:
        """Whether the statistic takes the number of records for public."""
        return False

    def of_private_number(self) -> Statistic:
        """Return the statistic for rows whose number is private: a group's, or those kept."""
        if not self.known:
            return self
        public: dict[str, Any] = {"n": None} if hasattr(self, "n") else {}
        return replace(self, **public, missing="exclude")  # type: ignore[call-arg]

    @abstractmethod
    def release(self, data: Frame, *, source: Source = SYSTEM) -> Release:
        """Draw and publish; what is spent is `cost`."""

    @abstractmethod
    def error(self, beta: Number = 0.05, *, n: int | None = None) -> float:
        """Return what the error passes with probability ``beta`` at most, for ``n`` records."""

    @abstractmethod
    def between(self, release: Release, confidence: Number, of: str) -> Any:  # noqa: ANN401
        """Return the ends between which the truth lies with probability ``confidence``."""

    def table(
        self, release: Release, confidence: Number = SHOWN
    ) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Return the heads and the rows of a release, as texts, with intervals."""
        ends = self.between(release, confidence, "sample")
        return (self.kind, *END_HEADS), [row(release.value, ends)]

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw a release: a dot with its interval."""
        from sourdine.look import figures  # noqa: PLC0415 - matplotlib is loaded there, late

        return figures.dots({self.kind: release.value}, release, **options)

    def restore(self, value: Any, drawn: Mapping[str, Any]) -> Any:  # noqa: ANN401, ARG002
        """Return the value that `Release.to_json` wrote, with the types it had."""
        return value

    def facts(self) -> dict[str, Any]:
        """Return the public parameters as JSON knows them; ``type(self)(**facts)`` rebuilds it."""
        public = {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.init}
        return {"kind": self.kind, **public}

    @property
    def how(self) -> str:
        """What draws it, in a few words."""
        return "discrete Laplace noise"

    def __str__(self) -> str:
        return f"{self.kind}, {self.how}"


END_HEADS = ("from (95 %)", "to (95 %)")


def charged(statistic: Statistic, source: Source) -> Guarantee:
    """Return what a release costs: everything, if its randomness can be repeated."""
    return statistic.cost if source.private else Guarantee.none(statistic.cost.relation)


def no_population(kind: str, of: str) -> None:
    """Refuse a population for numbers that grow with the sample."""
    if of != "sample":
        raise ParameterError(
            f"of must be 'sample' for a {kind}, got {of!r}: it depends on how many were asked. "
            f"Ask sourdine.mean or sourdine.proportion for the population."
        )


def public_n(n: object, kind: str) -> int:
    """Return the public number of records, where an error depends on it."""
    if n is None:
        raise ParameterError(
            f"n must be a number for the error of a {kind}, got None. "
            f"Type about how many records you expect, from public knowledge, as n=1000."
        )
    return integer(n, "n", least=1)


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, Fraction):
        return _number(value)
    if isinstance(value, Relation):
        return value.value
    if isinstance(value, Statistic):
        return value.facts()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    plain = value.item() if hasattr(value, "item") else value
    return plain if plain is None or isinstance(plain, (bool, int, float, str)) else str(plain)


def _number(x: Fraction) -> int | float | str:
    """Return the number that prints as ``x``, or ``x`` as a text."""
    if x.denominator == 1:
        return int(x)
    return float(x) if Fraction(repr(float(x))) == x else str(x)
