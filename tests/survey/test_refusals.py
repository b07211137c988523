"""A form that costs more than it says is refused by the device itself."""

from __future__ import annotations

import copy
from fractions import Fraction

import pytest

from sourdine.errors import ParameterError
from sourdine.local import Choice, Number, Schema
from sourdine.local.designs.numbers import designed
from sourdine.survey.form import form_for_device

AGE = Number(0, 120, 1, missing=True)
VOTE = Choice("yes", "no", "other")
CUT = Number(0, 19, 1, method="truncated-staircase")
COSTS_MORE = "the columns cost more than the form says"
OUT_OF_RANGE = "a number of the form is out of range"
NO_FRACTION = "a number of the form is no fraction"
EPSILON = "epsilon must be above 0 and at most 8"


def changed(of, path, value):
    """Return a form with one thing changed."""
    form = copy.deepcopy(of)
    at = form
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return form


SPLIT = form_for_device(Schema(age=AGE, vote=VOTE, epsilon=2))
SAMPLE = form_for_device(Schema(age=AGE, vote=VOTE, epsilon=2, method="sample"))
ROUGH = form_for_device(Schema(cut=CUT, epsilon=1))
PLAIN = form_for_device(Schema(few=Number(0, 2, 1, method="design"), epsilon=1))
DESIGN = PLAIN["columns"][0]["channel"]
LEFT = int(designed(1, 2).design.weights[-1].min())
TWO = form_for_device(Schema(few=Number(0, 9, 1, method="design"), epsilon=1))["columns"][0][
    "channel"
]
LEVEL = Fraction(ROUGH["columns"][0]["level"])
LIES = {
    "a larger share": (changed(SPLIT, ("columns", 1, "epsilon"), "1000001/1000000"), COSTS_MORE),
    "a larger flag": (changed(SPLIT, ("columns", 0, "flag"), "1"), COSTS_MORE),
    "a smaller total": (changed(SPLIT, ("epsilon",), "1999999999999999999/1000000000000000000"),
                        COSTS_MORE),
    "a larger sample": (changed(SAMPLE, ("columns", 1, "epsilon"), "3"), COSTS_MORE),
    "a sample that is all": (changed(SAMPLE, ("method",), "split"), COSTS_MORE),
    "no sharing": (changed(SPLIT, ("method",), "all"), "a method of the form is not known here"),
    "epsilon 9": (changed(SPLIT, ("epsilon",), "9"), EPSILON),
    "epsilon 8.001": (changed(SPLIT, ("epsilon",), "8001/1000"), EPSILON),
    "epsilon 0": (changed(SPLIT, ("columns", 1, "epsilon"), "0"), EPSILON),
    "epsilon below 0": (changed(SPLIT, ("columns", 1, "epsilon"), "-5"), EPSILON),
    "a decimal": (changed(SPLIT, ("epsilon",), "1.5"), NO_FRACTION),
    "a number": (changed(SPLIT, ("epsilon",), 0.1), NO_FRACTION),
    "another version": (changed(SPLIT, ("v",), 2),
                        "the form is of a version that is not known here"),
    "a method of an object": (changed(SPLIT, ("columns", 1, "method"), "constructor"),
                              "a method of the form is not known here"),
    "one category": (changed(SPLIT, ("columns", 1, "k"), 1), OUT_OF_RANGE),
    "half a category": (changed(SPLIT, ("columns", 1, "k"), 2.5), OUT_OF_RANGE),
    "no width": (changed(SPLIT, ("columns", 0, "width"), 0), OUT_OF_RANGE),
    "a higher level": (changed(ROUGH, ("columns", 0, "level"), str(LEVEL + Fraction(1, 1 << 40))),
                       "a column costs more than the form says"),
    "the level of redrawing": (changed(ROUGH, ("columns", 0, "level"), "1"),
                               "a column costs more than the form says"),
    "heavier outputs": (changed(PLAIN, ("columns", 0, "channel"), DESIGN + " 1:ffffff"),
                        "a column costs more than the form says"),
    "an uneven rest": (changed(PLAIN, ("columns", 0, "channel"),
                               f"{DESIGN} 2:{int(0.32 * LEFT) >> 8:x}"),
                       "a column costs more than the form says"),
    "an output of all nodes": (changed(PLAIN, ("columns", 0, "channel"), DESIGN + " 7:1"),
                               "a design of the form cannot be read"),
    "too many nodes": (changed(PLAIN, ("columns", 0, "channel"), TWO), OUT_OF_RANGE),
    "a level that cannot be told": (
        changed(changed(ROUGH, ("columns", 0, "level"), "1"), ("columns", 0, "reach"), 1),
        "a chance of the form cannot be told from another"),
}  # fmt: skip


@pytest.fixture(scope="module")
def said(node):
    return dict(zip(LIES, node("refusals.mjs", [form for form, _ in LIES.values()]), strict=True))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", LIES)
def test_a_lying_form_is_refused(said, name):
    assert said[name] == LIES[name][1]


@pytest.mark.slow
def test_honest_forms_are_not(node, survey_cases):
    honest = [form_for_device(schema) for schema in survey_cases.schemas()]
    assert set(node("refusals.mjs", [SPLIT, SAMPLE, ROUGH, *honest])) == {None}


def test_a_form_is_that_of_one_round():
    several = Schema(vote=VOTE, epsilon=2, rounds=52)
    with pytest.raises(ParameterError, match="round must be from 1 to 52"):
        form_for_device(several)
    assert form_for_device(several.round(3))["round"] == 3


def test_a_schema_beyond_eight_makes_no_form():
    with pytest.raises(ParameterError, match="epsilon must be at most 8 in a survey, got 9"):
        form_for_device(Schema(vote=VOTE, epsilon=9))
    uneven = Schema(age=AGE, vote=VOTE, epsilon=1, weights={"age": Fraction(1, 10**13)})
    with pytest.raises(ParameterError, match="ratios of small whole numbers"):
        form_for_device(uneven)
