from __future__ import annotations

import numpy as np
import pytest

from sourdine.errors import ParameterTypeError
from sourdine.local.designs.numbers import designed
from sourdine.local.estimators.distribution import ramps
from sourdine.local.estimators.means import TAUS, channel, solve
from sourdine.local.numeric.duchi import Duchi, HybridReport
from sourdine.local.numeric.sliding import piecewise, square_wave
from sourdine.mechanisms import BoundedLaplace, BoundedStaircase, RandomizedResponse

REPORTS = {
    "square-wave": lambda m: square_wave(1, m),
    "piecewise": lambda m: piecewise(1, m),
    "hybrid": lambda m: HybridReport(epsilon=1, last=m),
    "duchi": lambda m: Duchi(epsilon=1, last=m),
    "design": lambda m: designed(1, m),
    "laplace": lambda m: BoundedLaplace(epsilon=1, last=m),
    "window": lambda m: BoundedStaircase(epsilon=1, last=m),
    "truncated": lambda m: BoundedStaircase(epsilon=1, last=m, method="truncated"),
}


def exactly(report, g, ticks):
    """Return the mean and the variance of a score for some ticks, from the exact laws."""
    c = channel(report)
    widths = np.diff(np.append(c.first, report.cells))
    cells = np.repeat(g, widths)
    codes = np.arange(report.codes)
    scores = cells[codes // report.block]
    laws = np.array([report.law(int(x)).pmf(codes) for x in ticks])
    mean = laws @ scores
    return mean, laws @ scores**2 - mean**2


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("make", "last"),
    [(make, 9) for make in REPORTS.values()]
    + [(REPORTS[name], 700) for name in ("piecewise", "design", "laplace", "window", "truncated")]
    + [(REPORTS["laplace"], 5000)],
)
def test_bias_and_variance_are_certified_for_every_tick(make, last):
    report = make(last)
    c = channel(report)
    score, _ = solve(c, c.nodes / last, 1000, 1 / last)
    ticks = np.unique(np.linspace(0, last, 57).astype(int))
    mean, variance = exactly(report, score.g, ticks)
    assert np.abs(mean - ticks / last).max() <= score.bias + 1e-9
    assert variance.max() <= score.most * (1 + 1e-9)
    assert variance.min() >= score.least * (1 - 1e-9) or c.reach


@pytest.mark.slow
@pytest.mark.parametrize("name", ["piecewise", "design", "laplace", "window"])
def test_ramps_are_certified_for_every_tick(name):
    report = REPORTS[name](700)
    found = ramps(report, 3000)
    c, ticks = channel(report), np.linspace(0, 700, 29).astype(int)
    d = len(c.nodes) - 1
    for k in (0, d // 3, d - 2):
        column = k + found.length - 1
        ramp = np.clip((k + found.length - np.arange(d + 1)) / found.length, 0, 1)
        h = np.interp(ticks, c.nodes, ramp)
        mean, _ = exactly(report, found.score.g[:, column], ticks)
        assert np.abs(mean - h).max() <= found.score.bias[column] + 1e-9


@pytest.mark.parametrize("name", ["square-wave", "piecewise", "hybrid"])
def test_the_best_score_of_the_mean_beats_the_line(name):
    report = REPORTS[name](100)
    c, x = channel(report), np.arange(101)
    score = c.score(c.path(x / 100, TAUS[0]), x / 100, 0.0)
    assert score.bias < 1e-8
    assert score.most * 1e4 <= report.variance(x).max() * 1.005
    line = report.estimates(np.arange(report.codes)) / 100
    even = c.rows.mean(axis=0)
    assert even @ score.g**2 < even @ line**2 * 0.999


def test_what_a_channel_cannot_tell_is_said():
    report = BoundedStaircase(epsilon=1, last=100)  # the lowest ticks have one law
    c = channel(report)
    alike = int(np.ptp(np.flatnonzero((c.rows == c.rows[0]).all(axis=1))))
    score, _ = solve(c, c.nodes / 100, 10**9, 0.01)
    assert alike >= 20
    assert score.bias >= alike / 200


def test_more_reports_buy_less_bias():
    c = channel(BoundedLaplace(epsilon=1, last=100))
    few, many = (solve(c, c.nodes / 100, n, 0.01)[0] for n in (100, 10**7))
    assert many.bias < few.bias / 20
    assert many.most > few.most


@pytest.mark.slow
def test_counts_are_grouped():
    report = BoundedLaplace(epsilon=1, last=50_000)
    c = channel(report)
    tally = np.arange(report.cells)
    assert c.counts(tally).sum() == tally.sum()
    assert len(c.counts(tally)) == c.rows.shape[1]
    assert np.allclose(c.rows.sum(axis=1), 1)


def test_categories_are_refused():
    with pytest.raises(ParameterTypeError, match="report must be a randomiser of numbers"):
        channel(RandomizedResponse(epsilon=1, categories=3))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["window", "truncated"])
def test_ticks_between_nodes_are_certified_too(name):
    """A score that fits at the nodes alone is far off between them, and its bias says so."""
    report = REPORTS[name](5000)
    c = channel(report)
    middle = len(c.nodes) // 2
    h = (np.arange(len(c.nodes)) <= middle).astype(float)
    steep = 1 / float(np.diff(c.nodes).min())
    score = c.score(c.path(h, 1e-9), h, steep)
    ticks = np.arange(int(c.nodes[middle - 2]), int(c.nodes[middle + 3]) + 1)
    mean, variance = exactly(report, score.g, ticks)
    off = np.abs(mean - np.interp(ticks, c.nodes, h)).max()
    at_nodes = np.abs(c.rows @ score.g - h).max()
    assert at_nodes * 1.1 < off <= score.bias
    assert variance.max() <= score.most
