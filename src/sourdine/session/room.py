"""What is left of a total with delta, and what was spent of it: shares, not epsilons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sourdine.exact import one_of
from sourdine.privacy.accounting import Part
from sourdine.privacy.printing import percent, shown
from sourdine.release import Sheet, Shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from sourdine.privacy import Guarantee, Relation
    from sourdine.privacy.accounting import Filter

__all__ = ["Charged", "Room"]

FINE = 1000
"""The shift of noise on a fine grid, such as a mean has."""

MOST = 10
"""No epsilon above so many times the total is tried."""

KINDS: dict[str, tuple[str, Callable[[Fraction], Part]]] = {
    "pure": ("anything", Part.pure),
    "laplace": ("a sum or a mean", lambda e: Part.laplace(FINE, FINE / e)),
    "range": ("a quantile", Part.range),
}
"""Kinds of loss: what has them, at about such a price, and the part of an epsilon."""


@dataclass(frozen=True, slots=True)
class Room(Shown):
    """What is left of a total with delta.

    It is a share, as what an epsilon costs depends on what is asked: `largest` says which epsilon
    would still fit, by kind of loss; `Session.could` says it of one question.

    Parameters
    ----------
    filter
        The total, and what was charged to it.
    relation
        Which inputs are neighbours.

    Examples
    --------
    >>> from sourdine.privacy import ADD_REMOVE
    >>> from sourdine.privacy.accounting import Filter
    >>> print(Room(Filter.of(3, 1e-6).charge(Part.pure(0.06, times=50)), ADD_REMOVE))
    kind     largest epsilon  for
    pure            0.956175  anything
    laplace         0.993855  a sum or a mean
    range            1.25924  a quantile
    left  53.39 % of epsilon 3, delta 1e-06, one record added or removed
    """

    filter: Filter
    relation: Relation

    @property
    def share(self) -> Fraction:
        """The share of the total that is left."""
        return self.filter.remaining

    @property
    def epsilon(self) -> Fraction:
        """The largest epsilon that fits, whatever is asked."""
        return self.largest()

    @property
    def delta(self) -> Fraction:
        """What is left for answers with a delta of their own."""
        return self.filter.reserve - self.filter.own_delta

    def largest(self, kind: str = "pure") -> Fraction:
        """Return the largest epsilon, to six digits, of which a charge of a kind still fits.

        Parameters
        ----------
        kind
            ``"pure"``: a promise of which nothing else is known; ``"laplace"``: discrete Laplace
            noise on a fine grid; ``"range"``: one draw by weights.
        """
        make = KINDS[one_of(kind, "kind", *KINDS)][1]
        return self.fitting(lambda epsilon: (make(epsilon),))

    def fitting(self, at: Callable[[Fraction], tuple[Part, ...]]) -> Fraction:
        """Return the largest epsilon, to six digits, with which parts made by ``at`` fit."""
        most = MOST * (self.filter.epsilon or self.filter.allowance + 1)

        def make(epsilon: Fraction) -> tuple[Part, ...]:
            return (Part.delta(1),) if epsilon > most else at(epsilon)

        return self.filter.largest(make)

    def exact_epsilon(self) -> Fraction:
        """Return the largest epsilon that fits, whatever is asked."""
        return self.epsilon

    def told(self, whom: str = "record") -> str:
        """Return what is left in words, for what takes the place of a record."""
        left = percent(self.share)
        return f"{left} of {self.filter.whole}, {self.relation.describe(whom)}"

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON knows; texts are exact."""
        return {
            "share": float(self.share),
            "largest": {kind: str(self.largest(kind)) for kind in KINDS},
            "delta": str(self.delta),
            "relation": self.relation.value,
        }

    def sheet(self) -> Sheet:
        """Return what is printed."""
        lines = [
            (kind, shown(self.largest(kind), up=False), text) for kind, (text, _) in KINDS.items()
        ]
        notes = [("left", self.told())]
        if self.filter.reserve:
            kept = f"delta {shown(self.delta, up=False)} for answers with a delta of their own"
            notes.append(("reserve", kept))
        return Sheet(heads=("kind", "largest epsilon", "for"), lines=lines, notes=notes)

    def __repr__(self) -> str:
        return f"<Room: {self.told()}>"


@dataclass(frozen=True, slots=True)
class Charged(Shown):
    """What was spent of a total with delta: a share of it, and the sum of the epsilons.

    The sum is not what was lost. An epsilon that holds so far, at a time chosen after seeing the
    answers, is not promised: the promise is the total.

    Parameters
    ----------
    filter
        The total, and what was charged to it.
    sums
        The promises of all charges, added up.
    """

    filter: Filter
    sums: Guarantee

    @property
    def share(self) -> Fraction:
        """The share of the total that is spent."""
        return self.filter.share

    @property
    def epsilon(self) -> Fraction:
        """The sum of the epsilons of all charges."""
        return self.sums.exact_epsilon()

    @property
    def delta(self) -> Fraction:
        """What was taken from the reserve."""
        return self.filter.own_delta

    def exact_epsilon(self) -> Fraction:
        """Return the sum of the epsilons of all charges."""
        return self.epsilon

    def told(self, whom: str = "record") -> str:
        """Return what was spent in words, for what takes the place of a record."""
        sums = f"the epsilons add up to {shown(self.epsilon)}"
        spent = f"{percent(self.share, up=True)} of {self.filter.whole}"
        return f"{spent}, {self.sums.relation.describe(whom)}; {sums}"

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON knows; texts are exact."""
        return {
            "share": float(self.share),
            "epsilons": str(self.epsilon),
            "delta": str(self.delta),
            "relation": self.sums.relation.value,
        }

    def sheet(self) -> Sheet:
        """Return what is printed."""
        note = "the promise is the total; no smaller epsilon is promised of what was spent so far"
        return Sheet(notes=[("spent", self.told()), ("note", note)])

    def __repr__(self) -> str:
        return f"<Charged: {self.told()}>"
