"""Every engine that runs on one machine: what puts an Arrow table into it."""

from __future__ import annotations

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from file_writers import values_of, write_json_lines, write_xlsx
from sourdine.frames.frame import Frame

__all__ = ["ENGINES", "OPTIONAL", "UNTYPED"]


def fresh(folder):
    """Return the path of a file that is not there: a table that was opened stays where it is."""
    return folder / f"rows{len(list(folder.iterdir()))}.parquet"


def parquet(folder):
    def write(table):
        path = fresh(folder)
        pq.write_table(table, path, row_group_size=5)
        return Frame(path)

    return write


def relation(_):
    connection = duckdb.connect()
    return lambda table: Frame(connection.from_arrow(table))


def relation_of_file(folder):
    connection = duckdb.connect()

    def write(table):
        path = fresh(folder)
        pq.write_table(table, path)
        return Frame(connection.sql(f"SELECT * FROM '{path}'"))  # noqa: S608

    return write


def scan(folder):
    def write(table):
        path = fresh(folder)
        pq.write_table(table, path, row_group_size=5)
        return Frame(pl.scan_parquet(path))

    return write


def dataset(folder):
    def write(table):
        path = fresh(folder)
        parts = [table.slice(i, 5) for i in range(0, len(table), 5)] or [table]
        path.mkdir()
        for i, part in enumerate(parts):
            pq.write_table(part, path / f"{i}.parquet", row_group_size=3)
        return Frame(ds.dataset(path))

    return write


def dask(_):
    import dask.dataframe as dd

    return lambda table: Frame(
        dd.from_pandas(table.to_pandas(types_mapper=pd.ArrowDtype), npartitions=3)
    )


def ibis(_):
    import ibis as library

    return lambda table: Frame(library.memtable(table))


def arrow_file(folder):
    def write(table):
        path = fresh(folder).with_suffix(".feather")
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=5)
        return Frame(path)

    return write


def arrow_stream(folder):
    def write(table):
        path = fresh(folder).with_suffix(".arrows")
        with pa.ipc.new_stream(path, table.schema) as file:
            file.write_table(table, max_chunksize=5)
        return Frame(path)

    return write


def json_lines(folder):
    def write(table):
        path = write_json_lines(fresh(folder).with_suffix(".jsonl"), values_of(table))
        return Frame(path, read={"header": table.column_names})

    return write


def sheet(folder):
    def write(table):
        columns = values_of(table)
        rows = [list(columns), *zip(*columns.values(), strict=True)]
        return Frame(write_xlsx(fresh(folder).with_suffix(".xlsx"), {"Rows": rows}))

    return write


def duckdb_table(folder):
    def write(table):
        path = fresh(folder).with_suffix(".duckdb")
        with duckdb.connect(path) as connection:
            rows = connection.from_arrow(table)
            rows.query("rows", 'CREATE TABLE "the ""rows""" AS FROM rows')
        return Frame(f"duckdb:///{path}#the %22rows%22")

    return write


ENGINES = {
    "list": lambda _: lambda t: Frame({n: t.column(n).to_pylist() for n in t.column_names}),
    "pandas": lambda _: lambda t: Frame(t.to_pandas(types_mapper=pd.ArrowDtype)),
    "polars": lambda _: lambda t: Frame(pl.from_arrow(t)),
    "polars lazy": lambda _: lambda t: Frame(pl.from_arrow(t).lazy()),
    "polars scan": scan,
    "arrow": lambda _: Frame,
    "arrow batches": lambda _: lambda t: Frame(t.to_reader(5)),
    "arrow dataset": dataset,
    "duckdb relation": relation,
    "duckdb relation of a file": relation_of_file,
    "duckdb file": parquet,
    "duckdb table": duckdb_table,
    "arrow file": arrow_file,
    "arrow stream": arrow_stream,
    "json lines": json_lines,
    "excel": sheet,
    "dask": dask,
    "ibis": ibis,
}
OPTIONAL = {"dask": "dask", "ibis": "ibis", "excel": "python_calamine"}
UNTYPED = ("json lines", "excel")
"""Engines whose columns have no types."""
