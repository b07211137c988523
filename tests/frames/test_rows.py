"""Row by row, every engine gives the slots that each value has alone, in the order of the rows."""

from __future__ import annotations

import datetime as dt
import sys
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sourdine.errors import ParameterError
from sourdine.frames.cells import Codes, Edges, Ticks
from sourdine.frames.frame import Frame
from sourdine.grid import Grid

ENGINES = (
    *("list", "numpy", "pandas", "pandas-arrow", "polars", "polars-lazy", "arrow"),
    *("duckdb", "parquet", "csv"),
)
INF, NAN = float("inf"), float("nan")
MOMENT = dt.datetime(2024, 2, 29, 1, 2, 3)  # noqa: DTZ001
HOSTILE = {
    "float": pa.array([0.5, None, NAN, INF, -INF, -0.0, 1e308, 0.49999999999999994, 2.5]),
    "whole": pa.array([0, None, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63), 7, 10]),
    "unsigned": pa.array([0, None, 1, 2**64 - 1, 2**63, 5, 5, 3, 10], pa.uint64()),
    "text": pa.array(["1", None, " 2 ", "abc", "1e400", "nan", "٣", "9007199254740993", ""]),
    "cents": pa.array([Decimal("1.50"), None, *[Decimal("-3.25")] * 7], pa.decimal128(38, 2)),
    "moment": pa.array([MOMENT, None, *[MOMENT] * 7], pa.timestamp("us")),
    "a 'b' \"c\"": pa.array(["a", "é", "'", '"', None, "a b", "A", "a", "x"]),
    "nothing": pa.array([None] * 9, pa.float64()),
}
CATEGORIES = [0, 1, "abc", " 2 ", 0.5, "é", "'", '"', "a b", "a", 2**63, "1.50", MOMENT, 10]
MANY = [*CATEGORIES, *(f"other {i}" for i in range(80))]


def cells_for(name):
    return [
        Ticks(name, Grid(0, 10, step=1)),
        Ticks(name, Grid(-5, 5, step=0.1)),
        Ticks(name, Grid(2**53 - 4, 2**53 + 4, step=1)),
        Ticks(name, Grid(0, 2**61, step=1)),
        Codes(name, CATEGORIES),
        Codes(name, MANY),
        Edges(name, [0, 1, 2.5, 10]),
    ]


def alone(cell, values):
    """Each value in a frame of its own, beside an object that keeps Python's reading."""
    column = [*values, object()]
    return cell.slots(Frame(column).engine.column("value"))[:-1].tolist()


def joined(blocks):
    return [np.concatenate(parts).tolist() for parts in zip(*blocks, strict=True)]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rows", [1 << 17, 4])
def test_engines_agree_on_rows(engine, rows, as_engine):
    frame = as_engine(engine, pa.table(HOSTILE))
    for name, column in HOSTILE.items():
        cells = cells_for(name)
        blocks = list(frame.codes(*cells, chunk=rows))
        assert all(len(part) <= rows for block in blocks for part in block)
        assert joined(blocks) == [alone(cell, column.to_pylist()) for cell in cells], name


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("engine", [e for e in ENGINES if e != "csv"])
def test_true_and_false_by_rows(engine, as_engine):
    frame = as_engine(engine, pa.table({"b": pa.array([True, False, None, True])}))
    cells = Codes("b", [True, False]), Codes("b", ["false"]), Ticks("b", Grid(0, 2, step=1))
    assert joined(frame.codes(*cells)) == [[0, 1, -1, 0], [-1, 0, -1, -1], [1, 0, -1, 1]]


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("engine", ENGINES)
def test_no_rows_give_nothing(engine, as_engine):
    frame = as_engine(engine, pa.table({n: c[:0] for n, c in HOSTILE.items()}))
    cells = Ticks("float", Grid(0, 1)), Codes("text", ["a"])
    assert sum(len(block[0]) for block in frame.codes(*cells)) == 0


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("arrow", [True, False])
def test_files_keep_the_order_of_rows(kind, arrow, tmp_path, monkeypatch):
    """Several row groups and threads, with and without Arrow."""
    if not arrow:
        monkeypatch.setattr("sourdine.frames.duck.find_spec", lambda _: None)
    n, path = 300_000 if arrow else 40_000, tmp_path / f"rows.{kind}"
    table = pa.table({"i": np.arange(n), "v": np.array(["no", "yes"])[np.arange(n) % 2]})
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=10_000)
    else:
        pl.from_arrow(table).write_csv(path)
    cells = Ticks("i", Grid(0, n, step=1)), Codes("v", ["yes", "no"])
    index, vote = joined(Frame(path).codes(*cells, chunk=30_000))
    assert index == list(range(n))
    assert vote == [1, 0] * (n // 2)


def test_a_relation_without_arrow(monkeypatch):
    monkeypatch.setattr("sourdine.frames.duck.find_spec", lambda _: None)
    relation = duckdb.sql("SELECT range AS i, 'a' AS v FROM range(10)")
    cells = Ticks("i", Grid(0, 9, step=1)), Codes("v", ["a"])
    assert joined(Frame(relation).codes(*cells, chunk=4)) == [list(range(10)), [0] * 10]


def test_rows_need_a_cell():
    with pytest.raises(ParameterError, match="cells must hold at least one"):
        Frame([1]).codes()


def test_nan_hidden_by_statistics_by_rows(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": [0.5, NAN, 1.5]}), path)
    for data in (path, duckdb.connect().sql(f"SELECT * FROM '{path}'"), pl.scan_parquet(path)):  # noqa: S608
        assert joined(Frame(data).codes(Ticks("x", Grid(0, 3, step=0.5)))) == [[1, -1, 3]]


def test_a_failing_engine_says_nothing_of_the_data():
    secret = "salary 12345"  # noqa: S105
    failing = pl.LazyFrame({"x": [secret]}).select(pl.col("x").cast(pl.Int64, strict=True))
    relation = duckdb.sql(f"SELECT CAST('{secret}' || range AS BIGINT) AS x FROM range(3)")  # noqa: S608
    for data in (failing, relation):
        with pytest.raises(ParameterError) as error:
            list(Frame(data).codes(Ticks("x", Grid(0, 1))))
        assert "12345" not in str(error.value)
        assert error.value.__cause__ is None


@pytest.mark.parametrize(
    "values",
    [
        *(["\ud800", "yes", "no"], ["yes", None, "no"], ["yes", NAN, 3], ["yes", pd.NA, "no"]),
        *([b"yes", "yes", "\x00"], ["", "Yes", " yes"], [None, None, None], [object(), True, "no"]),
    ],
    ids=range(8),
)
def test_objects_of_pandas_are_read_as_a_list(values):
    cells = Codes("v", ["yes", "no", True]), Ticks("v", Grid(0, 4, step=1))
    frame = Frame(pd.DataFrame({"v": pd.Series(values, dtype=object)}))
    assert joined(frame.codes(*cells)) == joined(Frame({"v": values}).codes(*cells))


def test_text_is_read_block_by_block():
    """No list of all texts is made on the way."""
    frame = Frame(pl.DataFrame({"v": ["yes", "no"] * 50_000}))
    first = next(frame.codes(Codes("v", ["no", "yes"]), chunk=10))
    assert first[0].tolist() == [1, 0] * 5
    assert frame.engine._read == {}
    assert sys.getsizeof(frame.engine._readers) < 1000
