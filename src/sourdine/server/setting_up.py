"""What commands put into a store: people, data sets, grants; and a store to look at."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sourdine.server.datasets import Registering, registered
from sourdine.server.demo_guard import add_demo_guard
from sourdine.server.passwords import Passwords
from sourdine.server.sources import WAGES
from sourdine.server.store import Person, ServerStore

if TYPE_CHECKING:
    from pathlib import Path

    from sourdine.server.store.base import Role

__all__ = ["DemoPerson", "add_person", "demo_store"]

ROLES: tuple[Role, ...] = ("owner", "analyst", "auditor")
TOTAL, GRANT = 10, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPerson:
    """Somebody of the demo, who may be known to everybody.

    Parameters
    ----------
    name, password
        To log in with.
    """

    name: str
    password: str


def add_person(store: ServerStore, name: str, role: Role, password: str) -> Person:
    """Write somebody down, with the hash of a password."""
    hashed = Passwords().hash(password)
    return store.people.add(Person(name=name, role=role, password=hashed))


def demo_store(folder: Path) -> tuple[str, list[DemoPerson]]:
    """Make a store with the wages, a guard and three people; return how to log in."""
    address = f"sqlite:///{folder / 'demo.db'}"
    store = ServerStore.create(address)
    people = [DemoPerson(name=role, password=secrets.token_urlsafe(9)) for role in ROLES]
    for role, one in zip(ROLES, people, strict=True):
        add_person(store, one.name, role, one.password)
    columns = {
        "wage": {"bounds": [0, 200_000], "step": 1, "text": "What somebody earned in a year, in $."}
    }
    wages = Registering(name="wages", source=WAGES, epsilon=TOTAL, n=250_000, columns=columns)
    store.datasets.add(registered(wages))
    store.grants.give("wages", "analyst", GRANT)
    add_demo_guard(store, folder, ("analyst", "owner"))
    store.close()
    return address, people
