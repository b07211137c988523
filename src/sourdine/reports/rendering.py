"""A report as Markdown and as one HTML page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, assert_never

from markupsafe import Markup, escape

from sourdine.errors import SourdineError
from sourdine.results import figures, svg
from sourdine.results.formatting import printable
from sourdine.results.templates import environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jinja2 import Environment

    from sourdine.results.release import Release


# ---- What a report is made of, whichever way it is written: sections of texts, facts and tables --


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """A word and a text, line by line."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class TextTable:
    """Heads and rows of texts."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing, as SVG that only our own palette and letters went into.

    One with a title stands beside others.
    """

    svg: str
    alt: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Subsection:
    """Something of its own within a section, such as one release."""

    title: str
    blocks: Sequence[Text | Facts | TextTable | Picture]
    aside: str = ""


Block = Text | Facts | TextTable | Picture | Subsection


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: Sequence[Block]


# ---- Pictures of releases that stand inside a page and take its colours, by light and by dark ----


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
WIDTH, HALF = 640, 320
"""The pixels of a picture, and of one beside another."""


def drawn(release: Release, alt: str) -> list[Picture]:
    """Return the pictures of a release; none where there is nothing to draw.

    Parameters
    ----------
    release
        What was published.
    alt
        What it is a picture of.
    """
    columns = release.columns()
    panels = 0 < len(columns.by) < len(columns.labels)  # several numbers of each group
    fits = columns.printed is not None or panels
    if not (len(columns.values) >= FEWEST and (len(columns.values) <= MOST or fits)):
        return []
    try:
        charts = release.charts()
    except SourdineError:  # no intervals to draw
        return []
    wide = WIDTH if len(charts) == 1 else HALF
    return [
        Picture(svg.draw(chart, wide), alt, title)
        for title, chart in charts.items()
        if chart.mark != "dots" or len(chart.x.names) <= MOST
    ]


# ---- A report as Markdown, in which names that strangers chose mark nothing ----------------------


MARKS = re.compile(r"([\\`*_{}\[\]<>|#~$&])")
LEADING = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)", re.MULTILINE)


def markdown(title: str, sections: Sequence[Section]) -> str:
    r"""Return the report as Markdown.

    Examples
    --------
    >>> from sourdine.reports.rendering import Facts, Section
    >>> print(markdown("Ages", [Section("Unit", [Facts([("Unit", "<b>record</b>")])])]))
    # Ages
    <BLANKLINE>
    ## Unit
    <BLANKLINE>
    - **Unit**: \<b\>record\</b\>
    <BLANKLINE>
    """
    parts = [f"# {_one_line(title)}"]
    for section in sections:
        parts.append(f"## {_one_line(section.title)}")
        parts += [text for block in section.blocks for text in _block(block)]
    return "\n\n".join(parts) + "\n"


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text, each as it may be shown."""
    return [printable(line) for line in text.replace("\r\n", "\n").split("\n")]


def _block(block: Block) -> Iterator[str]:
    match block:
        case Text(text):
            yield _lines(text, "\n")
        case Facts(pairs):
            if pairs:
                facts = [(_one_line(word), _lines(text, "\n  ")) for word, text in pairs]
                yield "\n".join(f"- **{word}**: {text}" for word, text in facts)
        case TextTable(heads, rows):
            lines = [list(map(_one_line, row)) for row in (heads, *rows)]
            lines.insert(1, ["---"] * len(heads))
            yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
        case Subsection(title, blocks):
            yield f"### {_one_line(title)}"
            for each in blocks:
                yield from _block(each)
        case Picture():
            return
        case _:
            assert_never(block)


def _one_line(text: str) -> str:
    return MARKS.sub(r"\\\1", printable(text))


def _lines(text: str, between: str) -> str:
    lines = between.join(MARKS.sub(r"\\\1", line) for line in plain_lines(text))
    return LEADING.sub(r"\1\\\2", lines)


# ---- A report as one page: no network, light and dark, fit for a phone and for paper -------------


NUMBER = re.compile(r"^-?[\d,]+(\.\d+)?(e[+-]?\d+)?%?( ±.*)?$|^\[[-\d., e+]*\]$|^$")
"""A cell that stands to the right."""
WIDE = 4
"""From this many columns on, a table is pushed sideways on a phone, not squeezed."""
SHORT = 24
"""Cells of up to this many letters stay in one line."""
SMALL = 6
"""Up to this many rows, a table stays on one sheet of paper."""


def page(title: str, sections: Sequence[Section]) -> str:
    """Return a whole page that needs nothing else."""
    light, dark = (
        "".join(f"--{word}:{both[i]};" for word, both in COLOURS.items()) for i in (0, 1)
    )
    style = files("sourdine.reports").joinpath("web", "report.css").read_text("utf-8")
    style = style.replace("LIGHT", light).replace("DARK", dark)
    facts = {"title": title, "style": style, "article": article(title, sections)}
    return f"{_rendered('page.html', **facts)}\n"


def article(title: str, sections: Sequence[Section]) -> Markup:
    """Return the report as a part of a page.

    Examples
    --------
    >>> from sourdine.reports.rendering import Section, Text
    >>> print(article("Ages", [Section("Unit", [Text("a <b> record")])]))
    <article><header><h1>Ages</h1></header>
    <nav><ol><li><a href="#s1">Unit</a></li></ol></nav>
    <section id="s1"><h2><span>1</span> Unit</h2><p>a &lt;b&gt; record</p></section></article>
    """
    return _rendered("article.html", title=title, sections=sections)


def _rendered(template: str, **facts: object) -> Markup:
    return Markup(_templates().get_template(template).render(facts))  # noqa: S704 - it escapes


@cache
def _templates() -> Environment:
    made = environment("sourdine.reports")
    made.filters |= {"text": _text, "lines": _html_lines, "sides": _sides}
    made.filters["kind"] = lambda block: type(block).__name__
    made.globals |= {"SMALL": SMALL, "WIDE": WIDE}
    return made


def _sides(table: TextTable) -> list[str]:
    """Return the class of each column: numbers stand to the right, short texts in one line."""
    heads, rows = table.heads, table.rows
    right = [bool(rows) and all(map(NUMBER.match, cells)) for cells in zip(*rows, strict=True)]
    right += [False] * (len(heads) - len(right))
    brief = [max(map(len, cells)) <= SHORT for cells in zip(heads, *rows, strict=True)]
    return ["n" if side else "short" * short for side, short in zip(right, brief, strict=True)]


def _html_lines(text: str) -> Markup:
    return Markup("<br>").join(plain_lines(text))


def _text(text: str) -> Markup:
    return Markup(escape(printable(text)))  # noqa: S704 - escaped
