from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourdine.central.quantiles import joint, points
from sourdine.central.quantiles.algorithm import FreeTotal
from sourdine.central.quantiles.joint import JointFree, JointSampler
from sourdine.central.quantiles.points import NotReadError, Points, points_of_array, windows_within
from sourdine.grid import Grid
from sourdine.noise import SeededSource

N = 24_000
GRID = Grid(0, 1 << 20, step=1)
RNG = np.random.default_rng(11)
UNIFORM = RNG.random(N) * (1 << 20)
BIG = 1.7e308

ARRAYS = {
    "uniform": UNIFORM,
    "sorted": np.sort(UNIFORM),
    "reversed": np.sort(UNIFORM)[::-1].copy(),
    "all equal": np.full(N, 77.0),
    "ties": np.floor(UNIFORM / 40_000) * 40_000,
    "infinities": np.where(
        RNG.random(N) < 0.3, np.inf, np.where(RNG.random(N) < 0.3, -np.inf, UNIFORM)
    ),
    "a few infinities": np.concatenate((UNIFORM, [np.inf] * 3, [-np.inf] * 3)),
    "at the bounds": np.where(RNG.random(N) < 0.5, -5.0, (1 << 20) + 9.0),
    "two clusters": np.where(RNG.random(N) < 0.5, 10.0, 1e6) + RNG.random(N),
    "far clusters": np.where(RNG.random(N) < 0.5, -BIG, BIG),
    "outliers": np.concatenate((UNIFORM, [1e308, -1e308] * 2)),
    "outliers of a small range": np.concatenate((UNIFORM / (1 << 20), [1e308, -1e308] * 2)),
    "huge": UNIFORM * 1e302,
    "tiny range": 1e5 + UNIFORM * 1e-15,
    "denormal range": np.where(UNIFORM > 5e5, 5e-324, 0.0),
    "int64": UNIFORM.astype(np.int64),
    "wide int64": RNG.integers(-(1 << 62), 1 << 62, N),
    "uint64": RNG.integers(0, 1 << 63, N).astype(np.uint64) * np.uint64(2),
    "int8": RNG.integers(-128, 128, N).astype(np.int8),
    "float32": UNIFORM.astype(np.float32),
    "float32 outliers": np.concatenate((UNIFORM, [3e38, -3e38] * 900)).astype(np.float32),
    "float16": ((UNIFORM / (1 << 20) - 0.5) * 120_000).astype(np.float16),
    "exponential": np.exp(RNG.random(N) * 1400 - 700),
}
WINDOWS = {
    "one": lambda n: [(n // 2 - 200, n // 2 + 200)],
    "low": lambda _: [(-50, 100)],
    "high": lambda n: [(n - 100, n + 50)],
    "several": lambda n: [(k * n // 10 - 80, k * n // 10 + 80) for k in range(1, 10)],
    "ends": lambda n: [(0, 10), (n - 10, n)],
}


def same(part, whole, ranges):
    """What a window knows is what all the records say, and its atoms are whole."""
    assert (part.n, part.cells) == (whole.n, whole.cells)
    atoms = dict(
        zip(whole.windows[0].ticks.tolist(), whole.windows[0].counts.tolist(), strict=True)
    )
    for window in part.windows:
        known = [atoms[tick] for tick in window.ticks.tolist()]
        assert window.counts.tolist() == known
        assert window.start == whole.below(int(window.ticks[0]))
        low, high = part._known(window)
        assert part.masses(low, high).tolist() == whole.masses(low, high).tolist()
        for rank in {low, (low + high) // 2, high - 1}:
            assert part.around(rank) == whole.around(rank)
    for a, b in ranges:
        with suppress(NotReadError):
            assert part.masses(a, b).tolist() == whole.masses(a, b).tolist()


@pytest.mark.grid
@pytest.mark.parametrize("x", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("windows", WINDOWS.values(), ids=WINDOWS)
def test_windows_equal_the_whole(x, windows):
    part, whole = points_of_array(x, GRID, windows), points_of_array(x, GRID)
    same(part, whole, windows_within(windows(len(x)), len(x)))
    assert part.complete().masses(0, len(x) + 1).tolist() == whole.masses(0, len(x) + 1).tolist()
    low = np.sort(np.random.default_rng(3).integers(-50, len(x) + 50, 300))
    for more in (0, 3, 500):
        bound = part.span(low, low + more)
        for a, most in zip(low.tolist(), bound.tolist(), strict=True):
            assert whole.masses(a, a + more + 1).sum() <= most * (1 + 1e-9)


@pytest.mark.parametrize("windows", ["one", "several"])
@pytest.mark.parametrize("name", ["uniform", "float32", "int64", "outliers", "sorted"])
def test_windows_are_read_and_not_all(name, windows):
    part = points_of_array(ARRAYS[name], GRID, WINDOWS[windows])
    assert not part.whole
    held = sum(window.stop - window.start for window in part.windows)
    assert held < N / 3
    for a, b in WINDOWS[windows](N):
        assert part.masses(a + 9, b - 9).sum() > 0


small = st.lists(st.integers(0, 30), min_size=12, max_size=120)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(small, st.lists(st.tuples(st.integers(-5, 125), st.integers(1, 9)), min_size=1, max_size=3))
def test_small_arrays_in_windows(x, starts):
    grid, values = Grid(0, 30, step=1), np.array(x, np.float64) + 0.25
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"SMALL": 1, "COARSE": 1, "LARGEST_SHARE": 9.0, "BINS": 16}.items():
            patch.setattr(points, name, value)
        ranges = [(min(a, len(x) - 1), min(a, len(x) - 1) + b) for a, b in starts]
        part = points_of_array(values, grid, lambda _: ranges)
    whole = Points.of(x, 31)
    same(part, whole, windows_within(ranges, len(x)))
    low = np.arange(-3, len(x) + 3)
    for more in (0, 1, 7, 60):
        bound = part.span(low, low + more)
        for a, most in zip(low.tolist(), bound.tolist(), strict=True):
            assert whole.masses(a, a + more + 1).sum() <= most + 1e-9


# Cuts


@given(st.lists(st.integers(0, 8), max_size=12), st.data())
def test_cuts_hold_the_records_between(x, data):
    x = sorted(x)
    first = data.draw(st.integers(0, len(x)))
    last = data.draw(st.integers(first, len(x)))
    low = data.draw(st.integers(x[first - 1] if first else 0, x[first] if first < len(x) else 8))
    high = data.draw(
        st.integers(max(x[last - 1] if last else 0, low), x[last] if last < len(x) else 8)
    )
    part = Points.of(x, 9).cut((first, last), (low, high))
    expected = Points.of([tick - low for tick in x[first:last]], high - low + 1)
    assert (part.n, part.cells) == (expected.n, expected.cells)
    assert list(part) == list(expected)
    assert part.masses(0, part.n + 1).tolist() == expected.masses(0, part.n + 1).tolist()
    assert [part.around(r) for r in range(part.n + 1)] == [
        expected.around(r) for r in range(part.n + 1)
    ]


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(st.integers(0, 20), min_size=8, max_size=60), st.data())
def test_cuts_of_windows_know_what_the_whole_knows(x, data):
    x = sorted(x)
    n, grid, ranges = (
        len(x),
        Grid(0, 20, step=1),
        [(n_ := len(x) // 4, n_ + 3), (3 * n_, 3 * n_ + 2)],
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"SMALL": 1, "COARSE": 1, "LARGEST_SHARE": 9.0, "BINS": 16}.items():
            patch.setattr(points, name, value)
        windowed = points_of_array(np.array(x, float), grid, lambda _: ranges)
    first = data.draw(st.integers(0, n - 1))
    last = data.draw(st.integers(first, n))
    ticks = (x[first - 1] if first else 0, x[last] if last < n else 20)
    part, whole = (p.cut((first, last), ticks) for p in (windowed, Points.of(x, 21)))
    for rank in range(part.n + 1):
        with suppress(NotReadError):
            assert part.masses(rank, rank + 1).tolist() == whole.masses(rank, rank + 1).tolist()
            assert part.around(rank) == whole.around(rank)
    low = np.arange(-1, part.n + 1)
    for a, most in zip(low.tolist(), part.span(low, low + 2).tolist(), strict=True):
        assert whole.masses(a, a + 3).sum() <= most + 1e-9
    assert list(part.complete()) == list(whole)


# Reading too little is said before anything is drawn


@pytest.mark.parametrize("patience", [1, 100])
@pytest.mark.parametrize("reach", [5, 20, 60, 150, 400])
def test_nothing_is_missed_once_drawing(reach, patience, monkeypatch, windowed):
    monkeypatch.setattr(joint, "PATIENCE", patience)
    ticks = np.random.default_rng(4).integers(0, 1 << 20, 3000)
    q, built = (Fraction(2, 5), Fraction(1, 2), Fraction(3, 5)), []
    for c in (0.3, 1.0):
        ranges = [(int(p * 3000) - reach, int(p * 3000) + reach) for p in q]
        part, _ = windowed(ticks, 1 << 20, ranges)
        with suppress(NotReadError):
            built.append(JointSampler(part, FreeTotal(q, 20), c))
    for drawer in built:
        for seed in range(4):
            drawer.draw(SeededSource(seed))
    assert built or reach < 150


def test_windows_suffice_mostly():
    made = JointFree(epsilon=1, q=[Fraction(j, 10) for j in range(1, 10)], cells=GRID.size)
    x = np.random.default_rng(6).random(60_000) * (1 << 20)
    part = points_of_array(x, GRID, made.windows)
    whole = points_of_array(x, GRID)
    assert not part.whole
    for seed in range(5):
        assert made.one(part, SeededSource(seed)) == made.one(whole, SeededSource(seed))


def test_windows_are_joined_and_hold_a_record():
    assert windows_within([(5, 9), (-3, 2), (8, 12), (20, 30)], 25) == [(0, 2), (5, 12), (20, 25)]
    assert windows_within([(0, 4), (4, 6)], 9) == [(0, 6)]
    assert windows_within([(-9, -5), (4, 4), (99, 120)], 9) == [(0, 1), (4, 5), (8, 9)]
