from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sourdine.noise import SeededSource, by_log_weight, by_weight, selection
from sourdine.noise.selection import by_few_log_weights, by_few_weights, by_running_sums
from sourdine.noise.source import LazyUniform

WEIGHTS = st.lists(
    st.one_of(st.just(0.0), st.floats(1e-300, 1e3), st.integers(1, 9).map(float)),
    min_size=1,
    max_size=8,
).filter(any)

stateless = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # it is a class


def oracle(weights, word, bits):
    """The index of a uniform known to so many bits, in rationals; None if they do not decide."""
    sums = list(accumulate(map(Fraction, weights)))
    low, high = (Fraction(end, 1 << bits) * sums[-1] for end in (word, word + 1))
    first = next(i for i, upper in enumerate(sums) if low < upper)
    last = next(i for i, upper in enumerate(sums) if high <= upper)
    return first if first == last else None


@pytest.mark.slow
@stateless
@given(WEIGHTS, st.integers(0, 2**64 - 1))
def test_by_weight_decides_like_integers(scripted, weights, word):
    """Whatever 64 bits come first, the index is the one that exact sums name."""
    source = scripted(scripted.words(word))
    expected = oracle(weights, word, 64)
    drawn = by_weight(np.array(weights), source=source)
    assert drawn == by_few_weights(weights, source=scripted(scripted.words(word)))
    assert weights[drawn] > 0
    if expected is not None:
        assert drawn == expected


@stateless
@given(WEIGHTS, st.data())
def test_by_weight_decides_at_the_boundaries(scripted, weights, data):
    """Words next to a boundary go to the integers, and are decided as they say."""
    total = sum(map(Fraction, weights))
    k = data.draw(st.integers(0, len(weights)))
    boundary = int(sum(map(Fraction, weights[:k])) / total * (1 << 64))
    word = min(max(boundary + data.draw(st.integers(-2, 2)), 0), (1 << 64) - 1)
    expected = oracle(weights, word, 64)
    drawn = by_weight(np.array(weights), source=scripted(scripted.words(word)))
    assert drawn == by_few_weights(weights, source=scripted(scripted.words(word)))
    assert expected is None or drawn == expected


@stateless
@given(WEIGHTS, st.data())
def test_sums_from_the_last_decide_as_in_reverse(scripted, weights, data):
    """The bits say which place, counted from the last, in the weights in reverse order."""
    total = sum(map(Fraction, weights))
    k = data.draw(st.integers(0, len(weights)))
    boundary = int(sum(map(Fraction, weights[:k])) / total * (1 << 64))
    word = min(max(boundary + data.draw(st.integers(-2, 2)), 0), (1 << 64) - 1)
    backwards, mirrored = np.array(weights[::-1]), (1 << 64) - 1 - word
    drawn = by_running_sums(
        np.add.accumulate(backwards),
        lambda: backwards,
        from_last=True,
        source=scripted(scripted.words(word)),
    )
    expected = oracle(weights, word, 64)
    assert expected is None or len(weights) - 1 - drawn == expected
    assert oracle(weights[::-1], mirrored, 64) in (None, drawn)
    assert backwards[drawn] > 0


def test_by_weight_does_not_trust_rounded_sums(scripted):
    """The sums of 400 tenths are rounded; the words around each boundary are decided exactly."""
    weights = [0.1] * 200 + [0.7, 1e-3] * 100
    sums = list(accumulate(map(Fraction, weights)))
    for k in range(0, 399, 7):
        boundary = int(sums[k] / sums[-1] * (1 << 64))
        for word, index in ((boundary - 1, k), (boundary + 1, k + 1)):
            assert by_weight(np.array(weights), source=scripted(scripted.words(word))) == index


def test_by_weight_is_the_exact_law(fits, source):
    weights = np.array([0.0, 1.0, 0.25, 3.0, 0.0, 1e-9, 2.5])
    draws = [by_weight(weights, source=source) for _ in range(20_000)]
    assert fits(draws, weights / weights.sum())
    skewed = weights * [1, 1, 1, 1.2, 1, 1, 1]
    assert not fits(draws, skewed / skewed.sum())


def test_by_weight_is_the_exact_law_by_integers_alone(fits, source):
    """The path of the integers, forced: the same law."""
    weights = np.array([0.5, 1.0, 0.0, 3.0, 2.0**-60])
    draws = []
    for _ in range(5000):
        word = int.from_bytes(source.bytes(8), "little")
        draws.append(selection._exactly(weights, LazyUniform(source, word, 64)))
    assert fits(draws, weights / weights.sum())


def test_by_weight_reads_more_bits_where_64_do_not_decide(scripted):
    """At a third, 64 bits never decide: both indices come, by the bits that follow."""
    word = (1 << 64) // 3
    drawn = {
        by_weight(np.array([1.0, 2.0]), source=scripted(scripted.words(word, following)))
        for following in (0, 2**64 - 1)
    }
    assert drawn == {0, 1}


@pytest.mark.slow
def test_by_log_weight_is_the_law(fits, source):
    logs = np.array([-3.0, -np.inf, 0.0, 1.5, -40.0, 1.0]) + 1000
    draws = [by_log_weight(logs, source=source) for _ in range(20_000)]
    law = np.exp(logs - 1000)
    assert fits(draws, law / law.sum())


@pytest.mark.slow
@pytest.mark.parametrize("deep", [0.5, 1.0, 3.0])
def test_by_log_weight_reaches_every_layer(deep, fits, source, monkeypatch):
    """With shallow layers most draws go through several of them: the law stays."""
    monkeypatch.setattr(selection, "DEEP", deep)
    logs = np.array([0.0, -0.3, -1.1, -1.9, -np.inf, -2.7, -4.0, -0.9, -3.1])
    draws = [by_log_weight(logs, source=source) for _ in range(20_000)]
    law = np.exp(logs)
    assert fits(draws, law / law.sum())
    assert set(draws) == set(np.flatnonzero(law).tolist())


@pytest.mark.parametrize("deep", [0.5, 600.0])
def test_few_log_weights_are_drawn_by_the_same_bits(deep, monkeypatch):
    monkeypatch.setattr(selection, "DEEP", deep)
    for logs in ((0.0, -0.2), (-3.0, 1.0, 0.4), (5.0, -np.inf), (0.0, -700.0), (-2.0,)):
        few = [by_few_log_weights(logs, source=SeededSource(seed)) for seed in range(200)]
        many = [by_log_weight(np.array(logs), source=SeededSource(seed)) for seed in range(200)]
        assert few == many


def test_by_log_weight_with_nothing_between_the_layers(source):
    logs = np.array([-100_000.0, -np.inf, -50_000.0])
    assert {by_log_weight(logs, source=source) for _ in range(50)} == {2}
    assert by_log_weight(logs[:2], source=source) == 0
