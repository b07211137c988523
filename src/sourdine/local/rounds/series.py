"""`Series`: what the reports of a survey tell, round by round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import given
from sourdine.local.reports import Aggregator
from sourdine.local.rounds.costs import several
from sourdine.presentation.numbers import row
from sourdine.release import SHOWN, Sheet, Shown
from sourdine.release.columns import end_heads, framed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sourdine.local.reports import Receipt
    from sourdine.local.table import Estimates
    from sourdine.local.table.schema import Schema
    from sourdine.release import Release

__all__ = ["Series"]

DRAWN = 6
"""How many categories are printed and drawn, those with the largest shares."""
TOGETHER = (
    "Each interval holds for its own round. People keep their hashes and responses, so rounds err "
    "together: where answers stay, the mean of many is no more precise than one at the permanent "
    "epsilon."
)


class Series(Shown):
    """An `Aggregator` for each round of a survey, and what they say together.

    Parameters
    ----------
    schema
        What was asked, with its ``rounds``.

    Notes
    -----
    *Claim*: the shares of each round are unbiased with the variance of one round, and intervals
    hold. *Checked by* ``test_each_round_is_unbiased``. *Claim*: errors of different rounds are
    correlated. *Checked by* ``test_rounds_err_together``.

    Examples
    --------
    >>> from sourdine.local.rounds import Panel
    >>> from sourdine.local.table import Choice, Schema
    >>> from sourdine.noise import SeededSource
    >>> survey = Schema(vote=Choice("yes", "no"), epsilon=4, rounds=3, missing="random")
    >>> seeded = SeededSource(1)
    >>> people, series = Panel(survey, 10_000, source=seeded), Series(survey)
    >>> for number, yes in enumerate((7000, 6500, 6000), 1):
    ...     rows = {"vote": ["yes"] * yes + ["no"] * (10_000 - yes)}
    ...     receipt = series.add(number, people.reports(rows, source=seeded))
    >>> print(series.sheet().text().split("one round")[0].rstrip())
    column  category  round   share  from (95 %)  to (95 %)
    vote    yes           1  0.7047        0.685      0.724
    vote    yes           2  0.6571        0.638      0.676
    vote    yes           3  0.6084        0.589      0.628
    vote    no            1  0.2953        0.276      0.315
    vote    no            2  0.3429        0.324      0.362
    vote    no            3  0.3916        0.372      0.411
    """

    __slots__ = ("rounds", "schema")

    def __init__(self, schema: Schema) -> None:
        self.schema = several(schema)
        self.rounds: dict[int, Aggregator] = {}
        """What was counted, by round."""

    def add(self, number: int, reports: object) -> Receipt:
        """Count reports of a round, and return what became of them; those of others are foreign."""
        if number not in self.rounds:
            self.rounds[number] = Aggregator(self.schema.round(number))
        return self.rounds[number].add(reports)

    def estimate(self, number: int) -> Estimates:
        """Return all that is known of one round."""
        if number not in self.rounds:
            listed = ", ".join(map(str, sorted(self.rounds))) or "none"
            raise ParameterError(
                "round", "be one that was counted", given(number), f"They are: {listed}."
            )
        return self.rounds[number].estimate()

    def shares(self, column: str, *, consistent: str | None = None) -> dict[int, Release]:
        """Return the shares of a column's categories in each round."""
        return {
            number: self.estimate(number).shares(column, consistent=consistent)
            for number in sorted(self.rounds)
        }

    def _largest(self, column: str) -> list[int]:
        """Return the categories with the largest shares in all rounds, in their order."""
        total = np.sum([release.value for release in self.shares(column).values()], axis=0)
        return sorted(np.argsort(-total)[:DRAWN].tolist())

    def _lines(self, column: str, kept: Sequence[int] | None = None) -> Iterator[tuple[Any, ...]]:
        releases = self.shares(column)
        if not releases:
            return
        names = next(iter(releases.values())).columns().labels["category"]
        ends = {number: release.interval(SHOWN) for number, release in releases.items()}
        for i in range(len(names)) if kept is None else kept:
            for number, release in releases.items():
                low, high = (float(end[i]) for end in ends[number])
                yield column, names[i], number, float(release.value[i]), low, high

    def sheet(self) -> Sheet:
        """Return what is printed: the largest shares of each column, round by round."""
        lines, cut = [], False
        for column in self.schema.columns if self.rounds else ():
            kept = self._largest(column)
            cut |= len(kept) == DRAWN
            for name, category, number, share, *ends in self._lines(column, kept):
                lines.append((name, str(category), str(number), *row(share, ends)))
        costs = self.schema.costs()
        notes = [
            ("one round", str(costs.one)),
            (f"{costs.rounds} rounds", str(self.schema.guarantee)),
            ("note", TOGETHER),
        ]
        if cut:
            notes.append(("note", f"Of each column the {DRAWN} largest categories are shown."))
        heads = ("column", "category", "round", "share", *end_heads(SHOWN))
        return Sheet(heads=heads, lines=lines, notes=notes)

    def to_frame(self, library: str = "pandas") -> Any:  # noqa: ANN401
        """Return all shares as a frame of ``"pandas"``, ``"polars"`` or ``"pyarrow"``."""
        rows = [line for column in self.schema.columns for line in self._lines(column)]
        heads = ("column", "category", "round", "share", "lower", "upper")
        cells = zip(*rows, strict=True) if rows else [[]] * len(heads)
        return framed(dict(zip(heads, map(list, cells), strict=True)), library)

    def plot(
        self,
        column: str | None = None,
        *,
        truth: Mapping[Any, Sequence[float]] | None = None,
        path: str | None = None,
        title: str | None = None,
    ) -> Any:  # noqa: ANN401
        """Draw the shares of a column over the rounds, each with its interval.

        Parameters
        ----------
        column
            Which one; the first if left out.
        truth
            Where the answers are public: the true shares of some categories, one for each round.
        path
            Where to save the picture; the ending says how (png, svg, pdf, html).
        title
            What to write above it.
        """
        from sourdine.local.rounds.figure import lines  # noqa: PLC0415 - matplotlib, late

        name = next(iter(self.schema.columns)) if column is None else column
        kept = self._largest(name) if self.rounds else []
        return lines(self, list(self._lines(name, kept)), truth, path=path, title=title or name)
