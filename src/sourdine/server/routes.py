"""Every route of the API, in the order of its description."""

from __future__ import annotations

from sourdine.server import (
    accounts,
    datasets,
    holdouts,
    ledgers,
    operating,
    people,
    planning,
    releasing,
    surveys,
)

__all__ = ["API"]

API = (
    *people.OPERATIONS,
    *accounts.OPERATIONS,
    *datasets.OPERATIONS,
    *planning.OPERATIONS,
    *releasing.OPERATIONS,
    *ledgers.OPERATIONS,
    *holdouts.OPERATIONS,
    *surveys.OPERATIONS,
    *operating.OPERATIONS,
)
"""All operations below ``/api/v1``."""
