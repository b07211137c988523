"""AboveThreshold: its privacy and its accuracy (C3)."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.bounds import (
    above_threshold_alpha,
    above_threshold_alpha_printed,
    above_threshold_alpha_sharp,
    above_threshold_noise,
)
from sourdine.lab.claims.claim import Claim, Finding, Instead
from sourdine.mechanisms.above_threshold import first_above_law
from sourdine.mechanisms.moves import moved

if TYPE_CHECKING:
    from collections.abc import Callable

    Scales = tuple[Fraction, Fraction]
    Alpha = Callable[[int, int], float]

BETA, QUERIES = 0.05, 100
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


def accuracy(alpha: Alpha) -> Finding:
    """Find by the exact law how often an answer fails by alpha, for answers at many heights.

    The form is given the index that is returned, from 0, and the number of queries. What fails is
    an answer passed over that lies alpha above, or one named that lies alpha below.
    """
    edge = above_threshold_alpha(6, 1, BETA)
    shapes = ((100, 0), (-edge,) * 6, (edge,) * 6, (-15, -10, -5, 0, 20, 40), (0,) * 6)
    chance, shape = max((_failing(np.rint(s).astype(int), alpha), s) for s in shapes)
    shown = ", ".join(f"{h:.0f}" for h in shape[:2])
    words = f"fails with probability {chance:.3g} (heights {shown}, ...), claimed at most {BETA}"
    return Finding(chance <= BETA, chance, 0.0, words)


def _failing(heights: np.ndarray, alpha: Alpha) -> float:
    k = len(heights)
    law = first_above_law(heights, Fraction(2), Fraction(4)).pmf(np.arange(k + 1))
    failing = 0.0
    for i in range(k + 1):
        passed = max(heights[:i], default=-inf)
        below = -heights[i] if i < k else -inf
        failing += law[i] * (max(passed, below) >= alpha(min(i, k - 1), k))
    return float(failing)


def both_noises(alpha: Callable[[int], float]) -> Finding:
    r"""Find :math:`P(\max_i|\nu_i| + |\rho| \ge \alpha)` by summing over the threshold's noise."""
    a = alpha(QUERIES)
    r = (np.arange(200_000) + 0.5) * a / 200_000
    inside = float(np.sum((1 - np.exp(-(a - r) / 4)) ** QUERIES * np.exp(-r / 2) / 2) * r[0] * 2)
    quantile = above_threshold_noise(QUERIES, 1, BETA)
    words = (
        f"alpha = {a:.1f} is reached with probability {1 - inside:.3g}, claimed at most {BETA} "
        f"(the true 95 % quantile is {quantile:.1f})"
    )
    return Finding(1 - inside <= BETA, 1 - inside, 0.0, words)


def threshold_tail(form: Callable[[float], float]) -> Finding:
    """Compare the claimed chance of the threshold's noise beyond alpha/2 with the Laplace law's."""
    worst = max(
        exp(-above_threshold_alpha(k, 1, beta) / 4) / form(beta)
        for k in (1, 10, 100)
        for beta in (0.5, 0.05, 0.001)
    )
    return Finding(
        worst <= 1 + TOLERANCE, worst, 0.0, f"truth over claim at most {worst:.3g}, claimed 1"
    )


def answers_tail(form: Callable[[float], float]) -> Finding:
    """Compare the claimed chance of one answer's noise beyond alpha/2 with the Laplace law's."""
    alpha = above_threshold_alpha(QUERIES, 1, BETA)
    drawn = np.abs(np.random.default_rng(3).laplace(0, 4, 400_000))
    shares = [(float((drawn >= x / 2).mean()), form(x)) for x in (4.0, 16.0, alpha / 2)]
    far = max(abs(share - said) / max(1e-4, sqrt(share / len(drawn))) for share, said in shares)
    said = form(16.0)
    words = f"beyond 8 with probability {shares[1][0]:.4f} ± 0.0005, claimed {said:.4g}"
    return Finding(far < 5, shares[1][0], 0.0005, words)


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
        id="C3",
        statement="AboveThreshold is within alpha = 8(ln k + ln(2/beta))/ε, k the index it returns",
        printed=lambda index, queries: above_threshold_alpha_printed(index, 1, BETA),  # noqa: ARG005
        instead=lambda index, queries: above_threshold_alpha(queries, 1, BETA),  # noqa: ARG005
        other=Instead.CORRECTION,
        check=accuracy,
    ),
    Claim(
        id="C3b",
        statement="With k = 100 queries both noises stay below alpha = 66.4 (beta = 0.05, ε = 1) "
        "[rival: 4 ln(2k/(3 beta))/ε, enough for the answer itself]",
        printed=lambda k: above_threshold_alpha(k, 1, BETA),
        instead=lambda k: above_threshold_alpha_sharp(k, 1, BETA),
        other=Instead.RIVAL,
        check=both_noises,
    ),
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
        statement="For counts, which move in one direction, Lap(2/ε) on both is ε-private "
        "[rival: a tenth less noise]",
        printed=(Fraction(2), Fraction(2)),
        instead=(Fraction(9, 5), Fraction(9, 5)),
        other=Instead.RIVAL,
        check=monotone_privacy,
    ),
    Claim(
        id="C3e",
        statement="The threshold's noise passes alpha/2 with probability beta/2 at most (3.2.0.1) "
        "[rival: beta²/8]",
        printed=lambda beta: beta / 2,
        instead=lambda beta: beta**2 / 8,
        other=Instead.RIVAL,
        check=threshold_tail,
    ),
    Claim(
        id="C3f",
        statement="An answer's noise passes alpha/2 with probability exp(-(-alpha ε)/8) (3.2.0.1)",
        printed=lambda alpha: exp(alpha / 8),
        instead=lambda alpha: exp(-alpha / 8),
        other=Instead.CORRECTION,
        check=answers_tail,
    ),
    Claim(
        id="C3g",
        statement="A = k when the threshold lies above all i ≤ k and not above k (3.1.0.1, proof)",
        printed=lambda k: range(k + 1),
        instead=range,
        other=Instead.CORRECTION,
        check=passed_over,
    ),
)
