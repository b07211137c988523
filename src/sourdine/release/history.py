"""What was asked so far: a list that prints as a table and becomes a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from sourdine.release.columns import framed
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
    >>> halves = History([Fraction(1, 2), Fraction(3, 2)], {"numerator": "above"})
    >>> print(halves)
    above
        1
        3
    >>> halves[0], halves.to_frame("polars")["numerator"].to_list()
    (Fraction(1, 2), [1, 3])
    """

    __slots__ = ("_heads",)

    def __init__(self, lines: Iterable[Line], heads: Mapping[str, str]) -> None:
        super().__init__(lines)
        self._heads = dict(heads)

    def sheet(self) -> Sheet:
        """Return what is printed."""
        rows = [tuple(map(str, cells)) for cells in zip(*self._columns().values(), strict=True)]
        return Sheet(heads=list(self._heads.values()), rows=rows)

    def to_frame(self, library: str = "pandas") -> Any:  # noqa: ANN401
        """Return the lines as a frame of ``"pandas"``, ``"polars"`` or ``"pyarrow"``."""
        return framed(self._columns(), library)

    def _columns(self) -> dict[str, list[Any]]:
        return {name: [getattr(line, name) for line in self] for name in self._heads}

    def __repr__(self) -> str:
        return f"<History: {len(self)} {'line' if len(self) == 1 else 'lines'}>"
