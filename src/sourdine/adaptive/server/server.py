r"""The query server: ten thousand adaptive questions to one sample, each with ends that hold.

A public guess comes first. If the sample's average is within the threshold :math:`\alpha` of it,
the guess is the answer and the sample has only nodded; if not, the average is told to within
:math:`\alpha` and the hypothesis behind the guesses learns from it. Nods are cheap in the
transcript ledger, surprises are few, and so the ends stay short, whatever the analyst does.

*Theorem*. With ``guess="weights"`` and a uniform prior at most :math:`\ln|X| / 2\alpha^2` answers
surprise. *Proof*. Let :math:`\Phi_t` be the divergence :math:`\mathrm{KL}(S \| w)` after :math:`t`
surprises. The server keeps :math:`\Phi_t \le \ln|X| - 2\alpha^2 t`, and divergence is never
negative. It moves the hypothesis until it gives the value told, the middle of the cell, if that
keeps the invariant; otherwise, and it says so in the answer, only to the cell's near end, which
the theorem of `sourdine.adaptive.server.weights` shows to bring the sample nearer by
:math:`2\alpha^2`. *Checked by* ``test_surprises_stay_within_the_bound``. The longer step is the
better one on most data, and the entropy of the sample is a stock of slack for it.

The hypothesis is a function of the answers alone. So are the ends: of an average known to lie
between :math:`a` and :math:`b`, they are the ledger's ends for :math:`a` below and :math:`b`
above. *Checked by* ``test_server_says_nothing_but_its_answers`` and
``test_all_answers_hold_their_ends``.
"""

from __future__ import annotations

from math import floor
from threading import Lock
from typing import TYPE_CHECKING, Any

from sourdine.adaptive.answers import AdaptiveAnswer, Certificate
from sourdine.adaptive.ledger import Dependence, TranscriptLedger
from sourdine.adaptive.server.gaps import ToldCells
from sourdine.adaptive.server.guesses import Parts, Trained, read_guess
from sourdine.adaptive.server.left import Left, left_until
from sourdine.adaptive.server.looks import Look, LookQuestion, PlainLook
from sourdine.adaptive.server.private import PrivateLook
from sourdine.adaptive.server.terms import (
    agreed_beta,
    counts_these,
    dependence_of,
    private_terms,
    some_rows,
    splits_once,
    with_groups,
)
from sourdine.adaptive.server.weights import Weights
from sourdine.errors import LEFT_OUT, BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import kind, number, positive
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from sourdine.adaptive.ledger import Turn
    from sourdine.adaptive.queries import Query, Values
    from sourdine.adaptive.server.evidence import Evidence
    from sourdine.adaptive.server.gaps import Cell
    from sourdine.adaptive.server.looks import Ends
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source
    from sourdine.privacy import Concentrated, Guarantee

__all__ = ["QueryServer"]

MIDDLE = 0.25
"""From here to one minus this the half-width will do; beyond it the intervals are shorter."""


class QueryServer:
    r"""Answers about the population behind a sample, for questions that follow from answers.

    Parameters
    ----------
    data
        Codes 0, ..., N - 1; or, with a universe of columns, the columns; in any data that
        `sourdine.Frame` takes. Without a universe, arrays of several dimensions too.
    universe
        How many codes there are, or the public categories of each column: ``{"age":
        range(100), "sex": ["f", "m"]}``; 65 536 cells at most. Queries are then asked of the
        cells, never of the rows, and a value beyond 0 and 1 is refused. Words and dates have one
        category more, for what is not listed. See `sourdine.adaptive.server.Universe` for the
        cell of a row.
    guess
        ``"weights"``: a hypothesis over the universe that learns. ``"split"``: half of the rows,
        drawn by chance, guess for the other half, with or without a universe. A function: it is
        given the query, and must not know the rows.
    error
        :math:`\alpha`, how far an answer may be from the average over the sample: a guess that
        is as near is near enough. With privacy the noise comes on top.
    confidence
        The probability with which all the ends ever given hold; 0.95 if left out.
    dependence
        How the rows depend on each other; independent if left out.
    ledger
        The ledger of these rows, for one that is kept in a file or shared; its own confidence
        and dependence count. In memory if left out.
    prior
        The public weights that the hypothesis starts from; equal ones if left out.
    training
        With ``"split"``: rows that guess, so that all of ``data`` check.
    groups
        With ``"split"``: the block of each row, public, where blocks are not runs of equal length;
        the rows are then `Blocks` of the largest one.
    privacy
        `Guarantee` or `Concentrated`: what the whole conversation may cost, under ``SUBSTITUTE``.
        Needs ``"weights"`` and independent rows.
    hard
        With ``privacy``: how many surprises the budget is divided by.
    source
        Where chance comes from.

    Examples
    --------
    A thousand people, 300 of them in cell 1. The first question surprises, asked again it does not:

    >>> server = QueryServer([0] * 700 + [1] * 300, universe=4, error=0.1)
    >>> first = server.ask(lambda code: code == 0)
    >>> print(first.source, round(first.value, 2))
    data 0.65
    >>> again = server.ask(lambda code: code == 0)
    >>> print(again.source, round(again.value, 2))
    hypothesis 0.65
    >>> print(server.certificate())
    proved   all 2 answers within 0.1658 of the truth with probability 0.95
    grounds  at most 3.58 bits were told before any of them, by the ledger's union
             bound over transcripts; rows iid
    """

    def __init__(  # noqa: PLR0913 - the terms of a server
        self,
        data: Any,  # noqa: ANN401
        *,
        universe: object = None,
        guess: str | Callable[[Any], float] = "weights",
        error: Number = 0.05,
        confidence: Number | None = None,
        dependence: Dependence | None = None,
        ledger: TranscriptLedger | None = None,
        prior: ArrayLike | None = None,
        training: Any = None,  # noqa: ANN401
        groups: Sequence[object] | NDArray[np.generic] | None = None,
        privacy: Guarantee | Concentrated | None = None,
        hard: int | None = None,
        source: Source = SYSTEM,
    ) -> None:
        _gives_bytes(source)
        self.error = float(number(error, "error", above=0, most=1))
        kind = with_groups(dependence_of(dependence, ledger), groups, declared=dependence or ledger)
        splits_once(guess, training, ledger)
        parts = Parts.read(
            data, universe, guess, dependence=kind, prior=prior, training=training, groups=groups,
            source=source,
        )  # fmt: skip
        self._evidence: Evidence = parts.evidence
        self._guesser = parts.guesser
        self.beta = agreed_beta(confidence, ledger)
        share = self.beta if privacy is None else self.beta / 3
        self.ledger = ledger or TranscriptLedger(
            some_rows(parts.evidence.n), confidence=1 - share, dependence=kind
        )
        counts_these(self.ledger, parts.evidence.n)
        hypothesis = parts.guesser if isinstance(parts.guesser, Weights) else None
        self._look: Look = PlainLook(parts.evidence, self.error, hypothesis)
        if privacy is not None or hard is not None:
            counted = private_terms(parts.evidence, hypothesis, kind, ledger)
            self._look = PrivateLook(
                *counted, threshold=self.error, privacy=privacy, hard=hard, beta=self.beta,
                source=source,
            )  # fmt: skip
        self._tally, self._lock = ToldCells(), Lock()
        self.answers, self.hard = 0, 0
        self._widest, self._most_bits = 0.0, 0.0

    @property
    def bits(self) -> float:
        """The bits told so far, by all who use the ledger."""
        return self.ledger.bits

    @property
    def most_hard(self) -> int | None:
        r"""How many of its own guesses can fail: :math:`\ln|X| / 2\alpha^2`; None if unknown."""
        if not isinstance(self._guesser, Weights) or isinstance(self._look, PrivateLook):
            return None
        return floor(self._guesser.stock / (2 * self.error**2))

    @property
    def hypothesis(self) -> Values:
        """The law over the universe that answers so far have led to; of public things alone."""
        if not isinstance(self._guesser, Weights):
            raise ParameterError(
                "guess",
                "be 'weights' for a hypothesis",
                "another guess",
                "Type {guess}.",
                guess="weights",
            )
        return self._guesser.law.copy()

    @property
    def cost(self) -> Guarantee | Concentrated | None:
        """What the whole conversation costs in privacy; None without privacy."""
        return self._look.guarantee if isinstance(self._look, PrivateLook) else None

    def guess(self, query: Query) -> float:
        """Return the guess of a query; costs nothing, looks at nothing, promises nothing."""
        return self._guesser.guess(self._evidence.read(query))

    def answer(self, query: Query) -> float:
        """Return the value of an answer alone."""
        return self.ask(query).value

    def ask(self, query: Query, *, guess: float | None = None) -> AdaptiveAnswer:
        """Return an answer, the ends of the truth and what it cost.

        Whether the guess was near is charged, and on the disk if the ledger is, before anything
        that takes longer or writes more for one answer than for the other.

        Parameters
        ----------
        query
            A vector over the universe, or a function: of the universe's codes or columns, or,
            without a universe, of the rows. Its values must be between 0 and 1; others are
            refused, but clipped on rows that check, which are private.
        guess
            Your own guess, from 0 to 1; the server's if left out. The hypothesis does not learn
            from it.
        """
        with self._lock:
            read = self._evidence.read(query)
            question = LookQuestion(read, self._guess(read, guess), *self._evidence.span(read))
            self._look.demand()
            cells = self._look.cells(question)
            if not cells:
                return self._certain(question)

            def look(turn: Turn) -> tuple[float, bool, float]:
                turn.require(self._evidence.n)
                self._afford(turn, cells)
                self._most_bits = max(self._most_bits, turn.spent.bits)
                nats = min(self.ledger.nats_after(turn.spent), self._look.nats(self.answers + 1))
                surprised = self._look.surprises(question)
                return nats, surprised, turn.bit(surprised, "surprise")

            nats, surprised, bits = self.ledger.turn(look)
            cell = None
            if surprised:
                cell = self._look.cell(question)
                levels = self._tally.levels(cell, cells)
                bits += self.ledger.turn(lambda turn: turn.value(levels, "gap"))
                self.hard += 1
                self._tally.add(cell)
            answer = self._answer(question, cell, nats, bits)
            if cell is not None and guess is None:
                self._look.learn(question, cell)
            return answer

    def certificate(self) -> Certificate:
        """Return what is proved of all answers so far; attacks they survived prove nothing."""
        rows = f"rows {self.ledger.dependence.facts()['name']}"
        if isinstance(self._look, PrivateLook):
            how = (
                f"the better of two accounts, bits told and privacy ({self.cost}), a third of the "
                f"chance each and a third for the noise; {rows}"
            )
        else:
            how = (
                f"at most {self._most_bits:.3g} bits were told before any of them, by the ledger's "
                f"union bound over transcripts; {rows}"
            )
        return Certificate(self._widest, float(self.beta), self.answers, how)

    @property
    def remaining(self) -> Left:
        """How many more questions are sure to be answered, if nobody else asks.

        Where the ledger has no limit of its own, only privacy has an end.
        """
        return self._until(self.ledger.error)

    def until(self, error: Number) -> Left:
        """Return how many are sure to be answered with a half-width of ``error`` at most.

        Examples
        --------
        >>> server = QueryServer([0] * 5000 + [1] * 5000, universe=2)
        >>> print(server.remaining)
        left  any number of surprises, or any number of nods
        >>> left = server.until(0.05)
        >>> left.surprises, left.nods > 80_000
        (6, True)
        """
        return self._until(positive(error, "error"))

    def _until(self, goal: Fraction | None) -> Left:
        cells, left = self._look.cells(LookQuestion(None, 0.0)), Left(None, None)
        if goal is not None and cells:
            left = left_until(goal, self.ledger, lambda more: self._tally.bound(cells, more))
        if not isinstance(self._look, PrivateLook):
            return left
        most = self._look.left
        surprises = most if left.surprises is None else min(left.surprises, most)
        return Left(surprises, left.nods if most else 0)

    def __repr__(self) -> str:
        return (
            f"QueryServer(n={self.ledger.n}, error={self.error:g}, answers={self.answers}, "
            f"surprises={self.hard}, bits={self.bits:.4g})"
        )

    def _guess(self, query: Any, given: float | None) -> float:  # noqa: ANN401
        """Return the guess given, or the server's; what is wrong with a query shows in training."""
        if given is None:
            return self._guesser.guess(query)
        if isinstance(self._guesser, Trained):
            self._guesser.guess(query)
        return read_guess(given)

    def _afford(self, turn: Turn, cells: list[Cell]) -> None:
        """Refuse a look whose dearest answer would not fit, before there is one."""
        limit = self.ledger.error
        surprise = turn.spent.bit(True).value(self._tally.dearest(cells))  # noqa: FBT003
        after = max(map(self.ledger.halfwidth_after, (surprise, turn.spent.bit(False))))  # noqa: FBT003
        if limit is not None and after > limit:
            raise BudgetExceededError(
                "the next half-width",
                f"stay at most {float(limit):g}",
                f"{after:.4g} after a surprise",
                "Nothing was answered: guess(query) still answers, without ends.",
            )

    def _answer(
        self, question: LookQuestion, cell: Cell | None, nats: float, bits: float
    ) -> AdaptiveAnswer:
        value = self._look.value(question, cell)
        lower, upper = self._ends(*self._look.known(question, cell), nats)
        ends = max(lower, question.low), min(upper, question.high)
        return self._counted(
            AdaptiveAnswer(value, *ends, bits, "hypothesis" if cell is None else "data")
        )

    def _certain(self, question: LookQuestion) -> AdaptiveAnswer:
        """Return the answer to a query that cannot surprise: its range says it all."""
        return self._counted(
            AdaptiveAnswer(question.guess, question.low, question.high, 0.0, "hypothesis")
        )

    def _counted(self, answer: AdaptiveAnswer) -> AdaptiveAnswer:
        self.answers += 1
        off = max(answer.value - answer.lower, answer.upper - answer.value)
        self._widest = max(self._widest, off)
        return answer

    def _ends(self, low: float, high: float, nats: float) -> Ends:
        """Return the ends of the truth, given those of the sample's average."""
        n, dependence = self._evidence.n, self.ledger.dependence
        if low >= MIDDLE and high <= 1 - MIDDLE:
            width = dependence.width(n, nats)
            return low - width, high + width
        return dependence.interval(low, n, nats)[0], dependence.interval(high, n, nats)[1]


def _gives_bytes(source: object) -> None:
    if not (callable(getattr(source, "bytes", None)) and hasattr(source, "private")):
        raise ParameterTypeError(
            "source",
            "give random bytes",
            kind(source),
            "Leave {source} out, or type SeededSource(1) for an experiment.",
            source=LEFT_OUT,
        )
