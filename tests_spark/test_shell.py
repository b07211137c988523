"""``sourdine mean FOLDER --engine spark``: a folder of Parquet or CSV, or a table."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from sourdine.cli.app import app
from sourdine.local import Number, Schema, estimate


@pytest.fixture
def folders(tmp_path):
    rows = pa.table({"age": list(range(100)), "who": [i % 10 for i in range(100)]})
    (tmp_path / "parts").mkdir()
    for i in range(2):
        pq.write_table(rows.slice(50 * i, 50), tmp_path / "parts" / f"part-{i}.parquet")
    (tmp_path / "texts").mkdir()
    lines = ["age,who", *(f"{i},{i % 10}" for i in range(100)), '"unclosed,3', "", "x"]
    (tmp_path / "texts" / "a.csv").write_text("\n".join(lines))
    return tmp_path


def said(*words):
    found = CliRunner().invoke(app, [*map(str, words), "--engine", "spark", "--json"])
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def test_a_folder_of_parquet(folders, sparks):
    asked = ["--column", "age", "--bounds", 0, 120, "--step", 1, "--epsilon", 100]
    assert sparks.classic is not None
    assert abs(said("mean", folders / "parts", *asked)["value"] - 49.5) < 1
    assert abs(said("mean", folders / "parts", *asked, "--unit", "who")["value"] - 49.5) < 50


def test_a_folder_of_texts(folders, sparks):
    assert sparks.classic is not None
    found = said("count", folders / "texts", "--column", "age", "--epsilon", 100)
    assert 100 <= found["value"] <= 103


def test_a_table_and_a_ledger(folders, sparks):
    sparks.classic.read.parquet(str(folders / "parts")).createOrReplaceTempView("people")
    book = ["--ledger", folders / "a.ledger", "--total", 3]
    found = said("count", "spark:people", "--epsilon", 1, *book)
    assert found["ledger"]["remaining"]["epsilon"] == "2"


def test_a_folder_is_sanitised_to_another(folders, sparks):
    schema = folders / "schema.toml"
    Schema(age=Number(0, 120, step=1), epsilon=2, missing="random").write(schema)
    words = ["sanitize", folders / "parts", "--schema", schema, "-o", folders / "clean"]
    words += ["--drop", "who", "--engine", "spark"]
    done = CliRunner().invoke(app, [*map(str, words)])
    assert done.exit_code == 0, done.output
    assert sparks.classic.read.parquet(str(folders / "clean")).columns == ["age"]
    assert estimate(str(folders / "clean" / "*.parquet")).reports("age") == 100
    again = CliRunner().invoke(app, [*map(str, words)])
    assert again.exit_code == 1
    assert "File already exists: " in str(again.exception)


def test_a_master_without_spark_is_refused(folders):
    words = ["count", str(folders / "texts" / "a.csv"), "--epsilon", "1", "--master", "local"]
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code == 1
    assert "--master must be omitted without --engine" in str(refused.exception)
