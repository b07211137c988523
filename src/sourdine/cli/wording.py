"""Hints in the words of the command line."""

from __future__ import annotations

import re

__all__ = ["as_typed"]

FILED = "strategy|weights|missing|lower|upper"
"""Parameters that stand in a schema, not on the command line."""


def as_typed(text: str) -> str:
    """Turn what is typed in Python into what is typed here.

    Examples
    --------
    >>> as_typed("Type bounds=(0, 120), epsilon=1 and keys=['a', 'b'].")
    'Type --bounds 0 120, --epsilon 1 and --keys a,b.'
    """
    text = re.sub(r"\bbounds=\((\S+), (\S+)\)", r"--bounds \1 \2", text)
    text = re.sub(r"\b(keys|q|bins|drop)=\[([^]]*)\]", _listed, text)
    text = re.sub(r"\bto='([^']+)'", r"--out \1", text)
    return re.sub(rf"\b(?!(?:{FILED})=)([a-z]+)=('?)([^\s',]+)\2", r"--\1 \3", text)


def _listed(found: re.Match[str]) -> str:
    return f"--{found[1]} " + found[2].replace("'", "").replace(", ", ",")
