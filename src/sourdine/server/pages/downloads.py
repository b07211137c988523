"""A release as a file: its numbers as CSV, its picture as SVG or PNG, everything public as JSON."""

from __future__ import annotations

import csv
import re
from importlib.util import find_spec
from io import BytesIO, StringIO
from threading import Lock
from typing import TYPE_CHECKING

from starlette.responses import Response

from sourdine.answers import Release
from sourdine.presentation.small_multiples import groups_of
from sourdine.presentation.texts import json_text
from sourdine.release.answer import plain
from sourdine.server import releasing
from sourdine.server.pages.release_pictures import release_picture
from sourdine.server.pages.rendering import stylesheet
from sourdine.server.problems import RefusedError
from sourdine.server.store import NotGrantedError
from sourdine.session.filing.pictures import COLOURS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.server.pages.visiting import Visit

__all__ = ["as_csv", "as_png", "as_svg", "download", "formats"]

TYPES = {
    "csv": "text/csv",
    "svg": "image/svg+xml",
    "png": "image/png",
    "json": "application/json",
}
MOST_GROUPS_DRAWN, MOST_NUMBERS_DRAWN = 24, 1000
"""What is larger has no PNG: matplotlib would keep a thread for many seconds."""
PATIENCE = 5.0
"""Seconds to wait for other threads that draw."""
DRAWING = Lock()
"""matplotlib's settings are those of the process: one thread draws at a time."""
WIDE = 720
RULE = re.compile(r"^([^@{}]+?) *\{([^{}]*)\}$", re.MULTILINE)
CLASS = re.compile(r"\.([\w-]+)")


def download(visit: Visit) -> Response:
    """Answer with one release as a file to be saved."""
    number, form = visit.call.path["number"], visit.call.path["format"]
    first = releasing.first_number(visit.call, number)
    stored = visit.at(number=first).ask(releasing.one_release)
    text: str | bytes = ""
    if stored["answers"]:
        facts = stored["answers"][int(number) - stored["number"]]
        release = Release.from_dict(facts)
        match form:
            case "png":
                text = as_png(release)
            case "csv":
                text = as_csv(release)
            case "svg":
                text = as_svg(release)
            case "json":
                text = f"{json_text(facts)}\n"
    if not text:
        raise NotGrantedError("There is no such file of this release.")
    name = f"{visit.dataset.name}-{number}.{form}"
    return Response(
        text, 200, {"content-disposition": f'attachment; filename="{name}"'}, TYPES[form]
    )


def formats(release: Release, *, drawn: bool) -> list[str]:
    """Return the formats that a release can be downloaded in; ``drawn`` if it has a picture."""
    pictures = {"svg", *(["png"] if _quickly_drawn(release) else [])} if drawn else set()
    return [form for form in TYPES if form in {"csv", "json", *pictures}]


def as_csv(release: Release) -> str:
    r"""Return the numbers of a release with their labels and the ends of their intervals.

    Examples
    --------
    >>> import sourdine as sd
    >>> as_csv(sd.count(["a"] * 9, epsilon=1)).splitlines()[0]
    'count,lower,upper'
    """
    columns = release.columns().to_dict()
    text = StringIO()
    rows = csv.writer(text)
    rows.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        rows.writerow(["" if x is None else plain(x) for x in row])
    return text.getvalue()


def as_svg(release: Release) -> str:
    """Return the picture of a release, which needs no page around it; empty where there is none."""
    picture = str(release_picture(release, WIDE))
    if not picture:
        return ""
    wide, high = picture.partition('viewBox="0 0 ')[2].partition('"')[0].split()
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" '
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    inside = picture.removeprefix("<svg ").replace(
        ">", f"><style>{_style(picture)}</style>{paper}", 1
    )
    return f"{head}{inside}\n"


def as_png(release: Release) -> bytes:
    """Return the picture that `Release.plot` draws; empty where there is none, or no matplotlib.

    Raises
    ------
    RefusedError
        Other threads are still drawing: 503, to be sent again.
    """
    if not _quickly_drawn(release) or not release_picture(release, WIDE):
        return b""
    if not DRAWING.acquire(timeout=PATIENCE):
        raise RefusedError(
            503,
            "the picture",
            "be drawn",
            "a server that is drawing others",
            "Send the same request again in a moment; nothing is charged for it.",
            wait=5,
        )
    try:
        page = BytesIO()
        release.plot().savefig(page, format="png")
    finally:
        DRAWING.release()
    return page.getvalue()


def _quickly_drawn(release: Release) -> bool:
    """Whether matplotlib is there, and draws a release in a second or two."""
    columns = release.columns()
    few = len(columns.values) <= MOST_NUMBERS_DRAWN
    few = few and (not columns.by or len(groups_of(columns)) <= MOST_GROUPS_DRAWN)
    return few and find_spec("matplotlib") is not None


def _style(picture: str) -> str:
    """Return the rules of the pages' style that a picture needs, in the colours of daylight."""
    used = {name for found in re.findall(r'class="([^"]*)"', picture) for name in found.split()}
    colours: Mapping[str, str] = {word: both[0] for word, both in COLOURS.items()}
    css = stylesheet()
    own = dict(re.findall(r"--([\w-]+): ([^;]+);", css.partition("@media")[0]))

    def needed(selector: str) -> bool:
        classes = CLASS.findall(selector)
        return selector == "svg text" or (bool(classes) and set(classes) <= used)

    rules = ""
    for selectors, body in RULE.findall(css):
        kept = [one for one in (part.strip() for part in selectors.split(",")) if needed(one)]
        if kept:
            rules += f"{', '.join(kept)} {{{body}}}\n"
    return re.sub(r"var\(--([\w-]+)\)", lambda found: {**own, **colours}[found[1]], rules)
