"""No request takes a worker: limits hold for what parameters mean, however they are spelled."""

from __future__ import annotations

import asyncio
import re
import socket
from http.client import HTTPConnection
from importlib import import_module
from itertools import product
from pkgutil import walk_packages
from threading import Event, Thread
from time import monotonic, sleep
from types import SimpleNamespace

import msgspec
import pytest
from starlette.requests import Request

from guarded import guarded, label_file
from serving import COUNT, Api, data_file, filled_store, problem, served
from session_calls import AGES
from sourdine import server
from sourdine.errors import ParameterError
from sourdine.parameters.question import parameters
from sourdine.privacy import Guarantee
from sourdine.questions import QUESTIONS
from sourdine.server import requests, state
from sourdine.server.requests import (
    MOST_NUMBERS,
    SIZES,
    OpenedOnce,
    RefusedError,
    read_body,
    require_small,
    require_small_answer,
)
from sourdine.session import Session, Terms
from sourdine.storage.database import Transaction
from sourdine.survey.serving import TimedProtocol

LARGE = 20_000
NAMES = [str(i) for i in range(LARGE)]
FEW = {"bounds", "weight_bounds", "steps", "read", "by", "tables", "lookup", "x"}
"""Lists and objects with one entry for each column that a question names, or for each option."""


def shapes(schema):
    """Return the types that a JSON Schema admits, in any of its branches."""
    own = schema.get("type", ())
    found = {own} if isinstance(own, str) else set(own)
    for part in schema.get("anyOf", ()):
        found |= shapes(part)
    return found


def test_every_parameter_that_may_be_long_has_a_size():
    long = {
        p.name
        for cls in QUESTIONS.values()
        for p in parameters(cls)
        if {"array", "object"} & shapes(p.kind.schema)
    }
    assert long - FEW == set(SIZES) - {"statement"}  # a text, which selects several numbers


SPELLED = {
    "bins": [
        *("501", "501 ", " 501", "5_01", "501.0", "5.01e2", "0501", "1002/2", "200000 "),
        *(501, 501.0, 10**12, list(range(502)), ",".join(map(str, range(502)))),
    ],
    "q": [[i / 101 for i in range(1, 101)], ",".join(str(i / 101) for i in range(1, 101))],
    "keys": [
        NAMES,
        ",".join(NAMES),
        {"a": NAMES[:1000], "b": NAMES[:1000]},
        {"a": ",".join(NAMES[:1000]), "b": NAMES[:1000]},
        [[x, "1"] for x in NAMES],
    ],
    "categories": [NAMES, ",".join(NAMES)],
    "strata_keys": [NAMES, ",".join(NAMES)],
    "columns": [NAMES, ",".join(NAMES)],
    "kinds": [dict.fromkeys(NAMES, "number"), ",".join(f"{x}:number" for x in NAMES)],
    "statement": [
        "SELECT g, h, COUNT(*), SUM(x) FROM t WHERE g IN ({0}) AND h IN ({0}) GROUP BY g, h".format(  # noqa: S608
            ",".join(NAMES[:80])
        ),
    ],
    "of": [{name: ["mean"] for name in NAMES}, {"x": NAMES}, {"x": ",".join(NAMES)}],
}
CASES = [
    (kind, name, i)
    for kind, cls in QUESTIONS.items()
    for name in sorted({p.name for p in parameters(cls)} & set(SIZES))
    for i in range(len(SPELLED[name]))
]


@pytest.mark.parametrize(("kind", "name", "i"), CASES)
def test_what_is_large_is_refused_however_it_is_spelled(kind, name, i):
    began = monotonic()
    with pytest.raises(ParameterError, match="at most"):
        require_small_answer(QUESTIONS[kind], {name: SPELLED[name][i]})
    assert monotonic() - began < 5


def test_sizes_are_multiplied():
    groups = {"by": "g", "keys": NAMES[:100]}
    require_small_answer(QUESTIONS["count"], groups)
    require_small_answer(QUESTIONS["histogram"], {**groups, "bins": 100})
    with pytest.raises(ParameterError, match=f"hold at most {MOST_NUMBERS} numbers"):
        require_small_answer(QUESTIONS["histogram"], {**groups, "bins": "101 "})
    require_small_answer(QUESTIONS["quantiles"], {**groups, "q": [0.25, 0.5, 0.75]})
    with pytest.raises(ParameterError, match="hold at most 1000 numbers"):
        require_small_answer(QUESTIONS["median"], {"by": "g", "keys": NAMES[:1001]})


@pytest.mark.parametrize(
    "text",
    [
        *("1" * 400, "0." + "0" * 400 + "1", "1e31", "-1" + "0" * 285, "1/" + "9" * 40),
        *("0 " + "9" * 40, "0,1" + "0" * 285, "1_0" * 40, " 1E-99 "),
    ],
)
def test_numbers_that_nobody_means_are_refused_as_texts(text):
    with pytest.raises(ParameterError, match="an ordinary number"):
        require_small({"epsilon": text})


@pytest.mark.parametrize("text", ["1/3", "0 120", "2020-01-01", "1e-5", "north, 12", "", "1_000"])
def test_usual_texts_pass(text):
    require_small({"any": text})


@pytest.fixture
def free(tmp_path):
    """Return a server without declared columns, and who asks it."""
    address = f"sqlite:///{tmp_path}/store.db"
    path = data_file(tmp_path, AGES)
    store, tokens = filled_store(address, path, Terms(total=Guarantee(10**6)))
    guarded(store, label_file(tmp_path))
    with served(address) as url:
        yield SimpleNamespace(
            url=url, store=store, tokens=tokens, anna=Api(url, tokens["anna"]), path=path
        )
    store.close()


@pytest.mark.slow
def test_large_questions_are_refused_at_once(free):
    large = [
        {"statistic": "histogram", "column": "age", "bounds": [0, 120], "bins": "200000 "},
        {
            "statistic": "count",
            "by": ["age", "sex"],
            "keys": {"age": list(range(1000)), "sex": [str(i) for i in range(1000)]},
        },
    ]
    for body, path in product(large, ("plan", "can-release", "curve", "releases")):
        began = monotonic()
        answer = free.anna.post(
            f"/datasets/people/{path}", {**body, "epsilon": 1}, key=f"{path}-0123456789"
        )
        problem(answer, 422, "parameter")
        assert monotonic() - began < 10


def test_texts_that_are_stored_end_where_they_seem_to():
    """A dollar sign lets a last line break through: no request of the server has such a pattern."""
    stored = {}
    for found in walk_packages(server.__path__, "sourdine.server."):
        module = import_module(found.name)
        for cls in vars(module).values():
            if not (isinstance(cls, type) and issubclass(cls, msgspec.Struct)):
                continue
            facts = msgspec.json.schema(cls).get("$defs", {}).get(cls.__name__, {})
            for field in facts.get("properties", {}).items():
                for part in (field[1], *field[1].get("anyOf", ())):
                    if "pattern" in part:
                        stored[cls.__name__, field[0]] = part["pattern"]
    assert {"NewPerson", "NewToken", "Registering", "RegisteringGuard"} <= {
        cls for cls, _ in stored
    }
    for (_, name), pattern in stored.items():
        assert re.search(pattern, "abc")
        broken = () if name == "description" else ("abc\n", "\nabc", "a\nbc")  # it has lines
        for text in (*broken, "abc\r", "abc\x85", "abc\u2028"):
            assert not re.search(pattern, text), pattern


# ---- what waits for something that does not come


@pytest.mark.slow
def test_data_that_cannot_be_reached_delay_nobody_else(free, monkeypatch):
    reached, go = Event(), Event()
    real = state.opened

    def slow(source, read):
        if reached.is_set():
            return real(source, read)
        reached.set()
        assert go.wait(60)
        raise OSError

    monkeypatch.setattr(state, "opened", slow)
    free.store.grants.give("others", "anna", 1000)
    answers = []
    thread = Thread(target=lambda: answers.append(free.anna.release(COUNT, "others")))
    thread.start()
    assert reached.wait(30)
    try:
        assert free.anna.release(COUNT).status_code == 200
        assert not answers
    finally:
        go.set()
        thread.join(60)
    problem(answers[0], 409, "conflict")
    assert free.anna.release(COUNT, "others").status_code == 200  # it is tried again


def test_who_waits_for_the_same_waits_for_a_while(monkeypatch):
    monkeypatch.setattr(requests, "PATIENCE", 0.05)
    things, go, began, found = OpenedOnce(), Event(), Event(), []

    def slow():
        began.set()
        go.wait(60)
        return 7

    thread = Thread(target=lambda: found.append(things.get("a", slow)))
    thread.start()
    assert began.wait(30)
    with pytest.raises(RefusedError) as refused:
        things.get("a", lambda: 8)
    assert (refused.value.status, refused.value.wait) == (503, 5)
    assert things.get("b", lambda: 9) == 9
    go.set()
    thread.join(60)
    assert (found, things.get("a", lambda: 8)) == ([7], 7)


@pytest.mark.slow
def test_a_part_of_the_history_reads_that_part_alone(free, monkeypatch):
    """Whatever is asked for: so many lines as that needs, and some to find it."""
    session = Session(AGES, ledger=free.store.datasets.ledger("people"))
    for i in range(40):  # charges under keys, with answers, of batches, and of a session
        if i % 8 == 0:
            session.count(epsilon=0.1)
        free.anna.release({"questions": [COUNT] * (1 + i % 3)})
    whole = free.anna.get("/datasets/people/releases").json()["charges"]
    assert [one["number"] for one in whole] == list(range(1, len(whole) + 1))
    assert {one["state"] for one in whole} == {"unknown", "answered"}
    for after, most in product((0, 1, 7, 50, len(whole) - 1, len(whole), 10**9), (0, 1, 5, 1000)):
        path = f"/datasets/people/releases?after={after}&most={most}"
        assert free.anna.get(path).json()["charges"] == whole[after : after + most]
    read = []
    for name in ("all", "one"):
        real = getattr(Transaction, name)

        def counted(self, statement, *values, real=real):
            found = real(self, statement, *values)
            rows = found if isinstance(found, list) else [found]
            read.extend(row for row in rows if row and " lines " in statement)
            return found

        monkeypatch.setattr(Transaction, name, counted)
    assert free.anna.get("/datasets/people/releases?after=30&most=1").status_code == 200
    assert len(read) < 20


@pytest.mark.slow
@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"GET /api/v1/me HTTP/1.1\r\nHost: x\r\n",
        b"POST /api/v1/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b'Content-Length: 100\r\n\r\n{"name": ',
    ],
    ids=["nothing", "headers", "body"],
)
def test_half_requests_are_cut_off(free, monkeypatch, half):
    """Fifty of them: they are closed in time, and others are answered meanwhile."""
    monkeypatch.setattr(TimedProtocol, "header_seconds", 1.0)
    monkeypatch.setattr(TimedProtocol, "body_seconds", 1.0)
    where = ("127.0.0.1", int(free.url.rpartition(":")[2]))
    begun = [socket.create_connection(where, timeout=30) for _ in range(50)]
    try:
        for one in begun:
            one.sendall(half)
        assert free.anna.get("/me").status_code == 200
        end = monotonic() + 30
        while begun and monotonic() < end:
            for one in list(begun):
                one.settimeout(0.01)
                try:
                    closed = one.recv(1000) == b""
                except TimeoutError:
                    closed = False
                except ConnectionError:
                    closed = True
                if closed:
                    one.close()
                    begun.remove(one)
        assert not begun
    finally:
        for one in begun:
            one.close()


@pytest.mark.slow
def test_a_connection_may_be_used_again_and_slowly(free, monkeypatch):
    """The limit is for each request: one that is answered slowly is not cut off."""
    monkeypatch.setattr(TimedProtocol, "header_seconds", 1.0)
    real = Session._drawn
    monkeypatch.setattr(Session, "_drawn", lambda *args: (sleep(2), real(*args))[1])
    token = free.tokens["anna"]
    line = HTTPConnection("127.0.0.1", int(free.url.rpartition(":")[2]), timeout=30)
    for i in range(2):
        headers = {
            "Authorization": f"Bearer {token}",
            "Idempotency-Key": f"slowly-0123456789-{i}",
            "Content-Type": "application/json",
        }
        asked = msgspec.json.encode(COUNT)
        line.request("POST", "/api/v1/datasets/people/releases", asked, headers)
        answer = line.getresponse()
        assert (answer.status, bool(answer.read())) == (200, True)
    line.close()


@pytest.mark.parametrize(("sent", "status"), [(b'"123456"', None), (b'"1234567"', 413)])
def test_a_body_is_read_up_to_its_limit(sent, status):
    chunks = [sent[:3], sent[3:]]

    async def receive():
        """Return the next part of a body."""
        part = chunks.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(chunks)}

    head = {"type": "http", "method": "POST", "headers": [(b"content-type", b"application/json")]}
    reading = read_body(Request(head, receive), longest=8)
    if status is None:
        assert asyncio.run(reading) == sent
    else:
        with pytest.raises(RefusedError) as refused:
            asyncio.run(reading)
        assert refused.value.status == status
