"""Where the random bytes come from.

`SYSTEM` is the cryptographic generator of OpenSSL, seeded by the operating system: its state lives
in the library, one per thread, and is seeded again after a fork, so nothing random is ever kept in
Python. `SeededSource` repeats itself and protects nobody: it serves experiments and tests.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sourdine.exact import integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

try:
    from ssl import RAND_bytes as _system_bytes
except ImportError:  # an interpreter built without OpenSSL
    _system_bytes = os.urandom

__all__ = ["SYSTEM", "Bytes", "SeededSource", "Source", "SystemSource", "draw", "draw_words"]

Bytes = bytes
_LONGEST = 1 << 30
_WORD = np.dtype("<u8")


class Source(Protocol):
    """Gives random bytes, and says whether they protect anyone."""

    @property
    def private(self) -> bool:
        """Whether an adversary cannot foresee the bytes."""

    def bytes(self, count: int, /) -> Bytes:
        """Return ``count`` independent uniform bytes."""


class SystemSource:
    """Bytes of the operating system's cryptographic generator.

    Safe to use from many threads and after a fork (``tests/noise/test_source.py``). Nobody can
    seed it.
    """

    __slots__ = ()
    private = True

    def bytes(self, count: int, /) -> Bytes:
        """Return ``count`` independent uniform bytes."""
        if count <= _LONGEST:
            return _system_bytes(count)
        whole, rest = divmod(count, _LONGEST)
        return b"".join([_system_bytes(_LONGEST) for _ in range(whole)] + [_system_bytes(rest)])

    def __repr__(self) -> str:
        return "SystemSource()"


class SeededSource:
    """Bytes that repeat themselves: for experiments and tests, never for a release.

    The stream is NumPy's Philox bit generator read as little-endian words, the same on every
    platform. Each call starts a new word.

    Parameters
    ----------
    seed
        A whole number, zero or more.

    Examples
    --------
    >>> SeededSource(1).bytes(4) == SeededSource(1).bytes(4)
    True
    >>> SeededSource(1)
    SeededSource(seed=1): NOT PRIVATE
    """

    __slots__ = ("_generator", "_seed")
    private = False

    def __init__(self, seed: int) -> None:
        self._seed = integer(seed, "seed", least=0)
        self._generator = np.random.Philox(self._seed)

    def bytes(self, count: int, /) -> Bytes:
        """Return ``count`` bytes of the stream."""
        words = self._generator.random_raw(-(-count // 8))
        return np.asarray(words, dtype=_WORD).tobytes()[:count]

    def __repr__(self) -> str:
        return f"SeededSource(seed={self._seed}): NOT PRIVATE"


SYSTEM = SystemSource()
"""The source of every sampler that is given no other."""


def draw(source: Source, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return ``count`` uniform unsigned integers of a little-endian ``dtype``."""
    return np.frombuffer(source.bytes(count * dtype.itemsize), dtype)


def draw_words(source: Source, count: int) -> NDArray[np.uint64]:
    """Return ``count`` uniform 64-bit words."""
    return np.frombuffer(source.bytes(8 * count), _WORD)
