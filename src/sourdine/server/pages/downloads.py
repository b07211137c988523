"""A release as a file: its numbers as CSV, its picture as SVG, everything public as JSON."""

from __future__ import annotations

import csv
import re
from io import StringIO
from typing import TYPE_CHECKING

from starlette.responses import Response

from sourdine.answers import Release
from sourdine.presentation.texts import json_text
from sourdine.release.answer import plain
from sourdine.server import releasing
from sourdine.server.pages.release_pictures import release_picture
from sourdine.server.pages.rendering import stylesheet
from sourdine.server.store import NotGrantedError
from sourdine.session.filing.pictures import COLOURS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.server.pages.visiting import Visit

__all__ = ["TYPES", "as_csv", "as_svg", "download"]

TYPES = {"csv": "text/csv", "svg": "image/svg+xml", "json": "application/json"}
WIDE = 720
RULE = re.compile(r"^([^@{}]+?) *\{([^{}]*)\}$", re.MULTILINE)
CLASS = re.compile(r"\.([\w-]+)")


def download(visit: Visit) -> Response:
    """Answer with one release as a file to be saved."""
    number, form = visit.call.path["number"], visit.call.path["format"]
    first = releasing.first_number(visit.call, number)
    stored = visit.at(number=first).ask(releasing.one_release)
    text = ""
    if stored["answers"]:
        facts = stored["answers"][int(number) - stored["number"]]
        release = Release.from_dict(facts)
        match form:
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
