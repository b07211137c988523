"""Surveys over HTTP: written, opened, answered by anybody, counted once, closed."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from hashlib import sha256
from types import SimpleNamespace

import httpx
import pytest

import survey_device as device
from serving import Api, data_file, filled_store, problem, served
from session_calls import AGES
from sourdine.errors import ParameterError
from sourdine.local import Aggregator
from sourdine.privacy import Guarantee
from sourdine.server.auth import COOKIE, new_token
from sourdine.server.running import demo_store, open_sample
from sourdine.server.store.store import ServerStore
from sourdine.server.surveys import OPERATIONS, OpenSurveys, examined_at
from sourdine.session import Terms
from sourdine.survey import Survey, form_for_device, page
from sourdine.survey.document import SKELETON
from sourdine.survey.serving import MOST_LINES

FLAG = {
    "title": "Smoking",
    "who": "the clinic",
    "contact": "a@example.org",
    "epsilon": 2,
    "questions": {"smokes": {"kind": "flag", "ask": "Do you smoke?"}},
}


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def polls(request, tmp_path_factory):
    """Return a store that two servers share, as two workers do, and people who ask them."""
    folder = tmp_path_factory.mktemp("surveys")
    address = f"sqlite:///{folder}/store.db"
    cluster = None
    if request.param == "postgres":
        cluster = request.getfixturevalue("postgres_cluster")
        address = cluster.create()
    path = data_file(folder, AGES)
    store, tokens = filled_store(address, path, Terms(total=Guarantee(1)))
    with ExitStack() as stack:
        url, other = (stack.enter_context(served(address)) for _ in range(2))
        people = {name: Api(url, tokens[name]) for name in ("olga", "anna", "udo")}
        yield SimpleNamespace(
            url=url, other=other, store=store, olga2=Api(other, tokens["olga"]), **people
        )
    store.close()
    if cluster is not None:
        cluster.drop(address)


def drafted(polls, name, **changes):
    """Write a draft; return what the server says of it."""
    answer = polls.olga.post("/surveys", {"document": {"name": name, **FLAG, **changes}})
    assert answer.status_code == 201, answer.text
    return answer.json()


def opened(polls, name, body=None, **changes):
    """Write a draft, and open it."""
    drafted(polls, name, **changes)
    answer = polls.olga.post(f"/surveys/{name}/open", body or {})
    assert answer.status_code == 200, answer.text
    return answer.json()


def records(polls, name, number, answers):
    """Return lines as so many devices draw them."""
    document = polls.olga.get(f"/surveys/{name}").json()["document"]
    form = form_for_device(Survey.from_facts(document).schema)
    return [device.record(form, answers) for _ in range(number)]


def send(url, name, lines):
    return httpx.post(f"{url}/s/{name}/reports", content="\n".join(lines))


@pytest.mark.slow
def test_from_a_draft_to_what_people_said(polls):
    made = polls.olga.post("/surveys", {"toml": SKELETON})
    assert made.status_code == 201
    assert made.json()["problems"] == []
    assert made.headers["location"] == "/api/v1/surveys/commute"
    assert httpx.get(f"{polls.url}/s/commute/").status_code == 404
    frozen = polls.olga.post("/surveys/commute/open", {}).json()
    assert frozen["address"] == f"{polls.url}/s/commute/"
    lines = records(polls, "commute", 60, {"way": "bus", "minutes": "20"})
    for url, half in ((polls.url, lines[:30]), (polls.other, lines[30:])):
        sent = send(url, "commute", half)
        assert (sent.status_code, sent.json()["accepted"]) == (202, 30)
    assert send(polls.other, "commute", lines).status_code == 202  # known, and counted once
    facts = polls.anna.get("/surveys/commute/results").json()
    assert facts["people"] == 60
    assert facts["questions"]["way"]["hidden"] is False
    assert httpx.get(f"{polls.other}/s/commute/results.json").json() == facts
    closed = polls.olga2.post("/surveys/commute/close", {}).json()
    assert (closed["state"], closed["people"]) == ("closed", 60)
    for url in (polls.url, polls.other):
        assert send(url, "commute", lines[:1]).status_code == 410
    assert polls.olga.get("/surveys/commute").json()["state"] == "closed"


@pytest.mark.quick_cases(1)
def test_the_page_is_the_survey_rooms_letter_for_letter(polls):
    facts = opened(polls, "letters")
    survey = Survey.from_facts(polls.olga.get("/surveys/letters").json()["document"])
    answer = httpx.get(facts["address"])
    assert answer.content == page(survey)
    assert sha256(answer.content).hexdigest() == facts["page"]
    assert survey.fingerprint == facts["fingerprint"]
    assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', answer.text)[1]
    assert "default-src 'none'" in policy
    assert f"connect-src {facts['address']}reports;" in policy
    assert "unsafe" not in policy
    results = httpx.get(f"{facts['address']}results")
    assert results.headers["content-security-policy"].startswith("default-src 'none'; style-src 's")
    assert "Shown once <bdi>50</bdi> people" in results.text


@pytest.mark.quick_cases(1)
def test_drafts_are_for_owners(polls):
    drafted(polls, "mine")
    for who in (polls.anna, polls.udo):
        assert "mine" not in [one["name"] for one in who.get("/surveys").json()]
        problem(who.get("/surveys/mine"), 404, "unknown")
        problem(who.get("/surveys/mine/results"), 404, "unknown")
        problem(who.post("/surveys", {"document": {"name": "x"}}), 403, "forbidden")
        problem(who.post("/survey-check", {"document": {}}), 403, "forbidden")
        problem(who.post("/surveys/mine/open", {}), 403, "forbidden")
        problem(who.post("/surveys/mine/close", {}), 403, "forbidden")
    problem(polls.udo.get("/surveys/mine/aggregator"), 403, "forbidden")
    for path in ("results", "aggregator"):
        problem(polls.olga.get(f"/surveys/mine/{path}"), 422, "parameter")
    problem(polls.olga.post("/surveys/mine/close", {}), 422, "parameter")
    problem(Api(polls.url).get("/surveys"), 401, "unauthorized")


def test_a_draft_changes_and_what_is_open_does_not(polls):
    drafted(polls, "frozen", title="")
    facts = problem(polls.olga.post("/surveys/frozen/open", {}), 422, "parameter")
    assert (facts["name"], facts["must"]) == ("title", "be a string of 1 to 4000 characters")
    right = {"document": {"name": "frozen", **FLAG}}
    put = polls.olga.client.put
    assert put("/surveys/frozen", json=right).json()["problems"] == []
    problem(put("/surveys/frozen", json={"document": {"name": "b", **FLAG}}), 422, "parameter")
    problem(polls.olga.post("/surveys", right), 422, "parameter")
    assert polls.olga.post("/surveys/frozen/open", {}).status_code == 200
    problem(polls.olga2.post("/surveys/frozen/open", {}), 422, "parameter")
    problem(put("/surveys/frozen", json=right), 422, "parameter")
    problem(polls.olga.client.delete("/surveys/frozen"), 422, "parameter")
    drafted(polls, "thrown")
    assert polls.olga.client.delete("/surveys/thrown").json()["discarded"]
    problem(polls.olga.get("/surveys/thrown"), 404, "unknown")


def test_a_survey_that_two_open_at_once_is_opened_once(polls):
    drafted(polls, "twice")
    draft = polls.store.surveys.get("twice")
    survey = examined_at(json.loads(draft.document), polls.url).survey
    surveys = OpenSurveys(polls.store)
    first, _ = surveys.open(draft, survey)
    with pytest.raises(ParameterError, match="unchanged since it was opened"):
        surveys.open(draft, survey)
    assert polls.store.surveys.get("twice") == first


@pytest.mark.quick_cases(1)
def test_a_check_says_what_is_wrong_and_what_it_will_tell(polls):
    found = polls.olga.post("/survey-check", {"toml": SKELETON, "n": 2000}).json()
    assert found["problems"] == []
    assert found["cost"]["sure"] == "74"
    assert found["plan"]["n"] == 2000
    halves = {name: one["half"] for name, one in found["plan"]["questions"].items()}
    assert 0.1 < halves["late"] < 0.3
    assert found["plan"]["questions"]["wishes"]["coarse"] is True
    half = {"name": "Half", "questions": {"ill": {"kind": "flag", "ask": "Ill?"}}, "epsilon": 1}
    found = polls.olga.post("/survey-check", {"document": half}).json()
    assert [one["field"] for one in found["problems"]] == ["name", "title", "who", "contact"]
    assert list(found["plan"]["questions"]) == ["ill"]
    half["epsilon"] = "much"
    found = polls.olga.post("/survey-check", {"document": half}).json()
    assert found["plan"] is None
    for body in ({}, {"document": {}, "toml": ""}, {"toml": "a = "}, {"document": {}, "n": 3}):
        problem(polls.olga.post("/survey-check", body), 422, "parameter")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "n" * 41}, "name"),
        ({"rounds": 3}, "round"),
        ({"questions": {f"q{i}": {"kind": "flag", "ask": "?"} for i in range(51)}}, "questions"),
    ],
)
def test_what_is_too_much_for_a_server_is_said(changes, field):
    found = examined_at({"name": "much", **FLAG, **changes}, "https://statistics.test")
    assert [one.field.rpartition(".")[2] for one in found.problems] == [field]
    assert found.survey is None


@pytest.mark.slow
def test_a_ticket_is_good_for_one_answer(polls):
    facts = opened(polls, "tickets", {"tickets": 3, "public": False})
    codes = [link.partition("#ticket=")[2] for link in facts["links"]]
    assert len(set(codes)) == 3
    assert facts["tickets"] == {"made": 3, "left": 3}
    first, second = records(polls, "tickets", 2, {"smokes": "true"})
    ticket = json.dumps({"ticket": codes[0]}, separators=(",", ":"))
    assert send(polls.url, "tickets", [first]).status_code == 403
    assert send(polls.url, "tickets", [ticket, first]).status_code == 202
    assert send(polls.other, "tickets", [ticket, second]).status_code == 403
    known = polls.olga.get("/surveys/tickets")
    assert known.json()["tickets"] == {"made": 3, "left": 2}
    assert not any(code in known.text for code in codes)
    assert httpx.get(f"{polls.url}/s/tickets/results").status_code == 404
    assert polls.udo.get("/surveys/tickets/results").json()["people"] == 1


@pytest.mark.quick_cases(1)
def test_everything_counted_can_be_taken_home(polls, tmp_path):
    opened(polls, "home")
    assert send(polls.url, "home", records(polls, "home", 5, {"smokes": "true"})).is_success
    answer = polls.anna.get("/surveys/home/aggregator")
    assert answer.headers["content-disposition"] == 'attachment; filename="home.aggregator"'
    document = polls.anna.get("/surveys/home").json()["document"]
    schema = Survey.from_facts(document).schema
    (tmp_path / "home.aggregator").write_bytes(answer.content)
    assert Aggregator.load(tmp_path / "home.aggregator", schema).receipt.accepted == 5


@pytest.mark.quick_cases(1)
def test_records_go_where_people_can_reach_them(polls):
    drafted(polls, "far")
    facts = problem(
        polls.olga.post("/surveys/far/open", {"address": "http://polls.example"}), 422, "parameter"
    )
    assert facts["name"] == "send_to"
    facts = problem(
        polls.olga.post("/surveys/far/open", {"address": "https://polls.example"}), 422, "parameter"
    )
    assert (facts["name"], facts["got"]) == (
        "send_to",
        "'https://polls.example/s/far/reports', a placeholder",
    )
    for address in ("https://polls.test/stats", "https://polls.test/?a=b", "https://polls.test?a",
                    "https://polls.test#s", "https://me@polls.test", "polls.test", "https:///x",
                    "https://polls.test/s/far"):  # fmt: skip
        answer = polls.olga.post("/surveys/far/open", {"address": address})
        facts = problem(answer, 422, "parameter")
        assert facts["name"] == "address"
        assert "without a path" in facts["must"]
    facts = polls.olga.post("/surveys/far/open", {"address": "https://polls.test/"}).json()
    assert facts["address"] == "https://polls.test/s/far/"
    assert httpx.get(f"{polls.url}/s/far/").status_code == 200
    sent = send(polls.url, "far", records(polls, "far", 1, {"smokes": "true"}))
    assert sent.status_code == 202


HOSTILE = ("%00", "a%00b", "%0a", "far%0a", "%ff%fe", "%ed%a0%80", "%F0%9F%98%80", "%2e%2e",
           "..%2f..", "'", "%22", "%25", "a" * 5000, "A", "-", "_", " ", "\u0660",
           "{survey}")  # fmt: skip


@pytest.mark.slow
def test_names_that_no_survey_has_are_not_found(polls):
    """Wherever a name stands in an address, nothing fails: neither here nor in PostgreSQL."""
    named = [one for one in OPERATIONS if "{survey}" in one.path]
    assert len(named) > 5
    with httpx.Client(base_url=polls.url) as anyone:
        for name in HOSTILE:
            for path in ("/", "/results", "/results.json", "/reports", f"/{name}.html"):
                for method in ("GET", "POST"):
                    answer = anyone.request(method, f"/s/{name}{path}")
                    assert answer.status_code in {404, 405}, (method, name, path, answer.text)
            assert anyone.get(f"/surveys/{name}").status_code in {303, 404}
    for name in HOSTILE:
        for one in named:
            path = f"{polls.url}/api/v1{one.path}".replace("{survey}", name)
            body = {"document": {"name": "x"}} if one.method == "PUT" else {}
            answer = polls.olga.client.request(one.method, path, json=body)
            assert answer.status_code in {404, 405, 422}, (one.path, name, answer.text)


@pytest.mark.quick_cases(1)
def test_a_post_has_at_most_so_many_lines(polls):
    opened(polls, "lines")
    line = records(polls, "lines", 1, {"smokes": "true"})
    assert send(polls.url, "lines", line * MOST_LINES).status_code == 202
    refused = send(polls.url, "lines", line * (MOST_LINES + 1))
    assert refused.status_code == 413
    assert refused.text == "a post must have at most 1000 records, got 1001: send several\n"
    long = send(polls.url, "lines", ["x" * 262_145])
    assert (long.status_code, long.text) == (413, "a body must be at most 262144 bytes\n")


def test_another_site_changes_nothing(polls):
    token = new_token(polls.store, "olga", "session", days=1)
    with httpx.Client(base_url=polls.url, cookies={COOKIE: token}) as browser:
        for site in (None, "cross-site", "same-site"):
            headers = {"sec-fetch-site": site} if site else {}
            made = browser.post(
                "/api/v1/surveys", json={"document": {"name": "x"}}, headers=headers
            )
            problem(made, 403, "forbidden")
            part = browser.post("/survey-check", json={"document": {}}, headers=headers)
            assert part.status_code == 303
        headers = {"sec-fetch-site": "same-origin"}
        made = browser.post(
            "/api/v1/surveys", json={"document": {"name": "own-site"}}, headers=headers
        )
        assert made.status_code == 201


@pytest.mark.quick_cases(1)
def test_nobody_writes_down_that_somebody_answered(polls, capfd):
    opened(polls, "quiet")
    capfd.readouterr()
    assert httpx.get(f"{polls.url}/s/quiet/").is_success
    assert send(polls.url, "quiet", records(polls, "quiet", 1, {"smokes": "true"})).is_success
    assert httpx.get(f"{polls.url}/s/quiet/results").is_success
    routes = {json.loads(line)["route"] for line in capfd.readouterr().err.splitlines()}
    assert "/api/v1/surveys/{survey}" in routes  # the document was read
    assert all(route.startswith("/api/v1/surveys") for route in routes)
    assert "/s/" not in polls.udo.get("/metrics").text


@pytest.mark.slow
def test_a_demo_has_a_survey(tmp_path):
    address, _ = demo_store(tmp_path)
    with served(address) as url:
        assert open_sample(address, url) == f"{url}/s/commute/"
        assert httpx.get(f"{url}/s/commute/results.json").json()["people"] == 600
        store = ServerStore.open(address)
        token = new_token(store, "analyst", "session", days=1)
        store.close()
        first = httpx.get(url, cookies={COOKIE: token}).text
        assert "How do you come to work?" in first
        assert 'href="/surveys/commute"' in first


@pytest.mark.slow
def test_records_that_are_gone_break_nothing_else(tmp_path):
    address, _ = demo_store(tmp_path)
    with served(address) as url:
        open_sample(address, url)
        (folder,) = tmp_path.glob("*.surveys")
        folder.rename(tmp_path / "elsewhere")
        store = ServerStore.open(address)
        owner = Api(url, new_token(store, "owner", "api", days=1))
        token = new_token(store, "owner", "session", days=1)
        store.close()
        assert [one["people"] for one in owner.get("/surveys").json()] == [None]
        problem(owner.get("/surveys/commute/results"), 409, "conflict")
        assert "cannot be read" in httpx.get(url, cookies={COOKIE: token}).text
        assert httpx.get(f"{url}/s/commute/").status_code == 503
        (tmp_path / "elsewhere").rename(folder)
        assert httpx.get(f"{url}/s/commute/").status_code == 200


@pytest.mark.slow
def test_a_copy_of_the_store_has_its_surveys(tmp_path):
    address, _ = demo_store(tmp_path)
    open_sample(address, "http://127.0.0.1:8000")
    store = ServerStore.open(address)
    store.backup(tmp_path / "copy.db")
    OpenSurveys(store).backup(tmp_path / "copy.db")
    store.close()
    with served(f"sqlite:///{tmp_path}/copy.db") as url:
        assert httpx.get(f"{url}/s/commute/results.json").json()["people"] == 600
    assert {one.stat().st_mode & 0o77 for one in tmp_path.glob("copy.surveys/*")} == {0}


@pytest.mark.quick_cases(1)
def test_rounds_are_surveys_that_share_a_memory(polls):
    forms = []
    for number in (1, 2):
        facts = opened(polls, f"round-{number}", rounds=2, round=number)
        html = httpx.get(facts["address"]).text
        forms.append(json.loads(re.search('id="form">(.*?)</script>', html, re.DOTALL)[1]))
    first, second = forms
    assert (first["round"], second["round"]) == (1, 2)
    assert first["schema"] == second["schema"]
    assert first["mark"] != second["mark"]
