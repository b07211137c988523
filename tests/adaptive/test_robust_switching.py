"""One copy after the other, each until the answer shown has to change."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.adaptive.attacks import insertion
from sourdine.adaptive.robust.advice import flips_needed
from sourdine.adaptive.robust.wrapper import Robust, Switching
from sourdine.adaptive.sketches.f2 import AmsSketch
from sourdine.errors import BudgetExceededError
from sourdine.noise import SeededSource


class Counter:
    """A counter that is right to a hundredth."""

    def __init__(self, seed):
        self.count, self.slant = 0, 0.99 + 0.02 * (seed % 10_007) / 10_007

    def update(self, change):
        self.count += change

    def query(self):
        return self.count * self.slant


class Fixed:
    """A copy that says what it is told to say."""

    def __init__(self, value):
        self.value = value

    def update(self, value):
        self.value = value

    def query(self):
        return self.value


@pytest.mark.slow
def test_switching_stays_right_while_copies_last():
    r = Robust(
        lambda seed: AmsSketch(2000, seed), method="switching", copies=12, source=SeededSource(3)
    )
    attack = insertion(r, 1500, rng=np.random.default_rng(3))
    assert abs(attack.ratio - 1) <= 0.25
    assert 0 < r.changes <= 12


def test_a_copy_whose_value_was_shown_is_not_asked_again():
    r = Robust(Fixed, method="switching", copies=3, source=SeededSource(1))
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
    r = Robust(Counter, method="switching", copies=2, current=lambda: seen, source=SeededSource(2))
    for _ in range(400):
        seen.append((10,))
        r.update(10)
        assert abs(r.query() / (10 * len(seen)) - 1) <= 0.25
    assert r.resets >= 3


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("alpha", [0.1, 0.25, 1.0])
@pytest.mark.parametrize("sly", [False, True])
def test_the_flips_of_a_rising_value(alpha, sly):
    # sly: the first copy reads as low as it may, all others as high
    rng = np.random.default_rng(4)
    value, flips = 1.0, 0
    shown = Switching(error=alpha, least=0.01, start=0.0)
    while value < 1e6:
        sign = (1 if flips else -1) if sly else rng.choice([-1, 1])
        flips += shown.left_by(value * (1 + alpha / 5 * sign))
        assert abs(shown.answer / value - 1) <= alpha
        value *= 1 + rng.exponential(0.0003 if sly else 0.003)
    most = flips_needed(value, alpha)
    assert flips <= most
    assert not sly or flips >= most - 1


def test_the_answer_stands_within_half_the_accuracy():
    shown = Switching(error=0.5, least=1.0, start=100.0)
    assert [shown.left_by(y) for y in (125.0, 80.0, 79.9)] == [False, False, True]
    assert shown.answer == 79.9
    assert [shown.left_by(y) for y in (float("nan"), 0.0, -5.0, 2.0)] == [True, False, False, True]
