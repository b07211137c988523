"""Programs that some tests need: Node, a browser, PostgreSQL."""

from __future__ import annotations

import os
import shutil

import pytest

__all__ = ["found", "missing"]


def found(program: str, variable: str, what: str, *, also: str = "") -> str:
    """Return where a program is; without it a test is skipped, or fails if it is required."""
    path = shutil.which(program) or shutil.which(program, path=also)
    if path is None:
        missing(f"{program} was not found, so {what}", variable)
    return path


def missing(what: str, variable: str) -> None:
    """Skip a test, or fail if the variable says that what it needs is required."""
    said = f"{what}; {variable}=required makes this a failure"
    (pytest.fail if os.environ.get(variable) == "required" else pytest.skip)(said)
