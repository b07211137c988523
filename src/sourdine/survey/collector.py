"""`Collector`: the addresses of a survey, its own web server, and mounting in another."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sourdine.survey.document import LOOPBACK
from sourdine.survey.page import page
from sourdine.survey.results import POLICY, results, results_page
from sourdine.survey.store import GroupCommit, Outcome, Posted, SurveyStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping
    from os import PathLike

    from sourdine.survey.results import Results

    Message = MutableMapping[str, Any]
    Application = Callable[
        [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
        Awaitable[None],
    ]


# ---- A small HTTP/1.1 server: what a survey needs and nothing else, so that nothing else can go
# wrong
#
# It reads requests with a length and without an encoding, in small limits of size and time, and
# answers them one after the other. It writes no log and knows nothing of who asks: no handler is
# given an address. TLS is the business of a proxy in front of it. *Checked by*
# ``test_hostile_requests_are_refused``.


LONGEST_HEAD = 8192
LONGEST_BODY = 262_144
"""Bytes of a request: some thousand records."""
IDLE = 30.0
"""Seconds that a connection may wait for a request."""
SLOWEST = 15.0
"""Seconds that a request may take to arrive."""
MOST = 512
"""Connections at a time."""
GRACE = 5.0
"""Seconds for what is under way when the server stops."""
FIRST = re.compile(rb"([A-Z]{1,12}) (/[!-~]{0,1023}) HTTP/1\.([01])")
HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
SAFE = (
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked for: the method, the path, what stands after ``?``, and the body."""

    method: str
    path: str
    query: str = ""
    body: bytes = b""
    again: bool = True
    """Whether the connection stays open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is answered."""

    status: int = 200
    body: bytes = b""
    kind: str = "text/plain; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)

    def encode(self, *, again: bool, bare: bool = False) -> bytes:
        """Return the bytes; without a body if it was asked for bare."""
        head = {
            "content-type": self.kind,
            "content-length": str(len(self.body)),
            "connection": "keep-alive" if again else "close",
            **dict(SAFE),
            **self.headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        first = f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}\r\n"
        return f"{first}{lines}\r\n".encode("latin-1") + (b"" if bare else self.body)


class BadRequest(Exception):  # noqa: N818 - it is a reply
    """A request that is not read any further."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(status, text)
        self.reply = Reply(
            status=status, body=f"{text}\n".encode(), headers={"access-control-allow-origin": "*"}
        )


class WebServer:
    """Serves what a handler answers, until it is stopped.

    Parameters
    ----------
    handle
        From a request to a reply.
    host, port
        Where to listen; port 0 takes a free one.
    """

    def __init__(
        self,
        handle: Callable[[Request], Awaitable[Reply]],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.handle, self.host, self.port = handle, host, port
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle: set[asyncio.StreamWriter] = set()
        self._stopped: asyncio.Event | None = None

    async def serve(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until `stop`, SIGTERM or SIGINT; then finish what is under way."""
        self._stopped = asyncio.Event()
        server = await asyncio.start_server(
            self._connected, self.host, self.port, limit=LONGEST_HEAD, backlog=MOST
        )
        self.port = server.sockets[0].getsockname()[1]
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError, RuntimeError, ValueError):  # not in this thread
                loop.add_signal_handler(number, self.stop)
        ready()
        await self._stopped.wait()
        server.close()
        for writer in self._idle:
            writer.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=GRACE)
        for task in self._tasks:
            task.cancel()

    def stop(self) -> None:
        """Stop serving; to be called in the loop that serves."""
        if self._stopped is not None:
            self._stopped.set()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a connection is a task
        self._tasks.add(task)
        try:
            if len(self._tasks) > MOST:
                writer.write(Reply(status=503, body=b"busy\n").encode(again=False))
            else:
                await self._converse(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert self._stopped is not None  # noqa: S101 - connections come while it serves
        again = True
        while again and not self._stopped.is_set():
            self._idle.add(writer)
            try:
                async with asyncio.timeout(IDLE):
                    head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.LimitOverrunError:
                await self._refuse(reader, writer, BadRequest(431, "the head is too long"))
                return
            finally:
                self._idle.discard(writer)
            try:
                async with asyncio.timeout(SLOWEST):
                    request = await _whole(head, reader)
            except BadRequest as error:
                await self._refuse(reader, writer, error)
                return
            reply = await self._answer(request)
            again = request.again and not self._stopped.is_set()
            writer.write(reply.encode(again=again, bare=request.method == "HEAD"))
            await writer.drain()

    async def _answer(self, request: Request) -> Reply:
        try:
            return await self.handle(request)
        except Exception:  # noqa: BLE001 - no word of what went wrong inside
            return Reply(
                status=503,
                body=b"not now: try again later\n",
                headers={"access-control-allow-origin": "*"},
            )

    async def _refuse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, error: BadRequest
    ) -> None:
        """Answer, and take a little of what still comes, so that the answer can be read."""
        writer.write(error.reply.encode(again=False))
        await writer.drain()
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                left = 4 * LONGEST_BODY
                while left > 0 and (part := await reader.read(LONGEST_BODY)):
                    left -= len(part)


async def _whole(head: bytes, reader: asyncio.StreamReader) -> Request:
    """Return a request with its body, or say what is wrong with its head."""
    first, *lines = head[:-4].split(b"\r\n")
    found = FIRST.fullmatch(first)
    headers: dict[bytes, bytes] = {}
    for line in lines:
        one = HEADER.fullmatch(line)
        name = one[1].lower() if one else b""
        if one is None or (name in headers and name in {b"content-length", b"host"}):
            raise BadRequest(400, "the head cannot be read")
        headers[name] = one[2].strip()
    if found is None:
        raise BadRequest(400, "the head cannot be read")
    if b"transfer-encoding" in headers or headers.get(b"content-encoding", b"identity") not in {
        b"identity",
        b"",
    }:
        raise BadRequest(415, "encoded bodies are not read")
    length = headers.get(b"content-length", b"0")
    if not re.fullmatch(rb"[0-9]{1,12}", length):
        raise BadRequest(400, "the length cannot be read")
    if int(length) > LONGEST_BODY:
        raise BadRequest(413, f"a body must be at most {LONGEST_BODY} bytes")
    body = await reader.readexactly(int(length))
    path, _, query = found[2].decode("ascii").partition("?")
    closing = headers.get(b"connection", b"").lower() == b"close" or found[3] == b"0"
    return Request(
        method=found[1].decode("ascii"), path=path, query=query, body=body, again=not closing
    )


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
# The collector is a function from a `Request` to a `Reply`: whatever serves HTTP can hold it.


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


# ---- `mounted`: a collector as an ASGI application, for a larger server to hold ------------------
#
# A server that holds it must not write down who asks, or when: a collector keeps neither.


def mounted(collector: Collector) -> Application:
    """Return a collector as an ASGI application.

    It answers below the folder of the address that records are sent to, and without that folder.
    Whoever mounts it calls `Collector.stop` in the end.

    Parameters
    ----------
    collector
        What answers.
    """

    async def application(
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        body = await _body(receive)
        said = f"a body must be at most {LONGEST_BODY} bytes\n"
        reply = Reply(status=413, body=said.encode(), headers=OPEN)
        if body is not None:
            reply = await collector(
                Request(
                    method=scope["method"],
                    path=scope["path"],
                    query=scope.get("query_string", b"").decode("latin-1"),
                    body=body,
                )
            )
        head = {
            "content-type": reply.kind,
            "content-length": str(len(reply.body)),
            **dict(SAFE),
            **reply.headers,
        }
        headers = [(name.encode(), value.encode("latin-1")) for name, value in head.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        bare = scope["method"] == "HEAD"
        await send({"type": "http.response.body", "body": b"" if bare else reply.body})

    return application


async def _body(receive: Callable[[], Awaitable[Message]]) -> bytes | None:
    """Return what is posted, None if it is too long."""
    parts, more = b"", True
    while more:
        message = await receive()
        parts += message.get("body", b"")
        more = message.get("more_body", False)
        if len(parts) > LONGEST_BODY:
            return None
    return parts
