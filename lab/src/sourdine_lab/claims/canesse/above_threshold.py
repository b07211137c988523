"""AboveThreshold: its privacy (C3)."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.mechanisms.above_threshold import first_above_law
from sourdine.mechanisms.mechanism import moved
from sourdine_lab.claims.claim import Claim, Finding, Instead

if TYPE_CHECKING:
    from collections.abc import Callable

    Scales = tuple[Fraction, Fraction]

TOLERANCE = 1e-9
INPUTS = ((40, 40, 40, 40, 0), (0, 0, 0, 0, 0), (-3, 2, 0, 1, -1), (8, 8, 0, 0, 0))


def privacy(scales: Scales) -> Finding:
    """Compare the laws of all neighbours: every answer moves by at most 1, any way."""
    return _worst(scales, monotone=False)


def monotone_privacy(scales: Scales) -> Finding:
    """Compare the laws of all neighbours whose answers move in one direction, as counts do."""
    return _worst(scales, monotone=True)


def _worst(scales: Scales, *, monotone: bool) -> Finding:
    worst = 0.0
    for given in INPUTS:
        x = np.array(given)
        law = first_above_law(x, *scales)
        for y in moved(x, 1, monotone=monotone):
            other = first_above_law(y, *scales)
            worst = max(worst, law.divergence(other).value, other.divergence(law).value)
    words = (
        f"exact worst loss {worst:.3f} with Lap({float(scales[0]):g}/ε) on the threshold and "
        f"Lap({float(scales[1]):g}/ε) on the answers, claimed at most 1"
    )
    return Finding(worst <= 1 + TOLERANCE, worst, 0.0, words)


def passed_over(form: Callable[[int], range]) -> Finding:
    """Simulate the event by which the proof writes A = 1, and compare it with the exact law.

    The form is given the index that is returned; it names the answers passed over.
    """
    rng, runs = np.random.default_rng(33), 100_000
    noisy, threshold = rng.laplace(0, 4, (runs, 2)), rng.laplace(0, 2, runs)
    over = noisy[:, list(form(1))].max(axis=1)
    share = float(((over < threshold) & (threshold <= noisy[:, 1])).mean())
    law = first_above_law(np.zeros(2, int), Fraction(200), Fraction(400))  # a fine lattice
    truth = float(law.pmf(1))
    error = sqrt(truth * (1 - truth) / runs)
    words = f"the event has probability {share:.3f}, index 1 is returned with {truth:.3f}"
    return Finding(abs(share - truth) < 4 * error + 0.001, share, error, words)


CLAIMS = (
    Claim(
        id="C3c",
        statement="AboveThreshold with Lap(2/ε) and Lap(4/ε) is ε-private (3.1.0.1) "
        "[rival: a tenth less noise]",
        printed=(Fraction(2), Fraction(4)),
        instead=(Fraction(9, 5), Fraction(18, 5)),
        other=Instead.RIVAL,
        check=privacy,
    ),
    Claim(
        id="C3d",
        statement="Observed: for counts, which move in one direction, Lap(2/ε) on both is "
        "ε-private [rival: a tenth less noise]",
        printed=(Fraction(2), Fraction(2)),
        instead=(Fraction(9, 5), Fraction(9, 5)),
        other=Instead.RIVAL,
        check=monotone_privacy,
        ours=True,
    ),
    Claim(
        id="C3g",
        statement="A = k when the threshold lies above all i ≤ k and not above k (3.1.0.1, proof; "
        "the noises are fixed for i < k, and that is what the proof uses)",
        printed=lambda k: range(k + 1),
        instead=range,
        other=Instead.MEANT,
        check=passed_over,
        quote="g_k = max_{i ≤ k} {f_i(D) + nu_i}",
    ),
)
