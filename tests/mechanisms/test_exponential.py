"""The exponential mechanism."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.mechanisms import (
    Exponential,
)


def test_monotone_scores_need_half_the_noise():
    general, monotone = (
        Exponential(epsilon=1, candidates=2, monotone=m).decay for m in (False, True)
    )
    assert monotone == 2 * general == Fraction(1)


def test_error_bounds_are_useful():
    """A bound of 15.2 could not be 14: that loss still has probability above beta."""
    vote = Exponential(epsilon=1, candidates=100)
    scores = vote.read([0] + [-14] * 99)
    assert vote.error(0.05) == pytest.approx(15.2, abs=0.01)
    assert vote.law(scores).pmf(np.arange(1, 100)).sum() > 0.05


def test_a_choice_has_no_interval():
    with pytest.raises(ParameterTypeError, match=r"interval\(\) is not available for Exponential"):
        Exponential(epsilon=1, candidates=2).release([1, 2]).interval()


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: Exponential(epsilon=1, candidates=0),
            ParameterError,
            "candidates must be at least 1, got 0. Use",
        ),
        (
            lambda: Exponential(epsilon=1, candidates=3).release([1, 2]),
            ParameterTypeError,
            "scores must be a vector of 3 whole numbers, got an array of shape (2,). Its",
        ),
    ],
)
def test_bad_parameters_say_what_to_type(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(text)
