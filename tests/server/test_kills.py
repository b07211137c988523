"""Workers that are killed at every stage charge once and answer once: a small trial of it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "server_kills.py"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_killed_workers_charge_once_and_answer_once(address):
    given = ["--kills", "18", "--fits", "45"]
    if address.startswith("postgres"):
        given += ["--store", address]
    done = subprocess.run(  # noqa: S603
        [sys.executable, SCRIPT, *given], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) kills \(", done.stdout)[1]) >= 18
    assert "BROKEN" not in done.stdout
    assert re.search(r"sum of the charges *│ *1 │", done.stdout)
