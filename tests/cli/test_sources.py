"""Every source of rows on the command line: files, standard input, tables by their addresses."""

from __future__ import annotations

import gc
import io
import json
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import duckdb
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from file_writers import write_json_lines, write_xlsx

AGES = [20 + i % 50 for i in range(2000)]
MEAN = ("-c", "age", "--bounds", "0", "120", "--step", "1", "--epsilon", "1000", "--json")
PASSWORD = "hidden-word"  # noqa: S105 - of a test


@pytest.fixture
def run(sourdine, tmp_path, monkeypatch):
    """Run a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return lambda *words, given=None: sourdine(*words, piped=given)


def csv():
    sink = io.BytesIO()
    pa_csv.write_csv(pa.table({"age": AGES}), sink)
    return sink.getvalue()


def in_duckdb(path, name="people"):
    with duckdb.connect(path) as connection:
        rows = connection.from_arrow(pa.table({"age": AGES}))
        quoted = name.replace('"', '""')
        rows.query("rows", f'CREATE TABLE "{quoted}" AS FROM rows')


def answered(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_files_of_every_kind(run):
    write_xlsx("people.xlsx", {"Notes": [["n"]], "People": [["age"], *([a] for a in AGES)]})
    write_json_lines(Path("people.jsonl"), {"age": AGES})
    pa.ipc.new_file("people.arrow", pa.schema({"age": pa.int64()})).close()
    in_duckdb("people.db")
    table = pa.table({"age": AGES})
    with pa.ipc.new_file("people.feather", table.schema) as file:
        file.write_table(table)
    for source, more in {
        "people.xlsx#People": (),
        "people.jsonl": ("--header", "age"),
        "people.feather": (),
        "duckdb:///people.db#people": (),
        "duckdb:///people.db#main.people": (),
    }.items():
        found = answered(run("mean", source, *MEAN, *more))
        assert found["value"] == pytest.approx(44.5, abs=0.1), source
    assert "age" in run("inspect", "people.xlsx#People").stdout


def test_standard_input(run):
    assert answered(run("mean", "-", *MEAN, given=csv()))["value"] == pytest.approx(44.5, abs=0.1)
    done = run("mean", "-", *MEAN, "--ledger", "own.ledger", "--total", "3000", given=csv())
    assert answered(done)["ledger"]["remaining"]["epsilon"] == "2000"
    assert json.loads(run("ledger", "own.ledger", "--json").stdout)["name"] == "standard input"
    done = run("mean", "-", *MEAN, given=b"age,age\n1,2\n")
    assert done.returncode == 2
    assert "distinct column names" in done.stderr


def test_inspection_of_standard_input(run):
    found = run("inspect", "-", given="age,städte\n31,Köln\n44\n".encode("cp1252")).stdout
    assert "cp1252" in found
    assert "ragged" in found


def test_inspection_says_what_a_file_states(run):
    write_xlsx("people.xlsx", {"Notes": [["n"], [1]], "People": [["age"], *([a] for a in AGES)]})
    found = run("inspect", "people.xlsx").stdout
    assert "Notes; the others are People" in found
    write_json_lines(Path("people.jsonl"), {"age": AGES, "pay": AGES}, more=["{", "[]"])
    found = run("inspect", "people.jsonl").stdout
    assert "2 of 2002 lines hold no cells" in found
    assert "--header age,pay" in found
    in_duckdb("people.db")
    assert "age BIGINT" in run("inspect", "duckdb:///people.db#people").stdout


def test_inspection_of_spss(run):
    readstat, pd = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    rows = pd.DataFrame({"age": [float(age) for age in AGES], "sex": [1.0, 2.0] * 1000})
    labels = {"sex": {1: "male", 2: "female"}}
    readstat.write_sav(rows, "people.sav", variable_value_labels=labels)
    found = run("inspect", "people.sav").stdout
    assert "sex: 1 = male, 2 = female" in found
    assert "age double, sex double" in found
    assert answered(run("mean", "people.sav", *MEAN))["value"] == pytest.approx(44.5, abs=0.1)


def test_files_that_state_types(run):
    """Types are public: inspection shows them, and what cannot have a mean is refused."""
    readstat, pd = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    rows = pd.DataFrame({"age": [float(age) for age in AGES], "sex": ["male", "female"] * 1000})
    readstat.write_dta(rows, "people.dta")
    readstat.write_xport(rows, "people.xpt")
    table = pa.table({"age": AGES, "sex": ["male", "female"] * 1000})
    with pa.ipc.new_stream("people.arrows", table.schema) as file:
        file.write_table(table)
    for source, types in {
        "people.dta": "age double, sex string",
        "people.xpt": "age double, sex string",
        "people.arrows": "age Int64, sex String",
    }.items():
        assert types in run("inspect", source).stdout, source
        asked = ("--where", "sex = 'male'")
        assert (
            answered(run("count", source, *asked, "--epsilon", "1000", "--json"))["value"] == 1000
        )
        assert answered(run("mean", source, *MEAN, *asked))["value"] == pytest.approx(44, abs=0.1)
        done = run("mean", source, "-c", "sex", *MEAN[2:])
        assert done.returncode == 2
        assert "numbers" in done.stderr


NAMES = (
    'people"; DROP TABLE people; --',
    "people' OR 1=1; --",
    "(SELECT 41 AS age)",
    "people; ATTACH 'other.db'",
    "read_csv('secret.csv')",
    "secret.csv",
)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_table_is_a_name(run, name):
    """It is quoted: as a statement, an expression or a file it is no table, and does nothing."""
    Path("secret.csv").write_text("age\n41\n")
    in_duckdb("people.db")
    for written in (name, name.replace('"', "%22")):
        done = run("mean", f"duckdb:///people.db#{written}", *MEAN)
        assert done.returncode == 2
        assert "must name readable data" in done.stderr
    gc.collect()  # DuckDB opens a file in one way at a time
    in_duckdb("people.db", name)
    written = name.replace('"', "%22")
    assert answered(run("mean", f"duckdb:///people.db#{written}", *MEAN))["value"] > 44
    gc.collect()
    with duckdb.connect("people.db") as connection:
        assert connection.execute("SELECT count(*) FROM people").fetchone() == (2000,)


SCHEMA = """
epsilon = 2
[columns.age]
kind = "number"
lower = 0
upper = 120
missing = true
"""


def all_outputs(run, address):
    """Return everything that commands about a table print, and what they leave in the folder."""
    Path("schema.toml").write_text(SCHEMA)
    own = ("--ledger", "own.ledger", "--total", "5000")
    done = [
        run("mean", address, *MEAN),
        run("mean", address, *MEAN[:-1]),
        run("mean", address, *MEAN, *own),
        run("mean", address, *MEAN[:-1], "--ledger", "own.ledger"),
        run("mean", address, "-c", "no such column", *MEAN[2:]),
        run("inspect", address),
        run("schema", address),
        run("schema", address, "--out", "begun.toml"),
        run("sanitize", address, "--schema", "schema.toml", "-o", "clean.csv"),
        run("guard", "init", address, "--out", "own.guard"),
        run("ledger", "own.ledger", "--json"),
        run("ledger", "own.ledger", "--report", "report.html"),
    ]
    files = [path.read_bytes() for path in Path().rglob("*") if path.is_file()]
    return done, [one.stdout + one.stderr for one in done] + [
        text.decode("utf-8", "replace") for text in files
    ]


ABSENT = (
    f"postgresql://anna:{PASSWORD}@127.0.0.1:1/db#people",
    f"postgresql://anna@127.0.0.1:1/db?password={PASSWORD}#people",
    f"postgresql://anna:{PASSWORD}@127.0.0.1:port/db#people",
    f"postgres://anna:{PASSWORD}@127.0.0.1:1/db",
    f"POSTGRESQL://anna:{PASSWORD}@127.0.0.1:1/db#people",
    f"sc://127.0.0.1:1/;token={PASSWORD}",
)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("address", ABSENT)
def test_no_output_holds_the_password_of_a_database_that_is_not_there(run, address):
    done, texts = all_outputs(run, address)
    assert {one.returncode for one in done} <= {1, 2}
    assert not [text for text in texts if PASSWORD in text]


@pytest.mark.slow
def test_no_output_holds_the_password(run, postgres):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute("CREATE TABLE people (age int)")
        db.cursor().executemany("INSERT INTO people VALUES (%s)", [(age,) for age in AGES])
    parts = urlsplit(postgres)
    user, _, host = parts.netloc.rpartition("@")
    with_password = parts._replace(netloc=f"{user.split(':')[0]}:{PASSWORD}@{host}")
    done, texts = all_outputs(run, f"{urlunsplit(with_password)}#people")
    assert [one.returncode for one in done[:4]] == [0] * 4, done[0].stderr
    assert "people" in done[10].stdout
    assert Path("report.html").is_file()
    assert not [text for text in texts if PASSWORD in text]
    for name in NAMES:
        refused = run("mean", f"{postgres}#{name.replace(chr(34), '%22')}", *MEAN)
        assert refused.returncode == 2
    with psycopg.connect(postgres) as db:
        assert db.execute("SELECT count(*) FROM people").fetchone() == (2000,)
