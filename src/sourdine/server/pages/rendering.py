"""Templates and what lies beside them: all texts are escaped, all files are the server's own.

Scripts and styles lie below an address that holds their fingerprint, so that browsers may keep them
for good. Colours are those of the library's pictures, by light and by dark.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from sourdine.presentation.numbers import grouped
from sourdine.privacy.printing import shown
from sourdine.session.filing.pictures import COLOURS

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["exact", "rendered", "static", "stylesheet", "upward"]

TYPES = {"css": "text/css", "mjs": "text/javascript", "svg": "image/svg+xml"}
WITHIN = re.compile(r"(?<=\d) (?=[\d%])")
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
    ('20.6', '124 000', '0', '3 days', 'not known before')
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
    """Return a text in which no line ends within a number, or before its percent sign."""
    return WITHIN.sub("\u00a0", text)


def minute(time: str) -> str:
    """Return a time of a ledger to the minute."""
    return time[:16].replace("T", " ")


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("sourdine.server.pages", "web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "exact": exact,
        "upward": upward,
        "minute": minute,
        "unbroken": unbroken,
        "grouped": lambda n: grouped(str(n)),
    }
    made.globals["static"] = f"/static/{_fingerprint()}"
    return made


def rendered(template: str, status: int = 200, **facts: Any) -> Response:  # noqa: ANN401
    """Return a page made from a template."""
    return HTMLResponse(_environment().get_template(template).render(facts), status)


@cache
def _files() -> dict[str, bytes]:
    there = files("sourdine.server.pages").joinpath("web", "static").iterdir()
    return {"palette.css": _palette().encode(), **{one.name: one.read_bytes() for one in there}}


def stylesheet() -> str:
    """Return the style of the pages, in which the colours of `COLOURS` are variables."""
    return _files()["look.css"].decode()


def _palette() -> str:
    light, dark = (
        "".join(f"--{word}:{both[i]};" for word, both in COLOURS.items()) for i in (0, 1)
    )
    return f":root{{{light}}}\n@media(prefers-color-scheme:dark){{:root{{{dark}}}}}\n"


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
