"""Pictures as plain SVG: no library, no script, every text escaped; colours are the page's own."""

from __future__ import annotations

from html import escape

__all__ = ["drawing", "text", "whisker"]


def drawing(inside: str, width: float, height: float, told: str) -> str:
    """Return a picture of a size, and what is told of it to whoever does not see it.

    Examples
    --------
    >>> drawing("", 20, 10, "<nothing>")
    '<svg viewBox="0 0 20 10" role="img" aria-label="&lt;nothing&gt;" direction="ltr"></svg>'
    """
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(told)}" '
        f'direction="ltr">{inside}</svg>'
    )


def whisker(x1: float, x2: float, y: float) -> str:
    """Return an interval that lies, with its ends."""
    across = f'<line class="end" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return across + "".join(
        f'<line class="end" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 5:.1f}" y2="{y + 5:.1f}"/>'
        for x in (x1, x2)
    )


def text(words: str, x: float, y: float, anchor: str = "start", kind: str = "tick") -> str:
    """Return words at a place.

    Examples
    --------
    >>> text("a < b", 1, 2)
    '<text class="tick" x="1.0" y="2.0" text-anchor="start">a &lt; b</text>'
    """
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}>{escape(words)}</text>'
