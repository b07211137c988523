"""Each route: what it answers, to whom, and what it refuses."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
from fractions import Fraction
from time import perf_counter
from types import SimpleNamespace

import httpx
import jsonschema
import pytest

from serving import COLUMNS, PASSWORD, Api, data_file, filled_store, served
from session_calls import AGES
from sourdine.privacy import Guarantee
from sourdine.release import Release
from sourdine.server import passwords
from sourdine.server.auth import COOKIE
from sourdine.server.settings import ServerSettings
from sourdine.session import Terms

MEAN = {"statistic": "mean", "column": "age", "epsilon": 0.01}
COUNT = {"statistic": "count", "epsilon": 0.01}
KEY = "0123456789abcdef"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    path, address = data_file(folder, AGES), f"sqlite:///{folder}/store.db"
    store, tokens = filled_store(address, path, Terms(total=Guarantee(100)), COLUMNS)
    with served(address) as url:
        yield url, tokens, store, path
    store.close()


@pytest.fixture(params=["anna"])
def anna(place):
    return Api(place[0], place[1]["anna"])


@pytest.fixture
def owner(place):
    return Api(place[0], place[1]["olga"])


@pytest.fixture
def auditor(place):
    return Api(place[0], place[1]["udo"])


def problem(answer, status, kind):
    """Return what a refusal says, once it is known to be one."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    facts = answer.json()
    assert facts["type"] == f"urn:sourdine:{kind}"
    assert facts["status"] == status
    return facts


# ---- questions


def test_a_release_is_a_true_one(anna):
    answer = anna.release(MEAN)
    assert answer.headers["idempotent-replayed"] == "false"
    facts = answer.json()
    (release,) = map(Release.from_dict, facts["answers"])
    assert release.cost.epsilon == Fraction(1, 100)
    assert (facts["state"], facts["count"]) == ("answered", 1)
    again = anna.get(f"/datasets/people/releases/{facts['number']}")
    assert again.json() == facts


def test_what_the_owner_says_of_columns_is_filled_in(anna):
    asked = anna.release({**MEAN, "by": "sex"}).json()["answers"][0]["question"]
    assert asked["bounds"] == [0, 120]
    assert asked["keys"] == ["f", "m"]
    asked = anna.release({"statistic": "histogram", "column": "sex", "epsilon": 1}).json()
    assert asked["answers"][0]["question"]["categories"] == ["f", "m"]
    for name, other in {"bounds": [0, 99], "step": 2}.items():
        facts = problem(anna.release({**MEAN, name: other}), 422, "parameter")
        assert facts["must"].startswith("be left to the owner")
        assert facts["tries"] == {name: None}
    assert anna.release({**MEAN, "bounds": [0, 120]}).status_code == 200
    facts = problem(anna.release({**COUNT, "by": "sex", "keys": ["x"]}), 422, "parameter")
    assert facts["name"] == "keys"
    facts = problem(anna.release({**MEAN, "column": "who"}), 422, "parameter")
    assert "age, sex" in facts["must"]


def test_quantiles_have_intervals_unless_none_is_asked_for(anna):
    asked = {"statistic": "median", "column": "age", "epsilon": 0.1}
    found = [
        anna.release(body).json()["answers"][0]["question"].get("interval")
        for body in (asked, {**asked, "interval": 0.9}, {**asked, "interval": None})
    ]
    assert found == [0.95, 0.9, None]


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
    from sourdine.server import planning  # noqa: PLC0415

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
        'Type "epsilon": 1, or "error" with the error that you can live with.'
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


# ---- who may do what


OWNERS = [
    ("POST", "/datasets", {"name": "x", "source": "x", "epsilon": 1}),
    ("POST", "/datasets/people/close", None),
    ("POST", "/datasets/people/grants", {"analyst": "anna", "epsilon": 1}),
]
OVERSEERS = [
    ("GET", f"/datasets/people/{what}", None) for what in ("ledger", "check", "report", "grants")
]


def test_roles(place):
    url, tokens, *_ = place
    for method, path, body in [*OWNERS, *OVERSEERS, ("GET", "/metrics", None)]:
        who = ["anna", "udo"] if (method, path, body) in OWNERS else ["anna"]
        for name in who:
            answer = Api(url, tokens[name]).client.request(method, path, json=body)
            problem(answer, 403, "forbidden")


ASKED = [
    ("GET", "", None),
    ("GET", "/releases", None),
    ("GET", "/releases/1", None),
    ("POST", "/plan", COUNT),
    ("POST", "/could", COUNT),
    ("POST", "/curve", COUNT),
    ("POST", "/releases", COUNT),
]


def test_others_data_sets_are_as_if_there_were_none(place):
    url, tokens, *_ = place
    anna = Api(url, tokens["anna"])
    headers = {"idempotency-key": KEY}
    for method, path, body in ASKED:
        said = []
        for name in ("others", "nowhere", "%00", "a%2Fb"):
            answer = anna.client.request(
                method, f"/datasets/{name}{path}", json=body, headers=headers
            )
            if name != "a%2Fb":
                problem(answer, 404, "unknown")
                said.append(answer.text)
            assert answer.status_code == 404
        assert len(set(said)) == 1
    assert [one["name"] for one in anna.get("/datasets").json()] == ["people"]


def test_others_answers_are_not_shown(place):
    url, tokens, store, _ = place
    store.grants.give("people", "ben", 1)
    anna, ben = Api(url, tokens["anna"]), Api(url, tokens["ben"])
    number = anna.release(COUNT).json()["number"]
    problem(ben.get(f"/datasets/people/releases/{number}"), 404, "unknown")
    line = ben.get(f"/datasets/people/releases?after={number - 1}&most=1").json()["charges"][0]
    assert (line["number"], line["analyst"], line["answer"]) == (number, "anna", None)
    assert anna.get(f"/datasets/people/releases/{number}").status_code == 200
    facts = problem(ben.release({**COUNT, "epsilon": 2}), 403, "budget")
    assert "ben was granted 1" in facts["detail"]


def test_nobody_is_known_without_a_token(place):
    url = place[0]
    for token in (None, "sourdine-unknown", "é"):
        api = Api(url)
        headers = {} if token is None else {"authorization": f"Bearer {token}".encode()}
        for path in ("/me", "/datasets", "/datasets/people", "/tokens", "/metrics"):
            problem(api.get(path, headers=headers), 401, "unauthorized")
    assert Api(url).get("/healthz").json() == {"status": "ok"}


def test_tokens_are_shown_once_and_can_be_ended(place, anna):
    url, _, store, _ = place
    made = anna.post("/tokens", {"label": "a script", "days": 2})
    token = made.json()["token"]
    assert made.status_code == 201
    other = Api(url, token)
    assert other.get("/me").json() == {"name": "anna", "role": "analyst"}
    assert token not in other.get("/tokens").text
    digest = hashlib.sha256(token.encode()).hexdigest()
    assert [t.label for t in store.tokens.of("anna") if t.sha256 == digest] == ["a script"]
    ben = Api(url, place[1]["ben"])
    problem(ben.client.delete(f"/tokens/{digest}"), 404, "unknown")
    assert anna.client.delete(f"/tokens/{digest}").status_code == 200
    problem(other.get("/me"), 401, "unauthorized")
    problem(anna.post("/tokens", {"days": 4000}), 422, "parameter")


# ---- owners and auditors


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


# ---- log in, and from where


def test_logging_in_gives_a_cookie_for_this_site_alone(place):
    api = Api(place[0])
    answer = api.post("/login", {"name": "olga", "password": PASSWORD})
    assert answer.json() == {"name": "olga", "role": "owner"}
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert api.get("/me").json()["name"] == "olga"
    problem(api.post("/tokens", {}), 403, "forbidden")  # says not where it comes from
    own = {"headers": {"sec-fetch-site": "same-origin"}}
    assert api.post("/tokens", {}, **own).status_code == 201
    for site in ("cross-site", "same-site", "anything"):
        problem(api.post("/tokens", {}, headers={"sec-fetch-site": site}), 403, "forbidden")
    assert api.post("/logout", {}, **own).status_code == 200
    problem(api.get("/me"), 401, "unauthorized")
    there = {"headers": {"sec-fetch-site": "cross-site"}}
    problem(api.post("/login", {"name": "olga", "password": PASSWORD}, **there), 403, "forbidden")


def test_a_cookie_is_no_token_and_a_token_no_cookie(place):
    api = Api(place[0])
    api.post("/login", {"name": "olga", "password": PASSWORD})
    session = api.client.cookies[COOKIE]
    problem(Api(place[0], session).get("/me"), 401, "unauthorized")
    other = Api(place[0])
    other.client.cookies.set(COOKIE, place[1]["olga"])
    problem(other.get("/me"), 401, "unauthorized")


def test_unknown_names_cost_a_hash_too(place, monkeypatch):
    """Wrong passwords and unknown names are the same answer, after the same work."""
    computed = []
    check = passwords.PasswordHasher.verify

    def counted(self, known, password):
        computed.append(known.split("$")[1:4])
        return check(self, known, password)

    monkeypatch.setattr(passwords.PasswordHasher, "verify", counted)
    api, said = Api(place[0]), set()
    for name in ("olga", "nobody", "anna", "\0", "olga' --"):
        answer = api.post("/login", {"name": name, "password": "wrong wrong wrong"})
        problem(answer, 401, "unauthorized")
        said.add(answer.text)
    assert len(said) == 1
    assert len(computed) == 5
    assert len(set(map(tuple, computed))) == 1


# ---- hostile requests


def test_long_compressed_and_other_bodies_are_refused(anna):
    path, headers = "/datasets/people/plan", {"content-type": "application/json"}
    long = b'{"statistic": "' + b"x" * 70_000 + b'"}'
    problem(anna.client.post(path, content=long, headers=headers), 413, "too-long")

    def chunks():
        for _ in range(100):
            yield b"x" * 1000

    problem(anna.client.post(path, content=chunks(), headers=headers), 413, "too-long")
    bomb = gzip.compress(b" " * 10**6)
    packed = {**headers, "content-encoding": "gzip"}
    answer = anna.client.post(path, content=bomb, headers=packed)
    problem(answer, 415, "unsupported")
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = anna.client.post(path, content=b"{}", headers={"content-type": kind})
        problem(answer, 415, "unsupported")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[",
        b"7",
        b"[]",
        b"null",
        b'"count"',
        b"[" * 30_000,
        b'{"statistic": ["count"]}',
        b'{"statistic": "count", "epsilon": "1e-4000"}',
        b'{"statistic": "count", "epsilon": 1e-310}',
        b'{"statistic": "count", "epsilon": 1e400}',
        b'{"statistic": "count", "epsilon": {}}',
        b'{"statistic": "count", "epsilon": [1]}',
        b'{"statistic": "count", "epsilon": true}',
        b'{"statistic": "count", "epsilon": 1, "by": {"a": 1}}',
        b'{"statistic": "count", "epsilon": 1, "column": 7}',
        b'{"statistic": "count", "epsilon": 1, "\\u0000": 7}',
        b'{"statistic": "table", "of": 7, "epsilon": 1}',
        b'{"statistic": "table", "of": {"age": 7}, "epsilon": 1}',
        b'{"statistic": "histogram", "column": "age", "bins": 501, "epsilon": 1}',
        b'{"statistic": "histogram", "column": "age", "bins": "1e9", "epsilon": 1}',
        b'{"statistic": "histogram", "column": "age", "bins": {}, "epsilon": 1}',
        b'{"statistic": "describe", "columns": 7, "epsilon": 1}',
        b'{"questions": []}',
        b'{"questions": [7]}',
    ],
)
def test_what_no_person_types_is_refused(anna, body):
    headers = {"content-type": "application/json", "idempotency-key": KEY}
    for path in ("plan", "could", "curve", "releases"):
        answer = anna.client.post(f"/datasets/people/{path}", content=body, headers=headers)
        if path == "curve" and b'"count"' in body and answer.status_code == 200:
            continue  # a curve is of all epsilons
        assert answer.status_code in {422, 403}, (path, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"


def test_at_most_99_quantiles_and_500_bins(anna):
    asked = {"statistic": "quantiles", "column": "age", "epsilon": 1}
    q = [i / 101 for i in range(1, 101)]
    facts = problem(anna.release({**asked, "q": q}), 422, "parameter")
    assert facts["must"] == "have at most 99 orders"
    problem(anna.release({**asked, "q": ",".join(map(str, q))}), 422, "parameter")
    edges = list(range(502))
    asked = {"statistic": "histogram", "column": "age", "epsilon": 1}
    problem(anna.release({**asked, "bins": edges}), 422, "parameter")
    assert anna.release({**asked, "bins": 120}).status_code == 200


def test_every_answer_carries_the_headers(anna):
    for answer in (
        anna.get("/me"),
        anna.get("/nothing"),
        anna.post("/login", {}),
        anna.release({}),
    ):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in answer.headers


def test_what_should_not_be_has_one_body(anna, monkeypatch, capfd):
    from sourdine.session import Session  # noqa: PLC0415

    bodies = set()
    for text in ("secret 17", "secret 18"):

        def broken(*_, text=text):
            raise RuntimeError(text)

        monkeypatch.setattr(Session, "prepare", broken)
        answer = anna.release(COUNT)
        assert answer.status_code == 500
        bodies.add(answer.text)
    (body,) = bodies
    assert "secret" not in body
    assert json.loads(body)["type"] == "urn:sourdine:unforeseen"
    logged = capfd.readouterr().err
    assert "secret" not in logged
    assert '"raised": "RuntimeError"' in logged


def test_a_draw_that_raises_tells_nothing(anna, monkeypatch):
    from sourdine.central import Count  # noqa: PLC0415

    def broken(*_):
        raise RuntimeError("17")

    monkeypatch.setattr(Count, "release", broken)
    first = anna.release(COUNT, key=f"{KEY}-failed")
    monkeypatch.undo()
    again = anna.release(COUNT, key=f"{KEY}-failed")
    assert first.json() == again.json()
    assert (first.json()["state"], first.json()["answers"]) == ("failed", [])


def test_the_log_holds_no_private_value(anna, capfd):
    answer = anna.release({"statistic": "sum", "column": "age", "epsilon": 0.5})
    anna.get("/datasets/secret-name")
    logged = capfd.readouterr().err.splitlines()
    facts = [json.loads(line) for line in logged]
    assert {"method", "route", "status", "ms", "person", "time", "event", "dataset"} >= {
        name for line in facts for name in line
    }
    assert facts[0]["dataset"] == "people"
    for private in (str(answer.json()["answers"][0]["value"]), "age", "secret-name", "127.0.0.1"):
        assert not any(private in line for line in logged)


# ---- the description


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
        assert anna.post("/datasets/people/could", good).status_code == 200
    for bad in ({**COUNT, "relation": "substitute"}, {**COUNT, "more": 1}, {"statistic": "x"}):
        assert not checker.is_valid(bad)
        assert anna.post("/datasets/people/could", bad).status_code == 422


# ---- ticks


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
