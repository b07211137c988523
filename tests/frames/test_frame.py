"""What a frame takes, gives and refuses."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
import tracemalloc
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from importlib.util import find_spec

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.frames.cells import Codes, Edges, Ticks
from sourdine.frames.engine import Tally
from sourdine.frames.frame import Frame
from sourdine.frames.memory import Column
from sourdine.frames.reading import read_number, read_text
from sourdine.grid import MISSING, Grid

GRID = Grid(0, 10, step=1)


class Odd:
    def __float__(self):
        raise RuntimeError

    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("data", "name"),
    [
        *(
            ([1, 2], "value"),
            ((1, 2), "value"),
            (range(1, 3), "value"),
            (np.array([1, 2]), "value"),
        ),
        *((pd.Series([1, 2]), "value"), (pd.Series([1, 2], name="n"), "n")),
        *((pl.Series([1, 2]), "value"), (pl.Series("n", [1, 2]), "n"), (pa.array([1, 2]), "value")),
        *((pa.chunked_array([[1], [2]]), "value"), ({"n": [1, 2]}, "n")),
        *((pa.record_batch({"n": [1, 2]}), "n"), (pd.DataFrame({"n": [1, 2]}), "n")),
        ({"n": pl.Series([1, 2])}, "n"),
    ],
    ids=lambda d: type(d).__name__,
)
def test_one_column_needs_no_name(data, name):
    frame = Frame(data)
    assert frame.columns == (name,)
    assert frame.resolve(None) == name
    assert frame.total(Ticks(None, GRID)) == 3
    assert Frame(frame).total(Ticks(name, GRID)) == 3


@pytest.mark.parametrize(
    "data", [None, 3, b"x.csv", {1, 2}, object()], ids=lambda x: type(x).__name__
)
def test_what_is_no_data(data):
    with pytest.raises(
        ParameterTypeError, match="data must be a list, an array, a frame or a path"
    ):
        Frame(data)


def test_shapes_that_do_not_fit():
    with pytest.raises(ParameterError, match="data must have one dimension, got an array of 2"):
        Frame(np.zeros((2, 2)))
    with pytest.raises(ParameterError, match="be columns of equal length with different names"):
        Frame({"a": [1], "b": [1, 2]})
    with pytest.raises(ParameterError, match="be columns of equal length with different names"):
        Frame({})
    rows = [[1, 2], [3, 4]]
    for data in (rows, tuple(map(tuple, rows)), [{"a": 1}], {"a": rows}, [np.array([1, 2])]):
        with pytest.raises(ParameterError, match="be a list of single values, or a dict of"):
            Frame(data)
    assert len(Frame([*rows, 3])) == 3, "one record alone decides nothing"
    for data in (pd.DataFrame(), pa.table({}), pl.DataFrame(), pl.LazyFrame()):
        with pytest.raises(ParameterError, match="data must have at least one column"):
            Frame(data)


@pytest.mark.slow
def test_names_that_stand_twice_are_refused(tmp_path):
    """Which of them is meant cannot be known; Polars and Ibis have no such frames."""
    table = pa.table([pa.array([1]), pa.array([{"x": 1}]), pa.array([2])], names=["x", "y", "x"])
    pq.write_table(table, tmp_path / "x.parquet")
    (tmp_path / "x.csv").write_text("x,y,x\n1,2,3\n", encoding="utf-8")
    frame = pd.DataFrame([[1, 2, 3]], columns=["x", "y", "x"])
    data = [table, table.to_reader(), frame, duckdb.sql("SELECT 1 AS x, 2 AS y, 3 AS x")]
    data += [tmp_path / "x.parquet", str(tmp_path / "x.csv"), {1: [1], "1": [2]}]
    data += [ds.dataset(table)]
    if find_spec("dask"):
        import dask.dataframe as dd

        data += [dd.from_pandas(frame, npartitions=1)]
    for each in data:
        with pytest.raises(
            ParameterError, match=r"distinct column names|each column once|different names"
        ):
            Frame(each)
    once = pa.table([pa.array([{"x": 1}]), pa.array([2])], names=["y", "x"])
    pq.write_table(once, tmp_path / "y.parquet")
    assert Frame(tmp_path / "y.parquet").columns == ("y", "x")


def test_a_wrong_name_lists_the_columns():
    frame = Frame({"age": [1], "wage": [2]})
    for name in ("wages", None):
        with pytest.raises(ParameterError, match=r"The columns are: 'age', 'wage'\."):
            frame.tally(Ticks(name, GRID))


def test_cells_that_cannot_be():
    with pytest.raises(ParameterError, match="edges must be at least two increasing numbers"):
        Edges("x", [1, 1])
    with pytest.raises(ParameterTypeError, match="edges must be a list of numbers"):
        Edges("x", 3)
    with pytest.raises(ParameterTypeError, match="categories must be a list"):
        Codes("x", "abc")
    with pytest.raises(
        ParameterError, match="categories must be strings, numbers or dates, got None"
    ):
        Codes("x", ["a", None])
    with pytest.raises(ParameterError, match="cells must be at most 1000000 in all"):
        Frame({"x": [1]}).tally(Ticks("x", Grid(0, 1)), Codes("x", [1, 2]))
    with pytest.raises(ParameterError, match="cells must hold at least one"):
        Frame([1]).tally()


def test_dense_and_sparse_tallies_add_up():
    x = np.random.default_rng(0).integers(0, 10**7, 1000)
    for grid in (Grid(0, 10**7, step=1), Grid(0, 10**7, step=100)):
        parts = [Frame(part).tally(Ticks(None, grid)) for part in (x[:300], x[300:], x[:0])]
        whole, added = Frame(x).tally(Ticks(None, grid)), parts[0] + parts[1] + parts[2]
        assert whole.is_dense == (grid.size <= 10**6)
        assert added.ticks.tolist() == whole.ticks.tolist()
        assert added.tallied.tolist() == whole.tallied.tolist()
        assert added.total == whole.total == 1000
    with pytest.raises(ParameterError, match="cells must be at most 1000000 for a full table"):
        _ = Frame(x).tally(Ticks(None, Grid(0, 10**7, step=1))).counts
    with pytest.raises(ParameterError, match="tallies must have the same cells"):
        _ = whole + Tally((2,), np.zeros(3, np.int64))


def test_a_list_is_read_value_by_value():
    """A float beside a large whole number does not round it, nor does a text beside a number."""
    grid = Grid(2**53 - 5, 2**53 + 5, step=1)
    for other in (0.5, "a", None, True, Decimal(3), Fraction(1, 3), 10**400, [1], [[1, 2]], Odd()):
        ticks = Ticks(None, grid).slots(Column.of([2**53 + 1, other]))
        assert ticks[0] == 6, other


ODD = [
    *(Odd(), 10**5000, "9" * 5000, pd.NaT, pd.NA, np.datetime64("NaT"), np.timedelta64(1, "D")),
    *(pd.Timestamp("2020-01-01", tz="Asia/Tokyo"), np.float32(0.1), np.datetime64("9999999-01-01")),
    *(dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-5))), np.array([1, 2])),
]


def is_row(value):
    return isinstance(value, (list, np.ndarray))


VALUES = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.fractions()),
    *(st.binary(max_size=3), st.decimals(), st.dates(), st.datetimes(), st.timedeltas()),
    *(st.complex_numbers(), st.lists(st.integers(), max_size=2), st.sampled_from(ODD)),
)


@pytest.mark.slow
@given(st.lists(VALUES, max_size=8).filter(lambda v: not all(map(is_row, v)) or not v))
def test_no_value_raises(values):
    """A list of nothing but rows is no column, and refused (``test_shapes_that_do_not_fit``)."""
    for data in (values, np.fromiter(values, object, len(values)), {"a": values}):
        frame = Frame(data)
        assert frame.tally(Ticks(None, GRID)).counts.sum() == len(values)
        assert frame.tally(Edges(None, [0, 1, 2])).counts.sum() == len(values)
        assert frame.tally(Codes(None, ["a", 1])).counts.sum() == len(values)
        assert frame.distinct()[1].sum() <= len(values)
        assert len(frame.bound(frame.columns[0], 1)) <= len(values)
        frame.array()


def test_dates_are_no_numbers():
    days = pd.DataFrame({"d": pd.to_datetime(["2024-01-01", None])})
    for data in (days, pl.from_pandas(days).lazy(), np.array(["2024-01-01", "NaT"], "M8[ns]")):
        frame = Frame(data)
        assert frame.tally(Ticks(None, GRID)).counts.tolist() == [0] * 11 + [2]
        assert frame.distinct()[0] == ["2024-01-01 00:00:00"]
    assert Frame(np.array(["2024-01-01"], "M8[D]")).distinct()[0] == ["2024-01-01"]


def test_a_frame_in_memory_can_be_copied():
    for data in ([1, 2, 2], {"x": [1, 2, 2]}, np.array([1, 2, 2])):
        copied = deepcopy(Frame(data))
        assert copied.moments(Ticks(copied.columns[0], GRID), 1) == [3, 5]


def test_the_raw_array():
    x = np.array([1.5, np.nan])
    assert Frame(x).array() is x
    assert Frame(np.array([1, 2], np.int32)).array().dtype == np.int32
    assert Frame([1, None, "3", "x"]).array().tolist()[::2] == [1.0, 3.0]
    assert Frame([True, False]).array().tolist() == [1.0, 0.0]
    assert Frame([2**53 + 1, None]).array() is None
    assert Frame(pl.Series([2**53 + 1, None])).array() is None
    assert Frame(pl.Series([5, None])).array().tolist()[0] == 5.0
    assert Frame(pl.LazyFrame({"x": [1]})).array() is None


@pytest.mark.slow
@given(st.lists(st.integers(-(2**70), 2**70), max_size=9), st.integers(0, 5))
def test_sums_are_exact(values, power):
    grid = Grid(-(2**60), 2**60, step=1)
    ticks = grid.ticks(np.array(values, object), missing=MISSING).tolist()
    assert Frame(values).total(Ticks(None, grid), power) == sum(t**power for t in ticks)


def test_categories_are_texts():
    for values in ([3, 4, 3], ["3", "4", "3"], [3.0, 4.0, 3.0], np.array(["3", "4", "3"])):
        for keys in ([3, 4], ["3", "4"], [3.0, 4]):
            assert Frame(values).tally(Codes(None, keys)).counts.tolist() == [2, 1, 0]
    assert Frame(["true", "True", "TRUE"]).tally(Codes(None, [True])).counts.tolist() == [2, 1]
    categorical = pd.Series(["a", "b", None], dtype="category")
    assert Frame(categorical).tally(Codes(None, ["b"])).counts.tolist() == [1, 2]


@given(st.floats())
def test_a_float_is_read_back_from_its_text(x):
    text = read_text(x)
    assert read_number(text) == (None if text is None else x)


@pytest.mark.slow
def test_a_large_file_is_not_read_into_memory(tmp_path):
    """Three million rows are counted in less memory than they take."""
    n = 3_000_000
    path = tmp_path / "rows.parquet"
    with pq.ParquetWriter(path, pa.schema([("x", pa.float64())])) as writer:
        for part in range(3):
            x = np.random.default_rng(part).random(n // 3)
            writer.write_table(pa.table({"x": x}), row_group_size=100_000)
    frame = Frame(path)
    tracemalloc.start()
    counts = frame.tally(Ticks("x", Grid(0, 1, step=0.001))).counts
    ticks, found = frame.between(Ticks("x", Grid(0, 1)), [(500_000, 500_100)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert counts.sum() == n
    assert 0 < found.sum() < 1000
    assert len(ticks) <= 100
    assert peak < n


@pytest.mark.slow
def test_importing_the_room_imports_no_engine():
    code = (
        "import sys, sourdine.frames; from sourdine.grid import Grid; import numpy as np\n"
        "from sourdine.frames import Frame, Ticks\n"
        "Frame(np.arange(9.0)).tally(Ticks(None, Grid(0, 9, step=1)))\n"
        "late = {'duckdb', 'narwhals', 'pandas', 'polars', 'pyarrow', 'scipy'} & set(sys.modules)\n"
        "sys.exit(len(late))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603


def test_floats_are_clamped_and_missing_ones_have_no_tick():
    x = Column(np.array([np.nan, -np.inf, -3.0, 2.5, 9.4, 11.0, np.inf]))
    assert Ticks(None, GRID).slots(x).tolist() == [MISSING, 0, 0, 3, 9, 10, 10]
    assert Ticks(None, GRID, block=4).slots(x).tolist() == [MISSING, 0, 0, 0, 2, 2, 2]


def test_sums_of_squares_pass_64_bits():
    cell = Ticks(None, Grid(0, 1 << 30, step=1))
    ticks = np.array([1 << 30] * 40 + [MISSING])
    assert cell.moments(ticks, None, 2) == [40, 40 << 30, 40 << 60]
    assert cell.moments(ticks, np.full(41, 3), 2) == [120, 120 << 30, 120 << 60]


@given(st.lists(st.integers(-1, 1 << 33), max_size=20), st.integers(0, 4))
def test_moments_are_those_of_python_integers(ticks, most):
    cell = Ticks(None, Grid(0, 1 << 33, step=1))
    present = [t for t in ticks if t >= 0]
    expected = [sum(t**power for t in present) for power in range(most + 1)]
    assert cell.moments(np.array(ticks, np.int64), None, most) == expected


def test_an_inner_edge_belongs_to_the_bin_above():
    cell = Edges(None, [0, 10, 20])
    assert cell.slots(Column(np.array([-1.0, 0, 9.9, 10, 20, np.nan]))).tolist() == [
        *(0, 0, 0, 1, 1),
        MISSING,
    ]
    assert cell.slots(Column(np.array([-1, 0, 9, 10, 25]))).tolist() == [0, 0, 0, 1, 1]


def test_whole_numbers_are_snapped_to_the_nearest_point_in_sql():
    values = [-7, 4, 5, 6, 14, 15, 99, 200, None]
    grid, ticks = Grid(0, 100, step=10), [0, 0, 1, 1, 1, 2, 10, 10, MISSING]
    for data in (
        duckdb.sql(f"SELECT unnest({values}) AS x".replace("None", "NULL")),
        {"x": values},
    ):
        ((found,),) = Frame(data).codes(Ticks("x", grid))
        assert found.tolist() == ticks


@pytest.mark.parametrize("kind", [pa.duration("s"), pa.time64("us"), pa.timestamp("s")], ids=str)
def test_a_value_that_python_cannot_hold_is_missing(kind):
    frame = Frame(pa.table({"x": pa.array([1, 2**62, None, 2], kind)}))
    assert frame.present("x") == 2
    assert len(frame) == 4
