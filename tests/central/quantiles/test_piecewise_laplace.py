from __future__ import annotations

from math import log

import numpy as np
import pytest

from sourdine.audit import p_value
from sourdine.audit.exhaustive import ALPHA
from sourdine.central.quantiles import exponential, piecewise_laplace
from sourdine.central.quantiles.piecewise_laplace import PiecewiseLaplace
from sourdine.central.quantiles.points import Points
from sourdine.errors import ParameterError
from sourdine.noise import SeededSource

RELATIONS = ("add_remove", "substitute")


def distances(x, cells, t, far=np.inf):
    """The rank of every cell as the docstring tells it, and its distance to t."""
    marks = [(-1, 0, 0)]
    for v in sorted(set(x)):
        below = sum(u < v for u in x)
        marks.append((v, below + 1, below + x.count(v)))
    marks.append((cells, len(x) + 1, len(x) + 1))
    out = []
    for v in range(cells):
        left = max(m for m in marks if m[0] <= v)
        if left[0] == v:
            low, high = left[1:]
        else:
            right = min(m for m in marks if m[0] > v)
            low = high = left[2] + (v - left[0]) / (right[0] - left[0])
        out.append(min(max(low - t, t - high, 0), far))
    return np.array(out)


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("epsilon", "q"), [(1, 0.5), (4, 0.5), (1, 0.9)])
def test_piecewise_laplace_worst_case(relation, epsilon, q, holds):
    holds(PiecewiseLaplace(epsilon=epsilon, q=[q], cells=6, relation=relation))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("relation", RELATIONS)
def test_piecewise_laplace_of_several_worst_case(relation, holds):
    holds(PiecewiseLaplace(epsilon=3, q=[0.25, 0.5, 0.75], cells=6, relation=relation), 2)


@pytest.mark.parametrize(
    ("relation", "x", "y"),
    [("add_remove", [0, 0, 1, 99], [0, 1, 99]), ("substitute", [98, 99, 99], [0, 98, 99])],
)
def test_piecewise_laplace_ten_percent_too_weak_is_rejected(relation, x, y, rejects):
    rejects(lambda e: PiecewiseLaplace(epsilon=e, q=[0.5], cells=100, relation=relation), 1, x, y)


def test_ranks_of_neighbours_differ_by_at_most_one(inputs):
    """The proof's step, by enumeration: both ends of a cell's ranks move up by 0 to 1."""
    cells = 6
    for x in inputs(cells, 3):
        for added in range(cells):
            for t in (-100.0, 100.0):  # distance to a far target is the lower or upper rank
                a, b = distances(x, cells, t), distances(sorted([*x, added]), cells, t)
                moved = (b - a) * (1 if t < 0 else -1)
                assert moved.min() >= -1e-12
                assert moved.max() <= 1 + 1e-12


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("q", [0.1, 0.5, 0.77])
def test_law_is_the_formula(q, inputs):
    mechanism = PiecewiseLaplace(epsilon=2, q=[q], cells=7)
    for x in inputs(7, 3):
        weights = np.exp(-mechanism.c[0] * distances(x, 7, q * (len(x) + 1)))
        law = mechanism.law(mechanism.read(x))
        assert law.pmf(range(7)) == pytest.approx(weights / weights.sum(), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("far", [1, 2])
def test_far_ranks_count_as_far(far, monkeypatch, fits):
    for module in (exponential, piecewise_laplace):
        monkeypatch.setattr(module, "FAR", far)
    mechanism = PiecewiseLaplace(epsilon=1, q=[0.4], cells=30)
    x = [3, 3, 9, 9, 9, 17, 20, 29]
    weights = np.exp(-mechanism.c[0] * distances(x, 30, 3.6, far))
    law = mechanism.law(mechanism.read(x))
    assert law.pmf(range(30)) == pytest.approx(weights / weights.sum(), abs=1e-12)
    fits(mechanism, x, draws=1000)


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("x", "q", "draws"),
    [([], [0.3], 2000), ([0, 0, 25], [0.4], 8000), ([9] * 9 + [29], [0.3, 0.7], 1500)],
)
def test_piecewise_laplace_draws_follow_the_law(relation, x, q, draws, fits):
    mechanism = PiecewiseLaplace(epsilon=3, q=q, cells=30, relation=relation)
    fits(mechanism, x, draws=draws if relation == "add_remove" else draws // 5)


@pytest.mark.slow
def test_piecewise_laplace_draws_at_great_epsilon(fits):
    fits(PiecewiseLaplace(epsilon=3000, q=[0.5], cells=9), [1, 4, 4, 8], draws=1000)


@pytest.mark.slow
@pytest.mark.parametrize("margin", [-log(30) + 0.3, -log(30) + 1.0])
def test_piecewise_laplace_draws_outside_the_window(margin, windowed, monkeypatch):
    monkeypatch.setattr(exponential, "MARGIN", margin)
    mechanism = PiecewiseLaplace(epsilon=1, q=[0.4], cells=30)
    x = [0, 0, 4, 4, 4, 9, 12, 12, 13, 18, 19, 19, 22, 25, 25, 28] * 2
    source, draws, outside = SeededSource(11), [], 0
    for _ in range(2000):  # points that have read everything keep it
        points, reads = windowed(x, 30, mechanism.windows(len(x)))
        assert not points.whole
        draws.append(mechanism.one(points, source)[0])
        outside += len(reads)
    assert outside > 100
    assert p_value(draws, mechanism.law(Points.of(x, 30))) >= ALPHA


def test_piecewise_laplace_windows_are_enough(windowed):
    ticks = np.random.default_rng(1).integers(0, 5000, 5000)
    mechanism = PiecewiseLaplace(epsilon=4, q=[0.1, 0.5, 0.99], cells=5000)
    part, reads = windowed(ticks, 5000, mechanism.windows(5000))
    assert not part.whole
    whole = mechanism.read(ticks)
    for seed in range(50):
        a, b = (mechanism.one(p, SeededSource(seed)) for p in (part, whole))
        assert a == b
    assert not reads


def test_a_wide_gap_costs_no_more_than_a_narrow_one():
    mechanism = PiecewiseLaplace(epsilon=4, q=[0.5], cells=1 << 52)
    value = mechanism.release([0, 1 << 51, (1 << 52) - 1], source=SeededSource(1)).value
    assert 0 <= value[0] < 1 << 52


def test_piecewise_laplace_finds_the_atom():
    mechanism = PiecewiseLaplace(epsilon=1, q=[0.5], cells=1000)
    law = mechanism.law(mechanism.read([0] * 2990 + [1]))
    assert law.pmf([0])[0] > 1 - 1e-12


@pytest.mark.parametrize("x", [[], [2], [0, 3, 3, 5], [0] * 30 + [5] * 9, list(range(6)) * 8])
def test_piecewise_laplace_error_bound(x, bounded):
    for relation in RELATIONS:
        mechanism = PiecewiseLaplace(epsilon=6, q=[0.3, 0.7], cells=6, relation=relation)
        for beta in (0.5, 0.05, 1e-3):
            bounded(mechanism, x, beta)


@pytest.mark.parametrize("relation", RELATIONS)
def test_piecewise_laplace_survives(relation, survives):
    survives(PiecewiseLaplace(epsilon=1, q=[0.1, 0.5], cells=6, relation=relation), seeds=10)


def test_bad_parameters_are_refused():
    with pytest.raises(ParameterError, match=r"cells must be at most 2\*\*52"):
        PiecewiseLaplace(epsilon=1, q=[0.5], cells=(1 << 52) + 1)
    with pytest.raises(ParameterError, match="epsilon must be at least 1e-6"):
        PiecewiseLaplace(epsilon=1e-6, q=[0.2, 0.5], cells=6)
