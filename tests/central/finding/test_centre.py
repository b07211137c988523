"""The private centre: its prior, its law, where it lands."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.audit.exhaustive import ALPHA, p_value
from sourdine.central.finding.search import Centre
from sourdine.frames.cells import Octaves
from sourdine.laws import Law

GRIDS = {
    "around 0": Octaves(-8, 40, step=1, bits=2),
    "above 0": Octaves(3, 40, step=1, bits=2),
    "below 0": Octaves(-30, -5, step=1, bits=3),
    "from 0": Octaves(0, 9, step=1, bits=3),
}
grids = pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)


def weight(grid, tick):
    """Weigh a point by how many bits its mantissa needs."""
    number = abs(tick + grid.first)
    if number == 0:
        return 0
    mantissa = (number - 1) % (1 << grid.bits)
    needed = next(k for k in range(grid.bits + 1) if mantissa % (1 << (grid.bits - k)) == 0)
    return sum(1 << (grid.bits - k) for k in range(needed, grid.bits + 1))


@grids
def test_the_prior_is_half_at_home_and_half_in_the_octaves(grid):
    centre, ticks = Centre(epsilon=1, grid=grid), np.arange(grid.size)
    want = np.array([weight(grid, tick) for tick in ticks])
    want[centre.home] += want.sum()
    assert centre.prior(ticks).tolist() == want.tolist()
    assert abs(grid.values([centre.home])[0]) == abs(grid.values(ticks)).min()
    starts = np.array([0, 2, 3, grid.last])
    parts = [int(part.sum()) for part in np.split(want, starts[1:])]
    assert centre.prior(starts).tolist() == parts


@pytest.mark.quick_cases(2)
@grids
def test_points_of_a_run_are_drawn_by_the_prior(grid):
    from sourdine.noise import SYSTEM

    centre = Centre(epsilon=1, grid=grid)
    logs = np.log(centre.prior(np.arange(grid.size)))
    for start, stop in ((0, grid.last), (2, 9), (grid.last - 4, grid.last)):
        drawn = np.array([centre._point(start, stop, SYSTEM) for _ in range(4000)])
        assert p_value(drawn, Law.finite(logs[start : stop + 1], start)) > ALPHA


def test_round_numbers_are_cheap():
    """At so few records a full mantissa is out of reach, but a power of two is not."""
    centre = Centre(epsilon=64 / 2000, grid=Octaves())
    ticks = centre.grid.ticks(np.full(2000, 1024.0))
    found = [centre.grid.values(centre.release(ticks).value)[0] for _ in range(20)]
    assert found == [1024.0] * 20


def test_the_centre_is_near_the_median():
    rng = np.random.default_rng(3)
    grid = Octaves()
    for x, far in ((rng.normal(1e6, 1, 4000), 2.0), (1.7e9 + rng.uniform(0, 86400, 4000), 40_000)):
        centre = Centre(epsilon=64 / len(x), grid=grid)
        found = [grid.values(centre.release(grid.ticks(x)).value)[0] for _ in range(20)]
        assert np.mean(np.abs(np.array(found) - np.median(x)) < far) > 0.8


def test_neighbours_are_told_by_what_differs():
    one = Centre(epsilon=1, grid=Octaves())
    other = Centre(epsilon=1, grid=Octaves(), relation="substitute")
    a, b, c, d = (one.read(ticks) for ticks in ([5, 5, 9], [5, 5, 9, 9], [5, 9, 9], [5, 7, 8]))
    assert [one.adjacent(a, x) for x in (a, b, c, d)] == [True, True, False, False]
    assert [other.adjacent(a, x) for x in (a, b, c, d)] == [True, True, True, False]
