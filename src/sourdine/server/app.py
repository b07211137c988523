"""The ASGI application: routes and security headers."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Mount, Route

from sourdine.errors import SourdineError
from sourdine.server import datasets, guards, people, releases, surveys
from sourdine.server.auth import caller_of, visitor
from sourdine.server.openapi import PREFIX
from sourdine.server.pages.administration import nowhere, wants_page
from sourdine.server.pages.routes import PAGES
from sourdine.server.requests import (
    LONGEST_BODY,
    Incoming,
    Operation,
    RefusedError,
    problem,
    read_body,
    unforeseen,
)
from sourdine.server.state import OPERATIONS, ServerSettings, ServerState, write_line
from sourdine.server.surveys import COLLECTED, collected

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


# ---- Around every request: headers that browsers obey, the log, the counts, and one body for 500 -


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
    """An application whose answers carry the headers, and whose errors say nothing."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
        noted, names = scope.get("state", {}), ("dataset", "guard", "person")
        facts = {name: noted[name] for name in names if noted.get(name) is not None}
        own, ms = {"method": method, "route": route}, round(1000 * seconds)
        write_line("request", {**own, **facts, "status": status, "ms": ms, **failed})


# ---- Every route of the API, in the order of its description -------------------------------------


API = (
    *people.OPERATIONS,
    *people.ACCOUNT_OPERATIONS,
    *datasets.OPERATIONS,
    *releases.OPERATIONS,
    *guards.OPERATIONS,
    *surveys.OPERATIONS,
    *OPERATIONS,
)
"""All operations below ``/api/v1``."""


# ---- The application: the API below ``/api/v1``, and the pages beside it -------------------------
#
# ``requests``           a request as an operation sees it: limits, parsing, refusals
# ``auth``, ``people``   who asks: tokens, cookies, passwords
# ``datasets``           what the owner says of data and columns
# ``releases``           plans, releases and ledgers
# ``guards``             guards and their leaderboards; ``labels`` what teams predict
# ``surveys``            surveys and what was collected
# ``state``              what a worker holds, and what is asked of the server itself
# ``pages``              what people see in a browser, made from what the operations answer
#
# Operations are plain functions that run in threads; the store waits for the disk there, and
# requests that wait together share a commit.
#
# *Claim*: between the charge and the tick at which an answer leaves, nothing that anybody can ask
# for changes. *Checked by* ``test_nothing_changes_between_the_charge_and_the_tick``.


def build(settings: ServerSettings) -> ASGIApp:
    """Return the application of one worker; the store is opened when it starts."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.server = state = await run_in_threadpool(ServerState, settings, API)
        await run_in_threadpool(state.passwords.check, None, "")  # hashes what is compared
        try:
            yield
        finally:
            state.close()

    routes = [Route(PREFIX + one.path, _endpoint(one), methods=[one.method]) for one in API]
    pages = [*PAGES, Mount(f"{COLLECTED}/{{survey}}", collected)]
    handlers = {SourdineError: _refused, HTTPException: _elsewhere, Exception: _refused}
    app = Starlette(routes=[*routes, *pages], lifespan=lifespan, exception_handlers=handlers)
    return Guarded(app)


def worker() -> ASGIApp:
    """Return the application of a worker that a server started."""
    return build(ServerSettings.told())


def _endpoint(one: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        began = perf_counter()
        state: ServerState = request.app.state.server
        longest = one.longest
        if longest > LONGEST_BODY and await visitor(request) is None:  # only for who is known
            longest = LONGEST_BODY
        data = await read_body(request, longest)
        answer = await run_in_threadpool(_answer, one, request, data)
        if isinstance(answer, Response):
            return answer
        # What was drawn is stored on a tick as well: a client that polls the server meanwhile sees
        # nothing change at a time that depends on the data.
        if tick := state.settings.tick:
            await asyncio.sleep(tick - (perf_counter() - began) % tick)
        return await run_in_threadpool(answer)

    return endpoint


def _answer(one: Operation, request: Request, data: bytes) -> Response | Callable[[], Response]:
    caller = caller_of(request) if one.roles else None
    if caller is not None and caller.person.role not in one.roles:
        what, hint = f"be {' or '.join(one.roles)}", "Ask a person with that role."
        raise RefusedError(403, "the role", what, caller.person.role, hint)
    address = request.client.host if request.client else ""
    answer = one.does(Incoming.of(request, caller, data, address))
    for name in ("dataset", "guard"):
        if name in request.path_params:
            setattr(request.state, name, request.path_params[name])
    return answer


async def _refused(request: Request, error: Exception) -> Response:
    del request
    return problem(error)


async def _elsewhere(request: Request, error: Exception) -> Response:
    """Answer to a path or a method that there is none of: browsers get a page."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    if wants_page(request):
        return await nowhere(request, status)
    hint = f"See {PREFIX}/openapi.json."
    answer = problem(RefusedError(status, "path", "be a path of the API", "", hint))
    if isinstance(error, HTTPException) and error.headers:
        answer.headers.update(error.headers)
    return answer
