r"""What rank errors to expect of an algorithm, before anything is paid.

Where records lie densely around the quantiles, the gaps' errors of a joint draw are independent
Laplace variables of scale :math:`1/c`, and a quantile's rank errs by

.. math:: b_j = \sum_{l \le j} d_l - q_j \sum_{l=1}^{m+1} d_l .

The law of :math:`\max_j |b_j|` has no simple form; it is sampled once, with a fixed seed, in units
of :math:`1/c`. Two levels add up, the second tied to the ends of its slice.
"""

from __future__ import annotations

from functools import lru_cache
from math import log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["bracket_error", "joint_error", "one_error", "two_level_error"]

SAMPLES = 20_000
SAFETY = 1.1
"""Planned errors are a tenth above the sampled ones: data is never quite even."""


def one_error(beta: float) -> float:
    r"""Return the :math:`1-\beta` quantile of a Laplace variable's size, in units of 1/c."""
    return log(1 / beta)


@lru_cache(64)
def joint_error(orders: tuple[Fraction, ...], beta: float) -> float:
    r"""Return the :math:`1 - \beta` quantile of :math:`\max_j |b_j|`, in units of 1/c."""
    worst = np.abs(_bridge(orders, np.random.default_rng(0), SAMPLES)).max(axis=1)
    return SAFETY * float(np.quantile(worst, 1 - beta))


@lru_cache(64)
def two_level_error(orders: tuple[Fraction, ...], stride: int, beta: float) -> float:
    r"""Return the same for two levels, every ``stride``-th quantile being drawn first."""
    rng, samples = np.random.default_rng(0), SAMPLES // 4
    first = orders[stride - 1 :: stride]
    ends = _bridge(first, rng, samples)
    ends = np.concatenate((np.zeros((samples, 1)), ends, np.zeros((samples, 1))), axis=1)
    worst = np.abs(ends).max(axis=1)
    for i in range(len(first) + 1):
        inner = orders[i * stride : (i + 1) * stride - 1]
        if not inner:
            continue
        left = first[i - 1] if i else 0
        right = first[i] if i < len(first) else 1
        at = tuple((q - left) / (right - left) for q in inner)
        share = np.array([float(q) for q in at])
        line = ends[:, [i]] * (1 - share) + ends[:, [i + 1]] * share
        errors = np.abs(line + _bridge(at, rng, samples)).max(axis=1)
        worst = np.maximum(worst, errors)
    return SAFETY * float(np.quantile(worst, 1 - beta))


@lru_cache(256)
def bracket_error(aims: tuple[Fraction, ...], orders: tuple[Fraction, ...], beta: float) -> float:
    r"""Return how far out brackets must aim so that all hold with probability 1 - beta.

    Of the aims beside an order, the one below may not err upward by more than the offset, the one
    above not downward. In units of 1/c.

    Parameters
    ----------
    aims
        The orders of everything drawn, in order; brackets have the order that they belong to.
    orders
        The orders that are published.
    beta
        The probability with which some interval may fail.
    """
    errors = _bridge(aims, np.random.default_rng(0), SAMPLES)
    own = [i for i, q in enumerate(aims) if q in orders]
    below, above = (np.clip(np.array(own) + side, 0, len(aims) - 1) for side in (-1, 1))
    worst = np.maximum(errors[:, below].max(axis=1), -errors[:, above].min(axis=1))
    return float(np.quantile(worst, 1 - beta))


def _bridge(orders: tuple[Fraction, ...], rng: np.random.Generator, samples: int) -> Floats:
    d = rng.laplace(size=(samples, len(orders) + 1))
    q = np.array([float(order) for order in orders])
    return np.asarray(np.cumsum(d, axis=1)[:, :-1] - q * d.sum(axis=1, keepdims=True))
