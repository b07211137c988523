"""A client remembers how far ledgers had got, in a file that outlives its process."""

from __future__ import annotations

import json

import httpx
import pytest

from serving import COUNT, Api, data_file, filled_store, problem, served
from session_calls import AGES
from sourdine import Remote
from sourdine.client.connection import HEAD, LINE, SEEN, Connection, SeenHeads
from sourdine.errors import ParameterError, SourdineError
from sourdine.privacy import Guarantee
from sourdine.session import Terms


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Return a store and an older copy of it, a token, and what a client remembers."""
    folder = tmp_path_factory.mktemp("remembering")
    path, address = data_file(folder, AGES), f"sqlite:///{folder}/store.db"
    store, tokens = filled_store(address, path, Terms(total=Guarantee(100)))
    store.backup(folder / "older.db")
    store.close()
    remembered = folder / "heads.json"
    with served(address) as url:
        with Remote(url, tokens["anna"], remember=remembered) as remote:
            remote.session("people").count(epsilon=0.01)
        yield url, tokens, f"sqlite:///{folder}/older.db", remembered


@pytest.mark.slow
def test_an_old_copy_is_noticed_by_a_later_process(stores, tmp_path):
    first, tokens, older, remembered = stores
    with Remote(first, tokens["anna"], remember=remembered) as again:
        assert len(again.session("people").history) == 1
    known = json.loads(remembered.read_text())
    assert set(known) == {first}
    assert known[first]["people"][0] >= 4
    with served(older) as url:
        moved = tmp_path / "heads.json"  # the same server, by its address
        moved.write_text(json.dumps({url: known[first], "https://other.example": {}}))
        refused = pytest.raises(SourdineError, match=r"people must hold line .* an older")
        with Remote(url, tokens["anna"], remember=moved) as later, refused:
            later.session("people")
        assert json.loads(moved.read_text())[url] == known[first]
        with Remote(url, tokens["anna"]) as forgetful:
            forgetful.session("people")


@pytest.mark.slow
def test_a_forged_head_is_refused(stores):
    """A line that is there with another head is another ledger."""
    url, tokens, _, _ = stores
    with Remote(url, tokens["anna"]) as remote:
        remote._connection._seen.put("people", 2, "f" * 32)
        with pytest.raises(SourdineError, match="an older or a different copy"):
            remote.session("people")


@pytest.mark.parametrize(("line", "seen"), [(4, "05" * 16), (6, "06" * 16), (6, None)])
def test_a_ledger_without_the_line_that_was_seen_is_refused(line, seen):
    with_seen = {} if seen is None else {SEEN: seen}

    def answer(_):
        return httpx.Response(200, json={}, headers={LINE: str(line), HEAD: "0a" * 16, **with_seen})

    connection = Connection("https://a.example", "x", transport=httpx.MockTransport(answer))
    connection._seen.put("people", 5, "05" * 16)
    with pytest.raises(SourdineError, match="an older or a different copy"):
        connection.get("", "people")
    assert connection._seen.get("people") == (5, "05" * 16)


def test_a_request_that_is_sent_again_has_the_same_key():
    keys = []

    def answer(request):
        keys.append(request.headers.get("idempotency-key"))
        return httpx.Response(503 if len(keys) == 1 else 200, json={})

    connection = Connection("https://a.example", "x", transport=httpx.MockTransport(answer))
    connection.post("/releases", "people", {"statistic": "count"}, key="k" * 16)
    assert keys == ["k" * 16] * 2


def test_two_processes_share_a_file(tmp_path):
    path, url = tmp_path / "heads.json", "https://a.example"
    first, second = SeenHeads(url, path), SeenHeads(url, path)
    first.put("ages", 5, "05" * 16)
    second.put("ages", 4, "04" * 16)
    second.put("wages", 1, "01" * 16)
    assert SeenHeads(url, path).get("ages") == (5, "05" * 16)
    assert SeenHeads(url, path).get("wages") == (1, "01" * 16)
    assert SeenHeads("https://b.example", path).get("ages") is None


@pytest.mark.parametrize(
    "text", ["", "[]", '{"a": 1}', '{"a": {"b": [1]}}', '{"a": {"b": [1, 2]}}']
)
def test_a_broken_file_is_not_forgotten_in_silence(tmp_path, text):
    path = tmp_path / "heads.json"
    path.write_text(text)
    with pytest.raises(ParameterError, match="remember must be a file that a client wrote"):
        SeenHeads("https://a.example", path)


@pytest.mark.slow
def test_a_history_may_begin_within_a_batch(stores):
    url, tokens, _, _ = stores
    anna = Api(url, tokens["anna"])
    first = anna.release({"questions": [{**COUNT, "epsilon": 0.01 * (1 + i)} for i in range(4)]})
    number = first.json()["number"]
    anna.release(COUNT)
    whole = anna.get("/datasets/people/releases").json()["charges"]
    for after in range(number + 5):
        part = anna.get(f"/datasets/people/releases?after={after}").json()["charges"]
        assert part == whole[after:]
        assert all(one["analyst"] == "anna" and one["answer"] for one in part)
    problem(anna.get(f"/datasets/people/releases/{number + 1}"), 404, "unknown")
    assert anna.get(f"/datasets/people/releases/{number}").json()["count"] == 4
