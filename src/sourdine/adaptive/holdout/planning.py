r"""How wide the answers of a guard, a leaderboard or a query server will be, before any is asked.

Nothing here looks at labels: widths follow from how many answers there will be and how many of
them say yes. *Claim*: no score of a leaderboard is wider than planned for its lead. *Checked by*
``test_no_score_is_wider_than_planned`` and ``test_nothing_is_wider_than_planned``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import log2
from typing import TYPE_CHECKING, Any

from sourdine.adaptive.answers import counted
from sourdine.adaptive.holdout.guard import levels_of
from sourdine.adaptive.holdout.leaderboard import Ladder
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.ledger.transaction import Spent
from sourdine.adaptive.query_server.facts import MOST_FACTS
from sourdine.adaptive.query_server.looks import Cell, Gaps, ToldCells, read_error
from sourdine.errors import ParameterError
from sourdine.exact import at_least, integer, number, positive, rational
from sourdine.results.tables import JsonDisplayable, Sheet, grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.adaptive.ledger.dependence import Dependence
    from sourdine.exact import Number


NEAR = 0.9
"""A score for which widths are shown besides the widest: intervals are shorter far from a half."""


@dataclass(frozen=True, slots=True)
class Width:
    """One line of a plan.

    ``bits`` were told before the answer, at most. ``error`` is its half-width at most, whatever the
    score; ``near`` is half the interval of a score of 0.9.
    """

    what: str
    bits: float
    error: float
    near: float


@dataclass(frozen=True, slots=True)
class WidthPlan(JsonDisplayable):
    """How far scores will be from the truth at most, with one probability for all of them.

    There are ``n`` labels, and a width for each answer; if rows are ``added``, the last line is of
    all rows then.
    """

    n: int
    confidence: float
    title: str
    widths: Sequence[Width]
    added: int = 0

    @property
    def error(self) -> float:
        """The widest half-width; of the last line, where rows are added before it."""
        return self.widths[-1].error if self.added else max(w.error for w in self.widths)

    def sheet(self) -> Sheet:
        lines = [(w.what, f"{w.bits:.1f}", f"{w.error:.4f}", f"{w.near:.4f}") for w in self.widths]
        note = f"all of them hold with probability {self.confidence:g}; nothing was asked"
        return Sheet(
            title=self.title,
            heads=("answer", "bits before", "within", f"within, near {NEAR:g}"),
            lines=lines,
            notes=[("note", note)],
        )

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "error": self.error}


def plan_guard(
    n: int,
    *,
    answers: int,
    yes: int | None = None,
    scores: int = 0,
    step: Number = 0.01,
    confidence: Number = 0.95,
    dependence: Dependence | None = None,
    error: Number | None = None,
) -> WidthPlan:
    """Return how wide the final score is after a number of yes-or-no answers and scores.

    Parameters
    ----------
    n, confidence, dependence
        How many labels there are, and what is known of them, as `TranscriptLedger` takes it.
    answers
        How often `confirm` is asked.
    yes
        How many of these answers are yes, at most; half of them if left out, the dearest.
    scores, step
        How many scores are asked besides, and their grid.
    error
        Plan how many rows to add, so that the answer is within this.

    Examples
    --------
    >>> print(plan_guard(5000, answers=300, yes=10))
    300 answers, 10 of them yes, about 5000 labels
    answer        bits before  within  within, near 0.9
    final answer         67.7  0.0716            0.0429
    note  all of them hold with probability 0.95; nothing was asked
    >>> plan_guard(5000, answers=300, yes=10, error=0.05).added
    5262
    """
    ledger = TranscriptLedger(n, confidence=confidence, dependence=dependence)
    many = integer(answers, "answers", least=0)
    most = many // 2 if yes is None else integer(yes, "yes", least=0)
    if most > many:
        must = f"be at most {many}, the number of answers"
        raise ParameterError("yes", must, str(most), "Use {yes}.", yes=many)
    most = min(most, many // 2)
    spent = Spent(many, most, many - most)
    for _ in range(integer(scores, "scores", least=0)):
        spent = spent.value(levels_of(number(step, "step", above=0, most=1)))
    also = f", and {counted(scores, 'score')}" if scores else ""
    labels = f"{grouped(str(ledger.n))} labels"
    said = f"{counted(many, 'answer')}, {most} of them yes{also}, about {labels}"
    return _plan(ledger, said, [("final answer", spent)], 0.0, error)


def plan_leaderboard(
    n: int,
    *,
    submissions: int,
    leads: int = 10,
    step: Number | None = None,
    confidence: Number = 0.95,
    dependence: Dependence | None = None,
    error: Number | None = None,
) -> WidthPlan:
    """Return how wide the score of each new leader is, if it comes with the last submission.

    Parameters
    ----------
    n, confidence, dependence
        How many labels there are, and what is known of them, as `TranscriptLedger` takes it.
    submissions
        How many submissions there are, of all teams together.
    leads
        How many of them take the lead, the first included.
    step
        The grid of the scores; as `Leaderboard` has it if left out.
    error
        Plan how many rows to add, so that the last score is within this.

    Examples
    --------
    >>> print(plan_leaderboard(5000, submissions=300, leads=3))
    300 submissions, scores in steps of 0.01, about 5000 labels
    answer    bits before  within  within, near 0.9
    1st lead          0.0  0.0259            0.0173
    2nd lead         20.8  0.0496            0.0311
    3rd lead         40.2  0.0634            0.0391
    note  all of them hold with probability 0.95; nothing was asked
    """
    ledger = TranscriptLedger(n, confidence=confidence, dependence=dependence)
    many = integer(submissions, "submissions", least=1)
    most = integer(leads, "leads", least=1)
    ladder = Ladder.for_rows(n) if step is None else Ladder(number(step, "step", above=0, most=1))
    if most > (limit := min(many, ladder.top + 1)):
        must = f"be at most {limit}, as each lead takes a submission and a step of the scores"
        raise ParameterError("leads", must, str(most), "Use {leads}.", leads=limit)
    lines = []
    for yes in range(most):  # what was told before each lead, at most
        no = many - 1 - yes if yes else 0
        spent = Spent(yes + no + yes, yes, no, ladder.most_bits(yes), yes)
        lines.append((f"{_nth(yes + 1)} lead", spent))
    spacing = float(ladder.step)
    labels = f"{grouped(str(ledger.n))} labels"
    said = f"{counted(many, 'submission')}, scores in steps of {spacing:g}, about {labels}"
    return _plan(ledger, said, lines, spacing, error)


def plan_queries(
    n: int,
    *,
    queries: int,
    surprises: int,
    volunteer: Number = 0,
    error: Number = 0.05,
    confidence: Number = 0.95,
    dependence: Dependence | None = None,
) -> WidthPlan:
    """Return how far the answers of a `QueryServer` may be off, if no more of them surprise.

    Parameters
    ----------
    n, confidence, dependence
        How many rows there are, and what is known of them, as `TranscriptLedger` takes it.
    queries, surprises
        How many queries are asked, and how many of their answers come from the data, at most.
    volunteer, error
        The bits that the server may spend on facts before the first question, and how far an answer
        may be from the average over the sample, as `QueryServer` has them.

    Examples
    --------
    >>> print(plan_queries(100_000, queries=10_000, surprises=5, volunteer=500, error=0.03))
    10,000 queries, 5 of them surprises, about 100,000 rows
    answer        bits before  within  within, near 0.9
    first answer        500.0  0.0723            0.0509
    last answer         612.5  0.0773            0.0533
    note  all of them hold with probability 0.95; nothing was asked
    """
    ledger = TranscriptLedger(n, confidence=confidence, dependence=dependence)
    many = integer(queries, "queries", least=1)
    most = integer(surprises, "surprises", least=0)
    if most > many:
        must = f"be at most {many}, as many as queries"
        raise ParameterError("surprises", must, str(most), "Use {surprises}.", surprises=many)
    threshold = read_error(error)
    facts = float(at_least(volunteer, "volunteer", 0))
    claims = MOST_FACTS + 1 if facts else 0
    steps = [Cell(s, short) for s in Gaps(0.0, threshold).steps() for short in (False, True)]
    told = sum(log2(ToldCells().bound(steps, i)) for i in range(1, most + 1))
    before = Spent(claims, 0, 0, facts, claims)
    likely = min(most, many // 2)  # as many of either are the dearest
    after = Spent(claims + many, likely, many - likely, facts + told, claims + many + most)
    told_before = {"first answer": before, "last answer": after}
    widths = [_width(ledger, what, x, 2 * threshold, n) for what, x in told_before.items()]
    said = "1 query" if many == 1 else f"{grouped(str(many))} queries"
    title = f"{said}, {most} of them surprises, about {grouped(str(n))} rows"
    return WidthPlan(ledger.n, float(1 - ledger.beta), title, widths)


def _plan(
    ledger: TranscriptLedger,
    title: str,
    lines: list[tuple[str, Spent]],
    step: float,
    error: Number | None,
) -> WidthPlan:
    widths = [_width(ledger, what, spent, step, ledger.n) for what, spent in lines]
    what, spent = lines[-1]
    n = ledger.n
    if error is not None:
        wanted = positive(error, "error")
        goal = wanted - rational(step, "step") / 2  # half a step of the error is that of the grid
        if goal <= 0:
            must = f"be above {step / 2:g}, half a step of the scores"
            hint = "Use {error}, or take a finer grid."
            raise ParameterError("error", must, f"{float(wanted):g}", hint, error=step)
        n = max(n, ledger.rows_for(goal, spent))
    if added := n - ledger.n:
        widths.append(_width(ledger, f"{what}, {counted(added, 'row')} added", spent, step, n))
    return WidthPlan(ledger.n, float(1 - ledger.beta), title, widths, added)


def _width(ledger: TranscriptLedger, what: str, spent: Spent, step: float, n: int) -> Width:
    low, _ = ledger.interval_after(spent, NEAR, n=n)
    _, high = ledger.interval_after(spent, min(NEAR + step, 1.0), n=n)
    return Width(what, spent.bits, ledger.halfwidth_after(spent, n=n) + step / 2, (high - low) / 2)


def _nth(j: int) -> str:
    ending = "th" if j % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(j % 10, "th")
    return f"{j}{ending}"
