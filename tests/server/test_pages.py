"""The pages in a real browser: from the first start to a release, over lines that break."""

from __future__ import annotations

import json
from contextlib import contextmanager
from types import SimpleNamespace

import httpx
import pytest

from browsing import chromium_running, violations
from serving import PASSWORD, served
from sourdine.privacy import Guarantee
from sourdine.server.auth import COOKIE, new_token
from sourdine.server.columns import read_columns
from sourdine.server.setting_up import add_person, demo_store
from sourdine.server.store import Dataset, ServerStore
from sourdine.session import Terms

WIDE, NARROW = {"width": 1200, "height": 900}, {"width": 360, "height": 740}
MARKUP = "<img src=x onerror=window.ran=1><b>bold</b>"
CATEGORY = "\"><script>window.ran=1</script>'"
COLUMNS = {
    "age": {"bounds": [0, 120], "step": 1, "text": "In years."},
    "sex": {"keys": ["f", "m"]},
}
EVIL = {MARKUP: {"bounds": [0, 1], "text": MARKUP}, CATEGORY: {"keys": [CATEGORY, MARKUP]}}
EXPECTED = ("Failed to load resource", "requires 'TrustedHTML' assignment")


def added(store, path, name, columns, to="anna"):
    facts = json.dumps(read_columns(columns))
    terms = Terms(total=Guarantee(3))
    store.datasets.add(
        Dataset(name=name, terms=terms, source=str(path), columns=facts, n_about=600)
    )
    store.grants.give(name, to, 2)


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a server, its store, and where the data lie."""
    folder = tmp_path_factory.mktemp("pages")
    people, evil = folder / "people.csv", folder / "evil.csv"
    rows = [f"{20 + i % 60},{'fm'[i % 2]}" for i in range(600)]
    people.write_text("\n".join(["age,sex", *rows]) + "\n")
    cells = [f"{i % 2},{quoted((CATEGORY, MARKUP)[i % 2])}" for i in range(600)]
    evil.write_text("\n".join([f"{quoted(MARKUP)},{quoted(CATEGORY)}", *cells]) + "\n")
    address = f"sqlite:///{folder}/store.db"
    store = ServerStore.create(address)
    for name, role in {"anna": "analyst", "olga": "owner", "udo": "auditor"}.items():
        add_person(store, name, role, PASSWORD)
    for name in ("people", "broken", "reloaded", "budget", "list", "keys", "copied", "closed"):
        added(store, people, name, COLUMNS)
    added(store, evil, "evil", EVIL)
    added(store, people, "hidden", COLUMNS, to="olga")
    with served(address) as url:
        yield SimpleNamespace(url=url, store=store, people=people, folder=folder)
    store.close()


@pytest.fixture(scope="module")
def chromium():
    with chromium_running("the server's pages were") as browser:
        yield browser


@pytest.fixture
def tab(chromium):
    """Return what opens a tab that must not complain, but of a line that breaks."""
    contexts, said = [], []

    def opened(**options):
        context = chromium.new_context(**{"viewport": WIDE, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda told: said.append(told.text) if told.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [text for text in said if not any(one in text for one in EXPECTED)] == []


def log_in(page, url, name, password=PASSWORD, to="/"):
    page.goto(f"{url}{to}")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{url}{to}")


def enter(page, site, path, name="anna"):
    """Open a page as somebody who logged in before."""
    token = new_token(site.store, name, "session", days=1)
    page.context.add_cookies([{"name": COOKIE, "value": token, "url": site.url}])
    page.goto(f"{site.url}{path}")


def desk(page, site, dataset):
    enter(page, site, f"/data/{dataset}")
    page.wait_for_selector("body[data-ready]")


@contextmanager
def planning(page):
    """Wait for the plan of what a block types."""
    with page.expect_response("**/plan?*"):
        yield
    page.wait_for_timeout(50)


def answered(page, times=1):
    page.wait_for_selector(f"body[data-answered='{times}']")


def charges(site, dataset):
    return [one.what for one in site.store.datasets.ledger(dataset).history]


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
        assert "clamped to 0 to 200000" in shown.inner_text()
        assert page.locator("#history tbody tr").count() == 1
        page.locator("#history a").click()
        page.wait_for_url("**/releases/1")
        assert page.get_by_role("heading", name="Mean of wage").is_visible()


def test_either_gives_the_other(tab, site):
    page = tab()
    desk(page, site, "people")
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("0.5")
    error = page.get_by_label("error, 95 % sure").input_value()
    with planning(page):
        page.get_by_label("error, 95 % sure").fill(error)
    epsilon = float(page.get_by_label("epsilon", exact=True).input_value())
    assert epsilon == pytest.approx(0.5, rel=0.01)
    with planning(page):
        page.get_by_label("epsilon, by powers of ten").fill("0")
    assert page.get_by_label("epsilon", exact=True).input_value() == "1"
    assert float(page.get_by_label("error, 95 % sure").input_value()) < float(error)


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
        assert page.locator("#trouble").inner_text() == "", kind
        assert f"{kind} " in page.locator("#plan").inner_text()


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
    page.get_by_text("Asking again under the same key").wait_for()
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
    page.get_by_text("Asking again under the same key").wait_for()
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#released svg").count() == 1
    assert len(set(line.keys)) == 1
    assert charges(site, "reloaded") == ["mean of age"]


def test_what_is_not_left_cannot_be_released(tab, site):
    page = tab()
    desk(page, site, "budget")
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("2.5")
    assert page.get_by_role("button", name="Release", exact=True).is_disabled()
    assert "Costs more than what is left for you: 2." in page.locator("#cost").inner_text()
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("4")
    assert page.locator("#plan .arc.over").count() == 1
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("nonsense")
    assert "epsilon must be" in page.locator("#trouble").inner_text()
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("1.5")
    site.store.grants.give("budget", "anna", 1)
    page.get_by_role("button", name="Release", exact=True).click()
    answered(page)
    assert "at most 1" in page.locator("#trouble").inner_text()
    assert charges(site, "budget") == []


def test_several_under_one_total(tab, site):
    page = tab()
    desk(page, site, "list")
    for statistic in ("mean", "quantiles", "count"):
        page.get_by_label("statistic").select_option(statistic)
        page.wait_for_timeout(400)
        page.get_by_role("button", name="Add to a list").click()
    with page.expect_response("**/together?*"):
        page.get_by_label("epsilon for all").fill("1")
    page.locator("#together tfoot td", has_text="0.999").wait_for()
    page.get_by_role("button", name="Release all").click()
    answered(page)
    assert page.locator("#released section").count() == 3
    assert len(charges(site, "list")) == 3
    page.locator("#history a").first.click()
    page.wait_for_url("**/releases/3")
    assert page.locator("#released section").count() == 3


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


def reach(page, selector):
    """Press Tab until an element has the focus."""
    for _ in range(60):
        if page.locator(f"{selector}:focus").count():
            return
        page.keyboard.press("Tab")
    pytest.fail(f"{selector} cannot be reached by Tab")


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


def test_copied_python_runs(tab, site, capsys):
    page = tab()
    desk(page, site, "copied")
    page.get_by_label("sex").check()
    with planning(page):
        page.get_by_label("epsilon", exact=True).fill("0.25")
    page.get_by_text("As Python, as a command").click()
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
    page.get_by_text("be a path on the server that exists").wait_for()
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


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


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
