"""Discrete Gaussian noise: its law, its three calibrations, what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from sourdine.audit import worst_case
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.mechanisms import (
    Gaussian,
)
from sourdine.mechanisms.gaussian import (
    classic_variance,
    continuous_variance,
    gaussian_law,
    tight_variance,
)
from sourdine.noise import SeededSource


@pytest.mark.parametrize(
    "variance", [Fraction(1, 10), Fraction(1), Fraction(300), Fraction(10**10)]
)
def test_gaussian_law_is_the_formula(variance):
    law = gaussian_law(3, variance)
    sigma = float(variance) ** 0.5
    cells = 3 + np.unique((np.linspace(-6, 6, 999) * sigma).astype(int))
    log_weight = -((cells - 3) ** 2) / (2 * float(variance))
    shape = law.log_pmf(cells) - law.log_pmf([3])
    assert np.abs(shape - log_weight).max() <= 2 * law.slack < 3e-8
    if variance < 1000:
        everything = np.arange(-1000, 1001)
        weight = np.exp(-(everything**2) / (2 * float(variance)))
        assert law.pmf(everything + 3) == pytest.approx(weight / weight.sum(), abs=1e-13)
    assert law.mean() == pytest.approx(3, abs=1e-6 * max(sigma, 1))
    if variance >= 1:
        assert law.variance() == pytest.approx(float(variance), rel=1e-6)


@pytest.mark.quick_cases(7)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**12)])
@pytest.mark.parametrize("span", [1, 7])
def test_tight_variance_is_certified_and_no_larger_than_needed(epsilon, delta, span):
    variance = tight_variance(epsilon, delta, span)
    law = gaussian_law(0, variance)
    assert law.hockey_stick(gaussian_law(span, variance), epsilon).upper <= delta
    smaller = variance * (1 - Fraction(1, 10**6))
    stick = gaussian_law(0, smaller).hockey_stick(gaussian_law(span, smaller), epsilon)
    assert stick.value > delta
    assert variance < classic_variance(epsilon, delta, span)


@pytest.mark.slow
def test_tight_variance_is_certified_where_the_slack_weighs():
    """Small epsilon on a fine grid: the computed hockey stick alone would promise too much."""
    epsilon, delta, span = Fraction(1, 10**4), Fraction(1, 10**9), 1000
    variance = tight_variance(epsilon, delta, span)
    stick = gaussian_law(0, variance).hockey_stick(gaussian_law(span, variance), epsilon)
    assert stick.value < stick.upper <= delta


@pytest.mark.parametrize("reach", [2.0, 9.0, 40.0])
@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(30), Fraction(10**4)])
def test_gaussian_law_bounds_what_it_leaves_out(variance, reach):
    law = gaussian_law(0, variance, reach)
    everything = np.arange(-(10**4), 10**4 + 1)
    weight = np.exp(-(everything**2) / (2 * float(variance)))
    outside = weight[(everything < law.first) | (everything >= law.end)].sum() / weight.sum()
    assert outside * (1 - 1e-9) <= law.beyond <= 3 * outside


@pytest.mark.slow
def test_tight_variance_tends_to_the_continuous_one_on_fine_grids():
    ratios = []
    for span in (1, 10, 1000, 10**6):
        variance = tight_variance(Fraction(1), Fraction(1, 10**6), span)
        ratios.append(float(variance) / continuous_variance(1.0, 1e-6, span))
    assert ratios[0] != pytest.approx(1, abs=1e-4)
    assert ratios[-1] == pytest.approx(1, abs=1e-6)


def test_hockey_stick_of_a_shift_rises_with_the_shift():
    """The proof's step, on a coarse grid where it could fail."""
    for variance in (Fraction(1, 4), Fraction(2), Fraction(25)):
        laws = [gaussian_law(s, variance) for s in range(9)]
        sticks = [laws[0].hockey_stick(law, 1).value for law in laws]
        assert all(a <= b + 1e-15 for a, b in pairwise(sticks))


def test_classic_gaussian_is_refused_where_it_fails():
    Gaussian(epsilon=Fraction(9, 10), delta=1e-5, method="classic")
    with pytest.raises(
        ParameterError, match=r"got 'classic' at epsilon 10 and delta 1e-05"
    ) as caught:
        Gaussian(epsilon=10, delta=1e-5, method="classic")
    assert "Use method='tight'" in str(caught.value)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("method", ["tight", "classic", "zcdp"])
def test_every_calibration_keeps_its_promise(method):
    mechanism = Gaussian(epsilon=0.9, delta=1e-6, sensitivity=4, method=method)
    assert worst_case(mechanism, [0]).within(mechanism.guarantee)


def test_zcdp_vector_keeps_its_promise_on_every_integer_shift():
    """All shifts of L2 norm at most 3 in the plane, by the product law."""
    mechanism = Gaussian(epsilon=1, delta=1e-3, sensitivity=3, method="zcdp")
    cells = np.arange(-60, 61)
    axis = gaussian_law(0, mechanism.variance).pmf(cells)
    plane = np.outer(axis, axis)
    for a in range(4):
        for b in range(4):
            if 0 < a * a + b * b <= 9:
                moved = np.roll(np.roll(plane, a, 0), b, 1)
                assert np.maximum(plane - np.e * moved, 0).sum() <= 1e-3


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("delta", [0.3, 1e-15, 1e-60, 1e-100])
@pytest.mark.parametrize("epsilon", [0.02, 1, 20])
def test_tight_gaussian_at_the_ends_of_its_parameters(epsilon, delta):
    mechanism = Gaussian(epsilon=epsilon, delta=delta)
    worst = worst_case(mechanism, [0])
    assert worst.within(mechanism.guarantee)
    assert worst.epsilon > epsilon * 0.999 or mechanism.variance < 1


def test_a_delta_no_float_can_tell_from_nothing_is_refused():
    with pytest.raises(ParameterError, match="delta must be at least 1e-100, got 1e-200"):
        Gaussian(epsilon=1, delta=1e-200)


@pytest.mark.grid(quick=0, slow=1)
@pytest.mark.parametrize("method", ["tight", "classic", "zcdp"])
@pytest.mark.parametrize("delta", [0.3, 1e-6, 1e-100])
@pytest.mark.parametrize("epsilon", [1e-3, 0.5])
def test_sigma_is_never_wider_than_64_bits_allow(method, delta, epsilon):
    """What is too wide is told by sensitivity / epsilon: sigma is at most 32 times that."""
    mechanism = Gaussian(epsilon=epsilon, delta=delta, method=method)
    assert float(mechanism.variance) ** 0.5 <= 32 / epsilon


@pytest.mark.slow
def test_a_delta_that_floats_cannot_tell_is_refused():
    with pytest.raises(ParameterError, match=r"delta must be large enough .*method='zcdp'"):
        Gaussian(epsilon=1e-9, delta=1e-12)


def test_gaussian_knows_neighbouring_numbers():
    noise = Gaussian(epsilon=1, delta=1e-6, sensitivity=3)
    assert noise.adjacent(5, 8)
    assert not noise.adjacent(5, 9)


def test_vectors_need_the_calibration_that_covers_them():
    with pytest.raises(ParameterTypeError, match=r"Use method='zcdp'"):
        Gaussian(epsilon=1, delta=1e-6).release([1, 2])
    vector = Gaussian(epsilon=1, delta=1e-6, method="zcdp").release([1, 2]).value
    assert vector.shape == (2,)


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: Gaussian(epsilon=1, delta=0),
            ParameterError,
            "delta must be above 0, got 0. Use",
        ),
        (
            lambda: Gaussian(epsilon=1, delta=1),
            ParameterError,
            "delta must be below 1, got 1. Use",
        ),
        (
            lambda: Gaussian(epsilon=1, delta=0.1, sensitivity=1.5),
            ParameterTypeError,
            "sensitivity must be a whole number, got 1.5. Use",
        ),
        (
            lambda: Gaussian(epsilon=1, delta=0.1, method="best"),
            ParameterError,
            "method must be 'tight', 'classic' or 'zcdp', got 'best'. Use",
        ),
    ],
)
def test_bad_parameters_say_what_to_type(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(text)


@pytest.mark.slow
def test_single_releases_have_the_variance_that_is_charged():
    """The spread of 8000, drawn one by one: a variance that is a tenth off is seen."""
    made, source = Gaussian(epsilon=1, delta=1e-6), SeededSource(3)
    off = [made.release(7, source=source).value - 7 for _ in range(8000)]
    assert abs(np.mean(np.square(off)) / float(made.variance) - 1) < 5 * np.sqrt(2 / 8000)
    assert abs(np.mean(off)) < 5 * np.sqrt(float(made.variance) / 8000)
