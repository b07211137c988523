"""The precision that a number of people will give, and a summary of a survey."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import given, integer, probability
from sourdine.local import Aggregator, Choices, Number, Schema
from sourdine.local.designs.numbers import DesignedReport
from sourdine.local.reports.aggregator import influence
from sourdine.local.reports.sources import form_of
from sourdine.local.rounds.respondent import Panel
from sourdine.local.table.estimates import Estimates
from sourdine.noise import SeededSource
from sourdine.privacy.guarantee import shown
from sourdine.results.release import SHOWN
from sourdine.results.tables import JsonDisplayable, Sheet, grouped
from sourdine.survey.page import meaning, page, sure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.local.table.columns import Attribute
    from sourdine.survey.document import Survey


# ---- The expected precision of each question, and what invented records can do -------------------


MOST_PEOPLE = 1_000_000
FEWEST = 50
INVENTED = 0.01
"""The share of records that somebody makes up."""
TRIED = 257
"""How many reports are tried for the one that moves a mean the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedQuestion:
    """What is known of one question."""

    name: str
    what: str
    """What is estimated: ``"share"`` or ``"mean"``."""
    half: float
    """Half the width of the interval; of shares, the widest."""
    invented: float
    """By how much one record in a hundred, invented, moves it at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePlan(JsonDisplayable):
    """A plan for ``n`` people: nothing was asked, nobody's data was read."""

    schema: Schema
    n: int
    confidence: float
    lines: tuple[PlannedQuestion, ...]

    def sheet(self) -> Sheet:
        head = f"with {grouped(str(self.n))} people ({self.confidence:.0%})"
        rows = [(x.name, x.what, _around(x.half), _around(x.invented)) for x in self.lines]
        invented = "1% of the records are invented to move this question"
        notes = [
            ("cost", f"{self.schema.guarantee}, for all answers of a person"),
            ("guarantee", meaning(self.schema.epsilon)),
            ("based on", "evenly distributed answers; half-widths of the intervals"),
            ("invented", f"{invented}; intervals do not cover it"),
        ]
        return Sheet(heads=("question", "estimate", head, "1% invented"), lines=rows, notes=notes)

    def to_dict(self) -> dict[str, Any]:
        questions = {
            line.name: {"estimate": line.what, "half": line.half, "invented": line.invented}
            for line in self.lines
        }
        cost = {"epsilon": shown(self.schema.epsilon), "sure": sure(self.schema.epsilon)}
        return {"n": self.n, "confidence": self.confidence, **cost, "questions": questions}


def _around(half: float) -> str:
    """Return half a width with two digits."""
    return f"± {np.format_float_positional(half, precision=2, fractional=False, trim='-')}"


def precision(schema: Schema, n: int, *, confidence: float = SHOWN) -> PagePlan:
    r"""Return what the answers of ``n`` people will tell.

    People whose answers are spread evenly are simulated, and their reports estimated as real ones
    will be: these are the intervals that a survey prints, for one draw of chance.

    One record in a hundred that is made up, instead of an honest one, moves a share by
    :math:`0.01/(p-q)` at most (`sourdine.local.reports.aggregator`), and a mean by what the report
    that moves it most does. Where each person reports one question, an inventor of records aims
    them all at the same.

    Parameters
    ----------
    schema
        What may be answered, and what it costs.
    n
        How many people answer, from 50 to a million.
    confidence
        With which probability each interval shall hold.

    Notes
    -----
    *Checked by* ``test_a_plan_gives_the_intervals_of_the_survey`` and
    ``test_invented_records_move_no_more_than_the_plan_says``.

    Examples
    --------
    >>> from sourdine.local import Flag, Schema
    >>> plan = precision(Schema(smokes=Flag(), epsilon=1), 2000)
    >>> [line] = plan.lines
    >>> line.what, 0.04 < line.half < 0.06, round(line.invented, 3)
    ('share', True, 0.022)
    """
    people = integer(n, "n", least=1)
    if not FEWEST <= people <= MOST_PEOPLE:
        raise ParameterError("n", f"be from {FEWEST} to {MOST_PEOPLE}", given(n), n=1000)
    level, planned, turn = float(probability(confidence, "confidence")), schema, schema.turn
    several = schema.rounds is not None
    # everybody answers here, so what would become of absent answers does not matter
    schema = schema.changed(turn=None, missing="random")
    asked = schema.round(turn or 1) if several else schema
    total = Aggregator(asked, remember="none")
    rng = np.random.default_rng(1)
    table = {name: _even(column, people, rng) for name, column in schema.columns.items()}
    seeded = SeededSource(1)
    if several:
        panel = Panel(schema, people, source=seeded)
        total.add(panel.reports(table, round=asked.turn, source=seeded))
    else:
        for records in schema.reports(table, source=seeded):
            total.add(records)
    found = total.estimate()
    lines = tuple(_line(found, name, level) for name in schema.columns)
    return PagePlan(schema=planned, n=people, confidence=level, lines=lines)


def _even(column: Attribute, n: int, rng: np.random.Generator) -> list[Any]:
    """Return answers that are spread evenly."""
    if isinstance(column, Number):
        return list(column.grid.values(rng.integers(0, column.grid.size, n)).tolist())
    listed = getattr(column, "listed", (False, True))
    if isinstance(column, Choices):
        listed = column.texts()
    return [listed[code] for code in rng.integers(0, len(listed), n)]


def _line(found: Estimates, name: str, confidence: float) -> PlannedQuestion:
    number = isinstance(found.schema.columns[name], Number)
    low, high = (found.mean if number else found.shares)(name).interval(confidence)
    half = float(np.max(np.asarray(high) - np.asarray(low))) / 2
    oracle = found.schema.parts("report")[name].answer
    moved = _moved(found, name) if number else _aimed(found, name) * influence(oracle)
    what = "mean" if number else "share"
    return PlannedQuestion(name=name, what=what, half=half, invented=moved)


def _aimed(found: Estimates, name: str) -> float:
    """Return which share of a question's reports is invented, if all invented ones are of it."""
    if found.schema.method == "split":
        return INVENTED
    weights = found.schema.weights
    asked = float(weights[name] / sum(weights.values()))
    return INVENTED / (INVENTED + (1 - INVENTED) * asked)


def _moved(found: Estimates, name: str) -> float:
    """Return by how much the worst invented report moves a mean."""
    mechanism, share = form_of(found.schema).randomisers[name], _aimed(found, name)
    honest = np.asarray(found.tallies[name], np.float64)
    reports = int(honest.sum())
    fakes = round(reports * share)

    def mean(tally: NDArray[np.float64]) -> float:
        whole = np.rint(tally).astype(np.int64)
        tallies = {**found.tallies, name: whole}
        one = Estimates(schema=found.schema, use="report", tallies=tallies, counts=found.counts)
        return float(one.mean(name).value)

    places = np.unique(np.linspace(0, mechanism.cells - 1, TRIED).astype(np.int64))
    answer: Any = found.schema.parts("report")[name].answer
    if isinstance(answer, DesignedReport):  # its outputs are in no order
        scores = answer.estimates(np.arange(answer.codes))
        places = np.array([scores.argmin(), scores.argmax()])
    kept = honest * (1 - fakes / reports)
    true = mean(honest)
    return max(abs(mean(kept + fakes * (np.arange(len(kept)) == at)) - true) for at in places)


# ---- A survey at a glance: what it asks, what it costs, what that means, how it is known ---------


def summary(survey: Survey) -> Sheet:
    """Return what to look at before a survey is opened."""
    schema, first = survey.schema, survey.languages[0]
    several = schema.rounds is not None
    parts = schema.parts("report")
    html = page(survey.round(1) if several and schema.turn is None else survey)
    rows = [
        (one.name, one.ask[first], shown(part.epsilon), str(part.mechanism))
        for one, part in ((one, parts[one.name]) for one in survey.questions)
    ]
    notes = [
        ("cost", f"{schema.guarantee}, for all answers of a person"),
        ("guarantee", meaning(schema.epsilon)), *(schema.costs().sheet().notes if several else ()),
        ("languages", ", ".join(survey.languages)), ("sent to", survey.send_to),
        ("survey", survey.fingerprint),
        ("page", f"{len(html) / 1000:.1f} kB, SHA-256 {sha256(html).hexdigest()}"),
    ]  # fmt: skip
    return Sheet(
        heads=("question", "asked", "epsilon", "method"), lines=rows, notes=notes,
        title=survey.title[first],
    )  # fmt: skip
