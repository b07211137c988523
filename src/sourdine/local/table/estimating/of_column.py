"""An estimate of a column: by its name, and for all people although some were asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from sourdine.release import Drawer, read_drawer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.release import Columns, Release

__all__ = ["OfColumn", "of_column"]


def of_column(release: Release, name: str, *, sampled: bool) -> Release:
    """Return an estimate from those who were asked as one of a column, for all people."""
    whole = OfColumn(estimate=release.mechanism, column=name, sampled=sampled)
    return replace(release, mechanism=whole, caveats=(*release.caveats, *whole.notes))


@dataclass(frozen=True, slots=True, kw_only=True)
class OfColumn(Drawer):
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

    estimate: Drawer
    column: str
    sampled: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        some = "Asked of some people, drawn at random; the interval is for all of them."
        return (some,) if self.sampled else ()

    @property
    def head(self) -> str:
        """What the numbers are."""
        return self.estimate.head

    def limits(self, release: Release, beta: float, of: str) -> Any:  # noqa: ANN401
        """Return the ends for all people, or for the population they come from."""
        return self.estimate.limits(release, beta, "population" if self.sampled else of)

    def labels(self, release: Release) -> Mapping[str, Sequence[Any]]:
        """Return the estimate's own labels."""
        return self.estimate.labels(release)

    def columns(self, release: Release) -> Columns:
        """Return the estimate's own columns."""
        return self.estimate.columns(release)

    def printed(self, release: Release) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the estimate's own table."""
        return self.estimate.printed(release)

    def value(self, drawn: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return the estimate's own value."""
        return self.estimate.value(drawn)

    def plot(self, release: Release, *, title: str | None = None, **options: Any) -> Any:  # noqa: ANN401
        """Draw the estimate's own picture, under the column's name."""
        return self.estimate.plot(release, title=title or self.column, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate's facts and the column."""
        own = {"column": self.column, "sampled": self.sampled}
        return {"statistic": self.kind, "estimate": self.estimate.to_dict(), **own}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> OfColumn:
        """Return what wrote these facts."""
        estimate = read_drawer(facts["estimate"])
        return cls(estimate=estimate, column=facts["column"], sampled=facts["sampled"])

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(object.__getattribute__(self, "estimate"), name)

    def __str__(self) -> str:
        return f"{self.column}: {self.estimate}"
