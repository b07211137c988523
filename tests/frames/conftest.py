"""The same rows in every engine."""

from __future__ import annotations

import csv

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sourdine.frames.frame import Frame
from sourdine.frames.reading import read_text


def _numpy(column):
    """Whole numbers and booleans with a mask, floats with NaN, anything else as objects."""
    if str(column.type) in {"double", "float"}:
        return column.to_numpy(zero_copy_only=False)
    values = column.to_pylist()
    if str(column.type).startswith(("int", "uint", "bool")):
        kind = str(column.type).replace("bool", "bool_")
        filled = np.array([0 if v is None else v for v in values], kind)
        return np.ma.masked_array(filled, [v is None for v in values])
    return np.array([*values, None], object)[:-1]


def _csv(table, path):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        for row in zip(*(c.to_pylist() for c in table.columns), strict=True):
            writer.writerow([read_text(v) or "" for v in row])
    return path


@pytest.fixture
def as_engine(tmp_path):
    """Return a function that puts an Arrow table into an engine."""

    def parquet(table):
        path = tmp_path / "rows.parquet"
        pq.write_table(table, path)
        return path

    def nullable(table):
        kinds = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}
        kinds |= {pa.float64(): pd.Float64Dtype(), pa.bool_(): pd.BooleanDtype()}
        return table.to_pandas(types_mapper=kinds.get)

    connection = duckdb.connect()

    def relation(table):
        connection.register("rows_of_test", table)
        return connection.sql("SELECT * FROM rows_of_test")

    make = {
        "list": lambda t: dict(
            zip(t.column_names, (c.to_pylist() for c in t.columns), strict=True)
        ),
        "numpy": lambda t: {n: _numpy(t.column(n).combine_chunks()) for n in t.column_names},
        "pandas": nullable,
        "pandas-arrow": lambda t: t.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.from_arrow,
        "polars-lazy": lambda t: pl.from_arrow(t).lazy(),
        "arrow": lambda t: t,
        "duckdb": relation,
        "parquet": parquet,
        "csv": lambda t: _csv(t, tmp_path / "rows.csv"),
    }
    return lambda engine, table, read=None: Frame(make[engine](table), read=read)
