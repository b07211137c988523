"""Around every request: headers that browsers obey, the log, the counts, and one body for 500."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from sourdine.server.log import write_line
from sourdine.server.problems import unforeseen

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guarded"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = tuple(
    (name.encode(), value.encode())
    for name, value in {
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
        "cache-control": "no-store",
    }.items()
)
UNWRITTEN = "/s/"
"""Where surveys are answered: nobody writes down that somebody did."""
TRANSPORT = (b"strict-transport-security", b"max-age=31536000")


class Guarded:
    """An application whose answers carry the headers, and whose errors say nothing.

    Parameters
    ----------
    app
        What answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = perf_counter(), 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = {name for name, _ in message["headers"]}
                more = HEADERS if scope["scheme"] != "https" else (*HEADERS, TRANSPORT)
                extra = [pair for pair in more if pair[0] not in own]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        failed: dict[str, Any] = {}
        try:
            await self.app(scope, receive, sent)
        except Exception as error:  # noqa: BLE001 - its text may hold a value
            failed = {"raised": type(error).__name__}
            if status == 0:
                await unforeseen()(scope, receive, sent)
        finally:
            self._note(scope, status, perf_counter() - began, failed)

    def _note(self, scope: Scope, status: int, seconds: float, failed: dict[str, Any]) -> None:
        if scope["path"].startswith(UNWRITTEN) and not failed:
            return
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"].isalpha() else "other"
        state = getattr(scope["app"].state, "server", None) if "app" in scope else None
        if state is not None:
            state.metrics.count(method, route, status, seconds)
        noted = scope.get("state", {})
        facts = {
            "method": method,
            "route": route,
            "dataset": noted.get("dataset"),
            "guard": noted.get("guard"),
            "person": noted.get("person"),
            "status": status,
            "ms": round(1000 * seconds),
        }
        write_line("request", {name: x for name, x in {**facts, **failed}.items() if x is not None})
