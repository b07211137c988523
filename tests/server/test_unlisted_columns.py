"""Columns that the owner did not list cannot be asked, however a question spells them."""

from __future__ import annotations

import json

import pytest

from serving import called, data_file
from sourdine.errors import SourdineError
from sourdine.frames.formulas.engine import Derived
from sourdine.frames.frame import Frame
from sourdine.parameters.question import parameters
from sourdine.questions import QUESTIONS
from sourdine.server import releases
from sourdine.server.datasets import Registering, registered
from sourdine.server.state import ServerSettings, ServerState
from sourdine.server.store.base import Person
from sourdine.server.store.store import ServerStore

ROWS = {
    "x": [i % 10 for i in range(60)],
    "g": ["ab"[i % 2] for i in range(60)],
    "who": list(range(60)),
    "z": [i % 7 for i in range(60)],
    "secret": [7 + i % 3 for i in range(60)],
}
COLUMNS = {"x": {"bounds": [0, 10], "step": 1}, "z": {"bounds": [0, 7]}, "g": {"keys": ["a", "b"]}}
HIDDEN = ("secret", "who")
"""Not listed; the last one names a person, and is read for that alone."""
ASKED = {
    "count": {},
    "sum": {"column": "x"},
    "mean": {"column": "x"},
    "variance": {"column": "x"},
    "std": {"column": "x"},
    **{name: {"x": "x", "y": "z"} for name in ("covariance", "correlation", "regression")},
    "proportion": {"column": "g", "category": "a"},
    "histogram": {"column": "g"},
    "quantiles": {"column": "x", "q": [0.5]},
    "quantile": {"column": "x", "q": 0.5},
    "median": {"column": "x"},
    "cdf": {"column": "x"},
    "mode": {"column": "g"},
    "table": {"of": {"x": ["mean"]}},
    "describe": {"columns": ["x"]},
    "sql": {"statement": "SELECT AVG(x), COUNT(*) FROM people"},
}
"""A question of each statistic that may be asked here."""


def spellings(name):
    """Return values that name a column, as any parameter may take them."""
    return [
        name,
        f" {name}",
        name.upper(),
        f"x,{name}",
        f"{name},x",
        f"{name}:number",
        f"x:number,{name}:number",
        [name],
        ["x", name],
        ["g", name],
        [[name]],
        {name: 1},
        {name: "number"},
        {name: ["count"]},
        {name: ["mean"]},
        {name: [0, 10]},
        {name: "find"},
        {name: [7, 8]},
        {"x": ["mean"], name: ["count"]},
        {"g": ["a", "b"], name: [7, 8]},
        f"{name} > 0",
        f"x + {name}",
        f'"{name}" is null',
        f"case when {name} > 7 then x end",
        f"x > 3 and coalesce({name}, 0) = 7",
        [f"x + {name}", "g"],
        {f"x * {name}": ["mean"]},
        f"SELECT AVG(x) FROM people WHERE {name} > 0",  # noqa: S608
        f"SELECT {name}, COUNT(*) FROM people WHERE {name} IN (7, 8) GROUP BY {name}",  # noqa: S608
    ]


@pytest.fixture
def ask(tmp_path):
    """Return what asks a server's operation in this process, and the columns that were found."""
    address = f"sqlite:///{tmp_path}/store.db"
    store = ServerStore.create(address)
    path = data_file(tmp_path, ROWS)
    said = Registering(
        name="people", source=str(path), epsilon=10**6, delta=0.1, columns=COLUMNS,
        unit="who", n=60,
    )  # fmt: skip
    store.datasets.add(registered(said))
    store.people.add(Person(name="anna", role="analyst"))
    store.grants.give("people", "anna", 10**6)
    store.close()
    state = ServerState(ServerSettings(store=address, tick=0))
    yield lambda operation, body: called(state, "anna", operation, body)
    state.close()


@pytest.mark.slow
def test_every_statistic_is_asked_here(ask):
    assert set(ASKED) == set(QUESTIONS)
    for name, said in ASKED.items():
        found = ask(releases.release, {"statistic": name, "epsilon": 1, **said})
        assert found["state"] == "answered", name


@pytest.mark.grid(quick=0, slow=1)
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("statistic", ASKED)
def test_columns_that_are_not_listed_are_never_read(ask, statistic, part, monkeypatch):
    """Every parameter of every statistic, a third of the spellings: no hidden column is found."""
    found, resolve = [], Frame.resolve

    def noted(self, column):
        name = resolve(self, column)
        found.append(name)
        return name

    computed = Derived.computed

    def seen(self):
        found.extend(name for tree in self.formulas.nodes for name in tree.columns)
        return computed(self)

    monkeypatch.setattr(Frame, "resolve", noted)
    monkeypatch.setattr(Derived, "computed", seen)
    own, refused = {"statistic": statistic, "epsilon": 1, **ASKED[statistic]}, 0
    names = {p.name for p in parameters(QUESTIONS[statistic])} | {"columns", "column", "by", "unit"}
    for place, parameter in enumerate(sorted(names)):
        for hidden in HIDDEN:
            for value in spellings(hidden)[(place + part) % 3 :: 3]:
                body = {**own, parameter: value}
                for operation, sent in (
                    (releases.release, {"questions": [own, body]}),
                    (releases.plan, body),
                ):
                    try:
                        answer = ask(operation, sent)
                    except SourdineError:
                        refused += 1
                        continue
                    if operation is releases.release:
                        told = json.dumps([one["value"] for one in answer["answers"]])
                        assert not any(f'"{one}"' in told for one in HIDDEN), (parameter, value)
    assert refused > 66
    assert "secret" not in found


def test_filters_and_formulas_of_listed_columns_are_answered(ask):
    for said in ({"where": "x > 3 and g = 'a'"}, {"column": "x * 2 + 1", "bounds": [0, 30]}):
        asked = {"statistic": "mean", "column": "x", "epsilon": 1, **said}
        assert ask(releases.release, asked)["state"] == "answered"
    for said in ({"where": "secret = 7"}, {"column": "x + secret"}, {"lookup": {"a.csv": "x"}}):
        asked = {"statistic": "mean", "column": "x", "epsilon": 1, **said}
        for operation in (releases.release, releases.can_release, releases.plan):
            with pytest.raises(SourdineError):
                ask(operation, asked)


def test_the_column_that_names_a_person_is_not_asked_about(ask):
    for body in (
        {"statistic": "count", "column": "who"},
        {"statistic": "describe", "columns": ["who"]},
        {"statistic": "describe", "columns": {"who": 1}},
        {"statistic": "table", "of": {"who": ["count"]}},
        {"statistic": "count", "by": "who", "keys": [1, 2]},
        {"statistic": "mean", "column": "x", "weights": "who", "weight_bounds": [0, 9]},
        {
            "statistic": "mean",
            "column": "x",
            "weights": "x",
            "weight_bounds": [0, 9],
            "strata": "who",
            "strata_keys": [1, 2],
        },
        {"statistic": "mean", "column": "x", "per_person": "last by who"},
    ):
        for operation in (releases.release, releases.can_release):
            with pytest.raises(SourdineError, match="must be one of the columns: "):
                ask(operation, {**body, "epsilon": 1})


def test_bounds_of_a_column_are_not_those_of_a_sum_of_it(ask):
    """The owner says how large a row is; of a person's total, whoever asks says it."""
    total = {"statistic": "sum", "column": "x", "epsilon": 10**5, "per_person": "sum"}
    with pytest.raises(SourdineError, match="bounds"):
        ask(releases.release, total)
    found = ask(releases.release, {**total, "bounds": [0, 100], "step": 1})
    assert abs(found["answers"][0]["value"] - sum(ROWS["x"])) <= 1
    largest = ask(releases.release, {**total, "per_person": "max"})
    assert abs(largest["answers"][0]["value"] - sum(ROWS["x"])) <= 1
    with pytest.raises(SourdineError, match="be omitted, as the owner of the data has set it"):
        ask(releases.release, {**total, "per_person": "max", "bounds": [0, 100]})


def test_the_number_of_rows_is_not_that_of_people(ask):
    planned = {"statistic": "mean", "column": "x", "epsilon": 1}
    assert ask(releases.plan, planned)["error"] > 0
    reached = {"statistic": "mean", "column": "x", "error": 5}
    assert ask(releases.plan, reached)["target"] == 5
    for more in ({"per_person": "max"}, {"weights": "x", "weight_bounds": [0, 9]}):
        assert ask(releases.plan, {**planned, **more})["error"] is None
        assert ask(releases.plan, {**planned, **more, "n": 30})["error"] > 0
        with pytest.raises(SourdineError, match="n must be given"):
            ask(releases.plan, {**reached, **more})
