"""The private centre: its prior, its law, where it lands."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sourdine.audit.exhaustive import ALPHA, p_value
from sourdine.central.finding import search
from sourdine.central.finding.search import HALF, Centre, Ordered
from sourdine.central.quantiles.independent import Runs
from sourdine.central.quantiles.points import Points
from sourdine.frames.cells import Octaves
from sourdine.laws import Law
from sourdine.noise import SYSTEM

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


BLOCKED = {
    "spread": np.arange(-8, 40).repeat(9),
    "one value": np.full(300, 24.0),
    "two far apart": np.repeat([1.0, 2.0, 1500.0, 1600.0], (3, 140, 150, 2)),
    "beyond the ends": np.repeat([-1e300, -8.0, -3.5, 1e300], (90, 10, 60, 190)),
}


blocked = pytest.mark.parametrize("x", BLOCKED.values(), ids=BLOCKED)


def coarse(monkeypatch, x, relation="add_remove", width=3):
    """Return a mechanism whose blocks are wide, so that many trials are refused, and points."""
    monkeypatch.setattr(search, "BLOCK", Fraction(width))
    grid = Octaves(-8, 2000, step=1, bits=2)
    centre = Centre(epsilon=8 / len(x), grid=grid, relation=relation)
    return centre, Ordered(np.sort(x), grid)


def drawn_as_stated(centre, points):
    drawn = np.array(centre.many(points, 4000, SYSTEM))[:, 0]
    return p_value(drawn, centre.law(points)) > ALPHA


@pytest.mark.slow_cases(2)
@blocked
def test_draws_from_blocks_follow_the_law(x, relation, monkeypatch):
    centre, points = coarse(monkeypatch, x, relation)
    assert len(centre.blocks(points)[0]) < 14
    assert drawn_as_stated(centre, points)


def test_draws_that_keep_every_point_are_told_from_the_law(monkeypatch):
    centre, points = coarse(monkeypatch, BLOCKED["spread"])
    monkeypatch.setattr(search.noise, "bernoulli_exp", lambda *_, **__: np.ones(1, bool))
    assert not drawn_as_stated(centre, points)


@blocked
@pytest.mark.parametrize("width", [3, Fraction(1, 4), Fraction(1, 1000)])
def test_no_point_of_a_block_is_nearer_than_its_bound(x, width, monkeypatch):
    centre, points = coarse(monkeypatch, x, width=width)
    start, least = centre.blocks(points)
    runs, ticks = Runs.of(points.complete(), HALF, whole=False), np.arange(centre.cells)
    exact = runs.distance[np.searchsorted(runs.start, ticks, side="right") - 1]
    ends = np.append(start[1:], centre.cells)
    for a, b, bound in zip(start, ends, least, strict=True):
        spread = float(2 * centre.decay) * (exact[a:b].max() - bound) / 2
        assert 0 <= spread <= max(width, float(2 * centre.decay))
        assert bound <= exact[a:b].min()


@grids
def test_sorted_values_count_like_their_ticks(grid):
    rng = np.random.default_rng(8)
    x = np.concatenate((rng.normal(5, 20, 200), np.arange(-9, 42), [0.0, -0.0, 1e30, -1e30]))
    x = np.concatenate((x, np.nextafter(x, np.inf), np.nextafter(x, -np.inf)))
    ends = [np.inf, -np.inf, np.nan, np.nan]
    for values in (x, x.astype(np.float32), np.append(x, ends), np.arange(-50, 50)):
        ordered = Ordered.of_array(values, grid)
        plain = Points.of(grid.ticks(values, missing=-1), grid.size)
        ticks, ranks = np.arange(grid.size + 1), np.arange(plain.n)
        assert ordered.n == plain.n
        assert ordered.below(ticks).tolist() == [plain.below(tick) for tick in ticks]
        assert ordered.at(ranks).tolist() == list(plain) == list(ordered)
        assert ordered == plain
        assert plain.below(ticks).tolist() == ordered.below(ticks).tolist()
        assert plain.at(ranks).tolist() == list(plain)


def test_whole_numbers_that_floats_cannot_hold_are_not_sorted_as_floats():
    grid = Octaves()
    assert Ordered.of_array(np.array([1, 2**53 + 1]), grid) is None
    assert Ordered.of_array(np.array([2**64 - 1], np.uint64), grid) is None
    assert Ordered.of_array(np.array([-(2**63)]), grid) is None
    assert Ordered.of_array(None, grid) is None
    assert Ordered.of_array(np.array([], np.int64), grid).n == 0
