"""`Series`: estimates round by round, their chart and their plan."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import given, integer, number
from sourdine.laws.law import gaussian_quantile
from sourdine.local.reports.aggregator import Aggregator, influence
from sourdine.local.rounds.histories import several
from sourdine.privacy.guarantee import shown
from sourdine.results.figures import BLUE, GREY, INK, RED, RULE, SOFT, canvas, headed, saved
from sourdine.results.release import SHOWN, read_confidence
from sourdine.results.tables import (
    Displayable,
    Sheet,
    framed,
    grouped,
    interval_head,
    interval_text,
    row,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sourdine.exact import Number
    from sourdine.local.reports.records import Receipt
    from sourdine.local.table.estimates import Estimates
    from sourdine.local.table.schema import Schema
    from sourdine.results.release import Release


# ---- The picture of a survey of several rounds: a line for each category -------------------------


COLOURS = (BLUE, RED, INK, SOFT, GREY, "#7a8f3c")


def lines(
    series: Series, rows: Sequence[tuple[Any, ...]], truth: Mapping[Any, Sequence[float]] | None,
    *, path: str | None, title: str,
) -> Any:  # fmt: skip
    """Draw shares over rounds: a line for each category with a band for its intervals.

    Rows hold column, category, round, share and the ends of its interval, the rounds in order; the
    truth is, for some categories, the share in each round.
    """
    figure, axes = canvas()
    known = truth or {}
    for (category, group), colour in zip(groupby(rows, lambda row: row[1]), COLOURS, strict=False):
        _, _, at, share, low, high = map(list, zip(*group, strict=True))
        axes.fill_between(at, low, high, color=colour, alpha=0.18, linewidth=0)
        axes.plot(at, share, "o-", color=colour, markersize=3, linewidth=1.4, label=str(category))
        if category in known:
            axes.plot(at, list(known[category]), "--", color=colour, linewidth=1)
    axes.set_xlabel("round", color=INK)
    axes.set_ylabel("share", color=INK)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.set_major_formatter(lambda y, _: f"{100 * y:g}%")
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    dashed = ", dashed: the truth" if known else ""
    said = f"one round: {series.schema.costs().one}\nall: {series.schema.guarantee}"
    headed(axes, title, f"{said} · 95% intervals{dashed}")
    if rows:
        axes.legend(frameon=False, fontsize=8, labelcolor=INK, loc="upper left",
                    bbox_to_anchor=(1.01, 1))  # fmt: skip
    return saved(figure, path, series)


# ---- How wide the intervals of a round will be, before anybody answers ---------------------------


INVENTED = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyPlan(Displayable):
    """The expected precision of each round, for a number of people.

    Parameters
    ----------
    schema
        What is asked.
    n
        How many people answer each round.
    confidence
        The probability with which intervals hold.
    halves
        For each column how far from its estimate the share of a category may be: of a rare one,
        and of one that half of the people have.
    moved
        For each column by how much 1% of invented records can move a share.
    """

    schema: Schema
    n: int
    confidence: float
    halves: dict[str, tuple[float, float]]
    moved: dict[str, float]

    def sheet(self) -> Sheet:
        lines = [
            (name, f"± {rare:.3f}", f"± {half:.3f}", f"{self.moved[name]:.3f}")
            for name, (rare, half) in self.halves.items()
        ]
        costs, people = self.schema.costs(), grouped(str(self.n))
        notes = [
            ("people", f"{people} in each round, {100 * self.confidence:g}% intervals"),
            ("one round", str(costs.one)),
            (f"{costs.rounds} rounds", str(self.schema.guarantee)),
            ("stays", f"epsilon {shown(costs.stays.exact_epsilon())}, if the answers never change"),
            ("invented", "the effect of 1% invented records on a share; intervals do not cover it"),
        ]
        heads = ("column", "a rare answer", "one of a half", "invented")
        return Sheet(heads=heads, lines=lines, notes=notes)


def plan(
    schema: Schema,
    *,
    n: int | None = None,
    error: Number | None = None,
    confidence: Number = 0.95,
) -> SurveyPlan:
    r"""Return which intervals n people give in each round, or how many people an error takes.

    .. math:: z \sqrt{\frac{f p(1-p) + (1-f) q(1-q)}{n (p-q)^2}}

    at the shares :math:`f = 0` and :math:`\frac12`, for all columns; the intervals of a survey come
    near these for more than some hundred people (``test_the_plan_is_kept``).

    Parameters
    ----------
    schema
        What is asked, with its ``rounds``.
    n
        How many people answer each round.
    error
        In place of it, how far off a share may be, in every column.
    confidence
        The probability with which an interval holds.

    Examples
    --------
    >>> from sourdine.local.table.columns import Flag
    >>> from sourdine.local.table.schema import Schema
    >>> survey = Schema(smokes=Flag(), epsilon=2, rounds=52)
    >>> print(plan(survey, n=2000).sheet().text().split("stays")[0].rstrip())
    column  a rare answer  one of a half  invented
    smokes        ± 0.087        ± 0.087     0.041
    people     2000 in each round, 95% intervals
    one round  epsilon 0.5, any two inputs of one person
    52 rounds  epsilon 2, any two histories of one person that change alike
    >>> plan(survey, error=0.05).n
    6020
    """
    if (n is None) == (error is None):
        got, hint = "neither" if n is None else "both", "Use {n} or {error}."
        raise ParameterError("n", "be given, or error instead", got, hint, n=1000, error=0.05)
    parts, beta = several(schema).parts("report"), read_confidence(confidence)
    z, whole, spread = gaussian_quantile(beta), sum(schema.weights.values()), {}
    for name, part in parts.items():
        asked = float(schema.weights[name] / whole) if schema.method == "sample" else 1.0
        spread[name] = _spread(part.answer, asked)
    if error is None:
        people = integer(n, "n", least=1)
    else:
        near = float(number(error, "error", above=0, most=1, example=0.05))
        people = ceil(max(map(max, spread.values())) * (z / near) ** 2)
    return SurveyPlan(
        schema=schema,
        n=people,
        confidence=1 - beta,
        halves={c: (z * sqrt(a / people), z * sqrt(b / people)) for c, (a, b) in spread.items()},
        moved={name: INVENTED * influence(part.answer) for name, part in parts.items()},
    )


def _spread(oracle: Any, asked: float) -> tuple[float, float]:
    """Return n times the variance of a share of 0, and of a half, for the questions asked."""
    p, q = oracle.chances
    rare, own = q * (1 - q), p * (1 - p)
    scale = asked * (p - q) ** 2
    return rare / scale, (rare + own) / 2 / scale


# ---- `Series`: what the reports of a survey tell, round by round ---------------------------------


DRAWN = 6
"""How many categories are printed and drawn, those with the largest shares."""
TOGETHER = (
    "Each interval holds for its own round. Responses are memoised, so errors are correlated "
    "across rounds: if answers do not change, averaging rounds is no more precise than one round "
    "at the permanent epsilon."
)


class Series(Displayable):
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
    >>> from sourdine.local.rounds.respondent import Panel
    >>> from sourdine.local.table.columns import Choice
    >>> from sourdine.local.table.schema import Schema
    >>> from sourdine.noise import SeededSource
    >>> survey = Schema(vote=Choice("yes", "no"), epsilon=4, rounds=3, missing="random")
    >>> seeded = SeededSource(1)
    >>> people, series = Panel(survey, 10_000, source=seeded), Series(survey)
    >>> for number, yes in enumerate((7000, 6500, 6000), 1):
    ...     rows = {"vote": ["yes"] * yes + ["no"] * (10_000 - yes)}
    ...     receipt = series.add(number, people.reports(rows, source=seeded))
    >>> print(series.sheet().text().split("one round")[0].rstrip())
    column  category  round   share          95% CI
    vote    yes           1  0.7047  [0.685, 0.724]
    vote    yes           2  0.6571  [0.638, 0.676]
    vote    yes           3  0.6084  [0.589, 0.628]
    vote    no            1  0.2953  [0.276, 0.315]
    vote    no            2  0.3429  [0.324, 0.362]
    vote    no            3  0.3916  [0.372, 0.411]
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
            hint = f"The rounds are: {listed}."
            raise ParameterError("round", "be a round that was counted", given(number), hint)
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
            for turn, release in releases.items():
                low, high = (float(end[i]) for end in ends[turn])
                yield column, names[i], turn, float(release.value[i]), low, high

    def sheet(self) -> Sheet:
        """Return what is printed: the largest shares of each column, round by round."""
        lines, cut = [], False
        for column in self.schema.columns if self.rounds else ():
            kept = self._largest(column)
            cut |= len(kept) == DRAWN
            for name, category, turn, share, *ends in self._lines(column, kept):
                text, low, high = row(share, ends)
                interval = interval_text(low, high)
                lines.append((name, str(category), str(turn), text, interval))
        costs = self.schema.costs()
        notes = [
            ("one round", str(costs.one)),
            (f"{costs.rounds} rounds", str(self.schema.guarantee)),
            ("note", TOGETHER),
        ]
        if cut:
            notes.append(("note", f"Of each column the {DRAWN} largest categories are shown."))
        heads = ("column", "category", "round", "share", interval_head(SHOWN))
        return Sheet(heads=heads, lines=lines, notes=notes)

    def to_frame(self, library: str = "pandas") -> Any:
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
    ) -> Any:
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
        name = next(iter(self.schema.columns)) if column is None else column
        kept = self._largest(name) if self.rounds else []
        return lines(self, list(self._lines(name, kept)), truth, path=path, title=title or name)
