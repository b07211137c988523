"""ARCHITECTURE.md names the packages in their order, and the files that a mean enters."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import sourdine as sd

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
SOURCE = ROOT / "src" / "sourdine"
FILES = sorted(SOURCE.rglob("*.py"))
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


@pytest.mark.slow
def test_no_files_import_each_other_in_a_circle():
    spec = spec_from_file_location("shape", ROOT / "benchmarks" / "shape.py")
    shape = module_from_spec(spec)
    spec.loader.exec_module(shape)
    trees = {shape.module_of(path): ast.parse(path.read_text("utf-8")) for path in FILES}
    graph = {name: shape.imports(name, tree, set(trees)) for name, tree in trees.items()}
    assert sum(map(len, graph.values())) > len(graph) > 200
    assert shape.cycles(graph) == []
    grid, exact = "sourdine.grid", "sourdine.exact"  # the other way round than they are
    assert shape.cycles(graph | {exact: {*graph[exact], grid}}) != []


def test_the_path_of_a_mean_is_as_listed():
    """The shortest of five calls: in some, noise is drawn ahead or objects of others are freed."""
    x = np.random.default_rng(1).uniform(0, 100, 30_000)
    entered = []

    def enter(frame, event, _):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(SOURCE)):
            entered.append(str(Path(path).relative_to(SOURCE)))

    sd.mean(x, bounds=(0, 100), epsilon=1)
    paths = []
    for _ in range(5):
        entered.clear()
        before = sys.getprofile()
        sys.setprofile(enter)
        try:
            sd.mean(x, bounds=(0, 100), epsilon=1)
        finally:
            sys.setprofile(before)
        paths.append(list(dict.fromkeys(entered)))
    section = PAGE[PAGE.index("## The path") : PAGE.index("## Rules")]
    assert min(paths, key=len) == re.findall(r"(?m)^\| `([\w/]+\.py)`", section)


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


def module(path):
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def loaded(text, name, modules):
    """Return what is loaded before a module is: what it imports, and the packages around that."""
    around = {name.rsplit(".", i)[0] for i in range(1, name.count(".") + 1)}
    found = set()
    for node in ast.parse(text).body:
        for alias in node.names if isinstance(node, ast.ImportFrom) else ():
            full = f"{node.module}.{alias.name}"
            target = full if full in modules else node.module
            found |= {target.rsplit(".", i)[0] for i in range(target.count(".") + 1)} - around
    return (found & modules) - {name}


def test_every_module_can_be_imported_first():
    """Modules that load each other can be imported in one order only: none do."""
    texts = {module(path): path.read_text("utf-8") for path in SOURCE.rglob("*.py")}
    left = {name: loaded(text, name, set(texts)) for name, text in texts.items()}
    while ready := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in ready:
            del left[name]
    assert left == {}
