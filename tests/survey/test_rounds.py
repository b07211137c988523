"""A survey of several rounds on the device: memories, reports from them, and lies."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction

import pytest
import quickjs

import survey_device as device_rounds
from sourdine.errors import ParameterError
from sourdine.local import Aggregator, Choice, Flag, Schema
from sourdine.local.rounds.respondent import Respondent
from sourdine.survey import Survey, page
from sourdine.survey.form import FLAGS, form_for_device
from sourdine.survey.page import languages, script_of, sure, words
from sourdine.survey.precision import precision

ROUNDS = 4
COLUMNS = {
    "flag": Flag(),
    "flag, none": Flag(missing=True),
    "few": Choice("a", "b", "c", method="response"),
    "hashed": Choice(*"abcde", method="hashing"),
    "hashed, none": Choice(*"abcdefghijkl", missing="none"),
}
MUTANTS = {
    "a permanent response is drawn anew": ("by.coin(told) ? stays", "by.coin(told) ? x"),
    "it is always told": ("by.coin(told) ? stays : anyone", "stays"),
    "it is told as often as it is true": ("[others, all], [-others, one + all]], [[1, 0], [others",
                                          "[others, one], [-others, one + all]], [[1, 0], [others"),
    "the hash is not sent": ("return memory.hash * g +", "return 0 * g +"),
    "another column each round": ("name === memory.asked", "name !== memory.asked"),
    "rounds are answered again": ("form.rounds) <= memory.answered", "form.rounds) < 0"),
    "a total of one answer": ("BigInt(g) * p * m > n * q", "p * m > n * q"),
    "one round as dear as all": ("|| r * q >= p * s", ""),
    "any number of values": ("count(categories(k), g, g)", "g"),
}  # fmt: skip


def schemas():
    for epsilon in (Fraction(1, 3), 4):
        for name, column in COLUMNS.items():
            yield Schema.of({name: column}, epsilon=epsilon, rounds=ROUNDS)
    yield Schema.of(COLUMNS, epsilon=8, rounds=ROUNDS)
    yield Schema.of(COLUMNS, epsilon=2, once=Fraction(1, 9), rounds=ROUNDS, method="sample")


def answers(schema, rng):
    given = {}
    for name, column in schema.columns.items():
        listed = FLAGS if column.kind == "flag" else column.categories
        given[name] = rng.choice([*listed, None] if column.missing else listed)
    return given


class Recorded:
    """Bytes of a generator that repeats itself, and all that it gave."""

    private = False

    def __init__(self, rng):
        self.rng, self.given = rng, b""

    def bytes(self, count):
        now = self.rng.randbytes(count)
        self.given += now
        return now


def plays(count, seed=1):
    """Return forms of all rounds, and for so many people answers, bytes and what is drawn."""
    rng, every, jobs = random.Random(seed), list(schemas()), []  # noqa: S311
    forms = [[form_for_device(s.round(t + 1)) for t in range(ROUNDS)] for s in every]
    for number in range(count):
        place = number % len(every)
        source, said = Recorded(rng), [answers(every[place], rng) for _ in range(ROUNDS)]
        memory, lines = device_rounds.remember(forms[place][0], source=source), []
        for form, given in zip(forms[place], said, strict=True):
            line, memory = device_rounds.again(form, memory, given, source=source)
            lines.append(line)
        jobs.append((place, said, source.given, [lines, memory, len(source.given)]))
    return forms, jobs


def lies():
    """Return forms that cost more than they say, or are no forms."""
    form = form_for_device(Schema(few=COLUMNS["few"], epsilon=3, rounds=ROUNDS).round(1))
    column = form["columns"][0]
    for change in (
        {"permanent": "2"}, {"once": "1"}, {"once": "2"}, {"values": 2}, {"k": 4},
        {"digits": 1, "values": 2}, {"epsilon": "4"}, {"permanent": "0"},
    ):  # fmt: skip
        yield {**form, "columns": [{**column, **change}]}


@pytest.fixture
def rounds(survey_cases):
    return survey_cases.DEVICE.with_name("rounds.mjs")


def given_to(node, modules, forms, jobs):
    played = [(place, said, took.hex()) for place, said, took, _ in jobs]
    given = {"modules": modules, "forms": forms, "jobs": played, "lies": list(lies())}
    return node("rounds.mjs", given)


@pytest.mark.slow
def test_rounds_are_the_same_in_three_engines(node, rounds):
    forms, jobs = plays(600)
    [found] = given_to(node, [str(rounds)], forms, jobs)
    mine = [drawn for *_, drawn in jobs]
    assert found["played"] == mine
    assert all(said.startswith("RangeError") for said in found["lies"])
    engine = quickjs.Context()
    play = """
    function play(text) {
      const { forms, jobs } = JSON.parse(text);
      return JSON.stringify(jobs.map(([place, answers, hex]) => {
        let at = 0;
        const byte = () => parseInt(hex.slice(2 * at, 2 * ++at), 16);
        const by = new Draw({ bytes: (count) => Uint8Array.from({ length: count }, byte) });
        let memory = remember(forms[place][0], by), line;
        const lines = answers.map((answer, i) => {
          [line, memory] = again(forms[place][i], memory, answer, by);
          return line;
        });
        return [lines, memory, at];
      }));
    }
    """
    engine.eval(script_of("device.mjs") + script_of("rounds.mjs") + play)
    some = [(place, said, took.hex()) for place, said, took, _ in jobs[:120]]
    assert json.loads(engine.get("play")(json.dumps({"forms": forms, "jobs": some}))) == mine[:120]


@pytest.mark.slow
def test_every_mutant_of_the_rounds_is_found(node, rounds, tmp_path):
    forms, jobs = plays(60, seed=2)
    source, modules = rounds.read_text(), [str(rounds)]
    for number, (name, (right, wrong)) in enumerate(MUTANTS.items()):
        assert source.count(right) == 1, name
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "rounds.mjs").write_text(source.replace(right, wrong))
        (folder / "device.mjs").write_text(rounds.with_name("device.mjs").read_text())
        modules.append(str(folder / "rounds.mjs"))
    # the last job answers its second round twice
    forms.append([forms[0][0], forms[0][1], forms[0][1], forms[0][2]])
    jobs.append((len(forms) - 1, jobs[0][1], jobs[0][2], None))
    true, *others = given_to(node, modules, forms, jobs)
    assert true["played"][:-1] == [drawn for *_, drawn in jobs[:-1]]
    assert "was answered before" in true["played"][-1]
    assert [name for name, found in zip(MUTANTS, others, strict=True) if found == true] == []


@pytest.mark.slow
def test_a_memory_is_that_of_a_respondent():
    """What a page keeps, Python goes on with; and an aggregator takes the records of each round."""
    _, jobs = plays(48, seed=3)
    for place, schema in enumerate(schemas()):
        mine = [drawn for where, _, _, drawn in jobs if where == place]
        for turn in range(ROUNDS):
            lines = [lines[turn] for lines, *_ in mine]
            assert Aggregator(schema.round(turn + 1)).add(lines).accepted == len(lines) > 0
        for _, memory, _ in mine:
            again = Respondent(schema, json.dumps(memory | {"answered": 2}))
            assert again.answered == 2
            line = again.answer(answers(schema, random.Random(1)))  # noqa: S311
            assert Aggregator(schema.round(3)).add([line]).accepted == 1


def several(survey_cases, **changes):
    facts = survey_cases.facts(**{"epsilon": 2, "rounds": 52, **changes})
    facts["questions"] = {name: facts["questions"][name] for name in ("way", "late")}
    facts.pop("order", None)
    return Survey.from_facts(facts)


def test_a_survey_has_rounds(survey_cases):
    survey = several(survey_cases)
    third = survey.round(3)
    assert Survey.from_facts(third.facts()) == third
    assert len({survey.fingerprint, third.fingerprint, survey.round(2).fingerprint}) == 3
    with pytest.raises(ParameterError, match="round must be from 1 to 52"):
        page(survey)
    assert len(page(third)) < 40_000
    assert b"METHODS.memoised" in page(third)
    assert b"METHODS.memoised" not in page(Survey.from_facts(survey_cases.facts()))
    plan = precision(third.schema, 1000)
    assert [line.name for line in plan.lines] == [q.name for q in third.questions]
    with pytest.raises(ParameterError, match="be a Choice or a Flag"):
        Survey.from_facts(survey_cases.facts(rounds=52))


@pytest.mark.slow
def test_words_of_rounds_claim_no_more_than_the_mathematics(survey_cases):
    """Each percentage is that of a loss that rounds do not pass, rounded up."""
    for epsilon in (Fraction(1, 10), 1, 4, 8):
        schema = several(survey_cases, epsilon=str(epsilon) if epsilon < 1 else epsilon).schema
        costs = schema.costs()
        parts = form_for_device(schema.round(1))["columns"]
        lasting = sum(Fraction(part["permanent"]) for part in parts)
        assert sum(Fraction(part["once"]) for part in parts) == costs.one.exact_epsilon()
        assert costs.stays.exact_epsilon() <= lasting
        assert costs.alike.exact_epsilon() <= schema.epsilon == epsilon
        assert float(sure(lasting)) <= float(sure(schema.epsilon))
    for tag in languages():
        said = words(tag)["round_promise"]
        assert all(re.search(rf"\{{{name}\}} ?%", said) for name in ("once", "stays", "percent"))
