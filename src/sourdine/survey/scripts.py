"""The scripts of a page as they stand in it: no comments, no blanks that do nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

__all__ = ["ask_script", "device_script", "rounds_script", "source", "style"]

FOR_NODE = "// ---- in Node"
"""Begins the last part of the device."""
QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)""")
"""A text or a template: what stands in a line as it is."""
BLANKS = re.compile(
    r" *(=>|[=!<>]==?|\|\||&&|\?\?|[=<>{}()\[\],;:?*|&]) *|(?<=[\w)\]]) ([-+/]) (?=[\w(\[])"
)
"""Signs around which blanks do nothing; where + and - meet another sign, they stay."""


def source(name: str) -> str:
    """Return a file of the folder ``web``."""
    return files("sourdine.survey").joinpath("web", name).read_text(encoding="utf-8")


def compact(script: str) -> str:
    r"""Return a script without comments, imports, exports, indents and blanks around signs.

    Names and statements stay as they are, so that what is left can be read and compared with its
    source.

    Examples
    --------
    >>> compact('// why\nexport function f(x) {\n  return x === " = " ? x - -1 : 0;\n}\n')
    'function f(x){return x===" = "?x - -1:0;}\n'
    """
    lines = map(str.strip, script.splitlines())
    kept = (line for line in lines if line and not line.startswith(("//", "/**", "import {")))
    text = "".join(_tight(re.sub(r"; // .*$", ";", line)) + "\n" for line in kept)
    return re.sub(r"(?<=[{(,])\n|(?<=[;}])\n(?=\})", "", text)


def _tight(line: str) -> str:
    parts = QUOTED.split(line.removeprefix("export "))
    return "".join(part if i % 2 else BLANKS.sub(r"\1\2", part) for i, part in enumerate(parts))


@lru_cache(1)
def device_script() -> str:
    """Return the device as a page holds it; the replay of records runs this very text."""
    return compact(source("device.mjs").split(FOR_NODE)[0])


@lru_cache(1)
def rounds_script() -> str:
    """Return what the device needs beside for a survey of several rounds."""
    return compact(source("rounds.mjs"))


@lru_cache(1)
def ask_script() -> str:
    """Return what asks, as a page holds it."""
    return compact(source("ask.mjs"))


@lru_cache(1)
def style() -> str:
    """Return how a page looks."""
    return source("page.css")
