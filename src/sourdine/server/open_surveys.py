"""The surveys that a server has opened: where their records lie, and the collectors of a worker.

The records of a survey are in a store of their own (`sourdine.survey.store`): beside a file of
SQLite in the folder of the same name that ends in ``.surveys``, in PostgreSQL in a schema of the
same database. Every worker holds a collector for each survey that it was asked for; they share the
store. Of what is sent to a collector the server writes down neither who sends it nor when.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import replace
from hashlib import sha256
from json import dumps
from secrets import token_hex
from threading import Lock
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse

from sourdine.errors import ParameterError, SourdineError
from sourdine.server.problems import RefusedError
from sourdine.server.store import SurveyEntry
from sourdine.survey.collector import Collector
from sourdine.survey.document import NAME
from sourdine.survey.mounting import mounted
from sourdine.survey.page import page
from sourdine.survey.sqlite_file import SqliteFile
from sourdine.survey.store import SurveyStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

    from sourdine.database import Address
    from sourdine.server.store import ServerStore
    from sourdine.survey import Survey

__all__ = ["COLLECTED", "OpenSurveys", "collected"]

COLLECTED = "/s"
"""Where collectors answer, to anybody."""
ENDING = ".surveys"
"""Of the folder beside a file of SQLite."""


class OpenSurveys:
    """The surveys of a server that people answer, or answered.

    Parameters
    ----------
    store
        What knows of them.
    """

    def __init__(self, store: ServerStore) -> None:
        self._store, self._lock = store, Lock()
        self._collectors: dict[str, Collector] = {}

    def open(
        self, entry: SurveyEntry, survey: Survey, *, tickets: int = 0, public: bool = True
    ) -> tuple[SurveyEntry, list[str]]:
        """Freeze a draft, and let people answer; return it with its tickets.

        Parameters
        ----------
        entry
            The draft.
        survey
            What is asked.
        tickets
            How many one-time codes to make; 0 lets anybody answer.
        public
            Whether anybody may see results.
        """
        if entry.state != "draft":
            raise ParameterError("survey", "be a draft", entry.state, "Write another survey.")
        part = self._new(entry.name)
        made, codes = SurveyStore.create(self._place(part), survey, tickets=tickets)
        made.close()
        frozen = SurveyEntry(
            name=entry.name,
            document=dumps(survey.facts(), sort_keys=True),
            store=part,
            public=public,
            state="open",
            page=sha256(page(survey)).hexdigest(),
        )
        return self._store.surveys.change(frozen), codes

    def close(self, entry: SurveyEntry) -> SurveyEntry:
        """Close a survey for good: what was accepted is counted, nothing more is."""
        if entry.state == "draft":
            raise ParameterError("survey", "be open", "a draft", "Open it first.")
        with self.kept(entry) as store:
            store.end()
        return self._store.surveys.change(replace(entry, state="closed"))

    @contextmanager
    def kept(self, entry: SurveyEntry) -> Iterator[SurveyStore]:
        """Yield the store of a survey, in which everything is counted that was accepted."""
        store = self._opened(entry)
        try:
            store.fold()
            yield store
        finally:
            store.close()

    def _opened(self, entry: SurveyEntry) -> SurveyStore:
        try:
            return SurveyStore(self._place(entry.store))
        except (SourdineError, OSError):
            raise RefusedError(
                409,
                "the survey",
                "be where it was opened",
                "no records that can be read",
                "Tell its owner.",
            ) from None

    def collector(self, name: str) -> Collector | None:
        """Return what answers for a survey in this worker; None if there is no such survey."""
        if not NAME.fullmatch(name):
            return None
        with self._lock:
            found = self._collectors.get(name)
            entry = self._store.surveys.get(name) if found is None else None
            if entry is not None and entry.state != "draft":
                self._opened(entry).close()
                found = Collector(self._place(entry.store), public=entry.public)
                self._collectors[name] = found
            return found

    def backup(self, path: Path) -> None:
        """Write copies of all records beside the copy of a file of SQLite, while workers go on."""
        folder = path.absolute().with_suffix(ENDING)
        for entry in self._store.surveys.all():
            if entry.store:
                folder.mkdir(mode=0o700, exist_ok=True)
                with closing(SqliteFile(self._place(entry.store))) as file:
                    file.copy(folder / entry.store)

    def stop(self) -> None:
        """Write and count what is left."""
        with self._lock:
            for collector in self._collectors.values():
                collector.stop()
            self._collectors.clear()

    def _new(self, name: str) -> str:
        """Return a name for the store of a survey, which no other has."""
        where, own = self._store.database.address, token_hex(4)
        if where.is_file:
            where.path.with_suffix(ENDING).mkdir(mode=0o700, exist_ok=True)
            return f"{name}-{own}.db"
        return f"survey_{name.replace('-', '_')}_{own}"

    def _place(self, part: str) -> str:
        where: Address = self._store.database.address
        if where.is_file:
            return str(where.path.with_suffix(ENDING) / part)
        return f"{where.url}{'&' if '?' in where.url else '?'}options=-csearch_path%3D{part}"


async def collected(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer what is asked of a survey, by whomever: its page, records, results."""
    surveys: OpenSurveys = scope["app"].state.server.surveys
    answer: ASGIApp = PlainTextResponse("There is no such survey.\n", 404)
    try:
        found = await run_in_threadpool(surveys.collector, scope["path_params"]["survey"])
        answer = mounted(found) if found else answer
    except RefusedError:
        answer = PlainTextResponse("Not now: try again later.\n", 503)
    await answer(scope, receive, send)
