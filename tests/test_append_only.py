"""A book: one file that only grows, and plain words where it cannot be used."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from sourdine import append_only
from sourdine.append_only import Alone, Book, FileKind, new_identity, now, only_grows, only_one
from sourdine.errors import ParameterError, SourdineError

SCHEMA = f"""
CREATE TABLE terms (identity TEXT NOT NULL, total INTEGER NOT NULL);
CREATE TABLE lines (number INTEGER PRIMARY KEY, text TEXT NOT NULL);
{only_grows("lines")}{only_one("terms")}"""
DIARY = FileKind(noun="diary", mark=b"Dia1", version=2, schema=SCHEMA)


def begin(connection):
    connection.execute("INSERT INTO terms VALUES (?, 7)", (new_identity(),))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "my diary #1?.book"


@pytest.fixture
def book(path):
    return Book(path, DIARY, begin)


def write(book, *texts):
    with book.turn() as connection:
        (count,) = connection.execute("SELECT count(*) FROM lines").fetchone()
        for i, text in enumerate(texts, count + 1):
            connection.execute("INSERT INTO lines VALUES (?, ?)", (i, text))


def read(book):
    with book.turn() as connection:
        return [text for (text,) in connection.execute("SELECT text FROM lines ORDER BY number")]


def by_hand(path, *statements):
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_what_is_written_is_read_by_all(book, path):
    write(book, "one", "two")
    assert read(Book(path, DIARY)) == read(Book(path, DIARY, begin)) == ["one", "two"]
    assert read(Book(os.fsencode(path), DIARY)) == ["one", "two"]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_terms_are_written_once(path):
    calls = []

    def once(connection):
        calls.append(connection)
        begin(connection)

    for _ in range(3):
        Book(path, DIARY, once)
    assert len(calls) == 1


def test_a_file_whose_beginning_fails_is_begun_anew(path):
    def fails(connection):
        begin(connection)
        raise KeyError

    with pytest.raises(KeyError):
        Book(path, DIARY, fails)
    assert read(Book(path, DIARY, begin)) == []


@pytest.mark.usefixtures("book")
def test_the_file_carries_its_mark(path):
    assert path.read_bytes()[:15] == b"SQLite format 3"
    assert path.read_bytes()[68:72] == b"Dia1"
    assert int.from_bytes(path.read_bytes()[60:64], "big") == 2


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_whatever_raises_undoes_the_turn(book, error):
    write(book, "one")
    with pytest.raises(error), book.turn() as connection:  # noqa: PT012
        connection.execute("INSERT INTO lines VALUES (2, 'two')")
        raise error
    assert read(book) == ["one"]
    write(book, "two")
    assert read(book) == ["one", "two"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE lines SET text = 'x'",
        "DELETE FROM lines WHERE number = 2",
        "INSERT INTO lines VALUES (4, 'x')",
        "INSERT INTO lines VALUES (0, 'x')",
        "INSERT INTO lines VALUES (NULL, 'x')",
        "INSERT OR REPLACE INTO lines VALUES (1, 'x')",
        "UPDATE terms SET total = 9",
        "DELETE FROM terms",
        "INSERT INTO terms VALUES ('x', 9)",
    ],
)
def test_lines_and_terms_stay(book, path, statement):
    write(book, "one", "two")
    with pytest.raises(sqlite3.IntegrityError, match=r"what is written|line after line|one set"):
        by_hand(path, statement)
    with pytest.raises(ParameterError, match="diary must be"), book.turn() as connection:
        connection.execute(statement)
    assert read(book) == ["one", "two"]


def test_a_turn_waits_for_the_disk_and_holds_the_file(book, path, monkeypatch):
    monkeypatch.setattr(append_only, "PATIENCE", 0.05)
    with book.turn() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        other = sqlite3.connect(path, timeout=0.01, isolation_level=None)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        other.close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    text = "could not be used: another process has held it for 0.05 seconds. Nothing was released."
    with pytest.raises(SourdineError, match=re.escape(text)):
        read(book)
    holder.close()
    assert read(book) == []


def test_a_turn_inside_a_turn_is_refused(book, tmp_path):
    other = Book(tmp_path / "other", DIARY, begin)
    for second in (book, other):
        with book.turn():
            with pytest.raises(SourdineError, match="turn must end before the next one begins"):
                read(second)
            write_in_thread = threading.Thread(target=write, args=(other, "late"))
            write_in_thread.start()
        write_in_thread.join(10)
        assert not write_in_thread.is_alive()
    assert read(other) == ["late", "late"]


def test_a_lock_is_free_again_after_a_refusal():
    lock = Alone()
    with lock, pytest.raises(SourdineError), lock:
        pass
    assert lock.lock.acquire(blocking=False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_waits_for_the_end_of_a_turn(path):
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", FORK, path], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["over", "child", "2"], done.stderr


FORK = """
import os, sys, threading, time
from sourdine.append_only import Book, FileKind, only_grows, only_one
schema = "CREATE TABLE terms (identity TEXT);\\nCREATE TABLE lines (number INTEGER PRIMARY KEY);\\n"
kind = FileKind("diary", b"Dia1", 1, schema + only_grows("lines") + only_one("terms"))
book = Book(sys.argv[1], kind, lambda c: c.execute("INSERT INTO terms VALUES ('i')"))
inside = threading.Event()
def slow():
    with book.turn() as connection:
        connection.execute("INSERT INTO lines VALUES (1)")
        inside.set()
        time.sleep(0.3)
        os.write(1, b"over\\n")
thread = threading.Thread(target=slow)
thread.start()
inside.wait()
child = os.fork()
if not child:
    with book.turn() as connection:
        connection.execute("INSERT INTO lines VALUES (2)")
    os.write(1, b"child\\n")
    os._exit(0)
os.waitpid(child, 0)
with book.turn() as connection:
    print(*connection.execute("SELECT count(*) FROM lines").fetchone())
"""


def refused(path, kind, text, error=ParameterError):
    with pytest.raises(error, match=text):
        Book(path, kind)


@pytest.mark.usefixtures("book")
def test_another_kind_is_refused(path):
    other = FileKind(noun="ledger", mark=b"Led1", version=2, schema=SCHEMA)
    text = r"ledger must be a file that Sourdine wrote, got .*\(a database of something else\)"
    refused(path, other, text)
    newer = FileKind(noun="diary", mark=b"Dia1", version=3, schema=SCHEMA)
    refused(path, newer, "of format 2, this reads 3")


def test_foreign_files_are_refused_and_left_alone(tmp_path):
    text, database, folder = tmp_path / "notes.txt", tmp_path / "other.db", tmp_path / "folder"
    text.write_text("not a database, and much longer than a header of a hundred bytes " * 4)
    by_hand(database, "CREATE TABLE terms (identity TEXT)")
    folder.mkdir()
    for path in (text, database):
        before = path.read_bytes()
        with pytest.raises(ParameterError, match="diary must be a file that Sourdine wrote"):
            Book(path, DIARY, begin)
        assert path.read_bytes() == before
    with pytest.raises(SourdineError, match="could not be used"):
        Book(folder, DIARY, begin)


def test_paths_that_cannot_be(tmp_path):
    refused(tmp_path / "none" / "x", DIARY, "no such folder", SourdineError)
    refused(tmp_path / "x", DIARY, "no such file", SourdineError)
    with pytest.raises(SourdineError, match="no such folder"):
        Book(tmp_path / "none" / "x", DIARY, begin)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_is_no_book_but_may_become_one(path):
    path.write_bytes(b"")
    refused(path, DIARY, "diary must be a file that Sourdine wrote")
    assert path.read_bytes() == b""
    assert read(Book(path, DIARY, begin)) == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everything")
@pytest.mark.usefixtures("book")
def test_a_file_that_may_not_be_written(path):
    path.chmod(0o400)
    refused(path, DIARY, "could not be used", SourdineError)
    path.chmod(0o600)


def test_a_file_that_cannot_be_written_is_named(book, monkeypatch):
    """As on a disk that is read-only: SQLite says so when the first line is written."""
    connect = sqlite3.connect

    def reading(*where, **options):
        (uri,) = where
        return connect(uri.replace("mode=rw", "mode=ro"), **options)

    with monkeypatch.context() as patched:
        patched.setattr(append_only.sqlite3, "connect", reading)
        with pytest.raises(SourdineError, match=r"could not be used: .*readonly"):
            write(book, "one")
    assert read(book) == []


def test_a_replaced_file_is_noticed(book, path, tmp_path):
    write(book, "one")
    path.rename(tmp_path / "moved")
    with pytest.raises(SourdineError, match="no such file"):
        read(book)
    other = Book(path, DIARY, begin)
    with pytest.raises(ParameterError, match="diary must stay the file that was opened"):
        write(book, "two")
    assert read(other) == []
    (tmp_path / "moved").replace(path)
    assert read(book) == ["one"]


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"junk" * 2000])
def test_a_file_that_was_overwritten_is_noticed(book, path, content):
    path.write_bytes(content)
    with pytest.raises(SourdineError, match=re.escape(str(path))):
        read(book)
    assert path.read_bytes() == content


def test_damage_is_noticed_when_a_book_is_opened(book, path):
    write(book, *["x" * 900] * 60)
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + b"\xa7" * 8192 + whole[16384:])
    refused(path, DIARY, "diary must be a file that Sourdine wrote")
    path.write_bytes(whole[: len(whole) // 2])
    refused(path, DIARY, re.escape(str(path)), SourdineError)
    path.write_bytes(whole)
    assert len(read(Book(path, DIARY))) == 60


def test_errors_of_a_turn_are_in_plain_words(book):
    text = r"diary .* could not be used: no such table"
    with pytest.raises(SourdineError, match=text), book.turn() as connection:
        connection.execute("SELECT * FROM nowhere")


def test_identities_differ_and_times_sort():
    assert new_identity() != new_identity()
    first, second = now(), now()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", first)
    assert first <= second
