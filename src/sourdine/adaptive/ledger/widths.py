"""How far an answer may be from the truth after so much was told: arithmetic alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, log, nextafter
from typing import TYPE_CHECKING

from sourdine.adaptive.ledger.codes import Spent
from sourdine.adaptive.thresholds import largest
from sourdine.errors import ParameterError
from sourdine.exact import positive

if TYPE_CHECKING:
    from fractions import Fraction

    from sourdine.adaptive.ledger.dependence import Dependence
    from sourdine.exact.parameters import Number

__all__ = ["Remaining", "Widths", "float_below"]

MOST_ROWS = 1 << 60
"""More rows than anybody has."""


@dataclass(frozen=True, slots=True)
class Remaining:
    """What can still be told before the next half-width passes the error allowed.

    Parameters
    ----------
    bits
        Bits that may still be told, in one more answer.
    answers
        How many more yes-or-no answers there may be, whatever they are.
    noes
        How many there may be if all are no but perhaps the last.
    """

    bits: float
    answers: int
    noes: int


@dataclass(frozen=True, slots=True)
class Widths:
    r"""The half-widths of the theorem, from what was told and the number of rows.

    Parameters
    ----------
    beta
        The probability with which some interval may miss.
    dependence
        How the rows depend on each other.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from sourdine.adaptive.ledger import Iid
    >>> widths = Widths(Fraction(1, 20), Iid())
    >>> round(widths.halfwidth(Spent(), 10_000), 4), widths.rows_for(0.01, Spent())
    (0.0148, 21911)
    """

    beta: Fraction
    dependence: Dependence

    def nats(self, spent: Spent) -> float:
        r"""Return :math:`\ln(1/\beta_j) + L\ln 2` for the claim after those of ``spent``."""
        j = spent.claims + 1
        sure = log(self.beta.denominator) - log(self.beta.numerator)
        return log(j) + log(j + 1) + sure + spent.bits * log(2)

    def halfwidth(self, spent: Spent, n: int) -> float:
        """Return the half-width of the query after those of ``spent``, of ``n`` rows."""
        return self.dependence.width(n, self.nats(spent))

    def interval(self, spent: Spent, average: float, n: int) -> tuple[float, float]:
        """Return ends for the truth of the query after those of ``spent``, of ``n`` rows."""
        if isnan(average):
            return 0.0, 1.0
        inside = min(max(float(average), 0.0), 1.0)
        return self.dependence.interval(inside, n, self.nats(spent))

    def rows_for(self, error: Number, spent: Spent) -> int:
        """Return how many rows the answer after those of ``spent`` needs to be within ``error``."""
        goal = float_below(positive(error, "error"))
        least, most = 0, 1
        while self.halfwidth(spent, most) > goal:
            least, most = most, 2 * most
            if most > MOST_ROWS:
                raise ParameterError(
                    "error",
                    "be one that more rows can reach",
                    f"{goal:g}",
                    "Type a larger {error}.",
                )
        while most - least > 1:
            middle = (least + most) // 2
            enough = self.halfwidth(spent, middle) <= goal
            least, most = (least, middle) if enough else (middle, most)
        return most

    def until(self, error: Number, spent: Spent, n: int, *, claims: bool) -> Remaining:
        """Return what can be told before the next half-width is above ``error``."""
        goal = float_below(positive(error, "error"))
        allowed = self.dependence.nats(n, goal)
        one_more = spent.value(1)
        bits = max(0.0, (allowed - self.nats(one_more)) / log(2))

        def fits(more: int, yes: int) -> bool:
            told = Spent(
                spent.answers + more,
                spent.yes + yes,
                spent.no + more - yes,
                spent.value_bits,
                spent.claims + claims * more,
            )
            return self.halfwidth(told, n) <= goal

        def worst(more: int) -> bool:
            return all(fits(more, yes) for yes in _dearest(spent, more))

        def rare(more: int) -> bool:
            return fits(more, 0) and fits(more, 1)

        return Remaining(bits, largest(worst), largest(rare))


def float_below(x: Fraction) -> float:
    """Return the largest float that is at most ``x``: a quick comparison is then an exact one."""
    return float(x) if float(x) <= x else nextafter(float(x), 0.0)


def _dearest(spent: Spent, more: int) -> list[int]:
    """Return the numbers of yes among ``more`` answers that may cost most: as even as can be."""
    even = (spent.no - spent.yes + more) / 2
    low = min(max(int(even), 0), more)
    return [low, min(low + 1, more)]
