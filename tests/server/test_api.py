"""Each route: what it answers, and what it refuses."""

from __future__ import annotations

import asyncio
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from time import perf_counter
from types import SimpleNamespace

import httpx
import jsonschema
import pytest

from serving import (
    COLUMNS,
    COUNT,
    KEY,
    MEAN,
    Api,
    data_file,
    filled_store,
    problem,
    served,
)
from session_calls import AGES
from sourdine.answers import Release
from sourdine.client import Remote
from sourdine.privacy import Guarantee
from sourdine.questions import QUESTIONS
from sourdine.server.state import ServerSettings
from sourdine.server.store.base import Dataset
from sourdine.session import Terms

OF_KINDS = {
    "proportion": {"column": "sex", "category": "f"},
    "histogram": {"column": "age", "bins": 6},
    "quantiles": {"column": "age", "q": [0.25, 0.5, 0.75]},
    "quantile": {"column": "age", "q": 0.9},
    "mode": {"column": "sex"},
    "table": {"of": {"age": ["mean", "deciles"]}},
    "describe": {"columns": ["age", "sex"]},
    "sql": {"statement": "SELECT AVG(age), COUNT(*) FROM people"},
    **{kind: {"x": "age", "y": "who"} for kind in ("covariance", "correlation", "regression")},
}
"""What a question must say beside its column, for the statistics that need more."""

# ---- questions


@pytest.mark.slow
def test_a_release_is_a_true_one(anna):
    answer = anna.release(MEAN)
    assert answer.headers["idempotent-replayed"] == "false"
    facts = answer.json()
    (release,) = map(Release.from_dict, facts["answers"])
    assert release.cost.epsilon == Fraction(1, 100)
    assert (facts["state"], facts["count"]) == ("answered", 1)
    again = anna.get(f"/datasets/people/releases/{facts['number']}")
    assert again.json() == facts


@pytest.mark.slow
@pytest.mark.parametrize("kind", QUESTIONS)
def test_every_answer_has_the_interval_that_the_command_line_prints(place, anna, kind):
    url, tokens, store, path = place
    name = f"with-delta-{kind}"
    terms = Terms(total=Guarantee(1, 1e-3))
    two = {"who": {"bounds": [0, 300]}} if "y" in OF_KINDS.get(kind, {}) else {}
    columns = json.dumps({**COLUMNS, **two})
    store.datasets.add(
        Dataset(name=name, terms=terms, source=str(path), columns=columns, n_about=600)
    )
    store.grants.give(name, "anna", 1)
    asked = {"statistic": kind, "epsilon": 0.1, **OF_KINDS.get(kind, {"column": "age"})}
    facts = anna.release(asked, name, key=KEY + kind).json()
    (answer,) = facts["answers"]
    release = Release.from_dict(answer)
    interval = release.derived().get("interval")
    assert answer.get("interval") == interval
    assert (interval is None) == (not release.mechanism.display.numeric)
    for again in (
        anna.release(asked, name, key=KEY + kind),
        anna.get(f"/datasets/{name}/releases/{facts['number']}"),
    ):
        assert again.json()["answers"] == [answer]
    whole = anna.get("/openapi.json").json()
    schema = {**whole["components"]["schemas"]["Release"], "components": whole["components"]}
    jsonschema.validate(facts, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**facts, "answers": [{**answer, "interval": [0, 1]}]}, schema)
    with Remote(url, tokens["anna"]) as remote:
        (charge,) = remote.session(name).charges
    assert Release.from_json(charge.answer) == release


def test_a_cost_is_exact_and_decimal_as_on_the_command_line(anna):
    facts = anna.release(MEAN).json()
    (answer,) = facts["answers"]
    exact = {"epsilon": "1/100", "delta": "0", "relation": "add_remove"}
    whole = {**exact, "decimal": {"epsilon": 0.01, "delta": 0.0}}
    assert answer["cost"] == whole
    listed = anna.get("/datasets/people/releases").json()["charges"][-1]
    assert listed["answer"]["cost"] == whole
    release = Release.from_dict(answer)
    assert release == Release.from_dict({**answer, "cost": exact})  # as it is stored
    assert release.to_dict()["cost"] == exact
    schema = anna.get("/openapi.json").json()
    shape = {"$ref": "#/components/schemas/Cost", "components": schema["components"]}
    jsonschema.validate(answer["cost"], shape)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(exact, shape)


@pytest.mark.slow
def test_what_the_owner_says_of_columns_is_filled_in(anna):
    asked = anna.release({**MEAN, "by": "sex"}).json()["answers"][0]["question"]
    assert asked["bounds"] == [0, 120]
    assert asked["keys"] == ["f", "m"]
    asked = anna.release({"statistic": "histogram", "column": "sex", "epsilon": 1}).json()
    assert asked["answers"][0]["question"]["categories"] == ["f", "m"]
    for name, other in {"bounds": [0, 99], "step": 2}.items():
        facts = problem(anna.release({**MEAN, name: other}), 422, "parameter")
        assert facts["must"].startswith("be omitted, as the owner of the data has set it")
        assert facts["tries"] == {name: None}
    assert anna.release({**MEAN, "bounds": [0, 120]}).status_code == 200
    facts = problem(anna.release({**COUNT, "by": "sex", "keys": ["x"]}), 422, "parameter")
    assert facts["name"] == "keys"
    facts = problem(anna.release({**MEAN, "column": "who"}), 422, "parameter")
    assert "age, sex" in facts["must"]


@pytest.mark.slow
def test_quantiles_have_intervals_unless_none_is_asked_for(anna):
    asked = {"statistic": "median", "column": "age", "epsilon": 0.1}
    found = [
        anna.release(body).json()["answers"][0]["question"].get("interval")
        for body in (asked, {**asked, "interval": 0.9}, {**asked, "interval": None})
    ]
    assert found == [0.95, 0.9, None]


@pytest.mark.slow
def test_plans_go_both_ways(anna):
    there = anna.post("/datasets/people/plan", {**MEAN, "epsilon": 0.5}).json()
    body = {"statistic": "mean", "column": "age", "error": there["error"]}
    back = anna.post("/datasets/people/plan", body).json()
    assert there["epsilon"] == "1/2"
    assert Fraction(back["epsilon"]) == pytest.approx(0.5, abs=1e-3)
    assert back["error"] <= there["error"]
    both = {"questions": [body, {"statistic": "count", "error": 5}]}
    shared = anna.post("/datasets/people/plan", {**both, "epsilon": 1}).json()
    assert len(shared["plans"]) == 2
    assert shared["fits"]


def test_a_curve_falls_and_is_computed_once(anna, monkeypatch):
    from sourdine.server import releases as planning

    asked = {"statistic": "sum", "column": "age"}
    first = anna.post("/datasets/people/curve", {**asked, "epsilon": 1}).json()["points"]
    monkeypatch.setattr(planning, "_points", None)
    again = anna.post("/datasets/people/curve", {**asked, "epsilon": 2}).json()["points"]
    assert first == again
    assert len(first) == 25
    errors = [error for _, error in first]
    assert errors == sorted(errors, reverse=True)


def test_several_questions_are_one_request(anna):
    found = anna.release({"questions": [COUNT, {**COUNT, "by": "sex"}]}).json()
    assert (found["count"], len(found["answers"])) == (2, 2)


def test_a_refusal_is_in_the_words_of_json(anna):
    facts = problem(anna.release({**COUNT, "epsilon": 1000}), 403, "budget")
    assert facts["error"] == "BudgetExceededError"
    assert '"epsilon": ' in facts["detail"]
    facts = problem(anna.release({"statistic": "mean", "column": "age"}), 422, "parameter")
    assert facts["tries"] == {"epsilon": 1}
    assert facts["detail"].endswith(
        'Use "epsilon": 1, or "error" with the largest acceptable error.'
    )


# ---- keys


def test_a_key_is_needed(anna):
    facts = problem(anna.post("/datasets/people/releases", COUNT), 400, "request")
    assert facts["name"] == "Idempotency-Key"
    for key in ("short", "with blanks in between", "x" * 201):
        problem(anna.post("/datasets/people/releases", COUNT, key=key), 400, "request")


def test_a_key_with_the_same_body_is_answered_again(anna):
    first, again = (anna.release(COUNT, key=f"{KEY}-again") for _ in range(2))
    assert first.json() == again.json()
    assert again.headers["idempotent-replayed"] == "true"
    assert [one["number"] for one in (first.json(), again.json())] == 2 * [first.json()["number"]]


def test_a_key_with_another_body(anna):
    assert anna.release(COUNT, key=KEY).status_code == 200
    spent = anna.get("/datasets/people").json()["spent"]
    facts = problem(anna.release({**COUNT, "epsilon": 0.02}, key=KEY), 422, "key-reused")
    assert "nothing was charged" in facts["detail"]
    assert anna.get("/datasets/people").json()["spent"] == spent


# ---- owners and auditors


@pytest.mark.slow
def test_an_owner_registers_grants_and_closes(owner, anna, tmp_path):
    path = data_file(tmp_path, AGES)
    said = {
        "name": "wages",
        "source": str(path),
        "epsilon": "1/2",
        "n": 600,
        "columns": {"age": {"bounds": [0, 120], "step": 1}},
    }
    made = owner.post("/datasets", said)
    assert made.status_code == 201
    assert made.headers["location"] == "/api/v1/datasets/wages"
    problem(anna.release(COUNT, dataset="wages"), 404, "unknown")
    granted = owner.post("/datasets/wages/grants", {"analyst": "anna", "epsilon": "0.25"})
    assert granted.json()["epsilon"] == "1/4"
    assert anna.release(COUNT, dataset="wages").status_code == 200
    assert owner.get("/datasets/wages/grants").json()[0]["spent"] == "1/100"
    assert owner.post("/datasets/wages/close").json()["state"] == "closed"
    problem(anna.release(COUNT, dataset="wages"), 422, "parameter")
    for changed in (
        {"name": "wages"},
        {"name": "Wages!"},
        {"name": "w", "source": "/nowhere.csv"},
        {"name": "w", "columns": {"age": {"bounds": [1, 0]}}},
        {"name": "w", "columns": {"nothing": {}}},
        {"name": "w", "columns": {"age": {"colour": "red"}}},
        {"name": "w", "epsilon": -1},
        {"name": "w", "more": 1},
    ):
        problem(owner.post("/datasets", {**said, **changed}), 422, "parameter")


@pytest.mark.slow
def test_data_are_a_table_of_duckdb_or_a_folder_of_parquet(owner, anna, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "parts").mkdir()
    with duckdb.connect(str(tmp_path / "people.db")) as db:
        db.execute("CREATE TABLE people AS SELECT range AS age FROM range(100)")
        db.execute(f"COPY people TO '{tmp_path}/parts/a.parquet'")
    sources = {"table": f"duckdb:///{tmp_path}/people.db#people", "folder": f"{tmp_path}/parts"}
    for name, source in sources.items():
        said = {"name": name, "source": source, "epsilon": 100}
        assert owner.post("/datasets", said).status_code == 201
        owner.post(f"/datasets/{name}/grants", {"analyst": "anna", "epsilon": 100})
        found = anna.release({"statistic": "count", "epsilon": 50}, dataset=name).json()
        assert found["answers"][0]["value"] == pytest.approx(100, abs=3)
    said = {"name": "none", "source": f"duckdb:///{tmp_path}/people.db#nothing", "epsilon": 1}
    problem(owner.post("/datasets", said), 422, "parameter")


def test_a_ledger_can_be_followed_by_anybody_who_may_see_it(auditor, anna):
    anna.release(COUNT)
    answer = auditor.get("/datasets/people/ledger")
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert answer.headers["content-type"] == "application/x-ndjson"
    before = lines[0]["head"]
    for line in lines[1:]:
        said = json.dumps([line["table"], line["row"]], separators=(",", ":")).encode()
        before = hashlib.blake2b(before.encode() + said, digest_size=16).hexdigest()
        assert line["head"] == before
    assert answer.headers["ledger-head"] == before
    check = auditor.get("/datasets/people/check").json()
    assert check["sound"]
    assert (check["line"], check["head"]) == (lines[-1]["line"], before)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_a_report_is_filed(auditor, anna, ending):
    anna.release(COUNT)
    answer = auditor.get("/datasets/people/report", params={"format": ending})
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="people.{ending}"'
    assert "count" in answer.text
    problem(auditor.get("/datasets/people/report?format=exe"), 422, "parameter")


def test_metrics_are_those_of_prometheus(owner, anna):
    anna.get("/me")
    lines = owner.get("/metrics").text.splitlines()
    assert any(line.startswith("sourdine_requests_total{") for line in lines)
    assert any('dataset="people",kind="share"' in line for line in lines)
    assert all(line[0] == "#" or " " in line for line in lines)


# ---- the description


@pytest.mark.slow
def test_openapi_describes_what_is_there(anna, place):
    document = Api(place[0]).get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert set(document["paths"]["/api/v1/datasets/{dataset}/releases"]) == {"get", "post"}
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert name
    checker = jsonschema.Draft202012Validator({"$ref": "#/components/schemas/Question", **document})
    for good in (MEAN, COUNT, {**MEAN, "by": "sex"}):
        checker.validate(good)
        assert anna.post("/datasets/people/can-release", good).status_code == 200
    for bad in ({**COUNT, "relation": "substitute"}, {**COUNT, "more": 1}, {"statistic": "x"}):
        assert not checker.is_valid(bad)
        assert anna.post("/datasets/people/can-release", bad).status_code == 422


# ---- ticks


@pytest.mark.slow
def test_answers_leave_on_a_tick(tmp_path, monkeypatch):
    path, address = data_file(tmp_path, AGES), f"sqlite:///{tmp_path}/store.db"
    store, tokens = filled_store(address, path, Terms(total=Guarantee(100)), COLUMNS)
    store.close()
    waited = []

    async def noted(seconds):
        waited.append(seconds)
        await asyncio.sleep(seconds)

    monkeypatch.setattr("sourdine.server.app.asyncio", SimpleNamespace(sleep=noted))
    with served(address, tick=0.4) as url:
        anna = Api(url, tokens["anna"])
        for number, body in enumerate([COUNT, {**MEAN, "by": "sex"}, COUNT], 1):
            began = perf_counter()
            assert anna.release(body).status_code == 200
            assert perf_counter() - began >= 0.4
            assert len(waited) == number
        assert anna.post("/datasets/people/plan", COUNT).status_code == 200
        assert len(waited) == 3
    assert all(0 < seconds <= 0.4 for seconds in waited)


def test_settings_reach_a_worker(monkeypatch):
    monkeypatch.setenv("SOURDINE_SERVER", "")
    settings = ServerSettings(store="sqlite:///x.db", tick=1.5, behind_proxy=True)
    settings.tell_workers()
    assert ServerSettings.told() == settings


def test_an_address_that_is_none(anna):
    problem(anna.get("/nothing"), 404, "not-found")
    answer = anna.client.delete("/datasets")
    problem(answer, 405, "method-not-allowed")
    assert "GET" in answer.headers["allow"]
    assert isinstance(answer, httpx.Response)


@pytest.mark.slow
def test_browsers_get_a_page_for_an_address_that_is_none(anna, place):
    site = place[0]
    page = httpx.get(f"{site}/nothing/<b>", headers={"accept": "text/html,*/*"})
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert "There is no page at this address." in page.text
    assert "&lt;b" not in page.text
    for path, headers in {"/nothing": {}, "/api/v1/nothing": {"accept": "text/html"}}.items():
        problem(httpx.get(f"{site}{path}", headers=headers), 404, "not-found")
    assert anna.get("/me").status_code == 200


# ---- many at once, and another store


@pytest.mark.slow
def test_one_key_sent_by_many_at_once_is_one_charge(place, anna):
    before = anna.get("/datasets/people/check").status_code
    assert before == 403
    count = len(anna.get("/datasets/people/releases").json()["charges"])
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(Api(place[0], place[1]["anna"]).release, COUNT, key=f"{KEY}-at-once")
                for _ in range(8)]  # fmt: skip
        answers = [one.result() for one in sent]
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    assert sorted(a.headers["idempotent-replayed"] for a in answers) == ["false"] + 7 * ["true"]
    assert len(anna.get("/datasets/people/releases").json()["charges"]) == count + 1


@pytest.mark.slow
def test_the_api_on_postgresql(postgres, tmp_path):
    path = data_file(tmp_path, AGES)
    store, tokens = filled_store(postgres, path, Terms(total=Guarantee(1)), COLUMNS)
    with served(postgres) as url:
        anna, olga = Api(url, tokens["anna"]), Api(url, tokens["olga"])
        first, again = (anna.release(MEAN, key=KEY) for _ in range(2))
        assert first.json() == again.json()
        problem(anna.release(COUNT, key=KEY), 422, "key-reused")
        problem(anna.release({**COUNT, "epsilon": 1}), 403, "budget")
        problem(anna.get("/datasets/%00"), 404, "unknown")
        problem(Api(url).post("/login", {"name": "\0", "password": "x"}), 401, "unauthorized")
        browser = Api.logged_in(url, store, "anna")
        problem(browser.post("/tokens", {"label": "\0"}), 422, "parameter")
        said = {"analyst": "\0", "epsilon": 1}
        problem(olga.post("/datasets/people/grants", said), 422, "parameter")
        said = {"name": "x", "source": str(path), "epsilon": 1, "unit": "\0"}
        problem(olga.post("/datasets", said), 422, "parameter")
        assert olga.get("/datasets/people/check").json()["sound"]
        assert len(anna.get("/datasets/people/releases").json()["charges"]) == 1
    store.close()
