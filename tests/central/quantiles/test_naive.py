from __future__ import annotations

from math import inf

import numpy as np
import pytest

from sourdine.central.quantiles.naive import NaiveGaussian, NaiveLaplace, order_statistic
from sourdine.errors import ParameterError
from sourdine.mechanisms.gaussian import gaussian_law
from sourdine.noise import SeededSource

RELATIONS = ("add_remove", "substitute")


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("q", "most"), [([0.5], 4), ([0.25, 0.5, 0.75], 2)])
def test_naive_laplace_worst_case(relation, q, most, holds):
    holds(NaiveLaplace(epsilon=1, q=q, cells=6, relation=relation), most)


@pytest.mark.parametrize(
    ("relation", "x", "y"), [("add_remove", [5], [0, 5]), ("substitute", [5], [0])]
)
def test_naive_laplace_ten_percent_too_weak_is_rejected(relation, x, y, rejects):
    rejects(lambda e: NaiveLaplace(epsilon=e, q=[0.5], cells=6, relation=relation), 1, x, y)


def test_several_naive_quantiles_are_rejected_too(rejects):
    make = lambda e: NaiveLaplace(epsilon=e, q=[0.3, 0.5], cells=6, relation="substitute")  # noqa: E731
    rejects(make, 1, [5], [0])


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
def test_naive_gaussian_worst_case(relation, holds):
    holds(NaiveGaussian(epsilon=1, delta=1e-6, q=[0.5], cells=6, relation=relation), 2)
    holds(NaiveGaussian(epsilon=1, delta=1e-6, q=[0.3, 0.6], cells=4, relation=relation), 2)


def test_naive_gaussian_ten_percent_too_weak_is_rejected():
    """Clamping hides the noise's tails, so it is the noise itself that is held to delta."""
    for factor, kept in ((1, True), (1.1, False)):
        made = NaiveGaussian(epsilon=factor, delta=1e-6, q=[0.5], cells=6)
        x, y = ([0], [5])
        ends = [order_statistic(made.read(v), 1) for v in (x, y)]
        here, there = (gaussian_law(v, made.variance) for v in ends)
        assert (here.hockey_stick(there, 1).upper <= 1e-6) is kept, (x, y)


def test_several_gaussian_quantiles_are_a_vector():
    one = NaiveGaussian(epsilon=1, delta=1e-6, q=[0.5], cells=11)
    nine = NaiveGaussian(epsilon=1, delta=1e-6, q=[j / 10 for j in range(1, 10)], cells=11)
    assert 2.9 < (nine.variance / one.variance) ** 0.5 < 3.6


@pytest.mark.slow
@pytest.mark.parametrize("x", [[], [0, 0, 5]])
def test_naive_draws_follow_the_law(x, fits):
    fits(NaiveLaplace(epsilon=20, q=[0.3, 0.6], cells=6), x, draws=10_000)
    fits(NaiveGaussian(epsilon=20, delta=1e-6, q=[0.5], cells=6), x, draws=3000)


def test_naive_laplace_error_in_ticks():
    mechanism = NaiveLaplace(epsilon=40, q=[0.4, 0.6], cells=100)
    points = mechanism.read([30] * 10 + [60] * 10)
    for beta in (0.5, 0.05):
        bound = mechanism.ticks(beta)
        right = [1.0, 1.0]
        for j, truth in enumerate((30, 60)):
            law = mechanism.single_law(points, j)
            cells = np.arange(100)
            right[j] = law.pmf(cells)[np.abs(cells - truth) <= bound].sum()
        assert 1 - right[0] * right[1] <= beta
    assert mechanism.error(0.05) == inf


def test_order_statistics():
    x = NaiveLaplace(epsilon=1, q=[0.5], cells=9).read([7, 2, 2, 5])
    assert [order_statistic(x, k) for k in (1, 2, 3, 4)] == [2, 2, 5, 7]


def test_naive_windows_are_enough(windowed):
    ticks = np.random.default_rng(1).integers(0, 1000, 5000)
    mechanism = NaiveLaplace(epsilon=5, q=[0.1, 0.5, 0.95], cells=1000)
    part, reads = windowed(ticks, 1000, mechanism.windows(5000))
    for seed in range(20):
        a, b = (mechanism.one(p, SeededSource(seed)) for p in (part, mechanism.read(ticks)))
        assert a == b
    assert not reads


@pytest.mark.parametrize("relation", RELATIONS)
def test_naive_survives(relation, survives):
    survives(NaiveLaplace(epsilon=1, q=[0.1, 0.5], cells=6, relation=relation))
    survives(NaiveGaussian(epsilon=1, delta=1e-6, q=[0.1, 0.5], cells=6, relation=relation))


def test_a_grid_of_one_cell():
    for mechanism in (
        NaiveLaplace(epsilon=1, q=[0.1, 0.5], cells=1),
        NaiveGaussian(epsilon=1, delta=1e-6, q=[0.1, 0.5], cells=1),
    ):
        assert mechanism.release([0, 0]).value.tolist() == [0, 0]
        assert mechanism.law(mechanism.read([0])).pmf([0])[0] == 1


def test_bad_delta_is_refused():
    with pytest.raises(ParameterError, match="delta must be below 1"):
        NaiveGaussian(epsilon=1, delta=1, q=[0.5], cells=6)
