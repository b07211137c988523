"""`QueryServer`: many adaptive questions to one sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, log2
from numbers import Real
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.answers import AdaptiveAnswer, Certificate, counted
from sourdine.adaptive.information import largest
from sourdine.adaptive.ledger.dependence import Blocks, Iid
from sourdine.adaptive.ledger.ledger import TranscriptLedger, read_dependence
from sourdine.adaptive.ledger.transaction import Spent
from sourdine.adaptive.query_server import facts
from sourdine.adaptive.query_server.evidence import Cells
from sourdine.adaptive.query_server.guesses import Parts, Trained, Weights, read_guess
from sourdine.adaptive.query_server.looks import (
    LookQuestion,
    PlainLook,
    PrivateLook,
    ToldCells,
    read_error,
)
from sourdine.errors import LEFT_OUT, BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.exact import given, kind, positive
from sourdine.noise import SYSTEM
from sourdine.parameters import converters
from sourdine.results.release import beta_of
from sourdine.results.tables import Displayable, Sheet

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import ArrayLike

    from sourdine.adaptive.ledger.dependence import Dependence
    from sourdine.adaptive.ledger.transaction import Turn
    from sourdine.adaptive.queries import Query, Values
    from sourdine.adaptive.query_server.facts import Fact
    from sourdine.adaptive.query_server.guesses import Groups
    from sourdine.adaptive.query_server.looks import Cell, Ends
    from sourdine.exact import Number
    from sourdine.noise import Source
    from sourdine.privacy import Concentrated, Guarantee


# ---- The terms of a server, and which of them go together ----------------------------------------


def dependence_of(
    declared: Dependence | None, ledger: TranscriptLedger | None, groups: Groups
) -> Dependence:
    """Return how the rows depend on each other: as declared, as the ledger has it, or in groups."""
    dependence = read_dependence(declared)
    if ledger is not None:
        if not isinstance(ledger, TranscriptLedger):
            must, hint = "be a TranscriptLedger", "Omit {ledger}."
            raise ParameterTypeError("ledger", must, kind(ledger), hint, ledger=LEFT_OUT)
        if declared is not None and declared.facts() != ledger.dependence.facts():
            must, got = f"be that of the ledger, {ledger.dependence.facts()}", f"{declared.facts()}"
            hint = "Omit {dependence}."
            raise ParameterError("dependence", must, got, hint, dependence=LEFT_OUT)
        dependence = ledger.dependence
    if groups is None:
        return dependence
    largest = int(np.unique(np.asarray(groups), return_counts=True)[1].max(initial=1))
    size = dependence.size if isinstance(dependence, Blocks) else 1
    if size < largest and (declared or ledger) is not None:
        must = f"be Blocks of at least the largest group, {largest} rows"
        got, hint = f"{dependence.facts()}", "Use {dependence}, or omit it."
        raise ParameterError("dependence", must, got, hint, dependence=Blocks(largest))
    return Blocks(max(size, largest))


def agreed_beta(confidence: Number | None, ledger: TranscriptLedger | None) -> Fraction:
    """Return the chance of a miss: what is asked for, or the ledger's own."""
    if ledger is None:
        return beta_of(0.95 if confidence is None else confidence)
    if confidence is not None and beta_of(confidence) != ledger.beta:
        must, hint = f"be that of the ledger, {float(1 - ledger.beta):g}", "Omit {confidence}."
        raise ParameterError("confidence", must, given(confidence), hint, confidence=LEFT_OUT)
    return ledger.beta


def with_hypothesis(
    parts: Parts, name: str, must: str, hint: str, **tries: object
) -> tuple[Cells, Weights]:
    """Return the cells and the hypothesis about them, or refuse what needs one."""
    if isinstance(parts.guesser, Weights) and isinstance(parts.evidence, Cells):
        return parts.evidence, parts.guesser
    raise ParameterError(name, must, "", hint, universe=1000, **tries)


def private_terms(
    parts: Parts, dependence: Dependence, ledger: TranscriptLedger | None
) -> tuple[Cells, Weights]:
    """Return what a private look needs, or refuse what does not go with privacy."""
    must, hint = "be used with the guess 'weights'", "Use {universe}, and omit {guess}."
    told = with_hypothesis(parts, "privacy", must, hint, guess=LEFT_OUT)
    if not isinstance(dependence, Iid):
        must = "be Iid() if privacy is given"
        hint = "The accounting of privacy is proved for independent rows. Use {dependence}."
        raise ParameterError("dependence", must, dependence.name, hint, dependence=Iid())
    if ledger is not None:
        raise ParameterError(
            "ledger", "be omitted if privacy is given", "",
            "The probability of a miss is divided between accounts. Omit {ledger}, and use "
            "{confidence} instead.", ledger=LEFT_OUT, confidence=0.95,
        )  # fmt: skip
    return told


def volunteer_terms(parts: Parts, privacy: object) -> tuple[Cells, Weights]:
    """Return what facts are told of, or refuse a server that has no hypothesis to better."""
    must, hint = "be omitted unless the guess is 'weights'", "Omit {volunteer}, or use {universe}."
    told = with_hypothesis(parts, "volunteer", must, hint, volunteer=LEFT_OUT)
    if privacy is not None:
        hint = "Facts are told without noise. Omit {volunteer}."
        must = "be omitted if privacy is given"
        raise ParameterError("volunteer", must, "", hint, volunteer=LEFT_OUT)
    return told


# ---- What can still be asked ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Left(Displayable):
    """How many more questions are sure to be answered; None for any number.

    Parameters
    ----------
    surprises
        If every one is a surprise.
    nods
        If none is, but perhaps the last.
    """

    surprises: int | None
    nods: int | None

    def sheet(self) -> Sheet:
        surprises, nods = ("any number of" if x is None else x for x in (self.surprises, self.nods))
        return Sheet(notes=[("remaining", f"{surprises} surprises, or {nods} nods")])


# ---- What is proved, and apart from it what was tried --------------------------------------------


@dataclass(frozen=True, slots=True)
class ServerReport(Displayable):
    """What is proved of a server's answers, and apart from it what was tried.

    Parameters
    ----------
    certificate
        What is proved; None before anything was asked.
    attacks
        The largest error of an answer under each attack.
    """

    certificate: Certificate | None
    attacks: Mapping[str, float]

    def sheet(self) -> Sheet:
        notes = [("proved", "nothing was asked yet")]
        if self.certificate is not None:
            notes = [*self.certificate.sheet().notes]
        if tried := ", ".join(f"{name} {error:.4g}" for name, error in self.attacks.items()):
            notes.append(("tried", f"{tried}; this proves nothing"))
        return Sheet(notes=notes)


def report(server: QueryServer, attacks: Mapping[str, float] | None = None) -> ServerReport:
    """Return the certificate, and apart from it the error that each attack achieved.

    Parameters
    ----------
    server
        What was asked.
    attacks
        The largest error of an answer under each attack that was tried. A small one is no proof:
        a better attack may do better, up to what is proved.

    Examples
    --------
    >>> from sourdine.adaptive.query_server.server import QueryServer
    >>> server = QueryServer([0, 1, 1, 1], universe=2)
    >>> print(report(server, {"overfitting": 0.013}))
    proved  nothing was asked yet
    tried   overfitting 0.013; this proves nothing
    """
    if not isinstance(getattr(server, "answers", None), int):
        raise ParameterTypeError("server", "be a QueryServer", kind(server), "Call report(server).")
    named = {} if attacks is None else attacks
    if not isinstance(named, Mapping) or not all(isinstance(x, Real) for x in named.values()):
        must = "be a dict of the largest error by name"
        hint = "Call report(server, {'overfitting': 0.013})."
        raise ParameterTypeError("attacks", must, kind(attacks), hint)
    return ServerReport(server.certificate() if server.answers else None, named)


# ---- The query server: ten thousand adaptive questions to one sample, each with ends that hold ---
#
# A public guess comes first. If the sample's average is within the threshold :math:`\alpha` of it,
# the guess is the answer and the sample has only nodded; if not, the average is told to within
# :math:`\alpha` and the hypothesis behind the guesses learns from it. Nods are cheap in the
# transcript ledger, surprises are few, and so the ends stay short, whatever the analyst does.
#
# *Theorem*. With ``guess="weights"`` and a uniform prior at most :math:`\ln|X| / 2\alpha^2` answers
# surprise. *Proof*. Let :math:`\Phi_t` be the divergence :math:`\mathrm{KL}(S \| w)` after
# :math:`t` surprises. The server keeps :math:`\Phi_t \le \ln|X| - 2\alpha^2 t`, and divergence is
# never negative. It moves the hypothesis until it gives the value told, the middle of the cell, if
# that keeps the invariant; otherwise, and it says so in the answer, only to the cell's near end,
# which the theorem of `sourdine.adaptive.query_server.guesses` shows to bring the sample nearer by
# :math:`2\alpha^2`. *Checked by* ``test_surprises_stay_within_the_bound``. The longer step is the
# better one on most data, and the entropy of the sample is a stock of slack for it. (After facts
# told unasked it ends a tenth of the cell beyond its near end: most gaps do, and a longer step
# spoils what the facts have made right. The proof does not ask where in the cell it ends.)
#
# The hypothesis is a function of the answers alone. So are the ends: of an average known to lie
# between :math:`a` and :math:`b`, they are the ledger's ends for :math:`a` below and :math:`b`
# above. *Checked by* ``test_server_says_nothing_but_its_answers`` and
# ``test_all_answers_hold_their_ends``.


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
        range(100), "sex": ["f", "m"]}``; 65,536 cells at most. Queries are then asked of the
        cells, never of the rows, and a value beyond 0 and 1 is refused. Words and dates have one
        category more, for what is not listed. See
        `sourdine.adaptive.query_server.evidence.Universe` for the cell of a row.
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
    volunteer
        With ``"weights"``: the most bits to spend, before the first question, on `facts` that the
        server chooses itself; 0 if left out. They make the first guesses better, so that fewer
        answers surprise.
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

    def __init__(
        self,
        data: Any,
        *,
        universe: object = None,
        guess: str | Callable[[Any], float] = "weights",
        error: Number = 0.05,
        confidence: Number | None = None,
        dependence: Dependence | None = None,
        ledger: TranscriptLedger | None = None,
        prior: ArrayLike | None = None,
        training: Any = None,
        groups: Groups = None,
        privacy: Guarantee | Concentrated | None = None,
        hard: int | None = None,
        volunteer: Number | None = None,
        source: Source = SYSTEM,
    ) -> None:
        source, self.error = converters.source(source), read_error(error)
        rows_are = dependence_of(dependence, ledger, groups)
        if guess == "split" and training is None and ledger is not None:
            raise ParameterError(
                "ledger", "be omitted for the guess 'split', unless {training} is given", "",
                "The rows would be split again, and rows that trained the guess would check it. "
                "Omit {ledger}, or use a ledger of the other rows.", ledger=LEFT_OUT,
            )  # fmt: skip
        parts = Parts.read(
            data, universe, guess, dependence=rows_are, prior=prior, training=training,
            groups=groups, source=source,
        )  # fmt: skip
        self._evidence, self._guesser, n = parts.evidence, parts.guesser, parts.evidence.n
        self.beta = agreed_beta(confidence, ledger)
        if ledger is not None and ledger.n != n:
            must, hint = f"have the {n} rows that check answers", f"Use TranscriptLedger({n})."
            raise ParameterError("ledger", must, f"{ledger.n}", hint)
        if n < 1:
            raise ParameterError("rows", "hold at least one row", "", "Pass the rows to ask about.")
        share = self.beta if privacy is None else self.beta / 3
        self.ledger = ledger or TranscriptLedger(n, confidence=1 - share, dependence=rows_are)
        self.volunteered = self._most_bits = 0.0
        self.facts: tuple[Fact, ...] = ()
        if volunteer is not None:
            most = float(positive(volunteer, "volunteer", example=500))
            told = volunteer_terms(parts, privacy or hard)
            self.facts = tuple(facts.volunteer(*told, self.error, most, self._told))
            self._most_bits = self.volunteered
        hypothesis = parts.guesser if isinstance(parts.guesser, Weights) else None
        pace = facts.PACE if any(fact.kind != "cells" for fact in self.facts) else 0.5
        self._look: PlainLook | PrivateLook
        self._look = PlainLook(parts.evidence, self.error, hypothesis, pace)
        if privacy is not None or hard is not None:
            self._look = PrivateLook(
                *private_terms(parts, rows_are, ledger), threshold=self.error, privacy=privacy,
                hard=hard, beta=self.beta, source=source,
            )  # fmt: skip
        self._tally, self._lock = ToldCells(), Lock()
        self.answers, self.hard = 0, 0
        self._widest = 0.0

    @property
    def bits(self) -> float:
        """The bits told so far, by all who use the ledger; ``volunteered`` of them unasked."""
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
            must = "be 'weights' to have a hypothesis"
            raise ParameterError("guess", must, "", "Use {guess}.", guess="weights")
        return self._guesser.law.copy()

    @property
    def cost(self) -> Guarantee | Concentrated | None:
        """What the whole conversation costs in privacy; None without privacy."""
        return self._look.guarantee if isinstance(self._look, PrivateLook) else None

    def guess(self, query: Query) -> float:
        """Return the guess of a query; costs nothing, looks at nothing, promises nothing."""
        read: Any = self._evidence.read(query)
        return self._guesser.guess(read)

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
            read: Any = self._evidence.read(query)
            if guess is None or isinstance(self._guesser, Trained):
                own = self._guesser.guess(read)  # what is wrong with a query shows in training
            mine = own if guess is None else read_guess(guess)
            question = LookQuestion(read, mine, *self._evidence.span(read))
            self._look.demand()
            cells = self._look.cells(question)
            if not cells:  # it cannot surprise: the query's range says it all
                return self._counted(mine, question.low, question.high, 0.0)

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
            lower, upper = self._ends(*self._look.known(question, cell), nats)
            answer = self._counted(
                self._look.value(question, cell), max(lower, question.low),
                min(upper, question.high), bits, "hypothesis" if cell is None else "data",
            )  # fmt: skip
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
            if self.volunteered:
                unasked = counted(len(self.facts), "fact")
                how += f"; {self.volunteered:.3g} of them unasked, in {unasked}"
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
        remaining  any number of surprises, or any number of nods
        >>> left = server.until(0.05)
        >>> left.surprises, left.nods > 80_000
        (6, True)
        """
        return self._until(positive(error, "error"))

    def _until(self, goal: Fraction | None) -> Left:
        cells, left = self._look.cells(LookQuestion(None, 0.0)), Left(None, None)
        spent = self.ledger.spent

        def fits(surprises: int, nods: int) -> bool:
            levels = self._tally.bound(cells, surprises)
            asked = 2 * surprises + nods
            told = Spent(
                spent.answers + asked, spent.yes + surprises, spent.no + nods,
                spent.value_bits + surprises * log2(levels), spent.claims + asked,
            )  # fmt: skip
            return goal is None or self.ledger.halfwidth_after(told) <= goal

        if goal is not None and cells:
            left = Left(
                largest(lambda m: fits(m, 0) and fits(m - 1, 1)),
                largest(lambda m: fits(0, m) and fits(1, m - 1)),
            )
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

    def _told(self, levels: Fraction, kept: Fraction | None) -> bool:
        """Charge a fact by its chance, if it fits with what is kept for later."""

        def tell(turn: Turn) -> bool:
            if kept is not None:
                after = turn.spent.value(levels).value(kept)
                if self.ledger.halfwidth_after(after) > self.ledger.limit:
                    return False
            if levels > 1:
                self.volunteered += turn.unlikely(1 / levels, "fact")
            return True

        return self.ledger.turn(tell)

    def _afford(self, turn: Turn, cells: list[Cell]) -> None:
        """Refuse a look whose dearest answer would not fit, before there is one."""
        limit = self.ledger.error
        surprise = turn.spent.bit(answer=True).value(self._tally.dearest(cells))
        after = max(map(self.ledger.halfwidth_after, (surprise, turn.spent.bit(answer=False))))
        if limit is not None and after > limit:
            must = (
                f"Budget exceeded: the half-width after a surprise would be {after:.4g}, above the "
                f"limit of {float(limit):g}."
            )
            hint = "Nothing was answered. guess(query) still answers, without an interval."
            raise BudgetExceededError("the next half-width", must, f"{after:.4g}", hint)

    def _counted(
        self, value: float, lower: float, upper: float, bits: float, source: str = "hypothesis"
    ) -> AdaptiveAnswer:
        self.answers += 1
        self._widest = max(self._widest, value - lower, upper - value)
        return AdaptiveAnswer(value, lower, upper, bits, source)

    def _ends(self, low: float, high: float, nats: float) -> Ends:
        """Return the ends of the truth, given those of the sample's average."""
        n, dependence = self._evidence.n, self.ledger.dependence
        if low >= MIDDLE and high <= 1 - MIDDLE:
            width = dependence.width(n, nats)
            return low - width, high + width
        return dependence.interval(low, n, nats)[0], dependence.interval(high, n, nats)[1]
