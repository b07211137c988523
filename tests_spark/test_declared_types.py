"""A Spark frame's types are public: what they cannot hold is refused before anything is charged."""

from __future__ import annotations

import pytest

import sourdine as sd
from sourdine.cli.options import records
from sourdine.errors import ParameterError
from sourdine.frames.spark.opening import open_stored
from sourdine.local.table.columns import Number
from sourdine.local.table.schema import Schema

HOLDS = {
    "1": "numbers", "1.5D": "numbers", "true": "numbers", "1.5BD": "numbers", "'12'": "words",
    "date'2024-02-29'": "dates", "timestamp'2024-02-29 12:00:00'": "dates",
    "interval '1' day": "other", "array(1, 2)": "nested", "map('a', 1)": "nested",
    "named_struct('a', 1)": "nested",
}  # fmt: skip


def test_types_of_spark_are_declared(spark):
    columns = ", ".join(f"{value} AS c{i}" for i, value in enumerate(HOLDS))
    frame = sd.Frame(spark.sql(f"SELECT {columns}"))
    assert [frame.declared(name).holds for name in frame.columns] == list(HOLDS.values())
    session = sd.Session(frame, epsilon=9)
    for name, holds in zip(frame.columns, HOLDS.values(), strict=True):
        if holds != "numbers":
            with pytest.raises(ParameterError, match="must hold") as error:
                session.mean(column=name, bounds=(0, 20), epsilon=1)
            assert repr(name) in str(error.value)
    assert session.charges == []


def test_text_that_spark_parses_has_no_types(spark, tmp_path):
    del spark
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n", encoding="utf-8")
    assert sd.Frame(open_stored(str(path))).declared("x") is None
    path.write_text("x,y,x\n1,2,3\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="different names"):
        open_stored(str(path))


def test_a_table_is_sanitised_by_the_types_that_it_declares(spark, tmp_path):
    schema = Schema(age=Number(0, 120, step=1, missing=True), epsilon=1)
    texts = spark.sql("SELECT '31' AS age")
    with pytest.raises(ParameterError, match="frame must hold numbers in 'age'") as refusal:
        schema.sanitize(texts, to=tmp_path / "refused")
    assert not (tmp_path / "refused").exists()
    assert schema.sanitize(texts, to=tmp_path / "clean", **refusal.value.tries).count() == 1


def test_a_folder_of_csv_declares_no_types(spark, tmp_path):
    del spark
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a.csv").write_text("age\n31\n?\n", encoding="utf-8")
    frame, reading = records(str(tmp_path / "rows"), {"engine": "spark"}, None)
    schema = Schema(age=Number(0, 120, step=1, missing=True), epsilon=1)
    assert schema.sanitize(frame, to=tmp_path / "clean", read=reading).count() == 2
