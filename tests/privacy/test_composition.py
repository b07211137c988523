"""Sequential, parallel and group composition, and the optimal one for equal promises."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourdine.errors import ParameterError
from sourdine.privacy import (
    ADD_REMOVE,
    LOCAL,
    SUBSTITUTE,
    Guarantee,
    compose,
    compose_advanced,
    group,
    parallel,
)

EPSILONS = st.fractions(0, 5, max_denominator=1000)
DELTAS = st.fractions(0, Fraction(1, 2), max_denominator=1000)
MOVING = st.builds(Guarantee, EPSILONS, DELTAS, st.just(ADD_REMOVE))


def decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


@pytest.mark.slow
@given(MOVING, MOVING, MOVING)
def test_compose_is_associative_and_commutative(a, b, c):
    whole = compose(a, b, c)
    assert whole == compose(a, compose(b, c)) == compose(compose(c, b), a)
    assert whole.epsilon == a.epsilon + b.epsilon + c.epsilon
    assert whole.delta == min(a.delta + b.delta + c.delta, 1)
    assert compose(a) == a


def test_epsilons_and_deltas_are_added():
    whole = compose(Guarantee(0.5, 0.25), Guarantee(1, 0.125), Guarantee(2, 0.5))
    assert whole == Guarantee(3.5, 0.875)
    assert compose(whole, Guarantee(1, 0.5)) == Guarantee(4.5, 1)


def test_advanced_counts_the_delta_of_every_run():
    assert compose_advanced(Guarantee(1, 0.125), 4, 0.5).delta == Fraction(3, 4)
    assert compose_advanced(Guarantee(1, 0.125), 9, 0.5).delta == 1


def test_compose_is_tight():
    """Both answers of two randomised responses true, against both false."""
    with localcontext(prec=60):
        odds = Decimal("0.3").exp() * Decimal("0.7").exp()
        loss = compose(Guarantee(0.3, 0, LOCAL), Guarantee(0.7, 0, LOCAL)).epsilon
        assert abs(odds.ln() - decimal(loss)) < Decimal(10) ** -50


@pytest.mark.slow
@given(st.lists(MOVING, min_size=1, max_size=5))
def test_parallel_is_below_compose(gs):
    assert parallel(*gs).covers(compose(*gs))
    assert all(g.covers(parallel(*gs)) for g in gs)
    assert parallel(*gs).epsilon in {g.epsilon for g in gs}
    assert parallel(*gs).delta in {g.delta for g in gs}


@pytest.mark.slow
@given(st.lists(MOVING, min_size=1, max_size=5))
def test_parallel_covers_every_move(gs):
    total = parallel(*gs, relation=SUBSTITUTE)
    moves = [compose(a, b) for a, b in permutations(gs, 2)] + [group(g, 2) for g in gs]
    assert total.relation is SUBSTITUTE
    assert total.epsilon == max(m.epsilon for m in moves)
    assert total.delta == max(m.delta for m in moves)


def test_parallel_of_local_groups():
    assert parallel(Guarantee(1, 0, LOCAL), Guarantee(2, 0, LOCAL)) == Guarantee(2, 0, LOCAL)


def test_infinite_is_contagious():
    none = Guarantee.none(ADD_REMOVE)
    one = Guarantee(1, 0, ADD_REMOVE)
    assert compose(one, none) == parallel(one, none) == group(none, 3) == none
    assert parallel(one, none, relation=SUBSTITUTE) == Guarantee.none(SUBSTITUTE)
    assert compose_advanced(none, 10, 1e-6) == none


def hockey_stick(epsilon: Decimal, k: int, at: Decimal) -> Decimal:
    """Exact delta of k randomised responses at epsilon ``at``."""
    p = [comb(k, i) * ((k - i) * epsilon).exp() / (1 + epsilon.exp()) ** k for i in range(k + 1)]
    return sum(
        (max(a - at.exp() * b, Decimal(0)) for a, b in zip(p, reversed(p), strict=True)), Decimal(0)
    )


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.fractions(Fraction(1, 100), 4, max_denominator=100),
    st.integers(1, 30),
    st.fractions(Fraction(1, 10**9), Fraction(99, 100)),
)
def test_advanced_is_optimal(epsilon, k, slack):
    g = compose_advanced(Guarantee(epsilon), k, slack)
    with localcontext(prec=60):
        e, s, found = decimal(epsilon), decimal(slack), decimal(g.epsilon)
        assert hockey_stick(e, k, found) <= s * (1 + Decimal(10) ** -40)
        if found:
            assert hockey_stick(e, k, found * (1 - Decimal(10) ** -14)) > s
    assert g.covers(Guarantee(k * epsilon, slack))


@given(st.fractions(Fraction(1, 50), 1, max_denominator=50), st.integers(1, 50))
def test_advanced_rounds_up(epsilon, k):
    """With no slack it is basic composition, to the last digit."""
    assert compose_advanced(Guarantee(epsilon), k, 0) == Guarantee(k * epsilon)


@pytest.mark.slow
@given(DELTAS, st.integers(1, 20), DELTAS)
def test_advanced_delta_is_above_the_theorem(delta, k, slack):
    g = compose_advanced(Guarantee(1, delta), k, slack)
    assert 1 - (1 - delta) ** k * (1 - slack) <= g.delta <= min(k * delta + slack, 1)


@pytest.mark.slow
def test_advanced_beats_basic_for_many():
    g = compose_advanced(Guarantee(0.01), 10_000, 1e-6)
    assert 4.8 < float(g.epsilon) < 4.9
    assert compose_advanced(Guarantee(0), 7, 0.5).epsilon == 0
    assert compose_advanced(Guarantee(1), 7, 1) == Guarantee(0, 1)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            compose,
            "guarantees must hold at least one. Use compose(Guarantee(1)).",
        ),
        (
            lambda: compose(Guarantee(1, 0, SUBSTITUTE), Guarantee(1, 0, ADD_REMOVE)),
            "guarantees must have the same relation, got ADD_REMOVE and SUBSTITUTE. "
            "Use guarantee.under(SUBSTITUTE) for those under ADD_REMOVE.",
        ),
        (
            lambda: compose(Guarantee(1, 0, SUBSTITUTE), Guarantee(1, 0, LOCAL)),
            "guarantees must have the same relation, got LOCAL and SUBSTITUTE. "
            "Account for local and central guarantees separately.",
        ),
        (
            lambda: parallel(Guarantee(1, 0, SUBSTITUTE), Guarantee(1, 0, SUBSTITUTE)),
            "guarantees must hold for one record added or removed, got SUBSTITUTE. "
            "A replaced record may change its group, and so the sizes of two groups. "
            "Use Guarantee(1, relation=ADD_REMOVE) for each group, then parallel(..., "
            "relation=SUBSTITUTE).",
        ),
        (
            lambda: parallel(Guarantee(1, 0, LOCAL), relation=SUBSTITUTE),
            "relation must be LOCAL, got SUBSTITUTE. A guarantee for any two inputs of one person "
            "does not bound one record replaced. "
            "Ask the mechanism for its guarantee under SUBSTITUTE.",
        ),
        (
            lambda: compose_advanced(Guarantee(1), 10_001, 0),
            "times must be at most 10000, got 10001. "
            "Use times=10000, or Concentrated.from_pure(guarantee).times(k).at(delta) for more.",
        ),
    ],
)
def test_texts(call, text):
    with pytest.raises(ParameterError, match=f"^{re.escape(text)}$"):
        call()
