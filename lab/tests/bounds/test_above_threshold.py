"""Row C3: the accuracy of AboveThreshold."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine.mechanisms import AboveThreshold
from sourdine_lab.bounds import (
    above_threshold_alpha,
    above_threshold_alpha_printed,
    above_threshold_alpha_sharp,
    above_threshold_noise,
)

QUERIES, BETA, RUNS = 100, 0.05, 20_000


def search(heights, runs, seed, query_scale=4.0):
    """Return the index (from 0) that each run names, the number of queries if none."""
    rng = np.random.default_rng(seed)
    rho = rng.laplace(0, 2, (runs, 1))
    over = heights + rng.laplace(0, query_scale, (runs, len(heights))) > rho
    return np.where(over.any(axis=1), over.argmax(axis=1), len(heights))


def losses(heights, named):
    """Return by how much each run fails: an answer passed over above, or the named one below."""
    passed = np.concatenate(([0.0], np.maximum.accumulate(np.maximum(heights, 0.0))))
    return np.maximum(passed[named], np.append(np.maximum(-heights, 0.0), 0.0)[named])


def failing_levels(alpha, query_scale=4.0):
    """Return how often answers at and around ``alpha`` below or above fail by ``alpha``."""
    share = []
    for level in (1.0, 1.02, 1.1):
        low = np.full(QUERIES, -level * alpha)  # to name any of these is an error
        high = np.full(QUERIES, level * alpha)  # to pass over any of these is one
        for heights in (low, high, np.where(np.arange(QUERIES) % 2, high, low)):
            named = search(heights, RUNS, seed=1, query_scale=query_scale)
            share.append((losses(heights, named) >= alpha).mean())
    return max(share)


def test_alpha_is_the_lemma_s():
    assert above_threshold_alpha(100, 1, 0.05) == pytest.approx(66.4, abs=0.05)
    assert above_threshold_alpha(100, 0.1, 0.05) == pytest.approx(664, abs=0.5)
    mechanism = AboveThreshold(epsilon=1, queries=100)
    assert above_threshold_alpha(100, 1, 0.05) == pytest.approx(mechanism.lemma(0.05))
    monotone = AboveThreshold(epsilon=1, queries=100, monotone=True)
    assert above_threshold_alpha(100, 1, monotone=True) == pytest.approx(monotone.lemma(0.05))


def test_alpha_holds_on_all_levels():
    """Both bounds hold; the sharp one fails about as often as it may, so it is not loose."""
    assert failing_levels(above_threshold_alpha(QUERIES, 1, BETA)) == 0
    assert failing_levels(above_threshold_alpha(QUERIES, 1, BETA, monotone=True), 2.0) < BETA
    sharp = above_threshold_alpha_sharp(QUERIES, 1, BETA)
    assert 0.5 * BETA < failing_levels(sharp) < BETA
    assert failing_levels(0.9 * sharp) > BETA
    assert sharp < above_threshold_noise(QUERIES, 1, BETA) < above_threshold_alpha(QUERIES, 1, BETA)


def test_the_true_quantile_is_half_of_alpha():
    assert above_threshold_noise(100, 1, 0.05) == pytest.approx(32.7, abs=0.3)
    rng = np.random.default_rng(2)
    drawn = np.abs(rng.laplace(0, 4, (40_000, 100))).max(axis=1) + np.abs(rng.laplace(0, 2, 40_000))
    assert above_threshold_noise(100, 1, 0.05) == pytest.approx(np.quantile(drawn, 0.95), abs=0.15)
    assert above_threshold_noise(100, 0.5, 0.05) == pytest.approx(
        2 * above_threshold_noise(100, 1, 0.05)
    )


def test_the_quantile_of_one_query_is_that_of_two_noises():
    r"""P(|nu| + |rho| > a) = 2 e^(-a/4) - e^(-a/2), for scales 4 and 2."""
    for beta in (0.9, 0.5, 0.05):
        a = above_threshold_noise(1, 1, beta)
        assert 2 * np.exp(-a / 4) - np.exp(-a / 2) == pytest.approx(beta, rel=1e-6)


def test_printed_lemma_is_refuted_at_index_0():
    heights = np.array([100.0, 0.0])
    named = search(heights, 1000, seed=3)
    held = [
        losses(heights, named)[r] < above_threshold_alpha_printed(k, 1)
        for r, k in enumerate(named.tolist())
    ]
    assert above_threshold_alpha_printed(0, 1) == -inf
    assert np.mean(held) == 0  # claimed: 0.95


def test_printed_event_is_about_the_threshold_alone():
    """It bounds f + nu, which lies on its side of T + rho whatever the answers are."""
    heights = np.full(QUERIES, -30.0)
    rng = np.random.default_rng(4)
    rho = rng.laplace(0, 2, (RUNS, 1))
    noisy = heights + rng.laplace(0, 4, (RUNS, QUERIES))
    over = noisy > rho
    first = over.argmax(axis=1)
    found = over.any(axis=1)
    alpha = 8 * np.log(2 * (first + 1) / BETA)
    event = noisy[np.arange(RUNS), first] > -alpha
    assert event[found].all()
    assert (heights[first] > -alpha)[found].mean() < 1


def test_printed_index_counted_from_one():
    """Answers at the edge of what the printed bound allows, on either side, for each index."""
    edge = np.array([above_threshold_alpha_printed(k, 1, 0.5) for k in range(1, QUERIES + 1)])
    for heights in (-edge, edge, np.where(np.arange(QUERIES) % 2, edge, -edge)):
        named = search(heights, RUNS, seed=5)
        index = np.minimum(named + 1, QUERIES)
        failed = losses(heights, named) >= edge[index - 1]
        assert failed.mean() < 0.28 * 0.5**2


@pytest.mark.parametrize("beta", [0, 1, -1])
def test_refusals(beta):
    for bound in (above_threshold_alpha, above_threshold_alpha_sharp, above_threshold_noise):
        with pytest.raises(ParameterError, match="beta must be above 0 and below 1"):
            bound(10, 1, beta)
        with pytest.raises(ParameterError, match="queries must be at least 1, got 0"):
            bound(0, 1)
