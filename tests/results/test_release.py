"""A release: a number never travels alone."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sourdine import count
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.mechanisms import Laplace
from sourdine.noise import SeededSource
from sourdine.results.release import Release, beta_of, holding, read_confidence

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
        "cost    epsilon 0.1, one record added or removed",
        "method  Laplace(epsilon=0.1",
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
    with pytest.raises(ParameterTypeError, match=r"plot\(\) is not available"):
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


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -1])
def test_a_confidence_is_between_0_and_1(confidence):
    with pytest.raises(ParameterError, match="confidence must be above 0 and below 1, got"):
        COUNT.release(0).interval(confidence)


@pytest.mark.parametrize("text", ["{}", "hello", "[1]", "3", '{"value": 1}'])
def test_what_is_no_release_is_not_read(text):
    with pytest.raises(ParameterError, match=r"the JSON must be the output of Release.to_json\(\)"):
        Release.from_json(text)


def test_a_confidence_is_one_minus_the_chance_of_a_miss():
    assert beta_of(0.95) == Fraction(1, 20)
    assert read_confidence(0.75) == 0.25
    found = count([1] * 1000, epsilon=0.1)
    assert found.interval(0.9)[1] - found.value == COUNT.error(0.1)


def test_an_interval_is_widened_to_hold_its_value():
    assert holding(5, (6, 7)) == (5, 7)
    assert holding(8, (6, 7)) == (6, 8)
    assert holding({"a": 5, "b": 8}, {"a": (6, 7), "b": (6, 7)}) == {"a": (5, 7), "b": (6, 8)}
    low, high = holding(np.array([5, 8]), (np.array([6, 6]), np.array([7, 7])))
    assert (low.tolist(), high.tolist()) == ([5, 6], [7, 8])


def test_caveats_travel_with_a_release():
    found = count([1] * 1000, epsilon=0.1)
    assert found.caveats == ("All records are counted, including those with missing values.",)
    assert Release.from_json(found.to_json()).caveats == found.caveats
