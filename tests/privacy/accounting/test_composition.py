"""Declared batches: the truth to sixty digits is within both ends."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, expm1, inf
from time import perf_counter

import mpmath
import numpy as np
import pytest

from sourdine.privacy import Guarantee, compose_advanced
from sourdine.privacy.accounting import Part, compose
from sourdine.privacy.accounting.composition import Ends
from sourdine.privacy.accounting.losses import Value, concentrated, dominated, dominating

F = Fraction
DELTA = F(1, 10**6)


def real(x):
    return mpmath.mpf(x.numerator) / x.denominator


def law(part):
    """Return the masses of one draw by its loss, an exact rational; to 60 digits."""
    size = real(part.size)
    if part.kind == "pure":
        p = 1 / (1 + mpmath.exp(-size))
        return {part.size: p, -part.size: 1 - p}
    if part.kind == "response":
        q = 1 / (mpmath.exp(size) + part.count - 1)
        return {part.size: mpmath.exp(size) * q, F(0): (part.count - 2) * q, -part.size: q}
    z, d = mpmath.exp(-1 / size), part.count
    masses = {(d - 2 * k) / part.size: z**k * (1 - z) / (1 + z) for k in range(1, d)}
    return {**masses, d / part.size: 1 / (1 + z), -d / part.size: z**d / (1 + z)}


def truth(parts, epsilon):
    """Return delta by plain convolution of exact losses."""
    total = {F(0): mpmath.mpf(1)}
    for part in parts:
        for _ in range(part.times):
            after = {}
            for (a, p), (b, q) in product(total.items(), law(part).items()):
                after[a + b] = after.get(a + b, 0) + p * q
            total = after
    return sum(p * (1 - mpmath.exp(real(epsilon - a))) for a, p in total.items() if a > epsilon)


CASES = [
    ([Part.laplace(1, 10, times=100)], F(5)),
    ([Part.laplace(1, 10, times=100)], F(19, 2)),  # delta 1e-22
    ([Part.pure(F(1, 100), times=300)], F(1)),
    ([Part.pure(F(1, 3), times=10), Part.pure(F(1, 2), times=7)], F(3)),
    ([Part.response(1, 4, times=30)], F(21)),
    ([Part.laplace(5, 50, times=30)], F(2)),
    (
        [Part.laplace(4, 8, times=9), Part.response(F(3, 4), 3, times=5), Part.pure(F(1, 8))],
        F(5, 3),
    ),
]


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(("parts", "epsilon"), CASES)
def test_the_truth_to_sixty_digits_is_within_the_ends(parts, epsilon):
    with mpmath.workdps(60):
        exact = truth(parts, epsilon)
        ends = compose(parts).delta(epsilon)
        assert ends.lower <= exact <= ends.upper
        assert ends.upper / ends.lower - 1 < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 30])
def test_off_the_lattice_the_truth_is_within_the_ends(times):
    """Losses without a common unit that is coarse enough: one is 1/7 and the other near 1/5."""
    parts = [Part.pure(F(1, 7), times=times), Part.pure(F(1999993, 10**7), times=times)]
    composition = compose(parts)
    epsilon = F(times, 10)
    with mpmath.workdps(30):
        exact = truth(parts, epsilon)
    ends = composition.delta(epsilon)
    assert not any(s.step == F(1, 7 * 10**7) for s in composition._upper)
    assert ends.lower <= exact <= ends.upper
    assert ends.upper / ends.lower < 1.02


@pytest.mark.parametrize("present", [True, False])
def test_what_runs_on_a_sample_is_within_the_ends(present):
    """All sums of two losses, by the binomial law, in both directions."""
    q, n, epsilon = mpmath.mpf(1) / 10, 40, 2
    with mpmath.workdps(50):
        z = mpmath.exp(-1)
        without = [z / (1 + z), 1 / (1 + z)]
        ratio = [1 - q + q / z, 1 - q + q * z]
        first = [m * r for m, r in zip(without, ratio, strict=True)] if present else without
        losses = [mpmath.log(r) * (1 if present else -1) for r in ratio]
        exact = mpmath.mpf(0)
        for k in range(n + 1):
            loss = k * losses[0] + (n - k) * losses[1]
            mass = mpmath.binomial(n, k) * first[0] ** k * first[1] ** (n - k)
            exact += mass * max(1 - mpmath.exp(epsilon - loss), 0)
        composition = compose(Part.sampled(Part.pure(1), F(1, 10), times=n))
        side = composition._upper[0 if present else 1], composition._lower[0 if present else 1]
        upper, lower = side[0].delta(F(2), upper=True), side[1].delta(F(2), upper=False)
        assert lower <= exact <= upper * (1 + mpmath.mpf(10) ** -30)
        assert upper < float(exact) * 1.001 + 1e-30
        assert composition.delta(2).upper >= upper


def test_epsilon_is_where_delta_is_met():
    composition = compose([Part.laplace(1, 10, times=60), Part.response(1, 3, times=2)])
    low, high = composition.epsilon(DELTA)
    assert composition.delta(high).upper <= DELTA <= composition.delta(low).lower * (1 + 1e-9)
    assert high - low < 1e-9


@pytest.mark.slow
def test_declared_batches_cost_what_was_measured():
    quantiles = [Part.pure(F(1, 500)), Part.range(F(49, 500))]
    mean, count = Part.laplace(1000, 10**4), Part.laplace(1, 10)

    def epsilon(*parts):
        return compose(parts).epsilon(DELTA).upper

    assert epsilon(count.repeated(100)) == pytest.approx(4.774568, abs=1e-6)
    assert epsilon(Part.laplace(10**6, 10**7, times=100)) == pytest.approx(4.692667, abs=1e-6)
    assert epsilon(Part.laplace(1, 100, times=1000)) == pytest.approx(1.365447, abs=1e-6)
    assert epsilon(Part.response(1, 16, times=50)) == pytest.approx(19.9655, abs=1e-4)
    deciles = [part.repeated(100) for part in quantiles]
    assert epsilon(*deciles) < 2.22
    mix = [mean.repeated(50), count.repeated(20), *(part.repeated(50) for part in quantiles)]
    assert epsilon(*mix) < 4.25


def test_equal_pure_promises_agree_with_the_closed_form():
    for times, each in ((100, F(1, 10)), (7, F(3, 2)), (1000, F(1, 100))):
        closed = compose_advanced(Guarantee(each), times, DELTA).epsilon
        ends = compose(Part.pure(each, times=times)).epsilon(DELTA)
        assert ends.lower - 1e-12 <= closed <= ends.upper + F(1, 10**12)
        assert float(closed) == pytest.approx(ends.upper, rel=1e-9)


@pytest.mark.parametrize("delta", ["1e-9", "1e-15", "1e-30"])
def test_small_deltas_are_as_sure_as_large_ones(delta):
    composition = compose(Part.pure(0.1, times=100))
    ends = composition.delta(F(str(composition.epsilon(F(delta)).upper)))
    assert ends.upper <= F(delta) * (1 + F(1, 10**6))
    assert ends.upper / ends.lower - 1 < 1e-8


def offsets(eta, k, epsilon, grid):
    """Return what the best analyst on a grid of offsets reaches, by plain recursion."""

    def value(x, left):
        if not left:
            return max(-expm1(x), 0.0)
        best = 0.0
        for i in range(grid + 1):
            t = eta * i / grid
            p = (exp(eta) - exp(t)) / expm1(eta)
            best = max(best, p * value(x - t, left - 1) + (1 - p) * value(x - t + eta, left - 1))
        return best

    return value(epsilon, k)


@pytest.mark.slow
def test_the_range_recursion_is_above_every_offset():
    for eta, k, epsilon in ((1.0, 1, 0.3), (1.0, 2, 0.5), (0.5, 3, 0.4), (2.0, 2, 1.1)):
        exact = offsets(eta, k, epsilon, 24)
        ends = compose(Part.range(eta, times=k)).delta(epsilon)
        assert ends.lower <= exact * (1 + 1e-9)
        assert exact <= ends.upper <= exact * 1.02


def test_one_range_is_its_closed_form():
    """The curve of one draw of range eta is (e^(eta/2) - e^(x/2))^2 / (e^eta - 1)."""
    for x in (0.0, 0.4, 0.9):
        exact = (exp(0.5) - exp(x / 2)) ** 2 / expm1(1.0)
        assert exact <= compose(Part.range(1)).delta(x).upper <= exact * 1.002


def test_ranges_of_two_sizes_hold_in_every_order():
    step, small, large = F(1, 40), 10, 30
    both = Value(step, 400, [(small, 3), (large, 2)]).v
    empty = Value(step, 400, [])
    gaps = []
    for order in (
        [small] * 3 + [large] * 2,
        [large] * 2 + [small] * 3,
        [small, large] * 2 + [small],
    ):
        v = empty.v
        for m in order:
            v = empty._drawn(v, m)
        assert (v <= both).all()
        gaps.append(float((both - v).max()))
    assert max(gaps) > 1e-3  # the order matters


def test_many_ranges_are_simplified_and_still_bounded():
    started = perf_counter()
    ends = compose([Part.range(F(1, 1000), times=1000), Part.range(1)]).epsilon(DELTA)
    assert 0.6 < ends.lower < ends.upper < 1.1
    assert perf_counter() - started < 30


@pytest.mark.slow
def test_zcdp_dominates_gaussian_noise():
    """The pair of rho covers discrete Gaussian noise of that rho, alone and composed."""
    noise = dominating(Part.gaussian(3, 20))
    pair = concentrated(9 / 40)
    for x in np.linspace(-2, 4, 61):
        delta = [
            (p.mass * -np.expm1(np.minimum(x - p.loss, 0))).sum() + p.beyond for p in (noise, pair)
        ]
        assert delta[0] <= delta[1]
    exact, bound = (
        compose(part).epsilon(DELTA)
        for part in (Part.gaussian(1, 100, times=100), Part.concentrated(F(1, 200), times=100))
    )
    assert exact.upper == pytest.approx(4.88657, abs=1e-4)
    assert exact.upper < bound.upper < 5.2216


def test_a_large_shift_is_between_its_ends():
    ends = compose(Part.laplace(10**6 + 3, 10**7, times=50)).epsilon(DELTA)
    finer = compose(Part.laplace(1000, 10**4, times=50)).epsilon(DELTA)
    assert ends.lower < finer.upper
    assert ends.lower < ends.upper < ends.lower + 0.002
    pair = dominated(Part.laplace(10**6 + 3, 10**7))
    assert pair.mass.sum() == pytest.approx(1, abs=1e-12)


def test_own_deltas_are_added_first():
    composition = compose([Part.pure(1), Part.delta(F(1, 10), times=2)])
    assert composition.delta(1).upper == pytest.approx(0.19)
    assert composition.epsilon(0.1) == Ends(inf, inf)
    assert composition.epsilon(0.5).upper < 1
    assert compose(Part.delta(0.1)).delta(0).upper == pytest.approx(0.1)


def test_ends_of_nothing_and_of_everything():
    assert compose([]).epsilon(0.1) == Ends(0.0, 0.0)
    assert compose([]).delta(0) == Ends(0.0, 0.0)
    assert compose(Part.gaussian(1, 1)).epsilon(0) == Ends(inf, inf)
    assert compose(Part.pure(2)).delta(2) == Ends(0.0, 0.0)
    assert compose(Part.concentrated(1000)).delta(1).upper == 1.0


def test_a_thousand_charges_take_a_second():
    sizes = np.random.default_rng(1).integers(1, 30, 1000)
    parts = [Part.pure(F(int(e), 1000)) for e in sizes]
    started = perf_counter()
    ends = compose(parts).epsilon(DELTA)
    assert perf_counter() - started < 5  # a second on an idle machine
    assert ends.upper == pytest.approx(2.46925, abs=1e-5)


def test_losses_beyond_floats_are_taken_for_lost():
    """No epsilon is too large to be asked about: the sum of epsilons is still a bound."""
    for part in (Part.pure(10**6), Part.laplace(10**7, F(3, 10)), Part.range(500)):
        assert compose([part, Part.pure(1)]).delta(5).upper == 1.0
        assert compose(part).epsilon(DELTA).upper == pytest.approx(float(part.epsilon), rel=1e-5)
    sampled = compose(Part.sampled(Part.pure(10**6), F(1, 100), times=3)).delta(5)
    assert sampled.upper == pytest.approx(1 - 0.99**3, rel=1e-9)
    assert compose(Part.gaussian(9, F(1, 100))).delta(1).upper == 1.0


@pytest.mark.slow
def test_a_skewed_law_is_followed_to_its_end():
    """Few losses of a Gaussian on a sample are large: the window must still be found."""
    ends = compose(Part.sampled(Part.gaussian(2, 1), F(1, 100))).delta(0)
    exact = 0.01 * 0.6826894921  # about a hundredth of the distance of the two laws
    assert ends.lower < ends.upper < ends.lower * 1.1
    assert ends.upper == pytest.approx(exact, rel=0.1)
