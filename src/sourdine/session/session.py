"""A data set with one total to spend on it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import PurePath
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn

from sourdine.central import Describe
from sourdine.errors import (
    LEFT_OUT,
    BudgetExceededError,
    ParameterError,
    ParameterTypeError,
    SourdineError,
)
from sourdine.plan import Planner
from sourdine.privacy import ADD_REMOVE
from sourdine.privacy.budget import read_total, remaining
from sourdine.question import Face, converters, read
from sourdine.question.kinds import spelled
from sourdine.questions import Statistics
from sourdine.release import History, Release, Sheet, Shown
from sourdine.session.charges import Terms
from sourdine.session.filing import About, FiledReport
from sourdine.session.ledger import FileLedger, MemoryLedger
from sourdine.tally import Frame
from sourdine.tally.reading import STANDARD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.central import Statistic
    from sourdine.exact.parameters import Number
    from sourdine.privacy import Guarantee, Relation
    from sourdine.question import Question
    from sourdine.session.charges import Charge
    from sourdine.session.ledger import Ledger
    from sourdine.tally import Reading

__all__ = ["Session"]

HEADS = {
    "number": "",
    "when": "time",
    "what": "question",
    "epsilon": "epsilon",
    "delta": "delta",
    "value": "answer",
    "mechanism": "by",
}
"""What a history shows of a charge."""


class Session(Statistics[Release], Shown):
    r"""Many statistics of one data set under one total.

    Every call is charged before its mechanism runs, and refused if the total would be passed:

    .. math:: \sum_i \varepsilon_i \le \varepsilon, \qquad \sum_i \delta_i \le \delta

    (basic composition), however each call was chosen after the answers to the earlier ones.

    Parameters
    ----------
    data
        A list, an array, a frame of any library, or the path of a CSV or Parquet file.
    epsilon, delta
        The total; delta is 0 if left out. Without epsilon the terms of an existing ledger rule.
    ledger
        The path of a file that keeps the charges across restarts and among processes. None: they
        are kept in memory and end with the session.
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
        was returned, so it may be read by whoever may read the answers.

    Notes
    -----
    *Claim*: a charge is in the ledger before anything is drawn. *Checked by*
    ``test_a_charge_stands_before_anything_is_drawn``. *Claim*: of what depends on the data the
    ledger holds the released answers alone, and none with ``keep=False``. *Checked by*
    ``test_the_ledger_holds_no_data`` and ``test_an_answer_is_kept_as_it_was_returned``.

    Two sessions on the same data add up their totals; only a shared ledger keeps them within one.

    References
    ----------
    .. [1] R. Rogers, A. Roth, J. Ullman, S. Vadhan, "Privacy odometers and filters", NeurIPS 2016:
       a fixed total holds even when each request is chosen after seeing the earlier answers.

    Examples
    --------
    >>> session = Session({"age": [20, 30, 40] * 1000}, epsilon=1)
    >>> release = session.mean(column="age", bounds=(0, 120), step=1, epsilon=0.6)
    >>> print(session.remaining)
    epsilon 0.4, one record added or removed
    >>> session.count(epsilon=0.5)
    Traceback (most recent call last):
    sourdine.errors.BudgetExceededError: epsilon must be at most 0.4, what is left of 1, got 0.5. Type epsilon=0.4 or less.
    """  # noqa: E501

    __slots__ = ("_data", "_keep", "_ledger", "_reading")

    describe = Face(Describe)

    def __init__(  # noqa: PLR0913 - what a person may say of a session
        self,
        data: object,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        ledger: str | os.PathLike[str] | None = None,
        relation: Relation | str | None = None,
        unit: str | None = None,
        rows: int | None = None,
        name: str | None = None,
        read: Reading | Mapping[str, Any] | None = None,
        keep: bool = True,
    ) -> None:
        epsilon, delta, rows = map(spelled, (epsilon, delta, rows))
        self._data = Frame(data, read=read)
        self._reading = Lock()  # engines take one question at a time
        self._keep = keep
        self._ledger: Ledger
        if epsilon is None:
            self._ledger = ours = _existing(ledger)
            own = ours.terms
        else:
            own = Terms(total=read_total(epsilon, 0, ADD_REMOVE))
        terms = Terms(
            total=read_total(
                own.total.exact_epsilon(),
                own.total.delta if delta is None else delta,
                own.total.relation if relation is None else converters.relation(relation),
            ),
            unit=_column(self._data, converters.unit(own.unit if unit is None else unit)),
            rows=own.rows if rows is None else converters.rows(rows),
            name=_name(data) if name is None else str(name),
        )
        if epsilon is None:
            own.require(terms, f"the ledger {ours.path.name}")
        else:
            self._ledger = MemoryLedger(terms) if ledger is None else FileLedger(ledger, terms)

    @property
    def terms(self) -> Terms:
        """The total, the relation, the unit and the name of the data."""
        return self._ledger.terms

    @property
    def total(self) -> Guarantee:
        """What all releases may cost together."""
        return self.terms.total

    @property
    def spent(self) -> Guarantee:
        """What has been charged."""
        return self._ledger.spent

    @property
    def remaining(self) -> Guarantee:
        """What is left."""
        return remaining(self.total, self.spent)

    @property
    def history(self) -> History[Charge]:
        """Every charge: when, what, its cost, its public parameters and the answer kept with it."""
        return History(self._ledger.history, HEADS)

    @property
    def plan(self) -> Planner:
        """`sourdine.plan` for this session: its relation and persons, and what is left as epsilon.

        Examples
        --------
        >>> Session([0.5], epsilon=2).plan.count().error
        1.0
        """
        fixed = {name: own for name, own in self._fixed().items() if name != "read"}
        return Planner(remaining=self.remaining.exact_epsilon(), **fixed)

    def ask(self, question: Statistic) -> Release:
        """Charge a question and release its answer.

        Examples
        --------
        >>> from sourdine import questions
        >>> session = Session([20, 30, 40] * 100, epsilon=1)
        >>> asked = questions.read({"statistic": "count", "epsilon": 0.25})
        >>> print(session.ask(asked).cost)
        epsilon 0.25, one record added or removed
        """
        target, question = question.target, question.as_read(self._data.reading)
        for name, own in self._fixed().items():
            if getattr(question, name) != own:
                raise _left_to_the_session(name)
        if question.read != self._data.reading:
            raise _left_to_the_session("read")
        if not question.source.private:
            raise _left_to_the_session("source")
        question.require_columns(self._data)
        facts = json.dumps(question.to_dict(), ensure_ascii=False)
        how = str(question.drawer())
        try:
            charge = self._ledger.charge(
                question.cost, what=question.name, mechanism=how, parameters=facts
            )
        except BudgetExceededError as refusal:
            raise refusal if target is None else _asked_by_error(refusal) from None
        try:
            with self._reading:
                release = question.release(self._data)
        except SourdineError as error:
            raise error.also(f"{question.cost} was charged before anything was read.") from None
        if self._keep:
            self._put_down(charge, release)
        return release

    def _put_down(self, charge: Charge, release: Release) -> None:
        try:
            self._ledger.keep(charge, release.to_json())
        except SourdineError as error:
            raise SourdineError(
                f"{error} {charge.cost} was charged; an answer that cannot be kept is not returned."
            ) from None

    def _ask(self, cls: type[Question], typed: dict[str, Any]) -> Release:
        for name in {**self._fixed(), "read": None, "source": None}:
            if typed.get(name) is not None:
                raise _left_to_the_session(name)
        question: Any = read(cls, {**typed, **self._fixed()})
        return self.ask(question)

    def _fixed(self) -> dict[str, Any]:
        terms, reading = self.terms, self._data.reading
        own = {"relation": terms.total.relation, "rows": terms.rows, "unit": terms.unit}
        return own if reading == STANDARD else {**own, "read": reading}

    def report(
        self, about: About | Mapping[str, Any] | str | os.PathLike[str] | None = None
    ) -> FiledReport:
        """Return a report of everything that was released, to be filed.

        Parameters
        ----------
        about
            What only you know, such as the purpose and a contact: names and texts, or the path of
            a TOML file (`sourdine.session.filing.About`).
        """
        return FiledReport.of(self._ledger, About.read(about))

    def sheet(self) -> Sheet:
        """Return what is printed: every charge, and what is left."""
        whom = self.terms.protected
        parts = {"spent": self.spent, "left": self.remaining, "of": self.total}
        notes = [(name, part.told(whom)) for name, part in parts.items()]
        return replace(self.history.sheet(), notes=notes)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise ParameterTypeError(
            "a session",
            "be one object",
            "a request to copy it",
            "Open another session on the same ledger.",
        )

    def __repr__(self) -> str:
        return f"<Session: {self.spent} spent of {self.total}>"


def _left_to_the_session(name: str) -> ParameterError:
    elsewhere = (
        "a session draws from the system's source alone"
        if name == "source"
        else "it was opened with its own"
    )
    return ParameterError(
        name,
        f"be left to the session: {elsewhere}",
        "one for a single call",
        f"Leave {{{name}}} out.",
        **{name: LEFT_OUT},
    )


def _asked_by_error(refusal: BudgetExceededError) -> BudgetExceededError:
    """Return the refusal of an epsilon in the words of whoever asked for an error."""
    if "epsilon" not in refusal.tries:
        return refusal
    return refusal.hinting(
        "That is what the {error} needs: ask for a larger one, or leave it out and type {epsilon} "
        "or less.",
        {**refusal.tries, "error": LEFT_OUT},
    )


def _existing(ledger: str | os.PathLike[str] | None) -> FileLedger:
    if ledger is None:
        raise ParameterError(
            "epsilon",
            "be the total of the session",
            "None",
            "Type what all releases may cost together, such as {epsilon}.",
            epsilon=1,
        )
    return FileLedger(ledger, None)


def _column(data: Frame, unit: str | None) -> str | None:
    try:
        return None if unit is None else data.resolve(unit)
    except ParameterError as error:
        raise error.renamed(column="unit") from None


def _name(data: object) -> str | None:
    """Return a file's name; of data in memory nothing is written down."""
    return PurePath(os.fspath(data)).name if isinstance(data, (str, os.PathLike)) else None
