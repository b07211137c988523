"""Processes of pytest-xdist end at once, and nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LEFT = """
import atexit

class Left:
    def __del__(self):
        print("cleared", flush=True)

left = Left()
atexit.register(print, "saved")
"""
END = """
from types import SimpleNamespace
from worker_exit import end_worker

end_worker(SimpleNamespace({worker}))
print("went on")
"""
CONFTEST = """
import pytest
from worker_exit import end_worker

@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    if hasattr(config, "workerinput"):
        print("ended", file=open("ended", "a"))
    end_worker(config)
"""


def run(*words, folder):
    env = {name: v for name, v in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(  # noqa: S603 - our own code
        [sys.executable, *words],
        env={**env, "PYTHONPATH": str(HERE)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_worker_saves_and_clears_nothing(tmp_path):
    done = run("-c", LEFT + END.format(worker="workerinput={}"), folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "saved\n", "")


def test_other_processes_go_on(tmp_path):
    done = run("-c", LEFT + END.format(worker=""), folder=tmp_path)
    assert done.stdout.split("\n")[:2] == ["went on", "saved"]


@pytest.mark.slow
@pytest.mark.parametrize("fails", [False, True])
def test_every_result_is_reported(fails, tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('i', range(20))\n"
        f"def test_it(i):\n    assert i != {11 if fails else 99}\n"
    )
    done = run("-m", "pytest", "-q", "-n2", "--rootdir=.", "test_it.py", folder=tmp_path)
    assert done.returncode == fails, done.stdout
    assert ("1 failed, 19 passed" if fails else "20 passed") in done.stdout
    assert (tmp_path / "ended").read_text() == "ended\n" * 2
    assert "crash" not in done.stdout
