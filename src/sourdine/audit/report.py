"""One row a mechanism: claimed epsilon, exact worst epsilon, worst pair, sampling verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sourdine.audit.checks import EPSILON, WEAKER, sampled
from sourdine.audit.exhaustive import Worst, worst_case
from sourdine.audit.sampling import ALPHA

if TYPE_CHECKING:
    from fractions import Fraction

    from sourdine.mechanisms import Specimen
    from sourdine.privacy import Guarantee

__all__ = ["Row", "audit_row"]


@dataclass(frozen=True, slots=True)
class Row:
    """What the audit found of one mechanism."""

    name: str
    claim: Guarantee
    worst: Worst
    weaker: Worst
    p_value: float

    @property
    def passes(self) -> bool:
        """Whether the claim holds, a weaker copy is caught, and the draws follow the law."""
        caught = not self.weaker.within(self.claim)
        return self.worst.within(self.claim) and caught and self.p_value >= ALPHA


def audit_row(specimen: Specimen, epsilon: Fraction = EPSILON) -> Row:
    """Audit one mechanism: exactly, against a copy 5 % too weak, and by its draws."""
    mechanism = specimen.make(epsilon)
    claim = mechanism.guarantee
    return Row(
        name=specimen.name,
        claim=claim,
        worst=worst_case(mechanism, specimen.inputs),
        weaker=worst_case(specimen.make(WEAKER * epsilon), specimen.inputs, claim),
        p_value=min(sampled(mechanism, given, specimen.draws) for given in specimen.inputs[-2:]),
    )
