"""Surveys in a real browser: from the empty form to an answer that is counted."""

from __future__ import annotations

import json
import tomllib

import httpx
import pytest

from browsing import overflow, violations
from serving import Api
from sourdine.server.auth import new_token
from sourdine.server.surveys import examined_at
from sourdine.survey.document import SKELETON
from sourdine.survey.page import words
from visits import CATEGORY, MARKUP, WIDE, enter, reach

EN = words("en")
NARROW = {"width": 360, "height": 740}
TOWN = tomllib.loads(SKELETON)


def api(site):
    """Return the API as the owner calls it."""
    return Api(site.url, new_token(site.store, "olga", "api", days=1))


def opened(site, name, body=None, **changes):
    """Open a survey without a browser."""
    owner = api(site)
    document = {**TOWN, "name": name, **changes}
    assert owner.post("/surveys", {"document": document}).status_code == 201
    answer = owner.post(f"/surveys/{name}/open", body or {})
    assert answer.status_code == 200, answer.text
    return answer.json()


def editor(page, site, path="/draft"):
    """Open the editor of a draft."""
    enter(page, site, path, "olga")
    page.wait_for_selector("body[data-ready]")


def pasted(page, text):
    """Fill in the form from a file."""
    page.get_by_text("Import a survey.toml").click()
    page.get_by_label("or paste it here").fill(text)
    page.get_by_role("button", name="Fill in the form").click()


def pressed(page, button, times=1):
    """Press a button that saves, and wait until it was done."""
    page.get_by_role("button", name=button).click()
    page.wait_for_selector(f"body[data-pressed='{times}']")


def typed(page, selector, text):
    """Type into a field that is reached by Tab."""
    reach(page, selector)
    page.keyboard.type(text)


@pytest.mark.slow
def test_by_keys_alone_from_the_form_to_an_answer_that_is_counted(tab, site):
    page = tab(viewport=NARROW)
    enter(page, site, "/surveys", "olga")
    reach(page, "a[href='/draft']")
    page.keyboard.press("Enter")
    page.wait_for_selector("body[data-ready]")
    typed(page, "[data-field=title] input", "Habits")
    typed(page, "[name=who]", "the clinic")
    typed(page, "[name=contact]", "a@example.org")
    typed(page, "[name=name]", "habits")
    typed(page, ".question [data-part=ask] input", "Do you smoke?")
    page.get_by_text("Accuracy with 1000 people").wait_for()
    reach(page, "#more")
    page.keyboard.press("Enter")
    page.keyboard.type("Which way did you come?")
    second = ".question:nth-of-type(2)"
    typed(page, f"{second} [name=kind]", "one of")
    typed(page, f"{second} .answer:nth-child(1) input", "by bus")
    typed(page, f"{second} .answer:nth-child(2) input", "on foot")
    page.locator("#consequence").get_by_text("Which way did you come?").wait_for()
    assert "% sure" in page.locator("#consequence").inner_text()
    assert overflow(page) <= 0
    reach(page, "#open")
    page.keyboard.press("Enter")
    page.locator("#watch").wait_for()
    assert page.url == f"{site.url}/surveys/habits"
    address = page.get_by_label("Address", exact=True).inner_text().strip()
    assert page.locator(".counted").inner_text() == "0"

    respondent = tab(viewport=NARROW, locale="en-GB")
    respondent.goto(address)
    reach(respondent, "input[type=radio]")
    respondent.keyboard.press("ArrowUp")
    reach(respondent, "#draw")
    respondent.keyboard.press("Enter")
    reach(respondent, "#send")
    respondent.keyboard.press("Enter")
    respondent.get_by_text(EN["accepted"]).wait_for()
    assert overflow(respondent) <= 0

    page.locator(".counted", has_text="1").wait_for()
    assert page.get_by_text("Shown once 50 people have answered.").count() == 2
    asked = api(site).get("/surveys/habits").json()["document"]["questions"]
    assert asked["which_way_did"]["categories"] == ["by bus", "on foot"]


def test_what_is_wrong_stands_beside_its_field(tab, site):
    page = tab()
    editor(page, site)
    assert page.locator(".wrong").count() == 0
    page.get_by_label("question", exact=True).fill("How old are you?")
    page.get_by_label("kind of answer").select_option("a number")
    page.get_by_label("from").fill("120")
    page.get_by_label("to", exact=True).fill("0")
    page.get_by_label("to", exact=True).press("Tab")
    page.locator("[data-part=lower] .wrong").wait_for()
    assert "below upper" in page.locator("[data-part=lower] .wrong").inner_text()
    assert page.locator("[data-field=title] .wrong").count() == 0  # nobody came there yet
    page.get_by_label("name in the URL").fill("wrong")
    pressed(page, "Save the draft")
    title = page.get_by_label("title")
    assert title.get_attribute("aria-invalid") == "true"
    said = page.locator(f"#{title.get_attribute('aria-describedby')}").inner_text()
    assert said == "Must be a string of 1 to 4000 characters, got ''."
    page.get_by_role("button", name="title must be a string").click()
    assert title.evaluate("node => node === document.activeElement")
    pressed(page, "Open the survey", 2)
    assert "not opened" in page.locator("#progress").inner_text()
    assert site.store.surveys.get("wrong").state == "draft"
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.get_by_label("from").input_value() == "120"
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("button", name="Discard permanently").click()
    page.wait_for_url("**/surveys")
    assert site.store.surveys.get("wrong") is None


@pytest.mark.slow
def test_a_file_becomes_the_form_and_the_form_the_same_survey(tab, site):
    page = tab()
    editor(page, site)
    pasted(page, "title = ")
    page.locator("#paste-trouble", has_text="be a valid TOML").wait_for()
    page.get_by_label("or paste it here").fill(SKELETON.replace('"commute"', '"filed"'))
    page.get_by_role("button", name="Fill in the form").click()
    page.get_by_text("Accuracy with 1000 people").wait_for()
    assert page.get_by_label("title (Français)").input_value() == TOWN["title"]["fr"]
    assert page.get_by_label("answer 1 (English)").first.input_value() == "on foot"
    pressed(page, "Save the draft")
    assert page.locator("#trouble").inner_text() == ""
    saved = api(site).get("/surveys/filed").json()["document"]
    known = {**TOWN, "name": "filed"}
    whole, same = (examined_at(one, site.url).survey for one in (saved, known))
    assert whole == same
    page.locator("#languages").get_by_label("Français").uncheck()
    pressed(page, "Save the draft", 2)
    assert api(site).get("/surveys/filed").json()["problems"] == []


@pytest.mark.slow
def test_a_preview_keeps_nothing_and_sends_nothing(tab, site):
    page = tab(locale="en-GB")
    editor(page, site)
    pasted(page, SKELETON.replace('"commute"', '"previewed"'))
    page.get_by_text("Accuracy with 1000 people").wait_for()
    with page.context.expect_page() as shown:
        page.get_by_role("button", name="Preview the page").click()
    preview = shown.value
    preview.get_by_role("button", name=EN["draw"]).click()
    preview.get_by_text(EN["unkept"]).wait_for()
    asked = []
    preview.on("request", lambda request: asked.append(request.url))
    preview.locator("#send").click()
    preview.get_by_text(EN["offline"]).wait_for()
    assert asked == []


@pytest.mark.slow
def test_tickets_are_shown_once(tab, site):
    page = tab()
    editor(page, site)
    pasted(page, SKELETON.replace('"commute"', '"invited"'))
    page.get_by_text("Accuracy with 1000 people").wait_for()
    page.get_by_label("people with a ticket").check()
    page.get_by_label("tickets", exact=True).fill("2")
    page.get_by_role("button", name="Open the survey").click()
    page.locator("#links li").first.wait_for()
    links = page.locator("#links li").all_inner_texts()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download").click()
    assert saved.value.suggested_filename == "invited-tickets.txt"
    assert saved.value.path().read_text().split() == links
    respondent = tab(locale="en-GB")
    for said in (EN["accepted"], "Not accepted (403)"):
        respondent.goto("about:blank")
        respondent.goto(links[0])
        respondent.evaluate("localStorage.clear()")
        respondent.reload()
        respondent.get_by_role("button", name=EN["draw"]).click()
        respondent.locator("#send").click()
        respondent.get_by_text(said).wait_for()
    page.get_by_role("link", name="Go to the survey").click()
    page.get_by_text("1 of 2 tickets are left").wait_for()
    assert links[1] not in page.content()


def test_words_stay_text(tab, site):
    evil = {"en": MARKUP, "fr": CATEGORY}
    question = {"kind": "choice", "categories": [CATEGORY, MARKUP], "ask": evil, "help": evil}
    facts = {"title": evil, "who": MARKUP, "text": evil, "questions": {MARKUP: question}}
    owner = api(site)
    assert owner.post("/surveys", {"document": {**TOWN, "name": "evil", **facts}}).is_success
    page = tab(locale="en-GB")
    editor(page, site, "/surveys/evil")
    assert page.get_by_label("title (English)").input_value() == MARKUP
    assert MARKUP in page.locator("#consequence").inner_text()
    assert owner.post("/surveys/evil/open", {}).is_success
    for path in ("/", "/surveys", "/surveys/evil", "/s/evil/", "/s/evil/results"):
        page.goto(f"{site.url}{path}")
        page.locator("h1, h2", has_text=MARKUP).first.wait_for()
        assert page.locator("main img, main b:not(.number b), main script").count() == 0
    assert page.evaluate("window.ran") is None


def test_an_owner_closes_and_others_look_on(tab, site):
    facts = opened(site, "ending")
    page = tab()
    enter(page, site, "/surveys/ending", "anna")
    assert page.get_by_role("button", name="Close permanently").count() == 0
    assert page.goto(f"{site.url}/draft").status == 403
    enter(page, site, "/surveys/ending", "olga")
    page.get_by_label("enter the name of the survey").fill("other")
    page.get_by_role("button", name="Close permanently").click()
    page.get_by_text("The name does not match.").wait_for()
    page.get_by_label("enter the name of the survey").fill("ending")
    page.get_by_role("button", name="Close permanently").click()
    page.locator("#results .state", has_text="closed").wait_for()
    assert "The survey is closed." in httpx.get(f"{facts['address']}results").text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "size"), [("light", WIDE), ("dark", NARROW)], ids=["light desktop", "dark phone"]
)
def test_axe_finds_nothing_and_nothing_overflows(tab, site, scheme, size):
    page = tab(viewport=size, color_scheme=scheme, bypass_csp=True)
    name = f"seen-{scheme}"
    opened(site, f"{name}-open")
    editor(page, site)
    pasted(page, SKELETON.replace('"commute"', f'"{name}"').replace("lower = 0", "lower = 500"))
    page.get_by_text("Accuracy with 1000 people").wait_for()
    pressed(page, "Save the draft")
    for one in page.get_by_text("Name in results").all():
        one.click()
    assert violations(page) == []
    assert overflow(page) <= 0
    for path in ("/", "/surveys", f"/surveys/{name}-open", f"/s/{name}-open/"):
        page.goto(f"{site.url}{path}")
        assert violations(page) == []
        assert overflow(page) <= 0


@pytest.mark.slow
def test_all_rounds_on_one_server_are_answered_from_one_memory(tab, site):
    """Every round is a survey of its own name; one browser draws one memory for all of them."""
    rounds, asked = 5, {"late": TOWN["questions"]["late"]}
    page, memories = tab(locale="en-GB"), []
    for number in (1, 2, 4):
        changes = {"rounds": rounds, "round": number, "epsilon": 4, "questions": asked}
        facts = opened(site, f"late-{number}", **changes)
        page.goto(facts["address"])
        page.get_by_label("Yes").check()
        page.locator("#draw").click()
        page.locator("#send").click()
        page.get_by_text(EN["accepted"]).wait_for()
        kept = page.evaluate("Object.entries(localStorage)")
        found = [json.loads(value) for key, value in kept if key.startswith("sourdine memory")]
        assert len(found) == 1, f"round {number} drew a memory of its own"
        memories.append(found[0])
    assert [one["answered"] for one in memories] == [1, 2, 4]
    assert all(one["columns"] == memories[0]["columns"] for one in memories)
