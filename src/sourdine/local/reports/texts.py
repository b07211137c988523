"""Bytes as text: rows of one width, in the URL-safe alphabet of base64 without padding."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["length", "pattern", "rows_of", "texts_of"]


def length(width: int) -> int:
    """Return how many letters hold a number of bytes."""
    return -(-4 * width // 3)


def pattern(width: int) -> re.Pattern[str]:
    """Return what the text of a number of bytes looks like."""
    return re.compile(rf"[A-Za-z0-9_-]{{{length(width)}}}")


def texts_of(rows: NDArray[np.uint8]) -> list[str]:
    """Return the text of each row.

    Examples
    --------
    >>> texts_of(np.array([[0, 1, 2, 3], [255, 255, 255, 255]], np.uint8))
    ['AAECAw', '_____w']
    """
    n, width = rows.shape
    groups, letters = -(-width // 3), length(width)
    filled = np.zeros((n, 3 * groups), np.uint8)
    filled[:, :width] = rows
    text = np.frombuffer(urlsafe_b64encode(filled.tobytes()), np.uint8).reshape(n, 4 * groups)
    cut = np.ascontiguousarray(text[:, :letters]).view(f"S{letters}")[:, 0]
    return list(cut.astype("U").tolist())


def rows_of(texts: Sequence[str], width: int) -> NDArray[np.uint8]:
    """Return the bytes of texts that match `pattern`; bits beyond the width are ignored.

    Examples
    --------
    >>> rows_of(["AAECAw"], 4).tolist()
    [[0, 1, 2, 3]]
    """
    n, groups, letters = len(texts), -(-width // 3), length(width)
    filled = np.full((n, 4 * groups), ord("A"), np.uint8)
    filled[:, :letters] = np.array(texts, f"S{letters}").view(np.uint8).reshape(n, letters)
    rows = np.frombuffer(urlsafe_b64decode(filled.tobytes()), np.uint8)
    return rows.reshape(n, 3 * groups)[:, :width]
