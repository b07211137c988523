from __future__ import annotations

import os
import subprocess
import sys

import pytest

from sourdine.cli import main


@pytest.fixture(scope="session")
def sourdine():
    """Run the command line in a process of its own."""

    def run(*words, cwd=None, piped=None):
        command = [sys.executable, "-c", "from sourdine.cli import main; main()", *map(str, words)]
        wide = {**os.environ, "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
        return subprocess.run(  # noqa: S603
            command, capture_output=True, text=not isinstance(piped, bytes), cwd=cwd, check=False,
            env=wide, input=piped,
        )  # fmt: skip

    return run


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command in this process: status, standard output, standard error."""
    monkeypatch.setenv("COLUMNS", "100")

    def typed(*words):
        monkeypatch.setattr(sys, "argv", ["sourdine", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        seen = capsys.readouterr()
        return ended.value.code or 0, seen.out, seen.err

    return typed
