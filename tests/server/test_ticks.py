"""Answers are stored and leave on a tick: until then nothing shows when a draw ended."""

from __future__ import annotations

import asyncio
import re
from threading import Event, Thread
from time import monotonic, sleep
from types import SimpleNamespace

import httpx
import pytest

from guarded import guarded, label_file, model
from serving import COLUMNS, KEY, MEAN, Api, data_file, filled_store, served
from session_calls import AGES
from sourdine.privacy import Guarantee
from sourdine.server import guards as holdouts
from sourdine.server.app import API
from sourdine.server.auth import COOKIE, new_token
from sourdine.server.pages.routes import PAGES
from sourdine.session import Session, Terms

PATIENCE = 60
PLACES = {"dataset": "people", "guard": "eval", "number": "1", "format": "json"}
OTHERS = ("{survey}", "{mark}", "{sha256}")
"""Places that no release and no submission concerns."""
ANYTIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(\+00:00)?")
COUNTED = re.compile(r'sourdine_requests_total.*method="GET"|sourdine_request_seconds')
"""Times at which a report is written, and what reading itself counts."""


def routes():
    """Return the path of everything that can be looked at."""
    paths = [f"/api/v1{one.path}" for one in API if one.method == "GET"]
    paths += [route.path for route in PAGES if "GET" in route.methods]
    found = [path.format(**PLACES) for path in paths if not any(x in path for x in OTHERS)]
    return [*found, "/api/v1/datasets/people/releases?after=0&most=1"]


def looked(url, sessions):
    """Return everything that everybody sees: status, headers of the ledger, text."""
    found = {}
    with httpx.Client(base_url=url, timeout=30) as client:
        for who, cookie in sessions.items():
            for path in routes():
                answer = client.get(path, headers={"cookie": f"{COOKIE}={cookie}"})
                heads = {name: x for name, x in answer.headers.items() if name.startswith("ledger")}
                text = ANYTIME.sub("then", answer.text)
                lines = [line for line in text.splitlines() if not COUNTED.match(line)]
                found[who, path] = (answer.status_code, heads, lines)
    return found


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return a server whose ticks and draws wait until they are let go."""
    address = f"sqlite:///{tmp_path}/store.db"
    path = data_file(tmp_path, AGES)
    store, tokens = filled_store(address, path, Terms(total=Guarantee(100)), COLUMNS)
    guarded(store, label_file(tmp_path))
    sessions = {who: new_token(store, who, "session", days=1) for who in ("anna", "ben", "udo")}
    go = SimpleNamespace(draw=Event(), drawn=Event(), tick=Event())

    async def ticking(seconds):
        assert 0 < seconds <= 5
        while not go.tick.is_set():  # noqa: ASYNC110 - set by another thread
            await asyncio.sleep(0.01)

    def held(work):
        def late(*args):
            assert go.draw.wait(PATIENCE)
            found = work(*args)
            go.drawn.set()
            return found

        return late

    monkeypatch.setattr("sourdine.server.app.asyncio", SimpleNamespace(sleep=ticking))
    monkeypatch.setattr(Session, "_drawn", held(Session._drawn))
    monkeypatch.setattr(holdouts, "reached", held(holdouts.reached))
    with served(address, tick=5) as url:
        anna = Api(url, tokens["anna"])
        yield SimpleNamespace(url=url, anna=anna, store=store, sessions=sessions, go=go)
        go.draw.set()
        go.tick.set()
    store.close()


ASKED = {
    "release": ("/datasets/people/releases", MEAN),
    "submission": ("/guards/eval/submissions", {"predictions": model(0.8)}),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", ASKED)
def test_nothing_changes_between_the_charge_and_the_tick(place, what):
    """Whatever is looked at, by whomever: it changes with the charge and on the tick alone."""
    answers = []
    path, body = ASKED[what]
    thread = Thread(target=lambda: answers.append(place.anna.post(path, body, key=KEY)))
    thread.start()
    end = monotonic() + PATIENCE
    while what == "release" and not place.store.releases.of("people") and monotonic() < end:
        sleep(0.01)
    before = looked(place.url, place.sessions)
    place.go.draw.set()
    assert place.go.drawn.wait(PATIENCE)
    sleep(0.3)  # so that what is done next, if anything is, is done
    during = looked(place.url, place.sessions)
    assert not answers
    place.go.tick.set()
    thread.join(PATIENCE)
    after = looked(place.url, place.sessions)
    assert answers[0].status_code == 200, answers[0].text
    changed = {one for one in before if before[one] != during[one]}
    assert changed == set()
    shown = {path for _, path in before if before["anna", path] != after["anna", path]}
    kind = "datasets/people" if what == "release" else "guards/eval"
    assert f"/api/v1/{kind}" in shown


@pytest.mark.slow
def test_a_draw_that_fails_shows_on_the_tick_alone(place, monkeypatch):
    def broken(*_):
        place.go.drawn.set()
        raise RuntimeError("17")

    monkeypatch.setattr(Session, "_drawn", broken)
    answers = []
    path, body = ASKED["release"]
    thread = Thread(target=lambda: answers.append(place.anna.post(path, body, key=KEY)))
    thread.start()
    assert place.go.drawn.wait(PATIENCE)
    sleep(0.3)
    (stored,) = place.store.releases.of("people")
    assert stored.state == "charged"
    place.go.tick.set()
    thread.join(PATIENCE)
    assert answers[0].json()["state"] == "failed"
