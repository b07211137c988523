"""A small HTTP/1.1 server: what a survey needs and nothing else, so that nothing else can go wrong.

It reads requests with a length and without an encoding, in small limits of size and time, and
answers them one after the other. It writes no log and knows nothing of who asks: no handler is
given an address. TLS is the business of a proxy in front of it. *Checked by*
``test_hostile_requests_are_refused``.
"""

from __future__ import annotations

import asyncio
import re
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

__all__ = ["Reply", "Request", "WebServer"]

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
