"""Brackets beside quantiles: where they aim, and that they hold the sample's quantiles."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, sqrt

import numpy as np
import pytest

from sourdine.central.quantiles.brackets import Brackets, reached
from sourdine.central.quantiles.lattice import FreeTotal
from sourdine.central.quantiles.points import Points
from sourdine.noise import SeededSource

RUNS = 120
SIX = 6 * sqrt(0.05 * 0.95 / RUNS)
DECILES = [Fraction(i, 10) for i in range(1, 10)]
RNG = np.random.default_rng(1)
DATA = {
    "even": (RNG.integers(0, 100_000, 200), 100_000),
    "skewed": (np.rint(RNG.lognormal(5.9, 0.6, 200)).astype(int), 5001),
    "dense": (np.rint(RNG.lognormal(5.9, 0.6, 5000)).astype(int), 5001),
}


def simulated(mechanism, ticks):
    points, source = Points.of(ticks, mechanism.cells), SeededSource(3)
    return np.array([mechanism.release(points, source=source).value for _ in range(RUNS)])


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("orders", [[Fraction(1, 2)], DECILES], ids=["median", "deciles"])
@pytest.mark.parametrize("name", DATA)
def test_brackets_cover(name, orders, relation):
    ticks, cells = DATA[name]
    n = len(ticks)
    mechanism = Brackets(epsilon=1, q=orders, cells=cells, relation=relation, records=n)
    drawn = simulated(mechanism, ticks)
    truth = np.sort(ticks)[[ceil(q * n) - 1 for q in orders]]
    hits = ((drawn[:, :, 0] <= truth) & (truth <= drawn[:, :, 2])).all(axis=1)
    assert hits.mean() >= 0.95 - SIX
    assert (np.diff(drawn, axis=2) >= 0).all()
    assert (np.diff(drawn[:, :, 1], axis=1) >= 0).all()


def test_narrower_brackets_would_not_cover():
    """With the offset of a smaller confidence the test above fails: it has power."""
    ticks, cells = DATA["even"]
    weak = Brackets(epsilon=1, q=[Fraction(1, 2)], cells=cells, level=0.3)
    drawn = simulated(weak, ticks)[:, 0]
    truth = np.sort(ticks)[99]
    assert ((drawn[:, 0] <= truth) & (truth <= drawn[:, 2])).mean() < 0.95 - SIX


def test_one_value_outweighed_by_empty_cells_is_still_covered():
    """The joint draw may settle for the few other records; its total then gives it away."""
    cells = 2**21
    ticks = np.sort(np.append(np.full(54, 600_000), RNG.integers(0, cells, 6)))
    mechanism = Brackets(epsilon=1, q=[0.25, 0.5, 0.75], cells=cells, records=60)
    drawn = simulated(mechanism, ticks)
    truth = ticks[[14, 29, 44]]
    assert (drawn[:, :, 1] != truth).any(axis=1).mean() > 0.5
    assert ((drawn[:, :, 0] <= truth) & (truth <= drawn[:, :, 2])).all(axis=1).mean() >= 0.95 - SIX


def test_a_small_total_gives_the_bounds():
    mechanism = Brackets(epsilon=1, q=[0.5], cells=100)
    assert mechanism.published([0, 10, 20, 30]).tolist() == [[0, 20, 99]]
    assert mechanism.published([1, 10, 20, 30]).tolist() == [[0, 20, 99]]
    assert mechanism.published([10, 10, 20, 30]).tolist() == [[10, 20, 30]]


@pytest.mark.parametrize(
    ("records", "aims"), [(None, 27), (10**5, 27), (500, 19), (200, 11), (1, 9), (-40, 9)]
)
def test_close_orders_share_their_brackets(records, aims):
    mechanism = Brackets(epsilon=1, q=DECILES, cells=1000, records=records)
    assert mechanism.lattice.m == aims
    goals = mechanism.lattice.goals(1000 // mechanism.lattice.h * 100)
    assert goals == sorted(goals)


def test_own_brackets_lie_one_offset_away():
    mechanism = Brackets(epsilon=1, q=DECILES, cells=1000)
    goals = np.reshape(mechanism.lattice.goals(1000), (-1, 3))
    assert (np.diff(goals, axis=1) == mechanism.offset).all()
    assert all(a < b for a, b in mechanism.windows(10**6))


def test_a_higher_level_and_more_rows_aim_further_out():
    offset = Brackets(epsilon=1, q=DECILES, cells=1000).offset
    assert Brackets(epsilon=1, q=DECILES, cells=1000, level=0.99).offset > offset
    assert Brackets(epsilon=1, q=DECILES, cells=1000, rows=2).offset > 1.9 * offset


def test_offsets_never_divide_by_nothing():
    half = Fraction(1, 2)
    aims = FreeTotal((half, half, half), 16, (-9, 0, 9))
    assert aims.beyond(0, 3) >= 4
    stop = aims.beyond(100, 3)
    assert min(np.diff([0, aims.goals(stop)[0]])) >= 100


def test_a_fall_of_density_moves_brackets_out():
    ranks = np.arange(0, 101, 10)
    atom = np.array([0, 70, 70, 70, 70, 600, 700, 800, 900, 950, 1000])
    assert reached(ranks, ranks * 9, 7, 20, 0.2) == 5
    assert atom[reached(ranks, atom, 7, 20, 0.2)] == 70
    assert atom[reached(ranks, atom, 7, 20, 20.0)] == 600
    thinning_down = 1000 - atom[::-1]
    assert reached(ranks, thinning_down, 7, 20, 0.2) == 5
    assert reached(ranks, ranks * 9, 1, 20, 0.2) == 0


@pytest.mark.parametrize("ticks", [[], [3], [3, 3], [0, 99], [50] * 40])
def test_tiny_data_gives_an_answer(ticks):
    mechanism = Brackets(epsilon=1, q=[0.25, 0.5], cells=100)
    drawn = mechanism.release(ticks, source=SeededSource(1)).value
    assert drawn.shape == (2, 3)
    assert (np.diff(drawn, axis=1) >= 0).all()
    assert 0 <= drawn.min() <= drawn.max() <= 99
