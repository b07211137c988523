"""Logging in and out, and the tokens of whoever asks."""

from __future__ import annotations

import re
from time import time
from typing import TYPE_CHECKING, Annotated

import msgspec

from sourdine.server.attempts import LoginAttempt
from sourdine.server.auth import COOKIE, new_token, require_same_site
from sourdine.server.incoming import Operation, reply
from sourdine.server.limits import PRINTABLE
from sourdine.server.problems import RefusedError
from sourdine.server.store import NotGrantedError, fingerprint

if TYPE_CHECKING:
    from starlette.responses import Response

    from sourdine.server.incoming import Incoming
    from sourdine.server.store import Token

__all__ = ["OPERATIONS"]

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


def login(call: Incoming) -> Response:
    """Log in: the cookie of a session, for the pages of this server alone."""
    require_same_site(call.headers, silent=True)
    said: Login = call.body(Login)
    name = said.name if said.name.isprintable() else ""
    attempt = LoginAttempt.begin(call.state.store, name, call.address, call.cookies)
    person = call.state.store.people.get(name)
    known = None if person is None or person.disabled else person.password
    if not call.state.passwords.check(known, said.password) or person is None:
        raise RefusedError(
            401, "the password", "be that of the name", "another one", "Type both again."
        )
    token = new_token(call.state.store, person.name, "session", days=SESSION_DAYS)
    answer = reply({"name": person.name, "role": person.role})
    answer.set_cookie(
        COOKIE,
        token,
        httponly=True,
        samesite="strict",
        secure=call.state.settings.behind_proxy,
        max_age=int(SESSION_DAYS * 86_400),
    )
    attempt.succeed(call.state.store, person.name, answer, secure=call.state.settings.behind_proxy)
    return answer


def logout(call: Incoming) -> Response:
    """End the session, or the token, by which this was sent."""
    call.state.store.tokens.revoke(call.who.name, call.who.token.sha256)
    answer = reply({"name": call.who.name})
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def me(call: Incoming) -> Response:
    """Answer with who asks."""
    return reply({"name": call.who.name, "role": call.who.person.role})


def tokens(call: Incoming) -> Response:
    """Answer with the tokens of whoever asks; what they are is not known."""
    return reply([_facts(token) for token in call.state.store.tokens.of(call.who.name)])


def make_token(call: Incoming) -> Response:
    """Make a token, which is shown once; who was let in by a token makes no further ones.

    A token that was made by another would outlive it: its end, and its revocation.
    """
    if call.who.token.kind != "session":
        raise RefusedError(
            403,
            "the request",
            "come from somebody who logged in",
            "a token",
            "Log in with your password to make a token.",
        )
    said: NewToken = call.body(NewToken) if call.data else NewToken()
    token = new_token(call.state.store, call.who.name, "api", days=said.days, label=said.label)
    return reply({"token": token, "sha256": fingerprint(token), "days": said.days}, 201)


def revoke(call: Incoming) -> Response:
    """End a token of whoever asks."""
    sha256 = call.path["sha256"]
    if not HEX.fullmatch(sha256) or not call.state.store.tokens.revoke(call.who.name, sha256):
        raise NotGrantedError(
            "sha256", "be that of a token of yours", "another one", "Look at the list."
        )
    return reply({"sha256": sha256, "revoked": True})


def _facts(token: Token) -> dict[str, object]:
    return {
        "sha256": token.sha256,
        "kind": token.kind,
        "label": token.label,
        "until": token.until,
        "holds": not token.revoked and token.until > time(),
    }


OPERATIONS = (
    Operation(
        method="POST",
        path="/login",
        does=login,
        text="Log in by name and password: the cookie of a session.",
        roles=(),
        takes=Login,
        gives="Person",
    ),
    Operation(method="POST", path="/logout", does=logout, text="End this session.", gives="Facts"),
    Operation(method="GET", path="/me", does=me, text="Who you are.", gives="Person"),
    Operation(method="GET", path="/tokens", does=tokens, text="Your tokens.", gives="Tokens"),
    Operation(
        method="POST",
        path="/tokens",
        does=make_token,
        text="Make a token, which is shown once; after logging in with a password.",
        takes=NewToken,
        gives="NewTokenMade",
    ),
    Operation(
        method="DELETE",
        path="/tokens/{sha256}",
        does=revoke,
        text="End a token.",
        gives="Facts",
    ),
)
