"""Rows A13 and A14: inverse sensitivity for a proportion, its normaliser and its bias."""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sourdine_lab.bounds import proportion_is_unbiased
from sourdine_lab.claims.audibert.proportion_laws import distances, privacy, weighed
from sourdine_lab.claims.claim import Claim, Finding, Instead

if TYPE_CHECKING:
    from collections.abc import Callable

Says: TypeAlias = "Callable[[int, int, float], bool]"
"""From n, the number of ones and epsilon to whether something is said to hold."""
EPSILONS = (0.1, 1.0, 3.0)


def normaliser(form: Callable[[int, int, float], float]) -> Finding:
    """Compare a formula with the sum of the weights, for all k of small n."""
    worst = 1.0
    for n in (1, 4, 30):
        for k in range(n + 1):
            for epsilon in EPSILONS:
                exact = np.exp(-epsilon / 2 * np.abs(np.arange(n + 1) - k)).sum()
                worst = max(worst, form(n, k, epsilon) / exact, key=lambda ratio: abs(ratio - 1))
    return Finding(abs(worst - 1) < 1e-9, worst, words=f"formula over sum: {worst:.6f} at worst")


def private(exponent: Callable[[float], float]) -> Finding:
    """Compare all neighbours for n up to 40."""
    over = max(
        privacy(weighed(n, exponent(epsilon))) / epsilon
        for n in (1, 2, 10, 40)
        for epsilon in EPSILONS
    )
    return Finding(
        over <= 1, over, words=f"the loss is {over:.3f} times epsilon, claimed 1 at most"
    )


def unbiased_at(says: Says) -> Finding:
    """Compare, for all k, where f is said to be nearest to the output with where it is."""
    wrong = 0
    for n in (10, 200):
        for epsilon in EPSILONS:
            apart = distances(weighed(n, epsilon / 2))
            for k in range(n + 1):
                nearest = apart[k, k] <= apart[k].min() * (1 + 1e-12)
                wrong += says(n, k, epsilon) != nearest
    at = distances(weighed(1000, 0.5))[0]
    words = (
        f"said wrongly of {wrong} data sets; at f = 0, ε = 1: n E|M - f| = {at[0]:.3f}, "
        f"n E|M - 1/n| = {at[1]:.3f}"
    )
    return Finding(wrong == 0, float(at[0] - at[1]), words=words)


def from_epsilon(threshold: float) -> Finding:
    """Find the epsilon from which f = 0 is nearest to the output, n = 500."""
    low, high = 1e-3, 4.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        apart = distances(weighed(500, middle / 2))[0]
        low, high = (middle, high) if apart[0] > apart.min() * (1 + 1e-12) else (low, middle)
    words = f"said from ε = {threshold:.4f} on, found {high:.4f}"
    return Finding(abs(high - threshold) < 1e-4, high, words=words)


def biased_counts(last: int) -> Finding:
    """Find the number of ones up to which f is not nearest, at epsilon 0.1 and n = 1000."""
    apart = distances(weighed(1000, 0.05))
    failing = [k for k in range(501) if apart[k, k] > apart[k].min() * (1 + 1e-12)]
    found = max(failing, default=-1)
    words = f"said to fail up to nf = {last}, fails up to {found}"
    return Finding(found == last and len(failing) == last + 1, float(found), words=words)


def nearest_balls(says: Callable[[int, int, int], bool]) -> Finding:
    """Compare P(|M - f| <= j/n) with P(|M - t| <= j/n) for all f, t and j that are spoken of."""
    n = 30
    laws = weighed(n, 0.5)
    index = np.arange(n + 1)
    most, where = 0.0, (0, 0, 0)
    for j in range(n):
        ball = laws @ (np.abs(index[:, None] - index) <= j)
        for k in range(n + 1):
            if says(n, k, j) and ball[k].max() - ball[k, k] > most:
                most, where = float(ball[k].max() - ball[k, k]), (k, int(ball[k].argmax()), j)
    k, t, j = where
    words = "no ball around t has more" if most < 1e-12 else (
        f"nf = {k}: the ball of radius {j}/n around {t}/n has {most:.3f} more"
    )  # fmt: skip
    return Finding(most < 1e-12, most, words=words)


CLAIMS = (
    Claim(
        id="A13",
        statement="the normaliser is (e^(-n eps f/2) - e^(eps/2) - 1 + e^(n eps (f-1)/2)) "
        "/ (1 - e^(eps/2))",
        printed=lambda n, k, e: (
            (exp(-e * k / 2) - exp(e / 2) - 1 + exp(e * (k - n) / 2)) / (1 - exp(e / 2))
        ),
        instead=lambda _n, _k, e: (-exp(e / 2) - 1) / (1 - exp(e / 2)),
        other=Instead.RIVAL,
        check=normaliser,
    ),
    Claim(
        id="A13b",
        statement="P(k/n) proportional to e^(-eps |nf - k|/2) is epsilon-private; the rival's "
        "exponent is 10% larger",
        printed=lambda epsilon: epsilon / 2,
        instead=lambda epsilon: 1.1 * epsilon / 2,
        other=Instead.RIVAL,
        check=private,
    ),
    Claim(
        id="A14",
        statement="inverse sensitivity is unbiased, E|M - f| <= E|M - t|, at every data set",
        printed=lambda _n, _k, _epsilon: True,
        instead=proportion_is_unbiased,
        other=Instead.CORRECTION,
        check=unbiased_at,
        quote="M_inv est unbiased [pour tout ensemble de données Z et pour tout t ∈ T]",
    ),
    Claim(
        id="A14b",
        statement="it is unbiased at f = 0 for every epsilon; it is from 2 ln 2 on",
        printed=0.0,
        instead=2 * log(2),
        other=Instead.CORRECTION,
        check=from_epsilon,
        quote="M_inv est unbiased [pour tout ensemble de données Z et pour tout t ∈ T]",
    ),
    Claim(
        id="A14c",
        statement="at epsilon 0.1 it is unbiased for every nf; it is not for nf <= 59",
        printed=-1,
        instead=59,
        other=Instead.CORRECTION,
        check=biased_counts,
        quote="M_inv est unbiased [pour tout ensemble de données Z et pour tout t ∈ T]",
    ),
    Claim(
        id="A14d",
        statement="(1) P(|M - f| <= rho) >= P(|M - f'| <= rho) for all rho; only for balls around "
        "f that stay inside [0, 1]",
        printed=lambda _n, _k, _j: True,
        instead=lambda n, k, j: j <= min(k, n - k),
        other=Instead.CORRECTION,
        check=nearest_balls,
        quote="∀X, X', ∀ρ > 0, P(|M_inv(X) - f(X)| ≤ ρ) ≥ P(|M_inv(X) - f(X')| ≤ ρ) (1)",  # noqa: RUF001
    ),
)
