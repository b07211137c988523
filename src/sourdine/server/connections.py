"""Connections that do not say what they want: they are closed after a while.

A request that is never finished holds a connection, of which a process has some thousand. Uvicorn
closes connections that are idle between two requests; this closes those whose request has begun,
or is awaited, and does not end in time.

*Claim*: half a request, whichever half, does not keep a connection. *Checked by*
``test_half_requests_are_cut_off``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

__all__ = ["HurriedProtocol"]

HEADERS = 10.0
"""Seconds for the first line and the headers of a request."""
BODY = 120.0
"""Seconds for the body after them: 8 MB at about half a megabit a second."""


class HurriedProtocol(H11Protocol):
    """HTTP/1.1 with a time limit for the headers, and one for the body, of each request."""

    _deadline: asyncio.TimerHandle | None = None
    _awaited: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
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
            seconds = HEADERS if awaited is h11.IDLE else BODY
            self._deadline = self.loop.call_later(seconds, self.transport.close)
