"""Many coins at once: a byte each and rare additions, together exactly the coin."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.exact import Real, exp_neg
from sourdine.noise import SeededSource, bernoulli
from sourdine.noise.coins import _MANY, RARITY, _coin, _gaps, _ladder, _split, rare_lanes

N = 4_000_000
CHANCES = [
    Fraction(0),
    Fraction(1),
    Fraction(1, 10**6),
    Fraction(1, 3),
    Fraction(1, 2),
    Fraction(255, 512),
    Fraction(257, 512),
    Fraction(511, 512),
    Fraction(1, 256) + Fraction(1, 10**4),
    Fraction(999_999, 10**6),
]


@given(st.fractions(0, 1))
def test_the_parts_make_the_coin_exactly(p):
    split = _split(_coin(p))
    assert 0 <= split.byte <= 128
    a = Fraction(split.byte, 256)
    low, high = split.rare.chance.bounds(200)
    side = 1 - p if split.inverted else p
    kept = (side - a) * RARITY / (1 - a)
    assert 0 <= kept <= 1
    assert low <= kept * 2**200 <= high <= low + 2
    assert a + (1 - a) * kept / RARITY == side


@pytest.mark.parametrize("p", CHANCES, ids=str)
def test_frequency_of_many(p):
    heads = int(bernoulli(p, N, source=SeededSource(11)).sum())
    spread = float(N * p * (1 - p)) ** 0.5
    assert abs(heads - float(N * p)) <= 6.2 * spread + 1e-9  # once in a billion


@pytest.mark.parametrize("p", [exp_neg(1), exp_neg(1) / (1 + exp_neg(1)), 1 / (1 + exp_neg(3))])
def test_frequency_of_many_irrational(p):
    heads = bernoulli(p, N, source=SeededSource(12))
    spread = (N * float(p) * (1 - float(p))) ** 0.5
    assert abs(heads.sum() - N * float(p)) <= 6.2 * spread
    assert abs(heads.sum() - N * (float(p) + 0.005)) > 6.2 * spread  # the test would see it


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 300), Fraction(9, 10)], ids=str)
def test_lanes_are_independent(p, fits):
    """All patterns of three neighbours, and all places modulo 128, are as often as they should."""
    q = float(p)
    heads = bernoulli(p, 3_000_000, source=SeededSource(13))
    codes = heads.reshape(-1, 3) @ np.array([4, 2, 1])
    weights = [q ** c.bit_count() * (1 - q) ** (3 - c.bit_count()) for c in range(8)]
    assert fits(codes, weights)
    places = np.flatnonzero(heads) % RARITY
    assert fits(places, np.full(RARITY, 1 / RARITY))


def test_gaps_follow_their_law(fits):
    lanes = rare_lanes(20_000_000, SeededSource(14))
    assert (np.diff(lanes) > 0).all()
    assert lanes[-1] < 20_000_000
    k = np.arange(1500)
    law = (127 / 128) ** k / 128
    law[-1] = (127 / 128) ** 1499
    gaps = np.diff(lanes, prepend=-1) - 1
    assert fits(gaps, law)


def test_marks_are_as_many_as_they_should_be():
    count = 10**8
    marks = len(rare_lanes(count, SeededSource(18)))
    spread = (count / 128) ** 0.5
    assert abs(marks - count / 128) < 6.2 * spread
    assert abs(marks - count / 127) > 6.2 * spread  # a rate of 1/127 would be seen


@pytest.mark.parametrize("bits", [64, 128])
def test_thresholds_are_enclosed(bits):
    low, high = _ladder(bits)
    for k in (0, 1, 100, 5000, len(low) - 1):
        exact = (1 - Fraction(127, 128) ** (k + 1)) * 2**bits
        assert low[k] <= exact <= high[k] <= low[k] + 2
    assert Fraction(127, 128) ** len(low) * 2**bits < 1


def test_the_slow_stage_follows_the_law_too(fits):
    """Every lane through the 64-bit search."""
    law = (127 / 128) ** np.arange(1500) / 128
    law[-1] = (127 / 128) ** 1499
    words = np.frombuffer(SeededSource(15).bytes(2 * 300_000), "<u2")
    assert fits(_gaps().resolve(words, SeededSource(16)), law)


@pytest.mark.slow
def test_the_first_lanes_are_marked_as_often_as_any():
    source = SeededSource(19)
    marks = np.bincount(np.concatenate([rare_lanes(4, source) for _ in range(25_600)]), minlength=4)
    assert (np.abs(marks - 200) < 6.2 * 200**0.5).all()


def test_a_second_round_of_gaps_goes_on_where_the_first_ended(monkeypatch):
    """With no room to spare in a round, many rounds must give the same law."""
    monkeypatch.setattr("sourdine.noise.coins.isqrt", lambda n: -(n // 7))
    count = 10**7
    marks = rare_lanes(count, SeededSource(20))
    assert abs(len(marks) - count / 128) < 6.2 * (count / 128) ** 0.5
    assert (np.diff(marks) > 0).all()


def test_a_coin_with_two_open_bytes_takes_the_other_path():
    near = Real.of(Fraction(1, 3)) * 3 / 256  # 1/256, but its bounds never meet
    assert _split(_coin(near)) is None
    heads = bernoulli(near, _MANY * 8, source=SeededSource(17))
    assert abs(heads.mean() - 1 / 256) < 6.2 * (1 / 256 / heads.size) ** 0.5
