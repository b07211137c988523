"""Every example in a docstring, in the README and in the guides does what it shows."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import sourdine

ROOT = Path(__file__).parent.parent
MODULES = sorted(m.name for m in walk_packages(sourdine.__path__, "sourdine."))
PAGES = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(import_module(name)).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_pages(page):
    assert doctest.testfile(str(page), module_relative=False).failed == 0


def test_the_pages_hold_examples():
    parser = doctest.DocTestParser()
    examples = {p.stem: len(parser.get_examples(p.read_text())) for p in PAGES}
    assert all(examples[name] >= 4 for name in ("README", "mechanisms", "audit", "laws"))
