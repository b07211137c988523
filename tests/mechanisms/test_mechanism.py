"""What all mechanisms have in common: inputs, errors, parameters as they are stored."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.mechanisms import (
    AboveThreshold,
    BoundedLaplace,
    BoundedStaircase,
    Exponential,
    Gaussian,
    Laplace,
    PermuteAndFlip,
    RandomizedResponse,
    Staircase,
    Warner,
)
from sourdine.privacy import ADD_REMOVE, Guarantee

COUNT = Laplace(epsilon=0.1)
EXTREMES = [2**70, -(2**70), 2**63, 2**63 - 1, -(2**63), 0]


@pytest.mark.parametrize("beta", [1e-15, 1e-6, 0.05, 0.5])
@pytest.mark.parametrize(
    "mechanism",
    [
        Laplace(epsilon=0.7, sensitivity=9),
        Staircase(epsilon=0.1),
        Staircase(epsilon=2, sensitivity=9),
        Gaussian(epsilon=1, delta=1e-6, sensitivity=2),
    ],
    ids=str,
)
def test_error_is_the_least_that_holds(mechanism, beta):
    """Exactly: the bound holds, and one tick less would not."""
    law, bound = mechanism.law(0), int(mechanism.error(beta))
    below = 2 * law.cdf([-bound - 1])[0]
    assert below <= beta
    assert 2 * law.cdf([-bound])[0] > beta * (1 - 1e-6)


def test_answers_outside_the_domain_count_as_the_nearest():
    survey = RandomizedResponse(epsilon=50, categories=3)
    assert [int(survey.release(x)) for x in (-7, 99)] == [0, 2]
    report = BoundedLaplace(epsilon=2000, last=10)
    assert [int(report.release(x)) for x in (-7, 99)] == [0, 10]


def test_guarantees_are_local():
    assert RandomizedResponse(epsilon=1, categories=3).guarantee.relation.name == "LOCAL"
    assert BoundedStaircase(epsilon=1, last=9).guarantee == Guarantee(
        1, relation=BoundedLaplace(epsilon=1, last=9).guarantee.relation
    )


def test_error_bounds_of_reports_are_useful():
    assert BoundedLaplace(epsilon=50, last=100).error(0.05) <= 6
    assert BoundedStaircase(epsilon=12, last=100).error(0.05) <= 3
    assert BoundedStaircase(epsilon=12, last=100, method="truncated").error(0.05) <= 3
    assert BoundedStaircase(epsilon=1, last=100).error(0.5) < 100
    assert RandomizedResponse(epsilon=9, categories=3).error(0.05) == 0
    assert Warner.optimum(5).error(0.05) == 0


def test_numpy_integers_are_stored_by_noises_as_whole_numbers():
    mechanism = Gaussian(epsilon=1, delta=0.01, sensitivity=np.uint8(200))
    assert type(mechanism.sensitivity) is int
    assert type(Staircase(epsilon=1, sensitivity=np.uint8(200)).sensitivity) is int


def test_numpy_integers_are_stored_by_randomisers_as_whole_numbers():
    for mechanism in (
        BoundedLaplace(epsilon=1, last=np.uint8(255)),
        BoundedStaircase(epsilon=1, last=np.uint8(255)),
    ):
        assert type(mechanism.last) is int
        assert len(list(mechanism.neighbours(0))) == 256
    assert type(RandomizedResponse(epsilon=1, categories=np.uint8(255)).categories) is int


def test_numpy_integers_are_stored_by_choices_as_whole_numbers():
    assert type(Exponential(epsilon=1, candidates=np.uint8(200)).candidates) is int
    search = AboveThreshold(epsilon=1, queries=np.uint8(3), threshold=np.int8(100))
    assert (type(search.queries), type(search.threshold)) == (int, int)


@pytest.mark.parametrize("bad", [3.7, "3", None, [1.5], True])
def test_inputs_of_a_wrong_kind_are_refused_without_their_value(bad):
    with pytest.raises(ParameterTypeError) as caught:
        COUNT.release(bad)
    assert "the input must be whole numbers" in str(caught.value)
    assert "3" not in str(caught.value)


@pytest.mark.parametrize("kind", [Laplace, Staircase])
def test_noise_too_wide_for_64_bits_is_refused(kind):
    """Noise that stopped at the end of int64 before it is added would show the value itself."""
    with pytest.raises(
        ParameterError, match=r"the noise's scale must be below 2\*\*55 ticks, got 1e\+20. Use"
    ):
        kind(epsilon=Fraction(1, 10**20))
    with pytest.raises(ParameterError, match="must be below"):
        Gaussian(epsilon=Fraction(1, 10**20), delta=0.1)
    with pytest.raises(ParameterError, match="must be below"):
        Gaussian(epsilon=1, delta=0.1, sensitivity=2**51)  # a small delta makes sigma 21 times that
    with pytest.raises(ParameterError, match="must be below"):
        AboveThreshold(epsilon=Fraction(1, 10**20), queries=1)
    wide = kind(epsilon=1, sensitivity=2**54)
    draws = [wide.release(1234).value for _ in range(50)]
    assert all(abs(d) < 2**62 for d in draws)


def test_values_beyond_int64_never_raise():
    """No value of the data decides whether a call fails."""
    for pair in ([a, b] for a in EXTREMES for b in EXTREMES):
        assert Laplace(epsilon=1).release(pair).value.shape == (2,)
        assert int(Exponential(epsilon=1, candidates=2).release(pair)) in (0, 1)
        assert int(PermuteAndFlip(epsilon=1, candidates=2).release(pair)) in (0, 1)
        for threshold in (0, 2**60, -(2**60)):
            search = AboveThreshold(epsilon=1, queries=2, threshold=threshold)
            above = [v >= threshold for v in pair]
            expected = above.index(True) if any(above) else 2
            if all(abs(v - threshold) > 10**6 for v in pair):
                assert int(search.release(pair)) == expected
    for value in EXTREMES:
        Laplace(epsilon=1).release(value)
        assert int(BoundedLaplace(epsilon=1, last=5).release(value)) in range(6)
        assert int(RandomizedResponse(epsilon=1, categories=3).release(value)) in range(3)
        assert int(Warner(truth=0.5).release(value)) in (0, 1)
    for strange in ([np.int64(1), 2**63], [[1, 2], [3, 2**70]], [], np.array([2**70, 1], object)):
        Laplace(epsilon=1).release(strange)
    unsigned = np.array([2**64 - 1, 0], np.uint64)
    assert Laplace(epsilon=1).release(unsigned).value[0] > 2**62


def test_a_relation_may_be_named():
    named = Laplace(epsilon=1, relation="add_remove")
    assert named == Laplace(epsilon=1, relation=ADD_REMOVE)
    assert named.relation is ADD_REMOVE
    assert str(named) == "Laplace(epsilon=1, sensitivity=1)"
