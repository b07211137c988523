"""An estimate of a column: by its name, and for all people although some were asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from sourdine.release import readable, rebuilt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.exact.parameters import Number
    from sourdine.release import Release

__all__ = ["OfColumn", "of_column"]


def of_column(release: Release, name: str, *, sampled: bool) -> Release:
    """Return an estimate from those who were asked as one of a column, for all people."""
    whole = OfColumn(estimate=release.mechanism, column=name, sampled=sampled)
    return replace(release, mechanism=whole, caveats=(*release.caveats, *whole.notes))


@dataclass(frozen=True, slots=True, kw_only=True)
class OfColumn:
    """An estimate that knows its column, and whether all people were asked.

    If each column is asked of some people, drawn at random without replacement, the error is at
    most that of a sample drawn from a population: intervals for the population hold for all
    people too.

    Parameters
    ----------
    estimate
        The estimate from those who were asked.
    column
        The column's name.
    sampled
        Whether only some were asked.
    """

    kind: ClassVar[str] = "column"

    estimate: Any
    column: str
    sampled: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        some = "Asked of some people, drawn at random; the interval is for all of them."
        return (some,) if self.sampled else ()

    def between(self, release: Release, confidence: Number, of: str) -> Any:  # noqa: ANN401
        """Return the ends for all people, or for the population they come from."""
        return self.estimate.between(release, confidence, "population" if self.sampled else of)

    def table(self, release: Release) -> Any:  # noqa: ANN401
        """Return the estimate's own table."""
        return self.estimate.table(release)

    def plot(self, release: Release, *, title: str | None = None, **options: Any) -> Any:  # noqa: ANN401
        """Draw the estimate's own picture, under the column's name."""
        return self.estimate.plot(release, title=title or self.column, **options)

    def restore(self, value: Any, drawn: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return the value with the type it had."""
        return self.estimate.restore(value, drawn)

    def facts(self) -> dict[str, Any]:
        """Return the estimate's facts and the column."""
        own = {"column": self.column, "sampled": self.sampled}
        return {"kind": self.kind, "estimate": self.estimate.facts(), **own}

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(object.__getattribute__(self, "estimate"), name)

    def __str__(self) -> str:
        return f"{self.column}: {self.estimate}"


def _rebuilt(estimate: Mapping[str, Any], column: str, sampled: bool) -> OfColumn:  # noqa: FBT001
    return OfColumn(estimate=rebuilt(estimate), column=column, sampled=sampled)


readable(OfColumn.kind, _rebuilt)
