from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from math import ceil, inf

import numpy as np
import pytest

from sourdine.central.quantiles.independent import InverseSensitivity
from sourdine.errors import ParameterError

RELATIONS = ("add_remove", "substitute")


def lengths(mechanism, x, j=0):
    """len of every cell, from the runs."""
    runs = mechanism.runs(mechanism.read(x), j)
    return np.repeat(runs.distance, np.diff(runs.start, append=mechanism.cells))


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("q", "rho"), [([0.5], 0), ([0.9], 0), ([0.5], 1), ([0.3], 2)])
def test_inverse_sensitivity_worst_case(relation, q, rho, holds):
    holds(InverseSensitivity(epsilon=1, q=q, cells=6, relation=relation, rho=rho))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("relation", RELATIONS)
def test_inverse_sensitivity_of_several_worst_case(relation, holds):
    holds(InverseSensitivity(epsilon=1, q=[0.25, 0.5, 0.75], cells=6, relation=relation), 2)


@pytest.mark.parametrize(
    ("relation", "rho", "x", "y"),
    [
        ("add_remove", 0, [1, 1, 99], [1, 1, 99, 99]),
        ("substitute", 0, [98, 98, 98], [0, 98, 98, 98]),
        ("add_remove", 2, [0, 1], [0]),
        ("substitute", 2, [0, 0, 6, 99], [0, 6, 99, 99]),
    ],
)
def test_inverse_sensitivity_ten_percent_too_weak_is_rejected(relation, rho, x, y, rejects):
    def make(e):
        return InverseSensitivity(epsilon=e, q=[0.5], cells=100, relation=relation, rho=rho)

    rejects(make, 1, x, y)


@pytest.mark.parametrize("q", [0.3, 0.5, 0.9])
def test_len_is_the_number_of_records_to_change(q):
    """By brute force: the fewest records to change so that record number k lies in the cell."""
    cells, n = 4, 4
    mechanism = InverseSensitivity(epsilon=1, q=[q], cells=cells, relation="substitute")
    k = ceil(Fraction(str(q)) * n)
    multisets = list(combinations_with_replacement(range(cells), n))
    everything = [np.bincount(y, minlength=cells) for y in multisets]
    quantile = [int(np.searchsorted(np.cumsum(y), k)) for y in everything]
    for x in multisets:
        counts = np.bincount(x, minlength=cells)
        fewest = [n] * cells
        for y, v in zip(everything, quantile, strict=True):
            fewest[v] = min(fewest[v], int(np.maximum(y - counts, 0).sum()))
        assert lengths(mechanism, list(x)).tolist() == fewest


@pytest.mark.parametrize("relation", RELATIONS)
def test_smoothing_is_the_least_within_rho(relation, inputs):
    for rho in (1, 2, 4):
        plain, smooth = (
            InverseSensitivity(epsilon=1, q=[0.3], cells=6, relation=relation, rho=r)
            for r in (0, rho)
        )
        for x in inputs(6, 3):
            d = lengths(plain, x)
            least = [d[max(v - rho, 0) : v + rho + 1].min() for v in range(6)]
            assert lengths(smooth, x).tolist() == least


def test_add_remove_distance_is_in_ranks():
    mechanism = InverseSensitivity(epsilon=1, q=[Fraction(1, 3)], cells=6)
    assert lengths(mechanism, [0, 1, 1, 4]).tolist() == [1, 0, 5, 5, 5, 8]  # thirds of a rank
    assert mechanism.decay(0) == Fraction(3, 4)


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("x", "rho", "draws"), [([], 0, 2000), ([0, 0, 3, 5], 0, 10_000), ([0, 0, 3, 5, 5], 1, 4000)]
)
def test_inverse_sensitivity_draws_follow_the_law(relation, x, rho, draws, fits):
    mechanism = InverseSensitivity(epsilon=2, q=[0.4], cells=6, relation=relation, rho=rho)
    fits(mechanism, x, draws=draws // (1 + (relation == "substitute")))


@pytest.mark.slow
def test_inverse_sensitivity_of_several_draws_follow_the_law(fits):
    fits(InverseSensitivity(epsilon=2, q=[0.4, 0.8], cells=6), [0, 2, 5], draws=3000)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rho", [0, 1])
def test_inverse_sensitivity_error_bound(relation, rho, bounded):
    mechanism = InverseSensitivity(epsilon=6, q=[0.3, 0.7], cells=6, relation=relation, rho=rho)
    for x in ([], [2], [0, 3, 3, 5], list(range(6)) * 8, [0] * 30 + [5] * 9):
        for beta in (0.5, 0.05):
            bounded(mechanism, x, beta, "smooth_error")
    assert mechanism.error(0.05) == (inf if rho else mechanism.smooth_error(0.05))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rho", [0, 1, 100])
def test_inverse_sensitivity_survives(relation, rho, survives):
    mechanism = InverseSensitivity(epsilon=1, q=[0.1, 0.5], cells=6, relation=relation, rho=rho)
    survives(mechanism, seeds=5)


def test_rows_divide_the_decay():
    one, two = (InverseSensitivity(epsilon=1, q=[0.5], cells=6, rows=k) for k in (1, 2))
    assert two.decay(0) == one.decay(0) / 2


def test_an_order_of_many_digits_does_not_overflow():
    mechanism = InverseSensitivity(epsilon=1, q=[0.123456789012345], cells=6)
    assert abs(mechanism.order(0) - mechanism.orders[0]) < 1e-8
    assert mechanism.order(0).denominator <= 1 << 24


def test_bad_rho_is_refused():
    with pytest.raises(ParameterError, match="rho must be at least 0, got -1"):
        InverseSensitivity(epsilon=1, q=[0.5], cells=6, rho=-1)
