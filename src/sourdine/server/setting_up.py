"""What commands put into a store: people, data sets, grants; and a store to look at."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sourdine.server.datasets import Registering, registered
from sourdine.server.demo_guard import add_demo_guard
from sourdine.server.drafts import Draft
from sourdine.server.open_surveys import OpenSurveys
from sourdine.server.passwords import Passwords
from sourdine.server.sources import WAGES
from sourdine.server.store import Person, ServerStore, SurveyEntry
from sourdine.survey.demo import simulated
from sourdine.survey.document import parsed
from sourdine.survey.skeleton import SKELETON
from sourdine.survey.store import Posted

if TYPE_CHECKING:
    from pathlib import Path

    from sourdine.server.store.base import Role

__all__ = ["DemoPerson", "add_person", "demo_store", "open_sample"]

ROLES: tuple[Role, ...] = ("owner", "analyst", "auditor")
TOTAL, GRANT = 10, 5
INVENTED = 600
"""People who have answered the survey of a demo."""


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


def open_sample(address: str, url: str) -> str:
    """Open a survey in a demo's store, which invented people have answered.

    Parameters
    ----------
    address
        The store.
    url
        Where the server is.

    Returns
    -------
    str
        The address of its page.
    """
    document = parsed(SKELETON) | {"epsilon": 2, "method": "sample"}
    survey = Draft(document=document).examined(url).survey
    if survey is None:
        raise LookupError("a sample that cannot be read")
    store = ServerStore.open(address)
    try:
        draft = SurveyEntry(name=survey.name, document=json.dumps(document))
        opened = OpenSurveys(store)
        entry, _ = opened.open(store.surveys.add(draft), survey)
        lines, _ = simulated(survey, INVENTED)
        with opened.kept(entry) as kept:
            kept.accept([Posted(lines=[line.encode() for line in lines])])
            kept.fold()
    finally:
        store.close()
    return survey.send_to.removesuffix("reports")
