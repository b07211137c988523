"""Guards in a real browser: a team submits to a leaderboard of twenty; owners and auditors."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from browsing import overflow, violations
from guarded import LABELS, as_text, guarded, label_file, model, submission
from serving import PASSWORD, served
from sourdine.adaptive.holdout.labels import Labels
from sourdine.server.running import add_person
from sourdine.server.store.base import Person
from sourdine.server.store.store import ServerStore
from visits import MARKUP, WIDE, answered, enter

HELD = Labels.read(LABELS, "labels")
NARROW = {"width": 360, "height": 740}
TEAMS = [MARKUP, *(f"team-{number}" for number in range(19))]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a server with guards: a new one for each test, and a board of twenty teams."""
    folder = tmp_path_factory.mktemp("guards")
    address = f"sqlite:///{folder}/store.db"
    store = ServerStore.create(address)
    for name, role in {"anna": "analyst", "olga": "owner", "udo": "auditor"}.items():
        add_person(store, name, role, PASSWORD)
    for name in TEAMS:
        store.people.add(Person(name=name, role="analyst"))
    path = label_file(folder)
    for name in ("file", "keys", "broken", "bad"):
        guarded(store, path, name, teams=["anna"], text="Heads (1) or tails (0)?")
    guarded(store, path, "hidden", teams=["olga"])
    guarded(store, path, "full", teams=["anna", *TEAMS])
    for number, team in enumerate(TEAMS):
        predictions = model(0.6 + 0.02 * (number % 7), number)
        submission(store, HELD, f"{number}", team, predictions, guard="full")
    with served(address) as url:
        yield SimpleNamespace(url=url, store=store, path=path, folder=folder)
    store.close()


def opened(page, site, guard, who="anna"):
    """Open the page of a guard."""
    enter(page, site, f"/guard/{guard}", who)
    page.wait_for_selector("body[data-ready]")


def paste(page, text):
    """Put a long text where predictions are pasted; typing it would take minutes."""
    box = page.get_by_label("or paste them, one per line")
    box.evaluate("(box, text) => { box.value = text; box.dispatchEvent(new Event('input')) }", text)


def told(site, guard):
    """Return whether each submission led."""
    return [bool(one.standing) for one in site.store.guards.submissions(guard)]


@pytest.mark.slow
def test_a_team_submits_a_file_and_hears_one_answer(tab, site):
    page = tab()
    enter(page, site, "/guards")
    assert page.locator("main .card h2").all_inner_texts() == [
        "bad",
        "broken",
        "file",
        "full",
        "keys",
    ]
    page.get_by_role("link", name="file").click()
    page.wait_for_selector("body[data-ready]")
    assert page.get_by_text("The first submission takes the lead.").is_visible()
    assert page.get_by_text("Heads (1) or tails (0)?").is_visible()
    saved = site.folder / "predictions.csv"
    saved.write_text(as_text(model(0.7)))
    page.get_by_label("a file", exact=True).set_input_files(saved)
    page.get_by_text(
        "predictions.csv: 2001 lines, the first one a header; there are 2000 labels."
    ).wait_for()
    page.get_by_role("button", name="Submit").click()
    answered(page)
    assert page.get_by_text("Your submission 1 took the lead.").is_visible()
    assert page.locator("#answer:focus").count() == 1
    assert page.locator(".verdict .big").inner_text().startswith("0.7")
    assert page.locator("#board svg .dot").count() == 1
    assert page.locator("#left .arc.spent").count() == 1
    paste(page, as_text(model(0.6)))
    page.get_by_role("button", name="Submit").click()
    answered(page, 2)
    assert page.get_by_text("No new lead").is_visible()
    assert page.locator("#past tbody tr").count() == 2
    assert page.get_by_text("You have 98 of 100 submissions remaining.").is_visible()
    assert told(site, "file") == [True, False]
    page.reload()
    assert page.get_by_text("No new lead").is_visible()


def reach(page, selector):
    """Press Tab until an element has the focus."""
    for _ in range(40):
        if page.locator(f"{selector}:focus").count():
            return
        page.keyboard.press("Tab")
    pytest.fail(f"{selector} cannot be reached by Tab")


@pytest.mark.slow
def test_a_baseline_by_keys_alone(tab, site):
    page = tab()
    page.goto(f"{site.url}/guard/keys")
    page.keyboard.type("anna")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("body[data-ready]")
    reach(page, "#file")
    reach(page, ".further summary")
    page.keyboard.press("Enter")
    reach(page, "#same")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    page.get_by_text("1 in every row: 2000 lines; there are 2000 labels.").wait_for()
    reach(page, "#submit")
    page.keyboard.press("Enter")
    answered(page)
    assert told(site, "keys") == [True]


def test_over_a_line_that_breaks_one_question_is_spent(tab, site):
    page, keys = tab(), []

    def route(sent):
        keys.append(sent.request.headers["idempotency-key"])
        if len(keys) == 1:
            headers = {**sent.request.headers, "sec-fetch-site": "same-origin"}
            assert sent.fetch(headers=headers).status == 200
        if len(keys) <= 2:
            sent.abort("connectionreset")
        else:
            sent.continue_()

    page.route("**/api/v1/guards/*/submissions", route)
    opened(page, site, "broken")
    paste(page, as_text(model(0.7)))
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Retrying; the request is charged only once").wait_for()
    page.reload()  # what was pressed is sent again, by itself
    answered(page)
    assert page.get_by_text("Your submission 1 took the lead.").is_visible()
    assert len(keys) >= 3
    assert len(set(keys)) == 1
    assert told(site, "broken") == [True]


def test_what_is_wrong_is_said_and_costs_nothing(tab, site):
    page = tab()
    opened(page, site, "bad")
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Choose a file, or paste the predictions.").wait_for()
    for text, said in {
        "1\n0": "predictions must hold a prediction for each of the 2000 labels, got 2",
        "\n".join(["0.5"] * 2000): "predictions must be labels, such as 0 or 1, got fractions",
        "\n".join(["0,1"] * 2000): "predictions must hold one value per row, got 2 in row 1",
    }.items():
        paste(page, text)
        page.get_by_role("button", name="Submit").click()
        page.get_by_text(said).wait_for()
    assert told(site, "bad") == []


def test_twenty_teams_on_one_board(tab, site):
    page = tab()
    enter(page, site, "/guard/full/leaderboard", "anna")
    page.wait_for_selector("body[data-ready]")
    rows = page.locator(".teams tbody tr")
    assert rows.count() == 20
    scores = page.locator(".teams td:nth-child(2)").all_inner_texts()
    shown = [float(cell) for cell in scores if cell != "-"]
    assert 3 <= len(shown) == page.locator("#board svg .dot").count()
    assert shown == sorted(shown, reverse=True)
    assert page.locator("#board svg .name").count() == 20 + len(shown)
    assert page.locator("#board svg").get_by_text("no lead yet").count() == 20 - len(shown)
    wide, high = page.evaluate(
        "(b => [b.width, b.height])(document.querySelector('#board svg').viewBox.baseVal)"
    )
    assert wide == min(round(page.locator("#board").bounding_box()["width"]), 960)
    assert high > 600
    assert page.locator("main img, main b, main script").count() == 0
    assert page.evaluate("window.ran") is None


def test_an_owner_registers_lets_a_team_and_closes(tab, site):
    page = tab()
    enter(page, site, "/guards", "olga")
    page.get_by_role("link", name="Create a guard").click()
    page.get_by_label("name", exact=True).fill("made")
    page.get_by_label("path on the server").fill("/nowhere.csv")
    page.get_by_label("column of the labels").fill("y")
    page.get_by_label("maximum error").fill("0.01")
    page.get_by_role("button", name="Create the guard").click()
    page.get_by_text("name readable data on the server").wait_for()
    page.get_by_label("path on the server").fill(str(site.path))
    page.get_by_role("button", name="Create the guard").click()
    page.get_by_text("error must be at least").wait_for()
    page.get_by_label("maximum error").fill("0.06")
    page.get_by_label("maximum block size").fill("1")
    page.get_by_role("button", name="Create the guard").click()
    page.wait_for_url("**/guard/made/teams")
    page.get_by_label("team", exact=True).select_option("anna")
    page.get_by_label("maximum number of submissions").fill("5")
    page.get_by_role("button", name="Allow submissions").click()
    page.locator("#teams td", has_text="anna").wait_for()
    assert site.store.guards.grant("made", "anna").submissions == 5
    page.get_by_label("enter the name of the guard").fill("made")
    page.get_by_role("button", name="Close permanently").click()
    page.get_by_text("This guard is permanently closed.").wait_for()
    opened(page, site, "made")
    assert page.get_by_role("button", name="Submit").is_disabled()


def test_an_auditor_checks_a_guard(tab, site):
    page = tab()
    enter(page, site, "/guard/full/ledger", "udo")
    page.get_by_role("button", name="Check the ledger").click()
    page.get_by_text("Valid.").wait_for()
    assert page.get_by_text("the seal of the labels").is_visible()
    assert page.goto(f"{site.url}/guard/full/teams").status == 403
    assert page.goto(f"{site.url}/guards/register").status == 403
    enter(page, site, "/guards", "anna")
    texts = set()
    for name in ("nothing", "hidden"):
        assert page.goto(f"{site.url}/guard/{name}").status == 404
        texts.add(page.locator("main").inner_text())
    assert len(texts) == 1
    assert page.goto(f"{site.url}/guard/full/ledger").status == 403


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "size"), [("light", WIDE), ("dark", NARROW)], ids=["light desktop", "dark phone"]
)
def test_axe_finds_nothing_on_guards(tab, site, scheme, size):
    page = tab(viewport=size, color_scheme=scheme, bypass_csp=True)
    opened(page, site, "full", TEAMS[6])
    page.get_by_text("Constant baseline").click()
    page.get_by_text("Show as a table").click()
    assert violations(page) == []
    assert overflow(page) <= 0
    for who, path in {
        "anna": "/guards",
        TEAMS[1]: "/guard/full/leaderboard",
        "udo": "/guard/full/ledger",
        "olga": "/guards/register",
    }.items():
        enter(page, site, path, who)
        assert violations(page) == []
        assert overflow(page) <= 0
    page.goto(f"{site.url}/guard/full/teams")
    assert violations(page) == []
    assert overflow(page) <= 0
