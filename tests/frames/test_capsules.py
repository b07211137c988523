"""Whatever exports Arrow data is data."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import sourdine as sd
from sourdine.errors import ParameterError
from sourdine.frames.frame import Frame

TABLE = pa.table(
    {
        "age": pa.array([31, None, 17, 2**53 + 1]),
        "wage": pa.array([0.5, float("nan"), None, 3.0]),
        "vote": pa.array(["yes", None, "", "no"]),
        "day": pa.array([dt.date(2024, 2, 29), None, None, dt.date(1, 1, 1)]),
        "flag": pa.array([True, None, False, True]),
    }
)


class Stream:
    def __init__(self, held):
        self.held = held

    def __arrow_c_stream__(self, requested_schema=None):
        return self.held.__arrow_c_stream__(requested_schema)


class Array:
    def __init__(self, held):
        self.held = held

    def __arrow_c_array__(self, requested_schema=None):
        return self.held.__arrow_c_array__(requested_schema)


class Once(Stream):
    """A stream that can be read once, as of a server."""

    def __arrow_c_stream__(self, requested_schema=None):
        held, self.held = self.held, None
        return held.__arrow_c_stream__(requested_schema)


def exporters():
    connection = duckdb.connect()
    connection.register("exported", TABLE)
    return {
        "arrow": Stream(TABLE),
        "polars": Stream(pl.from_arrow(TABLE)),
        "duckdb": Stream(connection.sql("SELECT * FROM exported")),
        "batch": Array(TABLE.combine_chunks().to_batches()[0]),
        "once": Once(TABLE),
        "reader": TABLE.to_reader(),
        "table": TABLE,
        "relation": connection.sql("SELECT * FROM exported"),
    }


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(
    "name", ["arrow", "polars", "duckdb", "batch", "once", "reader", "table", "relation"]
)
def test_what_exports_arrow_is_data(name):
    frame, want = Frame(exporters()[name]), Frame(TABLE)
    assert frame.columns == want.columns
    assert len(frame) == 4
    for column in want.columns:
        assert frame.distinct(column)[0] == want.distinct(column)[0], column
        assert frame.column(column).texts.tolist() == want.column(column).texts.tolist(), column
    assert [frame.present(c) for c in frame.columns] == [3, 2, 2, 2, 3]


def test_every_call_takes_it():
    release = sd.mean(Stream(TABLE), column="age", bounds=(0, 100), step=1, epsilon=10**6)
    assert release.value == pytest.approx((31 + 17 + 100) / 3, abs=1)
    assert sd.count(Array(TABLE.to_batches()[0]), epsilon=10**9).value == 4


@pytest.mark.parametrize("make", [Stream, Once])
def test_one_column_of_arrow(make):
    values = pa.chunked_array([[1, None], [3]])
    assert Frame(make(values)).columns == ("value",)
    assert Frame(make(values)).column().texts.tolist() == ["1", None, "3"]
    assert Frame({"a": make(values), "b": [1, 2, 3]}).column("a").texts.tolist() == ["1", None, "3"]
    assert Frame(Array(pa.array(["x", None]))).column().texts.tolist() == ["x", None]
    empty = Frame(Stream(pa.table({"x": pa.array([], pa.int64())})))
    assert (len(empty), empty.columns) == (0, ("x",))


def test_a_failing_exporter_says_nothing_of_the_data():
    class Failing:
        def __arrow_c_stream__(self, requested_schema=None):
            raise ValueError("salary 12345")

    with pytest.raises(ParameterError, match="data must export valid Arrow data") as caught:
        Frame(Failing())
    assert "12345" not in str(caught.value)
    assert caught.value.__cause__ is None


WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import importlib.util
known = importlib.util.find_spec
importlib.util.find_spec = lambda n, *a: None if n == "pyarrow" else known(n, *a)
import polars as pl, duckdb
from sourdine.errors import ParameterError
from sourdine.frames.frame import Frame
held = pl.DataFrame({"age": [31, None, 17], "vote": ["yes", "", "no"], "x": [0.5, float("nan"), 1]})
class Stream:
    def __init__(self, held):
        self.held = held
    def __arrow_c_stream__(self, requested_schema=None):
        return self.held.__arrow_c_stream__(requested_schema)
frame = Frame(Stream(held))
print(type(frame.engine).__name__, frame.columns, len(frame))
names = frame.columns
print([frame.column(c).texts.tolist() for c in names], [frame.present(c) for c in names])
print(Frame(Stream(held["age"])).column().texts.tolist(), Frame(held).present("age"))
class Broken:
    def __arrow_c_stream__(self, requested_schema=None):
        raise ValueError("secret")
try:
    Frame(Broken())
except ParameterError as error:
    print(error)
assert "pyarrow" not in sys.modules
"""


@pytest.mark.slow
def test_without_pyarrow_duckdb_reads_it():
    ran = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    engine, rows, series, error = ran.stdout.splitlines()
    assert engine == "Duck ('age', 'vote', 'x') 3"
    assert rows == "[['31', None, '17'], ['yes', None, 'no'], ['0.5', None, '1']] [2, 2, 2]"
    assert series == "['31', None, '17'] 2"
    assert error.endswith("In the checkout, run pip install '.[arrow]', which reads more of them.")
    assert "secret" not in error
