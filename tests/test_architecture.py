"""ARCHITECTURE.md names the packages in their order, and the files that a mean enters."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import numpy as np

import sourdine as sd

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
SOURCE = ROOT / "src" / "sourdine"
ALONE = {"__main__", "answers", "version"}
"""Modules of a few lines that the page leaves out."""


def test_packages_stand_in_the_order_of_their_imports():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = [re.split(r" [:|] ", layer) for layer in contracts["contracts"][0]["layers"]]
    ranks = {name: rank for rank, layer in enumerate(reversed(layers)) for name in layer}
    listed = re.findall(r"\(src/sourdine/(\w+)(?:\.py)?\)", PAGE)
    assert set(listed) == set(ranks) - ALONE
    order = [ranks[name] for name in listed]
    assert order == sorted(order)


def test_links_and_the_picture_name_what_is_there():
    links = re.findall(r"\((src/[\w/.]+)\)", PAGE)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
    picture = (ROOT / "docs" / "images" / "architecture.svg").read_text("utf-8")
    drawn = set(re.findall(r'font-weight="600" font-size="15">(\w+)<', picture))
    assert drawn == {Path(link).stem for link in links}


def test_the_path_of_a_mean_is_as_listed():
    x = np.random.default_rng(1).uniform(0, 100, 30_000)
    entered = []

    def enter(frame, event, _):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(SOURCE)):
            entered.append(str(Path(path).relative_to(SOURCE)))

    sd.mean(x, bounds=(0, 100), epsilon=1)
    before = sys.getprofile()
    sys.setprofile(enter)
    try:
        sd.mean(x, bounds=(0, 100), epsilon=1)
    finally:
        sys.setprofile(before)
    section = PAGE[PAGE.index("## The path") : PAGE.index("## Rules")]
    assert list(dict.fromkeys(entered)) == re.findall(r"(?m)^\| `([\w/]+\.py)`", section)


def test_packages_list_their_modules():
    listed = 0
    for path in SOURCE.rglob("*/__init__.py"):
        rows = re.findall(r"(?m)^``(\w+)``", path.read_text("utf-8").split('"""')[1])
        below = [
            p for p in path.parent.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()
        ]
        names = sorted(p.stem for p in below if p.stem != "__init__")
        assert not rows or rows == names, path
        assert rows or len(names) < 4, path
        listed += len(rows)
    assert listed > 200
