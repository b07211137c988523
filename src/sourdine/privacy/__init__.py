"""Guarantees, neighbouring relations, composition and budgets.

Numbers are exact rationals; irrational numbers are rounded against the user.
"""

from sourdine.privacy.accounting import Part
from sourdine.privacy.adversary import Adversary
from sourdine.privacy.budget import Budget, afterwards
from sourdine.privacy.composition import (
    compose,
    compose_advanced,
    group,
    parallel,
    poisson,
    poisson_allowance,
    without_replacement,
    without_replacement_allowance,
)
from sourdine.privacy.concentrated import Concentrated
from sourdine.privacy.guarantee import (
    ADD_REMOVE,
    ALIKE,
    LOCAL,
    SUBSTITUTE,
    Guarantee,
    Relation,
    protected,
)

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
