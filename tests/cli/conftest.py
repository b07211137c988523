from __future__ import annotations

import os
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from subprocess import CompletedProcess

import pytest

from sourdine.cli import main

WIDE = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}


@pytest.fixture(scope="session")
def process():
    """Run the command line in a process of its own."""

    def run(*words, cwd=None):
        command = [sys.executable, "-c", "from sourdine.cli import main; main()", *map(str, words)]
        return subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, cwd=cwd, check=False, env=os.environ | WIDE
        )

    return run


@pytest.fixture(scope="session")
def sourdine():
    """Run the command line in this process, in a folder, with what is piped into it."""

    def run(*words, cwd=None, piped=None):
        given = piped if isinstance(piped, bytes) else (piped or "").encode()
        out, err = TextIOWrapper(BytesIO(), "utf-8"), TextIOWrapper(BytesIO(), "utf-8")
        with pytest.MonkeyPatch.context() as patch:
            for name, value in WIDE.items():
                patch.setenv(name, value)
            if cwd is not None:
                patch.chdir(cwd)
            patch.setattr(sys, "argv", ["sourdine", *map(str, words)])
            patch.setattr(sys, "stdin", TextIOWrapper(BytesIO(given), "utf-8"))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            with pytest.raises(SystemExit) as ended:
                main()
        said = [stream.detach().getvalue().decode() for stream in (out, err) if not stream.flush()]
        return CompletedProcess(words, ended.value.code or 0, *said)

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
