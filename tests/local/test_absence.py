"""Absent answers: declared, reported privately and estimated; or refused before data is read."""

from __future__ import annotations

import tomllib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sourdine.errors import ParameterError
from sourdine.local import Aggregator, Choice, Choices, Flag, Number, Schema
from sourdine.local.estimators.frequencies import frequencies
from sourdine.local.rounds.respondent import Panel
from sourdine.local.table.answered import shares_of_answers
from sourdine.local.table.columns import oracle
from sourdine.local.table.schema_files import skeleton
from sourdine.noise import SeededSource
from sourdine.results.release import Release

WAYS = ("foot", "bike", "bus", "car")
SILENT = {
    "choice": (Choice(*WAYS), Choice(*WAYS, missing=True)),
    "flag": (Flag(), Flag(missing=True)),
    "number": (Number(0, 9, 1), Number(0, 9, 1, missing=True)),
}
"""Columns that do not allow for absent answers, and the same that do."""
ANSWER = {"choice": "bus", "flag": True, "number": 3}
N = 20_000


def test_those_without_an_answer_do_not_walk():
    """8000 take the bus and 12,000 do not say: at most 1% walk, of all and of those who answered.

    The deviation of the share of walkers is 0.06%, so a miss has probability below 1e-9.
    """
    schema = Schema(way=Choice(*WAYS, missing=True), epsilon=4)
    people = {"way": ["bus"] * 8000 + [None] * 12_000}
    total = Aggregator(schema)
    for block in schema.reports(people, source=SeededSource(1)):
        total.add(block)
    for found in (
        schema.estimate(schema.sanitize(people, source=SeededSource(1))),
        total.estimate(),
    ):
        of_all, of_answered = found.shares("way"), found.shares("way", of="answered")
        assert of_all.value[0] < 0.01
        assert of_answered.value[0] < 0.01
        for release, truth in (
            (of_all, [0, 0, 0.4, 0, 0.6]),
            (of_answered, [0, 0, 1, 0]),
            (found.answered("way"), [0.4, 0.6]),
        ):
            low, high = release.interval(1 - 1e-9)
            assert (low <= np.array(truth) + 1e-12).all()
            assert (high >= np.array(truth) - 1e-12).all()
            assert (high - low < 0.06).all()
        printed = str(found)
        assert "shares of answers" in printed
        assert "no answer" in printed


@pytest.mark.parametrize("kind", SILENT)
def test_an_undeclared_absence_is_refused(kind, tmp_path):
    """On a device for what is answered; for tables whatever stands in them."""
    bare, declared = SILENT[kind]
    schema = Schema(way=bare, epsilon=1)
    assert [len(one) for one in schema.reports({"way": ANSWER[kind]})] == [1]
    for absent in (None, "", "neither"):
        with pytest.raises(ParameterError, match="the answer to 'way' must be"):
            list(schema.reports({"way": absent}))
    (tmp_path / "raw.csv").write_text("way\n3\n")
    for table in ({"way": [ANSWER[kind]]}, {"way": []}, {"way": [None]}):
        for ask in (schema.sanitize, lambda t: list(schema.reports(t))):
            with pytest.raises(ParameterError, match=r"missing must be declared .* for 'way'"):
                ask(table)
    with pytest.raises(ParameterError, match="missing must be declared"):
        schema.sanitize(tmp_path / "raw.csv", to=tmp_path / "clean.csv")
    for allowed in (Schema(way=declared, epsilon=1), Schema(way=bare, epsilon=1, missing="random")):
        assert allowed.undeclared == ()
        assert len(allowed.sanitize({"way": [ANSWER[kind], None]})["way"]) == 2
        assert [len(one) for one in allowed.reports({"way": None})] == [1]


@pytest.mark.parametrize("kind", ["choice", "flag"])
def test_an_undeclared_absence_is_refused_in_every_round(kind):
    bare, declared = SILENT[kind]
    schema = Schema(way=bare, epsilon=1, rounds=3)
    me = schema.respondent()
    with pytest.raises(ParameterError, match="the answer to 'way' must be"):
        me.answer()
    assert me.answered == 0
    assert me.answer(way=ANSWER[kind])
    with pytest.raises(ParameterError, match="missing must be declared"):
        Panel(schema, 1).reports({"way": [ANSWER[kind]]})
    assert Schema(way=declared, epsilon=1, rounds=3).respondent().answer()


def test_random_answers_are_declared_and_said():
    schema = Schema(way=Choice(*WAYS), smokes=Flag(missing=True), epsilon=4, missing="random")
    found = schema.estimate(schema.sanitize({"way": [None] * 100, "smokes": [True] * 100}))
    assert "replaced by random ones" in str(found)
    assert str(found).split("declare missing=")[1].split()[-1] == "way"
    declared = Schema(smokes=Flag(missing=True), epsilon=4)
    assert "random" not in str(declared.estimate(declared.sanitize({"smokes": [None]})))
    for ask in (lambda: found.answered("way"), lambda: found.shares("way", of="answered")):
        with pytest.raises(ParameterError, match="which declares no missing answers"):
            ask()


def test_schemas_without_it_keep_their_name():
    """A schema that people answered under keeps its fingerprint; the new word is a part of it."""
    old = Schema(way=Choice("a", "b"), age=Number(0, 9, 1), smokes=Flag(), epsilon=2)
    assert old.fingerprint == "1009dcc03e1613728e4fde4dd43640b0204cc087daa29411a52f05e2d5c0ebec"
    assert "missing" not in old.facts()
    random = Schema(way=Choice("a", "b"), epsilon=2, missing="random")
    assert Schema.from_facts(random.facts()) == random
    assert random != Schema(way=Choice("a", "b"), epsilon=2)
    assert Choice("a", missing=True) == Choice("a", missing="no answer")


def test_bad_words_for_absence_are_refused():
    for bad in (True, "no answer", Flag(), "Random"):
        with pytest.raises(ParameterError, match="missing must be 'random' or omitted"):
            Schema(a=Flag(), epsilon=1, missing=bad)
    facts = {"epsilon": 1, "columns": {"a": {"kind": "choices", "choices": ["x", "y"]}}}
    facts["columns"]["a"]["missing"] = True
    assert Schema.from_facts(facts).columns["a"] == Choices("x", "y")
    facts["columns"]["a"]["missing"] = "none"
    with pytest.raises(ParameterError, match="missing of column 'a' must be true"):
        Schema.from_facts(facts)


@pytest.mark.parametrize("frame", [{"a": [1]}, "parquet"])
def test_a_skeleton_declares_it_for_every_column(frame, tmp_path):
    if frame == "parquet":
        frame = str(tmp_path / "raw.parquet")
        pq.write_table(pa.table({"n": [1], "x": [0.5], "t": ["a"], "b": [True]}), frame)
    columns = tomllib.loads(skeleton(frame))["columns"]
    assert columns
    assert all(column["missing"] is True for column in columns.values())


@pytest.mark.slow_cases(2)
@pytest.mark.parametrize(
    ("method", "epsilon", "n"),
    [
        ("response", 1, 400),
        ("response", 4, 3000),
        ("response", 8, 100),
        ("unary", 2, 2000),
        ("hadamard", 3, 900),
    ],
)
def test_shares_of_those_who_answered_are_covered(method, epsilon, n):
    """Of 100 surveys at 90% at most 35 miss: more have probability below 1e-9 if each is right."""
    randomiser = oracle(epsilon=epsilon, method=method, categories=5)
    people = np.repeat(np.arange(5), (np.array([0.05, 0.1, 0.45, 0.1, 0.3]) * n).astype(int))
    counts = np.bincount(people)
    truth, source = counts[:-1] / counts[:-1].sum(), SeededSource(5)
    missed, width = np.zeros(4), 0.0
    for _ in range(100):
        tally = randomiser.tally(randomiser.reports(people, source))
        found = shares_of_answers(frequencies(randomiser, tally, len(people)))
        low, high = found.interval(0.9)
        missed += (truth < low - 1e-12) | (truth > high + 1e-12)
        width += float((high - low).mean()) / 100
    assert (missed <= 35).all()
    assert width < 0.95


def test_shares_of_answers_are_read_back():
    schema = Schema(way=Choice(*WAYS, missing="none"), epsilon=2)
    found = schema.estimate(schema.sanitize({"way": ["bus", None, "car"] * 200}))
    one = found.shares("way", of="answered", consistent="norm-sub")
    again = Release.from_json(one.to_json())
    assert (again.value == one.value).all()
    assert (np.array(again.interval()) == np.array(one.interval())).all()
    assert list(one.columns().labels["category"]) == list(WAYS)
    nobody = schema.estimate({"way": []}).shares("way", of="answered")
    assert (np.array(nobody.interval()) == [[0] * 4, [1] * 4]).all()
    assert (nobody.value == 0.25).all()
