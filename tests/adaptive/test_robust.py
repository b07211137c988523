"""Many copies of a dynamic algorithm, and one answer that betrays none of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sourdine.adaptive.attacks import probe
from sourdine.adaptive.robust.wrapper import Robust, drawn_of
from sourdine.adaptive.sketches.f2 import AmsSketch
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


def robust(factory=Slanted, **changed):
    terms = {"copies": 60, "sample": 40, "epsilon0": 3, "steps": 50, "source": SeededSource(1)}
    return Robust(factory, **(terms | changed))


def test_every_sample_is_as_likely_as_another():
    source, draws = SeededSource(6), 4000
    counts = dict.fromkeys(combinations(range(5), 2), 0)
    for _ in range(draws):
        counts[tuple(sorted(drawn_of(5, 2, source)))] += 1
    expected = draws / 10
    assert sum((c - expected) ** 2 / expected for c in counts.values()) < 62.0  # 1e-9, 9 degrees


def test_every_update_goes_to_all_and_a_query_to_the_sample():
    r = robust(start=140)
    for _ in range(7):
        r.update(20)
    r.query()
    r.query()
    assert {copy.told for copy in r._live} == {7}
    assert sum(copy.asked for copy in r._live) == 80
    assert len({copy.seed for copy in r._live}) == 60


def test_answers_are_right_for_whoever_does_not_react():
    r = robust(steps=320)
    count = 0
    for i in range(300):
        step = (5, 3, -2)[i % 3] + (100 if i == 0 else 0)
        count += step
        r.update(step)
        answer = r.query()
        assert abs(answer / count - 1) <= 0.25
    assert r.queries == 300
    assert 300 < r.looks < 320  # from 0 to 105 takes some windows


def test_an_answer_after_a_leap_is_right():
    r = robust(steps=200)
    count = 0
    for now in (100_000, 7, 10**9, 0, 1, 50_000, 49_000):
        r.update(now - count)
        count = now
        assert abs(r.query() - now) <= 0.25 * now
    assert (r.queries, r.resets) == (7, 0)
    assert r.looks > 60


def test_every_look_counts_as_a_step():
    r = robust(steps=6)
    r.update(10**9)
    with pytest.raises(BudgetExceededError, match=r"steps must be above 6 .*one more look"):
        r.query()
    assert (r.looks, r.queries, r.changes) == (6, 0, 0)
    again = robust(steps=6, current=lambda: [(10**9,)])
    again.update(10**9)
    assert abs(again.query() / 10**9 - 1) <= 0.25
    assert again.resets == (again.looks - 1) // 6 > 1
    assert again.queries == 1


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "window"), [(0.1, 8), (0.25, 12), (0.6, 20), (1.0, 12)])
def test_what_is_in_reach_takes_one_look(alpha, window):
    rng, beyond = np.random.default_rng(6), 0
    for _ in range(200):
        before = float(np.exp(rng.uniform(6, 9)))
        mode = robust(error=alpha, window=window, start=before)._method
        assert mode.reach > 1
        m = mode._median
        ends = 1 + 0.75 * alpha * np.array([-1, 1])
        places = [
            p for p in range(2 * window + 1)
            if m.scores(before * np.repeat(ends, 5))[p] == 0 and m.answer(p) is not None
        ]  # fmt: skip
        m._cell = m.first + rng.choice(places)
        for factor in (mode.reach, 1.0, 1 / mode.reach, 2 * mode.reach, 0.5 / mode.reach):
            values = before * factor * np.repeat(ends, 5)
            told = [m.answer(p) for p in np.flatnonzero(m.scores(values) == 0)]
            beyond += None in told and max(factor, 1 / factor) > 2
            assert None not in told or max(factor, 1 / factor) > 2
    assert beyond > 0


def test_values_that_are_no_number_or_negative_count_as_0():
    for value in (float("nan"), -5.0, float("-inf")):
        r = robust(lambda _, v=value: Fixed(v))
        assert r.query() == 0.0
        s = Robust(lambda _, v=value: Fixed(v), method="switching", copies=2)
        assert s.query() == 0.0


def test_the_text_tells_what_is_public():
    r = robust()
    r.query()
    assert repr(r) == (
        "Robust(method='dp-median', copies=60, sample=40, epsilon0=3, steps=50, error=0.25): "
        "answers=1, looks=1"
    )
    assert repr(Robust(Slanted, method="switching", copies=2)) == (
        "Robust(method='switching', copies=2, error=0.25): answers=0, looks=0"
    )


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
            lambda _: Fixed(0.0), method=mode, copies=40, least=3, source=SeededSource(1), **terms
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


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_private_median_survives_probes_that_break_a_plain_sketch(seed):
    assert abs(probed(AmsSketch(COPIES * ROWS, seed), seed) - 1) > 0.25
    assert abs(probed(sketches(seed), seed) - 1) <= 0.25


@pytest.mark.slow
def test_median_of_copies_without_noise_is_broken():
    # an epsilon0 so large that the median is exact: copies alone are not what helps
    assert abs(probed(sketches(2, epsilon0=1000), 2) - 1) > 0.25


@pytest.mark.slow
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


# --- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"method": "median"}, "method must be 'dp-median' or 'switching'"),
        ({"copies": 0}, "copies must be at least 1"),
        ({"sample": 61}, r"sample must be at most the number of copies \(60\), got 61"),
        ({"sample": 0}, "sample must be at least 1"),
        ({"epsilon0": 0}, "epsilon0 must be above 0"),
        ({"epsilon0": 0.3}, r"epsilon0 must be above 0.318 .* Use epsilon0=1"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"error": 1.5}, "error must be above 0 and at most 1"),
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
        ({"epsilon0": None}, "epsilon0 must be given"),
        ({"steps": None}, "steps must be given"),
        ({"factory": 3}, "factory must be a function, got a value of type int"),
        ({"current": 3}, "current must be a function, got a value of type int"),
        ({"method": "switching"}, "epsilon0 must be omitted"),
        (
            {"factory": str},
            "copies with update.* and query.*got a value of type str without update",
        ),
        ({"factory": lambda _: {1}}, "got a value of type set without query"),
    ],
)
def test_bad_kinds(changed, text):
    with pytest.raises(ParameterTypeError, match=text):
        robust(**changed)


def test_stray_counts_the_noise_alone():
    r = robust(copies=40, sample=40, epsilon0=1)
    assert r.stray == pytest.approx(24 * np.exp(-10), rel=1e-5)
    assert Robust(Slanted, method="switching", copies=2).stray == 0
