"""Who asks: by a token of a script, or by the cookie of this very site.

A cookie alone does not make a change: browsers say with ``Sec-Fetch-Site`` where a request comes
from, and one that comes from elsewhere, or does not say, is refused. Tokens stand in a header that
no other site can set. The store knows both by their SHA-256.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING, Literal

from starlette.concurrency import run_in_threadpool

from sourdine.server.problems import RefusedError
from sourdine.server.store import Person, ServerStore, Token, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

__all__ = [
    "COOKIE",
    "Caller",
    "caller_of",
    "identify",
    "new_token",
    "require_same_site",
    "visitor",
]

COOKIE = "sourdine-session"
DAY = 86_400.0
SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, and by which token."""

    person: Person
    token: Token

    @property
    def name(self) -> str:
        """What the person is called."""
        return self.person.name

    @property
    def sees_all(self) -> bool:
        """Whether all data sets are theirs to see: owners and auditors."""
        return self.person.role in ("owner", "auditor")


def identify(
    store: ServerStore, method: str, headers: Mapping[str, str], cookies: Mapping[str, str]
) -> Caller:
    """Return who asks, or refuse; why is not said."""
    header = headers.get("authorization", "")
    if header:
        kind, given = "api", header.removeprefix("Bearer ")
    else:
        kind, given = "session", cookies.get(COOKIE, "")
    found = store.tokens.find(fingerprint(given.encode("utf-8", "replace"))) if given else None
    if found is None or found[0].kind != kind:
        raise RefusedError(
            401,
            "the request",
            "carry a token or a session that holds",
            "neither",
            "Log in, or send Authorization: Bearer with your token.",
        )
    if kind == "session" and method not in SAFE:
        require_same_site(headers, silent=False)
    return Caller(token=found[0], person=found[1])


def caller_of(request: Request) -> Caller:
    """Return who sends a request, and note it for the log."""
    store = request.app.state.server.store
    found = identify(store, request.method, request.headers, request.cookies)
    request.state.person = found.name
    return found


async def visitor(request: Request) -> Caller | None:
    """Return who asks for a page; None for somebody who must log in first."""
    try:
        return await run_in_threadpool(caller_of, request)
    except RefusedError:
        return None


def require_same_site(headers: Mapping[str, str], *, silent: bool) -> None:
    """Refuse what another site's page sent.

    Parameters
    ----------
    headers
        Of the request.
    silent
        Whether a request may leave it open where it comes from, as those of scripts do.
    """
    site = headers.get("sec-fetch-site")
    if (site is None and silent) or site in ("same-origin", "none"):
        return
    raise RefusedError(
        403,
        "the request",
        "come from a page of this server",
        "another site" if site else "no Sec-Fetch-Site",
        "Use its pages in a browser of this decade; scripts send a token.",
    )


def new_token(
    store: ServerStore,
    who: str,
    kind: Literal["session", "api", "device"],
    *,
    days: float,
    label: str = "",
) -> str:
    """Return a new token, which is shown once: the store keeps its SHA-256.

    Parameters
    ----------
    store, who
        Where it is written down, and who it stands for.
    kind
        ``"session"`` of a browser, ``"api"``, or ``"device"``.
    days
        How long it holds.
    label
        What the person calls it.
    """
    token = f"sourdine-{secrets.token_urlsafe(32)}"
    store.tokens.add(
        Token(
            sha256=fingerprint(token),
            who=who,
            kind=kind,
            until=time() + days * DAY,
            label=label,
        )
    )
    return token
