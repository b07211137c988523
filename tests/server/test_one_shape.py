"""An answer of the server has the shape that the command line prints for the same question."""

from __future__ import annotations

import json

import pytest

import sourdine as sd
from serving import Api, data_file, filled_store, served
from sourdine.cli.statistics import _facts
from sourdine.parameters import converters
from sourdine.results.tables import json_text
from sourdine.session import Terms
from sourdine.session.charges import read_budget
from typed_questions import BASE, DATA, GROUPS

ASKED = {
    **{kind: {n: v for n, v in said.items() if n != "n"} for kind, said in BASE.items()},
    "describe": {"epsilon": 500, "delta": 1e-6},
}
GROUPED = {kind: {**ASKED[kind], **GROUPS} for kind in ("mean", "quantiles", "table", "cdf")}
QUICK = ("count", "mean", "table", "cdf")
CASES = [
    pytest.param(kind, asked, id=kind, marks=[] if kind in QUICK else [pytest.mark.slow])
    for kind, asked in ASKED.items()
]
CASES += [
    pytest.param(kind, asked, id=f"{kind} by group", marks=[pytest.mark.slow])
    for kind, asked in GROUPED.items()
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shape")
    address = f"sqlite:///{folder}/store.db"
    total, _ = read_budget(1000, 1e-3, None, None, converters.relation("add_remove"))
    path = data_file(folder, DATA)
    store, tokens = filled_store(address, path, Terms(total=total))
    with served(address) as url:
        yield path, Api(url, tokens["anna"])
    store.close()


def shape(facts):
    """Return the names and the kinds of what is in JSON; of a list, those of its first element."""
    if isinstance(facts, dict):
        return {name: shape(value) for name, value in facts.items()}
    if isinstance(facts, list):
        return [shape(facts[0])] if facts else []
    return "number" if type(facts) in {int, float} else type(facts).__name__


@pytest.mark.parametrize(("kind", "asked"), CASES)
def test_an_answer_has_one_shape(place, kind, asked):
    path, anna = place
    found = anna.release({"statistic": kind, **asked})
    assert found.status_code == 200, found.text
    (answer,) = found.json()["answers"]
    printed = json.loads(json_text(_facts(getattr(sd, kind)(path, **asked), None)))
    assert shape(answer) == shape(printed)
    told = {"value", "cost", "mechanism", "caveats", "question"}
    assert told | (set() if kind == "mode" else {"interval"}) <= answer.keys()
    assert answer["question"] == printed["question"]
    assert answer["mechanism"] == printed["mechanism"]
