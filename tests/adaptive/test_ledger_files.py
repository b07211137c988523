"""A transcript ledger in a file: shared, kept, and never less than what was told."""

from __future__ import annotations

import itertools
import os
import random
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from math import inf
from pathlib import Path

import pytest

from sourdine.adaptive.ledger.dependence import Blocks, Custom, Iid, Markov
from sourdine.adaptive.ledger.ledger import LEDGER, TranscriptLedger
from sourdine.adaptive.ledger.transaction import TOLD, Spent
from sourdine.errors import (
    BudgetExceededError,
    ParameterError,
    SourdineError,
)
from sourdine.storage.journal import FileKind, Journal

SLOW = Custom("slow", lambda n, t: ((t + 1) / n) ** 0.25)


def test_a_file_remembers(tmp_path):
    path = tmp_path / "eval.ledger"
    first = TranscriptLedger(
        500,
        confidence=1 - Fraction(1, 7),
        dependence=Markov(0.25),
        error=0.4,
        path=path,
        name="clinic",
    )
    first.charge_bit(answer=True)
    first.charge_value(10, "score")
    again = TranscriptLedger.open(path)
    terms = ("n", "beta", "dependence", "error", "name", "path", "limit", "history")
    for word in terms:
        assert getattr(again, word) == getattr(first, word), word
    assert again.halfwidth() == first.halfwidth()
    same = TranscriptLedger(
        500, confidence=1 - Fraction(1, 7), dependence=Markov(0.25), error=0.4, path=path
    )
    assert same.name == "clinic"
    same.charge_bit(answer=False)
    assert again.spent == first.spent == Spent(3, 1, 1, first.spent.value_bits, 3)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["eval.ledger"]
    assert TranscriptLedger(5).path is None


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"n": 501}, "n must be 500, which the ledger eval.ledger was opened with, got 501"),
        ({"confidence": 0.9}, "confidence must be 19/20, which the"),
        ({"dependence": Blocks(2)}, "dependence must be {'name': 'iid'}, which the"),
        ({"error": 0.2}, "error must be None, which the"),
        ({"name": "other"}, "name must be clinic, which"),
    ],
)
def test_other_terms_are_refused(tmp_path, change, text):
    path = tmp_path / "eval.ledger"
    terms = {"n": 500, "name": "clinic", "path": path}
    TranscriptLedger(**terms)
    with pytest.raises(ParameterError, match=re.escape(text)):
        TranscriptLedger(**(terms | change))


@pytest.mark.parametrize("dependence", [Iid(), Markov(Fraction(1, 3)), Blocks(7)], ids=str)
def test_a_file_names_its_dependence(tmp_path, dependence):
    TranscriptLedger(50, dependence=dependence, path=tmp_path / "x.ledger")
    assert TranscriptLedger.open(tmp_path / "x.ledger").dependence == dependence


def test_a_custom_dependence_is_given_again(tmp_path):
    path = tmp_path / "x.ledger"
    TranscriptLedger(50, dependence=SLOW, path=path).charge_bit(answer=True)
    with pytest.raises(ParameterError, match=r"dependence=Custom\('slow', \.\.\.\)"):
        TranscriptLedger.open(path)
    again = TranscriptLedger.open(path, dependence=SLOW)
    assert again.halfwidth() == SLOW.width(50, again.nats_after(again.spent))


@pytest.mark.slow
def test_no_flipped_bit_is_accepted(tmp_path):
    path, chance = tmp_path / "x.ledger", random.Random(5)  # noqa: S311 - no secret
    ledger = TranscriptLedger(50, error=0.9, path=path)
    for answer in (True, False, False):
        ledger.charge_bit(answer)
    whole = path.read_bytes()
    for _ in range(500):
        damaged, place = bytearray(whole), chance.randrange(8 * len(whole))
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(ParameterError, match="ledger must be a file written by Sourdine"):
            TranscriptLedger.open(path)
    path.write_bytes(whole)
    assert TranscriptLedger.open(path).spent == ledger.spent


def test_an_older_copy_is_noticed(tmp_path):
    path = tmp_path / "x.ledger"
    ledger = TranscriptLedger(50, path=path)
    older = path.read_bytes()
    ledger.charge_bit(answer=True)
    path.write_bytes(older)
    with pytest.raises(ParameterError, match="an older or a different copy"):
        ledger.charge_bit(answer=True)


@pytest.mark.parametrize(
    "told",
    [
        (0, 0, 0.0, 1),
        (2, 0, 0.5, 2),
        (3, 0, 0.0, 2),
        (1, 0, -1.0, 2),
        (1, 0, inf, 2),
        (2, 0, 0.0, 3),
    ],
)
def test_lines_that_do_not_add_up_are_refused(tmp_path, told):
    path = tmp_path / "x.ledger"
    TranscriptLedger(50, path=path).charge_bit(answer=True)
    append(path, TOLD.pack(*told).hex())
    with pytest.raises(ParameterError, match="lines do not add up"):
        TranscriptLedger.open(path)


@pytest.mark.parametrize("told", [1, "x", "00", "00" * 33, None])
def test_lines_that_cannot_be_read_are_refused(tmp_path, told):
    path = tmp_path / "x.ledger"
    TranscriptLedger(50, path=path).charge_bit(answer=True)
    append(path, told)
    with pytest.raises(ParameterError, match="a line cannot be read"):
        TranscriptLedger.open(path)


@pytest.mark.slow
def test_a_line_takes_as_much_room_whatever_it_says(tmp_path):
    """Else a disk without room for one more page would refuse yes and take no, for nothing."""
    path, chance = tmp_path / "x.ledger", random.Random(3)  # noqa: S311 - no secret
    ledger = TranscriptLedger(10**6, path=path)
    for _ in range(60):
        grown = []
        for answer in (True, False):
            copy = shutil.copy(path, tmp_path / "copy.ledger")
            TranscriptLedger.open(copy).charge_bit(answer, "a question of some length " * 8)
            grown.append(Path(copy).stat().st_size)
        assert grown[0] == grown[1]
        ledger.charge_bit(chance.random() < 0.5, "a question of some length " * 8)
    ledger.charge_value(10**9)
    rows = Journal(path, LEDGER).turn(lambda page: page.rows("answers"))
    assert {len(row["told"]) for row in rows} == {64}


def append(path, told):
    row = {"number": 2, "time": "t", "what": "w", "told": told}
    Journal(path, LEDGER).turn(lambda page: page.write("answers", row))


@pytest.mark.parametrize(
    "change", [{"n": "x"}, {"beta": "1/0"}, {"beta": "one"}, {"dependence": 3}, {"error": []}, None]
)
def test_terms_that_cannot_be_read_are_refused(tmp_path, change):
    path, (table, row) = tmp_path / "x.ledger", TranscriptLedger(5).terms_line()
    Journal(path, LEDGER, [] if change is None else [(table, row | change)])
    with pytest.raises(ParameterError, match="its terms cannot be read"):
        TranscriptLedger.open(path)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "x.ledger"
    ledger = TranscriptLedger(50, path=path)
    for _ in range(60):
        ledger.charge_bit(answer=True, what="x" * 500)
    whole = path.read_bytes()
    for cut in (len(whole) // 2, len(whole) - 4096):
        path.write_bytes(whole[:cut])
        with pytest.raises(SourdineError, match=r"x\.ledger"):
            TranscriptLedger.open(path)
    path.write_bytes(whole[:8192] + b"\xa7" * 8192 + whole[16384:])
    with pytest.raises(SourdineError, match="written by Sourdine"):
        TranscriptLedger.open(path)


def test_two_ledgers_of_one_file_share_what_is_left(tmp_path):
    path = tmp_path / "x.ledger"
    one = TranscriptLedger(300, error=0.12, path=path)
    two = TranscriptLedger.open(path)
    fits = one.remaining.noes
    for ledger in itertools.islice(itertools.cycle([one, two]), fits):
        ledger.charge_bit(answer=False)
    for ledger in (one, two):
        assert ledger.spent.no == fits
        with pytest.raises(BudgetExceededError):
            ledger.charge_bit(answer=False)


def test_a_larger_book_holds_a_ledger(tmp_path):
    """As a guard does: labels, proposals and the ledger in one file."""
    kind = FileKind(noun="guard", mark="test", version=3)
    labels = ("labels", {"all": [0.0, 1.0, 1.0, 0.0]})
    terms = TranscriptLedger(4, error=0.99, name="labels").terms_line()
    path = tmp_path / "x.guard"
    ledger = TranscriptLedger.open(Journal(path, kind, [terms, labels]))
    assert (ledger.n, ledger.error, ledger.name) == (4, Fraction("0.99"), "labels")
    with pytest.raises(BudgetExceededError):
        ledger.turn(lambda turn: turn.value(10**9))

    def asked(turn):
        assert sum(turn.transaction.last("labels")["all"]) == 2
        turn.bit(answer=True)

    ledger.turn(asked)
    again = TranscriptLedger.open(Journal(path, kind))
    assert again.spent == Spent(1, 1, 0, 0.0, 1)
    with pytest.raises(ParameterError, match="a file of another kind, a test"):
        TranscriptLedger.open(path)


def test_paths_that_cannot_be(tmp_path):
    with pytest.raises(SourdineError, match="no such folder"):
        TranscriptLedger(5, path=tmp_path / "nowhere" / "x.ledger")
    with pytest.raises(SourdineError, match="no such file"):
        TranscriptLedger.open(tmp_path / "x.ledger")
    assert list(tmp_path.iterdir()) == []


# Processes.

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def run(script, *arguments):
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split()


@pytest.mark.slow
@needs_fork
def test_forked_processes_share_a_file_and_not_memory(tmp_path):
    assert run(FORKS, tmp_path / "x.ledger") == ["refused"] * 3 + ["4", "1"]


FORKS = """
import os, sys
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.errors import BudgetExceededError
memory, file = TranscriptLedger(9), TranscriptLedger(9, path=sys.argv[1])
memory.charge_bit(True)
file.charge_bit(True)
for _ in range(3):
    child = os.fork()
    if not child:
        file.charge_bit(False)
        try:
            memory.charge_bit(False)
        except BudgetExceededError:
            os.write(1, b"refused\\n")
        os._exit(0)
    os.waitpid(child, 0)
print(file.spent.answers, memory.spent.answers)
"""


@pytest.mark.slow
@needs_fork
def test_killed_processes_lose_no_answer(tmp_path):
    """Killed at random moments: what was told is charged, and at most one charge was not told."""
    path = tmp_path / "x.ledger"
    counts = [tuple(map(int, pair.split(":"))) for pair in run(KILLS, path, 40)]
    ledger = TranscriptLedger.open(path)
    charges = [line.what for line in ledger.history]
    ledger.charge_bit(answer=True)
    assert sum(shown for _, shown in counts) > 10, "the processes got to work"
    for writer, shown in counts:
        assert 0 <= charges.count(str(writer)) - shown <= 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.ledger"]


@pytest.mark.slow
@needs_fork
def test_eight_processes_share_exactly_what_fits(tmp_path):
    ledger = TranscriptLedger(2000, error=0.1, path=tmp_path / "x.ledger")
    ledger.charge_value(2 ** int(ledger.remaining.bits - 16))
    fits = ledger.remaining.noes
    assert fits > 16
    counts = [int(pair.split(":")[1]) for pair in run(KILLS, ledger.path, 0)]
    assert len(counts) == 8
    assert sum(counts) == fits == ledger.spent.no


KILLS = """
import itertools, os, random, signal, sys, time
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.errors import BudgetExceededError
path, kills = sys.argv[1], int(sys.argv[2])
chance = random.Random(5)
ledger = TranscriptLedger(2000, path=path) if kills else TranscriptLedger.open(path)
def start(name):
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return name, process, reading
    try:
        while True:
            ledger.charge_bit(False, what=str(name))
            os.write(writing, b".")
    except BudgetExceededError:
        os._exit(0)
    except BaseException as error:
        os.write(2, repr(error).encode())
    os._exit(1)
def end(name, process, reading):
    _, status = os.waitpid(process, 0)
    assert status in (0, signal.SIGKILL), status
    os.set_blocking(reading, False)
    shown = b""
    try:
        while part := os.read(reading, 65536):
            shown += part
    except BlockingIOError:
        pass
    print(f"{name}:{len(shown)}")
if not kills:
    for writer in [start(i) for i in range(8)]:
        end(*writer)
alive, names = [], itertools.count()
for _ in range(kills):
    while len(alive) < 3:
        alive.append(start(next(names)))
    time.sleep(chance.uniform(0, 0.06))
    writer = alive.pop(chance.randrange(3))
    os.kill(writer[1], signal.SIGKILL)
    end(*writer)
for writer in alive:
    os.kill(writer[1], signal.SIGKILL)
    end(*writer)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_inside_a_turn_ends_the_child_and_not_the_ledger(tmp_path):
    ledger = TranscriptLedger(100, path=tmp_path / "a.ledger")

    def forked(turn):
        child = os.fork()
        if not child:
            os._exit(0)
        _, status = os.waitpid(child, 0)
        turn.bit(answer=True)
        return status

    assert os.waitstatus_to_exitcode(ledger.turn(forked)) == 70
    assert ledger.spent.answers == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_cannot_use_its_parents_turn():
    def forked(turn):
        child = os.fork()
        if not child:
            try:
                turn.bit(answer=True)
            except SourdineError:
                os._exit(3)
            os._exit(0)
        return os.waitpid(child, 0)[1]

    assert os.waitstatus_to_exitcode(TranscriptLedger(100).turn(forked)) == 3
