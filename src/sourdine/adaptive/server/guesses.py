"""Where guesses come from, and the rows that check them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from sourdine.adaptive.queries import ROUNDING
from sourdine.adaptive.server.evidence import Cells, Rows
from sourdine.adaptive.server.splits import halves
from sourdine.adaptive.server.universe import Universe
from sourdine.adaptive.server.weights import Weights
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given, kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from sourdine.adaptive.ledger import Dependence
    from sourdine.noise import Source

__all__ = ["Guesser", "Parts", "Trained", "read_guess"]


class Guesser(Protocol):
    """Guesses a query's average without a look at the rows that check."""

    def guess(self, query: Any, /) -> float:  # noqa: ANN401
        """Return a number from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Trained:
    """Guesses from rows of its own, which are public: what is wrong with a query there raises."""

    rows: Cells | Rows

    def guess(self, query: Any) -> float:  # noqa: ANN401
        """Return the average over the training rows."""
        if isinstance(self.rows, Cells):
            return self.rows.average(query)
        return float(self.rows.values(query).mean())


@dataclass(frozen=True, slots=True)
class ByFunction:
    """Guesses from a function."""

    function: Callable[[Any], float]

    def guess(self, query: Any) -> float:  # noqa: ANN401
        """Return what the function says."""
        return read_guess(self.function(query))


@dataclass(frozen=True, slots=True)
class Parts:
    """The rows that check, and what guesses."""

    evidence: Cells | Rows
    guesser: Guesser

    @classmethod
    def read(  # noqa: PLR0913 - the terms of a server
        cls,
        data: object,
        universe: object,
        guess: object,
        *,
        dependence: Dependence,
        prior: ArrayLike | None,
        training: object,
        groups: Sequence[object] | NDArray[np.generic] | None,
        source: Source,
    ) -> Parts:
        """Return the parts of a server."""
        cells = None if universe is None else Universe.read(universe)
        _consistent(guess, universe, prior, training, groups)
        evidence = _evidence(data, cells)
        if callable(guess):
            return cls(evidence, ByFunction(guess))
        if guess == "weights" and cells is not None:
            return cls(evidence, Weights(cells.size, prior))
        if training is not None:
            return cls(evidence, Trained(_some(_evidence(training, cells))))
        train, check = halves(evidence.n, dependence, groups=groups, source=source)
        return cls(evidence.take(check), Trained(evidence.take(train)))


def read_guess(guess: float) -> float:
    """Return a guess from 0 to 1."""
    try:
        value = float(guess)
    except (TypeError, ValueError) as error:
        raise ParameterTypeError(
            "guess", "be a number", kind(guess), "Type {guess}.", guess=0.3
        ) from error
    if not -ROUNDING <= value <= 1 + ROUNDING:
        raise ParameterError(
            "guess", "be between 0 and 1", f"{value:g}", "Type {guess}.", guess=0.3
        )
    return min(max(value, 0.0), 1.0)


def _evidence(data: object, universe: Universe | None) -> Cells | Rows:
    return Rows(data) if universe is None else Cells(universe, universe.codes(data))


def _some(training: Cells | Rows) -> Cells | Rows:
    if training.n:
        return training
    raise ParameterError(
        "training", "have at least one row", "none", "Leave {training} out.", training=LEFT_OUT
    )


def _consistent(
    guess: object, universe: object, prior: object, training: object, groups: object
) -> None:
    if not callable(guess) and guess not in ("weights", "split"):
        raise ParameterError(
            "guess",
            "be 'weights', 'split' or a function",
            given(guess),
            "Type {guess}.",
            guess="split",
        )
    if guess == "weights" and universe is None:
        raise ParameterError(
            "universe",
            "be given where the guess is 'weights'",
            "none",
            "Type {universe} for codes below 1000 or a dict of categories for columns, or {guess}.",
            universe=1000,
            guess="split",
        )
    if guess != "weights" and prior is not None:
        raise ParameterError(
            "prior",
            "be left out unless the guess is 'weights'",
            "one",
            "Leave {prior} out.",
            prior=LEFT_OUT,
        )
    if guess != "split" and (training is not None or groups is not None):
        name = "training" if groups is None else "groups"
        raise ParameterError(
            name,
            "be left out unless the guess is 'split'",
            "some",
            f"Leave {{{name}}} out, or type {{guess}}.",
            **{name: LEFT_OUT},
            guess="split",
        )
