r"""Bounds of several columns of a table, each found once and used by all that is asked of it.

A column of which k of m statistics are asked is searched as a mean with epsilon :math:`k/m` of the
whole would be (`BoundsFirst`), or as a sum if one is asked. Its search spends at most two thirds of
that; all that is left is shared by the statistics of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sourdine.central.finding.bounds import LEAST, BoundsFirst, moved
from sourdine.central.finding.first import FoundFirst
from sourdine.central.groups import ByGroup
from sourdine.central.mean import Mean
from sourdine.central.sum import Sum
from sourdine.exact import rational
from sourdine.privacy.accounting import of_promise
from sourdine.privacy.printing import shown
from sourdine.question.kinds import spelled
from sourdine.question.question import plain_parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.central.table import Table
    from sourdine.privacy import Part
    from sourdine.release import Release
    from sourdine.tally import Frame

__all__ = ["ColumnsFirst"]

SHARED = "What is left of epsilon is shared so that the largest relative error is smallest."


@dataclass(frozen=True, kw_only=True)
class ColumnsFirst(FoundFirst):
    """A table, the bounds of some of whose columns are sought.

    Notes
    -----
    *Claim*: all parts together cost what the question says. *Checked by*
    ``test_whole_tables_hold_on_neighbours``. *Claim*: no data make it fail. *Checked by*
    ``test_nothing_in_the_data_makes_a_table_raise``.

    Examples
    --------
    >>> from sourdine.central import Table
    >>> asked = Table(of={"age": ["mean"], "*": ["count"]}, bounds="find", epsilon=1)
    >>> asked.drawer.shares(100_000)
    'bounds of age 0.16064, table 0.83936'
    >>> release = asked.release({"age": [20, 30, 40] * 1000})
    >>> abs(release.value["mean of age"] - 30) < 2
    True
    """

    question: Table

    @property
    def what(self) -> str:
        """What is found."""
        return "bounds"

    @cached_property
    def searches(self) -> dict[str, BoundsFirst]:
        """What finds the bounds of each column."""
        table, asked = self.question, dict(self.question.of)
        all_of = sum(map(len, asked.values()))
        return {
            column: BoundsFirst(question=self._one(column, Fraction(len(asked[column]), all_of)))
            for column in table.searched
        }

    def _one(self, column: str, share: Fraction) -> Mean | Sum:
        """Return the question whose bounds are found: that of the statistic which needs most."""
        table = self.question
        kind = Sum if "sum" in dict(table.of)[column] else Mean
        names = ("n", "relation", "unit", "rows", "by", "keys", "other", "source")
        own: dict[str, Any] = {name: getattr(table, name) for name in names}
        own |= {"bounds": dict(table.bounds)[column], "step": dict(table.steps).get(column)}
        if table.finds:
            own["delta"] = table.delta
        return kind(column=column, epsilon=table.epsilon * share, **own).of_private_number()

    @cached_property
    def like(self) -> Table:
        """The table on bounds of width 1, with what is left at least."""
        return self._settled({c: first.like for c, first in self.searches.items()}, LEAST)

    def check(self) -> None:
        """Refuse early whatever a settled table would refuse."""
        self.question.check_columns()
        for first in self.searches.values():
            first.check()
        _ = self.like
        for extremes in zip(*(first.extremes for first in self.searches.values()), strict=True):
            self._settled(dict(zip(self.searches, extremes, strict=True)), LEAST)

    @property
    def parts(self) -> tuple[Part, ...]:
        """One promise: what the table may spend follows from what was found."""
        return of_promise(self.question.cost)

    def find(self, data: Frame) -> dict[str, Any]:
        """Find the bounds of one column after the other."""
        found = {column: first.find(data) for column, first in self.searches.items()}
        spent = {f"bounds of {column}": _spent(own) for column, own in found.items()}
        return {"spent": {name: plain_parameter(x) for name, x in spent.items()}, "found": found}

    def left(self, drawn: Mapping[str, Any]) -> Fraction:
        """Return the epsilon that finding has left."""
        return self.question.epsilon - sum(map(_spent, drawn["found"].values()))

    def settled(self, drawn: Mapping[str, Any]) -> Table:
        """Return the table with the bounds found and the epsilon left."""
        own = {c: first.settled(drawn["found"][c]) for c, first in self.searches.items()}
        return self._settled(own, self.left(drawn) / self.question.epsilon)

    def _settled(self, own: Mapping[str, Any], share: Fraction) -> Table:
        table = self.question
        bounds = dict(table.bounds) | {column: one.bounds for column, one in own.items()}
        stepped = {c: one.step for c, one in own.items() if c in dict(table.steps)}
        steps = dict(table.steps) | stepped
        return table.changed(bounds=bounds, steps=steps, epsilon=table.epsilon * share)

    def found(self, drawn: Mapping[str, Any]) -> tuple[str, str]:
        """Return the bounds of each column."""
        firsts = self.searches.items()
        each = (f"{column}: {first.found(drawn['found'][column])[1]}" for column, first in firsts)
        return "bounds", ". ".join(each)

    def findings(self, release: Release) -> list[tuple[str, str]]:
        """Return what was found and spent, by column and by statistic."""
        drawer: Any = self.part(release).mechanism
        table: Any = drawer.part if isinstance(drawer, ByGroup) else drawer
        return [*super().findings(release), ("shares", f"epsilon: {table.spending}")]

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know."""
        return (*moved(self.like), SHARED, *self.like.explained(set(self.searches)))

    def _parts(self, n: int | None) -> dict[str, Fraction]:
        firsts = self.searches.items()
        return {f"bounds of {c}": sum(first.costs(n).values(), Fraction(0)) for c, first in firsts}

    def shares(self, n: int | None) -> str:
        """Return what each part will cost."""
        parts = self._parts(n)
        left = {self.question.kind: self.question.epsilon - sum(parts.values())}
        return ", ".join(f"{name} {shown(x)}" for name, x in {**parts, **left}.items())

    def planned(self, beta: Fraction, n: int | None) -> float:
        """Return the largest relative error, of widths that are found."""
        left = self.question.epsilon - sum(self._parts(n).values())
        return self.like.at(left).error(beta, n=n)


def _spent(found: Mapping[str, Any]) -> Fraction:
    """Return what finding the bounds of one column has cost."""
    return sum((rational(spelled(x), "epsilon") for x in found["spent"].values()), Fraction(0))
