"""The normal law, for sums of many reports."""

from __future__ import annotations

__all__ = ["gaussian_quantile"]


def gaussian_quantile(beta: float) -> float:
    """Return what a standard normal passes, in absolute value, with probability ``beta``."""
    from statistics import NormalDist  # noqa: PLC0415 - costs time to import, needed here only

    return -NormalDist().inv_cdf(beta / 2)
