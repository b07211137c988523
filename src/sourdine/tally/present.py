"""`Present`: whether a value is there at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sourdine.grid import MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.tally.column import Column

__all__ = ["Present"]


@dataclass(frozen=True, slots=True)
class Present:
    """One slot, for values that are there: not nothing, not NaN, not the empty text.

    Parameters
    ----------
    column
        The column; None for data that has one.

    Examples
    --------
    >>> from sourdine.tally import Frame
    >>> Frame([3, None, "", "none", 0]).tally(Present(None)).counts.tolist()
    [3, 2]
    """

    column: str | None
    size: ClassVar[int] = 1
    numeric: ClassVar[bool] = False
    dated: ClassVar[bool] = False

    def slots(self, column: Column) -> NDArray[np.int64]:
        """Return 0 for a value that is there."""
        return np.where(column.present, 0, MISSING)
