"""The engines' arithmetic is the grid's, bit for bit."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sourdine.frames.cells import Edges, Ticks
from sourdine.frames.frame import Frame
from sourdine.frames.memory import Column
from sourdine.frames.reading import read_number
from sourdine.grid import MISSING, Grid

CONNECTION = duckdb.connect()
INF = float("inf")


def relation(values, kind):
    return CONNECTION.sql("SELECT unnest($v) AS x", params={"v": duckdb.Value(values, f"{kind}[]")})


@st.composite
def grids(draw, *, whole=False):
    step = draw(
        st.integers(1, 10**6).map(Fraction)
        if whole
        else st.one_of(
            st.fractions(Fraction(1, 10**6), 10**6),
            st.integers(-60, 60).map(lambda e: Fraction(2) ** e),
            st.decimals("0.0001", 1000, places=4).map(Fraction),
        )
    )
    reach = 2**62 if whole else 2**50
    ends = st.one_of(st.integers(-reach, reach), st.sampled_from([-(2**60), 2**60, 2**53 + 1]))
    lower = draw(ends.map(Fraction) if whole else st.fractions(-1000, 1000))
    return Grid(lower, lower + step * draw(st.integers(1, 2**40)), step=step)


def near(grid, draw_ticks, offsets):
    """Values at ties, lattice points and a hair's breadth around them."""
    at = [
        float(grid.lower + grid.step * (Fraction(t) + f))
        for t, f in zip(draw_ticks, offsets, strict=True)
    ]
    return [v for x in at for v in (x, np.nextafter(x, np.inf), np.nextafter(x, -np.inf))]


HALVES = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(-1, 2), Fraction(1, 4)])


@pytest.mark.slow
@settings(max_examples=25)
@given(st.data())
def test_sql_snaps_like_the_grid(data):
    grid = data.draw(grids())
    ticks = data.draw(st.lists(st.integers(-2, grid.last + 2), min_size=1, max_size=12))
    offsets = data.draw(st.lists(HALVES, min_size=len(ticks), max_size=len(ticks)))
    values = near(grid, ticks, offsets) + data.draw(st.lists(st.floats(), max_size=8))
    expected = sorted(grid.ticks(np.array(values), missing=MISSING).tolist())
    for frame in (
        Frame(relation([float(v) for v in values], "DOUBLE")),
        Frame(pl.DataFrame({"x": np.array(values)}).lazy()),
        Frame(np.array(values)),
    ):
        assert unrolled(frame, Ticks("x" if "x" in frame.columns else None, grid)) == expected


@pytest.mark.slow
@settings(max_examples=25)
@given(st.data())
def test_sql_snaps_whole_numbers_like_the_grid(data):
    grid = data.draw(grids(whole=True))
    lower, step = int(grid.lower), int(grid.step)
    ticks = data.draw(st.lists(st.integers(-2, grid.last + 2), min_size=1, max_size=12))
    around = [lower + t * step + step // 2 + d for t in ticks for d in (-1, 0, 1)]
    values = [v for v in around if -(2**63) <= v < 2**63]
    values += data.draw(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=8))
    expected = sorted(grid.ticks(np.array(values, np.int64), missing=MISSING).tolist())
    texts = [str(v) for v in values]
    for frame in (
        Frame(relation(values, "BIGINT")),
        Frame(relation(texts, "VARCHAR")),
        Frame(relation(values, "HUGEINT")),
        Frame(pl.DataFrame({"x": values}, schema={"x": pl.Int64}).lazy()),
        Frame({"x": texts}),
    ):
        assert unrolled(frame, Ticks("x", grid)) == expected


def unrolled(frame, cell):
    tally = frame.tally(cell)
    return [-1] * tally.missing + np.repeat(tally.ticks, tally.tallied).tolist()


BOUNDS = st.tuples(st.floats(-1e9, 0), st.floats(1e-9, 1e9)).map(lambda ends: Grid(*ends))


@pytest.mark.slow
@given(st.lists(st.floats(), max_size=30), st.one_of(grids(), BOUNDS))
@example([INF, 0.7], Grid(0, 0.7))
def test_ticks_snap_like_the_grid(values, grid):
    x = np.array(values, np.float64)
    assert (Ticks(None, grid).slots(Column(x)) == grid.ticks(x, missing=MISSING)).all()
    assert grid.ticks(x, missing=MISSING).tolist() == [snapped(v, grid) for v in values]
    there = [v for v in values if v == v]  # noqa: PLR0124
    total = sum(snapped(v, grid) for v in there)
    assert grid.sum_of_floats(np.array(there, np.float64)) in {total, None}
    assert Ticks(None, grid).moments_of(Column(x), 1) == [len(there), total]
    with np.errstate(over="ignore"):
        narrow = x.astype(np.float32)
    assert (grid.ticks(narrow) == grid.ticks(narrow.astype(float))).all()


def snapped(value, grid):
    """One value in Python's floats: what all kernels must return, to the last bit."""
    if value != value:  # noqa: PLR0124
        return MISSING
    lower, upper, step = float(grid.lower), float(grid.upper), float(grid.step)
    return min(floor((min(max(value, lower), upper) - lower) / step + 0.5), grid.last)


TEXTS = st.one_of(
    st.text("0123456789+-.eE_ xXnaifNIty\t\n\r\f\v,'", max_size=12),
    st.floats().map(repr),
    st.integers(-(10**45), 10**45).map(str),
    st.text(max_size=4),
)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_sql_reads_texts_like_python(texts):
    texts = [t.replace("\0", "") for t in texts]
    for grid in (Grid(-100, 100, step=0.25), Grid(-(10**17), 10**17, step=1)):
        both = ({"x": texts}, relation(texts, "VARCHAR"))
        want, got = (unrolled(Frame(f), Ticks("x", grid)) for f in both)
        assert got == want


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.lists(st.fractions(-(10**20), 10**20), min_size=2, max_size=9, unique_by=float),
    st.lists(st.floats(), max_size=9),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=9),
)
def test_sql_sorts_into_bins_like_exact_comparison(edges, floats, wholes):
    cell = Edges("x", sorted(edges))
    floats = floats + [float(e) for e in edges]
    wholes = wholes + [v for e in edges if -(2**63) <= (v := round(e)) < 2**63]
    for values, kind in (
        (floats, "DOUBLE"),
        (wholes, "BIGINT"),
        ([str(v) for v in wholes], "VARCHAR"),
    ):
        read = [read_number(v) for v in values]
        want = sorted(-1 if v is None else sum(v >= e for e in cell.inner) for v in read)
        assert unrolled(Frame(relation(values, kind)), cell) == want
        assert unrolled(Frame({"x": values}), cell) == want
