"""Adding people over HTTP: who may, with what, and what is shown."""

from __future__ import annotations

import httpx
import pytest

from serving import PASSWORD, Api, problem, served
from sourdine.server.auth import COOKIE, new_token

NEW = {"name": "cleo", "own_password": PASSWORD}


@pytest.mark.slow
def test_an_owner_adds_people_who_can_log_in(place, owner):
    made = owner.post("/people", {**NEW, "role": "auditor"})
    assert made.status_code == 201
    facts = made.json()
    login = Api(place[0]).post("/login", {"name": "cleo", "password": facts["password"]})
    assert login.json() == {"name": "cleo", "role": "auditor"}
    listed = owner.get("/people").json()
    assert {"name": "cleo", "role": "auditor", "disabled": False} in listed
    assert all(set(one) == {"name", "role", "disabled"} for one in listed)
    chosen = owner.post("/people", {**NEW, "name": "dora", "password": "four words of my own"})
    assert chosen.json() == {"name": "dora", "role": "analyst"}
    assert problem(owner.post("/people", NEW), 422, "parameter")["name"] == "name"


@pytest.mark.slow
def test_whoever_adds_people_types_their_own_password(owner, place):
    refused = owner.post("/people", {"name": "eva", "own_password": "another one"})
    assert problem(refused, 403, "forbidden")["name"] == "own_password"
    assert place[2].people.get("eva") is None
    problem(owner.post("/people", {"name": "eva"}), 422, "parameter")


@pytest.mark.slow
def test_the_password_cannot_be_guessed_there(place, owner):
    guesses = [owner.post("/people", {**NEW, "own_password": f"guess {i}"}) for i in range(12)]
    assert [one.status_code for one in guesses][-1] == 429
    assert owner.post("/people", {**NEW, "name": "fay"}).status_code == 429
    assert place[2].people.get("fay") is None
    place[2].database.write(lambda t: t.run("DELETE FROM attempts"))


@pytest.mark.parametrize("who", ["anna", "udo"])
def test_nobody_else_adds_people(place, who):
    api = Api(place[0], place[1][who])
    problem(api.post("/people", {**NEW, "name": "gil"}), 403, "forbidden")
    problem(api.get("/people"), 403, "forbidden")
    assert place[2].people.get("gil") is None


@pytest.mark.parametrize("site", ["cross-site", "same-site", None])
def test_another_site_adds_nobody(place, site):
    token = new_token(place[2], "olga", "session", days=1)
    headers = {} if site is None else {"sec-fetch-site": site}
    with httpx.Client(base_url=f"{place[0]}/api/v1", cookies={COOKIE: token}) as browser:
        sent = browser.post("/people", json={**NEW, "name": "hal"}, headers=headers)
    problem(sent, 403, "forbidden")
    assert place[2].people.get("hal") is None


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": " ida"},
        {"name": "ida "},
        {"name": "ida\n"},
        {"name": "i\x00"},
        {"name": "i" * 201},
        {"role": "admin"},
        {"password": "short"},
        {"password": "p" * 300},
        {"disabled": True},
    ],
)
def test_what_nobody_can_be(owner, place, wrong):
    before = place[2].people.all()
    problem(owner.post("/people", {**NEW, "name": "ida", **wrong}), 422, "parameter")
    assert place[2].people.all() == before


@pytest.mark.slow
def test_columns_are_read_below_the_folder_alone(place, tmp_path):
    within = tmp_path / "within"
    within.mkdir()
    for folder in (tmp_path, within):
        (folder / "ages.csv").write_text("age\n3\n")
    with served(f"sqlite:///{place[3].parent}/store.db", folder=str(within)) as url:
        olga = Api(url, place[1]["olga"])
        assert olga.post("/columns", {"source": "ages.csv"}).json()[0]["name"] == "age"
        for outside in ("../ages.csv", str(tmp_path / "ages.csv"), "/etc/passwd", "ages*.csv"):
            problem(olga.post("/columns", {"source": outside}), 422, "parameter")
    with served(f"sqlite:///{place[3].parent}/store.db", folder=None) as url:
        olga = Api(url, place[1]["olga"])
        problem(olga.post("/columns", {"source": "ages.csv"}), 403, "forbidden")


@pytest.mark.slow
def test_columns_are_read_for_owners(place, owner, anna, tmp_path):
    path = place[3]
    found = owner.post("/columns", {"source": str(path)})
    assert found.json()[:2] == [
        {"name": name, "type": kind} for name, kind in (("age", "number"), ("sex", "text"))
    ]
    problem(anna.post("/columns", {"source": str(path)}), 403, "forbidden")
    facts = problem(owner.post("/columns", {"source": "/nowhere.csv"}), 422, "parameter")
    assert facts["name"] == "source"
    german = tmp_path / "german.csv"
    german.write_text("betrag;tag;leer\n" + "1.234,50 €;03.04.2025;\n" * 3)
    plain = owner.post("/columns", {"source": str(german)}).json()
    assert [one["type"] for one in plain] == ["text", "text", None]
    read = {"decimal": ",", "thousands": ".", "symbols": "€", "date_format": "%d.%m.%Y"}
    told = owner.post("/columns", {"source": str(german), "read": read}).json()
    assert [one["type"] for one in told] == ["number", "date", None]
