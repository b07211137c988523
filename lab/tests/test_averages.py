"""Averages over rows never fail because of a row, and say nothing of one."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from sourdine.adaptive.queries import vector_of
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine_lab.averages import average, values_of


def test_queries_never_fail_because_of_a_row():
    rows = np.array([-1, 0, 1, 2, 10**9])
    assert values_of(np.array([0.5, 1.0]), rows).tolist() == [0, 0.5, 1, 0, 0]
    assert values_of(np.array([1.0]), rows - 1).tolist() == [0, 0, 1, 0, 0]
    assert values_of(np.array([]), rows).tolist() == [0] * 5
    odd = np.array([np.nan, np.inf, -np.inf, 3.0, -2.0])
    assert values_of(lambda x: x, odd).tolist() == [0, 1, 0, 1, 0]
    assert average(lambda x: x, odd) == 0.4
    assert average(lambda x: x, np.array([])) == 0
    assert vector_of(lambda codes: codes > 1, 4).tolist() == [0, 0, 1, 1]


def test_queries_of_a_wrong_kind_are_refused_without_a_value():
    names = np.array(["secret", "other"])
    with pytest.raises(ParameterTypeError, match="must be numbers or booleans") as refusal:
        values_of(lambda rows: rows, names)
    assert "secret" not in str(refusal.value)
    with pytest.raises(
        ParameterError, match=r"one value for each of 2 rows, got an array of shape \(\)"
    ):
        average(len, names)
    with pytest.raises(ParameterTypeError, match="rows must be whole numbers"):
        values_of(np.ones(3), np.array([0.5]))
    assert not isnan(average(np.ones(3), np.array([1])))
