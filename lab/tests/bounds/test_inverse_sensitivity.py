"""Row C10: the inverse sensitivity mechanism for a quantile."""

from __future__ import annotations

from math import ceil, exp, sqrt

import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine_lab import bounds as b

SETS = 100


class Mechanism:
    """The exact law of the smoothed mechanism on samples of U(0, 1), one a row.

    Only the ``reach`` order statistics on either side of the quantile are drawn, from the
    representation by exponential variables; what lies beyond weighs e^(-reach epsilon/2).
    """

    def __init__(self, n, q, epsilon, rho, *, seed=0, reach=None):
        rng = np.random.default_rng(seed)
        m = ceil(q * n)
        reach = min(reach or ceil(60 / epsilon), m - 1, n - m)
        below, above = (
            rng.standard_gamma(m - reach, SETS),
            rng.standard_gamma(n + 1 - m - reach, SETS),
        )
        gaps = rng.standard_exponential((SETS, 2 * reach))
        before = below[:, None] + np.hstack((np.zeros((SETS, 1)), np.cumsum(gaps, axis=1)))
        x = before / (before[:, -1] + above)[:, None]
        self.d = x[:, reach]
        right = np.minimum(1, np.hstack((x[:, reach:] + rho, np.ones((SETS, 1)))))
        left = np.maximum(0, np.hstack((np.zeros((SETS, 1)), x[:, : reach + 1] - rho)))
        self.edges = np.hstack((left, right))  # between the two blocks the length is 0
        length = np.concatenate((np.arange(reach + 1, 0, -1), [0], np.arange(1, reach + 2)))
        self.weight = np.exp(-epsilon / 2 * length)
        self.total = np.diff(self.edges) @ self.weight

    def beyond(self, centre, radius):
        """Return the probability, over data and draws, to be farther from the centre."""
        centre = np.broadcast_to(centre, SETS)[:, None]
        inside = np.diff(np.clip(self.edges, centre - radius, centre + radius)) @ self.weight
        return float((1 - inside / self.total).mean())

    def distance(self, centre):
        """Return the mean distance to the centre."""
        moved = self.edges - centre
        area = np.diff(moved * np.abs(moved) / 2)
        return float((area @ self.weight / self.total).mean())


def setting(rho, epsilon, q=0.5):
    return {"rho": rho, "gamma": min(q, 1 - q) / 2, "density": 1, "epsilon": epsilon}


def test_the_law_is_that_of_the_length():
    """Against the definition: count how many values must change, on a small sample."""
    n, q, epsilon, rho = 9, 0.5, 1.0, 0.03
    mechanism = Mechanism(n, q, epsilon, rho, reach=4)
    x = np.concatenate((mechanism.edges[0, 1:6] + rho, mechanism.edges[0, 7:-1] - rho))
    m = ceil(q * n)
    t = (np.arange(4000) + 0.5) / 4000

    def length(s):
        under, at_most = (x < s).sum(), (x <= s).sum()
        return max(0, under - (m - 1), m - at_most)

    near = np.array([[length(s) for s in np.clip((v - rho, v, v + rho), 0, 1)] for v in t])
    values = np.where(np.abs(t - x[m - 1]) <= rho, 0, near.min(axis=1))
    weight = np.exp(-epsilon / 2 * values)
    for radius in (0.01, 0.05, 0.2):
        away = np.abs(t - x[m - 1]) > radius
        direct = weight[away].sum() / weight.sum()
        inside = np.diff(np.clip(mechanism.edges[0], x[m - 1] - radius, x[m - 1] + radius))
        assert 1 - inside @ mechanism.weight / mechanism.total[0] == pytest.approx(direct, abs=0.01)


@pytest.mark.parametrize(
    ("n", "q", "epsilon", "rho"),
    [
        (10_000, 0.5, 9, 0.01),
        (10_000, 0.1, 9, 0.005),
        (10_000, 0.5, 2, 0.3),
        (100_000, 0.9, 3, 1e-3),
    ],
)
def test_sample_bound_holds(n, q, epsilon, rho):
    """At all distances; and it speaks of distances not far from those that are reached."""
    mechanism = Mechanism(n, q, epsilon / 9, rho)
    gamma = min(q, 1 - q) / 2
    said = False
    for u in np.geomspace(gamma / 400, gamma / 4, 25):
        bound = b.inverse_sensitivity_sample(n, u, **setting(rho, epsilon, q))
        assert mechanism.beyond(mechanism.d, 2 * u + rho) <= bound + 1e-9
        said |= bound < 0.01
    assert said


def test_sample_bound_counts_rho_only_where_the_range_is():
    wide = b.inverse_sensitivity_sample(10_000, 0.06, **setting(5, 0.1))
    assert wide == b.inverse_sensitivity_sample(10_000, 0.06, **setting(0.375, 0.1))


def test_printed_sample_bound_holds_for_one_call():
    n, u, rho, epsilon = 10_000, 0.05, 0.01, 0.1
    printed = b.inverse_sensitivity_sample_printed(n, u, **setting(rho, epsilon))
    assert printed == pytest.approx(0.0002, abs=2e-5)
    mechanism = Mechanism(n, 0.5, epsilon / 9, rho)
    truth = mechanism.beyond(mechanism.d, 2 * u + rho)
    assert truth == pytest.approx(0.0026, abs=2e-4)
    assert truth <= b.inverse_sensitivity_sample(n, u, **setting(rho, epsilon))
    one_call = Mechanism(n, 0.5, epsilon, rho)
    assert one_call.beyond(one_call.d, 2 * u + rho) <= printed


@pytest.mark.parametrize(("n", "q", "epsilon"), [(10_000, 0.5, 9), (100_000, 0.2, 3)])
def test_population_bound_holds(n, q, epsilon):
    rho, gamma = 1e-3, min(q, 1 - q) / 2
    mechanism = Mechanism(n, q, epsilon / 9, rho)
    said = False
    for u in np.geomspace(gamma / 100, gamma / 4, 8):
        for s in np.geomspace(0.2 / sqrt(n), gamma / 2, 12):
            bound = b.inverse_sensitivity_population(n, u, s, **setting(rho, epsilon, q))
            assert mechanism.beyond(q, 2 * u + rho + s) <= bound + 1e-9
            said |= bound < 0.01
    assert said


def test_printed_population_bound_is_refuted():
    n, u, rho, epsilon = 100_000, 0.0015, 1e-4, 1
    printed = b.inverse_sensitivity_population_printed(n, u, **setting(rho, epsilon))
    assert printed == pytest.approx(2.4e-6, abs=5e-8)
    uniform = b.inverse_sensitivity_uniform_printed(n, u, rho=rho, epsilon=epsilon)
    assert uniform == pytest.approx(1.9e-5, abs=1e-6)
    missed = [Mechanism(n, 0.5, epsilon, rho, seed=s).beyond(0.5, 2 * u + rho) for s in range(40)]
    assert np.mean(missed) == pytest.approx(0.050, abs=0.01)  # with all of epsilon in one call
    s = 0.006
    corrected = b.inverse_sensitivity_population(n, u, s, calls=1, **setting(rho, epsilon))
    assert corrected == pytest.approx(printed + 2 * exp(-2 * n * s**2))


@pytest.mark.parametrize(
    ("n", "q", "epsilon"), [(10_000, 0.5, 9), (100_000, 0.5, 1), (100_000, 0.1, 3), (10**6, 0.7, 1)]
)
def test_expected_error_bound_holds(n, q, epsilon):
    bound = b.inverse_sensitivity_error(n, q, epsilon=epsilon)
    truth = Mechanism(n, q, epsilon / 9, 1 / sqrt(n)).distance(q)
    assert truth < bound < 12 * truth
    assert truth < b.inverse_sensitivity_error_printed(n, epsilon=epsilon)


def test_expected_error_is_the_integral_of_the_sample_bound():
    n, q, epsilon = 1600, 0.5, 4.5
    rho, gamma, root = 1 / sqrt(n), 0.25, sqrt(n)
    u = np.geomspace(2 / root, gamma / 4, 4001)
    whole = np.array([b.inverse_sensitivity_sample(n, v, **setting(rho, epsilon)) for v in u])
    mean = ceil(q * n) / (n + 1)
    sampling = sqrt(mean * (1 - mean) / (n + 2) + (mean - q) ** 2)
    integral = rho + 4 / root + 2 * np.trapezoid(whole, u) + whole[-1] + sampling
    bound = b.inverse_sensitivity_error(n, q, epsilon=epsilon)
    assert bound == pytest.approx(integral, rel=0.001)
    each = epsilon / 9
    terms = (
        rho + 4 / root,
        4 / (n * each * rho) * exp(-root * each / 2),
        16 * gamma / root * exp(-root / 4),
        exp(-n * gamma * each / 16) / (2 * rho) + 8 * exp(-n * gamma / 32),
        2 * exp(-n * gamma**2 / 2),
    )
    assert bound - sum(terms) == pytest.approx(sampling, rel=1e-9)


def test_expected_error_constants_with_dt_twice_du():
    """The printed integrals, done: 4 (not 2, nor 8) and 32 (not 16) before the exponentials."""
    n, epsilon, rho = 400, 1.0, 0.05
    root = sqrt(n)
    u = np.linspace(2 / root, 0.5, 200_001)
    near = 2 * np.trapezoid(np.exp(-n * u * epsilon / 4) / (2 * rho), u)
    assert near == pytest.approx(4 / (n * epsilon * rho) * exp(-root * epsilon / 2), rel=1e-4)
    cells = 2 * np.trapezoid(2 * root * np.exp(-n * u / 8), u)
    assert cells == pytest.approx(32 / root * exp(-root / 4), rel=1e-4)


def test_expected_error_says_nothing_rather_than_wrong():
    assert b.inverse_sensitivity_error(100, 0.1, epsilon=1) == 0.9
    assert b.inverse_sensitivity_error(10_000, 0.5, epsilon=0.01) == 0.5


def test_refusals():
    fine = setting(0.01, 1)
    with pytest.raises(ParameterError, match=r"u must be above 0 and at most 0\.0625, got 0\.1"):
        b.inverse_sensitivity_sample(100, 0.1, **fine)
    with pytest.raises(ParameterError, match=r"s must be above 0 and at most 0\.125, got 0\.2"):
        b.inverse_sensitivity_population(100, 0.01, 0.2, **fine)
    with pytest.raises(ParameterError, match=r"density must be at most 1/\(4 gamma\) = 1, got 2"):
        b.inverse_sensitivity_sample(100, 0.01, **{**fine, "density": 2})
    with pytest.raises(ParameterError, match="rho must be above 0 and at most"):
        b.inverse_sensitivity_error(100, 0.5, epsilon=1, rho=0.5)
