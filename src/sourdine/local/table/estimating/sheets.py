"""Estimates of several columns as tables, and those that were saved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sourdine.local.table.estimating.crossed import Crossed
from sourdine.privacy import Guarantee
from sourdine.release import SHOWN, Release, Sheet
from sourdine.release.columns import end_heads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["Named", "SavedEstimates", "sheet_of", "sheets_of"]

Named = tuple[str, str, Release]
"""A column or two, what is estimated, and the estimate."""
PICTURED = ("shares", "quartiles")
"""What is drawn of what was saved."""


def sheet_of(estimates: Iterable[Named], notes: Sequence[tuple[str, str]]) -> Sheet:
    """Return what is printed of single columns: a line for each number."""
    rows = [
        (name, what, ", ".join(row[:-3]), *row[-3:])
        for name, what, release in estimates
        if not isinstance(release.mechanism, Crossed)
        for row in release.columns().cells()[1]
    ]
    heads = ("column", "what", "of", "estimate", *end_heads(SHOWN))
    return Sheet(heads=heads, lines=rows, notes=notes)


def sheets_of(estimates: Iterable[Named], notes: Sequence[tuple[str, str]]) -> Iterator[Sheet]:
    """Yield all that is printed: the columns one by one, then a table for each pair."""
    listed = [*estimates]
    yield sheet_of(listed, notes)
    for name, what, release in listed:
        if isinstance(release.mechanism, Crossed) and what == PICTURED[0]:
            title = f"{name}, with {100 * SHOWN:g} % intervals"
            caveats = [("note", caveat) for caveat in release.caveats]
            yield replace(release.sheet(), title=title, notes=caveats)


@dataclass(frozen=True, kw_only=True)
class SavedEstimates:
    """What `Estimates.to_json` wrote, read back to be looked at.

    Parameters
    ----------
    cost
        What a record cost, all its columns together.
    estimates
        Column, what is estimated, and the estimate.
    """

    cost: Guarantee
    estimates: tuple[Named, ...]

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> SavedEstimates:
        """Return the estimates that `Estimates.to_dict` wrote."""
        read = tuple(
            (name, what, Release.from_dict(one))
            for name, found in facts["estimates"].items()
            for what, one in found.items()
        )
        return cls(cost=Guarantee.from_dict(facts["cost"]), estimates=read)

    def plot(self, **options: Any) -> Any:  # noqa: ANN401
        """Draw every column: numbers by their quartiles, the only ones that are saved."""
        from sourdine.local.table.estimating.figure import panels  # noqa: PLC0415 - matplotlib, late

        panes = [(name, release) for name, what, release in self.estimates if what in PICTURED]
        return panels(self, panes, **options)

    def _repr_html_(self) -> str:
        notes = [("cost", f"{self.cost}, for all columns of a record")]
        return "".join(sheet.html() for sheet in sheets_of(self.estimates, notes))
