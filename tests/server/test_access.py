"""Who may do what, how they are known, and from where they ask."""

from __future__ import annotations

import hashlib

import pytest

from serving import (
    COUNT,
    KEY,
    PASSWORD,
    Api,
    data_file,
    filled_store,
    problem,
    served,
)
from session_calls import AGES
from sourdine.privacy import Guarantee
from sourdine.server import auth
from sourdine.server.auth import COOKIE
from sourdine.session import Terms

# ---- who may do what


OWNERS = [
    ("POST", "/datasets", {"name": "x", "source": "x", "epsilon": 1}),
    ("POST", "/datasets/people/close", None),
    ("POST", "/datasets/people/grants", {"analyst": "anna", "epsilon": 1}),
]
OVERSEERS = [
    ("GET", f"/datasets/people/{what}", None) for what in ("ledger", "check", "report", "grants")
]


@pytest.mark.slow
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
    ("POST", "/can-release", COUNT),
    ("POST", "/curve", COUNT),
    ("POST", "/releases", COUNT),
]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_nobody_is_known_without_a_token(place):
    url = place[0]
    for token in (None, "sourdine-unknown", "é"):
        api = Api(url)
        headers = {} if token is None else {"authorization": f"Bearer {token}".encode()}
        for path in ("/me", "/datasets", "/datasets/people", "/tokens", "/metrics"):
            problem(api.get(path, headers=headers), 401, "unauthorized")
    assert Api(url).get("/healthz").json() == {"status": "ok"}


@pytest.mark.slow
def test_tokens_are_shown_once_and_can_be_ended(place, anna):
    url, _, store, _ = place
    browser = Api.logged_in(url, store, "anna")
    made = browser.post("/tokens", {"label": "a script", "days": 2})
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
    problem(browser.post("/tokens", {"days": 4000}), 422, "parameter")


@pytest.mark.slow
def test_a_token_makes_no_further_tokens(place):
    """One that was made by another would outlive it, and its revocation."""
    url, tokens, store, _ = place
    before = {name: len(store.tokens.of(name)) for name in tokens}
    for token in tokens.values():
        facts = problem(Api(url, token).post("/tokens", {"days": 366}), 403, "forbidden")
        assert facts["hint"] == "Log in with your password to create a token."
    assert {name: len(store.tokens.of(name)) for name in tokens} == before


# ---- log in, and from where


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_cookie_is_no_token_and_a_token_no_cookie(place):
    api = Api(place[0])
    api.post("/login", {"name": "olga", "password": PASSWORD})
    session = api.client.cookies[COOKIE]
    problem(Api(place[0], session).get("/me"), 401, "unauthorized")
    other = Api(place[0])
    other.client.cookies.set(COOKIE, place[1]["olga"])
    problem(other.get("/me"), 401, "unauthorized")


@pytest.mark.slow
def test_unknown_names_cost_a_hash_too(place, monkeypatch):
    """Wrong passwords and unknown names are the same answer, after the same work."""
    computed = []
    check = auth.PasswordHasher.verify

    def counted(self, known, password):
        computed.append(known.split("$")[1:4])
        return check(self, known, password)

    monkeypatch.setattr(auth.PasswordHasher, "verify", counted)
    api, said = Api(place[0]), set()
    for name in ("olga", "nobody", "anna", "\0", "olga' --"):
        answer = api.post("/login", {"name": name, "password": "wrong wrong wrong"})
        problem(answer, 401, "unauthorized")
        said.add(answer.text)
    assert len(said) == 1
    assert len(computed) == 5
    assert len(set(map(tuple, computed))) == 1


@pytest.mark.slow
def test_behind_a_proxy_cookies_are_for_https_alone(tmp_path):
    path, address = data_file(tmp_path, AGES), f"sqlite:///{tmp_path}/store.db"
    store, _ = filled_store(address, path, Terms(total=Guarantee(1)))
    store.close()
    with served(address, behind_proxy=True) as url:
        answer = Api(url).post("/login", {"name": "olga", "password": PASSWORD})
    assert "secure" in answer.headers["set-cookie"].lower()
