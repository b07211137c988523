r"""A hypothesis about the sample, moved as little as its answers demand.

*Theorem*. Let :math:`S` be the law of a row of the sample, :math:`w` the hypothesis, :math:`q` a
query with :math:`q(S) \ge a > q(w)`. Among all laws that give :math:`q` the value :math:`a` or
more, the one nearest to :math:`w` is the tilted :math:`w_\eta \propto w e^{\eta q}` with
:math:`q(w_\eta) = a`, and

.. math:: \mathrm{KL}(S \| w) - \mathrm{KL}(S \| w_\eta) \ge \mathrm{KL}(w_\eta \| w)
          \ge 2 (a - q(w))^2.

*Proof*. With :math:`\psi(\eta) = \ln \sum_x w(x) e^{\eta q(x)}` the left side is
:math:`\eta\,q(S) - \psi(\eta)`, at least :math:`\eta a - \psi(\eta) = \mathrm{KL}(w_\eta \| w)`
since :math:`\eta > 0`; the last step is Pinsker's inequality. Likewise below. So an answer that is
further than :math:`\alpha` from the hypothesis can bring it nearer by :math:`2\alpha^2`, and since
:math:`0 \le \mathrm{KL}(S \| w) \le \ln|X|` for a uniform start, this happens at most
:math:`\ln|X| / 2\alpha^2` times. *Checked by* ``test_a_tilt_brings_the_sample_nearer``.

References
----------
.. [1] I. Csiszár, "I-divergence geometry of probability distributions and minimization problems",
   Annals of Probability 3(1), 1975.
.. [2] M. Hardt, G. Rothblum, "A multiplicative weights mechanism for privacy-preserving data
   analysis", FOCS 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, exp, inf, log, log1p
from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sourdine.adaptive.queries import Values

__all__ = ["Tilt", "Weights"]

STEPS = 200
CLOSE = 1e-12
LARGE = 1e300


@dataclass(frozen=True, slots=True)
class Tilt:
    r"""A tilted hypothesis: :math:`\eta`, :math:`\psi(\eta)` and the logarithms of its weights."""

    eta: float
    psi: float
    log: Values

    def gain(self, average: float) -> float:
        r"""Return :math:`\eta\,q(S) - \psi(\eta)`, by how much nearer the sample is."""
        return self.eta * average - self.psi


class Weights:
    """A law over the cells of a universe.

    Parameters
    ----------
    size
        How many cells there are.
    prior
        What is believed beforehand, public: a positive weight for each cell; equal if left out.

    Attributes
    ----------
    law
        The weights, which sum to one.
    stock
        The most that the divergence of any sample from the prior can be.

    Examples
    --------
    >>> hypothesis = Weights(4)
    >>> first = np.array([1.0, 0.0, 0.0, 0.0])
    >>> hypothesis.guess(first)
    0.25
    >>> hypothesis.move(hypothesis.tilt(first, 0.7))
    >>> hypothesis.law.round(6).tolist()
    [0.7, 0.1, 0.1, 0.1]
    """

    __slots__ = ("_log", "law", "stock")

    def __init__(self, size: int, prior: ArrayLike | None = None) -> None:
        self.law = _prior(size, prior)
        self._log = np.log(self.law)
        self.stock = -float(self._log.min())

    @property
    def logs(self) -> Values:
        """The logarithms of the weights."""
        return self._log

    def guess(self, query: Values) -> float:
        """Return the query's average under the hypothesis."""
        return min(max(float(query @ self.law), 0.0), 1.0)

    def move(self, tilt: Tilt) -> None:
        """Take a tilted hypothesis for the hypothesis."""
        self._log = tilt.log
        self.law = np.exp(tilt.log)

    def tilt(self, query: Values, target: float) -> Tilt:
        """Return the nearest hypothesis that gives the query the value ``target``.

        Newton's steps, halvings where one would leave the bracket. The first is exact for queries
        of 0 and 1.
        """
        guess = self.guess(query)
        low, high = (0.0, inf) if target > guess else (-inf, 0.0)
        eta = _logit(target) - _logit(guess)
        for _ in range(STEPS):
            log_weights = self._log + eta * query
            peak = float(log_weights.max())
            law = np.exp(log_weights - peak)
            total = float(law.sum())
            mean = float(query @ law) / total
            if abs(mean - target) <= CLOSE:
                break
            low, high = (eta, high) if mean < target else (low, eta)
            variance = float((query - mean) ** 2 @ law) / total
            eta = _next(eta, _newton(target - mean, variance), low, high)
        psi = peak + log(total)
        return Tilt(eta, psi, log_weights - psi)


def _newton(gap: float, variance: float) -> float:
    return gap / variance if variance > abs(gap) / LARGE else copysign(LARGE, gap)


def _next(eta: float, step: float, low: float, high: float) -> float:
    """Return the next eta: no more than about twice the last one while an end is open."""
    if high == inf:
        step = min(step, eta + 1)
    elif low == -inf:
        step = max(step, eta - 1)
    return eta + step if low < eta + step < high else (low + high) / 2


def _logit(p: float) -> float:
    inner = min(max(p, exp(-40)), 1 - 1e-15)
    return log(inner) - log1p(-inner)


def _floats(prior: ArrayLike) -> Values:
    try:
        return np.asarray(prior, np.float64)
    except (TypeError, ValueError):
        return np.empty(0)


def _prior(size: int, prior: ArrayLike | None) -> Values:
    if prior is None:
        return np.full(size, 1 / size)
    weights = _floats(prior)
    if weights.shape != (size,) or not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ParameterError(
            "prior",
            f"be {size} positive weights, one for each cell",
            "other weights",
            "Add a little everywhere: what has no weight can never be learned.",
        )
    return np.asarray(weights / weights.sum())
