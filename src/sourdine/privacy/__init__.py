"""What is promised, between which inputs, and how promises add up.

Numbers are exact rationals; what is irrational is rounded against the user.

================  ==================================================================================
``accounting``    one (epsilon, delta) for hundreds of answers, certified
``adversary``     what a promise leaves to somebody who wants to know about one person
``budget``        a total that nobody can overspend: the rule of every charge, and a budget in
                  memory
``composition``   composition of guarantees: basic, parallel, advanced, and amplification by
                  sampling
``concentrated``  zero-concentrated differential privacy, and its conversion to epsilon and delta
``guarantee``     guarantees: epsilon, delta and the neighbouring relation, and how they are printed
================  ==================================================================================
"""

from sourdine.privacy.accounting import Part
from sourdine.privacy.adversary import Adversary
from sourdine.privacy.budget import Budget
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
from sourdine.privacy.guarantee import ADD_REMOVE, LOCAL, SUBSTITUTE, Guarantee, Relation

__all__ = [
    "ADD_REMOVE",
    "LOCAL",
    "SUBSTITUTE",
    "Adversary",
    "Budget",
    "Concentrated",
    "Guarantee",
    "Part",
    "Relation",
    "compose",
    "compose_advanced",
    "group",
    "parallel",
    "poisson",
    "poisson_allowance",
    "without_replacement",
    "without_replacement_allowance",
]
