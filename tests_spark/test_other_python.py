"""Executors that run another Python than the driver, as under ``venv/bin/python script.py``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from socket import socket

import pytest

SCRIPT = Path(__file__).with_name("other_python.py")
ALL = "mean,unit,find,wide,text"


@pytest.fixture(scope="module")
def pythons(tmp_path_factory):
    """Return two interpreters without Sourdine: one with nothing, one with NumPy and pyarrow."""
    import numpy as np
    import pyarrow as pa

    found = {}
    for name in ("bare", "arrow"):
        folder = tmp_path_factory.mktemp(name)
        venv.create(folder, symlinks=True)
        found[name] = folder / "bin" / "python3"
    packages = next((found["arrow"].parents[1] / "lib").glob("python*")) / "site-packages"
    for module in (np, pa):
        own = Path(module.__file__).parent
        for part in (own, own.with_name(f"{own.name}.libs")):
            if part.exists():
                (packages / part.name).symlink_to(part)
    return found


def _free_port():
    with socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def run(names, python, *, chosen, remote=False):
    """Return what the script printed, with an interpreter that is chosen or first on the path."""
    env = {name: v for name, v in os.environ.items() if not name.startswith("PYSPARK_")}
    env["PATH"] = f"{python.parent}{os.pathsep}{env['PATH']}"
    if chosen:
        env["PYSPARK_PYTHON"] = str(python)
    words = [sys.executable, SCRIPT, names, *([_free_port()] if remote else [])]
    done = subprocess.run(  # noqa: S603 - our own script
        words, env=env, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def check(found):
    for name, (ours, theirs) in found.items():
        assert ours == theirs, name
        assert not isinstance(ours, str), name


def test_another_interpreter_first_on_the_path_does_not_matter(pythons):
    """On one machine functions run under the driver's interpreter."""
    check(run(ALL, pythons["bare"], chosen=False))


@pytest.mark.parametrize(
    "remote",
    [False, pytest.param(True, marks=pytest.mark.simulation)],
    ids=["classic", "connect"],
)
def test_executors_without_the_package_are_sent_it(remote, pythons):
    check(run("unit" if remote else ALL, pythons["arrow"], chosen=True, remote=remote))


@pytest.mark.parametrize(
    "remote",
    [False, pytest.param(True, marks=pytest.mark.simulation)],
    ids=["classic", "connect"],
)
def test_an_interpreter_without_numpy_is_named(remote, pythons):
    """Before a row is read; what Spark's own expressions count needs no Python at all."""
    found = run("mean,unit", pythons["bare"], chosen=True, remote=remote)
    assert found["mean"][0] == found["mean"][1]
    version = ".".join(map(str, sys.version_info[:2]))
    told = (
        f"the Python of Spark's executors must be Python {version} with numpy and pyarrow, "
        f"got {pythons['bare']} without numpy and pyarrow. "
    )
    typed = (
        f"On every executor, run {pythons['bare']} -m pip install numpy pyarrow."
        if remote
        else f"Before Spark starts, set os.environ['PYSPARK_PYTHON'] = {sys.executable!r}."
    )
    assert found["unit"][0] == found["sanitised"][0] == told + typed
