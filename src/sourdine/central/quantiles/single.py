"""One quantile, and the median: `Quantiles` with a single order."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from attrs import field, frozen

from sourdine.central.quantiles.statistic import Quantiles
from sourdine.errors import ParameterError

__all__ = ["Median", "Quantile"]


@frozen(slots=False)
class Quantile(Quantiles):
    """One quantile; everything else as in `Quantiles`.

    Examples
    --------
    >>> release = Quantile(0.9, bounds=(0, 1000), step=1, epsilon=1).release(list(range(1000)))
    >>> abs(release.value - 900) < 40
    True
    """

    kind: ClassVar[str] = "quantile"
    text: ClassVar[str] = "One quantile of a column."
    examples: ClassVar[tuple[str, str]] = (
        "people.csv -c salary --bounds 0 500000 --step 1 --q 0.9 --epsilon 0.5",
        "--bounds 0 500000 --q 0.9 --n 100000 --error 0.005",
    )

    def check(self) -> None:
        """Refuse several orders."""
        if not isinstance(self.q, Fraction):
            raise ParameterError(
                "q", "be a single order", f"{len(self.q)} in a list", "Type {q}.", q=0.9
            )
        super().check()


@frozen(slots=False)
class Median(Quantiles):
    """The median; everything else as in `Quantiles`.

    Examples
    --------
    >>> release = Median(bounds=(0, 1000), step=1, epsilon=1).release(list(range(1000)))
    >>> abs(release.value - 500) < 40
    True
    """

    kind: ClassVar[str] = "median"
    required: ClassVar[tuple[str, ...]] = ("bounds",)
    text: ClassVar[str] = "The median of a column."
    examples: ClassVar[tuple[str, str]] = (
        "people.csv -c salary --bounds 0 500000 --step 1 --epsilon 0.5",
        "--bounds 0 500000 --n 100000 --error 0.005",
    )

    q: Fraction | tuple[Fraction, ...] = field(init=False, default=Fraction(1, 2))
