"""Exact numbers: parameters as rationals, and reals known to any precision.

Everything above reads its parameters here (a float means the decimal it prints) and compares
random bits with the reals defined here, so no rounding enters a privacy guarantee.
"""

from sourdine.exact.parameters import (
    at_least,
    flag,
    fraction,
    given,
    integer,
    kind,
    listed,
    number,
    one_of,
    positive,
    probability,
    rational,
)
from sourdine.exact.reals import Real, exp_neg

__all__ = [
    "Real",
    "at_least",
    "exp_neg",
    "flag",
    "fraction",
    "given",
    "integer",
    "kind",
    "listed",
    "number",
    "one_of",
    "positive",
    "probability",
    "rational",
]
