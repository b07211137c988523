"""Row A17: as n grows inverse sensitivity for a proportion tends to the truth itself."""

from __future__ import annotations

import cmath
from itertools import pairwise
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine_lab.bounds import unbiased_lower_bound
from sourdine_lab.claims.audibert.proportion_laws import distances, is_unbiased, losses, weighed
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


def unbiased(family: Callable[[int, float], NDArray[np.float64]]) -> Finding:
    """Compare E|M - f| with E|M - t| for all f and t."""
    n = 60
    laws = family(n, EPSILON)
    more = losses(laws) - distances(laws).min(axis=1)
    words = f"n (E|M - f| - E|M - t|) is {more.max():.3f} at most, said 0"
    return Finding(is_unbiased(laws), float(more.max()), 0.0, words)


def meets_bound(sizes: tuple[int, ...]) -> Finding:
    """Compare the loss of the exact answer, 0, with the bound, along these n."""
    bound = unbiased_lower_bound(sizes[-1], EPSILON)
    words = f"loss 0, lower bound {bound:.1e} at n = {sizes[-1]:.0e}, said to tend to 0"
    falls = all(
        unbiased_lower_bound(b, EPSILON) < unbiased_lower_bound(a, EPSILON) / 5
        for a, b in pairwise(sizes)
    )
    return Finding(falls and bound < 1e-12, bound, 0.0, words)


def _exact(n: int, epsilon: float) -> NDArray[np.float64]:
    del epsilon
    return np.eye(n + 1)


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
        statement="Observed, as to how it is shown: on neighbours; but the two data sets differ "
        "in half of their records, and neighbours lose epsilon at most at every n",
        printed=lambda _n: 1,
        instead=lambda n: n / 2,
        other=Instead.CORRECTION,
        check=records_between,
        quote="X_i suivent une loi B(1/4) […] X'_i ~ B(3/4) […] Il n'existe donc aucun ϵ",
        ours=True,
    ),
    Claim(
        id="A17d",
        statement="(2) holds e^(it/n - (eps/2)(n + 1 + nf) + it) (meant: - nf, as the line above "
        "gives)",
        printed=1,
        instead=-1,
        other=Instead.MEANT,
        check=second_part,
        quote="e^{it/n - (ϵ/2)(n+1+nf(X)) + it}",
    ),
    Claim(
        id="A17e",
        statement="the limit is unbiased, E|M - f| <= E|M - t| for all f and t (rival: so is "
        "inverse sensitivity itself, at n = 60)",
        printed=_exact,
        instead=lambda n, epsilon: weighed(n, epsilon / 2),
        other=Instead.RIVAL,
        check=unbiased,
        quote="En revanche, on vérifie facilement que M_l est unbiased.",
    ),
    Claim(
        id="A17f",
        statement="but for its privacy the limit is optimal: its loss is 0, and so is what the "
        "lower bound tends to (rival: the exact answer keeps the bound at n = 1000 already)",
        printed=(10**3, 10**6, 10**9, 10**12),
        instead=(10, 100, 1000),
        other=Instead.RIVAL,
        check=meets_bound,
        quote="A ϵ-differential privacy près, M_l est donc bien optimal.",
    ),
)
