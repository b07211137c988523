"""The page for an address that there is none of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sourdine.server.auth import visitor
from sourdine.server.openapi import PREFIX
from sourdine.server.pages.rendering import rendered

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["nowhere", "wants_page"]


def wants_page(request: Request) -> bool:
    """Return whether a browser asks for a page, not a script for an operation of the API."""
    path = request.url.path
    below = path == PREFIX or path.startswith((f"{PREFIX}/", "/static/"))
    return not below and "text/html" in request.headers.get("accept", "")


async def nowhere(request: Request, status: int) -> Response:
    """Say that there is no such page; nothing of the address is repeated."""
    caller = await visitor(request)
    who = {} if caller is None else {"person": caller.name, "role": caller.person.role}
    said = "There is no page at this address." if status == 404 else "This is not a page to open."
    return rendered("refused.html", status, said=said, **who)
