"""One column, value by value: every engine gives the same, in the order of the rows."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import sourdine as sd
from sourdine.errors import ParameterError
from sourdine.frames.cells import Codes, Edges, Present, Ticked, Ticks
from sourdine.frames.frame import Frame
from sourdine.frames.memory import CodedText, Column
from sourdine.frames.reading import Reading, read_number, read_text
from sourdine.grid import Grid

ENGINES = (
    *("list", "numpy", "pandas", "pandas-arrow", "polars", "polars-lazy", "arrow"),
    *("duckdb", "parquet", "csv"),
)
NAN = float("nan")
ROWS = {
    "float": pa.array([0.5, None, NAN, float("inf"), -0.0]),
    "whole": pa.array([0, None, -1, 2**53 + 1, 2**63 - 1]),
    "unsigned": pa.array([0, None, 1, 2**64 - 1, 5], pa.uint64()),
    "text": pa.array(["1", None, " 2 ", "é", ""]),
    "cents": pa.array([Decimal("1.50"), None, *[Decimal("-3.25")] * 3], pa.decimal128(38, 2)),
    "day": pa.array([dt.date(2024, 2, 29), None, *[dt.date(1, 1, 1)] * 3]),
    "moment": pa.array([dt.datetime(2024, 2, 29, 1, 2, 3), *[None] * 4], pa.timestamp("us")),  # noqa: DTZ001
}
HOLDS = dict(zip(ROWS, ["numbers"] * 3 + ["words", "numbers", "dates", "dates"], strict=True))


def numbers_of(column):
    x = column.numbers.tolist()
    gone = [False] * len(x) if column.gone is None else column.gone.tolist()
    return [None if g or v is None or v != v else v for v, g in zip(x, gone, strict=True)]  # noqa: PLR0124


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree_on_columns(engine, as_engine):
    frame = as_engine(engine, pa.table(ROWS))
    for name, array in ROWS.items():
        column, values = frame.column(name), array.to_pylist()
        assert column.texts.tolist() == [read_text(v) for v in values], name
        assert numbers_of(column) == [read_number(v) for v in values], name
        floats = [NAN if v is None else float(v) for v in map(read_number, values)]
        assert np.array_equal(column.floats, floats, equal_nan=True), name
        assert column.present.tolist() == [read_text(v) is not None for v in values], name
        objects = {"list", "csv", "numpy"} | ({"pandas"} if name in {"cents", "day"} else set())
        if engine not in objects:
            assert column.holds == HOLDS[name], name
    if engine in {"list", "csv"}:
        assert {frame.column(name).holds for name in ROWS} == {None}


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("engine", ENGINES)
def test_one_column_alone(engine, as_engine):
    frame = as_engine(engine, pa.table(ROWS))
    alone = frame["whole"]
    assert alone.columns == ("whole",)
    assert len(alone) == 5
    assert alone.total(Ticks(None, Grid(0, 9, step=1))) == 18
    assert alone.present() == 4
    assert len(alone.bound("whole", 1)) == 5
    assert alone.bound("whole", 1).columns == ("whole",)
    with pytest.raises(ParameterError, match=r"got 'float'. (The columns are: 'whole'\.|Look at)"):
        alone.column("float")
    with pytest.raises(ParameterError, match="column must be given, because"):
        frame.column()
    assert frame.columns == tuple(ROWS)


@pytest.mark.slow
def test_the_order_of_a_file_is_kept(tmp_path):
    n = 50_000
    table = pl.DataFrame({"i": range(n)})
    table.write_csv(tmp_path / "rows.csv")
    table.write_parquet(tmp_path / "rows.parquet", row_group_size=1000)
    for name in ("rows.csv", "rows.parquet"):
        assert Frame(tmp_path / name).column("i").floats.tolist() == list(range(n))


def test_values_keep_their_type():
    whole = pl.Series([1, None, 3])
    assert np.array_equal(Frame(whole).column().values, [1, NAN, 3], equal_nan=True)
    assert Frame(pl.Series([2**60, None])).column().values.tolist() == [2**60, None]
    assert Frame([1, 2]).column().values.dtype == np.int64
    assert Frame([1, "a", None]).column().values.tolist() == [1, "a", None]


DIRTY = {
    "fields": b"a,b\n1,2\n3\n5,6\n",
    "more fields": b"a,b\n1,2\n3,4,9\n5,6\n",
    "utf-8": b"a,b\n1,2\n3,\xff\n5,6\n",
    "quote": b'a,b\n1,2\n5,"6\n7,8\n',
    "blank": b"a,b\n1,2\n\n5,6\n",
}


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("what", DIRTY)
def test_only_a_strict_reading_refuses(what, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(DIRTY[what])
    read = Frame(path).column("b").texts.tolist()
    assert read[0] == "2"
    assert len(read) == {"blank": 2, "quote": 2}.get(what, 3)
    with pytest.raises(ParameterError, match=r"^rows.csv must") as caught:
        Frame(path).column("b", strict=True)
    assert caught.value.__cause__ is None


def test_a_strict_reading_of_what_is_in_order(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes('\ufeffa;b\r\n1;"x;\r\ny"\r\n;""\r\n3;é\r\n\r\n'.encode())
    for strict in (True, False):
        frame = Frame(path)
        assert frame.column("a", strict=strict).texts.tolist() == ["1", None, "3"]
        assert frame.column("b", strict=strict).texts.tolist()[1:] == [None, "é"]
    assert frame.column("b", strict=True).texts[0] == "x;\r\ny"


def test_one_value_a_line(tmp_path):
    path = tmp_path / "rows.txt"
    path.write_bytes(b"12\r\n\n 7 \nsecret\xff\n9")
    frame = Frame(path)
    assert frame.columns == ("value",)
    assert frame.parsed
    assert numbers_of(frame.column()) == [12, None, 7, None, 9]
    assert frame.present() == 4
    assert frame.split(None, [9])[0].parsed
    with pytest.raises(ParameterError, match=r"rows\.txt must be text in UTF-8") as caught:
        frame.column(strict=True)
    assert "secret" not in str(caught.value)
    path.write_bytes(b"1\n\n2\n\n\n")
    assert len(Frame(path)) == 5
    assert Frame(path).column(strict=True).texts.tolist() == ["1", None, "2"]
    path.write_bytes(b"")
    assert len(Frame(path)) == 0


def test_a_line_changes_no_other(tmp_path):
    """Whatever bytes stand in one line, every other line is the same value."""
    path = tmp_path / "rows.txt"
    for odd in (b"", b'"', b"\xff", b"\xe2\x82", b"a,b;c", b"\x00", b"x" * 3_000_000):
        path.write_bytes(b"1\n" + odd + b"\n2\n")
        assert Frame(path).column().texts.tolist()[::2] == ["1", "2"], odd[:9]


def test_arrays_that_numpy_saved(tmp_path):
    np.save(tmp_path / "a.npy", np.array([2**60 + 1, 3]))
    assert Frame(tmp_path / "a.npy").column().data.tolist() == [2**60 + 1, 3]
    assert sd.count(tmp_path / "a.npy", epsilon=10**9).value == 2
    np.save(tmp_path / "b.npy", np.array([0.5]))
    assert Frame(tmp_path / "*.npy").column().numbers.tolist() == [2**60 + 1, 3, 0.5]
    np.save(tmp_path / "eye.npy", np.eye(2))
    np.save(tmp_path / "objects.npy", np.array([{"secret": 1}], object), allow_pickle=True)
    (tmp_path / "junk.npy").write_bytes(b"secret")
    for name in ("eye", "objects", "junk"):
        with pytest.raises(
            ParameterError, match="be a one-dimensional array without objects"
        ) as caught:
            Frame(tmp_path / f"{name}.npy")
        assert "secret" not in str(caught.value)


def test_a_file_that_may_not_be_read(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "junk.csv.gz").write_bytes(b"secret")
    said = {
        "folder.csv": "hold files of one kind only",
        "junk.csv.gz": "must be readable",
    }
    for name, text in said.items():
        with pytest.raises(ParameterError, match=text) as caught:
            Frame(tmp_path / name)
        assert "secret" not in str(caught.value)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("engine", ["list", "numpy", "polars-lazy", "duckdb", "parquet"])
def test_nan_is_missing_even_where_its_text_is_listed(engine, as_engine):
    """A category "nan" is a text; it must not hide the numbers that are listed beside it."""
    frame = as_engine(engine, pa.table({"x": pa.array([0.0, -0.0, 1.0, float("nan")])}))
    keys = ["nan", "0", "1"]
    assert frame.tally(Codes("x", keys)).counts.tolist() == [0, 2, 1, 1]
    assert [len(part) for part in frame.split("x", keys)] == [0, 2, 1]
    assert [len(part) for part in frame.groups(["x"], [(k,) for k in keys])] == [0, 2, 1]
    words = as_engine(engine, pa.table({"x": pa.array(["nan", "0", None])}))
    assert words.tally(Codes("x", keys)).counts.tolist() == [1, 1, 0, 1]


@pytest.mark.parametrize("engine", ["list", "pandas-arrow", "polars-lazy", "arrow", "duckdb"])
def test_decimals_are_written_with_all_their_digits(engine, as_engine):
    values = [Decimal("1E-7"), Decimal("0E-7"), Decimal("-1234567890.5"), None]
    frame = as_engine(engine, pa.table({"d": pa.array(values, pa.decimal128(38, 7))}))
    assert frame.distinct("d")[0] == ["-1234567890.5000000", "0.0000000", "0.0000001"]
    assert frame.tally(Codes("d", ["0.0000001", Decimal("0E-7")])).counts.tolist() == [1, 1, 2]


def test_decimals_are_read_by_their_value():
    assert read_number(Decimal("9007199254740993E+3")) == 9007199254740993000
    assert read_number(Decimal("1E+30")) == 10**30
    assert read_text(Decimal("1E+3")) == "1000"
    assert [read_text(Decimal(v)) for v in ("1E+1000000", "1E-1000000")] == [
        "1E+1000000",
        "1E-1000000",
    ]
    assert [read_number(Decimal(v)) for v in ("NaN", "-Infinity", "1E+999")] == [
        None,
        -float("inf"),
        float("inf"),
    ]


class Shade(str):  # noqa: SLOT000 - a plain subclass
    """A text that is written otherwise than the one it equals."""

    def __str__(self):
        return "shade"


WRITTEN = ["red", "", "3", "3.0", "1,5", "2024-02-29", " 7 ", "é", "tv;web", "nan", "true", "red"]
MIXED = {
    "text": [*WRITTEN, None],
    "text and floats": [*WRITTEN, None, 3.0, 0.0, -0.0, NAN, float("nan"), float(2**60), 0.1],
    "text and integers": [*WRITTEN, None, 3, 2**60, 2**200, -7],
    "integers and floats": [3, 3.0, 2**60, float(2**60), True, 1, 1.0, False, 0],
    "subclasses": ["red", Shade("red"), np.str_("red"), "shade"],
    "anything": [True, 1, "1", 1.0, Decimal(1), b"1", Decimal("1.0"), dt.date(2024, 2, 29), (1,)],
    "times": [np.datetime64("2024-02-29"), np.datetime64("2024-02-29T00", "us"), "2024-02-29"],
    "nothing": [],
}
CELLS = [
    Codes(None, ["red", "3", "shade", True, "1152921504606846976"]),
    Ticks(None, Grid(0, 10)),
    Ticks(None, Grid(dt.date(2024, 1, 1), dt.date(2024, 12, 31))),
    Edges(None, [0, 2, 3, 2**60]),
    Ticked(None, ("tv", "web"), ";"),
    Present(None),
]


def alone(values, reading):
    """Return each value as a column of its own."""
    return [Column(np.fromiter([v], object, 1), reading=reading) for v in values]


@pytest.mark.parametrize("reading", [Reading(), Reading(decimal=",")], ids=["point", "comma"])
@pytest.mark.parametrize("values", MIXED.values(), ids=MIXED)
def test_values_that_share_a_text_are_read_as_each_would_be_alone(values, reading):
    rng = np.random.default_rng(4)
    rows = rng.integers(0, len(values), 300) if values else np.empty(0, np.int64)
    many = [values[i] for i in rows]
    column = Column(np.fromiter(many, object, len(many)), reading=reading)
    for part, own in ((column, many), (column[:5], many[:5]), (column[5::7], many[5::7])):
        singles = alone(own, reading)
        assert part.texts.tolist() == [read_text(v) for v in own]
        assert part.present.tolist() == [read_text(v) is not None for v in own]
        assert numbers_of(part) == [reading.number(v) for v in own]
        for cell in CELLS:
            want = [int(cell.slots(single)[0]) for single in singles]
            assert cell.slots(part).tolist() == want, cell
        counted = part.occurring(np.arange(len(own)))
        want = dict.fromkeys(part.texts.tolist(), 0)
        for k, text in enumerate(part.texts.tolist()):
            want[text] += k
        assert counted == {text: k for text, k in want.items() if k}


@pytest.mark.parametrize("arrow", [True, False], ids=["arrow", "no arrow"])
@pytest.mark.parametrize(
    "kind", ["str", "object", "string[python]", "string[pyarrow]", "category", "polars", "chunks"]
)
def test_series_of_text_are_read_by_their_distinct_values(kind, arrow, monkeypatch):
    import pandas as pd

    values = [*WRITTEN, None] * 20
    if kind == "polars":
        series = pl.Series("x", values)
    elif kind == "chunks":
        series = pa.chunked_array([values[:7], [], values[7:]])
    else:
        series = pd.Series(values, dtype=kind)
    if not arrow:
        monkeypatch.setattr("sourdine.frames.memory._coded", lambda _: None)
    column = Frame(series).column()
    assert isinstance(column, CodedText) == (arrow and kind != "object")
    for part, own in ((column, values), (column[3:9], values[3:9])):
        assert len(part) == len(own)
        assert part.texts.tolist() == [read_text(v) for v in own]
        assert numbers_of(part) == [read_number(v) for v in own]
        assert [read_text(v) for v in part.data] == [read_text(v) for v in own]
        for cell in CELLS:
            want = [int(cell.slots(single)[0]) for single in alone(own, Reading())]
            assert cell.slots(part).tolist() == want, cell
    keys, counts = Frame(series).distinct()
    assert dict(zip(keys, counts.tolist(), strict=True)) == {
        text: 20 * WRITTEN.count(text) for text in sorted(set(WRITTEN) - {""})
    }
