"""The outward search: its law by enumeration, its constants, how far it overshoots."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from math import exp, inf, log

import numpy as np
import pytest

from sourdine.audit.exhaustive import worst_case
from sourdine.central.finding.search import OutwardSearch
from sourdine.noise import SeededSource

PLACES = range(7)
"""Up to 3 records: at the centre (0), in three cells upward (1 to 3), in three downward."""


def cells(places):
    return np.bincount(places, minlength=7)[1:]


def law_by_enumeration(search, x, far=400):
    """Add up the noise of one side, value by value."""
    e1, e2 = float(search.threshold_rate), float(search.count_rate)
    (counts,) = search.beyond(x)
    law = np.zeros(len(counts) + 1)
    for rho in range(far):
        left = exp(-e1 * rho) * (1 - exp(-e1))
        for i, n in enumerate(counts.tolist()):
            named = exp(-e2 * max(n - search.target + rho, 0))
            law[i] += left * named
            left *= 1 - named
        law[-1] += left
    return law


@pytest.mark.parametrize("x", [[0, 0, 0], [1, 0, 0], [5, 9, 2], [40, 1, 1]])
def test_the_law_is_that_of_the_noises(x):
    search = OutwardSearch(epsilon=1, sides=[3])
    (law,) = search.law(x).factors
    assert law.pmf(range(4)) == pytest.approx(law_by_enumeration(search, np.array(x)), rel=1e-12)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_all_small_data_sets_reach_the_claim_and_no_more(relation):
    search = OutwardSearch(epsilon=1, sides=[3, 3], relation=relation)
    inputs = [cells(p) for n in range(3) for p in combinations_with_replacement(PLACES, n)]
    inputs += [x + np.array([0, 0, 0, 8, 0, 0]) for x in inputs[:8]]
    worst = worst_case(search, inputs)
    assert worst.epsilon == pytest.approx(1, abs=1e-9)
    assert worst.within(search.guarantee)


def test_a_record_that_crosses_costs_four_thirds():
    """Without the allowance for substitution the loss is 4/3, so 3/4 is what it takes."""
    careless = OutwardSearch(epsilon=1, sides=[2, 2])
    here, there = np.array([1, 0, 8, 0]), np.array([0, 0, 8, 1])
    apart = careless.law(here).divergence(careless.law(there)).value
    assert apart == pytest.approx(4 / 3, abs=1e-9)
    careful = OutwardSearch(epsilon=1, sides=[2, 2], relation="substitute")
    assert careful.adjacent(here, there)
    assert not careless.adjacent(here, there)
    assert careful.rate == careless.rate * 3 / 4


def test_one_side_needs_no_allowance():
    one = OutwardSearch(epsilon=1, sides=[5], relation="substitute")
    assert (one.rate, one.target) == (1, 6)
    two = OutwardSearch(epsilon=1, sides=[5, 5], relation="substitute")
    assert two.target == 8
    several = OutwardSearch(epsilon=1, sides=[5], rows=3)
    assert several.target == 18


def test_neighbours_are_those_of_one_person():
    x = np.array([1, 0, 2])
    for relation, rows in product(("add_remove", "substitute"), (1, 2)):
        search = OutwardSearch(epsilon=1, sides=[3], relation=relation, rows=rows)
        found = {tuple(y.tolist()) for y in search.neighbours(x)}
        every = {
            y
            for y in product(range(5), repeat=3)
            if y != (1, 0, 2) and search.adjacent(x, np.array(y))
        }
        assert found == every


@pytest.mark.parametrize("steps", [1, 2, 6])
def test_how_far_a_search_overshoots(steps):
    search = OutwardSearch(epsilon=0.001, sides=[steps])
    (law,) = search.law([0] * steps).factors
    chance = law.pmf([steps])[0]
    claim = exp(-float(search.threshold_rate) * search.target) * 2 / ((steps + 1) * (steps + 2))
    assert chance == pytest.approx(claim, rel=0.02)
    assert chance <= claim


def test_counts_of_any_size_are_searched():
    search = OutwardSearch(epsilon=1, sides=[2, 1])
    named = search.release([2**60, 2**60, 0], source=SeededSource(1)).value
    assert named[0] == 2
    assert log(float(search.law([0, 0, 0]).pmf([[0, 0]])[0])) > -inf
