"""S1: to name an element of a set that others change takes memory linear in the universe."""

from __future__ import annotations

from functools import partial
from itertools import combinations, permutations, product
from math import comb, log2
from typing import TYPE_CHECKING

import numpy as np

from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.experiments.stemmer.coordinates import least_watched
from sourdine_lab.one_from_many import (
    Bitset,
    CoordinateSampler,
    decode,
    gilbert_varshamov_bits,
    greedy_code,
    memory_lower_bound,
    one_from_many,
)
from sourdine_lab.one_from_many.lower_bound import deletions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sourdine_lab.one_from_many import Outcome

    Set = frozenset[int]

WATCHED, GAMES = 460, 40
TINY = 10


def few_coordinates_lose(play: Callable[..., Outcome]) -> Finding:
    """Play with one sampler, of the same memory in each universe, and count the games lost.

    The standard error is that of two more games lost and two more won: it is never 0.
    """
    rng = np.random.default_rng(1)
    lost = {
        universe: float(
            np.mean(
                [
                    play(CoordinateSampler(universe, WATCHED, seed), universe, rng=rng).failed
                    for seed in range(GAMES)
                ]
            )
        )
        for universe in (1000, 2000, 4000)
    }
    least = min(lost.values())
    share = (least * GAMES + 2) / (GAMES + 4)
    deviation = (share * (1 - share) / (GAMES + 4)) ** 0.5
    words = (
        f"{WATCHED} coordinates lose {least:.0%} ± {deviation:.0%} of the games, more than 75% "
        "claimed"
    )
    return Finding(least - 4 * deviation > 0.75, least, deviation, words)


def memory_grows_as(power: float) -> Finding:
    """Compare the power of |X| with those of the counting bound and of what coordinates need."""
    sizes = (1000, 4000)
    below = [memory_lower_bound(n) for n in sizes]
    above = [float(least_watched(n, adaptive=True)) for n in sizes]
    slopes = [log2(late / early) / 2 for early, late in (below, above)]
    words = (
        f"at least {below[1] / sizes[1]:.3f} |X| bits by counting, |X| are enough; powers "
        f"{slopes[0]:.3f} and {slopes[1]:.3f}, claimed {power:g}"
    )
    return Finding(all(abs(s - power) < 0.05 for s in slopes), slopes[0], 0.0, words)


def code_of_size(exponent: float) -> Finding:
    """Compare a size of the code with one that exists, and with one that cannot.

    No two sets share t elements, so every t elements lie in one set at most.
    """
    sizes = range(100, 2001, 100)
    claimed = {n: exponent * n - log2(2 * n) / 2 for n in sizes}
    exists = all(gilbert_varshamov_bits(n) >= claimed[n] for n in sizes)
    most = {n: log2(comb(n, deletions(n)) // comb(n // 2, deletions(n))) for n in sizes}
    beyond = any(claimed[n] > most[n] for n in sizes)
    sure, last = gilbert_varshamov_bits(2000) / 2000, most[2000] / 2000
    words = (
        f"2^({exponent:g} |X|) claimed; 2^({sure:.3f} |X|) exist, no more than 2^({last:.3f} |X|)"
    )
    return Finding(exists and not beyond, sure, 0.0, words)


def pairs_far_apart(pairs: Callable[[list[Set]], Iterable[tuple[Set, Set]]]) -> Finding:
    """Find the most elements that two members of a code share."""
    universe = 16
    most = max(len(y & z) for y, z in pairs(greedy_code(universe)))
    limit = 49 * universe / 100
    return Finding(most < limit, most, 0.0, f"{most} elements shared, claimed less than {limit:g}")


def survivors_name_their_set(code: Callable[[int], list[Set]]) -> Finding:
    """Put each set into a sampler that never fails, delete what it names, and read it back."""
    sets = code(TINY)
    read = sum(decode(Bitset(TINY), y, sets, TINY) == y for y in sets)
    return Finding(
        read == len(sets), read / len(sets), 0.0, f"{read} of {len(sets)} sets read back"
    )


def all_halves(universe: int) -> list[Set]:
    """Return all sets of half the universe."""
    return [frozenset(y) for y in combinations(range(universe), universe // 2)]


CLAIMS = (
    Claim(
        id="S1",
        statement="A sampler whose memory does not grow with |X| loses more than three games in "
        "four to whoever deletes what it names (rival: deletions fixed beforehand)",
        printed=partial(one_from_many, adaptive=True),
        instead=partial(one_from_many, adaptive=False),
        other=Instead.RIVAL,
        check=few_coordinates_lose,
    ),
    Claim(
        id="S1b",
        statement="The memory that wins one game in four is linear in |X| (rival: its square root)",
        printed=1.0,
        instead=0.5,
        other=Instead.RIVAL,
        check=memory_grows_as,
    ),
    Claim(
        id="S1c",
        statement="There are 2^(|X|/5)/sqrt(2|X|) sets of half of X, no two of which share 49% of "
        "it (rival: 0.95|X| for |X|/5, more than there can be)",
        printed=1 / 5,
        instead=0.95,
        other=Instead.RIVAL,
        check=code_of_size,
    ),
    Claim(
        id="S1d",
        statement="All Y, Z of the code share less than 49% of X; Y != Z is meant, which the proof "
        "says by any two sets",
        printed=lambda code: product(code, code),
        instead=lambda code: permutations(code, 2),
        other=Instead.MEANT,
        check=pairs_far_apart,
        quote="לכל Y, Z ∈ B מתקיים |Y ∩ Z| < 49|X|/100",
    ),
    Claim(
        id="S1e",
        statement="Who survives all deletions has named a set of the code and no other one (rival: "
        "all sets of half of X for a code)",
        printed=greedy_code,
        instead=all_halves,
        other=Instead.RIVAL,
        check=survivors_name_their_set,
    ),
)
