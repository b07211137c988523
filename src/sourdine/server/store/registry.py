"""Guards and what was submitted to them; surveys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.server.store.base import Guard, KeyReusedError, Submission, SurveyEntry
from sourdine.server.store.datasets import named

if TYPE_CHECKING:
    from sourdine.database import SharedDatabase, Transaction

__all__ = ["Guards", "Surveys"]

GUARD = "SELECT name, path, facts, state FROM guards"
SENT = "SELECT guard, who, key, asked, answer, state FROM submissions"
SURVEY = "SELECT name, document, store, public, state, page FROM surveys"


class Guards:
    """Evaluation data under guard, and what teams sent.

    A guard charges in a ledger of its own (`sourdine.adaptive.TranscriptLedger`). A submission is
    written down before the guard is asked; what it is told is stored once, and a team that asks
    again under its key is told the same.
    """

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database

    def add(self, guard: Guard) -> Guard:
        """Register a guard, or refuse a name that is taken."""
        values = (named(guard.name), guard.path, guard.facts, guard.state)
        _insert(self._database, "guards", values)
        return guard

    def get(self, name: str) -> Guard | None:
        """Return a guard; None if there is no such name."""
        found = self._database.read(lambda t: t.one(f"{GUARD} WHERE name = ?", name))
        return None if found is None else _guard(found)

    def all(self) -> list[Guard]:
        """Return all guards, by name."""
        return [
            _guard(row) for row in self._database.read(lambda t: t.all(f"{GUARD} ORDER BY name"))
        ]

    def close(self, name: str) -> None:
        """Close a guard: it answers nothing more."""
        self._database.write(
            lambda t: t.run("UPDATE guards SET state = 'closed' WHERE name = ?", name)
        )

    def submit(self, submission: Submission) -> Submission:
        """Write down that something was sent, once; return what became of it until now."""

        def job(transaction: Transaction) -> Submission:
            found = _sent(transaction, submission)
            if found is None:
                values = (submission.guard, submission.who, submission.key, submission.asked)
                transaction.run(
                    "INSERT INTO submissions VALUES (?, ?, ?, ?, NULL, 'charged')", *values
                )
                return submission
            if found.asked != submission.asked:
                raise KeyReusedError(
                    "key",
                    "stand for one submission",
                    "another one under the same key",
                    "Send a new key for a new submission; it was not scored.",
                )
            return found

        return self._database.write(job)

    def answer(self, submission: Submission, answer: str | None) -> Submission:
        """Store what was told if nothing is stored, and return what is; None for a failure."""
        state = "failed" if answer is None else "answered"

        def job(transaction: Transaction) -> Submission:
            transaction.run(
                "UPDATE submissions SET answer = ?, state = ? "
                "WHERE guard = ? AND who = ? AND key = ? AND state = 'charged'",
                *(answer, state, submission.guard, submission.who, submission.key),
            )
            found = _sent(transaction, submission)
            if found is None:
                raise LookupError("an answer to what was never sent")
            return found

        return self._database.write(job)

    def submissions(self, guard: str, who: str | None = None) -> list[Submission]:
        """Return what was sent to a guard, by everybody or by one."""
        order = f"{SENT} WHERE guard = ? ORDER BY who, key"
        rows = self._database.read(lambda t: t.all(order, guard))
        return [_submission(row) for row in rows if who in (None, row[1])]


class Surveys:
    """The surveys of a server; a document changes only while it is a draft."""

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database

    def add(self, survey: SurveyEntry) -> SurveyEntry:
        """Write a survey down, or refuse a name that is taken."""
        _insert(self._database, "surveys", (named(survey.name), *_survey_values(survey)))
        return survey

    def change(self, survey: SurveyEntry) -> SurveyEntry:
        """Write a draft anew, open it, or close what is open; nothing else can change."""

        def job(transaction: Transaction) -> None:
            found = transaction.one(f"{SURVEY} WHERE name = ?", survey.name)
            was = None if found is None else _survey(found)
            allowed = {
                "draft": ("draft", "open"),
                "open": ("open", "closed"),
                "closed": ("closed",),
            }
            if (
                was is None
                or survey.state not in allowed[was.state]
                or (was.state != "draft" and _frozen(was) != _frozen(survey))
            ):
                raise ParameterError(
                    "survey",
                    "be a draft, or stay as it was opened",
                    f"{survey.name!r}, {'unknown' if was is None else was.state}",
                    "Write another survey.",
                )
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
                raise ParameterError("survey", "be a draft", "none", "Close what is open.")

        self._database.write(job)

    def get(self, name: str) -> SurveyEntry | None:
        """Return a survey; None if there is no such name."""
        found = self._database.read(lambda t: t.one(f"{SURVEY} WHERE name = ?", name))
        return None if found is None else _survey(found)

    def all(self) -> list[SurveyEntry]:
        """Return all surveys, by name."""
        found = self._database.read(lambda t: t.all(f"{SURVEY} ORDER BY name"))
        return [_survey(row) for row in found]


def _insert(database: SharedDatabase, table: str, values: tuple[object, ...]) -> None:
    def job(transaction: Transaction) -> None:
        if transaction.one(f"SELECT 1 FROM {table} WHERE name = ?", values[0]) is not None:  # noqa: S608
            raise ParameterError("name", "be new", repr(values[0]), "Type another name.")
        places = ", ".join("?" for _ in values)
        transaction.run(f"INSERT INTO {table} VALUES ({places})", *values)  # noqa: S608

    database.write(job)


def _sent(transaction: Transaction, one: Submission) -> Submission | None:
    where = f"{SENT} WHERE guard = ? AND who = ? AND key = ?"
    found = transaction.one(where, one.guard, one.who, one.key)
    return None if found is None else _submission(found)


def _guard(row: tuple[Any, ...]) -> Guard:
    return Guard(**dict(zip(("name", "path", "facts", "state"), row, strict=True)))


def _submission(row: tuple[Any, ...]) -> Submission:
    names = ("guard", "who", "key", "asked", "answer", "state")
    return Submission(**dict(zip(names, row, strict=True)))


def _survey(row: tuple[Any, ...]) -> SurveyEntry:
    name, document, store, public, state, page = row
    return SurveyEntry(
        name=name, document=document, store=store, public=bool(public), state=state, page=page
    )


def _frozen(one: SurveyEntry) -> tuple[str, ...]:
    """Return what an open survey keeps."""
    return one.document, one.store, one.page


def _survey_values(one: SurveyEntry) -> tuple[object, ...]:
    return one.document, one.store, int(one.public), one.state, one.page
