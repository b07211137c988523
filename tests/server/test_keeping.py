"""A store is made once, migrated by command, copied, and noticed when it is put back."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
from dataclasses import replace

import pytest

from guarded import guarded, label_file, model, sent, submission
from sourdine.errors import ParameterError, SourdineError
from sourdine.server.labels import labels_at
from sourdine.server.releases import lines_text
from sourdine.server.store import store as storing
from sourdine.server.store.store import ServerStore
from sourdine.session import Session
from sourdine.storage.database import Transaction
from store_requests import DATA, charge_once, counts, filled, request


@pytest.fixture
def file(tmp_path):
    made = filled(ServerStore.create(f"sqlite:///{tmp_path}/store.db"))
    yield made
    made.close()


def asked(store, key="k", epsilon=0.1):
    session = Session(DATA, ledger=store.datasets.ledger("ages"))
    return charge_once(store, request(key), counts(session, epsilon))


def watched_by(address, path):
    """Return a store with a new witness, as a server opens it."""
    made = ServerStore.open(address)
    made.add_witness(path)
    made.close()
    return ServerStore.open(address, witness=path)


def test_a_store_is_made_once_and_opened_often(store, address):
    assert ServerStore.open(address).meta == store.meta
    with pytest.raises(SourdineError, match=r"exist"):
        ServerStore.create(address)
    assert all(store.check())


@pytest.mark.usefixtures("store")
def test_a_worker_that_starts_makes_nothing(address, monkeypatch):
    """Opening and asking run no statement that makes, changes or drops a table."""
    said = []

    do = Transaction._do
    monkeypatch.setattr(
        Transaction,
        "_do",
        lambda self, text, values: (said.append(text), do(self, text, values))[1],
    )
    asked(ServerStore.open(address))
    assert len(said) > 10
    assert not [text for text in said if text.split()[0] in {"CREATE", "ALTER", "DROP"}]


def test_tables_of_another_version_are_refused_and_migrated(store, address, monkeypatch):
    monkeypatch.setattr(storing, "VERSION", 4)
    with pytest.raises(ParameterError, match=r"tables of version 4, got version 3\. Stop all"):
        ServerStore.open(address)
    adding = {3: lambda t: t.run("ALTER TABLE people ADD COLUMN mail TEXT")}
    monkeypatch.setattr(storing, "MIGRATIONS", adding)
    assert ServerStore.migrate(address) == (3, 4)
    assert ServerStore.migrate(address) == (4, 4)
    assert ServerStore.open(address).meta == replace(store.meta, version=4)
    monkeypatch.setattr(storing, "VERSION", 3)
    with pytest.raises(ParameterError, match="Install a later version"):
        ServerStore.open(address)


def test_a_migration_that_fails_changes_nothing(store, address, monkeypatch):
    def fails(t):
        t.run("ALTER TABLE people ADD COLUMN mail TEXT")
        raise ZeroDivisionError

    monkeypatch.setattr(storing, "VERSION", 4)
    monkeypatch.setattr(storing, "MIGRATIONS", {3: fails})
    with pytest.raises(ZeroDivisionError):
        ServerStore.migrate(address)
    assert store.meta.version == 3
    with pytest.raises(SourdineError, match="mail"):
        store.database.read(lambda t: t.one("SELECT mail FROM people"))


def test_a_store_of_the_first_version_is_brought_to_this_one(store, address):
    first = asked(store)

    def older(t):
        for column in ("read", "title", "description"):
            t.run(f"ALTER TABLE datasets DROP COLUMN {column}")
        t.run("DROP TABLE attempts")
        t.run("UPDATE meta SET version = 1")

    store.database.write(older)
    with pytest.raises(ParameterError, match="version 1"):
        ServerStore.open(address)
    assert ServerStore.migrate(address) == (1, 3)
    again = ServerStore.open(address)
    assert all(again.check())
    migrated = again.datasets.get("ages")
    assert (migrated.read, migrated.title, migrated.description) == ("{}", "", "")
    assert asked(again).answers == first.answers


def test_a_copy_is_a_store(file, tmp_path):
    first = asked(file)
    file.backup(tmp_path / "copy.db")
    asked(file, "later")
    copy = ServerStore.open(f"sqlite:///{tmp_path}/copy.db")
    assert copy.meta == file.meta
    assert all(copy.check())
    assert copy.releases.get("anna", "k") == replace(first, fresh=False)
    assert copy.releases.get("anna", "later") is None
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
    with pytest.raises(FileExistsError, match="File already exists: "):
        file.backup(tmp_path / "copy.db")


def test_a_copy_of_postgres_is_made_by_its_own_program(postgres, tmp_path):
    store = ServerStore.create(postgres)
    with pytest.raises(ParameterError, match="pg_dump"):
        store.backup(tmp_path / "copy.db")
    assert not list(tmp_path.iterdir())
    store.close()


def test_a_dump_of_postgres_is_a_store_again(postgres, postgres_cluster, tmp_path):
    store = filled(ServerStore.create(postgres))
    first = asked(store)
    path, restored = tmp_path / "store.dump", postgres_cluster.create()
    program = postgres_cluster._programs / "pg_dump"
    subprocess.run([program, "-Fc", "-f", path, postgres], check=True)  # noqa: S603
    later = watched_by(postgres, tmp_path / "witness")
    asked(later, "later")
    subprocess.run([program.with_name("pg_restore"), "-d", restored, path], check=True)  # noqa: S603
    again = ServerStore.open(restored)
    assert all(again.check())
    assert again.releases.get("anna", "k") == replace(first, fresh=False)
    with pytest.raises(SourdineError, match="what is written stays"):
        again.database.write(lambda t: t.run("DELETE FROM lines"))
    with pytest.raises(ParameterError, match="which the witness"):
        ServerStore.open(restored, witness=tmp_path / "witness")
    for one in (store, later, again):
        one.close()
    postgres_cluster.drop(restored)


def test_an_older_copy_is_noticed(file, tmp_path):
    """By the witness when a server starts, and by whoever remembers a line."""
    path = tmp_path / "elsewhere" / "witness"
    path.parent.mkdir()
    store = watched_by(file.database.address.url, path)
    asked(store, "before")
    store.backup(tmp_path / "copy.db")
    later = asked(store, "later")
    copy = f"sqlite:///{tmp_path}/copy.db"
    with pytest.raises(ParameterError, match=r"store must hold line \d+ of ages, which the wit"):
        ServerStore.open(copy, witness=path)
    restored = ServerStore.open(copy)
    assert restored.datasets.head("ages", later.line) is None
    asked(restored, "another")
    asked(restored, "and another")
    assert restored.datasets.head("ages", later.line) != (later.line, later.head)
    with pytest.raises(ParameterError, match="which the witness"):
        ServerStore.open(copy, witness=path)
    ServerStore.open(file.database.address.url, witness=path)


def test_a_witness_knows_every_answer_that_was_sent(store, address, tmp_path):
    path = tmp_path / "witness"
    watched = [watched_by(address, path), ServerStore.open(address, witness=path)]
    for i in range(6):
        stored = asked(watched[i % 2], str(i), 0.01)
        line, check = store.datasets.head("ages")
        assert json.loads(path.read_text())["heads"]["ages"] == f"{line} {check}"
        assert stored.line < line


@pytest.mark.quick_cases(1)
def test_no_answer_leaves_while_the_witness_cannot_be_written(store, address, tmp_path):
    """However often a request is sent, and whatever shows what is stored; guards too."""
    folder, away = tmp_path / "other disk", tmp_path / "away"
    folder.mkdir()
    guarded(store, label_file(tmp_path))
    labels = labels_at(str(tmp_path / "labels.csv"), "y")
    watched = watched_by(address, folder / "witness")
    workers = [watched, ServerStore.open(address, witness=folder / "witness")]
    folder.rename(away)
    unwritten = r"the witness .* could not be written"
    for _ in range(3):  # the first one is charged, the second one answered, and stored
        for one in workers:
            with pytest.raises(SourdineError, match=unwritten):
                asked(one)
            with pytest.raises(SourdineError, match=unwritten):
                submission(one, labels, "k", "anna", model(0.8))
    assert store.releases.get("anna", "k").state == "answered"
    shown = {
        "one": lambda one: one.releases.get("anna", "k"),
        "several": lambda one: one.releases.of("ages"),
        "lines": lambda one: lines_text(one.datasets.journal("ages")),
        "history": lambda one: one.datasets.ledger("ages").history,
        "charges": lambda one: one.datasets.charges("ages", 0, 10),
        "told": lambda one: one.guards.submissions("eval"),
        "found": lambda one: one.guards.found(sent("k", "anna", model(0.8))),
        "board": lambda one: one.guards.look("eval", lambda board: board.standings),
    }
    for one in workers:
        for look in shown.values():
            with pytest.raises(SourdineError, match=unwritten):
                look(one)
    folder.mkdir()  # a disk without the file is no witness either
    with pytest.raises(SourdineError, match=unwritten):
        asked(watched)
    shutil.rmtree(folder)
    away.rename(folder)
    assert asked(watched).state == "answered"
    heads = json.loads((folder / "witness").read_text())["heads"]
    assert heads["ages"] == " ".join(map(str, store.datasets.head("ages")))
    assert all(look(workers[1]) for look in shown.values())
    heads = json.loads((folder / "witness").read_text())["heads"]
    assert heads["guard:eval"] == " ".join(map(str, store.datasets.head("guard:eval")))


def test_a_missing_witness_is_refused(file, tmp_path):
    """A disk that is not mounted is not a new witness: a command makes one, and once."""
    address, path = file.database.address.url, tmp_path / "elsewhere" / "witness"
    for _ in range(2):
        with pytest.raises(FileNotFoundError, match="No such file: ") as told:
            ServerStore.open(address, witness=path)
        assert f"sourdine serve add-witness {path}" in str(told.value)
        path.parent.mkdir(exist_ok=True)
    file.add_witness(path)
    with pytest.raises(FileExistsError, match="File already exists: "):
        file.add_witness(path)
    moved = path.rename(tmp_path / "moved")
    ServerStore.open(address, witness=moved).close()
    assert not path.exists()
    assert {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.glob("moved*")} == {0o600}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"identity": "x", "heads": {"ages": "x"}}'])
def test_a_witness_that_is_none_is_refused(file, tmp_path, text):
    path = tmp_path / "witness"
    path.write_text(text)
    with pytest.raises(ParameterError, match="witness must be a file written by Sourdine"):
        ServerStore.open(file.database.address.url, witness=path)


def test_a_witness_is_of_one_store(file, tmp_path):
    path = tmp_path / "witness"
    file.add_witness(path)
    other = f"sqlite:///{tmp_path}/other.db"
    filled(ServerStore.create(other))
    with pytest.raises(ParameterError, match="witness must belong to this store"):
        ServerStore.open(other, witness=path)


WRONGS = {
    "spent": "UPDATE releases SET spent = '0'",
    "another's charge": "UPDATE releases SET number = 3, line = line + 2 WHERE number = 2",
    "answer": "UPDATE releases SET answer = answer + 1",
    "lost answer": "UPDATE releases SET state = 'failed'",
    "another's request": "UPDATE releases SET analyst = 'ben'",
    "another key": "UPDATE releases SET key = 'other' WHERE number = 2",
    "another question": "UPDATE releases SET asked = 'other'",
    "lost request": "DELETE FROM releases",
    "lost requests": "DELETE FROM releases WHERE number = 1",
}


@pytest.mark.quick_cases(7)
@pytest.mark.parametrize("statement", WRONGS.values(), ids=WRONGS)
def test_releases_that_do_not_fit_their_ledger_are_found(store, address, statement):
    asked(store)
    asked(store, "second", epsilon=0.2)
    assert all(store.check())
    changed(store, address, "releases", statement)
    (wrong,) = [check for check in store.check() if not check]
    assert wrong.dataset == "ages"
    assert wrong.problems


def changed(store, address, table, *statements):
    """Change what is forbidden to be changed, as who may drop triggers can."""
    where = "" if address.startswith("sqlite") else f" ON {table}"

    def job(t):
        for event in ("UPDATE", "DELETE"):
            t.run(f"DROP TRIGGER {table}_{event}{where}")
        for statement in statements:
            t.run(statement)

    store.database.write(job)


@pytest.mark.parametrize("charged", [True, False])
def test_swapped_ledgers_are_found(store, address, charged):
    """Two ledgers that are sound, under each other's name: those of data sets, and of guards."""
    if charged:
        asked(store)
    own = "INSERT INTO books SELECT 'aside', head FROM books WHERE name = 'ages'"
    head = (
        "UPDATE books SET head = (SELECT head FROM books b WHERE b.name = '{}') WHERE name = '{}'"
    )
    heads = head.format("others", "ages"), head.format("aside", "others")
    moved = [
        "UPDATE lines SET book = 'aside' WHERE book = 'ages'",
        "UPDATE lines SET book = 'ages' WHERE book = 'others'",
        "UPDATE lines SET book = 'others' WHERE book = 'aside'",
    ]
    changed(store, address, "lines", own, *moved, *heads)
    again = ServerStore.open(address)
    found = {check.dataset: check.problems for check in again.check()}
    assert "the one of others" in found["ages"][0]
    assert "the one of ages" in found["others"][0]
    with pytest.raises(ParameterError, match="the one of others"):
        asked(again, "new")
    again.close()


def test_a_charge_of_a_session_on_the_store_is_nobodys(store, session):
    session.count(epsilon=0.1)
    asked(store)
    assert all(store.check())
