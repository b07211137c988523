"""Files, tables and folders that cannot be: the error is about their names, not about data."""

from __future__ import annotations

import csv

import pytest

import sourdine as sd
from sourdine.frames.reading import Reading
from sourdine.frames.spark.opening import open_stored
from sourdine.local import Number, Schema

SCHEMA = Schema(id=Number(0, 100, step=1), epsilon=2, missing="random")


@pytest.mark.parametrize("to", ["{file}/clean", "/proc/nowhere/clean", "a:b", "nofs://host/clean"])
def test_a_folder_that_cannot_be_written(to, each_spark, tmp_path):
    (tmp_path / "file").write_text("a file")
    to = to.format(file=tmp_path / "file")
    with pytest.raises(sd.ParameterError, match=r"^to must be a folder that Spark can write, got"):
        SCHEMA.sanitize(each_spark.range(5), to=to)


def test_a_value_that_fails_is_not_blamed_on_the_folder(each_spark, tmp_path):
    rows = each_spark.range(3).selectExpr("cast(if(id = 1, 'x', '1') as int) as id")
    with pytest.raises(sd.ParameterError, match=r"^data must be readable to the end"):
        SCHEMA.sanitize(rows, to=tmp_path / "clean")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/nowhere/at/all.parquet", "No such file: '/nowhere/at/all.parquet'"),
        ("/nowhere/at/all.csv", "No such file: '/nowhere/at/all.csv'"),
        ("nowhere/*.parquet", "No such file: "),
        ("a:b.parquet", "the file must be readable by Spark, got 'a:b.parquet'"),
        ("nofs://host/x", "the file must be readable by Spark, got 'nofs://host/x'"),
        ("spark:nowhere", "the table must exist, got 'nowhere'"),
        ("spark:no where;", "the table must be readable by Spark, got 'no where;'"),
    ],
)
def test_what_is_not_there_is_named(path, told, sparks):
    assert sparks.classic is not None
    with pytest.raises(sd.SourdineError, match="^" + told.replace("*", r"\*")):
        open_stored(path)


def test_an_encoding_that_spark_does_not_read(sparks, tmp_path):
    assert sparks.classic is not None
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(sd.ParameterError, match=r"^encoding must be an encoding that Spark reads"):
        open_stored(str(tmp_path / "a.csv"), reading=Reading(encoding="cp1252"))


@pytest.mark.parametrize("columns", [20_480, 20_481, 1_000_000])
def test_a_line_of_any_number_of_columns_is_one_record(columns, sparks, tmp_path):
    """Of such a line the first columns are read, as of any line that is too long."""
    assert sparks.classic is not None
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n" + ",".join(["7"] * columns) + "\n3,4\n")
    assert sorted(told(open_stored(str(path)))) == [("1", "2"), ("3", "4"), ("7", "7")]


@pytest.mark.parametrize("header", [None, ["a", "b"]])
@pytest.mark.parametrize("separator", [None, ";", "|"])
def test_lines_are_read_as_csv_is(header, separator, sparks, tmp_path):
    """Quotes, blanks, empty and short and long lines, a character that is none."""
    assert sparks.classic is not None
    path, mark = tmp_path / "a.csv", separator or ","
    rows = [["a", "b"], ["x" + mark, 'say "hi"'], ["", " y "], ["\0n", "é"], ["1", "2"]]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=mark).writerows(rows)
        file.write(f'\nshort\n1{mark}2{mark}3\n"unclosed{mark}4\n')
    reading = Reading(separator=separator, header=header)
    want = [*rows[1 if header is None else 0 :], ["short", None], ["1", "2"]]
    want += [[f"unclosed{mark}4", None]]
    found = told(open_stored(str(path), reading=reading))
    assert found == [tuple(v or None for v in row) for row in want]


def told(engine):
    return [tuple(row) for row in engine._frame.collect()]
