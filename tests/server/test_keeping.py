"""A store is made once, migrated by command, copied, and noticed when it is put back."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
from dataclasses import replace

import pytest

from sourdine.database import Transaction
from sourdine.errors import ParameterError, SourdineError
from sourdine.server.store import ServerStore
from sourdine.server.store import store as storing
from sourdine.session import Session
from store_requests import DATA, counts, filled, request


@pytest.fixture
def file(tmp_path):
    made = filled(ServerStore.create(f"sqlite:///{tmp_path}/store.db"))
    yield made
    made.close()


def asked(store, key="k", epsilon=0.1):
    session = Session(DATA, ledger=store.datasets.ledger("ages"))
    return store.charge_once(request(key), counts(session, epsilon))


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
    with pytest.raises(ParameterError, match="path must be a new file"):
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
    later = ServerStore.open(postgres, witness=tmp_path / "witness")
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
    store = ServerStore.open(file.database.address.url, witness=path)
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
    watched = [ServerStore.open(address, witness=path) for _ in range(2)]
    for i in range(6):
        stored = asked(watched[i % 2], str(i), 0.01)
        line, check = store.datasets.head("ages")
        assert json.loads(path.read_text())["heads"]["ages"] == f"{line} {check}"
        assert stored.line < line


def test_a_witness_that_cannot_be_written_lets_nothing_out(store, address, tmp_path):
    folder = tmp_path / "other disk"
    folder.mkdir()
    watched = ServerStore.open(address, witness=folder / "witness")
    shutil.rmtree(folder)
    with pytest.raises(SourdineError, match=r"the witness .* could not be written"):
        asked(watched)
    assert store.releases.get("anna", "k").state == "charged"
    folder.mkdir()
    assert asked(watched).state == "answered"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"identity": "x", "heads": {"ages": "x"}}'])
def test_a_witness_that_is_none_is_refused(file, tmp_path, text):
    path = tmp_path / "witness"
    path.write_text(text)
    with pytest.raises(ParameterError, match="witness must be a file that Sourdine wrote"):
        ServerStore.open(file.database.address.url, witness=path)


def test_a_witness_is_of_one_store(file, tmp_path):
    path = tmp_path / "witness"
    ServerStore.open(file.database.address.url, witness=path)
    other = f"sqlite:///{tmp_path}/other.db"
    filled(ServerStore.create(other))
    with pytest.raises(ParameterError, match="witness must be that of this store"):
        ServerStore.open(other, witness=path)


WRONGS = {
    "spent": "UPDATE releases SET spent = '0'",
    "another's charge": "UPDATE releases SET number = number + 1, line = line + 2",
    "answer": "UPDATE releases SET answer = answer + 1",
    "lost answer": "UPDATE releases SET state = 'failed'",
}


@pytest.mark.parametrize("statement", WRONGS.values(), ids=WRONGS)
def test_releases_that_do_not_fit_their_ledger_are_found(store, address, statement):
    asked(store)
    assert all(store.check())
    where = "" if address.startswith("sqlite") else " ON releases"
    store.database.write(lambda t: t.run(f"DROP TRIGGER releases_UPDATE{where}"))
    store.database.write(lambda t: t.run(statement))
    (wrong,) = [check for check in store.check() if not check]
    assert wrong.dataset == "ages"
    assert wrong.problems
