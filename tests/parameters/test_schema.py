"""The JSON Schema of every question: valid, complete, and as strict on kinds as the reader."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from importlib import import_module
from pkgutil import walk_packages

import pytest
from jsonschema import Draft202012Validator
from typer.main import get_command

import sourdine as sd
from sourdine.central import Describe, Statistic
from sourdine.central.sql import TABLES
from sourdine.central.table import BOUNDS as TABLE_BOUNDS
from sourdine.central.table import OF, STEPS
from sourdine.cli.app import app
from sourdine.errors import ParameterTypeError, SourdineError
from sourdine.parameters.kinds import (
    BINS,
    BOUNDS,
    BY,
    CATEGORIES,
    CONDITION,
    COUNT,
    DISTANCE,
    FLAG,
    FROM_0,
    GROUP_KEYS,
    KEYS,
    LOOKUP,
    NAMES,
    NUMBER,
    ORDERS,
    PER_PERSON,
    PROBABILITY,
    PROBABILITY_OR_NONE,
    READING,
    ROWS,
    STATEMENT,
    TEXT,
    VALUE,
)
from sourdine.parameters.question import parameters, read
from sourdine.questions import STATISTICS

SCHEMA = Draft202012Validator(sd.questions.schema())
GOOD = {
    "count": {"epsilon": 1},
    "sum": {"bounds": [0, 1], "epsilon": 1},
    "mean": {"bounds": [0, 1], "epsilon": 1},
    "variance": {"bounds": [0, 1], "epsilon": 1},
    "proportion": {"epsilon": 1},
    "histogram": {"bins": 4, "bounds": [0, 1], "epsilon": 1},
    "mode": {"categories": ["a", "b"], "epsilon": 1},
    "quantiles": {"q": [0.5], "bounds": [0, 1], "epsilon": 1},
    "quantile": {"q": 0.5, "bounds": [0, 1], "epsilon": 1},
    "median": {"bounds": [0, 1], "epsilon": 1},
    "table": {"of": {"x": ["mean"]}, "bounds": {"x": [0, 1]}, "epsilon": 1},
    "sql": {"statement": "SELECT AVG(x) FROM t", "bounds": {"x": [0, 1]}, "epsilon": 1},
    "cdf": {"bounds": [0, 1], "epsilon": 1},
    "std": {"bounds": [0, 1], "epsilon": 1},
    **{
        name: {"x": "a", "y": "b", "bounds": {"a": [0, 1], "b": [0, 1]}, "epsilon": 1}
        for name in ("covariance", "correlation", "regression")
    },
}
WRONG = [
    (FLAG, ["true", 1, [], None]),
    (NUMBER, ["much", "", [], {}, True, None]),
    (DISTANCE, ["much", "", [], {}, True, None, "1 month", "day 1"]),
    (PROBABILITY, ["often", "", [], {}, False]),
    (PROBABILITY_OR_NONE, ["often", "", [], {}, False]),
    (COUNT, ["three", 1.5, 0, -1, [], True]),
    (ROWS, ["three", 1.5, 0, -1, [], True, "found"]),
    (TEXT, [3, "", [], True]),
    (CONDITION, [3, "", [], True]),
    (STATEMENT, [3, "", [], True]),
    (LOOKUP, [3, [], {}, {"regions.csv": 3}, "regions.csv"]),
    (TABLES, [3, [], {}, {"regions": 3}, "regions.csv"]),
    (PER_PERSON, [3, "", [], True, "total", "last", "last by "]),
    (VALUE, [[], {}, None]),
    (BOUNDS, [3, "0", [1], [1, 2, 3], ["a", "b"], {}, "found", [1, None, 3]]),
    (FROM_0, [3, "0", [1], [1, 2, 3], ["a", "b"], {}, "find", [0, None]]),
    (ORDERS, ["x", {}, [], ["x"], True]),
    (BINS, ["x", 0, [1], {}, True, 1.5]),
    (KEYS, [[], 5, [[1]], [None], "a"]),
    (BY, [3, "", [], [3], True, ["a", "a"]]),
    (GROUP_KEYS, [[], 5, [None], "known", {}, [[]], {"a": "b"}]),
    (OF, [3, [], {}, {"x": []}, {"x": ["modus"]}, {"x": "mean"}]),
    (TABLE_BOUNDS, [3, [0, 1], {}, {"x": 3}, {"x": [1]}]),
    (NAMES, [3, "", [], [3], True, ["a", "a"]]),
    (STEPS, [3, [], {}, {"x": []}, {"x": "much"}]),
    (CATEGORIES, [[], 5, [[1]], "known"]),
    (READING, [3, "", [], {"x": 1}, {"quotes": 3}, {"header": "a"}]),
]


def wrong(parameter):
    """Return values of a wrong kind."""
    for kind, values in WRONG:
        if parameter.kind is kind:
            return values
    assert "enum" in parameter.kind.schema, parameter
    return ["magic", 3, [], True]


def concrete(cls):
    """Return the statistics that a person may ask for, however deep below a class."""
    own = [cls] if "kind" in vars(cls) and not inspect.isabstract(cls) else []
    return own + [found for below in cls.__subclasses__() for found in concrete(below)]


@pytest.mark.slow
def test_the_schema_is_valid():
    Draft202012Validator.check_schema(sd.questions.schema())
    json.dumps(sd.questions.schema())
    for cls in STATISTICS.values():
        Draft202012Validator.check_schema(cls.schema())


@pytest.mark.slow
def test_every_statistic_is_in_every_interface():
    for module in walk_packages(sd.__path__, "sourdine."):
        import_module(module.name)
    found = {cls.kind: cls for cls in concrete(Statistic) if cls.__module__.startswith("sourdine.")}
    assert found.pop("describe") is Describe  # many answers at once: nothing to plan, no question
    assert found == STATISTICS
    commands = get_command(app).commands
    for name in found:
        assert name in sd.__all__
        assert name in sd.plan.__all__
        for interface in (sd, sd.Session, sd.plan, sd.plan.Planner):
            assert callable(getattr(interface, name))
        assert name in commands
        assert name in commands["plan"].commands
        assert name in sd.questions.schema()["$defs"]


def test_every_parameter_is_an_option_and_a_property():
    commands = get_command(app).commands
    for name, cls in STATISTICS.items():
        listed = {p.name for p in parameters(cls)}
        options = listed - {"read"}
        for command in (commands[name], commands["plan"].commands[name]):
            assert options <= {option.name for option in command.params}
        declared = {f.name for f in fields(sd.Reading)}
        assert declared <= {option.name for option in commands[name].params}
        assert set(cls.schema()["properties"]) == listed | {"statistic"}
        for p in parameters(cls):
            assert p.help.endswith(".")
            assert cls.schema()["properties"][p.name]["description"] == p.help


@pytest.mark.slow_cases(len(STATISTICS))
def test_a_good_question_is_valid_and_read_back(questions):
    for question in questions:
        asked = getattr(sd.plan, question.name)(**question.typed).question
        facts = asked.to_dict()
        SCHEMA.validate(facts)
        again = sd.questions.read(json.dumps(facts))
        assert again == asked, str(question)
        assert again.to_dict() == facts
        assert asked.estimator == type(asked).from_dict(facts)


SHELL_ONLY = ("n", "rows", "bounds", "keys", "strata_keys", "categories", "bins", "q", "population",
              "steps")  # fmt: skip
"""Of these a text is for the shell: JSON has lists and whole numbers."""


@pytest.mark.quick_cases(4, slow=len(STATISTICS))
def test_what_json_holds_of_the_table_is_valid_as_it_is_typed(questions):
    for held in (question.json for question in questions if question.json is not None):
        if not any(isinstance(held.get(name), str) for name in SHELL_ONLY):
            SCHEMA.validate(held)


@pytest.mark.quick_cases(1, slow=len(STATISTICS))
def test_a_mistake_of_kind_is_not_valid(mistakes):
    for mistake in (mistake for mistake in mistakes if mistake.json is not None):
        with pytest.raises(SourdineError) as caught:
            sd.questions.read(mistake.json)
        if isinstance(caught.value, ParameterTypeError):
            assert not SCHEMA.is_valid(mistake.json), str(mistake)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", STATISTICS)
def test_wrong_kinds_and_unknown_parameters_are_not_valid(name):
    good = {"statistic": name, **GOOD[name]}
    SCHEMA.validate(good)
    for p in parameters(STATISTICS[name]):
        for value in wrong(p):
            assert not SCHEMA.is_valid({**good, p.name: value}), (p.name, value)
    for bad in (
        {**good, "statistic": "modus"},
        {**good, "epsilom": 1},
        {**good, "error": 1},
        {k: v for k, v in good.items() if k != "statistic"},
        {k: v for k, v in good.items() if k != "epsilon"},
    ):
        assert not SCHEMA.is_valid(bad), bad
    for required in STATISTICS[name].required:
        assert not SCHEMA.is_valid({k: v for k, v in good.items() if k != required})


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("{", "the question must be a JSON object, got"),
        ("[]", "the question must be a JSON object"),
        ("3", "the question must be a JSON object"),
        (3, "the question must be a JSON object"),
        ({}, "statistic must be one of count, sum"),
        ({"statistic": "modus"}, "statistic must be one of count, sum"),
        ({"statistic": ["mean"]}, "statistic must be one of count, sum"),
    ],
)
def test_what_is_no_question_is_refused(asked, text):
    with pytest.raises(SourdineError, match=text):
        sd.questions.read(asked)


def test_equal_values_of_other_types_are_other_questions():
    """1 and True are equal to Python, and two categories; a list in a list is read afresh."""
    whole, flags = ({"categories": c, "epsilon": 1} for c in ([1, 0], [True, False]))
    assert [type(c) for c in read(sd.central.Histogram, whole).categories] == [int, int]
    assert [type(c) for c in read(sd.central.Histogram, flags).categories] == [bool, bool]
    assert read(sd.central.Histogram, whole) is read(sd.central.Histogram, dict(whole))
    groups = {"by": ["a", "b"], "keys": [["x", 1], ["y", True]], "epsilon": 1}
    assert read(sd.central.Count, groups) == read(sd.central.Count, groups)


def test_the_json_of_a_question_is_its_reader_s_own():
    question = read(sd.central.Mean, {"bounds": (0, 100), "epsilon": 1})
    question.to_dict()["bounds"].append(3)
    assert question.to_dict() == {"statistic": "mean", "bounds": [0, 100], "epsilon": 1}
