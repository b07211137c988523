"""One row a mechanism: claimed epsilon, exact worst epsilon, worst pair, sampling verdict."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import TYPE_CHECKING

from sourdine.audit.checks import sampled
from sourdine.audit.curves import Passed, Spread, held
from sourdine.audit.exhaustive import Worst, worst_case
from sourdine.audit.sampling import ALPHA

if TYPE_CHECKING:
    from sourdine.mechanisms import Specimen
    from sourdine.privacy import Guarantee

__all__ = ["Row", "audit_row"]


@dataclass(frozen=True, slots=True)
class Row:
    """What the audit found of one mechanism.

    Parameters
    ----------
    name
        Its address.
    claim
        What it promises.
    worst
        The pair of neighbours that it tells apart best.
    weaker
        The same of a copy that spends ``factor`` times what it says.
    factor
        How much weaker that copy is.
    p_value
        How well the draws follow the law.
    spread, curve
        The pairs of neighbours whose losses lie furthest apart, and whose whole curve comes
        highest, beside what the parts of the loss claim.
    seconds
        How long the audit took.
    """

    name: str
    claim: Guarantee
    worst: Worst
    weaker: Worst
    factor: Fraction
    p_value: float
    spread: Spread
    curve: Passed
    seconds: float

    @property
    def reached(self) -> float:
        """The share of the claim that the worst pair reaches."""
        return self.worst.epsilon / float(self.claim.epsilon)

    @property
    def passes(self) -> bool:
        """Whether all claims hold, a weaker copy is caught, and the draws follow the law."""
        caught = not self.weaker.within(self.claim)
        within = self.worst.within(self.claim) and self.spread.holds and self.curve.holds
        return within and caught and self.p_value >= ALPHA


def audit_row(specimen: Specimen, epsilon: Fraction | None = None) -> Row:
    """Audit one mechanism: exactly, against a copy that is too weak, and by its draws.

    Parameters
    ----------
    specimen
        What is audited.
    epsilon
        At which epsilon; the specimen's own if left out.
    """
    begin = perf_counter()
    spent = Fraction(specimen.epsilon if epsilon is None else epsilon)
    mechanism = specimen.make(spent)
    claim = mechanism.guarantee
    spread, curve = held(mechanism, specimen.inputs)
    return Row(
        name=specimen.name,
        claim=claim,
        worst=worst_case(mechanism, specimen.inputs),
        weaker=worst_case(specimen.make(specimen.weaker * spent), specimen.inputs, claim),
        factor=specimen.weaker,
        p_value=min(sampled(mechanism, given, specimen.draws) for given in specimen.inputs[-2:]),
        spread=spread,
        curve=curve,
        seconds=perf_counter() - begin,
    )
