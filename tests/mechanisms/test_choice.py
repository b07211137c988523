from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.mechanisms import AboveThreshold, Exponential, PermuteAndFlip

scores = st.lists(st.integers(-9, 9), min_size=1, max_size=5)


@given(scores)
def test_permute_and_flip_law_is_the_paper_s_loop(u):
    mechanism = PermuteAndFlip(epsilon=1, candidates=len(u))
    heads = np.exp(0.5 * (np.array(u) - max(u)))
    chosen = np.zeros(len(u))
    for order in permutations(range(len(u))):
        reach = 1 / factorial(len(u))
        for i in order:
            chosen[i] += reach * heads[i]
            reach *= 1 - heads[i]
    law = mechanism.law(mechanism.read(u))
    assert law.pmf(range(len(u))) == pytest.approx(chosen, abs=1e-12)


@given(scores)
def test_permute_and_flip_beats_exponential(u):
    losses = []
    for kind in (PermuteAndFlip, Exponential):
        mechanism = kind(epsilon=1, candidates=len(u))
        x = mechanism.read(u)
        cells = np.arange(len(u))
        losses.append(mechanism.law(x).pmf(cells) @ mechanism.loss(x, cells))
    assert losses[0] <= losses[1] + 1e-12


def test_a_single_candidate_is_always_chosen():
    for kind in (PermuteAndFlip, Exponential):
        assert int(kind(epsilon=1, candidates=1).release([-5])) == 0


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


def test_above_threshold_lemma():
    """Row C3: the corrected lemma holds, the true 95 % quantile is about half of it."""
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
            lambda: Exponential(epsilon=1, candidates=0),
            ParameterError,
            "candidates must be at least 1, got 0. Type",
        ),
        (
            lambda: PermuteAndFlip(epsilon=1, candidates=2.0),
            ParameterTypeError,
            "candidates must be a whole number, got 2.0. Type",
        ),
        (
            lambda: Exponential(epsilon=1, candidates=3).release([1, 2]),
            ParameterTypeError,
            "scores must be a vector of 3 whole numbers, got the shape (2,). Its length is public",
        ),
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
            "threshold must be a whole number, got 0.5. Type",
        ),
    ],
)
def test_bad_parameters_say_what_to_type(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(text)


def test_monotone_scores_need_half_the_noise():
    general, monotone = (
        Exponential(epsilon=1, candidates=2, monotone=m).decay for m in (False, True)
    )
    assert monotone == 2 * general == Fraction(1)


def test_numpy_integers_are_stored_as_whole_numbers():
    assert type(Exponential(epsilon=1, candidates=np.uint8(200)).candidates) is int
    search = AboveThreshold(epsilon=1, queries=np.uint8(3), threshold=np.int8(100))
    assert (type(search.queries), type(search.threshold)) == (int, int)


def test_error_bounds_are_useful():
    """A bound of 15.2 could not be 14: that loss still has probability above beta."""
    vote = Exponential(epsilon=1, candidates=100)
    scores = vote.read([0] + [-14] * 99)
    assert vote.error(0.05) == pytest.approx(15.2, abs=0.01)
    assert vote.law(scores).pmf(np.arange(1, 100)).sum() > 0.05
