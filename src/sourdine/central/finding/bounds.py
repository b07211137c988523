r"""Bounds that nobody knows, found privately.

====================  ==========================================================================
count                 :math:`\varepsilon/50`, where the number of records is private and a centre
                      may be worth while
centre                :math:`64/\hat n` (`Centre`); from 640 records times epsilon on, below that
                      the search starts at 0 and nothing is spent
bounds                :math:`3\varepsilon/10` (`OutwardSearch`), outward from the centre; below 100
                      records times epsilon :math:`3\varepsilon/5`
the statistic         the rest, :math:`0.58\varepsilon` to :math:`0.70\varepsilon`, or
                      :math:`0.38\varepsilon` of few records
====================  ==========================================================================

A search stops where some :math:`20/\varepsilon` records are left (:math:`10/\varepsilon` at the
larger share), so of few records it would cut off most. Under substitution 128, 1280 and 200 take
the place of 64, 640 and 100. Sums start at 0 always, as their noise
follows the larger bound, not the width; where one side is declared the search starts there.
Adaptive composition adds the parts up to :math:`\varepsilon`: each is chosen from the answers
before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from sourdine.central.column_types import EXAMPLES
from sourdine.central.finding.candidates import MOST_CELLS, Candidates
from sourdine.central.finding.candidates import settled as settled_bounds
from sourdine.central.finding.centre import Centre
from sourdine.central.finding.first import FoundFirst
from sourdine.central.finding.search import OutwardSearch
from sourdine.central.quantiles.order_statistics import Reader
from sourdine.central.target import rounded
from sourdine.exact import rational
from sourdine.grid import Grid
from sourdine.mechanisms import Laplace
from sourdine.presentation.numbers import shown
from sourdine.privacy import Guarantee, Part
from sourdine.privacy.accounting import of_any_shift, of_promise
from sourdine.privacy.printing import shown as epsilon_shown
from sourdine.question import sought
from sourdine.question.kinds import spelled
from sourdine.question.question import plain_parameter
from sourdine.tally import Ticks
from sourdine.tally.column import DATES
from sourdine.tally.octaves import Octaves

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.central.statistic import Statistic
    from sourdine.errors import PythonWording
    from sourdine.release import Release
    from sourdine.tally import Frame

    Span = tuple[Fraction, Fraction]

__all__ = ["BoundsFirst", "moved"]

COUNTING, SEARCHING = Fraction(1, 50), Fraction(3, 10)
ENOUGH, SPENT = 640, 64
"""From so many records times epsilon on a centre is found, for so much over their number."""
FEW, MORE = 100, Fraction(3, 5)
"""For fewer records times epsilon the search takes more, or it would stop among the records."""
LEAST = Fraction(1, 3)
"""The statistic has at least this part of epsilon."""
UNIT: Span = (Fraction(0), Fraction(1))


@dataclass(frozen=True, kw_only=True)
class BoundsFirst(FoundFirst):
    """A statistic of numbers whose bounds are sought.

    Notes
    -----
    *Claim*: all parts together cost what the question says. *Checked by*
    ``test_whole_calls_hold_on_neighbours``. *Claim*: no data make it fail. *Checked by*
    ``test_nothing_in_the_data_raises``. *Claim*: where n times epsilon is at least 1000 the error
    of a mean, without the worst 5 % of runs, is at most four times that of the best bounds in
    hindsight. *Checked by* ``benchmarks/found_bounds.py``.

    Examples
    --------
    >>> from sourdine.central import Mean
    >>> asked = Mean(bounds="find", epsilon=1).drawer
    >>> asked.shares(100_000)
    'count 0.02, centre 0.00064, bounds 0.3, mean 0.67936'
    >>> release = Mean(bounds="find", epsilon=1).release([20, 30, 40] * 1000)
    >>> low, high = release.drawn["bounds"]
    >>> low <= 20 and 40 <= high < 200 and abs(release.value - 30) < 1
    True
    """

    @property
    def what(self) -> str:
        """What is found."""
        return "bounds"

    @cached_property
    def like(self) -> Statistic:
        """The statistic on the bounds 0 and 1, with what is left at least."""
        return self._settled(
            *settled_bounds(UNIT, self._step, Fraction(1)), self.question.epsilon * LEAST
        )

    def check(self) -> None:
        """Refuse early whatever a settled question would refuse."""
        sought.check_step(self._step, getattr(self.question, "bounds"))  # noqa: B009
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
        """The ends that are declared."""
        return sought.ends(getattr(self.question, "bounds"))  # noqa: B009 - those that have some

    @cached_property
    def lattice(self) -> Octaves:
        """The public points."""
        return Octaves(*self.ends, self._step)

    @property
    def one_sided(self) -> bool:
        """Whether one end is declared and the other is not."""
        return (self.ends[0] is None) != (self.ends[1] is None)

    @property
    def centred(self) -> bool:
        """Whether a centre may be drawn."""
        return not self.one_sided and getattr(self.question, "centred", True)

    def searching(self, records: int | None) -> Fraction:
        """Return the epsilon of the search for about so many records, if that is known."""
        epsilon = self.question.epsilon
        few = records is not None and records * epsilon < FEW * self._moved()
        return epsilon * (MORE if few else SEARCHING)

    def search(self, sides: tuple[int, ...], epsilon: Fraction | None = None) -> OutwardSearch:
        """Return the search, for so many candidates on each side."""
        return OutwardSearch(
            epsilon=self.searching(None) if epsilon is None else epsilon,
            sides=sides,
            relation=self.question.relation,
            rows=self.question.rows,
        )

    def _moved(self) -> int:
        """Return by how many ranks' halves a person moves a median, the records of one being 1."""
        return self.question.rows * (2 if self.question.substitutes else 1)

    def centring(self, records: int) -> Fraction:
        """Return the epsilon of the centre for about so many records; 0 for none."""
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
        if self.centred and (question.n is None or question.by is not None):
            public = question.substitutes and question.alone
            counted = () if public else self._counting.parts
            left = question.epsilon - (0 if public else self._counting.epsilon)
            promise = Guarantee(left, question.spare, question.relation)
            return (*counted, *of_promise(promise))
        search = self.search((1, 1), self.searching(question.n if self.centred else None))
        left = question.epsilon - search.epsilon
        centring = self.centring(question.n or 1) if self.centred else Fraction(0)
        settled = self._settled(*settled_bounds(UNIT, self._step, Fraction(1)), left - centring)
        centre = (Part.range(centring),) if centring else ()
        shaped = getattr(question, "shaped", False)
        answer = of_promise(settled.cost) if shaped else of_any_shift(settled.cost, settled.parts)
        return (*centre, *search.parts, *answer)

    @cached_property
    def _counting(self) -> Laplace:
        question = self.question
        return Laplace(
            epsilon=question.epsilon * COUNTING,
            sensitivity=question.rows,
            relation=question.relation,
        )

    def find(self, data: Frame) -> dict[str, Any]:
        """Count, find the centre and search."""
        drawn: dict[str, Any] = {"spent": {}}
        column = data.resolve(self.question.column)
        centre, records = None if self.one_sided else self._home, None
        if self.centred:
            records = self._records(data, column, drawn)
            centre = self._centre(data, column, records, drawn)
        candidates = Candidates(self.lattice, centre, *self.ends)
        counts = data.tally(candidates.cell(column)).counts[:-1]
        sides = tuple(len(side) for side in candidates.sides.values())
        search = self.search(sides, self.searching(records))
        drawn["spent"]["bounds"] = plain_parameter(search.epsilon)
        named = search.release(candidates.outward(counts), source=self.question.source).value
        bounds = candidates.published(tuple(int(i) for i in named))
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

    def _records(self, data: Frame, column: str, drawn: dict[str, Any]) -> int:
        """Return about how many records there are, from public knowledge or a noisy count."""
        question = self.question
        if question.n is not None and question.by is None:
            return question.n
        if question.substitutes and question.alone and not data.parsed:
            return len(data)
        counting = self._counting
        (n,) = data.moments(Ticks(column, Grid(0, 1)), 0)
        counted = int(counting.release(n, source=question.source).value)
        drawn["count"] = counted
        drawn["spent"]["count"] = plain_parameter(counting.epsilon)
        return max(counted, 1)

    def _centre(self, data: Frame, column: str, records: int, drawn: dict[str, Any]) -> int:
        """Return the number of a point near the median, or of the one nearest to 0."""
        epsilon = self.centring(records)
        if not epsilon:
            return self._home
        drawn["spent"]["centre"] = plain_parameter(epsilon)
        question = self.question
        centre = Centre(
            epsilon=epsilon, grid=self.lattice, relation=question.relation, rows=question.rows
        )
        points = Reader(data, column, self.lattice).points(None)
        return int(centre.release(points, source=question.source).value[0]) + self.lattice.first

    def settled(self, drawn: Mapping[str, Any]) -> Statistic:
        """Return the statistic with the bounds found and the epsilon left."""
        low, high = (Fraction(x) for x in drawn["bounds"])
        step = Fraction(drawn["step"]) if "step" in drawn else None
        return self._settled((low, high), step, self.left(drawn))

    def _settled(self, bounds: Span, step: Fraction | None, epsilon: Fraction) -> Statistic:
        settled: dict[str, Any] = {"bounds": bounds, "epsilon": epsilon, "error": None}
        if step is not None:
            settled["step"] = step
        return attrs.evolve(self.question, **settled)

    def found(self, drawn: Mapping[str, Any]) -> tuple[str, str]:
        """Return the bounds and the centre."""
        low, high = (float(Fraction(x)) for x in drawn["bounds"])
        width = (high - low) / 100
        ends = f"{shown(low, width)} to {shown(high, width)}"
        centre = shown(float(Fraction(drawn["centre"])), width)
        return (
            "bounds",
            f"{ends}, found outward from {centre}; some {self.outside(drawn)} {self.beyond}",
        )

    def outside(self, drawn: Mapping[str, Any]) -> int:
        """Return about how many records are left beyond a bound."""
        epsilon = rational(spelled(drawn["spent"]["bounds"]), "epsilon")
        return self.search((1,) if self.one_sided else (1, 1), epsilon).target

    @property
    def beyond(self) -> str:
        """Where they may be."""
        return "records may lie beyond " + ("it" if self.one_sided else "each of them")

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know."""
        own = getattr(self.like, "clipping", None)
        return (*moved(self.like), *(text for text in self._caveats if text != own))

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        """Say what to type of dates, where the count tells too few numbers from none."""
        count, enough = release.drawn.get("count"), self._counting.error(Fraction(1, 20))
        few = count is not None and count <= enough
        dates = words.typed("bounds", EXAMPLES[DATES])
        text = f"Values were read as numbers too seldom to tell from never. Of dates type {dates}."
        return (*([text] if few else ()), *super().remarks(release, words))

    @property
    def _caveats(self) -> tuple[str, ...]:
        return tuple(getattr(self._drawer, "caveats", ()))

    def costs(self, n: int | None) -> dict[str, Fraction]:
        """Return what each part will cost; for a number of records that is not known, at most."""
        question = self.question
        known = question.n is not None and question.by is None
        public = known or (question.substitutes and question.alone)
        count = question.epsilon * COUNTING if self.centred and not public else Fraction(0)
        most = question.epsilon * SPENT / ENOUGH
        centre = most if n is None else self.centring(n)
        bounds = self.searching(n if self.centred else None)
        parts = {"count": count, "centre": centre if self.centred else 0, "bounds": bounds}
        return {name: Fraction(part) for name, part in parts.items() if part}

    def shares(self, n: int | None) -> str:
        """Return what each part will cost."""
        parts = self.costs(n)
        left = {self.question.kind: self.question.epsilon - sum(parts.values())}
        return ", ".join(f"{name} {epsilon_shown(x)}" for name, x in {**parts, **left}.items())

    def planned(self, beta: Fraction, n: int | None) -> float:
        """Return the error in units of the width, or what else the noise follows, that is found."""
        left = self.question.epsilon - sum(self.costs(n).values())
        return attrs.evolve(self.like, epsilon=left, error=None).error(beta, n=n)


def moved(question: Statistic) -> tuple[str, ...]:
    """Return the caveats on bounds that are found."""
    text = (
        "Bounds were found privately. Records beyond them were moved in to them, and all were "
        "rounded to the lattice between them; intervals do not cover what that changes."
    )
    all_groups = "One search was made, over all rows of all groups."
    fixed = "Intervals of the population hold as if the bounds had been fixed in advance."
    also = [*([all_groups] if question.by else ()), *([fixed] if question.populations else ())]
    return (text, *also)


def _exact(x: Fraction) -> int | float | str:
    """Return a number as JSON knows it, exactly as a `Fraction` of it is."""
    if x.denominator == 1:
        return int(x)
    return float(x) if Fraction(float(x)) == x else str(x)
