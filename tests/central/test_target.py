"""Errors asked for instead of an epsilon."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sourdine.central import Count, Histogram, Mean, Proportion, Sum, Variance
from sourdine.central.statistic import rounded

QUESTIONS = [
    (Count, {}, 7),
    (Sum, {"bounds": (-3, 10)}, 25),
    (Mean, {"bounds": (0, 10), "n": 500}, 0.1),
    (Mean, {"bounds": (0, 10), "n": 500, "relation": "substitute"}, 0.1),
    (Variance, {"bounds": (0, 10), "n": 500}, 2),
    (Proportion, {"n": 500}, 0.02),
    (Histogram, {"bins": 5, "bounds": (0, 10)}, 9),
    (Histogram, {"categories": "unknown", "delta": 1e-6}, 9),
    (Mean, {"bounds": (0, 10), "by": "g", "keys": ["a", "b"], "n": 500}, 0.3),
]


@pytest.mark.quick_cases(9)
@pytest.mark.parametrize(("cls", "asked", "error"), QUESTIONS)
@pytest.mark.parametrize("confidence", [0.95, 0.6])
def test_a_target_is_reached_and_not_by_less(cls, asked, error, confidence):
    question = cls(error=error, confidence=confidence, **asked)
    beta = 1 - question.confidence
    assert question.error(beta) <= error
    assert question.at(question.epsilon * (1 - 2 / 1000)).error(beta) > error
    assert len(f"{float(question.epsilon):.10g}".replace(".", "").lstrip("0")) <= 4


def test_a_target_that_any_epsilon_reaches_costs_the_least_one():
    assert Count(error=1e9).epsilon == Count(error=1e8).epsilon


@pytest.mark.parametrize("epsilon", ["0.12341", "0.12349", "1/3", "2/3", "12345.6", "0.5"])
def test_an_epsilon_is_rounded_up_to_four_digits(epsilon):
    exact = Fraction(epsilon)
    assert exact <= rounded(exact) < exact * Fraction(1001, 1000)
    assert Fraction(f"{float(rounded(exact)):.4g}") == rounded(exact)
