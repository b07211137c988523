"""Staircases on a bounded lattice."""

from __future__ import annotations

import pytest

from sourdine.audit import worst_case
from sourdine.errors import ParameterError
from sourdine.mechanisms import (
    BoundedStaircase,
)


@pytest.mark.grid(quick=0)
@pytest.mark.parametrize("method", ["window", "truncated"])
@pytest.mark.parametrize("minimise", ["l1", "l2"])
@pytest.mark.parametrize("last", [2, 3, 10, 57])
@pytest.mark.parametrize("epsilon", [0.1, 1, 6])
def test_bounded_staircase_keeps_its_promise_at_every_size(method, minimise, last, epsilon):
    mechanism = BoundedStaircase(epsilon=epsilon, last=last, method=method, minimise=minimise)
    worst = worst_case(mechanism, range(last + 1))
    assert worst.within(mechanism.guarantee)
    for x in range(last + 1):
        first, width = mechanism.near(x)
        assert first <= x < first + width <= last + 1


def test_recalibrated_level_is_the_note_s():
    """2 ln((1 + sqrt(1 + 8 e^eps))/4) on a fine grid: .3508, .7325, 1.5663."""
    for epsilon, level in ((0.5, 0.3508), (1, 0.7325), (2, 1.5663)):
        mechanism = BoundedStaircase(epsilon=epsilon, last=20_000, method="truncated")
        assert float(mechanism.level) == pytest.approx(level, abs=3e-4)


def test_truncated_staircase_is_built_at_any_epsilon():
    mechanism = BoundedStaircase(epsilon=10_000, last=999, method="truncated")
    assert 9_990 < mechanism.level < 10_000


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: BoundedStaircase(epsilon=1, last=9, method="clip"),
            ParameterError,
            "method must be 'window' or 'truncated', got 'clip'. Use",
        ),
    ],
)
def test_bad_parameters_say_what_to_type(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(text)
