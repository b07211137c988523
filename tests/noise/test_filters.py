"""What the floating-point filters trust, measured on this platform."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sourdine.exact import exp_neg
from sourdine.noise import SeededSource
from sourdine.noise.coins import SLACK, below_exp, float_rate, unit_floats
from sourdine.noise.source import draw_words

POINTS = np.concatenate([np.geomspace(1e-18, 700, 3000), np.linspace(0, 60, 2000)])


def true_exp(x):
    return exp_neg(Fraction(x))


@pytest.mark.slow
@pytest.mark.parametrize("exp", [np.exp, np.vectorize(math.exp)], ids=["numpy", "math"])
def test_exp_is_within_a_few_units_in_the_last_place(exp):
    floats = exp(-POINTS)
    for x, f in zip(POINTS.tolist(), floats.tolist(), strict=True):
        truth = (true_exp(x).below(120) + true_exp(x).above(120)) / 2
        assert abs(Fraction(f) / truth - 1) < Fraction(1, 1 << 50)


@pytest.mark.slow
def test_expm1_is_within_a_few_units_in_the_last_place():
    floats = -np.expm1(-POINTS[POINTS > 0])
    for x, f in zip(POINTS[POINTS > 0].tolist(), floats.tolist(), strict=True):
        truth = (1 - true_exp(x)).below(120)
        assert abs(Fraction(f) / truth - 1) < Fraction(1, 1 << 50)


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1, 10**9), Fraction(10**9), Fraction(7)])
def test_filter_error_of_a_product_is_far_below_its_slack(rate):
    multiples = np.unique(np.geomspace(1, 2**62, 400).astype(np.int64))
    floats = np.exp(-(multiples.astype(float) * float_rate(rate)))
    for n, f in zip(multiples.tolist(), floats.tolist(), strict=True):
        low, high = exp_neg(n * rate).bounds(80)
        assert abs(Fraction(f) - Fraction(low + high, 2 << 80)) < Fraction(SLACK) / 2**18


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(22, 7), Fraction(1, 10**6)])
def test_weights_of_selection_are_known_to_a_relative_error_of_2_to_the_minus_40(rate):
    offsets = np.unique(np.geomspace(1, float(700 / rate), 500).astype(np.uint64))
    floats = np.exp(offsets * -float_rate(rate))
    for n, f in zip(offsets.tolist(), floats.tolist(), strict=True):
        truth = exp_neg(n * rate).below(120)
        assert abs(Fraction(f) / truth - 1) < Fraction(1, 1 << 40)


def test_unit_floats_are_near_every_uniform_they_begin():
    words = np.array([0, 1, 2**63 - 1, 2**64 - 1, 2**53 + 1], np.uint64)
    for w, f in zip(words.tolist(), unit_floats(words).tolist(), strict=True):
        assert abs(Fraction(f) - Fraction(w, 1 << 64)) <= Fraction(1, 1 << 53)


def test_the_exact_decision_is_that_of_the_filter_where_both_speak(monkeypatch):
    words = draw_words(SeededSource(3), 3000)
    losses = np.tile([0.0, 0.25, 1.0, 3.0, 40.0, 5000.0], 500)

    def decide():
        return below_exp(words, losses, lambda lane: Fraction(losses[lane]), SeededSource(4))

    fast = decide()
    monkeypatch.setattr("sourdine.noise.coins.SLACK", 2.0)
    assert np.array_equal(fast, decide())


def test_ties_within_the_slack_are_decided_by_more_bits(scripted, exp_oracle):
    r = Fraction(2, 3)
    exact = exp_oracle(r)
    tie = int(exact * 2**64)
    rest = exact * 2**64 - tie
    for step, expected in ((-1, True), (0, True), (1, False)):
        following = int(rest * 2**64) + step
        source = scripted(scripted.words(following, 0))
        word = np.array([tie], np.uint64)
        got = below_exp(word, np.array([2 / 3]), lambda _: r, source)[0]
        assert got == expected
    assert below_exp(np.array([tie - 1], np.uint64), np.array([2 / 3]), lambda _: r, scripted())[0]
    assert not below_exp(
        np.array([tie + 1], np.uint64), np.array([2 / 3]), lambda _: r, scripted()
    )[0]
