"""`Collector`: the addresses of a survey, as an ASGI application."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sourdine.errors import MissingExtraError
from sourdine.survey.document import LOOPBACK
from sourdine.survey.page import page
from sourdine.survey.results import POLICY, results, results_page
from sourdine.survey.store import Outcome, Posted, PostQueue, SurveyStore

try:
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import Response
except ModuleNotFoundError:
    raise MissingExtraError(
        "server",
        "be installed",
        "",
        "In the checkout, run pip install '.[server]'.",
    ) from None

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from starlette.types import Receive, Scope, Send

    from sourdine.survey.results import Results


# ---- `Collector`: a survey's addresses, and what they answer -------------------------------------
#
# ``GET /``                         the page
# ``POST`` (where it is sent to)    records, one a line, at most `MOST_LINES`; in ticket mode a
#                                   ticket and one record
# ``GET /results``                  live results: a page without scripts
# ``GET /results.json``             the same as JSON
#
# All of them also stand below the folder of the address that the survey sends to: a survey that is
# sent to ``https://statistics.town/commute/reports`` has its page at ``/commute/``.
#
# The collector is an ASGI application: `sourdine.survey.serving` serves it alone, and a larger
# server can mount it. A server that holds it must not write down who asks, or when: a collector
# keeps neither.


LONGEST_BODY = 262_144
"""Bytes of a request: some thousand records."""
SAFE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
TICKET = re.compile(rb'\{"ticket":"([A-Za-z0-9_-]{1,64})"\}')
OPEN = {"access-control-allow-origin": "*"}
FRAMED = {"content-security-policy": "frame-ancestors 'none'"}
MOST_LINES = 1000
"""Lines of a post: one person sends one, and a client that sends for many sends several posts."""
REFRESH = 3
"""Seconds after which a results page looks again."""
LANGUAGE = re.compile(r"(?:^|&)language=([a-z]{2,3})(?:&|$)")


class Collector:
    """Answers what is asked of one survey; whoever mounts it calls `stop` in the end.

    It answers below the folder of the address that records are sent to, and without that folder.

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
        self._store = SurveyStore(place)
        self.survey, self.public = self._store.survey, public
        self._page = page(self.survey)
        sent = urlsplit(self.survey.send_to).path or "/"
        self._base, _, self._last = sent.rpartition("/")
        self._found: Results | None = None
        self._look = asyncio.Lock()
        self._queue = PostQueue(self._store, every=every)

    @property
    def people(self) -> int:
        return self._queue.people

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
        self._queue.stop()
        self._store.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            answer = await self._answer(Request(scope, receive))
        except ClientDisconnect:
            return
        if scope["method"] == "HEAD":
            answer.body = b""
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        inner = request.scope["path"].removeprefix(self._base) or "/"
        if request.method == "POST":
            if inner in {f"/{self._last}", "/reports"}:
                return await self._posted(request)
        elif request.method == "OPTIONS":
            return reply(b"", 204, headers=OPEN | {"access-control-allow-methods": "GET, POST"})
        elif request.method not in {"GET", "HEAD"}:
            return reply(b"GET or POST\n", 405, headers={"allow": "GET, HEAD, POST"})
        elif inner in {"/", f"/{self.survey.name}.html"}:
            return reply(self._page, kind="text/html", headers=FRAMED)
        elif inner in {"/results", "/results.json"} and self.public:
            return await self._results(inner, request.scope["query_string"].decode("latin-1"))
        return reply(b"nothing is here\n", 404)

    async def _posted(self, request: Request) -> Response:
        body = await _body(request)
        if body is None:
            return reply(f"a body must be at most {LONGEST_BODY} bytes\n".encode(), 413)
        lines = [line for line in body.split(b"\n") if line.strip()]
        ticket = None
        if lines and (found := TICKET.fullmatch(lines[0].strip())):
            ticket, lines = found[1].decode(), lines[1:]
        if len(lines) > MOST_LINES:
            said = (
                f"a post must have at most {MOST_LINES} records, got {len(lines)}: send several\n"
            )
            return reply(said.encode(), 413)
        if not lines:
            return _told(Outcome(refused={"empty": 1}))
        return _told(
            await asyncio.wrap_future(self._queue.post(Posted(lines=lines, ticket=ticket)))
        )

    def _fresh(self) -> Results:
        known = self._found
        now = (self._store.people, self._store.state)
        return known if known and (known.people, known.state) == now else results(self._store)

    async def _results(self, what: str, query: str) -> Response:
        async with self._look:
            known = self._found = await asyncio.to_thread(self._fresh)
        if what == "/results.json":
            return reply(known.to_json().encode(), kind="application/json")
        asked = LANGUAGE.search(query)
        language = asked[1] if asked and asked[1] in self.survey.languages else None
        paused = known.state != "open" or "pause" in query.split("&")
        again = {} if paused else {"refresh": str(REFRESH)}
        return reply(
            results_page(known, language=language, paused=paused),
            kind="text/html",
            headers={"content-security-policy": POLICY, **again},
        )


def reply(
    body: bytes, status: int = 200, *, kind: str = "text/plain", headers: Mapping[str, str] = OPEN
) -> Response:
    return Response(body, status, {**SAFE, **headers}, kind)


async def _body(request: Request) -> bytes | None:
    """Return what is posted, None if it is too long."""
    if int(request.headers.get("content-length", 0)) > LONGEST_BODY:
        return None
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            return None
    return body


def _told(outcome: Outcome) -> Response:
    """Return the public answer to a post: 202 only if every line of it is kept."""
    status = 202
    if outcome.refused:
        status = 410 if "closed" in outcome.refused else 422
        status = 403 if any("ticket" in why for why in outcome.refused) else status
    said = {"accepted": outcome.accepted, "refused": dict(outcome.refused)}
    return reply(json.dumps(said).encode() + b"\n", status, kind="application/json")
