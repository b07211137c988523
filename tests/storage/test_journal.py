"""A journal: one file that only grows, and plain words where it cannot be used."""

from __future__ import annotations

import os
import random
import re
import stat
import subprocess
import sys
import threading
from errno import ENOSPC, EROFS

import pytest

from sourdine.errors import ParameterError, SourdineError
from sourdine.storage import journal as module
from sourdine.storage import locks
from sourdine.storage.journal import FileKind, Journal, now
from sourdine.storage.locks import InterruptSafeLock

DIARY = FileKind(noun="diary", mark="diary", version=2)
BEGIN = [("terms", {"total": 7})]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "my diary #1?.book"


@pytest.fixture
def journal(path):
    return Journal(path, DIARY, BEGIN)


def write(journal, *texts):
    def add(page):
        for text in texts:
            page.write("lines", {"text": text})

    journal.turn(add)


def read(journal):
    return journal.turn(lambda page: [row["text"] for row in page.rows("lines")])


def refused(path, kind=DIARY, text="diary must be a file written by Sourdine", error=SourdineError):
    with pytest.raises(error, match=text):
        Journal(path, kind)


def test_what_is_written_is_read_by_all(journal, path):
    write(journal, "one", "two\n\x1b")
    assert read(Journal(path, DIARY)) == read(Journal(path, DIARY, BEGIN)) == ["one", "two\n\x1b"]
    assert read(Journal(os.fsencode(path), DIARY)) == ["one", "two\n\x1b"]
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    assert journal.turn(lambda page: page.last("terms")) == {"total": 7}
    assert b"\x1b" not in path.read_bytes()


def test_two_who_have_it_open_see_each_other(journal, path):
    other = Journal(path, DIARY)
    for i in range(5):
        write(journal, f"a{i}")
        write(other, f"b{i}")
    assert read(journal) == read(other) == [f"{x}{i}" for i in range(5) for x in "ab"]


def test_terms_are_written_once(path):
    for total in (7, 8, 9):
        made = Journal(path, DIARY, [("terms", {"total": total})])
        assert made.turn(lambda page: page.rows("terms")) == [{"total": 7}]


def test_a_new_file_and_its_folder_reach_the_disk(tmp_path, monkeypatch):
    flushed, flush = [], os.fsync

    def noted(number):
        flushed.append(stat.S_ISDIR(os.fstat(number).st_mode))
        flush(number)

    monkeypatch.setattr(os, "fsync", noted)
    locks.write_new(tmp_path / "new", b"text", 0o600)
    assert flushed == [False, True]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'{"total":7}', b'{"total":8}'),
        (b'{"text":"one"}', b'{"text":"two"}'),
        (b"lines 000000000003", b"lines 000000000002"),
        (b"diary 0002", b"diary 0003"),
    ],
)
def test_a_changed_letter_is_noticed(journal, path, old, new):
    write(journal, "one")
    whole = path.read_bytes()
    assert whole.count(old) == 1
    path.write_bytes(whole.replace(old, new))
    with pytest.raises(ParameterError, match="damaged"):
        Journal(path, DIARY)
    path.write_bytes(whole)
    assert Journal(path, DIARY).lines == journal.lines


def test_a_new_file_is_made_by_one(path):
    first = Journal(path, DIARY, BEGIN, fresh=True)
    with pytest.raises(FileExistsError):
        Journal(path, DIARY, BEGIN, fresh=True)
    assert read(first) == []
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_where_there_are_no_hard_links_a_file_is_made_all_the_same(path, monkeypatch):
    def none(*_):
        raise PermissionError

    monkeypatch.setattr(locks.os, "link", none)
    write(Journal(path, DIARY, BEGIN), "one")
    with pytest.raises(FileExistsError):
        Journal(path, DIARY, BEGIN, fresh=True)
    assert read(Journal(path, DIARY)) == ["one"]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_planted_link_is_not_written_through(tmp_path, path):
    """Names aside are random, and never opened if they are there."""
    target = tmp_path / "precious"
    target.write_text("mine")
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(SourdineError, match="no such file"):
        Journal(path, DIARY, BEGIN)
    assert target.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_who_may_read_a_new_file(tmp_path):
    private = FileKind(noun="diary", mark="diary", version=2, rights=0o600)
    Journal(tmp_path / "x", private, BEGIN)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o600


# What was written stays, and whatever happened to it is noticed.


@pytest.mark.slow
def test_no_flipped_bit_is_accepted(journal, path):
    write(journal, "one", "two " * 50, "three")
    whole, chance = path.read_bytes(), random.Random(3)  # noqa: S311 - no secret
    places = [chance.randrange(8 * len(whole)) for _ in range(1500)]
    for place in (*range(8 * 140), *places):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        refused(path)
        assert path.read_bytes() == damaged
    path.write_bytes(whole)
    assert read(Journal(path, DIARY)) == read(journal)


@pytest.mark.slow
def test_lines_that_were_moved_or_removed_are_noticed(journal, path):
    write(journal, "one", "two", "three", "four")
    whole = path.read_bytes().splitlines(keepends=True)
    head, *lines = whole
    changed = [[*lines[:i], *lines[i + 1 :]] for i in range(len(lines))]
    for i in range(len(lines) - 1):
        changed.append([*lines[:i], lines[i + 1], lines[i], *lines[i + 2 :]])
        changed.append([*lines[:i], lines[i], *lines[i:]])
    for text in changed:
        path.write_bytes(head + b"".join(text))
        refused(path)
    for cut in range(len(b"".join(whole))):
        path.write_bytes(b"".join(whole)[:cut])
        refused(path)


def test_an_emptied_file_is_never_new(journal, path):
    write(journal, "one")
    path.write_bytes(b"")
    text = r"0 bytes: .* Restore the diary from a copy\. .* delete my diary"
    for opened in (
        lambda: Journal(path, DIARY, BEGIN),
        lambda: Journal(path, DIARY),
        lambda: read(journal),
    ):
        with pytest.raises(ParameterError, match=text):
            opened()
    assert path.read_bytes() == b""


def test_an_older_copy_put_back_is_noticed(journal, path):
    write(journal, "one")
    older = path.read_bytes()
    write(journal, "two")
    newer = path.read_bytes()
    path.write_bytes(older)
    text = "diary must hold all 4 lines that were seen before, got an older or a different copy"
    for attempt in (lambda: read(journal), lambda: write(journal, "three")):
        with pytest.raises(ParameterError, match=text):
            attempt()
    write(Journal(path, DIARY), "another two")
    write(Journal(path, DIARY), "another three")
    with pytest.raises(ParameterError, match=text):
        read(journal)
    path.write_bytes(newer)
    assert read(journal) == ["one", "two"]


def test_a_replaced_file_is_noticed(journal, path, tmp_path):
    write(journal, "one")
    path.rename(tmp_path / "moved")
    with pytest.raises(SourdineError, match="no such file"):
        read(journal)
    other = Journal(path, DIARY, BEGIN)
    write(other, *"abc")
    with pytest.raises(ParameterError, match="diary must be the file that was opened"):
        write(journal, "two")
    assert read(other) == ["a", "b", "c"]
    (tmp_path / "moved").replace(path)
    assert read(journal) == ["one"]


# Crashes.


def test_a_line_that_a_crash_tore_is_dropped_and_a_whole_one_counts(journal, path):
    write(journal, "one")
    before = path.read_bytes()
    write(journal, "two")
    after = path.read_bytes()
    line = after[len(before) :]
    for cut in range(len(line)):
        path.write_bytes(before + line[:cut])
        torn = Journal(path, DIARY)
        assert read(torn) == ["one"]
        write(torn, "2")
        assert read(Journal(path, DIARY)) == ["one", "2"]
    path.write_bytes(before + line)
    assert read(Journal(path, DIARY)) == ["one", "two"]
    assert path.read_bytes() == after
    write(journal, "three")
    assert read(Journal(path, DIARY)) == ["one", "two", "three"]


@pytest.mark.parametrize("step", [0, 1, 2, 3])
def test_a_write_that_fails_is_told_and_counts_at_most_once(journal, path, monkeypatch, step):
    """On a full disk, or one that gives up, at each of the four steps of a line."""
    calls = iter(range(4))
    write(journal, "one")

    def failing(plain):
        def work(file, *rest):
            if next(calls) == step:
                if rest:
                    file.seek(rest[0])
                    file.write(rest[1][:40])
                raise OSError(ENOSPC, "No space left on device")
            return plain(file, *rest)

        return work

    with monkeypatch.context() as patched:
        for name in ("put", "settle"):
            patched.setattr(locks, name, failing(getattr(locks, name)))
        with pytest.raises(SourdineError, match=r"No space left on device\. Nothing was released"):
            write(journal, "two")
    if step == 2:  # a head is far smaller than what a disk writes at once; were it torn ...
        refused(path, text="damaged")
        return
    kept = ["one", "two"] if step in (1, 3) else ["one"]
    assert read(Journal(path, DIARY)) == read(journal) == kept
    write(journal, "three")
    assert read(Journal(path, DIARY)) == [*kept, "three"]


def test_a_short_write_is_an_error():
    class Full:
        def seek(self, place):
            pass

        def write(self, text):
            return len(text) - 1

    with pytest.raises(OSError, match="No space"):
        locks.put(Full(), 0, b"line\n")


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_was_written_stays_whatever_raises(journal, error):
    def fails(page):
        page.write("lines", {"text": "one"})
        raise error

    with pytest.raises(error):
        journal.turn(fails)
    write(journal, "two")
    assert read(journal) == ["one", "two"]


# One at a time.


def test_a_turn_holds_the_file(journal, path, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    text = "could not be used: another process has held it for 0.05 seconds. Nothing was released."
    with open(path, "r+b", buffering=0) as holder:  # noqa: PTH123
        locks.hold(holder, 1)
        with pytest.raises(SourdineError, match=re.escape(text)):
            read(journal)
    assert read(journal) == []

    def inside(_):
        with open(path, "r+b", buffering=0) as other, pytest.raises(BlockingIOError):  # noqa: PTH123
            locks.hold(other, 0)

    journal.turn(inside)


def test_a_line_is_on_the_disk_before_a_turn_goes_on(journal, monkeypatch):
    said = []
    monkeypatch.setattr(locks, "put", lambda _, start, __: said.append(("put", start > 0)))
    monkeypatch.setattr(locks, "settle", lambda _: said.append("settle"))
    journal.turn(lambda page: (page.write("lines", {"text": "x"}), said.append("told")))
    assert said == [("put", True), "settle", ("put", False), "settle", "told"]


def test_a_turn_inside_a_turn_is_refused(journal, tmp_path):
    other = Journal(tmp_path / "other", DIARY, BEGIN)
    for second in (journal, other):
        thread = threading.Thread(target=write, args=(other, "late"))

        def inside(_, second=second, thread=thread):
            with pytest.raises(SourdineError, match="Transactions cannot be nested"):
                read(second)
            thread.start()

        journal.turn(inside)
        thread.join(10)
        assert not thread.is_alive()
    assert read(other) == ["late", "late"]


def test_a_lock_is_free_again_after_a_refusal():
    alone = InterruptSafeLock()
    with pytest.raises(SourdineError):
        alone(lambda: alone(lambda: None))
    done = []
    thread = threading.Thread(target=lambda: alone(lambda: done.append(1)))
    thread.start()
    thread.join(5)
    assert done == [1]


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and real signals")


def run(script, *arguments):
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split()


@pytest.mark.slow
@needs_fork
def test_interrupts_around_a_fork_leave_no_lock_behind(path):
    assert run(INTERRUPTED_FORKS, path)[-1] == "free"


INTERRUPTED_FORKS = """
import os, signal, sys, threading
from sourdine.storage.journal import Journal, FileKind
book = Journal(sys.argv[1], FileKind("diary", "diary", 1), [])
signal.signal(signal.SIGALRM, signal.default_int_handler)
for i in range(600):
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-5 + (i % 200) * 1e-5)
        child = os.fork()
        if child == 0:
            os._exit(0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)
def charge():
    book.turn(lambda page: page.write("lines", {}))
other = threading.Thread(target=charge, daemon=True)
other.start()
other.join(20)
print("held" if other.is_alive() else "free", flush=True)
os._exit(0)
"""


@needs_fork
def test_a_fork_waits_for_the_end_of_a_turn(path):
    assert run(FORK, path) == ["over", "child", "2"]


FORK = """
import os, sys, threading, time
from sourdine.storage.journal import Journal, FileKind
book = Journal(sys.argv[1], FileKind("diary", "diary", 1), [])
inside = threading.Event()
def slow(page):
    page.write("lines", {})
    inside.set()
    time.sleep(0.3)
    os.write(1, b"over\\n")
thread = threading.Thread(target=book.turn, args=(slow,))
thread.start()
inside.wait()
child = os.fork()
if not child:
    book.turn(lambda page: page.write("lines", {}))
    os.write(1, b"child\\n")
    os._exit(0)
os.waitpid(child, 0)
print(book.turn(lambda page: len(page.rows("lines"))))
"""


@pytest.mark.slow
@needs_fork
def test_interrupts_leave_no_lock_behind(path):
    """Thousands of real signals at random moments of turns; their tracebacks are kept alive."""
    interrupts, lost, child = map(int, run(INTERRUPTS, path, 3000))
    assert interrupts == 3000
    assert lost == 0
    assert child == 0


INTERRUPTS = """
import os, random, signal, sys, threading
from sourdine.storage.locks import InterruptSafeLock
from sourdine.storage.journal import Journal, FileKind
from sourdine.storage import locks as disk
disk.settle = lambda file: None  # the moments between steps count, not those of the disk
goal, chance, kept = int(sys.argv[2]), random.Random(2), []
book, lock = Journal(sys.argv[1], FileKind("diary", "diary", 1), []), InterruptSafeLock()
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
answered = 0
def again():
    global answered
    while True:
        book.turn(lambda page: page.write("lines", {"number": len(page.rows("lines"))}))
        answered += 1
        lock(lambda: None)
while len(kept) < goal:
    if len(kept) % 200 == 0:  # a long file would make turns longer
        os.replace(sys.argv[1], sys.argv[1] + ".old")
        book, answered = Journal(sys.argv[1], FileKind("diary", "diary", 1), []), 0
    try:
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 1e-3))
        again()
    except KeyboardInterrupt as error:
        kept.append(error)
    signal.setitimer(signal.ITIMER_REAL, 0)
    said = []
    thread = threading.Thread(
        target=lambda: (lock(lambda: said.append(1)), book.turn(lambda page: said.append(2)))
    )
    if len(kept) % 20 == 0:
        thread.start()
        thread.join(5)
        assert said == [1, 2], "another thread is kept waiting"
lines = book.turn(lambda page: page.rows("lines"))
assert [row["number"] for row in lines] == list(range(len(lines)))
lost = answered > len(lines)
child = os.fork()
if not child:
    signal.alarm(5)
    book.turn(lambda page: page.write("lines", {"number": -1}))
    os._exit(0)
_, status = os.waitpid(child, 0)
print(len(kept), int(lost), status)
"""


# Files that are no books.


@pytest.mark.usefixtures("journal")
def test_another_kind_is_refused(path):
    other = FileKind(noun="ledger", mark="ledger", version=2)
    text = r"ledger must be a file written by Sourdine, got .*\(a file of another kind, a diary\)"
    refused(path, other, text)
    refused(path, FileKind("diary", "diary", 3), "of format 2, this reads 3")


def test_foreign_files_are_refused_and_left_alone(tmp_path):
    texts = [b"not a book " * 40, b"SQLite format 3\0" + b"\0" * 5000, b"\n", b"sourdine diary\n"]
    for i, text in enumerate(texts):
        path = tmp_path / f"{i}"
        path.write_bytes(text)
        with pytest.raises(ParameterError, match="diary must be a file written by Sourdine"):
            Journal(path, DIARY, BEGIN)
        assert path.read_bytes() == text
    with pytest.raises(SourdineError, match="could not be used"):
        Journal(tmp_path, DIARY, BEGIN)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_no_book_and_is_not_waited_for(path):
    os.mkfifo(path)
    refused(path, text="not a file")


def test_paths_that_cannot_be(tmp_path):
    refused(tmp_path / "none" / "x", text="no such folder")
    refused(tmp_path / "x", text="no such file")
    with pytest.raises(SourdineError, match="no such folder"):
        Journal(tmp_path / "none" / "x", DIARY, BEGIN)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everything")
@pytest.mark.usefixtures("journal")
def test_a_file_that_may_not_be_written(path):
    path.chmod(0o400)
    refused(path, text="it may not be read and written")
    path.chmod(0o600)


def test_a_disk_that_cannot_be_written_is_named(journal, monkeypatch):
    def reading(*_):
        raise OSError(EROFS, "Read-only file system")

    with monkeypatch.context() as patched:
        patched.setattr(locks, "put", reading)
        with pytest.raises(SourdineError, match="could not be used: Read-only file system"):
            write(journal, "one")
    assert read(journal) == []


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"junk" * 2000])
def test_a_file_that_was_overwritten_is_noticed(journal, path, content):
    path.write_bytes(content)
    with pytest.raises(SourdineError, match=re.escape(str(path))):
        read(journal)
    assert path.read_bytes() == content


def test_now_is_of_one_length():
    assert {len(now()) for _ in range(20)} == {29}
