"""Passwords: argon2id, and the same work for a name that nobody has."""

from __future__ import annotations

import secrets
from functools import cached_property
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from sourdine.errors import ParameterError

__all__ = ["Passwords"]

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
    def _nobody(self) -> str:
        return self._hasher.hash(secrets.token_hex(16))

    def warm(self) -> None:
        """Make ready what an unknown name is compared with."""
        self.check(None, "")

    def hash(self, password: str) -> str:
        """Return the hash of a new password, or refuse it."""
        if not SHORTEST <= len(password) <= LONGEST:
            raise ParameterError(
                "password",
                f"have {SHORTEST} to {LONGEST} letters",
                f"{len(password)}",
                "Type another one, such as four words that have nothing to do with each other.",
            )
        with self._places:
            return self._hasher.hash(password)

    def check(self, known: str | None, password: str) -> bool:
        """Whether a password is the one behind a hash; None for somebody who has none.

        Parameters
        ----------
        known
            The hash; without one, the work is the same and the answer is no.
        password
            What was typed.
        """
        with self._places:
            try:
                self._hasher.verify(known or self._nobody, password[:LONGEST])
            except (VerificationError, InvalidHashError):
                return False
        return bool(known)
