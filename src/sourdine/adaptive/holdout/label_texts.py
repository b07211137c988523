"""Labels as people write them in text files: numbers, names and gaps."""

from __future__ import annotations

import re

__all__ = ["is_gap", "is_written", "read_written"]

WRITTEN = re.compile(
    r"[+-]?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d+)?|[+-]?\.\d+([eE][+-]?\d+)?", re.ASCII
)
"""A number as people write it; 007 is a name."""

TOO_LONG = 1 << 63
"""What is written with more digits is a name, not a number."""

GAPS = frozenset({"", "na", "nan", "null", "none", "n/a"})


def is_written(text: str) -> bool:
    """Return whether a text is a number as people write it.

    Examples
    --------
    >>> [is_written(text) for text in ("7", "-0.5", "1e3", "007", "9" * 30, "inf", "")]
    [True, True, True, False, False, False, False]
    """
    return WRITTEN.fullmatch(text) is not None and abs(read_written(text)) < TOO_LONG


def read_written(text: str) -> int | float:
    """Return the number that is written."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def is_gap(text: str) -> bool:
    """Return whether a text says that nothing is there."""
    return text.lower() in GAPS
