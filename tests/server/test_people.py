"""People, tokens, grants and surveys are kept as they are said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sourdine.errors import ParameterError
from sourdine.server.store.base import Guard, Person, SurveyEntry, Token, fingerprint


def test_people_are_added_once_and_changed(store):
    owner = store.people.add(Person(name="olga", role="owner", password="$argon2id$..."))  # noqa: S106
    assert store.people.get("olga") == owner
    assert store.people.get("nobody") is None
    assert [person.name for person in store.people.all()] == ["anna", "ben", "olga"]
    with pytest.raises(ParameterError, match="name must be new"):
        store.people.add(owner)
    with pytest.raises(ParameterError, match="role"):
        store.people.add(Person(name="x", role="king"))
    with pytest.raises(ParameterError, match="name must be the name of a user"):
        store.people.change("nobody", disabled=True)


def test_a_token_holds_until_it_ends(store):
    token = Token(sha256=fingerprint("secret"), who="anna", kind="api", until=100.0, label="pc")
    store.tokens.add(token)
    assert store.tokens.find(token.sha256, now=99)[1].name == "anna"
    assert store.tokens.find(token.sha256, now=100) is None
    assert store.tokens.find(fingerprint("other"), now=0) is None
    assert not store.tokens.revoke("ben", token.sha256)
    assert store.tokens.revoke("anna", token.sha256)
    assert store.tokens.find(token.sha256, now=0) is None
    assert store.tokens.of("anna") == [replace(token, revoked=True)]


@pytest.mark.parametrize("change", [{"password": "new"}, {"disabled": True}])
def test_tokens_end_when_their_person_changes(store, change):
    token = Token(sha256=fingerprint("secret"), who="anna", kind="session", until=1e12)
    store.tokens.add(token)
    store.people.change("anna", **change)
    assert store.tokens.find(token.sha256) is None
    store.people.change("anna", disabled=False)
    assert store.tokens.find(token.sha256) is None


def test_no_token_of_a_disabled_person_holds(store):
    store.people.change("anna", disabled=True)
    token = Token(sha256=fingerprint("secret"), who="anna", kind="api", until=1e12)
    store.tokens.add(token)
    assert store.tokens.find(token.sha256) is None
    store.people.change("anna", disabled=False)
    assert store.tokens.find(token.sha256)[1].name == "anna"


def test_attempts_are_counted_up_to_their_limits(store):
    most = {"name anna": 3, "address here": 5}
    assert [store.attempts.count(most, since=7) for _ in range(4)] == [True, True, True, False]
    assert store.attempts.count({"address here": 5}, since=7)  # what was refused did not count
    store.attempts.forgive(("name anna",), since=7)
    assert [store.attempts.count(most, since=7) for _ in range(2)] == [True, False]
    assert store.attempts.count(most, since=8)


def test_grants_are_of_people_and_data_sets_that_are_there(store):
    for names in (("nowhere", "anna"), ("ages", "nobody")):
        with pytest.raises(ParameterError, match="exist in this store"):
            store.grants.give(*names, 1)
    assert [grant.analyst for grant in store.grants.all(dataset="ages")] == ["anna", "ben"]
    assert [grant.dataset for grant in store.grants.all(analyst="ben")] == ["ages"]
    assert store.grants.get("others", "anna") is None


@pytest.mark.parametrize("name", ["", "Wages", "a b", "../x", "x" * 65, "-x"])
def test_names_may_stand_in_addresses(store, name):
    with pytest.raises(ParameterError, match="name must be at most 64 lowercase letters"):
        store.guards.add(Guard(name=name, source="g"), [])


def test_a_survey_is_frozen_when_it_is_opened(store):
    draft = store.surveys.add(SurveyEntry(name="commute", document='{"title": "a"}'))
    draft = store.surveys.change(replace(draft, document='{"title": "b"}'))
    opened = store.surveys.change(replace(draft, state="open", store="commute.db", page="ab"))
    assert store.surveys.get("commute") == opened
    for wrong in (replace(opened, document="{}"), replace(opened, state="draft")):
        with pytest.raises(ParameterError, match="survey must be a draft, or unchanged"):
            store.surveys.change(wrong)
    store.surveys.change(replace(opened, state="closed"))
    assert [survey.state for survey in store.surveys.all()] == ["closed"]
