"""A report as Markdown and as one HTML page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, assert_never

from sourdine.errors import SourdineError
from sourdine.results import charts
from sourdine.results.formatting import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    """A drawing, as SVG that only our own palette and letters went into."""

    svg: str
    alt: str


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
    "ink": (charts.INK, "#e4e7eb"),
    "note": (charts.NOTE, "#a3afbb"),
    "grey": (charts.GREY, "#66727e"),
    "blue": (charts.BLUE, "#7db4dc"),
    "red": (charts.RED, "#e58a75"),
    "pale": (charts.PALE, "#2c4a60"),
    "soft": (charts.SOFT, "#44759a"),
    "rule": (charts.RULE, "#333d47"),
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
    style = STYLE.replace("LIGHT", light).replace("DARK", dark)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; img-src data:\">\n"
        f"<title>{_text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{article(title, sections)}\n</body>\n</html>\n"
    )


def article(title: str, sections: Sequence[Section]) -> str:
    """Return the report as a part of a page.

    Examples
    --------
    >>> from sourdine.reports.rendering import Section, Text
    >>> print(article("Ages", [Section("Unit", [Text("a <b> record")])]))
    <article><header><h1>Ages</h1></header>
    <nav><ol><li><a href="#s1">Unit</a></li></ol></nav>
    <section id="s1"><h2><span>1</span> Unit</h2><p>a &lt;b&gt; record</p></section></article>
    """
    links = "".join(
        f'<li><a href="#s{i}">{_text(section.title)}</a></li>'
        for i, section in enumerate(sections, 1)
    )
    parts = "\n".join(
        f'<section id="s{i}"><h2><span>{i}</span> {_text(section.title)}</h2>'
        f"{''.join(map(_html_block, section.blocks))}</section>"
        for i, section in enumerate(sections, 1)
    )
    return (
        f"<article><header><h1>{_text(title)}</h1></header>\n"
        f"<nav><ol>{links}</ol></nav>\n{parts}</article>"
    )


def _html_block(block: Block) -> str:
    match block:
        case Text(text):
            return f"<p>{_html_lines(text)}</p>"
        case Facts(pairs):
            facts = "".join(
                f"<div><dt>{_text(word)}</dt>{_stated(text)}</div>" for word, text in pairs
            )
            return f"<dl>{facts}</dl>" if pairs else ""
        case TextTable(heads, rows):
            return _table(heads, rows)
        case Picture(svg, alt):
            return f'<figure role="img" aria-label="{_text(alt)}">{svg}</figure>'
        case Subsection(title, blocks, aside):
            beside = f"<b>{_text(aside)}</b>" if aside else ""
            inner = "".join(map(_html_block, blocks))
            return f"<section class=part><h3>{_text(title)}{beside}</h3>{inner}</section>"
        case _:
            assert_never(block)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    right = [bool(rows) and all(map(NUMBER.match, cells)) for cells in zip(*rows, strict=True)]
    right += [False] * (len(heads) - len(right))
    brief = [max(map(len, cells)) <= SHORT for cells in zip(heads, *rows, strict=True)]
    sides = [
        " class=n" if side else " class=short" * short
        for side, short in zip(right, brief, strict=True)
    ]
    head = "".join(f"<th{m}>{_text(t)}</th>" for m, t in zip(sides, heads, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{m}>{_text(t)}</td>" for m, t in zip(sides, row, strict=True))
        + "</tr>"
        for row in rows
    )
    marks = " whole" * (len(rows) <= SMALL) + " wide" * (len(heads) >= WIDE)
    return (
        f'<div class="table{marks}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _stated(text: str) -> str:
    return f"<dd{' class=none' if text == 'not stated' else ''}>{_html_lines(text)}</dd>"


def _html_lines(text: str) -> str:
    return "<br>".join(map(escape, plain_lines(text)))


def _text(text: str) -> str:
    return escape(printable(text))


STYLE = """
:root{color-scheme:light dark;LIGHT--page:#fff;--card:#f7f9fa}
@media(prefers-color-scheme:dark){:root{DARK--page:#14191e;--card:#1b2229}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
 font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
article{max-width:54rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
h1{font-size:1.9em;line-height:1.2;margin:0 0 1.2rem;overflow-wrap:anywhere}
h2{font-size:1.3em;line-height:1.3;margin:2.8rem 0 .8rem;padding-top:1rem;
 border-top:1px solid var(--rule)}
h2 span{color:var(--blue);margin-right:.35em;font-variant-numeric:tabular-nums}
h3{display:flex;justify-content:space-between;gap:1rem;font-size:1.02em;margin:0 0 .7rem;
 overflow-wrap:anywhere}
h3 b{color:var(--blue);font-variant-numeric:tabular-nums;white-space:nowrap}
p{margin:.6rem 0;max-width:44rem;overflow-wrap:anywhere}
a{color:var(--blue)}
nav ol{columns:2;column-gap:2rem;margin:0;padding:0 0 0 1.6rem;font-size:.92rem}
nav li{break-inside:avoid;padding:.08rem 0}
nav a{text-decoration:none}
dl{margin:.8rem 0}
dl>div{display:grid;grid-template-columns:13rem 1fr;gap:1rem;padding:.38rem 0;
 border-bottom:1px solid var(--rule)}
dl>div:last-child{border-bottom:0}
dt{color:var(--note)}
dd{margin:0;overflow-wrap:anywhere}
dd.none{color:var(--note);font-style:italic}
.table{overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse;font-size:.92em;font-variant-numeric:tabular-nums}
th,td{text-align:left;vertical-align:top;padding:.3rem 1.4rem .3rem 0;
 border-bottom:1px solid var(--rule)}
th{color:var(--note);font-weight:600;white-space:nowrap}
th.n,td.n{text-align:right}
.n,.short{white-space:nowrap}
.part{background:var(--card);border:1px solid var(--rule);border-radius:.5rem;
 padding:1rem 1.2rem .8rem;margin:1rem 0}
.part p{color:var(--note);font-size:.88em;margin:.35rem 0}
.part dl{font-size:.88em}
.part dl>div{grid-template-columns:7rem 1fr;padding:.2rem 0;border:0}
figure{margin:.6rem 0}
svg{display:block;width:100%;max-width:40rem;height:auto}
@media(max-width:40rem){article{padding:1.5rem 1rem 3rem}nav ol{columns:1}
 dl>div,.part dl>div{grid-template-columns:1fr;gap:0}.part{padding:.8rem .8rem .6rem}
 .wide table{min-width:32rem}h1{font-size:1.5rem}}
@page{size:A4;margin:18mm 16mm}
@media print{:root{LIGHT--page:#fff;--card:#fff}
 body{font-size:9.5pt;line-height:1.45}article{max-width:none;padding:0}nav{display:none}
 h2{margin:1.6rem 0 .5rem;padding-top:.7rem}h2,h3{break-after:avoid}
 .part,.whole,figure,dl>div{break-inside:avoid}th,td{padding:.14rem 1.2rem .14rem 0}
 dl>div{padding:.2rem 0}.part{padding:.6rem .9rem .4rem;margin:.6rem 0}
 .table{overflow:visible}thead{display:table-header-group}tr{break-inside:avoid}
 svg{max-width:13cm}a{color:inherit}}
"""
