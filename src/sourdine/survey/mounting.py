"""`mounted`: a collector as an ASGI application, for a larger server to hold.

A server that holds it must not write down who asks, or when: a collector keeps neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.survey.collector import OPEN
from sourdine.survey.serving import LONGEST_BODY, SAFE, Reply, Request

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from sourdine.survey.collector import Collector

    Message = MutableMapping[str, Any]
    Application = Callable[
        [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
        Awaitable[None],
    ]

__all__ = ["mounted"]


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
