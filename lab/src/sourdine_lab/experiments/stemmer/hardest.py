"""An analyst who peeks, and asks what the Median Mechanism's small databases know least about."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sourdine_lab.answering import MedianMechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Asked", "ask_hardest", "skewed"]


class Asked(NamedTuple):
    """A mechanism after its questions, and the largest distance from the sample's averages."""

    mechanism: MedianMechanism
    worst: float


def skewed(
    universe: int, n: int, rng: np.random.Generator, *, often: float = 0.9
) -> NDArray[np.int64]:
    """Return rows most of which are the same: far from what most small databases say."""
    rest = 0.1 if often == 0.9 else 1 - often  # 1 - 0.9 is not 0.1 in floats
    law = np.full(universe, rest / (universe - 1))
    law[rng.integers(universe)] = often
    return rng.choice(universe, n, p=law)


def ask_hardest(rows: NDArray[np.int64], *, universe: int, rounds: int) -> Asked:
    """Ask, in each round, the yes-or-no query on which median and sample differ most.

    Examples
    --------
    >>> asked = ask_hardest(skewed(3, 400, np.random.default_rng(1)), universe=3, rounds=20)
    >>> asked.mechanism.asked, asked.worst <= asked.mechanism.accuracy
    (20, True)
    """
    mechanism = MedianMechanism(rows, universe=universe, rounds=rounds)
    share = np.bincount(rows, minlength=universe) / len(rows)
    queries = np.array(list(product((0, 1), repeat=universe)))
    worst = 0.0
    for _ in range(rounds):
        query = max(queries, key=lambda q: abs(_median(mechanism, q) - q @ share))
        worst = max(worst, abs(mechanism.answer(query) - float(query @ share)))
    return Asked(mechanism, worst)


def _median(mechanism: MedianMechanism, query: NDArray[np.int64]) -> float:
    databases = mechanism.databases
    return databases.median(databases.totals(query)) / mechanism.size
