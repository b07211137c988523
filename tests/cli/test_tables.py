"""Local privacy as a person types it."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from sourdine.answers import Release

SCHEMA = """
epsilon = 9
missing = "random"
[columns.age]
kind = "number"
lower = 0
upper = 120
step = 1
[columns.vote]
kind = "choice"
categories = ["yes", "no"]
missing = "other"
[columns.smokes]
kind = "flag"
"""

MARK = "hidden, 'quoted' 4711"


@pytest.fixture
def survey(tmp_path, monkeypatch):
    """A survey with all that goes wrong in a CSV file."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    with open("survey.csv", "w", newline="") as file:  # noqa: PTH123
        write = csv.writer(file)
        write.writerow(["id", "age", "vote", "smokes"])
        for i in range(2000):
            age = rng.integers(18, 90)
            row = [i, age, rng.choice(["yes", "no"]), rng.choice(["true", "false"])]
            if i % 20 == 0:
                row[1 + i // 20 % 3] = ["", "1e400", MARK, "-9e99", "NaN"][i // 20 % 5]
            write.writerow(row)
        file.write("7,30\n")
        file.write("8,31,yes,true,too,long\n")
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


@pytest.mark.slow
def test_from_survey_to_estimates(sourdine, survey):
    done = sourdine(
        "sanitize", "survey.csv", "--schema", "schema.toml", "-o", "clean.csv", "--drop", "id"
    )
    assert done.returncode == 0
    assert "epsilon 9, any two inputs of one person, for all columns of a record" in done.stderr
    clean = (survey / "clean.csv").read_text()
    lines = list(csv.reader(clean.splitlines()))
    assert lines[0] == ["age", "vote", "smokes"]
    assert all(row[0].lstrip("-").isdigit() for row in lines[1:])
    assert {row[1] for row in lines[1:]} == {"yes", "no", "other"}
    assert {row[2] for row in lines[1:]} == {"true", "false"}
    for trace in ("hidden", "quoted", "e400", "9e99", "nan", "too"):
        assert trace not in (clean + done.stdout + done.stderr).lower()
    done = sourdine("estimate", "clean.csv", "--schema", "schema.toml", "--pair", "age,vote")
    assert done.returncode == 0
    rows = {tuple(line.split()[:2]) for line in done.stdout.splitlines()}
    for words in (("age", "mean"), ("vote", "shares"), ("age", "x"), ("cost", "epsilon")):
        assert words in rows


@pytest.mark.slow
def test_estimates_as_json_and_pictures(sourdine, survey):
    sourdine("sanitize", "survey.csv", "--schema", "schema.toml", "-o", "clean.csv", "--drop", "id")
    done = sourdine(
        "estimate", "clean.csv", "--schema", "schema.toml", "--json", "--plot", "survey.html"
    )
    facts = json.loads(done.stdout)
    mean = facts["estimates"]["age"]["mean"]
    low, high = mean["interval"]["ends"]
    assert 0 <= low < high <= 120
    assert Release.from_json(json.dumps(mean)).value == mean["value"]
    page = (survey / "survey.html").read_text()
    assert "<svg" in page
    assert "<td>age</td><td>mean</td>" in page


@pytest.mark.slow
def test_a_file_is_estimated_by_the_schema_it_carries(sourdine, survey):
    words = ("sanitize", "survey.csv", "--schema", "schema.toml", "--drop", "id", "-o")
    for name in ("clean.csv", "clean.parquet"):
        sourdine(*words, name)
        done = sourdine("estimate", name, "--json")
        assert json.loads(done.stdout)["cost"]["epsilon"] == "9"
        (survey / "other.toml").write_text(SCHEMA.replace("epsilon = 9", "epsilon = 8"))
        done = sourdine("estimate", name, "--schema", "other.toml")
        assert done.returncode == 2
        assert "got one with epsilon 8 in place of 9" in done.stderr
        assert "omit --schema in estimate" in done.stderr
    done = sourdine("estimate", "survey.csv", "--schema", "schema.toml")
    assert done.returncode == 2
    assert "a raw file gives meaningless results" in done.stderr
    assert "use --unmarked" in done.stderr
    done = sourdine("estimate", "survey.csv", "--schema", "schema.toml", "--unmarked")
    assert done.returncode == 0


@pytest.mark.slow
def test_a_column_nobody_declared_is_refused(sourdine, survey):
    done = sourdine("sanitize", "survey.csv", "--schema", "schema.toml", "-o", "clean.csv")
    assert done.returncode == 2
    assert "Use --drop id" in done.stderr
    assert not (survey / "clean.csv").exists()


@pytest.mark.slow
def test_a_schema_of_text_has_gaps_only(sourdine, survey):
    done = sourdine("schema", "survey.csv", "-o", "new.toml")
    assert done.returncode == 0
    written = (survey / "new.toml").read_text()
    assert written.count('kind = "?"') == 4
    assert sourdine("schema", "survey.csv", "-o", "new.toml").returncode == 2
    done = sourdine("sanitize", "survey.csv", "--schema", "new.toml", "-o", "clean.csv")
    assert done.returncode == 2
    assert "got '?'" in done.stderr


@pytest.mark.slow
def test_a_schema_of_parquet_has_its_types(sourdine, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    file = tmp_path / "t.parquet"
    duckdb.sql(f"COPY (SELECT 4711 AS id, 2.5::DOUBLE AS x, true AS b, 'secret' AS t) TO '{file}'")
    written = sourdine("schema", str(file)).stdout
    for kind in ("number", "flag", "choice"):
        assert f'kind = "{kind}"' in written
    assert "secret" not in written
    assert "4711" not in written


@pytest.mark.slow
def test_a_density(sourdine, survey):
    done = sourdine(
        "density", "survey.csv", "-c", "age", "--bounds", "0", "120", "--epsilon", "2",
        "--plot", "density.png",
    )  # fmt: skip
    assert done.returncode == 0
    assert "epsilon 2" in done.stdout
    assert (survey / "density.png").stat().st_size > 5000
    facts = json.loads(
        sourdine(
            "density", "survey.csv", "-c", "age", "--bounds", "0", "120", "-e", "2", "--json"
        ).stdout
    )
    assert facts
    assert sourdine("density", "survey.csv", "-c", "age", "-e", "2").returncode == 2


PAY = [f"Jos\xe9;{1000 + i:,};{i % 60 + 20}".replace(",", ".") for i in range(500)]
GERMAN = ("--encoding", "cp1252", "--thousands", ".", "--decimal", ",", "--separator", ";")


@pytest.fixture
def german(tmp_path, monkeypatch):
    """A file of another country, without a header."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pay.csv").write_bytes("\n".join(PAY).encode("cp1252"))
    (tmp_path / "schema.toml").write_text(
        'epsilon = 9\nmissing = "random"\n'
        '[columns.pay]\nkind = "number"\nlower = 0\nupper = 2000\nstep = 1\n'
    )
    return (*GERMAN, "--header", "name,pay,age")


@pytest.mark.slow
def test_what_is_declared_holds_for_every_command(sourdine, german, tmp_path):
    asked = ("mean", "pay.csv", "-c", "pay", "--bounds", "0", "2000", "--epsilon", "50", *german)
    for more in ((), ("--ledger", "pay.ledger", "--total", "99")):
        done = sourdine(*asked, "--json", *more)
        facts = json.loads(done.stdout)
        assert abs(facts["value"] - 1249.5) < 5
        assert facts["question"]["read"]["thousands"] == "."
    counted = sourdine("count", "pay.csv", "--epsilon", "50", "--json", *german)
    assert json.loads(counted.stdout)["value"] == pytest.approx(500, abs=2)
    drop = ("--drop", "name,age", *german)
    clean = ("sanitize", "pay.csv", "-s", "schema.toml", "-o", "clean.csv", *drop)
    assert sourdine(*clean).returncode == 0
    assert len((tmp_path / "clean.csv").read_text().splitlines()) == 501
    again = sourdine(*clean)
    assert again.returncode == 2
    assert "File already exists: " in again.stderr
    assert "--overwrite if the old table was not shared" in again.stderr
    assert sourdine(*clean, "--overwrite").returncode == 0
    begun = sourdine("schema", "pay.csv", *german)
    assert '[columns."pay"]' in begun.stdout
    bounds = ("--bounds", "0", "2000", "--epsilon", "9", "--json")
    found = sourdine("density", "pay.csv", "-c", "pay", *bounds, *german)
    assert found.returncode == 0
    checked = sourdine("inspect", "pay.csv")
    assert checked.stdout.startswith("For the curator alone")
    assert "declare a header" in checked.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("german")
def test_what_cannot_be_declared_is_said_in_words_of_the_shell(sourdine):
    words = ("count", "pay.csv", "--epsilon", "1", "--header", "a,b")
    for option, value, text in (
        ("--decimal", "x", "--decimal must be '.' or ',', got 'x'. Use --decimal ','."),
        ("--encoding", "utf-7", "--encoding must be a Python encoding"),
        ("--separator", "x", "--separator must be"),
    ):
        done = sourdine(*words, option, value)
        assert done.returncode == 2
        assert text in done.stderr
    sheet = sourdine("count", "pay.xlsx", "--epsilon", "1")
    assert "No such file: 'pay.xlsx'" in sheet.stderr
