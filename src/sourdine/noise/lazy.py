r"""A uniform real whose bits are drawn when they are needed.

This is the one idea of the room. Let :math:`W = 0.b_1b_2b_3\ldots` be uniform on [0, 1), its bits
independent and fair, and let :math:`T` be a real known to any precision. From the first
:math:`k` bits, :math:`w = \lfloor 2^k W \rfloor`, and integers
:math:`l \le 2^k T \le h`,

.. math:: w + 1 \le l \Rightarrow W < T, \qquad w \ge h \Rightarrow W \ge T,

and otherwise more bits of the *same* :math:`W` are drawn. A decision is made only when every
continuation of the known bits gives it, so it is the decision of the ideal real :math:`W`; as
:math:`h - l \le 2`, at most two of the :math:`2^k` words stay open and the loop ends with
probability 1. So :math:`P(W < T) = T` exactly, for irrational :math:`T` too.

The fast paths decide most lanes from the leading 8, 16 or 64 bits by the same two implications and
hand the open lanes, with the bits they used, to `LazyUniform`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.exact import Real
    from sourdine.noise.source import Source

__all__ = ["LazyUniform", "remembered"]

_Built = TypeVar("_Built")
_Given = TypeVar("_Given")


class LazyUniform:
    """A uniform real on [0, 1), known by its leading bits.

    Parameters
    ----------
    source
        Gives the bits not yet known.
    word, bits
        The leading ``bits`` bits already drawn, as an integer below ``2**bits``.
    """

    __slots__ = ("_bits", "_source", "_word")

    def __init__(self, source: Source, word: int = 0, bits: int = 0) -> None:
        self._source = source
        self._word = word
        self._bits = bits

    def reading(self) -> tuple[int, int]:
        """Return the leading bits as an integer, and how many they are."""
        return self._word, self._bits

    def extend(self) -> None:
        """Draw 64 bits more."""
        self._word = self._word << 64 | int.from_bytes(self._source.bytes(8), "little")
        self._bits += 64

    def below(self, threshold: Real) -> bool:
        """Decide whether the uniform is less than ``threshold``, exactly."""
        while True:
            low, high = threshold.bounds(self._bits)
            if self._word < low:
                return True
            if self._word >= high:
                return False
            self.extend()


def remembered(entries: int) -> Callable[[Callable[[_Given], _Built]], Callable[[_Given], _Built]]:
    """Keep the last ``entries`` things a function built, by the value and type of its argument.

    An argument that cannot be hashed goes to the function itself, which refuses it in its own
    words.
    """

    def wrap(build: Callable[[_Given], _Built]) -> Callable[[_Given], _Built]:
        cached = lru_cache(entries, typed=True)(build)

        def get(given: _Given) -> _Built:
            try:
                return cached(given)
            except TypeError:
                pass
            return build(given)

        return get

    return wrap
