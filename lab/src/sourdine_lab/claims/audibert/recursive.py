"""Row A10: RecExp's aims, its calls, its levels, its loss, its ties."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, log2
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sourdine.central.quantiles import RecExp
from sourdine.mechanisms.mechanism import settle
from sourdine_lab.claims.audibert.recursive_density import quartiles_loss
from sourdine_lab.claims.claim import Claim, Finding, Instead

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Ticks: TypeAlias = NDArray[np.int64]

Rescale: TypeAlias = "Callable[[Fraction, Fraction, Fraction], Fraction]"
"""From an order and those of the slice's ends to the order inside of the slice."""
Split: TypeAlias = "Callable[[Ticks, int, int], tuple[Ticks, Ticks]]"
"""From sorted ticks, the value drawn and its rank to the two slices."""
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
CELLS = 38
PAIRS = (
    ([1, 999_997, 999_998, 999_999], [999_997, 999_998, 999_999, 999_999]),
    ([3, 3, 3, 1000, 1000, 1000, 999_998], [3, 3, 1000, 1000, 1000, 999_998, 999_998]),
)
"""Neighbours that a level tells apart nearly as well as it can, in millionths."""


def within(q: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Return the order inside of the slice."""
    return (q - low) / (high - low)


def apart(ticks: Ticks, value: int, rank: int) -> tuple[Ticks, Ticks]:
    """Split as printed: what is below the value, and what is above it."""
    del rank
    return ticks[ticks < value], ticks[ticks > value]


def by_rank(ticks: Ticks, value: int, rank: int) -> tuple[Ticks, Ticks]:
    """Split the records of the value too, each having a place of its own inside of the cell."""
    del value
    return ticks[:rank], ticks[rank:]


def aims(ticks: Ticks, rescale: Rescale, split: Split) -> list[int]:
    """Return the quartiles that RecExp aims at: each draw hits the record at its rank."""
    out = [0] * len(QUARTILES)

    def slice_of(part: Ticks, first: int, end: int, low: Fraction, high: Fraction) -> None:
        if first < end:
            middle = (first + end) // 2
            q = QUARTILES[middle]
            rank = ceil(rescale(q, low, high) * len(part))
            out[middle] = int(part[max(rank - 1, 0)])
            left, right = split(part, out[middle], rank)
            slice_of(left, first, middle, low, q)
            slice_of(right, middle + 1, end, q, high)

    slice_of(ticks, 0, len(QUARTILES), Fraction(0), Fraction(1))
    return out


def finds_quartiles(rescale: Rescale) -> Finding:
    """Aim at the quartiles of 1000 different records."""
    found = [v / 1000 for v in aims(np.arange(1, 1001), rescale, by_rank)]
    worst = max(abs(v - float(q)) for v, q in zip(found, QUARTILES, strict=True))
    words = "quartiles aimed at " + ", ".join(f"{v:.3f}" for v in found)
    return Finding(worst < 0.005, found[0], words=words)


def keeps_ties(split: Split) -> Finding:
    """Aim at the quartiles of 100 different records and 500 equal ones."""
    ticks = np.sort(np.concatenate((np.arange(100), np.full(500, 50))))
    found = aims(ticks, within, split)
    words = f"quartiles aimed at {found}, true ones [50, 50, 50]"
    return Finding(found == [50, 50, 50], float(found[0]), words=words)


def calls(count: Callable[[int], float]) -> Finding:
    """Count the calls of QExp for up to 64 quantiles."""
    made = {m: len(_recexp(m).nodes) for m in range(1, 65)}
    wrong = [m for m, nodes in made.items() if abs(count(m) - nodes) > 0.5]
    words = f"said {count(63):.1f} calls for 63 quantiles, counted {made[63]}"
    return Finding(not wrong, float(made[63]), words=words)


def levels(count: Callable[[int], float]) -> Finding:
    """Spend epsilon/count on each level, for up to 64 quantiles: no more than epsilon in all."""
    spent = {m: _depth(m) / count(m) for m in range(1, 65)}
    most, least = (pick(spent, key=lambda m: spent[m]) for pick in (max, min))
    words = (
        f"of epsilon = 1, {spent[3]:.3f} is spent on 3 quantiles and {spent[63]:.3f} on 63; "
        f"at most {spent[most]:.3f} (m = {most}), at least {spent[least]:.3f} (m = {least})"
    )
    return Finding(spent[most] <= 1 + 1e-12, spent[most], words=words)


def loss(decay: Callable[[int], float]) -> Finding:
    """Compare the densities of three quartiles for neighbours, at a nominal epsilon of 1."""
    pairs = [(np.array(x) / 1e6, np.array(y) / 1e6) for x, y in PAIRS]
    most = max(quartiles_loss(_distinct(x), _distinct(y), decay) for x, y in pairs)
    words = f"loss {most:.3f}, and {_on_grid(decay):.2f} on a grid of {CELLS}; claimed 1"
    return Finding(most <= 1, most, words=words)


def _on_grid(decay: Callable[[int], float]) -> float:
    """Return the loss between eight records and a neighbour, by `RecExp`'s exact law."""
    made = RecExp(epsilon=1, q=QUARTILES, cells=CELLS, relation="substitute", dither=1)
    first, *others = made.nodes
    nodes = (replace(first, c=decay(0)), *(replace(node, c=decay(1)) for node in others))
    settle(made, nodes=nodes)
    x = [0, 0, 0, 2, 2, *[CELLS - 1] * 3]
    law, beside = (made.law(made.read(data)) for data in (x, [*x[1:], CELLS - 1]))
    return law.divergence(beside).value


def _distinct(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the records moved apart by a little, as equal ones leave no gap to draw from."""
    return np.asarray(x + 1e-9 * np.arange(len(x)))


def _recexp(m: int) -> RecExp:
    return RecExp(epsilon=1, q=[Fraction(j, m + 1) for j in range(1, m + 1)], cells=100)


def _depth(m: int) -> int:
    """Return the levels of the recursion, counted."""
    level = {(0, m): 1}
    for node in _recexp(m).nodes:
        below = level[node.first, node.end] + 1
        level[node.first, node.middle] = level[node.middle + 1, node.end] = below
    return max(depth for (first, end), depth in level.items() if first < end)


CLAIMS = (
    Claim(
        id="A10",
        statement="RecExp looks for the orders p_i themselves inside of a slice",
        printed=lambda q, _low, _high: q,
        instead=within,
        other=Instead.CORRECTION,
        check=finds_quartiles,
    ),
    Claim(
        id="A10b",
        statement="RecExp makes about log2(m) calls of QExp; it makes m",
        printed=log2,
        instead=lambda m: m,
        other=Instead.CORRECTION,
        check=calls,
    ),
    Claim(
        id="A10c",
        statement="epsilon/(log2(m) + 1) for each call is safe, where the calls of a level share "
        "it (rival: epsilon/log2(m + 1)); observed: there are floor(log2 m) + 1 levels, so that "
        "some of epsilon is left",
        printed=lambda m: log2(m) + 1,
        instead=lambda m: log2(m + 1),
        other=Instead.RIVAL,
        check=levels,
    ),
    Claim(
        id="A10d",
        statement="RecExp on the printed QExp is epsilon-private; a record replaced changes two "
        "slices, and each draw's exponent must be halved",
        printed=lambda _level: 1 / (log2(3) + 1),
        instead=lambda _level: 1 / 4,
        other=Instead.CORRECTION,
        check=loss,
    ),
    Claim(
        id="A10e",
        statement="the slices are the records X_i < v and X_i > v; records equal to v are lost",
        printed=apart,
        instead=by_rank,
        other=Instead.CORRECTION,
        check=keeps_ties,
    ),
)
