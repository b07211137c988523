from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sourdine import data, noise
from sourdine.audit import p_value, replay
from sourdine.audit.exhaustive import ALPHA
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.grid import Grid
from sourdine.local.designs.numbers import designed
from sourdine.local.numeric.duchi import Duchi, HybridReport
from sourdine.local.numeric.sliding import SlidingWindow, piecewise, square_wave
from sourdine.mechanisms import BoundedStaircase
from sourdine.noise import SeededSource
from sourdine.privacy import LOCAL, Guarantee
from sourdine.results.release import Release

TICKS = (1, 2, 5, 37, 1000, 200_000, 1 << 40)
MAKERS = {
    "square-wave": square_wave,
    "piecewise": piecewise,
    "duchi": lambda e, m: Duchi(epsilon=e, last=m),
    "hybrid": lambda e, m: HybridReport(epsilon=e, last=m),
    "design": designed,
    "odd": lambda e, m: SlidingWindow(epsilon=e, last=m, slide=7, width=3),
}
each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@each
@pytest.mark.parametrize("last", TICKS)
def test_estimates_are_unbiased(make, last):
    for epsilon in (0.2, 1, 4):
        report = make(epsilon, last)
        y = np.arange(report.codes)
        e = report.estimates(y)
        for x in {0, 1, last // 3, last}:
            p = report.law(x).pmf(y)
            assert p @ e == pytest.approx(x, abs=1e-9 * last)
            centred = e - x
            assert p @ (centred * centred) == pytest.approx(float(report.variance(x)), rel=1e-9)


@each
@pytest.mark.parametrize("last", TICKS[:-1])
def test_laws_are_linear_between_nodes(make, last):
    report = make(1, last)
    nodes, rows = report.nodes(), report.rows()
    assert nodes[0] == 0
    assert nodes[-1] == last
    assert np.allclose(rows.sum(axis=1), 1, atol=1e-12)
    y = np.arange(report.codes)
    for x in {0, 1, last // 3, last - 1, last}:
        between = [np.interp(x, nodes, column) for column in rows.T]
        assert np.allclose(report.law(x).pmf(y), between, atol=1e-12)


@pytest.mark.quick_cases(7)
@each
@pytest.mark.parametrize("last", [13, 5000])
def test_draws_follow_the_law_for_all_people_at_once(make, last):
    report = make(Fraction(3, 2), last)
    x = (0, last // 3, last)
    codes = np.tile(x, 40_000)
    drawn = report.randomise(codes, source=SeededSource(4))
    for i, tick in enumerate(x):
        assert p_value(drawn[i::3], report.law(tick)) > ALPHA
        wrong = drawn[(i + 1) % 3 :: 3]
        assert p_value(wrong, report.law(tick)) < ALPHA


def test_square_wave_is_that_of_the_paper():
    for epsilon in (0.5, 1, 2, 4):
        e = math.exp(epsilon)
        b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
        report = square_wave(epsilon, 500)
        assert report.slide == 500
        assert report.width == 2 * round(b * 500) + 1
    assert square_wave(1, 1).codes == 2


@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 9.9e-4, 1.01e-3, 1e-2])
def test_square_wave_of_little_epsilon_is_half_as_wide_as_the_range(epsilon):
    width = square_wave(epsilon, 500).width
    assert width == 2 * round(500 * (0.5 - epsilon / 3)) + 1


def test_piecewise_is_that_of_the_paper():
    for epsilon in (0.5, 1, 2, 4):
        report = piecewise(epsilon, 100_000)
        s = math.exp(epsilon / 2)
        inside = report.width * report.chances[0]
        assert inside == pytest.approx(s / (s + 1), rel=0.01)
        x = np.array([0.5, 0.75, 1.0])
        t = 2 * x - 1
        paper = (t * t / (s - 1) + (s + 3) / (3 * (s - 1) ** 2)) / 4
        assert np.allclose(report.variance(x * 100_000) / 1e10, paper, rtol=0.02)


def test_duchi_has_the_variance_of_the_paper():
    for epsilon in (0.5, 1, 4):
        report = Duchi(epsilon=epsilon, last=2)
        c = (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
        assert np.allclose(report.variance([0, 1, 2]), [c * c - 1, c * c, c * c - 1])


def test_hybrid_is_even_and_below_its_threshold_a_bit():
    assert HybridReport(epsilon=0.61, last=9).codes == 2
    assert HybridReport(epsilon=0.62, last=9).codes > 2
    variance = HybridReport(epsilon=2, last=100_000).variance([0, 30_000, 50_000])
    assert np.ptp(variance) / variance.max() < 0.02


def test_hybrid_is_never_worse_than_both():
    for epsilon in (0.3, 0.7, 1, 2, 4):
        x = np.arange(101)
        worst = [float(make(epsilon, 100).variance(x).max()) for make in list(MAKERS.values())[1:4]]
        assert worst[2] <= min(worst[:2]) * 1.005


@pytest.mark.parametrize(
    ("make", "rmse"),
    [(MAKERS["duchi"], (809, 412, 225)), (piecewise, (884, 422, 193))],
    ids=["duchi", "piecewise"],
)
def test_wages_have_the_published_error(make, rmse, wages):
    for epsilon, known in zip((0.5, 1, 2), rmse, strict=True):
        report = make(epsilon, 200_000)
        found = math.sqrt(report.variance(wages).mean() / wages.size)
        assert found == pytest.approx(known, rel=0.01)


@each
def test_reports_are_released_on_the_tape(make):
    report = make(1, 4)

    def call(codes):
        drawn = report.randomise(codes)
        return Release(value=drawn.size, cost=Guarantee(1, 0, LOCAL), mechanism=report)

    people = np.array([0, 3, 1])
    assert replay(call, people, np.array([0, 3, 4])).holds
    assert not replay(call, people, np.array([1, 3, 4])).holds


@each
def test_any_codes_are_answered(make):
    report = make(1, 4)
    drawn = report.randomise([-5, 0, 99, 10**12], source=SeededSource(1))
    assert report.valid(drawn).all()
    assert report.tally(drawn).sum() == 4
    assert report.tally(report.randomise([])).tolist() == [0] * report.cells
    assert not report.valid(np.array([-1, report.codes])).any()


@each
def test_extreme_epsilons_have_a_law(make):
    for epsilon in (0.05, 12) if make is designed else (1e-9, 50, 2000):
        report = make(epsilon, 10)
        assert report.law(3).pmf(np.arange(report.codes)).sum() == pytest.approx(1)
        assert report.error() >= 0
        assert report.valid(report.randomise([0, 3, 10])).all()
        assert np.isfinite(report.variance([0, 3])).all()


def test_a_fine_grid_is_rounded_without_bias():
    last = 1 << 40
    report = piecewise(1, last)
    assert report.codes < 1024
    x = np.full(200_000, 123_456_789_012)
    drawn = report.randomise(x, source=SeededSource(2))
    error = report.estimates(drawn).mean() - x[0]
    assert abs(error) < 6.2 * math.sqrt(float(report.variance(x[0])) / x.size)


def test_values_are_on_the_scale_of_the_grid():
    grid = Grid(-50, 50, step=Fraction(1, 2))
    report = Duchi(epsilon=1, last=200)
    low, high = report.values([0, 1], grid)
    assert low == pytest.approx(-high)
    with pytest.raises(ParameterError, match="grid must have the highest tick 200"):
        report.values([0], Grid(0, 1, step=1))


def test_bad_parameters_are_refused():
    for bad in ({"slide": 0}, {"width": 0}, {"slide": 1 << 12}, {"last": 0}, {"last": 1 << 41}):
        with pytest.raises(ParameterError, match="must be"):
            SlidingWindow(**{"epsilon": 1, "last": 5, "slide": 5, "width": 3} | bad)
    with pytest.raises(ParameterTypeError, match="last must be"):
        square_wave(1, 5.5)


def test_the_seed_repeats_and_the_system_does_not():
    report = square_wave(1, 1 << 30)
    x = np.arange(1000)
    one, two = (report.randomise(x, source=SeededSource(9)) for _ in range(2))
    assert (one == two).all()
    assert (report.randomise(x, source=noise.SYSTEM) != one).any()


@pytest.fixture
def wages():
    return np.clip(data.wages(), 0, 200_000)


@pytest.mark.parametrize("last", [2, 30, 200_000, 1 << 40])
def test_the_cut_staircase_tosses_its_coins_exactly(last, monkeypatch):
    """The floats decide as the exact reals do, and the draws follow the law on any grid."""
    report = BoundedStaircase(epsilon=1, last=last, method="truncated")
    x = np.linspace(0, last, 400).astype(np.int64)
    quick = report.randomise(x, source=SeededSource(8))
    monkeypatch.setattr("sourdine.noise.coins.SLACK", 2.0)
    assert (report.randomise(x, source=SeededSource(8)) == quick).all()
    monkeypatch.undo()
    for tick in {0, last // 3, last}:
        drawn = report.simulate(tick, 20_000, source=SeededSource(9))
        assert p_value(drawn, report.law(tick)) > ALPHA
