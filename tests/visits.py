"""A server with people and data, and what people do on its pages."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

from serving import PASSWORD
from sourdine.privacy import Guarantee
from sourdine.server.auth import COOKIE, new_token
from sourdine.server.datasets import read_columns
from sourdine.server.running import add_person
from sourdine.server.store.base import Dataset
from sourdine.server.store.store import ServerStore
from sourdine.session import Terms

__all__ = [
    "CATEGORY",
    "MARKUP",
    "WIDE",
    "answered",
    "charges",
    "desk",
    "enter",
    "log_in",
    "planning",
    "reach",
    "site_store",
]

WIDE = {"width": 1200, "height": 900}
MARKUP = "<img src=x onerror=window.ran=1><b>bold</b>"
CATEGORY = "\"><script>window.ran=1</script>'"
COLUMNS = {
    "age": {"bounds": [0, 120], "step": 1, "text": "In years."},
    "sex": {"keys": ["f", "m"]},
}
EVIL = {MARKUP: {"bounds": [0, 1], "text": MARKUP}, CATEGORY: {"keys": [CATEGORY, MARKUP]}}


def added(store, path, name, columns, to="anna"):
    """Register a data set, and grant some of it."""
    facts = json.dumps(read_columns(columns))
    terms = Terms(total=Guarantee(3))
    store.datasets.add(
        Dataset(name=name, terms=terms, source=str(path), columns=facts, n_about=600)
    )
    store.grants.give(name, to, 2)


def quoted(text):
    """Return a cell of CSV."""
    return '"' + text.replace('"', '""') + '"'


def site_store(address, folder):
    """Return a store with people who may log in, and data sets of two files."""
    people, evil = folder / "people.csv", folder / "evil.csv"
    rows = [f"{20 + i % 60},{'fm'[i % 2]}" for i in range(600)]
    people.write_text("\n".join(["age,sex", *rows]) + "\n")
    cells = [f"{i % 2},{quoted((CATEGORY, MARKUP)[i % 2])}" for i in range(600)]
    evil.write_text("\n".join([f"{quoted(MARKUP)},{quoted(CATEGORY)}", *cells]) + "\n")
    store = ServerStore.create(address)
    for name, role in {"anna": "analyst", "olga": "owner", "udo": "auditor"}.items():
        add_person(store, name, role, PASSWORD)
    for name in (
        *("people", "broken", "reloaded", "budget", "list", "keys", "copied", "pending"),
        *("saved", "spent", "phone"),
    ):
        added(store, people, name, COLUMNS)
    added(store, people, "free", {})
    added(store, evil, "evil", EVIL)
    added(store, people, "hidden", COLUMNS, to="olga")
    return store


def log_in(page, url, name, password=PASSWORD, to="/"):
    """Log in by the form."""
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
    """Open the desk of a data set."""
    enter(page, site, f"/data/{dataset}")
    page.wait_for_selector("body[data-ready]")


@contextmanager
def planning(page):
    """Wait for the plan of what a block types."""
    before = page.locator("body").get_attribute("data-plans")
    yield
    page.wait_for_selector(f"body:not([data-plans='{before}'])")


def answered(page, times=1):
    """Wait until so many presses were answered."""
    page.wait_for_selector(f"body[data-answered='{times}']")


def charges(site, dataset):
    """Return what was charged to a data set."""
    return [one.what for one in site.store.datasets.ledger(dataset).history]


def reach(page, selector):
    """Press Tab until an element has the focus."""
    for _ in range(60):
        if page.locator(f"{selector}:focus").count():
            return
        page.keyboard.press("Tab")
    pytest.fail(f"{selector} cannot be reached by Tab")
