"""Formulas as MathML, made when the manual is built: pages need no script and no network.

A browser draws MathML well if it has a font for mathematics; STIX Two is put beside the pages for
readers who have none.
"""

from __future__ import annotations

import re
import shutil
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

FENCES = {"lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "langle": "⟨", "rangle": "⟩"}
SIZED = re.compile(rf"(\\[bB]igg?[lr]?)\s*\\({'|'.join(FENCES)})\b")
"""Fences of a given size, which the converter knows as characters only."""
MENDED = (
    # a bar as wide as what it covers
    (r"(?<=<mo stretchy=\"true\">)&#x000AF;(?=</mo>)", "&#x0203E;"),
    # bars and strokes stand close to what they touch
    (r"<mo([^>]*)>(&#x0007C;|&#x0002F;|&#x02016;)</mo>", r'<mo\1 lspace="0" rspace="0">\2</mo>'),
    # a word is no sign between two things: a thin space, and none before a bracket
    (r"<mo[^>]*>([A-Za-z]{2,})</mo>", r"<mi>\1</mi>"),
    (r"(?<!<msu[bp]>)(?<!<msubsup>)(<mi>[A-Za-z]{2,}</mi>)(?!<mo|</)",
     r'\1<mspace width="0.167em"/>'),
    (r"(?<=</m[in]>)(<mi>[A-Za-z]{2,}</mi>)", r'<mspace width="0.167em"/>\1'),
    # what belongs below max, min and their like stands there in a formula of its own
    (r"<msub><mi>(max|min|sup|inf|lim)</mi>(<mrow>(?:(?!</?mrow>).)*</mrow>)</msub>",
     r'<munder><mo movablelimits="true" lspace="0" rspace="0.167em">\1</mo>\2</munder>'),
    # a prime is high and small of itself
    (r"<msup>(<mi>[^<]*</mi>)<mi>(&#x0203[2-4];)</mi></msup>",
     r'<mrow>\1<mo lspace="0" rspace="0">\2</mo></mrow>'),
    (r"<msubsup>(<mi>[^<]*</mi>)((?:(?!<msubsup>).)*?)<mi>(&#x0203[2-4];)</mi></msubsup>",
     r'<msub><mrow>\1<mo lspace="0" rspace="0">\3</mo></mrow>\2</msub>'),
)  # fmt: skip


@cache
def mathml(latex: str, display: str) -> str:
    r"""Return a formula as MathML.

    Examples
    --------
    >>> mathml("x", "inline")[49:]
    'display="inline"><mrow><mi>x</mi></mrow></math>'
    """
    made = convert(SIZED.sub(lambda m: m[1] + FENCES[m[2]], latex), display=display)
    if unknown := re.search(r">\\\w+", made):
        raise ExtensionError(f"a formula must use known commands, got {unknown[0][1:]} in {latex}.")
    for found, instead in MENDED:
        made = re.sub(found, instead, made)
    return made


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(mathml(aligned(node.astext()), "block"))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def aligned(latex: str) -> str:
    r"""Return a formula that is aligned where it has several lines.

    Examples
    --------
    >>> aligned(r"a &= b \\ &= c")
    '\\begin{split}a &= b \\\\ &= c\\end{split}'
    """
    latex = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{split}", latex)
    bare = re.sub(r"\\begin\{(\w+\*?)\}.*?\\end\{\1\}", "", latex, flags=re.DOTALL)
    return rf"\begin{{split}}{latex}\end{{split}}" if r"\\" in bare else latex


def _give_font(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        with as_file(files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf") as font:
            shutil.copy(font, Path(app.outdir, "_static"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("build-finished", _give_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
