"""The mean as a point of the grid: its claim, its law, its error."""

from __future__ import annotations

import pytest

from sourdine.audit import p_value, worst_case
from sourdine.audit.exhaustive import ALPHA
from sourdine.central import GridMean, Mean
from sourdine.noise import SeededSource
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE, Guarantee
from sourdine.privacy.accounting.parts import plain


@pytest.mark.grid(quick=0)
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, SUBSTITUTE])
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("last", [1, 4])
def test_the_grid_mean_keeps_its_claim(neighbours, rows, last):
    mechanism = GridMean(epsilon=1, last=last, relation=neighbours, rows=rows)
    small = [(s, n) for n in range(4) for s in range(2 * last * n + 1)]
    worst = worst_case(mechanism, small)
    assert worst.within(mechanism.guarantee)
    assert worst.epsilon > 0.3


def test_the_grid_mean_reaches_more_than_half_its_claim_but_not_all():
    """One scale for all candidates is safe; with no factor of 2 below it the claim breaks."""
    bold = GridMean(epsilon=2, last=2)
    worst = worst_case(bold, [(s, n) for n in range(5) for s in range(4 * n + 1)])
    assert not worst.within(Guarantee(1, 0, ADD_REMOVE))


@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE])
@pytest.mark.parametrize("missing", ["exclude", "auto"])
def test_the_count_is_part_of_epsilon(relation, missing):
    terms = {"bounds": (0, 10), "step": 1, "relation": relation, "missing": missing}
    asked = Mean(epsilon=1, method="exponential", **terms)
    assert plain(asked.own_parts) == (1, 0)


@pytest.mark.slow
@pytest.mark.parametrize("n", [0, 1, 7])
def test_the_grid_mean_draws_its_law(n):
    mechanism = GridMean(epsilon=3, last=6)
    for doubled in {0, n * 5, 12 * n}:
        x = mechanism.read((doubled, n))
        draws = mechanism.simulate(x, 700, source=SeededSource(n))
        assert p_value(draws, mechanism.law(x)) > ALPHA
        if n == 7:
            other = GridMean(epsilon=1, last=6)
            assert p_value(draws, other.law(x)) < ALPHA


@pytest.mark.parametrize("beta", [0.5, 0.05, 0.001])
def test_the_grid_mean_is_near(beta):
    mechanism = GridMean(epsilon=2, last=40)
    for n in (1, 5, 50):
        half = mechanism.ticks(beta, n)
        for doubled in range(0, 80 * n + 1, max(1, 3 * n // 2)):
            law = mechanism.law((doubled, n))
            cells = range(41)
            far = [abs(doubled / 2 / n - o) > half for o in cells]
            assert law.pmf(list(cells))[far].sum() <= beta * (1 + 1e-9)
