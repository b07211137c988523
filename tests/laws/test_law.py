"""Laws against plain sums over every cell."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, inf, log, tanh

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourdine.errors import ParameterError
from sourdine.laws import Law
from sourdine.laws.compare import Pieces, Tail
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


@pytest.mark.slow
@given(laws())
def test_mass_cdf_and_moments_are_those_of_the_cells(law):
    pmf = law.pmf(CELLS)
    assert pmf.sum() == pytest.approx(1, abs=1e-12)
    assert law.cdf(CELLS) == pytest.approx(np.cumsum(pmf), abs=1e-12)
    mean = pmf @ CELLS
    assert law.mean() == pytest.approx(mean, abs=1e-9)
    assert law.variance() == pytest.approx(pmf @ (CELLS - mean) ** 2, rel=1e-9, abs=1e-9)
    assert law.expectation_abs(3) == pytest.approx(pmf @ np.abs(CELLS - 3), rel=1e-9)


@pytest.mark.slow
@given(laws(), st.lists(st.floats(0.001, 0.999), min_size=1, max_size=20))
def test_quantile_is_the_least_cell_that_reaches(law, q):
    x = law.quantile(q)
    assert (law.cdf(x) >= np.array(q) - 1e-12).all()
    assert (law.cdf(x - 1) <= np.array(q) + 1e-12).all()
    assert (law.pmf(x) > 0).all()


@pytest.mark.slow
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
    exact, rough = Law.finite([0.0, -1.0]), Law.finite([0.0, -1.0], slack=1e-3)
    uniform = Law.finite([0.0, 0.0])
    assert exact.divergence(uniform).upper - exact.divergence(uniform).value < 1e-12
    assert rough.divergence(uniform).upper - rough.divergence(uniform).value >= 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("error", [1e-12, 1e-6, 1e-3, 0.1])
def test_upper_ends_hold_for_every_law_within_its_slack(error):
    """Move every log weight by the declared error, against us, on p, on q and in a mixture."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        base_p, base_q = rng.normal(size=(2, 6))
        if rng.random() < 0.3:
            base_q = base_p.copy()  # nothing to tell apart but the error
        shift_p, shift_q = error * rng.choice([-1, 1], size=(2, 6)) * 0.499
        true_p, true_q = Law.finite(base_p + shift_p), Law.finite(base_q + shift_q)
        p, q = Law.finite(base_p, slack=error), Law.finite(base_q, slack=error)
        exact_q, exact_p = Law.finite(base_q), Law.finite(base_p)
        for (a, b), (c, d) in (
            ((true_p, true_q), (p, q)),
            ((true_p, exact_q), (p, exact_q)),
            ((exact_p, true_q), (exact_p, q)),
            ((Law.mixture([1.0], [true_p]), exact_q), (Law.mixture([1.0], [p]), exact_q)),
        ):
            assert a.divergence(b).value <= c.divergence(d).upper
            for epsilon in (0, 0.5, 1.5):
                assert a.hockey_stick(b, epsilon).value <= c.hockey_stick(d, epsilon).upper
            assert c.divergence(d).upper <= c.divergence(d).value + 2.5 * error + 1e-12


def test_upper_ends_hold_where_floats_see_no_difference():
    """Two wide laws four cells apart are 2e-16 apart; the float says 0, the upper end does not."""
    near = laplace(0, 10**16).total_variation(laplace(4, 10**16))
    assert near.upper >= 2e-16
    uniform = Law.finite([0.0, 0.0])
    assert Law.finite([0.0, 0.0], slack=0.1).total_variation(uniform).upper >= 0.02


@pytest.mark.parametrize("scale", [Fraction(1, 1000), Fraction(1, 7), 1, 10**6, 10**12])
@pytest.mark.parametrize("shift", [1, 3, 1000])
def test_laplace_divergence_and_hockey_stick_by_decimals(scale, shift):
    """Upper ends against closed forms at 60 digits."""
    with localcontext(prec=60):
        t = Decimal(Fraction(scale).numerator) / Decimal(Fraction(scale).denominator)
        q = (-1 / t).exp()
        epsilon = Decimal(shift) / t / 2
        # p at 0 exceeds e^eps times q at `shift` exactly on the cells up to (shift - eps t) / 2
        last = int((Decimal(shift) - epsilon * t) / 2)
        p_mass = 1 - q ** (last + 1) / (1 + q)
        q_mass = q ** (shift - last) / (1 + q)
        truth = p_mass - epsilon.exp() * q_mass
        here, there = laplace(0, scale), laplace(shift, scale)
        stick = here.hockey_stick(there, float(epsilon))
        assert Decimal(stick.upper) >= truth * (1 - Decimal(10) ** -15)
        assert abs(Decimal(stick.value) - truth) <= Decimal(10) ** -9 * (1 + abs(truth))
        assert Decimal(here.divergence(there).upper) >= Decimal(shift) / t


def test_a_tail_left_out_counts_against_the_claim():
    """p has a tail where q has nothing: all of it is hockey stick, and no ratio is finite."""
    p, q = laplace(0, 2), Law.finite(np.zeros(21), start=-10)
    stick = p.hockey_stick(q, 50.0)
    outside = 1 - p.cdf([10])[0] + p.cdf([-11])[0]
    assert stick.value == pytest.approx(outside, rel=1e-9)
    assert stick.upper >= stick.value
    assert p.divergence(q).upper == inf
    later = p.hockey_stick(laplace(0, Fraction(1999, 1000)), 50.0)  # they part far out in the tail
    assert later.value == 0 < later.upper < 1e-30


def test_undescribed_mass_of_p_makes_every_divergence_infinite():
    cells = np.arange(3)
    p = Law.of(cells, np.ones_like(cells), np.zeros(3), np.zeros(3), log_beyond=log(1e-9))
    assert p.divergence(Law.finite([0.0, 0.0, 0.0])).upper == inf
    assert p.divergence(Law.finite([0.0, 0.0, 0.0])).value == pytest.approx(0)
    assert p.slack >= p.beyond
    mixed = Law.mixture([0.5, 0.5], [p, Law.finite([0.0, 0.0, 0.0])])
    assert mixed.beyond >= 0.3e-9
    assert mixed.slack >= p.slack


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Law.of([5, 0], [1, 1], [0.0, 0.0], [0.0, 0.0]),
            "pieces must be in order and have length 1 or more",
        ),
        (
            lambda: Law.of([0, 2], [3, 1], [0.0, 0.0], [0.0, 0.0]),
            "pieces must be in order and have length 1 or more",
        ),
        (
            lambda: Law.of([0], [0], [0.0], [0.0]),
            "pieces must be in order and have length 1 or more",
        ),
        (lambda: Law.finite([0.0, float("nan")]), "log_weights must be numbers, got NaN"),
        (
            lambda: Law.mixture([], []),
            "weights must hold one number, 0 or more, for each of the 0 laws",
        ),
        (
            lambda: Law.mixture([0.5, -0.2], [laplace(0, 1)] * 2),
            "weights must hold one number, 0 or more, for each of the 2 laws",
        ),
    ],
)
def test_what_is_no_law_is_refused(make, text):
    with pytest.raises(ParameterError, match=text):
        make()


def test_two_levels():
    law = Law.two_levels(2, 3, 10, log(4))
    weight = np.array([1, 1, 4, 4, 4, 1, 1, 1, 1, 1])
    assert law.pmf(range(10)) == pytest.approx(weight / weight.sum())
    assert len(Law.two_levels(0, 1, 10**12, 1.0).pieces.start) == 2


def test_mixture():
    parts = [laplace(0, 2), laplace(7, 2)]
    mixed = Law.mixture([0.25, 0.75], parts)
    by_cells = 0.25 * parts[0].pmf(CELLS) + 0.75 * parts[1].pmf(CELLS)
    assert mixed.pmf(CELLS) == pytest.approx(by_cells, rel=1e-12)
    assert mixed.divergence(parts[0]).value == pytest.approx(log(0.25 + 0.75 * exp(3.5)), rel=1e-12)
    with pytest.raises(ParameterError, match="laws must have geometric tails of the same decay"):
        Law.mixture([0.5, 0.5], [laplace(0, 2), laplace(0, 3)])


def test_finite_drops_cells_without_weight():
    law = Law.finite([0.0, -inf, 0.0], start=5)
    assert law.pmf([4, 5, 6, 7, 8]).tolist() == [0, 0.5, 0, 0.5, 0]
    assert law.divergence(Law.finite([0.0, 0.0, 0.0], start=5)).value == pytest.approx(log(1.5))
    assert Law.finite([0.0, 0.0, 0.0], start=5).divergence(law).upper == inf


def test_a_law_without_cells_is_refused():
    with pytest.raises(ParameterError, match="a law must have at least one piece"):
        Law.finite([-inf, -inf])


def test_sample_repeats_with_its_seed_and_follows_the_law():
    law = laplace(3, 4)
    draws = law.sample(200_000, source=SeededSource(1))
    assert (draws == law.sample(200_000, source=SeededSource(1))).all()
    assert draws.mean() == pytest.approx(3, abs=6 * law.variance() ** 0.5 / 200_000**0.5)
    assert draws.var() == pytest.approx(law.variance(), rel=0.05)
