"""Intervals from supports, against laws that are written down in full."""

from __future__ import annotations

from math import exp
from time import process_time

import numpy as np
import pytest
from scipy.special import gammaln, xlog1py, xlogy

from sourdine.local.estimators.frequencies import (
    SLACK,
    SWITCH,
    _convolved,
    _saddlepoint,
    population_ends,
    sample_ends,
    tail,
)

CHANCES = [
    (chance * exp(eps), chance)
    for eps in (0.2, 1, 4)
    for chance in (1 / (exp(eps) + 1), 1 / (exp(eps) + 9))
] + [(0.5, 1 / (exp(eps) + 1)) for eps in (0.2, 1, 4)]
"""Of randomised response with 2 and 10 categories, and of unary encoding."""


def binomial(n, p):
    i = np.arange(n + 1.0)
    ways = gammaln(n + 1) - gammaln(i + 1) - gammaln(n - i + 1)
    return np.exp(ways + xlogy(i, p) + xlog1py(n - i, -p))


def law(j, n, p, q):
    """The law of the number of supporters, by plain convolution."""
    return np.convolve(binomial(j, p), binomial(n - j, q))


@pytest.mark.parametrize("n", [1, 7, 50])
@pytest.mark.parametrize(("p", "q"), [*CHANCES, (0.999, 1e-6), (1.0, 0.0)])
def test_tails_are_those_of_the_law(n, p, q):
    c, j = np.meshgrid(np.arange(-1, n + 3), np.arange(n + 1))
    laws = np.array([law(k, n, p, q) for k in range(n + 1)])
    upper = np.cumsum(laws[:, ::-1], axis=1)[:, ::-1]
    known = np.column_stack([np.ones(n + 1), upper, np.zeros((n + 1, 2))])
    assert np.allclose(tail(c, j, n, p, q), known, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(("p", "q"), [*CHANCES, (0.98, 3e-4), (0.9999, 1e-4), (0.01, 0.001)])
@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.9, 1])
def test_the_two_tails_agree_at_the_switch(p, q, share):
    spread = share * p * (1 - p) + (1 - share) * q * (1 - q)
    n = int(np.ceil(SWITCH / spread))
    j, sd = round(share * n), (n * spread) ** 0.5
    mean = j * p + (n - j) * q
    c = np.unique(np.clip(np.round(mean + sd * np.linspace(-8.5, 8.5, 300)), 1, n)).astype(int)
    where = c, np.full(c.shape, j), n, np.full(c.shape, p), np.full(c.shape, q)
    exact, quick = _convolved(*where), _saddlepoint(*where)
    seen = exact > 1e-15
    assert np.all(np.abs(quick - exact)[seen] < SLACK / 2 * exact[seen])


@pytest.mark.grid(quick=0)
@pytest.mark.parametrize("miss", [0.05, 0.5, 1e-6])
@pytest.mark.parametrize("n", [5, 50, 200])
@pytest.mark.parametrize(("p", "q"), CHANCES)
def test_sample_intervals_cover_every_share(p, q, n, miss):
    low, high = sample_ends(np.arange(n + 1), n, p, q, miss)
    assert np.all((low >= 0) & (low <= high) & (high <= 1))
    assert np.all(np.diff(low) >= 0), "more supporters, a larger share"
    assert np.all(np.diff(high) >= 0)
    for j in range(0, n + 1, max(1, n // 25)):
        inside = (low <= j / n) & (j / n <= high)
        assert law(j, n, p, q)[inside].sum() >= 1 - miss - 1e-12


@pytest.mark.grid
@pytest.mark.parametrize("miss", [0.05, 0.5, 1e-6])
@pytest.mark.parametrize("n", [5, 50, 2000])
@pytest.mark.parametrize(("p", "q"), CHANCES)
def test_population_intervals_cover_every_share(p, q, n, miss):
    low, high = population_ends(np.arange(n + 1), n, p, q, miss)
    assert np.all((low >= 0) & (low <= high) & (high <= 1))
    for f in np.linspace(0, 1, 41):
        inside = (low <= f + 1e-12) & (f - 1e-12 <= high)
        assert binomial(n, f * p + (1 - f) * q)[inside].sum() >= 1 - miss - 1e-9


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.02), (0.86, 0.016), (0.73, 0.27)])
def test_short_ends_are_those_of_blaker(p, q):
    n, miss, f = 30, 0.05, np.linspace(0, 1, 4001)
    laws = np.array([binomial(n, r) for r in f * p + (1 - f) * q])
    rarer = np.minimum(np.cumsum(laws, axis=1), np.cumsum(laws[:, ::-1], axis=1)[:, ::-1])
    low, high = population_ends(np.arange(n + 1), n, p, q, miss)
    for c in range(round(n * q) + 1, round(n * p)):
        together = np.where(rarer <= rarer[:, [c]] * (1 + 1e-12), laws, 0).sum(axis=1)
        held = f[together > miss]
        assert low[c] == pytest.approx(held[0], abs=3e-4)
        assert high[c] == pytest.approx(held[-1], abs=3e-4)


def test_few_supporters_have_short_intervals():
    n, p, q = 50, 0.5, 1 / (exp(4) + 1)
    low, _ = sample_ends(np.arange(n + 1), n, p, q, 0.05)
    exact = [[law(j, n, p, q)[c:].sum() > 0.025 for j in range(n + 1)] for c in range(n + 1)]
    tails = np.argmax(exact, axis=1) / n
    assert np.all(low[:20] >= tails[:20])
    assert np.any(low[:20] > tails[:20])


@pytest.mark.parametrize("share", [0, 0.003, 0.05, 0.5])
def test_large_surveys_are_covered_and_their_intervals_short(share):
    n, p, q = 8000, 0.5, 1 / (exp(1) + 1)
    j = round(share * n)
    known = law(j, n, p, q)
    c = np.flatnonzero(known > 1e-12)
    low, high = sample_ends(c, n, p, q, 0.05)
    inside = (low <= j / n) & (j / n <= high)
    assert 0.95 <= known[c][inside].sum() < 0.98
    plain = 2 * 1.96 * np.sqrt(share * p * (1 - p) + (1 - share) * q * (1 - q)) / (p - q) / n**0.5
    middle = np.searchsorted(np.cumsum(known[c]), 0.5)
    width = (high - low)[middle]
    assert (0.98 if share > 0.04 else 0.45) * plain < width < 1.02 * plain


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize(("p", "q"), CHANCES)
@pytest.mark.parametrize("n", [50, 3000])
def test_no_survey_is_sure_that_nobody_is(p, q, n):
    c = np.arange(0, n + 1, n // 50)
    for ends in (sample_ends, population_ends):
        low, high = ends(c, n, p, q, 0.01)
        assert np.all(low <= high)
        assert np.all(high > 0) or (1 - p) / (1 - q) <= 0.01
        assert np.all(low < 1) or q / p <= 0.01
    if p < 0.9:
        assert sample_ends([0], n, p, q, 0.01)[1] * n > 1, "no survey was ever so unlucky"


def test_unlikely_reports_are_taken_as_they_are():
    for n in (1, 10, 10**6, 10**9):
        for c in (0, n):
            for ends in (sample_ends, population_ends):
                low, high = ends([c], n, 0.5, 0.27, 0.05)
                assert 0 <= low[0] <= high[0] <= 1
    assert [e.tolist() for e in sample_ends([0, 0], 0, 0.5, 0.2, 0.05)] == [[0, 0], [1, 1]]
    assert [e.tolist() for e in population_ends([0], 0, 0.5, 0.2, 0.05)] == [[0], [1]]


def test_chances_may_differ_between_categories():
    p, q = np.array([0.7, 0.8]), np.array([0.2, 0.3])
    for ends in (sample_ends, population_ends):
        both = ends([40, 60], 100, p, q, 0.05)
        alone = [ends([c], 100, p[i], q[i], 0.05) for i, c in enumerate((40, 60))]
        assert np.allclose(both, np.transpose(alone)[0])


def test_a_thousand_categories_take_no_time():
    c = np.random.default_rng(1).binomial(10**6, 0.27, 1000)
    sample_ends(c[:2], 10**6, 0.5, 0.27, 0.05)
    start = process_time()
    sample_ends(c, 10**6, 0.5, 0.27, 0.05)
    population_ends(c, 10**6, 0.5, 0.27, 0.05)
    assert process_time() - start < 0.5
