"""Node, Chromium, and what every engine must draw alike."""

from __future__ import annotations

import json
import random
import subprocess
import tomllib
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest

import survey_device as device
from browsing import chromium_running
from programs import found
from sourdine.local import Choice, Choices, Flag, Number, Schema
from sourdine.local.table.columns import CATEGORICAL, NUMERIC
from sourdine.survey import form
from sourdine.survey.document import SKELETON
from sourdine.survey.form import form_for_device

HERE = Path(__file__).parent
DEVICE = Path(form.__file__).with_name("web") / "device.mjs"


@pytest.fixture(scope="session")
def node():
    """Return what runs a script of this folder in Node, with JSON in and out."""
    path = found("node", "SOURDINE_NODE", "the browser's device was NOT TESTED")

    def run(script, given, *, device=DEVICE):
        done = subprocess.run(  # noqa: S603
            [path, str(HERE / script), str(device)],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)

    run.path = path
    return run


@pytest.fixture(scope="session")
def survey_cases():
    """Return what follows: columns, schemas, replays, the facts of a survey."""
    return SimpleNamespace(
        columns=columns, schemas=schemas, replays=replays, facts=facts, DEVICE=DEVICE
    )


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def place(request, tmp_path):
    """Return where a new store can be, of either kind: a new place with each call."""
    if request.param == "sqlite":
        yield (str(tmp_path / f"{number}.db") for number in count()).__next__
        return
    cluster, made = request.getfixturevalue("postgres_cluster"), []

    def new():
        made.append(cluster.create())
        return made[-1]

    yield new
    for one in made:
        cluster.drop(one)


class Recorded:
    """Bytes of a generator that repeats itself; what was asked for first is given first."""

    private = False

    def __init__(self, rng):
        self.rng, self.given, self.asked = rng, b"", b""

    def bytes(self, count):
        wanted = count - len(self.asked)
        now = self.asked[:count] + self.rng.randbytes(max(wanted, 0))
        self.asked, self.given = self.asked[count:], self.given + now
        return now


class Teasing(device.Draw):
    """Draws whose uniform agrees with the first chance it meets in its first 64 or 128 bits."""

    def find(self, last, cumulative):
        bits = self.source.rng.choice((64, 128))
        word = cumulative((last - 1) // 2).ends(bits)[0] & (1 << bits) - 1
        first = (word >> at & (1 << 64) - 1 for at in range(bits - 64, -1, -64))
        self.source.asked += b"".join(part.to_bytes(8, "little") for part in first)
        return super().find(last, cumulative)


def columns():
    """Return a column for every way in which a schema can ask and randomise."""
    made = {}
    for method in CATEGORICAL:
        made[f"{method}"] = Choice("a", "b", "c", "d é", "</e>", method=method)
        made[f"{method}, none"] = Choice(*"abcdefghijklm", method=method, missing="none")
        made[f"{method}, flag"] = Flag(method=method)
        made[f"{method}, flag, none"] = Flag(method=method, missing=True)
    for method in NUMERIC:
        made[f"{method}"] = Number(-3, 9, 0.5, method=method)
        made[f"{method}, none"] = Number(0, 120, 1, method=method, missing=True)
        made[f"{method}, fine"] = Number(0, 1, method=method)
    made["choices"] = Choices("tv", "web", "radio")
    made["many choices"] = Choices(*(f"c{i}" for i in range(16)))
    return made


def schemas():
    """Return schemas of one column, of all, and of some of which one is sampled."""
    every = columns()
    cheap = {name: column for name, column in every.items() if "fine" not in name}
    for epsilon in (Fraction(1, 3), 1, 4):
        for name, column in (every if epsilon == 1 else cheap).items():
            yield Schema.of({name: column}, epsilon=epsilon)
    yield Schema.of(cheap, epsilon=8)
    yield Schema.of(
        cheap, epsilon=Fraction(7, 5), method="sample", weights={"response": 3, "duchi": 0.5}
    )


def answer(column, rng):
    """Return any answer to a column, or none where a device takes none."""
    if rng.random() < 0.2 and column["absent"] not in device.NEEDED:
        return None
    if column["kind"] == "number":
        return rng.choice([str(rng.randint(-5, 130)), f"{rng.uniform(-4, 10):.3f}", "4,25", "5."])
    if column["kind"] == "choices":
        return rng.sample(column["answers"], rng.randint(0, len(column["answers"])))
    return rng.choice(column["answers"])


def replays(records, *, seed=1):
    """Return forms, and for so many records the answers, the bytes, the line and how many it took.

    Every other record is of teasing draws.
    """
    rng, forms, jobs = random.Random(seed), [form_for_device(s) for s in schemas()], []  # noqa: S311
    for number in range(records):
        place = number % len(forms)
        answers = {c["name"]: answer(c, rng) for c in forms[place]["columns"]}
        source = Recorded(rng)
        maker, device.Draw = device.Draw, Teasing if number // len(forms) % 2 else device.Draw
        try:
            line = device.record(forms[place], answers, source=source)
        finally:
            device.Draw = maker
        jobs.append((place, answers, source.given, line))
    return forms, jobs


def facts(**changes):
    """Return a survey of every kind of question, in two languages."""
    whole = tomllib.loads(SKELETON)
    return whole | changes


@pytest.fixture(scope="module")
def chromium():
    """Return a running browser; while it runs, its loop is that of the thread."""
    with chromium_running("the survey's page was") as browser:
        yield browser


class Collector:
    """A server on loopback that serves pages and keeps what is sent to it."""

    def __init__(self):
        self.pages, self.lines, self.status = {}, [], 202
        kept = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                page = kept.pages.get(self.path)
                self._reply(200 if page else 404, page or b"")

            def do_POST(self):
                kept.lines.append(self.rfile.read(int(self.headers["content-length"])).decode())
                self._reply(kept.status, b"")

            def _reply(self, status, body):
                self.send_response(status)
                self.send_header("content-type", "text/html; charset=utf-8")
                self.send_header("content-length", str(len(body)))
                self.send_header("access-control-allow-origin", "*")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def collector():
    made = Collector()
    yield made
    made.server.shutdown()
    made.server.server_close()
