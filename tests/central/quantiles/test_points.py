from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.central.quantiles import points
from sourdine.central.quantiles.points import NotReadError, Points
from sourdine.noise import SeededSource

CELLS = 9
lists = st.lists(st.integers(0, CELLS - 1), max_size=12)


def exact_masses(x):
    """The masses by the definition, in rationals: the cells' even pieces, one by one."""
    mass = [Fraction(0)] * (len(x) + 1)
    for v in range(CELLS):
        below, f = sum(u < v for u in x), x.count(v)
        for r in range(below, below + f + 1):
            mass[r] += Fraction(1, f + 1)
    return mass


@given(lists)
def test_masses_are_the_even_pieces(x):
    found = Points.of(x, CELLS).masses(0, len(x) + 1)
    assert found == pytest.approx([float(m) for m in exact_masses(x)], rel=1e-15)
    assert sum(exact_masses(x)) == CELLS


@given(lists)
def test_around_gives_the_same_masses(x):
    points = Points.of(x, CELLS)
    for rank, mass in enumerate(exact_masses(x)):
        pieces = points.around(rank)
        assert sum(Fraction(cells, f + 1) for _, cells, f in pieces) == mass
        for tick, cells, f in pieces:
            assert f == x.count(tick)
            assert all(x.count(v) == 0 for v in range(tick, tick + cells)) or cells == 1


@given(lists, st.integers(0, 12), st.integers(0, 12))
def test_masses_of_ranks_that_do_not_exist_are_zero(x, low, more):
    mass = exact_masses(x) + [0] * 30
    found = Points.of(x, CELLS).masses(low - 5, low + more)
    expected = [float(mass[r]) if r >= 0 else 0.0 for r in range(low - 5, low + more)]
    assert found == pytest.approx(expected, rel=1e-15)


@given(lists, st.integers(0, 12), st.integers(1, 12))
def test_masses_of_long_windows_are_those_asked_for(x, low, more):
    """Windows of more than `MANY` records are spread in part: the masses are the same."""
    expected = Points.of(x, CELLS).masses(low, low + more).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(points, "MANY", 0)
        assert Points.of(x, CELLS).masses(low, low + more).tolist() == expected
        first, last = sorted((min(low, len(x)), min(more, len(x))))
        part = Points.of(x, CELLS).cut((first, last), (0, CELLS - 1)).masses(0, last - first + 1)
    whole = Points.of(x, CELLS).cut((first, last), (0, CELLS - 1))
    assert part.tolist() == whole.masses(0, last - first + 1).tolist()
    assert whole == Points.of(sorted(x)[first:last], CELLS)


def test_windows_know_what_the_whole_knows(windowed):
    ticks = np.random.default_rng(5).integers(0, 60, 200)
    whole = Points.of(ticks, 60)
    for low, high in ((0, 10), (3, 3), (50, 90), (0, 200), (150, 200), (199, 200)):
        part, reads = windowed(ticks, 60, [(low, high)])
        assert part.masses(low, high + 1).tolist() == whole.masses(low, high + 1).tolist()
        assert [part.around(r) for r in range(low, high + 1)] == [
            whole.around(r) for r in range(low, high + 1)
        ]
        assert not reads
        assert part.complete().whole


def test_what_was_not_read_is_not_guessed(windowed):
    part, _ = windowed(list(range(50)), 60, [(10, 20)])
    with pytest.raises(NotReadError):
        part.masses(0, 12)
    with pytest.raises(NotReadError):
        part.around(40)


def test_a_cell_is_drawn_by_its_mass():
    points, source = Points.of([0, 0, 4, 4, 4], 9), SeededSource(1)
    drawn = [points.cell(2, source=source) for _ in range(8000)]
    shares = {0: 1 / 3, 1: 1, 2: 1, 3: 1, 4: 1 / 4}
    for tick, share in shares.items():
        seen = sum(t == tick for t, _ in drawn)
        expected = 8000 * share / sum(shares.values())
        assert abs(seen - expected) < 6.1 * expected**0.5
    assert {f for t, f in drawn if t == 0} == {2}
    assert {f for t, f in drawn if t == 4} == {3}


def test_missing_values_are_left_out():
    points = Points.of([3, -1, 0, -1], 9)
    assert (points.n, list(points), len(points)) == (2, [0, 3], 2)
    assert Points.of([], 9).masses(0, 1).tolist() == [9.0]


@given(lists, st.integers(0, 12), st.integers(0, 12))
def test_span_bounds_the_mass(x, a, b):
    low, high = sorted((min(a, len(x)), min(b, len(x))))
    bound = Points.of(x, CELLS).span(np.array([low]), np.array([high]))[0]
    assert bound >= float(sum(exact_masses(x)[low : high + 1])) - 1e-12


def test_below():
    three = Points.of([2, 2, 5], 9)
    assert three.below([0, 2, 3, 5, 6]).tolist() == [0, 0, 2, 2, 3]
