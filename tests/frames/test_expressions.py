"""The operations of engines, computed with NumPy, give the slots of cells."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from sourdine.calendar import FIRST, LAST
from sourdine.frames.cells import Edges, Octaves, Ticks
from sourdine.frames.expressions import bisected, slot
from sourdine.frames.memory import Column, Moments
from sourdine.grid import Grid

INF = float("inf")


class Arrays:
    """A back end for arrays."""

    def constant(self, v):
        return v

    def arithmetic(self, x, sign, v):
        by = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
        return by[sign](x, v)

    def clamp(self, x, lower, upper):
        return np.clip(x, lower, upper)

    def floor(self, x):
        return np.floor(x).astype(np.int64)

    def quotient(self, v, by):
        assert (v >= 0).all()
        return v // by

    def below(self, x, edge, then, otherwise):
        return np.where(x < edge, then, otherwise)

    def rank(self, x, edges):
        return bisected(x, edges, self)

    def octave_number(self, x, grid):
        return np.array([grid.number(v) for v in x.tolist()])


def around(points):
    near = [(p, np.nextafter(p, INF), np.nextafter(p, -INF)) for p in map(float, points)]
    return np.array([x for three in near for x in three] + [INF, -INF, 0.0, -0.0, 5e-324, 1e308])


FLOATS = {
    "halves": Ticks(None, Grid(0, 10, step=1)),
    "tenths": Ticks(None, Grid(-1, 1, step=0.1)),
    "default": Ticks(None, Grid(-3, 0.7)),
    "blocks": Ticks(None, Grid(0, 120, step=1), block=7),
    "octaves": Ticks(None, Octaves()),
    "few octaves": Ticks(None, Octaves(-50, 1000, step=1, bits=2)),
    "blocks of octaves": Ticks(None, Octaves(), block=1000),
    "edges": Edges(None, [-5, 0.1, 0.3, 7, 2**70]),
}


@pytest.mark.parametrize("name", FLOATS)
def test_the_operations_give_the_slots_of_a_cell(name):
    cell = FLOATS[name]
    x = np.concatenate([around(k / 4 * size for k in range(-30, 530)) for size in (1, 1e-7, 1e9)])
    found = slot(cell, x, Arrays(), whole=False)
    assert found.tolist() == cell.slots(Column(x)).tolist()
    assert len(set(found.tolist())) > 2


WHOLE = {
    "ones": Ticks(None, Grid(-20, 100, step=1)),
    "tens": Ticks(None, Grid(-(2**60), -(2**60) + 10**6, step=10)),
    "odd": Ticks(None, Grid(-7, 7 * 10**5, step=7)),
    "blocks": Ticks(None, Grid(-7, 7 * 10**5, step=7), block=5),
    "edges": Edges(None, [-(10**6), -3, 2.5, 11, 10**6, 2**60]),
}


@pytest.mark.parametrize("name", WHOLE)
def test_the_operations_give_the_slots_of_integers(name):
    cell = WHOLE[name]
    v = np.array([b + d for b in (0, -(2**60), 2**60, 10**6) for d in range(-60, 60)], np.int64)
    found = slot(cell, v, Arrays(), whole=True)
    assert found.tolist() == cell.slots(Column(v)).tolist()
    assert len(set(found.tolist())) > 2


TIMES = {
    "days": Ticks(None, Grid("1960-01-01", "2030-12-31")),
    "weeks": Ticks(None, Grid("1969-12-29", "2030-12-30", step="7 days"), block=4),
    "hours": Ticks(None, Grid("1969-12-31T00:00", "1970-01-02T00:00", step="1 h")),
    "edges": Edges(None, ["0001-01-02", "1969-12-31", "1970-01-01", "9999-01-01"]),
}


@pytest.mark.parametrize("name", TIMES)
def test_the_operations_give_the_slots_of_times(name):
    cell = TIMES[name]
    half = 1800 * 10**6
    micros = [b + k * half + d for b in (0, 10**15) for k in range(-60, 60) for d in (-1, 0, 1)]
    t = np.array([*micros, FIRST, LAST], np.int64)
    found = slot(cell, t, Arrays(), whole=True)
    assert found.tolist() == cell.slots(Moments(t, lambda: t)).tolist()
    assert len(set(found.tolist())) > 2
