"""Files of other programs: every cell is read alone, and no value raises an error."""

from __future__ import annotations

import base64
import builtins
import datetime as dt
import gzip
import sys

import numpy as np
import pyarrow as pa
import pytest

import sourdine as sd
from file_writers import Raw, write_json_lines, write_xlsx
from sourdine.errors import MissingExtraError, MissingFileError, ParameterError
from sourdine.frames.cells import Codes, Ticks
from sourdine.frames.formats import _CHUNK, ReadstatFile, json_records, worksheets
from sourdine.frames.frame import Frame
from sourdine.frames.reading import Reading
from sourdine.grid import Grid

PRIVATE = "a private name"


def texts(frame, name):
    return frame.column(name).texts.tolist()


# ---- Excel ---------------------------------------------------------------------------------------


CELLS = {
    "number": (31, "31"),
    "text": ("abc", "abc"),
    "number in a text": ("12", "12"),
    "blanks": (" 2 ", " 2 "),
    "true": (True, "true"),
    "error": (Raw('<c r="{at}" t="e"><v>#DIV/0!</v></c>'), None),
    "not available": (Raw('<c r="{at}" t="e"><v>#N/A</v></c>'), None),
    "formula": (Raw('<c r="{at}"><f>1+1</f><v>2</v></c>'), "2"),
    "formula of a text": (Raw('<c r="{at}" t="str"><f>A1</f><v>hello</v></c>'), "hello"),
    "formula that was never computed": (Raw('<c r="{at}"><f>1+1</f></c>'), None),
    "date": (dt.date(2024, 2, 29), "2024-02-29"),
    "moment": (dt.datetime(2024, 2, 29, 12, 30), "2024-02-29 12:30:00"),  # noqa: DTZ001
    "time of day": (Raw('<c r="{at}" s="3"><v>0.5</v></c>'), "12:00:00"),
    "date beyond Python's": (Raw('<c r="{at}" s="1"><v>1e300</v></c>'), "1e+300"),
    "large": (2**53 - 1, str(2**53 - 1)),
    "beyond the numbers": (Raw('<c r="{at}"><v>1e999</v></c>'), "inf"),
    "no number": (Raw('<c r="{at}"><v>NaN</v></c>'), None),
    "empty": (None, None),
    "entities": ("<&>", "<&>"),
}


def test_a_cell_of_a_sheet_is_read_alone(tmp_path):
    """Each cell gives what it gives when every other cell is a number, a text, or not there."""
    for name, (cell, want) in CELLS.items():
        for other in (None, 1, "x", CELLS["error"][0]):
            rows = [["a", "b"], [other, 1], [cell, 1], [other, 1]]
            frame = Frame(write_xlsx(tmp_path / "a.xlsx", {"S": rows}))
            assert texts(frame, "a")[1] == want, (name, other)
            assert len(frame) == 3


def test_numbers_and_dates_of_a_sheet_count(tmp_path):
    rows = [["x"], *([cell] for cell, _ in CELLS.values())]
    frame = Frame(write_xlsx(tmp_path / "a.xlsx", {"S": rows}))
    tally = frame.tally(Ticks("x", Grid(0, 100, step=1)))
    assert tally.total == len(frame) == sum(want is not None for _, want in CELLS.values())
    counts = dict(zip(tally.ticks.tolist(), tally.tallied.tolist(), strict=True))
    assert counts == {1: 1, 2: 2, 12: 1, 31: 1, 100: 3}
    days = frame.tally(Ticks("x", Grid("2024-01-01", "2024-12-31")))
    assert days.total - days.missing == 2


def test_rows_of_a_sheet(tmp_path):
    """Blank rows are none, wherever they stand; cells beyond the names are dropped."""
    rows = [
        None,
        None,
        [None, "age", "sex"],
        None,
        [None, 31, "f"],
        None,
        [9, 4, None, 7],
        [None],
        [],
    ]
    frame = Frame(write_xlsx(tmp_path / "a.xlsx", {"S": rows}))
    assert frame.columns == ("column0", "age", "sex")
    assert texts(frame, "age") == ["31", "4"]
    assert texts(frame, "sex") == ["f", None]
    declared = Frame(tmp_path / "a.xlsx", read={"header": ["one", "two"]})
    assert texts(declared, "one") == [None, None, "9"]
    assert texts(declared, "two") == ["age", "31", "4"]


def test_merged_cells_hold_their_value_once(tmp_path):
    rows = [["who", "pay", ""], ["ann", 1, 2], [None, 3, 4]]
    path = write_xlsx(tmp_path / "a.xlsx", {"S": rows}, merged=("B1:C1", "A2:A3"))
    frame = Frame(path)
    assert frame.columns == ("who", "pay")
    assert texts(frame, "who") == ["ann", None]


def test_sheets_by_name(tmp_path):
    sheets = {"First": [["a"], [1]], "Second sheet": [["b"], [2], [3]], "Empty": []}
    path = write_xlsx(tmp_path / "a.xlsx", sheets)
    assert worksheets(str(path)) == list(sheets)
    assert Frame(f"{path}").columns == ("a",)
    assert texts(Frame(f"{path}#Second sheet"), "b") == ["2", "3"]
    with pytest.raises(ParameterError, match="Did you mean 'First'") as caught:
        Frame(f"{path}#Frist")
    assert "Second" not in str(caught.value)
    with pytest.raises(ParameterError, match="must begin with a row of column names"):
        Frame(f"{path}#Empty")
    write_xlsx(tmp_path / "b.xlsx", {"First": [["a"], [5]], "Second sheet": [["c"]]})
    assert texts(Frame(f"{tmp_path}/*.xlsx#First"), "a") == ["1", "5"]
    with pytest.raises(ParameterError, match="must have the same columns"):
        Frame(f"{tmp_path}/*.xlsx#Second sheet")


def test_names_of_a_sheet_that_occur_twice_are_refused(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", {"S": [[PRIVATE, PRIVATE], [1, 2]]})
    with pytest.raises(ParameterError, match="distinct column names") as caught:
        Frame(path)
    assert PRIVATE not in str(caught.value)


# ---- SPSS, SAS and Stata -------------------------------------------------------------------------


readstat = pytest.importorskip("pyreadstat")
pd = pytest.importorskip("pandas")

DAYS = [dt.date(2024, 2, 29), None, dt.date(1960, 1, 1), dt.date(1999, 12, 31), dt.date(1970, 1, 1)]
TIMES = [
    None if day is None else dt.datetime(day.year, day.month, day.day, 23, 59, 58)  # noqa: DTZ001
    for day in DAYS
]
ROWS = {
    "x": [1.0, 2.5, float("nan"), 99.0, -1e30],
    "i": [1, 2**31 - 100, -3, 4, 0],
    "s": ["a", "çé", "", " 2", "yes"],
    "day": DAYS,
    "time": TIMES,
}


def write(path, rows=None, **options):
    frame = pd.DataFrame({n: pd.Series(v, dtype=_dtype(n)) for n, v in (rows or ROWS).items()})
    if path.suffix in {".sav", ".zsav"}:
        readstat.write_sav(frame, path, compress=path.suffix == ".zsav", **options)
    elif path.suffix == ".dta":
        readstat.write_dta(frame, path, **options)
    else:
        readstat.write_xport(frame, path, file_format_version=8, **options)
    return path


def _dtype(name):
    return {"x": "float64", "i": "int32", "time": "datetime64[us]"}.get(name, object)


WRITTEN = (".sav", ".zsav", ".dta", ".xpt")


@pytest.mark.parametrize("ending", WRITTEN)
def test_statistical_files_count_as_lists_do(tmp_path, ending, monkeypatch):
    monkeypatch.setattr("sourdine.frames.formats._CHUNK", 2)
    monkeypatch.setattr(ReadstatFile.chunks, "__defaults__", (2,))
    frame, listed = Frame(write(tmp_path / f"a{ending}")), Frame(ROWS)
    assert frame.columns == tuple(ROWS)
    assert len(frame) == 5
    assert [frame.declared(name).holds for name in ROWS] == [
        *("numbers", "numbers", "words", "dates", "dates")
    ]
    cells = [
        *(Ticks("x", grid) for grid in (Grid(0, 10, step=1), Grid(-5, 5, step=0.5))),
        Ticks("i", Grid(0, 10, step=1)),
        Ticks("day", Grid("1950-01-01", "2030-01-01")),
        Ticks("time", Grid("1950-01-01", "2030-01-01")),
        Codes("s", ["a", "çé", "yes", " 2"]),
    ]
    for cell in cells:
        own, want = frame.tally(cell), listed.tally(cell)
        assert own.missing == want.missing, cell
        assert own.tallied.tolist() == want.tallied.tolist(), cell
        assert own.ticks.tolist() == want.ticks.tolist(), cell
        blocks = [block[0] for block in frame.codes(cell, chunk=2)]
        (whole,) = (block[0] for block in listed.codes(cell))
        assert np.concatenate(blocks).tolist() == whole.tolist(), cell
    for name in ROWS:
        assert texts(frame, name) == texts(listed, name)
        assert frame.present(name) == listed.present(name)
    assert frame.moments(cells[0], 3) == listed.moments(cells[0], 3)
    assert frame.combinations(["s", "i"]) == listed.combinations(["s", "i"])
    assert [len(p) for p in frame.split("s", ["a", "yes"])] == [1, 1]
    assert len(frame.bound("s", 1)) == 5
    assert texts(frame.only("day", "s"), "day")[0] == "2024-02-29"


SAS = """
H4sIAAAAAAACA+3aP0gCURwH8J92QaaDkoODkESDg4RSFIGQB14o6KRDQ0NGQg61qJCTtkU0NbdX0FRzYTk0iks0FUSDNDVl
UHndec/Uh5eGU/X9yPHzvu/e8/7wwINH1HL1tL1yZreVz/dHyHTt23OMW23TRBNkIB99y96xFxNjrsVwRAqKcTEmxV16qAe1
v3ZcIFNI34utylFHshIZuXh+yuvz+qJepc4odTaS2sxuEQAAAAAAAAAAAAAAAAAAwH9kUj5EtxZtzz3U2VpkuYPrVWB5oBkY
tBJkuZ/Lq2atLnP5kZkbh1nXyd06eXW0ew4AAAAAf1P9TW7o93gvjQzU30PCQP0HPX/eu9ZdDnG5epWC8me7ebVCYzOShWu3
c/vt2NCy+ytxsiNcrE6S9trg5u4K0Qfr62nL+PXB6prdtLKtJXKUSW0kg2JcXVssxcNR6UXRPO92NUU/98XJ6rBOu9BrAGv3
WOZgBsKvZGifGc8LieZ7/8ON+iodGvPcsfX4QqB0WDpufK285jvqBavdFJcCrlU2zyt0qZR8rXwqHmRpx/84V88l01rj7on6
ewW1DQ8FAAAAAAAA4Gc+AWllmgEAQAAA
"""
"""Five rows, written by ReadStat from R: x, s, day and time, with the special missing value .A."""


def test_a_file_of_sas(tmp_path):
    path = tmp_path / "people.sas7bdat"
    path.write_bytes(gzip.decompress(base64.b64decode(SAS)))
    frame = Frame(path)
    assert texts(frame, "x") == ["1", "2.5", None, "99", "-1e+300"]
    assert texts(frame, "s") == ["a", "çé", None, " b", "yes"]
    assert texts(frame, "day") == ["2024-02-29", None, "1960-01-01", "1582-10-14", "1970-01-01"]
    assert texts(frame, "time")[0] == "2024-02-29 10:00:00"
    assert frame.declared("day").holds == frame.declared("time").holds == "dates"


def test_values_that_a_file_declares_missing_are_missing(tmp_path):
    rows = {"x": [1.0, 99.0, 98.0, 2.0], "s": ["a", "none", "b", "c"]}
    path = write(
        tmp_path / "a.sav", rows, missing_ranges={"x": [{"lo": 98, "hi": 99}], "s": ["none"]}
    )
    frame = Frame(path)
    assert texts(frame, "x") == ["1", None, None, "2"]
    path = write(tmp_path / "a.dta", {"x": [1.0, 2.0]}, missing_user_values=None)
    assert texts(Frame(path), "x") == ["1", "2"]


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xpt"])
def test_bytes_that_are_no_text_do_not_stop_a_file(tmp_path, ending):
    """In the file's own encoding the library raises an error, for one person's letters."""
    path = write(tmp_path / f"a{ending}")
    path.write_bytes(path.read_bytes().replace("çé".encode(), b"\xff\xfeb\xff"))
    assert texts(Frame(path), "s") == ["a", "\ufffd\ufffdb\ufffd", None, " 2", "yes"]
    assert texts(Frame(path, read={"encoding": "cp1252"}), "s")[1] == "ÿþbÿ"


def test_dates_that_no_calendar_has_are_missing(tmp_path):
    rows = {"x": [1e300, -6e10, float("nan"), 4e11, 13_923_532_800.25]}
    path = write(tmp_path / "a.sav", rows, variable_format={"x": "DATETIME20"})
    assert texts(Frame(path), "x") == [None, None, None, None, "2024-01-02 00:00:00.250000"]
    path = write(tmp_path / "a.sav", rows, variable_format={"x": "ADATE10"})
    assert texts(Frame(path), "x") == [None, None, None, None, "2024-01-02"]
    path = write(tmp_path / "a.dta", {"x": [1e300, 2.0, 4e6]}, variable_format={"x": "%td"})
    assert texts(Frame(path), "x") == [None, "1960-01-03", None]
    path = write(tmp_path / "a.dta", {"x": [1.5, 2.0]}, variable_format={"x": "%tq"})
    assert texts(Frame(path), "x") == ["1.5", "2"], "quarters are numbers"


def test_several_files_of_the_same_columns(tmp_path):
    write(tmp_path / "a.sav"), write(tmp_path / "b.sav")
    assert len(Frame(f"{tmp_path}/*.sav")) == len(Frame(tmp_path)) == 10
    write(tmp_path / "c.sav", {"y": ["a"]})
    with pytest.raises(ParameterError, match="must have the same columns"):
        Frame(f"{tmp_path}/*.sav")


def test_a_chunk_may_end_where_the_file_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(ReadstatFile.chunks, "__defaults__", (5,))
    assert len(Frame(write(tmp_path / "a.sav"))) == 5
    assert _CHUNK > 1000


# ---- JSON Lines ----------------------------------------------------------------------------------


LINES = {
    '{"x": 1}': "1",
    '{"x": "1"}': "1",
    '{"x": 9007199254740993}': "9007199254740993",
    '{"x": 1e400}': "inf",
    '{"x": ' + "9" * 5000 + "}": "inf",
    '{"x": true}': "true",
    '{"x": null}': None,
    '{"x": NaN}': None,
    '{"x": ""}': None,
    '{"x": {"y": 1}}': None,
    '{"x": [1]}': None,
    '{"y": 1}': None,
    '{"x": 1, "x": 2}': "2",
    '{"x": "\\ud800"}': "\ufffd",
    '{"x": "\\ud83d\\ude00"}': "😀",
    '{"x": 1': None,
    "{'x': 1}": None,
    "[1]": None,
    "1": None,
    "x": None,
    '{"x": 1} {"x": 2}': None,
    '{"x": ' + "[" * 100_000 + "}": None,
    '{"x": "' + "y" * (1 << 20) + '"}': None,
    "\x00": None,
}


def test_a_line_of_json_is_read_alone(tmp_path):
    for line, want in LINES.items():
        for other in ('{"x": 1}', '{"x": "a"}', "broken {"):
            path = tmp_path / "a.jsonl"
            path.write_text(f"{other}\n{line}\n\n \r\n{other}")
            frame = Frame(path, read={"header": ["x"]})
            assert len(frame) == 3, line[:50]
            assert texts(frame, "x")[1] == want, line[:50]


def test_bytes_of_json_lines(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'\xef\xbb\xbf{"x": "\xff"}\r\n{"x": "\xc3\xa9"}\r\n'))
    frame = Frame(path, read={"header": ["x", "y"]})
    assert texts(frame, "x") == ["\ufffd", "é"]
    assert texts(frame, "y") == [None, None]


def test_columns_of_json_lines_are_declared(tmp_path):
    path = write_json_lines(tmp_path / "a.jsonl", {PRIVATE: [1, 2]})
    with pytest.raises(ParameterError, match="header must name the columns") as caught:
        Frame(path)
    assert PRIVATE not in str(caught.value)
    with pytest.raises(ParameterError, match="encoding must be omitted for JSON Lines"):
        len(Frame(path, read={"header": ["x"], "encoding": "cp1252"}))
    release = sd.mean(path, column=PRIVATE, bounds=(0, 4), epsilon=1e6, read={"header": [PRIVATE]})
    assert release.value == pytest.approx(1.5, abs=0.01)
    assert release.to_dict()["question"]["read"] == {"header": [PRIVATE]}


def test_long_files_are_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("sourdine.frames.formats._LINES", 7)
    path = write_json_lines(tmp_path / "a.jsonl", {"x": list(range(50))}, more=["{", ""])
    frame = Frame(path, read={"header": ["x"]})
    assert frame.tally(Ticks("x", Grid(0, 49, step=1))).counts.tolist() == [*[1] * 50, 1]
    assert len(list(json_records(str(path), Reading()))) == 51


# ---- Arrow, damaged files, and libraries that are not installed ----------------------------------


def test_arrow_files_of_other_types_are_refused(tmp_path):
    for name, type_ in (("a", pa.int64()), ("b", pa.float64())):
        table = pa.table({"x": pa.array([1], type_)})
        with pa.ipc.new_file(tmp_path / f"{name}.arrow", table.schema) as file:
            file.write_table(table)
    with pytest.raises(ParameterError, match="must have the same columns"):
        Frame(f"{tmp_path}/*.arrow")
    with pytest.raises(ParameterError, match="'x' of type") as caught:
        sd.mean(Frame(tmp_path / "a.arrow"), bounds=("2020-01-01", "2021-01-01"), epsilon=1)
    assert "Int64" in str(caught.value)


ENDINGS = ("xlsx", "xlsm", "sav", "zsav", "dta", "xpt", "sas7bdat", "arrow", "arrows", "feather")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_damaged_file_is_refused_without_its_content(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    for content in (
        b"",
        PRIVATE.encode() * 100,
        b"PK\x03\x04" + PRIVATE.encode(),
        b"ARROW1\0\0" * 9,
    ):
        path.write_bytes(content)
        with pytest.raises(ParameterError, match="must be readable") as caught:
            Frame(path)
        assert PRIVATE not in str(caught.value)
        assert caught.value.__cause__ is None
    with pytest.raises(MissingFileError):
        Frame(tmp_path / f"b.{ending}")


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_a_file_that_ends_early_is_refused(tmp_path, ending):
    path = write(tmp_path / f"a{ending}", {"s": [PRIVATE] * 50})
    path.write_bytes(path.read_bytes()[:-400])
    with pytest.raises(ParameterError, match="must be readable") as caught:
        Frame(path).distinct("s")
    assert PRIVATE not in str(caught.value)


@pytest.mark.parametrize(
    ("ending", "library", "extra"),
    [
        ("xlsx", "python_calamine", "excel"),
        ("dta", "pyreadstat", "readstat"),
        ("arrow", "pyarrow", "arrow"),
    ],
)
def test_what_is_not_installed_is_named(tmp_path, monkeypatch, ending, library, extra):
    found = builtins.__import__

    def without(name, *more, **others):
        if name.split(".")[0] == library:
            raise ImportError
        return found(name, *more, **others)

    path = tmp_path / f"a.{ending}"
    path.write_bytes(b"x")
    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(sys.modules, library, raising=False)
    with pytest.raises(MissingExtraError, match=rf"'{extra}' extra.*\.\[{extra}\]"):
        Frame(path)
