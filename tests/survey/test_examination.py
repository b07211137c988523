"""Everything that is wrong with a survey is said, each beside its field."""

from __future__ import annotations

import pytest

from sourdine.survey import Survey
from sourdine.survey.document import STAND_IN, examined

WHOLE = {**STAND_IN, "name": "habits"}


def question(name="way", **facts):
    """Return a survey of one question."""
    return {**WHOLE, "questions": {name: {"ask": "Which?", **facts}}}


def fields(found):
    return [problem.field for problem in examined(found).problems]


@pytest.mark.parametrize(
    ("facts", "field"),
    [
        ({"kind": "number", "upper": 1}, "lower"),
        ({"kind": "number", "lower": 3, "upper": 1}, "lower"),
        ({"kind": "number", "lower": 0, "upper": "much"}, "upper"),
        ({"kind": "number", "lower": 0, "upper": 1, "step": 0.3}, "step"),
        ({"kind": "number", "lower": 0, "upper": 10**9, "step": "1e-9"}, "step"),
        ({"kind": "choice"}, "categories"),
        ({"kind": "choice", "categories": ["a"]}, "categories"),
        ({"kind": "choices", "choices": ["a"]}, "choices"),
        ({"kind": "choice", "categories": ["a", "b"], "labels": {"a": ""}}, "labels.a"),
        ({"kind": "flag", "method": "none"}, "method"),
        ({"kind": "flag", "help": 3}, "help"),
        ({"kind": "flag", "weight": -1}, "weight"),
        ({"kind": ["flag"]}, "kind"),
        ({}, "kind"),
    ],
)
def test_what_is_wrong_with_a_question_is_said_at_its_field(facts, field):
    assert fields(question(**facts)) == [f"questions.way.{field}"]
    named = question(field.partition(".")[0], **facts)
    assert fields(named) == [f"questions.{field.partition('.')[0]}.{field}"]


@pytest.mark.parametrize(
    ("facts", "field"),
    [
        ({"name": "A b"}, "name"),
        ({"title": ""}, "title"),
        ({"title": {"en": "a"}, "languages": ["en", "fr"]}, "title"),
        ({"text": "\x00"}, "text"),
        ({"epsilon": 9}, "epsilon"),
        ({"epsilon": "much"}, "epsilon"),
        ({"method": "none"}, "method"),
        ({"languages": ["xx"]}, "languages"),
        ({"send_to": "http://example.org/reports"}, "send_to"),
        ({"questions": {}}, "questions"),
        ({"questions": 3}, "questions"),
        ({"order": ["other"]}, "order"),
        ({"titel": "a"}, "titel"),
    ],
)
def test_what_is_wrong_with_the_rest_is_said_at_its_field(facts, field):
    assert fields({**WHOLE, **facts}) == [field]


def test_all_of_it_is_said_at_once_and_the_rest_can_be_planned():
    broken = {
        **WHOLE,
        "title": "",
        "epsilon": 2,
        "questions": {
            "age": {"kind": "number", "lower": 0, "upper": "much", "ask": "Age?"},
            "ill": {"kind": "flag", "ask": "Ill?"},
            "way": {"kind": "choice", "categories": ["a", "a"], "ask": ""},
        },
    }
    found = examined(broken)
    assert [one.field for one in found.problems] == [
        "title",
        "questions.age.upper",
        "questions.way.categories",
    ]
    assert found.survey is None
    assert list(found.sketch.schema.columns) == ["ill"]
    assert found.sketch.schema.epsilon == 2


def test_what_is_right_is_what_the_reader_reads():
    found = examined(WHOLE)
    assert found.problems == ()
    assert found.survey == found.sketch == Survey.from_facts(WHOLE)


@pytest.mark.parametrize("found", [None, [], "survey", {}, {"questions": [1]}, {"name": {"a": []}}])
def test_nothing_that_json_holds_raises(found):
    assert examined(found).problems
    assert examined(found).survey is None
