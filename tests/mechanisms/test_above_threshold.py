"""The sparse vector: its law, its lemma, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.mechanisms import (
    AboveThreshold,
)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(st.integers(-6, 6), min_size=1, max_size=4), st.booleans())
def test_above_threshold_law_is_the_sum_over_all_noise(answers, monotone):
    """By brute force over the threshold's noise, in exact tails."""
    search = AboveThreshold(epsilon=2, queries=len(answers), threshold=1, monotone=monotone)
    q1 = np.exp(-1 / float(search.threshold_scale))
    q2 = np.exp(-1 / float(search.query_scale))
    rho = np.arange(-120, 121)
    p_rho = q1 ** np.abs(rho) * (1 - q1) / (1 + q1)
    k = np.arange(-400, 401)
    p_k = q2 ** np.abs(k) * (1 - q2) / (1 + q2)
    expected = np.zeros(len(answers) + 1)
    for r, weight in zip(rho, p_rho, strict=True):
        still = weight
        for i, f in enumerate(answers):
            above = p_k[f + k >= 1 + r].sum()
            expected[i] += still * above
            still *= 1 - above
        expected[-1] += still
    law = search.law(search.read(answers))
    assert law.pmf(range(len(expected))) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_above_threshold_lemma():
    """Row C3: the corrected lemma holds, the true 95% quantile is about half of it."""
    search = AboveThreshold(epsilon=1, queries=100)
    assert search.lemma(0.05) == pytest.approx(66.4, abs=0.05)
    worst = 0.0
    for level in range(10, 70, 2):
        answers = search.read([-level] * 100)  # to name any of these is an error of `level`
        losses = search.loss(answers, search.simulate(answers, 4000))
        worst = max(worst, float(np.quantile(losses, 0.95)))
    assert worst < search.error(0.05) < search.lemma(0.05)
    assert worst > 24
    halved = AboveThreshold(epsilon=1, queries=100, monotone=True)
    assert halved.lemma(0.05) == pytest.approx(search.lemma(0.05) / 2)


def test_above_threshold_loss_is_the_lemma_s_event():
    search = AboveThreshold(epsilon=1, queries=4, threshold=10)
    x = search.read([3, 15, 8, 30])
    assert search.loss(x, np.arange(5)).tolist() == [7, 0, 5, 5, 20]


def test_above_threshold_finds_what_is_far_above():
    search = AboveThreshold(epsilon=1, queries=50, threshold=1000)
    answers = [0] * 30 + [5000] + [0] * 19
    assert set(search.simulate(answers, 2000).tolist()) == {30}
    assert int(search.release([-(10**18)] * 50)) == 50  # none


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: AboveThreshold(epsilon=1, queries=0),
            ParameterError,
            "queries must be at least 1",
        ),
        (
            lambda: AboveThreshold(epsilon=1, queries=2).release([1.0, 2.0]),
            ParameterTypeError,
            "the input must be whole numbers",
        ),
        (
            lambda: AboveThreshold(epsilon=1, queries=2, threshold=0.5),
            ParameterTypeError,
            "threshold must be a whole number, got 0.5. Use",
        ),
    ],
)
def test_bad_parameters_say_what_to_type(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(text)
