"""Ranges of ticks as intervals of raw values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourdine.frames.cells import Octaves, Ticks, inside, joined
from sourdine.frames.memory import Column
from sourdine.frames.sql import float_intervals, whole_intervals
from sourdine.grid import Grid

GRIDS = (
    Grid(0, 10, step=1),
    Grid(-5, 5, step=0.1),
    Grid(0, 1),
    Grid(2**53 - 4, 2**53 + 4, step=1),
    Grid(-(2**63), 2**64, step=2**20),
    Grid(-1e300, 1e300, step=1e297),
    Octaves(),
    Octaves(-5, None, bits=4),
)


def held(x, intervals):
    """Which values lie in one of the intervals."""
    out = np.zeros(len(x), bool)
    for low, high in intervals:
        out |= np.array([(low is None or v >= low) and (high is None or v < high) for v in x])
    return out


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("block", [1, 3])
@pytest.mark.parametrize("grid", GRIDS, ids=str)
@settings(max_examples=20)
@given(data=st.data())
def test_intervals_hold_what_the_ranges_hold(grid, block, data):
    cell = Ticks("x", grid, block=block)
    ends = st.integers(0, cell.size) | st.integers(max(cell.size - 3, 0), cell.size)
    ranges = joined(data.draw(st.lists(st.tuples(ends, ends), min_size=1, max_size=4)), cell.size)
    found = float_intervals(cell, ranges)
    near = [
        np.nextafter(e, s) for pair in found for e in pair if e is not None for s in (-np.inf, e)
    ]
    some = data.draw(st.lists(st.floats(allow_nan=False), max_size=6))
    x = np.array([*near, *some, np.inf, -np.inf, 0.0, -0.0, 5e-324, 4.5, 2.0**53])
    assert held(x, found).tolist() == inside(cell.slots(Column(x)), ranges).tolist()
    whole = whole_intervals(cell, ranges)
    ends = [e for pair in whole for e in pair if e is not None]
    near = [e + s for e in ends for s in (-1, 0) if -(2**63) <= e + s < 2**64]
    x = np.array([*near, *data.draw(st.lists(st.integers(-(2**63), 2**64 - 1))), 0, 7], object)
    assert held(x, whole).tolist() == inside(cell.slots(Column(x)), ranges).tolist()
