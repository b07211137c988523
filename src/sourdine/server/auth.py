"""Who asks: passwords, limits on attempts, tokens and cookies."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv6Address, ip_address
from threading import BoundedSemaphore
from time import time
from typing import TYPE_CHECKING, Literal

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from starlette.concurrency import run_in_threadpool

from sourdine.errors import ParameterError
from sourdine.server.requests import RefusedError
from sourdine.server.store.base import Person, Token, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from sourdine.server.store.store import ServerStore


# ---- Passwords: argon2id, and the same work for a name that nobody has ---------------------------


SHORTEST, LONGEST = 10, 256
AT_A_TIME = 2
"""Hashes that are computed at a time: each takes 32 MiB."""


class Passwords:
    """Makes and checks the hashes of passwords.

    *Claim*: a name that nobody has costs the same work as one that somebody has. *Checked by*
    ``test_unknown_names_cost_a_hash_too``.
    """

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=3, memory_cost=32 * 1024, parallelism=1)
        self._places = BoundedSemaphore(AT_A_TIME)

    @cached_property
    def nobody(self) -> str:
        """What the password of an unknown name is compared with."""
        return self._hasher.hash(secrets.token_hex(16))

    def hash(self, password: str) -> str:
        """Return the hash of a new password, or refuse it."""
        if not SHORTEST <= len(password) <= LONGEST:
            what, got = f"have {SHORTEST} to {LONGEST} characters", f"{len(password)}"
            hint = "Choose another one, such as four unrelated words."
            raise ParameterError("password", what, got, hint)
        with self._places:
            return self._hasher.hash(password)

    def check(self, known: str | None, password: str) -> bool:
        """Whether a password is the one behind a hash.

        Without a hash, for somebody who has none, the work is the same and the answer is no.
        """
        with self._places:
            try:
                self._hasher.verify(known or self.nobody, password[:LONGEST])
            except (VerificationError, InvalidHashError):
                return False
        return bool(known)


# ---- Who asks: by a token of a script, or by the cookie of this very site ------------------------
#
# A cookie alone does not make a change: browsers say with ``Sec-Fetch-Site`` where a request comes
# from, and one that comes from elsewhere, or does not say, is refused. Tokens stand in a header
# that no other site can set. The store knows both by their SHA-256.


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
        what = "carry a valid token or session"
        hint = "Log in, or send Authorization: Bearer with your token."
        raise RefusedError(401, "the request", what, "", hint)
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

    A ``silent`` request may leave it open where it comes from, as those of scripts do.
    """
    site = headers.get("sec-fetch-site")
    if (site is None and silent) or site in ("same-origin", "none"):
        return
    got = "another site" if site else "no Sec-Fetch-Site header"
    hint = "Use a current browser for the pages; scripts send a token."
    raise RefusedError(403, "the request", "come from a page of this server", got, hint)


def new_token(
    store: ServerStore,
    who: str,
    kind: Literal["session", "api", "device"],
    *,
    days: float,
    label: str = "",
) -> str:
    """Return a new token, which is shown once: the store keeps its SHA-256.

    It stands for ``who``, expires after a number of days, and has a label given by the person.
    """
    token, until = f"sourdine-{secrets.token_urlsafe(32)}", time() + days * DAY
    kept = Token(sha256=fingerprint(token), who=who, kind=kind, until=until, label=label)
    store.tokens.add(kept)
    return token


# ---- How often passwords may be tried: for each name, each address, and each known browser -------
#
# A stranger who tries passwords for somebody's name uses up the attempts of that name, and the
# person must not be locked out by it. So a browser that logged in before carries a cookie that says
# so, and has attempts of its own, whatever strangers do. Names that nobody has are counted like
# others, so that nothing can be learnt from it. All workers count in one store.
#
# *Claim*: attempts at a password are limited; a known browser is not locked out by strangers;
# known and unknown names are refused alike. *Checked by* ``test_passwords_are_tried_ten_times``,
# ``test_a_stranger_locks_nobody_out_who_was_here`` and ``test_unknown_names_are_counted_alike``.


DEVICE = "sourdine-known"
"""The cookie of a browser that logged in before."""
DEVICE_DAYS = 180
STRETCH = 300
"""Seconds: attempts are counted anew after each stretch, so nobody waits longer."""
PER_NAME, PER_ADDRESS, PER_DEVICE = 10, 30, 10
HOME = 64
"""Bits of an address of version 6 that are one household's."""


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """An attempt to log in: what it was counted for, and in which stretch of time.

    ``known`` is whether the browser logged in before as the same person.
    """

    subjects: tuple[str, ...]
    since: int
    known: bool

    @classmethod
    def begin(
        cls, store: ServerStore, name: str, address: str, cookies: Mapping[str, str]
    ) -> LoginAttempt:
        """Count an attempt, or refuse it before the password is looked at."""
        now = time()
        device = fingerprint(cookies.get(DEVICE, ""))
        found = store.tokens.find(device)
        known = found is not None and found[0].kind == "device" and found[1].name == name
        most = {
            f"name {fingerprint(name)}": PER_NAME,
            f"address {fingerprint(_household(address))}": PER_ADDRESS,
        }
        if known:
            most = {f"device {device}": PER_DEVICE}
        since = int(now // STRETCH)
        if not store.attempts.count(most, since):
            wait = int((since + 1) * STRETCH - now) + 1
            what = f"at most {PER_NAME} passwords in {STRETCH // 60} minutes"
            hint = "Wait; a browser that logged in before, and tokens, still work."
            raise RefusedError(
                429, "the password", f"Too many attempts: {what}.", "", hint, wait=wait
            )
        return cls(tuple(most), since, known)

    def succeed(self, store: ServerStore, name: str, answer: Response, *, secure: bool) -> None:
        """Take the attempt back, and let the browser be known from now on."""
        store.attempts.forgive(self.subjects, self.since)
        if not self.known:
            token = new_token(store, name, "device", days=DEVICE_DAYS)
            answer.set_cookie(
                DEVICE, token, int(DEVICE_DAYS * DAY),
                path="/api/v1/login", secure=secure, httponly=True, samesite="strict",
            )  # fmt: skip


def _household(address: str) -> str:
    """Return what an address is counted as: one of version 6 as its household."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return str(int(found) >> HOME) if isinstance(found, IPv6Address) else address
