"""Rates of densities under local privacy, and what two of them can be told by."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine_lab import bounds as b
from sourdine_lab.experiments.dubois.hardest import dense, sparse


@pytest.mark.parametrize(("s", "r"), [(1.0, 3.0), (2.0, 4.0), (0.75, 6.0)])
def test_density_rates_meet_at_the_elbow(s, r):
    p, n = r / (s + 1), 10**12
    here, there = (b.density_rate(n, 1, s=s, p=p + step, r=r) for step in (0, 1e-9))
    assert here == pytest.approx(there * np.log(n) ** (r * s / (2 * s + 2)), rel=1e-3)


@pytest.mark.parametrize(("s", "p", "r"), [(1, 2, 2), (2, 1, 2), (1, 1.5, 6), (2, 1, 9)])
def test_density_rates_fall_with_their_exponents(s, p, r):
    few, many = (b.density_rate(n, 0.5, s=s, p=p, r=r) for n in (10**20, 10**24))
    power = dense(s, r) if b.density_is_dense(s, p, r) else sparse(s, p, r)
    assert np.log(few / many) / np.log(10**4) == pytest.approx(float(power), rel=0.05)
    assert b.density_rate(10**6, 2, s=s, p=p, r=r) == pytest.approx(
        b.density_rate(4 * 10**6, 1, s=s, p=p, r=r)
    )


def test_privacy_costs_an_exponent():
    assert b.density_rate(10**9, 1, s=2, p=2, r=2) > 10 * b.density_rate_open(10**9, s=2, r=2)
    with pytest.raises(ParameterError, match="1/p must be"):
        b.density_rate(100, 1, s=0.4, p=2, r=2)


@pytest.mark.parametrize(("s", "p", "r"), [(1, 2, 2), (1.5, 4, 6), (1.5, 1.5, 6), (1.5, 1, 6)])
def test_lower_bounds_fall_with_the_exponents_of_the_rates(s, p, r):
    sizes = np.logspace(14, 40, 9)
    found = [b.density_risk_at_least(n, 1, s=s, p=p, r=r) for n in sizes]
    is_dense = b.density_is_dense(s, p, r)
    slope = np.polyfit(np.log(sizes if is_dense else sizes / np.log(sizes)), np.log(found), 1)[0]
    assert slope == pytest.approx(-(dense(s, r) if is_dense else sparse(s, p, r)), abs=0.03)
    larger = b.density_risk_at_least(1e20, 1, s=s, p=p, r=r, radius=3)
    assert larger > b.density_risk_at_least(1e20, 1, s=s, p=p, r=r, radius=1)


def test_lower_bound_is_below_what_an_estimator_reaches():
    """Randomised response on a histogram, at its best number of bins, on the same densities."""
    n, s = 10**6, 1
    keep = 2 * (np.exp(0.5) / (1 + np.exp(0.5))) - 1  # unary encoding at alpha 1
    risks = [4 * k**-2.0 + k * k / (n * keep**2) for k in 2 ** np.arange(1, 12)]
    assert b.density_risk_at_least(n, 1, s=s, p=2, r=2) < min(risks)


@pytest.mark.parametrize("alpha", [0.2, 1.0, 3.0])
def test_two_densities_are_told_no_better_than_allowed(alpha):
    """Shares of yes 1/2 and 1/2 + delta, by randomised response: the total variation, exactly."""
    from scipy.stats import binom

    n, delta = 200, 0.02
    keep = np.exp(alpha) / (1 + np.exp(alpha))
    yes = [keep * p + (1 - keep) * (1 - p) for p in (0.5, 0.5 + delta)]
    here, there = (binom.pmf(np.arange(n + 1), n, p) for p in yes)
    told = np.abs(here - there).sum() / 2
    risk = b.two_densities_risk(n, alpha, apart=2, variation=delta)
    assert 1 - 2 * risk >= 0
    assert told <= 1 - 2 * risk
    if alpha < 0.5:
        assert told > 0.3 * (1 - 2 * risk)  # and not by much less
