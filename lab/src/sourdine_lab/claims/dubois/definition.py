"""W1: the definition, in turn or not, and the private minimax risk."""

from __future__ import annotations

from itertools import product
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab.claims.claim import Claim, Finding, Instead

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

ALPHAS = (0.5, 1.0, 2.0)
SHARES = (0.25, 0.75)
GUESSES = np.linspace(0, 1, 17)


def risks(alpha: float) -> NDArray[np.float64]:
    """Return the squared errors of a small problem: estimators by channels by truths.

    One person has a 1 with probability f, one of SHARES, and reports it through a channel that is
    alpha private; an estimator is a guess of f for each of the two reports.
    """
    keep = np.linspace(0.5, exp(alpha) / (1 + exp(alpha)), 9)[:, None]
    f = np.array(SHARES)
    said = f * keep + (1 - f) * (1 - keep)
    return np.array(
        [
            (1 - said) * (zero - f) ** 2 + said * (one - f) ** 2
            for zero, one in product(GUESSES, GUESSES)
        ]
    )


def minimax(value: Callable[[NDArray[np.float64]], Any]) -> Finding:
    """Ask whether a value is one positive number that more freedom (a larger alpha) lowers."""
    found = [np.unique(np.round(value(risks(alpha)), 12)) for alpha in ALPHAS]
    one = all(v.size == 1 and v[0] > 0 for v in found)
    falls = one and found[0][0] > found[1][0] > found[2][0]
    shown = ", ".join(f"{v.max():.4f}" for v in found)
    words = f"at alpha 0.5, 1 and 2 it is {shown}; it must be positive and fall"
    return Finding(bool(falls), float(found[1].max()), words=words)


def channel(keep: float, yes: float) -> NDArray[np.float64]:
    """Return chances of 0 and 1 for the inputs 0 and 1: the truth, or yes with a chance."""
    said = keep * np.array([0.0, 1.0]) + (1 - keep) * yes
    return np.stack([1 - said, said], axis=1)


def in_turn(level: Callable[[float, int], float]) -> Finding:
    """Find the loss of one of two people whose channels depend on what was said before."""
    off, shown = 0.0, 0.0
    for alpha in ALPHAS:
        fair = (exp(alpha) - 1) / (exp(alpha) + 1)
        first = channel(fair, 0.5)
        second = np.stack([first, channel(fair, 0.5)[::-1]])  # after a 0, after a 1
        joint = np.einsum("ax,xby->abxy", first, second)  # people's truths, then reports
        logs = np.log(joint)
        loss = max(float(np.abs(np.diff(logs, axis=axis)).max()) for axis in (0, 1))
        off = max(off, abs(loss - level(alpha, 2)))
        shown = loss if alpha == 1 else shown
    words = f"at alpha 1 one of two people loses {shown:.4f}, the form says {level(1.0, 2):g}"
    return Finding(off < 1e-9, shown, words=words)


CLAIMS = (
    Claim(
        id="W1",
        statement="the private minimax risk is inf over estimators, sup over channels (it is inf"
        " over both, sup over densities)",
        printed=lambda risk: risk.max(axis=1).min(axis=0),
        instead=lambda risk: risk.max(axis=2).min(),
        other=Instead.MEANT,
        check=minimax,
        quote="inf_f~ sup_{Q in Q_alpha} E_{f,Q}[||f~ - f||_r^r], où l'infimum est pris sur tous"
        " les estimateurs de f et tous les noyaux de Markov",
    ),
    Claim(
        id="W1b",
        statement="reports may depend on those before: a person still spends alpha (rival: n"
        " alpha)",
        printed=lambda alpha, _: alpha,
        instead=lambda alpha, n: n * alpha,
        other=Instead.RIVAL,
        check=in_turn,
    ),
)
