"""Means: intervals, planned errors, populations, what is refused."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from sourdine import mean
from sourdine.central import Mean
from sourdine.frames.frame import Frame
from sourdine.noise import SeededSource

RUNS = 150
SIX = 6 * sqrt(0.05 * 0.95 / RUNS)
B = {"bounds": (0, 10), "step": 1}
WAYS = [
    {},
    {"relation": "substitute"},
    {"relation": "substitute", "missing": "exclude"},
    {"method": "gaussian", "delta": 1e-6},
    {"population": True},
    {"population": True, "relation": "substitute"},
    {"population": True, "relation": "substitute", "missing": "exclude"},
    {"method": "exponential"},
    {"method": "exponential", "relation": "substitute"},
    {"method": "exponential", "relation": "substitute", "missing": "exclude"},
]


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_mean_intervals_cover(way, sample, simulated, shortest):
    asked = Mean(bounds=(0, 1000), step=1, epsilon=1, **way)
    truth = np.floor(np.clip(sample, 0, 1000) + 0.5).mean()
    values, low, high = simulated(asked, sample, RUNS)
    assert ((low <= truth + 1e-9) & (truth - 1e-9 <= high)).mean() >= 0.95 - SIX
    assert ((low <= values + 1e-9) & (values - 1e-9 <= high)).all()
    if sample.any():  # not all at a bound
        assert np.median(high - low) <= 1.6 * shortest(values, truth)


@pytest.mark.slow_cases(3)
@pytest.mark.parametrize("way", WAYS[:8], ids=str)
def test_planned_mean_error(way, uniform):
    asked = Mean(bounds=(0, 1000), step=1, epsilon=1, source=SeededSource(5), **way)
    data = Frame(uniform)
    values = np.array([asked.release(data).value for _ in range(1500)])
    seen = np.quantile(np.abs(values - np.floor(uniform + 0.5).mean()), 0.95)
    assert 0.93 <= asked.error(0.05, n=200) / seen <= 1.37  # the quantile itself wavers by 3%


def test_the_mean_of_a_population_is_covered(relation):
    """Fresh samples from a law: sampling error and noise together."""
    rng = np.random.default_rng(4)
    asked = Mean(bounds=(0, 1), epsilon=1, relation=relation, source=SeededSource(4))
    ends = [asked.release(rng.beta(2, 5, 300)).interval(of="population") for _ in range(80)]
    low, high = np.array(ends).T
    assert ((low <= 2 / 7) & (high >= 2 / 7)).mean() >= 0.95 - 6 * sqrt(0.0475 / 80)
    assert (high - low).max() < 0.3


def test_2990_zeros_and_one_1(relation):
    release = mean([0] * 2990 + [1], bounds=(0, 1), step=1, epsilon=1, relation=relation)
    assert 0 <= release.value < 0.01
    low, high = release.interval()
    assert high - low < 0.01


def test_numbers_are_shown_to_two_digits_of_their_interval():
    lines = str(mean([5] * 1000, epsilon=1, **B)).splitlines()
    assert all(len(part.strip("[],")) <= 6 for part in lines[1].split())


def test_a_step_may_be_a_power_of_two():
    release = mean([0.25, 0.5], bounds=(0, 1), step=2**-40, epsilon=1)
    assert release.grid.size == 2**40 + 1
    assert release.mechanism.step * 2**40 == 1


def test_numbers_may_be_texts():
    typed = mean([1, 2], bounds=("0", "10"), step="1", epsilon="0.5").mechanism
    assert typed == Mean(bounds=(0, 10), step=1, epsilon=0.5)


WRONG = [
    (lambda: mean([1], error=1e-12, n=10, bounds=(0, 1)), "error must be reachable"),
    (lambda: mean([1], epsilon=1), "bounds taken from the data would reveal its extreme records"),
    (lambda: mean([1], epsilon=1, bounds=3), "bounds must be two numbers"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1, 2)), "bounds must be two numbers"),
    (lambda: mean([1], epsilon=1, bounds=(1, 0)), "bounds: lower must be below upper"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), step=0.3), "step must divide"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), step=1e-15), "at most 2**42 grid points"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), method="x"), "method must be 'laplace'"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), method="gaussian"), "delta must be above 0"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), delta=0.1), "delta must be omitted for method"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), n=-5), "n must be at least 1"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), missing="x"), "missing must be 'auto'"),
    (lambda: mean([1], epsilon=1, bounds=(0, 1), missing="middle"), "missing must be 'exclude'"),
    (
        lambda: mean(
            {"a": [1], "b": [1]},
            epsilon=1,
            column="a",
            bounds=(0, 1),
            unit="b",
            relation="substitute",
            missing="middle",
        ),
        "missing must be 'exclude' if the number of records is private",
    ),
    (lambda: mean({"a": [1], "b": [1]}, epsilon=1, bounds=(0, 1)), "The columns are: 'a', 'b'"),
    (lambda: mean([1], error=0.1, bounds=(0, 1)), "n must be given, because the error of a mean"),
]


@pytest.mark.parametrize(("call", "text"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_parameters_say_what_to_type(call, text, refused):
    refused(call, text)


def test_parameters_are_read_before_the_data():
    class Untouchable:
        def __getattr__(self, name):
            raise AssertionError(name)

    with pytest.raises(TypeError, match="missing a required argument: 'bounds'"):
        mean(Untouchable(), epsilon=1)
