"""A session: the statistics as methods, one total, a charge before every draw."""

from __future__ import annotations

import copy
import json
import pickle
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import sourdine as sd
from session_calls import AGE, AGES, CALLS
from sourdine import __version__, central, questions
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError, SourdineError
from sourdine.noise import SeededSource
from sourdine.privacy import SUBSTITUTE
from sourdine.server.store.store import ServerStore
from sourdine.session import Session

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "ledger.py"


def session(**changed):
    return Session(AGES, **{"epsilon": 1} | changed)


@pytest.mark.parametrize("shape", [{}, {"relation": "substitute"}, {"unit": "who", "rows": 2}])
@pytest.mark.parametrize(("kind", "parameters"), CALLS)
def test_methods_release_what_the_functions_release(kind, parameters, shape):
    mine = getattr(session(**shape), kind)(**parameters, epsilon=0.5)
    yours = getattr(sd, kind)(AGES, **parameters, **shape, epsilon=0.5)
    assert mine.mechanism == yours.mechanism
    assert mine.cost == yours.cost
    assert mine.caveats == yours.caveats


@pytest.mark.parametrize(("kind", "parameters"), CALLS)
def test_each_call_is_charged_its_cost(kind, parameters):
    s = session()
    release = getattr(s, kind)(**parameters, epsilon=0.25)
    (charge,) = s.history
    assert charge.cost == release.cost
    assert charge.mechanism == str(release.mechanism)
    assert json.loads(charge.parameters) == json.loads(release.to_json())["question"]
    assert s.remaining.epsilon == Fraction(3, 4)


def test_error_targets_are_charged_the_epsilon_they_need():
    s = session()
    release = s.count(error=30)
    assert s.spent.epsilon == release.cost.epsilon == central.Count(error=30).epsilon


def test_refusal_says_what_is_left_and_draws_nothing(monkeypatch):
    s = session(epsilon=3)
    s.count(epsilon=2.6)
    monkeypatch.setattr(central.Mean, "release", _unreachable)
    text = "Budget exceeded: requested epsilon=0.5, 0.4 of 3 remaining. Use epsilon=0.4 or less."
    with pytest.raises(BudgetExceededError, match=re.escape(text)):
        s.mean(**AGE, epsilon=0.5)
    assert len(s.history) == 1


def _unreachable(*_, **__):
    pytest.fail("a mechanism ran")


@pytest.mark.parametrize("in_file", [False, True])
def test_a_charge_stands_before_anything_is_drawn(monkeypatch, tmp_path, in_file):
    path = tmp_path / "x.ledger" if in_file else None
    s = session(ledger=path)
    seen = []

    def die(*_, **__):
        seen.append(Session(AGES, ledger=path).spent if path else s.spent)
        raise KeyboardInterrupt

    monkeypatch.setattr(central.Count, "release", die)
    with pytest.raises(KeyboardInterrupt):
        s.count(epsilon=0.25)
    assert [spent.epsilon for spent in seen] == [Fraction(1, 4)]
    assert s.spent.epsilon == Fraction(1, 4)


def test_a_wrong_parameter_costs_nothing():
    s = session()
    wrong = [
        ("mean", {"column": "agge", "bounds": (0, 120), "epsilon": 0.1}),
        ("mean", {"column": "age", "epsilon": 0.1}),
        ("count", {"by": "sexx", "keys": ["f"], "epsilon": 0.1}),
        ("count", {"bonds": 1, "epsilon": 0.1}),
        ("mean", {**AGE}),
        ("count", {"epsilon": 0.1, "delta": 0.05}),
        ("sum", {**AGE, "epsilon": 0.1, "delta": 0.05}),
        ("mean", {**AGE, "epsilon": 0.1, "delta": 0.05}),
        ("count", {"epsilon": 0.1, "n": "nonsense"}),
    ]
    for kind, parameters in wrong:
        with pytest.raises(SourdineError):
            getattr(s, kind)(**parameters)
    assert s.history == []


@pytest.mark.parametrize("name", ["relation", "unit", "rows", "source"])
def test_what_the_session_fixes_is_refused_in_a_call(name):
    given = {"relation": SUBSTITUTE, "unit": "who", "rows": 2, "source": SeededSource(1)}
    with pytest.raises(ParameterError, match=f"{name} must be omitted: (the|a) session"):
        session().count(epsilon=0.1, **{name: given[name]})


def test_a_question_may_be_read_from_json_and_asked():
    s = session()
    asked = questions.read('{"statistic": "mean", "column": "age", "bounds": [0, 120],'
                           ' "epsilon": 0.25}')  # fmt: skip
    release = s.ask(asked)
    assert release.mechanism == asked
    assert json.loads(s.history[0].parameters) == asked.to_dict()
    for name, other in {"relation": "substitute", "unit": "who", "rows": 2}.items():
        with pytest.raises(ParameterError, match=f"{name} must be omitted: (the|a) session"):
            s.ask(central.Count(epsilon=0.1, **{name: other}))
    with pytest.raises(ParameterError, match="source must be omitted: a session"):
        s.ask(central.Count(epsilon=0.1, source=SeededSource(1)))
    assert len(s.history) == 1


def test_unknown_categories_spend_delta():
    s = session(delta=1e-5, reserve=1e-5)
    s.histogram(column="sex", categories="unknown", epsilon=0.5, delta=1e-6)
    assert s.remaining.delta == Fraction(9, 10**6)
    with pytest.raises(
        BudgetExceededError, match="requested delta=1e-05, 9e-06 of 1e-05 remaining"
    ):
        s.histogram(column="sex", categories="unknown", epsilon=0.1, delta=1e-5)


def test_a_ledger_outlives_the_session(tmp_path):
    path = tmp_path / "ages.ledger"
    session(ledger=path).count(epsilon=0.7)
    again = Session(AGES, ledger=str(path))
    assert again.remaining.epsilon == Fraction(3, 10)
    with pytest.raises(ParameterError, match=r"epsilon must be 1, as the ledger ages\.ledger"):
        session(ledger=path, epsilon=2)


def test_an_open_ledger_keeps_its_terms(tmp_path):
    path = tmp_path / "ages.ledger"
    session(ledger=path, unit="who", rows=2, relation="substitute", delta=1e-6)
    again = Session(AGES, ledger=path)
    assert (again.terms.unit, again.terms.rows) == ("who", 2)
    assert Session(AGES, ledger=path, relation="substitute", rows=2).total == again.total
    for given in ({"relation": "add_remove"}, {"rows": 1}, {"unit": "sex"}, {"delta": 0}):
        (name,) = given
        with pytest.raises(ParameterError, match=f"{name} must be"):
            Session(AGES, ledger=path, **given)
    with pytest.raises(ParameterError, match="unit must be one of the columns"):
        Session({"age": [1]}, ledger=path)


def test_a_file_names_the_ledger(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("age\n20\n30\n")
    ledger = tmp_path / "l"
    s = Session(tmp_path / "a.csv", epsilon=1, ledger=ledger)
    assert s.terms.name == "a.csv"
    assert abs(s.count(epsilon=1).value) < 100
    with pytest.raises(ParameterError, match=r"name must be a\.csv"):
        Session(tmp_path / "b.csv", epsilon=1, ledger=ledger)
    Session(tmp_path / "b.csv", epsilon=1, ledger=ledger, name="a.csv")


def test_the_ledger_holds_no_data(tmp_path):
    """Two data sets that share nothing but their columns leave the same lines, but for answers."""
    for keep in (True, False):
        seen = []
        for i, data in enumerate([AGES, {k: v[:3] for k, v in AGES.items()}, {"age": [np.nan]}]):
            path = tmp_path / f"{keep} {i}"
            s = Session(data, epsilon=1, ledger=path, keep=keep)
            s.mean(**AGE, epsilon=0.5)
            s.count(epsilon=0.25)
            seen.append([timeless(line) for line in lines(path) if line[0] != "answers"])
        assert seen[0] == seen[1] == seen[2]
        assert [table for table, _ in lines(path)].count("answers") == 2 * keep


def lines(path):
    return [json.loads(line.split(b" ", 1)[1]) for line in path.read_bytes().splitlines()[1:]]


def timeless(line):
    table, row = line
    return table, {k: v for k, v in row.items() if k not in {"time", "opened", "identity"}}


@pytest.mark.slow
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(("kind", "parameters"), [*CALLS, ("describe", {})])
def test_an_answer_is_kept_as_it_was_returned(tmp_path, kind, parameters, named):
    kept = {"ledger": tmp_path / "a.ledger"} if named else {}
    s = session(epsilon=20, delta=1e-5, reserve=1e-5, **kept)
    release = getattr(s, kind)(**parameters, epsilon=10)
    (charge,) = s.history
    assert charge.answer == release.to_json()
    assert charge.release == release
    assert str(charge.release) == str(release)
    if named:
        kept = [row for table, row in lines(tmp_path / "a.ledger") if table == "answers"]
        assert kept == [{"number": 1, "version": __version__, "answer": release.to_json()}]
        (again,) = Session(AGES, ledger=tmp_path / "a.ledger").history
        assert again == charge


def test_answers_are_kept_only_if_wanted(tmp_path):
    s = session(ledger=tmp_path / "a.ledger", keep=False)
    s.count(epsilon=0.25)
    Session(AGES, ledger=tmp_path / "a.ledger").mean(**AGE, epsilon=0.25)
    first, second = s.history
    assert (first.answer, first.release, first.value) == (None, None, "none kept")
    assert second.release.value == pytest.approx(30, abs=10)
    assert session(keep=False).history == []


def test_a_killed_process_leaves_a_charge_without_an_answer(tmp_path, monkeypatch):
    s = session(ledger=tmp_path / "a.ledger")
    s.count(epsilon=0.25)

    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(central.Count, "release", killed)
    with pytest.raises(KeyboardInterrupt):
        s.count(epsilon=0.25)
    assert [charge.value == "none kept" for charge in s.history] == [False, True]


def test_an_answer_that_cannot_be_kept_is_not_returned(tmp_path, monkeypatch):
    s = session(ledger=tmp_path / "a.ledger")

    def full(*_):
        raise SourdineError("the ledger is full.")

    monkeypatch.setattr(type(s._ledger), "keep", full)
    with pytest.raises(SourdineError, match=r"full.*epsilon 0.25.* was charged"):
        s.count(epsilon=0.25)
    assert [charge.answer for charge in s.history] == [None]


@pytest.mark.parametrize(
    "row",
    [
        {"number": 2, "answer": "{}"},
        {"number": 0, "answer": "{}"},
        {"number": 1, "answer": 7},
        {"number": 1, "answer": "{}"},
        {"answer": "{}"},
    ],
)
def test_an_answer_to_no_charge_is_noticed(tmp_path, row):
    s = session(ledger=tmp_path / "a.ledger")
    s.count(epsilon=0.25)
    s._ledger.journal.turn(lambda page: page.write("answers", row))
    with pytest.raises(ParameterError, match="answer"):
        s.history  # noqa: B018


def test_planning_is_free_and_bound_to_what_is_left():
    s = session(unit="who", rows=2, relation="substitute")
    s.count(epsilon=0.5)
    plan = s.plan.count()
    assert plan.epsilon == Fraction(1, 2)
    assert (plan.question.rows, plan.question.relation) == (2, SUBSTITUTE)
    assert plan.fits
    too_much = s.plan.mean(n=300, error=0.1, **AGE)
    assert not too_much.fits
    assert "too little" in str(too_much)
    assert s.plan.together([s.plan.count(error=5), s.plan.mean(n=300, error=3, **AGE)]).epsilon <= (
        Fraction(1, 2)
    )
    assert len(s.history) == 1


def test_a_session_needs_a_total_and_real_columns():
    with pytest.raises(TypeError, match="missing a required argument: 'epsilon'"):
        Session(AGES)
    with pytest.raises(ParameterError, match=r"unit must be one of the columns.*'age', 'sex'"):
        session(unit="name")
    with pytest.raises(ParameterError, match="delta must be below 1"):
        session(delta=1)
    with pytest.raises(ParameterError, match="got 'local'"):
        session(relation="local")


def test_a_session_cannot_be_copied():
    for twice in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(ParameterTypeError, match="A session cannot be copied"):
            twice(session())
    assert repr(session()) == (
        "<Session: epsilon 0 spent of epsilon 1, one record added or removed>"
    )


@pytest.fixture(
    scope="module",
    params=["0", "1e-6", "sqlite", pytest.param("postgres", marks=pytest.mark.slow)],
)
def killed(request, tmp_path_factory):
    given = ["--delta", request.param]
    if request.param in {"sqlite", "postgres"}:
        folder = tmp_path_factory.mktemp("store")
        address = (
            f"sqlite:///{folder}/store.db"
            if request.param == "sqlite"
            else request.getfixturevalue("postgres_cluster").create()
        )
        ServerStore.create(address).close()
        given = ["--store", address]
    done = subprocess.run(  # noqa: S603
        [sys.executable, BENCHMARK, "--kills", "20", "--fits", "240", *given],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_killed_processes_lose_no_charge(killed):
    charges = re.search(r"charges in all *│ *(\d+) │ *(\d+) ", killed)
    assert charges[1] == charges[2]
    assert 240 <= int(charges[1]) < 260
    assert "BROKEN" not in killed


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.slow
def test_writers_share_exactly_the_total(killed):
    answers = re.search(r"answers of a race from nothing *│ *(\d+) │ *(\d+) ", killed)
    assert answers[1] == answers[2]
    assert 30 <= int(answers[1]) < 36


def test_a_charge_is_said_where_the_data_cannot_be_read():
    duckdb = pytest.importorskip("duckdb")
    broken = duckdb.sql("SELECT CAST('x' || range AS BIGINT) AS x FROM range(3)")
    session = Session(broken, epsilon=1)
    with pytest.raises(ParameterError, match=r"epsilon 0\.5, .* was charged before anything was"):
        session.mean(column="x", bounds=(0, 1), epsilon=0.5)
    assert session.spent.epsilon == 0.5
