"""Facts that a query server volunteers before the first question, and the code that prices them."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import ceil, comb, erfc, log, log2, prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.query_server.evidence import Words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.adaptive.queries import Values
    from sourdine.adaptive.query_server.evidence import Cells, Universe
    from sourdine.adaptive.query_server.guesses import Weights


# ---- What may be told unasked: a public dictionary, and a code of its facts ----------------------
#
# The ledger's theorem does not ask why something was told: before a query whose transcript has
# :math:`L` bits, whatever they say, one of at most :math:`2^L` queries could have been asked. So a
# server may spend bits on facts that it chooses itself *by looking at the sample*, provided that
# which facts, their values and that there are no more of them are all charged in one code.
#
# A fact is one of
#
# * the *shares* of a column's categories, in whole units;
# * the share of the rows in a *set* of a column's categories, or in a set of each of two columns;
# * for codes of one column: the *cells* that the hypothesis misses most, and the mass of each.
#
# *Code*. Before each fact stands its kind, or that there is none, charged by how often it came
# before: :math:`1 + c` of :math:`5 + t` after :math:`c` of :math:`t` facts. Given the past those
# chances sum to one. So do at most those of what follows: the place in a public list of known
# length, a sum and a composition of it, and a whole number :math:`\pm k` of
# :math:`j + 1` digits, :math:`2^{-(2j + 2)}`. Products of chances that each sum to at most one
# given what precedes do so too: Kraft's inequality. *Checked by* ``test_facts_are_a_code``.
#
# The hypothesis after the facts is computed from what was told alone (`Disclosed`), and so is
# everything that follows. *Checked by* ``test_the_hypothesis_is_a_function_of_the_facts``.
#
# *Surprises.* The facts are kept only if the sample's divergence from the new hypothesis is at most
# what it could have been from the first; so the bound on surprises stands as it was.


KINDS = ("none", "shares", "set", "two sets", "cells")
SHARED = 32
"""The most categories of a column whose shares are given as one fact."""
SUBSETS = 8
"""The most categories of which every set is a fact; of more, the first ones or single ones."""
MOST_FACTS, MOST_MASSES = 64, 40
SWEEPS, FLOOR = 6, 1e-18
ENOUGH = 0.85
"""A gap of this share of the threshold is worth a fact."""
PACE = 0.1
"""How far into its cell a surprise moves a hypothesis that facts have made nearly right."""
RATIO, LEAST = 1.3, 1e-4
"""Masses of cells are told as powers of the ratio, and none is below the least."""
QUERIES, COST = 10_000, 5.5
"""How many questions are expected of codes, and half the bits of a surprise."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something told unasked: a kind, what it cost, and the fact in words.

    Its places are sets of its columns' dictionaries, or cells; its value is in units: shares, steps
    from the hypothesis, or powers of the ratio.
    """

    kind: str
    columns: tuple[int, ...]
    places: tuple[int, ...]
    value: tuple[int, ...]
    bits: float
    text: str

    def __str__(self) -> str:
        return f"{self.text} ({self.bits:.1f} bits)"


def sets_of(values: NDArray[np.generic], *, words: bool) -> NDArray[np.float64]:
    """Return the sets of a column's categories that are in the dictionary, a line for each.

    All of them but complements where there are few categories; single ones of many words, and of
    many numbers or dates the first ones in their order.
    """
    size = len(values)
    if size <= SUBSETS:
        numbers = np.arange(1, 1 << (size - 1))
        inside = (numbers[:, None] >> np.arange(size)) & 1
        return inside.astype(np.float64)
    if words:
        return np.eye(size)
    first = np.tri(size - 1, size)
    lines = np.empty_like(first)
    lines[:, np.argsort(values, kind="stable")] = first
    return lines


# ---- What the facts make of the hypothesis, from the facts alone ---------------------------------


class Disclosed:
    """A hypothesis, and the facts that it agrees with.

    The ``law`` is public, at first the hypothesis before any fact; shares are told in units of two
    thirds of the threshold, the rest in halves.
    """

    def __init__(self, universe: Universe, law: Values, threshold: float) -> None:
        self.law, self.threshold = law, threshold
        self.step, self.units = threshold / 2, ceil(1.5 / threshold)
        self.names = list(universe.categories)
        self.labels = [each.values for each in universe.categories.values()]
        self.sizes = [len(values) for values in self.labels]
        self._words = [isinstance(each, Words) for each in universe.categories.values()]
        self.codes = np.unravel_index(np.arange(len(law)), self.sizes)
        self._sets: dict[int, NDArray[np.float64]] = {}
        self.shares: dict[int, Values] = {}
        self.shown: list[tuple[NDArray[np.bool_], float]] = []
        self.counts = dict.fromkeys(KINDS, 0)

    @property
    def by_cells(self) -> bool:
        """Whether single cells are told: of codes there are no columns to tell about."""
        return len(self.sizes) == 1 and self.sizes[0] > SHARED

    @property
    def next_shares(self) -> int | None:
        """The column whose shares may be told next, in their order."""
        small = (c for c, size in enumerate(self.sizes) if 1 < size <= SHARED)
        return next((c for c in small if c not in self.shares), None)

    def sets(self, column: int) -> NDArray[np.float64]:
        """Return the sets of a column that are in the dictionary."""
        if column not in self._sets:
            self._sets[column] = sets_of(self.labels[column], words=self._words[column])
        return self._sets[column]

    def table(self, law: Values, columns: Sequence[int]) -> NDArray[np.float64]:
        """Return the sums of a law over all other columns."""
        sizes = [self.sizes[c] for c in columns]
        code = np.ravel_multi_index([self.codes[c] for c in columns], sizes)
        return np.asarray(np.bincount(code, law, prod(sizes)).reshape(sizes), np.float64)

    def dictionary(self) -> Iterator[tuple[int, ...]]:
        """Yield the columns that sets are told of: each large one, and all pairs."""
        many = range(len(self.sizes))
        yield from ((c,) for c in many if self.sizes[c] > SHARED)
        yield from combinations([c for c in many if self.sizes[c] > 1], 2)

    def fact(
        self, kind: str, columns: tuple[int, ...], places: Sequence[int], value: Sequence[int]
    ) -> Fact:
        """Return a fact with its bits and its words."""
        bare = Fact(kind, columns, tuple(places), tuple(value), 0.0, "")
        return replace(bare, bits=_bits(self.levels(bare)), text=self._in_words(bare))

    def levels(self, fact: Fact | None) -> Fraction:
        """Return one over the chance of a fact in the code, or of no more facts."""
        kind = "none" if fact is None else fact.kind
        before = Fraction(len(KINDS) + sum(self.counts.values()), 1 + self.counts[kind])
        if fact is None:
            return before
        if kind == "shares":
            size, total = len(fact.value), sum(fact.value)
            return before * (size + 1) * comb(total + size - 1, size - 1)
        if kind == "cells":
            return before * self.cells_levels(len(fact.places))
        lists = sum(len(each) == len(fact.columns) for each in self.dictionary())
        places = prod(len(self.sets(c)) for c in fact.columns)
        steps = 1 << (2 * abs(fact.value[0]).bit_length())  # 4, 16, 16, 64 for 1, 2, 3, 4
        return before * lists * places * steps

    def cells_levels(self, many: int) -> Fraction:
        """Return the number of levels that a number of cells can have together."""
        digits = 2 ** (2 * (many + 1).bit_length() - 1)
        masses = ceil(-log(LEAST) / log(RATIO)) + 1
        return Fraction(digits * comb(len(self.law), many) * masses**many)

    def copy(self) -> Disclosed:
        """Return what is believed, to be taken further."""
        told = copy(self)
        told.counts, told.shares, told.shown = dict(self.counts), dict(self.shares), [*self.shown]
        return told

    def tell(self, fact: Fact) -> None:
        """Take a fact into the hypothesis."""
        self.counts[fact.kind] += 1
        if fact.kind == "cells":
            self._tell_cells(fact)
            return
        if fact.kind == "shares":
            shares = np.maximum(fact.value, 0.25)
            self.shares[fact.columns[0]] = shares / shares.sum()
        else:
            inside = self.query(fact.columns, fact.places)
            value = float(self.law[inside].sum()) + fact.value[0] * self.step
            self.shown.append((inside, min(max(value, self.step / 4), 1 - self.step / 4)))
        for _ in range(SWEEPS):
            for inside, value in self.shown:
                share, rest = float(self.law[inside].sum()), float(self.law[~inside].sum())
                self._scale(np.where(inside, value / share, (1 - value) / rest))
            for column, shares in self.shares.items():
                self._scale((shares / self.table(self.law, (column,)))[self.codes[column]])
        self.law = self.law / self.law.sum()

    def _scale(self, factors: Values) -> None:
        """Multiply the law; facts that contradict each other take no cell to 0."""
        self.law = np.maximum(self.law * factors, FLOOR)

    def query(self, columns: Sequence[int], places: Sequence[int]) -> NDArray[np.bool_]:
        """Return which cells a fact about sets is about."""
        inside = np.ones(len(self.law), np.bool_)
        for column, place in zip(columns, places, strict=True):
            inside &= self.sets(column)[place][self.codes[column]] > 0
        return inside

    def _in_words(self, fact: Fact) -> str:
        name = self.names[fact.columns[0]] or "code"
        if fact.kind == "shares":
            return f"{name}: {', '.join(map(str, fact.value))} of {self.units}"
        if fact.kind == "cells":
            masses = (f"{x}: {RATIO**-k:.3g}" for x, k in zip(fact.places, fact.value, strict=True))
            return f"{name}: {', '.join(masses)}"
        parts = []
        for column, place in zip(fact.columns, fact.places, strict=True):
            inside = self.labels[column][self.sets(column)[place] > 0].tolist()
            if len(inside) > SUBSETS:
                inside = [*inside[:2], "...", inside[-1]]
            listed = ", ".join(map(str, inside))
            parts.append(f"{self.names[column] or 'code'} in ({listed})")
        share = float(self.law[self.query(fact.columns, fact.places)].sum())
        return f"{' and '.join(parts)}: {min(max(share + fact.value[0] * self.step, 0), 1):.3f}"

    def _tell_cells(self, fact: Fact) -> None:
        cells = np.array(fact.places)
        mass = RATIO ** -np.array(fact.value, np.float64)
        rest = np.ones(len(self.law), np.bool_)
        rest[cells] = False
        left = max(1 - float(mass.sum()), 1e-3)
        self.law = self.law * (left / float(self.law[rest].sum()))
        self.law[cells] = mass
        self.law = self.law / self.law.sum()


# ---- Which facts to tell: those that the hypothesis is furthest from -----------------------------
#
# Any rule will do, since all that it decides is charged. This one tells shares first, and then the
# fact of the dictionary with the largest gap, while that gap is above 85% of the threshold. So
# afterwards no query of the dictionary surprises, unless the bits were used up. Of codes, it tells
# as many cells as a forecast of surprises by queries of random halves is worth.


def volunteer(
    evidence: Cells,
    hypothesis: Weights,
    threshold: float,
    most: float,
    charge: Callable[[Fraction, Fraction | None], bool],
) -> list[Fact]:
    """Tell facts, charge them and return them; the hypothesis is moved to agree with them.

    All of them, and the word that there are no more, cost ``most`` bits at most. ``charge`` charges
    one over a chance, if there is room for it and for its second argument, and returns whether
    there was; None charges in any case. So the word that there are no more facts is always paid:
    room for it is kept.
    """
    there, facts, spent = evidence.counts > 0, list[Fact](), 0.0
    seen = evidence.law[there]
    told = Disclosed(evidence.universe, hypothesis.law, threshold)
    if _bits(told.levels(None)) > most or not charge(Fraction(1), told.levels(None)):
        return []  # as anybody can compute: nothing is told
    while len(facts) < MOST_FACTS and (fact := _best(told, evidence)) is not None:
        levels = told.levels(fact)
        after = told.copy()
        after.tell(fact)
        fits = spent + fact.bits + _bits(after.levels(None)) <= most
        if not fits or seen @ (np.log(seen) - np.log(after.law[there])) > hypothesis.stock:
            break
        if not charge(levels, after.levels(None)):
            break
        told, spent = after, spent + fact.bits
        facts.append(fact)
    charge(told.levels(None), None)
    hypothesis.take(told.law)
    return facts


def _best(told: Disclosed, evidence: Cells) -> Fact | None:
    """Return the fact to tell next; None for no more."""
    if (column := told.next_shares) is not None:
        counts = told.table(evidence.counts.astype(np.float64), (column,)).astype(np.int64)
        shares = (2 * counts * told.units + evidence.n) // (2 * evidence.n)
        return told.fact("shares", (column,), (), shares.tolist())
    if told.by_cells:
        cells = _cells(told, evidence) if not told.counts["cells"] else np.empty(0, np.int64)
        mass = np.maximum(evidence.law[cells], LEAST)
        powers = np.rint(-np.log(mass) / log(RATIO)).astype(np.int64)
        return told.fact("cells", (0,), cells.tolist(), powers.tolist()) if len(cells) else None
    off, best, found = evidence.law - told.law, ENOUGH * told.threshold, None
    for columns in told.dictionary():
        gaps = told.sets(columns[0]) @ told.table(off, columns)
        gaps = gaps @ told.sets(columns[1]).T if len(columns) == 2 else gaps
        largest = np.unravel_index(int(np.abs(gaps).argmax()), gaps.shape)
        if abs(gaps[largest]) > best:
            best, steps = abs(gaps[largest]), round(float(gaps[largest]) / told.step)
            found = ("set" if len(columns) == 1 else "two sets", columns, largest, steps)
    if found is None:
        return None
    kind, columns, places, steps = found
    return told.fact(kind, columns, tuple(map(int, places)), [steps])


def _cells(told: Disclosed, evidence: Cells) -> NDArray[np.int64]:
    """Return the cells that are worth their bits, in increasing order."""
    off = evidence.law - told.law
    order = np.argsort(-np.abs(off), kind="stable")
    order = order[: min(MOST_MASSES, len(order) - 1)]  # one cell at least has the rest of the mass
    rest = np.maximum((off**2).sum() - np.cumsum([0.0, *(off[order] ** 2)]), 1e-12)
    z = told.threshold / (np.sqrt(rest) / 2)
    surprises = np.minimum([QUERIES * erfc(x / sqrt(2)) for x in z], 300.0)
    cost = [_bits(told.cells_levels(m)) for m in range(len(rest))]
    return np.sort(order[: int(np.argmin(cost + COST * surprises))])


def _bits(levels: Fraction) -> float:
    return log2(levels.numerator) - log2(levels.denominator)
