"""Texts that others wrote, as they may be shown: nothing in them steers a terminal or a page."""

from __future__ import annotations

import json
import re

__all__ = ["STEERING", "json_text", "printable"]

STEERING = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
"""Control characters, ends of lines, what turns the direction of writing, and halves of letters."""


def printable(text: str) -> str:
    r"""Return a text with a visible name for each character that is an order, not a letter.

    Names of columns and keys come from data and from schemas that strangers write. An escape
    sequence among them would recolour a terminal or overwrite a line, an end of line would forge
    one. (HTML has marks of its own, which `Sheet.html` escapes.)

    Examples
    --------
    >>> print(printable("yes\x1b[2J\ncost  epsilon 0"))
    yes\x1b[2J\ncost  epsilon 0
    """
    return STEERING.sub(lambda found: ascii(found[0])[1:-1], text)


def json_text(facts: object) -> str:
    r"""Return JSON in one line, in which letters are letters and everything else is escaped.

    Examples
    --------
    >>> print(json_text({"vote": "été\x9b2J"}))
    {"vote": "été\u009b2J"}
    """
    text = json.dumps(facts, ensure_ascii=False)
    return STEERING.sub(lambda found: json.dumps(found[0])[1:-1], text)
