"""What is promised, between which inputs, and how promises add up.

Numbers are exact rationals; what is irrational is rounded against the user.
"""

from sourdine.privacy.accounting import Part
from sourdine.privacy.advanced import compose_advanced
from sourdine.privacy.adversary import Adversary
from sourdine.privacy.amplification import (
    poisson,
    poisson_allowance,
    without_replacement,
    without_replacement_allowance,
)
from sourdine.privacy.budget import Budget, afterwards
from sourdine.privacy.composition import compose, group, parallel
from sourdine.privacy.concentrated import Concentrated
from sourdine.privacy.guarantee import Guarantee
from sourdine.privacy.relation import ADD_REMOVE, ALIKE, LOCAL, SUBSTITUTE, Relation, protected

__all__ = [
    "ADD_REMOVE",
    "ALIKE",
    "LOCAL",
    "SUBSTITUTE",
    "Adversary",
    "Budget",
    "Concentrated",
    "Guarantee",
    "Part",
    "Relation",
    "afterwards",
    "compose",
    "compose_advanced",
    "group",
    "parallel",
    "poisson",
    "poisson_allowance",
    "protected",
    "without_replacement",
    "without_replacement_allowance",
]
