"""Data may be a file, a folder, or a table of DuckDB, PostgreSQL or Spark; no password shows."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from file_writers import write_xlsx
from serving import COLUMNS, Api, data_file, filled_store, problem, served
from session_calls import AGES
from sourdine.cli.app import app, narrowed
from sourdine.errors import ParameterError
from sourdine.frames.paths import source_name
from sourdine.privacy import Guarantee
from sourdine.server.datasets import Registering, registered
from sourdine.server.releases import lines_text
from sourdine.server.sources import anchored, opened, require_below
from sourdine.server.store.store import ServerStore
from sourdine.session import Terms

SECRET = "hunter2-and-more"  # noqa: S105 - of a test
PAID = 50
"""An epsilon at which a count is nearly exact."""


@pytest.fixture
def people(postgres):
    """Return the address of a table, with a password that the database does not ask for."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres) as db:
        db.execute("CREATE TABLE people (age integer, sex text, pay text)")
        rows = [(20 + i % 60, "fm"[i % 2], f"{i % 3}.000,5 €") for i in range(600)]
        db.cursor().executemany("INSERT INTO people VALUES (%s, %s, %s)", rows)
    return f"{postgres.replace('postgres@', f'postgres:{SECRET}@')}#public.people"


@pytest.fixture
def served_store(tmp_path):
    """Return a store with people in it, their tokens, and its address."""
    address = f"sqlite:///{tmp_path}/store.db"
    path = data_file(tmp_path, AGES)
    store, tokens = filled_store(address, path, Terms(total=Guarantee(1)), COLUMNS)
    yield store, tokens, address
    store.close()


@pytest.mark.slow
def test_a_table_of_postgresql_is_asked(served_store, people, capfd):
    store, tokens, address = served_store
    columns = {**COLUMNS, "pay": {"bounds": [0, 4000], "step": 1}}
    read = {"decimal": ",", "thousands": ".", "symbols": ["€"]}
    said = Registering(name="live", source=people, epsilon=500, columns=columns, read=read)
    store.datasets.add(registered(said))
    store.grants.give("live", "anna", 500)
    with served(address) as url:
        anna, olga, udo = (Api(url, tokens[name]) for name in ("anna", "olga", "udo"))
        asked = {"statistic": "count", "by": "sex", "epsilon": PAID}
        counts = anna.release(asked, dataset="live").json()["answers"][0]["value"]
        assert counts == pytest.approx({"f": 300, "m": 300}, abs=2)
        asked = {"statistic": "mean", "column": "pay", "epsilon": PAID}
        mean = anna.release(asked, dataset="live").json()["answers"][0]["value"]
        assert mean == pytest.approx(1000.5, abs=20)
        asked = {"statistic": "median", "column": "age", "epsilon": PAID}
        assert anna.release(asked, dataset="live").json()["answers"][0]["value"] in (49, 50)
        facts = anna.get("/datasets/live")
        assert facts.json()["read"] == read
        assert facts.json()["terms"]["name"] == "public.people"
        shown = [facts.text, olga.get("/datasets").text]
        shown += [
            udo.get(f"/datasets/live/{what}").text
            for what in ("ledger", "check", "report?format=md")
        ]
        shown += [olga.get(f"/datasets/live/{what}").text for what in ("grants", "releases")]
        shown += [udo.get("/metrics").text, str(store.datasets.get("live").terms)]
    shown += [lines_text(store.datasets.journal("live")), *capfd.readouterr()]
    assert not any(SECRET in text for text in shown)


@pytest.mark.slow
def test_a_database_that_is_gone_is_said_without_its_address(served_store, people, capfd):
    store, tokens, address = served_store
    store.datasets.add(registered(Registering(name="live", source=people, epsilon=5)))
    store.grants.give("live", "anna", 5)
    store.database.write(
        lambda t: t.run(
            "UPDATE datasets SET source = ? WHERE name = 'live'",
            f"postgresql://postgres:{SECRET}@127.0.0.1:1/none#people",
        )
    )
    with served(address) as url:
        asked = {"statistic": "count", "epsilon": 1}
        answer = Api(url, tokens["anna"]).release(asked, dataset="live")
        problem(answer, 409, "conflict")
    assert SECRET not in answer.text + "".join(capfd.readouterr())


def test_an_address_that_is_wrong_is_not_repeated(people):
    for source in (
        people.partition("#")[0],
        people.replace("public.people", "nothing"),
        f"postgresql://u:{SECRET}@127.0.0.1:1/none#people",
        f"mysql://u:{SECRET}@host/db#people",
    ):
        with pytest.raises(ParameterError) as refused:
            opened(source)
        assert SECRET not in str(refused.value) + source_name(source)


def test_a_table_of_duckdb_reads_nothing_but_its_file(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    secret = data_file(tmp_path, AGES)
    with duckdb.connect(str(tmp_path / "people.db")) as db:
        db.execute("CREATE TABLE people AS SELECT range AS age FROM range(100)")
        db.execute(f"CREATE VIEW other AS SELECT * FROM read_csv('{secret}')")  # noqa: S608
        db.execute("CREATE VIEW young AS SELECT * FROM people WHERE age < 10")
    place = f"duckdb:///{tmp_path}/people.db"
    assert [len(opened(f"{place}#{name}")) for name in ("people", "young")] == [100, 10]
    for table in ("other", "none"):
        with pytest.raises(ParameterError, match="name readable data on the server"):
            opened(f"{place}#{table}")


def test_only_what_lies_below_the_folder_is_taken(tmp_path):
    inside, outside = tmp_path / "data", tmp_path / "secret"
    for folder in (inside / "parts", outside):
        folder.mkdir(parents=True)
        data_file(folder, AGES)
    (inside / "way out").symlink_to(outside)
    good = {"parts/people.csv": inside / "parts/people.csv", f"{inside}/parts": inside / "parts"}
    for source, path in good.items():
        assert require_below(source, str(inside)) == str(path)
    (inside / "parts" / "more.csv").symlink_to(outside / "people.csv")
    for source in (
        f"{inside}/parts",
        f"{inside}/w*y out/people.csv",
        f"{inside}/way out/people.csv",
        "../secret/people.csv",
        f"duckdb:///{outside}/people.csv#t",
        "duckdb:///../secret/people.csv#t",
        "postgresql:///db#people",
        "spark:people",
        "~/people.csv",
        "x" * 900,
    ):
        with pytest.raises(ParameterError, match="name readable data on the server"):
            require_below(source, str(inside))


@pytest.mark.slow
def test_without_a_folder_owners_register_nothing_over_http(served_store):
    _, tokens, address = served_store
    with served(address, folder=None) as url:
        olga = Api(url, tokens["olga"])
        said = {"name": "x", "source": "sourdine:wages", "epsilon": 1}
        problem(olga.post("/datasets", said), 403, "forbidden")
        assert [one["name"] for one in olga.get("/datasets").json()] == ["others", "people"]
        guard = {"name": "x", "source": "sourdine:wages", "error": "0.1"}
        problem(olga.post("/guards", guard), 403, "forbidden")
        assert olga.get("/guards").json() == []


@pytest.mark.slow
def test_a_command_adds_any_source(tmp_path, people, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        return CliRunner().invoke(narrowed(app, words), words)

    (tmp_path / "german.csv").write_text("alter;lohn\n34;1.000,50\n51;2.000,00\n")
    said = [run("serve", "init")]
    options = ["--separator", ";", "--decimal", ",", "--thousands", ".", "--epsilon", "3"]
    said.append(run("serve", "add-data", "german", "german.csv", *options))
    said.append(run("serve", "add-data", "live", people, "--epsilon", "3"))
    assert all(one.exit_code == 0 for one in said), [one.output for one in said]
    wrong = run("serve", "add-data", "x", "german.csv", "--epsilon", "1", "--decimal", "x")
    assert wrong.exit_code
    assert "decimal must be" in str(wrong.exception)
    store = ServerStore.open("sqlite:///sourdine.db")
    found = {one.name: one for one in store.datasets.all()}
    store.close()
    assert json.loads(found["german"].read) == {"separator": ";", "decimal": ",", "thousands": "."}
    assert found["german"].source == str(tmp_path / "german.csv")
    assert not any(SECRET in one.output for one in said)
    assert anchored("duckdb:///a.db#t") == f"duckdb:///{tmp_path}/a.db#t"


def test_a_name_of_a_table_may_be_written_in_an_address(people):
    assert len(opened(people.replace("public.people", quote("public.people")))) == 600


def test_a_sheet_is_named_after_its_file(tmp_path):
    pytest.importorskip("python_calamine")
    sheets = {"First": [["n"], [1]], "Second sheet": [["age"], [31], [44]]}
    path = write_xlsx(tmp_path / "people.xlsx", sheets)
    true = require_below("people.xlsx#Second sheet", str(tmp_path))
    assert true == f"{path}#Second sheet"
    assert opened(true).columns == ("age",)
    assert opened(str(path)).columns == ("n",)
    assert source_name(true) == "people.xlsx#Second sheet"
    for source in ("../people.xlsx#First", "no.xlsx#First", "/etc/passwd#First"):
        with pytest.raises(ParameterError, match="name readable data on the server"):
            require_below(source, str(tmp_path / "inner") if ".." in source else str(tmp_path))
    with pytest.raises(ParameterError, match="the sheet must be one of the file's"):
        opened(f"{path}#None")
