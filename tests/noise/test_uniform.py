from __future__ import annotations

import numpy as np
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.noise import uniform_below
from sourdine.noise.source import _below_each


@pytest.mark.parametrize("k", [3, 10, 100, 1000, 2047])
def test_all_words_of_16_bits_fall_evenly(k, scripted):
    words = np.arange(65536, dtype="<u2")
    source = scripted(words.tobytes())
    got = uniform_below(k, 65536, source=source)
    refused = 65536 % k
    assert 2 * refused <= source.beyond <= 2.2 * refused + 8
    # the refused lanes were drawn again: take them out by the words that were refused
    accepted = (words.astype(np.uint64) * k) % 65536 >= refused
    assert np.bincount(got[accepted], minlength=k).tolist() == [65536 // k] * k


@pytest.mark.parametrize("k", [3, 2**40 + 1, 2**63 - 1, 2**62 + 1])
def test_words_of_64_bits_are_refused_below_the_remainder(k, scripted):
    refused = 2**64 % k
    for word in (refused, refused + 1, 2**64 - 1, refused + k):
        if word >= 2**64:
            continue
        source = scripted(scripted.words(word))
        assert _below_each(np.array([k]), None, source)[0] == word % k
        assert source.beyond == 0
    if refused:
        source = scripted(scripted.words(refused - 1))
        _below_each(np.array([k]), None, source)
        assert source.beyond > 0


@pytest.mark.parametrize("k", [1, 2, 7, 64, 1000, 2048, 5000])
def test_law(k, fits, source):
    assert fits(uniform_below(k, 10**6, source=source), np.full(k, 1 / k))


@pytest.mark.parametrize("k", [2**31 + 11, 2**40, 3 * 2**61, 2**63])
def test_law_of_large_ranges(k, fits, source):
    draws = uniform_below(k, 10**5, source=source)
    assert draws.min() >= 0
    assert int(draws.max()) < k
    assert fits((draws / k * 64).astype(int), np.full(64, 1 / 64))
    assert fits(draws % 64, np.full(64, 1 / 64))


def test_the_test_of_fit_rejects_a_wrong_range(fits, source):
    assert not fits(uniform_below(98, 10**6, source=source), np.full(100, 1 / 100))
    assert not fits(uniform_below(102, 10**6, source=source), np.full(100, 1 / 100))


@pytest.mark.parametrize("k", [1, 3, 255, 256, 257, 2**63 + 1, 3**100])
def test_one(k, source):
    draws = [uniform_below(k, source=source) for _ in range(300)]
    assert all(type(d) is int and 0 <= d < k for d in draws)
    assert k == 1 or max(draws) > 0.95 * (k - 1)


def test_each_lane_its_own_range(fits, source):
    ranges = np.tile([1, 2, 3, 10, 2**60], 10**5)
    draws = uniform_below(ranges, source=source).reshape(-1, 5)
    assert not draws[:, 0].any()
    for column, k in ((1, 2), (2, 3), (3, 10)):
        assert fits(draws[:, column], np.full(k, 1 / k))
    assert fits(draws[:, 4] >> 54, np.full(64, 1 / 64))
    assert uniform_below(np.ones((2, 3), int)).shape == (2, 3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: uniform_below(0), ParameterError, "k must be at least 1, got 0"),
        (lambda: uniform_below(2.0), ParameterTypeError, "k must be a whole number, got 2.0"),
        (lambda: uniform_below(2**63 + 1, 5), ParameterError, r"k must be at most 2\*\*63 for an"),
        (lambda: uniform_below(np.array([0, 1])), ParameterError, "k must be at least 1"),
        (
            lambda: uniform_below(np.array([1, 1]), 3),
            ParameterError,
            "size must equal the shape of k",
        ),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
