"""Where people log in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sourdine.server.pages.rendering import rendered

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["login"]

WITHIN = re.compile(r"/([A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*)?")
"""A path of this server, and nothing that a browser could take for another."""


async def login(request: Request) -> Response:
    """Show where to log in, and remember which page was asked for."""
    asked = request.query_params.get("next", "/")
    return rendered("login.html", next=asked if WITHIN.fullmatch(asked) else "/")
