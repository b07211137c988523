"""A sanitised table carries its schema, and nothing else is estimated by it."""

from __future__ import annotations

import json
import shutil
import stat

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sourdine.errors import ParameterError
from sourdine.local import Choice, Flag, Number, Schema, estimate
from sourdine.local.table.schema_files import KEY, beside, carried

COLUMNS = {"age": Number(0, 99, step=1), "vote": Choice("yes", "no"), "été": Flag()}
SCHEMA = Schema.of(COLUMNS, epsilon=3, missing="random")
RAW = {"age": [20, 30, 40] * 50, "vote": ["yes", "no", "yes"] * 50, "été": [True, False, True] * 50}
OTHERS = {
    "epsilon 6 in place of 3": Schema.of(COLUMNS, epsilon=6, missing="random"),
    "the method 'sample'": Schema.of(COLUMNS, epsilon=3, method="sample", missing="random"),
    "without a column 'été'": Schema.of(
        {k: COLUMNS[k] for k in ("age", "vote")}, epsilon=3, missing="random"
    ),
    "column 'vote' in another way": Schema.of(
        COLUMNS | {"vote": Choice("no", "yes")}, epsilon=3, missing="random"
    ),
    "column 'age' in another way": Schema.of(
        COLUMNS | {"age": Number(0, 98, 1)}, epsilon=3, missing="random"
    ),
    "other weights": Schema.of(COLUMNS, epsilon=3, weights={"age": 2}, missing="random"),
}
FILES = ("clean.csv", "clean.tsv", "clean.csv.gz", "clean.parquet", "a [*] b.csv", "a [*].parquet")


def raw_file(folder):
    path = folder / "raw.csv"
    pd.DataFrame(RAW).to_csv(path, index=False)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_file_is_estimated_by_its_own_schema(tmp_path, name):
    clean = SCHEMA.sanitize(raw_file(tmp_path), to=tmp_path / name)
    assert carried(clean, Schema.from_facts) == SCHEMA
    assert estimate(clean).schema == SCHEMA
    assert SCHEMA.estimate(str(clean)).reports("age") == 150


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", ["clean.csv", "clean.parquet"])
@pytest.mark.parametrize("what", OTHERS)
def test_another_schema_is_refused(tmp_path, name, what):
    clean = SCHEMA.sanitize(RAW, to=tmp_path / name)
    for unmarked in (False, True):
        with pytest.raises(ParameterError, match=f"sanitised with, got one .*{what}"):
            OTHERS[what].estimate(clean, unmarked=unmarked)


@pytest.mark.parametrize("frame", [pd.DataFrame, pa.table])
def test_frames_carry_their_schema(frame):
    clean = SCHEMA.sanitize(frame(RAW))
    assert estimate(clean).schema == SCHEMA
    assert estimate(clean[:60]).reports("age") == 60
    with pytest.raises(ParameterError, match="epsilon 6 in place of 3"):
        OTHERS["epsilon 6 in place of 3"].estimate(clean)


@pytest.mark.parametrize("frame", [pl.DataFrame, dict])
def test_what_has_no_place_for_a_schema_is_estimated_by_the_one_given(frame):
    clean = SCHEMA.sanitize(frame(RAW))
    assert SCHEMA.estimate(clean).reports("age") == 150
    with pytest.raises(
        ParameterError, match="schema must be given, as the table contains no schema"
    ):
        estimate(clean)


@pytest.mark.slow
def test_what_pandas_and_arrow_write_carries_it_on(tmp_path):
    SCHEMA.sanitize(pd.DataFrame(RAW)).to_parquet(tmp_path / "pandas.parquet")
    pq.write_table(SCHEMA.sanitize(pa.table(RAW)), tmp_path / "arrow.parquet")
    for name in ("pandas.parquet", "arrow.parquet", "*.parquet"):
        assert estimate(tmp_path / name).schema == SCHEMA
    assert estimate(pd.read_parquet(tmp_path / "pandas.parquet")).schema == SCHEMA


def test_a_raw_file_is_refused(tmp_path):
    raw = raw_file(tmp_path)
    with pytest.raises(ParameterError, match=r"without 'raw\.csv\.schema\.json' beside it"):
        SCHEMA.estimate(raw)
    pd.DataFrame(RAW).to_parquet(tmp_path / "raw.parquet")
    with pytest.raises(ParameterError, match="without a schema in its metadata"):
        SCHEMA.estimate(tmp_path / "raw.parquet")
    with pytest.raises(ParameterError, match="use unmarked=True"):
        SCHEMA.estimate(raw)
    assert SCHEMA.estimate(raw, unmarked=True).reports("vote") == 150


def test_a_changed_or_renamed_file_is_taken_only_if_told(tmp_path):
    clean = SCHEMA.sanitize(RAW, to=tmp_path / "clean.csv")
    other = shutil.copy(clean, tmp_path / "other.csv")
    clean.write_text("\n".join(clean.read_text().splitlines()[:-10]) + "\n")
    with pytest.raises(ParameterError, match="got one that has changed since"):
        estimate(clean)
    assert estimate(clean, unmarked=True).reports("age") == 140
    with pytest.raises(ParameterError, match="beside it"):
        SCHEMA.estimate(other)
    assert SCHEMA.estimate(other, unmarked=True).reports("age") == 150


def test_the_raw_file_under_the_name_of_the_clean_one_is_refused(tmp_path):
    clean = SCHEMA.sanitize(RAW, to=tmp_path / "clean.csv")
    shutil.copy(raw_file(tmp_path), clean)
    with pytest.raises(ParameterError, match="changed since"):
        SCHEMA.estimate(clean)


def test_files_of_different_schemas_are_not_mixed(tmp_path):
    SCHEMA.sanitize(RAW, to=tmp_path / "a.csv")
    OTHERS["epsilon 6 in place of 3"].sanitize(RAW, to=tmp_path / "b.csv")
    with pytest.raises(ParameterError, match="the files must contain the same schema"):
        SCHEMA.estimate(tmp_path / "*.csv")


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize(
    "text", ["", "[", "7", "[]", "{}", '{"table": 3}', '{"table": {}, "schema": {"epsilon": 1}}']
)
def test_a_damaged_schema_file_is_said_to_be(tmp_path, text):
    clean = SCHEMA.sanitize(RAW, to=tmp_path / "clean.csv")
    beside(clean).write_text(text)
    with pytest.raises(ParameterError, match=r"damaged|changed since"):
        estimate(clean)


@pytest.mark.parametrize("text", ["", "7", "[]", '{"epsilon": "1e999999999", "columns": {}}'])
def test_a_damaged_mark_is_said_to_be(text):
    clean = SCHEMA.sanitize(pa.table(RAW)).replace_schema_metadata({KEY: text})
    with pytest.raises(ParameterError, match="got damaged data"):
        estimate(clean)


@pytest.mark.parametrize(
    "forged", [lambda f: f["schema"].update(epsilon=30), lambda f: f.update(fingerprint="00")]
)
def test_a_forged_schema_beside_a_file_is_refused(tmp_path, forged):
    clean = tmp_path / "clean.csv"
    SCHEMA.sanitize(RAW, to=clean)
    facts = json.loads(beside(clean).read_text())
    forged(facts)
    beside(clean).write_text(json.dumps(facts))
    with pytest.raises(ParameterError):
        estimate(clean)


def test_the_file_beside_follows_no_planted_link(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    beside(tmp_path / "clean.csv").symlink_to(victim)
    clean = SCHEMA.sanitize(RAW, to=tmp_path / "clean.csv")
    assert victim.read_text() == "mine"
    assert stat.S_IMODE(beside(clean).stat().st_mode) == stat.S_IMODE(clean.stat().st_mode)
    assert json.loads(beside(clean).read_text())["fingerprint"] == SCHEMA.fingerprint
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "clean.csv",
        "clean.csv.schema.json",
        "victim",
    ]


def test_the_schema_of_a_lazy_frame_is_not_computed():
    """Polars warns where that is done, and warnings are errors here."""
    clean = SCHEMA.sanitize(pl.DataFrame(RAW))
    assert SCHEMA.estimate(clean.lazy(), unmarked=True).reports("age") == 150
