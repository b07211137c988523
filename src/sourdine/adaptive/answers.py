"""What a person gets: a value, the ends between which the truth lies, and what it cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sourdine.results.answer import Answer
from sourdine.results.tables import Columns, Displayable, Sheet

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AdaptiveAnswer(Answer):
    """One answer about the population behind a sample, however it was come by.

    Parameters
    ----------
    value
        What is answered.
    lower, upper
        The truth lies between them, for all answers of one ledger at once, but for its beta.
    bits
        What the answer cost.
    source
        Where it came from: ``"data"``, or ``"hypothesis"`` where the data only nodded.

    Examples
    --------
    >>> answer = AdaptiveAnswer(0.85, 0.8123, 0.8881, 4.4)
    >>> print(answer)
     value        interval
    0.8500  [0.812, 0.889]
    cost  4.4 bits
    >>> f"{answer:.0%}", AdaptiveAnswer.from_json(answer.to_json()) == answer
    ('85%', True)
    """

    value: float
    lower: float
    upper: float
    bits: float
    source: str = "data"

    def columns(self) -> Columns:
        """Return the value and the ends between which the truth lies."""
        lower, upper = [self.lower], [self.upper]
        return Columns(
            labels={}, name="value", values=[self.value], lower=lower, upper=upper, confidence=None
        )

    def notes(self) -> list[tuple[str, str]]:
        """Return what it cost, and where it came from if not from the data."""
        cost = ("cost", counted(f"{self.bits:.3g}", "bit"))
        return [cost] if self.source == "data" else [cost, ("method", self.source)]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> AdaptiveAnswer:
        """Return the answer that `to_dict` wrote."""
        return cls(**facts)


@dataclass(frozen=True, slots=True)
class Certificate(Displayable):
    """What is proved, and on which grounds; never what merely survived attacks.

    Every answer so far, of ``answers``, is within ``halfwidth`` of the truth, but for the chance
    ``beta`` over the draw of the sample; a half-width of 1 or more says nothing.
    """

    halfwidth: float
    beta: float
    answers: int
    grounds: str

    @property
    def claim(self) -> str:
        """What is proved, in a few words."""
        if self.halfwidth >= 1:
            return f"nothing of {self.answers} answers"
        within = f"all {self.answers} answers within {self.halfwidth:.4g} of the truth"
        return f"{within} with probability {1 - self.beta:g}"

    def sheet(self) -> Sheet:
        return Sheet(notes=[("proved", self.claim), ("grounds", self.grounds)])


def counted(figure: object, noun: str) -> str:
    """Return a number and its noun, in the singular or the plural."""
    return f"{figure} {noun}" if str(figure) == "1" else f"{figure} {noun}s"
