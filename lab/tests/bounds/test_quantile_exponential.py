"""Row A6: epsilon for an accuracy target."""

from __future__ import annotations

from math import inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourdine.errors import ParameterError
from sourdine_lab import bounds as b


def rank_law(ticks, size, q, epsilon):
    """Return the rank errors of all answers 0 .. size - 1 on a grid, and their probabilities."""
    grid = np.arange(size)
    below = np.searchsorted(np.sort(ticks), grid, "left")
    at_most = np.searchsorted(np.sort(ticks), grid, "right")
    target = q * len(ticks)
    errors = np.maximum(0, np.maximum(below - target, target - at_most))
    weights = np.exp(-epsilon / 2 * errors)
    return errors, weights / weights.sum()


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=60),
    st.floats(0.05, 0.95),
    st.sampled_from([0.1, 1.0, 5.0]),
    st.sampled_from([0.01, 0.2, 0.7]),
)
def test_rank_error_holds(ticks, q, epsilon, beta):
    """On every data set, with ties, by the exact law."""
    errors, law = rank_law(ticks, 41, q, epsilon)
    bound = b.rank_error(epsilon, b.spread((0, 40), step=1), beta)
    assert law[errors >= bound * (1 + 1e-9)].sum() <= beta + 1e-12


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=60),
    st.floats(0.05, 0.95),
    st.sampled_from([0.1, 1.0, 5.0]),
)
def test_rank_error_of_a_law_that_spreads_ties(ticks, q, epsilon):
    counts = np.bincount(ticks, minlength=21)
    below, target = np.cumsum(counts) - counts, q * len(ticks)
    weights = np.array(
        [
            np.exp(-epsilon / 2 * np.abs(np.arange(low, low + f + 1) - target)).mean()
            for low, f in zip(below, counts, strict=True)
        ]
    )
    errors = np.maximum(0, np.maximum(below - target, target - below - counts))
    holds = (below <= target) & (target <= below + counts)
    more = 2 * log(counts[holds].max() + 1) / epsilon + 0.5
    bound = b.rank_error(epsilon, b.spread((0, 20), step=1), 0.2) + more
    assert weights[errors >= bound * (1 + 1e-9)].sum() / weights.sum() <= 0.2 + 1e-12


def test_rank_error_is_nearly_reached():
    """All values equal: every other answer is as wrong as can be."""
    n, size, beta = 30, 1001, 0.05
    errors, law = rank_law(np.repeat(500, n), size, 0.5, b.rank_epsilon(n / 2, size - 1, beta))
    assert 0.95 * beta < law[errors >= n / 2].sum() <= beta


def test_error_and_epsilon_are_inverse():
    assert b.rank_epsilon(b.rank_error(0.7, 1e5, 0.01), 1e5, 0.01) == pytest.approx(0.7)


def test_figure_7():
    """Printed .99; the formula gives about .375; by the law .094 is enough."""
    rng = np.random.default_rng(7)
    sets = rng.uniform(0, 200, (200, 1000))
    formula = b.rank_epsilon(100, b.spread((0, 200), step=2**-13), 0.01)
    assert formula == pytest.approx(0.375, abs=0.005)
    gaps = [b.rank_epsilon(100, b.spread_printed(x, (0, 200)), 0.01) for x in sets]
    assert np.median(gaps) == pytest.approx(0.375, abs=0.005)
    exact = b.exact_epsilon(sets, 0.5, (0, 200), error=20, beta=0.01)
    assert exact == pytest.approx(0.094, abs=0.001)
    for epsilon, enough in (
        (0.99, True),
        (formula, True),
        (1.001 * exact, True),
        (0.9 * exact, False),
    ):
        missed = b.exact_miss(sets, 0.5, (0, 200), epsilon=epsilon, error=20)
        assert (missed < 0.01) == enough
    evenly = (np.arange(1000) + 0.5) / 5
    assert b.exact_epsilon(evenly, 0.5, (0, 200), error=20, beta=0.01) == pytest.approx(
        log(100) / 50, abs=1e-4
    )


def test_exact_miss_is_that_of_draws():
    rng = np.random.default_rng(8)
    x = np.sort(rng.uniform(0, 1, 40))
    edges = np.concatenate(([0], x, [1]))
    q, epsilon, runs = 0.3, 0.5, 200_000
    weights = np.diff(edges) * np.exp(-epsilon / 2 * np.abs(np.arange(41) - q * 40))
    gap = rng.choice(41, runs, p=weights / weights.sum())
    draws = rng.uniform(edges[gap], edges[gap + 1])
    for error in (0.02, 0.1, 0.3):
        drawn = (np.abs(draws - np.quantile(x, q)) > error).mean()
        exact = b.exact_miss(x, q, (0, 1), epsilon=epsilon, error=error)
        assert abs(drawn - exact) < 6 * np.sqrt(exact * (1 - exact) / runs)


def test_values_outside_ties_and_impossible_targets():
    assert b.exact_miss([5] * 10, 0.5, (0, 10), epsilon=1, error=0.1) > 0.9  # gaps have no ties
    assert b.exact_epsilon([5] * 10, 0.5, (0, 10), error=0.1) == inf
    clamped = b.exact_miss([-9, 1, 99], 0.5, (0, 10), epsilon=1, error=2)
    assert clamped == b.exact_miss([0, 1, 10], 0.5, (0, 10), epsilon=1, error=2)


def test_the_printed_spread_is_read_off_the_data():
    assert b.spread_printed([1, 2, 2, 3], (0, 10)) == inf
    near, far = ([1, 2, 3, x] for x in (3.001, 5))
    assert b.spread_printed(near, (0, 10)) > 1000 * b.spread_printed(far, (0, 10)) / 1.01


def test_refusals():
    with pytest.raises(ParameterError, match="step must be above 0"):
        b.spread((0, 1), step=0)
    with pytest.raises(ParameterError, match="rank must be above 0"):
        b.rank_epsilon(0, 10)
