"""What tests ask of a session, here or on a server."""

from __future__ import annotations

from sourdine.session import Call

__all__ = ["AGE", "AGES", "CALLS", "charged"]

AGES = {"age": [20, 30, 40] * 200, "sex": ["f", "m", "f"] * 200, "who": list(range(300)) * 2}
AGE = {"column": "age", "bounds": (0, 120), "step": 1}
CALLS = [
    ("count", {}),
    ("count", {"column": "age", "by": "sex", "keys": ["f", "m"]}),
    ("sum", AGE),
    ("mean", AGE),
    ("mean", {**AGE, "by": "sex", "keys": ["f", "m", "x"]}),
    ("mean", {**AGE, "method": "exponential"}),
    ("variance", AGE),
    ("proportion", {"column": "sex", "category": "f"}),
    ("proportion", {"column": "sex", "category": "f", "n": 600}),
    ("proportion", {"column": "sex", "category": "f", "n": 600, "missing": "exclude"}),
    ("quantiles", {**AGE, "q": [0.25, 0.5, 0.75]}),
    ("quantiles", {**AGE, "q": [0.5], "interval": 0.95}),
    ("quantile", {**AGE, "q": 0.9}),
    ("median", AGE),
    ("histogram", {"column": "age", "bins": 4, "bounds": (0, 120)}),
    ("histogram", {"column": "sex", "categories": ["f", "m"]}),
    ("histogram", {"column": "age", "bins": [0, 25, 120], "by": "sex", "keys": ["f", "m"]}),
]


def charged(ledger, cost, *, what, mechanism="m", parts=None):
    """Charge one call with a cost."""
    call = Call(cost=cost, what=what, mechanism=mechanism, parameters="{}", parts=parts)
    (charge,) = ledger.charge_all([call])
    return charge
