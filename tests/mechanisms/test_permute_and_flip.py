"""Permute-and-flip, beside the exponential mechanism."""

from __future__ import annotations

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.errors import ParameterTypeError
from sourdine.mechanisms import (
    Exponential,
    PermuteAndFlip,
)

scores = st.lists(st.integers(-9, 9), min_size=1, max_size=5)


@given(scores)
def test_permute_and_flip_law_is_the_paper_s_loop(u):
    mechanism = PermuteAndFlip(epsilon=1, candidates=len(u))
    heads = np.exp(0.5 * (np.array(u) - max(u)))
    chosen = np.zeros(len(u))
    for order in permutations(range(len(u))):
        reach = 1 / factorial(len(u))
        for i in order:
            chosen[i] += reach * heads[i]
            reach *= 1 - heads[i]
    law = mechanism.law(mechanism.read(u))
    assert law.pmf(range(len(u))) == pytest.approx(chosen, abs=1e-12)


@given(scores)
def test_permute_and_flip_beats_exponential(u):
    losses = []
    for kind in (PermuteAndFlip, Exponential):
        mechanism = kind(epsilon=1, candidates=len(u))
        x = mechanism.read(u)
        cells = np.arange(len(u))
        losses.append(mechanism.law(x).pmf(cells) @ mechanism.loss(x, cells))
    assert losses[0] <= losses[1] + 1e-12


def test_a_single_candidate_is_always_chosen():
    for kind in (PermuteAndFlip, Exponential):
        assert int(kind(epsilon=1, candidates=1).release([-5])) == 0


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: PermuteAndFlip(epsilon=1, candidates=2.0),
            ParameterTypeError,
            "candidates must be a whole number, got 2.0. Use",
        ),
    ],
)
def test_bad_parameters_say_what_to_type(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(text)
