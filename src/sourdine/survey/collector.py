"""`Collector`: a survey's addresses, and what they answer.

================================  =============================================================
``GET /``                         the page
``POST`` (where it is sent to)    records, one a line, at most `MOST_LINES`; in ticket mode a ticket
                                  and one record
``GET /results``                  live results: a page without scripts
``GET /results.json``             the same as JSON
================================  =============================================================

All of them also stand below the folder of the address that the survey sends to: a survey that is
sent to ``https://statistics.town/commute/reports`` has its page at ``/commute/``.

The collector is a function from a `Request` to a `Reply`: whatever serves HTTP can hold it.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sourdine.survey.document import LOOPBACK
from sourdine.survey.group_commit import GroupCommit
from sourdine.survey.page import page
from sourdine.survey.results import results
from sourdine.survey.results_page import POLICY, results_page
from sourdine.survey.serving import Reply, Request
from sourdine.survey.store import Outcome, Posted, SurveyStore

if TYPE_CHECKING:
    from os import PathLike

    from sourdine.survey.results import Results

__all__ = ["Collector"]

TICKET = re.compile(rb'\{"ticket":"([A-Za-z0-9_-]{1,64})"\}')
OPEN = {"access-control-allow-origin": "*"}
FRAMED = {"content-security-policy": "frame-ancestors 'none'"}
MOST_LINES = 1000
"""Lines of a post: one person sends one, and a client that sends for many sends several posts."""
REFRESH = 3
"""Seconds after which a results page looks again."""
LANGUAGE = re.compile(r"(?:^|&)language=([a-z]{2,3})(?:&|$)")


class Collector:
    """Answers what is asked of one survey.

    Parameters
    ----------
    place
        The survey's store.
    public
        Whether results are shown to whoever asks.
    every
        Seconds from one count to the next.
    """

    def __init__(
        self, place: str | PathLike[str], *, public: bool = True, every: float = 1
    ) -> None:
        self._reader = SurveyStore(place)
        self.survey, self.public = self._reader.survey, public
        self._page = page(self.survey)
        sent = urlsplit(self.survey.send_to).path or "/"
        self._base, _, self._last = sent.rpartition("/")
        self._found: Results | None = None
        self._look = asyncio.Lock()
        self._writer = GroupCommit(place, every=every)

    @property
    def people(self) -> int:
        """How many people are counted."""
        return self._writer.people

    def send_to_own(self, origin: str) -> None:
        """Let the page send to ``origin``, where it is served, if it sends to this machine anyway.

        The port that a survey was frozen with may be taken; an address for other people stays.
        """
        parts = urlsplit(self.survey.send_to)
        if parts.hostname in LOOPBACK and urlsplit(origin).hostname in LOOPBACK:
            self.survey = replace(self.survey, send_to=f"{origin}{parts.path}")
            self._page = page(self.survey)

    def stop(self) -> None:
        """Write and count what is left."""
        self._writer.stop()
        self._reader.close()

    async def __call__(self, request: Request) -> Reply:
        """Answer one request."""
        inner = request.path.removeprefix(self._base) or "/"
        if request.method == "POST":
            if inner in {f"/{self._last}", "/reports"}:
                return await self._posted(request.body)
        elif request.method == "OPTIONS":
            allowed = {"access-control-allow-methods": "GET, POST"}
            return Reply(status=204, headers=OPEN | allowed)
        elif request.method not in {"GET", "HEAD"}:
            return Reply(status=405, body=b"GET or POST\n", headers={"allow": "GET, HEAD, POST"})
        elif inner in {"/", f"/{self.survey.name}.html"}:
            return Reply(body=self._page, kind="text/html; charset=utf-8", headers=FRAMED)
        elif inner in {"/results", "/results.json"} and self.public:
            return await self._results(inner, request.query)
        return Reply(status=404, body=b"nothing is here\n", headers=OPEN)

    async def _posted(self, body: bytes) -> Reply:
        lines = [line for line in body.split(b"\n") if line.strip()]
        ticket = None
        if lines and (found := TICKET.fullmatch(lines[0].strip())):
            ticket, lines = found[1].decode(), lines[1:]
        if len(lines) > MOST_LINES:
            said = (
                f"a post must have at most {MOST_LINES} records, got {len(lines)}: send several\n"
            )
            return Reply(status=413, body=said.encode(), headers=OPEN)
        if not lines:
            return _told(Outcome(refused={"empty": 1}))
        return _told(
            await asyncio.wrap_future(self._writer.post(Posted(lines=lines, ticket=ticket)))
        )

    def _fresh(self) -> Results:
        known = self._found
        now = (self._reader.people, self._reader.state)
        return known if known and (known.people, known.state) == now else results(self._reader)

    async def _results(self, what: str, query: str) -> Reply:
        async with self._look:
            known = self._found = await asyncio.to_thread(self._fresh)
        if what == "/results.json":
            return Reply(body=known.to_json().encode(), kind="application/json", headers=OPEN)
        asked = LANGUAGE.search(query)
        language = asked[1] if asked and asked[1] in self.survey.languages else None
        paused = known.state != "open" or "pause" in query.split("&")
        again = {} if paused else {"refresh": str(REFRESH)}
        return Reply(
            body=results_page(known, language=language, paused=paused),
            kind="text/html; charset=utf-8",
            headers={"content-security-policy": POLICY, **again},
        )


def _told(outcome: Outcome) -> Reply:
    """Return the public answer to a post: 202 only if every line of it is kept."""
    status = 202
    if outcome.refused:
        status = 410 if "closed" in outcome.refused else 422
        status = 403 if any("ticket" in why for why in outcome.refused) else status
    said = {"accepted": outcome.accepted, "refused": dict(outcome.refused)}
    return Reply(
        status=status, body=json.dumps(said).encode() + b"\n", kind="application/json", headers=OPEN
    )
