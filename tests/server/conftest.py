"""A store of each kind with a session to ask, and a server with people who ask it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from browsing import chromium_running
from serving import COLUMNS, Api, data_file, filled_store, served
from session_calls import AGES
from sourdine.privacy import Guarantee
from sourdine.server.store.store import ServerStore
from sourdine.session import Session, Terms
from store_requests import DATA, filled
from visits import WIDE, site_store

EXPECTED = ("Failed to load resource", "requires 'TrustedHTML' assignment")
"""What browsers say of a line that a test breaks, and of markup that a test tries."""


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def address(request, tmp_path):
    """Return where a store can be made."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres")
    return f"sqlite:///{tmp_path}/store.db"


@pytest.fixture
def store(address):
    """Return a store with data sets and people."""
    made = filled(ServerStore.create(address))
    yield made
    made.close()


@pytest.fixture
def session(store):
    """Return a session on the first data set."""
    return Session(DATA, ledger=store.datasets.ledger("ages"))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a server: its address, a token for everybody, its store, and the data."""
    folder = tmp_path_factory.mktemp("api")
    path, address = data_file(folder, AGES), f"sqlite:///{folder}/store.db"
    store, tokens = filled_store(address, path, Terms(total=Guarantee(100)), COLUMNS)
    with served(address) as url:
        yield url, tokens, store, path
    store.close()


@pytest.fixture
def anna(place):
    """Return an analyst."""
    return Api(place[0], place[1]["anna"])


@pytest.fixture
def owner(place):
    """Return the owner."""
    return Api(place[0], place[1]["olga"])


@pytest.fixture
def auditor(place):
    """Return the auditor."""
    return Api(place[0], place[1]["udo"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a server with pages, its store, and where the data lie."""
    folder = tmp_path_factory.mktemp("pages")
    address = f"sqlite:///{folder}/store.db"
    store = site_store(address, folder)
    with served(address) as url:
        yield SimpleNamespace(url=url, store=store, people=folder / "people.csv")
    store.close()


@pytest.fixture(scope="module")
def chromium():
    """Return a running browser."""
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
