from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import Real, exp_neg
from sourdine.noise import SeededSource, bernoulli, bernoulli_exp, bernoulli_table

CHANCES = [
    Fraction(1, 3),
    Fraction(1, 2),
    Fraction(1, 1000),
    Fraction(255, 256),
    Fraction(1, 2**40),
]


def oracle(p: Fraction, data: bytes) -> bool:
    """W < p for W whose bits are the bytes, first bit first."""
    return Fraction(int.from_bytes(data, "big"), 1 << 8 * len(data)) < p


@pytest.mark.parametrize("p", [*CHANCES, exp_neg(1), exp_neg(1) / (1 + exp_neg(1)), 0.0001])
def test_frequency(p, fits, source):
    truth = float(p)
    assert fits(bernoulli(p, 10**6, source=source).astype(int), [1 - truth, truth])


@pytest.mark.parametrize("error", [0.99, 1.01])
def test_frequency_test_has_power(error, fits, source):
    assert not fits(bernoulli(Fraction(1, 3), 10**6, source=source) * 1, [1 - error / 3, error / 3])


@pytest.mark.parametrize("p", [*CHANCES, Fraction(0), Fraction(1), Fraction(1, 256)])
def test_every_byte_and_its_continuation_decide_as_the_ideal_uniform(p, scripted):
    open_heads = 0 if (p * 256).denominator == 1 else 1
    tie = int(p * 2**64) % 2**56
    for following in {0, 1, 2**56 - 1, max(tie - 1, 0), min(tie + 1, 2**56 - 1)} - {tie}:
        script = bytes(range(256)) + scripted.words(*[following << 8] * open_heads)
        source = scripted(script)
        got = bernoulli(p, 256, source=source)
        want = [oracle(p, bytes([head]) + following.to_bytes(7, "big")) for head in range(256)]
        assert got.tolist() == want
        assert source.beyond == 0


@pytest.mark.parametrize("following", [0, 2**64 - 1])
def test_ties_on_64_bits_are_decided_by_more(following, scripted):
    p = Fraction(1, 3)
    word = 2**64 // 3
    head, rest = word >> 56, (word % 2**56) << 8
    source = scripted(bytes([head]) + scripted.words(rest, following))
    assert bernoulli(p, 1, source=source)[0] == (following == 0)
    assert source.beyond == 0
    assert bernoulli(p, source=scripted(scripted.words(word, following))) == (following == 0)


def test_a_dyadic_product_whose_bounds_never_meet_is_still_decided(scripted):
    quarter = Real.of(Fraction(1, 3)) * Real.of(Fraction(3, 4))
    heads = bytes([62, 63, 64, 65])
    got = bernoulli(quarter, 4, source=scripted(heads))
    assert got.tolist() == [True, True, False, False]


def test_table_draws_each_lane_with_its_own_coin(fits, source):
    chances = [Fraction(1, 3), exp_neg(2), 0, 1, 0.999]
    codes = np.tile(np.arange(5), 200_000)
    got = bernoulli_table(chances, codes, source=source).reshape(-1, 5)
    assert not got[:, 2].any()
    assert got[:, 3].all()
    for column in (0, 1, 4):
        truth = float(chances[column])
        assert fits(got[:, column] * 1, [1 - truth, truth])


def test_table_decides_the_same_bits_as_single_coins(scripted):
    chances = [Fraction(1, 3), exp_neg(1), Fraction(1), Fraction(0), Fraction(1, 2**70)]
    for chance in chances:
        script = bytes(range(256)) + SeededSource(9).bytes(8)
        one = bernoulli(chance, 256, source=scripted(script))
        table = bernoulli_table([0, chance], np.ones(256, int), source=scripted(script))
        assert np.array_equal(one, table)


def test_table_ties_on_64_bits_are_decided_by_more(scripted):
    word = 2**64 // 3
    for following in (0, 2**64 - 1):
        script = bytes([word >> 56]) + scripted.words((word % 2**56) << 8, following)
        got = bernoulli_table([Fraction(1, 3)], [0], source=scripted(script))
        assert got.tolist() == [following == 0]


def test_exp_lanes_follow_their_exponents(fits, source):
    got = bernoulli_exp(np.tile(np.arange(5), 200_000), Fraction(1, 3), source=source)
    for n, lane in enumerate(got.reshape(-1, 5).T):
        truth = np.exp(-n / 3)
        assert lane.all() if n == 0 else fits(lane * 1, [1 - truth, truth])


def test_exp_lanes_do_not_depend_on_the_filter(monkeypatch):
    multiples = np.arange(3000) % 7
    fast = bernoulli_exp(multiples, Fraction(2, 7), source=SeededSource(1))
    monkeypatch.setattr("sourdine.noise.coins.SLACK", 2.0)
    assert np.array_equal(fast, bernoulli_exp(multiples, Fraction(2, 7), source=SeededSource(1)))


def test_exp_takes_exponents_beyond_any_float():
    huge = np.array([0, 1, 2**63 - 1])
    assert bernoulli_exp(huge, 10**400).tolist() == [True, False, False]
    assert bernoulli_exp(huge, Fraction(1, 10**400)).tolist() == [True, True, True]


@given(st.fractions(0, 1), st.binary(min_size=8, max_size=8))
def test_scalar_decides_as_the_ideal_uniform(p, data):
    class Fixed:
        private = False

        def bytes(self, count):
            return data[:count]

    word = int.from_bytes(data, "little")
    repeated = Fraction(word, 2**64 - 1)
    if repeated != p:
        assert bernoulli(p, source=Fixed()) == (repeated < p)


def test_sizes():
    assert bernoulli(0.5) in (True, False)
    assert type(bernoulli(0.5)) is bool
    assert bernoulli(0.5, 0).shape == (0,)
    assert bernoulli(0.5, (2, 3)).shape == (2, 3)
    assert bernoulli_table([0.5], np.zeros((2, 0), int)).shape == (2, 0)
    assert bernoulli_exp(np.zeros((2, 3), int), 1).shape == (2, 3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: bernoulli(1.5), ParameterError, "p must be from 0 to 1, got 1.5"),
        (lambda: bernoulli(-1, 5), ParameterError, "p must be from 0 to 1, got -1"),
        (lambda: bernoulli(float("nan")), ParameterError, "p must be finite, got nan"),
        (lambda: bernoulli("1"), ParameterTypeError, "p must be a number, got '1'"),
        (lambda: bernoulli([0.5]), ParameterTypeError, "p must be a number"),
        (lambda: bernoulli(1 + exp_neg(1)), ParameterError, "p must be from 0 to 1, got a real"),
        (lambda: bernoulli(0.5, -1), ParameterError, "size must be at least 0, got -1"),
        (lambda: bernoulli(0.5, 2.0), ParameterTypeError, "size must be a whole number, got 2.0"),
        (lambda: bernoulli_table([0.5], [1]), ParameterError, "codes must be from 0 to 0"),
        (lambda: bernoulli_table([0.5], [0.0]), ParameterTypeError, "codes must be whole numbers"),
        (lambda: bernoulli_exp([-1], 1), ParameterError, "multiples must be at least 0"),
        (lambda: bernoulli_exp([1], -1), ParameterError, "rate must be at least 0, got -1"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
