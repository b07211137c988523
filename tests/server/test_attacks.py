"""What somebody may try against a server, and the test that tries it.

The first part names each attack and the test that makes it, wherever that is; the second part holds
those that are of no other file.
"""

from __future__ import annotations

import json
import re
import sys
from io import StringIO
from pathlib import Path
from time import monotonic, sleep

import httpx
import pytest

from serving import COUNT, KEY, NO_TRUST, PASSWORD, Api, problem
from sourdine.server.auth import COOKIE, new_token

HERE = Path(__file__).parent
ATTACKS = {
    "another site sends a form with the cookie (CSRF)": "test_attack_csrf",
    "a name holds markup or a script (XSS)": "test_names_stay_text",
    "a page loads a script from elsewhere": "test_no_script_but_the_servers_own",
    "a page is put into a frame": "test_every_answer_carries_the_headers",
    "log-in leads to another site": "test_logging_in_leads_nowhere_else",
    "a session that was chosen before log-in (fixation)": "test_attack_session_fixation",
    "names are found by the time of a refusal": "test_unknown_names_cost_a_hash_too",
    "names are found by the words of a refusal": "test_unknown_names_are_counted_alike",
    "passwords are tried": "test_passwords_are_tried_ten_times",
    "a person is locked out by a stranger": "test_a_stranger_locks_nobody_out_who_was_here",
    "bodies that are too long": "test_long_compressed_and_other_bodies_are_refused",
    "bombs: deep, wide, steep, compressed": "test_attack_bombs",
    "parameters that nobody types": "test_what_no_person_types_is_refused",
    "other people's data sets": "test_others_data_sets_are_as_if_there_were_none",
    "other people's answers": "test_others_answers_are_not_shown",
    "another role's operations": "test_roles",
    "a key is used again for another question": "test_a_key_with_another_body",
    "somebody else's key is sent": "test_attack_replayed_key_of_another",
    "a key is sent by many at once": "test_one_key_sent_by_many_at_once_is_one_charge",
    "a worker is killed between charge and answer": (
        "test_killed_workers_charge_once_and_answer_once"
    ),
    "an old copy of the store is put back": "test_an_older_copy_is_noticed",
    "heads are forged to a client": "test_a_forged_head_is_refused",
    "a client forges heads to the server": "test_attack_forged_head_header",
    "lines are changed in the store": "test_what_is_written_stays",
    "files outside the folder": "test_only_what_lies_below_the_folder_is_taken",
    "a database's password is looked for": "test_a_table_of_postgresql_is_asked",
    "errors tell of data": "test_a_draw_that_raises_tells_nothing",
    "the log tells of data": "test_the_log_holds_no_private_value",
    "lines are forged in the log": "test_attack_log_injection",
    "a token travels in the clear": "test_tokens_do_not_travel_in_the_clear",
    "the time of answers": "test_answers_leave_on_a_tick",
    "the time at which the ledger changes": "test_nothing_changes_between_the_charge_and_the_tick",
    "columns that the owner did not list": "test_columns_that_are_not_listed_are_never_read",
    "a proxy reads the token of a server on this machine": (
        "test_a_proxy_sees_no_token_for_this_machine"
    ),
    "the disk of the witness fails, or is not there": (
        "test_no_answer_leaves_while_the_witness_cannot_be_written"
    ),
    "the witness is taken away": "test_a_missing_witness_is_refused",
    "a token makes one that outlives it": "test_a_token_makes_no_further_tokens",
    "requests are deleted, or renamed, in the store": (
        "test_releases_that_do_not_fit_their_ledger_are_found"
    ),
    "ledgers are swapped in the store": "test_swapped_ledgers_are_found",
    "questions that are large as they are parsed": (
        "test_what_is_large_is_refused_however_it_is_spelled"
    ),
    "data that cannot be reached": "test_data_that_cannot_be_reached_delay_nobody_else",
    "a long ledger is listed again and again": "test_a_part_of_the_history_reads_that_part_alone",
    "another user locks the store": (
        "test_the_file_at_which_writers_wait_is_locked_by_its_owner_alone"
    ),
    "half requests": "test_half_requests_are_cut_off",
    "values that make the server fail": "test_no_question_is_a_server_error",
}


def test_every_attack_has_a_test():
    there = {
        name
        for path in HERE.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert set(ATTACKS.values()) - there == set()


CHANGES = [
    ("POST", "/tokens", {}),
    ("POST", "/logout", {}),
    ("POST", "/datasets", {"name": "x", "source": "x", "epsilon": 1}),
    ("POST", "/datasets/people/close", {}),
    ("POST", "/datasets/people/grants", {"analyst": "ben", "epsilon": 1}),
    ("POST", "/datasets/people/releases", COUNT),
    ("POST", "/datasets/people/plan", COUNT),
    ("DELETE", f"/tokens/{'0' * 64}", None),
]


@pytest.mark.slow
def test_attack_csrf(place):
    """A page elsewhere makes a browser send the cookie: no change is made, whatever it says."""
    url, _, store, _ = place
    session = new_token(store, "olga", "session", days=1)
    there = ({}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"})
    charges = len(store.datasets.ledger("people").history)
    for method, path, body in CHANGES:
        for site in (*there, {"origin": "https://evil.example"}):
            headers = {"cookie": f"{COOKIE}={session}", "idempotency-key": KEY, **site}
            answer = httpx.request(
                method, f"{url}/api/v1{path}", json=body, headers=headers, verify=NO_TRUST
            )
            problem(answer, 403, "forbidden")
    form = {"cookie": f"{COOKIE}={session}", "content-type": "text/plain"}
    answer = httpx.post(f"{url}/api/v1/datasets/people/close", content=b"{}", headers=form)
    assert answer.status_code == 415
    assert store.datasets.get("people").state == "open"
    assert len(store.datasets.ledger("people").history) == charges


@pytest.mark.slow
def test_attack_session_fixation(place):
    """A cookie that somebody planted is not the session after log-in."""
    api = Api(place[0])
    api.client.cookies.set(COOKIE, "sourdine-planted")
    answer = api.post("/login", {"name": "olga", "password": PASSWORD})
    given = [one for one in answer.headers.get_list("set-cookie") if one.startswith(COOKIE)]
    assert len(given) == 1
    assert "planted" not in given[0]
    planted = {"cookie": f"{COOKIE}=sourdine-planted"}
    assert httpx.get(f"{place[0]}/api/v1/me", headers=planted).status_code == 401


BOMBS = {
    "deep": b'{"statistic": "count", "epsilon": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
    "deep objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "wide": json.dumps({"statistic": "count", **{f"a{i}": i for i in range(5000)}}).encode(),
    "steep": b'{"statistic": "count", "epsilon": "1e-999999999"}',
    "digits": b'{"statistic": "count", "epsilon": 1' + b"0" * 50_000 + b"}",
    "quotient": b'{"statistic": "count", "epsilon": "1/' + b"9" * 450 + b'"}',
    "many": json.dumps({"questions": [COUNT] * 1500}).encode(),
    "keys": json.dumps({**COUNT, "by": "sex", "keys": [str(i) for i in range(9000)]}).encode(),
    "pattern": b'{"statistic": "count", "epsilon": "' + b"1_" * 240 + b'x"}',
}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("bomb", BOMBS)
def test_attack_bombs(anna, bomb):
    """What is small to send and large to read is refused at once, and charges nothing."""
    before = anna.get("/datasets/people").json()["spent"]
    headers = {"content-type": "application/json", "idempotency-key": f"{KEY}-{bomb}"[:40]}
    headers["idempotency-key"] = headers["idempotency-key"].replace(" ", "-")
    for path in ("plan", "releases"):
        answer = anna.client.post(
            f"/datasets/people/{path}", content=BOMBS[bomb], headers=headers, timeout=20
        )
        assert answer.status_code in {403, 413, 422}, answer.text[:200]
    assert anna.get("/datasets/people").json()["spent"] == before


def test_attack_replayed_key_of_another(place, anna):
    """A key belongs to whoever chose it: under the same key another person asks anew."""
    url, tokens, store, _ = place
    key = "a-key-that-was-seen-by-others"
    own = anna.release(COUNT, key=key).json()
    problem(Api(url, tokens["ben"]).release(COUNT, key=key), 404, "unknown")
    store.grants.give("people", "olga", 1)
    other = Api(url, tokens["olga"]).release(COUNT, key=key)
    assert other.headers["idempotent-replayed"] == "false"
    assert other.json()["number"] != own["number"]
    assert anna.release(COUNT, key=key).json() == own


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("line", ["-1", "1e9", "9" * 40, "²", "1; drop", "0", "999999999"])
def test_attack_forged_head_header(anna, line):
    """A line that a client says it has seen is looked up, and nothing else is done with it."""
    headers = {"ledger-line": line.encode("utf-8")}
    answer = anna.get("/datasets/people", headers=headers)
    assert answer.status_code == 200
    assert answer.headers.get("ledger-seen", "none") == "none"


def test_attack_log_injection(anna, monkeypatch):
    """What stands in an address or a header makes no line of its own in the log."""
    log = StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    anna.get("/datasets/x%0A%7B%22event%22%3A%22forged%22%7D")
    anna.get("/forged%0d%0aline", headers={"user-agent": "forged"})
    end = monotonic() + 10
    while log.getvalue().count("\n") < 2 and monotonic() < end:
        sleep(0.01)  # a line is written when its answer has left
    lines = log.getvalue().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["request", "request"]
    assert not any("forged" in line for line in lines)
