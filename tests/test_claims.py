"""A claim is a test: every test that a docstring names exists."""

from __future__ import annotations

import re
from pathlib import Path

from sourdine.audit import every_mechanism, registered

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "sourdine"
LAB = ROOT / "lab" / "src" / "sourdine_lab"
NAMED = re.compile(r"``(test_\w+)(?:\[[\w.-]+\])?``")
SPECIMEN = re.compile(r"``(?:test_exact_worst_case)?\[([\w.-]+)\]``")


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
