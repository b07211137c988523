"""Bounds found privately, for one column or several."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, frexp, inf, ldexp, nextafter
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.finding.search import Centre, Ordered, OutwardSearch
from sourdine.central.finding.two_stage import TwoStage, spent
from sourdine.central.groups import ByGroup
from sourdine.central.parameters import EXAMPLES, rounded
from sourdine.central.quantiles.points import Reader
from sourdine.errors import ParameterError
from sourdine.frames.cells import HIGHEST, Edges, Octaves, Ticks
from sourdine.frames.memory import DATES
from sourdine.grid import Grid
from sourdine.mechanisms import Laplace
from sourdine.mechanisms.mechanism import Specimen, register
from sourdine.parameters import converters
from sourdine.parameters.question import plain_parameter
from sourdine.privacy import Guarantee, Part
from sourdine.privacy.accounting.parts import of_any_shift, of_promise
from sourdine.results.tables import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.central.regression import OfColumns
    from sourdine.central.statistic import Statistic
    from sourdine.central.table import Table
    from sourdine.errors import PythonWording
    from sourdine.frames.frame import Frame
    from sourdine.noise.source import Floats, Ints
    from sourdine.results.release import Release

    Span = tuple[Fraction, Fraction]


# ---- Which bounds a search may name: public numbers outward from a centre, and the cells between -
#
# From the centre m the candidates are m itself and :math:`m \pm h \cdot 1, \tfrac32, 2, 3, 4, 6, 8,
# \ldots`, two in each octave, up to the ends of the lattice; h is the lattice's spacing at m.


MOST_CELLS = 1 << 21
"""The most steps between found bounds: a declared step is doubled until then."""
UP, DOWN = 1, -1


@dataclass(frozen=True)
class Candidates:
    """The candidates of each side that is searched, outward from a centre.

    The centre is a signed number on the lattice, or None to start from the end that is declared:
    ``lower`` or ``upper``, None where there is none.

    Examples
    --------
    >>> whole = Candidates(Octaves(step=1), 0, None, Fraction(10))
    >>> [float(u) for u in whole.sides[UP]], len(whole.sides[DOWN])
    ([0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0], 130)
    >>> [float(end) for end in whole.published((4, 0), (6, 0))]  # a quarter of the way from 3 to 4
    [0.0, 3.25]
    """

    lattice: Octaves
    centre: int | None
    lower: Fraction | None
    upper: Fraction | None

    @cached_property
    def start(self) -> Fraction:
        if self.centre is not None:
            return Fraction(self.lattice.point(self.centre))
        declared = self.lower if self.upper is None else self.upper
        assert declared is not None  # noqa: S101 - one end is declared where there is no centre
        return declared

    @cached_property
    def spacing(self) -> Fraction:
        """How far the first candidate is from the start."""
        return self.lattice.spacing(self.lattice.number(float(self.start)))

    @cached_property
    def sides(self) -> dict[int, Floats]:
        """The candidates of each side that is searched, upward first; the first is the start."""
        ends = {UP: self.upper, DOWN: self.lower}
        searched = [side for side in ends if self.centre is not None or ends[side] is None]
        return {side: self._outward(side, ends[side]) for side in searched}

    def _outward(self, side: int, end: Fraction | None) -> Floats:
        start, spacing = float(self.start), float(self.spacing)
        last = side * ldexp(1.0, HIGHEST) if end is None else float(end)
        width = side * (last - start)
        if width <= 0:
            return np.array([start])
        octaves = np.arange(max(frexp(width / spacing)[1], 0) + 1)
        offsets = np.outer(np.ldexp(spacing, octaves), (1.0, 1.5)).ravel()
        candidates = start + side * offsets
        return np.array([start, *candidates[side * candidates < side * last], last])

    @cached_property
    def edges(self) -> Floats:
        """The inner edges of the cells, rising: values at or beyond one have passed a candidate."""
        none, small = np.empty(0), ldexp(1.0, self.lattice.lowest)
        up, down = np.nextafter(self.sides.get(UP, none), inf), self.sides.get(DOWN, none)[::-1]
        if self.start == 0:  # what is smaller than all octaves is 0
            if UP in self.sides and (self.sides[UP][1:] >= small).all():
                up[0] = small
            if DOWN in self.sides and (self.sides[DOWN][1:] <= -small).all():
                down = np.append(down[:-1], nextafter(-small, inf))
        return np.concatenate((down, up))

    def cell(self, column: str | None) -> Edges:
        inner = [Fraction(edge) for edge in self.edges.tolist()]
        return Edges(column, [floor(inner[0]) - 1, *inner, ceil(inner[-1]) + 1])

    def outward(self, counts: Ints) -> Ints:
        """Return counts of the cells as a search takes them: side after side, outward."""
        below = len(self.sides.get(DOWN, ()))
        parts = {UP: counts[below + 1 :], DOWN: counts[:below][::-1]}
        return np.concatenate([parts[side] for side in self.sides])

    def published(self, named: tuple[int, ...], inward: tuple[int, ...]) -> Span:
        """Return the bounds: the next candidates further out, less some eighths of the way to them.

        A bound is the start where nothing is beyond it.
        """
        ends = {UP: self.start, DOWN: self.start}
        for (side, listed), i, eighths in zip(self.sides.items(), named, inward, strict=True):
            if i:
                last = len(listed) - 1
                here, out = (Fraction(float(listed[min(k, last)])) for k in (i, i + 1))
                ends[side] = out - (out - here) * eighths / 8
        return ends[DOWN], ends[UP]

    def inside(self, outward: Ints, named: tuple[int, ...]) -> list[int]:
        """Return how many records lie in the octave before each candidate that was named."""
        ends = np.cumsum([len(listed) for listed in self.sides.values()])
        cells = np.split(outward, ends[:-1])
        return [int(own[max(i - 2, 0) : i].sum()) for own, i in zip(cells, named, strict=True)]


def settled_bounds(
    bounds: Span, step: Fraction | None, spacing: Fraction
) -> tuple[Span, Fraction | None]:
    """Return bounds on multiples of a lattice's step, outward, and the step.

    Bounds that are one number get a width; a declared step is doubled while it leaves more than
    `MOST_CELLS` points.

    Examples
    --------
    >>> settled_bounds((Fraction(1, 3), Fraction(5)), Fraction(2), Fraction(1))
    ((Fraction(0, 1), Fraction(6, 1)), Fraction(2, 1))
    >>> low, high = settled_bounds((Fraction(3), Fraction(3)), None, Fraction(1, 4))[0]
    >>> float(low), float(high)
    (3.0, 3.25)
    """
    low, high = bounds
    if low == high:
        high = low + (spacing if step is None else step)
    unit = Grid(low, high).step if step is None else step
    while step is not None and (high - low) / unit > MOST_CELLS:
        unit *= 2
    low, high = floor(low / unit) * unit, ceil(high / unit) * unit
    return (low, high), None if step is None else unit


# ---- Bounds that nobody knows, found privately ---------------------------------------------------
#
# count                 :math:`\varepsilon/50`, where the number of records is private and a centre
#                       may be worth while; :math:`\varepsilon/80` for a mean
# centre                :math:`64/\hat n` (`Centre`); from 640 records times epsilon on, below that
#                       the search starts at 0 and nothing is spent
# bounds                :math:`3\varepsilon/10` (`OutwardSearch`), outward from the centre; below
#                       100 records times epsilon :math:`3\varepsilon/5`
# edges                 :math:`3\varepsilon/400`, for a mean of at least 4000 records over epsilon:
#                       how many lie in the octave before each candidate that was named
# the statistic         the rest, :math:`0.58\varepsilon` to :math:`0.70\varepsilon`, or
#                       :math:`0.38\varepsilon` of few records
#
# A search stops where some :math:`20/\varepsilon` records are left (:math:`10/\varepsilon` at the
# larger share), so of few records it would cut off most. A bound is the next candidate further out,
# as clamping costs more than noise where a tail falls slowly; if many records lie just inside, it
# is nearer by up to seven eighths of the way. Under substitution 128, 1280, 200 and 8000 take the
# place of 64, 640, 100 and 4000. Sums start at 0 always, as their noise follows the larger bound,
# not the width; where one side is declared the search starts there. Adaptive composition adds the
# parts up to :math:`\varepsilon`: each is chosen from the answers before it.


COUNTING, SEARCHING = Fraction(1, 50), Fraction(3, 10)
ENOUGH, SPENT = 640, 64
"""The least records times epsilon for which a centre is found, and its cost times their number."""
FEW, MORE = 100, Fraction(3, 5)
"""For fewer records times epsilon the search takes more, or it would stop among the records."""
EDGES, MANY = Fraction(3, 400), 4000
"""The part for the edges, and the least records times epsilon for which it is spent."""
MANY_NEAR, NEAREST = Fraction(3, 2), 7
"""So many scales of noise are many records near an edge: they make a bound nearer by an eighth, and
each root of two times as many by one more, up to so many."""
LEAST = Fraction(1, 3)
"""The statistic has at least this part of epsilon."""
UNIT: Span = (Fraction(0), Fraction(1))


def nearer(count: int, scale: Fraction) -> int:
    """Return by how many eighths a bound is nearer, by the noisy count of records just inside.

    Examples
    --------
    >>> [nearer(count, Fraction(100)) for count in (-900, 149, 150, 213, 300, 10**6)]
    [0, 0, 1, 2, 3, 7]
    """
    ratio = max(count, 0) / (MANY_NEAR * scale)
    return min(int(ratio * ratio).bit_length(), NEAREST)


@dataclass(frozen=True, kw_only=True)
class BoundsFirst(TwoStage):
    """A statistic of numbers whose bounds are sought.

    Notes
    -----
    *Claim*: all parts together cost what the question says. *Checked by*
    ``test_whole_calls_hold_on_neighbours``. *Claim*: no data make it fail. *Checked by*
    ``test_nothing_in_the_data_raises``. *Claim*: where n times epsilon is at least 1000 the error
    of a mean, without the worst 5% of runs, is at most four times that of the best bounds in
    hindsight. *Checked by* ``benchmarks/found_bounds.py``.

    Examples
    --------
    >>> from sourdine.central import Mean
    >>> asked = Mean(bounds="find", epsilon=1).estimator
    >>> asked.shares(100_000)
    'count 0.0125, centre 0.00064, bounds 0.3, edges 0.0075, mean 0.67936'
    >>> release = Mean(bounds="find", epsilon=1).release([20, 30, 40] * 1000)
    >>> low, high = release.drawn["bounds"]
    >>> low <= 20 and 40 <= high < 200 and abs(release.value - 30) < 1
    True
    """

    shared: bool = False
    """Whether the bounds are for other statistics, too."""

    @cached_property
    def like(self) -> Statistic:
        """The statistic on the bounds 0 and 1, with what is left at least."""
        return self._on_unit(self.question.epsilon * LEAST)

    def _on_unit(self, epsilon: Fraction) -> Statistic:
        return self._settled(*settled_bounds(UNIT, self._step, Fraction(1)), epsilon)

    def check(self) -> None:
        converters.check_step(self._step, getattr(self.question, "bounds"))  # noqa: B009
        _ = self.like, self.search((1, 1)), self.extremes

    @cached_property
    def extremes(self) -> tuple[Statistic, Statistic]:
        """The statistic on bounds that leave the most points, and on the narrowest."""
        least, wide, narrow = self.question.epsilon * LEAST, self.like, self.like
        if hasattr(self.question, "step"):  # as many points as found bounds have at most
            most: Span = (Fraction(0), Fraction(MOST_CELLS + 2))
            wide = self._settled(most, Fraction(1), least)
        if not self.centred:  # the noise of a sum is finest beside bounds that are far from 0
            start = Candidates(self.lattice, None if self.one_sided else self._home, *self.ends)
            at_start = settled_bounds((start.start, start.start), self._step, start.spacing)
            narrow = self._settled(*at_start, least)
        return wide, narrow

    @property
    def _step(self) -> Fraction | None:
        return getattr(self.question, "step", None)

    @cached_property
    def ends(self) -> tuple[Fraction | None, Fraction | None]:
        return converters.ends(getattr(self.question, "bounds"))  # noqa: B009 - those that have some

    @cached_property
    def lattice(self) -> Octaves:
        return Octaves(*self.ends, self._step)

    @property
    def one_sided(self) -> bool:
        return (self.ends[0] is None) != (self.ends[1] is None)

    @property
    def centred(self) -> bool:
        return not self.one_sided and getattr(self.question, "centred", True)

    @property
    def edged(self) -> bool:
        """Whether records near the edges are worth a count: for one mean of all records."""
        question = self.question
        alone = question.kind == "mean" and question.by is None and not self.shared
        return alone and self.centred and getattr(question, "method", "") != "octaves"

    def edges(self, records: int | None) -> Laplace | None:
        """Return what counts near the edges, for about ``n`` records, if that is known.

        *Claim*: one record moves both counts together by one if it is added or removed, by two at
        most if it is replaced. *Checked by* ``test_a_record_moves_the_counts_near_the_edges``.
        """
        question, moved = self.question, self._moved()
        few = records is not None and records * question.epsilon < MANY * moved
        if few or not self.edged:
            return None
        epsilon, relation = question.epsilon * EDGES, question.relation
        return Laplace(epsilon=epsilon, sensitivity=moved, relation=relation)

    def searching(self, records: int | None) -> Fraction:
        """Return the epsilon of the search for about ``n`` records, if that is known."""
        epsilon = self.question.epsilon
        few = records is not None and records * epsilon < FEW * self._moved()
        return epsilon * (MORE if few else SEARCHING)

    def search(self, sides: tuple[int, ...], epsilon: Fraction | None = None) -> OutwardSearch:
        epsilon = self.searching(None) if epsilon is None else epsilon
        relation, rows = self.question.relation, self.question.rows
        return OutwardSearch(epsilon=epsilon, sides=sides, relation=relation, rows=rows)

    def _moved(self) -> int:
        """Return by how many ranks' halves a person moves a median, the records of one being 1."""
        return self.question.rows * (2 if self.question.substitutes else 1)

    def centring(self, records: int) -> Fraction:
        """Return the epsilon of the centre for about ``n`` records; 0 for none."""
        moved = self._moved()
        if records * self.question.epsilon < ENOUGH * moved:
            return Fraction(0)
        return rounded(Fraction(SPENT * moved, records))

    @property
    def parts(self) -> tuple[Part, ...]:
        """What the search loses, and the count, the centre and the answer on other bounds.

        What search and centre may spend follows from the count; then they and the answer are one
        promise.
        """
        question = self.question
        if self.centred and not self._known:
            counted = () if self._public else self._counting.parts
            left = question.epsilon - (0 if self._public else self._counting.epsilon)
            return (*counted, *of_promise(Guarantee(left, question.spare, question.relation)))
        search = self.search((1, 1), self.searching(question.n if self.centred else None))
        centring = self.centring(question.n or 1) if self.centred else Fraction(0)
        edges = self.edges(question.n)
        counted = () if edges is None else edges.parts
        settled = self._on_unit(question.epsilon - sum(self.costs(question.n).values()))
        centre = (Part.range(centring),) if centring else ()
        shaped = getattr(question, "shaped", False)
        answer = of_promise(settled.cost) if shaped else of_any_shift(settled.cost, settled.parts)
        return (*centre, *search.parts, *counted, *answer)

    @property
    def _known(self) -> bool:
        """Whether the number of records was typed."""
        return self.question.n is not None and self.question.by is None

    @property
    def _public(self) -> bool:
        """Whether the number of records is public, unless numbers are read from text."""
        return self.question.substitutes and self.question.alone

    @cached_property
    def _counting(self) -> Laplace:
        asked = self.question
        epsilon = asked.epsilon * (COUNTING - EDGES if self.edged else COUNTING)
        return Laplace(epsilon=epsilon, sensitivity=asked.rows, relation=asked.relation)

    def find(self, data: Frame) -> dict[str, Any]:
        drawn: dict[str, Any] = {"spent": {}}
        column = data.resolve(self.question.column)
        centre, records = None if self.one_sided else self._home, None
        ordered = Ordered.of_array(data.array(column), self.lattice)
        if self.centred:
            records = self.records(data, column, ordered, drawn)
            centre = self.centre(data, column, ordered, records, drawn)
        candidates = Candidates(self.lattice, centre, *self.ends)
        if ordered is None:
            counts = data.tally(candidates.cell(column)).counts[:-1]
        else:
            counts = ordered.between(candidates.edges)
        sides = tuple(len(side) for side in candidates.sides.values())
        search = self.search(sides, self.searching(records))
        drawn["spent"]["bounds"] = plain_parameter(search.epsilon)
        outward = candidates.outward(counts)
        named = tuple(map(int, search.release(outward, source=self.question.source).value))
        inward = self.inward(candidates.inside(outward, named), records, drawn)
        bounds = candidates.published(named, inward)
        (low, high), step = settled_bounds(bounds, self._step, candidates.spacing)
        drawn["centre"] = _exact(candidates.start)
        drawn["bounds"] = [_exact(low), _exact(high)]
        if step is not None:
            drawn["step"] = _exact(step)
        return drawn

    @property
    def _home(self) -> int:
        """The number of the lattice's point nearest to 0."""
        return min(max(0, self.lattice.first), self.lattice.first + self.lattice.last)

    def records(
        self, data: Frame, column: str, ordered: Ordered | None, drawn: dict[str, Any]
    ) -> int:
        """Return about how many records there are, from public knowledge or a noisy count."""
        question = self.question
        if question.n is not None and self._known:
            return question.n
        if self._public and not data.parsed:
            return len(data)
        n = data.moments(Ticks(column, Grid(0, 1)), 0)[0] if ordered is None else ordered.n
        drawn["count"] = counted = int(self._counting.release(n, source=question.source).value)
        drawn["spent"]["count"] = plain_parameter(self._counting.epsilon)
        return max(counted, 1)

    def centre(
        self, data: Frame, column: str, ordered: Ordered | None, records: int, drawn: dict[str, Any]
    ) -> int:
        """Return the number of a point near the median, or of the one nearest to 0."""
        epsilon = self.centring(records)
        if not epsilon:
            return self._home
        drawn["spent"]["centre"] = plain_parameter(epsilon)
        question = self.question
        centre = Centre(
            epsilon=epsilon, grid=self.lattice, relation=question.relation, rows=question.rows
        )
        points = Reader(data, column, self.lattice).points(None) if ordered is None else ordered
        return int(centre.release(points, source=question.source).value[0]) + self.lattice.first

    def inward(
        self, inside: list[int], records: int | None, drawn: dict[str, Any]
    ) -> tuple[int, ...]:
        """Return by how many eighths each bound is nearer, from noisy counts inside of it."""
        edges = self.edges(records)
        if edges is None:
            return (0,) * len(inside)
        drawn["spent"]["edges"] = plain_parameter(edges.epsilon)
        counted = edges.release(inside, source=self.question.source).value.tolist()
        drawn["edges"] = counted
        return tuple(nearer(count, edges.scale) for count in counted)

    def settled(self, drawn: Mapping[str, Any]) -> Statistic:
        low, high = (Fraction(x) for x in drawn["bounds"])
        step = Fraction(drawn["step"]) if "step" in drawn else None
        return self._settled((low, high), step, self.left(drawn))

    def _settled(self, bounds: Span, step: Fraction | None, epsilon: Fraction) -> Statistic:
        key = (bounds, step, epsilon)
        known = self._last.get(key)  # another thread may clear it at any time
        if known is None:
            stepped = {} if step is None else {"step": step}
            known = self.question.changed(bounds=bounds, epsilon=epsilon, **stepped)
            self._last.clear()
            self._last[key] = known
        return known

    @cached_property
    def _last(self) -> dict[tuple[Span, Fraction | None, Fraction], Statistic]:
        """The last settled question: a release is drawn and read with the same one."""
        return {}

    def found(self, drawn: Mapping[str, Any]) -> tuple[str, str]:
        low, high = (float(Fraction(x)) for x in drawn["bounds"])
        width = (high - low) / 100
        ends = f"{shown(low, width)} to {shown(high, width)}"
        centre = shown(float(Fraction(drawn["centre"])), width)
        few, where = self.outside(drawn), "it" if self.one_sided else "each of them"
        text = f"{ends}, found outward from {centre}; about {few} records may lie beyond {where}"
        return "bounds", text

    def outside(self, drawn: Mapping[str, Any]) -> int:
        """Return about how many records are left beyond a bound."""
        return self.search((1,) if self.one_sided else (1, 1), spent(drawn)["bounds"]).target

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        own, rest = getattr(self.like, "clipping", None), getattr(self._estimator, "caveats", ())
        return (*moved(self.like), *(text for text in rest if text != own))

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        """Say what to type of dates, where the count tells too few numbers from none."""
        count, enough = release.drawn.get("count"), self._counting.error(Fraction(1, 20))
        few = count is not None and count <= enough
        dates = words.typed("bounds", EXAMPLES[DATES])
        text = f"Few or no values could be read as numbers. For dates type {dates}."
        return (*([text] if few else ()), *super().remarks(release, words))

    def costs(self, n: int | None) -> dict[str, Fraction]:
        epsilon, parts = self.question.epsilon, {}
        if self.centred:
            public = self._known or self._public
            parts["count"] = Fraction(0) if public else self._counting.epsilon
            parts["centre"] = epsilon * SPENT / ENOUGH if n is None else self.centring(n)
        parts["bounds"] = self.searching(n if self.centred else None)
        parts["edges"] = Fraction(0) if (edges := self.edges(n)) is None else edges.epsilon
        return {name: part for name, part in parts.items() if part}

    def planned(self, beta: Fraction, n: int | None) -> float:
        """Return the error in units of the width, or what else the noise follows, that is found."""
        left = self.question.epsilon - sum(self.costs(n).values())
        return self.like.at(left).error(beta, n=n)


def moved(question: Statistic) -> tuple[str, ...]:
    """Return the caveats on bounds that are found."""
    text = (
        "Bounds were found privately. Values are clamped to them and rounded to the grid between "
        "them; intervals do not cover the resulting error."
    )
    said = {
        text: True,
        "The bounds are the same for all groups.": question.by,
        "Population intervals treat the bounds as if they had been fixed in advance.": (
            question.display.populations
        ),
    }
    return tuple(caveat for caveat, holds in said.items() if holds)


def _exact(x: Fraction) -> int | float | str:
    """Return a number as JSON knows it, exactly as a `Fraction` of it is."""
    if x.denominator == 1:
        return int(x)
    return float(x) if Fraction(float(x)) == x else str(x)


register(Specimen(
    name="mean.find.edges", make=lambda epsilon: Laplace(epsilon=epsilon, sensitivity=1),
    inputs=([0, 0], [3, 1]), tight=True, draws=20_000, also=("mean.find",),
))  # fmt: skip


# ---- Bounds of several columns, each found once and used by all that is asked of it --------------
#
# A column of a table of which k of m statistics are asked is searched as a mean with epsilon
# :math:`k/m` of the whole would be (`BoundsFirst`), or as a sum if one is asked; a column of a
# regression on d - 1 others as a mean with epsilon :math:`1/d` of the whole. Its search spends at
# most two thirds of that; all that is left is shared by the statistics of the table, or pays for
# the sums of products.


SHARED = "What is left of epsilon is shared so that the largest relative error is smallest."


@dataclass(frozen=True, kw_only=True)
class ColumnsFirst(TwoStage):
    """A table, or a statistic of several columns, the bounds of some of which are sought.

    Notes
    -----
    *Claim*: all parts together cost what the question says. *Checked by*
    ``test_whole_tables_hold_on_neighbours`` and
    ``test_whole_calls_with_found_bounds_hold_on_neighbours``. *Claim*: no data make it fail.
    *Checked by* ``test_nothing_in_the_data_makes_a_table_raise`` and
    ``test_nothing_in_the_data_raises_where_bounds_are_found``.

    Examples
    --------
    >>> from sourdine.central import Table
    >>> asked = Table(of={"age": ["mean"], "*": ["count"]}, bounds="find", epsilon=1)
    >>> asked.estimator.shares(100_000)
    'bounds of age 0.16064, table 0.83936'
    >>> release = asked.release({"age": [20, 30, 40] * 1000})
    >>> abs(release.value["mean of age"] - 30) < 2
    True
    """

    question: Table | OfColumns

    @cached_property
    def searches(self) -> dict[str, BoundsFirst]:
        asked = self.question
        searched = {column: asked.searching(column) for column in asked.searched}
        return {c: BoundsFirst(question=own, shared=True) for c, own in searched.items()}

    @cached_property
    def like(self) -> Table | OfColumns:
        """The question on bounds of width 1, with what is left at least."""
        return self._settled({c: first.like for c, first in self.searches.items()}, LEAST)

    def check(self) -> None:
        self.question.check_columns()
        for first in self.searches.values():
            try:
                first.check()
            except ParameterError as error:
                raise error.renamed(step="steps") from None
        _ = self.like
        for extremes in zip(*(first.extremes for first in self.searches.values()), strict=True):
            self._settled(dict(zip(self.searches, extremes, strict=True)), LEAST)

    @property
    def parts(self) -> tuple[Part, ...]:
        """One promise: what the answer may spend follows from what was found."""
        return of_promise(self.question.cost)

    def find(self, data: Frame) -> dict[str, Any]:
        found = {column: first.find(data) for column, first in self.searches.items()}
        parts = {f"bounds of {column}": _spent(own) for column, own in found.items()}
        return {"spent": {name: plain_parameter(x) for name, x in parts.items()}, "found": found}

    def left(self, drawn: Mapping[str, Any]) -> Fraction:
        return self.question.epsilon - sum(map(_spent, drawn["found"].values()))

    def settled(self, drawn: Mapping[str, Any]) -> Table | OfColumns:
        own = {c: first.settled(drawn["found"][c]) for c, first in self.searches.items()}
        return self._settled(own, self.left(drawn) / self.question.epsilon)

    def _settled(self, own: Mapping[str, Any], share: Fraction) -> Table | OfColumns:
        asked = self.question
        bounds = dict(asked.bounds) | {column: one.bounds for column, one in own.items()}
        stepped = {c: one.step for c, one in own.items() if c in dict(asked.steps)}
        steps = dict(asked.steps) | stepped
        return asked.changed(bounds=bounds, steps=steps, epsilon=asked.epsilon * share)

    def found(self, drawn: Mapping[str, Any]) -> tuple[str, str]:
        firsts = self.searches.items()
        each = (f"{column}: {first.found(drawn['found'][column])[1]}" for column, first in firsts)
        return "bounds", ". ".join(each)

    def findings(self, release: Release) -> list[tuple[str, str]]:
        """Return what was found and spent, by column and by statistic."""
        estimator: Any = self.part(release).mechanism
        part: Any = estimator.part if isinstance(estimator, ByGroup) else estimator
        own = [("shares", f"epsilon: {part.spending}")] if self._shared else []
        return [*super().findings(release), *own]

    @property
    def _shared(self) -> bool:
        """Whether several statistics share what is left."""
        return hasattr(type(self.question), "statistics")

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        shared = (SHARED,) if self._shared else ()
        return (*moved(self.like), *shared, *self.like.explained(set(self.searches)))

    def costs(self, n: int | None) -> dict[str, Fraction]:
        firsts = self.searches.items()
        return {f"bounds of {c}": sum(first.costs(n).values(), Fraction(0)) for c, first in firsts}

    def planned(self, beta: Fraction, n: int | None) -> float:
        left = self.question.epsilon - sum(self.costs(n).values())
        return self.like.at(left).error(beta, n=n)


def _spent(found: Mapping[str, Any]) -> Fraction:
    """Return what finding the bounds of one column has cost."""
    return sum(spent(found).values(), Fraction(0))
