"""What was asked so far: a list that prints as a table and becomes a frame."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from sourdine.privacy.printing import shown as spent
from sourdine.release.columns import framed, label
from sourdine.release.sheet import Sheet, Shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["History"]

Line = TypeVar("Line")


class History(Shown, list[Line]):
    """Lines in their order, the first one first.

    Parameters
    ----------
    lines
        What was asked, a line each.
    heads
        The attributes of a line that are shown, and what each is called.

    Examples
    --------
    >>> from fractions import Fraction
    >>> halves = History([Fraction(1, 2), Fraction(3, 2)], {"numerator": "above", "real": "value"})
    >>> print(halves)
    above  value
        1    0.5
        3    1.5
    >>> halves[0], halves.to_frame("polars")["real"].to_list()
    (Fraction(1, 2), [0.5, 1.5])
    """

    __slots__ = ("_heads",)

    def __init__(self, lines: Iterable[Line], heads: Mapping[str, str]) -> None:
        super().__init__(lines)
        self._heads = dict(heads)

    def sheet(self) -> Sheet:
        """Return what is printed."""
        rows = [tuple(_text(getattr(line, name)) for name in self._heads) for line in self]
        return Sheet(heads=list(self._heads.values()), lines=rows)

    def to_frame(self, library: str = "pandas") -> Any:  # noqa: ANN401
        """Return the lines as a frame of ``"pandas"``, ``"polars"`` or ``"pyarrow"``."""
        columns = {name: [_plain(getattr(line, name)) for line in self] for name in self._heads}
        return framed(columns, library)

    def __repr__(self) -> str:
        return f"<History: {len(self)} {'line' if len(self) == 1 else 'lines'}>"


def _text(cell: object) -> str:
    """Return a cell as a person reads it; what was spent is never rounded down."""
    return spent(cell) if isinstance(cell, Fraction) else label(cell)


def _plain(cell: object) -> object:
    """Return a cell as a frame holds it."""
    return float(cell) if isinstance(cell, Fraction) else cell
