"""Pages of owners and auditors; what names, other sites and narrow windows cannot do."""

from __future__ import annotations

import json

import httpx
import pytest

from browsing import overflow, violations
from serving import PASSWORD
from sourdine.server.datasets import Registering, registered
from visits import CATEGORY, MARKUP, WIDE, answered, desk, enter, log_in, planning

NARROW = {"width": 360, "height": 740}


@pytest.mark.slow
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


def register(page, site, name, **typed):
    """Fill in the form of a new data set until its columns are there to be ticked."""
    enter(page, site, "/register", "olga")
    facts = {"name": name, "path on the server": str(site.people), "epsilon": "2", **typed}
    for label, text in facts.items():
        page.get_by_label(label, exact=True).fill(text)
    page.keyboard.press("Tab")
    page.get_by_role("checkbox", name="sex").wait_for()


def column(page, name):
    """Return the fields of a column, which may be asked."""
    found = page.get_by_role("group", name=name)
    found.get_by_role("checkbox").check()
    return found


def legends(page):
    """Return the names of columns that were read, with their types."""
    return [" ".join(text.split()) for text in page.locator("#columns legend").all_inner_texts()]


def test_an_owner_registers_grants_and_closes(tab, site):
    page = tab()
    enter(page, site, "/", "olga")
    page.get_by_role("link", name="Register a data set").click()
    assert page.get_by_text("Do not derive bounds or keys from the data.").is_visible()
    about = {"title": "People", "description": "Asked in May."}
    about["approximate number of records"] = "600"
    register(page, site, "new", **about)
    assert legends(page) == ["age numbers", "sex text"]
    age, sex = column(page, "age"), column(page, "sex")
    age.get_by_label("from").fill("0")
    age.get_by_label("to", exact=True).fill("120")
    sex.get_by_label("keys, separated by commas").fill("f, m")
    page.get_by_role("button", name="Register").click()
    page.wait_for_url("**/data/new/manage")
    assert page.get_by_role("heading", name="People").is_visible()
    assert page.get_by_text("Asked in May.").is_visible()
    page.get_by_label("analyst").select_option("anna")
    page.get_by_label("maximum epsilon").fill("1")
    page.get_by_role("button", name="Grant").click()
    page.locator("#grants td", has_text="anna").wait_for()
    assert site.store.grants.get("new", "anna").epsilon == 1
    known = json.loads(site.store.datasets.get("new").columns)
    assert known == {"age": {"bounds": [0, 120]}, "sex": {"keys": ["f", "m"]}}
    page.get_by_label("enter the name of the data set").fill("old")
    page.get_by_role("button", name="Close permanently").click()
    page.get_by_text("The name does not match.").wait_for()
    page.get_by_label("enter the name of the data set").fill("new")
    page.get_by_role("button", name="Close permanently").click()
    page.get_by_text("This data set is permanently closed.").wait_for()


def test_types_that_a_file_states_fill_in_the_form(tab, site):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = site.people.with_suffix(".parquet")
    cells = {"age": [1, 2], "mass": [1.5, 2.5], "sex": ["f", "m"], "ok": [True, False]}
    parquet.write_table(pyarrow.table(cells), path)
    page = tab()
    register(page, site, "stated", **{"path on the server": str(path)})
    assert legends(page) == ["age whole numbers", "mass numbers", "sex text", "ok true or false"]
    kinds = [page.locator("#columns [name=kind]").nth(i).input_value() for i in range(4)]
    assert kinds == ["number", "number", "choice", "choice"]


def test_bounds_may_be_left_to_be_found(tab, site):
    page = tab()
    register(page, site, "finding")
    age = column(page, "age")
    age.get_by_label("bounds").select_option("found privately")
    assert not age.get_by_label("from").is_visible()
    page.get_by_role("button", name="Register").click()
    page.wait_for_url("**/data/finding/manage")
    assert json.loads(site.store.datasets.get("finding").columns) == {"age": {"bounds": "find"}}


def test_errors_stand_at_their_field_and_go_once_it_is_mended(tab, site):
    page = tab()
    enter(page, site, "/register", "olga")

    def wrong(label, within=page):
        """Return what is said of the field with a label, which is the only thing said."""
        page.locator(".wrong").wait_for()
        field = within.get_by_label(label, exact=True)
        assert field.get_attribute("aria-invalid") == "true"
        assert page.locator(".wrong").count() == 1
        assert page.locator("[data-trouble]").inner_text() == ""
        told = page.locator(".wrong").get_attribute("id")
        assert told in field.get_attribute("aria-describedby").split()
        gap = page.locator(".wrong").bounding_box()["y"] - field.bounding_box()["y"]
        assert 0 < gap < 70
        return page.locator(".wrong").inner_text()

    page.get_by_label("path on the server").fill("/nowhere.csv")
    page.keyboard.press("Tab")
    assert "name readable data on the server" in wrong("path on the server")
    page.get_by_label("path on the server").fill(str(site.people))
    assert page.locator(".wrong").count() == 0
    page.keyboard.press("Tab")
    page.get_by_label("name", exact=True).fill("people")
    page.get_by_label("epsilon").fill("two")
    page.get_by_role("checkbox", name="age").check()
    age, press = page.get_by_role("group", name="age"), page.get_by_role("button", name="Register")
    press.click()
    assert "Enter both bounds" in wrong("from", age)
    age.get_by_label("from").fill("120")
    age.get_by_label("to", exact=True).fill("0")
    press.click()
    page.get_by_text("epsilon must be").wait_for()
    assert "epsilon must be" in wrong("epsilon")
    page.get_by_label("epsilon").fill("2")
    assert page.locator(".wrong").count() == 0
    press.click()
    assert "bounds of age: lower must be below upper" in wrong("from", age)
    age.get_by_label("from").fill("0")
    age.get_by_label("to", exact=True).fill("120")
    press.click()
    assert "name must be new" in wrong("name")
    page.get_by_label("name", exact=True).fill("mended")
    press.click()
    page.wait_for_url("**/data/mended/manage")


@pytest.mark.slow
def test_an_owner_adds_people(tab, site):
    page = tab()
    enter(page, site, "/people", "olga")
    page.get_by_label("name", exact=True).fill(MARKUP)
    page.get_by_label("role").select_option("auditor")
    page.get_by_label("your own password").fill("not that one")
    page.get_by_role("button", name="Add").click()
    page.get_by_text("Wrong password").wait_for()
    assert site.store.people.get(MARKUP) is None
    page.get_by_label("your own password").fill(PASSWORD)
    assert page.locator(".wrong").count() == 0
    page.get_by_role("button", name="Add").click()
    page.locator("#made").wait_for()
    made = page.get_by_label("New password").inner_text()
    page.locator("#people td", has_text=MARKUP).wait_for()
    assert page.locator("main img, main b").count() == 0
    page.reload()
    assert made not in page.content()
    other = tab()
    log_in(other, site.url, MARKUP, made)
    assert other.locator(".role").inner_text() == "auditor"
    assert other.goto(f"{site.url}/people").status == 403


@pytest.mark.slow
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
    assert page.get_by_text("This data set is closed; nothing more can be released.").is_visible()
    assert page.locator("#release").is_disabled()


def test_a_token_is_shown_once(tab, site):
    page = tab()
    enter(page, site, "/tokens")
    page.get_by_label("what for").fill(MARKUP)
    page.get_by_role("button", name="Create a token").click()
    page.locator("#made").wait_for()
    token = page.get_by_label("Token").inner_text()
    page.locator(".plain li", has_text=MARKUP).wait_for()
    assert not page.get_by_text("You have no active tokens.").count()
    known = httpx.get(f"{site.url}/api/v1/me", headers={"authorization": f"Bearer {token}"})
    assert known.json()["name"] == "anna"
    page.reload()
    assert token not in page.content()
    row = page.locator(".plain li", has_text=MARKUP)
    row.get_by_role("button", name="Revoke").click()
    row.wait_for(state="detached")
    assert page.get_by_text("You have no active tokens.").is_visible()
    gone = httpx.get(f"{site.url}/api/v1/me", headers={"authorization": f"Bearer {token}"})
    assert gone.status_code == 401


def test_an_auditor_checks_and_files(tab, site):
    page = tab()
    enter(page, site, "/data/people/ledger", "udo")
    page.get_by_role("button", name="Check the ledger").click()
    page.get_by_text("Valid.").wait_for()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Report").click()
    assert saved.value.suggested_filename == "people.html"
    assert page.goto(f"{site.url}/register").status == 403
    assert page.goto(f"{site.url}/data/people/manage").status == 403


def test_a_ledger_says_who_spent_to_owners_and_auditors(tab, site):
    page = tab()
    desk(page, site, "spent")
    page.get_by_role("button", name="Release", exact=True).click()
    answered(page)
    for name in ("olga", "udo"):
        enter(page, site, "/data/spent/ledger", name)
        row = page.locator("#spenders tbody tr")
        assert row.locator("td").all_inner_texts() == ["anna", "2", "0.1", "1.9"]
        line = page.locator(".lines tr", has_text="charge 1")
        assert line.locator("td").nth(2).inner_text() == "anna"
    enter(page, site, "/", "anna")
    assert page.goto(f"{site.url}/data/spent/ledger").status == 403


def test_others_do_not_learn_that_a_data_set_is_there(tab, site):
    page = tab()
    enter(page, site, "/")
    assert not page.get_by_text("hidden").count()
    texts = set()
    for name in ("nothing", "hidden"):
        assert page.goto(f"{site.url}/data/{name}").status == 404
        texts.add(page.locator("main").inner_text())
    assert len(texts) == 1


@pytest.mark.slow
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


@pytest.mark.slow
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
    for path in ("/register", "/people", "/data/people/manage", "/data/people/ledger"):
        page.goto(f"{site.url}{path}")
        if path == "/register":
            page.get_by_label("path on the server").fill(str(site.people))
            page.keyboard.press("Tab")
            page.get_by_role("checkbox", name="age").check()
            page.get_by_role("button", name="Register").focus()
        assert violations(page) == []
        assert overflow(page) <= 0
