"""Evaluation data that grows: widths of the rows there are, files, and several writers."""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sourdine import plan
from sourdine.adaptive import QueryServer
from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.leaderboard import Leaderboard
from sourdine.adaptive.holdout.store import GUARD
from sourdine.adaptive.ledger.dependence import Blocks, Iid, Markov
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.ledger.transaction import Spent
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.storage.journal import Journal

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "growing_guard.py"
OLD = Path(__file__).parent / "files" / "before_growth.guard"
LABELS, MORE = [0, 1] * 200, [1, 0] * 300
RIGHT = LABELS + MORE


@pytest.fixture
def path(tmp_path):
    return tmp_path / "eval.guard"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("growing_guard", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def made(path=None, **terms):
    if path is None:
        return GuardedHoldout(LABELS, **terms)
    return GuardedHoldout.create(path, LABELS, **terms)


@pytest.mark.parametrize("dependence", [Iid(), Blocks(2), Markov(0.5)])
@pytest.mark.parametrize("kept", [False, True])
def test_widths_follow_the_rows_at_the_time_of_the_answer(path, dependence, kept):
    guard = made(path if kept else None, dependence=dependence)
    first = guard.score(LABELS, step=0.1)
    guard.extend(MORE)
    second = guard.score(RIGHT, step=0.1)
    terms = Spent(), Spent().value(11)
    for answer, n, before in zip((first, second), (400, 1000), terms, strict=True):
        fresh = TranscriptLedger(n, dependence=dependence)
        assert answer.lower == fresh.interval_after(before, 0.95)[0]
        assert fresh.interval_after(before, 0.95) == guard.ledger.interval(
            0.95, answer=1 if n == 400 else 2
        )
    assert guard.ledger.halfwidth() == TranscriptLedger(
        1000, dependence=dependence
    ).halfwidth_after(guard.ledger.spent)
    assert [(g.answers, g.added, g.n) for g in guard.growth] == [(1, 600, 1000)]


def test_the_certificate_covers_answers_from_fewer_rows():
    guard = made()
    guard.score(LABELS, step=0.1)
    before = guard.certificate().halfwidth
    guard.extend(MORE * 10)
    assert guard.certificate().halfwidth == before > guard.ledger.halfwidth() + 0.05
    for _ in range(100):
        guard.score(RIGHT + MORE * 9, step=0.1)
    assert guard.certificate().halfwidth == pytest.approx(guard.ledger.halfwidth() + 0.05)


def test_rows_make_room():
    guard = made(error=0.1, baseline=[0] * 400)
    while guard.remaining.answers:
        guard.confirm(LABELS)
    with pytest.raises(BudgetExceededError, match=r"New rows make room: extend\(labels\)"):
        guard.confirm(LABELS)
    guard.extend(MORE)
    assert guard.confirm(RIGHT, [0] * 1000).remaining.answers > 1


@pytest.mark.parametrize("kept", [False, True])
def test_what_holds_goes_on_over_new_rows(path, kept):
    guard = made(path if kept else None, baseline=[0] * 400)
    assert guard.confirm(LABELS)
    guard.extend(MORE, confirmed=[0] * 600)
    assert guard.confirmed == LABELS + [0] * 600
    assert guard.confirm(RIGHT)
    guard.extend([1, 1])
    assert guard.confirmed is None
    told = guard.bits
    with pytest.raises(ParameterError, match=r"old must be given .* again, since rows were added"):
        guard.confirm([*RIGHT, 1, 1])
    with pytest.raises(
        ParameterError, match=r"predictions must be given when no predictions are confirmed for all"
    ):
        guard.final()
    assert guard.bits == told
    assert guard.confirm([*RIGHT, 1, 1], [*RIGHT, 0, 0], margin=0)
    assert guard.confirmed == [*RIGHT, 1, 1]
    if kept:
        again = GuardedHoldout.open(path)
        assert (again.n, again.confirmed) == (1002, guard.confirmed)
        assert again._labels.values.tolist() == [*RIGHT, 1, 1]
        assert again.final().value == 1


def test_another_process_follows(path):
    one = made(path, baseline=[0] * 400)
    two = GuardedHoldout.open(path)
    two.extend(MORE, confirmed=[0] * 600)
    told = two.bits
    with pytest.raises(
        ParameterError, match=r"new must hold a prediction for each of the 1000 labels, got 400"
    ):
        one.confirm(LABELS)
    assert one.bits == told
    assert (one.n, one.ledger.n) == (1000, 1000)
    assert one.confirm(RIGHT)
    assert two.score(RIGHT, step=0.1).value == 1


def test_rows_that_come_between_a_yes_and_its_keeping(path, monkeypatch):
    """The yes was about fewer rows: it is charged, and what held goes on."""
    one, two = made(path, baseline=[0] * 400), GuardedHoldout.open(path)
    plain = GuardedHoldout._turn

    def slow(self, work, **options):
        said = plain(self, work, **options)
        monkeypatch.undo()
        two.extend(MORE, confirmed=[0] * 600)
        return said

    monkeypatch.setattr(GuardedHoldout, "_turn", slow)
    assert one.confirm(LABELS)
    assert (two.ledger.spent.yes, two.n) == (1, 1000)
    assert GuardedHoldout.open(path).confirmed == [0] * 1000


def test_old_files_open_and_grow(path):
    shutil.copy(OLD, path)
    guard = GuardedHoldout.open(path)
    assert (guard.n, len(guard.history), list(guard.growth)) == (100, 3, [])
    assert guard.bits == pytest.approx(7.9188632372745955)
    assert guard.confirmed == [0, 1, 0, 0] * 25
    guard.extend([0, 1] * 200, confirmed=[0] * 400)
    assert guard.confirm([0, 1] * 250)
    assert Leaderboard(guard).standings[0].name == "anna"
    assert GuardedHoldout.open(path).n == 500


def test_a_new_file_is_as_it_was(path):
    made(path).score(LABELS)
    tables = [table for table, _ in Journal(path, GUARD).lines]
    assert tables == ["book", "terms", "labels", "answers"]


def test_growth_that_does_not_add_up_is_refused(path):
    for wrong in ({"n": 1001}, {"added": -1}, {"answers": 5}, {"time": None, "n": "x"}):
        path.unlink(missing_ok=True)
        guard = made(path)
        guard.extend(MORE)
        row = Journal(path, GUARD).turn(lambda page: page.last("growth"))
        worse = {**row, "n": 1600, **wrong}
        Journal(path, GUARD).turn(lambda page, worse=worse: page.write("growth", worse))
        with pytest.raises(ParameterError, match=r"do not add up|cannot be read"):
            GuardedHoldout.open(path)


def test_no_flipped_bit_is_accepted_after_growth(path):
    guard = made(path, baseline=[0] * 400)
    guard.extend(MORE, confirmed=[0] * 600)
    whole, chance = path.read_bytes(), random.Random(4)  # noqa: S311 - no secret
    for _ in range(200):
        damaged, place = bytearray(whole), chance.randrange(8 * len(whole))
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(ParameterError, match="guard must be a file written by Sourdine"):
            GuardedHoldout.open(path)
    path.write_bytes(whole)
    assert GuardedHoldout.open(path).n == 1000


def forked(work):
    process = os.fork()
    if process == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - a child must never return
            os._exit(1)
        os._exit(0)
    return process


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_process_has_added_all_rows_or_none(path):
    made(path, baseline=[0] * 400)
    chance, sizes = random.Random(7), [400]  # noqa: S311 - when to kill is no secret

    def work():
        guard = GuardedHoldout.open(path)
        while True:
            guard.extend([0, 1] * 500, confirmed=[1, 1] * 500)

    longest = 0.03
    for _ in range(25):
        process = forked(work)
        time.sleep(chance.uniform(0, longest))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        guard = GuardedHoldout.open(path)
        assert (guard.n - 400) % 1000 == 0
        assert len(guard.confirmed) == guard.n == guard.ledger.n
        sizes.append(guard.n)
        if guard.n == 400:  # a busy machine has not begun yet
            longest *= 1.5
    assert sizes == sorted(sizes)
    assert sizes[-1] > 400


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_writers_that_grow_at_once(path):
    made(path, baseline=[0] * 400)

    def work():
        guard = GuardedHoldout.open(path)
        for _ in range(6):
            guard.extend([0, 1], confirmed=[1, 1])
            for _ in range(1000):
                try:
                    guard.score([0] * guard.n, step=0.1)
                    break
                except ParameterError:  # others were quicker
                    continue

    started = [forked(work) for _ in range(4)]
    assert all(os.waitpid(process, 0)[1] == 0 for process in started)
    guard = GuardedHoldout.open(path)
    assert (guard.n, len(guard.growth), len(guard.history)) == (448, 24, 24)
    assert guard._labels.values.tolist() == LABELS + [0, 1] * 24


def test_guards_that_share_a_ledger_grow_together():
    ledger = TranscriptLedger(400)
    one, two = GuardedHoldout(LABELS, ledger=ledger), GuardedHoldout(LABELS, ledger=ledger)
    one.extend(MORE)
    for asked in (lambda: two.score(LABELS), lambda: two.extend([1])):
        with pytest.raises(ParameterError, match=r"the rows must be all 1000 rows of the ledger"):
            asked()
    assert ledger.bits == 0
    two.extend(MORE)
    assert len(ledger.growth) == 1
    assert two.score(RIGHT, step=0.1).value == 1


def test_a_server_does_not_answer_for_rows_it_lacks():
    ledger = TranscriptLedger(400)
    server = QueryServer(np.array(LABELS), universe=2, error=0.3, ledger=ledger)
    server.ask(np.array([0.0, 1.0]))
    ledger.extend(1000)
    told = ledger.bits
    with pytest.raises(ParameterError, match=r"the rows must be all 1000 rows of the ledger"):
        server.ask(np.array([1.0, 0.0]))
    assert ledger.bits == told


def test_ledgers_of_fewer_rows_are_refused(tmp_path):
    file = tmp_path / "x.ledger"
    one, two = TranscriptLedger(100, path=file), TranscriptLedger(100, path=file)
    one.extend(300)
    with pytest.raises(ParameterError, match=r"be all 300 rows of the ledger.*got 100"):
        two.charge_bit(answer=True)
    with pytest.raises(ParameterError, match="n must be 300"):
        TranscriptLedger(100, path=file)
    with pytest.raises(ParameterError, match=r"n must be at least 300, .* got 200"):
        two.extend(200)
    two.extend(300)
    two.charge_bit(answer=True)
    assert TranscriptLedger.open(file).n == 300
    assert len(one.growth) == 1
    assert "rows added" in str(one.growth)


def test_nothing_is_added_after_the_final_answer(path):
    guard = made(path)
    guard.final(LABELS)
    with pytest.raises(BudgetExceededError, match="The guard is closed"):
        guard.extend(MORE)
    assert GuardedHoldout.open(path).n == 400


@pytest.mark.parametrize(
    ("labels", "confirmed", "said"),
    [
        ([], None, "labels must hold at least one new label"),
        (["a"], None, "labels must be numbers, like the labels of the guard, got texts"),
        ([1, 1], [1], "confirmed must hold a prediction for each of the 2 new rows"),
        ([1, 1], [1, None], "confirmed must hold no missing or infinite values"),
        ([1, 1], [0.5, 0.1], "confirmed must be labels, such as 0 or 1, got fractions"),
    ],
)
def test_wrong_rows_change_nothing(path, labels, confirmed, said):
    guard = made(path, baseline=[0] * 400)
    kept = path.read_bytes()
    with pytest.raises((ParameterError, ParameterTypeError), match=said):
        guard.extend(labels, confirmed)
    assert path.read_bytes() == kept


def test_predictions_need_something_that_holds():
    with pytest.raises(
        ParameterError, match="confirmed must be omitted when no predictions are confirmed"
    ):
        made().extend([1], [1])


def test_labels_of_two_types():
    guard = GuardedHoldout([1, 2])
    guard.extend([None, 2.5])
    assert guard.final([1, 2, 3, 2.5]).value == 0.75
    long = GuardedHoldout([2**60 + 1, 2])
    with pytest.raises(ParameterError, match="too long for a float"):
        long.extend([None])
    long.extend([7])
    assert long.final([2**60 + 1, 2, 7]).value == 1
    words = GuardedHoldout(["1", "x"])
    words.extend(["1", None])
    assert words.final(["1", "x", "1", "1"]).value == 0.75


def test_own_losses_and_probabilities_grow():
    guard = GuardedHoldout(
        LABELS, loss=lambda p, y: 1 - p[np.arange(len(y)), y.astype(int)] if p.ndim == 2 else p != y
    )
    guard.extend(MORE)
    assert guard.score(np.eye(2)[RIGHT], step=0.1).value == 1


def test_a_leaderboard_goes_on(path):
    guard = made(path)
    board = Leaderboard(guard, step=0.05)
    some = [1 - y if i % 4 == 0 else y for i, y in enumerate(RIGHT)]
    first = board.submit("anna", some[:400])
    guard.extend(MORE * 10)
    with pytest.raises(
        ParameterError, match="hold a prediction for each of the 6400 labels, got 400"
    ):
        board.submit("ben", LABELS)
    wider, narrower = first.score, board.submit("ben", LABELS + MORE * 10).score
    assert narrower.upper == 1
    assert narrower.upper - narrower.lower < (wider.upper - wider.lower) / 2
    assert [team.name for team in Leaderboard(GuardedHoldout.open(path)).teams] == ["ben", "anna"]


def test_a_plan_says_how_many_rows_to_add():
    planned = plan.guard(5000, answers=300, yes=10, error=0.05)
    enough, fewer = 5000 + planned.added, 5000 + planned.added - 1
    assert planned.error == plan.guard(enough, answers=300, yes=10).error <= 0.05
    assert plan.guard(fewer, answers=300, yes=10).error > 0.05
    assert plan.guard(5000, answers=300, yes=10, error=0.2).added == 0
    board = plan.leaderboard(5000, submissions=300, leads=3, step=0.01, error=0.05)
    assert board.widths[-1].what == f"3rd lead, {board.added} rows added"
    assert board.error <= 0.05
    with pytest.raises(ParameterError, match=r"be above 0\.005, half a step"):
        plan.leaderboard(5000, submissions=300, leads=3, step=0.01, error=0.005)


@pytest.mark.slow
def test_intervals_hold_while_the_rows_grow(benchmark):
    """Five analysts who ask for rows when it suits them; the benchmark has 1000 runs."""
    for analyst in benchmark.ANALYSTS:
        seasons = [benchmark.played(analyst, seed) for seed in range(500, 512)]
        assert sum(season.missed for season in seasons) <= 1, analyst.__name__
        assert sum(season.growths > 0 for season in seasons) >= 9, analyst.__name__
    assert all(benchmark.played(benchmark.climber, seed).plain_missed for seed in range(500, 512))


@pytest.mark.slow
def test_intervals_of_rows_to_come_would_miss(benchmark, monkeypatch):
    """Widths of the rows at the end, or of no bits told, are caught by the same analysts."""
    told = TranscriptLedger.nats_after
    with monkeypatch.context() as patch:
        patch.setattr(
            TranscriptLedger, "nats_after", lambda self, spent: told(self, spent.__class__())
        )
        assert all(benchmark.played(benchmark.climber, seed).missed for seed in range(500, 505))
    exact = Iid.interval
    monkeypatch.setattr(Iid, "interval", lambda self, a, n, t: exact(self, a, 40 * n, t))
    assert all(benchmark.played(benchmark.climber, seed).missed for seed in range(500, 505))
