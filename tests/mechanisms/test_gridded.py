"""A density of the caller's on a grid, and any function by how many records must change."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine.mechanisms import Gridded, InverseLength
from sourdine.noise import SeededSource


def cut_laplace(answers, rate):
    def log_density(x):
        return -rate * np.abs(answers - np.mean(x))

    return log_density


def test_a_finer_grid_comes_nearer_to_the_density():
    """Section 5.2: the grid version tends to the mechanism, as 1/N in the distribution function."""
    rate, x, apart = 20.0, [0.3] * 40, []
    z = np.linspace(0, 1, 200_001)
    density = np.exp(-rate * np.abs(z - 0.3))
    truth = np.cumsum(density) / density.sum()
    for n in (20, 200, 2000):
        answers = (np.arange(n) + 0.5) / n
        made = Gridded(epsilon=1, candidates=n, log_density=cut_laplace(answers, rate))
        law = made.law(made.read(x))
        apart.append(np.abs(law.cdf(np.arange(n)) - np.interp(answers, z, truth)).max())
    assert apart[0] > 8 * apart[1] > 64 * apart[2]
    assert apart[2] < 0.01


def test_the_law_is_half_as_private_as_the_density():
    answers, n = np.arange(11) / 10, 10
    made = Gridded(
        epsilon=1, candidates=11, log_density=cut_laplace(answers, n / 2), relation="substitute"
    )
    here, there = (made.law(made.read(x)) for x in ([0.0] * 10, [0.0] * 9 + [1.0]))
    assert 0.5 < here.divergence(there).value <= 1
    density = np.exp(-5 * answers)
    assert here.pmf(np.arange(11)) == pytest.approx(density / density.sum(), rel=1e-4)


def test_densities_that_are_no_numbers_are_impossible_and_never_fail():
    logs = {"bad": [np.nan, -np.inf, 0.0], "good": [0.0, 0.0, np.inf]}
    made = Gridded(epsilon=1, candidates=3, log_density=logs.get)
    assert made.law(made.read("bad")).pmf([0, 1, 2]).tolist() == [0, 0, 1]
    assert made.release("good", source=SeededSource(1)).value == 2
    with pytest.raises(ParameterError, match="log_density must return 4 numbers"):
        Gridded(epsilon=1, candidates=4, log_density=logs.get).read("bad")


FUNCTIONS = {
    "spread": lambda x: max(x) - min(x),
    "median": lambda x: sorted(x)[len(x) // 2],
    "distinct": lambda x: len(set(x)),
}


def brute(f, x, t, universe):
    fits = [
        sum(a != b for a, b in zip(x, y, strict=True))
        for y in product(universe, repeat=len(x))
        if f(y) == t
    ]
    return min(fits, default=len(x) + 1)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_lengths_are_those_of_all_data_sets(name):
    f = FUNCTIONS[name]
    made = InverseLength(epsilon=1, f=f, n=3, universe=range(4), answers=range(5))
    for x in product(range(4), repeat=3):
        assert made.lengths(x).tolist() == [brute(f, x, t, range(4)) for t in range(5)]


@pytest.mark.parametrize("rho", [0, 1])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_record_moves_every_length_by_one(name, rho):
    made = InverseLength(
        epsilon=1, f=FUNCTIONS[name], n=3, universe=range(4), answers=range(4), rho=rho
    )
    for x in product(range(4), repeat=3):
        for v in range(4):
            moved = made.lengths(x) - made.lengths((*x[:2], v))
            assert np.abs(moved).max() <= 1


def test_smoothing_and_odd_data():
    made = InverseLength(
        epsilon=2, f=FUNCTIONS["spread"], n=3, universe=range(4), answers=range(4), rho=1
    )
    assert made.lengths([0, 0, 0]).tolist() == [0, 0, 1, 1]
    assert made.read([]).tolist() == made.read(["?", None, 0, 3]).tolist() == [0, 0, -1, -1]
    assert made.release([0, 3, 3], source=SeededSource(1)).value in range(4)
    with pytest.raises(ParameterError, match="universe must give at most"):
        InverseLength(epsilon=1, f=sum, n=100, universe=range(100), answers=[0])
