"""Estimates for all people where each column was asked of some of them, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from sourdine.release import readable, rebuilt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.exact.parameters import Number
    from sourdine.release import Release

__all__ = ["Asked", "of_all"]


def of_all(release: Release) -> Release:
    """Return an estimate from those who were asked as one for all people."""
    whole = Asked(estimate=release.mechanism)
    return replace(release, mechanism=whole, caveats=(*release.caveats, whole.note))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """An estimate whose intervals add that only some people were asked.

    Who is asked is drawn without replacement from all people, so the error is at most that of a
    sample drawn from a population: its intervals hold for all people too.

    Parameters
    ----------
    estimate
        The estimate from those who were asked.
    """

    kind: ClassVar[str] = "asked"
    note: ClassVar[str] = "Asked of some people, drawn at random; the interval is for all of them."

    estimate: Any

    def between(self, release: Release, confidence: Number, of: str) -> Any:  # noqa: ANN401
        """Return the ends for all people, or for the population they come from: the same."""
        del of
        return self.estimate.between(release, confidence, "population")

    def table(self, release: Release) -> Any:  # noqa: ANN401
        """Return the estimate's own table."""
        return self.estimate.table(release)

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw the estimate's own picture."""
        return self.estimate.plot(release, **options)

    def restore(self, value: Any, drawn: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return the value with the type it had."""
        return self.estimate.restore(value, drawn)

    def facts(self) -> dict[str, Any]:
        """Return the estimate's facts."""
        return {"kind": self.kind, "estimate": self.estimate.facts()}

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(object.__getattribute__(self, "estimate"), name)

    def __str__(self) -> str:
        return str(self.estimate)


readable(Asked.kind, lambda estimate: Asked(estimate=rebuilt(estimate)))
