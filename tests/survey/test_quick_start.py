"""The quick start of the manual, word for word, from a new file to results, with Chromium."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sourdine.survey.page import words

MANUAL = Path(__file__).parents[2] / "docs" / "tasks" / "run-a-survey.md"
EN = words("en")


def commands():
    """Return what the manual says to type, without comments."""
    part = MANUAL.read_text(encoding="utf-8").partition("## From a file to results")[2]
    blocks = re.findall(r"```(?:sh|text)\n(.*?)```", part.partition("\n## ")[0], re.DOTALL)
    lines = [line.partition("#")[0].split() for block in blocks for line in block.splitlines()]
    assert all(line[:2] == ["sourdine", "survey"] for line in lines)
    return [line[1:] for line in lines]


@pytest.fixture
def type_in(tmp_path):
    """Return what runs a command in a folder that was empty."""

    def run(*line):
        return subprocess.run(  # noqa: S603 - this very program
            [sys.executable, "-m", "sourdine", *line],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip

    return run


def answered(chromium, address, asked):
    """Answer a page in a browser; return where it sent the record."""
    context = chromium.new_context(locale="en-GB")
    tab = context.new_page()
    tab.on("request", lambda request: asked.append((request.method, request.url)))
    tab.goto(address)
    tab.get_by_label("by bus").check()
    tab.get_by_label("How many minutes did it take?").fill("25")
    tab.locator("#draw").click()
    tab.locator("#send").click()
    tab.get_by_text(EN["accepted"]).wait_for()
    context.close()


@pytest.mark.slow
def test_the_quick_start_works_word_for_word(type_in, tmp_path, chromium):
    typed = commands()
    assert [line[1] for line in typed] == ["new", "check", "plan", "open", "serve", "results",
                                           "close"]  # fmt: skip
    for line in typed:
        if line[1] != "serve":
            done = type_in(*line)
            assert done.returncode == 0, done.stderr
            continue
        # another port than the one the survey was frozen with, which may be taken here
        serving = subprocess.Popen(  # noqa: S603 - this very program
            [sys.executable, "-m", "sourdine", *line, "--port", "0"],
            cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            said = [serving.stderr.readline().split() for _ in range(3)]
            (_, address), (_, shown), (*_, sent) = said
            assert sent == f"{address}reports"
            assert shown == f"{address}results"
            asked = []
            answered(chromium, address, asked)
            assert [url for method, url in asked if method == "POST"] == [sent]
            assert all(url.startswith(address) for _, url in asked)
        finally:
            serving.send_signal(signal.SIGINT)
            rest = serving.communicate(timeout=30)[1]
        assert "Stopped: 1 people are counted" in rest
    told = json.loads(type_in("survey", "results", "commute.db", "--json").stdout)
    assert (told["people"], told["state"]) == (1, "closed")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "page", "open"])
def test_no_placeholder_is_frozen(type_in, tmp_path, command):
    type_in("survey", "new")
    file = tmp_path / "survey.toml"
    text, changed = re.subn(r'(?m)^send_to = ".*"', 'send_to = "https://example.org/r"',
                            file.read_text())  # fmt: skip
    assert changed == 1
    file.write_text(text)
    done = type_in("survey", command, "survey.toml")
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert "send_to must be the address of your own collector" in said
    assert 'send_to = "http://127.0.0.1:8000/reports"' in said
    assert {one.name for one in tmp_path.iterdir()} == {"survey.toml"}
