"""Guarantees, neighbouring relations, composition and budgets.

Numbers are exact rationals; irrational numbers are rounded against the user.

================  ==================================================================================
``accounting``    one (epsilon, delta) for hundreds of answers, certified
``composition``   composition of guarantees: basic, parallel, advanced, and amplification by
                  sampling
``concentrated``  zero-concentrated differential privacy, and its conversion to epsilon and delta
``guarantee``     guarantees: epsilon, delta and the neighbouring relation, and how they are printed
================  ==================================================================================
"""

from sourdine.privacy.accounting import Part
from sourdine.privacy.composition import compose, compose_advanced, group, parallel, poisson
from sourdine.privacy.concentrated import Concentrated
from sourdine.privacy.guarantee import ADD_REMOVE, LOCAL, SUBSTITUTE, Budget, Guarantee, Relation

__all__ = [
    "ADD_REMOVE", "LOCAL", "SUBSTITUTE", "Budget", "Concentrated", "Guarantee", "Part", "Relation",
    "compose", "compose_advanced", "group", "parallel", "poisson",
]  # fmt: skip
