from __future__ import annotations

import math

import numpy as np
import pytest

from sourdine import data
from sourdine.errors import ParameterError
from sourdine.grid import Grid
from sourdine.local.designs.numbers import designed
from sourdine.local.estimators.distribution import distribution, quantiles
from sourdine.local.estimators.means import mean, scores_of_share
from sourdine.local.numeric.duchi import Duchi, HybridReport
from sourdine.local.numeric.sliding import piecewise, square_wave
from sourdine.mechanisms import BoundedLaplace, BoundedStaircase
from sourdine.noise import SeededSource
from sourdine.privacy import LOCAL, Guarantee
from sourdine.results.release import Release

LAST = 20
GRID = Grid(100, 140, step=2)
MAKERS = {
    "square-wave": square_wave,
    "piecewise": piecewise,
    "duchi": lambda e, m: Duchi(epsilon=e, last=m),
    "hybrid": lambda e, m: HybridReport(epsilon=e, last=m),
    "design": designed,
    "laplace": lambda e, m: BoundedLaplace(epsilon=e, last=m),
    "window": lambda e, m: BoundedStaircase(epsilon=e, last=m),
}
UNBIASED = list(MAKERS)[:5]
CROWDS = {
    "low": lambda n: np.zeros(n, int),
    "middle": lambda n: np.full(n, LAST // 2),
    "even": lambda n: np.arange(n) % (LAST + 1),
    "ends": lambda n: np.arange(n) % 3 // 2 * LAST,
}
SURVEYS = 600
SLIP = 5 * math.sqrt(0.05 * 0.95 / SURVEYS)
each = pytest.mark.parametrize("name", MAKERS)


def surveys(report, ticks, runs=SURVEYS):
    """Return tallies of many surveys of the same people."""
    reports = report.randomise(np.tile(ticks, runs), source=SeededSource(11))
    return [report.tally(part) for part in np.split(reports, runs)]


def holds(ends, truth):
    low, high = np.array([e[0] for e in ends]), np.array([e[1] for e in ends])
    return (low <= truth + 1e-9) & (truth <= high + 1e-9)


@pytest.mark.quick_cases(7)
@pytest.mark.parametrize("name", UNBIASED)
@pytest.mark.parametrize("epsilon", [0.2, 1, 4])
def test_means_are_unbiased(name, epsilon):
    report, ticks = MAKERS[name](epsilon, LAST), CROWDS["ends"](60)
    found = np.array([mean(report, t, GRID).value for t in surveys(report, ticks)])
    error = found.mean() - GRID.values(ticks).mean()
    assert abs(error) < 5 * found.std() / math.sqrt(SURVEYS)
    assert found.std() > 0


@pytest.mark.grid(quick=0)
@each
@pytest.mark.parametrize("crowd", CROWDS)
@pytest.mark.parametrize(("epsilon", "n"), [(0.2, 50), (1, 50), (4, 400)])
def test_mean_intervals_cover(name, crowd, epsilon, n):
    report, ticks = MAKERS[name](epsilon, LAST), CROWDS[crowd](n)
    truth = GRID.values(ticks).mean()
    releases = [mean(report, t, GRID) for t in surveys(report, ticks)]
    for of in ("sample", "population"):
        ends = [r.interval(of=of) for r in releases]
        assert holds(ends, truth).mean() >= 0.95 - SLIP


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", UNBIASED)
@pytest.mark.parametrize(("epsilon", "n"), [(1, 200), (4, 400)])
def test_mean_intervals_are_short(name, epsilon, n):
    report, ticks = MAKERS[name](epsilon, LAST), CROWDS["even"](n)
    releases = [mean(report, t, GRID) for t in surveys(report, ticks)]
    error = np.abs([r.value - GRID.values(ticks).mean() for r in releases])
    width = np.median([np.diff(r.interval())[0] for r in releases])
    assert width <= 1.4 * 2 * np.quantile(error, 0.95)


@pytest.mark.parametrize("name", [name for name in UNBIASED if name != "design"])
@pytest.mark.parametrize("epsilon", [0.3, 1, 2, 4])
def test_means_are_never_noisier_than_the_line(name, epsilon):
    report = MAKERS[name](epsilon, LAST)
    score, _ = scores_of_share(report, 100)
    line = report.variance(np.arange(LAST + 1)).max() / LAST**2
    assert score.most <= line * (1 + 1e-9)
    assert score.bias < 1e-7


def test_population_intervals_count_the_people_too():
    rng = np.random.default_rng(3)
    report, runs, n = piecewise(4, LAST), 400, 60
    ticks = rng.choice([0, LAST], (runs, n))
    drawn = report.randomise(ticks.ravel(), source=SeededSource(2)).reshape(runs, n)
    ends = [mean(report, report.tally(d), GRID).interval(of="population") for d in drawn]
    assert holds(ends, 120).mean() >= 0.95 - 5 * math.sqrt(0.05 * 0.95 / runs)
    sample = [mean(report, report.tally(d), GRID).interval() for d in drawn]
    assert holds(sample, 120).mean() < 0.85


@pytest.mark.slow_cases(3)
@each
@pytest.mark.parametrize("crowd", ["even", "ends"])
def test_quantile_intervals_cover(name, crowd):
    report, ticks, orders = MAKERS[name](3, LAST), CROWDS[crowd](300), [0.1, 0.5, 0.9]
    truth = np.quantile(GRID.values(ticks), orders, method="inverted_cdf")
    for of in ("sample", "population"):
        ends = [
            quantiles(report, t, GRID, orders).interval(of=of) for t in surveys(report, ticks, 60)
        ]
        inside = np.array([(low <= truth) & (truth <= high) for low, high in ends])
        assert inside.all(axis=1).mean() >= 0.95 - 5 * math.sqrt(0.05 * 0.95 / 60)


@pytest.mark.quick_cases(1)
@each
def test_share_intervals_cover(name):
    report, ticks = MAKERS[name](3, LAST), CROWDS["ends"](300)
    inside = []
    for t in surveys(report, ticks, 60):
        release = distribution(report, t, GRID, bins=7)
        starts = release.mechanism.starts
        truth = np.add.reduceat(np.bincount(ticks, minlength=LAST + 1), starts[:-1]) / 300
        low, high = release.interval()
        inside.append(((low <= truth + 1e-9) & (truth <= high + 1e-9)).all())
        assert release.value.sum() == pytest.approx(1)
    assert np.mean(inside) >= 0.95 - 5 * math.sqrt(0.05 * 0.95 / 60)


@pytest.fixture(scope="module")
def wages():
    return np.clip(data.wages(), 0, 200_000)


@pytest.mark.slow
def test_deciles_of_wages_are_near(wages):
    grid, orders = Grid(0, 200_000, step=1), np.arange(1, 10) / 10
    truth = np.quantile(wages, orders, method="inverted_cdf")
    report = square_wave(1, 200_000)
    tally = report.tally(report.randomise(wages, source=SeededSource(3)))
    release = quantiles(report, tally, grid, orders)
    assert np.abs(release.value / truth - 1).mean() < 0.0225
    low, high = release.interval()
    assert ((low <= truth) & (truth <= high)).all()
    assert (high - low)[4] < 20_000


@pytest.mark.slow
def test_fine_grids_have_honest_intervals(wages):
    grid, some = Grid(0, 200_000, step=1), wages[:20_000]
    for name in ("square-wave", "laplace", "window"):
        report = MAKERS[name](1 if name == "square-wave" else 2, 200_000)
        tally = report.tally(report.randomise(some, source=SeededSource(5)))
        low, high = mean(report, tally, grid).interval()
        assert low <= some.mean() <= high
        release = distribution(report, tally, grid, method="raw", bins=10)
        low, high = release.interval(0.999)
        truth = np.histogram(some, release.mechanism.edges)[0] / some.size
        assert ((low <= truth + 1e-9) & (truth <= high + 1e-9)).all()


def test_shares_by_all_methods():
    report = square_wave(2, 100)
    ticks = np.random.default_rng(1).binomial(100, 0.3, 50_000)
    tally = report.tally(report.randomise(ticks, source=SeededSource(6)))
    grid = Grid(0, 100, step=1)
    releases = {
        m: distribution(report, tally, grid, method=m, bins=12) for m in ("raw", "em", "ems")
    }
    truth = np.add.reduceat(np.bincount(ticks, minlength=101), releases["em"].mechanism.starts[:-1])
    for release in releases.values():
        assert np.abs(release.value - truth / 50_000).max() < 0.08
        assert np.allclose(release.drawn["raw"], releases["raw"].value)
    assert distribution(report, tally, grid).mechanism.method == "ems"


@each
@pytest.mark.parametrize("people", [0, 1])
def test_nobody_and_one_person_are_no_error(name, people):
    report = MAKERS[name](1, LAST)
    tally = report.tally(report.randomise(np.zeros(people, int), source=SeededSource(1)))
    for of in ("sample", "population"):
        found = mean(report, tally, GRID)
        low, high = found.interval(of=of)
        assert min(100, found.value) <= low <= high <= max(140, found.value)
        low, high = quantiles(report, tally, GRID, 0.5).interval(of=of)
        assert (low <= high).all()
        low, high = distribution(report, tally, GRID).interval(of=of)
        assert (low <= high).all()
    assert "mean" in str(mean(report, tally, GRID))


@each
def test_releases_come_back_from_json(name):
    report = MAKERS[name](1, LAST)
    tally = report.tally(report.randomise(np.arange(21), source=SeededSource(1)))
    for release in (
        mean(report, tally, GRID),
        quantiles(report, tally, GRID, [0.25, 0.5]),
        distribution(report, tally, GRID, bins=4),
    ):
        back = Release.from_json(release.to_json())
        assert np.array_equal(back.value, release.value)
        assert np.array_equal(back.interval(0.9), release.interval(0.9))
        assert str(back) == str(release)
        assert back.mechanism == release.mechanism


def test_a_release_says_what_a_report_cost():
    release = mean(Duchi(epsilon=1, last=LAST), [3, 4], GRID)
    assert release.cost == Guarantee(1, 0, LOCAL)
    assert "Duchi(epsilon=1, last=20)" in str(release)
    poor = mean(MAKERS["laplace"](1, LAST), [0] * 21, GRID)
    assert "tells little" in str(poor)


def test_bad_parameters_are_refused():
    report = Duchi(epsilon=1, last=LAST)
    for tally in ([1, 2, 3], [0.5, 0.5]):
        with pytest.raises(ParameterError, match="tally must be 2 counts"):
            mean(report, tally, GRID)
    with pytest.raises(ParameterError, match="grid must have the highest tick 20"):
        mean(report, [1, 2], Grid(0, 1, step=1))
    with pytest.raises(ParameterError, match="q must be"):
        quantiles(report, [1, 2], GRID, 1.5)
    with pytest.raises(ParameterError, match="method must be"):
        distribution(report, [1, 2], GRID, method="best")


@pytest.mark.slow
@pytest.mark.parametrize("what", ["mean", "quantiles", "distribution"])
def test_pictures_are_drawn(what, tmp_path):
    pytest.importorskip("matplotlib")
    report = square_wave(2, LAST)
    tally = report.tally(report.randomise(CROWDS["even"](500), source=SeededSource(1)))
    release = {
        "mean": lambda: mean(report, tally, GRID),
        "quantiles": lambda: quantiles(report, tally, GRID, [0.1, 0.5, 0.9]),
        "distribution": lambda: distribution(report, tally, GRID, bins=7),
    }[what]()
    release.plot(path=str(tmp_path / "picture.png"))
    assert (tmp_path / "picture.png").stat().st_size > 5000


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("epsilon", "n"), [(8, 100), (4, 200), (8, 50)])
def test_a_population_with_rare_extremes_is_covered(epsilon, n):
    """Often no one in the sample is extreme, and the mean is off all the same."""
    report, grid, surveys = piecewise(epsilon, 20), Grid(0, 20, step=1), 600
    rng = np.random.default_rng(1)
    people = np.where(rng.random((surveys, n)) < 0.015, 20, 0)
    reports = report.randomise(people.ravel(), source=SeededSource(1)).reshape(surveys, n)
    ends = np.array(
        [mean(report, report.tally(r), grid).interval(of="population") for r in reports]
    )
    hits = (ends[:, 0] <= 0.3) & (ends[:, 1] >= 0.3)
    assert hits.mean() >= 0.95 - 5 * math.sqrt(0.95 * 0.05 / surveys)
