from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

from sourdine.central.quantiles.exponential import QExp
from sourdine.central.quantiles.independent import RecExp
from sourdine.central.quantiles.points import Points
from sourdine.errors import ParameterError
from sourdine.noise import SeededSource

RELATIONS = ("add_remove", "substitute")
QUARTILES = [0.25, 0.5, 0.75]


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("q", "most"), [([0.25, 0.5], 4), (QUARTILES, 3), ([0.1, 0.8, 0.9], 2)])
def test_recexp_worst_case(relation, q, most, holds):
    holds(RecExp(epsilon=1, q=q, cells=6, relation=relation, dither=1), most)


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
def test_recexp_dithered_worst_case(relation, holds):
    """The mean over all sub-ticks keeps the bound: laws of the cells, sub-ticks forgotten."""
    worst = holds(RecExp(epsilon=1, q=[0.3, 0.5], cells=4, relation=relation, dither=2), 2)
    assert worst.epsilon > 0.25


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("relation", "q", "x", "y"),
    [
        ("add_remove", [0.25, 0.5], [1, 58, 58], [0, 1, 58, 58]),
        ("substitute", QUARTILES, [0, 0, 0, 2, 2] + [59] * 3, [0, 0, 2, 2] + [59] * 4),
    ],
)
def test_recexp_ten_percent_too_weak_is_rejected(relation, q, x, y, rejects):
    rejects(lambda e: RecExp(epsilon=e, q=q, cells=60, relation=relation, dither=1), 8, x, y)


def test_one_slice_s_constant_is_too_weak_under_substitution():
    """A record that moves changes two slices: QExp's own decay there would pass the claim."""
    made = RecExp(epsilon=8, q=QUARTILES, cells=60, relation="substitute", dither=1)
    deeper = [n.c for n in made.nodes[1:]]
    alone = QExp(epsilon=4, q=[0.5], cells=60, relation="add_remove").c
    assert deeper == pytest.approx([alone / 2] * 2)


@pytest.mark.parametrize(("m", "depth"), [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), (9, 4)])
def test_levels(m, depth):
    made = RecExp(epsilon=1, q=[Fraction(j, m + 1) for j in range(1, m + 1)], cells=100)
    assert made.depth == depth
    assert sorted(node.middle for node in made.nodes) == list(range(m))
    levels = {(0, m): 1}
    for node in made.nodes:
        level = levels[node.first, node.end]
        assert level <= depth
        levels[node.first, node.middle] = levels[node.middle + 1, node.end] = level + 1


def test_orders_are_rescaled():
    made = RecExp(epsilon=1, q=[0.1, 0.5, 0.8], cells=6)
    assert [node.order for node in made.nodes] == [Fraction(1, 2), Fraction(1, 5), Fraction(3, 5)]


def test_of_one_quantile_it_is_qexp():
    x = [0, 0, 3, 5]
    one, qexp = RecExp(epsilon=1, q=[0.4], cells=6, dither=1), QExp(epsilon=1, q=[0.4], cells=6)
    a, b = (m.law(m.read(x)).pmf(range(6)) for m in (one, qexp))
    assert a == pytest.approx(b, abs=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("x", "dither", "draws"), [([], 1, 1000), ([0, 0, 3, 5], 1, 10_000), ([0, 1, 1], 2, 2000)]
)
def test_recexp_draws_follow_the_law(x, dither, draws, fits):
    fits(RecExp(epsilon=2, q=[0.3, 0.6], cells=6, dither=dither), x, draws=draws)


@pytest.mark.slow
def test_recexp_of_three_draws_follow_the_law(fits):
    fits(RecExp(epsilon=3, q=QUARTILES, cells=5, relation="substitute", dither=1), [0, 3, 3], 2000)


def test_ties_do_not_vanish():
    """All quantiles of one atom are the atom, of two atoms the two."""
    made = RecExp(epsilon=50, q=[j / 10 for j in range(1, 10)], cells=1000)
    value = made.release([500] * 3000, source=SeededSource(1)).value
    assert value.tolist() == [500] * 9
    value = made.release([10] * 1500 + [900] * 1500, source=SeededSource(1)).value
    assert value.tolist()[:4] + value.tolist()[5:] == [10] * 4 + [900] * 4


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("dither", [None, 1])
def test_recexp_survives(relation, dither, survives):
    survives(RecExp(epsilon=1, q=QUARTILES, cells=6, relation=relation, dither=dither), seeds=5)


def test_windowed_points_are_read_whole(windowed):
    ticks = np.random.default_rng(1).integers(0, 1000, 500)
    made = RecExp(epsilon=3, q=QUARTILES, cells=1000)
    part, reads = windowed(ticks, 1000, [(100, 110)])
    a, b = (made.one(p, SeededSource(4)) for p in (part, Points.of(ticks, 1000)))
    assert a == b
    assert reads


def test_recexp_error_bound():
    """By draws: the worst rank error is far within the bound."""
    made = RecExp(epsilon=2, q=QUARTILES, cells=1000)
    ticks = np.sort(np.random.default_rng(2).integers(0, 1000, 2000))
    bound, source = made.error(0.05, n=2000), SeededSource(9)
    points, passed = made.read(ticks), 0
    for _ in range(100):
        v = made.published(made.one(points, source))
        below, up_to = np.searchsorted(ticks, v), np.searchsorted(ticks, v, side="right")
        t = np.array(QUARTILES) * 2000
        passed += bool(np.maximum(below - t, t - up_to).max() > bound)
    assert passed == 0
    assert bound < 500
    assert made.error(0.05) == inf
    assert RecExp(epsilon=2, q=QUARTILES, cells=6, dither=1).error(0.05, n=10) == inf


def test_bad_parameters_are_refused():
    with pytest.raises(ParameterError, match="dither must be at most 1 for"):
        RecExp(epsilon=1, q=[0.5], cells=1 << 50, dither=2)
    with pytest.raises(ParameterError, match=r"law\(\) is available for few records"):
        RecExp(epsilon=1, q=[0.5], cells=6).law(Points.of([1, 2], 6))
    with pytest.raises(ParameterError, match="epsilon must be at least 1e-6"):
        RecExp(epsilon=1e-6, q=QUARTILES, cells=6)
