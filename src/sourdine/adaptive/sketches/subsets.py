"""Counts of subsets of known keys: a copy for the robust wrapper."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.sketches.siphash import KEY_BYTES, siphash_many
from sourdine.exact import integer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from sourdine.adaptive.sketches.keyed import DistinctSketch

__all__ = ["SubsetCount"]


class SubsetCount:
    r"""How many keys a subset has, estimated by sketches under one secret seed.

    The setting of a reach planner or a traffic monitor: every key has been hashed once, and each
    question names a set of keys (or of streams) whose sketches are joined. All answers share the
    seed, so a few times as many questions as the sketch has registers reveal which keys count too
    little (`sourdine.adaptive.attacks.distinct.subset_queries`), and no secrecy of the seed helps.
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

    __slots__ = ("_keys", "_make", "_order", "_subset", "_words")

    def __init__(self, keys: ArrayLike, make: Callable[[], DistinctSketch], *, seed: int) -> None:
        given = np.asarray(keys, np.int64)
        secret = integer(seed, "seed", least=0) % (1 << 128)
        self._order = np.argsort(given)
        self._keys = given[self._order]
        words = siphash_many(given.view(np.uint64), secret.to_bytes(KEY_BYTES, "little"))
        self._words = words.view(np.int64)[self._order]
        self._make = make
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
