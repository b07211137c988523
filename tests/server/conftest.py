"""A store of each kind, with two data sets, two analysts and a session to ask."""

from __future__ import annotations

import pytest

from sourdine.server.store import ServerStore
from sourdine.session import Session
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
