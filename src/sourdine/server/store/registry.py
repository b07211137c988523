"""Surveys: what is asked, and whether it is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.server.store.base import SurveyEntry
from sourdine.server.store.datasets import named

if TYPE_CHECKING:
    from sourdine.database import SharedDatabase, Transaction

__all__ = ["Surveys"]

SURVEY = "SELECT name, document, store, public, state, page FROM surveys"


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
