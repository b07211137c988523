"""The form of the desk: every option that it offers is accepted, and its help is its own."""

from __future__ import annotations

import json

import pytest

from sourdine.server.datasets import Registering, read_columns, registered
from sourdine.server.pages.fields import fields_under, kinds
from sourdine.server.releases import asked_of
from sourdine.server.store.store import ServerStore
from sourdine.session import Session

COLUMNS = {
    "age": {"bounds": [0, 120], "step": 1},
    "sex": {"keys": ["f", "m"]},
    "hours": {"bounds": [0, 80]},
}
TWO = ("covariance", "correlation", "regression")
TYPED = {
    "proportion": {"column": "sex", "category": "f"},
    "mode": {"column": "sex"},
    "quantiles": {"q": "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9"},
    "quantile": {"q": "0.5"},
    "histogram": {"bins": "20"},
    "sql": {"statement": "SELECT sex, AVG(age), COUNT(*) FROM people GROUP BY sex"},
}
"""What a person types beside the column."""


@pytest.fixture(params=["add_remove", "substitute"])
def relation(request):
    return request.param


@pytest.fixture(params=[None, "who"], ids=["records", "people"])
def unit(request):
    return request.param


@pytest.fixture(params=[None, "1e-3"], ids=["pure", "with delta"])
def dataset(request, relation, unit, tmp_path):
    """Return a data set under each kind of terms, and a session on it."""
    path = tmp_path / "people.csv"
    rows = [f"{20 + i % 60},{'fm'[i % 2]},{i},{i % 80}" for i in range(600)]
    path.write_text("\n".join(["age,sex,who,hours", *rows]) + "\n")
    store = ServerStore.create(f"sqlite:///{tmp_path}/store.db")
    terms = {"epsilon": 3, "delta": request.param, "relation": relation, "unit": unit, "n": 600}
    said = Registering(name="people", source=str(path), columns=read_columns(COLUMNS), **terms)
    found = store.datasets.add(registered(said))
    yield found, Session(str(path), ledger=store.datasets.ledger("people"))
    store.close()


def offered(terms):
    """Yield every statistic with each value that its form lets a person choose."""
    for field in fields_under(terms):
        values = (True,) if field.flag else field.choices
        for kind in field.statistics:
            yield from ((kind, field.name, value) for value in values)


@pytest.mark.grid(quick=0)
def test_every_option_that_a_form_offers_is_accepted(dataset):
    found, session = dataset
    tried = list(offered(found.terms))
    assert {kind for kind, *_ in tried} == {kind.name for kind in kinds()}
    for kind, name, value in tried:
        of = {"x": "age", "y": "hours"} if kind in TWO else {"column": "age"}
        of = {} if kind == "sql" else of
        asked = {"statistic": kind, **of, "epsilon": 0.1, **TYPED.get(kind, {})}
        more = {"by": "sex"} if name == "other" and kind != "sql" else {}
        small = {"delta": 1e-7} if value == "gaussian" else {}
        plan = asked_of(session.plan, {**asked, **more, **small, name: value}, found)
        assert plan.question.kind == kind, (kind, name, value)


@pytest.mark.quick_cases(2)
def test_choices_that_can_be_accepted_are_offered(dataset):
    found, _ = dataset
    tried = list(offered(found.terms))
    delta = found.terms.reserve > 0
    assert (("mean", "method", "gaussian") in tried) == delta
    assert {("mean", "method", "laplace"), ("quantiles", "method", "joint")} <= set(tried)
    assert ("histogram", "missing", "count") in tried
    replaced = found.terms.total.relation.value == "substitute" and found.terms.unit is None
    assert (("mean", "missing", "middle") in tried) == replaced
    assert any(field.name == "delta" for field in fields_under(found.terms)) == delta


@pytest.mark.quick_cases(2)
def test_help_is_that_of_the_statistic(dataset):
    from sourdine import questions

    found, _ = dataset
    declared = questions.schema()["$defs"]
    words = {
        choice
        for facts in declared.values()
        for one in facts["properties"].values()
        for choice in one.get("enum", ())
        if choice not in ("no", "auto", "count", "histogram", "middle")  # plain words, too
    }
    for field in fields_under(found.terms):
        for kind in field.statistics:
            own = declared[kind]["properties"]
            assert field.text == own[field.name]["description"]
            known = json.dumps([one.get("enum", ()) for one in own.values()])
            foreign = [w for w in words if f"{w}:" in field.text or f"method {w}" in field.text]
            assert all(f'"{word}"' in known for word in foreign), (kind, field.name, field.text)
