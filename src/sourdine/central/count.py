"""How many records there are."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import frozen

from sourdine.central.weights import Weighted
from sourdine.errors import ParameterError
from sourdine.frames.cells import Present
from sourdine.mechanisms import Laplace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.frames.frame import Frame
    from sourdine.privacy import Part
    from sourdine.results.release import Release


@frozen(kw_only=True, slots=False)
class Count(Weighted):
    r"""Count records, or the values of a column that are not missing.

    One person changes it by ``rows`` under either relation (under substitution a value may become
    missing), so the noise is discrete Laplace of scale ``rows``:math:`/\varepsilon`. The released
    count is a whole number and may be negative, so that sums of counts stay unbiased; its interval
    begins at 0, or at the count where that is lower.

    Notes
    -----
    *Claim*: the error is that of the noise, no more and no less. *Checked by*
    ``test_count_error_is_that_of_the_noise``.

    Examples
    --------
    >>> Count(epsilon=1).error(0.05)
    3.0
    >>> release = Count(epsilon=1).release(["a", "b", "c"] * 1000)
    >>> abs(release.value - 3000) < 50
    True
    """

    kind: ClassVar[str] = "count"
    shown: ClassVar[Mapping[str, Any]] = {"populations": False, "from_zero": True}
    text: ClassVar[str] = "Count records, or the values in a column."
    examples: ClassVar[tuple[str, str]] = ("people.csv --epsilon 0.1", "--error 100")

    @cached_property
    def mechanism(self) -> Laplace:
        return Laplace(epsilon=self.epsilon, sensitivity=self.copies, relation=self.relation)

    @property
    def own_parts(self) -> tuple[Part, ...]:
        return self.mechanism.parts

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        if self.per_person is not None:
            return self.person
        if self.column is not None:
            empty = "Records whose value is empty are not counted; any other text counts."
            return (empty, *self.weighing, *self.person)
        if self.unit is not None:
            counted = "Rows with missing values are counted too."
        else:
            counted = "All records are counted, including those with missing values."
        return (counted, *self.weighing, *self.person)

    def check(self) -> None:
        _ = self.mechanism
        if self.column is None and self.per_person not in (None, "count"):
            raise ParameterError(
                "column", "be named, to count the people who have a value", "",
                "Use {column}, or {per_person} to count people.", column="cost", per_person="count",
            )  # fmt: skip

    def reads(self) -> dict[str, str | None]:
        """Return the columns that must be there: a count of all records needs none."""
        return {name: column for name, column in super().reads().items() if column is not None}

    def prefetch(self, data: Frame) -> None:
        data.prefetch(*([] if self.column is None else [Present(data.resolve(self.column))]))

    def draw_all(self, frames: Sequence[Frame]) -> list[dict[str, Any]]:
        column = self.column
        counts = [len(data) if column is None else data.present(column) for data in frames]
        return [{"count": n} for n in self.mechanism.release_all(counts, source=self.source)]

    def value(self, drawn: Mapping[str, Any]) -> Any:
        return self.of_units(int(drawn["count"]))

    def planned(self, beta: float, n: int | None) -> float:
        return float(self.of_units(self.mechanism.error(beta)))

    def limits(self, release: Release, beta: float, of: str) -> tuple[Any, Any]:
        half, n = int(self.mechanism.error(beta)), int(release.drawn["count"])
        return self.of_units(max(n - half, 0)), self.of_units(max(n + half, 0))
