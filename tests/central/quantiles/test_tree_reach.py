from __future__ import annotations

import numpy as np
import pytest

from sourdine.central.quantiles.methods import chosen, made
from sourdine.central.quantiles.tree import MOST_TICKS, Tree, consistent, reach, tick_shape
from sourdine.errors import ParameterError
from sourdine.noise import SeededSource


def drawn_reaches(b, h, samples, seed=1):
    rng, size = np.random.default_rng(seed), sum(b**k for k in range(1, h + 1))
    for _ in range(samples):
        sums = np.cumsum(consistent(rng.laplace(size=size), b, h))
        yield max(np.abs(sums).max(), np.abs(sums - sums[-1]).max(), abs(sums[-1]))


@pytest.mark.slow
@pytest.mark.parametrize(("b", "h"), [(2, 2), (5, 2), (14, 2), (6, 3), (9, 3)])
def test_reach_of_a_tree_is_that_of_its_noise(b, h):
    found = np.fromiter(drawn_reaches(b, h, 4000), float)
    for beta in (0.5, 0.1, 0.05):
        assert np.mean(found > reach(b, h, beta)) <= beta + 3 * (beta / 4000) ** 0.5
        assert np.mean(found > reach(b, h, beta) / 1.15) > beta


@pytest.mark.slow
def test_rare_noise_of_a_tree_stays_within_its_reach():
    found = np.fromiter(drawn_reaches(4, 2, 30_000), float)
    for beta in (5e-3, 1e-3):
        assert np.mean(found > reach(4, 2, beta)) < beta
    assert reach(4, 2, 1e-6) > reach(4, 2, 1e-3) > reach(4, 2, 0.01)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("ticks", [1, 2, 3, 17, 256, 257, 4097, 200_001, 10**6, MOST_TICKS])
def test_every_tick_has_a_leaf(ticks):
    b, h = tick_shape(ticks)
    assert ticks <= b**h <= max(8, 1.6 * ticks)
    assert np.isfinite(reach(b, h, 0.05))
    assert Tree(epsilon=1, q=[0.5], cells=ticks, branching=b, height=h).error(0.05) < 1000


def test_shapes_that_were_never_sampled_are_bounded_as_before():
    tree = Tree(epsilon=1, q=[0.5], cells=4, branching=2, height=7)
    assert reach(2, 7, 0.05) == np.inf
    assert tree.error(0.05) == tree.bin_error(0.05)


def test_a_trees_rank_errors_stay_within_its_reach():
    tree = Tree(epsilon=1, q=[j / 100 for j in range(1, 100)], cells=256, branching=16, height=2)
    x = tree.read(np.random.default_rng(4).integers(0, 256, 20_000) // 3 * 3)
    rows = np.array(tree.many(x, 400, SeededSource(2)))
    assert np.mean(tree.loss(x, rows) > tree.error(0.1)) <= 0.15


def test_no_leaf_is_wider_than_a_tick():
    common = {"epsilon": 1, "q": (0.5,), "relation": "add_remove", "rows": 1}
    for cells in (5, 5000, MOST_TICKS):
        tree = made("tree", {**common, "cells": cells}, delta=0, records=None)
        assert tree.leaves >= cells
    with pytest.raises(ParameterError, match="method must not be 'tree' for more than"):
        made("tree", {**common, "cells": MOST_TICKS + 1}, delta=0, records=None)
    for m in (2, 50, 500, 5000, 10**6):
        assert chosen(m, MOST_TICKS + 1, 1.0, None, substitutes=False) != "tree"
