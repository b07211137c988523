r"""Why nothing small can win: a sampler that survives holds the whole set (Stemmer's lecture 9).

Take sets :math:`Y \in B` of half the universe :math:`X`, of which no two distinct ones share
:math:`t = \lfloor 49|X|/100 \rfloor` elements. Put :math:`Y` in; :math:`t` times ask for an element
and delete it. If no answer fails, the :math:`t` elements named lie in :math:`Y` and in no other
member of :math:`B`: the memory after the insertions knew :math:`Y`. A sampler that wins with
probability one quarter does so with some fixed coins for a quarter of :math:`B`, so it has at least
:math:`|B|/4` states: :math:`\log_2(|B|/4)` bits, whatever hash functions it gets for free.
"""

from __future__ import annotations

from math import comb, lgamma, log, log2
from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import integer
from sourdine_lab.attacks.samplers import delete_what_you_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine_lab.one_from_many.samplers import Sampler

__all__ = [
    "code_size_bits",
    "decode",
    "deletions",
    "gilbert_varshamov_bits",
    "greedy_code",
    "memory_lower_bound",
]

EXACT = 20_000
"""Up to so large a universe the count is of whole numbers."""

LARGEST_CODE = 20


def deletions(universe: int) -> int:
    r"""Return :math:`\lfloor 49|X|/100 \rfloor`, the deletions of the game.

    Examples
    --------
    >>> deletions(4096)
    2007
    """
    return 49 * _even(universe) // 100


def code_size_bits(universe: int) -> float:
    r"""Return :math:`\log_2 \frac{2^{|X|/5}}{\sqrt{2|X|}}`, the size of a code that is claimed.

    True, and a long way from the truth: see `gilbert_varshamov_bits`.

    Examples
    --------
    >>> round(code_size_bits(4096), 1)
    812.7
    """
    return _even(universe) / 5 - log2(2 * universe) / 2


def gilbert_varshamov_bits(universe: int) -> float:
    r"""Return the logarithm of the code's size by Gilbert and Varshamov, about :math:`0.859|X|`.

    .. math:: |B| \ge \binom{N}{N/2} \Big/ \sum_{j=0}^{N/2 - t} \binom{N/2}{j}^2

    A set shares :math:`N/2 - j` elements with :math:`\binom{N/2}{j}^2` others, so while a code is
    smaller, some set is left that is far from all of it. *Checked by*
    ``test_greedy_code_is_as_large_as_promised``.

    Examples
    --------
    >>> [round(gilbert_varshamov_bits(n) / n, 3) for n in (200, 5000, 10**6)]
    [0.857, 0.859, 0.859]
    """
    half, near = _even(universe) // 2, universe // 2 - deletions(universe)
    if universe <= EXACT:
        term = ball = 1
        for j in range(near):
            term = term * (half - j) ** 2 // (j + 1) ** 2
            ball += term
        return log2(comb(universe, half)) - log2(ball)
    logs = np.array([2 * _ln_comb(half, j) for j in range(near + 1)])
    ball_nats = logs.max() + log(np.exp(logs - logs.max()).sum())
    return float(_ln_comb(universe, half) - ball_nats) / log(2)


def memory_lower_bound(universe: int) -> float:
    r"""Return :math:`\log_2(|B|/4)` bits: what every sampler needs that wins one game in four.

    Examples
    --------
    >>> round(memory_lower_bound(4096)), round(memory_lower_bound(4096) / 64)
    (3516, 55)
    """
    return max(0.0, max(gilbert_varshamov_bits(universe), code_size_bits(universe)) - 2)


def greedy_code(universe: int) -> list[frozenset[int]]:
    """Return sets of half a tiny universe, taken in order while far from all before.

    Examples
    --------
    >>> code = greedy_code(8)
    >>> len(code), max(len(y & z) for y in code for z in code if y != z), deletions(8)
    (14, 2, 3)
    """
    if _even(universe) > LARGEST_CODE:
        raise ParameterError(
            f"universe must be at most {LARGEST_CODE} to list its sets, got {universe}. "
            "Use gilbert_varshamov_bits(universe) for the size of a code."
        )
    sets = np.arange(1 << universe, dtype=np.uint32)
    free = sets[np.bitwise_count(sets) == universe // 2]
    code = []
    while len(free):
        code.append(int(free[0]))
        free = free[np.bitwise_count(free & free[0]) < deletions(universe)]
    return [frozenset(i for i in range(universe) if word >> i & 1) for word in code]


def decode(
    sampler: Sampler, chosen: frozenset[int], code: Sequence[frozenset[int]], universe: int
) -> frozenset[int] | None:
    """Put a set into a sampler and read it back by deleting: the experiment of the proof.

    *Checked by* ``test_survivors_hold_the_whole_set``.

    Returns
    -------
    frozenset or None
        The member of the code that holds all that was named, if one does.

    Examples
    --------
    >>> from sourdine_lab.one_from_many import Bitset
    >>> code = greedy_code(8)
    >>> all(decode(Bitset(8), y, code, 8) == y for y in code)
    True
    """
    for x in sorted(chosen):
        sampler.update(x, 1)
    named = delete_what_you_output(sampler, deletions(universe)).named
    if len(named) < deletions(universe):
        return None
    return next((z for z in code if named <= z), None)


def _even(universe: int) -> int:
    if integer(universe, "universe", least=4) % 2:
        raise ParameterError(f"universe must be even, got {universe}. Use universe={universe + 1}.")
    return universe


def _ln_comb(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
