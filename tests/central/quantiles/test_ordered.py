from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import lgamma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourdine.central.quantiles import chain as ordered
from sourdine.central.quantiles.algorithm import Fixed, FreeTotal, OfRecords
from sourdine.central.quantiles.chain import OrderedChain, Slots, _range_log_sums, slots_of
from sourdine.central.quantiles.joint import joint_log_weights
from sourdine.central.quantiles.points import Points
from sourdine.noise import SeededSource

CELLS = 5
lists = st.lists(st.integers(0, CELLS - 1), max_size=8)


def chain(x, lattice, c, half=40, k=1):
    points = Points.of(x, CELLS)
    row = lattice.targets(len(x), [k])
    return OrderedChain(slots_of(points, row, half), row, c, half), row


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(lists, st.lists(st.integers(0, 6), min_size=2, max_size=5), st.sampled_from([0.1, 1.0, 9.0]))
def test_the_total_is_of_the_whole_law(x, gaps, c):
    """All light: the chain adds up exactly what the definition gives."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered, "heavy", lambda _: 100)
        found, row = chain(x, Fixed.of(np.cumsum(gaps).tolist()), c)
    expected = np.logaddexp.reduce(joint_log_weights(Points.of(x, CELLS), row, c)[0])
    assert found.log_total == pytest.approx(expected, abs=1e-11)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(lists)
def test_fractions_of_ranks_count_too(x):
    q = (Fraction(1, 7), Fraction(1, 3), Fraction(4, 5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered, "heavy", lambda _: 100)
        found, row = chain(x, OfRecords(q), 0.7)
    expected = np.logaddexp.reduce(joint_log_weights(Points.of(x, CELLS), row, 0.7)[0])
    assert found.log_total == pytest.approx(expected, abs=1e-11)


def test_a_heavy_atom_counts_a_little_too_often():
    """By (f+k)! / f! (f+1)^k for the k in it: here all, as there is no other cell."""
    m, f = 3, 7
    row = FreeTotal((Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)), 8).targets(f, [1])
    points = Points.of([0] * f, 1)
    found = OrderedChain(slots_of(points, row, 40), row, 0.5, 40)
    law = np.logaddexp.reduce(joint_log_weights(points, row, 0.5)[0])
    often = lgamma(f + m + 1) - lgamma(f + 1) - m * np.log(f + 1)
    assert found.log_total == pytest.approx(law + often, abs=1e-12)
    assert ordered.heavy(m) <= f


@pytest.mark.parametrize("m", [1, 2, 9, 40, 100])
def test_heavy_atoms_are_refused_seldom(m):
    f = ordered.heavy(m)
    assert sum(np.log((f + 1) / (f + i)) for i in range(1, m + 1)) >= -4


def test_windows_cut_slots_by_rank():
    points = Points.of([0, 0, 3, 4, 4], CELLS)
    slots = Slots.between(points, 0, 5)
    assert slots.rank.tolist() == [0, 1, 2, 2, 2, 3, 3, 4, 5]
    assert slots.tick.tolist() == [0, 0, 0, 1, 3, 3, 4, 4, 4]
    assert slots.cells.tolist() == [1, 1, 1, 2, 1, 1, 1, 1, 1]
    assert slots.records.tolist() == [2, 2, 2, 0, 1, 1, 2, 2, 2]
    assert (np.diff(slots.key) > 0).all()
    assert np.exp(slots.log_mass(1)).sum() == pytest.approx(CELLS)
    assert slots.within(2, 3).rank.tolist() == [2, 2, 2, 3, 3]
    assert Slots.between(points, 7, 9).rank.tolist() == []


def test_a_narrow_window_holds_the_tuples_inside():
    """The chain of a window weighs what its rank tuples weigh in the definition."""
    from sourdine.central.quantiles.joint import by_ranks

    x, c = [0, 1, 1, 2, 2, 2, 4, 4], 0.4
    for half in (0, 1, 2, 3):
        found, row = chain(x, FreeTotal((Fraction(1, 4), Fraction(1, 2)), 9), c, half)
        ranks, logs = by_ranks(Points.of(x, CELLS), row, c)
        start = row.T[0, :-1] + row.S[0]
        inside = [(np.abs(np.array(r) - start) <= half).all() for r in ranks]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ordered, "heavy", lambda _: 100)
            found, row = chain(x, FreeTotal((Fraction(1, 4), Fraction(1, 2)), 9), c, half)
        expected = np.logaddexp.reduce(logs[0][:, inside], axis=None)
        assert found.log_total == pytest.approx(expected, abs=1e-12)


def test_draws_are_ordered():
    found, _ = chain(
        [0, 0, 3, 3, 3], FreeTotal((Fraction(1, 9), Fraction(1, 8), Fraction(1, 7)), 5), 0.2
    )
    for seed in range(200):
        drawn = found.draw(SeededSource(seed))
        assert all(b >= a for a, b in pairwise(drawn))


@pytest.mark.slow
@given(st.lists(st.floats(-50, 50), min_size=1, max_size=40), st.data())
def test_sums_over_ranges(x, data):
    n = len(x)
    ends = st.tuples(st.integers(0, n), st.integers(0, n)).map(sorted)
    ranges = np.array(data.draw(st.lists(ends, min_size=1, max_size=5)))
    found = _range_log_sums(np.array(x), ranges[:, 0], ranges[:, 1])
    for total, (a, b) in zip(found, ranges, strict=True):
        expected = np.logaddexp.reduce(x[a:b]) if b > a else -np.inf
        assert total == pytest.approx(expected, abs=1e-12)
