"""W4: rates, dense and sparse, the elbow between them, and what Haar's wavelet misses."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.local.densities.wavelets import Basis, Wavelet
from sourdine_lab.besov import expansion
from sourdine_lab.bounds import density_risk_at_least
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.experiments.dubois.hardest import dense, sparse
from sourdine_lab.experiments.dubois.risks import BITS, CELLS, SHAPES, heights, means, slope

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SMOOTH = tuple(Fraction(k, 4) for k in range(3, 17))
LOSSES = (Fraction(2), Fraction(3), Fraction(6))
PEOPLE = {"private": np.logspace(6, 14, 65), "open": np.logspace(3, 10, 65)}
S, R = 1.5, 6.0
"""The smoothness and the loss of the lower bounds; the elbow is at p = 2.4."""
TRIANGLE = 1.5
"""The triangle's smoothness in squared mean."""


def meet(elbow: Callable[[Any, Any], Any]) -> Finding:
    """Compare the two exponents where the form says that the zones meet."""
    gaps = [
        abs(dense(s, r) - sparse(s, elbow(s, r), r))
        for s, r in product(SMOOTH, LOSSES)
        if s > 1 / elbow(s, r)
    ]
    words = f"there the two exponents differ by {float(max(gaps)):.4f} at most"
    return Finding(max(gaps) == 0, float(max(gaps)), words=words)


def slower(is_dense: Callable[[Any, Any, Any], bool]) -> Finding:
    """Ask whether the chosen exponent is the smaller one: the harder problem sets the rate."""
    wrong = cases = 0
    for s, r, k in product(SMOOTH, LOSSES, range(4, 40)):
        p = Fraction(k, 4)
        if s > 1 / p:
            chosen = dense(s, r) if is_dense(p, s, r) else sparse(s, p, r)
            wrong += chosen > min(dense(s, r), sparse(s, p, r))
            cases += 1
    return Finding(wrong == 0, wrong, words=f"the larger exponent in {wrong} of {cases} cases")


def least_risks(name: str, wavelet: str, way: str) -> NDArray[np.float64]:
    """Return the risk of the best linear estimator for each n: bias and variance, exactly.

    The estimator takes phi at one level; with privacy, alpha is spent there at the paper's scale.
    """
    truth, made = heights(name), []
    for j in range(2, 11):
        basis = Basis(wavelet, BITS, j, j)
        level = basis.levels[0]
        mean = level.height * means(basis, level, truth / CELLS)
        bias = ((basis.rebuild(level, mean) - truth) ** 2).mean()
        scale = 4 * basis.wavelet.touching * basis.wavelet.peak("phi") if way == "private" else 0.0
        variance = (1 << j) * (1 + 2 * scale**2 * (1 << j))
        made.append(bias + variance / PEOPLE[way])
    return np.asarray(np.min(made, axis=0))


def falls(exponent: float, way: str) -> Finding:
    """Compare the slope of the least risk on the triangle with an exponent."""
    found, error = slope(PEOPLE[way], least_risks("triangle", "db4", way))
    words = f"the least risk on the triangle falls with slope {found:.3f}, said -{exponent:.3f}"
    return Finding(abs(found + exponent) <= 0.05, found, error, words)


def falls_privately(exponent: Callable[[float], float]) -> Finding:
    """Take noisy coefficients."""
    return falls(exponent(TRIANGLE), "private")


def falls_openly(exponent: Callable[[float], float]) -> Finding:
    """Take the coefficients themselves."""
    return falls(exponent(TRIANGLE), "open")


@cache
def bounded_below(p: float) -> tuple[float, float]:
    """Return the slope of the best lower bound that Assouad and Fano give, s = 3/2 and r = 6.

    For every n the number of bumps, their level and their height are the best of all; in the sparse
    zone the slope is that in n/ln n.
    """
    sizes = np.logspace(14, 40, 27)
    found = np.array([density_risk_at_least(n, 1, s=S, p=p, r=R) for n in sizes])
    return slope(sizes if p > R / (S + 1) else sizes / np.log(sizes), found)


def below(exponent: float, p: float) -> Finding:
    """Compare that slope with an exponent."""
    found, error = bounded_below(p)
    words = f"s = 1.5, r = 6, p = {p:g}: the best lower bound falls with slope {found:.3f}"
    return Finding(abs(found + exponent) <= 0.03, found, error, f"{words}, said -{exponent:.3f}")


def below_sparse(exponent: Callable[[float, float, float], float]) -> Finding:
    """Take a ball in the sparse zone."""
    return below(exponent(S, 1.5, R), 1.5)


def below_dense(exponent: Callable[[float, float], float]) -> Finding:
    """Take a ball in the dense zone."""
    return below(exponent(S, R), 4.0)


def below_on_both_sides(exponent: Callable[[float, float, float], float]) -> Finding:
    """Take balls on both sides of the elbow at p = 2.4; compare the worst difference."""
    off = {p: bounded_below(p)[0] + exponent(S, p, R) for p in (1.0, 1.25, 1.5, 3.0, 4.0, 6.0)}
    worst = max(off, key=lambda p: abs(off[p]))
    words = f"slopes of the best lower bound are off by {off[worst]:.3f} at most, at p = {worst:g}"
    return Finding(abs(off[worst]) <= 0.03, off[worst], words=words)


def told(wavelet: str) -> Finding:
    """Read the smoothness of two densities from their coefficients, level by level.

    A function is in the space of s, p and q = infinity if 2^(j(s+1/2-1/p)) |beta_j|_p is bounded:
    with p = 2 the triangle up to s = 3/2, the step up to 1/2.
    """
    found = {}
    for name in ("triangle", "step"):
        beta = expansion(SHAPES[name], wavelet=wavelet, first=3, last=10, bits=15).beta
        sizes = [float((c**2).sum()) ** 0.5 for c in beta]
        found[name] = -slope(np.exp2(np.arange(3.0, 11)), np.array(sizes))[0]
    off = max(abs(found["triangle"] - 1.5), abs(found["step"] - 0.5))
    words = f"{wavelet} finds smoothness {found['triangle']:.2f} of the triangle,"
    return Finding(off <= 0.1, off, words=f"{words} {found['step']:.2f} of the step")


def differentiable(wavelet: str) -> Finding:
    """Ask whether second differences of phi over h^2 stay bounded as h shrinks: N = 1."""
    largest = []
    for bits in (6, 8, 10, 12):
        phi = np.pad(Wavelet(wavelet).values("phi", bits).ravel(), 2)
        largest.append(float(np.abs(np.diff(phi, 2)).max() * 4.0**bits))
    growth = float(np.log2(largest[-1] / largest[0]) / 6)
    words = f"second differences of {wavelet} grow as h^-{max(growth, 0):.2f}"
    return Finding(growth <= 0.05, growth, words=words)


def reaches(wavelet: str) -> Finding:
    """Ask whether the least risk on a smooth density falls as for s = 2 at least."""
    found, error = slope(PEOPLE["private"], least_risks("smooth", wavelet, "private"))
    words = f"with {wavelet} the least risk falls with slope {found:.3f}, for s = 2 -0.667"
    return Finding(found <= -2 / 3, found, error, words)


CLAIMS = (
    Claim(
        id="W4",
        statement="the zones meet at p = r/(s+1) (rival: r/(2s+1), the elbow without privacy)",
        printed=lambda s, r: r / (s + 1),
        instead=lambda s, r: r / (2 * s + 1),
        other=Instead.RIVAL,
        check=meet,
    ),
    Claim(
        id="W4b",
        statement="dense if p > r/(s+1), sparse else (rival: the other way round)",
        printed=lambda p, s, r: p > r / (s + 1),
        instead=lambda p, s, r: p <= r / (s + 1),
        other=Instead.RIVAL,
        check=slower,
    ),
    Claim(
        id="W4c",
        statement="with privacy the squared error falls as (n alpha^2)^(-2s/(2s+2)) (rival:"
        " 2s/(2s+1), that without)",
        printed=lambda s: 2 * s / (2 * s + 2),
        instead=lambda s: 2 * s / (2 * s + 1),
        other=Instead.RIVAL,
        check=falls_privately,
    ),
    Claim(
        id="W4d",
        statement="without privacy it falls as n^(-2s/(2s+1)) (rival: 2s/(2s+2), that with)",
        printed=lambda s: 2 * s / (2 * s + 1),
        instead=lambda s: 2 * s / (2 * s + 2),
        other=Instead.RIVAL,
        check=falls_openly,
    ),
    Claim(
        id="W4e",
        statement="Proposition 2.1, sparse zone: no private estimator falls faster than"
        " r(s-1/p+1/r)/(2(s-1/p)+2) (rival: ... + 1, as without privacy)",
        printed=sparse,
        instead=lambda s, p, r: r * (s - 1 / p + 1 / r) / (2 * (s - 1 / p) + 1),
        other=Instead.RIVAL,
        check=below_sparse,
    ),
    Claim(
        id="W4f",
        statement="Proposition 2.1, dense zone: no private estimator falls faster than rs/(2s+2),"
        " in other norms too (rival: rs/(2s+1))",
        printed=dense,
        instead=lambda s, r: r * s / (2 * s + 1),
        other=Instead.RIVAL,
        check=below_dense,
    ),
    Claim(
        id="W4g",
        statement="hypothesis 1.1 with N = 1, as the theorem asks: db8 has it (rival: Haar)",
        printed="db8",
        instead="haar",
        other=Instead.RIVAL,
        check=differentiable,
    ),
    Claim(
        id="W4h",
        statement="a smooth wavelet reaches the rate of s = 2 on a smooth density (rival: Haar"
        " stops at s = 1)",
        printed="db4",
        instead="haar",
        other=Instead.RIVAL,
        check=reaches,
    ),
    Claim(
        id="W4i",
        statement="hypothesis 1.1 with N = 1 asks for two bounded derivatives: db8 has them (rival:"
        " db4, a usual choice)",
        printed="db8",
        instead="db4",
        other=Instead.RIVAL,
        check=differentiable,
    ),
    Claim(
        id="W4j",
        statement="Proposition 2.1 has a change of regime at p = r/(s+1), as lower bounds by many"
        " bumps and by one have (rival: the dense rate everywhere)",
        printed=lambda s, p, r: dense(s, r) if p > r / (s + 1) else sparse(s, p, r),
        instead=lambda s, _, r: dense(s, r),
        other=Instead.RIVAL,
        check=below_on_both_sides,
    ),
    Claim(
        id="W4k",
        statement="hypothesis 1.1 lets wavelet coefficients tell in which Besov space a density is"
        " (rival: Haar, which has it not)",
        printed="db8",
        instead="haar",
        other=Instead.RIVAL,
        check=told,
    ),
)
