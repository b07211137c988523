"""What a private computation tells of its rows, and how far a query chosen by it can be off."""

from __future__ import annotations

from math import comb, exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.adaptive.information import informed_width, likely_loss, privacy_to_validity
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE, Concentrated, Guarantee


def hoeffding(n, beta=0.05):
    return sqrt(log(2 / beta) / (2 * n))


@given(st.floats(0, 500), st.integers(10, 10**6), st.floats(1e-9, 0.9))
def test_information_bounds_the_chance(nats, n, beta):
    t = 2 * n * informed_width(nats, n, beta) ** 2 - log(2)  # the chance without looking is e^-t
    kl = beta * (log(beta) + t) + (1 - beta) * (log(1 - beta) - np.log1p(-exp(-t)))
    assert kl == pytest.approx(nats, rel=1e-6, abs=1e-6)
    assert t >= -log(beta) * (1 - 1e-9)


@pytest.mark.parametrize(("epsilon", "n"), [(0.1, 50), (0.5, 50), (1.0, 200), (0.05, 1000)])
@pytest.mark.parametrize("beta", [0.2, 0.01])
def test_likely_loss_of_randomised_response(epsilon, n, beta):
    """Each of n fair bits is told by randomised response: the ratio's law is binomial."""
    p = exp(epsilon) / (1 + exp(epsilon))
    agree = np.arange(n + 1)
    ratio = agree * log(2 * p) + (n - agree) * log(2 * (1 - p))
    law = np.array([comb(n, a) * p**a * (1 - p) ** (n - a) for a in agree])
    passed = law[ratio > likely_loss(epsilon, n, beta)].sum()
    assert passed <= beta
    assert law[ratio > likely_loss(epsilon / 4, n, beta)].sum() > passed


def test_privacy_covers_an_overfitting_query():
    """Sixty answers with Gaussian noise, then the query that they favour."""
    n, k, codes, sigma, rng = 4000, 60, 512, 0.01, np.random.default_rng(4)
    for _ in range(6):
        rows, favour = rng.integers(codes, size=n), np.zeros(codes)
        for _ in range(k):
            query = (rng.random(codes) < 0.5).astype(float)
            error = query[rows].mean() + rng.normal(0, sigma) - query.mean()
            favour += error * (query - 0.5)
        last = (favour > 0).astype(float)
        bias = last[rows].mean() - last.mean()
        spent = Concentrated.gaussian(1, (n * sigma) ** 2, SUBSTITUTE).times(k)
        assert 0.005 < bias <= privacy_to_validity(spent, n, 0.05)


def test_privacy_to_validity_of_each_kind():
    n = 10**4
    assert privacy_to_validity(0, n) == pytest.approx(hoeffding(n))
    assert privacy_to_validity(0.001, n) == privacy_to_validity(Concentrated(0.001, SUBSTITUTE), n)
    pure = privacy_to_validity(Guarantee(0.05, 0, SUBSTITUTE), n, 0.001)
    assert pure < privacy_to_validity(0.05**2 / 2, n, 0.001), "a bounded loss has light tails"
    assert pure > hoeffding(n, 0.001)
    with pytest.raises(ParameterTypeError, match="delta 0, got a Guarantee with delta above 0"):
        privacy_to_validity(Guarantee(1, 1e-6, SUBSTITUTE), n)
    for wrong in (Guarantee(1, relation=ADD_REMOVE), Concentrated(1, ADD_REMOVE)):
        with pytest.raises(ParameterError, match="the replacement of one record"):
            privacy_to_validity(wrong, n)
