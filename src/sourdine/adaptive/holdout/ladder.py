r"""The steps of a leaderboard, and what it tells when one is climbed.

Scores stand on a public grid of rungs. A submission leads if its score reaches a higher rung than
the leader's, so scores only grow: the scores of all leaders say of each rung above the first one
whether it was visited or skipped, and no more. A climb by :math:`s` rungs is charged as
:math:`s - 1` rungs skipped and one visited, in the code of Krichevsky and Trofimov: after :math:`v`
visited and :math:`u` skipped, by the chance

.. math::
    P(s) = \frac{1}{1 - Q} \cdot \prod_{k=0}^{s-2} \frac{u + k + 1/2}{u + v + k + 1}
    \cdot \frac{v + 1/2}{u + v + s},

where :math:`Q` is the chance of skipping all rungs that are left, which no leader does. (Where a
lead takes more than one rung, it is the chance given that.) The chances of all climbs sum to one.
*Checked by* ``test_climbs_are_a_code``. Climbs of one rung soon cost a fraction of a bit, and
:math:`j` visits to :math:`m` rungs never much more than :math:`\log_2 \binom mj`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, log2, sqrt

from sourdine.adaptive.ledger import kt_bits

__all__ = ["Ladder"]


@dataclass(frozen=True, slots=True)
class Ladder:
    """A grid of scores from 0 to 1.

    Parameters
    ----------
    step
        The spacing.

    Examples
    --------
    >>> ladder = Ladder(Fraction(1, 20))
    >>> ladder.top, ladder.rung(Fraction(7, 10)), ladder.ends(14)
    (20, 14, (0.7, 0.75))
    >>> [str(ladder.chance(climb, room=2, visited=0, skipped=0)) for climb in (1, 2)]
    ['4/5', '1/5']
    """

    step: Fraction

    @classmethod
    def for_rows(cls, n: int) -> Ladder:
        """Return steps of a standard error or more, rounded up to 0.1, 0.05, 0.02, 0.01 and so on.

        Examples
        --------
        >>> [str(Ladder.for_rows(n).step) for n in (400, 5000, 10_000, 10**6)]
        ['1/20', '1/100', '1/100', '1/1000']
        """
        steps = [Fraction(k, 10**power) for power in range(1, 13) for k in (5, 2, 1)]
        return cls(next((s for s in reversed(steps) if s >= 0.5 / sqrt(n)), Fraction(1, 2)))

    @property
    def top(self) -> int:
        """The number of the highest step; the lowest is 0."""
        return floor(1 / self.step)

    def said(self, score: float) -> str:
        """Return a score with the digits of the grid.

        Examples
        --------
        >>> Ladder(Fraction(1, 20)).said(0.7), Ladder(Fraction(1, 2)).said(1.0)
        ('0.70', '1.0')
        """
        _, _, digits = f"{float(self.step):.12f}".rstrip("0").partition(".")
        return f"{score:.{len(digits)}f}"

    def rung(self, average: Fraction) -> int:
        """Return the step that a score has reached."""
        return min(floor(average / self.step), self.top)

    def ends(self, rung: int) -> tuple[float, float]:
        """Return the scores between which a step lies."""
        return float(rung * self.step), float(min((rung + 1) * self.step, Fraction(1)))

    def chance(
        self, climb: int, *, room: int, visited: int, skipped: int, least: int = 1
    ) -> Fraction:
        """Return the chance by which a climb is charged.

        Parameters
        ----------
        climb
            By how many rungs.
        room
            How many rungs there are above the leader.
        visited, skipped
            How many rungs were, above the first leader's.
        least
            The shortest climb that leads.
        """
        past, missed, found, shorter = visited + skipped, Fraction(1), Fraction(0), Fraction(1)
        for k in range(room):
            if k == least - 1:
                shorter = missed
            if k == climb - 1:
                found = missed * Fraction(2 * visited + 1, 2 * (past + k + 1))
            missed *= Fraction(2 * (skipped + k) + 1, 2 * (past + k + 1))
        return found / (shorter - missed)

    def most_bits(self, leads: int) -> float:
        """Return the bits of the scores of so many leads, at most.

        The first costs the logarithm of the number of rungs; the climbs of the others cost most if
        they go from the lowest rung to the highest.
        """
        climbs = leads - 1
        if climbs <= 0:
            return log2(self.top + 1) * (leads > 0)
        return log2(self.top + 1) + kt_bits(climbs, max(self.top - climbs, 0))
