"""Every example in the README and in the manual does what it shows.

A fenced block of a page is python with ``>>>``, or commands, or data with a label that says so;
examples and commands are run, each page's in a folder of their own.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    ROOT / "lab" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
SHELL = ("sh", "console")
DATA = ("text", "toml", "json", "csv", "make", "diff")
NOT_RUN = (
    ("make", "sets up an environment of its own, takes hours, or runs these very tests"),
    ("pip", "asks a package index"),
)
"""First words of commands that pages show but that are not run here, and why."""
FENCE = re.compile(r"(?m)^(?P<bar>```+|~~~+)(?P<label>.*)\n(?P<text>(?:.*\n)*?)(?P=bar)[ \t]*$")
STATUS = re.compile(r"(?P<command>.*?)\s*# exits (?P<status>\d+)")


@dataclass(frozen=True)
class Block:
    line: int
    label: str
    text: str

    @property
    def fault(self):
        if self.label.startswith("{") or self.label in SHELL + DATA:
            return None
        if self.label == "python":
            prompts = re.search(r"^\s*>>> ", self.text, re.MULTILINE)
            return None if prompts else f"line {self.line}: python without >>> is not run"
        return f"line {self.line}: label it python, {', '.join(SHELL + DATA)}, got {self.label!r}"

    @property
    def script(self):
        lines = self.text.splitlines()
        if self.label == "console":
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return "".join(f"{command(line)}\n" for line in lines)


def blocks(text):
    return [
        Block(text.count("\n", 0, m.start()) + 1, m["label"].strip(), m["text"])
        for m in FENCE.finditer(text)
    ]


def command(line):
    """What is run: nothing for what is not run here; else the line, with the status it states."""
    if line.split(" ")[0] in dict(NOT_RUN):
        return ""
    if stated := STATUS.match(line):
        return f"code=0; {stated['command']} || code=$?; [ $code = {stated['status']} ]"
    return line


def run(script, folder):
    """Run commands as a person would who has this environment's programs at hand."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(  # noqa: S603 - the commands of our own pages
        ["/bin/bash", "-euo", "pipefail", "-c", script],
        cwd=folder, env=os.environ | {"PATH": path, "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def pages(fits):
    chosen = [page for page in PAGES if fits(page.read_text("utf-8"))]
    return pytest.mark.parametrize("page", chosen, ids=lambda page: str(page.relative_to(ROOT)))


@pages(lambda text: ">>> " in text)
def test_examples(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert doctest.testfile(str(page), module_relative=False, encoding="utf-8").failed == 0


@pages(lambda text: any(block.label in SHELL for block in blocks(text)))
def test_commands(page, tmp_path):
    shown = [block for block in blocks(page.read_text("utf-8")) if block.label in SHELL]
    done = run("".join(block.script for block in shown), tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr


@pages(lambda text: "```" in text)
def test_every_block_is_run_or_says_why_not(page):
    faults = [block.fault for block in blocks(page.read_text("utf-8")) if block.fault]
    assert not faults, "\n".join(faults)


def test_the_pages_hold_examples():
    parser = doctest.DocTestParser()
    for name in ("README", "docs/guides/mechanisms", "docs/guides/audit", "docs/guides/laws"):
        assert len(parser.get_examples((ROOT / f"{name}.md").read_text("utf-8"))) >= 4


def test_a_block_that_fails_is_seen(tmp_path):
    page = "```sh\ntrue\nfalse  # exits 1\n```\n\n```console\n$ exit 3  # exits 3\nsaid\n```\n"
    first, second = blocks(page)
    assert run(first.script, tmp_path).returncode == 0
    assert run(first.script.replace("1 ]", "2 ]"), tmp_path).returncode != 0
    assert run("false\ntrue", tmp_path).returncode != 0
    assert run("make no-such-thing", tmp_path).returncode != 0
    assert run(command("make no-such-thing"), tmp_path).returncode == 0
    assert "said" not in second.script


@pytest.mark.parametrize("label", ["", "bash", "python"])
def test_a_block_that_is_not_run_is_seen(label):
    assert blocks(f"```{label}\nsourdine mean\n```\n")[0].fault
