"""Rows that are added to evaluation data: what they must be, before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.holdout.labels import TEXT, Labels
from sourdine.errors import ParameterError, ParameterTypeError

if TYPE_CHECKING:
    from sourdine.adaptive.holdout.losses import Loss

__all__ = ["read_continued", "read_more"]

EXACT = 1 << 53
"""Whole numbers beyond this are not floats."""


def read_more(given: object, held: Labels) -> Labels:
    """Return the labels of new rows, of the same kind as those that are held."""
    column = Labels.read(given, "labels", TEXT if held.kind == TEXT else None)
    if len(column) == 0:
        raise ParameterError(
            "labels", "be those of one new row or more", "none", "Type extend([0, 1, 1])."
        )
    if column.kind != held.kind:
        raise ParameterTypeError(
            "labels",
            f"be {held.kind}s, as the others are",
            f"{column.kind}s",
            "Convert them first: 1 and '1' are not the same.",
        )
    if column.values.dtype != held.values.dtype and not (_as_floats(column) and _as_floats(held)):
        raise ParameterError(
            "labels",
            "be whole numbers, all of them, where some are too long for a float",
            "a mixture",
            "Type them as texts, in a new guard.",
        )
    return column


def read_continued(given: object, labels: Labels, loss: Loss, held: Labels | None) -> Labels | None:
    """Return what the predictions that hold say on new rows; None if nothing is said."""
    if given is None:
        return None
    column = loss.read(given, "confirmed", labels)
    if held is None:
        raise ParameterError(
            "confirmed",
            "be left out where no predictions hold",
            "some",
            "Name what is to be beaten in the next confirm(new, old).",
        )
    if len(column) != len(labels) or column.values.shape[1:] != held.values.shape[1:]:
        raise ParameterError(
            "confirmed",
            f"be one for each of {len(labels)} new rows, by the model confirmed last",
            f"{len(column)}",
            "Predict the new rows, in their order.",
        )
    if not column.complete:
        raise ParameterError(
            "confirmed",
            "be there for every row",
            "missing or infinite ones",
            "Fill them in: a guess may be wrong, but a gap may not be.",
        )
    return column


def _as_floats(labels: Labels) -> bool:
    """Return whether no number changes if it becomes a float."""
    return labels.values.dtype.kind != "i" or bool((np.abs(labels.values) <= EXACT).all())
