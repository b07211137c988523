"""The listing of HistogramMethod, run as printed and as corrected (C4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import log
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sourdine.mechanisms.above_threshold import first_above_law
from sourdine_lab.bounds import histogram_steps
from sourdine_lab.claims.claim import Claim, Finding, Instead

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Ends: TypeAlias = "tuple[float, float]"
CALM = 10**4
"""An epsilon at which noise decides nothing."""
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Listing:
    """The report's listing, with its three lines that are wrong left open.

    Parameters
    ----------
    offset
        From a to what is added to the edges in the queries and to the answers.
    searched
        From the decile's number and its queries to all that AboveThreshold goes through.
    answer
        From the index that AboveThreshold returns (from 0, or -1 for none) and the number of
        cells to the number of the edge that is the answer.
    """

    offset: Callable[[float], float]
    searched: Callable[[int, NDArray[np.int64]], NDArray[np.int64]]
    answer: Callable[[int, int], int]

    def law(
        self, x: NDArray[np.float64], decile: int, ends: Ends, epsilon: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the answers for a decile and their exact probabilities."""
        steps, each = histogram_steps(len(x)), Fraction(epsilon, 9)
        width = (ends[1] - ends[0]) / steps
        edges = self.offset(ends[0]) + np.arange(1, steps + 1) * width
        below = np.array([(x < edge - TOLERANCE).sum() for edge in edges])
        heights = self.searched(decile, 10 * below - decile * len(x))
        law = first_above_law(heights, 20 / each, 40 / each)
        named = [*range(len(heights)), -1]
        answers = [self.offset(ends[0]) + self.answer(i, steps) * width for i in named]
        return np.array(answers), law.pmf(np.arange(len(named)))


PRINTED = Listing(
    offset=lambda a: 0.0,  # noqa: ARG005
    searched=lambda d, fresh: np.tile(fresh, d),
    answer=lambda i, steps: i,  # noqa: ARG005
)
CORRECT = Listing(
    offset=lambda a: a,
    searched=lambda d, fresh: fresh,  # noqa: ARG005
    answer=lambda i, steps: steps if i < 0 else i + 1,
)
NONE_IS_MINUS_ONE = replace(CORRECT, answer=lambda i, steps: i if i < 0 else i + 1)  # noqa: ARG005
LEFT_EDGE = replace(CORRECT, answer=lambda i, steps: steps if i < 0 else i)


def _data(ends: Ends) -> NDArray[np.float64]:
    return ends[0] + (ends[1] - ends[0]) * (np.arange(50) + 0.5) / 50


def finds_deciles(listing: Listing) -> Finding:
    """Run it on [10, 20] without noise: every answer within a cell above its decile."""
    ends, x = (10.0, 20.0), _data((10.0, 20.0))
    width = 10 / histogram_steps(len(x))
    away = []
    for d in range(1, 10):
        answers, chance = listing.law(x, d, ends, CALM)
        away.append(float(answers[chance.argmax()] - x[5 * d - 1]))
    worst = max(away, key=lambda gap: abs(gap - width / 2))
    words = f"without noise an answer is {worst:+.2f} from its decile, a cell is {width:.2f}"
    return Finding(-TOLERANCE < worst <= width + TOLERANCE, worst, 0.0, words)


def stays_inside(listing: Listing) -> Finding:
    """Find how often an answer lies outside of [a, b], by the exact law at epsilon = 1."""
    ends, x = (0.0, 1.0), _data((0.0, 1.0))
    outside = []
    for d in (1, 5, 9):
        answers, chance = listing.law(x, d, ends, 1)
        beyond = (answers < ends[0] - TOLERANCE) | (answers > ends[1] + TOLERANCE)
        outside.append(float(chance[beyond].sum()))
    worst = max(outside)
    words = f"an answer lies outside of [a, b] with probability {worst:.3g} (n = 50, ε = 1)"
    return Finding(worst <= TOLERANCE, worst, 0.0, words)


def passes_the_decile(listing: Listing) -> Finding:
    """Without noise at least the wanted number of values lies below the answer."""
    ends, x = (0.0, 1.0), _data((0.0, 1.0))
    short = []
    for d in range(1, 10):
        answers, chance = listing.law(x, d, ends, CALM)
        short.append(5 * d - int((x < answers[chance.argmax()]).sum()))
    words = f"without noise the count below an answer falls short by up to {max(short)} of 50"
    return Finding(max(short) <= 0, max(short), 0.0, words)


def hides_the_count(steps: Callable[[int], int]) -> Finding:
    """Find how likely an answer is that a neighbour, with one record more, cannot give."""
    alone = []
    for n in range(20, 36):
        mine, other = ({Fraction(i, steps(m)) for i in range(1, steps(m) + 1)} for m in (n, n + 1))
        heights = 10 * (np.arange(1, steps(n) + 1) * n // steps(n)) - 5 * n
        law = first_above_law(heights, Fraction(180), Fraction(360)).pmf(np.arange(steps(n)))
        given = [Fraction(i, steps(n)) for i in range(1, steps(n) + 1)]
        alone.append(sum(p for p, y in zip(law, given, strict=True) if y in mine - other))
    words = f"one record more rules out answers of probability {max(alone):.3f}, allowed 0"
    return Finding(max(alone) == 0, float(max(alone)), 0.0, words)


def composed(share: Callable[[int], Fraction]) -> Finding:
    """Add up the exact losses of a search for each quartile.

    Over all substitutions of one of 4 values, and where it tells most: of 400 values in the first
    of ten cells one moves into the last, which is named though all cells before are past.
    """
    each = share(3)
    worst = _telling(each)
    sets = list(combinations_with_replacement(range(4), 4))
    laws: dict[tuple[int, ...], NDArray[np.float64]]
    laws = {x: _quartile_laws(x, each) for x in sets}
    for x, i, v in product(sets, range(4), range(4)):
        y = tuple(sorted((*x[:i], v, *x[i + 1 :])))
        worst = max(worst, float(np.subtract(laws[x], laws[y]).max(axis=1).sum()))
    words = f"exact worst loss of three quartiles {worst:.3f} at {each} of ε each, claimed 1"
    return Finding(worst <= 1 + TOLERANCE, worst, 0.0, words)


def _quartile_laws(x: tuple[int, ...], each: Fraction) -> NDArray[np.float64]:
    return _searches(np.array([sum(v <= cell for v in x) for cell in range(4)]), 1, each)


def _searches(below: NDArray[np.int64], quarter: int, each: Fraction) -> NDArray[np.float64]:
    """Return the log probabilities of the three searches through the counts below the edges."""
    laws = [first_above_law(below - j * quarter, 2 / each, 4 / each) for j in (1, 2, 3)]
    return np.array([law.log_pmf(np.arange(len(below) + 1)) for law in laws])


def _telling(each: Fraction) -> float:
    here, there = np.array([399] * 9 + [400]), np.array([400] * 10)
    apart = _searches(here, 100, each) - _searches(there, 100, each)
    return float(apart.max(axis=1).sum())


def cost(form: Callable[[int], float]) -> Finding:
    """Count the comparisons of the listing on evenly spread data, without noise."""
    few, many = 200, 20_000
    ratio = _comparisons(many) / _comparisons(few)
    claimed = form(many) / form(few)
    words = f"{many // few} times the data cost {ratio:.0f} times as much, claimed {claimed:.0f}"
    return Finding(abs(ratio / claimed - 1) < 0.02, ratio, 0.0, words)


def _comparisons(n: int) -> int:
    """Return n for each query until the first above, over the nine deciles."""
    steps = histogram_steps(n)
    below = np.arange(1, steps + 1) * n // steps
    return sum(n * (int(np.argmax(10 * below > d * n)) + 1) for d in range(1, 10))


CLAIMS = (
    Claim(
        id="C4",
        statement="HistogramMethod, as listed, returns the deciles of data in [a, b]",
        printed=PRINTED,
        instead=CORRECT,
        other=Instead.CORRECTION,
        check=finds_deciles,
        quote="result.push_back(AboveThreshold(database, queries, T, epsilon)*(b-a)/steps)",
    ),
    Claim(
        id="C4b",
        statement="Its queries count the elements below i(b - a)/steps (a is missing, though "
        "[a, b] is what is cut)",
        printed=replace(CORRECT, offset=PRINTED.offset),
        instead=CORRECT,
        other=Instead.MEANT,
        check=finds_deciles,
        quote="card({element in x | element < i*(b-a)/steps})",
    ),
    Claim(
        id="C4c",
        statement="It pushes each decile's queries after those before (never emptied, though an "
        "answer is to be the index of an edge)",
        printed=replace(CORRECT, searched=PRINTED.searched),
        instead=CORRECT,
        other=Instead.MEANT,
        check=stays_inside,
        quote="queries.push_back(fi);",
    ),
    Claim(
        id="C4d",
        statement="It multiplies -1, for none, by the width of a cell",
        printed=NONE_IS_MINUS_ONE,
        instead=CORRECT,
        other=Instead.CORRECTION,
        check=stays_inside,
        quote="return -1; ... AboveThreshold(database, queries, T, epsilon)*(b-a)/steps",
    ),
    Claim(
        id="C4e",
        statement="It multiplies the index, from 0, by the width: the first value past the decile",
        printed=LEFT_EDGE,
        instead=CORRECT,
        other=Instead.CORRECTION,
        check=passes_the_decile,
        quote="l'entier renvoyé par Abovethreshold est l'indice de la première valeur à dépasser "
        "ce décile",
    ),
    Claim(
        id="C4f",
        statement="Observed: under add/remove, which is not the report's relation, 1.5 n/ln n "
        "cells reveal n (with n public, as in the report, they do not)",
        printed=histogram_steps,
        instead=lambda n: 20,  # noqa: ARG005
        other=Instead.CORRECTION,
        check=hides_the_count,
        quote="steps = 1.5*n/log(n)",
        ours=True,
    ),
    Claim(
        id="C4g",
        statement="HistogramMethod is ε-private, each search having its share (3.2.0.1; counts "
        "move in one direction, so it spends 3/4) [rival: half as much again for each]",
        printed=lambda m: Fraction(1, m),
        instead=lambda m: Fraction(3, 2 * m),
        other=Instead.RIVAL,
        check=composed,
    ),
    Claim(
        id="C4h",
        statement="The listing costs O(n²/ln n) (section 3.3) [rival: n²]",
        printed=lambda n: n**2 / log(n),
        instead=lambda n: n**2,
        other=Instead.RIVAL,
        check=cost,
    ),
)
