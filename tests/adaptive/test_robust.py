"""Many copies of a dynamic algorithm, and one answer that betrays none of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sourdine.adaptive.attacks.f2 import insertion, probe
from sourdine.adaptive.robust import ENDLESS, Lazy, Robust
from sourdine.adaptive.robust.median import PrivateMedian
from sourdine.adaptive.robust.modes import drawn_of
from sourdine.adaptive.robust.sizes import flips_needed
from sourdine.adaptive.robust.switching import Switching
from sourdine.adaptive.sketches.ams import AmsSketch
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.noise import SYSTEM, SeededSource


class Slanted:
    """A counter that is off by a factor of its own, within a tenth, and counts its calls."""

    made = 0

    def __init__(self, seed):
        assert 0 <= seed < 2**128
        type(self).made += 1
        self.seed, self.count, self.asked, self.told = seed, 0, 0, 0
        self.slant = 0.9 + 0.2 * (seed % 10_007) / 10_007

    def update(self, change):
        self.count += change
        self.told += 1

    def query(self):
        self.asked += 1
        return self.count * self.slant


class Fixed:
    """A copy that says what it is told to say."""

    def __init__(self, value):
        self.value = value

    def update(self, *change):
        (self.value,) = change

    def query(self):
        return self.value


def median(**changed):
    terms = {"epsilon0": 1, "accuracy": 0.25, "window": 12, "least": 1.0, "start": 100.0}
    return PrivateMedian(**(terms | changed))


def robust(factory=Slanted, **changed):
    terms = {"copies": 60, "sample": 40, "epsilon0": 3, "steps": 50, "source": SeededSource(1)}
    return Robust(factory, **(terms | changed))


# --- the private median -----------------------------------------------------------------------


def test_one_copy_moves_a_score_by_one():
    rng, moves = np.random.default_rng(1), set()
    for _ in range(2000):
        m = median(window=int(rng.integers(1, 14)), start=float(rng.choice([0, 1, 50, 1e9])))
        values = np.exp(rng.normal(4, rng.choice([0.1, 1, 8]), rng.integers(1, 30)))
        other = values.copy()
        other[rng.integers(len(values))] = rng.choice([0.0, np.inf, np.nan, -1.0, 50.0, 1e300])
        moves |= set((m.scores(values) - m.scores(other)).tolist())
    assert max(map(abs, moves)) == 2  # scores are doubled


def test_values_that_agree_are_found():
    m = median(epsilon0=2)
    values = np.full(25, 130.0)
    scores = m.scores(values)
    assert sorted(scores)[-2:] == [-25, 0]
    assert abs(m.middle(m.first + int(scores.argmax())) / 130 - 1) < 0.04


def test_a_good_score_is_a_right_answer():
    rng, seen = np.random.default_rng(2), 0
    for _ in range(1500):
        alpha = rng.uniform(0.05, 1)
        f = np.exp(rng.uniform(2, 9))
        s = int(rng.integers(3, 40))
        bad = int(rng.integers(0, (s + 1) // 2))
        right = f * (1 + 0.75 * alpha * rng.choice([-1, 1, rng.uniform(-1, 1)], s - bad))
        wrong = f * np.exp(rng.choice([-1, 1]) * rng.exponential(3, bad))
        start = f * np.exp(rng.uniform(-1, 1))
        m = median(accuracy=alpha, start=start, window=int(np.ceil(4 / np.log(1 + alpha / 4))))
        scores = m.scores(np.concatenate([right, wrong]))
        (good,) = np.nonzero(scores > -(s - 2 * bad))
        answers = np.array([m.middle(m.first + i) for i in good])
        near = right.min() > 1  # below `least` values count as 0
        assert not near or np.all(np.abs(answers / f - 1) <= alpha * (1 + 1e-9))
        seen += near * len(good)
    assert seen > 1500


def test_the_median_follows_its_law():
    # the chance of each cell is e^{eps0 u / 2}, u the undoubled score
    m = median(epsilon0=0.5, window=2)
    values = np.array([90.0, 95, 101, 107, 120, 130, 80])
    weights = np.exp(0.5 * m.scores(values) / 2 / 2)
    source, draws, first, cell = SeededSource(3), 3000, m.first, m._cell
    counts = np.zeros(5)
    for _ in range(draws):
        m._cell = cell
        m.answer(values, source)
        counts[m._cell - first] += 1
    expected = draws * weights / weights.sum()
    assert ((counts - expected) ** 2 / expected).sum() < 48.0  # 1e-9 of chi-square with 4


def test_zero_is_answered_as_zero_and_left_again():
    m = median(epsilon0=20, start=0.0)
    source = SeededSource(4)
    silent = [np.zeros(20), np.full(20, -3.0), np.full(20, np.nan), np.full(20, 0.99)]
    assert [m.answer(values, source) for values in silent] == [0.0] * 4
    assert abs(m.answer(np.full(20, 1.5), source) / 1.5 - 1) < 0.04
    assert m.answer(np.zeros(20), source) == 0.0


def test_what_is_in_reach_is_in_the_window():
    rng, tight = np.random.default_rng(6), 0
    for _ in range(600):
        alpha, window = rng.uniform(0.05, 0.6), int(rng.integers(10, 30))
        before = np.exp(rng.uniform(6, 9))
        start = before * (1 + alpha * rng.uniform(-1, 1))
        r = robust(accuracy=alpha, window=window, start=start)
        reach = r._mode.reach
        if reach < 1:
            continue
        now = before * reach ** rng.choice([-1, 1])
        m = r._mode._median
        sides = now * (1 + 0.75 * alpha * np.array([-1, 1]))
        low = m._least * np.exp(m._ratio * (m.first - 1))
        high = m._least * np.exp(m._ratio * (m.first + 2 * window))
        assert np.all((low * (1 - 1e-9) <= sides) & (sides < high * (1 + 1e-9)))
        tight += sides[1] * (1 + alpha / 2) > high or sides[0] < low * (1 + alpha / 2)
    assert tight > 0


def test_a_value_that_jumps_is_followed():
    m = median(epsilon0=20, start=1.0)
    source = SeededSource(5)
    answers = [m.answer(np.full(20, 1e6), source) for _ in range(24)]
    assert answers == sorted(answers)
    assert abs(answers[-1] / 1e6 - 1) < 0.04
    down = [m.answer(np.full(20, 7.0), source) for _ in range(24)]
    assert abs(down[-1] / 7 - 1) < 0.04
    assert np.isfinite(m.answer(np.full(20, np.inf), source))


# --- the wrapper, by private median -------------------------------------------------------------


def test_every_sample_is_as_likely_as_another():
    source, draws = SeededSource(6), 4000
    counts = dict.fromkeys(combinations(range(5), 2), 0)
    for _ in range(draws):
        counts[tuple(sorted(drawn_of(5, 2, source)))] += 1
    expected = draws / 10
    assert sum((c - expected) ** 2 / expected for c in counts.values()) < 62.0  # 1e-9, 9 degrees


def test_every_update_goes_to_all_and_a_query_to_the_sample():
    r = robust()
    for _ in range(7):
        r.update(20)
    r.query()
    r.query()
    assert {copy.told for copy in r._live} == {7}
    assert sum(copy.asked for copy in r._live) == 80
    assert len({copy.seed for copy in r._live}) == 60


def test_answers_are_right_for_whoever_does_not_react():
    r = robust(steps=300)
    count = 0
    for i in range(300):
        step = (5, 3, -2)[i % 3] + (100 if i == 0 else 0)
        count += step
        r.update(step)
        answer = r.query()
        assert i < 12 or abs(answer / count - 1) <= 0.25  # from 0 to 105 takes some windows


def test_after_the_last_step_a_phase_ends():
    r = robust(steps=3)
    for _ in range(3):
        r.query()
    with pytest.raises(BudgetExceededError, match=r"steps must be above 3.*current=lambda"):
        r.query()
    assert (r.queries, r.resets) == (3, 0)


def test_a_new_phase_has_new_seeds_and_the_same_input():
    seen = [100]
    r = robust(steps=3, start=100, current=lambda: ((x,) for x in seen))
    r.update(100)
    old = {copy.seed for copy in r._live}
    for _ in range(2):
        r.query()
    seen.append(20)
    r.update(20)
    r.query()
    assert r.resets == 0
    assert abs(r.query() / 120 - 1) <= 0.25
    assert r.resets == 1
    assert {copy.count for copy in r._live} == {120}
    assert not old & {copy.seed for copy in r._live}
    for _ in range(3):
        r.query()
    assert (r.resets, r.queries) == (2, 7)


def test_copies_of_a_seeded_wrapper_repeat_and_of_the_system_do_not():
    seeds = [{c.seed for c in robust(source=s)._live} for s in (SeededSource(9), SeededSource(9))]
    assert seeds[0] == seeds[1]
    assert not {c.seed for c in robust(source=SYSTEM)._live} & {
        c.seed for c in robust(source=SYSTEM)._live
    }


def test_update_many_reaches_all_copies():
    r = Robust(
        lambda seed: AmsSketch(50, seed), copies=30, epsilon0=2, steps=9, source=SeededSource(2)
    )
    r.update_many([1, 2, 3], [300, 400, 500])
    assert all(200_000 < copy.query() < 1_200_000 for copy in r._live)


def test_the_least_value_is_told_from_zero():
    for mode, off in (("dp-median", 0.75), ("switching", 0.25)):
        terms = {"sample": 40, "epsilon0": 20, "steps": 9} if mode == "dp-median" else {}
        r = Robust(
            lambda _: Fixed(0.0), mode=mode, copies=40, least=3, source=SeededSource(1), **terms
        )
        assert r.query() == 0
        r.update(3 * (1 - off * 0.25) + 1e-9)  # what a right copy may say of 3
        assert abs(r.query() / 3 - 1) <= 0.25
        r.update(0.0)
        assert r.query() == 0


# --- attacks ------------------------------------------------------------------------------------

COPIES, ROWS, PROBES = 60, 50, 500


def sketches(seed, **changed):
    terms = {"copies": COPIES, "epsilon0": 0.4, "steps": 2000, "start": 2_000_000}
    source = SeededSource(seed)
    return Robust(lambda key: AmsSketch(ROWS, key), source=source, **(terms | changed))


def probed(sketch, seed):
    return probe(sketch, PROBES, rng=np.random.default_rng(seed)).ratio


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_private_median_survives_probes_that_break_a_plain_sketch(seed):
    assert abs(probed(AmsSketch(COPIES * ROWS, seed), seed) - 1) > 0.25
    assert abs(probed(sketches(seed), seed) - 1) <= 0.25


def test_median_of_copies_without_noise_is_broken():
    # an epsilon0 so large that the median is exact: copies alone are not what helps
    assert abs(probed(sketches(2, epsilon0=1000), 2) - 1) > 0.25


def test_honest_error_of_the_private_median_is_within_its_accuracy():
    errors, rng = [], np.random.default_rng(9)
    for run in range(6):
        r = sketches(100 + run, start=1_000_000)
        r.update(0, 1000)
        true = 1_000_000
        for item in range(1, 60):
            r.update(item, weight := int(rng.integers(100, 300)))
            true += weight**2
            errors.append(abs(r.query() / true - 1))
    assert np.quantile(errors, 0.95) <= 0.25


# --- switching ----------------------------------------------------------------------------------


def test_switching_stays_right_while_copies_last():
    r = Robust(
        lambda seed: AmsSketch(2000, seed), mode="switching", copies=12, source=SeededSource(3)
    )
    attack = insertion(r, 1500, rng=np.random.default_rng(3))
    assert abs(attack.ratio - 1) <= 0.25
    assert 0 < r.changes <= 12


def test_a_copy_whose_value_was_shown_is_not_asked_again():
    r = Robust(Fixed, mode="switching", copies=3, source=SeededSource(1))
    live = list(r._live)
    for copy, value in zip(live, (100.0, 200.0, 300.0), strict=True):
        copy.value = value
    assert [r.query(), r._live == live[1:]] == [100.0, True]
    live[0].value = 1e9
    assert r.query() == 200.0
    live[2].value = 210.0
    assert [r.query(), r.query(), len(r._live)] == [200.0, 200.0, 1]
    live[2].value = 300.0
    assert r.query() == 300.0
    with pytest.raises(BudgetExceededError, match=r"copies must be above 3.*current=lambda"):
        r.query()


def test_switching_begins_anew_where_it_can():
    seen = []
    r = Robust(Slanted, mode="switching", copies=2, current=lambda: seen, source=SeededSource(2))
    for _ in range(400):
        seen.append((10,))
        r.update(10)
        assert abs(r.query() / (10 * len(seen)) - 1) <= 0.25
    assert r.resets >= 3


@pytest.mark.parametrize("alpha", [0.1, 0.25, 1.0])
@pytest.mark.parametrize("sly", [False, True])
def test_the_flips_of_a_rising_value(alpha, sly):
    # sly: the first copy reads as low as it may, all others as high
    rng = np.random.default_rng(4)
    value, flips = 1.0, 0
    shown = Switching(accuracy=alpha, least=0.01, start=0.0)
    while value < 1e6:
        sign = (1 if flips else -1) if sly else rng.choice([-1, 1])
        flips += shown.left_by(value * (1 + alpha / 5 * sign))
        assert abs(shown.answer / value - 1) <= alpha
        value *= 1 + rng.exponential(0.0003 if sly else 0.003)
    most = flips_needed(value, alpha)
    assert flips <= most
    assert not sly or flips >= most - 1


def test_the_answer_stands_within_half_the_accuracy():
    shown = Switching(accuracy=0.5, least=1.0, start=100.0)
    assert [shown.left_by(y) for y in (125.0, 80.0, 79.9)] == [False, False, True]
    assert shown.answer == 79.9
    assert [shown.left_by(y) for y in (float("nan"), 0.0, -5.0, 2.0)] == [True, False, False, True]


# --- lazy ---------------------------------------------------------------------------------------


class Walk:
    def __init__(self, value, step):
        self.value, self.step = value, step

    def update(self, sign):
        self.value += sign * self.step


@pytest.mark.parametrize("alpha", [0.05, 0.25, 1.0])
def test_lazy_answers_are_always_right(alpha):
    rng = np.random.default_rng(5)
    walk = Walk(100, 3)
    lazy = Lazy(lambda: walk.value, walk, lipschitz=3, accuracy=alpha)
    for i in range(4000):
        away = 1 if lazy.query() >= walk.value else -1  # drive it off, in view of its answers
        lazy.update(-away if i % 3 else int(rng.choice([-1, 1])))
        lower, upper = lazy.interval()
        assert abs(lazy.query() - walk.value) <= alpha * abs(walk.value) + 1e-9
        assert lower <= walk.value <= upper
    assert lazy.recomputations < 4000


def test_lazy_waits_as_long_as_it_may():
    walk = Walk(1000, 1)
    lazy = Lazy(lambda: walk.value, walk, accuracy=0.25)
    lazy.query()
    for _ in range(200):  # 0.25 * 1000 / 1.25
        lazy.update(-1)
    assert (lazy.query(), lazy.recomputations) == (1000.0, 1)
    assert lazy.query() == walk.value * 1.25  # not one update more
    lazy.update(-1)
    assert (lazy.query(), lazy.recomputations) == (799.0, 2)


def test_lazy_is_exact_at_zero_and_where_others_change_the_input():
    held = []
    lazy = Lazy(lambda: len(held), accuracy=0.5)
    assert lazy.query() == 0
    held.append(1)
    lazy.update()
    assert (lazy.query(), lazy.recomputations) == (1.0, 2)
    assert lazy.certificate() == ENDLESS
    assert "any number of adaptive steps right always" in str(lazy.proof())


# --- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"mode": "median"}, "mode must be 'dp-median' or 'switching'"),
        ({"copies": 0}, "copies must be at least 1"),
        ({"sample": 61}, "sample must be at most copies, 60, got 61"),
        ({"sample": 0}, "sample must be at least 1"),
        ({"epsilon0": 0}, "epsilon0 must be above 0"),
        ({"epsilon0": 0.3}, r"epsilon0 must be above 0.318 .* Type epsilon0=1"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"accuracy": 1.5}, "accuracy must be above 0 and at most 1"),
        ({"start": -1}, "start must be at least 0"),
        ({"least": 0}, "least must be above 0"),
        ({"window": 0}, "window must be at least 1"),
        ({"wrong": 0}, "wrong must be above 0"),
    ],
)
def test_bad_parameters(changed, text):
    with pytest.raises(ParameterError, match=text):
        robust(**changed)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"epsilon0": None}, "epsilon0 and steps must be given"),
        ({"steps": None}, "epsilon0 and steps must be given"),
        ({"factory": 3}, "factory must be a function, got something of type int"),
        ({"current": 3}, "current must be a function, got something of type int"),
        ({"mode": "switching"}, "sample and epsilon0 must be left out"),
    ],
)
def test_bad_kinds(changed, text):
    with pytest.raises(ParameterTypeError, match=text):
        robust(**changed)


def test_lazy_refuses_what_is_no_function():
    with pytest.raises(ParameterTypeError, match="exact must be a function"):
        Lazy(3)
    with pytest.raises(ParameterTypeError, match="state must have update"):
        Lazy(lambda: 1, object())


def test_stray_counts_the_noise_alone():
    r = robust(copies=40, sample=40, epsilon0=1)
    assert r.stray == pytest.approx(24 * np.exp(-10), rel=1e-5)
    assert Robust(Slanted, mode="switching", copies=2).stray == 0
