r"""Attacks on distinct counts: items found at home, and questions about subsets.

Both are played against the sketches of the ``datasketches`` library as it is installed. An attack
that fails proves nothing; `Keyed.proof` says what is proved.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sourdine.adaptive.attacks.generator import generator
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.adaptive.sketches.keyed import DistinctSketch

    Items = NDArray[np.int64]

__all__ = ["LowHigh", "offline", "subset_queries"]

START = 1_000_000_000
"""The attacker's candidates count up from here."""

PATIENCE = 1000
"""The attacker gives up where fewer than one in this many candidates are overlooked."""

CLIP = 2.0
"""An answer further than this factor from the median one is taken as that far."""


def offline(
    factory: Callable[[], DistinctSketch], *, base: int = 20_000, extra: int = 300_000
) -> Items:
    r"""Return ``base`` ordinary items and ``extra`` more that a public sketch does not see.

    The attacker holds a copy of the victim's sketch with the ``base`` items in it and tries
    candidates: one that leaves the estimate as it was is kept, otherwise the copy is wound back.
    With :math:`m` registers and :math:`n` items a candidate is kept with probability about
    :math:`1 - m/n`, so the search takes a second and no question to the victim [1]_.

    Parameters
    ----------
    factory
        Makes an empty sketch like the victim's: ``lambda: datasketches.hll_sketch(12)``. CPC and
        theta sketches with the default seed fall as well.
    base
        How many items to start from; enough that the sketch no longer takes every new one.
    extra
        How many hidden items to find.

    References
    ----------
    .. [1] K. Paterson, M. Raynal, "HyperLogLog: exponentially bad in adversarial settings",
       IACR ePrint 2021/1139.

    Examples
    --------
    >>> from sourdine.adaptive.sketches.keyed import Keyed, datasketches
    >>> hll = datasketches().hll_sketch
    >>> items = offline(lambda: hll(8), base=2_000, extra=20_000)
    >>> victim, keyed = hll(8), Keyed(hll(8))
    >>> for item in items.tolist():
    ...     victim.update(item)
    >>> keyed.update_many(items)
    >>> len(set(items.tolist())), bool(victim.get_estimate() < 3_000), bool(keyed.query() > 10_000)
    (22000, True, True)
    """
    base = integer(base, "base", least=1)
    extra = integer(extra, "extra", least=0)
    mine = factory()
    for item in range(base):
        mine.update(item)
    known, still = mine.get_estimate(), _wound_back(mine)
    found: list[int] = []
    mine, candidate = still(), START
    while len(found) < extra:
        mine.update(candidate)
        if mine.get_estimate() == known:
            found.append(candidate)
        else:
            mine = still()
        candidate += 1
        if candidate - START > PATIENCE * (len(found) + 10):
            raise ParameterError(
                "base",
                "be large enough for the sketch to overlook some items",
                given(base),
                "Type {base}.",
                base=10 * base,
            )
    return np.array([*range(base), *found], np.int64)


def _wound_back(sketch: Any) -> Callable[[], DistinctSketch]:  # noqa: ANN401 - an untyped library
    """Return what makes the sketch again as it is now."""
    if hasattr(sketch, "serialize_updatable"):
        image, read = sketch.serialize_updatable(), type(sketch).deserialize
        return lambda: read(image)
    if hasattr(sketch, "__copy__"):
        kept = copy(sketch)
        return lambda: copy(kept)
    raise ParameterTypeError(
        "factory",
        "make a sketch that can be copied",
        kind(sketch),
        "Type offline(lambda: datasketches.hll_sketch(12)).",
    )


class LowHigh(NamedTuple):
    """Half of the keys that a sketch counts too low, and half that it counts too high."""

    low: Items
    high: Items


def subset_queries(
    answer: Callable[[Items], float], keys: Items, rounds: int, *, rng: np.random.Generator
) -> LowHigh:
    r"""Return keys that a sketch counts too low and too high, from answers about random subsets.

    Ask for the count of ``rounds`` random halves of the keys. A key is scored by how the answers
    correlate with its presence,

    .. math:: c_x = \sum_i \Bigl(\frac{a_i}{|S_i|} - \bar a\Bigr)
              \bigl(\mathbf 1[x \in S_i] - \tfrac12\bigr),

    and the half with the lowest scores, whose hashes raise no register, goes into one set, the
    half with the highest into another. No hash is known: this works against any key as long as
    all answers use it [1]_.

    Parameters
    ----------
    answer
        Gives the victim's estimate for an array of distinct keys.
    keys
        All keys, several times as many as the sketch has registers.
    rounds
        How many questions to ask; a few times the number of registers suffice.

    References
    ----------
    .. [1] S. Ahmadian, E. Cohen, "Unmasking vulnerabilities: cardinality sketches under adaptive
       inputs", ICML 2024.

    Examples
    --------
    >>> from sourdine.adaptive.sketches.subsets import SubsetCount
    >>> from sourdine.adaptive.sketches.keyed import datasketches
    >>> keys = np.arange(1280)
    >>> victim = SubsetCount(keys, lambda: datasketches().hll_sketch(7), seed=1)
    >>> low, high = subset_queries(victim.count, keys, 256, rng=np.random.default_rng(0))
    >>> bool(victim.count(low) < 0.8 * len(low)), bool(victim.count(high) > 1.2 * len(high))
    (True, True)
    """
    rounds = integer(rounds, "rounds", least=1)
    inside = generator(rng).random((rounds, len(keys))) < 0.5
    rates = np.array([answer(keys[chosen]) / max(chosen.sum(), 1) for chosen in inside])
    middle = float(np.median(rates))
    rates = np.clip(rates, middle / CLIP, middle * CLIP)
    scores = (rates - rates.mean()) @ (inside - 0.5)
    order, half = np.argsort(scores), len(keys) // 2
    low, high = order[:half], order[len(keys) - half :]
    return LowHigh(keys[np.sort(low)], keys[np.sort(high)])
