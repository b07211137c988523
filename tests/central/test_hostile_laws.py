"""Stated intervals hold as often as stated: few records, heavy tails, constants, ties at the ends.

The sources are seeded, so that no run differs from another. Each part of runs is judged with four
standard errors.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

import sourdine as sd
from sourdine.noise import SeededSource

RUNS = 80
LEAST = 0.95 - 4 * sqrt(0.0475 / RUNS)
GRID = {"bounds": (0, 100), "step": 1, "epsilon": 1}
LAWS = {
    "uniform": lambda rng, n: rng.integers(0, 101, n),
    "heavy tail": lambda rng, n: np.minimum(rng.pareto(0.7, n), 1000),
    "constant": lambda _, n: np.full(n, 37),
    "at the lower end": lambda rng, n: np.where(rng.random(n) < 0.9, 0, 100),
    "at both ends": lambda rng, n: rng.choice([0, 100], n),
    "beyond": lambda rng, n: rng.choice([-(10**9), 10**9], n),
}
SIZES = (2, 3, 5, 40)


def held(release, truth, of="sample"):
    low, high = release.interval(0.95, of=of)
    return bool(np.all((np.asarray(low) <= truth) & (truth <= np.asarray(high))))


def snapped(x):
    return np.rint(np.clip(x, 0, 100))


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_means_hold(law, n):
    rng, inside = np.random.default_rng(1), []
    for seed in range(RUNS):
        x = law(rng, n)
        release = sd.mean(x, **GRID, source=SeededSource(seed))
        inside.append(held(release, snapped(x).mean()))
    assert np.mean(inside) >= LEAST


@pytest.mark.grid(quick=0, slow=1)
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("more", [{}, {"interval": 0.95}], ids=["by ranks", "by counts"])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_quantiles_hold(law, n, more, relation):
    rng, inside, q = np.random.default_rng(2), [], [0.1, 0.5, 0.9]
    for seed in range(RUNS // 4):
        x = law(rng, n)
        source = SeededSource(seed)
        release = sd.quantiles(x, q, **GRID, **more, relation=relation, source=source)
        inside.append(held(release, np.quantile(snapped(x), q, method="inverted_cdf")))
    assert np.mean(inside) >= 0.95 - 4 * sqrt(0.0475 / len(inside))


@pytest.mark.slow
@pytest.mark.parametrize("law", ["constant", "at the lower end", "at both ends"])
def test_quantiles_of_populations_hold_at_ties(law):
    truth = {"constant": [37, 37], "at the lower end": [0, 0], "at both ends": [0, 100]}[law]
    rng, inside = np.random.default_rng(3), []
    for seed in range(RUNS // 2):
        x = LAWS[law](rng, 400)
        asked = {"population": True, "source": SeededSource(seed)}
        release = sd.quantiles(x, [0.4, 0.6], **GRID, **asked)
        inside.append(held(release, np.array(truth), "population"))
    assert np.mean(inside) >= 0.95 - 4 * sqrt(0.0475 / len(inside))


def test_found_groups_hold():
    sizes, inside = {"a": 500, "b": 120, "c": 60, "d": 3}, []
    towns = [town for town, n in sizes.items() for _ in range(n)]
    for seed in range(RUNS):
        release = sd.count(
            {"town": towns}, by="town", keys="unknown", delta=1e-6, epsilon=1,
            source=SeededSource(seed),
        )  # fmt: skip
        ends = release.interval(0.95)
        inside.append(all(low <= sizes[town] <= high for town, (low, high) in ends.items()))
    assert np.mean(inside) >= LEAST


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 5, 300])
@pytest.mark.parametrize("law", ["constant", "heavy tail", "at both ends"])
def test_means_within_found_bounds_hold(law, n):
    rng, inside = np.random.default_rng(4), []
    for seed in range(RUNS // 2):
        x = np.asarray(LAWS[law](rng, n), float)
        release = sd.mean(x, bounds="find", epsilon=1, source=SeededSource(seed))
        low, high = (float(end) for end in release.drawn["bounds"])
        truth = np.clip(x, low, high).mean()
        ends, fine = release.interval(0.95), 1e-5 * (high - low)
        inside.append(ends[0] - fine <= truth <= ends[1] + fine)
    assert np.mean(inside) >= 0.95 - 4 * sqrt(0.0475 / len(inside))
