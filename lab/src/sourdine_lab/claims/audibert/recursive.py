"""Row A10: RecExp's aims, its calls, its levels, its loss, its ties."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log2
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sourdine.central.quantiles.independent import RecExp
from sourdine_lab.claims.audibert.recursive_density import Three, telling
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
SHARE = 1 / (log2(3) + 1)
"""A call's part of epsilon = 1, for three quantiles."""


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


def loss(draws: Three) -> Finding:
    """Compare the densities of three quartiles where a record is replaced, at a nominal 1."""
    x, y, top = telling(40, 30)
    most = draws.loss(x, y, top)
    return Finding(most <= 1, most, words=f"loss {most:.3f} for 40 records, claimed at most 1")


def loss_of_calls(relation: str) -> Finding:
    """Compare densities where a call is private with its share, the orders .01, .5 and .99.

    Orders are rescaled, exponents halved: each call is as private as its share says, whichever
    relation is meant.
    """
    x, y, top = telling(300, 285)
    draws = Three((0.5, 0.02, 0.98), SHARE / 2, SHARE / 2)
    pairs = [(x, y)] if relation == "substitute" else [(x, x[1:]), (y, y[:-1])]
    most = max(draws.loss(*pair, top) for pair in pairs)
    what = "replaced" if relation == "substitute" else "added or removed"
    words = f"loss {most:.4f} where one of 300 records is {what}, claimed at most 1"
    return Finding(most <= 1, most, words=words)


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
        quote="un appel récursif avec les données X_i < v et les ordres p_i pour i < m̂",
    ),
    Claim(
        id="A10b",
        statement="RecExp makes about log2(m) calls of QExp; it makes m, and log2(m) is the depth "
        "that the argument on privacy needs",
        printed=log2,
        instead=lambda m: m,
        other=Instead.CORRECTION,
        check=calls,
        quote="Or le nombre d'appels est de l'ordre de log_2(m).",
    ),
    Claim(
        id="A10c",
        statement="Observed, no relation is stated: calls that are epsilon/(log2(m) + 1)-private "
        "make RecExp epsilon-private where a record is replaced; they do where one is added or "
        "removed, as the calls of a level share it; one replaced changes two slices (for these "
        "orders up to (1 + 2 x .98)/(log2(3) + 1) = 1.145)",
        printed="substitute",
        instead="add_remove",
        other=Instead.CORRECTION,
        check=loss_of_calls,
        quote="Par théorème de composition […] on obtient bien un algorithme ϵ-differentially "
        "private.",
        ours=True,
    ),
    Claim(
        id="A10d",
        statement="Observed, no relation is stated: RecExp on QExp, both as printed, orders not "
        "rescaled, is epsilon-private where a record is replaced (up to 5/(log2(3) + 1) = 1.934; "
        "with rescaled orders 4/(log2(3) + 1) = 1.547); orders must be rescaled, and two levels of "
        "halved exponents get 1/2 each",
        printed=Three((0.5, 0.25, 0.75), SHARE, SHARE),
        instead=Three((0.5, 0.5, 0.5), 1 / 4, 1 / 4),
        other=Instead.CORRECTION,
        check=loss,
        ours=True,
    ),
    Claim(
        id="A10e",
        statement="Observed, the report's data have no ties: the slices are the records X_i < v "
        "and X_i > v, so records equal to v are lost",
        printed=apart,
        instead=by_rank,
        other=Instead.CORRECTION,
        check=keeps_ties,
        quote="les données X_i < v […] symétriquement pour les données X_i > v",
        ours=True,
    ),
    Claim(
        id="A10f",
        statement="epsilon/(log2(m) + 1) is enough for each level, where its calls share it "
        "(rival: epsilon/log2(m + 1)); observed: there are floor(log2 m) + 1 "
        "levels, so that some is left",
        printed=lambda m: log2(m) + 1,
        instead=lambda m: log2(m + 1),
        other=Instead.RIVAL,
        check=levels,
    ),
)
