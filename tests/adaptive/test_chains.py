"""How fast a chain forgets: its stationary law, and the norm of its operator."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sourdine.adaptive.ledger.dependence import Markov, second_eigenvalue, stationary
from sourdine.errors import ParameterError

CYCLE = np.roll(np.eye(3), 1, axis=1) * 0.8 + np.eye(3) * 0.2
UNEVEN = np.array([[0.1, 0.6, 0.3], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])


def test_second_eigenvalue_by_hand():
    assert second_eigenvalue([[0.9, 0.1], [0.3, 0.7]]) == pytest.approx(0.6)
    assert second_eigenvalue([[0.1, 0.9], [0.9, 0.1]]) == pytest.approx(0.8)
    # one turn of three with a rest: P is normal, its other eigenvalues 0.2 + 0.8 exp(2 pi i/3)
    expected = abs(0.2 + 0.8 * np.exp(2j * np.pi / 3))
    assert second_eigenvalue(CYCLE) == pytest.approx(expected)
    assert second_eigenvalue(np.roll(np.eye(3), 1, axis=1)) == pytest.approx(1)
    assert second_eigenvalue([[1.0]]) == 0


def test_the_norm_counts_where_all_other_eigenvalues_are_zero():
    """Two last tosses of a coin: the older one was the younger one a step before."""
    last_two = [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5], [0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]
    assert np.abs(np.linalg.eigvals(np.array(last_two) - 0.25)).max() < 1e-6
    assert second_eigenvalue(last_two) == pytest.approx(1)


def test_states_left_for_good_do_not_count():
    matrix = [[0.5, 0.25, 0.25], [0, 0.9, 0.1], [0, 0.3, 0.7]]
    assert stationary(matrix).tolist() == pytest.approx([0, 0.75, 0.25])
    assert second_eigenvalue(matrix) == pytest.approx(0.6)


def test_stationary_law_of_a_steep_chain():
    size, down = 12, 1e-3
    steps = np.zeros((size, size))
    for x in range(size):
        steps[x, min(x + 1, size - 1)] += down
        steps[x, max(x - 1, 0)] += 1 - down
    pi = stationary(steps)
    assert pi[1:] / pi[:-1] == pytest.approx(np.full(size - 1, down / (1 - down)), rel=1e-12)
    assert pi @ steps == pytest.approx(pi, rel=1e-12)


@pytest.mark.parametrize("matrix", [CYCLE, UNEVEN, [[0.9, 0.1], [0.3, 0.7]]])
def test_variance_is_within_the_inflation(matrix):
    """Var q(S) of 40 rows, exactly, for many queries: never above (1 + l)/(1 - l)."""
    steps, pi, n = np.asarray(matrix), stationary(matrix), 40
    inflation = Markov(second_eigenvalue(matrix)).inflation
    worst = 0.0
    for query in product(np.linspace(0, 1, 5), repeat=len(pi)):
        f = np.array(query) - pi @ query
        if (variance := pi @ f**2) < 1e-9:
            continue
        covariances = [pi @ (f * (np.linalg.matrix_power(steps, k) @ f)) for k in range(n)]
        total = covariances[0] + 2 * sum((1 - k / n) * covariances[k] for k in range(1, n))
        worst = max(worst, total / variance)
    assert worst <= inflation + 1e-9
    if len(pi) == 2:
        assert worst > 0.9 * inflation


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        ([[0.5, 0.5]], "matrix must be square"),
        ([[0.5, 0.4], [0, 1]], "matrix must be square"),
        (np.eye(2), "a single stationary distribution"),
    ],
)
def test_bad_matrices(matrix, text):
    for read in (stationary, second_eigenvalue):
        with pytest.raises(ParameterError, match=text):
            read(matrix)
