from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine import Grid
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.grid import MISSING

ENDS = np.iinfo(np.int64)


@pytest.mark.slow
@given(st.floats(allow_nan=True, allow_infinity=True))
def test_any_float_has_a_tick(x):
    tick = int(Grid(-3, 7, step=0.5).ticks([x], missing=MISSING)[0])
    if np.isnan(x):
        assert tick == MISSING
    else:
        nearest = (min(max(x, -3), 7) + 3) / 0.5
        assert 0 <= tick <= 20
        assert abs(tick - nearest) <= 0.5


@given(st.integers(ENDS.min, ENDS.max), st.integers(-(10**6), 10**6), st.integers(1, 10**6))
def test_integers_are_snapped_exactly(x, lower, step):
    grid = Grid(lower, lower + 1000 * step, step=step)
    clamped = min(max(x, lower), lower + 1000 * step)
    exact = (clamped - lower + step // 2) // step
    assert int(grid.ticks(np.array([x]))[0]) == min(exact, 1000)


def test_integers_beyond_the_floats_are_kept_apart():
    grid = Grid(2**60, 2**60 + 8, step=1)
    assert grid.ticks(np.array([2**60 + 3, 2**60 + 4])).tolist() == [3, 4]
    unsigned = np.array([2**63 + 5, 7], dtype=np.uint64)
    assert Grid(2**63, 2**63 + 10, step=1).ticks(unsigned).tolist() == [5, 0]


def test_values_that_are_no_numbers_are_missing_and_never_raise():
    grid = Grid(0, 10, step=1)
    strange = np.array(["seven", None, 3, 10**400, -(10**400), "4", float("nan")], dtype=object)
    ticks = grid.ticks(strange, missing=MISSING)
    assert ticks.tolist() == [MISSING, MISSING, 3, 10, 0, 4, MISSING]
    assert grid.ticks(strange).tolist() == [0, 0, 3, 10, 0, 4, 0]
    assert grid.ticks([1, [2, 3]]).tolist() == [1, 0]
    assert grid.ticks(np.array([], dtype=float)).tolist() == []


def test_one_changed_record_changes_one_tick():
    """Whatever stands beside it: a text among numbers, a float among whole numbers."""
    small, large = Grid(0, 10, step=1), Grid(2**60, 2**60 + 8, step=1)
    others = [3, 2.5, "n/a", None, True, 10**30, float("nan"), -1]
    for changed in others:
        assert small.ticks([7, True, changed])[:2].tolist() == [7, 1]
        assert large.ticks([2**60 + 3, changed])[0] == 3


def test_a_missing_value_moves_a_sum_no_further_than_last():
    grid = Grid(0, 100, step=1)
    values = [[50.0, v] for v in (0, 100, float("nan"), float("inf"), None, "x")]
    sums = [int(grid.ticks(v).sum()) for v in values]
    assert max(sums) - min(sums) == grid.last


def test_masked_values_are_missing():
    masked = np.ma.masked_array([5, 6], mask=[False, True])
    assert Grid(0, 10, step=1).ticks(masked, missing=MISSING).tolist() == [5, MISSING]


def test_narrow_and_unsigned_integers():
    grid = Grid(300, 400, step=1)
    assert grid.ticks(np.array([5, 255], np.uint8)).tolist() == [0, 0]
    assert grid.ticks(np.array([2**64 - 1, 350], np.uint64)).tolist() == [100, 50]


def test_text_form():
    assert str(Grid(0, 120, step=0.5)) == "0 to 120 in steps of 0.5"


def test_negative_zero_and_infinities():
    grid = Grid(0, 1)
    ticks = grid.ticks([-0.0, 0.0, float("inf"), -float("inf"), 5e-324])
    assert ticks.tolist() == [0, 0, grid.last, 0, 0]


@given(st.integers(0, 120))
def test_ticks_and_values_are_inverse(tick):
    for grid in (Grid(0, 120, step=1), Grid(-1.5, 58.5, step=0.5), Grid(0, 12, step=0.1)):
        value = grid.values([tick])[0]
        assert int(grid.ticks([value])[0]) == tick
        assert float(grid.value(tick)) == pytest.approx(float(value))


def test_the_default_step_is_a_power_of_two():
    for lower, upper in ((0, 1), (0, 500_000), (-0.1, 0.2), (0, 3e-7)):
        grid = Grid(lower, upper)
        step = grid.step
        assert step.numerator == 1 or step.denominator == 1
        assert (step.numerator * step.denominator).bit_count() == 1
        assert 2**20 <= grid.last < 2**21
        assert grid.value(grid.last) <= grid.upper < grid.value(grid.last + 1)


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ((1, 1), ParameterError, "lower must be below upper, got 1 and 1. Use"),
        ((5, 2), ParameterError, "lower must be below upper, got 5 and 2. Use"),
        (
            (0, 10, 3),
            ParameterError,
            "step must divide upper - lower, got 3 for 0 to 10. "
            "Use a step that divides the range, such as step=5, or move a bound.",
        ),
        ((0, 10, 0), ParameterError, "step must be above 0, got 0. Use"),
        ((0, 10, -1), ParameterError, "step must be above 0, got -1. Use"),
        ((0, 10, Fraction(1, 2**70)), ParameterError, "step must leave fewer than 2"),
        ((-1e308, 1e308), ParameterError, "lower must be within 1e300 of 0, got -1e+308. Use"),
        (
            (0, Fraction(1, 10**400)),
            ParameterError,
            "upper must be larger, compared with lower, got",
        ),
        ((float("nan"), 1), ParameterError, "lower must be finite, got nan. Use"),
        ((0, float("inf")), ParameterError, "upper must be finite, got inf. Use"),
        (("0", 1), ParameterTypeError, "lower must be a number, got '0'. Use"),
        ((0, None), ParameterTypeError, "upper must be a number, got None. Use"),
    ],
)
def test_bad_grids_say_what_to_type(arguments, kind, text):
    with pytest.raises(kind) as caught:
        Grid(*arguments)
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    ("lower", "upper", "step"),
    [(0, 2**64, None), (-(2**64), 2**64, None), (0, 2**70, 2**50), (-(2**63), 2**63, 2**20)],
)
def test_whole_points_beyond_64_bits_do_not_wrap(lower, upper, step):
    grid = Grid(lower, upper, step=step)
    ticks = [0, 1, grid.last // 2 + 1, grid.last]
    exact = [float(grid.value(t)) for t in ticks]
    assert grid.values(ticks).tolist() == pytest.approx(exact, rel=1e-15)


def test_sums_of_ticks_are_exact_or_refused():
    fine = Grid(0, 1)
    assert fine.sum_of_floats(np.full(10**5, 0.9)) == 10**5 * int(fine.ticks(np.array([0.9]))[0])
    assert Grid(0, 2**40, step=1).sum_of_floats(np.full(2**13, 2.0**40)) is None
    assert fine.sum_of_floats(np.array([0.5, np.nan])) is None
    assert fine.sum_of_floats(np.array([np.inf, -np.inf, 2.0])) == 2 * fine.last
    assert fine.sum_of_floats(np.array([])) == 0
