from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.noise import SeededSource, discrete_gaussian
from sourdine.noise.gaussian import _GaussianBits, _GaussianLaw
from sourdine.noise.laplace import FEW, BlockTable

VARIANCES = [Fraction(1, 4), 1, 30, 10**4, 128**2, 10**6]


def binned(draws, variance, gaussian):
    sigma = float(variance) ** 0.5
    width = max(1, int(sigma / 40))
    reach = width * (int(9 * sigma) // width + 9)
    law = gaussian(variance, reach)
    cells = np.add.reduceat(law, np.arange(0, law.size, width))
    return np.clip((draws + reach) // width, 0, cells.size - 1), cells


@pytest.mark.parametrize("variance", VARIANCES)
def test_law_of_many(variance, fits, gaussian, source):
    draws = discrete_gaussian(variance, 10**6, source=source)
    assert fits(*binned(draws, variance, gaussian))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("variance", VARIANCES)
def test_law_of_few(variance, fits, gaussian, source):
    draws = [discrete_gaussian(variance, FEW - 1, source=source) for _ in range(10)]
    assert fits(*binned(np.concatenate(draws), variance, gaussian))


@pytest.mark.slow
@pytest.mark.parametrize("variance", [1, 400])
def test_law_of_one(variance, fits, gaussian, source):
    draws = np.array([discrete_gaussian(variance, source=source) for _ in range(20_000)])
    assert fits(*binned(draws, variance, gaussian))


@pytest.mark.quick_cases(7)
@pytest.mark.parametrize("error", [0.7, 0.97, 1.03, 1.3])
@pytest.mark.parametrize("variance", [1, 10**6])
def test_the_test_of_fit_rejects_a_wrong_scale(variance, error, fits, gaussian, source):
    wrong = Fraction(str(error)) ** 2 * variance
    draws = discrete_gaussian(wrong, 10**6, source=source)
    assert not fits(*binned(draws, variance, gaussian))
    if abs(error - 1) > 0.1:
        few = discrete_gaussian(wrong, FEW - 1, source=source)
        assert not fits(*binned(few, variance, gaussian))


@pytest.mark.parametrize("sigma", [128, 1000, 10**6])
def test_low_digits_of_large_scales(sigma, fits, source):
    draws = discrete_gaussian(sigma**2, 10**6, source=source)
    assert fits(np.mod(draws, 64), np.full(64, 1 / 64))


@pytest.mark.parametrize("sigma", [2**30, 2**52])
def test_law_of_large_scales(sigma, fits, source):
    draws = discrete_gaussian(sigma**2, 10**6, source=source)
    edges = np.linspace(-7, 7, 301)
    cells = np.diff(np.concatenate([[0], ndtr(edges), [1]]))
    assert fits(np.searchsorted(edges * sigma, draws), cells)


def forced(variance, shift, count, source, *, search=False):
    blocks = BlockTable(_GaussianLaw(Fraction(variance), shift))
    blocks._sure = np.zeros((), blocks._word)
    if search:
        blocks._steps.table[:] = blocks._steps.undecided
        blocks._steps._low[:] = 0
    out = np.empty(count, np.int64)
    blocks.fill(out, source)
    return out


def test_law_when_every_coin_takes_the_second_look(fits, gaussian, source):
    assert fits(*binned(forced(20_000, 1, 10**5, source), 20_000, gaussian))


def test_law_when_everything_is_decided_with_integers(fits, gaussian, source, monkeypatch):
    monkeypatch.setattr("sourdine.noise.coins.SLACK", 2.0)
    draws = forced(20_000, 1, 4000, source, search=True)
    assert fits(*binned(draws, 20_000, gaussian))


def test_few_do_not_depend_on_the_filter(monkeypatch):
    fast = [discrete_gaussian(50, 500, source=SeededSource(i)) for i in range(5)]
    one = [discrete_gaussian(50, source=SeededSource(i)) for i in range(200)]
    monkeypatch.setattr("sourdine.noise.coins.SLACK", 2.0)
    monkeypatch.setattr("sourdine.noise.gaussian.SLACK", 2.0)
    assert np.array_equal(
        fast, [discrete_gaussian(50, 500, source=SeededSource(i)) for i in range(5)]
    )
    assert one == [discrete_gaussian(50, source=SeededSource(i)) for i in range(200)]


def test_a_tied_coin_of_one_is_decided_by_more_bits(scripted, exp_oracle):
    bits = _GaussianBits(Fraction(4))
    zero = b"\xff" * (4 * len(bits._proposals._chances))
    chance = exp_oracle(Fraction(4, 3) ** 2 / 8)
    tie = int(chance * 2**64)
    rest = int((chance * 2**64 - tie) * 2**64)
    kept = scripted(zero + scripted.words(tie, rest - 1))
    assert bits.one(kept) == 0
    assert kept.beyond == 0
    refused = scripted(zero + scripted.words(tie, rest + 1))
    bits.one(refused)
    assert refused.beyond > 0


def test_values_beyond_64_bits_saturate(source):
    draws = discrete_gaussian(Fraction(10**60), 30_000, source=source)
    assert np.all(np.abs(draws.astype(float)) >= 2.0**62)
    assert abs((draws > 0).mean() - 0.5) < 0.02
    assert abs(discrete_gaussian(10**60, source=source)) >= 2**62
    assert _GaussianBits(Fraction(10**60)).word(source).bit_length() > 64


def test_tiny_variances(source):
    for variance in (1e-6, Fraction(1, 10**400)):
        assert not discrete_gaussian(variance, 30_000, source=source).any()
        assert not discrete_gaussian(variance, 300, source=source).any()
        assert discrete_gaussian(variance, source=source) == 0


def test_sizes():
    assert type(discrete_gaussian(3)) is int
    assert discrete_gaussian(3, 0).shape == (0,)
    assert discrete_gaussian(3, (2, 5)).shape == (2, 5)
    assert discrete_gaussian(3, (200, 300)).dtype == np.int64


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0, ParameterError, "variance must be above 0, got 0"),
        (-1.5, ParameterError, "variance must be above 0, got -1.5"),
        (float("nan"), ParameterError, "variance must be finite, got nan"),
        ("1", ParameterTypeError, "variance must be a number, got '1'"),
        (10**301, ParameterError, "variance must be at most 1e300"),
    ],
)
@pytest.mark.parametrize("size", [None, 10, 50_000])
def test_variance_errors(value, error, text, size):
    with pytest.raises(error, match=text):
        discrete_gaussian(value, size)
