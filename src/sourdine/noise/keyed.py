r"""Bytes that follow from a secret key: the same key, the same bytes.

Where work may be done twice, as on a cluster that repeats what failed, bytes of the system would
give the same record two draws. Bytes that follow from a key and from what they are for give it one.

Notes
-----
`KeyedSource` gives, at its :math:`i`-th call, the first bytes of
:math:`\mathrm{SHAKE256}(K \,\|\, i)`, with :math:`K` and :math:`i` of fixed length.
`derived` gives :math:`K = \mathrm{HMAC}_{k}(\mathrm{SHA256}(m))` for what is told, :math:`m`.

*What holds.* Let an adversary who lacks the key ask for the bytes of :math:`q` different :math:`m`.
Whoever tells them from independent uniform bytes breaks one of three: SHA-256 (two :math:`m` with
one digest), HMAC as a pseudorandom function, SHAKE-256 as one under its first 32 bytes. So every
law that a sampler has under uniform bytes it has here, up to an advantage that nobody is known to
reach; the privacy of what it draws is then *computational*. The bytes of the system are of the
same kind: those of a generator that OpenSSL seeds.
"""

from __future__ import annotations

import hmac
from hashlib import sha256, shake_256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sourdine.noise.source import Bytes

__all__ = ["KEY_BYTES", "KeyedSource", "derived"]

KEY_BYTES = 32
_LENGTH = 8


class KeyedSource:
    """Bytes that nobody foresees who lacks the key, the same for the same key.

    Parameters
    ----------
    key
        The secret, 32 bytes; it is not shown.

    Examples
    --------
    >>> one, same = KeyedSource(bytes(32)), KeyedSource(bytes(32))
    >>> one.bytes(16) == same.bytes(16), one.bytes(16) == one.bytes(16)
    (True, False)
    >>> one
    KeyedSource()
    """

    __slots__ = ("_calls", "_key")
    private = True

    def __init__(self, key: Bytes) -> None:
        self._key, self._calls = key, 0

    def bytes(self, count: int, /) -> Bytes:
        """Return the next ``count`` bytes."""
        self._calls += 1
        return shake_256(self._key + self._calls.to_bytes(_LENGTH, "little")).digest(count)

    def __repr__(self) -> str:
        return "KeyedSource()"


def derived(key: Bytes, told: Iterable[Bytes | memoryview]) -> KeyedSource:
    """Return the source for what is told: another one for anything else.

    Parameters
    ----------
    key
        The secret.
    told
        What the bytes are for, in parts. How they are cut matters: each goes in with its length.

    Examples
    --------
    >>> key = bytes(32)
    >>> draws = [derived(key, told).bytes(8) for told in ([b"ab"], [b"a", b"b"], [b"ab", b""])]
    >>> len(set(draws))
    3
    """
    digest = sha256()
    for part in told:
        digest.update(memoryview(part).nbytes.to_bytes(_LENGTH, "little"))
        digest.update(part)
    return KeyedSource(hmac.digest(key, digest.digest(), "sha256"))
