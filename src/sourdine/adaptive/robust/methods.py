"""The two ways to answer from many copies: by a private median, and by switching."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sourdine.adaptive.robust.median import PrivateMedian
from sourdine.adaptive.robust.proof import ENDLESS, Proof, certified_steps, stray
from sourdine.adaptive.robust.switching import Switching
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given, integer, positive
from sourdine.noise import SYSTEM, Source, uniform_below

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number

__all__ = ["ByMedian", "BySwitching", "Dynamic", "Method", "RobustTerms", "drawn_of"]


WIDEST = 1 << 20
"""A window has at most so many cells on either side."""


class Dynamic(Protocol):
    """A dynamic algorithm: it is told of changes and can be asked for a value."""

    def update(self, *change: Any) -> object:  # noqa: ANN401
        """Take a change in."""

    def query(self) -> float:
        """Return the value after all changes so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustTerms:
    """What both ways are told; `sourdine.adaptive.robust.Robust` explains and checks it."""

    copies: int
    steps: int | None
    error: float
    start: float
    least: float
    wrong: float
    beta: float


class Method(Protocol):
    """A way to answer."""

    terms: RobustTerms

    @property
    def stray(self) -> float:
        """The chance, at most, that noise alone takes an answer astray though all copies agree."""

    def look(self, live: list[Dynamic], source: Source) -> float | None:
        """Ask some of the copies and answer; None if they have to be looked at once more.

        Copies that may not be asked again are dropped.
        """

    def proof(self) -> Proof:
        """Return what is proved and on which grounds."""

    def ran_out(self) -> tuple[str, str]:
        """Return of which parameter what must hold for one more look."""

    def __str__(self) -> str:
        """Return the parameters, as they were typed."""


class ByMedian:
    """The private median of a sample of the copies, as in the lecture."""

    def __init__(
        self, terms: RobustTerms, *, sample: int | None, epsilon0: Number | None, window: int
    ) -> None:
        if epsilon0 is None or terms.steps is None:
            raise ParameterTypeError(
                "epsilon0" if epsilon0 is None else "steps",
                "be given for the method 'dp-median'",
                "none",
                "Type {epsilon0} and {steps}.",
                epsilon0=2,
                steps=10_000,
            )
        self.terms = terms
        self.steps = terms.steps
        self.sample = terms.copies if sample is None else integer(sample, "sample", least=1)
        if self.sample > terms.copies:
            raise ParameterError(
                "sample",
                f"be at most the number of copies ({terms.copies})",
                given(self.sample),
                "Type {sample}.",
                sample=terms.copies,
            )
        self.window = integer(window, "window", least=1, most=WIDEST)
        self.cells = 2 * self.window + 1
        needed = 4 * log(self.cells - 1) / self.sample
        ample = float(f"{max(40 / self.sample, 2 * needed):.3g}")
        self.epsilon0 = positive(epsilon0, "epsilon0", example=ample)
        if self.stray >= 1:
            raise ParameterError(
                "epsilon0",
                f"be above {needed:.3g} for a median of {self.sample} copies on {self.cells} "
                "cells to be more than noise",
                given(epsilon0),
                "Type {epsilon0}, or a larger sample.",
                epsilon0=ample,
            )
        self._median = PrivateMedian(
            epsilon0=self.epsilon0,
            error=terms.error,
            window=self.window,
            least=terms.least * (1 - 0.75 * terms.error),
            start=terms.start,
        )

    @property
    def stray(self) -> float:
        """The chance, at most, that noise alone takes an answer astray though all copies agree."""
        return stray(self.sample, self.terms.copies, 0, float(self.epsilon0), cells=self.cells)

    @property
    def reach(self) -> float:
        r"""By what factor the value may move from answer to answer and be answered by one look.

        The cell last answered has a right value on either side, so :math:`f(1 - 3\alpha/4)` lies
        below its upper edge. Now right values are at most :math:`f'(1 + 3\alpha/4)`, and
        :math:`h - 1` cells lie between that edge and the last cell. Likewise downwards. Below 1,
        not even a value that stands still need be. *Checked by*
        ``test_what_is_in_reach_takes_one_look``.
        """
        off = 0.75 * self.terms.error
        return self._ratio ** (self.window - 1) * (1 - off) / (1 + off)

    @property
    def _ratio(self) -> float:
        return 1 + self.terms.error / 4

    def look(self, live: list[Dynamic], source: Source) -> float | None:
        """Draw copies, ask them, and answer near their median, if it lies within the window."""
        drawn = drawn_of(len(live), self.sample, source)
        values = np.array([live[i].query() for i in drawn], dtype=np.float64)
        return self._median.look(values, source)

    def proof(self) -> Proof:
        """Return the steps that `certified_steps` proves."""
        terms = self.terms
        if self.reach < 1:
            narrow = f"a window of {self.window} cells may never settle on an answer; widen it"
            return Proof(0, terms.beta, narrow)
        steps = certified_steps(
            terms.copies,
            sample=self.sample,
            epsilon0=self.epsilon0,
            cells=self.cells,
            wrong=terms.wrong,
            beta=terms.beta,
            limit=self.steps,
        )
        if not steps:
            few = f"{terms.copies} copies are too few for epsilon0 {float(self.epsilon0):g} on a "
            return Proof(0, terms.beta, few + f"sample of {self.sample}; see copies_needed")
        return Proof(
            steps,
            terms.beta,
            "privacy of the seeds, if a copy is off by more than "
            f"{0.75 * terms.error:g} with probability {terms.wrong:g} at most at a step fixed "
            "in advance; a step is a look, and an answer takes one while the value moves by a "
            f"factor {self.reach:.3g} at most, one more for each factor "
            f"{self._ratio**self.window:.3g} that it leaps",
        )

    def ran_out(self) -> tuple[str, str]:
        """Return of which parameter what must hold for one more look."""
        return "steps", f"be above {self.steps} for one more look at these copies"

    def __str__(self) -> str:
        """Return the parameters, as they were typed."""
        return (
            f"method='dp-median', copies={self.terms.copies}, sample={self.sample}, "
            f"epsilon0={float(self.epsilon0):g}, steps={self.steps}, "
            f"error={self.terms.error:g}"
        )


class BySwitching:
    """One copy after the other, each until the answer shown has to change."""

    stray = 0.0

    def __init__(self, terms: RobustTerms, *, sample: int | None, epsilon0: Number | None) -> None:
        if sample is not None or epsilon0 is not None:
            raise ParameterTypeError(
                "sample" if epsilon0 is None else "epsilon0",
                "be left out for the method 'switching'",
                given(sample if epsilon0 is None else epsilon0),
                "Leave {sample} and {epsilon0} out: one copy serves each change of the answer.",
                sample=LEFT_OUT,
                epsilon0=LEFT_OUT,
            )
        self.terms = terms
        least = terms.least * (1 - terms.error / 4)
        self._shown = Switching(error=terms.error, least=least, start=terms.start)

    def look(self, live: list[Dynamic], source: Source) -> float | None:
        """Ask the active copy, and drop it if the answer becomes its value."""
        del source
        if self._shown.left_by(live[0].query()):
            del live[0]
        return self._shown.answer

    def proof(self) -> Proof:
        """Return that no number of steps is too large, if the copies are good enough."""
        copies, wrong = self.terms.copies, self.terms.wrong
        if copies * wrong > self.terms.beta:
            return Proof(
                0,
                self.terms.beta,
                f"{copies} copies that fail with probability {wrong:g} each may fail together more "
                f"often than {self.terms.beta:g}; take copies with wrong="
                f"{self.terms.beta / copies:g}",
            )
        return Proof(
            ENDLESS if self.terms.steps is None else self.terms.steps,
            copies * wrong,
            f"sketch switching, while the answer changes {copies} times at most, if a copy is ever "
            f"off by more than {self.terms.error / 4:g} on a stream fixed in advance with "
            f"probability {wrong:g} at most",
        )

    def ran_out(self) -> tuple[str, str]:
        """Return of which parameter what must hold for one more answer."""
        limit = "" if self.terms.steps is None else f", and steps above {self.terms.steps},"
        return "copies", f"be above {self.terms.copies}{limit} for one more answer"

    def __str__(self) -> str:
        """Return the parameters, as they were typed."""
        steps = "" if self.terms.steps is None else f", steps={self.terms.steps}"
        return f"method='switching', copies={self.terms.copies}{steps}, error={self.terms.error:g}"


def drawn_of(copies: int, sample: int, source: Source = SYSTEM) -> list[int]:
    """Draw ``sample`` of ``copies`` places, each set as likely as any other.

    The first steps of Fisher's and Yates's shuffle. *Checked by*
    ``test_every_sample_is_as_likely_as_another``.

    Examples
    --------
    >>> sorted(drawn_of(5, 5)), len(set(drawn_of(5, 3)))
    ([0, 1, 2, 3, 4], 3)
    """
    places = list(range(copies))
    if sample == copies:
        return places
    jumps = uniform_below(np.arange(copies, copies - sample, -1), source=source)
    for i, jump in enumerate(jumps.tolist()):
        places[i], places[i + jump] = places[i + jump], places[i]
    return places[:sample]
