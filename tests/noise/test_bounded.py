from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.noise import SeededSource, bounded_laplace, truncated_geometric
from sourdine.noise.bounded import _BoundedLaw
from sourdine.noise.source import LazyUniform


def law(x, top, decay):
    weights = np.exp(-float(decay) * np.abs(np.arange(top + 1) - x))
    return weights / weights.sum()


@pytest.mark.quick_cases(9)
@pytest.mark.parametrize("decay", [Fraction(1, 3), Fraction(1, 10**9), Fraction(1, 50), 5])
@pytest.mark.parametrize(("x", "top"), [(0, 10), (10, 10), (3, 10), (37, 200), (0, 0)])
def test_law(x, top, decay, fits, source):
    draws = bounded_laplace(x, top, decay, 200_000, source=source)
    assert fits(draws, law(x, top, decay))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("error", [0.7, 0.97, 1.03, 1.3])
def test_the_test_of_fit_rejects_a_wrong_decay(error, fits, source):
    draws = bounded_laplace(20, 100, Fraction(str(error)) / 10, 10**6, source=source)
    assert not fits(draws, law(20, 100, 0.1))


def test_each_lane_its_own_centre(fits, source):
    x = np.tile([0, 4, 9], 10**5)
    draws = bounded_laplace(x, 9, Fraction(1, 2), source=source).reshape(-1, 3)
    for column, centre in enumerate((0, 4, 9)):
        assert fits(draws[:, column], law(centre, 9, 0.5))


def test_large_tops(fits, source):
    top, scale = 2**31, 2.0**27
    draws = bounded_laplace(top // 2, top, Fraction(1, 2**27), 10**5, source=source)
    edges = np.linspace(-8, 8, 129)
    below = np.where(edges < 0, np.exp(edges), 2 - np.exp(-np.abs(edges))) - np.exp(-8)
    cells = np.diff(below / below[-1])
    assert fits(np.searchsorted(edges, (draws - top // 2) / scale) - 1, cells)
    assert fits(draws % 64, np.full(64, 1 / 64))


def cumulative(x, top, decay, exp_oracle):
    powers = [exp_oracle(decay * k) for k in range(top + 1)]
    weights = [powers[abs(y - x)] for y in range(top + 1)]
    total = sum(weights)
    return [sum(weights[: y + 1]) / total for y in range(top + 1)]


@pytest.mark.parametrize("decay", [Fraction(1, 3), Fraction(1, 10**12), Fraction(7)])
@pytest.mark.parametrize(("x", "top"), [(0, 6), (2, 6), (6, 6)])
def test_words_at_every_step_and_their_continuations_decide_as_the_ideal(
    x, top, decay, scripted, exp_oracle
):
    steps = cumulative(x, top, decay, exp_oracle)
    for exact in steps[:-1]:
        tie = int(exact * 2**64)
        rest = int((exact * 2**64 - tie) * 2**64)
        for word, following in [(tie - 1, 0), (tie + 1, 0), (tie, rest - 1), (tie, rest + 1)]:
            if not (0 <= word < 2**64 and 0 <= following < 2**64):
                continue
            w = Fraction(word << 64 | following, 1 << 128)
            got = bounded_laplace(x, top, decay, source=scripted(scripted.words(word, following)))
            assert got == sum(1 for s in steps if s <= w)


@pytest.mark.slow
@given(
    st.integers(0, 40),
    st.integers(0, 40),
    st.fractions(Fraction(1, 10**15), 20),
    st.integers(0, 2**32),
)
@settings(max_examples=60, deadline=None)
def test_the_filter_never_contradicts_the_exact_search(x, more, decay, seed):
    check_against_exact(np.full(40, x), x + more, decay, seed)


@pytest.mark.grid(quick=0, slow=1)
@pytest.mark.parametrize("top", [2**20, 2**31, 2**45, 2**52])
@pytest.mark.parametrize("decay", [Fraction(1, 10**3), Fraction(1, 10**9), Fraction(1, 10**15)])
def test_the_filter_never_contradicts_the_exact_search_on_large_grids(top, decay):
    x = np.random.default_rng(1).integers(0, top, 40)
    check_against_exact(x, top, decay, 5)
    check_against_exact(top - np.arange(40), top, decay, 6)
    check_against_exact(top // 2 + np.arange(40), top, decay, 7)


def check_against_exact(x, top, decay, seed):
    bounded = _BoundedLaw(top, Fraction(decay))
    words = np.frombuffer(SeededSource(seed).bytes(8 * x.size), "<u8")
    with np.errstate(all="ignore"):
        guess, decided = bounded._guess(x, words)
    for lane in np.flatnonzero(decided):
        uniform = LazyUniform(SeededSource(0), int(words[lane]), 64)
        assert bounded._exact(int(x[lane]), top // 3, uniform) == guess[lane]


def test_nearly_all_lanes_are_decided_by_the_filter():
    x = np.arange(10_000)
    words = np.frombuffer(SeededSource(1).bytes(80_000), "<u8")
    for decay in (Fraction(1, 10**12), Fraction(1, 100), Fraction(1), Fraction(1000)):
        with np.errstate(all="ignore"):
            _, decided = _BoundedLaw(10_000, decay)._guess(x, words)
        assert decided.mean() > 0.999


def test_truncated_geometric_law(fits, source):
    weights = np.exp(-np.arange(21) / 7)
    draws = truncated_geometric(Fraction(1, 7), 20, 300_000, source=source)
    assert fits(draws, weights / weights.sum())


def test_sizes():
    assert type(bounded_laplace(3, 10, 1)) is int
    assert bounded_laplace(3, 10, 1, (2, 3)).shape == (2, 3)
    assert bounded_laplace(3, 10, 1, 0).shape == (0,)
    assert bounded_laplace(np.zeros((2, 3), int), 10, 1).shape == (2, 3)
    assert bounded_laplace(np.zeros(0, int), 10, 1).shape == (0,)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: bounded_laplace(11, 10, 1), ParameterError, "x must be from 0 to 10"),
        (lambda: bounded_laplace(-1, 10, 1), ParameterError, "x must be from 0 to 10"),
        (lambda: bounded_laplace(1, -1, 1), ParameterError, "top must be at least 0, got -1"),
        (lambda: bounded_laplace(1, 2**53, 1), ParameterError, r"top must be at most 2\*\*52"),
        (lambda: bounded_laplace(1, 10, 0), ParameterError, "decay must be above 0, got 0"),
        (lambda: bounded_laplace(0.5, 10, 1), ParameterTypeError, "x must be whole numbers"),
        (
            lambda: bounded_laplace(np.ones(3, int), 5, 1, 4),
            ParameterError,
            "size must equal the shape of x",
        ),
        (lambda: truncated_geometric(-1, 5), ParameterError, "r must be above 0, got -1"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
