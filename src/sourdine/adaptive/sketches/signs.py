r"""Secret signs: a long row of :math:`\pm 1` for every item, from one key."""

from __future__ import annotations

from hashlib import shake_128
from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.sketches.items import Item, encoded
from sourdine.errors import ParameterError
from sourdine.exact import integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KEY_BITS", "Signs"]

KEY_BITS = 128


class Signs:
    r"""The signs :math:`s_1(x), \ldots, s_r(x)` of any item :math:`x`, as bits (1 means +).

    The bits of an item are the output of SHAKE128 [1]_ on the key followed by the item's canonical
    bytes. Whoever does not know the key cannot tell them from independent fair coins unless
    SHAKE128 is broken; every statement below about independent signs stands on that.

    Parameters
    ----------
    width
        How many signs an item has.
    seed
        The secret key, from 0 to :math:`2^{128} - 1`.

    References
    ----------
    .. [1] NIST, "SHA-3 standard: permutation-based hash and extendable-output functions",
       FIPS 202, 2015.

    Examples
    --------
    >>> Signs(8, seed=1).bits("apple").tolist()
    [1, 0, 1, 1, 1, 1, 1, 1]
    """

    __slots__ = ("_digest_bytes", "_keyed", "seed", "width")

    def __init__(self, width: int, seed: int) -> None:
        self.width = integer(width, "width", least=1, most=1 << 30)
        self.seed = integer(seed, "seed", least=0)
        if self.seed >> KEY_BITS:
            raise ParameterError(
                "seed",
                f"be below 2**{KEY_BITS}",
                "a larger one",
                "Type secrets.randbits(128), or a small number such as {seed} for an experiment.",
                seed=1,
            )
        self._keyed = shake_128(self.seed.to_bytes(KEY_BITS // 8, "little"))
        self._digest_bytes = -(-self.width // 8)

    def bits(self, item: Item) -> NDArray[np.uint8]:
        """Return the signs of an item, 1 for + and 0 for -."""
        stream = self._keyed.copy()
        stream.update(encoded(item))
        digest = np.frombuffer(stream.digest(self._digest_bytes), np.uint8)
        return np.unpackbits(digest, count=self.width)
