from __future__ import annotations

import os
import pickle
import random
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.leaderboard import Leaderboard
from sourdine.adaptive.holdout.store import GUARD, Store
from sourdine.adaptive.ledger.dependence import Blocks, Custom, Markov
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.errors import BudgetExceededError, ParameterError, SourdineError
from sourdine.storage.journal import Journal

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "guard.py"
SECRET = ["élan", "zwölf", "a,b", ' "', "élan", "", "zwölf", "ß"] * 25


@pytest.fixture
def path(tmp_path):
    return tmp_path / "eval.guard"


def test_what_a_file_keeps(path):
    blank = [" "] * len(SECRET)
    made = GuardedHoldout.create(
        path, SECRET, baseline=blank, confidence=0.9, dependence=Blocks(2), error=0.3, name="words"
    )
    assert made.confirm(SECRET)
    again = GuardedHoldout.open(path)
    assert again.confirmed == SECRET
    assert again.score(SECRET, step=0.5).value == 1
    assert (again.n, again.kind, again.loss) == (200, "text", "zero-one")
    ledger = again.ledger
    assert (ledger.name, ledger.beta, ledger.dependence) == ("words", made.ledger.beta, Blocks(2))
    assert made.bits == again.bits
    assert str(path) in repr(again)


@pytest.mark.parametrize(
    "labels", [[1, 2, 2**62], [0.1, float("nan"), 1e-300], [True, False, None], ["a", None, "\0"]]
)
def test_labels_come_back_as_they_were(path, labels):
    GuardedHoldout.create(path, labels)
    kept, given = GuardedHoldout.open(path)._labels, GuardedHoldout(labels)._labels
    assert kept.kind == given.kind
    assert kept.values.dtype == given.values.dtype
    assert str(kept.values.tolist()) == str(given.values.tolist())


def test_distances_in_a_file(path):
    GuardedHoldout.create(path, [1.0, 2.0], loss="absolute", scale=4)
    assert GuardedHoldout.open(path).final([2.0, 2.0]).value == 1 - 0.125


def test_only_its_owner_may_read_it(path):
    before = os.umask(0)
    try:
        GuardedHoldout.create(path, SECRET)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_is_there_stays(path):
    GuardedHoldout.create(path, SECRET)
    kept = path.read_bytes()
    with pytest.raises(FileExistsError, match="File already exists: "):
        GuardedHoldout.create(path, SECRET)
    assert path.read_bytes() == kept
    with pytest.raises(SourdineError, match="no such folder"):
        GuardedHoldout.create(path.parent / "no" / "eval.guard", SECRET)


@pytest.mark.parametrize(
    "terms",
    [
        {"loss": lambda p, y: p != y},
        {"confidence": 1},
        {"error": 0.0001},
        {"baseline": ["a"]},
        {"loss": "absolute", "scale": 1},
    ],
)
def test_bad_terms_leave_no_file(path, terms):
    with pytest.raises(SourdineError, match=r"must (be|hold)"):
        GuardedHoldout.create(path, SECRET, **terms)
    assert not path.exists()


def test_a_failure_while_it_is_made_leaves_no_file(path, monkeypatch):
    monkeypatch.setattr(TranscriptLedger, "terms_line", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        GuardedHoldout.create(path, SECRET)
    assert not path.exists()


def test_files_of_other_kinds_are_refused(path):
    with pytest.raises(
        FileNotFoundError, match=r"No such file: .* guard init labels.csv --out eval.gu"
    ):
        GuardedHoldout.open(path)
    TranscriptLedger(10, path=path)
    with pytest.raises(ParameterError, match="a file of another kind"):
        GuardedHoldout.open(path)
    other = path.with_suffix(".other")
    GuardedHoldout.create(other, SECRET)
    with pytest.raises(ParameterError, match="a file of another kind"):
        TranscriptLedger.open(other)


def test_labels_that_cannot_be_read_are_not_shown(path):
    GuardedHoldout.create(path, SECRET)
    spoilt = ("labels", {"loss": {"name": "zero-one"}, "packed": "secret"})
    Journal(path, GUARD).turn(lambda page: page.write(*spoilt))
    with pytest.raises(ParameterError, match="its labels cannot be read") as caught:
        GuardedHoldout.open(path)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.slow
def test_no_flipped_bit_is_accepted(path):
    guard = GuardedHoldout.create(path, SECRET, baseline=SECRET[::-1])
    Leaderboard(guard).submit("a", SECRET)
    guard.confirm(SECRET)
    whole, chance = path.read_bytes(), random.Random(4)  # noqa: S311 - no secret
    for _ in range(500):
        damaged, place = bytearray(whole), chance.randrange(8 * len(whole))
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(ParameterError, match="guard must be a file written by Sourdine"):
            GuardedHoldout.open(path)
    path.write_bytes(whole)
    assert GuardedHoldout.open(path).bits == guard.bits


def test_a_failure_after_the_charge_keeps_the_charge_alone(path, monkeypatch):
    guard = GuardedHoldout.create(path, SECRET, baseline=["x"] * 200)
    monkeypatch.setattr(Store, "confirm", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        guard.confirm(SECRET)
    monkeypatch.undo()
    guard = GuardedHoldout.open(path)
    assert guard.bits == pytest.approx(1)
    assert guard.confirmed == ["x"] * 200
    assert guard.confirm(SECRET)
    assert guard.confirmed == SECRET


def test_final_closes_for_all(path):
    made, other = GuardedHoldout.create(path, SECRET, baseline=SECRET), GuardedHoldout.open(path)
    assert made.final().value == 1
    for guard in (made, other, GuardedHoldout.open(path)):
        with pytest.raises(BudgetExceededError, match="final answer was given"):
            guard.score(SECRET)
        with pytest.raises(BudgetExceededError, match="final answer was given"):
            Leaderboard(guard).submit("a", SECRET)


def test_a_guard_in_a_file_is_opened_again_when_copied(path):
    slow = Custom("slow", min)
    GuardedHoldout.create(path, SECRET, baseline=["x"] * 200, dependence=Markov(0.5))
    copy = pickle.loads(pickle.dumps(GuardedHoldout.open(path)))  # noqa: S301 - our own
    assert copy.confirm(SECRET)
    assert GuardedHoldout.open(path).ledger.spent.yes == 1
    other = path.with_suffix(".slow")
    GuardedHoldout.create(other, SECRET, dependence=slow)
    with pytest.raises(ParameterError, match="dependence must be given again"):
        GuardedHoldout.open(other)
    assert pickle.loads(pickle.dumps(GuardedHoldout.open(other, dependence=slow))).n == 200  # noqa: S301


def test_memory_and_file_say_the_same(path):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 300)
    base = rng.integers(0, 2, 300)
    one = GuardedHoldout(labels, baseline=base)
    two = GuardedHoldout.create(path, labels, baseline=base)
    boards = Leaderboard(one), Leaderboard(two)
    for i in range(12):
        tried = np.where(rng.random(300) < 0.4, labels, base)
        assert one.confirm(tried) == two.confirm(tried)
        assert one.score(tried) == two.score(tried)
        assert boards[0].submit(f"{i}", tried) == boards[1].submit(f"{i}", tried)
    kept = Leaderboard(GuardedHoldout.open(path))
    assert boards[0].standings == kept.standings
    assert str(boards[0]) == str(kept)
    assert one.confirmed == two.confirmed
    assert one.final() == two.final()


def run(*words):
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, BENCHMARK, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_killed_processes_lose_no_charge():
    assert "10 kills" in run("--kills", "10", "--writers", "0")


@pytest.mark.slow
def test_writers_at_once():
    assert "4 writers" in run("--kills", "0", "--writers", "4", "--confirms", "10")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limits of file sizes there")
@pytest.mark.parametrize("better", [True, False])
def test_no_room_for_the_predictions_is_charged_all_the_same(path, better):
    """Were it not, a disk without room would tell yes from no for nothing."""
    script = path.parent / "no_room.py"
    script.write_text(NO_ROOM)
    words = [sys.executable, script, path, str(int(better))]
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.stdout.split() == (["failed", "1"] if better else ["answered", "1"]), done.stderr


NO_ROOM = """
import os, random, resource, sys
from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.errors import SourdineError
path, better = sys.argv[1], int(sys.argv[2])
chance = random.Random(1)
labels = [f"{chance.getrandbits(256):x}" for _ in range(3000)]
guard = GuardedHoldout.create(path, labels, baseline=["x"] * 3000)
room = os.path.getsize(path) + 4096
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
told = labels if better else [f"{chance.getrandbits(256):x}" for _ in range(3000)]
try:
    guard.confirm(told)
    print("answered")
except SourdineError:
    print("failed")
print(GuardedHoldout.open(path).ledger.spent.answers)
"""


def test_half_a_pair_of_surrogates_is_refused_before_anything_is_charged(path):
    guard = GuardedHoldout.create(path, SECRET, baseline=["x"] * 200)
    for told in (SECRET, ["x"] * 200):
        with pytest.raises(ParameterError, match="must be valid Unicode strings"):
            guard.confirm([*told[:-1], "\ud800"])
    assert guard.bits == pytest.approx(0, abs=1e-9)
