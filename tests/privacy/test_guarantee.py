"""Relations and guarantees: what is kept, printed, implied and refused."""

from __future__ import annotations

import copy
import json
import math
import pickle
import re
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.privacy import ADD_REMOVE, LOCAL, SUBSTITUTE, Guarantee, Relation
from sourdine.privacy.guarantee import shown

EPSILONS = st.fractions(0, 20, max_denominator=10**6)
DELTAS = st.fractions(0, 1, max_denominator=10**6)
GUARANTEES = st.one_of(
    st.builds(Guarantee, EPSILONS, DELTAS, st.sampled_from(Relation)),
    st.builds(Guarantee.none, st.sampled_from(Relation)),
)


def decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def test_relations_are_described():
    assert [r.description for r in (SUBSTITUTE, ADD_REMOVE, LOCAL)] == [
        "one record replaced",
        "one record added or removed",
        "any two inputs of one person",
    ]


def test_ten_tenths_are_one():
    assert 10 * Guarantee(0.1).epsilon == 1
    assert Guarantee(np.float32(0.1), np.float64(1e-6)) == Guarantee(
        Fraction(1, 10), Decimal("1e-6")
    )


def test_printing():
    assert str(Guarantee(1, 1e-6)) == "epsilon 1, delta 1e-06, one record added or removed"
    assert str(Guarantee(2, relation=SUBSTITUTE)) == "epsilon 2, one record replaced"
    assert str(Guarantee(0.1, relation=LOCAL)) == "epsilon 0.1, any two inputs of one person"
    assert str(Guarantee.none(ADD_REMOVE)) == "NOT PRIVATE (epsilon infinite)"
    assert str(Guarantee(1, 1)) == "NOT PRIVATE (epsilon 1, delta 1, one record added or removed)"


@pytest.mark.slow
@given(st.fractions(0, 10**7))
def test_shown_rounds_up(x):
    low, high = Fraction(shown(x, up=False)), Fraction(shown(x))
    assert low <= x <= high
    assert high - low <= x / 10**5


def test_shown_outside_floats():
    assert shown(Fraction(1, 3 * 10**400)) == "3.33334E-401"
    assert shown(Fraction(10**400)) == "1E+400"


def test_kinds():
    assert Guarantee(1).is_pure
    assert Guarantee(1).is_private
    assert not Guarantee(1, 0.1).is_pure
    assert not Guarantee(1, 1).is_private
    none = Guarantee.none()
    assert none.epsilon == math.inf
    assert not any([none.is_pure, none.is_private, none.is_finite])


@pytest.mark.slow
@given(GUARANTEES)
def test_round_trips(g):
    assert Guarantee.from_dict(json.loads(json.dumps(g.to_dict()))) == g
    assert pickle.loads(pickle.dumps(g)) == copy.deepcopy(g) == g  # noqa: S301
    assert len({g, copy.copy(g)}) == 1


def test_a_larger_delta_covers_nothing_smaller():
    assert not Guarantee(1, 1e-5).covers(Guarantee(1, 1e-6))
    assert Guarantee(1, 1e-6).covers(Guarantee(1, 1e-5))


def test_no_guarantee_is_read_back_as_none():
    empty = Guarantee.from_dict(Guarantee.none(SUBSTITUTE).to_dict())
    assert empty == Guarantee.none(SUBSTITUTE)
    assert not empty.is_finite


@pytest.mark.slow
@given(GUARANTEES, GUARANTEES, GUARANTEES)
def test_covers_is_a_partial_order(a, b, c):
    assert a.covers(a)
    assert not (a.covers(b) and b.covers(a)) or a == b
    assert not (a.covers(b) and b.covers(c)) or a.covers(c)
    assert a.covers(Guarantee.none(a.relation))


@pytest.mark.slow
@given(EPSILONS, EPSILONS, DELTAS, DELTAS)
def test_covers_compares_both_numbers(e, f, d, g):
    assert Guarantee(e, d).covers(Guarantee(f, g)) == (e <= f and d <= g)
    one, other = Guarantee(e, d, SUBSTITUTE), Guarantee(e, d, ADD_REMOVE)
    assert not one.covers(other)
    assert not other.covers(one)


@pytest.mark.slow
@given(EPSILONS, st.fractions(0, Fraction(1, 1000)), st.integers(1, 40))
def test_group_rounds_up(epsilon, delta, k):
    g = Guarantee(epsilon, delta, LOCAL).group(k)
    with localcontext(prec=60):
        true = decimal(delta) * sum((i * decimal(epsilon)).exp() for i in range(k))
        assert (g.epsilon, g.relation) == (k * epsilon, LOCAL)
        assert decimal(g.delta) >= min(true, 1) * (1 - Decimal(10) ** -50)
        assert decimal(g.delta) <= true * (1 + Decimal(10) ** -18)


def test_group_of_huge_epsilon_is_quick():
    assert Guarantee(10**9, 1e-300).group(10**9).delta == 1
    assert Guarantee(10**9).group(10**9).delta == 0


def test_under():
    g = Guarantee(1, 1e-6, ADD_REMOVE).under(SUBSTITUTE)
    assert (g.epsilon, g.relation) == (2, SUBSTITUTE)
    assert 1e-6 * (1 + math.e) == pytest.approx(float(g.delta), rel=1e-14)
    for relation in Relation:
        assert Guarantee(1, 0.1, relation).under(relation) == Guarantee(1, 0.1, relation)
    assert Guarantee.none(ADD_REMOVE).under(SUBSTITUTE) == Guarantee.none(SUBSTITUTE)


def test_under_is_tight():
    """Geometric noise on two cells: a record that moves loses epsilon in each."""
    ratio = (math.exp(-abs(1 - 1)) / math.exp(-abs(1 - 0))) * (
        math.exp(-abs(0 - 0)) / math.exp(-abs(0 - 1))
    )
    assert math.log(ratio) == pytest.approx(
        float(Guarantee(1, 0, ADD_REMOVE).under(SUBSTITUTE).epsilon)
    )


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: Guarantee(-1),
            ParameterError,
            "epsilon must be at least 0, got -1. Use epsilon=0 or more.",
        ),
        (
            lambda: Guarantee(math.inf),
            ParameterError,
            "epsilon must be finite, got inf. Use a number, such as epsilon=1.",
        ),
        (
            lambda: Guarantee(1, 2),
            ParameterError,
            "delta must be from 0 to 1, got 2. Use a probability, such as delta=1e-6.",
        ),
        (
            lambda: Guarantee(1, 0, "removed"),
            ParameterError,
            "relation must be 'substitute', 'add_remove' or 'local', got 'removed'. "
            "Use relation='add_remove'.",
        ),
        (
            lambda: Guarantee(1, 0, 3),
            ParameterTypeError,
            "relation must be a Relation or its name, got 3. Use relation='add_remove'.",
        ),
        (
            lambda: Guarantee(1, 0, np.array(["local"])),  # equal to a name, as arrays compare
            ParameterTypeError,
            "relation must be a Relation or its name, got a value of type ndarray. "
            "Use relation='add_remove'.",
        ),
        (
            lambda: Guarantee.read(1.0),
            ParameterTypeError,
            "guarantee must be a Guarantee, got 1.0. Use guarantee=Guarantee(1).",
        ),
        (
            lambda: Guarantee(1).group(0),
            ParameterError,
            "size must be at least 1, got 0. Use a whole number, such as size=1.",
        ),
        (
            lambda: Guarantee(1, 0, SUBSTITUTE).under(ADD_REMOVE),
            ParameterError,
            "relation must be SUBSTITUTE, got ADD_REMOVE. A guarantee for one record replaced does "
            "not bound one record added or removed. "
            "Ask the mechanism for its guarantee under ADD_REMOVE.",
        ),
        (
            lambda: Guarantee(1, 0, ADD_REMOVE).under(LOCAL),
            ParameterError,
            "relation must be ADD_REMOVE or SUBSTITUTE, got LOCAL. A guarantee for one record "
            "added or removed does not bound any two inputs of one person. "
            "Ask the mechanism for its guarantee under LOCAL.",
        ),
        (
            Guarantee.none().exact_epsilon,
            ParameterError,
            "epsilon must be finite, got NOT PRIVATE (epsilon infinite). "
            "Draw from the system's source, not from a seeded one.",
        ),
    ],
)
def test_texts(call, error, text):
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        call()


def test_any_guarantee_can_be_written_down():
    """Even one whose exact numbers are too long for a file: rounded up, by next to nothing."""
    long = Guarantee(Fraction(1, 3**10000), Fraction(1, 7**9000))
    back = Guarantee.from_dict(long.to_dict())
    assert long.epsilon < back.epsilon < long.epsilon + Fraction(1, 2**2000)
    assert long.delta < back.delta
    assert Guarantee.from_dict(Guarantee(Fraction(1, 3)).to_dict()) == Guarantee(Fraction(1, 3))


def test_relations_may_be_named():
    assert Guarantee(1, 0, "local") == Guarantee(1, 0, LOCAL)
    assert Guarantee(1, 0, "add_remove").under("substitute") == Guarantee(2, 0, SUBSTITUTE)
    assert Guarantee(1, 0, "add_remove").under("add_remove").relation is ADD_REMOVE
