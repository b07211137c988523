from __future__ import annotations

import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine.noise import staircase


def law(epsilon, sensitivity, width, reach):
    k = np.abs(np.arange(-reach, reach + 1))
    weights = np.exp(-epsilon * (k // sensitivity + (k % sensitivity >= width)))
    return weights / weights.sum()


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("epsilon", "sensitivity", "width"), [(1, 8, 3), (0.5, 5, 5), (2, 1, 1), (1.5, 7, 1)]
)
def test_law(epsilon, sensitivity, width, fits, source):
    reach = int(sensitivity * 24 / epsilon)
    draws = staircase(epsilon, sensitivity, width, 500_000, source=source)
    assert fits(draws, law(epsilon, sensitivity, width, reach), -reach)


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(("epsilon", "width"), [(0.97, 3), (1.03, 3), (1.3, 3), (0.7, 3), (1, 4)])
def test_the_test_of_fit_rejects_a_wrong_law(epsilon, width, fits, source):
    draws = staircase(epsilon, 8, width, 500_000, source=source)
    assert not fits(draws, law(1, 8, 3, 200), -200)


@pytest.mark.slow
def test_one(fits, source):
    draws = [staircase(1, 3, 2, source=source) for _ in range(2000)]
    assert all(type(d) is int for d in draws)
    assert fits(np.array(draws), law(1, 3, 2, 60), -60)


def test_saturation_and_sizes(source):
    draws = staircase(1e-19, 2**62, 2**61, 1000, source=source)
    assert np.isin(draws, [2**63 - 1, -(2**63) + 1]).mean() > 0.9
    assert staircase(1, 3, 2, (2, 0)).shape == (2, 0)


def test_errors():
    with pytest.raises(ParameterError, match="epsilon must be above 0, got 0"):
        staircase(0, 1, 1)
    with pytest.raises(ParameterError, match="sensitivity must be at least 1, got 0"):
        staircase(1, 0, 1)
    with pytest.raises(
        ParameterError, match=r"width must be from 1 to the sensitivity \(3\), got 4"
    ):
        staircase(1, 3, 4)
    with pytest.raises(ParameterError, match=r"sensitivity must be at most 2\*\*62"):
        staircase(1, 2**63, 4)
