r"""A leaderboard that cannot be climbed by luck: the Ladder [1]_ on a guard's ledger.

A submission's score is shown only if it beats the leader by a step; all others learn that they
did not, and no more. Hundreds of tries that lead nowhere then cost a few bits, since no is usual,
and every score that is shown comes with an interval that holds for all of them at once.

References
----------
.. [1] A. Blum, M. Hardt, "The Ladder: a reliable leaderboard for machine learning competitions",
   ICML 2015.
"""

# ruff: noqa: SLF001 - a leaderboard reads with the guard's own eyes

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

from sourdine.adaptive.answers import counted
from sourdine.adaptive.holdout.evidence import stands_out
from sourdine.adaptive.holdout.guard import read_guard
from sourdine.adaptive.holdout.rounding import levels_of, rounded
from sourdine.adaptive.holdout.store import Entry
from sourdine.adaptive.holdout.verdict import left_in_words
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import given, kind, number
from sourdine.release import Columns, Sheet, Shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sourdine.adaptive.answers import AdaptiveAnswer
    from sourdine.adaptive.holdout.guard import GuardedHoldout
    from sourdine.adaptive.ledger import Remaining, Turn
    from sourdine.exact.parameters import Number

__all__ = ["Leaderboard", "Standing"]


@dataclass(frozen=True, slots=True)
class Standing(Shown):
    """What a submission is told; true if it leads now.

    Parameters
    ----------
    name
        Whose it is.
    score
        The accuracy with its interval; None if it does not beat the leader by a step.
    bits
        What the answer cost.
    remaining
        What can still be told; None if the ledger has no limit.
    """

    name: str
    score: AdaptiveAnswer | None
    bits: float
    remaining: Remaining | None = None

    def __bool__(self) -> bool:
        return self.score is not None

    def sheet(self) -> Sheet:
        """Return what is printed."""
        cost = ("cost", counted(f"{self.bits:.3g}", "bit"))
        left = [] if self.remaining is None else [("left", left_in_words(self.remaining))]
        if self.score is None:
            return Sheet(notes=[(self.name, "not better than the leader"), cost, *left])
        heads, rows = self.score.columns().cells()
        return Sheet(heads=heads, lines=rows, notes=[cost, *left], title=f"{self.name} leads")


class Leaderboard(Shown):
    r"""Submissions against one guard, of which only those that lead see a score.

    Parameters
    ----------
    guard
        It holds the labels and the ledger; a guard in a file keeps the leaderboard there too.
    step
        By how much a submission must beat the leader, and the grid of the scores. ``"auto"``: by
        the standard error of the paired difference, and :math:`1/\lceil\sqrt n\,\rceil`.

    Examples
    --------
    >>> from sourdine.adaptive.holdout import GuardedHoldout
    >>> board = Leaderboard(GuardedHoldout(["cat", "dog"] * 500))
    >>> print(board.submit("all cats", ["cat"] * 1000))
    all cats leads
     value  from    to
    0.5000  0.43  0.57
    cost  5.04 bits
    >>> bool(board.submit("all dogs", ["dog"] * 1000))
    False
    >>> bool(board.submit("one cat in four", ["cat", "dog", "dog", "dog"] * 250))
    True
    >>> print(board)
    name              score  from    to  bits
    one cat in four  0.7500  0.66  0.83  7.04
    all cats         0.5000  0.43  0.57  5.04
    others  1 more did not beat the leader
    next    the next answer is within 0.11 of the truth
    """

    __slots__ = ("_auto", "guard", "step")

    def __init__(self, guard: GuardedHoldout, step: Number | str = "auto") -> None:
        self.guard = read_guard(guard)
        self._auto = step == "auto"
        if isinstance(step, str) and not self._auto:
            raise ParameterTypeError(
                "step", "be 'auto' or a number", given(step), "Type {step}.", step=0.01
            )
        grid = Fraction(1, isqrt(guard.n - 1) + 1) if self._auto else step
        self.step: Fraction = number(grid, "step", above=0, most=1)

    def submit(self, name: str, predictions: object) -> Standing:
        """Compare predictions with the leader's; show their score if they lead now.

        The first submission always leads. Whether one leads is charged before its score is. Whether
        there is room left for an answer never depends on which one it is
        (``test_refusal_does_not_depend_on_the_answer``).
        """
        if not isinstance(name, str) or not name.strip():
            got = "an empty one" if isinstance(name, str) else kind(name)
            raise ParameterError("name", "be a text", got, "Type submit('anna', predictions).")
        guard = self.guard
        given = guard._read(predictions, "predictions")
        losses = guard._losses(given)
        with guard._turn() as turn:
            leader = guard._store.leader(turn)
            leads, bits = leader is None, 0.0
            if leader is not None:
                self._require_room(turn)
                leads = self._beats(guard._losses(leader) - losses, turn)
                bits = turn.bit(leads, f"submission of {name}")
            charge = turn.spent.answers
        score = None
        if leads:
            with guard._turn() as turn:
                score = rounded(1.0 - float(losses.mean()), self.step, self._finest, turn)
                bits, charge = bits + score.bits, turn.spent.answers
        entry = Entry(name, score and replace(score, bits=bits), bits)
        with guard.ledger.turn() as turn:
            guard._store.enter(turn, charge, entry, given)
        return Standing(name, entry.score, bits, guard.remaining)

    @property
    def standings(self) -> list[Standing]:
        """All submissions whose scores were shown, the leader first."""
        shown = [entry for entry in self._entries() if entry.score is not None]
        return [Standing(entry.name, entry.score, entry.bits) for entry in reversed(shown)]

    def sheet(self) -> Sheet:
        """Return what is printed: the scores that were shown, the leader first."""
        entries = self._entries()
        shown = [entry for entry in reversed(entries) if entry.score is not None]
        heads, rows = Columns(
            labels={"name": [entry.name for entry in shown]},
            name="score",
            values=[entry.score.value for entry in shown if entry.score],
            lower=[entry.score.lower for entry in shown if entry.score],
            upper=[entry.score.upper for entry in shown if entry.score],
            confidence=None,
        ).cells()
        bits = [f"{entry.bits:.3g}" for entry in shown]
        width = self.guard.ledger.halfwidth() + float(self.step) / 2
        return Sheet(
            heads=(*heads, "bits"),
            lines=[(*row, cost) for row, cost in zip(rows, bits, strict=True)],
            notes=[
                ("others", f"{len(entries) - len(shown)} more did not beat the leader"),
                ("next", f"the next answer is within {width:.2g} of the truth"),
            ],
        )

    def __repr__(self) -> str:
        step = "'auto'" if self._auto else f"{float(self.step):g}"
        return f"Leaderboard({self.guard!r}, step={step})"

    @property
    def _finest(self) -> int:
        return self.guard._loss.levels(self.guard.n)

    def _entries(self) -> list[Entry]:
        with self.guard.ledger.turn() as turn:
            return self.guard._store.entries(turn)

    def _beats(self, d: NDArray[np.float64], turn: Turn) -> bool:
        ledger = self.guard.ledger
        if self._auto:
            return stands_out(d, 1.0, ledger.dependence, ledger.nats_after(turn.spent))
        return bool(d.mean() > float(self.step))

    def _require_room(self, turn: Turn) -> None:
        """Refuse what would not fit if it were answered with yes and a score."""
        levels, ledger = min(levels_of(self.step), self._finest), turn.ledger
        yes = turn.spent.bit(True).value(levels)  # noqa: FBT003 - an answer
        if (after := ledger.halfwidth_after(yes)) > ledger.limit:
            raise BudgetExceededError(
                "the next half-width",
                f"stay at most {ledger.limit:g}",
                f"{after:.4g} if the submission leads",
                "Nothing was answered: take fresh data.",
            )
