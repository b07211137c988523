"""`Ticked`: cells that hold several listed words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sourdine.tally.column import Column

__all__ = ["Ticked"]

BLANK = " \t"


@dataclass(frozen=True, slots=True)
class Ticked:
    r"""Sets of listed words: the slot of a set is :math:`\sum 2^v` over the words that it holds.

    Words that are not listed are passed over, and a cell that is missing holds none: so no cell is
    missing.

    Parameters
    ----------
    column
        The column; None for data that has one.
    words
        What is listed.
    separator
        What stands between words; blanks and tabs around them do not matter.

    Examples
    --------
    >>> Ticked("media", ("tv", "web", "radio"), ";").codes_of(["tv;radio", None, "radio ; radio"])
    [5, 0, 4]
    """

    column: str | None
    words: tuple[str, ...]
    separator: str
    numeric: ClassVar[bool] = False
    dated: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """How many sets there are."""
        return 1 << len(self.words)

    def slots(self, column: Column) -> NDArray[np.int64]:
        """Return the set of each value."""
        return np.array(self.codes_of(column.texts), np.int64)

    def codes_of(self, texts: Iterable[str | None]) -> list[int]:
        """Return the set that each text spells."""
        places = {word: 1 << i for i, word in enumerate(self.words)}
        return [self._code(text, places) if text else 0 for text in texts]

    def _code(self, text: str, places: dict[str, int]) -> int:
        code = 0
        for word in text.split(self.separator):
            code |= places.get(word.strip(BLANK), 0)
        return code
