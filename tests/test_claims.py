"""A claim is a test: every test that a docstring names exists."""

from __future__ import annotations

import re
from pathlib import Path

from sourdine.mechanisms import registered

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "sourdine"
LAB = ROOT / "lab" / "src" / "sourdine_lab"
NAMED = re.compile(r"``(test_\w+)(?:\[([\w-]+)\])?``")


def test_every_named_test_exists():
    for source, folders in ((SOURCE, ["tests"]), (LAB, ["tests", "lab/tests"])):
        files = (p for folder in folders for p in (ROOT / folder).rglob("test_*.py"))
        defined = {name for p in files for name in re.findall(r"def (test_\w+)", p.read_text())}
        claims = {name for p in source.rglob("*.py") for name, _ in NAMED.findall(p.read_text())}
        assert claims, "docstrings name tests"
        assert claims <= defined, f"named but not there: {sorted(claims - defined)}"


def test_every_named_specimen_is_registered():
    known = {s.name for s in registered()}
    for path in (SOURCE / "mechanisms").glob("*.py"):
        for name, specimen in NAMED.findall(path.read_text()):
            assert not specimen or specimen in known, f"{path.name}: {name}[{specimen}]"


def test_every_mechanism_makes_a_checked_claim():
    for path in (SOURCE / "mechanisms").glob("*.py"):
        text = path.read_text()
        if "register(" in text and path.name != "registry.py":
            assert "*Claim*" in text, path.name
            assert "test_exact_worst_case[" in text, path.name
