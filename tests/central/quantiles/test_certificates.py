"""How far the noise of counts reaches, where it is too rare to be sampled as it is."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from sourdine.central.quantiles.intervals import (
    COUNT_RAREST,
    COUNT_SAFETY,
    _bounded,
    _reach_of_counts,
    noise_reach,
    population_reach,
)

RARE = (1e-4, 1e-6, 1e-9)
THIRTEEN = {
    "even": tuple(Fraction(j, 14) for j in range(1, 14)),
    "low": tuple(Fraction(j, 1000) for j in range(1, 14)),
}
FEW = {
    "one": (Fraction(1, 2),),
    "three": tuple(Fraction(j, 4) for j in (1, 2, 3)),
    "nine": tuple(Fraction(j, 10) for j in range(1, 10)),
}


def passing(edges, orders, z, draws=40_000):
    """The chance that some noise of scale 1 passes z, and its standard error, by tilted draws.

    Each pair of an edge and an order has a law tilted so that z is the mean of its noise; what is
    drawn is their mixture, weighed by the ratio of the true density to the mixture's.
    """
    n, rng = edges + 1, np.random.default_rng(3)
    pairs = [(i, float(q)) for q in orders for i in range(1, n)]
    lines = np.array([[1 - q if place < i else -q for place in range(n)] for i, q in pairs])
    main = lines[np.argsort(-np.square(lines).sum(axis=1), kind="stable")[:24]]
    tilts = np.concatenate(
        [sign * line * _tilt(np.abs(line), z) for line in main for sign in (1, -1)]
    )
    tilts = tilts.reshape(-1, n)
    log_norms = -np.log1p(-np.square(tilts)).sum(axis=1)
    weights = []
    for u in tilts:
        size = (draws // len(tilts), n)
        up = rng.random(size) < (1 + u) / 2
        x = rng.exponential(size=size) * np.where(up, 1 / (1 - u), -1 / (1 + u))
        ratio = -np.logaddexp.reduce(x @ tilts.T - log_norms, axis=1) + log(len(tilts))
        weights.append(np.where(np.abs(x @ lines.T).max(axis=1) >= z, np.exp(ratio), 0.0))
    found = np.concatenate(weights)
    return found.mean(), found.std() / sqrt(found.size)


def _tilt(line, z):
    """Lambda at which the tilted noise has the mean z."""
    low, high = 0.0, (1 - 1e-9) / line.max()
    for _ in range(80):
        middle = (low + high) / 2
        mean = (2 * line**2 * middle / (1 - line**2 * middle**2)).sum()
        low, high = (middle, high) if mean < z else (low, middle)
    return low


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("beta", RARE)
@pytest.mark.parametrize("orders", [*THIRTEEN.values(), *FEW.values()], ids=[*THIRTEEN, *FEW])
def test_rare_noise_stays_within_its_reach(orders, beta):
    edges = 2 * len(orders)
    chance, error = passing(edges, orders, _reach_of_counts(edges, orders, beta))
    assert error < 0.1 * chance
    assert chance + 4 * error < beta
    assert chance > beta / 100  # not wider than need be


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("beta", RARE)
@pytest.mark.parametrize("orders", THIRTEEN.values(), ids=THIRTEEN)
def test_a_tail_of_fixed_slope_would_be_passed_too_often(orders, beta):
    """The check above has the power to tell: 1.5 for each factor e is too little for 26 edges."""
    z = _reach_of_counts(26, (orders[0], orders[-1]), COUNT_RAREST)
    chance, error = passing(26, orders, z + 1.5 * log(COUNT_RAREST / beta))
    assert chance - 4 * error > beta


@pytest.mark.parametrize("scale", [1, 3])
@pytest.mark.parametrize("beta", RARE)
def test_rare_noise_on_the_lattice_stays_within_its_reach(scale, beta):
    """One order between two edges, exactly: three discrete noises, all their values."""
    q = Fraction(2, 5)
    z = noise_reach(2, (q,), scale, beta)
    far = 30 * scale
    x = np.arange(-far, far + 1)
    pmf = np.exp(-np.abs(x) / scale)
    pmf /= pmf.sum()
    left, middle = x[:, None], x[None, :]
    chance = 0.0
    for right, p in zip(x.tolist(), pmf.tolist(), strict=True):
        total = left + middle + right
        passed = (
            np.maximum(abs(5 * left - 2 * total), abs(5 * (left + middle) - 2 * total)) >= 5 * z
        )
        chance += p * float(pmf @ passed @ pmf)
    assert beta / 1000 < chance < beta


def test_the_extreme_orders_decide():
    orders = tuple(Fraction(j, 10) for j in (1, 4, 5, 8))
    for beta in (0.05, 1e-5):
        assert _reach_of_counts(6, orders, beta) == _reach_of_counts(
            6, (orders[0], orders[-1]), beta
        )
    walk = np.cumsum(np.random.default_rng(0).laplace(size=(40_000, 7)), axis=1)
    apart = [np.abs(walk[:, :-1] - float(q) * walk[:, -1:]).max(axis=1) for q in orders]
    found = _reach_of_counts(6, (Fraction(1, 10), Fraction(8, 10)), 0.05) / COUNT_SAFETY
    assert found == pytest.approx(np.quantile(np.max(apart, axis=0), 0.95))


def proved(edges, orders, z):
    """What the proof bounds the chance by that the noise of an edge passes z upwards."""

    def chance(tilt):
        terms = [
            (1 - (tilt * (1 - q)) ** 2) ** -i * (1 - (tilt * q) ** 2) ** -(edges + 1 - i)
            for q in orders
            for i in range(1, edges + 1)
        ]
        return exp(-tilt * z) * sum(terms)

    largest = 1 / max(*orders, 1 - min(orders))
    return min(chance(largest * i / 10_000) for i in range(1, 10_000))


@pytest.mark.parametrize("orders", FEW.values(), ids=FEW)
@pytest.mark.parametrize("beta", [1e-4, 1e-9])
def test_rare_noise_is_bounded_as_proved(orders, beta):
    extremes = sorted({float(min(orders)), float(max(orders))})
    chance = 2 * proved(4, extremes, _reach_of_counts(4, orders, beta))
    assert 0.99 * beta < chance <= beta * (1 + 1e-9)


@pytest.mark.parametrize("q", [0.5, 0.9])
def test_half_of_a_rare_risk_is_noise_and_half_is_sampling(q):
    n, scale, beta = 5000, 3.0, 1e-5
    low, high = population_reach(2, q, scale, n, beta)
    far = scale * brentq(lambda z: proved(2, [q], z) - beta / 2, 1, 200)
    at = binom(n, q)
    below = [at.cdf(np.floor(n * q + far - t)) for t in (low - 1.05, low)]
    above = [at.sf(np.ceil(n * q - far + t) - 1) for t in (high - 1.05, high)]
    for nearer, reached in (below, above):
        assert reached <= beta / 2
        assert nearer > 0.9 * beta / 2


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("orders", [*THIRTEEN.values(), *FEW.values()], ids=[*THIRTEEN, *FEW])
def test_surer_reaches_further(orders):
    edges = 2 * len(orders)
    reaches = [
        _reach_of_counts(edges, orders, beta)
        for beta in (0.5, 0.05, COUNT_RAREST, 9e-4, 1e-6, 1e-200)
    ]
    assert reaches == sorted(reaches)
    assert _bounded(0, [0.5], 1e-6) == 0
