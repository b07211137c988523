"""Laplace noise on a bounded lattice."""

from __future__ import annotations

import pytest

from sourdine.audit import worst_case
from sourdine.errors import ParameterError
from sourdine.mechanisms import (
    BoundedLaplace,
)


def test_bounded_laplace_is_tight_at_the_ends_for_every_size():
    for last in (1, 2, 17, 100):
        mechanism = BoundedLaplace(epsilon=0.7, last=last)
        worst = worst_case(mechanism, [0, last])
        assert worst.epsilon == pytest.approx(0.7, abs=1e-12)


def test_bounded_laplace_bias():
    """On the continuum at epsilon 1 the mean report of 0 is .418 of the range."""
    assert BoundedLaplace(epsilon=1, last=10_000).bias(0) / 10_000 == pytest.approx(0.418, abs=5e-4)


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: BoundedLaplace(epsilon=1, last=0),
            ParameterError,
            "last must be at least 1, got 0",
        ),
    ],
)
def test_bad_parameters_say_what_to_type(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(text)
