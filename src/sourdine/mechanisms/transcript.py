"""Transcripts: which mechanisms a call ran, on what, and what came out.

An audit records a whole public call on one data set and replays it on a neighbour, where every
mechanism answers as it did before. The two transcripts then show, step by step, how far the private
inputs moved. Outside an audit no transcript exists.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["CURRENT", "Step", "Transcript", "recording"]


@dataclass(frozen=True, slots=True)
class Step:
    """One mechanism's private input and its answer."""

    mechanism: Any
    x: Any
    answer: Any


@dataclass(slots=True)
class Transcript:
    """The steps of one call; with a ``script`` of an earlier call, its answers are given again."""

    script: tuple[Step, ...] = ()
    steps: list[Step] = field(default_factory=list)

    def answer(self, mechanism: object, x: object, draw: Callable[[], Any]) -> Any:  # noqa: ANN401
        """Return the scripted answer of this step, or draw one; remember the step."""
        i = len(self.steps)
        given = self.script[i].answer if i < len(self.script) else draw()
        self.steps.append(Step(mechanism, x, given))
        return given


CURRENT: ContextVar[Transcript | None] = ContextVar("transcript", default=None)


@contextmanager
def recording(script: tuple[Step, ...] = ()) -> Iterator[Transcript]:
    """Record what runs inside, answering from ``script`` as far as it goes."""
    transcript = Transcript(script)
    token = CURRENT.set(transcript)
    try:
        yield transcript
    finally:
        CURRENT.reset(token)
