"""A request is charged once, drawn, stored, and answered with what is stored."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from threading import Barrier

import pytest

from sourdine.errors import BudgetExceededError, ParameterError, SourdineError
from sourdine.results.release import Release
from sourdine.server.store.base import KeyReusedError, NotGrantedError
from sourdine.session import Session
from store_requests import DATA, charge_once, counts, drawing, request


def test_a_request_is_charged_and_drawn_once(store, session):
    first = charge_once(store, request(), counts(session, 0.25))
    for _ in range(3):
        again = charge_once(store, request(), drawing(counts(session, 0.25), never))
        assert again == replace(first, fresh=False)
    assert first.fresh
    assert first.state == "answered"
    assert Release.from_json(first.answers[0]).cost.exact_epsilon() == Fraction(1, 4)
    assert session.spent.epsilon == Fraction(1, 4)
    assert session.history[0].answer == first.answers[0]
    assert store.releases.get("anna", "k") == replace(first, fresh=False)


def never():
    pytest.fail("drawn again")  # no Exception: those are what a draw may raise


def test_a_request_that_two_workers_get_at_once_is_charged_once(store, session, monkeypatch):
    first = charge_once(store, request(), counts(session, 0.25))
    found, looks = store.releases._found, []

    def early(transaction, asked):
        """Look as before the other worker's charge, the first time."""
        looks.append(asked)
        return found(transaction, asked) if len(looks) > 1 else None

    monkeypatch.setattr(store.releases, "_found", early)
    again = charge_once(store, request(), drawing(counts(session, 0.25), never))
    assert again == replace(first, fresh=False)
    assert session.spent.epsilon == Fraction(1, 4)


def test_the_charge_is_there_before_the_draw(store, session):
    def draw():
        assert store.releases.get("anna", "k").state == "charged"
        assert store.datasets.ledger("ages").account.spent.epsilon == Fraction(1, 4)
        return ["{}"]

    charge_once(store, request(), drawing(counts(session, 0.25), draw))


def test_a_draw_that_raised_stays_failed(store, session):
    def fails():
        raise ZeroDivisionError

    for draw in (fails, never):
        stored = charge_once(store, request(), drawing(counts(session, 0.25), draw))
        assert (stored.state, stored.answers) == ("failed", ())
    assert session.spent.epsilon == Fraction(1, 4)
    assert all(store.check())


def test_what_was_charged_and_not_answered_is_drawn_again(store, session):
    class KilledError(BaseException):
        pass

    def dies():
        raise KilledError

    with pytest.raises(KilledError):
        charge_once(store, request(), drawing(counts(session, 0.25), dies))
    stored = charge_once(store, request(), counts(session, 0.25))
    assert (stored.state, stored.fresh) == ("answered", False)
    assert session.spent.epsilon == Fraction(1, 4)


def test_of_two_draws_the_first_that_is_stored_is_the_answer(store, session):
    both = Barrier(2)

    def draw(text):
        both.wait(10)
        return [text]

    def asked(text):
        return charge_once(store, request(), drawing(counts(session, 0.25), lambda: draw(text)))

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(asked, ['{"a": 1}', '{"b": 2}'])
    assert one.answers == other.answers
    assert one.fresh != other.fresh
    assert len(session.history) == 1


def test_a_key_stands_for_one_request(store, session):
    charge_once(store, request(), counts(session, 0.25))
    for other in (request(body="mean"), request(dataset="others")):
        with pytest.raises(KeyReusedError, match="key must identify one request"):
            charge_once(store, other, counts(session, 0.25))
    charge_once(store, request(analyst="ben", body="mean"), counts(session, 0.25))
    assert len(session.history) == 2


def test_over_budget_is_refused_in_the_words_of_a_session(store, session):
    charge_once(store, request(), counts(session, 0.75))
    own = Session(DATA, epsilon=1)
    own.count(epsilon=0.75)
    with pytest.raises(BudgetExceededError) as expected:
        own.count(epsilon=0.5)
    with pytest.raises(BudgetExceededError) as refused:
        charge_once(store, request("other", "ben"), counts(session, 0.5))
    assert str(refused.value) == str(expected.value)
    assert store.releases.get("ben", "other") is None
    assert session.spent.epsilon == Fraction(3, 4)


def test_a_grant_is_a_ceiling_below_the_total(store, session):
    store.grants.give("ages", "anna", 0.3)
    charge_once(store, request("1"), counts(session, 0.2))
    with pytest.raises(
        BudgetExceededError, match=r"0\.1 of 0\.3 remaining.* anna was granted 0\.3\."
    ):
        charge_once(store, request("2"), counts(session, 0.2))
    charge_once(store, request("3", "ben"), counts(session, 0.2))
    grant = store.grants.get("ages", "anna")
    assert (grant.spent, grant.left) == (Fraction(1, 5), Fraction(1, 10))
    store.grants.give("ages", "anna", 0.1)
    assert store.grants.get("ages", "anna").left == 0
    with pytest.raises(BudgetExceededError):
        charge_once(store, request("4"), counts(session, 0.001))
    assert all(store.check())


def test_who_has_no_grant_does_not_learn_what_there_is(store, session):
    said = set()
    for dataset in ("others", "nowhere"):
        with pytest.raises(NotGrantedError) as refused:
            charge_once(store, request(dataset=dataset), counts(session, 0.1))
        said.add(str(refused.value).replace(dataset, "it"))
    assert len(said) == 1


def test_a_closed_data_set_answers_what_it_answered(store, session):
    first = charge_once(store, request(), counts(session, 0.25))
    store.datasets.close("ages")
    assert charge_once(store, request(), counts(session, 0.25)).answers == first.answers
    with pytest.raises(ParameterError, match="dataset must be open, got ages, which is closed"):
        charge_once(store, request("new"), counts(session, 0.25))
    assert store.datasets.get("ages").state == "closed"
    with pytest.raises(SourdineError, match="what is written stays"):
        store.database.write(lambda t: t.run("UPDATE datasets SET state = 'open'"))


def test_several_questions_are_one_request(store, session):
    stored = charge_once(store, request(), counts(session, 0.25, 0.5))
    assert (stored.number, stored.count, len(stored.answers)) == (1, 2, 2)
    costs = [Release.from_json(answer).cost.epsilon for answer in stored.answers]
    assert costs == [Fraction(1, 4), Fraction(1, 2)]
    with pytest.raises(
        BudgetExceededError, match=r"the batch costs epsilon 0\.4, epsilon 0\.25 remaining"
    ):
        charge_once(store, request("more"), counts(session, 0.2, 0.2))
    assert len(session.history) == 2
    assert all(store.check())


def test_releases_are_listed_by_number(store, session):
    for i, who in enumerate(["anna", "ben", "anna"]):
        charge_once(store, request(str(i), who), counts(session, 0.1))
    assert [one.number for one in store.releases.of("ages")] == [1, 2, 3]
    assert [one.number for one in store.releases.of("ages", analyst="anna")] == [1, 3]
    assert [one.number for one in store.releases.of("ages", after=1, most=1)] == [2]


def test_a_release_carries_its_line_and_head(store, session):
    stored = charge_once(store, request(), counts(session, 0.1))
    assert store.datasets.head("ages", stored.line) == (stored.line, stored.head)
    assert store.datasets.head("ages")[0] == stored.line + 1
    assert store.datasets.head("ages", 99) is None


@pytest.mark.quick_cases(7)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE lines SET line = ''",
        "DELETE FROM lines",
        "DELETE FROM books",
        "UPDATE releases SET state = 'charged'",
        "DELETE FROM releases",
        "DELETE FROM datasets",
    ],
)
def test_what_is_written_stays(store, session, statement):
    charge_once(store, request(), counts(session, 0.1))
    with pytest.raises(SourdineError, match="what is written stays"):
        store.database.write(lambda t: t.run(statement))
    assert all(store.check())


def test_a_report_is_filed_from_a_store(store, session):
    charge_once(store, request(), counts(session, 0.1))
    report = session.report({"purpose": "a test"})
    assert all(check.passed for check in report.checks)
    assert '"count"' in report.to_json()
