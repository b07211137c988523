"""One question, five interfaces: they understand the same, and refuse the same for the same reason.

The table of questions is in ``conftest.py``: from what each statistic declares, times good and bad
values of each kind, and combinations.
"""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import typer

import sourdine as sd
from sourdine.errors import SourdineError
from sourdine.parameters.question import parameters
from sourdine.questions import STATISTICS

DATA = {"age": [20, 30], "sex": ["f", "m"]}


def test_the_table_is_large_and_complete(tables):
    questions, mistakes = tables
    assert len(questions) >= 200
    assert len(mistakes) >= 300
    for table in tables:
        assert {asked.name for asked in table} == set(STATISTICS)
        for name, cls in STATISTICS.items():
            asked = {k for one in table if one.name == name for k in one.typed}
            assert asked >= {p.name for p in parameters(cls)}, name


@pytest.mark.quick_cases(1, slow=len(STATISTICS))
def test_a_good_question_is_the_same_in_every_interface(questions, interfaces):
    for question in questions:
        said = {
            interface.name: interface(question)
            for interface in interfaces
            if interface.takes(question)
        }
        first = said["function"]
        assert isinstance(first, dict), (str(question), first)
        assert {name: x for name, x in said.items() if x != first} == {}, str(question)


@pytest.mark.quick_cases(2, slow=len(STATISTICS))
def test_a_bad_question_is_refused_alike_by_every_interface(mistakes, interfaces, wording):
    for mistake in mistakes:
        words = wording[mistake.name]
        said = {}
        for interface in (interface for interface in interfaces if interface.takes(mistake)):
            if "command" in interface.name and not mistake.options <= words.names:
                with pytest.raises(typer.BadParameter.__base__, match="No such option"):
                    interface(mistake)
            else:
                said[interface.name] = interface(mistake)
        first = said["function"]
        for name, error in said.items():
            assert _parts(error) == _parts(first), (str(mistake), name, str(error), str(first))
            if "command" in name:
                _require_shell(error, first, words, mistake)
        assert "--" not in first.said().replace("'--'", ""), first


def _parts(error):
    assert isinstance(error, SourdineError), error
    return type(error), error.name, error.must, error.got, error.hint, error.tries


def _require_shell(error, in_python, words, mistake):
    """The sentence is that of Python in the words of the shell, and in no others."""
    shell = error.said()
    assert shell == in_python.said(words), shell
    python = "|".join(p.name for p in parameters(STATISTICS[mistake.name]))
    assert not re.search(rf"\b({python})=", shell), shell


@pytest.mark.parametrize("name", ["relation", "unit", "rows", "source"])
def test_a_session_refuses_what_it_was_opened_with(name):
    """The one difference between a function and a session's method."""
    session = sd.Session(DATA, epsilon=10)
    for statistic in STATISTICS:
        with pytest.raises(sd.ParameterError, match=f"{name} must be omitted: (the|a) session"):
            getattr(session, statistic)(**{name: "x"})


@pytest.mark.parametrize("name", ["column", "by", "unit"])
def test_a_column_that_is_not_there_is_refused_alike(name, shell):
    more = {"keys": ["f"]} if name == "by" else {}
    typed = {name: "nope", "epsilon": 1, **more}
    shared = {"unit": typed.pop("unit")} if name == "unit" else {}
    with pytest.raises(sd.ParameterError) as first:
        sd.count(DATA, **typed, **shared)
    with pytest.raises(sd.ParameterError) as second:
        sd.Session(DATA, epsilon=1, **shared).count(**typed)
    with pytest.raises(sd.ParameterError) as third:
        shell(
            "count",
            [
                f"--{name.replace('_', '-')}",
                "nope",
                "--epsilon",
                "1",
                *(["--keys", "f"] if more else []),
            ],
        )
    parts = {(e.value.name, e.value.must, e.value.got) for e in (first, second, third)}
    assert parts == {(name, "be one of the columns", "'nope'")}
    assert "'age', 'sex'" in str(first.value)


def test_a_question_is_asked_as_an_answer_holds_it():
    asked = {"epsilon": 1, "column": "age", "bounds": (0, 120)}
    for more in ({}, {"by": "sex", "keys": ["f", "m"]}, {"bounds": "find"}):
        first = sd.mean(DATA, **{**asked, **more})
        question = first.to_dict()["question"]
        for said in (question, json.dumps(question), sd.questions.read(question)):
            assert sd.ask(DATA, said).mechanism == first.mechanism
    for wrong in (None, 7, sd.plan.count(epsilon=1), "count"):
        with pytest.raises(sd.SourdineError, match="the question must be"):
            sd.ask(DATA, wrong)


def test_a_parameter_is_said_once():
    with pytest.raises(TypeError, match=r"quantiles\(\) got multiple values for argument 'q'"):
        sd.quantiles(DATA, [0.5], q=[0.9], column="age", bounds=(0, 120), epsilon=1)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_parameter_called_self_is_one_that_is_not_known(statistic):
    with pytest.raises(sd.ParameterTypeError, match="got an unexpected keyword argument 'self'"):
        getattr(sd.Session(DATA, epsilon=1), statistic)(self=1, epsilon=1)


@pytest.mark.parametrize("array", [np.array(1.5), np.array([]), np.array([1.0, 2.0, 3.0])])
@pytest.mark.parametrize("name", ["relation", "rows", "n", "keys", "bounds", "error"])
def test_an_array_is_refused_as_its_numbers_are(name, array):
    asked = {"column": "age", "bounds": (0, 120), "epsilon": 1, name: array}
    with pytest.raises(sd.SourdineError) as first:
        sd.mean(DATA, **asked)
    with pytest.raises(sd.SourdineError) as second:
        sd.mean(DATA, **{**asked, name: array.tolist()})
    assert str(first.value) == str(second.value)
