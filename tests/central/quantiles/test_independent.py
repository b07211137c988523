from __future__ import annotations

import numpy as np
import pytest

from sourdine.central.quantiles.exponential import QExp
from sourdine.central.quantiles.independent import IndExp
from sourdine.noise import SeededSource

RELATIONS = ("add_remove", "substitute")


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("q", "most"), [([0.5, 0.9], 4), ([0.25, 0.5, 0.75], 3)])
def test_indexp_worst_case(relation, q, most, holds):
    holds(IndExp(epsilon=1, q=q, cells=6, relation=relation), most)


@pytest.mark.parametrize(
    ("relation", "epsilon", "x", "y"),
    [
        ("add_remove", 4, [1, 99, 99], [1, 1, 99, 99]),
        ("substitute", 1, [0, 0, 2, 99], [0, 2, 99, 99]),
    ],
)
def test_indexp_ten_percent_too_weak_is_rejected(relation, epsilon, x, y, rejects):
    make = lambda e: IndExp(epsilon=e, q=[0.5, 0.51], cells=100, relation=relation)  # noqa: E731
    rejects(make, epsilon, x, y)


def test_indexp_is_qexp_with_a_share():
    three = IndExp(epsilon=1.5, q=[0.2, 0.5, 0.8], cells=6)
    x = three.read([0, 1, 1, 4])
    alone = [QExp(epsilon=0.5, q=[q], cells=6).law(x).pmf(range(6)) for q in (0.2, 0.5, 0.8)]
    joint = three.law(x).pmf(range(216)).reshape(6, 6, 6)
    assert joint == pytest.approx(np.einsum("i,j,k", *alone), abs=1e-13)
    assert three.error(0.05) == max(
        QExp(epsilon=0.5, q=[q], cells=6).error(0.05 / 3) for q in (0.2, 0.5, 0.8)
    )


@pytest.mark.slow
@pytest.mark.parametrize("x", [[], [0, 0, 3, 5, 5]])
def test_indexp_draws_follow_the_law(x, fits):
    fits(IndExp(epsilon=3, q=[0.3, 0.6], cells=6), x, draws=10_000)


def test_indexp_publishes_in_order():
    mechanism, source = IndExp(epsilon=1, q=[0.4, 0.5, 0.6], cells=50), SeededSource(3)
    points = mechanism.read([25])
    drawn = [mechanism.one(points, source) for _ in range(50)]
    assert any(list(d) != sorted(d) for d in drawn)
    assert all((np.diff(mechanism.published(d)) >= 0).all() for d in drawn)


def test_indexp_windows_are_enough(windowed):
    ticks = np.random.default_rng(1).integers(0, 1000, 20_000)
    mechanism = IndExp(epsilon=3, q=[0.1, 0.5, 0.55], cells=1000)
    part, reads = windowed(ticks, 1000, mechanism.windows(20_000))
    assert not part.whole
    for seed in range(50):
        a, b = (mechanism.one(p, SeededSource(seed)) for p in (part, mechanism.read(ticks)))
        assert a == b
    assert not reads


@pytest.mark.parametrize("x", [[], [2], [0, 3, 3, 5], list(range(6)) * 8])
def test_indexp_error_bound(x, bounded):
    mechanism = IndExp(epsilon=6, q=[0.3, 0.7], cells=6)
    for beta in (0.5, 0.05):
        assert bounded(mechanism, x, beta, n=len(x)) <= bounded(mechanism, x, beta)


def test_indexp_survives(survives):
    survives(IndExp(epsilon=1, q=[0.1, 0.5, 0.9], cells=6))
