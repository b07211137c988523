"""L4: Laplace noise redrawn until inside the interval, in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.claims.couchot.channel import SLACK

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

EPSILONS = (0.1, 1.0, 3.0, 10.0)
PLACES = np.linspace(0, 1, 101)
"""The interval, its width the unit; the worst case is at its ends, which are among these."""


def normaliser(x: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return the mass that Laplace noise around x has inside, over half the scale."""
    return np.asarray(2 - np.exp(-x / scale) - np.exp(-(1 - x) / scale))


def losses(scale: float) -> NDArray[np.float64]:
    """Return the largest loss of each pair of inputs, over all reports."""
    x, y = PLACES[:, None], PLACES[None, :]
    logs = -np.abs(x - y) / scale - np.log(normaliser(x, scale))
    return np.asarray([(one - logs).max(axis=1) for one in logs])


def private(scale: Callable[[float], float]) -> Finding:
    """Compare the worst loss with epsilon when the noise has the form's scale."""
    ratios = [losses(scale(e)).max() / e for e in EPSILONS]
    words = f"the worst loss is {max(ratios):.4f} times epsilon"
    return Finding(max(ratios) <= 1 + SLACK, float(max(ratios)), words=words)


def proof(bound: Callable[[Any, Any, float], Any]) -> Finding:
    """Compare each pair's loss with a bound on it, at epsilon 1."""
    found = losses(1.0)
    said = bound(PLACES[:, None], PLACES[None, :], 1.0)
    over = float((found - said).max())
    words = (
        f"0 and 1/2 lose {found[0, 50]:.4f}, the form says {float(said[0, 50]):.4f}; a pair's loss"
        f" is beyond the form by {over:.4f} at most"
    )
    return Finding(over <= SLACK, over, words=words)


CLAIMS = (
    Claim(
        id="L4",
        statement="Laplace noise of scale amplitude/eps, redrawn until inside, is eps private"
        " (rival: a scale 10% smaller)",
        printed=lambda e: 1 / e,
        instead=lambda e: 0.9 / e,
        other=Instead.RIVAL,
        check=private,
        quote="si x + v pas dans l'intervalle, réappliquer MLb",
    ),
    Claim(
        id="L4b",
        statement="read as the central proof word for word, two inputs would lose at most"
        " eps |x - x'| / amplitude; the mass inside differs too, and only the ends agree in it",
        printed=lambda x, other, e: e * np.abs(x - other),
        instead=lambda x, other, e: (
            e * np.abs(x - other) + np.abs(np.log(normaliser(x, 1 / e) / normaliser(other, 1 / e)))
        ),
        other=Instead.CORRECTION,
        check=proof,
        quote="Preuve d'ϵ-LDP : similaire, à celle d'ϵ-DP",
        ours=True,
    ),
)
