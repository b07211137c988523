"""A page as it is asked for: by whom, with what, and what the API's own operations answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse

from sourdine.errors import SourdineError
from sourdine.server.auth import visitor
from sourdine.server.incoming import Incoming
from sourdine.server.limits import read_body
from sourdine.server.pages.fields import FORM
from sourdine.server.pages.rendering import rendered
from sourdine.server.problems import problem

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from sourdine.server.store import Dataset

__all__ = ["Visit", "page"]

NARROWEST, USUAL, WIDEST = 280, 720, 960
"""Pixels: how wide pictures may be, and are where nothing is said."""


@dataclass(frozen=True, slots=True)
class Visit:
    """What a page is made with.

    Parameters
    ----------
    call
        The request, as operations of the API see it.
    url
        Where this server is, as the browser sees it.
    """

    call: Incoming
    url: str

    @property
    def role(self) -> str:
        """What the person may do."""
        return self.call.who.person.role

    @property
    def dataset(self) -> Dataset:
        """The data set in the path, if the person may see it."""
        return self.call.dataset

    @property
    def wide(self) -> int:
        """How many pixels there are for a picture."""
        text = self.call.query.get("wide", "")
        asked = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else USUAL
        return min(max(asked, NARROWEST), WIDEST)

    def ask(self, operation: Callable[[Incoming], Response], body: object = None) -> Any:  # noqa: ANN401
        """Return what an operation of the API answers to this person."""
        data = self.call.data if body is None else json.dumps(body).encode()
        return json.loads(bytes(operation(replace(self.call, data=data)).body))

    def at(self, **path: str) -> Visit:
        """Return the same visit with another path and no query."""
        return replace(self, call=replace(self.call, path={**self.call.path, **path}, query={}))

    def shows(self, template: str, **facts: Any) -> Response:  # noqa: ANN401
        """Return a page made from a template."""
        return rendered(template, person=self.call.who.name, role=self.role, **facts)


def page(
    shows: Callable[[Visit], Response], *, roles: tuple[str, ...] = ()
) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a page; who is not known is sent to log in.

    Parameters
    ----------
    shows
        Makes the page, in a thread.
    roles
        Whose page it is; everybody's if left out.
    """

    async def endpoint(request: Request) -> Response:
        caller = await visitor(request)
        if caller is None:
            return RedirectResponse(f"/login?next={quote(request.url.path)}", 303)
        visit = Visit(
            Incoming(
                state=request.app.state.server,
                caller=caller,
                path=request.path_params,
                query=request.query_params,
                headers=request.headers,
                cookies=request.cookies,
                data=await read_body(request),
            ),
            f"{request.url.scheme}://{request.url.netloc}",
        )
        if roles and visit.role not in roles:
            said = f"This page is for {' and '.join(f'{role}s' for role in roles)}."
            return rendered("refused.html", 403, person=caller.name, role=visit.role, said=said)
        return await run_in_threadpool(_shown, shows, visit)

    return endpoint


def _shown(shows: Callable[[Visit], Response], visit: Visit) -> Response:
    try:
        return shows(visit)
    except SourdineError as error:
        who = {"person": visit.call.who.name, "role": visit.role}
        status = problem(error).status_code
        return rendered("refused.html", status, said=error.said(FORM), **who)
