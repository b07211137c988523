from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

from sourdine import noise
from sourdine.audit import p_value
from sourdine.audit.exhaustive import ALPHA
from sourdine.central.quantiles import points as ranked
from sourdine.central.quantiles import tree as trees
from sourdine.central.quantiles.naive import bin_edges, counts_below
from sourdine.central.quantiles.points import Points
from sourdine.central.quantiles.tree import Tree, consistent, tick_shape
from sourdine.errors import ParameterError
from sourdine.grid import Grid
from sourdine.mechanisms.laplace import laplace_law
from sourdine.noise import SeededSource

RELATIONS = ("add_remove", "substitute")


def worst_loss(mechanism, inputs):
    """The greatest L1 distance of the counts of all neighbours, over the scale: exactly."""
    worst = (Fraction(0), "")
    for x in inputs:
        points = mechanism.read(x)
        for other in mechanism.neighbours(points):
            moved = int(np.abs(mechanism.counts(points) - mechanism.counts(other)).sum())
            worst = max(worst, (moved / mechanism.scale, f"{x} | {list(other)}"))
    return worst


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("b", "h"), [(2, 2), (2, 3), (6, 1)])
def test_tree_worst_case(relation, b, h, inputs):
    made = Tree(epsilon=1, q=[0.5], cells=6, relation=relation, branching=b, height=h)
    loss, pair = worst_loss(made, inputs(6, 3))
    assert loss == 1, pair


@pytest.mark.parametrize("relation", RELATIONS)
def test_tree_ten_percent_too_weak_is_rejected(relation, inputs):
    made = Tree(epsilon=1.1, q=[0.5], cells=6, relation=relation, branching=2, height=2)
    loss, pair = worst_loss(made, inputs(6, 1))
    assert loss > 1
    assert pair == {"add_remove": "[] | [5]", "substitute": "[5] | [2]"}[relation]


def test_rows_multiply_the_noise():
    one, two = (Tree(epsilon=1, q=[0.5], cells=6, rows=k) for k in (1, 2))
    assert two.scale == 2 * one.scale == 6


@pytest.mark.parametrize("cells", [2, 121, 1000, 5000, 60_000, 1 << 60])
def test_counts_are_differences_of_ranks(cells, monkeypatch):
    monkeypatch.setattr(trees, "A_BLOCK", 100)  # leaves and their parents lie in several blocks
    b, h = tick_shape(cells) if cells < 1 << 22 else (16, 3)
    made = Tree(epsilon=1, q=[0.5], cells=cells, branching=b, height=h)
    for n in (0, 1, 3000):
        x = Points.of(np.random.default_rng(n).integers(0, cells, n), cells)
        below = counts_below(x, bin_edges(cells, made.leaves))
        expected = [np.diff(below[:: b ** (h - k)]) for k in range(1, h + 1)]
        assert np.array_equal(made.counts(x), np.concatenate(expected))


@pytest.mark.parametrize("cells", [500, 5000])
def test_counts_are_the_same_from_records_in_order(cells, monkeypatch):
    """A large grid's atoms are found block by block, and blocks may end inside of one."""
    monkeypatch.setattr(ranked, "COARSE", 1)
    monkeypatch.setattr(trees, "A_BLOCK", 7)
    made = Tree(epsilon=1, q=[0.5], cells=cells, branching=11, height=3)
    for n in (0, 1, 300):
        ticks = np.random.default_rng(n).integers(0, 40, n) * (cells // 40)
        x = ranked.points_of_array(ticks.astype(float), Grid(0, cells - 1, step=1))
        assert x.windows[0]._records is not None
        assert np.array_equal(made.counts(x), made.counts(Points.of(ticks, cells)))
        assert x.windows[0]._records is not None
        assert x == Points.of(ticks, cells)


def test_counts_that_pass_64_bits_end_there():
    made = Tree(epsilon=Fraction(1, 1 << 50), q=[0.5], cells=4, branching=2, height=2)
    noisy = np.array([1 << 62, -5, 3, 4, 5, 6])
    most = np.iinfo(np.int64).max
    noisy[[0, 2]] = most
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(noise, "discrete_laplace", lambda *_, **__: noisy.copy())
        drawn = made.one(made.read([0, 0, 3]), SeededSource(1))
    assert drawn.tolist() == [most, -4, most, 4, 5, 7]


@pytest.mark.parametrize(
    ("cells", "n", "epsilon"),
    [
        (2, 5, 1), (121, 0, 1), (121, 50_000, 0.1), (1000, 50, 0.1), (5000, 50_000, 1),
        (5000, 50_000, 100), (60_000, 10, 1), (60_000, 200_000, 1),
    ],
)  # fmt: skip
def test_steps_are_found_without_all_sums(cells, n, epsilon, monkeypatch):
    monkeypatch.setattr(trees, "AT_ONCE", 20)
    b, h = tick_shape(cells)
    made = Tree(epsilon=epsilon, q=[0.5], cells=cells, branching=b, height=h)
    place = np.random.default_rng(n).normal(cells / 2, cells / 6, n)
    x = made.read(np.clip(place, 0, cells - 1).astype(int))
    edges = bin_edges(cells, made.leaves)
    for seed in range(3):
        drawn = made.one(x, SeededSource(seed))
        sums = made.running_sums(drawn.astype(float))
        leaf, some = trees.around_steps(drawn, b, h)
        assert some == pytest.approx(sums[leaf], abs=1e-6)
        kept, expected = (
            trees._thinned(edges[i], y, cells) for i, y in ((leaf, some), (..., sums))
        )
        assert np.array_equal(kept["knots"], expected["knots"])
        assert np.array_equal(kept["below"], expected["below"])


def test_counts_are_of_all_levels():
    made = Tree(epsilon=1, q=[0.5], cells=8, branching=2, height=3)
    counts = made.counts(made.read([0, 0, 3, 6, 7, 7]))
    assert counts.tolist() == [3, 3, 2, 1, 0, 3, 2, 0, 0, 1, 0, 0, 1, 2]


@pytest.mark.slow
def test_tree_draws_follow_the_law():
    made = Tree(epsilon=1, q=[0.5], cells=6, branching=3, height=2)
    x = made.read([0, 0, 4, 5])
    drawn = made.simulate(x, 1700, source=SeededSource(1)) - made.counts(x)
    law = laplace_law(0, made.scale)
    assert p_value(drawn.ravel(), law) >= ALPHA
    assert p_value(drawn.ravel(), laplace_law(0, made.scale * Fraction(6, 5))) < ALPHA
    assert np.abs(np.corrcoef(drawn.T) - np.eye(12)).max() < 0.15


def test_consistent_is_least_squares():
    b, h, rng = 3, 3, np.random.default_rng(1)
    rows = [np.kron(np.eye(b**k), np.ones(b ** (h - k))) for k in range(1, h + 1)]
    design = np.vstack(rows)
    y = rng.normal(size=len(design))
    expected = np.linalg.lstsq(design, y, rcond=None)[0]
    assert consistent(y, b, h) == pytest.approx(expected, abs=1e-10)


def test_without_noise_the_quantiles_are_right():
    made = Tree(epsilon=1, q=[0.1, 0.5, 0.9], cells=4096 * 4)
    ticks = np.arange(0, 4096 * 4)
    value = made.published(made.counts(made.read(ticks)))
    assert np.abs(value - np.array([0.1, 0.5, 0.9]) * 4096 * 4).max() <= 1


def test_many_quantiles_cost_as_one():
    few, many = (
        Tree(epsilon=1, q=[Fraction(j, m + 1) for j in range(1, m + 1)], cells=1 << 20)
        for m in (1, 999)
    )
    assert few.scale == many.scale


def test_tree_error_bound():
    made = Tree(epsilon=1, q=[0.1, 0.5, 0.9], cells=1 << 16, branching=16, height=2)
    x = made.read(np.random.default_rng(3).integers(0, 1 << 16, 600))
    drawn = made.simulate(x, 100, source=SeededSource(1))
    losses = made.loss(x, drawn)
    assert losses.max() <= made.bin_error(0.05)
    assert np.quantile(losses, 0.95) > made.bin_error(0.05) / 25
    assert made.error(0.05) == inf
    assert Tree(epsilon=1, q=[0.5], cells=64, branching=8, height=2).error(0.05) < inf


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("b", "h"), [(16, 3), (2, 2), (7, 1)])
def test_tree_survives(relation, b, h, survives):
    make = {"epsilon": 1, "q": [0.1, 0.5], "cells": 6, "relation": relation}
    survives(Tree(**make, branching=b, height=h), seeds=5)


def test_no_records_are_in_the_middle():
    made = Tree(epsilon=1, q=[0.5], cells=100, branching=10, height=1)
    assert made.published(np.zeros(10)).tolist() == [45]
    assert made.published(np.full(10, -5)).tolist() == [45]


def test_windowed_points_are_read_whole(windowed):
    part, reads = windowed(list(range(50)), 50, [(10, 12)])
    made = Tree(epsilon=1, q=[0.5], cells=50)
    assert made.counts(part).tolist() == made.counts(Points.of(range(50), 50)).tolist()
    assert reads


def test_bad_parameters_are_refused():
    with pytest.raises(ParameterError, match="branching must be at least 2, got 1"):
        Tree(epsilon=1, q=[0.5], cells=6, branching=1)
    with pytest.raises(ParameterError, match=r"height must leave at most .* got 30 levels of 16"):
        Tree(epsilon=1, q=[0.5], cells=6, height=30)


def test_the_law_has_a_factor_for_each_node():
    tree = Tree(epsilon=1, q=[0.5], cells=6, branching=2, height=2)
    points = Points.of([0, 0, 4], 6)
    law, counts = tree.law(points), tree.counts(points)
    assert len(law.factors) == len(counts)
    for factor, count in zip(law.factors, counts.tolist(), strict=True):
        pmf = factor.pmf(np.arange(count - 40, count + 41))
        assert np.argmax(pmf) == 40
        assert np.allclose(pmf, pmf[::-1])


@pytest.mark.slow
def test_planned_errors_of_few_orders_are_those_of_draws():
    q, n = [k / 10 for k in range(1, 10)], 121_000
    tree = Tree(epsilon=1, q=q, cells=121, branching=11, height=2)
    true = tree.counts(Points.of(np.repeat(np.arange(121), 1000), 121))
    goals, errors = n * np.array(q), []
    for seed in range(400):
        drawn = true + noise.discrete_laplace(tree.scale, len(true), source=SeededSource(seed))
        sums = tree.running_sums(drawn.astype(float))
        ranks = np.interp(np.array(q) * sums[-1], sums, 1000 * np.arange(122))
        errors.append(np.abs(ranks - goals).max())
    assert np.quantile(errors, 0.95) * 0.85 < tree.expected(0.05) < np.quantile(errors, 0.95) * 1.15
    assert tree.expected(0.05) < 0.7 * tree.error(0.05)
