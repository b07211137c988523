from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sourdine.audit.exhaustive import ALPHA, p_value
from sourdine.central.quantiles import levels
from sourdine.central.quantiles.levels import ThreeLevels
from sourdine.central.quantiles.points import Points
from sourdine.errors import ParameterError
from sourdine.noise import SeededSource

RELATIONS = ("add_remove", "substitute")
FIFTHS = [0.2, 0.4, 0.6, 0.8]


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
def test_three_levels_law_keeps_the_claim(relation, holds):
    quarters = {"q": [0.25, 0.5, 0.75], "stride": 3, "inner": 2, "relation": relation}
    holds(ThreeLevels(epsilon=1, cells=4, **quarters), 4)
    holds(ThreeLevels(epsilon=12, cells=4, **quarters), 3)


@pytest.mark.slow
def test_three_levels_law_keeps_the_claim_on_both_sides_of_level_two(holds):
    holds(ThreeLevels(epsilon=2, q=FIFTHS, cells=3, stride=4, inner=2), 3)


@pytest.mark.slow
def test_three_levels_draws_follow_the_law(fits):
    for x in ([], [1, 1, 1, 2], [0, 2, 2]):
        fits(ThreeLevels(epsilon=6, q=FIFTHS, cells=3, stride=4, inner=2), x, draws=700)


@pytest.mark.slow
def test_a_law_of_other_ranks_is_told_from_the_draws(fits, monkeypatch):
    """Ties all cut to the left of a quantile: private, but another law."""
    made = ThreeLevels(epsilon=6, q=FIFTHS, cells=3, stride=4, inner=2)
    cut = levels.Slices.draw

    def wrongly(self, ticks, ranks, goals, source):
        del ranks
        below = self._points.below(ticks).tolist()
        return cut(self, ticks, below, goals, source)

    monkeypatch.setattr(levels.Slices, "draw", wrongly)
    with pytest.raises(AssertionError):
        fits(made, [1] * 12, draws=3000)


SHARP = ThreeLevels(epsilon=12, q=FIFTHS, cells=6, stride=4, inner=2)
FEW = [1] * 3 + [4] * 9


def _p_value():
    return p_value(SHARP.simulate(FEW, 4000), SHARP.law(SHARP.read(FEW)))


@pytest.mark.slow
def test_draws_that_tell_each_level_follow_the_law():
    assert _p_value() >= ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1.3, 1 / 1.3])
@pytest.mark.parametrize("level", ["two and three", "three"])
def test_noise_of_each_level_is_told_from_the_draws(level, factor, monkeypatch):
    """30% less or more of it inside the slices."""
    sampler, samplers = levels.JointSampler, levels.slice_samplers

    def scaled(part, own, c):
        return sampler(part, own, factor * c)

    def all_scaled(parts, goals, c):
        return samplers(parts, goals, factor * c)

    monkeypatch.setattr(levels, "slice_samplers", all_scaled)
    if level != "three":
        monkeypatch.setattr(levels, "JointSampler", scaled)
    assert _p_value() < ALPHA


def test_support_and_law_agree():
    made = ThreeLevels(epsilon=1, q=FIFTHS, cells=4, stride=4, inner=2)
    support = made.support()
    assert made.law(made.read([1, 1])).pieces.start.shape == (len(support),)
    assert len(np.unique(support, axis=0)) == len(support)
    for _, last, middle, first, third in support[::7]:
        assert first <= middle <= third <= last


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("m", [99, 999])
def test_windows_do_not_change_a_draw(m, windowed):
    made = ThreeLevels(epsilon=1, q=[Fraction(j, m + 1) for j in range(1, m + 1)], cells=1 << 20)
    ticks = np.random.default_rng(5).integers(0, 1 << 20, 40_000)
    part, _ = windowed(ticks, 1 << 20, made.windows(40_000))
    whole = Points.of(ticks, 1 << 20)
    assert made.one(part, SeededSource(3)) == made.one(whole, SeededSource(3))


@pytest.mark.parametrize("relation", RELATIONS)
def test_three_levels_survive(relation, survives):
    for epsilon in (1, 50):
        survives(ThreeLevels(epsilon=epsilon, q=FIFTHS, cells=6, relation=relation), seeds=3)


@pytest.mark.parametrize("x", [[], [2], [0] * 3 + [2] * 3])
def test_three_levels_error_bounds_the_loss(x, bounded):
    bounded(ThreeLevels(epsilon=4, q=FIFTHS, cells=3, stride=4, inner=2), x, 0.05, n=len(x))


@pytest.mark.slow
def test_planned_errors_are_those_of_draws():
    m, n = 1200, 60_000
    made = ThreeLevels(epsilon=1, q=[Fraction(j, m + 1) for j in range(1, m + 1)], cells=1 << 30)
    rng = np.random.default_rng(2)
    worst = []
    for seed in range(12):
        ticks = np.sort(rng.integers(0, 1 << 30, n))
        drawn = made.published(made.one(Points.of(ticks, 1 << 30), SeededSource(seed)))
        goals = n * np.arange(1, m + 1) / (m + 1)
        worst.append(np.abs(ticks.searchsorted(drawn) - goals).max())
    assert 0.6 * np.median(worst) < made.expected(0.5) < 1.6 * np.median(worst)


def test_bad_strides_are_refused():
    for q, typed in (
        ([0.2, 0.5], {}),
        (FIFTHS, {"stride": 5}),
        (FIFTHS, {"stride": 2, "inner": 2}),
    ):
        with pytest.raises(ParameterError, match="stride must be"):
            ThreeLevels(epsilon=1, q=q, cells=4, **typed)
