"""Names as a picture can show them: in letters that a font has, and folded where they are long."""

from __future__ import annotations

from functools import cache
from textwrap import wrap
from typing import Any

from sourdine.presentation.texts import printable

__all__ = ["FOLD", "drawable", "families", "folded"]

FOLD, LINES = 28, 2
"""How many letters of a name stand in a line beside an axis, and how many lines it may take."""
FALLBACKS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC", "Noto Sans KR",
    "Source Han Sans", "PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo", "Microsoft YaHei",
    "Yu Gothic", "MS Gothic", "SimHei", "Malgun Gothic", "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei", "IPAGothic", "Droid Sans Fallback", "Arial Unicode MS",
    "Noto Sans Devanagari", "Noto Sans Thai", "Noto Sans Bengali", "Noto Sans Tamil",
)  # fmt: skip
"""Fonts with letters that the usual one lacks; those that are installed are used."""


def folded(name: str) -> str:
    """Return a name in lines that fit beside an axis; what is longer still ends in an ellipsis.

    Examples
    --------
    >>> print(folded("Strongly disagree with this statement"))
    Strongly disagree with this
    statement
    """
    text = drawable(printable(name))
    if len(text) <= FOLD:
        return text
    return "\n".join(wrap(text, FOLD, max_lines=LINES, placeholder="…"))


def drawable(text: str) -> str:
    r"""Return a text whose every letter some font has, and the code of each that none has."""
    lacking = {ord(c) for c in text}
    for letters in _fonts().values():
        lacking -= letters
    return "".join(ascii(c)[1:-1] if ord(c) in lacking else c for c in text) if lacking else text


def families(text: str) -> list[str]:
    """Return the fonts that a text needs, the usual one first; none if it needs no other."""
    fonts = _fonts()
    usual, *others = fonts
    needed = {ord(c) for c in text} - fonts[usual]
    found = [name for name in others if needed & fonts[name]]
    return [usual, *found] if found else []


def _fonts() -> dict[str, frozenset[int]]:
    """Return the letters of the usual font, and of those that are there besides."""
    from matplotlib.font_manager import FontProperties, findfont, fontManager  # noqa: PLC0415

    return _among(findfont(FontProperties()), FALLBACKS, len(fontManager.ttflist))


@cache
def _among(usual: Any, fallbacks: tuple[str, ...], known: int) -> dict[str, frozenset[int]]:  # noqa: ANN401
    """Look for fonts among the known ones; their number tells when there are more."""
    from matplotlib.font_manager import FontProperties, fontManager  # noqa: PLC0415

    del known
    there = {font.name: font.fname for font in fontManager.ttflist if font.name in fallbacks}
    named = FontProperties(fname=usual).get_name()
    paths = {named: usual, **{name: there[name] for name in fallbacks if name in there}}
    return {name: _letters(path) for name, path in paths.items()}


@cache
def _letters(path: Any) -> frozenset[int]:  # noqa: ANN401
    from matplotlib.font_manager import get_font  # noqa: PLC0415 - an extra, loaded late

    return frozenset(get_font(path).get_charmap())
