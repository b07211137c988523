"""A claim is a test: every test that a docstring names exists, and so do objects and files."""

from __future__ import annotations

import re
import tokenize
from pathlib import Path
from pkgutil import resolve_name

import pytest

from sourdine.audit import every_mechanism, registered

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "sourdine"
LAB = ROOT / "lab" / "src" / "sourdine_lab"
NAMED = re.compile(r"``(test_\w+)(?:\[[\w.-]+\])?``")
SPECIMEN = re.compile(r"``(?:test_exact_worst_case)?\[([\w.-]+)\]``")
OBJECT = re.compile(r"(?<![`:])`~?([A-Za-z_][\w.]*)`(?![`_])")
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst")]
FILE = re.compile(r"(?<![\w/.-])(?:[\w-]+/)+\w+\.py\b")


def test_every_named_test_exists():
    for source, folders in ((SOURCE, ["tests", "tests_spark"]), (LAB, ["tests", "lab/tests"])):
        files = (p for folder in folders for p in (ROOT / folder).rglob("test_*.py"))
        defined = {name for p in files for name in re.findall(r"def (test_\w+)", p.read_text())}
        claims = {name for p in source.rglob("*.py") for name in NAMED.findall(p.read_text())}
        assert claims, "docstrings name tests"
        assert claims <= defined, f"named but not there: {sorted(claims - defined)}"


def test_every_named_specimen_is_registered():
    known = {s.name for s in registered()}
    files = [*SOURCE.rglob("*.py"), *LAB.rglob("*.py")]
    named = {name for path in files for name in SPECIMEN.findall(path.read_text())}
    assert len(named) > 30
    assert named <= known, sorted(named - known)


def test_every_mechanism_makes_a_checked_claim():
    for mechanism in every_mechanism():
        said = mechanism.__doc__ or ""
        assert NAMED.search(said), f"{mechanism.__name__} names no test of its claim"


def strangers(sources):
    """Return the objects that docstrings and comments name, and that no code has."""
    code, named = set(), set()
    for path in sources:
        with tokenize.open(path) as file:
            for token in tokenize.generate_tokens(file.readline):
                if token.type == tokenize.NAME:
                    code.add(token.string)
                elif token.type in (tokenize.COMMENT, tokenize.STRING):
                    named |= {(name, path) for name in OBJECT.findall(token.string)}
        code |= {path.stem, path.parent.name}
    return sorted(f"{name} in {path.name}" for name, path in named if not known(name, code))


def known(name, code):
    """Return whether a name is one of code; a whole path must lead to an object."""
    if not name.startswith(("sourdine.", "sourdine_lab.")):
        return code.issuperset(name.split("."))
    try:
        resolve_name(name)
    except (AttributeError, ImportError):
        return False
    return True


@pytest.mark.slow
def test_every_named_object_exists(tmp_path):
    assert strangers([*SOURCE.rglob("*.py"), *LAB.rglob("*.py")]) == []
    (tmp_path / "page.py").write_text("# See `gone`, `sourdine.gone`, `sourdine.mean`, `page`.\n")
    assert strangers([tmp_path / "page.py"]) == ["gone in page.py", "sourdine.gone in page.py"]
    named = {name for path in PAGES for name in OBJECT.findall(path.read_text())}
    named = {name for name in named if name.startswith(("sourdine.", "sourdine_lab."))}
    files = {"sourdine.db", "sourdine.surveys", "sourdine.schema"}
    assert {name for name in named if not known(name, set())} == files


def test_every_named_file_exists():
    pages = [*PAGES, *SOURCE.rglob("*.py"), *LAB.rglob("*.py"), *(ROOT / "benchmarks").glob("*.py")]
    named = {name for path in pages for name in FILE.findall(path.read_text())}
    folders = (ROOT, ROOT / "src", SOURCE, SOURCE / "local")
    written = {"src/sourdine/central/trimmed_mean.py"}  # by readers of add-a-statistic.md
    assert len(named) > 30
    assert {n for n in named if not any((to / n).exists() for to in folders)} == written
