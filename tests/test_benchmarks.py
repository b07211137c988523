"""Scripts of ``benchmarks/`` find what they import of the library and of the tests."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "benchmarks").glob("*.py"))
PEERS = {"diffprivlib", "multi_freq_ldpy", "opendp", "pure_ldp", "pyspark", "schemathesis"}


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_scripts_find_what_they_import(script, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(script.parent), *sys.path])
    try:
        runpy.run_path(str(script))
    except ModuleNotFoundError as error:
        if error.name not in PEERS:
            raise
        pytest.skip(f"{error.name} is not installed")
