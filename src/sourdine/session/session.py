"""`Session`: a data set with one total to spend on it."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import PurePath
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from sourdine.central import Describe, Statistic
from sourdine.errors import (
    LEFT_OUT,
    BudgetExceededError,
    ParameterError,
    ParameterTypeError,
    SourdineError,
)
from sourdine.exact import flag, given
from sourdine.frames.frame import Frame
from sourdine.frames.paths import is_address, source_name
from sourdine.frames.reading import STANDARD
from sourdine.parameters import converters
from sourdine.parameters.kinds import spelled
from sourdine.parameters.question import QuestionMethod, kept_of, read
from sourdine.plan import Plan, Planner
from sourdine.privacy import Guarantee, Part
from sourdine.privacy.guarantee import percent, shown
from sourdine.questions import Statistics, named
from sourdine.results.answer import History
from sourdine.results.release import Release
from sourdine.results.tables import Displayable, Sheet
from sourdine.session.charges import FilterAccount, RemainingBudget, Terms, read_budget
from sourdine.session.ledger import Call, MemoryLedger, opened_ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sourdine.exact import Number
    from sourdine.frames.reading import Reading
    from sourdine.parameters.question import Question
    from sourdine.privacy import Relation
    from sourdine.reports.about import About
    from sourdine.reports.report import FiledReport
    from sourdine.session.charges import Account, Charge, Charged, Total
    from sourdine.session.ledger import Ledger, StoredLedger


# ---- What every session shows, wherever its ledger is: the total, what was spent, what is left ---


HEADS = {
    "number": "", "when": "time", "what": "question", "epsilon": "epsilon", "delta": "delta",
    "value": "answer", "mechanism": "method",
}  # fmt: skip
"""What a history shows of a charge."""


class Spending(Statistics[Release], Displayable):
    """Every statistic as a method that releases it under one total."""

    __slots__ = ()

    describe = QuestionMethod(Describe)

    @property
    @abstractmethod
    def terms(self) -> Terms:
        """The total, the relation, the unit and the name of the data."""

    @property
    @abstractmethod
    def account(self) -> Account:
        """What was spent until now, by the way in which the ledger counts."""

    @property
    @abstractmethod
    def charges(self) -> list[Charge]:
        """Every charge, the first one first."""

    @property
    def total(self) -> Total:
        """What all releases may cost together: epsilon and delta, or rho."""
        return self.terms.total

    @property
    def spent(self) -> Guarantee | Charged:
        """What has been charged: a promise, or with delta a share of the total.

        Both have `epsilon`, the sum of the epsilons, and `delta`.
        """
        return self.account.used

    @property
    def remaining(self) -> Guarantee | RemainingBudget:
        """What is left: a promise, or with delta a share of the total.

        Both have `epsilon`, the largest that fits any question, and `delta`. A `RemainingBudget`
        also knows the largest epsilon by kind of loss.
        """
        return self.account.remaining

    @property
    def history(self) -> History[Charge]:
        """Every charge: when, what, its cost, its public parameters and the answer kept with it."""
        return History(self.charges, HEADS)

    def _agreeing(self, question: Statistic) -> Statistic:
        """Return a question that agrees with what holds for all of them, or refuse it."""
        for name, own in kept_of(self.terms.fixed, question.per_person).items():
            if getattr(question, name) != own:
                raise left_to_the_session(name)
        if not question.source.private:
            raise left_to_the_session("source")
        return question

    def sheet(self) -> Sheet:
        """Return what is printed: every charge, and what is left."""
        whom, account = self.terms.protected, self.account
        parts = {"spent": account.used, "remaining": account.remaining}
        notes = [(name, part.told(whom)) for name, part in parts.items()]
        return replace(self.history.sheet(), notes=[*notes, ("total", self.terms.told())])

    def __repr__(self) -> str:
        name, account = type(self).__name__, self.account
        if isinstance(self.total, Guarantee) and isinstance(account.used, Guarantee):
            return f"<{name}: epsilon {shown(account.used.exact_epsilon())} spent of {self.total}>"
        return f"<{name}: {account.remaining.told()} remaining>"


# ---- Whether a question would be admitted, and if not, what would --------------------------------


NOTHING = "The budget is used up. A new session on the same data adds to what was spent."


@dataclass(frozen=True, slots=True)
class Admission(Displayable):
    """Whether a question would be admitted now, and why: true or false, and a sentence.

    Another process may charge the ledger meanwhile; what decides is the call itself.
    """

    question: Statistic
    account: Account

    @property
    def after(self) -> Account | None:
        """The account after the question; None if it is refused."""
        try:
            return self.account.after(self.question.cost, self.question.parts)
        except BudgetExceededError:
            return None

    @property
    def refusal(self) -> BudgetExceededError | None:
        """The error that asking would raise; None if the question is admitted."""
        try:
            self.account.after(self.question.cost, self.question.parts)
        except BudgetExceededError as refusal:
            return too_much(self.question, self.account) or refusal
        return None

    @property
    def reason(self) -> str:
        """What would be left, or why the question is refused."""
        what = f"{self.question.name} at epsilon {shown(self.question.epsilon)}"
        after = self.after
        if after is None:
            return f"{what}: {self.refusal}"
        if isinstance(after, FilterAccount):
            left = f"{percent(after.filter.remaining)} of {after.filter.whole}"
            return f"{what}: {left} would remain"
        return f"{what}: {after.remaining} would remain"

    @property
    def largest(self) -> Fraction:
        """The largest epsilon with which this very question would be admitted now."""
        return largest(self.question, self.account)

    def to_dict(self) -> dict[str, Any]:
        return {"fits": bool(self), "reason": self.reason, "largest": float(self.largest)}

    def __bool__(self) -> bool:
        return self.after is not None

    def sheet(self) -> Sheet:
        return Sheet(notes=[("yes" if self else "no", self.reason)])

    def __repr__(self) -> str:
        return f"<Admission: {'yes' if self else 'no'}, {self.reason}>"


class AdmissionCheck(Statistics[Admission]):
    """Every statistic as a method that says whether it would be admitted.

    ``read`` and ``checked`` make a question of what is typed, as the session does, and refuse one
    that it would refuse.
    """

    __slots__ = ("_account", "_checked", "_read")

    describe = QuestionMethod(Describe)

    def __init__(
        self,
        read: Callable[[type[Question], Mapping[str, Any]], Statistic],
        checked: Callable[[Statistic | Plan], Statistic],
        account: Account,
    ) -> None:
        self._read, self._checked, self._account = read, checked, account

    def __call__(self, question: Statistic | Plan | str, **parameters: Any) -> Admission:
        """Say it of a question, of a plan, or of a statistic by its name."""
        if isinstance(question, str):
            question = self._read(named(question), parameters)
        return Admission(self._checked(question), self._account)

    def _ask(self, cls: type[Question], typed: dict[str, Any]) -> Admission:
        return self(self._read(cls, typed))


def largest(question: Statistic, account: Account) -> Fraction:
    """Return the largest epsilon, to six digits, with which a question fits; 0 if none does.

    The search is monotone: it halves the step until the price of the question itself, with the
    method and the parts that it has at that epsilon, just fits.
    """

    def at(epsilon: Fraction) -> tuple[Part, ...]:
        try:
            return question.at(epsilon).parts
        except SourdineError:  # too small for its grid
            return (Part.delta(1),)

    return account.largest(at)


def too_much(question: Statistic, account: Account) -> BudgetExceededError | None:
    """Return the refusal of a question's epsilon; None if its delta is refused, or nothing is."""
    if not isinstance(account, FilterAccount):
        return None
    after = account.filter.after(question.parts)
    if after.share <= 1 or after.own_delta > account.filter.reserve:
        return None
    most, got = largest(question, account), shown(question.epsilon)
    left = f"{percent(account.filter.remaining)} left of {account.filter.whole}"
    fits = f"at most {shown(most, up=False)} fits into the {left}"
    what = f"Budget exceeded: requested epsilon={got}, {fits}."
    if not most:
        return BudgetExceededError("epsilon", what, got, NOTHING)
    return BudgetExceededError("epsilon", what, got, "Use {epsilon} or less.", epsilon=most)


def too_many(batch: Sequence[Statistic], account: Account) -> BudgetExceededError | None:
    """Return the refusal of a batch as a whole; None if it is refused for its delta."""
    if isinstance(account, FilterAccount):
        after = account.filter.after(part for question in batch for part in question.parts)
        if after.share <= 1 or after.own_delta > account.filter.reserve:
            return None
        left = f"{percent(account.filter.remaining)} of {account.filter.whole}"
        needed = percent(after.share - account.share, up=True)
    else:
        most = account.largest(lambda _: ())
        epsilon = sum((question.epsilon for question in batch), Fraction(0))
        if epsilon <= most:
            return None
        left, needed = f"epsilon {shown(most, up=False)}", f"epsilon {shown(epsilon)}"
    what = f"Budget exceeded: the batch costs {needed}, {left} remaining."
    hint = "Ask for fewer answers, or with smaller epsilons. Nothing was charged."
    return BudgetExceededError("the batch", what, needed, hint)


# ---- Questions as a session asks them: what they cost, how they are refused, how they are drawn --


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Questions that a session would ask; nothing is charged and nothing read yet.

    The caller must have charged before. ``by_error`` is whether the only question was asked by
    its error, and not by its epsilon; ``release`` reads the data and draws the answer to one.
    """

    questions: tuple[Statistic, ...]
    by_error: bool
    account: Callable[[], Account]
    release: Callable[[Statistic], Release]

    def charged(self, charge: Callable[[Sequence[Call]], T]) -> T:
        """Charge the questions; a refusal uses the wording of the caller's interface."""
        calls = [
            Call(
                cost=question.cost,
                parts=question.parts,
                what=question.name,
                mechanism=str(question.estimator),
                parameters=json.dumps(question.to_dict(), ensure_ascii=False),
            )
            for question in self.questions
        ]
        try:
            return charge(calls)
        except BudgetExceededError as refusal:
            raise self._refused(refusal) from None

    def draw(self) -> list[str]:
        """Read the data, draw, and return the answers as JSON."""
        return [self.release(question).to_json() for question in self.questions]

    def _refused(self, refusal: BudgetExceededError) -> BudgetExceededError:
        account = self.account()
        if len(self.questions) > 1:
            return too_many(self.questions, account) or refusal
        if isinstance(account, FilterAccount):
            refusal = too_much(self.questions[0], account) or refusal
        if not self.by_error or "epsilon" not in refusal.tries:
            return refusal
        hint = "That is what the {error} needs: ask for a larger one, or omit it and use"
        return refusal.hinting(f"{hint} {{epsilon}} or less.", {**refusal.tries, "error": LEFT_OUT})


# ---- A data set with one total to spend on it ----------------------------------------------------


class Session(Spending):
    r"""Many statistics of one data set under one total.

    Every call is charged before its mechanism runs, and refused if the total would be passed,
    however each call was chosen after the answers to the earlier ones. Without delta epsilons are
    added up: :math:`\sum_i \varepsilon_i \le \varepsilon`. With delta every call has a price, from
    what its loss is made of, and far more of them fit: prices at one Rényi order may sum to what
    :math:`(\varepsilon, \delta)` allows, or epsilons to :math:`\varepsilon`, whichever admits more
    (`sourdine.privacy.accounting.Filter`).

    Parameters
    ----------
    data
        A list, an array, a frame of any library, or the path of a CSV or Parquet file.
    epsilon, delta
        The total; delta is 0 if left out. Without epsilon the terms of an existing ledger rule.
    rho
        Instead of epsilon: a total of zero-concentrated privacy, to which calls are charged theirs.
    reserve
        How much of delta is kept for answers with a delta of their own, such as unknown keys; a
        thousandth of it if left out. If it is all of delta, epsilons and deltas are added up.
    ledger
        The path of a file that keeps the charges across restarts and among processes, or the
        address of a ledger in a server's store, such as ``sqlite:///store.db#wages`` or
        ``postgresql://host/store#wages``. None: they are kept in memory and end with the session.
    relation
        Which data sets are neighbours: ``"add_remove"`` (if left out) or ``"substitute"``.
    unit, rows
        The column that names a person, and how many rows of each person are used (1).
    name
        What the ledger calls the data; a file's name if left out.
    read
        How text is read, a `sourdine.Reading` or a dict of its parameters.
    keep
        Whether the ledger keeps every answer beside its charge, for a report. What is kept is what
        was returned, so it may be read by everyone who may read the answers.

    Notes
    -----
    *Claim*: a charge is in the ledger before anything is drawn. *Checked by*
    ``test_a_charge_stands_before_anything_is_drawn``. *Claim*: of what depends on the data the
    ledger holds the released answers alone, and none with ``keep=False``. *Checked by*
    ``test_the_ledger_holds_no_data`` and ``test_an_answer_is_kept_as_it_was_returned``.

    *Claim*: with delta, a call is admitted by the filter or by the sum, at the prices that stand in
    the ledger. *Checked by* ``test_every_price_is_what_recomputing_gives`` and
    ``test_the_worst_analyst_stays_within_delta``.

    Two sessions on the same data add up their totals; only a shared ledger keeps them within one.

    References
    ----------
    .. [1] R. Rogers, A. Roth, J. Ullman, S. Vadhan, "Privacy odometers and filters", NeurIPS 2016:
       a fixed total holds even when each request is chosen after seeing the earlier answers.
    .. [2] V. Feldman, T. Zrnic, "Individual privacy accounting via a Rényi filter", NeurIPS 2021.

    Examples
    --------
    >>> session = Session({"age": [20, 30, 40] * 1000}, epsilon=1)
    >>> release = session.mean(column="age", bounds=(0, 120), step=1, epsilon=0.6)
    >>> print(session.remaining)
    epsilon 0.4, one record added or removed
    >>> session.count(epsilon=0.5)
    Traceback (most recent call last):
    sourdine.errors.BudgetExceededError: Budget exceeded: requested epsilon=0.5, 0.4 of 1 remaining. Use epsilon=0.4 or less.

    With a delta, 100 counts at 0.06 fit into a total of 3, and more:

    >>> session = Session({"age": [20, 30, 40] * 1000}, epsilon=3, delta=1e-6)
    >>> releases = [session.count(epsilon=0.06) for _ in range(100)]
    >>> print(session.remaining.told())
    6.78% of epsilon 3, delta 1e-06, one record added or removed
    """  # noqa: E501

    __slots__ = ("_data", "_keep", "_ledger", "_reading")

    def __init__(
        self,
        data: object,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        reserve: Number | None = None,
        ledger: str | os.PathLike[str] | StoredLedger | None = None,
        relation: Relation | str | None = None,
        unit: str | None = None,
        rows: int | None = None,
        name: str | None = None,
        read: Reading | Mapping[str, Any] | None = None,
        keep: bool = True,
    ) -> None:
        epsilon, delta, rho, reserve, rows = map(spelled, (epsilon, delta, rho, reserve, rows))
        self._data = Frame(data, read=read)
        self._reading = Lock()  # engines take one question at a time
        self._keep = flag(keep, "keep")
        self._ledger: Ledger
        own, found = Terms(total=Guarantee(0)), None
        if epsilon is None and rho is None:
            if ledger is None:
                what = "Session() missing a required argument: 'epsilon'."
                hint = "Use the total that all releases may cost together, such as {epsilon}."
                raise ParameterTypeError("epsilon", what, "", hint, epsilon=1)
            self._ledger = found = opened_ledger(ledger, None)
            own = found.terms
            epsilon, its_delta, rho = own.numbers
            delta = its_delta if delta is None else delta
        between = own.total.relation if relation is None else converters.relation(relation)
        total, decides = read_budget(epsilon, delta, rho, reserve, between)
        terms = Terms(
            total=total,
            filter=decides,
            unit=_column(self._data, converters.unit(own.unit if unit is None else unit)),
            rows=own.rows if rows is None else converters.rows(rows),
            name=_name(data) if name is None else str(name),
            open_account=reserve is None,
        )
        if found is not None:
            own.require(terms, f"the ledger {found.journal.name}")
        else:
            self._ledger = MemoryLedger(terms) if ledger is None else opened_ledger(ledger, terms)

    @property
    def terms(self) -> Terms:
        return self._ledger.terms

    @property
    def account(self) -> Account:
        return self._ledger.account

    @property
    def charges(self) -> list[Charge]:
        return self._ledger.history

    @property
    def plan(self) -> Planner:
        """`sourdine.plan` for this session: its relation and persons, and what is left as epsilon.

        With delta, a plan without epsilon and error means the largest epsilon that fits for it.

        Examples
        --------
        >>> Session([0.5], epsilon=2).plan.count().error
        1.0
        >>> float(Session([0.5], epsilon=2, delta=1e-6).plan.count().epsilon)
        2.0
        """
        return Planner(remaining=self.account.room, **self.terms.fixed)

    def ask(self, question: Statistic | Plan) -> Release:
        """Charge a question and release its answer.

        Parameters
        ----------
        question
            A question, or a plan of one.

        Examples
        --------
        >>> from sourdine import questions
        >>> session = Session([20, 30, 40] * 100, epsilon=1)
        >>> asked = questions.read({"statistic": "count", "epsilon": 0.25})
        >>> print(session.ask(asked).cost)
        epsilon 0.25, one record added or removed
        """
        asked = self.prepare([question])
        (charge,) = asked.charged(self._ledger.charge_all)
        return self._released(asked.questions[0], charge)

    def ask_all(self, batch: Iterable[Statistic | Plan]) -> list[Release]:
        """Charge several questions at once and release their answers, or refuse all of them.

        They are charged the sum of their prices. If that does not fit, but nothing was asked
        before and the certified curve of all of them stays within the total, they are the whole of
        it: as they were declared before the first answer, that is enough, and nothing is left.

        Parameters
        ----------
        batch
            Questions or plans; what `plan.together` returned.

        Examples
        --------
        >>> session = Session([20, 30, 40] * 100, epsilon=1)
        >>> wanted = [session.plan.count(error=20), session.plan.count(error=5)]
        >>> releases = session.ask_all(session.plan.together(wanted))
        >>> [float(release.cost.epsilon) for release in releases]
        [0.2135, 0.7864]
        """
        if isinstance(batch, Plan) or not isinstance(batch, Iterable):
            what = "be a list of questions or plans"
            raise ParameterTypeError("the batch", what, given(batch), "Pass a list.")
        asked = self.prepare(batch)
        charges = asked.charged(self._ledger.charge_all)
        try:
            pairs = zip(asked.questions, charges, strict=True)
            return [self._released(question, charge) for question, charge in pairs]
        except SourdineError as error:
            raise error.also("So was what the rest of the batch costs.") from None

    def prepare(self, batch: Iterable[Statistic | Plan]) -> Prepared:
        """Return questions as this session would ask them; charges nothing and reads nothing.

        For a server, which charges them under a key of its own and draws them once
        (`sourdine.server.store`).
        """
        typed = [typed_question(one) for one in batch]
        return Prepared(
            questions=tuple(self._checked(question) for question in typed),
            by_error=len(typed) == 1 and typed[0].target is not None,
            account=lambda: self._ledger.account,
            release=self._drawn,
        )

    @property
    def can_release(self) -> AdmissionCheck:
        """Whether a question would be admitted now, and what would be left; charges nothing.

        It has the statistics as methods, and takes a question, or the name of one with its
        parameters. What comes back is true or false, and says why.

        Examples
        --------
        >>> session = Session([20, 30, 40] * 100, epsilon=3, delta=1e-6)
        >>> print(session.can_release.count(epsilon=0.1))
        yes  count at epsilon 0.1: 97.58% of epsilon 3, delta 1e-06 would remain
        >>> bool(session.can_release("count", epsilon=4)), len(session.history)
        (False, 0)
        """

        def checked(question: Statistic | Plan) -> Statistic:
            return self._checked(typed_question(question))

        return AdmissionCheck(self._read, checked, self._ledger.account)

    def _checked(self, question: Statistic) -> Statistic:
        """Return a question as it is asked here, or refuse it."""
        question = self._agreeing(question.as_read(self._data.reading))
        if question.read != self._data.reading:
            raise left_to_the_session("read")
        question.require_columns(question.selected(self._data))
        return question

    def _drawn(self, question: Statistic) -> Release:
        with self._reading:
            return question.release(self._data)

    def _released(self, question: Statistic, charge: Charge) -> Release:
        try:
            release = self._drawn(question)
        except SourdineError as error:
            raise error.also(f"{question.cost} was charged before anything was read.") from None
        if self._keep:
            self._put_down(charge, release)
        return release

    def _put_down(self, charge: Charge, release: Release) -> None:
        try:
            self._ledger.keep(charge, release.to_json())
        except SourdineError as error:
            said = "was charged; an answer that cannot be kept is not returned."
            raise SourdineError(f"{error} {charge.cost} {said}") from None

    def _ask(self, cls: type[Question], typed: dict[str, Any]) -> Release:
        return self.ask(self._read(cls, typed))

    def _read(self, cls: type[Question], typed: Mapping[str, Any]) -> Statistic:
        fixed, reading = self.terms.fixed, self._data.reading
        for name in (*fixed, "read", "source"):
            if typed.get(name) is not None:
                raise left_to_the_session(name)
        own = fixed if reading == STANDARD else {**fixed, "read": reading}
        said = {**typed, **kept_of(own, typed.get("per_person"))}
        return cast("Statistic", read(cls, said))

    def report(
        self, about: About | Mapping[str, Any] | str | os.PathLike[str] | None = None
    ) -> FiledReport:
        """Return a report of everything that was released, to be filed.

        Parameters
        ----------
        about
            What only you know, such as the purpose and a contact: names and texts, or the path of
            a TOML file (`sourdine.reports.about.About`).
        """
        # Reports are written about ledgers, so the package of reports is loaded after this one.
        from sourdine.reports.about import About
        from sourdine.reports.report import FiledReport

        return FiledReport.of(self._ledger, About.read(about))

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        hint = "Open another session on the same ledger."
        raise ParameterTypeError("a session", "A session cannot be copied.", "", hint)


def typed_question(asked: object) -> Statistic:
    """Return a question, or that of a plan; refuse whatever else was passed."""
    question = asked.question if isinstance(asked, Plan) else asked
    if isinstance(question, Statistic):
        return question
    what = "be a question about a column, or a plan"
    hint = "Pass sourdine.questions.read(...), or call the statistic itself: session.count(...)."
    raise ParameterTypeError("question", what, given(question), hint)


def left_to_the_session(name: str) -> ParameterError:
    """Return the refusal of a parameter that a session fixes for all its calls."""
    elsewhere, hint = "the session was opened with its own", ", or open another session with it"
    if name == "source":
        elsewhere, hint = "a session draws from the system's source only", ""
    text = f"Omit {{{name}}}{hint}."
    return ParameterError(name, f"be omitted: {elsewhere}", "", text, **{name: LEFT_OUT})


def _column(data: Frame, unit: str | None) -> str | None:
    try:
        return None if unit is None else data.resolve(unit)
    except ParameterError as error:
        raise error.renamed(column="unit") from None


def _name(data: object) -> str | None:
    """Return the name of a file or a table; of data in memory nothing is written down."""
    if not isinstance(data, (str, os.PathLike)):
        return None
    source = os.fspath(data)
    return source_name(source) if is_address(source) else PurePath(source).name
