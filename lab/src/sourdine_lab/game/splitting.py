"""Sample splitting on samples that it does not suit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sourdine.exact import integer
from sourdine.noise import SeededSource
from sourdine_lab.answering import Splitting
from sourdine_lab.game.analysts import Decoding, Overfitting
from sourdine_lab.game.game import AdaptiveGame
from sourdine_lab.game.truth import truth
from sourdine_lab.samples.unsplittable import encoded, repeated

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Mistake", "splitting_on_encoded", "splitting_on_repeated"]


@dataclass(frozen=True, slots=True)
class Mistake:
    """The last answer of a game beside the truth."""

    answer: float
    truth: float

    @property
    def error(self) -> float:
        """Answer minus truth."""
        return self.answer - self.truth


def splitting_on_encoded(n: int = 40, *, rng: np.random.Generator) -> Mistake:
    r"""Fool splitting with two queries: it answers 1 where the truth is :math:`2^{-n}`.

    Both are concentrated. The first part of the sample tells the code of all rows, and the second
    part's rows all have it. *Checked by* ``test_splitting_fails_on_encoded_rows``.

    Examples
    --------
    >>> import numpy as np
    >>> found = splitting_on_encoded(20, rng=np.random.default_rng(1))
    >>> found.answer, found.truth == 2**-20
    (1.0, True)
    """
    rows = encoded(n, rng=rng)
    game = AdaptiveGame(Decoding(n), rows, _split(2, rng), rounds=2)
    return Mistake(game.play()[-1].answer, 2.0**-n)


def splitting_on_repeated(
    law: ArrayLike, n: int, *, times: int, rng: np.random.Generator
) -> Mistake:
    """Fool splitting in ``times`` parts by overfitting: all parts are one block of n/times rows.

    *Checked by* ``test_splitting_fails_on_a_repeated_block``.

    Examples
    --------
    >>> import numpy as np
    >>> law = np.full(1000, 0.001)
    >>> splitting_on_repeated(law, 40_000, times=400, rng=np.random.default_rng(1)).error > 0.3
    True
    """
    times = integer(times, "times", least=2)
    rows = repeated(law, n, times=times, rng=rng)
    analyst = Overfitting(law, times, rng=rng)
    game = AdaptiveGame(analyst, rows, _split(times, rng), rounds=times)
    last = game.play()[-1]
    return Mistake(last.answer, truth(last.query, law))


def _split(rounds: int, rng: np.random.Generator) -> Callable[[NDArray[Any]], Splitting]:
    """Return splitting whose parts are dealt out by the chance of the experiment."""
    source = SeededSource(int(rng.integers(1 << 62)))
    return lambda sample: Splitting(sample, rounds, source=source)
