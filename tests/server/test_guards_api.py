"""Guards over HTTP: who may do what, what is refused and how, and the client."""

from __future__ import annotations

import json
from itertools import count
from types import SimpleNamespace

import httpx
import numpy as np
import pytest

from guarded import LABELS, as_text, guarded, label_file, model, submission
from serving import KEY, Api, data_file, filled_store, problem, served
from session_calls import AGES
from sourdine import Remote
from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.leaderboard import Leaderboard, Standing
from sourdine.errors import BudgetExceededError, ParameterError
from sourdine.privacy import Guarantee
from sourdine.server.labels import HeldLabels, labels_at
from sourdine.server.requests import LONGEST_BODY, LONGEST_UPLOAD, RefusedError
from sourdine.server.running import demo_store
from sourdine.server.store.store import ServerStore
from sourdine.session import Terms

KEYS = (f"{KEY}-{number}" for number in count())
ANIMALS = ["gnu", "okapi", "xylophage"] * 300


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a server with guards, and everybody who asks it."""
    folder = tmp_path_factory.mktemp("guards")
    address = f"sqlite:///{folder}/store.db"
    store, tokens = filled_store(address, data_file(folder, AGES), Terms(total=Guarantee(1)))
    path = label_file(folder)
    for name in ("eval", "client", "closing", "ledger"):
        guarded(store, path, name)
    guarded(store, label_file(folder, 1 - LABELS, "turned.csv"), "turned")
    guarded(store, label_file(folder, ANIMALS, "animals.csv"), "animals", error=0.2)
    guarded(store, path, "few", submissions=2)
    guarded(store, path, "tight", error=0.042)
    guarded(store, path, "bens", teams=["ben"])
    guarded(store, path, "granted", teams=[])
    with served(address, folder=str(folder)) as url:
        people = {name: Api(url, token) for name, token in tokens.items()}
        yield SimpleNamespace(
            url=url, store=store, folder=folder, tokens=tokens, path=path, address=address, **people
        )
    store.close()


def submit(api, guard, predictions, key=None):
    """Send predictions, under a new key unless one is given."""
    body = {"predictions": predictions}
    return api.post(f"/guards/{guard}/submissions", body, key=key or next(KEYS))


@pytest.mark.slow
def test_an_owner_registers_labels_that_lie_below_the_folder(site):
    facts = {"name": "new", "source": str(site.path), "column": "y", "error": "0.06"}
    made = site.olga.post("/guards", {**facts, "text": "Heads or tails?"})
    assert made.status_code == 201
    assert made.headers["location"] == "/api/v1/guards/new"
    found = made.json()
    assert (found["n"], found["kind"], found["whole"], found["step"]) == (
        2000,
        "number",
        True,
        0.02,
    )
    assert found["total"] == found["remaining"]
    assert found["total"]["bits"] > 10
    assert found["share"] == 0
    assert problem(site.olga.post("/guards", facts), 422, "parameter")["must"] == "be new"
    assert problem(site.anna.post("/guards", facts), 403, "forbidden")
    for wrong, name in (
        ({"source": "/etc/hostname"}, "source"),
        ({"source": str(site.folder / "none.csv")}, "source"),
        ({"column": None}, "column"),
        ({"error": "0.001"}, "error"),
        ({"scale": 2}, "scale"),
        ({"loss": "absolute"}, "scale"),
        ({"blocks": 10, "markov": 0.5}, "blocks"),
        ({"confidence": 2}, "confidence"),
        ({"loss": "own"}, "the body"),
        ({"labels": [1, 0]}, "the body"),
    ):
        refused = site.olga.post("/guards", {**facts, "name": "wrong", **wrong})
        assert problem(refused, 422, "parameter")["name"] == name


@pytest.mark.slow
def test_teams_have_what_was_granted(site):
    granted = site.olga.post("/guards/granted/grants", {"team": "anna", "submissions": 7})
    assert granted.json() == {"team": "anna", "submissions": 7, "sent": 0, "remaining": 7}
    assert site.udo.get("/guards/granted/grants").json() == [granted.json()]
    assert problem(site.anna.get("/guards/granted/grants"), 403, "forbidden")
    assert site.anna.get("/guards/granted").json()["grant"] == granted.json()
    assert "bens" not in [one["name"] for one in site.anna.get("/guards").json()]
    assert "bens" in [one["name"] for one in site.udo.get("/guards").json()]
    texts = {
        answer.text
        for name in ("bens", "nothing")
        for answer in (site.anna.get(f"/guards/{name}"), submit(site.anna, name, model(0.7)))
        if problem(answer, 404, "unknown")
    }
    assert len(texts) == 1
    assert problem(submit(site.olga, "eval", model(0.7)), 404, "unknown")


def test_a_submission_is_told_once_under_its_key(site):
    key = next(KEYS)
    first = submit(site.anna, "eval", model(0.7), key)
    assert first.headers["idempotent-replayed"] == "false"
    told = first.json()
    assert told["leads"]
    assert told["score"]["lower"] < 0.7 < told["score"]["upper"]
    again = submit(site.anna, "eval", model(0.7), key)
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json() == told
    problem(submit(site.anna, "eval", model(0.8), key), 422, "key-reused")
    no = submit(site.ben, "eval", as_text(model(0.6))).json()
    assert (no["leads"], no["score"], no["number"]) == (False, None, 2)
    board = site.anna.get("/guards/eval/leaderboard").json()
    assert [(one["name"], one["tries"]) for one in board["teams"]] == [("anna", 1), ("ben", 1)]
    assert board["teams"][0]["score"] == told["score"]
    assert [
        one["number"] for one in site.ben.get("/guards/eval/submissions").json()["submissions"]
    ] == [2]
    assert len(site.udo.get("/guards/eval/submissions").json()["submissions"]) == 2
    facts = site.anna.get("/guards/eval").json()
    assert facts["bits"] == board["bits"] == told["bits"] + no["bits"]
    assert 0 < facts["share"] < 1
    assert problem(site.anna.post("/guards/eval/submissions", {"predictions": []}), 400, "request")


BAD = {
    "too few": model(0.7)[:-1],
    "none": [],
    "texts": [str(x) for x in model(0.7)],
    "gaps": [None, *model(0.7)[1:]],
    "fractions": [0.5] * 2000,
    "a word in a row": as_text([*model(0.7)[:-1], "seven"]),
    "a gap in a row": as_text([*model(0.7)[:-2], "", 1]),
    "two columns": as_text([f"{x},1" for x in model(0.7)]),
    "no lines": "",
    "too long numbers": [10**30] * 2000,
    "a list of lists": [[1]] * 2000,
    "not what the API says": {"a": 1},
}


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("predictions", BAD.values(), ids=BAD)
def test_refusals_do_not_depend_on_the_labels(site, predictions):
    """Of two guards whose labels agree nowhere, both say the same and charge nothing."""
    before = [site.anna.get(f"/guards/{name}").json()["bits"] for name in ("eval", "turned")]
    texts = set()
    for name in ("eval", "turned"):
        refused = submit(site.anna, name, predictions)
        assert problem(refused, 422, "parameter")["name"] in ("predictions", "the body")
        texts.add(refused.text)
    assert len(texts) == 1
    assert before == [
        site.anna.get(f"/guards/{name}").json()["bits"] for name in ("eval", "turned")
    ]


@pytest.mark.slow
def test_long_bodies_are_for_those_who_are_known(site):
    room = " " * (LONGEST_UPLOAD - 10_000)
    body = json.dumps({"predictions": model(0.61)}).encode()
    headers = {"content-type": "application/json", "idempotency-key": next(KEYS)}
    path = "/guards/eval/submissions"
    send = site.anna.client.post
    assert send(path, content=body + room.encode(), headers=headers).status_code == 200
    problem(send(path, content=body + 2 * room.encode(), headers=headers), 413, "too-long")
    stranger = Api(site.url).client.post
    longer = body + b" " * LONGEST_BODY
    problem(stranger(path, content=longer, headers=headers), 413, "too-long")
    problem(stranger(path, content=b"{}", headers=headers), 401, "unauthorized")
    elsewhere = send("/guards/eval/close", content=longer, headers=headers)
    problem(elsewhere, 413, "too-long")


def test_what_was_granted_is_not_passed(site):
    for right in (0.6, 0.55):
        assert submit(site.anna, "few", model(right)).status_code == 200
    refused = problem(submit(site.anna, "few", model(0.7)), 403, "budget")
    assert "Budget exceeded: anna has used all submissions" in refused["detail"]
    assert submit(site.ben, "few", model(0.7)).status_code == 200


def test_a_guard_without_room_says_what_can_be_done_here(site):
    for number in range(40):
        answer = submit(site.anna, "tight", model(0.5, number))
        if answer.status_code != 200:
            break
    refused = problem(answer, 403, "budget")
    assert refused["hint"].endswith("Ask the owner for fresh labels.")
    assert "final" not in refused["detail"]
    spent = site.anna.get("/guards/tight").json()
    assert spent["bar"] is None
    assert spent["submissions"] == number


def test_a_closed_guard_answers_nothing_new(site):
    key = next(KEYS)
    told = submit(site.anna, "closing", model(0.7), key).json()
    assert problem(site.udo.post("/guards/closing/close", {}), 403, "forbidden")
    assert site.olga.post("/guards/closing/close", {}).json()["state"] == "closed"
    assert problem(submit(site.anna, "closing", model(0.9)), 422, "parameter")["must"] == "be open"
    assert submit(site.anna, "closing", model(0.7), key).json() == told
    assert len(site.anna.get("/guards/closing/leaderboard").json()["teams"]) == 1


def test_an_auditor_follows_the_lines(site):
    told = submit(site.anna, "ledger", model(0.7)).json()
    lines = [json.loads(line) for line in site.udo.get("/guards/ledger/ledger").text.splitlines()]
    tables = ["book", "terms", "sealed", "board", "answers", "submissions"]
    assert [line["table"] for line in lines] == tables
    assert (lines[-1]["line"], lines[-1]["head"]) == (told["line"], told["head"])
    check = site.udo.get("/guards/ledger/check").json()
    assert (check["sound"], check["charges"], check["answers"]) == (True, 1, 1)
    for path in ("ledger", "check"):
        assert problem(site.anna.get(f"/guards/ledger/{path}"), 403, "forbidden")


def test_no_label_is_in_the_store(site):
    truth = [*ANIMALS[:-1], "gnu"]
    assert submit(site.anna, "animals", truth).json()["leads"]
    assert problem(submit(site.anna, "animals", [1] * 900), 422, "parameter")["got"] == "numbers"
    held = b"".join(file.read_bytes() for file in site.folder.glob("store.db*"))
    assert b"guard:animals" in held
    assert b"xylophage" not in held
    shown = [
        site.udo.get(f"/guards/animals{path}").text for path in ("", "/ledger", "/submissions")
    ]
    assert not any("xylophage" in text for text in shown)
    secret = site.store.guards.get("animals").secret
    assert len(secret) == 64
    assert not any(secret in text for text in shown)


@pytest.mark.slow
def test_labels_that_were_changed_are_refused(site):
    path = label_file(site.folder, LABELS, "moving.csv")
    guarded(site.store, path, "moving")
    key = next(KEYS)
    told = submit(site.anna, "moving", model(0.7), key).json()
    label_file(site.folder, [*LABELS[:-1], 1 - LABELS[-1]], "moving.csv")
    assert submit(site.anna, "moving", model(0.6)).status_code == 200  # it holds the first ones
    guard = site.store.guards.get("moving")
    with pytest.raises(RefusedError, match="the labels must be unchanged and readable"):
        HeldLabels(site.store).of(guard)
    path.unlink()
    with served(site.address) as url:
        anna = Api(url, site.tokens["anna"])
        problem(submit(anna, "moving", model(0.8)), 409, "conflict")
        assert submit(anna, "moving", model(0.7), key).json() == told
        assert anna.get("/guards/moving/leaderboard").json()["teams"][0]["tries"] == 2
    label_file(site.folder, LABELS, "moving.csv")
    assert len(HeldLabels(site.store).of(guard)) == 2000


@pytest.mark.parametrize("source", ["spark:labels", "postgresql://host/db#labels"])
def test_labels_have_an_order(source):
    with pytest.raises(ParameterError, match="be a file, as the order of rows matters"):
        labels_at(source, None)


@pytest.mark.slow
def test_owners_need_a_folder(site):
    with served(site.address, folder=None) as url:
        facts = {"name": "none", "source": str(site.path), "column": "y", "error": "0.06"}
        refused = problem(Api(url, site.tokens["olga"]).post("/guards", facts), 403, "forbidden")
    assert refused["hint"].endswith("sourdine serve add-data, or add-guard.")


@pytest.mark.slow
def test_the_demo_has_a_guard(tmp_path):
    address, people = demo_store(tmp_path)
    store = ServerStore.open(address)
    (guard,) = store.guards.all()
    labels = HeldLabels(store).of(guard)
    told = [
        submission(store, labels, key, "analyst", [int(key[0])] * len(labels), guard=guard.name)
        for key in ("0", "1", "0 again")
    ]
    store.close()
    assert [bool(one.standing) for one in told] == [True, True, False]
    assert {one.name for one in people} == {"owner", "analyst", "auditor"}


def test_the_api_is_described(site):
    paths = site.anna.get("/openapi.json").json()["paths"]
    sends = paths["/api/v1/guards/{guard}/submissions"]["post"]
    assert "Idempotency-Key" in [one["name"] for one in sends["parameters"]]
    assert "201" in paths["/api/v1/guards"]["post"]["responses"]
    names = [one["operationId"] for path in paths.values() for one in path.values()]
    assert len(names) == len(set(names))


class Breaking(httpx.HTTPTransport):
    """Loses the answers to the first submissions."""

    left, keys = 2, ()

    def handle_request(self, request):
        answer = super().handle_request(request)
        if request.method == "POST":
            self.keys = (*self.keys, request.headers["idempotency-key"])
            if self.left:
                self.left -= 1
                answer.read()
                raise httpx.ReadError("lost")
        return answer


@pytest.mark.slow
def test_from_afar_a_board_is_what_it_is_here(site):
    here = Leaderboard(GuardedHoldout(LABELS, error=0.08))
    transport = Breaking()
    with (
        Remote(site.url, site.tokens["anna"], transport=transport) as anna,
        Remote(site.url, site.tokens["ben"]) as ben,
    ):
        board = anna.guard("client")
        standing = board.submit(np.array(model(0.7)))
        assert isinstance(standing, Standing)
        assert (len(transport.keys), len(set(transport.keys))) == (3, 1)
        others = ben.guard("client").submit(model(0.6)), board.submit(model(0.8))
        for found, own in zip(
            (standing, *others),
            [
                here.submit("anna", model(0.7)),
                here.submit("ben", model(0.6)),
                here.submit("anna", model(0.8)),
            ],
            strict=True,
        ):
            assert (found.name, found.score, found.bits) == (own.name, own.score, own.bits)
            assert str(found) == str(own)
        assert board.teams == here.teams
        assert board.bar == here.bar
        assert board.remaining == here.guard.remaining
        assert str(board) == str(here)
        assert [bool(one) for one in board.history] == [True, True]
        assert "client" in [one["name"] for one in anna.guards]
        with pytest.raises(ParameterError, match="a prediction for each of the 2000 labels, got 2"):
            board.submit([1, 0])
        guarded(site.store, site.path, "scarce", submissions=1)
        assert anna.guard("scarce").submit(model(0.7))
        with pytest.raises(BudgetExceededError, match="anna has used all submissions"):
            anna.guard("scarce").submit(model(0.8))


@pytest.mark.slow
def test_a_file_of_predictions_from_afar(site, tmp_path):
    path = tmp_path / "predictions.csv"
    path.write_text(as_text(model(0.7)))
    guarded(site.store, site.path, "files")
    with Remote(site.url, site.tokens["anna"]) as anna:
        assert anna.guard("files").submit(str(path))
