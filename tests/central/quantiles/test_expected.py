"""Planned rank errors against draws, with seeded sources so that nothing flakes."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from sourdine.central.quantiles.algorithm import (
    bracket_error,
    joint_error,
    many_level_error,
    one_error,
    two_level_error,
)
from sourdine.central.quantiles.intervals import USUAL, noise_reach
from sourdine.central.quantiles.methods import METHODS
from sourdine.central.quantiles.statistic import CERTIFYING, FURTHER, Quantiles
from sourdine.central.quantiles.tree import FEW, SAMPLED, reach
from sourdine.errors import ParameterError
from sourdine.frames.frame import Frame
from sourdine.noise import SeededSource

RUNS = 300
SIX = 6 * sqrt(0.05 * 0.95 / RUNS)


def spaced(m):
    return tuple(Fraction(i, m + 1) for i in range(1, m + 1))


def largest_error(statistic, x):
    release = statistic.release(Frame(x))
    ticks, drawn = np.sort(statistic.grid.ticks(x)), np.asarray(release.drawn["ticks"])
    goal = np.array([float(q) for q in statistic.orders]) * len(x)
    below, up_to = ticks.searchsorted(drawn, "left"), ticks.searchsorted(drawn, "right")
    return np.maximum(np.maximum(below - goal, goal - up_to), 0).max() / len(x)


@pytest.mark.slow_cases(3)
@pytest.mark.parametrize(
    ("m", "interval"), [(1, None), (9, None), (99, None), (1, 0.95), (9, 0.95)]
)
def test_planned_errors_are_those_of_draws(m, interval):
    statistic = Quantiles(
        q=spaced(m), bounds=(0, 1), epsilon=1, interval=interval, source=SeededSource(1)
    )
    rng, runs = np.random.default_rng(1), RUNS if m < 99 else 60
    six = SIX * sqrt(RUNS / runs)
    sizes = rng.integers(4800, 5200, runs)
    errors = np.array([largest_error(statistic, rng.uniform(size=n)) for n in sizes])
    planned = statistic.error(0.05, n=5000)
    assert (errors > planned).mean() <= 0.05 + six
    assert (errors > planned / 1.6).mean() > 0.05
    assert np.quantile(errors, 0.95) * 0.9 < planned < np.quantile(errors, 0.95) * 1.4


@pytest.mark.slow_cases(2)
@pytest.mark.parametrize("orders", [[0.5], [0.9], [0.1, 0.5, 0.9], spaced(9), spaced(19)], ids=len)
def test_planned_widths_are_those_of_draws(orders):
    """Of normal values, in their own units; ends are compared as they are, without failures."""
    asked = Quantiles(
        orders, bounds=(0, 200), step=0.001, epsilon=1, n=8000, spread=10, source=SeededSource(1)
    )
    rng = np.random.default_rng(1)
    widths = []
    for _ in range(40):
        low, high = asked.release(rng.normal(100, 10, 8000)).interval()
        widths.append(np.max(high - low))
    usual = np.median(widths)
    assert 0.75 * usual < asked.planned_width(8000) < 1.35 * usual
    twice = Quantiles(orders, bounds=(0, 200), step=0.001, epsilon=1, n=8000, spread=20)
    assert twice.planned_width(8000) == pytest.approx(2 * asked.planned_width(8000))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("m", range(1, 14))
def test_no_other_price_is_much_better(m):
    """The error of values plus the half width of intervals, at 3/8 and at all other prices."""
    orders = spaced(m)
    aims = tuple(q for q in orders for _ in range(3))
    a = 2 * joint_error(aims, 0.05)
    b = 2 * bracket_error(aims, tuple(range(1, 3 * m, 3)), USUAL)
    d = FURTHER * noise_reach(2 * m, orders, 1e6, 0.05) / 1e6

    def both(share):
        return (a + b) / (1 - share) + d / share

    best = sqrt(d) / (sqrt(a + b) + sqrt(d))
    assert both(float(CERTIFYING)) < 1.015 * both(best)
    assert both(0.5) > both(float(CERTIFYING))


def test_one_quantile_errs_like_a_laplace_variable():
    draws = np.abs(np.random.default_rng(1).laplace(size=100_000))
    assert np.quantile(draws, 0.95) == pytest.approx(one_error(0.05), rel=0.02)


@pytest.mark.parametrize("error", [one_error, lambda b: joint_error(spaced(9), b)])
def test_smaller_risks_need_more(error):
    planned = [error(beta) for beta in (0.2, 0.05, 0.01, 0.001)]
    assert planned == sorted(planned)


@pytest.mark.slow
def test_two_levels_err_less_than_one_for_many():
    """In units of 1/c, and c is halved: the hybrid gains from about 40 on."""
    assert 2 * two_level_error(spaced(99), 10, 0.05) < 1.2 * joint_error(spaced(99), 0.05)


def test_more_aims_need_a_larger_offset():
    few, many = spaced(9), tuple(q for q in spaced(9) for _ in range(3))
    alone = bracket_error(few, tuple(range(9)), 0.05)
    assert alone < bracket_error(many, tuple(range(1, 27, 3)), 0.05) < 2.5 * alone


def specimens():
    """Every method, with one quantile, nine and a hundred where it takes so many."""
    for method in METHODS:
        for m in (1, 9, 100):
            for relation in ("add_remove", "substitute"):
                terms = {"q": spaced(m), "bounds": (0, 1000), "step": 1, "relation": relation}
                terms["interval"] = None
                terms |= {"delta": 1e-6} if method == "gaussian" else {}
                try:
                    yield Quantiles(method=method, epsilon=3, **terms)
                except ParameterError:
                    continue
    yield Quantiles(q=spaced(9), bounds=(0, 1), epsilon=1, interval=0.95)


def known(mechanism, beta):  # noqa: PLR0911 - one for each algorithm
    """What is known of an algorithm's error beyond its bound."""
    name = type(mechanism).__name__
    if name == "Anchors":
        return known(mechanism.drawn, beta)
    if name == "Hybrid":
        return two_level_error(mechanism.orders, mechanism.stride, beta) / mechanism.first.c
    if name == "ThreeLevels":
        strides = mechanism.stride, mechanism.inner
        return many_level_error(mechanism.orders, strides, beta) / mechanism.first.c
    if name == "JointNearest":
        return joint_error(mechanism.orders, beta, nearest=True) / mechanism.c
    if name in {"JointFree", "JointExp", "Brackets"}:
        return joint_error(mechanism.lattice.orders, beta) / mechanism.c
    if name == "QExp":
        return one_error(beta) / mechanism.c + 0.5
    if name == "Tree":
        if len(mechanism.orders) <= FEW and mechanism.leaves <= SAMPLED:
            return mechanism.expected(beta)  # test_planned_errors_of_few_orders_are_those_of_draws
        far = float(mechanism.scale) * reach(mechanism.branching, mechanism.height, beta)
        return min(far, mechanism.bin_error(beta))
    return mechanism.bin_error(beta) if name == "HistogramMethod" else None


@pytest.mark.slow
def test_every_algorithm_knows_what_to_expect():
    seen = set()
    for statistic in specimens():
        for beta, n in ((0.05, 100_000), (0.3, 50)):
            mechanism = statistic.mechanism(n)
            expected = mechanism.expected(beta, n)
            assert statistic.error(beta, n=n) == min(expected / n, 1), (mechanism, beta)
            sharper = known(mechanism, beta)
            assert expected == (mechanism.error(beta, n) if sharper is None else sharper)
            seen.add(type(mechanism).__name__)
    assert seen == {
        *("Anchors", "Brackets", "HistogramMethod", "Hybrid", "IndExp", "InverseSensitivity"),
        *(
            "JointExp",
            "JointFree",
            "JointNearest",
            "NaiveGaussian",
            "NaiveLaplace",
            "PiecewiseLaplace",
            "QExp",
        ),
        *("RecExp", "ThreeLevels", "Tree"),
    }
