"""A budget: exact, safe under threads, of constant work, and clear when it refuses."""

from __future__ import annotations

import copy
import os
import pickle
import re
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.privacy import ADD_REMOVE, LOCAL, SUBSTITUTE, Budget, Guarantee
from sourdine.privacy.guarantee import added


@pytest.mark.parametrize(("part", "times"), [(Fraction(1, 3), 3), (0.1, 10), (Fraction(1, 7), 7)])
def test_parts_exhaust_exactly(part, times):
    budget = Budget(1)
    for _ in range(times):
        budget.spend(Guarantee(part))
    assert budget.spent == budget.total == Guarantee(1)
    assert budget.remaining == Guarantee(0)
    assert not budget.can_spend(Guarantee(Fraction(1, 10**30)))
    assert budget.can_spend(Guarantee(0))


@pytest.mark.slow
@given(st.lists(st.fractions(0, 1), max_size=30))
def test_never_above_the_total(parts):
    budget, accepted = Budget(1), Fraction(0)
    for part in parts:
        could = budget.can_spend(Guarantee(part))
        try:
            budget.spend(Guarantee(part))
        except BudgetExceededError:
            assert not could
        else:
            assert could
            accepted += part
        assert accepted <= budget.spent.epsilon <= 1
        assert budget.spent.epsilon - accepted < Fraction(1, 1 << 250)


def test_refusal_spends_nothing():
    budget = Budget(1, 1e-6)
    budget.spend(Guarantee(0.5, 1e-7))
    before = budget.spent
    for g in (Guarantee(0.6), Guarantee(0.1, 1e-6), Guarantee.none()):
        with pytest.raises(BudgetExceededError):
            budget.spend(g)
    assert budget.spent == before == Guarantee(0.5, 1e-7)


def test_add_remove_enters_at_twice_its_epsilon():
    budget = Budget(1, 1e-6, SUBSTITUTE)
    charged = budget.spend(Guarantee(0.5, 1e-7, ADD_REMOVE))
    assert charged == Guarantee(0.5, 1e-7, ADD_REMOVE).under(SUBSTITUTE)
    assert budget.spent == charged
    assert budget.remaining.epsilon == 0


def test_a_sum_is_under_the_first_relation():
    spent, asked = Guarantee(1, 1e-6, SUBSTITUTE), Guarantee(0.5, 1e-7, ADD_REMOVE)
    both = added(spent, asked)
    assert both.epsilon == 2
    assert both.delta == spent.delta + asked.under(SUBSTITUTE).delta
    assert both.relation is SUBSTITUTE


def test_other_relations_are_refused():
    for relation, g in [(ADD_REMOVE, SUBSTITUTE), (LOCAL, SUBSTITUTE), (SUBSTITUTE, LOCAL)]:
        guarantee = Guarantee(1, 0, g)
        budget = Budget(9, relation=relation)
        assert not budget.can_spend(guarantee)
        with pytest.raises(ParameterError, match="does not bound"):
            budget.spend(guarantee)
        assert budget.spent.epsilon == 0
    assert Budget(1, relation=LOCAL).spend(Guarantee(1, 0, LOCAL)) == Guarantee(1, 0, LOCAL)


def test_threads_spend_exactly_the_total():
    budget, part = Budget(1), Guarantee(Fraction(1, 1000))

    def worker(_: int) -> int:
        accepted = 0
        for _ in range(150):
            try:
                budget.spend(part)
            except BudgetExceededError:
                continue
            accepted += 1
        return accepted

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(16) as pool:
            assert sum(pool.map(worker, range(16))) == 1000
    finally:
        sys.setswitchinterval(interval)
    assert budget.remaining.epsilon == 0


def primes(limit: int) -> list[int]:
    sieve = np.ones(limit, dtype=bool)
    sieve[:2] = False
    for i in range(2, int(limit**0.5) + 1):
        if sieve[i]:
            sieve[i * i :: i] = False
    return np.flatnonzero(sieve).tolist()


@pytest.mark.slow
def test_work_does_not_grow():
    """The state stays within 257 bits through 100,000 requests with coprime denominators."""
    budget = Budget(4)
    denominators = primes(1_299_710)
    assert len(denominators) == 100_000
    widest = 0
    for p in denominators:
        budget.spend(Guarantee(Fraction(1, p)))
        widest = max(widest, budget.spent.epsilon.denominator.bit_length())
    assert 250 < widest <= 257
    low = Fraction(sum((1 << 320) // p for p in denominators), 1 << 320)
    assert low <= budget.spent.epsilon <= low + Fraction(100_000, 1 << 256)


def test_rounding_never_passes_the_total():
    """An exact sum that ends at the total, through denominators beyond the grid."""
    budget, big = Budget(1), (1 << 300) + 1
    budget.spend(Guarantee(Fraction(big - 1, big)))
    assert budget.spent == Guarantee(1)
    thirds = Budget(Fraction(2, 3))
    thirds.spend(Guarantee(Fraction(2, 3) - Fraction(1, big)))
    assert thirds.spent == thirds.total


def test_budget_cannot_be_copied():
    text = "A budget cannot be copied. Pass the budget itself"
    for copier in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(ParameterTypeError, match=text):
            copier(Budget(1))


def test_repr():
    budget = Budget(1)
    budget.spend(Guarantee(0.25))
    assert repr(budget) == (
        "<Budget: epsilon 0.25, one record added or removed spent of "
        "epsilon 1, one record added or removed>"
    )


def spent(total: Budget, *parts: Guarantee) -> Budget:
    for part in parts:
        total.spend(part)
    return total


THIRD = Guarantee(Fraction(1, 3))


@pytest.mark.parametrize(
    ("budget", "asked", "label", "error", "text"),
    [
        (
            spent(Budget(1), THIRD),
            Guarantee(1),
            "",
            BudgetExceededError,
            "Budget exceeded: requested epsilon=1, 0.666666 of 1 remaining. "
            "Use epsilon=0.666666 or less.",
        ),
        (
            spent(Budget(1, relation=SUBSTITUTE), Guarantee(THIRD.epsilon, 0, SUBSTITUTE)),
            Guarantee(1, 0, ADD_REMOVE),
            "count",
            BudgetExceededError,
            "Budget exceeded by 'count': requested epsilon=2, 0.666666 of 1 remaining. "
            "Use epsilon=0.333333 or less.",
        ),
        (
            Budget(2, 1e-6),
            Guarantee(2, 1e-5),
            "",
            BudgetExceededError,
            "Budget exceeded: requested delta=1e-05, 1e-06 of 1e-06 remaining. "
            "Use delta=1e-6 or less.",
        ),
        (
            Budget(4, 1e-6, SUBSTITUTE),
            Guarantee(1, 1e-6, ADD_REMOVE),
            "",
            BudgetExceededError,
            "Budget exceeded: requested delta=3.71829e-06, 1e-06 of 1e-06 remaining. "
            "Use delta=2.68941e-7 or less.",
        ),
        (
            spent(Budget(1), Guarantee(1)),
            Guarantee(1),
            "",
            BudgetExceededError,
            "Budget exceeded: requested epsilon=1, 0 of 1 remaining. The budget is used up. "
            "A new total on the same data adds to what was spent.",
        ),
        (
            Budget(1),
            Guarantee(0.5, 1e-6),
            "",
            BudgetExceededError,
            "Budget exceeded: requested delta=1e-06, but the total has no delta. Open a "
            "session with delta=1e-06 and reserve=1e-06, or use a method without delta.",
        ),
        (
            Budget(1),
            Guarantee.none(),
            "",
            BudgetExceededError,
            "the cost must be finite, got NOT PRIVATE (epsilon infinite). "
            "Draw from the system's source, not a seeded one.",
        ),
        (
            Budget(1),
            0.5,
            "",
            ParameterTypeError,
            "guarantee must be a Guarantee, got 0.5. Use guarantee=Guarantee(1).",
        ),
    ],
)
def test_refusals(budget, asked, label, error, text):
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        budget.spend(asked, label)


def test_what_the_refusal_says_to_type_is_accepted():
    begun = Guarantee(1, Fraction(1, 3 * 10**6), SUBSTITUTE)
    third = Guarantee(THIRD.epsilon, 0, SUBSTITUTE)
    for asked in (third, Guarantee(1, 0, ADD_REMOVE), Guarantee(0.1, 1e-3, ADD_REMOVE)):
        budget = spent(Budget(Fraction(4, 3), 1e-6, SUBSTITUTE), begun)
        with pytest.raises(BudgetExceededError) as refusal:
            spent(budget, asked, asked, asked)
        if typed := refusal.value.tries:
            given = {"epsilon": asked.epsilon, "delta": asked.delta} | typed
            assert budget.can_spend(Guarantee(**given, relation=asked.relation))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: Budget(0),
            "epsilon must be above 0, got 0. Use a positive number, such as epsilon=1.",
        ),
        (
            lambda: Budget(1, 1),
            "delta must be below 1, got 1. Use delta=0, or less than one over the number of "
            "records.",
        ),
    ],
)
def test_totals(call, text):
    with pytest.raises(ParameterError, match=f"^{re.escape(text)}$"):
        call()


def test_a_fork_cannot_spend():
    budget = Budget(1)
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            budget.spend(Guarantee(1))
            said = "spent"
        except BudgetExceededError as error:
            said = str(error)
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    assert said.startswith("A budget cannot be spent in a forked process.")
    budget.spend(Guarantee(1))
