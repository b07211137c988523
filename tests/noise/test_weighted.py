from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import Real, exp_neg
from sourdine.noise import categorical

WEIGHTS = [
    [1, 2, 3],
    [0, 1, 0, 5, 0],
    [Fraction(1, 3), 0.25, 10],
    [exp_neg(0), exp_neg(1), exp_neg(2), exp_neg(3)],
    [Real.of(0), exp_neg(5), Fraction(1, 7), 2],
    [exp_neg(300), exp_neg(301)],
]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_law(weights, fits, source):
    logs = [float(w) for w in weights]
    draws = categorical(weights, 10**6, source=source)
    assert fits(draws, np.array(logs) / sum(logs))
    zero = [i for i, w in enumerate(logs) if w == 0]
    assert not np.isin(draws, zero).any()


def test_weights_beyond_64_bits(fits, source):
    draws = categorical([3**50, 2 * 3**50, Fraction(3**50, 7)], 20_000, source=source)
    assert fits(draws, np.array([7, 14, 1]) / 22)


@pytest.mark.parametrize("error", [0.98, 1.02])
def test_the_test_of_fit_rejects_wrong_weights(error, fits, source):
    draws = categorical([1, error, exp_neg(1)], 10**6, source=source)
    assert not fits(draws, np.array([1, 1, np.exp(-1)]) / (2 + np.exp(-1)))


def test_ties_on_64_bits_are_decided_by_more(scripted, exp_oracle):
    exact = 1 / (1 + exp_oracle(1))
    tie = int(exact * 2**64)
    rest = int((exact * 2**64 - tie) * 2**64)
    for step in (-1, 1):
        head = (tie >> 48).to_bytes(2, "little")
        source = scripted(head + scripted.words((tie % 2**48) << 16, rest + step))
        assert categorical([1, exp_neg(1)], source=source) == (step > 0)
        assert source.beyond == 0


def test_sizes():
    assert type(categorical([1, 1])) is int
    assert type(categorical([1, exp_neg(1)])) is int
    assert categorical([1, 1], (2, 0)).shape == (2, 0)
    assert categorical([1], 5).tolist() == [0] * 5
    assert categorical([exp_neg(1)], 5).tolist() == [0] * 5


@pytest.mark.parametrize(
    ("weights", "error", "text"),
    [
        ([], ParameterError, "weights must hold at least one number"),
        ([0, 0], ParameterError, "weights must hold at least one above 0"),
        ([Real.of(0), 0], ParameterError, "weights must hold at least one distinguishable from 0"),
        ([-1, 2], ParameterError, r"weights\[0\] must be at least 0, got -1"),
        (["a"], ParameterTypeError, r"weights\[0\] must be a number, got 'a'"),
        ([float("nan")], ParameterError, r"weights\[0\] must be finite, got nan"),
    ],
)
def test_errors(weights, error, text):
    with pytest.raises(error, match=text):
        categorical(weights, 3)
