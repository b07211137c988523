"""Serving over HTTP with uvicorn: limits of time and size, and the server of one survey.

TLS is the business of a proxy in front of it. *Checked by* ``test_hostile_requests_are_refused``.
"""

from __future__ import annotations

import asyncio
import re
import signal
import socket
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from starlette.datastructures import Headers
from uvicorn.protocols.http.h11_impl import H11Protocol

from sourdine.errors import SourdineError
from sourdine.survey.collector import OPEN, reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp, Receive, Scope, Send


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
    """Serves an application, until it is stopped. It writes no log.

    Parameters
    ----------
    app
        The ASGI application.
    host, port
        Where to listen; port 0 takes a free one.
    """

    def __init__(self, app: ASGIApp, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.host, self.port = host, port
        self._server = _Uvicorn(
            uvicorn.Config(
                strict(app),
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                backlog=MOST,
                timeout_graceful_shutdown=GRACE,
                timeout_keep_alive=int(SurveyProtocol.header_seconds),
                http=SurveyProtocol,
                ws="none",
            )
        )

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
