"""One writer at a time, one commit for whoever waits, and books in tables."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from threading import Event
from time import monotonic
from urllib.parse import unquote

import pytest

from sourdine.errors import ParameterError, SourdineError
from sourdine.server.store.base import Person
from sourdine.server.store.store import ServerStore
from sourdine.session import Session
from sourdine.session.ledger import DatabaseLedger, FileLedger
from sourdine.storage import database as dialects
from sourdine.storage.database import Address, SharedDatabase, is_address
from store_requests import DATA, charge_once, counts, request


@pytest.fixture
def database(store):
    store.database.write(lambda t: t.run("CREATE TABLE notes (text TEXT)"))
    return store.database


def put(text):
    return lambda t: t.run("INSERT INTO notes VALUES (?)", text)


def notes(database):
    return [text for (text,) in database.read(lambda t: t.all("SELECT text FROM notes"))]


def test_a_job_that_raises_undoes_itself(database):
    """InterruptSafeLock: jobs of the same commit stand."""
    started, held = Event(), Event()

    def slow(t):
        started.set()
        held.wait(10)
        return put("slow")(t)

    def wrong(t):
        put("wrong")(t)
        raise ZeroDivisionError

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(database.write, slow)
        started.wait(10)
        jobs = [pool.submit(database.write, job) for job in (wrong, put("right"))]
        while len(database._waiting) < 2:
            time.sleep(0.001)
        before = database.commits
        held.set()
        assert first.result() == 1
        with pytest.raises(ZeroDivisionError):
            jobs[0].result()
        assert jobs[1].result() == 1
    assert sorted(notes(database)) == ["right", "slow"]
    assert database.commits == before + 2


def test_nobody_hears_before_the_commit(database):
    heard = []

    def witness(told):
        heard.append((dict(told), notes(database)))

    def job(t):
        put("a")(t)
        t.note("book", 1, "abc")

    database.witness = witness
    database.write(job)
    assert heard == [({"book": "1 abc"}, ["a"])]
    database.write(put("b"))
    assert len(heard) == 1

    def refuse(_):
        raise SourdineError("the witness is away.")

    database.witness = refuse
    with pytest.raises(SourdineError, match="the witness is away"):
        database.write(job)


def test_a_commit_waits_for_the_disk(database, address):
    """As far as a database says so."""
    asked = {"PRAGMA synchronous": 2, "PRAGMA journal_mode": "wal"}
    if address.startswith("postgres"):
        asked = {"SHOW synchronous_commit": "on"}
    for statement, answer in asked.items():
        assert database.write(lambda t, said=statement: t.one(said)) == (answer,)


def test_what_is_read_is_of_one_moment(database):
    database.write(put("a"))

    def job(t):
        before = t.one("SELECT count(*) FROM notes")
        database.write(put("b"))
        return before, t.one("SELECT count(*) FROM notes")

    assert database.read(job) == ((1,), (1,))
    assert len(notes(database)) == 2


def test_a_look_that_began_before_a_commit_is_no_older_copy(store, session, monkeypatch):
    """Another thread of this process may have seen more than a look that is under way."""
    look, keys = store.database.dialect.look, iter(["later"])

    def overtaken(connection):
        look(connection)
        connection.execute("SELECT count(*) FROM books").fetchone()
        for key in keys:
            charge_once(store, request(key), counts(session, 0.1))

    charge_once(store, request("before"), counts(session, 0.1))
    asked = counts(session, 0.1)
    monkeypatch.setattr(store.database.dialect, "look", overtaken)
    assert store.datasets.ledger("ages").account.spent.epsilon == Fraction(1, 10)
    assert store.datasets.ledger("ages").account.spent.epsilon == Fraction(1, 5)
    assert asked.account().spent.epsilon == Fraction(1, 5)


def test_a_wrong_statement_leaves_a_database_of_use(database):
    for work in (database.read, database.write):
        with pytest.raises(SourdineError, match=r"could not be used: .*no"):
            work(lambda t: t.one("SELECT * FROM nowhere"))
    database.write(put("a"))
    assert notes(database) == ["a"]


def test_a_turn_inside_a_turn_is_refused(database):
    with pytest.raises(SourdineError, match="Transactions cannot be nested"):
        database.write(lambda _: database.write(put("a")))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_connections_of_its_own(store, session):
    charge_once(store, request("parent"), counts(session, 0.1))
    child = os.fork()
    if child == 0:
        try:
            charge_once(store, request("child"), counts(session, 0.1))
        except BaseException:  # noqa: BLE001 - a child must never return
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    charge_once(store, request("again"), counts(session, 0.1))
    assert [charge.number for charge in session.history] == [1, 2, 3]


def test_the_head_and_lines_of_a_journal_are_a_file(store, session, tmp_path):
    charge_once(store, request(), counts(session, 0.1))
    path, journal = tmp_path / "exported.ledger", store.datasets.journal("ages")
    path.write_bytes(store.database.read(lambda t: journal.head(t).written() + journal.text(t)))
    ledger = FileLedger(path, None)
    assert ledger.history == session.history
    assert ledger.terms == session.terms
    assert ledger.identity == store.datasets.ledger("ages").identity


FORGERIES = {
    "a changed line": "UPDATE lines SET line = replace(line, '1/10', '1/20') WHERE number = 3",
    "a missing line": "DELETE FROM lines WHERE number = 3",
    "a missing end": "DELETE FROM lines WHERE number = 6",
    "a changed head": "UPDATE books SET head = replace(head, 'lines 0', 'lines 1')",
    "no lines": "DELETE FROM lines",
}


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("statement", FORGERIES.values(), ids=FORGERIES)
def test_forged_rows_are_noticed(store, session, address, statement):
    for key in "ab":
        charge_once(store, request(key), counts(session, 0.1))
    assert [bool(check) for check in store.check()] == [True, True]

    def forge(t):
        for table, event in (("lines", "UPDATE"), ("lines", "DELETE")):
            where = "" if address.startswith("sqlite") else f" ON {table}"
            t.run(f"DROP TRIGGER {table}_{event}{where}")
        t.run(f"{statement} {'AND' if 'WHERE' in statement else 'WHERE'} true")

    SharedDatabase(address).write(forge)
    assert not all(store.check())
    with pytest.raises(ParameterError, match="ledger must be a file written by Sourdine"):
        DatabaseLedger(f"{address}#ages", None)


def test_an_older_copy_under_a_running_session_is_noticed(tmp_path):
    address = f"sqlite:///{tmp_path}/store.db"
    ServerStore.create(address).close()
    session = Session(DATA, epsilon=1, ledger=f"{address}#wages")
    session.count(epsilon=0.1)
    copy = tmp_path / "copy.db"
    SharedDatabase(address).backup(copy)
    session.count(epsilon=0.1)
    with sqlite3.connect(copy) as older, sqlite3.connect(tmp_path / "store.db") as current:
        older.backup(current)
    older.close()
    current.close()
    for look in (lambda: session.count(epsilon=0.1), lambda: session.spent):
        with pytest.raises(ParameterError, match="an older or a different copy"):
            look()


def test_a_session_speaks_to_a_store_as_to_a_file(store, address):
    session = Session(DATA, epsilon=1, delta=1e-6, ledger=f"{address}#wages", name="wages")
    release = session.count(epsilon=0.1)
    again = Session(DATA, ledger=f"{address}#wages")
    assert again.history[0].release == release
    assert again.remaining == session.remaining
    with pytest.raises(
        ParameterError, match="epsilon must be 1, as the ledger wages was created that way"
    ):
        Session(DATA, epsilon=2, delta=1e-6, ledger=f"{address}#wages")
    with pytest.raises(ParameterError, match="no such ledger in this store"):
        Session(DATA, ledger=f"{address}#nowhere")
    assert store.datasets.get("wages") is None


@pytest.mark.parametrize("wrong", ["sqlite://", "sqlite:///", "mysql://x", "store.db"])
def test_addresses_that_cannot_be(wrong):
    with pytest.raises(ParameterError, match="store must be the address of a database"):
        Address.read(wrong)


@pytest.mark.parametrize("secret", ["anna:pear@host/db", "host/db?user=anna&password=pear"])
def test_no_password_is_shown(secret):
    shown = str(Address.read(f"postgresql://{secret}"))
    assert "pear" not in shown
    assert shown.count("***") == 1


def test_a_store_that_is_not_there(tmp_path):
    with pytest.raises(SourdineError, match="no such file"):
        Session(DATA, epsilon=1, ledger=f"sqlite:///{tmp_path}/none.db")
    assert not list(tmp_path.iterdir())
    (tmp_path / "text.db").write_text("no database " * 200)
    with pytest.raises(SourdineError, match="not a database"):
        ServerStore.open(f"sqlite:///{tmp_path}/text.db")
    with pytest.raises(FileExistsError, match="File already exists: "):
        ServerStore.create(f"sqlite:///{tmp_path}/text.db")


def test_a_password_is_not_shown(postgres):
    name = unquote(postgres).partition("@")[2]
    with pytest.raises(SourdineError) as refused:
        SharedDatabase(f"postgresql://nobody:secret@{name}")
    assert "secret" not in str(refused.value)
    assert is_address(postgres)


def test_the_file_at_which_writers_wait_is_locked_by_its_owner_alone(tmp_path, monkeypatch):
    """Whoever may open it may lock it; if that lasts, an error says so, and nothing is written."""
    store = ServerStore.create(f"sqlite:///{tmp_path}/store.db")
    turn = tmp_path / "store.db-turn"
    kept = {one.name: stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    assert set(kept) >= {"store.db", turn.name}
    assert set(kept.values()) == {0o600}
    turn.chmod(0o644)  # as it was made once
    store.people.add(Person(name="anna", role="analyst"))
    assert stat.S_IMODE(turn.stat().st_mode) == 0o600
    monkeypatch.setattr(dialects, "PATIENCE", 0.2)
    with turn.open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        began = monotonic()
        with pytest.raises(SourdineError, match=r"another process has held .*-turn for 0\.2 sec"):
            store.people.add(Person(name="ben", role="analyst"))
        assert monotonic() - began < 10
    assert [one.name for one in store.people.all()] == ["anna"]
    store.people.add(Person(name="ben", role="analyst"))
    store.close()


def test_of_several_notes_the_last_line_is_told(database):
    """Jobs of one commit note lines of one book, written or shown: the latest is what counts."""
    told = []
    database.witness = told.append
    for lines in ((3, 9, 7), (10, 9)):
        database.write(lambda t, lines=lines: [t.note("book", n, f"c{n}") for n in lines])
    database.read(lambda t: t.note("book", 11, "c11"))
    assert told == [{"book": "9 c9"}, {"book": "10 c10"}, {"book": "11 c11"}]
