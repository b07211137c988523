"""Discrete Laplace noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine.mechanisms import (
    Laplace,
)

COUNT = Laplace(epsilon=0.1)


def test_laplace_accepts_a_rational_sensitivity_and_vectors():
    mechanism = Laplace(epsilon=0.3, sensitivity=Fraction(7, 2))
    assert mechanism.scale == Fraction(35, 3)
    assert mechanism.adjacent(np.array([1, 5]), np.array([3, 4]))
    assert not mechanism.adjacent(np.array([1, 5]), np.array([3, 7]))
    assert mechanism.release(np.zeros((4, 5), np.int64)).value.shape == (4, 5)


def test_arrays_stop_at_the_ends_of_int64():
    ends = np.iinfo(np.int64)
    full = np.array([ends.max, ends.min] * 500)
    drawn = Laplace(epsilon=1, sensitivity=1000).release(full).value
    assert set(np.sign(drawn[::2])) == {1}
    assert set(np.sign(drawn[1::2])) == {-1}


def test_intervals_of_arrays_stop_at_the_ends():
    ends = np.iinfo(np.int64)
    low, high = COUNT.interval(np.array([ends.max, ends.min, 0]), 0.95)
    assert (low <= high).all()
    assert high[0] == ends.max
    assert low[1] == ends.min
    assert (low[2], high[2]) == (-COUNT.error(0.05), COUNT.error(0.05))


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: Laplace(epsilon=1, sensitivity=0),
            ParameterError,
            "sensitivity must be above 0, got 0",
        ),
        (lambda: Laplace(epsilon=1, sensitivity=-2), ParameterError, "sensitivity must be above 0"),
        (
            lambda: Laplace(epsilon=1, relation="add"),
            ParameterError,
            "relation must be 'substitute', 'add_remove' or 'local', got 'add'. Use",
        ),
        (
            lambda: Laplace(epsilon=1).error(0),
            ParameterError,
            "beta must be from 1e-15 to 1, got 0. Use",
        ),
    ],
)
def test_bad_parameters_say_what_to_type(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(text)
