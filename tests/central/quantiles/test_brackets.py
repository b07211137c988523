"""Brackets beside quantiles: where they aim, and that what is certified holds for all data."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, sqrt

import numpy as np
import pytest

import sourdine as sd
from sourdine.audit import replay
from sourdine.central.quantiles import intervals
from sourdine.central.quantiles.algorithm import FreeTotal
from sourdine.central.quantiles.intervals import Brackets, certified, noise_reach
from sourdine.central.quantiles.points import Points, Window
from sourdine.central.quantiles.statistic import Quantiles
from sourdine.noise import SeededSource

RUNS = 80
SIX = 6 * sqrt(0.05 * 0.95 / RUNS)
DECILES = [Fraction(i, 10) for i in range(1, 10)]
RNG = np.random.default_rng(1)
WAGES = sd.data.wages()
DATA = {
    "even": (RNG.integers(0, 100_000, 200), 100_000),
    "skewed": (np.rint(RNG.lognormal(5.9, 0.6, 200)).astype(int), 5000),
    "heavy ties beside a gap": (np.clip(WAGES, 0, 200_000), 200_000),
    "one value": (np.full(300, 37), 1000),
    "at the bound": (np.zeros(300, int), 200_000),
    "mostly zero": (np.where(RNG.random(3000) < 0.6, 0, RNG.integers(1, 100_000, 3000)), 100_000),
    "two values": (np.repeat([0, 1000], [1000, 1001]), 1000),
    "none": (np.array([], int), 1000),
}


PAIRS = [
    (name, orders, ("add_remove", "substitute")[(i + j) % 2])
    for i, name in enumerate(DATA)
    for j, orders in enumerate(([0.8], [0.1, 0.5, 0.9]))
]
"""Any two of data, orders and relation meet."""


@pytest.mark.slow_cases(4)
@pytest.mark.parametrize(("name", "orders", "relation"), PAIRS)
def test_certified_intervals_cover_whatever_the_data(name, orders, relation):
    values, top = DATA[name]
    asked = Quantiles(
        q=orders, bounds=(0, top), step=1, epsilon=1, relation=relation, interval=0.95,
        source=SeededSource(3),
    )  # fmt: skip
    frame = sd.Frame(values)
    releases = [asked.release(frame) for _ in range(RUNS)]
    if len(values) == 0:
        assert all(np.all((r.value >= 0) & (r.value <= top)) for r in releases)
        return
    truth = np.sort(values)[[ceil(Fraction(str(q)) * len(values)) - 1 for q in orders]]
    ends = [release.interval(0.95) for release in releases]
    hits = [bool(np.all((low <= truth) & (truth <= high))) for low, high in ends]
    assert np.mean(hits) >= 0.95 - SIX
    for release, (low, high) in zip(releases, ends, strict=True):
        assert np.all((low <= release.value) & (release.value <= high))


@pytest.mark.slow
def test_without_the_noise_reach_intervals_would_not_cover(monkeypatch):
    monkeypatch.setattr(intervals, "_reach_of_counts", lambda *_: 0.0)
    values, top = DATA["even"]
    asked = Quantiles(
        q=DECILES, bounds=(0, top), step=1, epsilon=1, interval=0.95, source=SeededSource(4)
    )
    truth = np.sort(values)[[ceil(q * 200) - 1 for q in DECILES]]
    ends = [asked.release(values).interval(0.95) for _ in range(RUNS)]
    hits = [bool(np.all((low <= truth) & (truth <= high))) for low, high in ends]
    assert np.mean(hits) < 0.95 - SIX


def test_intervals_are_narrow_on_even_data():
    values = np.random.default_rng(5).random(100_000)
    release = sd.median(values, bounds=(0, 1), epsilon=1, interval=0.95, source=SeededSource(2))
    low, high = release.interval(0.95)
    assert (high - low) * 100_000 < 120  # ranks
    wider = release.interval(0.95, of="population")
    assert 300 < (wider[1] - wider[0]) * 100_000 < 3000 or wider == (0, 1)
    surer = release.interval(0.999)
    assert surer[0] <= low
    assert high <= surer[1]


def test_noise_passes_its_reach_as_often_as_it_may():
    orders, scale = (Fraction(1, 4), Fraction(1, 2)), 7.0
    z = noise_reach(6, orders, scale, 0.05)
    noise = np.random.default_rng(9).laplace(scale=scale, size=(40_000, 7))
    walk = np.cumsum(noise, axis=1)
    worst = np.max([np.abs(walk[:, :-1] - float(q) * walk[:, -1:]) for q in orders], axis=(0, 2))
    assert 0.03 < (worst > z).mean() < 0.05
    assert noise_reach(6, orders, scale, 1e-6) > z + 5 * scale


def test_what_is_not_certain_is_left_to_the_grid():
    edges, between = np.array([10, 20, 30]), np.array([400, 95, 110, 395])
    low, high = certified(edges, between, (Fraction(1, 2),), 1000, 99)
    assert (low.tolist(), high.tolist()) == ([0], [99])


@pytest.mark.parametrize(
    ("records", "aims"), [(None, 27), (10**5, 27), (900, 19), (200, 9), (1, 9), (-40, 9)]
)
def test_close_orders_share_their_brackets(records, aims):
    mechanism = Brackets(epsilon=1, q=DECILES, cells=1000, records=records, slack=20)
    assert mechanism.lattice.m == aims


def test_edges_are_those_that_matter():
    own = Brackets(epsilon=1, q=[Fraction(1, 2)], cells=1000, slack=5)
    assert own.edges([9, 100, 500, 900]) == [100, 901]
    assert own.own(9) == [1]
    shared = Brackets(epsilon=1, q=DECILES, cells=1000, records=20)
    assert shared.edges([9, *range(10, 100, 10)]) == sorted(
        [*range(10, 100, 10), *range(11, 101, 10)]
    )


def test_more_rows_aim_further_out():
    offset = Brackets(epsilon=1, q=DECILES, cells=1000).offset
    assert Brackets(epsilon=1, q=DECILES, cells=1000, rows=2).offset > 1.9 * offset


def test_offsets_never_divide_by_nothing():
    half = Fraction(1, 2)
    aims = FreeTotal((half, half, half), 16, (-9, 0, 9))
    assert aims.beyond(0, 3) >= 4
    stop = aims.beyond(100, 3)
    assert aims.goals(stop)[0] >= 100


def test_records_below_a_tick_are_known_in_windows():
    ticks = np.sort(np.random.default_rng(3).integers(0, 500, 400))
    whole = Points.of(ticks, 500)
    window = whole.windows[0]
    i, j = 60, 120
    part = Points(
        400, 500,
        [Window(window.ticks[i:j], window.counts[i:j], int(window.ends[i - 1]))],
        reload=lambda: whole,
    )  # fmt: skip
    for tick in range(501):
        expected = int(np.searchsorted(ticks, tick))
        assert whole.below(tick) == expected
        assert part.below(tick) == expected


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("counted", [True, False])
def test_everything_drawn_for_an_interval_is_within_epsilon(relation, counted):
    rng = np.random.default_rng(7)
    q = DECILES if counted else [Fraction(1, 2)]
    costs = set()
    for _ in range(40):
        data = rng.integers(0, 100, 60).tolist()
        other = [*data[1:], int(rng.integers(0, 100))] if relation == "substitute" else data[1:]

        def call(x):
            return sd.quantiles(
                x, q, bounds=(0, 100), step=1, epsilon=1, relation=relation, interval=0.9
            )

        result = replay(call, data, other)
        assert result.holds, result.faults
        moved = [a.mechanism.guarantee.epsilon for a, b in result.steps if a.x is not b.x]
        costs.add(sum(Fraction(epsilon) for epsilon in moved))
    still = counted and relation == "substitute"  # then the count does not move
    assert max(costs) == (Fraction(49, 50) if still else 1)
