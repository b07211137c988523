"""Exact recomputation, put off for as long as the last value is still good."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.adaptive.robust.proof import ENDLESS, Lazy
from sourdine.errors import ParameterTypeError


class Walk:
    def __init__(self, value, step):
        self.value, self.step = value, step

    def update(self, sign):
        self.value += sign * self.step


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("alpha", [0.05, 0.25, 1.0])
def test_lazy_answers_are_always_right(alpha):
    rng = np.random.default_rng(5)
    walk = Walk(100, 3)
    lazy = Lazy(lambda: walk.value, walk, lipschitz=3, error=alpha)
    for i in range(4000):
        away = 1 if lazy.query() >= walk.value else -1  # drive it off, in view of its answers
        lazy.update(-away if i % 3 else int(rng.choice([-1, 1])))
        lower, upper = lazy.interval()
        assert abs(lazy.query() - walk.value) <= alpha * abs(walk.value) + 1e-9
        assert lower <= walk.value <= upper
    assert lazy.recomputations < 4000


def test_lazy_waits_as_long_as_it_may():
    walk = Walk(1000, 1)
    lazy = Lazy(lambda: walk.value, walk, error=0.25)
    lazy.query()
    for _ in range(200):  # 0.25 * 1000 / 1.25
        lazy.update(-1)
    assert (lazy.query(), lazy.recomputations) == (1000.0, 1)
    assert lazy.query() == walk.value * 1.25  # not one update more
    lazy.update(-1)
    assert (lazy.query(), lazy.recomputations) == (799.0, 2)


def test_lazy_is_exact_at_zero_and_where_others_change_the_input():
    held = []
    lazy = Lazy(lambda: len(held), error=0.5)
    assert lazy.query() == 0
    held.append(1)
    lazy.update()
    assert (lazy.query(), lazy.recomputations) == (1.0, 2)
    assert lazy.certificate() == ENDLESS
    assert "any number of adaptive steps right always" in str(lazy.proof())


def test_lazy_refuses_what_is_no_function():
    with pytest.raises(ParameterTypeError, match="exact must be a function"):
        Lazy(3)
    with pytest.raises(ParameterTypeError, match="state must have a method update"):
        Lazy(lambda: 1, object())


def test_the_text_tells_how_often_it_ran():
    lazy = Lazy(lambda: 5, lipschitz=2, error=0.5)
    lazy.query()
    assert repr(lazy) == "Lazy(lipschitz=2, error=0.5): recomputations=1"
