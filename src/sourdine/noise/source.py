"""Random bytes, integers from them, and uniform reals whose bits are drawn when needed."""

from __future__ import annotations

import hmac
import os
from functools import lru_cache
from hashlib import sha256, shake_256
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, overload

import numpy as np

from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given, integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from sourdine.exact import Real

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Words = NDArray[np.uint64]


# ---- Sources of random bytes ---------------------------------------------------------------------
#
# `SYSTEM` is the cryptographic generator of OpenSSL, seeded by the operating system: its state
# is kept in the library, one per thread, and is seeded again after a fork. The only random state in
# Python is noise that `LaplaceBits` has drawn ahead, which a fork drops, and the block that
# `ReadAhead` holds during one draw. `SeededSource` is reproducible and gives no privacy: it is for
# experiments and tests.


try:
    from ssl import RAND_bytes as _system_bytes
except ImportError:  # an interpreter built without OpenSSL
    _system_bytes = os.urandom


Bytes = bytes
_LONGEST = 1 << 30
_WORD = np.dtype("<u8")


class Source(Protocol):
    """Provides random bytes, and says whether they give privacy."""

    @property
    def private(self) -> bool:
        """Whether an adversary cannot predict the bytes."""

    def bytes(self, count: int, /) -> Bytes:
        """Return ``count`` independent uniform bytes."""


class SystemSource:
    """Bytes of the operating system's cryptographic generator.

    Safe to use from several threads and after a fork (``tests/noise/test_source.py``). It cannot be
    seeded.
    """

    __slots__ = ()
    private = True

    def bytes(self, count: int, /) -> Bytes:
        if count <= _LONGEST:
            return _system_bytes(count)
        whole, rest = divmod(count, _LONGEST)
        return b"".join([_system_bytes(_LONGEST) for _ in range(whole)] + [_system_bytes(rest)])

    def __repr__(self) -> str:
        return "SystemSource()"


class SeededSource:
    """Reproducible bytes: for experiments and tests, never for a release.

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
"""The default source of every sampler."""


class ReadAhead:
    """Bytes of `SYSTEM` for the many short requests of one draw: each would cost a call.

    It is made for one draw and forgotten with it, so that a fork or another thread never has the
    same bytes.
    """

    __slots__ = ("_at", "_block")
    BLOCK: ClassVar[int] = 1024
    private = True

    def __init__(self) -> None:
        self._block, self._at = b"", 0

    def bytes(self, count: int, /) -> Bytes:
        if count > self.BLOCK:
            return SYSTEM.bytes(count)
        start, end = self._at, self._at + count
        if end > len(self._block):
            self._block, start, end = SYSTEM.bytes(self.BLOCK), 0, count
        self._at = end
        return self._block[start:end]


def for_one_draw(source: Source) -> Source:
    """Return a source of the same kind for one draw of many short requests."""
    return ReadAhead() if source is SYSTEM else source


def draw(source: Source, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return ``count`` uniform unsigned integers of a little-endian ``dtype``."""
    return np.frombuffer(source.bytes(count * dtype.itemsize), dtype)


def draw_words(source: Source, count: int) -> Words:
    return np.frombuffer(source.bytes(8 * count), _WORD)


# ---- Bytes derived from a secret key -------------------------------------------------------------
#
# Where work may be repeated, as on a cluster that retries failed tasks, system randomness would
# give the same record two draws. Bytes derived from a key and from their purpose give it one.
#
# `KeyedSource` gives, at its :math:`i`-th call, the first bytes of
# :math:`\mathrm{SHAKE256}(K \,\|\, i)`, with :math:`K` and :math:`i` of fixed length.
# `derived` gives :math:`K = \mathrm{HMAC}_{k}(\mathrm{SHA256}(m))` for a purpose :math:`m`.
#
# *What holds.* Let an adversary without the key ask for the bytes of :math:`q` different :math:`m`.
# Distinguishing them from independent uniform bytes breaks one of three: SHA-256 (two :math:`m`
# with one digest), HMAC as a pseudorandom function, SHAKE-256 as one under its first 32 bytes. So
# every law that a sampler has under uniform bytes it has here, up to an advantage that no known
# attack reaches; the privacy of its draws is then *computational*. The same is true of the system's
# bytes: they come from a generator that OpenSSL seeds.


KEY_BYTES = 32
_LENGTH = 8


class KeyedSource:
    """Bytes that are unpredictable without the key, and the same for the same key.

    Parameters
    ----------
    key
        The secret, 32 bytes; it is not printed.

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
        self._calls += 1
        return shake_256(self._key + self._calls.to_bytes(_LENGTH, "little")).digest(count)

    def __repr__(self) -> str:
        return "KeyedSource()"


def derived(key: Bytes, told: Iterable[Bytes | memoryview]) -> KeyedSource:
    """Return the source for a purpose; another purpose gives an independent source.

    How the purpose is split into parts matters: each is hashed with its length.

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


# ---- Sizes and shapes of draws -------------------------------------------------------------------


Shape = int | tuple[int, ...]
"""A length or a shape: the draws are returned as an array."""

Size = Shape | None
"""``None`` requests one draw as a Python number."""

CHUNK = 1 << 15
"""Lanes processed at once, so that the arrays in use stay in the processor's cache."""


def lanes(size: Shape) -> tuple[int, tuple[int, ...]]:
    """Return the number of draws and the shape of the result.

    Examples
    --------
    >>> lanes((2, 3))
    (6, (2, 3))
    """
    sides = size if isinstance(size, tuple) else (size,)
    if not all(type(side) is int and side >= 0 for side in sides):
        sides = tuple(integer(side, "size", least=0) for side in sides)
    return prod(sides), sides


# ---- Arrays of integers --------------------------------------------------------------------------


LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1


def int64_array(x: object, name: str, *, least: int | None = None, most: int | None = None) -> Ints:
    """Return ``x`` as an array of 64-bit integers from ``least`` to ``most``.

    The values may be private, so no error message holds one of them.
    """
    array = np.asarray(x)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise ParameterTypeError(
            name, "be whole numbers of at most 64 bits", str(array.dtype),
            f"Round them first, for example with {name}.astype(int).",
        )  # fmt: skip
    if (least is not None and array.min() < least) or (most is not None and array.max() > most):
        ends = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ParameterError(name, f"be {ends}", "", f"Clip {name} first.")
    if array.dtype.kind == "u" and array.max() > HIGHEST:
        raise ParameterError(name, "be below 2**63", "a larger value", f"Clip {name} first.")
    return array.astype(np.int64, copy=False)


def saturated(value: int) -> int:
    return min(max(value, LOWEST), HIGHEST)


def saturated_array(values: NDArray[Any]) -> Ints:
    clipped: NDArray[Any] = np.clip(values, LOWEST, HIGHEST)
    return clipped.astype(np.int64, copy=False)


# ---- Uniform integers ----------------------------------------------------------------------------
#
# From a word :math:`w` uniform on :math:`\{0, \ldots, 2^b - 1\}`, the :math:`2^b \bmod k` smallest
# are refused; those left fall evenly into the :math:`k` residues. The choice of :math:`b` keeps
# refusals rare, and a refused lane draws a fresh word.


_HALVES: tuple[np.dtype[Any], ...] = (np.dtype("<u2"), np.dtype("<u4"))
_PRODUCTS: tuple[np.dtype[Any], ...] = (np.dtype("<u4"), np.dtype("<u8"))


@overload
def uniform_below(k: int, size: None = None, *, source: Source = ...) -> int: ...
@overload
def uniform_below(k: int, size: Shape, *, source: Source = ...) -> Ints: ...
@overload
def uniform_below(k: Ints, size: Size = None, *, source: Source = ...) -> Ints: ...
def uniform_below(k: int | Ints, size: Size = None, *, source: Source = SYSTEM) -> int | Ints:
    """Draw from ``0..k-1``, each with probability exactly ``1 / k``.

    Parameters
    ----------
    k
        The number of values: any positive int for one draw, at most ``2**63`` for an array of
        draws; or an array with one ``k`` for each lane.
    size
        ``None`` for one Python int (or, when ``k`` is an array, its shape), else a length or a
        shape.
    source
        The source of random bits.

    Examples
    --------
    >>> uniform_below(1, 3).tolist()
    [0, 0, 0]
    """
    if isinstance(k, np.ndarray):
        return _below_each(int64_array(k, "k", least=1), size, source)
    most = k if type(k) is int and k > 0 else integer(k, "k", least=1)
    if size is None:
        bits = (most - 1).bit_length()
        width = (bits + 7) // 8
        while True:
            value = int.from_bytes(source.bytes(width), "little") >> (8 * width - bits)
            if value < most:
                return value
    if most > 1 << 63:
        raise ParameterError(
            "k", "be at most 2**63 for an array of draws", given(most),
            "Omit {size}, and draw one value at a time.", size=LEFT_OUT,
        )  # fmt: skip
    count, shape = lanes(size)
    drawn = uniform_codes(most, count, source)
    return drawn.astype(np.int64, copy=False).reshape(shape)


def uniform_codes(k: int, count: int, source: Source) -> NDArray[Any]:
    """Draw as `uniform_below`, into integers as narrow as the words drawn (16, 32 or 64 bits)."""
    if k & (k - 1) == 0:
        dtype = next((d for d in _HALVES if k <= 1 << 8 * d.itemsize), _WORD)
        masked: NDArray[Any] = draw(source, count, dtype) & dtype.type(k - 1)
        return masked
    for dtype, wide in zip(_HALVES, _PRODUCTS, strict=True):
        if k.bit_length() <= 8 * dtype.itemsize - 5:
            return _multiplied(k, count, dtype, wide, source)
    return _below_each(np.full(count, k, np.int64), None, source)


def _multiplied(
    k: int, count: int, dtype: np.dtype[Any], wide: np.dtype[Any], source: Source
) -> NDArray[Any]:
    r"""Draw by Lemire's method: :math:`\lfloor wk/2^b \rfloor`.

    A word is refused if :math:`wk \bmod 2^b < 2^b \bmod k`. For each value there are as many
    products :math:`wk` in its stretch of length :math:`2^b` above the refused start: exactly
    :math:`\lfloor 2^b / k \rfloor`.
    """
    bits = 8 * dtype.itemsize
    product = draw(source, count, dtype).astype(wide)
    product *= wide.type(k)
    (refused,) = (product.astype(dtype) < (1 << bits) % k).nonzero()
    product >>= wide.type(bits)
    out = product.astype(dtype)
    if refused.size:
        out[refused] = _multiplied(k, refused.size, dtype, wide, source)
    return out


def same_shape(size: Size, x: Ints, name: str) -> None:
    """Refuse a size that is not that of an array."""
    if size is not None and lanes(size)[1] != x.shape:
        must = f"equal the shape of {name}"
        raise ParameterError("size", must, str(size), "Omit {size}.", size=LEFT_OUT)


def _below_each(k: Ints, size: Size, source: Source) -> Ints:
    same_shape(size, k, "k")
    bound = k.ravel().astype(np.uint64)
    refused_below = (np.uint64(0) - bound) % bound
    out = np.empty(bound.size, np.int64)
    lane = np.arange(bound.size)
    while lane.size:
        words = draw_words(source, lane.size)
        out[lane] = (words % bound[lane]).astype(np.int64)
        lane = lane[words < refused_below[lane]]
    return out.reshape(k.shape)


# ---- Python ints, by work that does not depend on the value --------------------------------------
#
# Python caches the integers from -5 to 256 and allocates all others, with one, two or three digits
# of 30 bits, so that a small number costs some 20 ns less than a large one: enough to tell small
# noise from large (``benchmarks/noise.py``). Here the requested number is made, and then one of
# each other kind and sign. All cached integers are touched first, since one that was not used for
# long has left the processor's cache: every second one, as they lie side by side, two in 64 bytes.
# The others are released at the next call, for the same reason.


_HALF = 1 << 62
_ONE_DIGIT, _TWO_DIGITS = (1 << 30) - 1, (1 << 60) - 1
_KINDS = np.array([-_TWO_DIGITS, -_ONE_DIGIT, -5, 257, _ONE_DIGIT + 1, _TWO_DIGITS + 1], np.int64)
"""The first number of each kind but the lowest."""
_ONE_OF_EACH = [-1 << 61, -1 << 40, -1 << 20, 99, 1 << 20, 1 << 40, 1 << 61]
_OTHERS = np.array([_ONE_OF_EACH[:i] + _ONE_OF_EACH[i + 1 :] for i in range(7)], np.int64)
_READY = list(range(-5, 257, 2))
_left: list[list[int]] = [[]]


def python_int(x: Ints, centre: int) -> int:
    """Return ``x[0] + centre``, where ``x[0]`` is below ``2**62`` in magnitude.

    ``x`` may be what `repeated` returns, which saves a step.

    Examples
    --------
    >>> [python_int(np.array([x]), 2) for x in (-9, 5, 1 << 35, -(1 << 61))]
    [-7, 7, 34359738370, -2305843009213693950]
    """
    if not -_HALF <= centre < _HALF:
        return centre + int(x[0])
    row = x + centre
    kind = (row >= _KINDS).tobytes().count(1)  # its time does not depend on it
    _READY.copy()  # touches them all
    value: int = row.item(0)
    _left[0] = _OTHERS[kind].tolist()
    return value


def repeated(x: Ints) -> list[Ints]:
    """Return an array for each number that `python_int` takes."""
    return list(np.repeat(x[:, None], _KINDS.size, axis=1))


def python_ints(x: Ints, centres: Sequence[int]) -> list[int]:
    """Return ``x[i] + centres[i]``, where each ``x[i]`` is below ``2**62`` in magnitude.

    Examples
    --------
    >>> python_ints(np.array([-9, 1 << 35]), [2, 3])
    [-7, 34359738371]
    """
    if not all(-_HALF <= centre < _HALF for centre in centres):
        return [centre + noise for centre, noise in zip(centres, x.tolist(), strict=True)]
    sums = x + np.array(centres, np.int64)
    kinds = np.count_nonzero(sums[:, None] >= _KINDS, axis=1)
    made: list[list[int]] = np.column_stack([sums, _OTHERS[kinds]]).tolist()
    return [row[0] for row in made]


# ---- A uniform real whose bits are drawn when needed ---------------------------------------------
#
# This is the main idea of the package. Let :math:`W = 0.b_1b_2b_3\ldots` be uniform on [0, 1), its
# bits independent and fair, and let :math:`T` be a real known to any precision. From the first
# :math:`k` bits, :math:`w = \lfloor 2^k W \rfloor`, and integers :math:`l \le 2^k T \le h`,
#
# .. math:: w + 1 \le l \Rightarrow W < T, \qquad w \ge h \Rightarrow W \ge T,
#
# and otherwise more bits of the *same* :math:`W` are drawn. A decision is made only when every
# continuation of the known bits gives it, so it is the decision of the ideal real :math:`W`; as
# :math:`h - l \le 2`, at most two of the :math:`2^k` words stay open and the loop ends with
# probability 1. So :math:`P(W < T) = T` exactly, for irrational :math:`T` too.
#
# The fast paths decide most lanes from the leading 8, 16 or 64 bits by the same two implications
# and hand the open lanes, with the bits they used, to `LazyUniform`.


_Built = TypeVar("_Built")
_Given = TypeVar("_Given")


class LazyUniform:
    """A uniform real on [0, 1), known by its leading bits, a word below ``2**bits``."""

    __slots__ = ("_bits", "_source", "_word")

    def __init__(self, source: Source, word: int = 0, bits: int = 0) -> None:
        self._source, self._word, self._bits = source, word, bits

    def reading(self) -> tuple[int, int]:
        """Return the leading bits as an integer, and their number."""
        return self._word, self._bits

    def extend(self) -> None:
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
    """Cache the last ``entries`` results of a function, by the value and type of its argument.

    An argument that cannot be hashed is passed to the function itself, which raises its own error.
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
