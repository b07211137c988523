"""How often passwords may be tried: for each name, each address, and each known browser.

A stranger who tries passwords for somebody's name uses up the attempts of that name, and the person
must not be locked out by it. So a browser that logged in before carries a cookie that says so, and
has attempts of its own, whatever strangers do. Names that nobody has are counted like others, so
that nothing can be learnt from it. All workers count in one store.

*Claim*: passwords are tried at most so often; a known browser is not locked out by strangers; known
and unknown names are refused alike. *Checked by* ``test_passwords_are_tried_ten_times``,
``test_a_stranger_locks_nobody_out_who_was_here`` and ``test_unknown_names_are_counted_alike``.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from time import time
from typing import TYPE_CHECKING

from sourdine.server.auth import new_token
from sourdine.server.problems import RefusedError
from sourdine.server.store import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from sourdine.server.store import ServerStore

__all__ = ["DEVICE", "LoginAttempt"]

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
    """An attempt to log in, which was counted.

    Parameters
    ----------
    subjects
        What it was counted for.
    since
        The stretch of time that it falls into.
    known
        Whether the browser logged in before as the same person.
    """

    subjects: tuple[str, ...]
    since: int
    known: bool

    @classmethod
    def begin(
        cls, store: ServerStore, name: str, address: str, cookies: Mapping[str, str]
    ) -> LoginAttempt:
        """Count an attempt, or refuse it before the password is looked at.

        Parameters
        ----------
        store
            Where attempts are counted.
        name
            Who it shall be.
        address
            Where the request comes from.
        cookies
            Of the request.
        """
        now = time()
        device = fingerprint(cookies.get(DEVICE, ""))
        found = store.tokens.find(device)
        known = found is not None and found[0].kind == "device" and found[1].name == name
        most = (
            {f"device {device}": PER_DEVICE}
            if known
            else {
                f"name {fingerprint(name)}": PER_NAME,
                f"address {fingerprint(_household(address))}": PER_ADDRESS,
            }
        )
        since = int(now // STRETCH)
        if not store.attempts.count(most, since):
            raise RefusedError(
                429,
                "the password",
                f"be tried less often than {PER_NAME} times in {STRETCH // 60} minutes",
                "one more",
                "Wait; a browser that logged in before, and a token, go on to work.",
                wait=int((since + 1) * STRETCH - now) + 1,
            )
        return cls(tuple(most), since, known)

    def succeed(self, store: ServerStore, name: str, answer: Response, *, secure: bool) -> None:
        """Take the attempt back, and let the browser be known from now on."""
        store.attempts.forgive(self.subjects, self.since)
        if not self.known:
            token = new_token(store, name, "device", days=DEVICE_DAYS)
            answer.set_cookie(
                DEVICE,
                token,
                httponly=True,
                samesite="strict",
                secure=secure,
                max_age=DEVICE_DAYS * 86_400,
                path="/api/v1/login",
            )


def _household(address: str) -> str:
    """Return what an address is counted as.

    Examples
    --------
    >>> _household("192.0.2.7"), _household("2001:db8::1:2:3") == _household("2001:db8::9")
    ('192.0.2.7', True)
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return str(int(found) >> HOME) if isinstance(found, IPv6Address) else address
