"""Randomised response among several categories."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.mechanisms import (
    RandomizedResponse,
    Warner,
)


def test_randomized_response_estimator():
    survey = RandomizedResponse(epsilon=1, categories=4)
    n, runs = 400, 5000
    truth = np.array([200, 120, 80, 0])
    counts = np.zeros((runs, 4), np.int64)
    for code, people in enumerate(truth):
        reports = survey.simulate(code, people * runs).reshape(runs, people)
        counts += np.stack([(reports == c).sum(axis=1) for c in range(4)], axis=1)
    estimates = np.array([survey.estimate(c) for c in counts])
    for code in range(4):
        f = truth[code] / n
        variance = survey.variance(f, n)
        assert estimates[:, code].mean() == pytest.approx(f, abs=6 * (variance / runs) ** 0.5)
        assert estimates[:, code].var() == pytest.approx(variance, rel=0.12)


def test_two_categories_are_warner_s_best_coins():
    p, q = RandomizedResponse(epsilon=1.3, categories=2).channel
    a, b = Warner.optimum(1.3).channel
    assert (p, q) == pytest.approx((float(a), float(b)), abs=1e-12)


def test_many_categories_cost_no_memory():
    survey = RandomizedResponse(epsilon=1, categories=3 * 2**60)
    assert len(survey.law(survey.read(5)).pieces.start) == 3
    last = 3 * 2**60 - 1
    thirds = np.bincount(survey.simulate(last, 30_000) // 2**60, minlength=3)
    assert np.abs(thirds - 10_000).max() < 600


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: RandomizedResponse(epsilon=1, categories=1),
            ParameterError,
            "categories must be at least 2, got 1. Use",
        ),
        (
            lambda: RandomizedResponse(epsilon=1, categories=3).release([1, 2]),
            ParameterTypeError,
            "the input must be one code from 0 to 2, got a value of type list. Code the answers",
        ),
    ],
)
def test_bad_parameters_say_what_to_type(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(text)
