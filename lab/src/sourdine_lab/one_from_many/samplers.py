"""Algorithms that name an element of a set while elements come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

__all__ = ["Bitset", "CoordinateSampler", "L0Sampler", "Sampler"]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Sampler(Protocol):
    """Names an element whose count is above zero, or says that it cannot."""

    @property
    def words(self) -> int:
        """The memory that updates change, in words of 64 bits."""

    def update(self, x: int, delta: int) -> None:
        """Add ``delta`` to the count of ``x``."""

    def query(self) -> int | None:
        """Return an element of the set, or None."""


def mixed(x: Words) -> Words:
    """Return 64 bits for each 64 bits, one to one, that look random (SplitMix64).

    Examples
    --------
    >>> len(set(mixed(np.arange(1000, dtype=np.uint64)).tolist()))
    1000
    """
    z = x * GOLDEN + GOLDEN
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return np.asarray(z ^ (z >> np.uint64(31)))


def element(x: int, universe: int) -> int:
    """Return an element of a universe, checked.

    Examples
    --------
    >>> element(99, 100)
    99
    """
    if not 0 <= integer(x, "x") < universe:
        raise ParameterError(
            f"x must be from 0 to {universe - 1}, got {x}. Use universe={max(x + 1, 1)} or more "
            "where the sampler is made."
        )
    return x


class L0Sampler:
    r"""A turnstile sampler: at level :math:`l` live the elements that :math:`l` fair coins let in.

    Each level deals its elements into rows of columns. A cell keeps the sum of counts, of
    elements times counts and of hashes times counts; where a single element is left in a cell, the
    three agree, and it is named. Against a stream fixed beforehand some level always holds few
    elements, so some cell holds one.

    Parameters
    ----------
    universe
        How many elements there may be, coded from 0.
    rows, columns
        The cells of a level.
    seed
        Of the hashes, which are not counted as memory.

    References
    ----------
    .. [1] G. Cormode, D. Firmani, "A unifying framework for l0-sampling algorithms", Distributed
       and Parallel Databases 32, 2014.

    Examples
    --------
    >>> sampler = L0Sampler(4096, rows=2, columns=8, seed=1)
    >>> sampler.update(1234, 1)
    >>> sampler.query(), sampler.words
    (1234, 624)
    """

    __slots__ = ("_fields", "_salts", "columns", "levels", "rows", "universe")

    def __init__(self, universe: int, rows: int, columns: int, seed: int) -> None:
        self.universe = integer(universe, "universe", least=1)
        self.rows, self.columns = (
            integer(rows, "rows", least=1),
            integer(columns, "columns", least=1),
        )
        self.levels = max(1, self.universe.bit_length())
        own = integer(seed, "seed", least=0) & ((1 << 64) - 1)
        salts = np.arange(2 + self.levels * self.rows, dtype=np.uint64)
        self._salts = mixed(mixed(salts) ^ np.uint64(own))
        self._fields = np.zeros((3, self.levels * self.rows, self.columns), np.uint64)

    @property
    def words(self) -> int:
        """Three words for each cell."""
        return int(self._fields.size)

    def update(self, x: int, delta: int) -> None:
        """Add ``delta`` to the count of ``x``."""
        self.update_many([x], [delta])

    def update_many(self, xs: list[int], deltas: list[int]) -> None:
        """Add to the counts of many elements at once."""
        x = np.array([element(x, self.universe) for x in xs], np.uint64)
        change = np.array(deltas, np.int64).view(np.uint64)
        told = np.stack((change, change * x, change * self._fingerprint(x)))
        depth = self._depth(x)
        lines = np.arange(self.levels * self.rows)
        which, line = np.nonzero(depth[:, None] >= lines // self.rows)
        column = mixed(x[which] ^ self._salts[2 + line]) % np.uint64(self.columns)
        for field, value in zip(self._fields, told, strict=True):
            np.add.at(field, (line, column.astype(np.int64)), value[which])

    def query(self) -> int | None:
        """Return what a cell with one element holds, at the sparsest level that has one."""
        count, weighted, marked = (field.ravel() for field in self._fields)
        cells = np.flatnonzero((count > 0) & (count <= self.universe))
        x, rest = np.divmod(weighted[cells], count[cells])
        fits = (rest == 0) & (x < self.universe)
        fits &= self._fingerprint(x) * count[cells] == marked[cells]
        return int(x[np.flatnonzero(fits)[-1]]) if fits.any() else None

    def _depth(self, x: Words) -> NDArray[np.int64]:
        """Return the deepest level of each element: the number of heads before the first tail."""
        coins = mixed(x ^ self._salts[0])
        lowest = coins & (~coins + np.uint64(1))
        heads = np.where(coins == 0, 64.0, np.log2(np.maximum(lowest, 1).astype(np.float64)))
        return np.minimum(heads.astype(np.int64), self.levels - 1)

    def _fingerprint(self, x: Words) -> Words:
        return mixed(x ^ self._salts[1]) | np.uint64(1)


class CoordinateSampler:
    """Watch a few random elements and name one of them: enough while one in a hundred is in.

    Examples
    --------
    >>> sampler = CoordinateSampler(100, watched=100, seed=1)
    >>> sampler.update(7, 1)
    >>> sampler.query(), sampler.words
    (7, 200)
    """

    __slots__ = ("_counts", "universe")

    def __init__(self, universe: int, watched: int, seed: int) -> None:
        self.universe = integer(universe, "universe", least=1)
        if integer(watched, "watched", least=1) > self.universe:
            raise ParameterError(
                f"watched must be at most universe={self.universe}, got {watched}. "
                f"Use watched={self.universe} or less."
            )
        rng = np.random.default_rng(integer(seed, "seed", least=0))
        self._counts = dict.fromkeys(rng.choice(self.universe, watched, replace=False).tolist(), 0)

    @property
    def words(self) -> int:
        """A name and a count for each element watched."""
        return 2 * len(self._counts)

    @property
    def watched(self) -> frozenset[int]:
        """The elements watched."""
        return frozenset(self._counts)

    def update(self, x: int, delta: int) -> None:
        """Count ``x`` if it is watched."""
        if element(x, self.universe) in self._counts:
            self._counts[x] += delta

    def query(self) -> int | None:
        """Return the first element watched that is in."""
        return next((x for x, count in self._counts.items() if count > 0), None)


class Bitset:
    """One bit for each element of the universe: the memory that the lower bound asks for.

    Examples
    --------
    >>> bits = Bitset(4096)
    >>> bits.update(9, 1)
    >>> bits.query(), bits.words
    (9, 64)
    """

    __slots__ = ("_bits", "universe")

    def __init__(self, universe: int) -> None:
        self.universe, self._bits = integer(universe, "universe", least=1), 0

    @property
    def words(self) -> int:
        """One bit for each element."""
        return -(-self.universe // 64)

    def update(self, x: int, delta: int) -> None:
        """Put ``x`` in or take it out."""
        element(x, self.universe)
        self._bits = self._bits | 1 << x if delta > 0 else self._bits & ~(1 << x)

    def query(self) -> int | None:
        """Return the least element."""
        return (self._bits & -self._bits).bit_length() - 1 if self._bits else None
