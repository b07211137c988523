"""What a collector keeps: every record once, and nothing that links."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from sourdine.errors import ParameterError, SourdineError
from sourdine.local import Aggregator
from sourdine.local.reports.records import to_lines
from sourdine.storage.database import Address
from sourdine.survey import Survey
from sourdine.survey.results import results
from sourdine.survey.store import Posted, SqliteTables, SurveyStore, new_file


def lines_of(survey, n):
    rng = np.random.default_rng(n)
    table = {
        "way": rng.choice(["foot", "bike", "bus", "car"], n).tolist(),
        "minutes": rng.integers(0, 121, n).tolist(),
        "late": (rng.random(n) < 0.3).tolist(),
        "wishes": ["seats;times"] * n,
    }
    return [x.encode() for part in survey.schema.reports(table) for x in to_lines(part)]


@pytest.fixture
def make(survey_cases, place):
    made = []

    def start(*, tickets=0, **changes):
        survey = Survey.from_facts(survey_cases.facts(**changes))
        made.append(SurveyStore.create(place(), survey, tickets=tickets))
        return made[-1]

    yield start
    for store, _ in made:
        store.close()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["split", "sample"])
def test_a_store_counts_as_an_aggregator_does(make, tmp_path, method):
    store, _ = make(method=method)
    lines = lines_of(store.survey, 300)
    for start in range(0, 300, 70):
        [outcome] = store.accept([Posted(lines=lines[start : start + 70])])
        assert outcome.accepted == len(lines[start : start + 70])
        store.fold()
    total = Aggregator(store.survey.schema)
    total.add(lines)
    assert store.aggregator() == total
    assert store.people == results(store).people == 300
    store.aggregator().save(tmp_path / "one")
    more = Aggregator(store.survey.schema)
    more.add(lines_of(store.survey, 20))
    merged = Aggregator.load(tmp_path / "one", store.survey.schema) + more
    assert merged.receipt.accepted == 320
    assert merged.doubled == 0


def test_a_record_sent_again_counts_once(make):
    store, _ = make()
    lines = lines_of(store.survey, 3)
    for posts in ([lines, lines[:1]], [lines[1:]]):
        for outcome in store.accept([Posted(lines=some) for some in posts]):
            assert outcome.accepted
            assert not outcome.refused
    assert store.fold() == 3
    assert [one.accepted for one in store.accept([Posted(lines=lines)])] == [3]
    assert store.fold() == 3


@pytest.mark.quick_cases(1)
def test_two_collectors_count_every_record_once(make):
    """Both are sent the same lines at the same time, and both count."""
    store, _ = make()
    lines = lines_of(store.survey, 120)

    def collect(order):
        mine = SurveyStore(store.place)
        for start in range(0, len(lines), 4):
            mine.accept([Posted(lines=lines[::order][start : start + 4])])
            mine.fold()
        mine.close()

    with ThreadPoolExecutor(2) as both:
        list(both.map(collect, (1, -1)))
    total = Aggregator(store.survey.schema)
    total.add(lines)
    assert store.people == 120
    assert store.aggregator() == total


def test_each_post_hears_of_its_own_lines(make):
    store, _ = make()
    one, two, three = lines_of(store.survey, 3)
    foreign = one.replace(store.form.mark.encode(), b"0" * 16)
    outside = two[:-2].rpartition(b",")[0] + b",999]}"
    found = store.accept(
        [Posted(lines=[b"{", one]), Posted(lines=[foreign, outside]), Posted(lines=[three])]
    )
    assert [dict(outcome.refused) for outcome in found] == [
        {"malformed": 1}, {"foreign schema": 1, "out of domain": 1}, {}
    ]  # fmt: skip
    assert [outcome.accepted for outcome in found] == [1, 0, 1]
    assert store.fold() == 2


def test_a_ticket_is_good_for_one_record(make):
    store, codes = make(tickets=3)
    one, two, three = lines_of(store.survey, 3)

    def post(ticket, *lines):
        [outcome] = store.accept([Posted(lines=lines, ticket=ticket)])
        return outcome.accepted

    assert post(codes[0], one) == 1
    assert post(codes[0], two) == 0, "a spent ticket"
    assert post(codes[0], one) == post(None, one) == 1, "the same record again"
    store.fold()
    assert post(codes[0], one) == 1, "also after it was counted"
    assert post(None, two) == post("made-up", two) == 0
    assert post(codes[1], two, three) == 0, "two records for one ticket"
    assert post(codes[1], b"{}") == 0, "what is malformed spends nothing"
    assert post(codes[1], two) == 1
    assert store.fold() == 2
    assert store.tickets == (3, 1)


def test_a_closed_survey_accepts_nothing_more(make):
    store, _ = make()
    one, two = lines_of(store.survey, 2)
    store.accept([Posted(lines=[one])])
    store.end()
    assert store.people == 1
    [outcome] = store.accept([Posted(lines=[two])])
    assert (outcome.accepted, dict(outcome.refused)) == (0, {"closed": 1})
    again = SurveyStore(store.place)
    assert again.state == "closed"
    again.close()


def test_the_survey_is_frozen(make):
    store, _ = make()
    again = SurveyStore(store.place)
    assert again.survey == store.survey
    assert again.survey.fingerprint == store.survey.fingerprint
    again.close()
    with pytest.raises(
        SourdineError, match=r"File already exists|must be a database without a survey"
    ):
        SurveyStore.create(store.place, store.survey)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text").write_text("no database")
    sqlite3.connect(tmp_path / "other").execute("CREATE TABLE a (b)").connection.close()
    for name in ("text", "other"):
        with pytest.raises(ParameterError, match="store must be a store created by"):
            SurveyStore(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="No such file: "):
        SurveyStore(tmp_path / "nothing")


def found_in(store, query):
    return store._db.read(lambda rows: rows.all(query))


def base(store, cluster):
    """Return the folder of the files of a store, and what finds the rows of a table."""
    if not store.place.startswith("postgresql:"):
        return Path(store.place).parent
    [[number]] = found_in(store, "SELECT oid FROM pg_database WHERE datname = current_database()")
    return cluster.folder / "data" / "base" / str(number)


@pytest.mark.slow
def test_nothing_in_the_tables_links(make, request):
    """Records vanish when they are counted, spent tickets at once; no table knows an order."""
    store, codes = make(tickets=80)
    lines = lines_of(store.survey, 60)
    for line, code in zip(lines, codes, strict=False):
        store.accept([Posted(lines=[line], ticket=code)])
    postgres = store.place.startswith("postgresql:")
    folder = base(store, request.getfixturevalue("postgres_cluster") if postgres else None)

    def found(markers):
        if postgres:
            store._db.outside("CHECKPOINT")
        whole = b"".join(file.read_bytes() for file in sorted(folder.iterdir()))
        return sum(marker in whole for marker in markers)

    answers = [line[line.index(b'"a":') :] for line in lines]
    names = [json.loads(line)["i"].encode() for line in lines]
    hashes = [sha256(code.encode()).digest() for code in codes]
    assert found(answers) == found(names) == 60, "the inbox holds them, or this looks wrongly"
    assert postgres or found(hashes[:60]) == 0
    assert found(hashes[60:]) == 20
    assert found(code.encode() for code in codes) == 0
    store.fold()
    assert found(answers) == found(names) == 0
    kept = [row[0] for row in found_in(store, "SELECT id FROM ids")]
    assert kept == sorted(kept)


def test_a_file_overwrites_what_is_deleted_and_waits_for_the_disk(tmp_path):
    new_file(tmp_path / "new.db")
    file = SqliteTables(Address(f"sqlite:///{tmp_path}/new.db")).connect()
    settings = "secure_delete", "synchronous", "journal_mode"
    kept = [file.execute(f"PRAGMA {setting}").fetchone()[0] for setting in settings]
    file.close()
    assert kept == [1, 2, "truncate"]


def test_a_file_has_no_row_numbers(survey_cases, tmp_path):
    survey = Survey.from_facts(survey_cases.facts())
    store, _ = SurveyStore.create(tmp_path / "s.db", survey)
    store.accept([Posted(lines=lines_of(survey, 1))])
    store.fold()
    assert not [file for file in tmp_path.iterdir() if file.stat().st_size and file.name != "s.db"]
    store.close()
    with sqlite3.connect(tmp_path / "s.db") as db:
        tables = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        columns = {row[1] for name in tables for row in db.execute(f"PRAGMA table_info({name})")}
    db.close()
    assert all("WITHOUT ROWID" in text for text in tables.values())
    assert not columns & {"time", "address", "number", "ip"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("secure_delete", 1), ("synchronous", 2), ("temp_store", 2), ("journal_mode", "truncate")],
)
def test_a_file_forgets_whatever_the_defaults_are(survey_cases, tmp_path, monkeypatch, name, value):
    """Builds of SQLite differ: here what is deleted stays, and nothing waits for the disk."""
    connect = sqlite3.connect

    def other_defaults(*args, **options):
        db = connect(*args, **options)
        for setting in ("secure_delete", "synchronous", "temp_store"):
            db.execute(f"PRAGMA {setting} = 0")
        return db

    monkeypatch.setattr(sqlite3, "connect", other_defaults)
    store, _ = SurveyStore.create(tmp_path / "s.db", Survey.from_facts(survey_cases.facts()))
    assert found_in(store, f"PRAGMA {name}") == [(value,)]
    assert store._db.write(lambda rows: rows.one(f"PRAGMA {name}")) == (value,)
    store.close()


@pytest.mark.quick_cases(1)
def test_results_are_hidden_below_fifty_answers(make):
    store, _ = make(epsilon=4)
    lines = lines_of(store.survey, 50)
    store.accept([Posted(lines=lines[:49])])
    store.fold()
    assert all(one.values == () for one in results(store).questions)
    assert all(one["hidden"] for one in results(store).to_dict()["questions"].values())
    store.accept([Posted(lines=lines[49:])])
    store.fold()
    for one in results(store).questions:
        assert one.values
        if one.name in {"way", "late"}:
            assert sum(one.values) == pytest.approx(1)
            assert min(one.values) >= 0
        assert all(a <= b for a, b in zip(one.lower, one.upper, strict=True))
