"""What is particular to a store in PostgreSQL."""

from __future__ import annotations

import pytest

from sourdine.errors import ParameterError, SourdineError
from sourdine.local.reports.records import to_lines
from sourdine.survey import Survey
from sourdine.survey.store import Posted, SurveyStore

pytest.importorskip("psycopg")


def found_in(store, query):
    return store._db.read(lambda rows: rows.all(query))


def accept(store, n):
    people = {"way": ["bus"] * n, "minutes": [35] * n, "late": [True] * n, "wishes": ["seats"] * n}
    for part in store.survey.schema.reports(people):
        for line in to_lines(part):
            store.accept([Posted(lines=[line.encode()])])
    return store.fold()


@pytest.fixture
def survey(survey_cases):
    return Survey.from_facts(survey_cases.facts())


@pytest.mark.slow
def test_a_closed_survey_does_not_say_who_came_first(postgres, survey):
    store, _ = SurveyStore.create(postgres, survey)
    for _ in range(3):
        accept(store, 5)
    assert found_in(store, "SELECT count(DISTINCT xmin::text) > 1 FROM ids") == [(True,)]
    store.end()
    assert found_in(store, "SELECT count(DISTINCT xmin::text), count(*) FROM ids") == [(1, 15)]
    found = found_in(store, "SELECT id FROM ids ORDER BY ctid")
    assert found == sorted(found)
    store.close()


def test_a_broken_connection_is_made_again(postgres, survey):
    store, _ = SurveyStore.create(postgres, survey)
    other = SurveyStore(postgres)
    assert accept(store, 1) == 1
    found_in(
        other,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    with pytest.raises(SourdineError, match="could not be used"):
        accept(store, 1)
    assert accept(store, 1) == 2
    store.close()
    other.close()


def test_several_surveys_stand_in_one_database(postgres, survey):
    for number in range(2):
        place = f"{postgres}&options=-csearch_path%3Dtown{number}"
        store, _ = SurveyStore.create(place, survey)
        assert accept(store, number) == number
        store.close()


def test_passwords_are_not_told(postgres, survey):
    secret = postgres.replace("postgres@", "postgres:hidden@")
    store, _ = SurveyStore.create(secret, survey)
    assert store.shown == postgres
    store.close()
    for place in (secret, secret.replace("?host=", "?password=hidden&host=%2Fnowhere")):
        with pytest.raises(SourdineError) as caught:
            SurveyStore.create(place, survey)
        assert "hidden" not in str(caught.value)


def test_other_databases_are_refused(postgres):
    with pytest.raises(
        ParameterError, match="store must be a store created by sourdine survey open"
    ):
        SurveyStore(postgres)
    with pytest.raises(ParameterError, match="store must be a valid PostgreSQL address"):
        SurveyStore("postgresql://localhost/a?no=such")
