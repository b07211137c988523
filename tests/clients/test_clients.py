"""The clients for JavaScript and R against a real server, also where connections break.

The requests of the R client are recorded in ``r-requests.json``: without R they are sent to the
server as they are there. With R, ``test_the_recorded_requests_are_those_of_r`` compares them;
``SOURDINE_RECORD=1`` writes them anew.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

import sourdine as sd
from programs import found
from serving import COLUMNS, Api, data_file, filled_store, served
from session_calls import AGES
from sourdine.privacy import Guarantee
from sourdine.session import Terms

HERE = Path(__file__).parent
CLIENTS = HERE.parents[1] / "clients"
RECORDED = HERE / "r-requests.json"
KEPT = ("authorization", "content-type", "idempotency-key", "ledger-line")


class Relay(BaseHTTPRequestHandler):
    """Passes requests on and records them; loses the first answers to some of them."""

    protocol_version = "HTTP/1.1"

    def relay(self):
        size = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(size)
        own = {name: self.headers[name] for name in KEPT if name in self.headers}
        record = {"method": self.command, "path": self.path, "headers": own}
        self.server.requests.append(record | ({"body": json.loads(body)} if body else {}))
        asked = HTTPConnection(self.server.behind, timeout=60)
        asked.request(self.command, self.path, body, own)
        answer = asked.getresponse()
        content = answer.read()
        asked.close()
        if self.path.endswith("/releases") and self.command == "POST" and self.server.lost:
            way = self.server.lost.pop(0)
            if way == "connection":
                self.close_connection = True
                return
            answer.status, content = 503, b"<html>try again later</html>"
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() in {"content-type", "ledger-line", "ledger-head", "ledger-seen"}:
                self.send_header(name, self.server.changed(name, value))
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = relay  # noqa: N815 - the names of the standard library
    do_POST = relay  # noqa: N815

    def log_message(self, *_):
        pass


@contextmanager
def relayed(url):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    server.behind, server.requests, server.lost = urlsplit(url).netloc, [], []
    server.changed = lambda _, value: value
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def place(tmp_path):
    """Return a server that loses answers on request, and somebody's token."""
    address = f"sqlite:///{tmp_path}/store.db"
    path = data_file(tmp_path, AGES)
    store, tokens = filled_store(address, path, Terms(total=Guarantee(100)), COLUMNS)
    with served(address) as url, relayed(url) as relay:
        relay.direct = url
        yield relay, tokens["anna"]
    store.close()


PROGRAMS = {
    "js": ("node", "SOURDINE_NODE", "calls.mjs", CLIENTS / "js" / "sourdine.mjs"),
    "r": ("Rscript", "SOURDINE_R", "calls.R", CLIENTS / "r" / "sourdine.R"),
}


@pytest.fixture(params=["js", pytest.param("r", marks=pytest.mark.slow)])
def run(request):
    """Return what runs every call of a client and returns its answers."""
    return runner(request.param)


def runner(client):
    name, variable, script, source = PROGRAMS[client]
    path = found(name, variable, f"the client {source.name} was NOT TESTED in {name}")

    def call(url, token, *, fails=False):
        done = subprocess.run(  # noqa: S603
            [path, str(HERE / script), str(source), url, token],
            capture_output=True,
            text=True,
            check=False,
        )
        assert token not in done.stdout + done.stderr
        if fails:
            assert done.returncode != 0
            return done.stderr
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)

    return call


def test_every_call(run, place):
    relay, token = place
    relay.lost = ["connection", "status", "connection"]
    said = run(relay.url, token)
    _right(said)
    with sd.Remote(relay.direct, token) as remote:
        session = remote.session("people")
        charges = session.charges
        assert [one.epsilon for one in charges] == [0.25] * 4, (
            "one charge for each, however often sent"
        )
        releases = session.history
        answers = [said["mean"], said["table"], *said["all"]]
        for own, release in zip(answers, (one.release for one in releases), strict=True):
            assert _close(own["value"], json.loads(release.to_json())["value"])
        assert said["facts"] == {**session.facts, **{n: said["facts"][n] for n in MOVING}}
    keys = [r["headers"].get("idempotency-key") for r in relay.requests if _charges(r)]
    assert len(keys) == 3 + 3 + 2, "three lost answers, three charged and two refused requests"
    assert len(set(keys)) == 5
    assert len(set(keys[:4])) == 1
    assert all(re.fullmatch("[0-9a-f-]{32,36}", key) for key in keys)


def _close(a, b):
    """Return whether answers agree; R writes 15 digits, and a list of one value as the value."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_close(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_close, a, b))
    return a == (pytest.approx(b, rel=1e-14) if isinstance(b, float) else b)


MOVING = ("spent", "remaining", "grant", "last", "share")


def _charges(request):
    return request["method"] == "POST" and request["path"].endswith("/releases")


def _right(said):
    """Check everything that is not random of what a client returned."""
    assert [one["name"] for one in said["datasets"]] == ["people"]
    assert said["facts"]["columns"] == COLUMNS
    assert said["before"]["total"]["epsilon"] == said["before"]["grant"].replace("1000", "100")
    assert said["after"]["total"]["epsilon"] == "99"
    assert said["after"]["grant"] == "999"
    assert 0 < said["plan"]["error"] <= 2
    assert said["can"]["fits"] is True
    assert said["can"]["question"]["epsilon"] == 0.123456
    for answer in (said["mean"], said["table"], *said["all"]):
        assert {"value", "interval", "cost", "mechanism", "caveats", "question"} <= answer.keys()
        assert answer["cost"]["epsilon"] == "1/4"
        assert answer["cost"]["decimal"]["epsilon"] == 0.25
    low, high = said["mean"]["interval"]["ends"]
    assert low < said["mean"]["value"] < high
    assert said["mean"]["interval"]["confidence"] == 0.95
    assert said["mean"]["question"]["bounds"] == [0, 120]
    assert said["wrong"]["kind"] in {"SourdineError", "sourdine_error"}
    assert said["wrong"]["name"] == "epsilon"
    assert said["wrong"]["must"] == "be above 0"
    assert said["wrong"]["message"].startswith("epsilon must be above 0, got -1")
    assert "No such data set" in said["unknown"]["message"]
    assert said["dear"]["error"] == "BudgetExceededError"
    assert "https://" in said["insecure"]["message"]
    assert [one["state"] for one in said["history"]] == ["answered"] * 4
    assert said["history"][0]["answer"]["value"] == said["mean"]["value"]


@pytest.mark.slow
def test_a_server_that_says_nothing_is_given_up(run, place):
    relay, token = place
    relay.lost = ["status", "connection"] * 10  # curl sends again by itself, too
    said = run(relay.url, token, fails=True)
    assert "could not be reached after 6 attempts" in said
    assert "may have been charged" in said


@pytest.mark.slow
def test_a_ledger_that_went_back_is_refused(run, place):
    relay, token = place
    relay.changed = lambda name, value: "0" if name.lower() == "ledger-seen" else value
    assert "as it was seen before" in run(relay.url, token, fails=True)


def test_the_client_of_javascript_is_short():
    text = (CLIENTS / "js" / "sourdine.mjs").read_text()
    assert len(text.splitlines()) <= 200
    assert not re.findall(r"^import ", text, re.MULTILINE)


def plain(requests):
    """Return requests with the same token and keys in every run, and without line numbers."""
    keys = {}
    for request in requests:
        headers = request["headers"]
        key = headers.get("idempotency-key")
        if key is not None:
            headers["idempotency-key"] = keys.setdefault(key, f"key-of-request-{len(keys):08}")
        if "ledger-line" in headers:
            headers["ledger-line"] = "1"
        headers["authorization"] = "Bearer TOKEN"
    return requests


@pytest.mark.slow
def test_the_recorded_requests_are_those_of_r(place):
    run = runner("r")
    relay, token = place
    run(relay.url, token)
    seen = plain(relay.requests)
    if os.environ.get("SOURDINE_RECORD"):
        RECORDED.write_text(json.dumps(seen, indent=1) + "\n")
    assert seen == json.loads(RECORDED.read_text())


@pytest.mark.slow
def test_the_recorded_requests_of_r_are_answered(place):
    """What R sends is understood, with or without R on this machine."""
    relay, token = place
    recorded = json.loads(RECORDED.read_text())
    api = Api(relay.direct)
    statuses = []
    for one in recorded:
        headers = {**one["headers"], "authorization": f"Bearer {token}"}
        path = one["path"].removeprefix("/api/v1")
        answer = api.client.request(one["method"], path, headers=headers, json=one.get("body"))
        statuses.append(answer.status_code)
        if _charges(one) and answer.status_code == 200:
            for said in answer.json()["answers"]:
                assert {"value", "interval", "cost", "mechanism", "caveats"} <= said.keys()
    refused = [status for status in statuses if status != 200]
    assert len(recorded) == 13
    assert sorted(refused) == [403, 404, 422], "too much, an unknown name, a wrong epsilon"
