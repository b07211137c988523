"""Who can log in: listed and added by owners.

A new account outlives a stolen session or token, so the owner who adds one
types their own password again; attempts are counted as those to log in are.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from sourdine.server.attempts import LoginAttempt
from sourdine.server.incoming import Operation, reply
from sourdine.server.problems import RefusedError
from sourdine.server.store import Person

if TYPE_CHECKING:
    from starlette.responses import Response

    from sourdine.server.incoming import Incoming

__all__ = ["OPERATIONS"]

OWNER = ("owner",)
NAME = r"^(?! )[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,200}(?<! )\Z"


class NewPerson(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Somebody who shall be able to log in; without a password, a new one is made."""

    name: Annotated[str, msgspec.Meta(pattern=NAME)]
    own_password: Annotated[str, msgspec.Meta(max_length=256)]
    role: Literal["owner", "analyst", "auditor"] = "analyst"
    password: Annotated[str, msgspec.Meta(max_length=256)] | None = None


def people(call: Incoming) -> Response:
    """Answer with everybody who can log in."""
    found = call.state.store.people.all()
    return reply([{"name": p.name, "role": p.role, "disabled": p.disabled} for p in found])


def add_person(call: Incoming) -> Response:
    """Add somebody; a password that was made for them is shown once."""
    said: NewPerson = call.body(NewPerson)
    store, owner = call.state.store, call.who.person
    attempt = LoginAttempt.begin(store, owner.name, call.address, call.cookies)
    if not call.state.passwords.check(owner.password, said.own_password):
        raise RefusedError(
            403, "own_password", "be the password you log in with", "another one", "Type it again."
        )
    store.attempts.forgive(attempt.subjects, attempt.since)
    password = secrets.token_urlsafe(12) if said.password is None else said.password
    hashed = call.state.passwords.hash(password)
    added = store.people.add(Person(name=said.name, role=said.role, password=hashed))
    shown = {"password": password} if said.password is None else {}
    return reply({"name": added.name, "role": added.role, **shown}, 201)


OPERATIONS = (
    Operation(
        method="GET",
        path="/people",
        does=people,
        text="Everybody who can log in.",
        roles=OWNER,
        gives="People",
    ),
    Operation(
        method="POST",
        path="/people",
        does=add_person,
        text="Add somebody who can log in; type your own password again.",
        roles=OWNER,
        takes=NewPerson,
        gives="Person",
    ),
)
