r"""What noisy sums of products say: coefficients, fitted values, covariances and correlations.

Z is the vector :math:`(1, U_1, \ldots, U_p, V)` of a record, S the matrix of the sums of
:math:`Z_iZ_j` over all records, :math:`\hat S = S + E` what was released of it. With A and b the
parts of S of the predictors and of their products with V, :math:`A\beta = b`.

*A fitted value or a coefficient* is :math:`\theta = \ell^\top\beta`. Let
:math:`D = \ell^\top\hat A^{-1}\ell`, :math:`\hat w = \hat A^{-1}\ell/D`, and :math:`\beta_v` the
least squares under :math:`\ell^\top\beta = v`, which is
:math:`\hat\beta - (\hat\theta - v)\hat w`. For the truth let w be the same of A, and
:math:`c = (-\beta, 1)`, :math:`\hat c = (-\beta_\theta, 1)`. The differences
:math:`\delta = \beta_\theta - \beta` and :math:`\eta = \hat w - w` are orthogonal to
:math:`\ell`, hence in the span of a matrix N with :math:`N^\top\hat AN = I`, and

.. math:: \frac{\hat\theta - \theta}{D} = w^\top E c + \eta^\top\hat A\,\delta,
    \qquad N^\top\hat A\,\delta = N^\top E c, \qquad N^\top\hat A\,\eta = -N^\top E w.

The first term is noise with weights that do not depend on the noise, so its law is known; the other
is a product of two small terms. (It is Neyman's orthogonality: what else is not known enters in
second order only.) A value v is kept while :math:`|\hat\theta - v|/D` is at most the quantile of
the first term plus a bound on the second, both at v, as in Fieller's interval. The bounds come from
bounds on all entries of E, which hold together. If they leave it open whether A is singular, the
interval is the whole line. The proof is in the manual.

*Of a population* the sums of :math:`w(z)e` over the records, which have mean zero, come on top.
Their variance is not released; it is at most
:math:`\min(\max w^2\, \sum e^2, \max e^2\, \sum w^2)`, whatever the law: errors may be spread
unevenly. The sums of many records are taken for normal.

*A covariance* and *a correlation* r are found in the same way: with both columns standardised by
their true means and standard deviations, so that :math:`\sum X^2 = \sum Y^2 = n`, and hats for
sums with noise,

.. math:: \sqrt{\hat V_x\hat V_y}\,(\hat r - r) = \sum\Bigl(XY - \frac r2(X^2+Y^2)\Bigr)^{\!\wedge}
    - \hat n\Bigl(\hat m_x\hat m_y - \frac r2(\hat m_x^2+\hat m_y^2)\Bigr)
    + \frac r2\Bigl(\sqrt{\hat V_x}-\sqrt{\hat V_y}\Bigr)^2.

The first sum is zero without noise, and all else is of second order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement
from math import erfc, exp, inf, log, log1p, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.central.intervals import FINE
from sourdine.laws.law import gaussian_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Fractions = tuple[float, float]


# ---- The tail of noise and chance together -------------------------------------------------------


ROUNDS = 60
NEAR, TINY = 1e-9, 5e-324


def noise_quantile(scales: Floats, variance: float, beta: float) -> float:
    r"""Return what Laplace noises and a normal together pass, to either side, with ``beta``.

    By the saddlepoint approximation of the tail (Lugannani and Rice): with the cumulant function
    :math:`K(s) = s^2\sigma^2/2 - \sum\ln(1-a_i^2s^2)`, :math:`r = \sqrt{2(sK'-K)}` and
    :math:`u = s\sqrt{K''}`, the tail at :math:`K'(s)` is
    :math:`1 - \Phi(r) + \varphi(r)(1/u - 1/r)`. For one Laplace noise it is up to 5% too large, for
    a normal it is exact. *Claim*: it is nowhere too small by more than a part in a thousand.
    *Checked by* ``test_the_tail_of_noise_is_not_understated``.
    """
    sizes = [x for x in np.abs(scales).tolist() if x > 0]
    if not sizes:
        return gaussian_quantile(beta) * sqrt(variance)
    square, most, wanted = [x * x for x in sizes], 1 / max(sizes), beta / 2

    def tail(s: float) -> tuple[float, float]:
        """Return K'(s), and the logarithm of its tail over the one wanted."""
        k, first, second = s * s * variance / 2, s * variance, variance
        for own in square:  # in Python: arrays this short are slower
            z = own * s * s
            rest = 1 - z
            k -= log1p(-z)
            first += 2 * own * s / rest
            second += 2 * own * (1 + z) / (rest * rest)
        r, u = sqrt(max(2 * (s * first - k), 0.0)), s * sqrt(second)
        found = erfc(r / sqrt(2)) / 2
        if r >= 0.05:
            found += exp(-r * r / 2) / sqrt(2 * pi) * (1 / u - 1 / r)
        return first, log(max(found, TINY) / wanted)

    # 1 - s/most is found, as the tail is far out: halved until below, then by false position
    low, high = 0.5, 1.0
    below, above, last = tail(most / 2)[1], log(0.5 / wanted), 0
    while below > 0:
        low, high, above = low / 2, low, below
        below = tail((1 - low) * most)[1]
    for _ in range(ROUNDS):
        middle = (low * above - high * below) / (above - below)
        excess = tail((1 - middle) * most)[1]
        if excess > 0:
            high, above, below, last = middle, excess, below / (2 if last > 0 else 1), 1
        else:
            low, below, above, last = middle, excess, above / (2 if last < 0 else 1), -1
            if excess > -NEAR:
                break
    return tail((1 - low) * most)[0] * (1 + NEAR)


# ---- Noisy moments -------------------------------------------------------------------------------


NUISANCE, CHANCE = 0.1, 0.1
"""The parts of the risk for bounds on all entries, and for chance in what is of second order."""
FAR = 1e9
NARROW = 1e-4
WHOLE = (-inf, inf)


@dataclass(frozen=True, kw_only=True)
class NoisyMoments:
    """The matrix of noisy sums of products, a record being 1."""

    sums: Floats
    loads: Floats
    """What each released sum weighs in each entry."""
    scale: float
    """The scale of the noise, or its standard deviation."""
    gaussian: bool

    @cached_property
    def matrix(self) -> Floats:
        """The moments of 1, the predictors and the response."""
        return np.asarray(self.loads @ self.sums)

    @cached_property
    def sizes(self) -> Floats:
        return np.abs(self.loads)

    def quantile(self, weights: Floats, beta: float, variance: float = 0.0) -> float:
        """Return what noises of these weights, and chance of a variance, pass with ``beta``."""
        steps = float(np.abs(weights).sum()) * self.scale / FINE
        if self.gaussian:
            own = float((weights * weights).sum()) * self.scale**2
            return gaussian_quantile(beta) * sqrt(own + variance) + steps
        return noise_quantile(weights * self.scale, variance, beta) + steps

    def entries(self, beta: float) -> Floats:
        """Return bounds on the noise of all entries, which fail with ``beta`` together."""
        q = len(self.matrix)
        upper = list(combinations_with_replacement(range(q), 2))
        own = {(i, j): tuple(self.sizes[i, j].tolist()) for i, j in upper if self.sizes[i, j].any()}
        found = np.zeros((q, q))
        for (i, j), weights in own.items():
            unit = _entry(weights, beta / len(own), gaussian=self.gaussian)
            found[i, j] = found[j, i] = unit * self.scale * (1 + len(weights) / FINE)
        return found

    def cross(self, a: Floats, b: Floats) -> Floats:
        """Return what each noise weighs at most in the bilinear form of two vectors of sizes."""
        return np.asarray(np.einsum("i,ijk,j->k", a, self.sizes, b))

    def form(self, a: Floats, b: Floats) -> Floats:
        """Return what each noise weighs in the bilinear form of two vectors."""
        return np.asarray(np.einsum("i,ijk,j->k", a, self.loads, b))

    # ---------------------------------------------------------------- the value

    @cached_property
    def n(self) -> float:
        """About how many records there are, and at least as many as the noise hides."""
        return max(float(self.matrix[0, 0]), self.spread(0, 0))

    def spread(self, i: int, j: int) -> float:
        """Return the standard deviation of the noise of an entry."""
        own = float((self.loads[i, j] ** 2).sum()) * (1 if self.gaussian else 2)
        return self.scale * sqrt(own)

    @cached_property
    def means(self) -> Floats:
        return np.clip(self.matrix[0, 1:] / self.n, -1.0, 1.0)

    @cached_property
    def centred(self) -> Floats:
        """The sums of products about the means."""
        return np.asarray(self.matrix[1:, 1:] - self.n * np.outer(self.means, self.means))

    @cached_property
    def ridge(self) -> float:
        """What is added to the sums of squares of the predictors: nothing, if they exceed noise.

        The least eigenvalue is raised to the standard deviation of a sum of squares' noise.
        """
        least = float(np.linalg.eigvalsh(self.centred[:-1, :-1])[0])
        floor = max(self.spread(i, i) for i in range(1, len(self.matrix) - 1))
        return max(floor * sqrt(len(self.matrix) - 2) - least, 0.0)

    @cached_property
    def coefficients(self) -> Floats:
        """The intercept and the slopes, of the columns between -1 and 1."""
        c, p = self.centred, len(self.matrix) - 2
        slopes = np.linalg.solve(c[:p, :p] + self.ridge * np.eye(p), c[:p, p])
        return np.concatenate(([self.means[p] - slopes @ self.means[:p]], slopes))

    @cached_property
    def residual_variance(self) -> float:
        """The mean square of the residuals, between 0 and that of the response."""
        c = np.append(-self.coefficients, 1.0)
        shifted = self.matrix.copy()
        shifted[0, 0] = self.n
        most = min(max(float(self.centred[-1, -1]) / self.n, 0.0), 1.0)
        return float(min(max(c @ shifted @ c / self.n, 0.0), most))

    # ---------------------------------------------------------------- fitted values

    def fitted(self, ell: Floats, beta: float, *, population: bool) -> Fractions:
        r"""Return the ends of :math:`\ell^\top\beta`; the whole line if they are not known."""
        p = len(self.matrix) - 1
        a, b = self.matrix[:p, :p], self.matrix[:p, p]
        if float(np.linalg.eigvalsh(a)[0]) <= 0:
            return WHOLE
        solved = np.linalg.solve(a, np.column_stack((ell, b)))
        d, theta = float(ell @ solved[:, 0]), float(ell @ solved[:, 1])
        w, best = solved[:, 0] / d, solved[:, 1]
        rest = _basis(a, ell)
        k = self.entries(NUISANCE * beta)
        reach = np.abs(rest)  # of a vector in the span, entry by entry
        noisy = reach.T @ k[:p, :p] @ reach
        if float(np.abs(np.linalg.eigvals(noisy)).max()) >= 1:
            return WHOLE
        grown = np.linalg.inv(np.eye(p - 1) - noisy)
        main = 1 - NUISANCE - (CHANCE if population else 0)
        z = gaussian_quantile(CHANCE * beta / (2 * (p - 1))) if population else 0.0
        widest = np.abs(rest).sum(0)  # each function's largest value, as all Z are at most 1
        eta0 = reach.T @ (k[:p, :p] @ np.abs(w))
        if population:
            top = float(np.abs(w).sum())
            eta0 = eta0 + z * np.minimum(widest * sqrt(1 / d), top)
        eta = grown @ eta0
        off_w = reach @ eta
        room = log(1 / (CHANCE * beta / 4)) / 2

        def passed(v: float) -> float:
            c = np.append(-(best - (theta - v) * w), 1.0)
            size = np.abs(c)
            squares = float(c @ self.matrix @ c)
            delta0 = reach.T @ (k[:p] @ size)
            variance = 0.0
            if population:
                largest = float(size.sum())
                bound = max(squares + float(size @ k @ size), 0.0)
                bound = (largest * sqrt(room) + sqrt(bound + largest**2 * room)) ** 2
                delta0 = delta0 + z * np.minimum(widest * sqrt(bound), largest)
            delta = grown @ delta0
            off_c = np.append(reach @ delta, 0.0)
            own = np.zeros(p + 1)
            own[:p] = w
            off = np.append(off_w, 0.0)
            weights = np.abs(self.form(own, c))
            weights += self.cross(off, size + off_c)
            weights += self.cross(np.abs(own), off_c)
            if population:
                top_w = float((np.abs(w) + off_w).sum())
                top_e = float((size + off_c).sum())
                squares_w = 1 / d + float(eta @ eta)
                variance = min(top_w**2 * (bound + float(delta @ delta)), top_e**2 * squares_w)
            return float(d * (self.quantile(weights, main * beta, variance) + float(eta @ delta)))

        low, high = _crossing(lambda x: passed(theta - x)), _crossing(lambda x: passed(theta + x))
        return theta - low, theta + high

    # ---------------------------------------------------------------- two columns

    def _means_off(self, k: Floats) -> tuple[Floats, float] | None:
        """Return how far the two means may be off, and the least number of records."""
        n = float(self.matrix[0, 0])
        if n - k[0, 0] <= 0:
            return None
        m = np.clip(self.matrix[0, 1:] / n, -1.0, 1.0)
        return (k[0, 1:] + np.abs(m) * k[0, 0]) / (n - k[0, 0]), n - k[0, 0]

    def covariance(self, beta: float, *, population: bool) -> Fractions:
        """Return the ends of the covariance of two columns between -1 and 1."""
        k = self.entries(NUISANCE * beta)
        off = self._means_off(k)
        if off is None:
            return -1.0, 1.0
        (dx, dy), least = off
        n = float(self.matrix[0, 0])
        mx, my = self.matrix[0, 1:] / n
        value = float(self.matrix[1, 2] / n - mx * my)
        main = 1 - NUISANCE - (CHANCE if population else 0)
        variance = 0.0
        if population:
            z = gaussian_quantile(CHANCE * beta / 2) / sqrt(least)
            dx, dy = dx + z, dy + z
            far = np.minimum(1 + np.abs(self.matrix[0, 1:] / n) + (dx, dy), 2.0)
            inner = np.minimum(np.abs(self.matrix[0, 1:] / n) - (dx, dy), 1.0)
            most = 1 - np.maximum(inner, 0.0) ** 2
            variance = (n + k[0, 0]) * min(far[0] ** 2 * most[1], far[1] ** 2 * most[0])
        spare = (n + k[0, 0]) * dx * dy

        def passed(c: float) -> float:
            x, y = np.array([-mx, 1.0, 0.0]), np.array([-my, 0.0, 1.0])
            weights = np.abs(self.form(x, y) - c * self.loads[0, 0])
            off_x, off_y = np.array([dx, 0.0, 0.0]), np.array([dy, 0.0, 0.0])
            weights += self.cross(off_x, np.abs(y) + off_y)
            weights += self.cross(np.abs(x), off_y)
            return float((self.quantile(weights, main * beta, variance) + spare) / n)

        low = value - _crossing(lambda x: passed(value - x))
        high = value + _crossing(lambda x: passed(value + x))
        return min(max(low, -1.0), 1.0), max(min(high, 1.0), -1.0)

    def correlation(self, beta: float, *, population: bool) -> Fractions:
        """Return the ends of the correlation of two columns."""
        k = self.entries(NUISANCE * beta)
        off = self._means_off(k)
        if off is None:
            return -1.0, 1.0
        shift, least = off
        n = float(self.matrix[0, 0])
        means = self.matrix[0, 1:] / n
        main, z = 1 - NUISANCE, 0.0
        if population:
            main, z = main - CHANCE, gaussian_quantile(CHANCE * beta / 4)
            shift = shift + z / sqrt(least)
        axes = [np.array([-means[0], 1.0, 0.0]), np.array([-means[1], 0.0, 1.0])]
        offs = [np.array([shift[i], 0.0, 0.0]) for i in range(2)]
        squares = np.array([own @ self.matrix @ own for own in axes])
        if not (np.abs(means) <= 1).all() or (squares <= 0).any():
            return -1.0, 1.0
        far = np.minimum(1 + np.abs(means) + shift, 2.0)
        reach = [(np.abs(own) + gap, gap[0]) for own, gap in zip(axes, offs, strict=True)]
        noisy = np.array([own @ k @ own + (n + k[0, 0]) * gap**2 for own, gap in reach])
        if population:
            noisy = noisy + z * far * np.sqrt(squares + noisy)
        lower = squares - noisy
        if (lower <= 0).any():
            return -1.0, 1.0
        sd = np.sqrt(squares / n)
        ends = [own / s for own, s in zip(axes, sd, strict=True)]
        gaps = [own / s for own, s in zip(offs, sd, strict=True)]
        m = shift / sd
        s = noisy / (np.sqrt(squares) + np.sqrt(lower)) / np.sqrt(squares)
        wider = np.sqrt(1 + noisy / squares)
        narrower = np.sqrt(squares / lower)
        tilt = float(max(wider[0] * narrower[1], wider[1] * narrower[0]))
        value = float(ends[0] @ self.matrix @ ends[1] / n)
        tops = far / sd * narrower
        cross, own_x, own_y = (self.form(ends[i], ends[j]) for i, j in ((0, 1), (0, 0), (1, 1)))
        slack = [
            self.cross(gaps[i], np.abs(ends[j]) + gaps[j]) + self.cross(np.abs(ends[i]), gaps[j])
            for i, j in ((0, 1), (0, 0), (1, 1))
        ]

        def passed(r: float) -> float:
            half = abs(r) / 2
            sizes = np.abs(cross - r / 2 * (own_x + own_y)) + slack[0]
            sizes += half * (tilt - 1) * (np.abs(own_x) + np.abs(own_y))
            sizes += half * tilt * (slack[1] + slack[2])
            variance = 0.0
            if population:
                variance = (n + k[0, 0]) * max(1 - r * r, 0.0) * float(tops.sum()) ** 2 / 4
            spare = m[0] * m[1] + half * tilt * (float(m @ m) + float(s.sum()) ** 2)
            return self.quantile(sizes, main * beta, variance) / n + float(spare)

        low = value - _crossing(lambda x: passed(max(value - x, -1.0)))
        high = value + _crossing(lambda x: passed(min(value + x, 1.0)))
        return min(max(low, -1.0), 1.0), max(min(high, 1.0), -1.0)


@lru_cache(1024)
def _entry(weights: tuple[float, ...], beta: float, *, gaussian: bool) -> float:
    own = np.array(weights)
    if gaussian:
        return gaussian_quantile(beta) * sqrt(float((own * own).sum()))
    return noise_quantile(own, 0.0, beta)


def _basis(a: Floats, ell: Floats) -> Floats:
    """Return a basis of the vectors orthogonal to ``ell``, orthonormal in the product of ``a``."""
    p = len(ell)
    _, _, rows = np.linalg.svd(ell[None, :])
    plain = rows[1:].T
    root = np.linalg.cholesky(plain.T @ a @ plain)
    return np.asarray(np.linalg.solve(root, plain.T).T.reshape(p, p - 1))


def _crossing(passed: Callable[[float], float]) -> float:
    """Return the distance beyond which nothing is kept; infinity if there is none.

    What is passed grows no faster than a line, and a distance is kept while it is below.
    """
    low, below = 0.0, passed(0.0)
    if below <= 0:
        return 0.0
    high = 2 * below
    while (above := high - passed(high)) <= 0:
        low, below, high = high, -above, 2 * high
        if high > FAR:
            return inf
    last = 0
    for _ in range(ROUNDS):  # false position; an end that stays twice counts half
        if high - low <= NARROW * high:
            break
        middle = (low * above + high * below) / (above + below)
        middle = min(max(middle, low + NARROW / 2 * high), high - NARROW / 2 * high)
        found = middle - passed(middle)
        if found > 0:
            high, above, below, last = middle, found, below / (2 if last > 0 else 1), 1
        else:
            low, below, above, last = middle, -found, above / (2 if last < 0 else 1), -1
    return high
