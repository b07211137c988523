"""Composition (C1), and noise on the quantile itself (C2)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, hypot
from typing import TYPE_CHECKING

import numpy as np

from sourdine.central.quantiles.naive import NaiveLaplace
from sourdine.mechanisms import Laplace
from sourdine.noise import SeededSource
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.experiments.canesse import deciles

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.noise import Source

    Method = Callable[[deciles.Floats, Source], deciles.Floats]

LOSSES = ((Fraction(1, 2), Fraction(1)), (Fraction(1, 4), Fraction(1, 4)))
TOLERANCE = 1e-9


def composition(total: Callable[[float, float], float]) -> Finding:
    """Compare the claimed total with the exact worst case of two Laplace mechanisms together."""
    excess, worst, claimed = max(
        (
            _joint_loss(e, f) - total(float(e), float(f)),
            _joint_loss(e, f),
            total(float(e), float(f)),
        )
        for e, f in LOSSES
    )
    words = f"worst loss of two mechanisms {worst:.3f}, claimed at most {claimed:.3f}"
    return Finding(excess <= TOLERANCE, worst, 0.0, words)


def _joint_loss(first: Fraction, second: Fraction) -> float:
    """Return the largest log ratio over all pairs of outputs of two independent mechanisms."""
    cells = np.arange(-40, 41)
    logs = []
    for epsilon in (first, second):
        laws = [Laplace(epsilon=epsilon, sensitivity=1).law(x) for x in (0, 1)]
        logs.append(laws[0].log_pmf(cells) - laws[1].log_pmf(cells))
    return float(np.abs(np.add.outer(*logs)).max())


def sensitivity(form: Callable[[int, int], float]) -> Finding:
    """Compare a claimed sensitivity of the median with the largest move over all neighbours."""
    n, width = 3, 5
    k = ceil(n / 2) - 1
    largest = max(
        abs(sorted(x)[k] - sorted((*x[:-1], y))[k])
        for x in product(range(width + 1), repeat=n)
        for y in range(width + 1)
    )
    words = f"one of {n} records moves the median by {largest}, claimed {form(width, n):.3g}"
    return Finding(largest == form(width, n), largest, 0.0, words)


def naive_scale(share: float) -> Finding:
    """Hold noise of so much of the range over epsilon to epsilon = 1, by the exact law."""
    mechanism = NaiveLaplace(epsilon=1 / share, q=[0.5], cells=6, relation="substitute")
    laws = [mechanism.law(mechanism.read(x)) for x in ([0], [5])]
    loss = laws[0].divergence(laws[1]).value
    words = f"loss {loss:.3f} at noise {share:g} (b - a)/ε, claimed at most 1"
    return Finding(loss <= 1 + TOLERANCE, loss, 0.0, words)


def failure(method: Method) -> Finding:
    """Find whether ten times the data fails to halve the error of the nine deciles."""
    source = SeededSource(2)
    few, many = (_errors(method, n, source) for n in (500, 5000))
    ratio = float(few.mean() / many.mean())
    spread = ratio * np.hypot(*(e.std(ddof=1) / e.mean() / len(e) ** 0.5 for e in (few, many)))
    words = (
        f"ten times the data divides the error by {ratio:.2f} ± {spread:.2f} "
        f"(to {many.mean():.3f} of the range), a failure below 2"
    )
    return Finding(ratio + 4 * float(spread) < 2, ratio, float(spread), words)


def _errors(method: Method, n: int, source: Source) -> deciles.Floats:
    rng = np.random.default_rng(n)
    sets = (rng.random(n) for _ in range(40))
    return np.array([deciles.error(method(x, source), deciles.sample_deciles(x)) for x in sets])


CLAIMS = (
    Claim(
        id="C1",
        statement="Independent mechanisms together are (sum of their ε)-private (1.2.0.1) "
        "[rival: the root of the sum of squares]",
        printed=lambda e, f: e + f,
        instead=hypot,
        other=Instead.RIVAL,
        check=composition,
    ),
    Claim(
        id="C2",
        statement="Laplace noise on the quantile itself fails (section 2, which leaves it to be "
        "shown) [rival: inverse sensitivity]",
        printed=deciles.naive,
        instead=deciles.inverse_sensitivity,
        other=Instead.RIVAL,
        check=failure,
    ),
    Claim(
        id="C2b",
        statement="Observed: by definition 3.1.0.1 a quantile has sensitivity b - a, whatever n "
        "[rival: (b - a)/n]",
        printed=lambda width, n: width,  # noqa: ARG005
        instead=lambda width, n: width / n,
        other=Instead.RIVAL,
        check=sensitivity,
        ours=True,
    ),
    Claim(
        id="C2c",
        statement="Observed: Laplace noise of scale (b - a)/ε makes a quantile ε-private "
        "[rival: nine tenths of it]",
        printed=1.0,
        instead=0.9,
        other=Instead.RIVAL,
        check=naive_scale,
        ours=True,
    ),
)
