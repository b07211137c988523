"""The collector over HTTP: what it accepts, what it refuses, kills, and a real browser."""

from __future__ import annotations

import ast
import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import httpx
import pytest

from sourdine.local.reports.records import to_lines
from sourdine.survey import Survey, page, serving
from sourdine.survey.demo import demo
from sourdine.survey.page import words
from sourdine.survey.serving import (
    LONGEST_BODY,
    LONGEST_HEAD,
    MOST_LINES,
    Collector,
    SurveyProtocol,
    WebServer,
)
from sourdine.survey.store import Posted, PostQueue, SurveyStore

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "collector.py"
PEOPLE = {"way": "bus", "minutes": 35, "late": True, "wishes": "seats"}


def lines_of(survey, n):
    table = {name: [value] * n for name, value in PEOPLE.items()}
    return [line for part in survey.schema.reports(table) for line in to_lines(part)]


def free():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@pytest.fixture
def running(survey_cases, place):
    """Return what serves a survey in a thread."""
    stops = []

    def start(*, tickets=0, **changes):
        port = free()
        facts = survey_cases.facts(send_to=f"http://127.0.0.1:{port}/town/reports")
        survey = Survey.from_facts(facts | changes)
        store, codes = SurveyStore.create(place(), survey, tickets=tickets)
        loop, ready = asyncio.new_event_loop(), []

        async def run():
            collector = Collector(store.place, every=0.1)
            server = WebServer(collector, port=port)
            await server.serve(lambda: ready.append(server))
            collector.stop()

        thread = Thread(target=loop.run_until_complete, args=(run(),))
        thread.start()
        while not ready:
            time.sleep(0.01)

        def stop():
            ready[0].stop()
            thread.join()
            loop.close()
            store.close()

        stops.append(stop)
        return SimpleNamespace(port=port, survey=survey, store=store, codes=codes)

    yield start
    for stop in stops:
        stop()


def ask(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, body, headers or {})
    reply = connection.getresponse()
    found = SimpleNamespace(status=reply.status, body=reply.read(), headers=reply.headers)
    connection.close()
    return found


def counted(one, n):
    for _ in range(200):
        if one.store.people >= n:
            break
        time.sleep(0.05)
    return one.store.people


@pytest.mark.slow
def test_records_are_accepted_and_counted_once(running):
    one = running()
    lines = lines_of(one.survey, 60)
    for path, some in (
        *(("/town/reports", lines[:1]), ("/reports", lines[:5]), ("/town/reports", lines[2:])),
    ):
        reply = ask(one.port, "POST", path, "\n".join(some))
        assert reply.status == 202
        assert json.loads(reply.body) == {"accepted": len(some), "refused": {}}
        assert reply.headers["access-control-allow-origin"] == "*"
        assert "set-cookie" not in reply.headers
    assert counted(one, 60) == 60
    told = json.loads(ask(one.port, "GET", "/results.json").body)
    assert told["people"] == 60
    assert told["fingerprint"] == one.survey.fingerprint
    shares = told["questions"]["way"]["estimates"]
    assert sum(row["value"] for row in shares.values()) == pytest.approx(1)


def test_a_post_has_at_most_so_many_lines(running):
    one = running()
    lines = lines_of(one.survey, MOST_LINES + 1)
    refused = ask(one.port, "POST", "/reports", "\n".join(lines))
    assert refused.status == 413
    assert refused.body == b"a post must have at most 1000 records, got 1001: send several\n"
    assert refused.headers["access-control-allow-origin"] == "*"
    assert ask(one.port, "POST", "/reports", b"x\n" * 131_000).status == 413
    assert ask(one.port, "POST", "/reports", "\n\n".join(lines[1:])).status == 202
    assert counted(one, MOST_LINES) == MOST_LINES


@pytest.mark.slow
def test_a_record_does_not_wait_for_batches(survey_cases, place):
    """However many batches wait, a single record is in the next commit."""
    survey = Survey.from_facts(survey_cases.facts())
    store, _ = SurveyStore.create(place(), survey)
    [line] = lines_of(survey, 1)
    writer = PostQueue(store)
    try:
        junk = Posted(lines=[b"x"] * MOST_LINES)
        waiting = [writer.post(junk) for _ in range(60)]
        assert writer.post(Posted(lines=[line.encode()])).result(60).accepted == 1
        ahead = sum(one.done() for one in waiting)
        assert ahead <= 4, f"{ahead} batches came first"
        assert all(one.result(60).refused == {"malformed": MOST_LINES} for one in waiting)
    finally:
        writer.stop()
    assert store.people == 1
    store.close()


async def status_of(collector, path):
    transport = httpx.ASGITransport(collector)
    async with httpx.AsyncClient(transport=transport, base_url="http://survey") as client:
        return (await client.get(path)).status_code


def test_a_body_of_unknown_length_is_read_to_the_limit(survey_cases, tmp_path):
    store, _ = SurveyStore.create(tmp_path / "s.db", Survey.from_facts(survey_cases.facts()))
    collector = Collector(store.place)

    async def posted(size):
        async def parts():
            for _ in range(size // 1024):
                yield b"x" * 1024

        transport = httpx.ASGITransport(collector)
        async with httpx.AsyncClient(transport=transport, base_url="http://survey") as client:
            return (await client.post("/reports", content=parts())).status_code

    found = [asyncio.run(posted(size)) for size in (LONGEST_BODY, LONGEST_BODY + 1024)]
    collector.stop()
    store.close()
    assert found == [422, 413]


def test_results_are_shown_only_if_they_are_public(survey_cases, tmp_path):
    survey = Survey.from_facts(survey_cases.facts())
    for public, status in ((True, 200), (False, 404)):
        store, _ = SurveyStore.create(tmp_path / f"{public}.db", survey)
        collector = Collector(store.place, public=public)
        paths = "/results", "/results.json"
        found = [asyncio.run(status_of(collector, path)) for path in paths]
        collector.stop()
        store.close()
        assert found == [status] * 2


def test_what_is_no_record_is_refused_with_a_public_reason(running):
    one = running()
    line = lines_of(one.survey, 1)[0]
    other = line.replace(one.store.form.mark, "f" * 16)
    for body, why in (
        ("", "empty"), ("\n \n", "empty"), ("{", "malformed"), ("[" * 90, "malformed"),
        (b"\xff\xfe", "malformed"), ("null", "malformed"), (other, "foreign schema"),
        (line.replace('"v":1', '"v":2'), "unknown version"), ("x" * 5000, "too long"),
        (line.replace('"a":[', '"a":[1,'), "wrong columns"),
        (line.replace('"a":[', '"a":[1e400,'), "wrong columns"),
        ('{"ticket":"x"}', "empty"),
    ):  # fmt: skip
        reply = ask(one.port, "POST", "/reports", body)
        assert reply.status == 422, body
        assert json.loads(reply.body) == {"accepted": 0, "refused": {why: 1}}
    mixed = ask(one.port, "POST", "/reports", f"{line}\n{other}\n")
    assert mixed.status == 422
    assert json.loads(mixed.body) == {"accepted": 1, "refused": {"foreign schema": 1}}
    assert counted(one, 1) == 1


def raw(port, data, *, half=True):
    """Return everything that is answered; ``half`` closes the sending side first."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as peer:
        peer.sendall(data)
        if half:
            peer.shutdown(socket.SHUT_WR)
        found = b""
        while part := peer.recv(65536):
            found += part
    return found


GET = b"GET / HTTP/1.1\r\nhost: x\r\n"
POST = b"POST /reports HTTP/1.1\r\nhost: x\r\n"


def test_hostile_requests_are_refused(running):
    one = running()
    for data, status in (
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/2.0\r\nhost: x\r\n\r\n", b"400"),
        (b"GET http://x/ HTTP/1.1\r\nhost: x\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (GET + b"bad header\r\n\r\n", b"400"),
        (GET + b"a: b\r\n c: d\r\n\r\n", b"400"),
        (GET + b"a: b\nc: d\r\n\r\n", b"400"),
        (GET.replace(b"\r", b"") + b"\n", b"400"),
        (GET + b"host: y\r\n\r\n", b"400"),
        (POST + b"content-length: -1\r\n\r\n", b"400"),
        (POST + b"content-length: 1\r\ncontent-length: 2\r\n\r\n{}", b"400"),
        (POST + b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n", b"415"),
        (POST + b"content-encoding: gzip\r\ncontent-length: 1\r\n\r\nx", b"415"),
        (POST + b"content-length: %d\r\n\r\n" % (LONGEST_BODY + 1), b"413"),
        (GET + b"a: " + b"x" * 9000 + b"\r\n\r\n", b"431"),
        (GET + b"a: " + b"x" * 9000, b"431"),
        (b"DELETE / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", b"405"),
        (b"GET /../../etc/passwd HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", b"404"),
        (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n", b"404"),
        (POST + b"content-length: 9\r\n\r\nshort", b""),
        (b"", b""),
    ):  # fmt: skip
        assert raw(one.port, data)[9:12] == status, data
    assert ask(one.port, "GET", "/").status == 200


def test_requests_in_one_packet_are_answered_in_turn(running):
    """What stands behind a first request is read as strictly as the first."""
    one = running()
    last = GET + b"connection: close\r\n\r\n"
    for data, statuses in (
        (GET + b"\r\n" + POST + b"content-length: 1\r\n\r\n{" + last, [b"200", b"422", b"200"]),
        (GET + b"\r\n" + GET + b"a: b\r\n c: d\r\n\r\n" + last, [b"200", b"400"]),
    ):
        found = raw(one.port, data, half=False).split(b"HTTP/1.1 ")[1:]
        assert [part[:3] for part in found] == statuses


def test_a_long_body_is_refused_and_the_answer_can_be_read(running):
    """The sender hears 413 though it had sent on, and the next one is heard."""
    one = running()
    for _ in range(2):
        assert ask(one.port, "POST", "/reports", b"x" * (16 * LONGEST_BODY)).status == 413
    with socket.create_connection(("127.0.0.1", one.port), timeout=10) as peer:
        for part in (b"GET /", *[b"x" * LONGEST_HEAD] * 4):
            peer.sendall(part)
            time.sleep(0.1)
        assert peer.recv(65536).startswith(b"HTTP/1.1 431 ")
    assert ask(one.port, "GET", "/").status == 200


def test_a_client_may_close_its_side_and_wait(running):
    one = running()
    line = lines_of(one.survey, 1)[0].encode()
    found = raw(one.port, POST + b"content-length: %d\r\n\r\n%b" % (len(line), line))
    assert found.startswith(b"HTTP/1.1 202 ")


@pytest.mark.parametrize("begun", [b"", GET, POST + b"content-length: 9\r\n\r\n{"])
def test_slow_connections_are_closed(running, monkeypatch, begun):
    """Whichever part of a request is awaited, a connection is not held for it."""
    one = running()
    monkeypatch.setattr(SurveyProtocol, "header_seconds", 0.3)
    monkeypatch.setattr(SurveyProtocol, "body_seconds", 0.3)
    start = time.monotonic()
    assert raw(one.port, begun, half=False) == b""
    assert 0.2 < time.monotonic() - start < 9


def test_too_many_connections_are_told_so(running, monkeypatch):
    one = running()
    monkeypatch.setattr(serving, "MOST", 3)
    with ExitStack() as held:
        for _ in range(3):
            held.enter_context(socket.create_connection(("127.0.0.1", one.port)))
        assert raw(one.port, b"", half=False).startswith(b"HTTP/1.1 503 ")
    for _ in range(100):
        if (found := raw(one.port, GET + b"connection: close\r\n\r\n")[9:12]) == b"200":
            break
        time.sleep(0.05)
    assert found == b"200"


def test_what_goes_wrong_inside_is_not_told(running, monkeypatch, capfd, caplog):
    """Neither the sender nor the log hears of it, and nothing of a request is logged."""
    one = running()
    line = lines_of(one.survey, 1)[0]
    with monkeypatch.context() as patched:
        patched.setattr(Collector, "_posted", lambda *_: 1 / 0)
        refused = ask(one.port, "POST", "/reports", line)
    assert (refused.status, refused.body) == (503, b"not now: try again later\n")
    assert refused.headers["access-control-allow-origin"] == "*"
    assert ask(one.port, "POST", "/reports", line).status == 202
    raw(one.port, b"nonsense\r\n\r\n")
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


def test_tickets_over_http(running):
    one = running(tickets=2)
    first, second = lines_of(one.survey, 2)
    ticketed = json.dumps({"ticket": one.codes[0]}, separators=(",", ":"))
    for body, status in (
        *((first, 403), (f"{ticketed}\n{first}", 202), (f"{ticketed}\n{first}", 202)),
        *((f"{ticketed}\n{second}", 403), (first, 202)),
    ):
        assert ask(one.port, "POST", "/reports", body).status == status
    assert counted(one, 1) == 1
    one.store.end()
    assert ask(one.port, "POST", "/reports", first).status == 410


@pytest.mark.slow
def test_pages_are_strict(running):
    bad = "<script>alert(1)</script>"
    one = running(title=bad)
    served = ask(one.port, "GET", "/town/")
    assert served.body == page(one.survey)
    assert served.headers["content-security-policy"] == "frame-ancestors 'none'"
    for path in ("/results", "/town/results?pause", "/results?language=fr"):
        found = ask(one.port, "GET", path)
        assert found.status == 200
        assert found.headers["content-security-policy"].startswith("default-src 'none'")
        assert b"<script" not in found.body
        said = words("fr" if "fr" in path else "en")["results_hidden"].format(
            fewest="<bdi>50</bdi>"
        )
        assert said in found.body.decode()
        assert ("refresh" in found.headers) is ("pause" not in path)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is of POSIX")
def test_killed_again_and_again_every_record_counts_once(place):
    """A few kills; ``benchmarks/collector.py kills`` does a hundred."""
    typed = [sys.executable, str(BENCHMARK), "kills", "--times", "3", "--store", place()]
    done = subprocess.run(typed, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    found = ast.literal_eval(done.stdout)
    assert found["status"] == 0
    assert found["counted"] >= found["accepted"] > 0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are of POSIX")
def test_the_command_serves_and_stops_on_a_signal(survey_cases, tmp_path):
    store, _ = SurveyStore.create(tmp_path / "s.db", Survey.from_facts(survey_cases.facts()))
    run = "from sourdine.cli import main; main()"
    words_typed = ["survey", "serve", str(store.place), "--port", "0"]
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", run, *words_typed], stderr=subprocess.PIPE, text=True
    ) as process:
        first = process.stderr.readline()
        port = int(first.split(":")[2].split("/")[0])
        line = lines_of(store.survey, 1)[0]
        assert ask(port, "POST", "/commute/reports", line).status == 202
        process.send_signal(signal.SIGTERM)
        assert "Stopped: 1 people are counted" in process.stderr.read()
        assert process.wait() == 0
    assert store.people == 1
    store.close()


def asgi(application, method, path, *parts):
    """Return the status, the headers and the body that an ASGI application answers."""
    waiting = [
        {"type": "http.request", "body": part, "more_body": i + 1 < len(parts)}
        for i, part in enumerate(parts)
    ]
    sent = []

    async def receive():
        return waiting.pop(0) if waiting else {"type": "http.request"}

    async def send(message):
        sent.append(message)

    path, _, query = path.partition("?")
    asked = {"method": method, "path": path, "query_string": query.encode(), "headers": []}
    scope = {"type": "http", **asked}
    return application(scope, receive, send), sent


def test_a_larger_server_holds_it(survey_cases, tmp_path):
    survey = Survey.from_facts(survey_cases.facts())
    store, _ = SurveyStore.create(tmp_path / "s.db", survey)
    line = lines_of(survey, 1)[0].encode()

    async def run():
        collector, found = Collector(store.place), []
        for asked in (("GET", "/commute/"), ("HEAD", "/"), ("GET", "/results?language=fr"),
                      ("POST", "/commute/reports", line[:9], line[9:]),
                      ("POST", "/reports", b"x" * LONGEST_BODY, b"x"), ("GET", "/no")):  # fmt: skip
            answering, sent = asgi(collector, *asked)
            await answering
            found.append((sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]))
        collector.stop()
        return found

    with ThreadPoolExecutor(1) as another:  # a browser's loop may run in this one
        found = another.submit(asyncio.run, run()).result()
    assert [status for status, _, _ in found] == [200, 200, 200, 202, 413, 404]
    assert found[0][2] == page(survey)
    assert found[1][2] == b""
    assert int(found[1][1][b"content-length"]) == len(page(survey))
    assert found[2][1][b"content-security-policy"].startswith(b"default-src 'none'")
    assert store.people == 1
    store.close()


@pytest.mark.slow
def test_the_demo_runs():
    said = []
    with ThreadPoolExecutor(1) as another:  # a browser's loop may run in this one
        found = another.submit(demo, n=60, seconds=3, say=said.append).result()
    assert 0 < found.people <= 60
    assert any("/results" in text for text in said)


@pytest.mark.slow
def test_a_browser_answers_the_served_page(running, chromium):
    one = running(tickets=1)
    context = chromium.new_context(locale="en-GB")
    tab, said = context.new_page(), []
    tab.on("console", lambda message: said.append(message.text))
    tab.goto(f"http://127.0.0.1:{one.port}/town/#ticket={one.codes[0]}")
    tab.get_by_label("by bus").check()
    tab.get_by_role("button", name=words("en")["draw"]).click()
    shown = tab.locator("section pre").text_content().split("\n")
    assert json.loads(shown[0]) == {"ticket": one.codes[0]}, "the page shows all that leaves"
    assert len(shown) == 2
    tab.locator("#send").click()
    tab.get_by_text(words("en")["accepted"]).wait_for()
    tab.locator("#send").click()
    tab.get_by_text(words("en")["accepted"]).wait_for()
    assert counted(one, 1) == 1
    tab.goto(f"http://127.0.0.1:{one.port}/town/results?pause")
    assert "People counted: 1." in tab.locator("main").inner_text()
    assert said == []
    context.close()
