"""Requests that nobody sends who means well: they are refused, and learn nothing."""

from __future__ import annotations

import gzip
import json

import pytest

from serving import COUNT, KEY, Api, data_file, filled_store, problem, served
from session_calls import AGES
from sourdine.privacy import Guarantee
from sourdine.session import Terms


@pytest.mark.slow
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


@pytest.mark.quick_cases(3)
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
    for path in ("plan", "can-release", "curve", "releases"):
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
    from sourdine.session import Session

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
    from sourdine.central import Count

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


@pytest.mark.slow
def test_an_owner_over_http_reaches_no_file_outside_the_folder(tmp_path):
    inside, outside = tmp_path / "data", tmp_path / "secret"
    for folder in (inside, outside):
        folder.mkdir()
        data_file(folder, AGES)
    (inside / "link.csv").symlink_to(outside / "people.csv")
    address = f"sqlite:///{tmp_path}/store.db"
    store, tokens = filled_store(address, inside / "people.csv", Terms(total=Guarantee(1)))
    store.close()
    with served(address, folder=str(inside)) as url:
        olga = Api(url, tokens["olga"])
        said = set()
        for source in (
            f"{outside}/people.csv",
            f"{inside}/../secret/people.csv",
            f"{inside}/link.csv",
            f"duckdb:///{outside}/people.db#people",
            f"{outside}/nowhere.csv",
            "postgresql://127.0.0.1/other",
        ):
            answer = olga.post("/datasets", {"name": "x", "source": source, "epsilon": 1})
            problem(answer, 422, "parameter")
            said.add(answer.text)
        assert len(said) == 1
        good = {"name": "x", "source": f"{inside}/people.csv", "epsilon": 1}
        assert olga.post("/datasets", good).status_code == 201
