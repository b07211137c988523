"""Pages of owners and auditors; what names, other sites and narrow windows cannot do."""

from __future__ import annotations

import json

import httpx
import pytest

from browsing import overflow, violations
from sourdine.server.datasets import Registering, registered
from visits import CATEGORY, MARKUP, WIDE, answered, desk, enter, planning

NARROW = {"width": 360, "height": 740}


def test_names_stay_text(tab, site):
    page = tab()
    desk(page, site, "evil")
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("0.3")
    page.get_by_label(CATEGORY).check()
    page.get_by_role("button", name="Add to a list").click()
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("0.2")
    page.get_by_role("button", name="Release", exact=True).click()
    answered(page)
    assert page.locator("#trouble").inner_text() == ""
    assert page.locator("#released td:first-child").all_inner_texts() == [CATEGORY, MARKUP]
    assert MARKUP in page.locator("#items").inner_text()
    assert page.locator("main img, main b, main script").count() == 0
    page.goto(f"{site.url}/data/evil/releases/1")
    assert page.locator("main img, main b, main script").count() == 0
    assert page.evaluate("window.ran") is None


def test_no_script_but_the_servers_own(tab, site):
    page = tab()
    enter(page, site, "/")
    policy = page.request.get(f"{site.url}/").headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
    inline = "() => { try { document.body.innerHTML = ''; return 'set' } catch { return 'no' } }"
    assert page.evaluate(inline) == "no"
    assert not page.locator("[style], style, script:not([src]), [onclick]").count()


def test_an_owner_registers_grants_and_closes(tab, site):
    page = tab()
    enter(page, site, "/", "olga")
    page.get_by_role("link", name="Register a data set").click()
    assert page.get_by_text("Do not read bounds or keys off the data.").is_visible()
    page.get_by_label("name", exact=True).first.fill("new")
    page.get_by_label("path on the server").fill("/nowhere.csv")
    page.get_by_label("records, about").fill("600")
    page.get_by_label("epsilon").fill("2")
    first = page.get_by_role("group", name="Column")
    first.get_by_label("name").fill("age")
    first.get_by_label("from").fill("0")
    first.get_by_label("to", exact=True).fill("120")
    page.get_by_role("button", name="Add a column").click()
    second = page.get_by_role("group", name="Column").nth(1)
    second.get_by_label("name").fill("sex")
    second.get_by_label("kind").select_option("one of some keys")
    second.get_by_label("keys, with commas").fill("f, m")
    page.get_by_role("button", name="Register").click()
    page.get_by_text("be data on the server that can be read").wait_for()
    page.get_by_label("path on the server").fill(str(site.people))
    page.get_by_role("button", name="Register").click()
    page.wait_for_url("**/data/new/manage")
    page.get_by_label("analyst").select_option("anna")
    page.get_by_label("epsilon at most, in all").fill("1")
    page.get_by_role("button", name="Grant").click()
    page.locator("#grants td", has_text="anna").wait_for()
    assert site.store.grants.get("new", "anna").epsilon == 1
    known = json.loads(site.store.datasets.get("new").columns)
    assert known == {"age": {"bounds": [0, 120]}, "sex": {"keys": ["f", "m"]}}
    page.get_by_label("type the name of the data set").fill("old")
    page.get_by_role("button", name="Close for good").click()
    page.get_by_text("This is not its name.").wait_for()
    page.get_by_label("type the name of the data set").fill("new")
    page.get_by_role("button", name="Close for good").click()
    page.get_by_text("It is closed, for good.").wait_for()


def test_bounds_may_be_left_to_be_found(tab, site):
    page = tab()
    enter(page, site, "/register", "olga")
    page.get_by_label("name", exact=True).first.fill("finding")
    page.get_by_label("path on the server").fill(str(site.people))
    page.get_by_label("epsilon").fill("2")
    column = page.get_by_role("group", name="Column")
    column.get_by_label("name").fill("age")
    column.get_by_label("bounds").select_option("find them privately")
    assert not column.get_by_label("from").is_visible()
    page.get_by_role("button", name="Register").click()
    page.wait_for_url("**/data/finding/manage")
    assert json.loads(site.store.datasets.get("finding").columns) == {"age": {"bounds": "find"}}


def test_a_total_with_delta_is_a_share(tab, site):
    facts = {"name": "delta", "source": str(site.people), "epsilon": 1, "delta": "1e-6", "n": 600}
    said = Registering(**facts, columns={"age": {"bounds": [0, 120], "step": 1}})
    site.store.datasets.add(registered(said))
    site.store.grants.give("delta", "anna", 2)
    page = tab()
    desk(page, site, "delta")
    assert "100.0%" in page.locator("#plan .gauge").inner_text()
    page.locator("#release:enabled").click()
    answered(page)
    assert page.locator("#trouble").inner_text() == ""
    assert "100.0%" not in page.locator("#plan .gauge").inner_text()
    site.store.datasets.close("delta")
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("0.2")
    assert page.get_by_text("It is closed: nothing can be released any more.").is_visible()
    assert page.locator("#release").is_disabled()


def test_a_token_is_shown_once(tab, site):
    page = tab()
    enter(page, site, "/tokens")
    page.get_by_label("what for").fill(MARKUP)
    page.get_by_role("button", name="Make a token").click()
    page.locator("#made").wait_for()
    token = page.get_by_label("Token").inner_text()
    known = httpx.get(f"{site.url}/api/v1/me", headers={"authorization": f"Bearer {token}"})
    assert known.json()["name"] == "anna"
    page.reload()
    assert token not in page.content()
    row = page.locator(".plain li", has_text=MARKUP)
    row.get_by_role("button", name="End it").click()
    row.wait_for(state="detached")
    gone = httpx.get(f"{site.url}/api/v1/me", headers={"authorization": f"Bearer {token}"})
    assert gone.status_code == 401


def test_an_auditor_checks_and_files(tab, site):
    page = tab()
    enter(page, site, "/data/people/ledger", "udo")
    page.get_by_role("button", name="Check the ledger").click()
    page.get_by_text("Sound.").wait_for()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Report to be filed").click()
    assert saved.value.suggested_filename == "people.html"
    assert page.goto(f"{site.url}/register").status == 403
    assert page.goto(f"{site.url}/data/people/manage").status == 403


def test_others_do_not_learn_that_a_data_set_is_there(tab, site):
    page = tab()
    enter(page, site, "/")
    assert not page.get_by_text("hidden").count()
    texts = set()
    for name in ("nothing", "hidden"):
        assert page.goto(f"{site.url}/data/{name}").status == 404
        texts.add(page.locator("main").inner_text())
    assert len(texts) == 1


def test_logging_in_leads_nowhere_else(site):
    for asked in (
        "//a.example",
        "https://a.example",
        "/\\a.example",
        "javascript:alert(1)",
        "/a/..//b",
    ):
        found = httpx.get(f"{site.url}/login", params={"next": asked})
        assert 'data-next="/"' in found.text


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", WIDE), ("dark", NARROW)], ids=["light desktop", "dark phone"]
)
def test_axe_finds_nothing_and_nothing_overflows(tab, site, scheme, size):
    page = tab(viewport=size, color_scheme=scheme, bypass_csp=True)
    page.goto(f"{site.url}/login")
    assert violations(page) == []
    desk(page, site, "people")
    page.get_by_text("More settings").click()
    page.get_by_role("button", name="Add to a list").click()
    page.get_by_role("button", name="Release", exact=True).click()
    answered(page)
    assert violations(page) == []
    assert overflow(page) <= 0
    for path in ("/", "/tokens", "/data/people/releases/1"):
        page.goto(f"{site.url}{path}")
        assert violations(page) == []
        assert overflow(page) <= 0
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    enter(page, site, "/", "olga")
    for path in ("/register", "/data/people/manage", "/data/people/ledger"):
        page.goto(f"{site.url}{path}")
        assert violations(page) == []
        assert overflow(page) <= 0
