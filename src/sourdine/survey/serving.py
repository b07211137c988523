"""Serving over HTTP with uvicorn: limits of time and size, and the server of one survey.

TLS is the business of a proxy in front of it. *Checked by* ``test_hostile_requests_are_refused``.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
from contextlib import contextmanager, suppress
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sourdine.errors import MissingExtraError, SourdineError
from sourdine.survey.document import LOOPBACK
from sourdine.survey.page import page
from sourdine.survey.results import POLICY, results, results_page
from sourdine.survey.store import Outcome, Posted, PostQueue, SurveyStore

try:
    import h11
    import uvicorn
    from starlette.datastructures import Headers
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import Response
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ModuleNotFoundError:
    raise MissingExtraError.of("server") from None

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from os import PathLike

    from starlette.types import ASGIApp, Receive, Scope, Send

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
    "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin", "cache-control": "no-store",
}  # fmt: skip
TICKET = re.compile(rb'\{"ticket":"([A-Za-z0-9_-]{1,64})"\}')
OPEN = {"access-control-allow-origin": "*"}
FRAMED = {"content-security-policy": "frame-ancestors 'none'"}
MOST_LINES = 1000
"""Lines of a post: one person sends one, and a client that sends for many sends several posts."""
REFRESH = 3
"""Seconds after which a results page looks again."""
LANGUAGE = re.compile(r"(?:^|&)language=([a-z]{2,3})(?:&|$)")


class Collector:
    """Answers the requests to one survey; the application that mounts it calls `stop` in the end.

    It answers below the folder of the address that records are sent to, and without that folder.
    Results are shown to everyone if ``public``; records are counted ``every`` so many seconds.
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
            must = f"a post must have at most {MOST_LINES} records"
            return reply(f"{must}, got {len(lines)}: send several\n".encode(), 413)
        if not lines:
            return _told(Outcome(refused={"empty": 1}))
        posted = self._queue.post(Posted(lines=lines, ticket=ticket))
        return _told(await asyncio.wrap_future(posted))

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
        headers = {"content-security-policy": POLICY}
        headers |= {} if paused else {"refresh": str(REFRESH)}
        html = results_page(known, language=language, paused=paused)
        return reply(html, kind="text/html", headers=headers)


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


# ---- Connections that do not say what they want: they are closed after a while -------------------
#
# A request that is never finished holds a connection, of which a process has some thousand. Uvicorn
# closes connections that are idle between two requests; this closes those whose request has begun,
# or is awaited, and does not end in time.
#
# *Claim*: half a request, whichever half, does not keep a connection. *Checked by*
# ``test_half_requests_are_cut_off`` and ``test_slow_connections_are_closed``.


class TimedProtocol(H11Protocol):
    """HTTP/1.1 with a time limit for the headers, and one for the body, of each request."""

    header_seconds = 10.0
    """Seconds for the first line and the headers of a request."""
    body_seconds = 120.0
    """Seconds for the body after them: 8 MB at about half a megabit a second."""
    _deadline: asyncio.TimerHandle | None = None
    _awaited: object = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._hurry(h11.IDLE)

    def data_received(self, data: bytes) -> None:
        """Take in what came, and wait for what is missing of the request."""
        super().data_received(data)
        self._hurry(self.conn.their_state)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        super().connection_lost(exc)
        self._hurry(None)

    def _hurry(self, awaited: object) -> None:
        """Set the time limit anew when another part of a request is waited for, or none."""
        if awaited is self._awaited:
            return
        if self._deadline is not None:
            self._deadline.cancel()
        self._awaited, self._deadline = awaited, None
        if awaited in (h11.IDLE, h11.SEND_BODY):
            seconds = self.header_seconds if awaited is h11.IDLE else self.body_seconds
            self._deadline = self.loop.call_later(seconds, self.transport.close)


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to an address; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Where the protocol is named, asyncio sends without delay (TCP_NODELAY); otherwise an answer
    # waits 40 ms for an acknowledgement.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise SourdineError(f"{host}:{port} could not be listened on: {error.strerror}.") from None
    bound.set_inheritable(True)
    return bound


# ---- The server of one survey: small limits, no log, and nothing that a survey does not need -----


LONGEST_HEAD = 8192
MOST = 512
"""Connections at a time."""
GRACE = 5
"""Seconds for what is under way when the server stops."""
LENIENT = re.compile(rb"(?<!\r)\n|\n[ \t]")
"""Lines that h11 reads and others read differently: they end in a bare LF, or go on in the next."""


class SurveyProtocol(TimedProtocol):
    """HTTP/1.1 in the limits of a survey, for at most `MOST` connections at a time."""

    header_seconds = 30.0
    body_seconds = 15.0
    _refused = False

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request, unless there are too many connections."""
        super().connection_made(transport)
        if len(self.connections) > MOST:
            self._refuse(503, "busy")
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Take in what came; what follows a refused request is dropped."""
        if not self._refused:
            super().data_received(data)

    def eof_received(self) -> Any:
        """Return whether to stay open: a client may close its side and wait for the answer."""
        cycle = self.cycle
        if self._refused or cycle is None or cycle.more_body or cycle.response_complete:
            return False
        cycle.keep_alive = False
        return True

    def handle_events(self) -> None:
        """Read a request, if its head is short and means the same to every reader."""
        if self.conn.their_state is h11.IDLE:
            head = self.conn.trailing_data[0].partition(b"\r\n\r\n")[0]
            if len(head) > LONGEST_HEAD:
                self._refuse(431, "the head is too long")
                return
            if LENIENT.search(head):
                self.send_400_response("")
                return
        super().handle_events()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; uvicorn's own words for it are not used."""
        del msg
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._refuse(400, "the head cannot be read")
        else:
            self.transport.close()

    def _refuse(self, status: int, text: str) -> None:
        """Answer, and take in what still comes for a second, so that the answer can be read."""
        answer = reply(f"{text}\n".encode(), status, headers=OPEN | {"connection": "close"})
        lines = [b"HTTP/1.1 %d %b" % (status, HTTPStatus(status).phrase.encode())]
        lines += [b"%b: %b" % pair for pair in answer.raw_headers]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(answer.body)]))
        self._refused = True
        self.loop.call_later(1, self.transport.close)


def strict(app: ASGIApp) -> ASGIApp:
    """Return an application that reads plain bodies alone, and whose errors say nothing."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        headers, answer = Headers(scope=scope), app
        if scope["http_version"] not in {"1.0", "1.1"} or not scope["path"].startswith("/"):
            answer = reply(b"the head cannot be read\n", 400)
        elif "transfer-encoding" in headers or headers.get("content-encoding", "") not in {
            *("", "identity")
        }:
            answer = reply(b"encoded bodies are not read\n", 415)
        try:
            await answer(scope, receive, send)
        except Exception:  # noqa: BLE001 - no word of what went wrong inside
            await reply(b"not now: try again later\n", 503)(scope, receive, send)

    return application


class WebServer:
    """Serves an ASGI application until it is stopped. It writes no log; port 0 takes a free one."""

    def __init__(self, app: ASGIApp, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.host, self.port = host, port
        config = uvicorn.Config(
            strict(app), lifespan="off", log_config=None, log_level="critical", access_log=False,
            server_header=False, date_header=False, proxy_headers=False, backlog=MOST,
            timeout_graceful_shutdown=GRACE, http=SurveyProtocol, ws="none",
            timeout_keep_alive=int(SurveyProtocol.header_seconds),
        )  # fmt: skip
        self._server = _Uvicorn(config)

    async def serve(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until `stop`, SIGTERM or SIGINT; then finish what is under way."""
        with bound_socket(self.host, self.port) as bound:
            self.port = bound.getsockname()[1]
            self._server.ready = ready
            await self._server.serve(sockets=[bound])

    def stop(self) -> None:
        self._server.should_exit = True


class _Uvicorn(uvicorn.Server):
    """Tells when it listens, and ends as usual on a signal, which uvicorn would raise again."""

    ready: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        def stop() -> None:
            self.should_exit = True

        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError, RuntimeError, ValueError):  # not in this thread
                asyncio.get_running_loop().add_signal_handler(number, stop)
        yield
