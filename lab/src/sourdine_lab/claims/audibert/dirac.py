"""Row A17: as n grows inverse sensitivity for a proportion tends to the truth itself."""

from __future__ import annotations

import cmath
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine_lab.claims.claim import Claim, Finding, Instead

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

EPSILON = 1.0


def law(n: int, k: int) -> NDArray[np.float64]:
    """Return the law of the output times n."""
    weights = np.exp(-EPSILON / 2 * np.abs(np.arange(n + 1) - k))
    return np.asarray(weights / weights.sum())


def tends_to(form: Callable[[float, float], complex]) -> Finding:
    """Compare the characteristic function at f = 1/4, as n grows, with a limit."""
    apart = []
    for n in (1_000, 10_000, 100_000):
        p, at = law(n, n // 4), np.arange(n + 1) / n
        apart.append(
            max(abs(complex(p @ np.exp(1j * t * at)) - form(t, 0.25)) for t in (0.5, 3.0, 20.0))
        )
    words = f"greatest difference {apart[0]:.0e} at n = 10³, {apart[2]:.0e} at 10⁵"
    return Finding(apart[-1] < 1e-6, apart[-1], words=words)


def far_apart(power: float) -> Finding:
    """Compare how the loss between data of mean 1/4 and of 3/4 grows with a power of n."""
    lost = {}
    for n in (40, 400):
        a, b = law(n, n // 4), law(n, 3 * n // 4)
        lost[n] = float(np.abs(np.log(a) - np.log(b)).max())
    slope = log(lost[400] / lost[40]) / log(10)
    words = (
        f"loss {lost[40]:.0f} at n = 40, {lost[400]:.0f} at n = 400: n^{slope:.2f}, "
        f"claimed n^{power:g}"
    )
    return Finding(abs(slope - power) < 0.05, slope, words=words)


def records_between(count: Callable[[int], float]) -> Finding:
    """Count the records to replace between data of mean 1/4 and of 3/4; a neighbour needs one."""
    n = 400
    x, y = (np.arange(n) < ones for ones in (n // 4, 3 * n // 4))
    least = abs(int(x.sum()) - int(y.sum()))
    a, b = law(n, n // 4), law(n, n // 4 + 1)
    one = float(np.abs(np.log(a) - np.log(b)).max())
    words = f"said {count(n):g}, are {least} of {n}; neighbours lose {one:.3f}, claimed {EPSILON:g}"
    return Finding(count(n) == least, float(least), words=words)


def second_part(sign: int) -> Finding:
    """Compare the printed numerator of (2), with n + 1 + sign nf in its exponent, with the sum."""
    worst = 1.0 + 0.0j
    for n, k in ((4, 1), (10, 5), (30, 12)):
        for t in (0.5, 3.0):
            it, f = 1j * t, k / n
            step = it / n - EPSILON / 2
            exact = exp(EPSILON * k / 2) * sum(cmath.exp(step * j) for j in range(k + 1, n + 1))
            last = cmath.exp(it / n - EPSILON / 2 * (n + 1 + sign * k) + it)
            found = (cmath.exp(it * f + step) - last) / (1 - cmath.exp(step))
            worst = max(worst, found / exact, key=lambda ratio: abs(ratio - 1))
    words = f"formula over sum: {abs(worst):.4f} at worst"
    return Finding(abs(worst - 1) < 1e-9, abs(worst), words=words)


CLAIMS = (
    Claim(
        id="A17",
        statement="as n grows the mechanism tends to the Dirac mass at f; the rival keeps a width",
        printed=lambda t, f: cmath.exp(1j * t * f),
        instead=lambda t, f: cmath.exp(1j * t * f) / (1 + (2 * t / EPSILON) ** 2),
        other=Instead.RIVAL,
        check=tends_to,
    ),
    Claim(
        id="A17b",
        statement="the limit is not private for any epsilon: the loss between data of mean 1/4 and "
        "of 3/4 has no bound, as it grows with n (rival: it stays)",
        printed=1.0,
        instead=0.0,
        other=Instead.RIVAL,
        check=far_apart,
    ),
    Claim(
        id="A17c",
        statement="that is shown on neighbours; the two data sets differ in half of their records, "
        "and neighbours lose epsilon at most at every n",
        printed=lambda _n: 1,
        instead=lambda n: n / 2,
        other=Instead.CORRECTION,
        check=records_between,
    ),
    Claim(
        id="A17d",
        statement="(2) holds e^(it/n - (eps/2)(n + 1 + nf) + it); the sign of nf is wrong",
        printed=1,
        instead=-1,
        other=Instead.CORRECTION,
        check=second_part,
    ),
)
