"""Releases: charged once, drawn, stored, and answered with what is stored.

====================  ============================================================================
1. the charge         the lines of the ledger and the request, in one transaction
2. the draw           reads the data; a process that dies here has shown nothing
3. the answer         stored if none is stored, in a second transaction
4. the response       what is stored, and nothing else
====================  ============================================================================

A request that was charged and not answered is drawn again: nobody saw the first draw. Of two draws
that race the first to be stored is the answer, and the other is thrown away unseen. A draw that
raised is stored as failed and never made again, or anyone who can make draws fail could choose
among them.

*Claim*: whenever workers are killed, charges sum exactly, a key has one answer, and no draw is seen
that is not the stored one. *Checked by* ``test_killed_workers_charge_once_and_answer_once``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from sourdine.errors import BudgetExceededError, ParameterError
from sourdine.privacy import Guarantee
from sourdine.privacy.guarantee import shown
from sourdine.server.store.base import (
    Dataset,
    KeyedRequest,
    KeyReusedError,
    NamedRecords,
    NotGrantedError,
    StoredRelease,
    SurveyEntry,
)
from sourdine.session.charges import SumAccount
from sourdine.session.ledger import LEDGER, StoredLedger, beginning
from sourdine.storage.journal import WIDTH, TableJournal, now, row_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from sourdine.server.store.base import AskedQuestions, Grants
    from sourdine.session import Call
    from sourdine.storage.database import SharedDatabase, Transaction
    from sourdine.storage.journal import Row, TableTransaction


# ---- Data sets: what may be asked, and the ledger of each ----------------------------------------


NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
CHARGE_LINES = (
    "SELECT number, line FROM lines WHERE book = ? AND number >= ? "
    """AND substr(line, 34, 10) = '["charges"' ORDER BY number"""
)
LAST = "ORDER BY number DESC LIMIT 1"


def named(name: str) -> str:
    """Return a name that may stand in an address, or refuse it."""
    if NAME.fullmatch(name) is None:
        what = "be at most 64 lowercase letters, digits, - and _"
        raise ParameterError("name", what, repr(name[:80]), "Choose another name, such as wages.")
    return name


class Datasets(NamedRecords[Dataset]):
    """The data sets of a store."""

    table = "datasets"
    columns = "name, source, columns, n_about, state, opened, read, title, description"

    def __init__(self, database: SharedDatabase) -> None:
        super().__init__(database)
        self._ledgers: dict[str, StoredLedger] = {}

    def add(self, dataset: Dataset) -> Dataset:
        """Register a data set, and open its ledger; a ledger that is there must say the same."""
        name = named(dataset.name)
        self._database.read(lambda t: self._require_new(t, name))
        journal = TableJournal(self._database, name, LEDGER, beginning(dataset.terms))
        self._ledgers[name] = StoredLedger(journal, dataset.terms)
        public = (dataset.columns, dataset.n_about, "open", now(), dataset.read)
        values = (name, dataset.source, *public, dataset.title, dataset.description)
        self._database.write(lambda t: self._insert(t, *values))
        return self._record(values)

    def names(self) -> list[str]:
        """Return the names of all data sets; their ledgers are not read."""
        return [
            name for (name,) in self._database.read(lambda t: t.all("SELECT name FROM datasets"))
        ]

    def ledger(self, name: str) -> StoredLedger:
        """Return the ledger of a data set, for ``Session(data, ledger=...)``."""
        if name not in self._ledgers:
            self._ledgers[name] = StoredLedger(self.journal(name))
        return self._ledgers[name]

    def journal(self, name: str) -> TableJournal:
        """Return the lines of a data set's ledger."""
        found = self._ledgers.get(name)
        if found is not None and isinstance(found.journal, TableJournal):
            return found.journal
        return TableJournal(self._database, name, LEDGER)

    def charges(self, name: str, after: int, most: int) -> list[Row]:
        """Return the charges of a ledger after a number, as its lines say them.

        Numbers rise with the lines, so the first of them is found by halving: no other part of the
        ledger is read. *Checked by* ``test_a_part_of_the_history_reads_that_part_alone``.
        """

        def job(transaction: Transaction) -> list[Row]:
            last = transaction.one("SELECT MAX(number) FROM lines WHERE book = ?", name)
            low, high = 1, ((last and last[0]) or 0) + 1
            while low < high:
                middle = (low + high) // 2
                found = transaction.one(f"{CHARGE_LINES} LIMIT 1", name, middle)
                if found is None or row_of(found[1])["number"] > after:
                    high = middle
                else:
                    low = middle + 1
            rows = transaction.all(f"{CHARGE_LINES} LIMIT ?", name, low, most)
            if rows:
                transaction.note(name, rows[-1][0], rows[-1][1][:WIDTH])
            return [row_of(text) for _, text in rows]

        return self._database.read(job)

    def head(self, name: str, line: int | None = None) -> tuple[int, str] | None:
        """Return how far a ledger has got: its last line and that line's check.

        Of another line that somebody remembers, if it is named; None if there is none.
        """
        find = "SELECT number, substr(line, 1, 32) FROM lines WHERE book = ? "
        which, values = ("AND number = ?", (line,)) if line is not None else (LAST, ())
        found = self._database.read(lambda t: t.one(find + which, name, *values))
        return None if found is None else (found[0], found[1])

    def _record(self, row: tuple[Any, ...]) -> Dataset:
        return Dataset(
            terms=self.ledger(row[0]).terms,
            **dict(zip(self.columns.split(", "), row, strict=True)),
        )


# ---- Surveys: what is asked, and whether it is open ----------------------------------------------


class Surveys(NamedRecords[SurveyEntry]):
    """The surveys of a server; a document changes only while it is a draft."""

    table, columns = "surveys", "name, document, store, public, state, page"
    states: ClassVar = {
        "draft": {"draft", "open"}, "open": {"open", "closed"}, "closed": {"closed"},
    }  # fmt: skip
    """For each state, those that it may be changed to."""

    def add(self, survey: SurveyEntry) -> SurveyEntry:
        """Write a survey down, or refuse a name that is taken."""
        values = (named(survey.name), *_survey_values(survey))
        self._database.write(lambda t: self._insert(t, *values))
        return survey

    def change(self, survey: SurveyEntry) -> SurveyEntry:
        """Write a draft anew, open it, or close what is open; nothing else can change."""

        def job(transaction: Transaction) -> None:
            found = self._row(transaction, survey.name)
            was = None if found is None else self._record(found)
            if (
                was is None
                or survey.state not in self.states[was.state]
                or (was.state != "draft" and _frozen(was) != _frozen(survey))
            ):
                what = "be a draft, or unchanged since it was opened"
                got = f"{survey.name!r}, {'unknown' if was is None else was.state}"
                raise ParameterError("survey", what, got, "Create another survey.")
            transaction.run(
                "UPDATE surveys SET document = ?, store = ?, public = ?, state = ?, page = ? "
                "WHERE name = ?",
                *(*_survey_values(survey), survey.name),
            )

        self._database.write(job)
        return survey

    def discard(self, name: str) -> None:
        """Throw a draft away, or refuse what people may have answered."""

        def job(transaction: Transaction) -> None:
            gone = transaction.run("DELETE FROM surveys WHERE name = ? AND state = 'draft'", name)
            if gone != 1:
                raise ParameterError("survey", "be a draft", "", "Close open surveys instead.")

        self._database.write(job)

    def _record(self, row: tuple[Any, ...]) -> SurveyEntry:
        own = dict(zip(self.columns.split(", "), row, strict=True))
        return SurveyEntry(**{**own, "public": bool(own["public"])})


def _frozen(one: SurveyEntry) -> tuple[str, ...]:
    """Return what an open survey keeps."""
    return one.document, one.store, one.page


def _survey_values(one: SurveyEntry) -> tuple[object, ...]:
    return one.document, one.store, int(one.public), one.state, one.page


# ---- Releases: charged once, drawn, stored, and answered with what is stored ---------------------


RELEASE = (
    "SELECT r.analyst, r.key, r.dataset, r.asked, r.state, r.number, r.count, r.line, "
    "substr(l.line, 1, 32), r.answer FROM releases r "
    "JOIN lines l ON l.book = r.dataset AND l.number = r.line"
)
KEYED = f"{RELEASE} WHERE r.analyst = ? AND r.key = ?"
STRADDLING = "COALESCE((SELECT MAX(number) FROM releases WHERE dataset = ? AND number <= ?), 0)"
"""The last request that begins at or before a number, and may have charges after it."""
ANSWERED = "SELECT line FROM lines WHERE book = ? AND number >= ? AND number < ? ORDER BY number"
LONGEST_KEY = 200
REQUEST = "request"
"""Where a charge's line holds the digest of its request: a request that is lost, or given to
another, is noticed (`sourdine.server.store.checks`)."""


class Releases:
    """The releases of a store."""

    def __init__(self, database: SharedDatabase, datasets: Datasets, grants: Grants) -> None:
        self._database, self._datasets, self._grants = database, datasets, grants

    def draw_once(
        self, request: KeyedRequest, asked: AskedQuestions
    ) -> Callable[[], StoredRelease]:
        """Charge a request once and draw; return what then stores and returns the answer.

        ``asked`` is what the data set's session makes of questions, ``session.prepare(questions)``.
        How long a draw takes depends on the data, and so does the moment at which it ends: a server
        waits for a tick before it stores what was drawn.

        Raises
        ------
        BudgetExceededError
            It would pass the data set's total, or the analyst's grant; nothing was charged.
        KeyReusedError, NotGrantedError, ParameterError
            The key stands for another request; there is no such data set, or this analyst has no
            grant; the data set is closed.
        """
        stored = asked.charged(lambda calls: self.charge(request, calls))
        if stored.state != "charged":
            return lambda: stored
        try:
            answers = tuple(asked.draw())
        except Exception:  # noqa: BLE001 - whatever it was, it is not drawn again
            return lambda: replace(self.fail(request), fresh=stored.fresh)
        return lambda: replace(self.answer(request, answers), fresh=stored.fresh)

    def charge(self, request: KeyedRequest, calls: Sequence[Call]) -> StoredRelease:
        """Charge a request once, and return what became of it until now; the first step alone."""
        if not 0 < len(request.key) <= LONGEST_KEY or not calls:
            what = f"have 1 to {LONGEST_KEY} characters and identify a question"
            hint = "Send a random key, such as a UUID, for each new request."
            raise ParameterError("key", what, f"{len(request.key)} letters", hint)

        of = request.dataset
        found, grant = self._database.read(
            lambda t: (self._found(t, request), self._grants.look(t, of, request.analyst))
        )
        if found is not None:
            return found
        if grant is None:
            raise _not_granted()
        ledger, journal = self._datasets.ledger(of), self._datasets.journal(of)

        def charge(
            transaction: Transaction, *, whole: bool
        ) -> tuple[StoredRelease, TableTransaction | None]:
            found = self._found(transaction, request)
            if found is not None:
                return found, None
            spent = self._granted(transaction, request, calls)
            opened = journal.opened(transaction)
            desk = ledger.desk(opened, {REQUEST: request.digest})
            charges = ledger.write(desk, calls, whole=whole)
            first, count, head = charges[0].number, len(charges), opened.head
            transaction.run(
                "INSERT INTO releases VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'charged', NULL)",
                *(request.analyst, request.key, request.asked, of),
                *(first, count, head.lines, str(spent)),
            )
            stored = StoredRelease(
                request=request, state="charged", number=first, count=count, line=head.lines,
                head=head.chain.decode(), fresh=True,
            )  # fmt: skip
            return stored, opened

        def attempt(*, whole: bool) -> StoredRelease:
            stored, opened = self._database.write(lambda t: charge(t, whole=whole))
            if opened is not None:
                journal.remember(opened)
            return stored

        return ledger.declaring(attempt, calls)

    def _granted(
        self, transaction: Transaction, request: KeyedRequest, calls: Sequence[Call]
    ) -> Fraction:
        """Return what the analyst has spent after the calls, or refuse them."""
        state = transaction.one("SELECT state FROM datasets WHERE name = ?", request.dataset)
        if state is not None and state[0] != "open":
            got = f"{request.dataset}, which is closed"
            raise ParameterError("dataset", "be open", got, "Use another data set.")
        grant = self._grants.look(transaction, request.dataset, request.analyst)
        if state is None or grant is None:
            raise _not_granted()
        relation = self._datasets.ledger(request.dataset).terms.total.relation
        most = max(grant.epsilon, grant.spent)  # it may have been lowered since
        account = SumAccount(Guarantee(most, 0, relation), Guarantee(grant.spent, 0, relation))
        try:
            for call in calls:
                own = Guarantee(call.cost.exact_epsilon(), 0, call.cost.relation)
                account = account.after(own, ())
        except BudgetExceededError as refusal:
            raise refusal.also(
                f"{request.analyst} was granted {shown(grant.epsilon, up=False)}."
            ) from None
        return account.spent.exact_epsilon()

    def answer(self, request: KeyedRequest, answers: Sequence[str]) -> StoredRelease:
        """Store answers if none are stored, and return what is stored; the second step alone."""
        of = request.dataset
        ledger, journal = self._datasets.ledger(of), self._datasets.journal(of)

        def job(transaction: Transaction) -> tuple[StoredRelease, TableTransaction]:
            opened = journal.opened(transaction)
            stored = self._required(transaction, request)
            if stored.state == "charged":
                if len(answers) != stored.count:
                    raise ValueError(f"{len(answers)} answers to {stored.count} charges")
                first = opened.head.lines + 1
                for number, answer in enumerate(answers, stored.number):
                    ledger.answer(opened, number, answer)
                self._settle(transaction, request, "answered", first)
                stored = replace(stored, state="answered", answers=tuple(answers))
            return stored, opened

        stored, opened = self._database.write(job)
        journal.remember(opened)
        return stored

    def fail(self, request: KeyedRequest) -> StoredRelease:
        """Store that a draw raised, if nothing is stored, and return what is stored."""

        def job(transaction: Transaction) -> StoredRelease:
            stored = self._required(transaction, request)
            if stored.state != "charged":
                return stored
            self._settle(transaction, request, "failed", None)
            return replace(stored, state="failed")

        return self._database.write(job)

    def get(self, analyst: str, key: str) -> StoredRelease | None:
        """Return what became of a request; None if it was never charged."""

        def job(transaction: Transaction) -> StoredRelease | None:
            found = transaction.one(KEYED, analyst, key)
            return None if found is None else self._stored(transaction, found)

        return self._database.read(job)

    def of(
        self, dataset: str, *, analyst: str | None = None, after: int = 0, most: int = 1000
    ) -> list[StoredRelease]:
        """Return the releases of a data set, the first one first, of one analyst or of all.

        Only those with a charge whose number is larger than ``after``, and at most so many.
        """
        whose, values = ("AND r.analyst = ? ", (analyst,)) if analyst is not None else ("", ())
        where = (
            f"{RELEASE} WHERE r.dataset = ? AND r.number >= {STRADDLING} "
            f"AND r.number + r.count > ? {whose}ORDER BY r.number LIMIT ?"
        )

        def job(transaction: Transaction) -> list[StoredRelease]:
            rows = transaction.all(where, dataset, dataset, after, after + 1, *values, most)
            return [self._stored(transaction, row) for row in rows]

        return self._database.read(job)

    def analysts(self, dataset: str) -> dict[int, str]:
        """Return who asked for each charge of a data set, by its number."""
        find = "SELECT number, count, analyst FROM releases WHERE dataset = ?"
        found = self._database.read(lambda t: t.all(find, dataset))
        return {first + i: who for first, count, who in found for i in range(count)}

    def _settle(
        self, transaction: Transaction, request: KeyedRequest, state: str, line: int | None
    ) -> None:
        transaction.run(
            "UPDATE releases SET state = ?, answer = ? WHERE analyst = ? AND key = ?",
            *(state, line, request.analyst, request.key),
        )

    def _found(self, transaction: Transaction, request: KeyedRequest) -> StoredRelease | None:
        found = transaction.one(KEYED, request.analyst, request.key)
        if found is None:
            return None
        if (found[2], found[3]) != (request.dataset, request.asked):
            hint = "Send a new key for a new request; nothing was charged."
            got = "another request with the same key"
            raise KeyReusedError("key", "identify one request", got, hint)
        return self._stored(transaction, found)

    def _required(self, transaction: Transaction, request: KeyedRequest) -> StoredRelease:
        found = self._found(transaction, request)
        if found is None:
            raise LookupError("an answer to a request that was never charged")
        return found

    def _stored(self, transaction: Transaction, row: tuple[Any, ...]) -> StoredRelease:
        analyst, key, dataset, asked, state, number, count, line, head, answer = row
        answers: tuple[str, ...] = ()
        if answer is not None:
            lines = transaction.all(ANSWERED, dataset, answer, answer + count)
            answers = tuple(row_of(text)["answer"] for (text,) in lines)
            transaction.note(dataset, answer + count - 1, lines[-1][0][:WIDTH])
        request = KeyedRequest(analyst=analyst, key=key, dataset=dataset, asked=asked)
        return StoredRelease(
            request=request, state=state, number=number, count=count, line=line, head=head,
            answers=answers,
        )  # fmt: skip


def _not_granted() -> NotGrantedError:
    return NotGrantedError("No such data set, or no grant for it. Ask its owner for a grant.")
