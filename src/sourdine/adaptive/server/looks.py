"""A look at the sample: whether its average is near the guess, and if not, in which cell it is."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sourdine.adaptive.server.evidence import Cells
from sourdine.adaptive.server.gaps import Cell, Gaps

if TYPE_CHECKING:
    from sourdine.adaptive.server.evidence import Evidence
    from sourdine.adaptive.server.weights import Tilt, Weights

    Ends = tuple[float, float]

__all__ = ["Look", "LookQuestion", "PlainLook"]

ROUNDING = 1e-9
"""Nats left to the rounding of divergences."""


@dataclass(frozen=True, slots=True)
class LookQuestion:
    """A query, the guess, and the least and the largest value a row may have: all public."""

    query: Any
    guess: float
    low: float = 0.0
    high: float = 1.0


class Look(Protocol):
    """What stands between the sample and an answer.

    Of the sample, only the cell is ever told; all else follows from it and the question.
    """

    def demand(self) -> None:
        """Raise if there may be no more looks; depends on answers alone."""

    def cells(self, question: LookQuestion) -> list[Cell]:
        """Return the cells that a surprise may be told as."""

    def surprises(self, question: LookQuestion) -> bool:
        """Return whether the average is not near the guess; takes as long for yes as for no."""

    def cell(self, question: LookQuestion) -> Cell:
        """Return the cell of an average that surprised."""

    def known(self, question: LookQuestion, cell: Cell | None) -> Ends:
        """Return the ends between which the answer says the sample's average is."""

    def value(self, question: LookQuestion, cell: Cell | None) -> float:
        """Return the value told."""

    def learn(self, question: LookQuestion, cell: Cell) -> None:
        """Move the hypothesis by what was told."""

    def nats(self, answer: int) -> float:
        """Return what the sample may have told by another account; inf if there is none."""


class PlainLook:
    """A look without noise.

    Parameters
    ----------
    evidence
        The rows.
    threshold
        How near is near.
    hypothesis
        What learns from surprises; None if nothing does.
    """

    __slots__ = ("_divergence", "_most", "evidence", "hypothesis", "threshold")

    def __init__(self, evidence: Evidence, threshold: float, hypothesis: Weights | None) -> None:
        self.evidence, self.threshold, self.hypothesis = evidence, threshold, hypothesis
        self._divergence = self._most = 0.0
        if hypothesis is not None and isinstance(evidence, Cells):
            there = evidence.counts > 0
            law = evidence.law[there]
            self._divergence = float(law @ (np.log(law) - hypothesis.logs[there]))
            self._most = hypothesis.stock

    def demand(self) -> None:
        """Demand nothing: looks are counted by the ledger alone."""

    def nats(self, answer: int) -> float:  # noqa: ARG002 - the ledger's account is the only one
        """Return inf."""
        return inf

    def cells(self, question: LookQuestion) -> list[Cell]:
        """Return the cells beyond the threshold, each with a long and a short step."""
        steps = self._gaps(question).steps()
        short = steps if self.hypothesis else []
        return [*map(Cell, steps), *(Cell(step, short=True) for step in short)]

    def surprises(self, question: LookQuestion) -> bool:
        """Return whether the average is further from the guess than the threshold."""
        return abs(self._average(question) - question.guess) > self.threshold

    def cell(self, question: LookQuestion) -> Cell:
        """Return the cell of the average, with a short step where a long one might overshoot."""
        average = self._average(question)
        cell = Cell(self._gaps(question).cell(average))
        tilt = self._tilt(question, cell)
        if tilt is None or self._divergence - tilt.gain(average) <= self._allowed() - ROUNDING:
            return cell
        return Cell(cell.steps, short=True)

    def known(self, question: LookQuestion, cell: Cell | None) -> Ends:
        """Return the cell's ends, or those around the guess."""
        if cell is not None:
            return self._gaps(question).ends(cell.steps)
        low, high = question.guess - self.threshold, question.guess + self.threshold
        return max(low, question.low), min(high, question.high)

    def value(self, question: LookQuestion, cell: Cell | None) -> float:
        """Return the middle of the cell, or the guess."""
        return question.guess if cell is None else sum(self.known(question, cell)) / 2

    def learn(self, question: LookQuestion, cell: Cell) -> None:
        """Move the hypothesis to the value told, or by a short step."""
        tilt = self._tilt(question, cell)
        if tilt is not None and self.hypothesis is not None:
            self._divergence -= tilt.gain(self.evidence.average(question.query))
            self._most = self._allowed()
            self.hypothesis.move(tilt)

    def _tilt(self, question: LookQuestion, cell: Cell) -> Tilt | None:
        if self.hypothesis is None:
            return None
        near = min(self.known(question, cell), key=lambda end: abs(end - question.guess))
        target = near if cell.short else self.value(question, cell)
        return self.hypothesis.tilt(question.query, target)

    def _average(self, question: LookQuestion) -> float:
        return min(max(self.evidence.average(question.query), question.low), question.high)

    def _allowed(self) -> float:
        """Return the most that the divergence may be after one more surprise."""
        return self._most - 2 * self.threshold**2

    def _gaps(self, question: LookQuestion) -> Gaps:
        return Gaps(question.guess, self.threshold, question.low, question.high)
