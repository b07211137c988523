"""Staircase noise: its law, its optimal step, what is refused."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.mechanisms import (
    Laplace,
    Staircase,
)
from sourdine.mechanisms.staircase import gamma_l1, gamma_l2, staircase_law

CELLS = np.arange(-600, 601)


@pytest.mark.parametrize(
    ("epsilon", "span", "inner"), [(1, 8, 3), (2, 5, 5), (0.5, 1, 1), (3, 7, 1)]
)
def test_staircase_law_is_the_formula(epsilon, span, inner):
    a = np.abs(CELLS)
    weight = np.exp(-epsilon * (a // span + (a % span >= inner)))
    law = staircase_law(0, Fraction(epsilon), span, inner)
    assert law.pmf(CELLS) == pytest.approx(weight / weight.sum(), abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.2, 1, 2, 5])
@pytest.mark.parametrize("kind", ["l1", "l2"])
def test_staircase_width_is_optimal(epsilon, kind):
    span = 12
    chosen = Staircase(epsilon=epsilon, sensitivity=span, minimise=kind).width
    losses = []
    for width in range(1, span + 1):
        cells = np.arange(-1200, 1201)
        pmf = staircase_law(0, Fraction(str(epsilon)), span, width).pmf(cells)
        losses.append(pmf @ (np.abs(cells) if kind == "l1" else cells.astype(float) ** 2))
    assert losses[chosen - 1] == pytest.approx(min(losses), rel=1e-9)


@pytest.mark.parametrize(("gamma", "mass"), [(gamma_l1, 2.04), (gamma_l2, 2.00)])
def test_printed_staircase_density_has_mass_two(gamma, mass):
    """Row L5: with b^j on both steps the density at epsilon 1 integrates to about 2."""
    b, g = exp(-1), gamma(1)
    height = (1 - b) / (2 * (g + b * (1 - g)))
    assert 2 * height * (g + b / (1 - b)) == pytest.approx(1)
    assert 2 * height * (g + 1 / (1 - b)) == pytest.approx(mass, abs=0.005)


def test_gammas_minimise_their_loss_on_a_fine_grid():
    for epsilon in (0.5, 1.0, 3.0):
        for gamma, kind in ((gamma_l1, "l1"), (gamma_l2, "l2")):
            width = Staircase(epsilon=epsilon, sensitivity=2000, minimise=kind).width
            assert width / 2000 == pytest.approx(gamma(epsilon), abs=2 / 2000)


def test_staircase_beats_laplace_at_large_epsilon():
    stairs = Staircase(epsilon=6, sensitivity=100).law(0).expectation_abs()
    assert stairs < 0.6 * Laplace(epsilon=6, sensitivity=100).law(0).expectation_abs()


def test_a_vector_of_stairs_is_refused():
    """Each entry may change its step at once, so one epsilon would not cover them."""
    with pytest.raises(ParameterTypeError, match="the input must be one number, got an array"):
        Staircase(epsilon=1, sensitivity=3).release([1, 2])


def test_staircase_is_built_at_once_at_any_epsilon():
    tiny = Staircase(epsilon=1e-9, sensitivity=100, minimise="l2")
    assert tiny.width in range(1, 101)
    assert tiny.error(0.05) == pytest.approx(
        Laplace(epsilon=1e-9, sensitivity=100).error(0.05), rel=0.01
    )


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: Staircase(epsilon=1, sensitivity=0),
            ParameterError,
            "sensitivity must be at least 1",
        ),
        (
            lambda: Staircase(epsilon=1, sensitivity=4, width=5),
            ParameterError,
            "width must be at most the sensitivity (4), got 5. Omit width",
        ),
        (
            lambda: Staircase(epsilon=1, minimise="l3"),
            ParameterError,
            "minimise must be 'l1' or 'l2', got 'l3'. Use",
        ),
    ],
)
def test_bad_parameters_say_what_to_type(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(text)
