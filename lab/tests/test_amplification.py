"""The printed amplification against the exact loss of randomised response."""

from __future__ import annotations

from itertools import product
from math import e, exp, expm1, log, log1p

import numpy as np
import pytest

from sourdine.audit.exhaustive import worst_case
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE
from sourdine_lab.amplification import (
    SampledResponse,
    comparison,
    fixed_size,
    leak,
    plot,
    sampled_response,
)

RATES = [0.01, 0.1, 0.25, 0.5, 0.9, 0.99, 1]


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_randomised_response_loses_the_tight_epsilon(epsilon):
    for row in comparison(RATES, epsilon):
        assert abs(row.tight - log(1 + row.rate * (exp(epsilon) - 1))) < 1e-14
        assert abs(row.exact - row.tight) < 1e-12
        assert abs(row.other_exact - row.other) < 1e-12
        assert row.other <= row.tight
        assert row.printed_holds == (row.rate == 1)


def test_rows_of_the_lecture():
    rows = {row.rate: row for row in comparison(RATES)}
    assert round(rows[0.1].tight, 4) == 0.1586
    assert round(rows[0.5].tight, 4) == 0.6201
    assert all(row.printed <= row.exact <= row.proof for row in rows.values())
    assert rows[0.5].other == pytest.approx(-log(1 - 0.5 * (1 - 1 / e)))
    small = comparison([0.01], 2)[0]
    assert small.proof < small.exact, "twice the rate is no bound at epsilon 2"


@pytest.mark.parametrize(("sample", "of"), [(1, 1), (1, 4), (2, 4), (3, 7), (8, 8)])
def test_samples_of_fixed_size_lose_the_same(sample, of):
    row = fixed_size(sample, of)
    q = sample / of
    assert row.rate == q
    assert abs(row.exact - log1p(q * expm1(1))) < 1e-12
    assert abs(row.other_exact - row.other) < 1e-12


def test_no_small_data_set_is_worse():
    mechanism = sampled_response(1, rate=0.3)
    inputs = [np.array(x, int) for n in range(5) for x in product((0, 1), repeat=n)]
    worst = worst_case(mechanism, inputs)
    assert abs(worst.epsilon - float(mechanism.guarantee.epsilon)) < 1e-12


def test_laws_by_hand():
    q, lie = 0.3, 1 / (1 + e)
    law = sampled_response(1, rate=q).law(np.array([1, 1, 0]))
    some = 1 - (1 - q) ** 2
    assert law.pmf([1])[0] == pytest.approx(some * (1 - lie) + (1 - some) * lie, abs=1e-15)


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.95, 1])
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.3])
def test_delta_shrinks_by_the_rate(rate, delta):
    there, away = leak(rate, 1, delta)
    assert there == pytest.approx(rate * delta, rel=1e-9)
    assert away <= there * (1 + 1e-9)
    assert away == pytest.approx(delta * max(0, 1 - (1 - rate) * (1 + rate * (e - 1))), rel=1e-6)


def test_the_response_is_a_curators():
    assert SampledResponse(epsilon=1).guarantee.relation is ADD_REMOVE
    assert sampled_response(1, sample=1, of=2).guarantee.relation is SUBSTITUTE


def test_plot(tmp_path):
    plot(comparison(np.linspace(0.1, 1, 4)), path=str(tmp_path / "amplified.png"))
    assert (tmp_path / "amplified.png").stat().st_size > 10_000


def test_bad_parameters_are_told():
    with pytest.raises(ParameterError, match="rate must be above 0 and at most 1, got 0"):
        comparison([0])
    with pytest.raises(ParameterError, match="epsilon must be above 0"):
        comparison([0.5], 0)
    with pytest.raises(ParameterError, match="sample must be at most"):
        fixed_size(3, 2)
    with pytest.raises(ParameterTypeError, match="rate must be given, or else sample and n"):
        sampled_response(1)
