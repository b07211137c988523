"""S7: few transcripts, few failures (theorems 4 and 5)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine_lab.claims.claim import Claim, Finding, Instead

if TYPE_CHECKING:
    from collections.abc import Callable

CODES, ROWS, MOST = 8, 40, 13
"""Rows drawn evenly from so many codes; a code with more than so many is off by 0.2."""
Coins = np.random.Generator


def one_code_is_off() -> Fraction:
    """Return the chance that one code has more rows than `MOST`."""
    p = Fraction(1, CODES)
    return sum(
        (comb(ROWS, c) * p**c * (1 - p) ** (ROWS - c) for c in range(MOST + 1, ROWS + 1)),
        Fraction(0),
    )


def some_code_is_off() -> Fraction:
    """Return the chance that any code has more rows than `MOST`, by counting samples."""
    ways = [1] + ROWS * [0]
    for _ in range(CODES):
        ways = [
            sum(comb(n, c) * ways[n - c] for c in range(min(n, MOST) + 1)) for n in range(ROWS + 1)
        ]
    return 1 - Fraction(ways[ROWS], CODES**ROWS)


def bounds_the_failures(bound: Callable[[Fraction, int, int], Fraction]) -> Finding:
    """Play against a mechanism that answers with the most frequent code, in three bits.

    The second of k = 2 queries asks for that code: it is off whenever any code is.
    """
    promised, chance = bound(one_code_is_off(), 2, 3), some_code_is_off()
    words = f"fails with probability {float(chance):.3g}, promised {float(promised):.3g}"
    return Finding(chance <= promised, float(chance / promised), 0.0, words)


def adds_the_errors(together: Callable[[float, float], float]) -> Finding:
    """Answer with the average of fair coins, moved by alpha' away from the truth."""
    n, empirical, sampling = 100, 0.05, 0.1
    allowed = together(empirical, sampling)
    chances = {c: comb(n, c) / 2**n for c in range(n + 1)}
    promised = sum(p for c, p in chances.items() if abs(c / n - 0.5) > sampling + 1e-12)
    off = sum(p for c, p in chances.items() if abs(c / n - 0.5) + empirical > allowed + 1e-12)
    words = f"off by more than {allowed:.3f} with probability {off:.3g}, promised {promised:.3g}"
    return Finding(off <= promised + 1e-15, off, 0.0, words)


def few_transcripts(coins: Callable[[int], Coins]) -> Finding:
    """Count the transcripts of an analyst who tosses coins, over all samples of four bits.

    The mechanism tells one bit of each average; two answers make b = 2 bits.
    """
    seen = set()
    for game, sample in enumerate(product((0, 1), repeat=4)):
        rng, talk = coins(game), []
        for _ in range(2):
            query = tuple(rng.integers(0, 2, 2).tolist())
            answer = sum(query[x] for x in sample) > 2
            talk.append((query, answer))
        seen.add(tuple(talk))
    words = f"{len(seen)} transcripts, claimed at most 4"
    return Finding(len(seen) <= 4, len(seen), 0.0, words)


CLAIMS = (
    Claim(
        id="S7",
        statement="Theorem 4: some query is off with probability betahat k 2^b at most (rival: "
        "betahat k, as for queries fixed beforehand)",
        printed=lambda chance, k, bits: chance * k * 2**bits,
        instead=lambda chance, k, bits: chance * k,  # noqa: ARG005 - as if nothing were told
        other=Instead.RIVAL,
        check=bounds_the_failures,
    ),
    Claim(
        id="S7b",
        statement="Theorem 5: alpha = alpha' + alphahat (rival: sqrt(alpha'^2 + alphahat^2))",
        printed=lambda empirical, sampling: empirical + sampling,
        instead=lambda empirical, sampling: sqrt(empirical**2 + sampling**2),
        other=Instead.RIVAL,
        check=adds_the_errors,
    ),
    Claim(
        id="S7c",
        statement="For every analyst there are at most 2^b transcripts; whether analysts toss "
        "coins is not said, and it is so for those whose coins are fixed beforehand (rival: coins "
        "tossed anew)",
        printed=lambda game: np.random.default_rng(0),  # noqa: ARG005 - the same coins in each
        instead=np.random.default_rng,
        other=Instead.RIVAL,
        check=few_transcripts,
    ),
)
