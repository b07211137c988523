"""Blocks: neighbouring ticks in one slot, edges of bins, and rows that are counted in parts."""

from bisect import bisect_right
from math import inf, isnan, nan, nextafter
from threading import get_ident

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sourdine import Grid
from sourdine.errors import ParameterError
from sourdine.frames import memory
from sourdine.frames.cells import Codes, Edges, FloatBins, Ticks
from sourdine.frames.frame import Frame
from sourdine.frames.memory import Column
from sourdine.grid import MISSING

VALUES = [0.0, 1.4, 1.6, 2.5, 9.49, 9.5, 10.0, 55.0, -3.0, float("nan"), float("inf"), None]
WHOLE = [0, 1, 2, 3, 9, 10, 55, -3, None, 2**53 + 1]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks")
    pl.DataFrame({"x": VALUES}, strict=False).write_parquet(folder / "x.parquet")
    pd.DataFrame({"x": VALUES}).to_csv(folder / "x.csv", index=False)
    return folder


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("block", [1, 2, 3, 7, 100])
def test_blocks_are_the_same_on_every_engine(files, block):
    cell = Ticks("x", Grid(0, 20, step=0.5), block=block)
    array = np.array([np.nan if v is None else v for v in VALUES])
    ticks = cell.grid.ticks(array[~np.isnan(array)]) // block
    expected = np.append(np.bincount(ticks, minlength=cell.size), 2)
    relation = duckdb.read_parquet(str(files / "x.parquet"))
    for data in (
        pd.DataFrame({"x": VALUES}),
        pl.DataFrame({"x": VALUES}, strict=False),
        pl.LazyFrame({"x": VALUES}, strict=False),
        files / "x.parquet",
        files / "x.csv",
        relation,
    ):
        assert Frame(data).tally(cell).counts.tolist() == expected.tolist(), type(data)


@pytest.mark.parametrize("block", [1, 3])
def test_blocks_of_whole_numbers(block):
    cell = Ticks("x", Grid(0, 20, step=1), block=block)
    present = [min(max(v, 0), 20) // block for v in WHOLE if v is not None]
    expected = [*np.bincount(present, minlength=cell.size).tolist(), 1]
    frame = pl.DataFrame({"x": pl.Series(WHOLE, dtype=pl.Int64)})
    for data in (frame, frame.lazy(), duckdb.sql("SELECT * FROM frame")):
        assert Frame(data).tally(cell).counts.tolist() == expected


BINNED = st.one_of(
    st.tuples(st.integers(1, 60), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)).map(
        lambda even: [even[1] + even[2] * i for i in range(even[0] + 1)]
    ),
    st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=9, unique=True).map(sorted),
)


@given(BINNED, st.lists(st.floats(), max_size=20))
def test_bins_of_floats_are_those_of_a_bisection(edges, values):
    edges = sorted(set(edges))
    assume(len(edges) > 1)
    near = [nextafter(e, to) for e in edges for to in (-inf, inf)]
    x = np.array([*values, *edges, *near, inf, -inf, nan])
    cell = Edges(None, edges)
    expected = [MISSING if isnan(v) else bisect_right(cell.floats(), v) for v in x]
    assert cell.slots(Column(x)).tolist() == expected


def test_even_bins_are_guessed_and_others_bisected():
    assert FloatBins([0.1 * i for i in range(100)]).line
    assert FloatBins([-1e300, 1e300, 1.5e300]).line is None
    assert FloatBins([0.0, 1.0, 2.0, 3.0, 100.0]).line is None
    assert FloatBins([0.0, 5e-324, 1e-323]).line is None


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i2", "u8", "?", "O"])
def test_threads_count_what_one_does(dtype, monkeypatch):
    values = np.random.default_rng(7).integers(0, 2 if dtype == "?" else 90, 9_000).astype(dtype)
    cells = Ticks(None, Grid(0, 60, step=3)), Edges(None, range(0, 100, 7)), Codes(None, [3, 4])
    wide = Ticks(None, Grid(0, 60))
    monkeypatch.setattr(memory, "BLOCK", 1_000)

    def counted():
        frame = Frame(values)
        tallies = [frame.tally(cell) for cell in (*cells, wide)]
        found = [(t.ticks.tolist(), t.tallied.tolist(), t.missing) for t in tallies]
        return found, frame.moments(wide, 3)

    expected = counted()
    monkeypatch.setattr(memory, "PARALLEL", 1)
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("SOURDINE_THREADS", threads)
        assert counted() == expected


def test_there_are_no_more_threads_than_blocks(monkeypatch):
    monkeypatch.setattr(memory, "PARALLEL", 10)
    monkeypatch.setattr(memory, "BLOCK", 4)
    monkeypatch.setenv("SOURDINE_THREADS", "1000000000")
    parts = Frame(np.arange(10.0)).engine._in_parts(lambda rows: rows)
    assert parts == [range(5), range(5, 10)]


def test_parts_of_rows_are_counted_in_threads(monkeypatch):
    monkeypatch.setattr(memory, "PARALLEL", 10)
    monkeypatch.setattr(memory, "BLOCK", 2)
    monkeypatch.setenv("SOURDINE_THREADS", "3")
    parts = Frame(np.arange(10.0)).engine._in_parts(lambda rows: (rows, get_ident()))
    assert [rows for rows, _ in parts] == [range(3), range(3, 6), range(6, 10)]
    assert get_ident() not in {thread for _, thread in parts}


@pytest.mark.parametrize("typed", ["0", "two", "-1", "1.5"])
def test_a_number_of_threads_is_positive(typed, monkeypatch):
    monkeypatch.setenv("SOURDINE_THREADS", typed)
    with pytest.raises(ParameterError, match="SOURDINE_THREADS must be a positive integer"):
        Frame([1.0])  # however few rows there are: an error must not depend on their number
