from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.mechanisms import (
    AboveThreshold,
    BoundedLaplace,
    Exponential,
    Gaussian,
    Laplace,
    PermuteAndFlip,
    RandomizedResponse,
    Staircase,
    Warner,
)
from sourdine.noise import SeededSource
from sourdine.privacy import ADD_REMOVE
from sourdine.release import Release

COUNT = Laplace(epsilon=0.1)


def test_a_release_carries_value_cost_and_mechanism():
    release = COUNT.release(1000)
    low, high = release.interval(0.95)
    assert low < int(release) < high
    assert high - int(release) == COUNT.error(0.05)
    assert float(release) == int(release) == release.value
    text = str(release)
    for part in (
        "value",
        "cost  epsilon 0.1, one record added or removed",
        "by    Laplace(epsilon=0.1",
    ):
        assert part in text


def test_a_seeded_release_costs_infinity_and_says_so():
    release = COUNT.release(1000, source=SeededSource(3))
    assert release.cost.epsilon == float("inf")
    assert "NOT PRIVATE" in str(release)
    assert json.loads(release.to_json())["cost"]["epsilon"] == "inf"
    assert release.value == COUNT.release(1000, source=SeededSource(3)).value


def test_json_holds_the_public_facts():
    facts = json.loads(COUNT.release(np.array([5, 6])).to_json())
    assert set(facts) == {"value", "cost", "mechanism", "question", "drawn", "caveats"}
    assert facts["question"] == {"statistic": "Laplace"}
    assert len(facts["value"]) == 2
    assert facts["cost"] == {"epsilon": "1/10", "delta": "0", "relation": "add_remove"}


def test_only_statistics_are_read_back():
    with pytest.raises(ParameterError, match="the JSON must hold the release of a statistic"):
        Release.from_json(COUNT.release(3).to_json())


def test_a_mechanism_has_no_population_and_no_picture():
    release = COUNT.release(1000)
    with pytest.raises(ParameterError, match="of must be 'sample' for a value, which depends on"):
        release.interval(of="population")
    with pytest.raises(ParameterError, match="of must be 'sample' or 'population', got 'law'"):
        release.interval(of="law")
    with pytest.raises(ParameterTypeError, match="a picture must be of a statistic"):
        release.plot()


def test_html_holds_the_table_and_escapes_texts():
    release = replace(COUNT.release(7), caveats=("a < b",))
    html = release._repr_html_()
    assert "<th>value</th>" in html
    assert "a &lt; b" in html
    assert f"<td>{release.value}</td>" in html


def test_an_interval_covers_as_often_as_it_says():
    draws = COUNT.simulate(0, 100_000)
    half = COUNT.error(0.2)
    covered = (np.abs(draws) <= half).mean()
    assert covered >= 0.8 - 5 * (0.16 / 100_000) ** 0.5
    assert (np.abs(draws) <= half - 1).mean() < 0.8 + 5 * (0.16 / 100_000) ** 0.5


def test_a_choice_has_no_interval():
    with pytest.raises(ParameterTypeError, match="an interval must be of a number"):
        Exponential(epsilon=1, candidates=2).release([1, 2]).interval()


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -1])
def test_a_confidence_is_between_0_and_1(confidence):
    with pytest.raises(ParameterError, match="confidence must be above 0 and below 1, got"):
        COUNT.release(0).interval(confidence)


def test_arrays_stop_at_the_ends_of_int64():
    ends = np.iinfo(np.int64)
    full = np.array([ends.max, ends.min] * 500)
    drawn = Laplace(epsilon=1, sensitivity=1000).release(full).value
    assert set(np.sign(drawn[::2])) == {1}
    assert set(np.sign(drawn[1::2])) == {-1}


def test_vectors_need_the_calibration_that_covers_them():
    with pytest.raises(ParameterTypeError, match=r"Type method='zcdp'"):
        Gaussian(epsilon=1, delta=1e-6).release([1, 2])
    vector = Gaussian(epsilon=1, delta=1e-6, method="zcdp").release([1, 2]).value
    assert vector.shape == (2,)


@pytest.mark.parametrize("bad", [3.7, "3", None, [1.5], True])
def test_inputs_of_a_wrong_kind_are_refused_without_their_value(bad):
    with pytest.raises(ParameterTypeError) as caught:
        COUNT.release(bad)
    assert "the input must be whole numbers" in str(caught.value)
    assert "3" not in str(caught.value)


def test_intervals_of_arrays_stop_at_the_ends():
    ends = np.iinfo(np.int64)
    low, high = COUNT.interval(np.array([ends.max, ends.min, 0]), 0.95)
    assert (low <= high).all()
    assert high[0] == ends.max
    assert low[1] == ends.min
    assert (low[2], high[2]) == (-COUNT.error(0.05), COUNT.error(0.05))


@pytest.mark.parametrize("kind", [Laplace, Staircase])
def test_noise_too_wide_for_64_bits_is_refused(kind):
    """Noise that stopped at the end of int64 before it is added would show the value itself."""
    with pytest.raises(
        ParameterError, match=r"the noise's scale must be below 2\*\*55 ticks, got 10{20}. Type"
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


EXTREMES = [2**70, -(2**70), 2**63, 2**63 - 1, -(2**63), 0]


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


@pytest.mark.parametrize("text", ["{}", "hello", "[1]", "3", '{"value": 1}'])
def test_what_is_no_release_is_not_read(text):
    with pytest.raises(ParameterError, match=r"the JSON must be what Release.to_json\(\) wrote"):
        Release.from_json(text)
