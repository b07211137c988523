"""A store of each kind with a session to ask, and a server with people who ask it."""

from __future__ import annotations

import pytest

from serving import COLUMNS, Api, data_file, filled_store, served
from session_calls import AGES
from sourdine.privacy import Guarantee
from sourdine.server.store import ServerStore
from sourdine.session import Session, Terms
from store_requests import DATA, filled


@pytest.fixture(params=["sqlite", "postgres"])
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
