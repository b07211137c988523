r"""What the reports of several rounds tell of one person, by between which histories one asks.

Write :math:`s = r^t` with :math:`r = q_2/p_2` of the response that is drawn anew each round. A
person whose hashed answer is the same in :math:`t` rounds loses

.. math:: L(t) = \ln \frac{e^{\varepsilon_\infty} + (g-1)s}{1 + (e^{\varepsilon_\infty} + g - 2)s},
          \qquad L(1) = \varepsilon_1, \qquad L(\infty) = \varepsilon_\infty .

===========  ==================================  =================================================
between      which histories                     the loss over :math:`T` rounds
===========  ==================================  =================================================
``stays``    any two answers that never change   :math:`L(T) < \varepsilon_\infty`
``alike``    any two that change in the same     the largest :math:`\sum_{c \le g} L(t_c)` with
             rounds, hashed                      :math:`\sum t_c = T`; below
                                                 :math:`g\varepsilon_\infty`
``any``      any two                             grows with :math:`T`: *when* an answer changes
                                                 is not hidden
===========  ==================================  =================================================

The proofs are in ``docs/mathematics/rounds.md``.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sourdine.exact import exp_neg

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact import Real
    from sourdine.local.rounds.memoised import Memoised

    Floats = NDArray[np.float64]

__all__ = ["BETWEEN", "alike", "any_two", "stays"]

BETWEEN = ("stays", "alike", "any")
MOST_ROUNDS = 520
"""Up to so many rounds the loss between any two histories is found exactly, for two values."""
UP = Fraction(10**12 + 1, 10**12)
"""Sums of floats are rounded up by this."""


@lru_cache(1024)
def stays(oracle: Memoised, rounds: int) -> Fraction:
    """Return the loss of a person whose answer never changes, rounded up.

    *Checked by* ``test_exact_worst_case[rounds.hashing.stays]``.

    Examples
    --------
    >>> from sourdine.local.rounds import MemoisedHashing
    >>> hours = MemoisedHashing(epsilon=0.4, permanent=1, categories=96)
    >>> [round(float(stays(hours, t)), 3) for t in (1, 2, 5, 52)]
    [0.4, 0.694, 0.976, 1.0]
    """
    if rounds == 1:
        return Fraction(oracle.epsilon)
    g, b, left = oracle.answers, exp_neg(Fraction(oracle.permanent)), _power(_drop(oracle), rounds)
    found = ((1 + (g - 1) * b * left) / (b + (1 + (g - 2) * b) * left)).log().above()
    return min(found, Fraction(oracle.permanent))


@lru_cache(256)
def alike(oracle: Memoised, rounds: int) -> Fraction:
    """Return the loss between histories whose hashed answers change in the same rounds.

    *Checked by* ``test_exact_worst_case[rounds.response.alike]``.

    Examples
    --------
    >>> from sourdine.local.rounds import MemoisedHashing
    >>> hours = MemoisedHashing(epsilon=0.4, permanent=1, categories=96)
    >>> [round(float(alike(hours, t)), 3) for t in (1, 2, 5, 52)]
    [0.4, 0.8, 1.556, 2.0]
    """
    if rounds == 1:
        return Fraction(oracle.epsilon)
    one = np.array([0.0, *(float(stays(oracle, t)) for t in range(1, rounds + 1))])
    best = one
    for _ in range(min(oracle.answers, rounds) - 1):
        best = np.array([(best[: t + 1] + one[t::-1]).max() for t in range(rounds + 1)])
    return min(Fraction(float(best[rounds])) * UP, oracle.total)


@lru_cache(256)
def any_two(oracle: Memoised, rounds: int) -> Fraction:
    r"""Return the loss between any two histories: exact for two values, else an upper bound.

    A report's law depends on the numbers :math:`m_{cy}` of rounds with the hashed answer :math:`c`
    and the report :math:`y` alone, through :math:`\prod_c \sum_m G_{cm} \prod_y I_{my}^{m_{cy}}`.
    For two values all such numbers are tried. For more, a round tells at most what its own response
    does, :math:`T \ln(p_2/q_2)` in all. *Checked by* ``test_exact_worst_case[rounds.hashing.any]``.

    Examples
    --------
    >>> from sourdine.local.rounds import MemoisedHashing
    >>> hours = MemoisedHashing(epsilon=0.4, permanent=1, categories=96)
    >>> [round(float(any_two(hours, t)), 3) for t in (1, 2, 5, 52)]
    [0.4, 0.8, 1.893, 23.342]
    """
    if rounds == 1:
        return Fraction(oracle.epsilon)
    if oracle.answers > 2 or rounds > MOST_ROUNDS:
        return rounds * (1 / _drop(oracle)).log().above()
    kept, told = _two(oracle.spared), _two(oracle.told)
    worst = max(_spread(kept, told, zeros, rounds - zeros) for zeros in range(rounds // 2 + 1))
    return Fraction(worst) * UP


def _spread(kept: tuple[float, float], told: tuple[float, float], n0: int, n1: int) -> float:
    """Return how far apart histories are under reports with so many zeros and ones."""
    a, b = np.arange(n0 + 1)[:, None], np.arange(n1 + 1)
    chance = _weight(kept, told, a, b) + _weight(kept, told, n1 - b, n0 - a)
    return float(chance.max() - chance.min())


def _weight(
    kept: tuple[float, float], told: tuple[float, float], same: NDArray[np.int64], other: object
) -> Floats:
    """Return the log chance of reports in the rounds of one hashed answer: it, and the other."""
    true, lie = told
    right, wrong = np.asarray(same), np.asarray(other)
    kept_true = kept[0] + right * true + wrong * lie
    kept_lie = kept[1] + right * lie + wrong * true
    return np.asarray(np.logaddexp(kept_true, kept_lie))


def _two(spared: Real) -> tuple[float, float]:
    """Return the log chances of the truth and of the other of two values."""
    return -float((2 / (1 + spared)).log()), -float((2 / (1 - spared)).log())


def _drop(oracle: Memoised) -> Real:
    """Return the odds r of another value against the permanent response, in one round."""
    told = oracle.told
    return (1 - told) / (1 + (oracle.answers - 1) * told)


def _power(x: Real, n: int) -> Real:
    """Return the n-th power."""
    if n == 1:
        return x
    half = _power(x, n // 2)
    return half * half * x if n % 2 else half * half
