"""Whole tables: what comes out follows from the schema and the paid mechanisms alone."""

from __future__ import annotations

import csv
import gzip
import logging
import os
import re
import subprocess
import sys
import tempfile
from fractions import Fraction
from itertools import product

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from sourdine.audit import p_value, replay
from sourdine.audit.exhaustive import ALPHA
from sourdine.errors import ExistingFileError, MissingExtraError, ParameterError
from sourdine.frames.cells import Ticks
from sourdine.frames.frame import Frame
from sourdine.grid import Grid
from sourdine.local import density
from sourdine.local.table import sanitize as crews
from sourdine.local.table.blocks import excluding, prepared, shown_block
from sourdine.local.table.columns import Choice, Choices, Flag, Number
from sourdine.local.table.sanitize import counted_rows
from sourdine.local.table.schema import Schema
from sourdine.noise import SYSTEM, SeededSource
from sourdine.results.release import Release

SCHEMA = Schema(
    age=Number(0, 120, step=1),
    size=Number(0, 2, step=0.01, method="laplace"),
    income=Number(0, 1000, step=10, method="staircase", missing=True),
    vote=Choice("yes", "no", 'it\'s, "complicated"', missing="no answer"),
    kids=Choice(0, 1, 2, 3),
    smokes=Flag(),
    drinks=Flag(missing=True),
    epsilon=7,
    missing="random",
)
ROWS = {
    "drinks": [True, False, None, True, False, None],
    "age": [31, 45, None, 999, -5, 60],
    "size": [1.61, 1.7, None, 5.0, 0.0, 1.9],
    "income": [100.0, None, 250.0, 10.0, None, 990.0],
    "vote": ["yes", "no", None, "unlisted", "", 'it\'s, "complicated"'],
    "kids": [0, 1, 2, 3, 9, None],
    "smokes": [1, 0, None, 1, 7, 0],
}
EPSILON_OF_ONE = Fraction(1)


def arrow_rows(n):
    table = pa.table(ROWS)
    return pa.concat_tables([table] * -(-n // len(table)))[:n]


def checked(clean):
    """Assert that every value is one that the schema can write."""
    found = SCHEMA.estimate(clean)
    rows = len(Frame(clean))
    for name in SCHEMA.columns:
        assert found.dropped[name] == 0, name
        assert found.reports(name) == rows, name


def test_pandas_stays_pandas():
    frame = arrow_rows(500).to_pandas()
    frame.index = [f"person {i}" for i in range(500)]
    clean = SCHEMA.sanitize(frame)
    assert isinstance(clean, pd.DataFrame)
    assert list(clean.columns) == list(ROWS)
    assert clean.index.tolist() == list(range(500))
    kinds = {name: str(kind) for name, kind in clean.dtypes.items()}
    assert kinds == {
        "drinks": "boolean", "age": "int64", "size": "float64", "income": "Int64",
        "vote": "str", "kids": "int64", "smokes": "bool",
    }  # fmt: skip
    checked(clean)


@pytest.mark.parametrize("lazy", [False, True])
def test_polars_stays_polars(lazy):
    frame = pl.from_arrow(arrow_rows(500))
    clean = SCHEMA.sanitize(frame.lazy() if lazy else frame)
    assert isinstance(clean, pl.DataFrame)
    assert clean.schema == {
        "drinks": pl.Boolean, "age": pl.Int64, "size": pl.Float64, "income": pl.Int64,
        "vote": pl.String, "kids": pl.Int64, "smokes": pl.Boolean,
    }  # fmt: skip
    checked(clean)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["table", "batch", "relation"])
def test_arrow_and_relations_give_arrow(kind):
    table = arrow_rows(500)
    connection = duckdb.connect()
    frame = {
        "table": lambda: table,
        "batch": lambda: table.combine_chunks().to_batches()[0],
        "relation": lambda: connection.from_arrow(table),
    }[kind]()
    clean = SCHEMA.sanitize(frame)
    assert isinstance(clean, pa.Table)
    assert [str(t) for t in clean.schema.types] == [
        *("bool", "int64", "double", "int64", "string", "int64", "bool")
    ]
    checked(clean)


def test_a_dict_stays_a_dict():
    clean = SCHEMA.sanitize({**ROWS, "kids": np.array([0, 1, 2, 3, 9, 1])})
    assert list(clean) == list(ROWS)
    assert {n: type(c) for n, c in clean.items() if n != "kids"} == {
        n: list for n in ROWS if n != "kids"
    }
    assert clean["kids"].dtype == np.int64
    checked(clean)


def test_arrays_with_blanks_are_masked():
    schema = Schema(
        a=Number(0, 9, 1, missing=True), b=Number(0, 1, 0.5), epsilon=0.1, missing="random"
    )
    clean = schema.sanitize({"a": np.arange(200) % 10, "b": np.ones(200)})
    assert isinstance(clean["a"], np.ma.MaskedArray)
    assert clean["a"].dtype == np.int64
    assert 0 < np.ma.count_masked(clean["a"]) < 200
    assert schema.estimate(clean).tallies["a"][-1] == np.ma.count_masked(clean["a"])


def test_types_do_not_depend_on_the_data():
    kinds = set()
    for value in (None, 3, "x", 1e308):
        for n in (0, 1, 40):
            frame = pd.DataFrame({name: [value] * n for name in ROWS}, dtype=object)
            clean = SCHEMA.sanitize(frame)
            kinds.add(tuple(map(str, clean.dtypes)))
            assert len(clean) == n
    assert len(kinds) == 1


@pytest.mark.parametrize("method", ["split", "sample"])
def test_replay_of_a_sanitised_table(method):
    """Between any two records all that differs is what the mechanisms cover, within epsilon."""
    columns = {
        n: c
        for n, c in SCHEMA.columns.items()
        if method == "split" or SCHEMA.parts()[n].none is None
    }
    schema = Schema.of(columns, epsilon=Fraction(7), method=method, missing="random")

    def call(rows):
        frame = {n: [row[j] for row in rows] for j, n in enumerate(ROWS) if n in columns}
        clean = schema.sanitize(frame, source=SeededSource(5))
        part = schema.parts()[next(iter(columns))]
        cost, value = schema.guarantee, [str(v) for c in clean.values() for v in c]
        return Release(value=value, cost=cost, mechanism=part.mechanism, drawn={"t": len(rows)})

    rows = list(zip(*ROWS.values(), strict=True))
    changed = [
        [*rows[:2], row, *rows[3:]]
        for row in (rows[0], rows[3], (None,) * 7, (True, 1e400, "x", "y", "z", "w", "v"))
    ]
    for neighbour in changed:
        found = replay(call, rows, neighbour)
        assert found.holds, found.faults
        assert len(found.steps) == len(columns)
    two_changed = [rows[1], rows[0], *rows[2:]]
    assert not replay(call, rows, two_changed).holds


@pytest.mark.slow
def test_every_column_follows_its_law():
    """The table holds what the mechanisms drew, and each column's own cell decides it."""
    n = 30_000
    clean = SCHEMA.sanitize({name: [values[0]] * n for name, values in ROWS.items()})
    for name, part in SCHEMA.parts().items():
        (slots,) = Frame({name: ROWS[name][:1]}).codes(part.cell)
        law = part.mechanism.law(int(slots[0][0]))
        back = [part.read_back(s[0]) for s in Frame({name: clean[name]}).codes(part.written_cell)]
        assert p_value(np.concatenate(back), law) >= ALPHA, name


@pytest.mark.slow
def test_the_pattern_of_blanks_is_independent_of_the_data():
    n = 40_000
    share = {}
    for value in (500, None):
        clean = SCHEMA.sanitize({**{k: [None] * n for k in ROWS}, "income": [value] * n})
        share[value] = sum(v is None for v in clean["income"]) / n
        for name in ("age", "size", "vote", "kids", "smokes"):
            assert None not in clean[name]
    p, q = SCHEMA.parts()["income"].mechanism.flag.channel
    assert abs(share[None] - p) < 0.02
    assert abs(share[500] - q) < 0.02


def test_one_column_a_person():
    schema = Schema(
        age=Number(0, 120, 1),
        vote=Choice("yes", "no"),
        smokes=Flag(),
        epsilon=1,
        method="sample",
        weights={"age": 2},
        missing="random",
    )
    n = 8000
    clean = schema.sanitize({"age": [30] * n, "vote": ["yes"] * n, "smokes": [True] * n})
    answered = [[v is not None for v in clean[name]] for name in clean]
    assert set(map(sum, zip(*answered, strict=True))) == {1}
    counts = [sum(column) for column in answered]
    assert abs(counts[0] - n / 2) < 400
    assert abs(counts[1] - n / 4) < 400
    assert list(schema.estimate(clean).counts.values()) == counts
    frame = pl.DataFrame({"age": [30] * n, "vote": ["yes"] * n, "smokes": [True] * n})
    assert (schema.sanitize(frame).null_count().sum_horizontal() == 2 * n).all()


def test_reports_come_in_blocks():
    schema = Schema.of(
        {"a": Choice(*range(40)), "b": Flag()}, epsilon=2, method="sample", missing="random"
    )
    frame = {"a": np.arange(140_000) % 40, "b": np.ones(140_000, bool)}
    blocks = list(schema.randomised(frame))
    assert sum(block.rows for block in blocks) == 140_000
    for block in blocks:
        for j, (name, reports) in enumerate(block.reports.items()):
            assert np.count_nonzero(block.asked == j) == len(reports)
            assert schema.parts("report")[name].mechanism.valid(reports).all()


DIRTY = b"""drinks,age,size,income,vote,kids,smokes,note
true,31,1.61,100,yes,0,1,SECRET1
"SECRET2",1e400,-1e400,SECRET3,"SEC""RET4",SECRET5,SECRET6,
,,,,,,,
FALSE,"SECRET7
second line",0x10,1_000,"yes ",nan,inf,x
True,12,abc,5,no,3,0,a,b,c,SECRET8,d
false
'31','SECRET9',"balanced ""quotes"" ","",YES,"",""
1,99999999999999999999999999999999999999999999,1e-400,1e5,it's,2,true,y
\xff\xfe,7,7,7,7,7,7,SECRET10
0,8,0.5,20,no,1,0,"an open quote SECRET11
"""
FORMS = {
    "drinks": r"(true|false)?",
    "age": r"-?\d+",
    "size": r"\d\.\d\d",
    "income": r"(\d+)?",
    "vote": r"yes|no|it's, \"complicated\"|no answer",
    "kids": r"[0-3]",
    "smokes": r"true|false",
}


RECORDS = len(list(csv.reader(DIRTY.decode("utf-8", "replace").splitlines(keepends=True)))) - 1


@pytest.mark.slow
def test_a_dirty_csv_leaves_no_trace(tmp_path, capfd, caplog):
    caplog.set_level(logging.DEBUG)
    dirty, clean = tmp_path / "dirty.csv", tmp_path / "clean.csv"
    dirty.write_bytes(DIRTY)
    for _ in range(5):
        assert SCHEMA.sanitize(dirty, to=clean, drop=["note"], overwrite=True) == clean
        text = clean.read_text()
        assert "SECRET" not in text
        with clean.open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert list(rows[0]) == list(FORMS)
        assert len(rows) == RECORDS
        for row in rows:
            for name, form in FORMS.items():
                assert re.fullmatch(form, row[name]), name
        checked(clean)
    assert capfd.readouterr() == ("", "")
    assert caplog.text == ""
    schema = tmp_path / "clean.csv.schema.json"
    assert sorted(tmp_path.iterdir()) == sorted([clean, dirty, schema])
    assert "SECRET" not in schema.read_text()


def test_the_header_alone(tmp_path):
    empty, clean = tmp_path / "e.csv", tmp_path / "c.parquet"
    empty.write_bytes(DIRTY.splitlines()[0] + b"\n")
    SCHEMA.sanitize(empty, to=clean, drop="note")
    assert pq.read_table(clean).num_rows == 0
    assert pq.read_table(clean).column_names == list(ROWS)
    SCHEMA.sanitize(empty, to=tmp_path / "c.csv", drop="note")
    assert (tmp_path / "c.csv").read_text() == ",".join(ROWS) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet"])
def test_files_are_written_by_their_ending(ending, tmp_path):
    path, clean = tmp_path / "rows.parquet", tmp_path / f"clean.{ending}"
    pq.write_table(arrow_rows(3000), path)
    SCHEMA.sanitize(path, to=clean)
    checked(clean)
    if ending == "csv.gz":
        assert gzip.decompress(clean.read_bytes()).startswith(b"drinks,age")
    if ending == "tsv":
        assert clean.read_text().startswith("drinks\tage")
    frame = SCHEMA.sanitize(pl.from_arrow(arrow_rows(10)), to=clean, overwrite=True)
    assert frame == clean
    checked(clean)


def test_a_single_column_with_blanks_keeps_its_rows(tmp_path):
    schema = Schema(a=Flag(missing=True), epsilon=0.1, missing="random")
    clean = tmp_path / "clean.csv"
    schema.sanitize({"a": [True] * 500}, to=clean)
    assert schema.estimate(clean).reports("a") == 500


def test_a_failure_leaves_no_file(tmp_path):
    frame = pl.LazyFrame({"a": ["x1"]}).select(pl.col("a").cast(pl.Int64, strict=True))
    with pytest.raises(ParameterError) as error:
        Schema(a=Number(0, 1, 1), epsilon=1, missing="random").sanitize(
            frame, to=tmp_path / "clean.csv"
        )
    assert "x1" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda s: s.sanitize({"a": [1], "b": [2], "c": [3]}), "or dropped, got 'c'"),
        (lambda s: s.sanitize({"a": [1]}), "got no column 'b'"),
        (lambda s: s.sanitize({"a": [1], "b": [2]}, drop=["c"]), "drop must name columns"),
        (lambda s: s.sanitize({"a": [1], "b": [2]}, drop=["a"]), "drop must name columns"),
        (lambda s: s.sanitize("x.csv"), "to must name the output file"),
        (lambda s: s.sanitize({"a": [1], "b": [2]}, to="x.xls"), "to must end in .csv"),
        (lambda s: s.sanitize({"a": [1], "b": [2]}, to="no/where/x.csv"), "an existing folder"),
        (lambda s: s.sanitize({"a": [1], "b": [2]}, to=3), "to must be a path"),
        (lambda s: s.sanitize({"a": [1], "b": [2]}, progress="yes"), "progress must be True or"),
    ],
)
def test_bad_calls_are_refused(call, said):
    schema = Schema(a=Flag(), b=Number(0, 9, 1), epsilon=1, missing="random")
    with pytest.raises((ParameterError, TypeError), match=said):
        call(schema)


def test_tables_refuse_what_they_cannot_show(tmp_path):
    both = Schema(a=Flag(missing=True), epsilon=1, method="sample", missing="random")
    with pytest.raises(ParameterError, match="A blank would be ambiguous"):
        both.sanitize({"a": [True]})
    bits = Schema(a=Choice("x", "y", method="unary"), epsilon=1, missing="random")
    with pytest.raises(ParameterError, match="method must be 'response' in a table"):
        bits.sanitize({"a": ["x"]})
    path = tmp_path / "a.csv"
    path.write_text("a\ntrue\n")
    with pytest.raises(ParameterError, match="differ from the file that is read"):
        Schema(a=Flag(), epsilon=1, missing="random").sanitize(path, to=path)


@pytest.mark.slow
def test_workers_give_the_same_law(monkeypatch):
    """Blocks done by other processes come in order and follow the same laws."""
    monkeypatch.setattr(crews, "LONG", 1)
    rng = np.random.default_rng(0)
    slots = [
        [rng.integers(-1, p.cell.size, 2000) for p in SCHEMA.parts().values()] for _ in range(6)
    ]
    one = slots[0][0].copy()
    for block in slots:
        block[0][:] = one
    blocks = list(crews.shown_blocks(SCHEMA, iter(slots), SYSTEM, workers=2))
    assert [len(b[0]) for b in blocks] == [2000] * 6
    assert len({b[0].tobytes() for b in blocks}) == 6
    part = SCHEMA.parts()["age"]
    near = [np.abs(part.written.values(b[0]) - one)[one >= 0].mean() for b in blocks]
    assert np.ptp(near) < 8


@pytest.mark.slow
def test_a_worker_answers_itself():
    slots = [np.zeros(10, np.int64) for _ in SCHEMA.columns]
    with crews.Worker(SCHEMA) as worker:
        assert len(worker.run(slots)) == 7
        assert worker._process is not None, "the work was done here"


def test_a_dead_worker_is_replaced(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    slots = [np.zeros(10, np.int64) for _ in SCHEMA.columns]
    with crews.Worker(SCHEMA) as worker:
        assert len(worker.run(slots)) == 7
    monkeypatch.setattr(sys, "executable", "/bin/true")
    with crews.Worker(SCHEMA) as worker:
        assert len(worker.run(slots)[0]) == 10


def test_without_arrow(monkeypatch, tmp_path):
    """Tables are dicts of arrays, and Parquet files are refused before anything is read."""
    schema = Schema(a=Flag(missing=True), epsilon=1, missing="random")
    relation = duckdb.sql("SELECT true AS a FROM range(7)")
    monkeypatch.setattr("sourdine.local.table.blocks.find_spec", lambda _: None)
    assert len(schema.sanitize(relation)["a"]) == 7
    with pytest.raises(MissingExtraError, match="This needs the 'arrow' extra"):
        schema.sanitize({"a": [True]}, to=tmp_path / "clean.parquet")


def test_a_seeded_table_repeats_itself():
    frame = {name: values * 50 for name, values in ROWS.items()}
    one, two = (SCHEMA.sanitize(frame, source=SeededSource(9)) for _ in range(2))
    assert one == two
    assert SCHEMA.sanitize(frame) != one


def test_a_bar_counts_records(capsys, monkeypatch):
    with counted_rows(Frame({"a": [1] * 30}), progress=True) as count:
        count(10)
        count(20)
    assert "30 records" in capsys.readouterr().err
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    SCHEMA.sanitize(ROWS)
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_a_script_needs_no_guard(tmp_path):
    """Workers are not forks of the caller: a plain script may sanitise a long table."""
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\n"
        "from sourdine.local import Flag, Schema\n"
        "from sourdine.local.table import sanitize\n"
        "sanitize.LONG, sanitize._cores = 1, lambda: 2\n"
        "schema = Schema(a=Flag(), epsilon=1, missing='random')\n"
        "clean = schema.sanitize({'a': np.ones(1 << 19, bool)})\n"
        "print(len(clean['a']), round(float(clean['a'].mean()), 1))\n"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, script], capture_output=True, text=True, check=True, env=os.environ
    )
    assert (done.stdout, done.stderr) == (f"{1 << 19} 0.7\n", "")


def test_blocks_know_absent_answers():
    slots = [np.full(20_000, -1) for _ in SCHEMA.columns]
    shown = dict(
        zip(SCHEMA.columns, shown_block(SCHEMA, SCHEMA.parts(), slots, SYSTEM), strict=True)
    )
    law = SCHEMA.parts()["kids"].mechanism.law(4)
    assert p_value(shown["kids"], law) >= ALPHA
    assert shown["kids"].min() == 0
    assert shown["income"].min() == -1


def rows_of(path):
    with path.open(newline="") as file:
        return len(list(csv.reader(file))) - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell", [b"Jos\xe9", b"x" * 3_000_000, b"a\0b", b"\xff\xfe", b'"a\nb"'], ids=len
)
def test_no_cell_makes_its_row_vanish(cell, tmp_path):
    """Nor in a column that is dropped: every record is a record of the output."""
    dirty, clean = tmp_path / "dirty.csv", tmp_path / "clean.csv"
    dirty.write_bytes(b"name,age\nAnn,1\n" + cell + b",2\nBob,3\n")
    Schema(age=Number(0, 120, 1), epsilon=1, missing="random").sanitize(
        dirty, to=clean, drop="name"
    )
    assert rows_of(clean) == 3
    packed = tmp_path / "dirty.csv.gz"
    packed.write_bytes(gzip.compress(dirty.read_bytes()))
    schema = Schema(age=Number(0, 120, 1), epsilon=1, missing="random")
    schema.sanitize(packed, to=clean, drop="name", overwrite=True)
    assert rows_of(clean) == 3
    assert sum(map(len, schema.reports(dirty))) == 3
    assert density(dirty, bounds=(0, 120), epsilon=1, column="age").reports == 3
    assert len(Frame(dirty)) == 3


def test_mended_files_are_read_as_before(tmp_path):
    """The detour for odd bytes changes no other cell."""
    dirty, clean = tmp_path / "dirty.csv", tmp_path / "clean.csv"
    dirty.write_bytes('age;vote\n"7";Zürich\n8;Bern\n;\xa0\n'.encode() + b"9;Jos\xe9\n")
    schema = Schema(
        age=Number(0, 9, 1),
        vote=Choice("Zürich", "Bern", missing="?"),
        epsilon=200,
        missing="random",
    )
    schema.sanitize(dirty, to=clean)
    found = [line.split(",") for line in clean.read_text().splitlines()[1:]]
    assert [row[1] for row in found] == ["Zürich", "Bern", "?", "?"]
    assert [row[0] for row in found if row[0] in "789"][:2] == ["7", "8"]


@pytest.mark.slow
def test_a_long_cell_takes_no_long_time():
    """By a pattern that backtracks this takes hours."""
    clean = Schema(age=Number(0, 120, 1), epsilon=1, missing="random").sanitize(
        {"age": ["1" * 1_000_000 + "x", "3", " " * 1_000_000 + "x"]}
    )
    assert len(clean["age"]) == 3


def test_a_clean_file_is_not_overwritten_by_mistake(tmp_path):
    raw, clean = tmp_path / "raw.csv", tmp_path / "clean.csv"
    raw.write_text("age\n3\n")
    schema = Schema(age=Number(0, 120, 1), epsilon=1, missing="random")
    schema.sanitize(raw, to=clean)
    first = clean.read_bytes()
    for data in (raw, {"age": [3]}):
        with pytest.raises(ExistingFileError, match="File already exists: ") as caught:
            schema.sanitize(data, to=clean)
        assert clean.read_bytes() == first
        schema.sanitize(data, to=caught.value.tries["to"])
    schema.sanitize(raw, to=clean, overwrite=True)
    written = {p.name for p in tmp_path.iterdir() if p.suffix == ".csv"}
    assert written == {"2-clean.csv", "3-clean.csv", "clean.csv", "raw.csv"}


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_an_unfinished_file_has_a_name_that_nobody_knows(ending, tmp_path, monkeypatch):
    """A link that was planted under a name of old is not followed."""
    clean, precious = tmp_path / f"clean.{ending}", tmp_path / "precious"
    precious.write_text("precious")
    (tmp_path / f".clean.{ending}.part").symlink_to(precious)
    schema = Schema(age=Number(0, 120, 1), epsilon=1, missing="random")
    schema.sanitize({"age": [3]}, to=clean)
    assert precious.read_text() == "precious"
    monkeypatch.setattr("sourdine.local.table.blocks.token_hex", lambda _: "known")
    (tmp_path / f".2.{ending}.known.part").symlink_to(precious)
    with pytest.raises(ParameterError, match="a writable folder"):
        schema.sanitize({"age": [3]}, to=tmp_path / f"2.{ending}")
    assert precious.read_text() == "precious"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the copy has a name")
def test_no_clear_copy_is_ever_in_a_folder(tmp_path, monkeypatch):
    """Not even while a file that had to be rewritten is read."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    dirty = tmp_path / "dirty.csv"
    dirty.write_bytes(b"name,age\n" + b"Jos\xe9,30\n" * 1000)
    frame = Frame(dirty)
    blocks = frame.codes(Ticks("age", Grid(0, 99, step=1)), chunk=10)
    next(blocks)
    assert [path for path in folder.rglob("*") if path.is_file()] == []
    assert sum(len(block[0]) for block in blocks) == 990


def test_what_is_read_is_not_overwritten(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("age\n3\n")
    schema = Schema(age=Number(0, 120, 1), epsilon=1, missing="random")
    with pytest.raises(ParameterError, match="must differ from the file"):
        schema.sanitize(str(tmp_path / "*.csv"), to=tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "age\n3\n"


def typed_frames(tmp_path, **columns):
    """Yield a table with declared types in each kind of frame."""
    table = pa.table(columns)
    pq.write_table(table, tmp_path / "typed.parquet")
    yield pl.from_arrow(table)
    yield pl.from_arrow(table).lazy()
    yield table
    yield duckdb.from_arrow(table)
    yield tmp_path / "typed.parquet"


AGES = Schema(age=Number(0, 120, step=1, missing=True), epsilon=1)


def test_a_column_is_refused_by_its_declared_type(tmp_path):
    days = pa.array([0], pa.date32())
    wrong = {
        "text for a number": (Number(0, 120, step=1, missing=True), pa.array(["31"])),
        "dates for a number": (Number(0, 120, step=1, missing=True), days),
        "dates for a flag": (Flag(missing=True), days),
        "a list for a choice": (Choice("a", "b", missing="none"), pa.array([["a"]])),
        "a list for choices": (Choices("a", "b"), pa.array([["a"]])),
    }
    for what, (column, values) in wrong.items():
        schema = Schema(x=column, epsilon=1, missing="random")
        for i, frame in enumerate(typed_frames(tmp_path, x=values)):
            out = tmp_path / f"{what}-{i}.parquet"
            with pytest.raises(ParameterError, match=r"frame must hold .* in 'x', a ") as refusal:
                schema.sanitize(frame, to=out)
            assert not out.exists(), what
            assert "31" not in str(refusal.value)
            with pytest.raises(ParameterError, match=r"frame must hold .* in 'x', a "):
                next(iter(schema.randomised(frame)))


def test_texts_are_numbers_where_it_is_declared_how_they_are_written(tmp_path):
    frame = pl.DataFrame({"age": ["31", "?", None] * 40})
    with pytest.raises(ParameterError, match=r"use read=.*decimal") as refusal:
        AGES.sanitize(frame)
    assert len(AGES.sanitize(frame, **refusal.value.tries)) == 120
    (tmp_path / "ages.csv").write_text("age\n31\n?\n")  # declares no type
    AGES.sanitize(tmp_path / "ages.csv", to=tmp_path / "clean.csv")
    pandas = pd.DataFrame({"age": pd.Series(["31"], dtype="object")})  # neither does this
    assert len(AGES.sanitize(pandas)) == 1
    with pytest.raises(ParameterError, match="'age', a Number of the schema, got type str"):
        AGES.sanitize(pd.DataFrame({"age": pd.Series(["31"], dtype="string")}))


def test_types_that_hold_the_answers_are_taken(tmp_path):
    schema = Schema(
        age=Number(0, 120, step=1, missing=True),
        vote=Choice("yes", "no", missing="none"),
        kids=Choice(0, 1, missing="none"),
        smokes=Flag(missing=True),
        epsilon=4,
    )
    table = {"age": [31.0], "vote": ["yes"], "kids": [1]}
    for i, smokes in enumerate((["yes"], [True], [1])):
        for j, frame in enumerate(typed_frames(tmp_path, **table, smokes=smokes)):
            schema.sanitize(frame, to=tmp_path / f"{i}-{j}.parquet")


FORMULAS = {
    "age // 20 * 20": Choice(0, 20, 40, 60, missing="none"),
    "income / size": Number(0, 1000, step=10, missing=True),
    "lower(trim(vote))": Choice("yes", "no", missing="none"),
}


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pa.table, dict, "csv", "parquet"])
def test_columns_of_a_schema_may_be_formulas(made, tmp_path):
    """The same draws as from a table that holds the values of the formulas."""
    rows = {
        "age": [5, 25, 70, None] * 30,
        "income": [100.0, None, 900.0, 10.0] * 30,
        "size": [2, 1, 0, 4] * 30,
        "vote": [" Yes", "NO ", "maybe", None] * 30,
    }
    values = {
        "age // 20 * 20": [0, 20, 60, None] * 30,
        "income / size": [50.0, None, None, 2.5] * 30,
        "lower(trim(vote))": ["yes", "no", "maybe", None] * 30,
    }
    schema = Schema.of(FORMULAS, epsilon=9)
    wanted = schema.sanitize(values, source=SeededSource(1))
    own = {"drop": [*rows], "source": SeededSource(1)}
    if isinstance(made, str):
        path, to = tmp_path / f"rows.{made}", tmp_path / f"clean.{made}"
        frame = pa.table(rows)
        pacsv.write_csv(frame, path) if made == "csv" else pq.write_table(frame, path)
        schema.sanitize(path, to=to, **own)
        found = pd.read_csv(to) if made == "csv" else pd.read_parquet(to)
        assert found.astype(object).where(found.notna(), None).to_dict("list") == wanted
        return
    found = schema.sanitize(made(rows), **own)
    columns = found if made is dict else Frame(found)
    assert [*columns] == [*wanted] if made is dict else columns.columns == tuple(wanted)
    if made is dict:
        assert found == wanted


def test_formulas_of_a_schema_are_of_one_row():
    for formula in ("sum(age)", "age > random()", "age // 'x'"):
        schema = Schema.of({formula: Choice(1, 2, missing="none")}, epsilon=1)
        with pytest.raises(ParameterError, match="schema must"):
            schema.sanitize({"age": [1, 2]}, drop=["age"])


# ---- Records that a condition excludes -----------------------------------------------------------


EXCLUDED = Schema(
    age=Number(0, 100, step=10, missing=True),
    vote=Choice("yes", "no", missing="none"),
    smokes=Flag(missing=True),
    epsilon=3,
)
ADULTS = "age >= 18 and region <> 'south'"


@pytest.mark.parametrize("made", [pd.DataFrame, pl.LazyFrame, pa.table, dict, "csv", "parquet"])
def test_a_record_that_a_condition_excludes_is_one_without_answers(made, tmp_path):
    """The same draws as from a table in which everything about these records is missing."""
    rows = {
        "age": [5, 25, 70, None, 33] * 30,
        "vote": ["yes", "no", None, "yes", "yes"] * 30,
        "smokes": [True, False, True, None, True] * 30,
        "region": ["north", "north", "west", "west", "south"] * 30,
    }
    stays = [False, True, True, False, False] * 30
    blank = {
        name: [v if own else None for v, own in zip(column, stays, strict=True)]
        for name, column in rows.items()
        if name != "region"
    }
    wanted = EXCLUDED.sanitize(blank, source=SeededSource(1))
    own = {"drop": ["region"], "where": ADULTS, "source": SeededSource(1)}
    if isinstance(made, str):
        path, to = tmp_path / f"rows.{made}", tmp_path / f"clean.{made}"
        frame = pa.table(rows)
        pacsv.write_csv(frame, path) if made == "csv" else pq.write_table(frame, path)
        EXCLUDED.sanitize(path, to=to, **own)
        found = Frame(to)
    else:
        found = Frame(EXCLUDED.sanitize(made(rows), **own))
    assert found.columns == ("age", "vote", "smokes")
    for name, values in wanted.items():
        there = [None if v is None else str(v).lower() for v in values]
        assert [v if v is None else str(v).lower() for v in found.column(name).texts] == there


def test_the_law_of_a_report_with_a_condition():
    """Every report of every two records is within e**epsilon, excluded ones among them."""
    columns = {
        "size": Choice(1, 2, missing="none"),
        "smokes": Flag(missing=True),
        "n": Number(0, 20, step=10, missing=True),
    }
    schema = Schema.of(columns, epsilon=Fraction(3, 2))
    records = list(product((1, 2, 7, None), (True, False, None), (0, 14, None), (0, 1)))
    rows = dict(zip([*columns, "kept"], map(list, zip(*records, strict=True)), strict=True))
    own = {"drop": ["kept"], "where": "kept = 1 and (size = 1 or n > 3)"}
    data, cells = prepared(schema, Frame(rows), **own)
    slots = excluding(next(data.codes(*cells)), 3)
    read = set(zip(*(s.tolist() for s in slots), strict=True))
    assert (-1, -1, -1) in read
    assert len(read) > 10
    worst = 0.0
    for one, other in product(read, read):
        parts = zip(schema.parts().values(), one, other, strict=True)
        worst = max(worst, sum(_furthest(part.mechanism, a, b) for part, a, b in parts))
    assert 1.3 < worst < 1.5 + 1e-9


def _furthest(mechanism, a, b):
    """Return the largest logarithm of the ratio of two laws."""
    one, other = (mechanism.law(slot) for slot in (a, b))
    codes = np.arange(mechanism.codes)
    return float((one.log_pmf(codes) - other.log_pmf(codes)).max())


def test_replay_with_a_condition():
    """A record that changes sides changes its reports alone, within epsilon."""

    def call(rows):
        frame = dict(zip(["age", "vote", "smokes", "region"], map(list, zip(*rows)), strict=True))  # noqa: B905
        own = {"drop": ["region"], "where": ADULTS, "source": SeededSource(5)}
        clean = EXCLUDED.sanitize(frame, **own)
        part = next(iter(EXCLUDED.parts().values()))
        value = [str(v) for c in clean.values() for v in c]
        drawn = {"t": len(rows)}
        return Release(value=value, cost=EXCLUDED.guarantee, mechanism=part.mechanism, drawn=drawn)

    rows = [(31, "yes", True, "north"), (5, "no", None, "west"), (60, None, False, "south")]
    for changed in ((17, "yes", True, "north"), (31, "yes", True, "south"), (None,) * 4):
        found = replay(call, rows, [changed, *rows[1:]])
        assert found.holds, found.faults
    assert not replay(call, rows, [rows[1], rows[0], rows[2]]).holds


def test_a_condition_needs_columns_with_missing_values():
    rows = {"age": [31], "region": ["north"]}
    schema = Schema(age=Number(0, 100, step=10), epsilon=1, missing="random")
    said = r"missing must be declared by each column if where= is used.*missing=True"
    with pytest.raises(ParameterError, match=said):
        schema.sanitize(rows, drop=["region"], where=ADULTS)
    for where, words in (
        ("age + 1", "where must be a condition"),
        ("sum(age) > 3", "where must be computed from one row alone"),
        ("nope > 3", "where must name existing columns"),
        (3, "where must be a condition, as a text"),
    ):
        with pytest.raises((ParameterError, TypeError), match=words):
            EXCLUDED.sanitize({**ROWS}, drop=["size", "income", "kids", "drinks"], where=where)
