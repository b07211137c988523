"""The same bytes give the same record in Python, in V8 and in QuickJS, letter for letter."""

from __future__ import annotations

import json
import subprocess
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
import quickjs

import survey_device as device
from sourdine.local import Aggregator, Schema
from sourdine.local.reports.records import Reason
from sourdine.local.table.columns import Attribute
from sourdine.survey.form import form_for_device
from sourdine.survey.page import script_of

HERE = Path(__file__).parent
RECORDS = 10_000

PLAY = """
function play(text) {
  const { forms, jobs } = JSON.parse(text), parts = forms.map((form) => read(form));
  return JSON.stringify(jobs.map(([form, answers, hex]) => {
    let at = 0;
    const byte = () => parseInt(hex.slice(2 * at, 2 * ++at), 16);
    const source = { bytes: (count) => Uint8Array.from({ length: count }, byte) };
    return [record(forms[form], answers, new Draw(source), parts[form]), at];
  }));
}
"""


def in_quickjs(given):
    engine = quickjs.Context()
    engine.eval(script_of("device.mjs") + PLAY)
    return json.loads(engine.get("play")(json.dumps(given)))


@pytest.mark.slow
def test_records_are_the_same_in_three_engines(node, survey_cases):
    forms, jobs = survey_cases.replays(RECORDS)
    given = {"forms": forms, "jobs": [(form, said, took.hex()) for form, said, took, _ in jobs]}
    mine = [[line, len(took)] for _, _, took, line in jobs]
    assert {c["method"] for form in forms for c in form["columns"]} == set(device.METHODS)
    assert node("replay.mjs", given) == mine
    assert in_quickjs(given) == mine


@pytest.mark.slow
def test_teasing_bits_leave_a_coin_open(survey_cases):
    """A flag takes a byte, a word and an id; half of the draws take one or two words more."""
    forms, jobs = survey_cases.replays(600, seed=4)
    lone = {i for i, f in enumerate(forms) if f["columns"][0]["name"] == "response, flag"}
    took = [len(job[2]) for job in jobs if job[0] in lone and job[1]["response, flag"]]
    assert set(took) == {1 + 8 + 16, 1 + 16 + 16, 1 + 24 + 16}


def test_every_column_of_a_schema_is_tried(survey_cases):
    kinds = {column.kind for column in survey_cases.columns().values()}
    assert {cls.kind for cls in last(Attribute)} == kinds


def last(cls):
    """Return the classes below one that have no classes below them."""
    below = cls.__subclasses__()
    return {one for sub in below for one in last(sub)} if below else {cls}


@pytest.mark.slow
def test_records_are_those_of_the_schema(survey_cases):
    """An aggregator accepts every line, of every method."""
    by_form = {}
    forms, jobs = survey_cases.replays(1000, seed=2)
    for place, _, _, line in jobs:
        by_form.setdefault(place, []).append(line)
    for place, schema in enumerate(survey_cases.schemas()):
        assert forms[place]["mark"] == schema.fingerprint[:16]
        ids = {json.loads(line)["i"] for line in by_form[place]}  # of teasing bytes some are alike
        added = Aggregator(schema).add(by_form[place])
        assert added.accepted == len(ids)
        assert added.accepted + added.dropped.get(Reason.REPLAYED, 0) == len(by_form[place])


def test_answers_are_read_as_in_a_table(survey_cases):
    """The code of an answer is the slot of the same cell of a table."""
    typed = ["0", "1", "-7", "9", "12", "3.24", "3.26", "8.9", "130"]
    for schema in [Schema.of(survey_cases.columns(), epsilon=4)]:
        parts = {c["name"]: c for c in form_for_device(schema)["columns"]}
        for name, column in schema.columns.items():
            if column.kind == "number":
                ticks = column.grid.ticks([float(text) for text in typed]).tolist()
                assert [device.tick(text, parts[name]) for text in typed] == ticks
            elif column.kind in {"choice", "flag"}:
                listed = parts[name]["answers"]
                slots = [column.cell(name).codes[text] for text in listed]
                assert [device.code(parts[name], text) for text in listed] == slots
            else:
                cell = column.cell(name)
                ticked = [list(column.choices[:2]), [column.choices[2]], []]
                slots = cell.codes_of([";".join(one) for one in ticked])
                assert [device.code(parts[name], one) or 0 for one in ticked] == slots


@pytest.mark.parametrize("text", ["", "x", "1e3", "--1", "1/2", "nan", "1.2.3", "٣"])
def test_what_is_no_number_is_none(text):
    assert device.tick(text, {"lower": "0", "step": "1", "last": 9}) is None


@pytest.mark.slow
def test_a_kiosk_needs_the_form_alone(node, tmp_path, survey_cases):
    """``node device.mjs FORM`` prints a record for each line of answers."""
    columns = survey_cases.columns()
    silent = {name: column for name, column in columns.items() if column.missing}
    schema = Schema.of(
        {"response": columns["response"], "response, flag": columns["response, flag"], **silent},
        epsilon=4,
    )
    form = tmp_path / "form.json"
    form.write_text(json.dumps(form_for_device(schema)))
    lines = "\n".join(json.dumps({"response": "a", "response, flag": True}) for _ in range(20))
    done = subprocess.run(  # noqa: S603
        [node.path, str(survey_cases.DEVICE), str(form)],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Aggregator(schema).add(done.stdout.splitlines()).accepted == 20


@pytest.mark.parametrize("first", [0, 2, 5])
def test_far_reports_fall_everywhere_but_into_the_window(first):
    width, others = 3, 5

    def cell(far, near, *, is_far):
        drawn = iter([far, near])
        by = SimpleNamespace(below=lambda _: next(drawn), coin=lambda _: is_far)
        return device._near_or_far(first, width, others, Fraction(1), by)

    window = set(range(first, first + width))
    assert {cell(0, near, is_far=False) for near in range(width)} == window
    assert {cell(far, 0, is_far=True) for far in range(others)} == set(range(8)) - window
