"""A noisy sum over a noisy count: how far it moves, its intervals and its planned error."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from sourdine.central.intervals import KNOTS, laplace_quantile
from sourdine.central.ratio import PLANNED, Ratio, _table
from sourdine.noise import SeededSource
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE

LAST = 3


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, SUBSTITUTE])
def test_sum_and_count_move_together(neighbours, furthest):
    ratio = Ratio(last=LAST, epsilon=Fraction(1), relation=neighbours)
    moved = furthest(lambda x: ratio.numbers(len(x), sum(x)), neighbours)
    assert moved == ratio.mechanism.sensitivity  # so the loss is epsilon, and no less
    weaker = Ratio(last=LAST, epsilon=Fraction(11, 10), relation=neighbours)
    loss = furthest(lambda x: weaker.numbers(len(x), sum(x)), neighbours) / weaker.mechanism.scale
    assert loss == Fraction(11, 10)
    assert not weaker.mechanism.guarantee.covers(ratio.mechanism.guarantee)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_ratio_intervals_cover(replaced, p):
    ratio = Ratio(last=10, epsilon=1, relation=SUBSTITUTE if replaced else ADD_REMOVE)
    source, n, hits = SeededSource(3), 30, 0
    moments = [(n, round(10 * n * p))] * 1000
    for drawn in ratio.draw_all(moments, source):
        low, high = ratio.limits(tuple(drawn.values()), 0.1)
        hits += low <= p <= high
    assert 0.9 - 6 * sqrt(0.09 / 1000) <= hits / 1000 <= 0.99


@pytest.mark.parametrize("below", range(11))
def test_a_sum_far_below_0_leaves_no_wide_interval(below):
    ratio = Ratio(last=1, epsilon=1, relation=ADD_REMOVE)
    low, high = ratio.limits((-below * ratio.boost, 3000 * ratio.boost), 0.05)
    assert low == 0
    assert 0 < high < 0.0015


def test_the_interval_has_power():
    """With noise 30% larger than it is told of, it would not cover."""
    told, true = (Ratio(last=1000, epsilon=Fraction(e, 100), relation=ADD_REMOVE) for e in (13, 10))
    source, hits = SeededSource(2), 0
    for drawn in true.draw_all([(50_000, 25_000_000)] * 2000, source):
        low, high = told.limits(tuple(drawn.values()), 0.2)
        hits += low <= 0.5 <= high
    assert hits / 2000 < 0.8 - 6 * sqrt(0.16 / 2000)


@pytest.mark.parametrize("replaced", [False, True])
def test_chords_lie_above_the_quantiles(replaced):
    middle = (KNOTS[1:] + KNOTS[:-1]) / 2
    table = _table(0.05, replaced=replaced, gaussian=False)
    weights = np.stack(
        (np.ones_like(middle), np.abs(1 - 2 * middle)) if replaced else (1 - middle, middle), -1
    )
    assert ((table[1:] + table[:-1]) / 2 >= laplace_quantile(weights, 0.05) * (1 - 1e-3)).all()


def test_planned_errors_of_ratios_by_their_laws():
    """Without simulation: the quantiles at the middle, at the planned place and at a bound."""
    for replaced in (False, True):
        q = _table(0.05, replaced=replaced, gaussian=False)
        middle, planned, bound = np.interp([0.5, PLANNED, 0.0], KNOTS, q)
        assert 1.1 <= planned / middle <= 1.27
        assert 1 <= bound / planned <= 1.2
        inside = (KNOTS >= PLANNED) & (KNOTS <= 1 - PLANNED)
        assert (q[inside] <= planned).all()
        ratio = Ratio(last=1000, epsilon=1, relation=SUBSTITUTE if replaced else ADD_REMOVE)
        unit = ratio.scale / (ratio.last * ratio.boost * (2 if replaced else 1))
        assert ratio.error(0.05, 10**7) == pytest.approx(planned * unit / 10**7, rel=2e-3)
