"""What a person mistypes, and what somebody else wrote into a ledger: clear words, no surprise."""

import errno
import json
from fractions import Fraction

import pytest

import sourdine as sd
from sourdine import plan
from sourdine.cli import ledger as ledger_command
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError, SourdineError
from sourdine.session.ledger import LEDGER
from sourdine.storage import locks
from sourdine.storage.journal import Head, Journal, linked

DATA = {"age": [20, 30, 40] * 100, "sex": ["f", "m", "f"] * 100}


def rewritten(path, change):
    """Write a ledger anew, with right checks, after a change of its lines."""
    journal = Journal(path, LEDGER)
    lines = change([(table, dict(row)) for table, row in journal.lines])
    head, text = Head.first("ledger", journal.version), b""
    for table, row in lines:
        line = linked(head, table, row)
        head, text = head.after(line), text + line
    forged = path.with_name("forged.ledger")
    forged.write_bytes(head.written() + text)
    return forged


def changed(table, **facts):
    def change(lines):
        next(row for name, row in lines if name == table).update(facts)
        return lines

    return change


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "data.ledger"
    session = sd.Session(DATA, epsilon=3, delta=1e-6, ledger=path)
    session.count(epsilon=0.1)
    session.mean(column="age", bounds=(0, 100), step=1, epsilon=0.1)
    return path


@pytest.mark.parametrize(
    ("table", "facts"),
    [
        ("terms", {"rows": -5}),
        ("terms", {"rows": "5"}),
        ("terms", {"rows": 0}),
        ("terms", {"name": 5}),
        ("terms", {"unit": 5}),
        ("charges", {"number": True}),
        ("charges", {"what": None}),
        ("charges", {"what": ["count"]}),
        ("charges", {"mechanism": 5}),
        ("charges", {"parameters": "{"}),
        ("charges", {"parameters": "[]"}),
        ("charges", {"parameters": 7}),
        ("charges", {"time": 5}),
        ("charges", {"time": "yesterday"}),
        ("charges", {"parts": "abc"}),
        ("charges", {"parts": []}),
        ("charges", {"price": "0", "price_so_far": "0"}),
    ],
)
def test_lines_that_say_what_cannot_be_are_refused(ledger, table, facts):
    forged = rewritten(ledger, changed(table, **facts))
    with pytest.raises(ParameterError, match="ledger must be a file written by Sourdine"):
        sd.Session(DATA, ledger=forged)


@pytest.mark.parametrize("answer", ["{", "[1, 2]", "[" * 100_000, '{"value": 1}'])
def test_an_answer_that_is_none_is_reported_as_such(ledger, answer):
    session = sd.Session(DATA, ledger=rewritten(ledger, changed("answers", answer=answer)))
    assert session.history[0].value == "not readable"
    report = session.report()
    assert not all(check.passed for check in report.checks)
    assert json.loads(report.to_json())["releases"][0]["state"] == "kept, not readable"
    assert "kept, not readable" in report.to_html()


def test_a_charge_without_a_known_question_is_reported(ledger):
    session = sd.Session(DATA, ledger=rewritten(ledger, changed("charges", parameters="{}")))
    assert "count" in session.report().to_markdown()


def test_a_plan_is_asked_like_a_question():
    session = sd.Session(DATA, epsilon=1, delta=1e-6)
    counted = session.plan.count(epsilon=0.1)
    assert session.can_release(counted)
    assert session.ask(counted).cost.exact_epsilon() == Fraction(1, 10)


@pytest.mark.parametrize("question", ["count", None, 5])
def test_what_is_no_question_is_refused_in_words(question):
    session = sd.Session(DATA, epsilon=1)
    with pytest.raises(
        ParameterTypeError, match="question must be a question about a column, or a plan"
    ):
        session.ask(question)
    with pytest.raises(ParameterTypeError, match="question must be a question"):
        session.ask_all([question])
    assert not session.history


@pytest.mark.parametrize("batch", [None, plan.count(epsilon=0.1)])
def test_a_batch_is_a_list(batch):
    session = sd.Session(DATA, epsilon=1)
    with pytest.raises(ParameterTypeError, match="list of questions or plans"):
        session.ask_all(batch)
    with pytest.raises(ParameterTypeError, match="list of plans or questions"):
        session.plan.together(batch)


def test_could_knows_a_description_by_its_name():
    session = sd.Session(DATA, epsilon=1, delta=1e-6, reserve=1e-7)
    assert session.can_release("describe", epsilon=0.5, delta=1e-8)


@pytest.mark.parametrize("keep", ["no", None, 0])
def test_whether_answers_are_kept_is_true_or_false(keep):
    with pytest.raises(ParameterTypeError, match="keep must be True or False"):
        sd.Session(DATA, epsilon=1, keep=keep)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1e-12, 1e-300), (1e-6, 1e-300), (1e-9, 1e-30), (1e-12, 0.999)]
)
def test_tiny_totals_are_spent_like_others(tmp_path, epsilon, delta):
    path = tmp_path / "data.ledger"
    session = sd.Session(DATA, epsilon=epsilon, delta=delta, ledger=path)
    assert session.can_release.count(epsilon=epsilon)
    session.count(epsilon=epsilon)
    assert len(sd.Session(DATA, ledger=path).history) == 1


def test_a_total_of_rho_says_that_it_holds_no_delta():
    asked = {"by": "sex", "keys": "unknown", "epsilon": 0.5, "delta": 1e-7}
    with pytest.raises(BudgetExceededError, match="a total of rho has no delta"):
        sd.Session(DATA, rho=1).count(**asked)


def test_a_plan_when_nothing_is_left_does_not_fit():
    session = sd.Session(DATA, epsilon=1, delta=1e-6)
    session.count(epsilon=1)
    left = session.remaining
    while left.largest():
        session.count(epsilon=left.largest())
        left = session.remaining
    assert not session.plan.count().fits


def test_what_is_left_says_of_a_mode_what_it_costs():
    """A mode is drawn by permute-and-flip, whose range is above epsilon: it is anything else."""
    left = sd.Session(DATA, epsilon=3, delta=1e-6).remaining
    assert "mode" not in str(left)


def test_a_full_disk_tells_what_was_charged_and_of_the_batch(tmp_path, monkeypatch):
    session = sd.Session(DATA, epsilon=1, ledger=tmp_path / "data.ledger")
    real, left = locks.put, iter(range(4))

    def put(*given):
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*given)

    monkeypatch.setattr(locks, "put", put)
    with pytest.raises(SourdineError, match=r"was charged.* So was what the rest of the batch"):
        session.ask_all([plan.count(epsilon=0.1)] * 2)
    monkeypatch.undo()
    assert [charge.value for charge in session.history] == ["none kept"] * 2


@pytest.mark.slow
def test_a_report_says_how_a_declared_batch_was_admitted():
    session = sd.Session(DATA, epsilon=3, delta=1e-6)
    session.ask_all([plan.count(epsilon=0.059)] * 112)
    assert "certified curve" in session.report().to_markdown()
    session = sd.Session(DATA, epsilon=3, delta=1e-6)
    session.count(epsilon=0.059)
    assert "certified curve" not in session.report().to_markdown()


def test_a_report_is_about_names_and_texts():
    with pytest.raises(ParameterTypeError, match="about must be a dict of names and strings"):
        sd.Session(DATA, epsilon=1).report(3)


@pytest.mark.parametrize("option", ["ledger", "about"])
def test_a_report_does_not_replace_what_it_is_made_of(tmp_path, option):
    own = {"ledger": tmp_path / "data.json", "about": tmp_path / "about.md"}
    sd.Session(DATA, epsilon=1, ledger=own["ledger"])
    own["about"].write_text("purpose = 'Planning'\n")
    before = {name: path.read_bytes() for name, path in own.items()}
    with pytest.raises(ParameterError, match="report must differ from the ledger"):
        ledger_command.run_ledger(
            own["ledger"], as_json=False, report=own[option], about=own["about"]
        )
    assert before == {name: path.read_bytes() for name, path in own.items()}


@pytest.mark.parametrize("total", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 1}])
def test_a_question_whose_delta_is_refused_fits_with_no_epsilon(total):
    asked = {"by": "sex", "keys": "unknown", "epsilon": 0.5, "delta": 1e-5}
    could = sd.Session(DATA, **total).can_release.count(**asked)
    assert not could
    assert not could.largest


@pytest.mark.parametrize(
    ("total", "left", "needed"),
    [
        ({"epsilon": 1}, "epsilon 1", "epsilon 1.5"),
        ({"epsilon": 1, "delta": 1e-6}, "100% of epsilon 1, delta 1e-06", "150%"),
        ({"rho": 0.3}, "100% of rho 0.3", "125%"),
    ],
)
def test_a_batch_is_refused_as_a_whole(total, left, needed):
    session = sd.Session(DATA, **total)
    refusal = f"the batch costs {needed}, {left} remaining"
    with pytest.raises(BudgetExceededError, match=refusal):
        session.ask_all([plan.count(epsilon=0.5)] * 3)
    assert not session.history
