"""What to say of a column that is not there."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from sourdine.tally.number_or_text import read_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.tally.frame import Frame

__all__ = ["listed_columns"]


def listed_columns(frame: Frame, wanted: str | None = None) -> str:
    """Return a sentence on the columns: all of them, or of a text file those like what was typed.

    A text file may have no header, and then its first line is somebody's record. So of names that
    stand there, and were not declared, none is shown but what resembles the name that was typed.

    Examples
    --------
    >>> from sourdine.tally import Frame
    >>> listed_columns(Frame({"age": [31], "vote": ["yes"]}))
    "The columns are: 'age', 'vote'."
    """
    like = _like(wanted or "", frame.columns)
    meant = f"Did you mean {' or '.join(map(repr, like))}?" if like else ""
    if not frame.parsed or frame.reading.header is not None:
        return f"{meant} The columns are: {', '.join(map(repr, frame.columns))}.".strip()
    if like:
        return meant
    if any(not name or read_number(name) is not None for name in frame.columns):
        return (
            "The first line of the file holds numbers. If it is a record and no header, name the "
            "columns yourself, as header in a Reading or on the command line."
        )
    damaged = any("\ufffd" in name for name in frame.columns)
    encoded = " The file seems to be in another encoding." if damaged else ""
    return (
        f"Look at the columns with sourdine check: they are not listed here, as the first line of "
        f"a file without a header is a record.{encoded}"
    )


def _like(wanted: str, names: Sequence[str]) -> list[str]:
    """Return the names that resemble another, whatever their case and the blanks around them."""
    plain = {name.strip().casefold(): name for name in reversed(names)}
    return [plain[like] for like in get_close_matches(wanted.strip().casefold(), plain, n=3)]
