"""What ``make dist`` built: what it holds, and that it runs where nothing else is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
OURS = {"dev", "docs", "bench"}
"""Extras for those who work on Sourdine itself."""
PACKAGES = {"sourdine": ROOT / "src" / "sourdine", "sourdine_lab": ROOT / "lab/src/sourdine_lab"}


def built(pattern):
    (path,) = DIST.glob(pattern)
    return path


def facts(wheel):
    with ZipFile(wheel) as files:
        (name,) = (n for n in files.namelist() if n.endswith(".dist-info/METADATA"))
        return message_from_bytes(files.read(name))


class Room:
    """A virtual environment of its own, and an empty folder to run things in."""

    def __init__(self, folder):
        self.bin, self.here = folder / "venv" / "bin", folder / "here"
        self.here.mkdir()
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)  # noqa: S603

    def install(self, what):
        pip = ["-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-compile"]
        done = self.run("python", *pip, "-c", str(ROOT / "constraints.txt"), what)
        assert done.returncode == 0, done.stderr

    def run(self, program, *words):
        bare = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        return subprocess.run(  # noqa: S603 - what was just built
            [self.bin / program, *words], cwd=self.here, env={**bare, "NO_COLOR": "1"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    """The library's wheel alone."""
    room = Room(tmp_path_factory.mktemp("bare"))
    room.install(str(built("sourdine-*.whl")))
    return room


@pytest.fixture(scope="module")
def furnished(room):
    """The library's wheel with every extra that a person may ask for."""
    wheel = built("sourdine-*.whl")
    extras = sorted(set(facts(wheel).get_all("Provides-Extra")) - OURS)
    room.install(f"{wheel}[{','.join(extras)}]")
    return room


@pytest.mark.parametrize("name", PACKAGES)
def test_a_wheel_holds_its_package_and_nothing_else(name):
    with ZipFile(built(f"{name}-*.whl")) as files:
        held = {n for n in files.namelist() if ".dist-info/" not in n}
        licences = [n for n in files.namelist() if n.endswith("/LICENSE")]
    source = PACKAGES[name]
    there = (p.relative_to(source.parent) for p in source.rglob("*") if p.is_file())
    assert held == {p.as_posix() for p in there if "__pycache__" not in p.parts}
    assert licences


@pytest.mark.parametrize("name", PACKAGES)
def test_a_source_distribution_builds_the_same_wheel(name, tmp_path):
    source = built(f"{name}-*.tar.gz")
    pip = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", "-w", tmp_path, source]
    subprocess.run(pip, check=True)  # noqa: S603 - what was just built
    (again,) = tmp_path.glob("*.whl")
    with ZipFile(again) as one, ZipFile(built(f"{name}-*.whl")) as other:
        assert set(one.namelist()) == set(other.namelist())


def test_the_librarys_source_distribution_holds_no_lab():
    with tarfile.open(built("sourdine-*.tar.gz")) as files:
        names = files.getnames()
    assert not [name for name in names if "sourdine_lab" in name]
    assert [name for name in names if "/tests/" in name]


def test_alone_the_library_is_imported_and_says_what_to_install(room):
    assert room.run("python", "-c", "import sourdine, sourdine.local").returncode == 0
    assert room.run("python", "-c", "import sourdine_lab").returncode == 1
    (room.here / "ages.csv").write_text("age\n" + "40\n" * 50)
    terms = ["--bounds", "0", "120", "--step", "1", "--epsilon", "1"]
    assert room.run("sourdine", "mean", "ages.csv", *terms).returncode == 0
    for words, hint in (
        (("lab", "list"), "pip install . ./lab"),
        (("density", "ages.csv", "--bounds", "0", "120", "--epsilon", "1"), "'.[density]'"),
        (("demo",), "'.[plot]'"),
    ):
        told = room.run("sourdine", *words)
        assert told.returncode == 2, told.stderr
        assert hint in told.stderr


def test_with_its_extras_the_demo_runs(furnished):
    shown = furnished.run("sourdine", "demo")
    assert shown.returncode == 0, shown.stderr
    assert list((furnished.here / "demo").glob("*.png"))


def test_the_lab_joins_in(furnished):
    furnished.install(str(built("sourdine_lab-*.whl")))
    listed = furnished.run("sourdine", "lab", "list")
    assert listed.returncode == 0, listed.stderr
    assert "canesse-2" in listed.stdout
