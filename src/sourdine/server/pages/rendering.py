"""Templates, static files, and a page as it is asked for."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sourdine.errors import SourdineError
from sourdine.privacy.guarantee import shown
from sourdine.reports.sections import COLOURS
from sourdine.results.figures import environment
from sourdine.results.tables import grouped
from sourdine.server.auth import visitor
from sourdine.server.pages.fields import FORM
from sourdine.server.requests import Incoming, problem, read_body, whole_number

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from jinja2 import Environment
    from starlette.requests import Request

    from sourdine.server.store.base import Dataset


# ---- Templates and what lies beside them: all texts are escaped, all files are the server's own --
#
# Scripts and styles lie below an address that holds their fingerprint, so that browsers may keep
# them for good. Colours are those of the library's pictures, by light and by dark.


TYPES = {"css": "text/css", "mjs": "text/javascript", "svg": "image/svg+xml"}
WITHIN = re.compile(r"(?<=[\d,]) (?=[-\d])")
FOREVER = "public, max-age=31536000, immutable"


def exact(epsilon: str | Fraction) -> str:
    """Return an epsilon that a store keeps exactly, for people.

    Examples
    --------
    >>> exact("1/10"), exact("2/3")
    ('0.1', '0.666667')
    """
    return shown(Fraction(epsilon))


def upward(error: float | str | None) -> str:
    """Return an error to three digits, rounded up; what is no number stays as it is.

    Examples
    --------
    >>> upward(20.58827), upward(123456), upward(0.0), upward("3 days"), upward(None)
    ('20.6', '124,000', '0', '3 days', 'not known before')
    """
    if error is None:
        return "not known before"
    if isinstance(error, str):
        return error
    rounded = Context(prec=3, rounding=ROUND_CEILING).create_decimal(Decimal(repr(error)))
    if rounded and not -5 < rounded.adjusted() < 15:
        return f"{rounded:.2e}"
    text = f"{rounded:f}"
    return grouped(text.rstrip("0").rstrip(".") if "." in text else text)


def unbroken(text: str) -> str:
    """Return a text in which no line ends within a time or an interval."""
    return WITHIN.sub("\u00a0", text)


def minute(time: str) -> str:
    """Return a time of a ledger to the minute."""
    return time[:16].replace("T", " ")


@cache
def _environment() -> Environment:
    made = environment("sourdine.server.pages")
    made.filters |= {
        "exact": exact,
        "upward": upward,
        "minute": minute,
        "unbroken": unbroken,
        "grouped": lambda n: grouped(str(n)),
    }
    made.globals["static"] = f"/static/{_fingerprint()}"
    return made


def rendered(template: str, status: int = 200, **facts: Any) -> Response:
    """Return a page made from a template."""
    return HTMLResponse(_environment().get_template(template).render(facts), status)


@cache
def _files() -> dict[str, bytes]:
    there = files("sourdine.server.pages").joinpath("web", "static").iterdir()
    light, dark = (
        "".join(f"--{word}:{both[i]};" for word, both in COLOURS.items()) for i in (0, 1)
    )
    palette = f":root{{{light}}}\n@media(prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    return {"palette.css": palette.encode(), **{one.name: one.read_bytes() for one in there}}


def stylesheet() -> str:
    """Return the style of the pages, in which the colours of `COLOURS` are variables."""
    return _files()["look.css"].decode()


@cache
def _fingerprint() -> str:
    whole = sha256()
    for name, data in sorted(_files().items()):
        whole.update(f"{name} {len(data)} ".encode() + data)
    return whole.hexdigest()[:16]


async def static(request: Request) -> Response:
    """Answer with a script, a style or a picture."""
    name, mark = request.path_params["name"], request.path_params["mark"]
    data = _files().get(name)
    if data is None or mark != _fingerprint():
        return Response("There is no such file.", 404, media_type="text/plain")
    kind = TYPES[name.rpartition(".")[2]]
    return Response(data, headers={"cache-control": FOREVER}, media_type=kind)


# ---- A page as it is asked for: by whom, with what, and what the API's own operations answer -----


NARROWEST, USUAL, WIDEST = 280, 720, 960
"""Pixels: how wide pictures may be, and are where nothing is said."""


@dataclass(frozen=True, slots=True)
class Visit:
    """The request of a page, as operations see it, and where the browser sees this server."""

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
        asked = whole_number(self.call.query.get("wide", ""))
        return min(max(USUAL if asked is None else asked, NARROWEST), WIDEST)

    def ask(self, operation: Callable[[Incoming], Response], body: object = None) -> Any:
        """Return what an operation of the API answers to this person."""
        data = self.call.data if body is None else json.dumps(body).encode()
        return json.loads(bytes(operation(replace(self.call, data=data)).body))

    def at(self, **path: str) -> Visit:
        """Return the same visit with another path and no query."""
        return replace(self, call=replace(self.call, path={**self.call.path, **path}, query={}))

    def shows(self, template: str, **facts: Any) -> Response:
        """Return a page made from a template."""
        return rendered(template, person=self.call.who.name, role=self.role, **facts)


def page(
    shows: Callable[[Visit], Response], *, roles: tuple[str, ...] = ()
) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a page; who is not known is sent to log in.

    ``shows`` makes the page, in a thread. Without ``roles`` it is everybody's.
    """

    async def endpoint(request: Request) -> Response:
        caller = await visitor(request)
        if caller is None:
            return RedirectResponse(f"/login?next={quote(request.url.path)}", 303)
        call = Incoming.of(request, caller, await read_body(request))
        visit = Visit(call, f"{request.url.scheme}://{request.url.netloc}")
        if roles and visit.role not in roles:
            said = f"This page is for {' and '.join(f'{role}s' for role in roles)}."
            return rendered("refused.html", 403, person=caller.name, role=visit.role, said=said)
        return await run_in_threadpool(_shown, shows, visit)

    return endpoint


def filled(template: str, **asked: Callable[[Incoming], Response]) -> Callable[[Visit], Response]:
    """Return what shows a template with what operations of the API answer."""

    def shows(visit: Visit) -> Response:
        return visit.shows(template, **{name: visit.ask(one) for name, one in asked.items()})

    return shows


def _shown(shows: Callable[[Visit], Response], visit: Visit) -> Response:
    try:
        return shows(visit)
    except SourdineError as error:
        who = {"person": visit.call.who.name, "role": visit.role}
        status = problem(error).status_code
        return rendered("refused.html", status, said=error.said(FORM), **who)
