"""`Keyed`: distinct counts behind a secret key."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from hashlib import blake2b
from hmac import compare_digest
from importlib import import_module
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

import numpy as np

from sourdine.adaptive.robust.proof import ENDLESS
from sourdine.adaptive.sketches.f2 import Item, encoded, is_whole
from sourdine.errors import LEFT_OUT, MissingExtraError, ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind
from sourdine.noise import SYSTEM
from sourdine.results.tables import Displayable, Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    from numpy.typing import ArrayLike, NDArray

    from sourdine.noise import Source

    Words = NDArray[np.uint64]


# ---- SipHash-2-4 of whole numbers: a keyed function that nobody tells from a random one ----------
#
# A pseudorandom function :math:`F_k` with a secret key :math:`k` of 128 bits: without
# the key cannot tell its values, at inputs of their choice, from independent uniform words of 64
# bits. SipHash was designed as one; no attack on the full function is better than guessing the key.
# Written over NumPy it takes about a tenth of a microsecond a number, several times less than one
# call of a hash from the standard library.
#
# References
# ----------
# .. [1] J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012.


KEY_BYTES: Final = 16
CHUNK: Final = 4096
"""Words hashed at a time: they stay in a processor's cache."""

MASK: Final = (1 << 64) - 1
INITIAL: Final = tuple(
    int.from_bytes(b"somepseudorandomlygeneratedbytes"[i : i + 8], "big") for i in range(0, 32, 8)
)
LENGTH: Final = 8 << 56
"""The last block of a message of eight bytes."""


def siphash(word: int, key: bytes) -> int:
    """Return SipHash-2-4 of a 64-bit word, read as eight little-endian bytes."""
    v0, v1, v2, v3 = _start(key)
    for block, rounds in ((word & MASK, 2), (LENGTH, 2), (0, 4)):
        if rounds == 4:
            v2 ^= 0xFF
        v3 ^= block
        for _ in range(rounds):
            v0 = v0 + v1 & MASK
            v1 = (v1 << 13 & MASK | v1 >> 51) ^ v0
            v0 = v0 << 32 & MASK | v0 >> 32
            v2 = v2 + v3 & MASK
            v3 = (v3 << 16 & MASK | v3 >> 48) ^ v2
            v0 = v0 + v3 & MASK
            v3 = (v3 << 21 & MASK | v3 >> 43) ^ v0
            v2 = v2 + v1 & MASK
            v1 = (v1 << 17 & MASK | v1 >> 47) ^ v2
            v2 = v2 << 32 & MASK | v2 >> 32
        v0 ^= block
    return v0 ^ v1 ^ v2 ^ v3


def key_of(seed: int) -> bytes:
    """Return the key that 128 secret bits are, given as a whole number."""
    return (integer(seed, "seed", least=0) % (1 << 128)).to_bytes(KEY_BYTES, "little")


def siphash_many(words: Words, key: bytes) -> Words:
    """Return `siphash` of each word."""
    start = _start(key)
    out = np.empty(len(words), np.uint64)
    for i in range(0, len(words), CHUNK):
        out[i : i + CHUNK] = _chunk(words[i : i + CHUNK], start)
    return out


def _chunk(words: Words, start: tuple[int, ...]) -> Words:
    v0, v1, v2, v3 = (np.full(len(words), v, np.uint64) for v in start)
    spare = np.empty(len(words), np.uint64)

    def turn(v: Words, bits: int) -> None:
        np.right_shift(v, np.uint64(64 - bits), out=spare)
        np.left_shift(v, np.uint64(bits), out=v)
        np.bitwise_or(v, spare, out=v)

    def mix(rounds: int) -> None:
        nonlocal v0, v1, v2, v3
        for _ in range(rounds):
            for bits_1, bits_3 in ((13, 16), (17, 21)):
                v0 += v1
                v2 += v3
                turn(v1, bits_1)
                turn(v3, bits_3)
                v1 ^= v0
                v3 ^= v2
                turn(v0, 32)
                v0, v2 = v2, v0

    for block in (words, np.uint64(LENGTH)):
        v3 ^= block
        mix(2)
        v0 ^= block
    v2 ^= np.uint64(0xFF)
    mix(4)
    return v0 ^ v1 ^ v2 ^ v3


def _start(key: bytes) -> tuple[int, ...]:
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        must = f"be {KEY_BYTES} bytes long"
        got = f"{len(key)}" if isinstance(key, bytes) else kind(key)
        raise ParameterError("key", must, got, f"Use secrets.token_bytes({KEY_BYTES}).")
    halves = (int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little"))
    return tuple(v ^ halves[i % 2] for i, v in enumerate(INITIAL))


# ---- Counts of subsets of known keys: a copy for the robust wrapper ------------------------------


class SubsetCount:
    r"""How many keys a subset has, estimated by sketches under one secret seed.

    The setting of a reach planner or a traffic monitor: every key has been hashed once, and each
    question names a set of keys (or of streams) whose sketches are joined. All answers share the
    seed, so a few times as many questions as the sketch has registers reveal which keys count too
    little (`sourdine.adaptive.attacks.subset_queries`), and no secrecy of the seed helps.
    What helps is a private median over many copies:
    ``Robust(lambda seed: SubsetCount(keys, make, seed=seed), method="dp-median", ...)``.

    Parameters
    ----------
    keys
        Whole numbers of 64 bits, all different.
    make
        Makes an empty sketch: ``lambda: datasketches.hll_sketch(7)``.
    seed
        128 secret bits, as a whole number.

    Examples
    --------
    >>> from sourdine.adaptive.sketches.keyed import datasketches
    >>> count = SubsetCount(np.arange(2000), lambda: datasketches().hll_sketch(12), seed=2**100 + 1)
    >>> count.update(np.arange(500))
    >>> bool(450 < count.query() < 550)
    True
    """

    __slots__ = ("_keys", "_make", "_subset", "_words")

    def __init__(self, keys: ArrayLike, make: Callable[[], DistinctSketch], *, seed: int) -> None:
        given = np.asarray(keys, np.int64)
        words = siphash_many(given.view(np.uint64), key_of(seed)).view(np.int64)
        order = np.argsort(given)
        self._keys, self._words, self._make = given[order], words[order], make
        self._subset: NDArray[np.int64] = given[:0]

    def update(self, subset: NDArray[np.int64]) -> None:
        """Let the next question be about these keys."""
        self._subset = subset

    def query(self) -> float:
        """Return about how many keys the subset has."""
        return self.count(self._subset)

    def count(self, subset: NDArray[np.int64]) -> float:
        """Return about how many keys a subset has."""
        sketch = self._make()
        places = np.searchsorted(self._keys, subset)
        deque(map(sketch.update, self._words[places].tolist()), 0)
        return float(sketch.get_estimate())


# ---- Distinct counts that nobody can steer: a real sketch behind a secret key --------------------


SECRET_BYTES: Final = 32
SIGNED: Final = 1 << 63
"""Whole numbers from minus this to one below it have 64 bits."""

LONGEST_KEY: Final = blake2b.MAX_KEY_SIZE
WORD: Final = Struct("<q")
WAITING: Final = 4096
"""Whole numbers that wait to be hashed together; a question never waits."""

FEW: Final = 16
"""Up to this many are hashed one by one, which is then faster."""


class DistinctSketch(Protocol):
    """What is asked of a sketch: the sketches of ``datasketches`` have it."""

    def update(self, datum: int, /) -> None:
        """Take an item."""

    def get_estimate(self) -> float:
        """Return about how many different items were taken."""


@dataclass(frozen=True, slots=True)
class Statement(Displayable):
    """What is proved, under which assumption, and what is not."""

    proved: str
    assumes: str
    not_proved: str

    def sheet(self) -> Sheet:
        said = (("proved", self.proved), ("assumes", self.assumes), ("not proved", self.not_proved))
        return Sheet(notes=said)


class Keyed:
    r"""A sketch that counts different items, in front of it a keyed hash with a secret key.

    Sketches such as HyperLogLog hash items with a function that everybody knows. Who chooses items
    can search, at home, for those that leave a sketch as it is: of 320,000 different items the
    default ``hll_sketch(12)`` then counts 20,000 (`sourdine.adaptive.attacks.offline`).
    Here the sketch sees :math:`F_k(x)` in place of :math:`x`, at no cost in memory.

    Parameters
    ----------
    sketch
        An object of ``datasketches``: ``hll_sketch``, ``cpc_sketch`` or ``update_theta_sketch``;
        any with ``update(int)`` and ``get_estimate()`` whose state a repeated item does not change.
        It must be empty, unless its key is given.
    key
        From 16 to 64 secret bytes. Left out, a fresh key is drawn, which is what one wants; given,
        sketches of several machines can be merged, and a stored one goes on. Keep it apart from
        the sketch: somebody who holds both can fool it.
    source
        Where a fresh key comes from.

    Notes
    -----
    *Claim*: whatever an adversary does who chooses each item after seeing all estimates so far,
    the estimates that follow upon the :math:`j`-th different item have, for all :math:`j` at once,
    the joint law that they have on the fixed stream :math:`1, 2, 3, \dots`; there is no bound on
    the number of steps. *Proof*: let :math:`F` be a random function. A repeated item does not
    change the state of the sketch, so it teaches nothing. A new item :math:`x` has not been given
    to :math:`F` before; everything seen so far, and so the choice of :math:`x`, is a function of
    the values of :math:`F` at other items and of the adversary's own coins; hence :math:`F(x)` is
    uniform and independent of it. By induction the values met are independent and uniform in
    order of arrival, as on any fixed stream, and the states are the same function of them. If
    this failed noticeably for :math:`F_k`, adversary and sketch together would tell :math:`F_k`
    from a random function [1]_. *Checked by* ``test_offline_items_do_not_fool_a_keyed_sketch``,
    ``test_an_adaptive_stream_is_counted_as_a_fixed_one`` and
    ``test_repeated_items_change_nothing``.

    The adversary still chooses *when* to stop, as anybody may who watches a fixed stream; the
    largest error along a stream is somewhat above that at a given moment.

    Nothing is proved where estimates of several sketches with one key can be seen, as with subset
    queries, merges or copies. Who sees two of them sends to the second only those items that did
    not change the estimate of the first, and the second does not count them either
    (``test_one_key_two_visible_sketches_is_fooled``). Where only
    the estimate of their union is ever seen, the proof holds for the union of HyperLogLog or CPC
    sketches, whose state is a function of the set of words. A stored sketch gives away more than
    its estimate, and so may the time that an update takes: show estimates alone.

    Whole numbers of 64 bits go through SipHash-2-4, all else through keyed BLAKE2b of a canonical
    encoding (`sourdine.adaptive.sketches.f2`), both to words of 64 bits under separate keys.
    Two of :math:`n` items share a word with probability :math:`n^2/2^{65}` at most, and cost one.

    References
    ----------
    .. [1] O. Ben-Eliezer, R. Jayaram, D. Woodruff, E. Yogev, "A framework for adversarially robust
       streaming algorithms", Journal of the ACM 69(2), 2022, section on cryptographic F0.
    .. [2] K. Paterson, M. Raynal, "HyperLogLog: exponentially bad in adversarial settings",
       IACR ePrint 2021/1139.

    Examples
    --------
    >>> users = Keyed(datasketches().hll_sketch(12))
    >>> for user in ("ada", "grace", "ada", 7, 7.0):
    ...     users.update(user)
    >>> round(users.query())
    4
    >>> users.update_many(np.arange(7, 100_007))
    >>> bool(90_000 < users.query() < 110_000)
    True
    """

    __slots__ = ("_key", "_other", "_push", "_secret", "_sketch", "_waiting", "_whole")

    def __init__(
        self, sketch: DistinctSketch, *, key: bytes | None = None, source: Source = SYSTEM
    ) -> None:
        _check_sketch(sketch, keyed=key is not None)
        self._sketch = sketch
        self._push = getattr(sketch, "update", _refuse)
        self._secret = key is not None or source.private
        self._key = source.bytes(SECRET_BYTES) if key is None else _read_key(key)
        self._whole = blake2b(key=self._key, person=b"whole numbers", digest_size=16).digest()
        self._other = blake2b(key=self._key, person=b"other items", digest_size=8)
        self._waiting: list[int] = []

    def update(self, item: Item) -> None:
        """Take an item: a number, a text, bytes, None, or a tuple of these."""
        if self._push is _refuse:
            _refuse(0)
        if type(item) is not str and is_whole(item) and -SIGNED <= item < SIGNED:
            self._waiting.append(int(item))
            if len(self._waiting) >= WAITING:
                self._settle()
        else:
            hashed = self._other.copy()
            hashed.update(encoded(item))
            self._push(*WORD.unpack(hashed.digest()))

    def update_many(self, items: Iterable[Item]) -> None:
        """Take many items; an array of whole numbers is hashed as one, a few times faster."""
        if isinstance(items, (str, bytes)):
            hint = "Use keyed.update(item) for a single item."
            raise ParameterTypeError("items", "be a list or an array", "a single string", hint)
        if not isinstance(items, np.ndarray):
            deque(map(self.update, items), 0)
        elif items.dtype.kind in "iu" and items.dtype != np.uint64:
            self._feed(siphash_many(_words(items.reshape(-1)), self._whole))
        else:
            deque(map(self.update, items.flat), 0)

    def query(self) -> float:
        """Return about how many different items were taken."""
        return float(self.sketch.get_estimate())

    def interval(self, deviations: int = 2) -> tuple[float, float]:
        """Return the sketch's own bounds, for 1, 2 or 3 standard deviations, at a given moment."""
        if deviations not in (1, 2, 3):
            must, hint = "be 1, 2 or 3", "Use {deviations} for about 95%."
            raise ParameterError("deviations", must, given(deviations), hint, deviations=2)
        sketch: Any = self.sketch
        if not hasattr(sketch, "get_lower_bound"):
            must = "interval() is not available for a sketch without get_lower_bound()."
            raise ParameterTypeError("the sketch", must, "", "Use keyed.query() for the estimate.")
        return float(sketch.get_lower_bound(deviations)), float(sketch.get_upper_bound(deviations))

    @property
    def key(self) -> bytes:
        """Return the secret key; keep it where nobody who chooses items can read it."""
        return self._key

    @property
    def sketch(self) -> DistinctSketch:
        """Return the sketch, with all items in it; store it with its own methods."""
        self._settle()
        return self._sketch

    def merge(self, other: Keyed) -> Keyed:
        """Return the sketch of the items of both, which must have been keyed alike.

        The union of theta sketches can be asked and merged, and takes no more items.

        Examples
        --------
        >>> hll = datasketches().hll_sketch
        >>> north = Keyed(hll(12))
        >>> south = Keyed(hll(12), key=north.key)
        >>> north.update("ada"), south.update("ada"), south.update("grace")
        (None, None, None)
        >>> round(north.merge(south).query())
        2
        """
        if not isinstance(other, Keyed) or not compare_digest(self._key, other._key):
            hint = "Use Keyed(sketch, key=first.key) when creating the second."
            raise ParameterError("sketches to merge", "have the same key", "different keys", hint)
        both = Keyed(_union(self.sketch, other.sketch), key=self._key)
        both._secret = self._secret and other._secret
        return both

    def certificate(self) -> int:
        """Return how many adaptive insertions are proved: no number is too large.

        It is 0 where the key was drawn from a seed.
        """
        return ENDLESS if self._secret else 0

    def proof(self) -> Statement:
        """Return what is proved of the estimates, what that assumes, and what is not."""
        proved = (
            "on insertions alone, of any number and however chosen after seeing earlier estimates, "
            "the estimates have the law that they have on a fixed stream"
        )
        return Statement(
            proved=proved if self._secret else "nothing, for the key can be foreseen",
            assumes="the key is secret, SipHash-2-4 and keyed BLAKE2b are pseudorandom, and no "
            "other sketch with this key is seen",
            not_proved="answers about subsets, merges or copies under one key: use "
            "Robust(method='dp-median') over keyed copies there, or count exactly",
        )

    def __repr__(self) -> str:
        return f"Keyed({type(self._sketch).__name__}, key=...)"

    def __reduce__(self) -> tuple[Any, ...]:
        must = "A keyed sketch cannot be pickled with its key."
        hint = "Store keyed.sketch.serialize_compact(), and keep keyed.key in a safe place."
        raise ParameterTypeError("a keyed sketch", must, "", hint)

    def _settle(self) -> None:
        waiting, self._waiting = self._waiting, []
        if len(waiting) > FEW:
            self._feed(siphash_many(_words(np.array(waiting, np.int64)), self._whole))
        elif waiting:
            self._feed(np.array([siphash(x, self._whole) for x in waiting], np.uint64))

    def _feed(self, words: NDArray[np.uint64]) -> None:
        deque(map(self._push, words.view(np.int64).tolist()), 0)


def _words(items: NDArray[Any]) -> NDArray[np.uint64]:
    return items.astype(np.int64).view(np.uint64)


def datasketches() -> ModuleType:
    """Return the library of sketches, an extra."""
    try:
        return import_module("datasketches")
    except ImportError as error:
        raise MissingExtraError.of("sketches") from error


def _check_sketch(sketch: Any, *, keyed: bool) -> None:
    if isinstance(sketch, type):
        must = "be an object, not a class"
        raise ParameterTypeError("sketch", must, kind(sketch), f"Use Keyed({sketch.__name__}(12)).")
    needed = ("get_estimate",) if keyed else ("update", "get_estimate")
    if not all(callable(getattr(sketch, name, None)) for name in needed):
        must = "have the methods update and get_estimate"
        hint = "Use Keyed(datasketches.hll_sketch(12))."
        raise ParameterTypeError("sketch", must, kind(sketch), hint)
    if not keyed and hasattr(sketch, "is_empty") and not sketch.is_empty():
        hint = "Use Keyed(sketch, key=key) with the key that the items were added with."
        raise ParameterError("sketch", "be empty", "a sketch that holds items", hint)


def _refuse(_: int) -> NoReturn:
    hint = (
        "A union of theta sketches accepts none. Use Keyed(datasketches.update_theta_sketch(12), "
        "key=key) and merge that."
    )
    raise ParameterTypeError("a sketch", "This sketch is closed and accepts no items.", "", hint)


def _read_key(key: object) -> bytes:
    hint = "Omit {key} for a fresh one, or use secrets.token_bytes(32)."
    if not isinstance(key, bytes):
        raise ParameterTypeError("key", "be bytes", kind(key), hint, key=LEFT_OUT)
    if not 16 <= len(key) <= LONGEST_KEY:
        must = f"be 16 to {LONGEST_KEY} bytes long"
        raise ParameterError("key", must, f"{len(key)}", hint, key=LEFT_OUT)
    return key


def _union(one: Any, two: Any) -> DistinctSketch:
    library = datasketches()
    kinds = [type(one).__name__, type(two).__name__]
    if kinds == ["hll_sketch"] * 2:
        union = library.hll_union(max(one.lg_config_k, two.lg_config_k))
    elif kinds == ["cpc_sketch"] * 2:
        union = library.cpc_union(max(one.lg_k, two.lg_k))
    elif all(kind.endswith("theta_sketch") for kind in kinds):
        union = library.theta_union(21)
    else:
        must = "be of the same type, HLL, CPC or theta"
        hint = "Merge two sketches of the same type."
        raise ParameterTypeError("sketches to merge", must, " and ".join(kinds), hint)
    union.update(one)
    union.update(two)
    result: DistinctSketch = union.get_result()
    return result
