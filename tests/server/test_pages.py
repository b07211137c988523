"""The desk in a real browser: from the first start to a release, over lines that break, by keys."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import httpx
import pytest

from serving import PASSWORD, served
from sourdine import questions
from sourdine.answers import Release
from sourdine.server.auth import COOKIE, new_token
from sourdine.server.pages.rendering import rendered
from sourdine.server.running import add_person, demo_store
from visits import answered, charges, desk, enter, log_in, planning, reach


def test_texts_are_escaped_in_every_template():
    page = rendered("login.html", next='"><script>alert(1)</script>').body.decode()
    assert "&#34;&gt;&lt;script&gt;alert" in page
    assert "<script>alert" not in page


@pytest.mark.slow
def test_from_the_first_start_to_a_release(tab, tmp_path):
    address, people = demo_store(tmp_path)
    with served(address) as url:
        page = tab()
        page.goto(url)
        assert page.url == f"{url}/login?next=/"
        analyst = next(one for one in people if one.name == "analyst")
        log_in(page, url, "analyst", analyst.password)
        page.get_by_role("link", name="wages").click()
        page.wait_for_selector("body[data-ready]")
        assert "± 20.6" in page.locator("#plan").inner_text()
        assert page.locator("#plan .arc.next").count() == 1
        assert page.locator("#plan .beyond").count() == 1
        page.get_by_role("button", name="Release", exact=True).click()
        answered(page)
        shown = page.locator("#released")
        assert shown.get_by_role("heading", name="Mean of wage").is_visible()
        assert shown.locator("svg .end").count() == 3
        assert "clamped to 0 to 200,000" in shown.inner_text()
        assert page.locator("#history tbody tr").count() == 1
        shown.get_by_role("link", name="on its own page").click()
        page.wait_for_url("**/releases/1")
        assert page.get_by_role("heading", name="Mean of wage").is_visible()
        assert not page.get_by_role("link", name="on its own page").count()
        page.get_by_role("link", name="Back to wages").click()
        page.wait_for_url("**/data/wages")


@pytest.mark.slow
def test_either_gives_the_other(tab, site):
    page = tab()
    desk(page, site, "people")
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("0.5")
    error = page.get_by_label("error (95%)").input_value()
    with planning(page):
        page.get_by_label("error (95%)").fill(error)
    epsilon = float(page.get_by_label("epsilon", exact=True).input_value())
    assert epsilon == pytest.approx(0.5, rel=0.01)
    with planning(page):
        page.get_by_label("epsilon, logarithmic scale").fill("0")
    assert page.get_by_label("epsilon", exact=True).input_value() == "1"
    assert float(page.get_by_label("error (95%)").input_value()) < float(error)


def test_nothing_is_released_but_what_is_typed(tab, site):
    page = tab()
    desk(page, site, "people")
    waiting = []
    page.route("**/plan?*", lambda route: waiting.append(route))  # noqa: PLW0108 - it is marked
    page.get_by_label("epsilon", exact=True).fill("0.3")
    assert page.get_by_role("button", name="Release", exact=True).is_disabled()
    page.wait_for_timeout(300)
    page.get_by_label("epsilon", exact=True).fill("0.4")
    page.wait_for_timeout(300)
    first, second = waiting
    first.continue_()
    page.wait_for_timeout(300)
    assert page.get_by_role("button", name="Release", exact=True).is_disabled()
    with planning(page):
        second.continue_()
    page.locator("#release:enabled").wait_for()
    assert "epsilon 0.4" in page.locator("#plan").inner_text()


@pytest.mark.slow
def test_every_statistic_can_be_planned(tab, site):
    page = tab()
    desk(page, site, "people")
    kinds = page.locator("#statistic option").all_inner_texts()
    assert {"count", "sum", "mean", "proportion", "histogram", "quantiles"} < set(kinds)
    for kind in kinds:
        with planning(page):
            page.get_by_label("statistic").select_option(kind)
        if kind == "proportion":
            page.locator("select[name=column]").select_option("sex")
            with planning(page):
                page.get_by_label("category").fill("f")
        if kind == "quantile":
            with planning(page):
                page.get_by_role("button", name="median").click()
        if kind == "sql":
            with planning(page):
                page.locator("[name=statement]").fill("SELECT AVG(age), COUNT(*) FROM people")
        if kind in ("covariance", "correlation", "regression"):
            continue  # which need two columns of numbers
        assert page.locator("#trouble").inner_text() == "", kind
        assert f"{'statement' if kind == 'sql' else kind} " in page.locator("#plan").inner_text()


@pytest.mark.slow
def test_every_statistic_shows_its_own_settings(tab, site):
    page = tab()
    desk(page, site, "people")
    page.get_by_text("More settings").click()
    for kind in page.locator("#statistic option").all_inner_texts():
        with planning(page):
            page.get_by_label("statistic").select_option(kind)
        declared = questions.schema()["$defs"][kind]["properties"]
        for field in page.locator("[data-field]:visible").all():
            own = declared[field.get_attribute("data-field")]
            offered = set(field.locator("select:not([name=column]) option").all_inner_texts())
            assert offered <= {*own.get("enum", ()), ""}
            hint = field.locator(".hint")
            assert hint.count() == 0 or hint.inner_text() == own["description"]


def test_what_is_typed_stays_for_the_next_statistic(tab, site):
    page = tab()
    desk(page, site, "free")
    page.locator("[name=column]").fill("age")
    page.locator("[name=bounds]:visible").fill("0, 90")
    with planning(page):
        page.get_by_label("statistic").select_option("histogram")
    assert page.locator("[name=bounds]:visible").input_value() == "0, 90"


def test_a_statement_takes_bounds_and_keys_that_the_owner_did_not_give(tab, site):
    page = tab()
    desk(page, site, "free")
    with planning(page):
        page.get_by_label("statistic").select_option("sql")
    page.locator("[name=statement]").fill("SELECT sex, AVG(age) FROM people GROUP BY sex")
    page.locator("[name=bounds]:visible").fill("age: 0, 90")
    with planning(page):
        page.locator("[name=keys]:visible").fill("f,m")
    page.get_by_role("button", name="Release", exact=True).click()
    answered(page)
    assert page.locator("#released tbody td:first-child").all_inner_texts() == ["f", "m"]
    desk(page, site, "people")  # of the column that is chosen for other statistics all is known
    with planning(page):
        page.get_by_label("statistic").select_option("sql")
    page.locator("[name=statement]").fill("SELECT AVG(age / 2) FROM people")
    with planning(page):
        page.locator("[name=bounds]:visible").fill("age / 2: 0, 60")
    assert page.locator("#trouble").inner_text() == ""
    assert page.locator("#release").is_enabled()


def test_plans_of_quantiles_speak_of_percentiles(tab, site):
    page = tab()
    desk(page, site, "people")
    with planning(page):
        page.get_by_label("statistic").select_option("median")
    said = page.locator("#plan .big").inner_text()
    assert re.fullmatch(r"within [\d.]+ percentage points of the 50th percentile", said)
    share = float(page.get_by_label("error (95%)").input_value())
    assert float(said.split()[1]) == pytest.approx(100 * share, rel=0.02)


@pytest.mark.slow
def test_a_release_can_be_downloaded(tab, site):
    page = tab()
    desk(page, site, "saved")
    page.get_by_label("sex").check()
    page.locator("#release:enabled").click()
    answered(page)
    saved = {}
    for form in ("CSV", "SVG", "JSON"):
        with page.expect_download() as found:
            page.get_by_role("link", name=f"as {form}").click()
        assert found.value.suggested_filename == f"saved-1.{form.lower()}"
        saved[form] = Path(found.value.path()).read_text()
    (stored,) = site.store.datasets.ledger("saved").history
    release = Release.from_json(stored.answer)
    head, *rows = csv.reader(saved["CSV"].splitlines())
    assert head == ["sex", "mean", "lower", "upper"]
    lows, highs = zip(*release.interval(0.95).values(), strict=True)
    assert [row[0] for row in rows] == ["f", "m"]
    assert [[float(x) for x in row[1:]] for row in rows] == [
        list(one) for one in zip(release.value.values(), lows, highs, strict=True)
    ]
    assert Release.from_json(saved["JSON"]) == release
    assert json.loads(saved["JSON"])["interval"] == release.derived()["interval"]
    picture = page.context.new_page()
    picture.set_content(saved["SVG"])
    assert picture.locator("svg .dot").count() == 2
    assert "var(" not in saved["SVG"]
    picture.close()
    pytest.importorskip("matplotlib")
    with page.expect_download() as found:
        page.get_by_role("link", name="as PNG").click()
    assert found.value.suggested_filename == "saved-1.png"
    assert Path(found.value.path()).read_bytes().startswith(b"\x89PNG")
    for path in ("1/pdf", "1/html", "2/csv", "x/csv"):
        assert page.goto(f"{site.url}/data/saved/releases/{path}").status == 404


@pytest.mark.slow
def test_nobody_downloads_the_release_of_another(site):
    add_person(site.store, "ben", "analyst", PASSWORD)
    site.store.grants.give("saved", "ben", 1)
    for who, status in {"anna": 200, "olga": 200, "udo": 200, "ben": 404}.items():
        token = new_token(site.store, who, "session", days=1)
        found = httpx.get(f"{site.url}/data/saved/releases/1/csv", cookies={COOKIE: token})
        assert found.status_code == status, who


@pytest.mark.slow
def test_releases_are_legible_and_whole_on_a_phone(tab, site):
    page = tab(viewport={"width": 390, "height": 800})
    desk(page, site, "phone")
    for number, statistic in enumerate(("histogram", "quantiles", "variance", "mean"), 1):
        with planning(page):
            page.get_by_label("statistic").select_option(statistic)
        if statistic == "mean":
            page.get_by_label("sex").check()
            page.locator("summary", has_text="More settings").click()
            with planning(page):
                page.locator("[name=population]:visible").check()
        page.locator("#release:enabled").click()
        answered(page)
        for at in ("desk", "alone"):
            if at == "alone":
                page.goto(f"{site.url}/data/phone/releases/{number}")
                page.wait_for_selector("body[data-ready]")
            cut = """() => [...document.querySelectorAll("#released *")].filter((node) => {
                const box = node.getBoundingClientRect();
                const scrolls = getComputedStyle(node).overflowY !== "visible";
                const inner = scrolls && node.scrollHeight > node.clientHeight + 1;
                return !node.closest("details") && (box.right > innerWidth || inner);
            }).map((node) => node.outerHTML.slice(0, 80))"""
            assert page.evaluate(cut) == []
            sizes = """() => [...document.querySelectorAll("#released svg text")].map((node) =>
                parseFloat(getComputedStyle(node).fontSize)
                * node.ownerSVGElement.getScreenCTM().a)"""
            assert min(page.evaluate(sizes)) >= 11.5
        desk(page, site, "phone")


def test_groups(tab, site):
    page = tab()
    desk(page, site, "people")
    with planning(page):
        page.get_by_label("sex").check()
    assert "mean of age by sex" in page.locator("#plan").inner_text()
    page.get_by_role("button", name="Release", exact=True).click()
    answered(page)
    assert page.locator("#released tbody td:first-child").all_inner_texts() == ["f", "m"]
    assert page.locator("#released svg .dot").count() == 2


class Breaking:
    """Breaks the line of a page: what it is to do with each request, one after the other."""

    def __init__(self, page, *plans):
        self.plans, self.keys = list(plans), []
        page.route("**/api/v1/datasets/*/releases", self)

    def __call__(self, route):
        self.keys.append(route.request.headers["idempotency-key"])
        plan = self.plans.pop(0) if self.plans else "send"
        if plan == "lose the answer":
            headers = {**route.request.headers, "sec-fetch-site": "same-origin"}
            assert route.fetch(headers=headers).status == 200
        if plan == "send":
            route.continue_()
        else:
            route.abort("connectionreset")


def test_over_a_line_that_breaks_twice_there_is_one_charge(tab, site):
    page = tab()
    line = Breaking(page, "lose the answer", "break")
    desk(page, site, "broken")
    page.get_by_role("button", name="Release", exact=True).click()
    page.get_by_text("Retrying; the request is charged only once").wait_for()
    answered(page)
    assert page.locator("#released svg").count() == 1
    assert len(line.keys) == 3
    assert len(set(line.keys)) == 1
    assert charges(site, "broken") == ["mean of age"]
    page.get_by_role("button", name="Release", exact=True).click()
    answered(page, 2)
    assert len(set(line.keys)) == 2
    assert len(charges(site, "broken")) == 2


def test_a_page_that_is_loaded_again_asks_under_the_same_key(tab, site):
    page = tab()
    line = Breaking(page, "lose the answer", "break")
    desk(page, site, "reloaded")
    page.get_by_role("button", name="Release", exact=True).click()
    page.get_by_text("Retrying; the request is charged only once").wait_for()
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#released svg").count() == 1
    assert len(set(line.keys)) == 1
    assert charges(site, "reloaded") == ["mean of age"]


def test_nobody_sends_what_another_pressed(tab, site):
    page = tab()
    line = Breaking(page, *["break"] * 99)
    desk(page, site, "pending")
    page.get_by_role("button", name="Release", exact=True).click()
    page.get_by_text("Retrying; the request is charged only once").wait_for()
    enter(page, site, "/data/pending", "olga")
    page.wait_for_selector("body[data-ready]")
    sent = len(line.keys)
    page.wait_for_timeout(1500)
    assert len(line.keys) == sent
    line.plans.clear()
    desk(page, site, "pending")
    assert len(set(line.keys)) == 1
    assert charges(site, "pending") == ["mean of age"]


def test_what_is_not_left_cannot_be_released(tab, site):
    page = tab()
    desk(page, site, "budget")
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("2.5")
    assert page.get_by_role("button", name="Release", exact=True).is_disabled()
    assert "This exceeds your remaining budget of 2." in page.locator("#cost").inner_text()
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("4")
    assert page.locator("#plan .arc.over").count() == 1
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("nonsense")
    assert "epsilon must be" in page.locator("#epsilon + .wrong").inner_text()
    assert page.get_by_label("epsilon", exact=True).get_attribute("aria-invalid") == "true"
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("1.5")
    assert page.locator(".wrong, [aria-invalid]").count() == 0
    site.store.grants.give("budget", "anna", 1)
    page.get_by_role("button", name="Release", exact=True).click()
    answered(page)
    assert "1 of 1 remaining" in page.locator("#trouble").inner_text()
    assert charges(site, "budget") == []


@pytest.mark.slow
def test_several_under_one_total(tab, site):
    page = tab()
    desk(page, site, "list")
    for statistic in ("mean", "quantiles", "count"):
        page.get_by_label("statistic").select_option(statistic)
        page.wait_for_timeout(400)
        page.get_by_role("button", name="Add to a list").click()
    with page.expect_response("**/together?*"):
        page.get_by_label("total epsilon").fill("1")
    page.locator("#together tfoot td", has_text="0.999").wait_for()
    page.get_by_role("button", name="Release all").click()
    answered(page)
    assert page.locator("#released section").count() == 3
    assert len(charges(site, "list")) == 3
    page.locator("#history a").first.click()
    page.wait_for_url("**/releases/3")
    assert page.locator("#released section").count() == 3


@pytest.mark.slow
def test_by_keys_alone(tab, site):
    page = tab()
    page.goto(f"{site.url}/data/keys")
    page.keyboard.type("anna")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("body[data-ready]")
    reach(page, "#statistic")
    with planning(page):
        page.keyboard.type("hist")
    reach(page, "#slider")
    with planning(page):
        page.keyboard.press("ArrowRight")
    assert (
        page.get_by_label("epsilon", exact=True).input_value() == "0.1"
    )  # two digits of 10**-0.98
    reach(page, "#release")
    page.keyboard.press("Enter")
    answered(page)
    assert page.locator("#result:focus").count() == 1
    assert page.locator("#released svg .bar").count() == 20
    assert charges(site, "keys") == ["histogram of age"]


@pytest.mark.slow
def test_copied_python_runs(tab, site, capsys):
    page = tab()
    desk(page, site, "copied")
    page.get_by_label("sex").check()
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("0.25")
    page.get_by_text("Show as Python or command").click()
    code = page.get_by_label("Python").inner_text()
    token = new_token(site.store, "anna", "api", days=1)
    exec(code.replace('"..."', repr(token)), {})  # noqa: S102 - it is the test
    assert "f" in capsys.readouterr().out
    command = page.get_by_label("Command").inner_text()
    assert charges(site, "copied") == ["mean of age by sex"]
    body = json.loads(command.partition("--json '")[2].rstrip("'"))
    headers = {"authorization": f"Bearer {token}", "idempotency-key": "k" * 20}
    done = httpx.post(f"{site.url}/api/v1/datasets/copied/releases", json=body, headers=headers)
    assert done.status_code == 200
    assert len(charges(site, "copied")) == 2
