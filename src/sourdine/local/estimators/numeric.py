"""What the estimates from reports of a number share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import fraction
from sourdine.grid import Grid
from sourdine.laws.normal import gaussian_quantile as normal_quantile
from sourdine.local.estimators.estimate import Estimate
from sourdine.local.numeric import Duchi, HybridReport, SlidingWindow
from sourdine.local.numeric.unbiased import on_grid
from sourdine.mechanisms import BoundedLaplace, BoundedStaircase
from sourdine.release.answer import plain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

    from sourdine.local.estimators.channel import Numeric
    from sourdine.release import Release

__all__ = ["NumericEstimate", "normal_quantile", "read_tally"]

RANDOMISERS = {
    c.__name__: c for c in (BoundedLaplace, BoundedStaircase, Duchi, HybridReport, SlidingWindow)
}
PARAMETERS = ("epsilon", "last", "slide", "width", "method", "minimise")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericEstimate(Estimate):
    """An estimate from the tally of reports: public parameters that explain a release.

    Parameters
    ----------
    report
        The randomiser.
    grid
        The lattice of the numbers.
    """

    report: Numeric
    grid: Grid

    def __post_init__(self) -> None:
        on_grid(self.report, self.grid)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know: a function of the parameters alone."""
        if isinstance(self.report, (BoundedLaplace, BoundedStaircase)):
            name = type(self.report).__name__
            return (f"{name} tells little of a number: ask with HybridReport or square_wave.",)
        return ()

    def number(self, share: float) -> float:
        """Return the number at a share of the range."""
        return float(self.grid.lower) + share * float(self.grid.step * self.grid.last)

    def to_dict(self) -> dict[str, Any]:
        """Return the public parameters as JSON knows them."""
        shown = [name for name in PARAMETERS if hasattr(self.report, name)]
        report = {name: _plain(getattr(self.report, name)) for name in shown}
        bounds = [str(Fraction(v)) for v in (self.grid.lower, self.grid.upper, self.grid.step)]
        own = plain({f.name: getattr(self, f.name) for f in fields(self)[2:]})
        return {"statistic": self.kind, "randomiser": type(self.report).__name__, **own} | {
            "report": report,
            "grid": bounds,
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return the estimate that wrote these facts."""
        given = {**facts["report"], "epsilon": fraction(facts["report"]["epsilon"])}
        report: Any = RANDOMISERS[facts["randomiser"]](**given)
        own = {f.name: facts[f.name] for f in fields(cls)[2:]}
        own = {name: tuple(v) if isinstance(v, list) else v for name, v in own.items()}
        return cls(report=report, grid=Grid(*map(fraction, facts["grid"])), **own)

    def counted(self, tally: NDArray[np.int64], estimate: Any, **more: object) -> Release:  # noqa: ANN401
        """Return the release of an estimate from a tally."""
        drawn = {"tally": tally, "reports": int(tally.sum()), "estimate": estimate, **more}
        return self.release(self.report.guarantee, drawn, self.grid)

    def __str__(self) -> str:
        return f"{self.kind}, {self.report}"


def read_tally(report: Numeric, tally: ArrayLike) -> NDArray[np.int64]:
    """Return a tally as whole numbers, refusing one of another length."""
    counts = np.asarray(tally)
    if counts.shape != (report.cells,) or counts.dtype.kind not in "iu":
        raise ParameterError(
            "tally",
            f"be {report.cells} counts of reports",
            f"{counts.dtype} of the shape {counts.shape}",
            "Pass what report.tally(reports) returned.",
        )
    return counts.astype(np.int64)


def _plain(value: Any) -> Any:  # noqa: ANN401
    return str(value) if isinstance(value, Fraction) else value
