"""Those who answered: estimates hold although who they are is randomised too."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from sourdine.grid import Grid
from sourdine.local.table.answered import mean_of_answers, quantiles_of_answers
from sourdine.local.table.columns import Number
from sourdine.local.table.schema import Schema
from sourdine.noise import SeededSource

SURVEYS = 300
AGES = Grid(0, 60, step=1)


def surveys(method, epsilon, n, people, seed=1):
    """Return the mechanism and the tallies of many surveys of the same people."""
    column = Number(0, 60, step=1, method=method, missing=True)
    m = Schema.of({"age": column}, epsilon=epsilon).parts()["age"].mechanism
    codes = np.tile(np.where(people < 0, m.top, people), SURVEYS)
    reports = m.randomise(codes, source=SeededSource(seed)).reshape(SURVEYS, n)
    return m, [m.tally(r) for r in reports]


def people(n, absent, seed=3):
    rng = np.random.default_rng(seed)
    ages = np.minimum(rng.gamma(3, 7, n), 60).astype(np.int64)
    return np.where(rng.random(n) < absent, -1, ages)


def least(level=0.95):
    return level - 5 * sqrt(level * (1 - level) / SURVEYS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "epsilon", "n", "absent"),
    [
        (None, 2, 1000, 0.3),
        (None, 6, 100, 0.5),
        ("hybrid", 2, 1000, 0.1),
        ("laplace", 4, 1000, 0.3),
    ],
)
def test_means_of_answers(method, epsilon, n, absent):
    asked = people(n, absent)
    m, tallies = surveys(method, epsilon, n, asked)
    truth = asked[asked >= 0].mean()
    found = [mean_of_answers(m, t, AGES) for t in tallies]
    ends = np.array([r.interval() for r in found])
    assert np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) >= least()
    values = np.array([r.value for r in found])
    if method != "laplace":
        assert abs(np.median(values) - truth) <= 6 * values.std() / sqrt(SURVEYS)
        shortest = 2 * np.quantile(np.abs(values - truth), 0.95)
        assert np.median(ends[:, 1] - ends[:, 0]) <= 1.4 * shortest


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "n", "absent"), [(3, 2000, 0.3), (6, 300, 0.1)])
def test_quantiles_of_answers(epsilon, n, absent):
    asked = people(n, absent)
    m, tallies = surveys(None, epsilon, n, asked)
    orders = (0.25, 0.5, 0.9)
    truth = np.quantile(asked[asked >= 0], orders, method="inverted_cdf")
    found = [quantiles_of_answers(m, t, AGES, orders) for t in tallies[:100]]
    ends = np.array([r.interval() for r in found])
    covered = ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).all(axis=1)
    assert covered.mean() >= 0.95 - 5 * sqrt(0.95 * 0.05 / 100)
    assert np.median(ends[:, 1, 1] - ends[:, 0, 1]) < 30
    values = np.array([r.value for r in found])
    assert (np.abs(np.median(values, axis=0) - truth) <= 6).all()


@pytest.mark.parametrize("last", [0, 1])
def test_nobody_and_one(last):
    m = Schema.of({"age": Number(0, 60, step=1, missing=True)}, epsilon=1).parts()["age"].mechanism
    tally = np.zeros(m.cells, np.int64)
    tally[-1] = last
    r = mean_of_answers(m, tally, AGES)
    assert r.interval() == (0, 60)
    assert r.value == 30
    low, high = quantiles_of_answers(m, tally, AGES, (0.5,)).interval()
    assert (low[0], high[0]) == (0, 60)


def test_if_nobody_answers_everything_is_possible():
    asked = np.full(500, -1)
    m, tallies = surveys(None, 4, 500, asked)
    wide = [mean_of_answers(m, t, AGES).interval() for t in tallies[:20]]
    assert np.mean([high - low for low, high in wide]) > 50


@pytest.mark.slow
def test_few_answers_among_many_absent_are_covered():
    asked = np.full(100, -1)
    asked[:5] = 60
    m, tallies = surveys(None, 12, 100, asked)
    ends = np.array([mean_of_answers(m, t, AGES).interval() for t in tallies])
    assert np.mean((ends[:, 0] <= 60) & (ends[:, 1] >= 60)) >= least()
