from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def sourdine():
    """Run the command line in a process of its own."""

    def run(*words, cwd=None):
        command = [sys.executable, "-c", "from sourdine.cli import main; main()", *map(str, words)]
        wide = {**os.environ, "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
        return subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, cwd=cwd, check=False, env=wide
        )

    return run
