"""Passwords are tried so often and no more; a stranger who tries locks nobody out who was here."""

from __future__ import annotations

from time import time

import pytest

from serving import PASSWORD, Api, data_file, filled_store, problem, served
from session_calls import AGES
from sourdine.privacy import Guarantee
from sourdine.server import auth
from sourdine.server.auth import DEVICE, PER_ADDRESS, PER_NAME, STRETCH, Passwords
from sourdine.session import Terms

WRONG = {"name": "olga", "password": "a wrong password"}
RIGHT = {"name": "olga", "password": PASSWORD}


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that a test sets, and check passwords without the work."""
    seconds = [time() // STRETCH * STRETCH]  # tokens go by the real clock elsewhere
    monkeypatch.setattr(auth, "time", lambda: seconds[0])
    quick = staticmethod(lambda known, typed: known is not None and typed == PASSWORD)
    monkeypatch.setattr(Passwords, "check", quick)
    return seconds


@pytest.fixture
def store(tmp_path):
    path, address = data_file(tmp_path, AGES), f"sqlite:///{tmp_path}/store.db"
    store, _ = filled_store(address, path, Terms(total=Guarantee(1)))
    yield store
    store.close()


@pytest.fixture
def url(store):
    with served(f"sqlite:///{store.database.address}") as url:
        yield url


def tried(api, said, times):
    return [api.post("/login", said).status_code for _ in range(times)]


@pytest.mark.slow
def test_passwords_are_tried_ten_times(url, clock):
    stranger = Api(url)
    assert tried(stranger, WRONG, PER_NAME) == [401] * PER_NAME
    clock[0] += STRETCH - 10
    refused = stranger.post("/login", RIGHT)
    facts = problem(refused, 429, "too-often")
    assert "10 passwords in 5 minutes" in facts["detail"]
    assert 1 <= int(refused.headers["retry-after"]) <= 11
    clock[0] += 10
    assert stranger.post("/login", RIGHT).status_code == 200


@pytest.mark.slow
def test_right_passwords_are_not_counted(url, clock):
    assert clock
    assert tried(Api(url), RIGHT, PER_NAME + 3) == [200] * (PER_NAME + 3)


@pytest.mark.slow
def test_a_stranger_locks_nobody_out_who_was_here(url, clock):
    olga, stranger, elsewhere = Api(url), Api(url), Api(url)
    assert olga.post("/login", RIGHT).status_code == 200
    assert olga.client.cookies.get(DEVICE)
    clock[0] += STRETCH
    tried(stranger, WRONG, PER_NAME)
    assert elsewhere.post("/login", RIGHT).status_code == 429
    assert olga.post("/login", RIGHT).status_code == 200
    assert tried(olga, WRONG, PER_NAME) == [401] * PER_NAME
    assert olga.post("/login", RIGHT).status_code == 429


@pytest.mark.slow
def test_a_known_browser_is_known_as_one_person(url, clock):
    assert clock
    olga = Api(url)
    olga.post("/login", RIGHT)
    tried(Api(url), {**WRONG, "name": "anna"}, PER_NAME)
    assert olga.post("/login", {**WRONG, "name": "anna"}).status_code == 429
    known = olga.client.cookies.get(DEVICE)
    for headers in ({"cookie": f"sourdine-session={known}"}, {"authorization": f"Bearer {known}"}):
        assert Api(url).get("/me", headers=headers).status_code == 401


@pytest.mark.slow
def test_unknown_names_are_counted_alike(url, clock):
    assert clock
    said = []
    for name in ("olga", "nobody", "\u0000"):
        one = Api(url)
        answers = [one.post("/login", {**WRONG, "name": name}) for _ in range(PER_NAME)]
        assert {answer.status_code for answer in answers} == {401}
        refused = {answer.text for answer in answers}
        clock[0] += STRETCH
        tried(one, {**WRONG, "name": name}, PER_NAME)
        last = one.post("/login", {**WRONG, "name": name})
        assert last.status_code == 429
        said.append((refused, last.text, set(last.headers)))
        clock[0] += STRETCH
    assert said[0] == said[1] == said[2]


@pytest.mark.slow
def test_an_address_tries_few_names(url, clock):
    assert clock
    stranger = Api(url)
    found = [
        stranger.post("/login", {**WRONG, "name": f"n{i}"}).status_code
        for i in range(PER_ADDRESS + 1)
    ]
    assert found == [401] * PER_ADDRESS + [429]


@pytest.mark.slow
def test_workers_count_together(url, store, clock):
    assert clock
    with served(f"sqlite:///{store.database.address}") as other:
        tried(Api(url), WRONG, PER_NAME - 1)
        assert Api(other).post("/login", WRONG).status_code == 401
        assert Api(url).post("/login", RIGHT).status_code == 429


@pytest.mark.slow
def test_attempts_hold_no_name_and_are_forgotten(url, store, clock):
    api = Api(url)
    tried(api, {"name": "somebody typed a password here", "password": "x"}, 3)
    kept = store.database.read(lambda t: t.all("SELECT * FROM attempts"))
    assert sorted(row[2] for row in kept) == [3, 3]
    assert not any("somebody" in row[0] or "127.0.0.1" in row[0] for row in kept)
    clock[0] += STRETCH
    tried(api, WRONG, 1)
    assert len(store.database.read(lambda t: t.all("SELECT * FROM attempts"))) == 2
