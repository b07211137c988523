"""Public tables whose columns are added to the rows of a statistic."""

from __future__ import annotations

import json
from collections import Counter

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import sourdine as sd
from sourdine.frames.frame import Frame

REGIONS = "code,region,people,since\n1,north,1000,2001-05-01\n2,Süd,,1999-01-01\n03,west,2.5,\n"
CODES = [1, 2, 3, None, 1, 7, 2, 1]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "regions.csv"
    path.write_text(REGIONS)
    return str(path)


def opened(tmp_path):
    frame = pd.DataFrame({"code": pd.array(CODES, "Int64"), "x": np.arange(8.0)})
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    yield "pandas", frame
    yield "polars", pl.from_pandas(frame)
    yield "polars lazy", pl.from_pandas(frame).lazy()
    yield "parquet", tmp_path / "rows.parquet"
    yield "csv", tmp_path / "rows.csv"
    yield "relation", duckdb.connect().from_arrow(pl.from_pandas(frame).to_arrow())
    yield "list", {"code": CODES, "x": list(range(8))}


def test_every_engine_finds_the_same_rows(table, tmp_path):
    for name, data in opened(tmp_path):
        frame = Frame(data).derived(
            "people is null or people > 1", ("by", "region"), ("column", "people / 2 + x"),
            ("by", "year(since)"), lookup={table: "code"},
        ).computed()  # fmt: skip
        assert dict(zip(*frame.distinct("region"), strict=True)) == {"north": 3, "Süd": 2}, name
        assert dict(zip(*frame.distinct("year(since)"), strict=True)) == {"2001": 3, "1999": 2}
        assert len(frame) == 8, name
        halves = Counter(str(500 + x) for x in (0, 4, 7))
        assert dict(zip(*frame.distinct("people / 2 + x"), strict=True)) == dict(halves), name


def test_statistics_look_up(table):
    data = {"code": CODES * 100, "x": [1] * 800}
    asked = {"lookup": {table: "code"}, "by": "region", "keys": ["north", "Süd", "west"]}
    release = sd.count(data, **asked, where="since >= '2000-01-01'", epsilon=50)
    assert abs(release.value["north"] - 300) < 5
    assert abs(release.value["Süd"]) < 5
    said = json.loads(release.to_json())["question"]
    assert said["lookup"] == {table: "code"}
    assert f"looked up in {table} by code" in release.caveats[0]
    session = sd.Session(data, epsilon=100)
    session.mean(column="people", bounds=(0, 1000), lookup={table: "code"}, epsilon=1)
    assert json.loads(session.history[-1].parameters)["lookup"] == {table: "code"}


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ("code,a\n1,2\n1,3\n", "code", "one row for each code, got '1' twice"),
        ("kode,a\n1,2\n", "code", "join by a column that"),
        ("code,x\n1,2\n", "code", "add columns that the data do not have"),
        ("code,a\n1,2\n", "cod", "join by columns of the data"),
    ],
)
def test_wrong_tables_are_refused_before_anything_is_charged(text, key, said, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text)
    session = sd.Session({"code": [1, 2], "x": [1, 2]}, epsilon=1)
    with pytest.raises(sd.ParameterError) as caught:
        session.count(epsilon=1, lookup={str(path): key})
    assert said in str(caught.value)
    assert not session.history
    with pytest.raises(FileNotFoundError):
        session.count(epsilon=1, lookup={"none.csv": "code"})
