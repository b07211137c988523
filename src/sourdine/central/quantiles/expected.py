r"""What rank errors to expect of an algorithm, before anything is paid.

Where records lie densely around the quantiles, the gaps' errors of a joint draw are independent
Laplace variables of scale :math:`1/c`, and a quantile's rank errs by

.. math:: b_j = \sum_{l \le j} d_l - q_j \sum_{l=1}^{m+1} d_l .

A free total is one of :math:`0, h, 2h, \ldots`, so :math:`\sum_l d_l` is the number of records
modulo :math:`h`: a number between two totals errs more than one at a total. The law of
:math:`\max_j |b_j|` has no simple form; it is sampled once, with a fixed seed, in units of
:math:`1/c`, and the worst remainder is planned for. Two levels add up, the second tied to the ends
of its slice. *Checked by* ``test_planned_errors_are_those_of_draws``.
"""

from __future__ import annotations

from functools import lru_cache
from math import log
from typing import TYPE_CHECKING

import numpy as np

from sourdine.central.quantiles.lattice import spacing

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["bracket_error", "joint_error", "many_level_error", "one_error", "two_level_error"]

SAMPLES = 60_000
OF_MANY = 600
"""How often many levels are sampled: thousands of quantiles each time."""
REMAINDERS = 12
SAFETY = 1.05
"""Planned errors are a twentieth above the sampled ones: data is never quite even."""
USUAL = 0.05


def one_error(beta: float) -> float:
    r"""Return the :math:`1-\beta` quantile of a Laplace variable's size, in units of 1/c."""
    return log(1 / beta)


@lru_cache(64)
def joint_error(orders: tuple[Fraction, ...], beta: float) -> float:
    r"""Return the :math:`1 - \beta` quantile of :math:`\max_j |b_j|`, in units of 1/c.

    Examples
    --------
    >>> from fractions import Fraction
    >>> deciles = tuple(Fraction(i, 10) for i in range(1, 10))
    >>> 5.5 < joint_error(deciles, 0.05) < 6.5
    True
    """
    errors, rest = _bridge(orders, np.random.default_rng(0), SAMPLES)
    return SAFETY * _worst(np.abs(errors).max(axis=1), rest, beta)


@lru_cache(64)
def two_level_error(orders: tuple[Fraction, ...], stride: int, beta: float) -> float:
    r"""Return the same for two levels, every ``stride``-th quantile being drawn first."""
    rng, samples = np.random.default_rng(0), SAMPLES // 4
    first = orders[stride - 1 :: stride]
    inner, rest = _bridge(first, rng, samples)
    ends = np.concatenate((np.zeros((samples, 1)), inner, np.zeros((samples, 1))), axis=1)
    worst = np.abs(ends).max(axis=1)
    for i in range(len(first) + 1):
        within = orders[i * stride : (i + 1) * stride - 1]
        if not within:
            continue
        left = first[i - 1] if i else 0
        right = first[i] if i < len(first) else 1
        at = tuple((q - left) / (right - left) for q in within)
        share = np.array([float(q) for q in at])
        line = ends[:, [i]] * (1 - share) + ends[:, [i + 1]] * share
        errors = np.abs(line + _bridge(at, rng, samples)[0]).max(axis=1)
        worst = np.maximum(worst, errors)
    return SAFETY * _worst(worst, rest, beta)


@lru_cache(16)
def many_level_error(orders: tuple[Fraction, ...], strides: tuple[int, ...], beta: float) -> float:
    r"""Return the same for more levels, with the stride of each but the last."""
    rng, q = np.random.default_rng(0), np.array([float(order) for order in orders])
    ends = np.zeros((OF_MANY, 1))
    worst = _nested(q, (0.0, 1.0), (ends, ends), strides, rng)
    return SAFETY * float(np.quantile(worst, 1 - beta))


def _nested(
    q: Floats,
    ends: tuple[float, float],
    errors: tuple[Floats, Floats],
    strides: tuple[int, ...],
    rng: np.random.Generator,
) -> Floats:
    """Sample the greatest error of quantiles between two ends that err themselves."""
    (left, right), stride = ends, strides[0] if strides else 1
    drawn = q[stride - 1 :: stride]
    if not len(drawn):
        return _nested(q, ends, errors, strides[1:], rng) if len(q) else np.zeros(OF_MANY)
    share = (drawn - left) / (right - left)
    walk = np.cumsum(rng.laplace(size=(OF_MANY, len(drawn) + 1)), axis=1)
    bridge = walk[:, :-1] - share * walk[:, -1:]
    own = errors[0] * (1 - share) + errors[1] * share + bridge
    worst = np.abs(own).max(axis=1)
    if stride == 1:
        return np.asarray(worst)
    places = [left, *drawn.tolist(), right]
    off = np.concatenate((errors[0], own, errors[1]), axis=1)
    for i in range(len(drawn) + 1):
        inner = q[i * stride : (i + 1) * stride - 1]
        between = off[:, [i]], off[:, [i + 1]]
        found = _nested(inner, (places[i], places[i + 1]), between, strides[1:], rng)
        worst = np.maximum(worst, found)
    return np.asarray(worst)


@lru_cache(256)
def bracket_error(aims: tuple[Fraction, ...], own: tuple[int, ...], beta: float) -> float:
    r"""Return how far out brackets must aim so that all hold with probability 1 - beta.

    Of the aims beside an order, the one below may not err upward by more than the offset, the one
    above not downward. In units of 1/c.

    Parameters
    ----------
    aims
        The orders of everything drawn, in order; brackets have the order that they belong to.
    own
        Which of them are published.
    beta
        The probability with which some interval may fail.
    """
    errors, rest = _bridge(aims, np.random.default_rng(0), SAMPLES // 2)
    below, above = (np.clip(np.array(own) + side, 0, len(aims) - 1) for side in (-1, 1))
    worst = np.maximum(errors[:, below].max(axis=1), -errors[:, above].min(axis=1))
    return _worst(worst, rest, beta)


def _bridge(
    orders: tuple[Fraction, ...], rng: np.random.Generator, samples: int
) -> tuple[Floats, Floats]:
    r"""Sample the :math:`b_j`, and the part of :math:`h` by which the records pass a total."""
    m = len(orders)
    d = rng.laplace(size=(samples, m + 1))
    q = np.array([float(order) for order in orders])
    walk = np.cumsum(d, axis=1)
    return walk[:, :-1] - q * walk[:, -1:], walk[:, -1] / spacing(m) % 1


def _worst(errors: Floats, rest: Floats, beta: float) -> float:
    """Return the quantile of errors for the worst remainder; its excess is that at 0.05."""
    group = np.minimum((REMAINDERS * rest).astype(int), REMAINDERS - 1)
    usual = [np.quantile(errors[group == i], 1 - USUAL) for i in range(REMAINDERS)]
    excess = float(max(usual)) / float(np.quantile(errors, 1 - USUAL))
    return max(excess, 1.0) * float(np.quantile(errors, 1 - beta))
