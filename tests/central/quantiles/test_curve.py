from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sourdine as sd
from sourdine.central.quantiles.points import Reader
from sourdine.central.quantiles.tree import Curve
from sourdine.frames.frame import Frame
from sourdine.grid import Grid
from sourdine.noise import SeededSource
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE

GRID = {"bounds": (0, 1000), "step": 1}


def curve(records, *, cells=1001, epsilon=1, relation=ADD_REMOVE):
    return Curve(epsilon=Fraction(epsilon), cells=cells, relation=relation, rows=1, records=records)


def test_the_way_is_chosen_by_the_records():
    assert not curve(14_000).by_ticks
    assert curve(15_000).by_ticks
    assert not curve(15_000, relation=SUBSTITUTE).by_ticks
    assert curve(10, cells=400).by_ticks
    assert not curve(10**9, cells=(1 << 22) + 1).by_ticks
    sizes = [len(curve(n, cells=1 << 30).edges.orders) for n in (0, 1000, 5000, 20_000, 10**6)]
    assert sizes == [9, 62, 99, 323, 999]


@pytest.mark.slow_cases(1)
@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE])
@pytest.mark.parametrize("n", [40, 3000, 40_000])
def test_the_band_covers_the_records(n, relation):
    """All knots of all draws, ties and all: 95% of the draws at least."""
    rng, kept = np.random.default_rng(n), 0
    x = np.where(rng.random(n) < 0.4, 300, rng.integers(0, 1001, n))
    below = np.searchsorted(np.sort(x), np.arange(1002)) / n
    reader = Reader(Frame({"x": x}), "x", Grid(0, 1000, 1))
    made = curve(n, relation=relation)
    for seed in range(60):
        knots = made.knots(made.draw(reader, SeededSource(seed)))
        low, high = knots.band(0.05, "sample")
        assert (np.diff(knots.at) > 0).all()
        assert (np.diff(knots.below) >= 0).all()
        wide, wider = knots.band(0.05, "population")
        assert (wide <= low).all()
        assert (high <= wider).all()
        kept += bool(((low <= below[knots.at]) & (below[knots.at] <= high)).all())
    assert kept >= 53


def test_quantiles_and_shares_are_read_off():
    x = np.arange(100_000) % 1000
    reader, made = Reader(Frame({"x": x}), "x", Grid(0, 1000, 1)), curve(100_000)
    knots = made.knots(made.draw(reader, SeededSource(1)))
    orders = [Fraction(1, 10), Fraction(1, 2), Fraction(99, 100)]
    ticks = knots.quantiles(orders)
    low, high = knots.quantile_ends(orders, 0.05, "sample")
    assert np.abs(ticks - [100, 500, 990]).max() <= 3
    assert ((low <= ticks) & (ticks <= high) & (high - low < 10)).all()
    assert knots.share(500) == pytest.approx(0.5, abs=0.003)
    a, b = knots.share_ends(500, 0.05, "sample")
    assert a < 0.5 < b < a + 0.01
    assert knots.share_ends(0, 0.05, "sample")[0] == 0
    assert knots.share_ends(1001, 0.05, "sample") == (1, 1)


@pytest.mark.slow
def test_nothing_is_known_of_nobody():
    reader, made = Reader(Frame({"x": np.array([])}), "x", Grid(0, 1000, 1)), curve(0)
    for seed in range(5):
        knots = made.knots(made.draw(reader, SeededSource(seed)))
        low, high = knots.quantile_ends([Fraction(1, 2)], 0.05, "population")
        assert 0 <= low[0] <= high[0] <= 1000


@pytest.mark.slow
@pytest.mark.parametrize("n", [2000, 60_000])
def test_intervals_of_many_quantiles_cover(n):
    rng, orders, hit = np.random.default_rng(3), [j / 100 for j in range(1, 100)], 0
    for _ in range(25):
        x = np.sort(rng.integers(0, 1001, n))
        r = sd.quantiles(x, orders, **GRID, epsilon=1, interval=0.95)
        truth = x[np.ceil(np.array(orders) * n - 1e-9).astype(int) - 1]
        low, high = r.interval()
        hit += bool(((low <= truth) & (truth <= high)).all())
        assert ((low <= r.value) & (r.value <= high)).all()
    assert hit >= 20
