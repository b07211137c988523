from __future__ import annotations

from fractions import Fraction
from math import isinf

import numpy as np
import pytest

from sourdine.central.quantiles.naive import HistogramMethod, bin_edges, counts_below
from sourdine.central.quantiles.points import Points
from sourdine.errors import ParameterError
from sourdine.mechanisms.above_threshold import first_above_law

RELATIONS = ("add_remove", "substitute")


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("q", "steps"), [(0.5, 6), (0.5, 3), (0.2, 6)])
def test_histogram_worst_case(relation, q, steps, holds):
    worst = holds(HistogramMethod(epsilon=1, q=[q], cells=6, relation=relation, steps=steps))
    assert worst.epsilon > 0.65


@pytest.mark.parametrize("relation", RELATIONS)
def test_histogram_of_several_worst_case(relation, holds):
    holds(HistogramMethod(epsilon=2, q=[0.25, 0.5, 0.75], cells=6, relation=relation, steps=6), 1)


@pytest.mark.parametrize(
    ("relation", "x", "y"),
    [("add_remove", [0] * 4 + [5], [0] * 4), ("substitute", [0] * 3 + [5], [0] * 4)],
)
def test_histogram_ten_percent_too_weak_is_rejected(relation, x, y, rejects):
    def make(e):
        return HistogramMethod(epsilon=e, q=[0.5], cells=6, relation=relation, steps=6)

    rejects(make, 1, x, y)


def test_counts_alone_do_not_make_it_monotone():
    """With the private target the answers move both ways: noise for a public one is too little."""
    mechanism = HistogramMethod(epsilon=1, q=[0.5], cells=6, steps=6)
    less = Fraction(2)  # 1/epsilon, in halves: what a range of 1/2 + 1/2 would suggest
    a, b = (
        first_above_law(mechanism.heights(mechanism.read(x), 0), less, less)
        for x in ([0] * 4 + [5], [0] * 4)
    )
    assert a.divergence(b).value > 1.3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("x", "q", "draws"),
    [([], [0.5], 2000), ([0, 0, 3, 5], [0.3], 20_000), ([0, 2, 2], [0.3, 0.7], 4000)],
)
def test_histogram_draws_follow_the_law(x, q, draws, fits):
    fits(HistogramMethod(epsilon=3, q=q, cells=6, steps=6), x, draws=draws)


@pytest.mark.slow
def test_histogram_draws_follow_the_law_with_few_bins(fits):
    mechanism = HistogramMethod(epsilon=3, q=[0.6], cells=20, steps=3, relation="substitute")
    fits(mechanism, [0, 2, 2, 11, 19], draws=4000)


def test_what_is_published():
    """Row C4: the right edge, with the offset; none is the grid's end, not one before it."""
    mechanism = HistogramMethod(epsilon=1, q=[0.2, 0.5, 0.7, 0.9], cells=100, steps=10)
    assert mechanism.published([10, 3, 0, 9]).tolist() == [9, 39, 99, 99]


def test_edges_cover_the_grid():
    for cells, bins in ((6, 6), (100, 7), (3, 8), (1, 1), ((1 << 61) + 1, 1000)):
        edges = bin_edges(cells, bins)
        assert (edges[0], edges[-1]) == (0, cells)
        assert (np.diff(edges) >= 0).all()
    x = Points.of([0, 3, 3, 5], 6)
    assert counts_below(x, bin_edges(6, 6)).tolist() == [0, 1, 1, 1, 3, 3, 4]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("steps", [6, 2])
def test_histogram_error_bound(relation, steps, bounded):
    make = {"q": [0.3, 0.7], "cells": 6, "relation": relation, "steps": steps}
    for x in ([], [2], [0, 3, 3, 5], [0] * 30 + [5] * 9):
        for beta in (0.5, 0.05):
            bounded(HistogramMethod(epsilon=6, **make), x, beta, "bin_error")
    assert isinf(HistogramMethod(epsilon=6, **make).error(0.05)) is (steps < 6)


@pytest.mark.parametrize("relation", RELATIONS)
def test_histogram_survives(relation, survives):
    make = {"epsilon": 1, "q": [0.1, 0.5], "cells": 6, "relation": relation}
    for steps in (1, 4, 6, 50):
        survives(HistogramMethod(**make, steps=steps), seeds=5)


def test_rows_multiply_the_noise():
    one, two = (HistogramMethod(epsilon=1, q=[0.5], cells=6, steps=6, rows=k) for k in (1, 2))
    assert two.scale(0) == 2 * one.scale(0) == 6


def test_bad_steps_are_refused():
    with pytest.raises(ParameterError, match="steps must be at least 1, got 0"):
        HistogramMethod(epsilon=1, q=[0.5], cells=6, steps=0)
