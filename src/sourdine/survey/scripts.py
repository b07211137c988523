"""The scripts of a page as they stand in it: no comments, no indents, nothing for Node."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

__all__ = ["device_script", "source"]

FOR_NODE = "// ---- in Node"
"""Begins the last part of the device."""


def source(name: str) -> str:
    """Return a file of the folder ``web``."""
    return files("sourdine.survey").joinpath("web", name).read_text(encoding="utf-8")


def compact(script: str) -> str:
    r"""Return a script without lines of comment, blank lines, indents, imports and exports.

    Nothing within a line changes but the word ``export`` at its beginning, so what is left can be
    compared with the source line by line.

    Examples
    --------
    >>> compact("// why\nexport function f(x) {\n  return x;\n}\n")
    'function f(x) {\nreturn x;\n}\n'
    """
    lines = map(str.strip, script.splitlines())
    kept = (line for line in lines if line and not line.startswith(("//", "/**", "import {")))
    return "".join(line.removeprefix("export ") + "\n" for line in kept)


@lru_cache(1)
def device_script() -> str:
    """Return the device as a page holds it; the replay of records runs this very text."""
    return compact(source("device.mjs").split(FOR_NODE)[0])
