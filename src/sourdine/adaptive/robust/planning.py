r"""How many copies a proof needs, and what a step then costs.

*Copies.* Let each of :math:`T` looks be a count of copies above a threshold with Gaussian noise
of deviation :math:`\sigma`, or a choice of the exponential mechanism among 20 cells. With
:math:`\rho = T/2\sigma^2` or :math:`T\varepsilon_0^2/8`, the looks say :math:`\rho k` nats of the
seeds, and half of :math:`\beta` each goes to

.. math:: \frac{\rho k + \ln 2}{k\,\mathrm{kl}(a \,\|\, p_0) - \ln T} \le \frac{\beta}{2}, \qquad
          \sigma z_{\beta/2T} \le \bigl(\tfrac12 - a\bigr) k \quad\text{or}\quad
          \frac{2}{\varepsilon_0} \ln\frac{20\,T}{\beta/2} \le \bigl(\tfrac12 - a\bigr) k,

that at some step a share :math:`a` of the copies is wrong, and that noise hides the rest. This is
:math:`k \approx 75 \text{ to } 105 \sqrt T` with counts: the lecture's :math:`\sqrt T` times a
hundred. Switching takes a copy for each change of the answer, so it is cheaper up to about
11 000 changes. *Checked by* ``test_copies_needed_are_those_of_the_research`` and
``test_privacy_pays_from_eleven_thousand_changes_on``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.ledger.dependence import coin_divergence
from sourdine.errors import ParameterError
from sourdine.exact import at_least, given, integer, number, one_of

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number

__all__ = [
    "Copies",
    "copies_needed",
    "cost",
    "crossover",
    "plan_copies",
]

CELLS = 20
_MOST = 10**12
MOST_STEPS = 10**15
_SHARES = tuple(np.linspace(0.02, 0.48, 93).tolist())


@dataclass(frozen=True, slots=True)
class Copies:
    r"""How many copies, and the noise that goes with them.

    Parameters
    ----------
    copies
        :math:`k`.
    noise
        :math:`\sigma` of the counts, or :math:`\varepsilon_0` of the exponential mechanism.
    share
        :math:`a`, the share of wrong copies that is withstood.
    """

    copies: int
    noise: float
    share: float


@dataclass(frozen=True, slots=True)
class _Question:
    """Whether a number of copies is enough."""

    t: int
    p0: float
    beta: float
    gaussian: bool

    def share(self, k: int) -> float | None:
        """Return the least share of wrong copies for which they are; None if they are not."""
        return next((a for a in _SHARES if a > self.p0 and self._enough(k, a)), None)

    def noise(self, k: int, a: float) -> float:
        r"""Return the least :math:`\sigma`, or largest :math:`\varepsilon_0`, that is quiet enough.

        It is infinite, or 0, if nothing may be said.
        """
        apart = k * coin_divergence(a, self.p0) - log(self.t)
        rho = (self.beta / 2 * apart - log(2)) / k
        if self.gaussian:
            return sqrt(self.t / (2 * rho)) if rho > 0 else inf
        return sqrt(8 * rho / self.t) if rho > 0 else 0.0

    def _enough(self, k: int, a: float) -> bool:
        from scipy.special import ndtri  # noqa: PLC0415 - scipy is loaded late

        noise, room = self.noise(k, a), (0.5 - a) * k
        if self.gaussian:
            return noise * -float(ndtri(self.beta / 2 / self.t)) <= room
        return noise > 0 and 2 / noise * log(CELLS * self.t / (self.beta / 2)) <= room


def plan_copies(
    steps: int, *, wrong: Number = 0.01, beta: Number = 0.05, method: str = "gaussian"
) -> Copies:
    r"""Return the fewest copies for which :math:`T` adaptive looks are proved right.

    Parameters
    ----------
    steps
        :math:`T`.
    wrong
        :math:`p_0`, the chance that a copy is wrong at a step fixed in advance.
    beta
        The chance, at most, that any answer is wrong.
    method
        ``"gaussian"`` counts or ``"exponential"``, the median of
        `sourdine.adaptive.robust.Robust`, whose `certificate` confirms the plan.

    Examples
    --------
    >>> plan = plan_copies(100, method="exponential")
    >>> plan.copies, round(plan.noise, 4)
    (2598, 0.0305)
    """
    t = integer(steps, "steps", least=1, most=MOST_STEPS)
    p0 = float(number(wrong, "wrong", above=0, most=1, example=0.01))
    failure = float(number(beta, "beta", above=0, most=1))
    one_of(method, "method", "gaussian", "exponential")
    question = _Question(t, p0, failure, gaussian=method == "gaussian")
    low, high = 0, 1
    while question.share(high) is None:
        if high > _MOST:
            raise ParameterError(
                "wrong",
                "be well below 1/2 for anything to be proved",
                given(wrong),
                "Type {wrong}.",
                wrong=0.01,
            )
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if question.share(middle) else (middle, high)
    share = question.share(high)
    assert share is not None  # noqa: S101 - high suffices
    return Copies(high, question.noise(high, share), share)


def copies_needed(
    steps: int, *, wrong: Number = 0.01, beta: Number = 0.05, method: str = "gaussian"
) -> int:
    """Return the number of copies of `plan_copies`.

    Examples
    --------
    >>> [copies_needed(10**i) for i in (2, 3, 4)]
    [825, 2949, 10405]
    """
    return plan_copies(steps, wrong=wrong, beta=beta, method=method).copies


def crossover(*, wrong: Number = 0.01, beta: Number = 0.05, method: str = "gaussian") -> int:
    """Return the number of changes from which on privacy needs fewer copies than switching.

    Examples
    --------
    >>> crossover()
    10912
    """
    low, high = 1, 2
    while copies_needed(high, wrong=wrong, beta=beta, method=method) > high:
        low, high = high, 2 * high
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        dearer = copies_needed(middle, wrong=wrong, beta=beta, method=method) > middle
        low, high = (middle, high) if dearer else (low, middle)
    return high


def cost(  # noqa: PLR0913 - the formula's symbols
    steps: int,
    *,
    t_init: Number,
    t_update: Number,
    t_query: Number,
    copies: int,
    sample: int,
) -> float:
    r"""Return the time of a step, averaged over a phase: :math:`k t_i/T + k t_u + s t_q`.

    A phase of :math:`T` steps makes :math:`k` copies, hands each update to all of them and asks
    :math:`s` in each step.

    Examples
    --------
    >>> cost(10_000, t_init=1.0, t_update=1e-6, t_query=1e-6, copies=100, sample=25)
    0.010125
    """
    t_i, t_u, t_q = _times(t_init, t_update, t_query)
    k, s = integer(copies, "copies", least=1), integer(sample, "sample", least=1)
    return k * t_i / integer(steps, "steps", least=1) + k * t_u + s * t_q


def _times(*times: Number) -> tuple[float, ...]:
    names = ("t_init", "t_update", "t_query")
    return tuple(float(at_least(t, name, 0)) for name, t in zip(names, times, strict=True))
