"""No ten lines of code stand twice."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "sourdine"
LINES = 10


def is_import(node):
    """Return whether names are imported, or listed for others to import."""
    listed = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    return listed or isinstance(node, (ast.Import, ast.ImportFrom))


def is_docstring(node):
    """Return whether a text stands alone."""
    alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return alone and isinstance(node.value.value, str)


def code_lines(text):
    """Return the numbered lines of code, without imports, docstrings, comments and blanks."""
    dropped = set()
    for node in ast.walk(ast.parse(text)):
        if is_import(node) or is_docstring(node):
            dropped |= set(range(node.lineno, node.end_lineno + 1))
    lines = ((i, " ".join(line.split())) for i, line in enumerate(text.splitlines(), 1))
    return [(i, line) for i, line in lines if line and line[0] != "#" and i not in dropped]


def repeated(files):
    """Return every pair of places of which ten lines of code are the same, the first of each run.

    Parameters
    ----------
    files
        The texts, by name.
    """
    places = defaultdict(list)
    for name, text in files.items():
        lines = code_lines(text)
        for start in range(len(lines) - LINES + 1):
            block = tuple(line for _, line in lines[start : start + LINES])
            places[block].append((name, start, lines[start][0]))
    pairs = {
        (a[:2], b[:2]): (f"{a[0]}:{a[2]}", f"{b[0]}:{b[2]}")
        for found in places.values()
        for i, a in enumerate(found)
        for b in found[i + 1 :]
    }
    before = {((f, i + 1), (g, j + 1)) for (f, i), (g, j) in pairs}
    return sorted(shown for pair, shown in pairs.items() if pair not in before)


@pytest.mark.slow
def test_no_ten_lines_of_code_stand_twice():
    files = {str(p.relative_to(SOURCE)): p.read_text("utf-8") for p in SOURCE.rglob("*.py")}
    assert len(files) > 200
    assert repeated(files) == []


BLOCK = "\n".join(f"x{i} = f({i})" for i in range(LINES))


def test_ten_lines_are_found_and_nine_are_not():
    other = BLOCK.replace("x0", "y0")
    spaced = BLOCK.replace("\n", "\n\n# a comment\n").replace(" = ", "  =  ")
    assert repeated({"a": BLOCK, "b": f"z = 1\n{spaced}"}) == [("a:1", "b:2")]
    assert repeated({"a": f"{BLOCK}\n{BLOCK}"}) == [("a:1", "a:11")]
    assert repeated({"a": BLOCK, "b": other}) == []
    longer = f"{BLOCK}\ny = 1"
    assert repeated({"a": longer, "b": longer}) == [("a:1", "b:1")]


def test_imports_and_docstrings_do_not_count():
    text = '"""' + "\n".join(["Text."] * 20) + '"""\nfrom a import (\n' + "b,\n" * 20 + ")\n"
    text += "__all__ = [\n" + "'b',\n" * 20 + "]\n"
    assert repeated({"a": text, "b": text}) == []
