"""`Leaderboard`: the Ladder on a guard, its steps and its chart."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b
from hmac import compare_digest
from math import floor, log2, sqrt
from typing import TYPE_CHECKING, Any

from sourdine.adaptive.answers import AdaptiveAnswer, counted
from sourdine.adaptive.holdout.guard import GuardedHoldout, read_guard
from sourdine.adaptive.holdout.labels import Labels
from sourdine.adaptive.holdout.losses import loss_of
from sourdine.adaptive.holdout.store import BOARD, Entry, Store
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.ledger.transaction import kt_bits
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import given, kind, number
from sourdine.results.figures import BLUE, INK, NOTE, PALE, RULE, canvas, headed, saved
from sourdine.results.tables import Displayable, Sheet, grouped, interval_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.adaptive.ledger.transaction import Spent, Turn
    from sourdine.exact import Number
    from sourdine.storage.journal import AnyJournal, AnyTransaction, Row


# ---- The steps of a leaderboard, and what it tells when one is climbed ---------------------------
#
# Scores stand on a public grid of rungs. A submission leads if its score reaches a higher rung than
# the leader's, so scores only grow: the scores of all leaders say of each rung above the first one
# whether it was visited or skipped, and no more. A climb by :math:`s` rungs is charged as :math:`s
# - 1` rungs skipped and one visited, in the code of Krichevsky and Trofimov: after :math:`v`
# visited and :math:`u` skipped, by the chance
#
# .. math::
#     P(s) = \frac{1}{1 - Q} \cdot \prod_{k=0}^{s-2} \frac{u + k + 1/2}{u + v + k + 1}
#     \cdot \frac{v + 1/2}{u + v + s},
#
# where :math:`Q` is the chance of skipping all rungs that are left, which no leader does. (Where a
# lead takes more than one rung, it is the chance given that.) The chances of all climbs sum to one.
# *Checked by* ``test_climbs_are_a_code``. Climbs of one rung soon cost a fraction of a bit, and
# :math:`j` visits to :math:`m` rungs never much more than :math:`\log_2 \binom mj`.


@dataclass(frozen=True, slots=True)
class Ladder:
    """A grid of scores from 0 to 1, by the spacing."""

    step: Fraction

    @classmethod
    def for_rows(cls, n: int) -> Ladder:
        """Return steps of a standard error or more, rounded up to 0.1, 0.05, 0.02, 0.01, ..."""
        steps = [Fraction(k, 10**power) for power in range(1, 13) for k in (5, 2, 1)]
        return cls(next((s for s in reversed(steps) if s >= 0.5 / sqrt(n)), Fraction(1, 2)))

    @property
    def top(self) -> int:
        """The number of the highest step; the lowest is 0."""
        return floor(1 / self.step)

    def said(self, score: float) -> str:
        """Return a score with the digits of the grid."""
        _, _, digits = f"{float(self.step):.12f}".rstrip("0").partition(".")
        return f"{score:.{len(digits)}f}"

    def rung(self, average: Fraction) -> int:
        """Return the step that a score has reached."""
        return min(floor(average / self.step), self.top)

    def ends(self, rung: int) -> tuple[float, float]:
        """Return the scores between which a step lies."""
        return float(rung * self.step), float(min((rung + 1) * self.step, Fraction(1)))

    def chance(
        self, climb: int, *, room: int, visited: int, skipped: int, least: int = 1
    ) -> Fraction:
        """Return the chance by which a climb by a number of rungs is charged.

        There are ``room`` rungs above the leader's. Of those above the first leader's, leaders
        ``visited`` and ``skipped`` so many. The shortest climb that leads is ``least``.
        """
        past, missed, found, shorter = visited + skipped, Fraction(1), Fraction(0), Fraction(1)
        for k in range(room):
            if k == least - 1:
                shorter = missed
            if k == climb - 1:
                found = missed * Fraction(2 * visited + 1, 2 * (past + k + 1))
            missed *= Fraction(2 * (skipped + k) + 1, 2 * (past + k + 1))
        return found / (shorter - missed)

    def most_bits(self, leads: int) -> float:
        """Return the most bits that the scores of a number of leads cost.

        The first costs the logarithm of the number of rungs; the climbs of the others cost most if
        they go from the lowest rung to the highest.
        """
        if leads <= 0:
            return 0.0
        climbs = leads - 1
        later = kt_bits(climbs, max(self.top - climbs, 0)) if climbs else 0.0
        return log2(self.top + 1) + later


# ---- The picture of a leaderboard: each team's best score with its interval ----------------------


def drawn(board: Leaderboard, *, path: str | None, title: str | None) -> Any:
    """Draw every team, the leader on top; those that never led without a score."""
    teams = board.teams
    figure, axes = canvas(7.0, 1.7 + 0.32 * max(len(teams), 1))
    places = range(len(teams) - 1, -1, -1)
    for y, team in zip(places, teams, strict=True):
        if team.score is None:
            axes.annotate(
                "never led", (0, y), (6, 0), xycoords=("axes fraction", "data"),
                textcoords="offset points", color=NOTE, fontsize=8, va="center",
            )  # fmt: skip
            continue
        axes.hlines(
            y, team.score.lower, team.score.upper, color=PALE, linewidth=7, capstyle="round"
        )
        axes.plot(team.score.value, y, "o", color=BLUE, markersize=6)
        axes.annotate(
            board.ladder.said(team.score.value), (team.score.value, y), (0, 7),
            textcoords="offset points", ha="center", color=INK, fontsize=8,
        )  # fmt: skip
    names = [f"{team.name} ({team.tries})" for team in teams]
    axes.set_yticks(list(places), names)
    axes.set_ylim(-0.6, max(len(teams), 1) - 0.2)
    axes.margins(x=0.12)
    axes.set_xlabel("score shown, and where the truth lies", color=INK, fontsize=9)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=RULE, linewidth=0.8)
    tries, confidence = sum(team.tries for team in teams), 100 * float(1 - board.guard.ledger.beta)
    said = (
        f"{tries} submissions against {grouped(str(board.guard.n))} labels · all intervals hold "
        f"simultaneously with probability {confidence:g}%"
    )
    headed(axes, title or "Leaderboard", said)
    return saved(figure, path, board)


# ---- A leaderboard that cannot be climbed by luck: the Ladder [1]_ on a guard's ledger -----------
#
# A submission's score is shown only if it reaches a higher step of a public grid than the leader's;
# all others learn that they did not, and no more. Hundreds of tries that lead nowhere then cost a
# few bits, since no is usual, and every score that is shown comes with an interval that holds for
# all of them at once. How wide the intervals will be is known from the start:
# `sourdine.plan.leaderboard`.
#
# References
# ----------
# .. [1] A. Blum, M. Hardt, "The Ladder: a reliable leaderboard for machine learning competitions",
#    ICML 2015.


# ruff: noqa: SLF001 - a leaderboard reads with the guard's own eyes


HALF = Fraction(1, 2)
ENDS = ("value", "lower", "upper")


@dataclass(frozen=True, slots=True)
class Standing(Displayable):
    """What a submission is told; true if it leads now.

    Parameters
    ----------
    name
        Whose it is.
    score
        The accuracy with its interval; None if it does not reach a higher step than the leader.
    bits
        What the answer cost.
    """

    name: str
    score: AdaptiveAnswer | None
    bits: float

    def __bool__(self) -> bool:
        return self.score is not None

    def sheet(self) -> Sheet:
        cost = ("cost", counted(f"{self.bits:.3g}", "bit"))
        if self.score is None:
            return Sheet(notes=[(self.name, "not better than the leader"), cost])
        heads, rows = self.score.columns().cells()
        return Sheet(heads=heads, lines=rows, notes=[cost], title=f"{self.name} leads")


@dataclass(frozen=True, slots=True)
class Team:
    """All submissions of one name.

    Parameters
    ----------
    name
        Whose they are.
    score
        The best that was shown; None if none of them ever led.
    tries
        How many there were.
    """

    name: str
    score: AdaptiveAnswer | None
    tries: int


class Leaderboard(Displayable):
    r"""Submissions against one guard, of which only those that lead see a score.

    Parameters
    ----------
    guard
        It holds the labels and the ledger; a guard in a file keeps the leaderboard there too.
    step
        The grid of the scores: who leads must be beaten by reaching the next step. ``"auto"``: the
        step of the board that the file keeps; of a new one, a decimal of about
        :math:`1/2\sqrt n`.

    Examples
    --------
    >>> from sourdine.adaptive.holdout.guard import GuardedHoldout
    >>> board = Leaderboard(GuardedHoldout(["cat", "dog"] * 500))
    >>> print(board.submit("all cats", ["cat"] * 1000))
    all cats leads
     value      interval
    0.5000  [0.45, 0.57]
    cost  5.67 bits
    >>> bool(board.submit("all dogs", ["dog"] * 1000))
    False
    >>> bool(board.submit("one cat in four", ["cat", "dog", "dog", "dog"] * 250))
    True
    >>> print(board)
    team             score      interval  tries
    one cat in four   0.74  [0.67, 0.83]      1
    all cats          0.50  [0.45, 0.57]      1
    all dogs             -             -      1
    spent  3 submissions of 3 teams, 2 led; 15.7 bits
    next   a score of 0.76 or more takes the lead
    """

    __slots__ = ("guard", "ladder")

    def __init__(self, guard: GuardedHoldout, step: Number | str = "auto") -> None:
        self.guard = read_guard(guard)
        if isinstance(step, str) and step != "auto":
            must = "be 'auto' or a number"
            raise ParameterTypeError("step", must, given(step), "Use {step}.", step=0.01)
        typed = None if isinstance(step, str) else number(step, "step", above=0, most=1)
        kept = guard.ledger.turn(guard._store.step)
        _require_step(typed, kept)
        self.ladder = Ladder(typed or kept or Ladder.for_rows(guard.n).step)

    @property
    def step(self) -> Fraction:
        """The spacing of the scores."""
        return self.ladder.step

    def submit(self, name: str, predictions: object) -> Standing:
        """Compare a score with the leader's; show it if it leads now.

        The first submission always leads. Whether one leads is charged before its score is. Where
        the guard has an ``error``, no score is shown that is further from the truth; whether there
        is room for an answer never depends on which one it is
        (``test_refusal_does_not_depend_on_the_answer``).
        """
        submitted = self.guard._read(predictions, "predictions")
        return self._entered(name, lambda: self._rung(submitted))

    def _rung(self, submitted: Labels) -> int:
        """Return the step of the ladder that predictions reach: all that is read of the labels.

        The score is exact where it is a number of mistakes.
        """
        guard = self.guard
        average, mistakes = guard._average(submitted), guard._loss.levels(guard.n) == guard.n + 1
        exact = Fraction(round(average * guard.n), guard.n) if mistakes else Fraction(average)
        return self.ladder.rung(exact)

    def _entered(self, name: str, reached: Callable[[], int]) -> Standing:
        """Enter a submission, in one turn, from the step that it reaches."""
        if not isinstance(name, str) or not name.strip():
            got = "an empty string" if isinstance(name, str) else kind(name)
            raise ParameterError("name", "be a string", got, "Name the team, such as 'anna'.")
        if not name.isprintable():
            must, got = "contain printable characters only", "a line break or a control character"
            raise ParameterError("name", must, got, "Name the team, such as 'anna'.")
        guard = self.guard

        def asked(turn: Turn) -> Entry:
            rung = reached()
            kept = guard._store.step(turn)
            _require_step(self.step, kept)
            if kept is None:
                guard._store.begin_board(turn, self.step)
            entry = self._answered(name, rung, turn)
            guard._store.enter(turn, entry)
            return entry

        entry = guard._turn(asked)
        return Standing(name, entry.score, entry.bits)

    @property
    def standings(self) -> list[Standing]:
        """All submissions whose scores were shown, the leader first."""
        led = [entry for entry in self._entries() if entry.score is not None]
        return [Standing(entry.name, entry.score, entry.bits) for entry in reversed(led)]

    @property
    def teams(self) -> list[Team]:
        """All names: those that led, the leader first, then the others as they came."""
        best: dict[str, AdaptiveAnswer | None] = {}
        tries: dict[str, int] = {}
        for entry in self._entries():
            best[entry.name] = entry.score or best.get(entry.name)
            tries[entry.name] = tries.get(entry.name, 0) + 1
        teams = [Team(name, best[name], tries[name]) for name in best]
        return sorted(teams, key=lambda team: -team.score.value if team.score else 1.0)

    @property
    def bar(self) -> float | None:
        """The least score that leads now; None if no score does any more."""
        try:
            bar = self.guard.ledger.turn(
                lambda turn: self._bar(turn, self.guard._store.leads(turn))
            )
        except BudgetExceededError:
            return None
        return float(bar * self.step) if bar <= self.ladder.top else None

    def sheet(self) -> Sheet:
        """Return what is printed: every team, those that led with their best score."""
        led, bits = len(self.standings), self.guard.bits
        return board_sheet(self.teams, self.ladder, led=led, bits=bits, bar=self.bar)

    def to_dict(self) -> dict[str, Any]:
        """Return everything public as a dict for JSON."""
        return {
            "step": float(self.step),
            "confidence": float(1 - self.guard.ledger.beta),
            "teams": [
                {"name": team.name, "tries": team.tries}
                | {end: team.score and getattr(team.score, end) for end in ENDS}
                for team in self.teams
            ],
        }

    def plot(self, path: str | None = None, *, title: str | None = None) -> Any:
        """Draw each team's best score with its interval; ``path=`` saves the picture."""
        return drawn(self, path=path, title=title)

    def __repr__(self) -> str:
        return f"Leaderboard({self.guard!r}, step={float(self.step):g})"

    def _answered(self, name: str, rung: int, turn: Turn) -> Entry:
        """Charge the answer to a submission and return it."""
        ladder, leads = self.ladder, self.guard._store.leads(turn)
        bits, chance, bar = 0.0, Fraction(1, ladder.top + 1), self._bar(turn, leads)
        if leads:
            if bar <= ladder.top:
                what = f"submission of {name}"
                bits = turn.bit(rung >= bar, what, claim=False, limited=False)
            if rung < bar:
                return Entry(name, None, None, bits)
            first, leader, visited = leads[0], leads[-1], len(leads) - 1
            chance = ladder.chance(
                rung - leader, least=bar - leader, room=ladder.top - leader, visited=visited,
                skipped=leader - first - visited,
            )  # fmt: skip
        bits += turn.unlikely(chance, f"score of {name}")
        least, most = ladder.ends(rung)
        ends = turn.interval(least)[0], turn.interval(most)[1]
        return Entry(name, rung, AdaptiveAnswer(least, *ends, bits), bits)

    def _entries(self) -> list[Entry]:
        return self.guard.ledger.turn(self.guard._store.entries)

    def _bar(self, turn: Turn, leads: list[int]) -> int:
        """Return the lowest rung that leads: above the leader's, and not shown too widely.

        Far from a half intervals are shorter, so that where bits make them wider, the bar rises. It
        depends on what was told alone. Above the highest rung, nothing leads any more.
        """
        ledger, top = turn.ledger, self.ladder.top
        before = turn.spent.bit(answer=True, claim=False) if leads else turn.spent
        widest = ledger.halfwidth_after(before) + float(self.step) / 2
        lowest = leads[-1] + 1 if leads else 0
        if widest <= ledger.limit or lowest > top:
            return lowest
        if not leads:
            raise _too_wide(ledger.limit, widest)
        rungs = range(max(lowest, self.ladder.rung(HALF) + 1), top + 1)
        fitting = (rung for rung in rungs if self._width(rung, before, ledger) <= ledger.limit)
        if (bar := next(fitting, None)) is None:
            raise _too_wide(ledger.limit, self._width(top, before, ledger))
        return bar

    def _width(self, rung: int, before: Spent, ledger: TranscriptLedger) -> float:
        """Return half the interval with which a rung would be shown."""
        least, most = self.ladder.ends(rung)
        low, _ = ledger.interval_after(before, least)
        _, high = ledger.interval_after(before, most)
        return (high - low) / 2


def board_sheet(
    teams: Sequence[Team], ladder: Ladder, *, led: int, bits: float, bar: float | None
) -> Sheet:
    """Return what is printed of a leaderboard."""
    tries = sum(team.tries for team in teams)
    said = f"{counted(tries, 'submission')} of {counted(len(teams), 'team')}, {led} led"
    following = "no score can take the lead any more"
    if bar is not None:
        following = f"a score of {ladder.said(bar)} or more takes the lead"
    return Sheet(
        heads=("team", "score", "interval", "tries"),
        lines=[(team.name, *team_cells(team, ladder), str(team.tries)) for team in teams],
        notes=[("spent", f"{said}; {counted(f'{bits:.3g}', 'bit')}"), ("next", following)],
    )


def team_cells(team: Team, ladder: Ladder) -> tuple[str, str]:
    """Return the best score of a team and its interval, as texts."""
    if team.score is None:
        return ("-", "-")
    _, least, most = team.score.columns().texts()[0]
    return ladder.said(team.score.value), interval_text(least, most)


def _too_wide(limit: float, width: float) -> BudgetExceededError:
    return BudgetExceededError(
        "a score",
        f"Budget exceeded: the score could be off by {width:.4g} if the submission leads, above "
        f"the limit of {limit:g}.", f"{width:.4g}", "Nothing was answered. Use fresh data.",
    )  # fmt: skip


def _require_step(typed: Fraction | None, kept: Fraction | None) -> None:
    """Refuse another step than that of a board that was begun."""
    if typed is not None and kept is not None and typed != kept:
        must = f"be {float(kept):g}, the step the leaderboard was created with"
        hint = "Use {step}, or omit it."
        raise ParameterError("step", must, f"{float(typed):g}", hint, step=kept)


# ---- Guards whose labels are kept elsewhere: the journal has a seal of them, and no label --------


SEALED = "sealed"


def sealed_lines(board: Leaderboard, secret: bytes) -> list[tuple[str, Row]]:
    """Return the first lines of a journal for a leaderboard: its terms, a seal, its step."""
    guard = board.guard
    facts = {
        "loss": guard._loss.facts(),
        "kind": guard.kind,
        "whole": guard.whole,
        "seal": _seal(guard._labels, secret),
    }
    return [guard.ledger.terms_line(), (SEALED, facts), (BOARD, {"step": str(board.step)})]


def sealed_facts(transaction: AnyTransaction) -> dict[str, Any]:
    """Return what a journal says of its labels: their kind, whether they are whole, the loss."""
    row = transaction.last(SEALED) or {}
    return {name: row[name] for name in ("kind", "whole", "loss")}


def is_sealed(transaction: AnyTransaction, labels: Labels, secret: bytes) -> bool:
    row = transaction.last(SEALED) or {}
    return compare_digest(str(row.get("seal", "")), _seal(labels, secret))


def open_sealed(journal: AnyJournal, labels: Labels | None = None) -> Leaderboard:
    """Return the leaderboard that a journal keeps; without labels it can be read, not asked."""
    ledger = TranscriptLedger.open(journal)
    try:
        facts = journal.turn(sealed_facts)
        kept = Labels.hidden(facts["kind"], ledger.n) if labels is None else labels
        guard = GuardedHoldout(kept, loss=loss_of(facts["loss"]), ledger=ledger)
    except LookupError:
        raise journal.refusal("its seal cannot be read") from None
    guard._store = Store()
    return Leaderboard(guard)


def reached(board: Leaderboard, predictions: object) -> int:
    """Return the step of the ladder that predictions reach; nothing is told or charged.

    It is all that a submission reads of the labels. A server does that first, so that how long the
    turn of `submit_reached` takes depends on what is told, and not on the labels.
    """
    return board._rung(board.guard._read(predictions, "predictions"))


def submit_reached(board: Leaderboard, name: str, rung: int) -> Standing:
    """Submit what reaches a step of the ladder, as `reached` returned it for the same labels."""
    return board._entered(name, lambda: rung)


def _seal(labels: Labels, secret: bytes) -> str:
    return blake2b(labels.spelled(), key=secret, digest_size=32).hexdigest()
