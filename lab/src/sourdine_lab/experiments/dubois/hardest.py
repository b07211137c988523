r"""Test densities that the thresholds just hide: bumps over half of a level, or a single one.

A density :math:`1 + \beta \sum_k \psi_{jk}` with m bumps lies in the ball of
:math:`\mathcal B^s_{pq}` as long as :math:`\beta \le L\, 2^{-j(s + 1/2 - 1/p)} m^{-1/p}`. Noise
hides it while :math:`\beta` is below the threshold, which is
:math:`c \sqrt{j}\, 2^{j/2} / \sqrt{n\alpha^2}`. For each j, n is chosen so that the bumps are half
as high as the threshold: with many bumps the loss then falls as the dense rate, with one as the
sparse rate, by construction, as long as the estimator loses what is hidden and nothing else. That
is what a simulation of them shows; that no n does worse is shown by
`sourdine_lab.besov.worst_risk`, and
that no estimator does better by `sourdine_lab.bounds.density_risk_at_least`.

Only the noise is drawn: the chance of who takes part has a variance hundreds of times smaller. The
flat part has no coefficients but at the ends, so it is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sourdine.local.densities.dubois import Dubois
from sourdine.local.densities.wavelets import UNIT, Level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["Hidden", "dense", "sparse"]

RADIUS = 8.0
FIRST, LAST = 2, 10
GAMMA = 4
"""Large enough, as the theorem asks: else noise at the finest levels passes, and rules the loss."""


@cache
def _rule(alpha: float, wavelet: str, gamma: float) -> Dubois:
    return Dubois(bounds=(0, 1), epsilon=alpha, n=10**6, wavelet=wavelet, gamma=gamma, first=FIRST,
                  last=LAST)  # fmt: skip


def dense(s: Any, r: Any) -> Any:
    """Return rs/(2s+2), the exponent of the dense zone."""
    return r * s / (2 * s + 2)


def sparse(s: Any, p: Any, r: Any) -> Any:
    """Return r(s-1/p+1/r)/(2(s-1/p)+2), the exponent of the sparse zone."""
    return r * (s - 1 / p + 1 / r) / (2 * (s - 1 / p) + 2)


@dataclass(frozen=True, slots=True)
class Hidden:
    """A density with bumps of level j, from 4 on, that are half as high as the threshold.

    Parameters
    ----------
    s, p, r
        The smoothness of the ball, its norm, and the norm of the loss.
    j
        The level.
    spread
        Bumps over the whole level, or one.
    alpha, wavelet, gamma
        The mechanism and its thresholds.
    radius
        That of the ball.
    """

    s: float
    p: float
    r: float
    j: int
    spread: bool
    alpha: float = 1
    wavelet: str = "db4"
    gamma: float = GAMMA
    radius: float = RADIUS

    @property
    def bumps(self) -> int:
        """How many there are: half of the level's, or one."""
        return 1 << (self.j - 1) if self.spread else 1

    @property
    def beta(self) -> float:
        """The height of a bump, the largest in the ball."""
        return float(
            self.radius * 2 ** (-self.j * (self.s + 0.5 - 1 / self.p)) * self.bumps ** (-1 / self.p)
        )

    @property
    def rule(self) -> Dubois:
        """The mechanism and the estimator, with the same levels for every n."""
        return _rule(self.alpha, self.wavelet, self.gamma)

    @property
    def n(self) -> float:
        """The people for whom the bumps are half as high as the threshold."""
        one = self.rule.thresholds(1)[1 + self.j - FIRST]
        return (one / (2 * self.beta)) ** 2

    def loss(self, rng: np.random.Generator) -> float:
        """Return the loss of one estimate, to the power r."""
        rule, n = self.rule, self.n
        off = np.zeros(1 << rule.bits)
        for level, t, least in zip(rule.basis.levels, rule.scales, rule.thresholds(1), strict=True):
            size = rule.basis.size(level)
            truth = self._coefficients(size, level)
            scale = float(t) / UNIT * level.height / n
            found = truth + scale * (rng.gamma(n, 1, size) - rng.gamma(n, 1, size))
            found[np.abs(found) < least / n**0.5] = 0
            off += rule.basis.rebuild(level, found - truth)
        return float((np.abs(off) ** self.r).mean())

    def _coefficients(self, size: int, level: Level) -> Floats:
        c = np.zeros(size)
        if level == Level("psi", self.j):
            within = self.rule.basis.wavelet.length - 1  # functions from here on lie within [0, 1]
            c[within : within + self.bumps] = self.beta
        return c
