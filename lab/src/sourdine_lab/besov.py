r"""Besov norms by wavelet coefficients, densities of a Besov ball, and risks over the ball.

With a wavelet basis from level :math:`j_0` on (Dubois et al. 2019, expansion (2)), the norm is

.. math:: \|f\|_{s,p,q} = \|\alpha_{j_0\cdot}\|_p + \Big(\sum_{j \ge j_0} \big(2^{j(s + 1/2 - 1/p)}
          \|\beta_{j\cdot}\|_p\big)^q\Big)^{1/q} .

Functions live on [0, 1], for which the document's :math:`[-T, T]` stands, and are given on
:math:`2^b` cells, so levels beyond :math:`b - 3` are left out: of a function with a jump the norm
found grows with b for :math:`s > 1/p`.

The class :math:`\mathcal D^s_{pq}(L, T)` is infinite. `Ball.draw` draws densities of it, and
`worst_risk` is the supremum over all sequences of coefficients whose levels have equal bumps: of a
level's risk that is all but a constant, because any other level splits into :math:`\log n` such.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import isinf
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sourdine.errors import ParameterError
from sourdine.local.densities.wavelets import UNIT, Basis, Level, Wavelet

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from sourdine.local.densities.dubois import Dubois

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["Ball", "Expansion", "besov_norm", "expansion", "risk_over", "thresholded_risk",
           "worst_risk"]  # fmt: skip

BITS = 12
TAPER = 0.25
"""The densities that are drawn are flat but for this part at each end."""


# ---- Coefficients and norms ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Expansion:
    """The coefficients of a function: alpha at the first level, beta from there on."""

    first: int
    alpha: Floats
    beta: tuple[Floats, ...]

    def norm(self, s: float, p: float, q: float) -> float:
        """Return the Besov norm; p and q may be infinite."""
        levels = np.array(
            [
                2 ** ((self.first + i) * (s + 0.5 - 1 / p)) * _length(beta, p)
                for i, beta in enumerate(self.beta)
            ]
        )
        return _length(self.alpha, p) + _length(levels, q)


def _length(x: Floats, p: float) -> float:
    top = float(np.abs(x).max(initial=0))
    if isinf(p) or not top:
        return top
    return top * float(((np.abs(x) / top) ** p).sum() ** (1 / p))


def expansion(
    f: ArrayLike | Callable[[Floats], ArrayLike],
    *,
    wavelet: str = "db8",
    first: int = 0,
    last: int | None = None,
    bits: int = BITS,
) -> Expansion:
    """Return the coefficients of a function on [0, 1], or of its heights on 2^b cells.

    Examples
    --------
    >>> flat = expansion(lambda x: np.ones(x.size), first=2, last=4)
    >>> round(float((flat.alpha**2).sum()), 2), len(flat.beta)
    (0.95, 3)
    """
    heights = _heights(f, bits)
    bits = heights.size.bit_length() - 1
    basis = Basis(wavelet, bits, first, max(bits - 3, first) if last is None else last)
    alpha, *beta = (
        level.height * means(basis, level, heights / heights.size) for level in basis.levels
    )
    return Expansion(first, alpha, tuple(beta))


def _heights(f: Any, bits: int) -> Floats:
    if callable(f):
        f = f((np.arange(1 << bits) + 0.5) / (1 << bits))
    heights = np.asarray(f, np.float64)
    if heights.ndim != 1 or heights.size < 16 or heights.size & (heights.size - 1):
        raise ParameterError("f must be a function, or heights on 16, 32, 64, ... equal cells.")
    return heights


@lru_cache(256)
def _columns(basis: Basis, level: Level) -> tuple[NDArray[np.int64], Floats]:
    """Return which function of a level each cell's values belong to, and the values."""
    whole, column = basis.places(level, np.arange(1 << basis.bits))
    table = basis.table(level)
    rows = np.stack([whole - m + len(table) - 1 for m in range(len(table))])
    return rows.ravel(), (table[:, column] / UNIT).ravel()


def means(basis: Basis, level: Level, share: Floats) -> Floats:
    """Return the mean of a level's functions over people's shares of the cells, times 2^(-j/2)."""
    rows, values = _columns(basis, level)
    weights = values * np.tile(share, len(values) // len(share))
    made: Floats = np.bincount(rows, weights, minlength=basis.size(level)).astype(np.float64)
    return made


def besov_norm(
    f: ArrayLike | Callable[[Floats], ArrayLike] | Expansion,
    s: float,
    p: float,
    q: float,
    *,
    wavelet: str = "db8",
    first: int = 0,
    last: int | None = None,
    bits: int = BITS,
) -> float:
    r"""Return the norm of a function in the Besov space :math:`\mathcal B^s_{pq}`.

    Parameters
    ----------
    f
        A function on [0, 1], its heights on equal cells, or an `Expansion`.
    s
        The smoothness, above 0 and below N + 1 of the wavelet (hypothesis 1.1): 2 for db8.
    p, q
        From 1 on; infinity (``math.inf``) is allowed.
    wavelet, first, last
        The basis. ``last`` defaults to three levels above the cells.
    bits
        A function is taken at :math:`2^b` places.

    Raises
    ------
    ParameterError
        The wavelet does not characterise the space, or p or q is below 1.

    Notes
    -----
    *Claim*: the norm of a single function of the basis is :math:`2^{j(s + 1/2 - 1/p)}`, and
    :math:`\|f\|_{s - 1/p + 1/u, u, q} \le \|f\|_{s,p,q}` for :math:`u \ge p`. *Checked by*
    ``test_besov_norm_of_basis_functions`` and ``test_besov_spaces_are_embedded``.

    Examples
    --------
    >>> triangle = lambda x: 2 - np.abs(4 * x - 2)
    >>> round(besov_norm(triangle, 1, 2, 2), 2), round(besov_norm(triangle, 1, 2, 2, bits=14), 2)
    (1.83, 1.83)
    """
    most = Wavelet(wavelet).smoothness + 1
    if not 0 < s < most:
        raise ParameterError(
            f"s must be above 0 and below N + 1 = {most} of {wavelet}, got {s:g}. "
            "Use a longer wavelet, such as wavelet='db20'."
        )
    if p < 1 or q < 1:
        raise ParameterError(f"p and q must be at least 1, got {p:g} and {q:g}.")
    if not isinstance(f, Expansion):
        f = expansion(f, wavelet=wavelet, first=first, last=last, bits=bits)
    return f.norm(s, p, q)


# ---- Densities of a ball -------------------------------------------------------------------------


@dataclass(frozen=True)
class Ball:
    r"""The densities on [0, 1] with a Besov norm of at most L.

    Parameters
    ----------
    s, p, q
        The space.
    radius
        The document's L.
    wavelet
        That of the norm.

    Notes
    -----
    A density is drawn as a smooth one, :math:`f_0`, and bumps :math:`\psi_{jk}` where it is flat:
    their mean is 0, so the integral stays 1; they are kept below the height of :math:`f_0`, so
    nothing is negative; their norm is at most what :math:`f_0` leaves of L. *Checked by*
    ``test_members_of_a_ball_are_densities_of_the_class``.

    Examples
    --------
    >>> from math import inf
    >>> ball = Ball(0.75, 2, inf, radius=6)
    >>> f = ball.draw(np.random.default_rng(1))
    >>> bool(f.min() >= 0), round(float(f.mean()), 6), ball.contains(f)
    (True, 1.0, True)
    >>> ball.contains(lambda x: 100 * (x < 0.01))
    False
    """

    s: float
    p: float
    q: float
    radius: float
    wavelet: str = "db8"

    def __post_init__(self) -> None:
        if self.room <= 0:
            least = self.radius - self.room
            raise ParameterError(
                f"radius must be above {least:.2f}, the norm of a smooth density, "
                f"got {self.radius:g}."
            )

    @cached_property
    def centre(self) -> Floats:
        """A density that is flat but for its ends."""
        x = (np.arange(1 << BITS) + 0.5) / (1 << BITS)
        ramp = np.clip(np.minimum(x, 1 - x) / TAPER, 0, 1)
        f = (1 - np.cos(np.pi * ramp)) / 2
        return np.asarray(f / f.mean())

    @cached_property
    def room(self) -> float:
        """What the centre leaves of the radius."""
        return self.radius - self.norm(self.centre)

    @cached_property
    def basis(self) -> Basis:
        return Basis(self.wavelet, BITS, 0, BITS - 3)

    def norm(self, f: ArrayLike | Callable[[Floats], ArrayLike]) -> float:
        """Return the norm of a function."""
        return besov_norm(f, self.s, self.p, self.q, wavelet=self.wavelet)

    def contains(self, f: ArrayLike | Callable[[Floats], ArrayLike]) -> bool:
        """Return whether a function is a density of the ball."""
        heights = _heights(f, BITS)
        density = heights.min() >= 0 and abs(heights.mean() - 1) < 1e-6
        return bool(density and self.norm(heights) <= self.radius * (1 + 1e-9))

    @property
    def levels(self) -> range:
        """The levels that have bumps where the centre is flat."""
        return range(5, BITS - 3)

    def places(self, j: int) -> NDArray[np.int64]:
        """Return which functions of level j lie where the centre is flat."""
        length, start = self.basis.wavelet.length, self.basis.wavelet.length - 1
        return np.arange(start + (1 << j) // 4, start + 3 * (1 << j) // 4 - length + 1)

    def with_bumps(self, bumps: dict[int, Floats]) -> Floats:
        """Return the centre with bumps: their coefficients by level, made to fit the ball."""
        added, coefficients = np.zeros(1 << BITS), []
        for j in range(self.basis.last + 1):
            c = np.zeros(self.basis.size(Level("psi", j)))
            if j in bumps:
                c[self.places(j)] = bumps[j]
            coefficients.append(c)
            added += self.basis.rebuild(Level("psi", j), c)
        size = Expansion(0, np.zeros(1), tuple(coefficients)).norm(self.s, self.p, self.q)
        flat = float(self.centre.max())
        # The rounding of the wavelets to whole numbers leaves a mean of 1e-6: it is taken out.
        scale = min(self.room / size, flat / float(np.abs(added).max())) * (1 - 1e-6)
        return np.asarray(np.maximum(self.centre + scale * added, 0) / (1 + scale * added.mean()))

    def hardest(self, j: int, bumps: int) -> Floats:
        """Return the centre with equal bumps of level j, the highest that the ball has."""
        return self.with_bumps({j: (np.arange(self.places(j).size) < bumps).astype(np.float64)})

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw a density: some levels have bumps, few or many, of either sign."""
        levels = rng.choice(self.levels, rng.integers(1, len(self.levels) + 1), replace=False)
        bumps = {}
        for j in levels.tolist():
            size = self.places(j).size
            share = np.exp(rng.uniform(-np.log(size), 0))
            there = rng.random(size) < share
            there[rng.integers(size)] = True
            height = 2.0 ** (-j * (self.s + 0.5 - 1 / self.p)) * there.sum() ** (-1 / self.p)
            bumps[j] = height * there * rng.choice([-1.0, 1.0], size)
        return self.with_bumps(bumps)


# ---- Risks ---------------------------------------------------------------------------------------


def thresholded_risk(beta: ArrayLike, sd: float, least: float, r: float = 2) -> Floats:
    r"""Return :math:`E|\tilde\beta - \beta|^r` of a coefficient that is kept from ``least`` on.

    The average of many Laplace variables is normal but for :math:`1/n`:
    :math:`\hat\beta \sim N(\beta, sd^2)`, and the mean is an incomplete gamma function. *Checked
    by* ``test_thresholded_risk_is_that_of_draws``.

    Examples
    --------
    >>> thresholded_risk([0.0, 0.0, 3.0], 1, [0, 100, 100]).round(6).tolist()
    [1.0, 0.0, 9.0]
    """
    from scipy.special import gamma, gammaincc, ndtr

    b = np.abs(np.asarray(beta, np.float64))
    mean = 2 ** (r / 2) * gamma((r + 1) / 2) / np.pi**0.5

    def beyond(z: Any) -> Any:
        """Return the mean of |Z|^r where Z is above z."""
        tail = mean / 2 * gammaincc((r + 1) / 2, z * z / 2)
        return np.where(z >= 0, tail, mean - tail)

    above, below = (np.asarray(least) - b) / sd, (np.asarray(least) + b) / sd
    missed = ndtr(above) - ndtr(-below)
    return np.asarray(b**r * missed + sd**r * (beyond(above) + beyond(below)))


def risk_over(rule: Dubois, n: int, f: ArrayLike) -> float:
    """Return the mean squared error over the line of `Dubois` without cap, on heights on cells.

    The chance of who takes part is left out: its variance is hundreds of times smaller than that of
    the noise.
    """
    found = expansion(f, wavelet=rule.wavelet, first=rule.basis.first, last=rule.basis.last)
    whole = float((np.asarray(f) ** 2).mean())
    total = whole
    parts = zip(
        (found.alpha, *found.beta), rule.basis.levels, rule.scales, rule.thresholds(n), strict=True
    )
    for beta, level, t, least in parts:
        sd = (2 / n) ** 0.5 * float(t) / UNIT * level.height
        total += float((thresholded_risk(beta, sd, least) - beta**2).sum())
    return total


def worst_risk(
    n: float,
    *,
    s: float,
    p: float,
    r: float = 2,
    radius: float = 1,
    wavelet: str = "db8",
    nu: float = 1.5,
    gamma: float = 4,
    level: int | None = None,
) -> float:
    r"""Return the largest risk of the printed estimator on a Besov ball, up to a constant.

    The ball is :math:`\mathcal B^s_{p\infty}(L)`. A level with m bumps of height :math:`\beta`
    is in it while :math:`\beta m^{1/p} \le L\, 2^{-j(s + 1/2 - 1/p)}`; its loss in :math:`L_r`
    is :math:`2^{j(r/2 - 1)} \sum_k |\tilde\beta_k - \beta_k|^r` but for a constant, and levels are
    added by the triangle inequality. :math:`\alpha = 1`: n stands for :math:`n\alpha^2`, and may
    be as large as :math:`10^{300}`.

    Parameters
    ----------
    n
        The people.
    s, p, r, radius
        The ball, and the norm of the loss.
    wavelet, nu, gamma
        As in `Dubois.printed`.
    level
        Keep phi of this level and nothing else: the linear estimator.

    Examples
    --------
    >>> few, many = (worst_risk(n, s=1, p=2, wavelet="db20") for n in (1e50, 1e60))
    >>> many < few / 1e4
    True
    """
    made, size = Wavelet(wavelet), float(np.log2(n))
    first = round(size / (2 * max(1, made.smoothness) + 2)) if level is None else level
    last = int((size - np.log2(np.log(n))) / 2)
    scale = np.log2(4 * made.touching * made.peak("phi")) + first / 2
    mean = float(np.log2(thresholded_risk(0.0, 1.0, 0.0, r)))
    noise = r * (scale + (1 - size) / 2) + mean
    # Binary logarithms of the loss of each level: the numbers themselves would pass all bounds.
    losses = [np.log2(2.0**first + made.length) + noise + first * (r / 2 - 1)]
    grown = np.log2(4 * made.touching * made.peak("psi") * (2 * nu - 1) / (nu - 1))
    finest = last + 20 if level is None else first + 60
    for j in range(first, finest):
        count = np.log2(2.0**j + made.length)
        highest = np.log2(radius) - j * (s + 0.5 - 1 / p)
        beta = highest - np.linspace(0, j / p + 40, 400)
        many = np.minimum(count, p * (highest - beta))
        if level is None and j <= last:
            sd = grown + nu * np.log2(max(j, 1)) + j / 2 + (1 - size) / 2
            least = gamma * max(j, 1) ** 0.5 / 2**0.5
            height = np.minimum(beta - sd, 60.0)
            rest = float(thresholded_risk(0.0, 1.0, least, r))
            with np.errstate(divide="ignore", over="ignore"):
                each = r * sd + np.log2(thresholded_risk(2.0**height, 1.0, least, r))
                others = r * sd + np.log2(rest) + count
            found = np.logaddexp2(many + each, others).max()
        else:
            found = (many + r * beta).max()
        losses.append(float(found) + j * (r / 2 - 1))
    roots = np.array(losses) / r
    return float(2.0 ** (r * np.logaddexp2.reduce(roots)))
