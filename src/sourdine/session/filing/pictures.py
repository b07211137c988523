"""Pictures of releases that stand inside a page and take its colours, by light and by dark."""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING

from sourdine.errors import SourdineError
from sourdine.presentation import figures
from sourdine.session.filing.blocks import Picture

if TYPE_CHECKING:
    from sourdine.release import Release

__all__ = ["COLOURS", "drawn"]

FEWEST, MOST = 2, 60
"""Of how many numbers there is a picture: one alone needs none, thousands fit in a curve only."""
COLOURS = {
    "ink": (figures.INK, "#e4e7eb"),
    "note": (figures.NOTE, "#a3afbb"),
    "grey": (figures.GREY, "#66727e"),
    "blue": (figures.BLUE, "#7db4dc"),
    "red": (figures.RED, "#e58a75"),
    "pale": (figures.PALE, "#2c4a60"),
    "soft": (figures.SOFT, "#44759a"),
    "rule": (figures.RULE, "#333d47"),
}
"""The palette by light, and what takes its place in the dark."""
NAMES = re.compile(r'(id="|href="#|url\(#)')


def drawn(release: Release, name: str, alt: str) -> Picture | None:
    """Return the picture of a release; None where there is none, or nothing to draw with.

    Parameters
    ----------
    release
        What was published.
    name
        A word that no other picture of the page has.
    alt
        What it is a picture of.
    """
    columns = release.columns()
    panels = 0 < len(columns.by) < len(columns.labels)  # several numbers of each group
    fits = columns.printed is not None or panels
    if not (len(columns.values) >= FEWEST and (len(columns.values) <= MOST or fits)):
        return None
    drawing = StringIO()
    try:
        figure = release.plot()
        figure.savefig(drawing, format="svg", transparent=True, metadata={"Date": None})
    except SourdineError:  # no intervals to draw, or no matplotlib
        return None
    return Picture(_within_a_page(drawing.getvalue(), name), alt)


def _within_a_page(svg: str, name: str) -> str:
    """Return a drawing whose names are its own and whose colours are those of the page."""
    text = NAMES.sub(rf"\g<1>{name}-", svg[svg.index("<svg") :])
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for word, (light, _) in COLOURS.items():
        text = text.replace(f": {light}", f": var(--{word})")
    return text
