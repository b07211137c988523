"""A question that is not answered: offered, sent and estimated; or the page needs an answer."""

from __future__ import annotations

import json
import subprocess
import tomllib

import pytest

import survey_device as device
from sourdine.errors import ParameterError
from sourdine.local import Choice, Flag, Number, Schema
from sourdine.survey import Survey
from sourdine.survey.document import SKELETON
from sourdine.survey.form import form_for_device
from sourdine.survey.page import ADDED, FORMER, languages, page, words
from sourdine.survey.results import results
from sourdine.survey.store import Posted, SurveyStore

NEEDED = {"way": Choice("a", "b", "c"), "late": Flag(), "minutes": Number(0, 120, 1)}
ANSWERS = {"way": "a", "late": True, "minutes": "30"}


def test_the_skeleton_declares_it_for_every_question():
    survey = Survey.from_facts(tomllib.loads(SKELETON))
    assert survey.schema.undeclared == ()


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("method", ["split", "sample"])
@pytest.mark.parametrize("left", NEEDED)
def test_a_device_refuses_before_it_draws(node, survey_cases, tmp_path, method, left):
    """Whichever column would be sent: what a person sees must not depend on the draw."""
    form = form_for_device(Schema(**NEEDED, epsilon=2, method=method))
    assert device.record(form, ANSWERS)
    given = {name: answer for name, answer in ANSWERS.items() if name != left}

    class Untouched:
        private = False

        def bytes(self, count):
            raise AssertionError(count)

    for absent in (given, given | {left: None}, given | {left: ""}):
        with pytest.raises(ParameterError, match=f"the answer to '{left}' must be given"):
            device.record(form, absent, source=Untouched())
    path = tmp_path / "form.json"
    path.write_text(json.dumps(form))
    ran = subprocess.run(  # noqa: S603
        [node.path, str(survey_cases.DEVICE), str(path)],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode != 0
    assert f"an answer is needed: {left}" in ran.stderr
    assert ran.stdout == ""


def test_a_round_needs_an_answer_too():
    schema = Schema(late=Flag(), epsilon=2, rounds=3)
    form = form_for_device(schema.round(1))
    memory = device.remember(form)
    with pytest.raises(ParameterError, match="the answer to 'late' must be given"):
        device.again(form, memory, {})
    assert device.again(form, memory, {"late": True})


def test_random_answers_are_no_survey():
    with pytest.raises(ParameterError, match="missing must be omitted in a survey"):
        form_for_device(Schema(late=Flag(), epsilon=1, missing="random"))
    with pytest.raises(ParameterError, match="hold known keys, got 'missing'"):
        Survey.from_facts(tomllib.loads(SKELETON) | {"missing": "random"})


@pytest.mark.slow
def test_silent_people_are_estimated_and_do_not_walk(tmp_path):
    """2000 records without an answer: nobody is held to walk, ride or drive."""
    survey = Survey.from_facts(tomllib.loads(SKELETON) | {"epsilon": 8, "method": "sample"})
    store, _ = SurveyStore.create(tmp_path / "commute.db", survey)
    form = form_for_device(survey.schema)
    lines = [device.record(form, {}).encode() for _ in range(2000)]
    store.accept([Posted(lines=lines)])
    store.fold()
    found = {one.name: one for one in results(store).questions}
    store.close()
    for name in ("way", "late"):
        assert max(found[name].values[:-1]) < 0.1
        assert found[name].no_answer[0] > 0.9
        assert found[name].no_answer[1] <= 1 <= found[name].no_answer[2] + 1e-9
    assert found["minutes"].no_answer[0] > 0.9


def test_a_survey_frozen_with_former_words_opens_under_its_name():
    """Its fingerprint, which people answered under, stays; the page says what was added since."""
    now = tomllib.loads(SKELETON)
    for name in ("way", "minutes", "late"):
        del now["questions"][name]["missing"]
    frozen = Survey.from_facts(now).facts()
    for tag in frozen["words"]:
        said = {key: text for key, text in frozen["words"][tag].items() if key not in ADDED}
        frozen["words"][tag] = said | dict.fromkeys(FORMER, "Answers so far: {reports}, ± {half}.")
    again = Survey.from_facts(frozen, frozen=True)
    assert again.facts() == frozen
    assert Survey.from_facts(again.facts(), frozen=True).fingerprint == again.fingerprint
    assert again.schema.undeclared == ("way", "minutes", "late")
    assert words("en")["needed"] in page(again).decode()
    del frozen["words"]["en"]["promise"]
    with pytest.raises(ParameterError, match="Add 'promise'"):
        Survey.from_facts(frozen, frozen=True)


def test_added_and_former_words_are_what_they_are_called():
    for tag in languages():
        assert words(tag).keys() >= ADDED
        assert not words(tag).keys() & FORMER
