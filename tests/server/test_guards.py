"""A guard in a store: one question for a key, whoever asks, crashes or races; on both databases."""

from __future__ import annotations

import os
import signal
from threading import Thread

import pytest

from guarded import LABELS, guarded, label_file, model, replayed, submission
from sourdine.adaptive.holdout.labels import Labels
from sourdine.errors import BudgetExceededError, ParameterError
from sourdine.server.store.base import Guard, KeyReusedError, NotGrantedError, Person, fingerprint
from sourdine.server.store.guards import guards_anew
from sourdine.server.store.store import ServerStore
from sourdine.storage.database import Transaction

HELD = Labels.read(LABELS, "labels")


@pytest.fixture
def board(store, tmp_path):
    """Return a store with a guard and three people, of whom two may submit."""
    store.people.add(Person(name="cleo", role="analyst"))
    guarded(store, label_file(tmp_path))
    return store


def bits(store):
    """Return what was told."""
    return store.guards.look("eval", lambda found: found.guard.bits)


def test_a_submission_is_charged_once_under_its_key(board):
    first = submission(board, HELD, "one", "anna", model(0.7))
    assert first.fresh
    assert (first.number, bool(first.standing)) == (1, True)
    spent = bits(board)
    again = submission(board, HELD, "one", "anna", model(0.7))
    assert not again.fresh
    assert (again.number, again.head) == (first.number, first.head)
    assert again.standing.score == first.standing.score
    assert bits(board) == spent
    with pytest.raises(KeyReusedError, match="nothing was charged"):
        submission(board, HELD, "one", "anna", model(0.8))
    assert bits(board) == spent
    assert submission(board, HELD, "one", "ben", model(0.6)).number == 2
    assert [one.request.analyst for one in board.guards.submissions("eval")] == ["anna", "ben"]
    assert [one.number for one in board.guards.submissions("eval", "ben")] == [2]


def test_who_may_not_is_refused_and_nothing_is_charged(board):
    with pytest.raises(NotGrantedError, match="no access to it"):
        submission(board, HELD, "k", "cleo", model(0.7))
    board.guards.give("eval", "anna", 1)
    kept = submission(board, HELD, "k", "anna", model(0.7))
    with pytest.raises(BudgetExceededError, match="Budget exceeded: anna has used all submissions"):
        submission(board, HELD, "l", "anna", model(0.7))
    assert board.guards.grant("eval", "anna").left == 0
    assert board.guards.give("eval", "anna", 2).left == 1
    board.guards.close("eval")
    with pytest.raises(ParameterError, match="guard must be open"):
        submission(board, HELD, "l", "anna", model(0.7))
    assert submission(board, HELD, "k", "anna", model(0.7)).head == kept.head
    assert len(board.guards.submissions("eval")) == 1
    for names in (("nothing", "anna"), ("eval", "nobody")):
        with pytest.raises(ParameterError, match="exist in this store"):
            board.guards.give(*names, 1)


@pytest.mark.quick_cases(1)
def test_answers_are_those_of_a_board_in_memory(board):
    sends = {fingerprint(str(p)): p for p in (model(0.5 + i / 50, i) for i in range(12))}
    for number, predictions in enumerate(sends.values()):
        submission(board, HELD, f"{number}", ("anna", "ben")[number % 2], predictions)
    told = board.guards.submissions("eval")
    assert len({bool(one.standing) for one in told}) == 2
    memory = replayed(told, sends)
    assert board.guards.look("eval", lambda found: found.to_dict()) == memory.to_dict()
    assert bits(board) == memory.guard.bits
    assert all(board.check())


@pytest.mark.quick_cases(1)
def test_workers_never_answer_from_a_stale_state(board, address):
    """Two stores on one database are two workers; four threads send what others send, too."""
    sends = {fingerprint(str(p)): p for p in (model(0.5 + i / 40, i) for i in range(10))}
    others = ServerStore.open(address)
    seen = []

    def work(store, order):
        for asked in order:
            predictions = sends[asked]
            seen.extend(
                submission(store, HELD, asked[:20], team, predictions) for team in ("anna", "ben")
            )

    orders = [list(sends), list(sends)[::-1], list(sends), list(sends)[3:] + list(sends)[:3]]
    threads = [
        Thread(target=work, args=(store, order))
        for store, order in zip((board, others, board, others), orders, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    others.close()
    told = board.guards.submissions("eval")
    assert len(told) == 20
    assert sum(one.fresh for one in seen) == 20
    answers = {(one.request.analyst, one.request.key): one.head for one in told}
    assert len(seen) == 80
    assert all(answers[one.request.analyst, one.request.key] == one.head for one in seen)
    replayed(told, sends)
    assert all(board.check())


def killed(work):
    """Run a function in a process that must be killed in it."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL


def die(*_):
    """End this process as nobody can help."""
    os.kill(os.getpid(), signal.SIGKILL)


def dying_at_the_key(address, *, after):
    """Return what submits, and dies when the key is to be written: before or after that."""
    run = Transaction.run

    def statement(self, text, *values):
        own = text.startswith("INSERT INTO submissions")
        if own and not after:
            die()
        done = run(self, text, *values)
        if own:
            die()
        return done

    def work():
        Transaction.run = statement  # in a process that does not outlive it
        submission(ServerStore.open(address), HELD, "one", "anna", model(0.7))

    return work


def dying_after_the_commit(address, *keys):
    """Return what submits under keys, and dies before anybody hears of the last answer."""

    def work():
        store = ServerStore.open(address)
        for key in keys:
            if key == keys[-1]:
                store.database.witness = die  # called after a commit, before anybody hears of it
            submission(store, HELD, key, "anna", model(KEYS[key]))

    return work


KEYS = {"one": 0.7, "two": 0.6}


@pytest.mark.quick_cases(1)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_killed_workers_spend_one_question_a_key(board, address):
    board.database.close()
    for after in (False, True):
        killed(dying_at_the_key(address, after=after))
        assert bits(board) == 0
        assert board.guards.submissions("eval") == []
    killed(dying_after_the_commit(address, "one"))
    spent = bits(board)
    assert spent > 0
    answer = submission(board, HELD, "one", "anna", model(0.7))
    assert not answer.fresh
    assert bits(board) == spent
    board.database.close()
    killed(dying_after_the_commit(address, "one", "two"))
    told = board.guards.submissions("eval")
    assert [one.request.key for one in told] == ["one", "two"]
    replayed(told, {fingerprint(str(p)): p for p in map(model, KEYS.values())})
    assert all(board.check())


FORGERIES = {
    "a cheaper answer": (
        "lines",
        "UPDATE lines SET line = replace(line, '\"bits\":5', '\"bits\":1')",
    ),
    "a missing key": ("submissions", "DELETE FROM submissions WHERE number = 1"),
    "another team": ("submissions", "UPDATE submissions SET team = 'ben'"),
    "a missing line": ("lines", "DELETE FROM lines WHERE number = 6 AND book = 'guard:eval'"),
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("table", "statement"), FORGERIES.values(), ids=FORGERIES)
def test_what_was_told_stays(board, address, table, statement):
    submission(board, HELD, "one", "anna", model(0.7))
    event = statement.partition(" ")[0]
    with pytest.raises(Exception, match="what is written stays"):
        board.database.write(lambda t: t.run(statement))
    drop = f"DROP TRIGGER {table}_{event}"
    if address.startswith("postgres"):
        drop += f" ON {table}"
    board.database.write(lambda t: (t.run(drop), t.run(statement)))
    reopened = ServerStore.open(address)
    found = {one.dataset: bool(one) for one in reopened.check()}
    reopened.close()
    assert found == {"ages": True, "others": True, "guard:eval": False}


def test_a_store_of_the_first_version_gets_the_tables_of_guards(store, tmp_path):
    def older(t):
        for table in ("submissions", "team_grants", "guards"):
            t.run(f"DROP TABLE {table}")
        t.run("CREATE TABLE guards (name TEXT PRIMARY KEY, path TEXT NOT NULL)")
        t.run("CREATE TABLE submissions (guard TEXT NOT NULL REFERENCES guards (name))")

    store.database.write(older)
    store.database.write(guards_anew)
    guarded(store, label_file(tmp_path))
    assert submission(store, HELD, "one", "anna", model(0.7)).number == 1


@pytest.mark.quick_cases(1)
def test_a_name_is_taken_once(board, tmp_path):
    with pytest.raises(ParameterError, match="name must be new"):
        guarded(board, label_file(tmp_path))
    assert len(board.guards.all()) == 1
    with pytest.raises(ParameterError, match="name must be at most 64 lowercase letters"):
        board.guards.add(Guard(name="../x", source="g"), [])


@pytest.mark.quick_cases(1)
def test_a_data_set_may_have_the_name_of_a_guard(board, tmp_path):
    guarded(board, label_file(tmp_path), "ages")
    assert board.datasets.ledger("ages").account.share == 0
    assert all(board.check())
