"""`AmsSketch`: the tug-of-war sketch of the second moment, with secret signs."""

from __future__ import annotations

import struct
from hashlib import shake_128
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeGuard, Union

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import integer, kind, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sourdine.exact import Number


# ---- Items as bytes: equal where they are the same item, different where they are not ------------
#
# A canonical encoding starts with a letter for the kind, so no two kinds ever meet: ``1``, ``1.0``,
# ``"1"``, ``b"1"`` and ``True`` are five items. NumPy's scalars count as the Python values they
# hold (``np.int64(1)`` is ``1``, ``np.str_("a")`` is ``"a"``); dates are refused, since what number
# they hold depends on their unit. Floats count by value: ``-0.0`` is ``0.0``, and all NaNs are one
# item. Text is taken as it is, without Unicode normalisation: a person who wants ``"é"`` in one
# form says so before. A tuple is the list of its parts, each with its length, so ``("ab", "c")``
# and ``("a", "bc")`` differ.


Item: TypeAlias = Union[int, str, bytes, float, bool, "tuple[Item, ...]", None]


def is_whole(item: object) -> TypeGuard[int]:
    """Return whether an item is a whole number, in Python's or NumPy's dress."""
    return isinstance(item, (int, np.integer)) and not isinstance(item, bool)


def encoded(item: Item) -> bytes:  # noqa: PLR0911 - one return for each kind
    r"""Return the canonical bytes of an item.

    Examples
    --------
    >>> encoded(258), encoded("été"), encoded(None)
    (b'i\x02\x01', b's\xc3\xa9t\xc3\xa9', b'n')
    >>> encoded(0.0) == encoded(-0.0), encoded(1.0) == encoded(1), encoded(np.int8(1)) == encoded(1)
    (True, False, True)
    """
    match item:
        case str():
            return b"s" + item.encode("utf-8", "surrogatepass")
        case bytes() | bytearray() | memoryview():
            return b"b" + bytes(item)
        case bool() | np.bool():
            return b"t" if item else b"f"
        case int() | np.integer():
            whole = int(item)
            return b"i" + whole.to_bytes(whole.bit_length() // 8 + 1, "little", signed=True)
        case float() | np.floating():
            return b"d" + struct.pack("<d", nan if isnan(item) else float(item) + 0.0)
        case None:
            return b"n"
        case tuple():
            parts = [encoded(part) for part in item]
            return b"l" + b"".join(len(p).to_bytes(8, "little") + p for p in parts)
    raise ParameterTypeError(
        "an item",
        "be a number, a text, bytes, None or a tuple of these",
        kind(item),
        "Use keyed.update(repr(item)) for other types.",
    )


# ---- Secret signs: a long row of :math:`\pm 1` for every item, from one key ----------------------


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
                "",
                "Use secrets.randbits(128), or a small number such as {seed} for an experiment.",
                seed=1,
            )
        self._keyed = shake_128(self.seed.to_bytes(KEY_BITS // 8, "little"))
        self._digest_bytes = -(-self.width // 8)

    def bits(self, item: Item) -> NDArray[np.uint8]:
        stream = self._keyed.copy()
        stream.update(encoded(item))
        digest = np.frombuffer(stream.digest(self._digest_bytes), np.uint8)
        return np.unpackbits(digest, count=self.width)


# ---- The tug-of-war sketch of the second moment :math:`F_2 = \sum_x f_x^2` -----------------------
#
# :math:`f_x` is the sum of the weights that item :math:`x` was given, negative ones included. The
# square root of :math:`F_2` is the length of the vector; over a stream of single items it is the
# size of a self-join.


HEAVIEST = 1 << 61
"""The weights of one sketch may add up to so much, signs aside: no counter can overflow."""


class F2Sketch(Protocol):
    """What is asked of a sketch of the second moment."""

    def update(self, item: Item, weight: int = 1) -> None:
        """Add a weight to an item."""

    def query(self) -> float:
        """Return an estimate of the second moment."""


def tail(epsilon: float, width: int) -> float:
    r"""Return :math:`e^{-r(\epsilon^2/4 - \epsilon^3/6)}`, a bound of either tail of the mean.

    For :math:`0 < \epsilon \le 1`: the mean of :math:`r` independent squares :math:`z_i^2` passes
    :math:`(1 + \epsilon)F_2` with this probability at most, and falls below
    :math:`(1 - \epsilon)F_2` with this probability at most [1]_.

    References
    ----------
    .. [1] D. Achlioptas, "Database-friendly random projections: Johnson-Lindenstrauss with binary
       coins", J. Comput. Syst. Sci. 66, 2003 (lemma 5.1 and what follows).
    """
    return float(np.exp(-width * (epsilon**2 / 4 - epsilon**3 / 6)))


class AmsSketch:
    r"""Counters :math:`z_i = \sum_x s_i(x) f_x` with random signs; the mean of their squares.

    Parameters
    ----------
    width
        How many counters, :math:`r`.
    seed
        The secret key of the signs. An answer depends on it, so a sketch with a seed that somebody
        knows tells that person how to deceive it.

    Notes
    -----
    *Claim*: for every vector chosen before the first answer,
    :math:`E z_i^2 = F_2` and :math:`\operatorname{Var} z_i^2 \le 2F_2^2` [1]_, so the estimate is
    off by more than `error(beta)` with probability ``beta`` at most. *Checked by*
    ``test_plain_error_bound_holds``.

    For a vector that depends on earlier answers nothing holds: `sourdine.adaptive.attacks`
    halves the estimate of a sketch of 20,000 counters in 10,000 questions.
    ``test_probes_break_a_plain_sketch``.

    References
    ----------
    .. [1] N. Alon, Y. Matias, M. Szegedy, "The space complexity of approximating the frequency
       moments", J. Comput. Syst. Sci. 58, 1999.

    Examples
    --------
    >>> sketch = AmsSketch(width=1000, seed=7)
    >>> sketch.update_many(["a", "b", "c"], [30, 40, 50])
    >>> sketch.update("c", -50)
    >>> round(sketch.query()), 30**2 + 40**2
    (2591, 2500)
    >>> round(sketch.error(0.05), 3)
    0.127
    """

    __slots__ = ("_added", "_carried", "_signs", "_term", "_twice")

    def __init__(self, width: int, seed: int) -> None:
        self._signs = Signs(width, seed)
        self._twice = np.zeros(self.width, np.int64)
        self._term = np.empty(self.width, np.int64)
        self._added = self._carried = 0

    @property
    def width(self) -> int:
        """How many counters there are."""
        return self._signs.width

    @property
    def memory(self) -> int:
        """The bytes of the counters."""
        return self._twice.nbytes

    def update(self, item: Item, weight: int = 1) -> None:
        """Add a weight, which may be negative, to an item."""
        w = integer(weight, "weight")
        bits = self._signs.bits(item)
        self._carry(abs(w))
        # z = 2 * (sum of w where the sign is +) - (sum of all w), the latter kept as one number
        np.multiply(bits, np.int64(2 * w), out=self._term)
        np.add(self._twice, self._term, out=self._twice)
        self._added += w

    def update_many(self, items: Iterable[Item], weights: Iterable[int] | int = 1) -> None:
        """Add weights, one for each item or one for all, to many items."""
        every = list(items)
        each = [weights] * len(every) if isinstance(weights, (int, np.integer)) else list(weights)
        if len(each) != len(every):
            raise ParameterError(
                "weights",
                f"hold one weight for each of the {len(every)} items",
                f"{len(each)}",
                "Pass one weight for each item, or one number for all.",
            )
        for item, weight in zip(every, each, strict=True):
            self.update(item, weight)

    def merge(self, other: AmsSketch) -> None:
        """Add what another sketch with the same width and seed was given."""
        if not isinstance(other, AmsSketch):
            raise ParameterTypeError(
                "other",
                "be an AmsSketch",
                kind(other),
                "Use AmsSketch(width, seed) with the width and the seed of this sketch.",
            )
        if (self.width, self._signs.seed) != (other.width, other._signs.seed):
            raise ParameterError(
                "other",
                "have the same width and seed",
                "",
                "Use AmsSketch(width, seed) with the width and the seed of this sketch.",
            )
        self._carry(other._carried)
        self._twice += other._twice
        self._added += other._added

    def counters(self) -> NDArray[np.float64]:
        """Return the counters. Who sees one can deceive the sketch."""
        return (self._twice - self._added).astype(np.float64)

    def query(self) -> float:
        """Return the estimate."""
        z = self.counters()
        return float(z @ z) / self.width

    def error(self, beta: Number = 0.05) -> float:
        r"""Return the relative error that is passed with probability ``beta`` at most.

        The lesser of Chebyshev's :math:`\sqrt{2/(r\beta)}`, which needs four-wise independent signs
        alone, and the solution of :math:`2e^{-r(\epsilon^2/4-\epsilon^3/6)} = \beta`, which needs
        fully independent ones. Only for vectors that do not depend on earlier answers.
        """
        chance = float(number(beta, "beta", above=0, most=1))
        chebyshev = sqrt(2 / (self.width * chance))
        if 2 * tail(1.0, self.width) > chance:
            return chebyshev
        low, high = 0.0, 1.0
        while high - low > 1e-9:
            middle = (low + high) / 2
            low, high = (middle, high) if 2 * tail(middle, self.width) > chance else (low, middle)
        return min(chebyshev, high)

    def _carry(self, weight: int) -> None:
        if self._carried + weight > HEAVIEST:
            raise ParameterError(
                "weights",
                "add up to at most 2**61 in magnitude",
                "",
                "Use smaller weights, in a larger unit.",
            )
        self._carried += weight

    def __repr__(self) -> str:
        return f"AmsSketch(width={self.width}, memory={self.memory})"
