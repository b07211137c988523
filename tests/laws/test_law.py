"""Laws against plain sums over every cell."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, log, tanh

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourdine.errors import ParameterError
from sourdine.laws import Law, Pieces, Tail
from sourdine.noise import SeededSource

CELLS = np.arange(-700, 701)


def laplace(x: int, scale: Fraction | int) -> Law:
    tail = Tail.geometric(-float(1 / Fraction(scale)), 1 / Fraction(scale))
    return Law.of([x], [1], [0.0], [0.0], left=tail, right=tail)


@st.composite
def laws(draw):
    """Random laws: up to five pieces, with gaps, with or without tails."""
    count = draw(st.integers(1, 5))
    gaps = draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
    length = draw(st.lists(st.integers(1, 30), min_size=count, max_size=count))
    start = np.cumsum(np.array(gaps) + np.concatenate(([0], length[:-1]))) + draw(
        st.integers(-9, 9)
    )
    weight = draw(st.lists(st.floats(-6, 6), min_size=count, max_size=count))
    slope = draw(st.lists(st.sampled_from([0.0, -0.4, 0.3, 1e-9]), min_size=count, max_size=count))
    tails = [_tail(draw) if draw(st.booleans()) else None for _ in range(2)]
    return Law.of(start, length, weight, slope, left=tails[0], right=tails[1])


def _tail(draw):
    decay = draw(st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3)]))
    if draw(st.booleans()):
        return Tail.geometric(draw(st.floats(-5, 5)), decay)
    steps = Pieces(np.array([0, 2]), np.array([2, 3]), np.array([0.0, -0.7]), np.zeros(2))
    return Tail(steps, decay)


@given(laws())
def test_mass_cdf_and_moments_are_those_of_the_cells(law):
    pmf = law.pmf(CELLS)
    assert pmf.sum() == pytest.approx(1, abs=1e-12)
    assert law.cdf(CELLS) == pytest.approx(np.cumsum(pmf), abs=1e-12)
    mean = pmf @ CELLS
    assert law.mean() == pytest.approx(mean, abs=1e-9)
    assert law.variance() == pytest.approx(pmf @ (CELLS - mean) ** 2, rel=1e-9, abs=1e-9)
    assert law.expectation_abs(3) == pytest.approx(pmf @ np.abs(CELLS - 3), rel=1e-9)


@given(laws(), st.lists(st.floats(0.001, 0.999), min_size=1, max_size=20))
def test_quantile_is_the_least_cell_that_reaches(law, q):
    x = law.quantile(q)
    assert (law.cdf(x) >= np.array(q) - 1e-12).all()
    assert (law.cdf(x - 1) <= np.array(q) + 1e-12).all()
    assert (law.pmf(x) > 0).all()


@settings(max_examples=200)
@given(laws(), laws(), st.floats(0, 3))
def test_comparisons_are_those_of_the_cells(p, q, epsilon):
    a, b = p.pmf(CELLS), q.pmf(CELLS)
    stick = p.hockey_stick(q, epsilon)
    by_cells = np.maximum(a - exp(epsilon) * b, 0).sum()
    assert stick.value == pytest.approx(by_cells, abs=1e-11)
    assert stick.value <= stick.upper <= stick.value + 1e-9
    assert p.total_variation(q).value == pytest.approx(np.abs(a - b).sum() / 2, abs=1e-11)
    seen = (a > 1e-250) & (b > 1e-250)
    ratios = np.log(a[seen]) - np.log(b[seen])
    found = p.divergence(q)
    if ((a > 0) & (b == 0) & (np.abs(CELLS) < 200)).any():
        assert found.upper == inf
    elif found.value < inf:
        assert found.value == pytest.approx(ratios.max(), abs=1e-9)
        assert found.value <= found.upper <= found.value + 1e-9
        at = p.log_pmf([found.at]) - q.log_pmf([found.at])
        assert at[0] == pytest.approx(found.value, abs=1e-9)
    else:
        assert _heavier(p.left, q.left) or _heavier(p.right, q.right)


def _heavier(p, q):
    return p is not None and (q is None or p.rate < q.rate)


def test_laplace_closed_forms():
    for scale in (Fraction(1, 3), 1, 17, 10**9):
        t = float(scale)
        law = laplace(0, scale)
        assert law.pmf([0])[0] == pytest.approx(tanh(1 / (2 * t)), rel=1e-12)
        assert law.variance() == pytest.approx(1 / (2 * np.sinh(1 / (2 * t)) ** 2), rel=1e-9)
        assert law.divergence(laplace(5, scale)).value == pytest.approx(5 / t, rel=1e-12)


def test_a_thousand_million_cells_cost_one_piece():
    law = Law.of([0, 10**9], [10**9, 10**9], [0.0, 0.0], [0.0, -1e-9])
    assert len(law.pieces.start) == 2
    heavy = 1 / (1 + (1 - exp(-1.0)))
    assert law.cdf([10**9 - 1])[0] == pytest.approx(heavy, rel=1e-9)
    assert law.quantile(heavy / 2) == pytest.approx(5 * 10**8, abs=1)


def test_parallel_tails_are_compared_for_ever():
    far = laplace(0, 2).divergence(laplace(10**6, 2))
    assert far.value == 5 * 10**5
    assert laplace(0, 3).divergence(laplace(0, 2)).upper == inf  # the heavier tail wins somewhere
    assert laplace(0, 2).divergence(laplace(0, 3)).upper == pytest.approx(
        log(tanh(0.25) / tanh(1 / 6))
    )


def test_undescribed_mass_counts_against_the_claim():
    cells = np.arange(-8, 9)
    law = Law.of(cells, np.ones_like(cells), -(cells**2) / 2, np.zeros(17), log_beyond=log(1e-10))
    assert law.beyond == pytest.approx(1e-10 / 2.5066, rel=1e-3)
    other = Law.of(cells + 1, np.ones_like(cells), -(cells**2) / 2, np.zeros(17))
    assert law.divergence(other).upper == inf
    stick = law.hockey_stick(other, 1)
    assert stick.upper - stick.value >= law.beyond


def test_errors_of_the_weights_widen_the_upper_end():
    exact, rough = Law.finite([0.0, -1.0]), Law.finite([0.0, -1.0], error=1e-3)
    uniform = Law.finite([0.0, 0.0])
    assert exact.divergence(uniform).upper - exact.divergence(uniform).value < 1e-12
    assert rough.divergence(uniform).upper - rough.divergence(uniform).value >= 1e-3


def test_mixture():
    parts = [laplace(0, 2), laplace(7, 2)]
    mixed = Law.mixture([0.25, 0.75], parts)
    by_cells = 0.25 * parts[0].pmf(CELLS) + 0.75 * parts[1].pmf(CELLS)
    assert mixed.pmf(CELLS) == pytest.approx(by_cells, rel=1e-12)
    assert mixed.divergence(parts[0]).value == pytest.approx(log(0.25 + 0.75 * exp(3.5)), rel=1e-12)
    with pytest.raises(ParameterError, match="tails in a mixture must be geometric with one decay"):
        Law.mixture([0.5, 0.5], [laplace(0, 2), laplace(0, 3)])


def test_finite_drops_cells_without_weight():
    law = Law.finite([0.0, -inf, 0.0], start=5)
    assert law.pmf([4, 5, 6, 7, 8]).tolist() == [0, 0.5, 0, 0.5, 0]
    assert law.divergence(Law.finite([0.0, 0.0, 0.0], start=5)).value == pytest.approx(log(1.5))
    assert Law.finite([0.0, 0.0, 0.0], start=5).divergence(law).upper == inf


def test_a_law_without_cells_is_refused():
    with pytest.raises(ParameterError, match="a law must have at least one piece, got none"):
        Law.finite([-inf, -inf])


def test_sample_repeats_with_its_seed_and_follows_the_law():
    law = laplace(3, 4)
    draws = law.sample(200_000, source=SeededSource(1))
    assert (draws == law.sample(200_000, source=SeededSource(1))).all()
    assert draws.mean() == pytest.approx(3, abs=6 * law.variance() ** 0.5 / 200_000**0.5)
    assert draws.var() == pytest.approx(law.variance(), rel=0.05)
