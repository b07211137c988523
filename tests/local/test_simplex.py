from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.errors import ParameterError
from sourdine.local.estimators.frequencies import base_cut, norm_sub

SHARES = st.lists(st.floats(-2, 2), min_size=1, max_size=30)


@pytest.mark.slow
@given(SHARES)
def test_norm_sub_is_the_projection(raw):
    raw = np.array(raw)
    f = norm_sub(raw)
    assert f.min() >= 0
    assert f.sum() == pytest.approx(1)
    for corner in np.eye(len(raw)):
        assert (raw - f) @ (corner - f) <= 1e-9, "every direction into the simplex leads away"


def test_norm_sub_keeps_what_is_consistent():
    assert norm_sub([0.25, 0.75]).tolist() == [0.25, 0.75]
    assert norm_sub([9.0]).tolist() == [1.0]


def test_norm_sub_errs_less():
    rng = np.random.default_rng(3)
    truth = rng.dirichlet(np.full(50, 0.1))
    raw = truth + rng.normal(0, 0.02, 50)
    assert np.square(norm_sub(raw) - truth).sum() < 0.5 * np.square(raw - truth).sum()


def test_base_cut_keeps_no_noise():
    rng = np.random.default_rng(3)
    left = [base_cut(rng.normal(0, 0.1, 100), 0.1).any() for _ in range(2000)]
    assert 0.02 < np.mean(left) < 0.05 + 5 * np.sqrt(0.05 * 0.95 / 2000)


def test_base_cut_keeps_what_stands_out():
    raw = np.array([0.9, 0.4, 0.05, -0.3])
    assert base_cut(raw, [0.1, 0.2, 0.01, 0.1]).tolist() == [0.9, 0, 0.05, 0]
    assert base_cut(raw, 0.0).tolist() == [0.9, 0.4, 0.05, 0]
    with pytest.raises(ParameterError, match="beta must be"):
        base_cut(raw, 0.1, beta=0)
