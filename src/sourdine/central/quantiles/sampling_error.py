r"""How far the error of sampling and the noise of counts reach together.

Let :math:`n` records be drawn independently from a law whose :math:`q`-quantile is :math:`\xi`, the
least :math:`x` with :math:`F(x) \ge q`. Released are ticks :math:`e_i`, drawn from the data in
whatever way, and noisy counts; :math:`\hat C_i - q\hat N = \#\{x < e_i\} - qn + X_i`, where the
noises :math:`X_i` have a public law and are independent of the records and of the ticks.

*Claim*: let :math:`t` be the :math:`1 - \beta/2` point of :math:`(qn - \mathrm{Bin}(n, q)) + \max_i
X_i`. With probability :math:`1 - \beta/2` no :math:`e_i > \xi` has :math:`\hat C_i - q\hat N
\le -t`. *Proof*. If :math:`e_i > \xi`, then :math:`\#\{x < e_i\} \ge \#\{x \le \xi\} =: B`, which
does not depend on :math:`i` nor on how the ticks were drawn; :math:`B` is
:math:`\mathrm{Bin}(n, F(\xi))` with :math:`F(\xi) \ge q`, so stochastically no smaller than
:math:`\mathrm{Bin}(n, q)`, and independent of the noise. So if some such :math:`e_i` has
:math:`\hat C_i - q\hat N \le -t`, then :math:`qn - B + \max_i(-X_i) \ge t`; and :math:`-X` has the
law of :math:`X`. Above: if :math:`e_i \le \xi`, then :math:`\#\{x < e_i\} \le \#\{x < \xi\}`, no
larger than :math:`\mathrm{Bin}(n, q)`, and the 1 - beta/2 point of
:math:`(\mathrm{Bin}(n, q) - qn) + \max_i X_i` serves. :math:`\square`

:math:`n` is private: the reach is that of the most records that the counts allow, and one rank
more, for the binomial's own lattice. The law of :math:`\max_i X_i` is sampled once, with a fixed
seed, and rounded up to 400 of its order statistics. *Checked by*
``test_population_intervals_cover``.

*A whole distribution function.* By A. Dvoretzky, J. Kiefer, J. Wolfowitz and P. Massart ("The tight
constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Annals of Probability 18, 1990),
:math:`P(n\sup_x|F_n(x) - F(x)| > s) \le 2e^{-2s^2/n}`. With the independent reach :math:`R` of the
counts' noise the band's half height is the least :math:`t` at which
:math:`E\min(1, 2e^{-2((t - R)^+)^2/n}) \le \beta`. *Checked by* ``benchmarks/cdf.py``.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["INDEPENDENT", "band_reach", "most_records", "population_reach"]

INDEPENDENT = "Population: for records drawn independently from one law, whatever law it is."
SAMPLES = 40_000
GROUPS = 400
SAFETY = 1.02
"""What the sampling of the noise may err by."""
RAREST = 5e-4
"""Below this the two errors are bounded one by one."""
RISKS = np.geomspace(1.0, 1e-12, 500)
OF_NUMBER = 0.02
"""This part of a risk is that of there being more records than the counts allow."""


def most_records(total: float, noises: int, scale: float, beta: float) -> float:
    r"""Return at most how many records there are, with probability ``1 - beta``.

    The sum of K noises passes x with probability :math:`e^{-\lambda x}(1 - \lambda^2)^{-K}` at
    most, in units of their scale, for every lambda below 1.
    """
    tilts = np.arange(1, 200) / 200
    far = (log(1 / beta) - noises * np.log1p(-(tilts**2))) / tilts
    return max(total + scale * float(far.min()), 1.0)


def population_reach(
    edges: int, order: Fraction, scale: float, n: float, beta: float
) -> tuple[float, float]:
    """Return t below and above: what both errors pass with probability ``beta`` on each side.

    Parameters
    ----------
    edges
        How many ticks there are, with one count more.
    order
        Of which quantile.
    scale
        The scale of the counts' noise.
    n
        At most how many records there are.
    beta
        The risk of each side.

    Examples
    --------
    >>> from fractions import Fraction
    >>> low, high = population_reach(2, Fraction(1, 2), 2.0, 2000, 0.025)
    >>> 44 < low == high < 52
    True
    """
    return _reach(edges, float(order), scale, ceil(n), beta)


@lru_cache(512)
def _reach(edges: int, q: float, scale: float, n: int, beta: float) -> tuple[float, float]:
    from scipy.special import bdtr, bdtrc  # noqa: PLC0415 - costs time to import, needed here only

    far = SAFETY * scale * _farthest(edges, q)
    if beta < RAREST:
        far = np.array([scale * _bounded(edges, q, beta / 2)])
        beta /= 2

    def below(t: float) -> float:
        at = np.floor(n * q + far - t)
        return float(np.where(at < 0, 0.0, bdtr(np.clip(at, 0, n), n, q)).mean())

    def above(t: float) -> float:
        at = np.ceil(n * q - far + t) - 1
        return float(np.where(at < 0, 1.0, bdtrc(np.clip(at, 0, n), n, q)).mean())

    return _least(below, n, beta) + 1, _least(above, n, beta) + 1


def _least(passed: Callable[[float], float], n: float, beta: float) -> float:
    """Return the least t, to a hundredth, that is passed with probability beta at most."""
    low, high = 0.0, 1.0
    while passed(high) > beta:
        low, high = high, 2 * high + 0.01 * n
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (middle, high) if passed(middle) > beta else (low, middle)
    return high


@lru_cache(128)
def _farthest(edges: int, q: float) -> Floats:
    """Return order statistics of the greatest noise of all edges, for noise of scale 1."""
    walk = np.cumsum(np.random.default_rng(1).laplace(size=(SAMPLES, edges + 1)), axis=1)
    most = np.sort((walk[:, :-1] - q * walk[:, -1:]).max(axis=1, initial=-np.inf))
    most = most if edges else np.zeros(SAMPLES)
    return np.asarray(most.reshape(GROUPS, -1)[:, -1])


def _bounded(edges: int, q: float, beta: float) -> float:
    """Return what no edge's noise of scale 1 passes upwards, by Chernoff and a union."""
    tilts = np.arange(1, 400) / 400 / max(q, 1 - q)
    before = np.arange(1, max(edges, 1) + 1)[:, None]
    logs = -before * np.log1p(-((tilts * (1 - q)) ** 2)) - (edges + 1 - before) * np.log1p(
        -((tilts * q) ** 2)
    )
    return float(((np.logaddexp.reduce(logs, axis=0) + log(1 / beta)) / tilts).min())


def band_reach(far: Callable[[float], float], n: float, beta: float) -> float:
    """Return the half height of a population's band in records, for noise of a known reach.

    Parameters
    ----------
    far
        What the noise passes with a probability at most.
    n
        At most how many records there are.
    beta
        The risk.
    """
    reaches = np.array([far(float(risk)) for risk in RISKS[1:]])
    chances = np.append(RISKS[:-2] - RISKS[1:-1], RISKS[-2])

    def passed(t: float) -> float:
        sampling = 2 * np.exp(-2 * np.maximum(t - reaches, 0) ** 2 / n)
        return float(chances @ np.minimum(sampling, 1))

    return _least(passed, n, beta)
