"""What tests of a server's store ask, and of whom."""

from __future__ import annotations

from types import SimpleNamespace

from sourdine.privacy import Guarantee
from sourdine.server.store.base import Dataset, KeyedRequest, Person, fingerprint
from sourdine.session import Terms

__all__ = ["DATA", "charge_once", "counts", "drawing", "filled", "request"]

DATA = {"age": [20, 30, 40] * 100}


def filled(store, epsilon=1):
    """Return a store with two data sets, and two analysts who may ask the first."""
    for name in ("ages", "others"):
        terms = Terms(total=Guarantee(epsilon), name=f"{name}.csv")
        store.datasets.add(Dataset(name=name, terms=terms, source=f"{name}.csv"))
    for name in ("anna", "ben"):
        store.people.add(Person(name=name, role="analyst"))
        store.grants.give("ages", name, epsilon)
    return store


def request(key="k", analyst="anna", dataset="ages", body="count"):
    """Return a request."""
    return KeyedRequest(analyst=analyst, key=key, dataset=dataset, asked=fingerprint(body))


def counts(session, *epsilons):
    """Return counts as a session asks them."""
    return session.prepare([session.plan.count(epsilon=epsilon) for epsilon in epsilons])


def charge_once(store, asks, asked):
    """Charge a request once, draw and store, without a tick in between; return what is stored."""
    return store.releases.draw_once(asks, asked)()


def drawing(asked, draw):
    """Return questions that are drawn in another way."""
    return SimpleNamespace(charged=asked.charged, draw=draw)
