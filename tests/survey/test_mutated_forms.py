"""Forms that somebody changed: no field of a page makes its records cost more than it shows."""

from __future__ import annotations

import copy
import json
import shutil

import pytest

import survey_device as device
from sourdine.errors import ParameterError
from sourdine.local import Choice, Choices, Flag, Number, Schema
from sourdine.local.table.columns import CATEGORICAL, NUMERIC
from sourdine.survey.form import form_for_device
from survey_device import TOPS, read

FITS = 'refuse("the answers to a question do not fit its method")'
SLOT = 'count(found ?? (column.absent === "nothing" ? 0 : top), 0, top)'
UNDONE = {
    "answers need not fit": ((FITS, "{}"), (SLOT, SLOT[6:-9])),
    "an unknown absence": (('if (part.absent !== "paid") refuse', "if (false) refuse"),),
    "a paid flag is free": (('c.absent === "paid" ? add(', 'c.absent === "free" ? add('),),
    "columns are not added": (("[costs.reduce(add)]", "costs"),),
    "epsilon is not that of the form": (("a * m > n * b", "a * m > 9n * n * b"),),
    "a level is believed": ((".bounds(64)[1] > 1n << 64n", ".bounds(64)[1] > 1n << 68n"),),
}
"""What to change in the device to undo one of its refusals."""


def forms():
    """Return a small form of every method, and some for absent answers, columns and rounds."""
    answers = ("0", "1", "2")
    schemas = [
        *(Schema(q=Choice(*answers, method=one), epsilon=1) for one in CATEGORICAL),
        *(Schema(q=Number(0, 2, 1, method=one), epsilon=1) for one in NUMERIC),
        Schema(q=Choices(*answers), epsilon=1),
        Schema(q=Flag(missing=True), epsilon=1),
        Schema(q=Number(0, 2, 1, method="duchi", missing=True), epsilon=1),
        Schema(q=Flag(), r=Choice("0", "1"), epsilon=1),
        Schema(q=Flag(), r=Choice("0", "1"), epsilon=1, method="sample"),
        Schema(q=Flag(), epsilon=2, rounds=3).round(1),
        Schema(q=Choice(*answers, method="hashing"), epsilon=2, rounds=3).round(1),
    ]
    made = {}
    for schema in schemas:
        form = form_for_device(schema)
        for column in form["columns"]:
            if "slide" in column:  # small enough to walk
                column |= {"slide": 2, "width": 1}
        form["mark"] = form["schema"] = "0" * 16  # no part of a law
        made[json.dumps(form)] = form
    return list(made.values())


def test_every_method_is_mutated():
    assert {form["columns"][0]["method"] for form in forms()} == {*device.METHODS, "memoised"}
    assert set(TOPS) == {*device.METHODS, "memoised"}


@pytest.mark.parametrize(
    ("last", "share", "tried", "walked"),
    [
        # Most of the time goes to the laws of a hash that is kept over rounds, the last form.
        pytest.param(-1, 7, 20_000, 800, marks=pytest.mark.slow, id="some"),
        pytest.param(None, 1, 100_000, 1500, marks=pytest.mark.simulation, id="all"),
    ],
)
def test_no_form_that_is_read_costs_more_than_it_says(node, last, share, tried, walked):
    done = node("mutations.mjs", {"forms": forms()[:last], "first": False, "share": share})
    assert done["found"] == []
    assert done["tried"] > tried
    assert done["walked"] > walked
    assert done["wide"] < done["walked"] / 50, "numbers too large to walk"


@pytest.mark.slow
@pytest.mark.parametrize("name", UNDONE)
def test_the_search_finds_what_a_device_does_not_refuse(node, survey_cases, tmp_path, name):
    source = survey_cases.DEVICE.read_text()
    for right, wrong in UNDONE[name]:
        assert source.count(right) == 1
        source = source.replace(right, wrong)
    worse = tmp_path / "device.mjs"
    worse.write_text(source)
    shutil.copy(survey_cases.DEVICE.with_name("rounds.mjs"), tmp_path)
    every = {form["columns"][0]["method"]: form for form in forms()}
    if name != "answers need not fit":
        some = [every["truncated"]] if "level" in name else [*every.values(), *forms()[-4:-2]]
        assert node("mutations.mjs", {"forms": some, "first": True}, device=worse)["found"]
        return
    # a set of choices in clear, numbers and categories beyond the last, and a draw without an end
    every["window"]["columns"][0]["absent"] = "category"
    for method in ("flipped", "response", "hadamard", "window", "subset"):
        [found] = node("mutations.mjs", {"forms": [every[method]], "first": True}, device=worse)[
            "found"
        ]
        assert "costs" in found[1] or "never ends" in found[1]


def test_a_set_is_not_sent_in_clear():
    """Two of twelve choices randomised, and the others left as they are."""
    form = form_for_device(Schema(q=Choices(*(f"c{i}" for i in range(12))), epsilon=0.1))
    form["columns"][0] |= {"k": 2, "flips": 0}
    with pytest.raises(ParameterError, match="form must have the answers that its methods draw"):
        device.record(form, {"q": ["c5", "c7"]})


def changes():
    """Return forms with one field changed, as both devices can read them."""
    fields = {key for form in forms() for key in form["columns"][0]} - {"name"}
    values = [0, 1, 2, 3, 4, 7, -1, 2.5, 2**31, 2**53, None, True, "0", "1/10", "8", "9", "1/0",
              "-1", [], ["0", "1"], ["0", "1", "2", "3"], "any", "category", "kept", "nothing",
              "paid", "flag", "choice", "choices", "number", "split", "sample", *TOPS]  # fmt: skip
    for form in forms():
        for key in sorted(fields):
            for value in values:
                made = copy.deepcopy(form)
                made["columns"][0][key] = value
                yield made
            if key in form["columns"][0]:
                made = copy.deepcopy(form)
                del made["columns"][0][key]
                yield made
        for key in ("v", "epsilon", "method", "rounds", "round", "columns"):
            for value in values:
                yield {**form, key: value}
            yield {k: v for k, v in form.items() if k != key}


def refused(form):
    try:
        read(form)
    except ParameterError:
        return True
    return False


@pytest.mark.slow
def test_both_devices_refuse_the_same_forms(node):
    every = list(changes())
    said = node("refusals.mjs", every)
    differ = [
        (form, told)
        for form, told in zip(every, said, strict=True)
        if refused(form) != (told is not None)
    ]
    assert differ == []
    assert 1000 < said.count(None) < len(said) - 1000


@pytest.mark.slow
def test_a_memory_is_used_with_the_chances_it_was_drawn_with(node):
    """A form that names another survey's schema does not tell from that survey's memory."""
    form = form_for_device(Schema(q=Flag(), epsilon=8, rounds=3).round(1))
    changed = [
        {**form, "round": 2, "columns": [form["columns"][0] | change]}
        for change in ({}, {"permanent": "1/10", "once": "1/20"}, {"permanent": "3"})
    ]
    assert node("memories.mjs", {"first": form, "second": changed}) == [True, False, False]
