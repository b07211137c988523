"""Accounts, logging in and out, and tokens."""

from __future__ import annotations

import re
import secrets
from time import time
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from sourdine.server.auth import COOKIE, DAY, LoginAttempt, new_token, require_same_site
from sourdine.server.requests import PRINTABLE, Operations, RefusedError, reply
from sourdine.server.store.base import NotGrantedError, Person, fingerprint

if TYPE_CHECKING:
    from starlette.responses import Response

    from sourdine.server.requests import Incoming
    from sourdine.server.store.base import Token


# ---- Who can log in: listed and added by owners --------------------------------------------------
#
# A new account outlives a stolen session or token, so the owner who adds one types their own
# password again; attempts are counted as those to log in are.


OWNER = ("owner",)
NAME = r"^(?! )[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,200}(?<! )\Z"


class NewPerson(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Somebody who shall be able to log in; without a password, a new one is made."""

    name: Annotated[str, msgspec.Meta(pattern=NAME)]
    own_password: Annotated[str, msgspec.Meta(max_length=256)]
    role: Literal["owner", "analyst", "auditor"] = "analyst"
    password: Annotated[str, msgspec.Meta(max_length=256)] | None = None


ACCOUNT_OPERATIONS = Operations()


@ACCOUNT_OPERATIONS.add("GET", "/people", roles=OWNER, gives="People")
def people(call: Incoming) -> Response:
    """List all users."""
    found = call.state.store.people.all()
    return reply([{"name": p.name, "role": p.role, "disabled": p.disabled} for p in found])


@ACCOUNT_OPERATIONS.add("POST", "/people", roles=OWNER, takes=NewPerson, gives="Person")
def add_person(call: Incoming) -> Response:
    """Add a user. Requires your own password."""
    said: NewPerson = call.body(NewPerson)
    store, owner = call.state.store, call.who.person
    attempt = LoginAttempt.begin(store, owner.name, call.address, call.cookies)
    if not call.state.passwords.check(owner.password, said.own_password):
        raise RefusedError(403, "own_password", "Wrong password.", "", "Enter it again.")
    store.attempts.forgive(attempt.subjects, attempt.since)
    password = secrets.token_urlsafe(12) if said.password is None else said.password
    hashed = call.state.passwords.hash(password)
    added = store.people.add(Person(name=said.name, role=said.role, password=hashed))
    shown = {"password": password} if said.password is None else {}
    return reply({"name": added.name, "role": added.role, **shown}, 201)


# ---- Logging in and out, and tokens --------------------------------------------------------------


SESSION_DAYS = 0.5
MOST_DAYS = 366
HEX = re.compile("[0-9a-f]{64}")


class Login(msgspec.Struct, forbid_unknown_fields=True):
    """A name and a password."""

    name: Annotated[str, msgspec.Meta(max_length=200)]
    password: Annotated[str, msgspec.Meta(max_length=256)]


class NewToken(msgspec.Struct, forbid_unknown_fields=True):
    """What a token is called, and for how many days it holds."""

    label: Annotated[str, msgspec.Meta(max_length=100, pattern=PRINTABLE)] = ""
    days: Annotated[int, msgspec.Meta(ge=1, le=MOST_DAYS)] = 90


OPERATIONS = Operations()


@OPERATIONS.add("POST", "/login", roles=(), takes=Login, gives="Person")
def login(call: Incoming) -> Response:
    """Log in with name and password, and set a session cookie."""
    require_same_site(call.headers, silent=True)
    said: Login = call.body(Login)
    name = said.name if said.name.isprintable() else ""
    attempt = LoginAttempt.begin(call.state.store, name, call.address, call.cookies)
    person = call.state.store.people.get(name)
    known = None if person is None or person.disabled else person.password
    if not call.state.passwords.check(known, said.password) or person is None:
        raise RefusedError(401, "the password", "Wrong name or password.", "", "Enter both again.")
    token = new_token(call.state.store, person.name, "session", days=SESSION_DAYS)
    answer = reply({"name": person.name, "role": person.role})
    secure = call.state.settings.behind_proxy
    answer.set_cookie(
        COOKIE, token, int(SESSION_DAYS * DAY), secure=secure, httponly=True, samesite="strict"
    )
    attempt.succeed(call.state.store, person.name, answer, secure=secure)
    return answer


@OPERATIONS.add("POST", "/logout", gives="Facts")
def logout(call: Incoming) -> Response:
    """Log out."""
    call.state.store.tokens.revoke(call.who.name, call.who.token.sha256)
    answer = reply({"name": call.who.name})
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


@OPERATIONS.add("GET", "/me", gives="Person")
def me(call: Incoming) -> Response:
    """Return the current user."""
    return reply({"name": call.who.name, "role": call.who.person.role})


@OPERATIONS.add("GET", "/tokens", gives="Tokens")
def tokens(call: Incoming) -> Response:
    """List your tokens."""
    return reply([_facts(token) for token in call.state.store.tokens.of(call.who.name)])


@OPERATIONS.add("POST", "/tokens", takes=NewToken, gives="NewTokenMade")
def make_token(call: Incoming) -> Response:
    """Create a token, which is shown once. Requires a login with password.

    A token that was made by another would outlive it: its end, and its revocation.
    """
    if call.who.token.kind != "session":
        hint = "Log in with your password to create a token."
        raise RefusedError(403, "the request", "come from a logged-in user", "a token", hint)
    said: NewToken = call.body(NewToken) if call.data else NewToken()
    token = new_token(call.state.store, call.who.name, "api", days=said.days, label=said.label)
    return reply({"token": token, "sha256": fingerprint(token), "days": said.days}, 201)


@OPERATIONS.add("DELETE", "/tokens/{sha256}", gives="Facts")
def revoke(call: Incoming) -> Response:
    """Revoke a token."""
    sha256 = call.path["sha256"]
    if not HEX.fullmatch(sha256) or not call.state.store.tokens.revoke(call.who.name, sha256):
        raise NotGrantedError("sha256", "be one of your tokens", "", "See the list.")
    return reply({"sha256": sha256, "revoked": True})


def _facts(token: Token) -> dict[str, object]:
    facts = {name: getattr(token, name) for name in ("sha256", "kind", "label", "until")}
    return {**facts, "holds": not token.revoked and token.until > time()}
