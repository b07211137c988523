"""The normal law, for sums of many reports."""

from __future__ import annotations

__all__ = ["gaussian_quantile", "student_quantile"]


def gaussian_quantile(beta: float) -> float:
    """Return what a standard normal passes, in absolute value, with probability ``beta``."""
    from statistics import NormalDist  # noqa: PLC0415 - costs time to import, needed here only

    return -NormalDist().inv_cdf(beta / 2)


def student_quantile(beta: float, freedom: int) -> float:
    """Return what Student's t passes, in absolute value, with probability ``beta``.

    Examples
    --------
    >>> round(student_quantile(0.05, 4), 2), round(student_quantile(0.05, 10**6), 2)
    (2.78, 1.96)
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - late, as everywhere

    return float(-stdtrit(freedom, beta / 2))
