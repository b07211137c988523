"""The most common category of a column."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import field, frozen

from sourdine.central.statistic import Statistic
from sourdine.errors import ParameterError
from sourdine.frames.cells import Codes
from sourdine.frames.memory import TEXTS
from sourdine.mechanisms import PermuteAndFlip
from sourdine.parameters import converters as read
from sourdine.parameters import kinds
from sourdine.parameters.kinds import WHAT, param

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.frames.frame import Frame
    from sourdine.privacy import Part
    from sourdine.results.release import Display


def read_categories(x: Sequence[Any] | None) -> tuple[Any, ...]:
    listed = read.listed(x, "categories", ["bus", "car", "foot"])
    if listed is None:
        raise ParameterError(
            "categories",
            "be listed, as which of them occur is private",
            "",
            "Use {categories}.",
            categories=["bus", "car", "foot"],
        )
    return listed


@frozen(kw_only=True, slots=False)
class Mode(Statistic):
    r"""Name the most common of the listed categories, by permute-and-flip over their counts.

    A person added or removed moves every count by at most ``rows``, all in one direction; one whose
    records are replaced moves some up and others down, which needs twice the noise. A tie is
    broken at random, as is a near tie: the winner's count falls short of the largest by no more
    than the planned error.

    Notes
    -----
    *Claim*: a replaced, an added or a removed person moves the counts as said. *Checked by*
    ``test_a_mode_moves_no_further_than_it_says``. *Claim*: the count of what is named falls short
    of the largest by more than the planned error with probability ``beta`` at most. *Checked by*
    ``test_the_mode_is_as_common_as_planned``.

    Examples
    --------
    >>> asked = Mode(categories=["bus", "car", "foot"], epsilon=1)
    >>> asked.release(["bus"] * 400 + ["car"] * 300 + ["foot"] * 50).value
    'bus'
    """

    kind: ClassVar[str] = "mode"
    required: ClassVar[tuple[str, ...]] = ("categories",)
    text: ClassVar[str] = "Find the most common of the listed categories."
    examples: ClassVar[tuple[str, str]] = (
        "survey.csv -c travel --categories bus,car,foot --epsilon 0.5",
        "--categories bus,car,foot --error 20",
    )

    categories: tuple[Any, ...] = field(
        default=None, converter=read_categories,
        metadata=param(
            kinds.KEYS,
            "The candidate values. List them yourself, because which of them occur is private.",
            group=WHAT,
        ),
    )  # fmt: skip

    @property
    def display(self) -> Display:
        return replace(super().display, numeric=False, intervals=False)

    @cached_property
    def cell(self) -> Codes:
        """The column and its categories."""
        return Codes(self.column, self.categories)

    @property
    def needed(self) -> str:
        return TEXTS

    @cached_property
    def mechanism(self) -> PermuteAndFlip:
        """What names the winner."""
        return PermuteAndFlip(
            epsilon=self.epsilon,
            candidates=self.cell.size,
            sensitivity=self.rows,
            monotone=not self.substitutes,
            relation=self.relation,
        )

    @property
    def own_parts(self) -> tuple[Part, ...]:
        return self.mechanism.parts

    def check(self) -> None:
        _ = self.mechanism

    @property
    def how(self) -> str:
        return "permute-and-flip"

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        return (
            "Values in none of the categories are not counted.",
            "A category that is nearly as common may be returned instead.",
            *self.person,
        )

    def prefetch(self, data: Frame) -> None:
        data.prefetch(self.cell)

    def draw(self, data: Frame) -> dict[str, Any]:
        counts = data.tally(self.cell).counts[:-1]
        return {"winner": int(self.mechanism.release(counts, source=self.source).value)}

    def value(self, drawn: Mapping[str, Any]) -> Any:
        return self.categories[drawn["winner"]]

    def planned(self, beta: float, n: int | None) -> float:
        """Return by how many records the winner may fall short of the most common one."""
        del n
        return self.mechanism.error(beta)
