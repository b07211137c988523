"""Sketches of the second moment on streams that do not react, and what is proved of them."""

from __future__ import annotations

from itertools import product
from math import exp, log, sqrt

import numpy as np
import pytest

from sourdine.adaptive.sketches.f2 import (
    TICKS,
    AmsSketch,
    RobustF2,
    Signs,
    proved_looks,
    survived_answers,
    tail,
    width_to_prove,
)
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.noise import SeededSource

VECTORS = ([1000], [30, 40], [1] * 50, list(range(1, 40)), [500] + [7] * 60)


def f2(vector):
    return sum(f * f for f in vector)


def filled(sketch, vector):
    sketch.update_many(range(len(vector)), vector)
    return sketch


class TestSigns:
    def test_the_same_item_has_the_same_signs_under_one_key_only(self):
        here, there = Signs(1000, seed=1), Signs(1000, seed=2)
        assert (here.bits("a") == Signs(1000, seed=1).bits("a")).all()
        for other in (there.bits("a"), here.bits("b")):
            assert 350 < (here.bits("a") == other).sum() < 650

    @pytest.mark.parametrize("rows", [1, 7, 8, 9, 1001])
    def test_any_number_of_rows(self, rows):
        assert Signs(rows, seed=3).bits(0).shape == (rows,)

    def test_more_rows_continue_fewer(self):
        assert (Signs(100, seed=3).bits(5) == Signs(1000, seed=3).bits(5)[:100]).all()

    def test_signs_are_fair_and_products_of_four_are(self):
        signs = 2.0 * np.array([Signs(40_000, seed=4).bits(i) for i in range(4)]) - 1
        for some in product((False, True), repeat=4):
            if any(some):
                assert abs(signs[list(some)].prod(0).mean()) < 6 / sqrt(40_000)

    @pytest.mark.parametrize("seed", [-1, 1 << 128])
    def test_seed_must_be_a_key(self, seed):
        with pytest.raises(ParameterError, match="seed must be"):
            Signs(8, seed)


class TestPlain:
    def test_counters_are_signed_sums(self):
        sketch, signs = AmsSketch(64, seed=9), Signs(64, seed=9)
        sketch.update("a", 5)
        sketch.update("b", -3)
        sketch.update("a")
        z = 6 * (2.0 * signs.bits("a") - 1) - 3 * (2.0 * signs.bits("b") - 1)
        assert (sketch.counters() == z).all()
        assert sketch.query() == pytest.approx((z @ z) / 64)

    def test_what_is_deleted_is_gone(self):
        sketch = filled(AmsSketch(100, seed=1), [5, -7, 11])
        sketch.update_many([2, 0, 1], [-11, -5, 7])
        assert not sketch.counters().any()
        assert sketch.query() == 0

    def test_one_item_is_known_exactly(self):
        assert filled(AmsSketch(33, seed=1), [12]).query() == 144

    def test_merging_is_adding(self):
        here, there = AmsSketch(50, seed=2), AmsSketch(50, seed=2)
        here.update_many(["a", "b"], [3, 4])
        there.update_many(["b", "c"], [5, -6])
        here.merge(there)
        both = AmsSketch(50, seed=2)
        both.update_many(["a", "b", "c"], [3, 9, -6])
        assert (here.counters() == both.counters()).all()

    def test_only_the_same_signs_merge(self):
        with pytest.raises(ParameterError, match="same width and seed"):
            AmsSketch(50, seed=2).merge(AmsSketch(50, seed=3))
        with pytest.raises(ParameterTypeError, match="must be an AmsSketch"):
            AmsSketch(50, seed=2).merge(RobustF2(50))

    def test_one_weight_for_all(self):
        sketch = AmsSketch(50, seed=2)
        sketch.update_many("abc", 2)
        assert sketch.query() == filled_by_text("abc", [2, 2, 2]).query()
        sketch.update_many(list("abc"), np.int64(-2))
        assert sketch.query() == 0

    def test_weights_must_be_as_many_as_items(self):
        sketch = AmsSketch(50, seed=2)
        with pytest.raises(ParameterError, match=r"hold one weight for each of the 3 items, got 2"):
            sketch.update_many("abc", [1, 2])
        assert sketch.query() == 0, "nothing was added"

    def test_arrays_are_taken(self):
        sketch = AmsSketch(50, seed=2)
        sketch.update_many(np.arange(3), np.array([3, -4, 5]))
        assert (sketch.counters() == filled(AmsSketch(50, seed=2), [3, -4, 5]).counters()).all()

    def test_no_counter_overflows(self):
        sketch = AmsSketch(5, seed=0)
        sketch.update("a", 1 << 60)
        sketch.update("a", -(1 << 60))
        assert sketch.query() == 0
        with pytest.raises(ParameterError, match="must add up to at most"):
            sketch.update("b", 1)

    def test_memory_is_eight_bytes_a_row(self):
        assert AmsSketch(1000, seed=0).memory == 8000

    @pytest.mark.quick_cases(1)
    @pytest.mark.parametrize("vector", VECTORS, ids=len)
    def test_plain_error_bound_holds(self, vector):
        rows, runs = 120, 400
        true = f2(vector)
        answers = np.array([filled(AmsSketch(rows, s), vector).query() for s in range(runs)]) / true
        spread = sqrt(2 / rows)
        assert abs(answers.mean() - 1) < 6 * spread / sqrt(runs)
        assert answers.std() < spread * (1 + 6 / sqrt(2 * runs))
        for beta in (0.5, 0.05):
            misses = np.mean(np.abs(answers - 1) > AmsSketch(rows, 0).error(beta))
            assert misses <= beta + 6 * sqrt(beta * (1 - beta) / runs)

    def test_the_error_bound_says_something(self):
        rows = 2000
        bound = AmsSketch(rows, 0).error(0.05)
        assert 1.96 * sqrt(2 / rows) < bound < 1.5 * 1.96 * sqrt(2 / rows)
        assert 2 * tail(AmsSketch(rows, 0).error(0.001), rows) == pytest.approx(0.001, rel=1e-4)
        assert AmsSketch(3, 0).error(0.5) == pytest.approx(sqrt(4 / 3))


def filled_by_text(items, weights):
    sketch = AmsSketch(50, seed=2)
    sketch.update_many(items, weights)
    return sketch


class TestRobust:
    @pytest.mark.quick_cases(1)
    @pytest.mark.parametrize("change", [1e-6, 0.3, 0.6, 0.7, 0.75, 0.8, 1, 1.2, 1.5, 30, 1e6])
    @pytest.mark.parametrize("noise", [0.06, 0.125])
    def test_honest_error_within_declared_accuracy(self, noise, change):
        # one item: every row is right, and all of the error is that of the noise and the scale
        rows, runs, start = 100, 250, 10**6
        sketch = RobustF2(rows, noise, source=SeededSource(int(100 * change + 1000 * noise)))
        errors = []
        for i in range(runs):
            length = round(sqrt(change) * start)
            sketch.update(("old", i), start)
            sketch.query()
            sketch.update(("new", i), length)
            sketch.update(("old", i), -start)
            errors.append(abs(sketch.query() / length**2 - 1))
            sketch.update(("new", i), -length)
        assert sketch.honest_error > 2.5 * noise
        misses = np.mean(np.array(errors) > 2.5 * noise)
        assert misses <= 0.05 + 3 * sqrt(0.05 * 0.95 / runs)
        assert np.mean(np.array(errors) > noise) > 0.1, "the noise is there"

    def test_rows_and_noise_together_stay_within_accuracy(self):
        vector = [9] * 60
        errors = [
            abs(filled(RobustF2(400, source=SeededSource(s)), vector).query() / f2(vector) - 1)
            for s in range(150)
        ]
        declared = RobustF2(400).honest_error
        assert np.mean(np.array(errors) > declared) <= 0.05 + 3 * sqrt(0.05 * 0.95 / 150)
        assert np.mean(np.array(errors) > 0.4 * declared) > 0.1

    def test_nothing_and_one_are_known_exactly(self):
        sketch = RobustF2(2000, 0.08, source=SeededSource(5))
        for _ in range(50):
            assert sketch.query() == 0
            sketch.update("a")
            assert sketch.query() == 1
            sketch.update("a", -1)

    def test_any_leap_is_followed(self):
        sketch = RobustF2(500, source=SeededSource(6))
        sketch.update("a", 1 << 55)
        assert sketch.query() / 2.0**110 == pytest.approx(1, abs=0.4)
        sketch.update("a", -(1 << 55))
        assert sketch.query() == 0
        assert sketch.looks < 120

    def test_a_fall_is_followed_step_by_step(self):
        sketch = RobustF2(100, source=SeededSource(10))
        for _ in range(30):
            sketch.update("a", 1 << 40)
            sketch.query()
            before = sketch.looks
            sketch.update("a", -(1 << 40) + (1 << 37))
            sketch.query()
            assert sketch.looks - before < 12, "and never from the bottom up"
            sketch.update("a", -(1 << 37))

    def test_a_quiet_stream_takes_few_looks(self):
        sketch = RobustF2(500, source=SeededSource(7))
        sketch.update("a", 1000)
        for _ in range(1000):
            sketch.query()
        assert 1000 < sketch.looks < 1200

    def test_one_row_moves_a_look_by_the_clip_at_most(self):
        sketch = filled(RobustF2(100, 0.08, source=SeededSource(8)), [300, 400])
        for scale in (1.0, 1e3, 250_000.0, 1e9):
            before = sketch._ticks(scale)
            for counter in (0, 17, 1 << 40):
                kept = sketch._rows._twice[3]
                sketch._rows._twice[3] = counter
                assert abs(sketch._ticks(scale) - before) <= TICKS
                sketch._rows._twice[3] = kept
        assert sketch._ticks(1e-3) == 100 * TICKS, "all rows are at the clip"
        assert sqrt(sketch._variance) / TICKS == pytest.approx(0.08 * 100 / 20)

    @pytest.mark.quick_cases(1)
    @pytest.mark.parametrize("scale", [1.0, 3e7])
    def test_noise_is_relative_to_the_scale(self, scale):
        sketch = RobustF2(100, 0.08, source=SeededSource(9))
        looks = np.array([sketch._look(scale) for _ in range(4000)]) / scale
        assert abs(looks.mean()) < 6 * 0.08 / sqrt(4000)
        assert looks.std() == pytest.approx(0.08, rel=6 / sqrt(8000))

    def test_the_key_is_drawn_from_the_source(self):
        keys = {RobustF2(10)._rows._signs.seed for _ in range(5)}
        assert len(keys) == 5
        assert all(key >> 64 for key in keys)

    def test_the_text_tells_proved_from_survived(self):
        text = repr(RobustF2())
        assert "survived 10743, proved 0" in text
        assert str(RobustF2()._rows._signs.seed) not in text

    @pytest.mark.parametrize(
        "wrong",
        [
            {"noise": 0},
            {"noise": 0.126},
            {"clip": 15},
            {"width": 0},
            {"error": 0},
            {"confidence": 1.1},
        ],
        ids=str,
    )
    def test_bad_parameters_are_refused(self, wrong):
        with pytest.raises(ParameterError, match=f"{next(iter(wrong))} must be"):
            RobustF2(**wrong)


class TestProved:
    def test_nothing_is_proved_by_default(self):
        assert RobustF2().certificate() == 0
        assert RobustF2(noise=0.12).certificate() == 0
        assert RobustF2().proof().grounds.startswith("the width 20000 is too small")

    def test_a_proof_is_about_looks_and_the_tolerance(self):
        proof = RobustF2(960_000, noise=0.013, error=0.25).proof()
        assert int(proof) == 101
        assert "101 adaptive steps right with probability 0.95" in str(proof)
        assert "all answers within 0.25; a step is a look" in proof.grounds
        assert RobustF2(960_000, noise=0.013, error=0.1).certificate() < 10

    def test_a_key_that_can_be_foreseen_proves_nothing(self):
        foreseen = RobustF2(960_000, noise=0.013, source=SeededSource(1))
        assert foreseen.certificate() == 0
        assert "can be foreseen" in str(foreseen.proof())

    @pytest.mark.slow
    def test_proved_looks_follow_the_theorem(self):
        rows, noise, clip, alpha, beta = 1_000_000, 0.015, 20.0, 0.25, 0.05
        looks = RobustF2(rows, noise).certificate()
        assert looks == 114
        assert least_failure(looks, rows, noise, clip, alpha) <= beta
        assert least_failure(looks + 3, rows, noise, clip, alpha) > beta

    def test_more_rows_prove_more(self):
        looks = [
            proved_looks(width=rows, noise=0.02, clip=20, error=0.25, beta=0.05)
            for rows in (10**5, 10**6, 10**7, 10**8)
        ]
        assert looks == sorted(looks)
        assert looks[-1] > 4 * looks[0] + 100

    @pytest.mark.parametrize("looks", [1, 100, 10_000])
    def test_rows_to_prove_are_enough_and_hardly_too_many(self, looks):
        terms = {"noise": 0.013, "clip": 20, "error": 0.25, "beta": 0.05}
        rows = width_to_prove(looks)
        assert proved_looks(width=rows, **terms) >= looks
        assert proved_looks(width=rows * 98 // 100, **terms) < looks

    def test_too_much_noise_proves_nothing_at_any_size(self):
        with pytest.raises(ParameterError, match="noise must leave room"):
            width_to_prove(1000, noise=0.06)

    @pytest.mark.parametrize("vector", [[1], [1, 1], [3, 1, 1, 1], [1] * 12, [2] * 6 + [1] * 6])
    def test_the_clip_costs_less_than_the_theorem_says(self, vector):
        z2 = np.array([np.dot(s, vector) ** 2 for s in product((-1, 1), repeat=len(vector))])
        for kappa in (1, 2, 4, 8):
            cut = np.maximum(z2 - kappa * f2(vector), 0).mean()
            assert cut <= 4 * exp(-kappa / 2) * f2(vector)

    def test_survived_is_a_number_of_its_own(self):
        assert survived_answers(width=20_000, noise=0.06, error=0.25) == RobustF2().steps == 10_743
        assert survived_answers(width=20_000, noise=0.15, error=0.2) == 0


def least_failure(looks, rows, noise, clip, alpha):
    """The theorem's failure probability, by a search over t of its own."""
    b, best = 4 * exp(-clip / 4), 1.0
    for t in np.linspace(1, 12, 1101):
        tau = t * noise
        low, high = 0.0, 1.0
        for _ in range(60):
            eps = (low + high) / 2
            if eps + b + tau * (1 + eps) / (0.8 - tau) <= alpha:
                low = eps
            else:
                high = eps
        eps = low
        if eps == 0 or 2 * (1 - b - eps) <= 1.25 + tau:
            continue
        log_q = log(looks) + np.logaddexp(-rows * (eps**2 / 4 - eps**3 / 6), -rows * eps**2 / 6)
        told = clip**2 * looks / (2 * noise**2 * rows)
        p = np.linspace(1e-4, 0.999, 20_000)
        p = p[np.log(p) > log_q]
        entropy = p * (np.log(p) - log_q) + (1 - p) * np.log1p(-p)
        root = p[entropy >= told]
        if root.size:
            best = min(best, 2 * looks * exp(-t * t / 2) + root[0])
    return best
