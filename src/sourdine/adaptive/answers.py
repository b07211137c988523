"""What a person gets: a value, the ends between which the truth lies, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Answer", "Certificate"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer about the population behind a sample.

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
    """

    value: float
    lower: float
    upper: float
    bits: float
    source: str = "data"

    def __str__(self) -> str:
        ends = f"between {self.lower:.4g} and {self.upper:.4g}"
        return f"{self.value:.4g}, {ends}, {self.bits:.3g} bits"


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is proved, and on which grounds; never what merely survived attacks.

    Parameters
    ----------
    halfwidth
        Every answer so far is within this of the truth; 1 or more says nothing.
    beta
        But for this chance, over the draw of the sample.
    answers
        How many answers it speaks of.
    grounds
        The theorem and its assumptions, in a sentence.
    """

    halfwidth: float
    beta: float
    answers: int
    grounds: str

    def __str__(self) -> str:
        if self.halfwidth >= 1:
            return f"nothing is proved of {self.answers} answers: {self.grounds}"
        return (
            f"all {self.answers} answers within {self.halfwidth:.4g} of the truth with probability "
            f"{1 - self.beta:g}: {self.grounds}"
        )
