"""Every test is in one tier, and the quick tier tests every package."""

from __future__ import annotations

import ast
import re
from itertools import combinations, product
from pathlib import Path
from pkgutil import iter_modules

import pytest

import sourdine
from tiers import assign, covering, spread

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text()
TIERS = ("slow", "simulation")
SIMULATED = "tests/central/test_fuzz.py"
"""`make simulate` runs these again, with more calls."""


def runs():
    """Yield the folder and the marks of every run of pytest in the Makefile, by its target."""
    variables = dict(re.findall(r"^(\w+) := (.*)$", MAKEFILE, re.MULTILINE))
    target = None
    for line in MAKEFILE.splitlines():
        if made := re.match(r"([\w-]+):(?!=)", line):
            target = made[1]
        while used := re.search(r"\$\((PYTEST|TESTS)\)", line):
            line = line.replace(used[0], variables[used[1]])  # noqa: PLW2901
        if line.startswith("\t") and "-m pytest" in line and SIMULATED not in line:
            words = line.partition("-m pytest")[2]
            named = re.sub(r"--dist \w+", "", words)  # it may be a folder too
            folders = [one for one in re.findall(r"[\w/]+", named) if (ROOT / one).is_dir()]
            marks = re.search(r'-m (?:"([^"]*)"|(\w+))', words)
            yield target, words, folders, (marks[1] or marks[2]) if marks else "True"


def test_no_target_chooses_by_names():
    assert len(list(runs())) == 8
    for target, words, folders, _ in runs():
        assert " -k" not in words, target
        assert "--ignore" not in words, target
        assert len(folders) == 1, target


def test_every_file_of_tests_is_run_by_one_target_for_each_tier():
    folders = {}
    for target, _, (folder,), marks in runs():
        folders.setdefault(folder, []).append((target, marks))
    ignored = {".venv", ".venv-spark", ".venv-bench", ".venv-demo", "build", "dist", "_build"}
    for path in ROOT.rglob("test_*.py"):
        inside = path.relative_to(ROOT)
        if ignored.isdisjoint(inside.parts):
            assert sum(inside.is_relative_to(folder) for folder in folders) == 1, inside
    for folder, chosen in folders.items():
        for marked in product((False, True), repeat=len(TIERS)):
            held = dict(zip(TIERS, marked, strict=True))
            ran = [name for name, marks in chosen if eval(marks, {}, held)]  # noqa: S307
            assert len(ran) == 1, (folder, held, ran)


def test_test_all_leaves_out_simulations_alone():
    needed = re.search(r"^test-all: ([^#]*)", MAKEFILE, re.MULTILINE)[1].split()
    assert {target for target, *_ in runs()} - set(needed) == {"simulate"}
    assert "lint" in needed
    ci = (ROOT / ".ci" / "run").read_text()
    assert "{ tier test && tier test-slow; }" in ci
    assert set(re.findall(r"tier ([\w-]+)", ci)) == set(needed)


# ---- what the quick tier tests


NOT_QUICK = re.compile(r"mark\.(slow|simulation|slow_cases\(\d+\)|grid\(quick=0\))(?!\w)")


def is_marked(nodes):
    """Whether a decorator, or what is assigned to ``pytestmark``, says that no case is quick."""
    return any(NOT_QUICK.search(re.sub(r"param\(.*", "", ast.unparse(one))) for one in nodes)


def is_quick(tree):
    """Whether a file has a test that `make test` runs."""
    whole = [
        one.value
        for one in tree.body
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "pytestmark"
    ]
    if is_marked(whole):
        return False
    tests = [
        one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name.startswith("test")
    ]
    return any(not is_marked(test.decorator_list) for test in tests)


def named(text):
    """Return the packages of the library that a file imports or names as ``sd.package``."""
    together = re.findall(r"^ *from sourdine import \(?([^)]*?)(?:\)|\n\S)", text, re.MULTILINE)
    listed = {name for names in together for name in re.findall(r"\w+", names)}
    return listed | set(re.findall(r"\b(?:sd|sourdine)\.(\w+)", text))


def test_every_package_has_a_quick_test():
    texts = [path.read_text() for path in (ROOT / "tests").rglob("test_*.py")]
    tested = {name for text in texts if is_quick(ast.parse(text)) for name in named(text)}
    packages = {found.name for found in iter_modules(sourdine.__path__)}
    assert packages - tested <= {"__main__", "version"}  # tests/cli runs them as a process


def test_a_package_without_a_test_is_found():
    text = "import sourdine as sd\nfrom sourdine import (\n    central,\n    plan,\n)\nsd.local.f()"
    assert named(text) == {"central", "plan", "local"}
    assert named("from sourdine.audit.checks import a\nfrom sourdine import errors\nx = 1") == {
        "audit",
        "errors",
    }


@pytest.mark.parametrize(
    ("text", "quick"),
    [
        ("def test_a(): pass", True),
        ("@pytest.mark.slow\ndef test_a(): pass", False),
        ("@pytest.mark.simulation\ndef test_a(): pass\ndef test_b(): pass", True),
        ("pytestmark = pytest.mark.slow\ndef test_a(): pass", False),
        ("pytestmark = [one, pytest.mark.simulation]\ndef test_a(): pass", False),
        ("@pytest.mark.parametrize('x', [1, 2])\ndef test_a(x): pass", True),
        ("@pytest.mark.slow_cases(2)\ndef test_a(x): pass", False),
        ("@pytest.mark.grid(quick=0)\ndef test_a(x): pass", False),
        ("@pytest.mark.grid\ndef test_a(x): pass", True),
        ("@pytest.mark.quick_cases(2)\ndef test_a(x): pass", True),
        ("def helper(): pass", False),
    ],
)
def test_a_file_without_a_quick_test_is_found(text, quick):
    assert is_quick(ast.parse(text)) is quick


# ---- how the cases of a grid are divided


@pytest.mark.parametrize("sizes", [(3,), (2, 2), (5, 2, 2), (4, 3, 3, 2), (13, 2, 2, 2, 3)])
def test_kept_cases_hold_every_value_and_every_pair(sizes):
    cases = list(product(*map(range, sizes)))[1:]  # a grid that lacks a case
    once, pairs = covering(cases, 1), covering(cases, 2, covering(cases, 1))
    for i, size in enumerate(sizes):
        held = {cases[k][i] for k in once}
        assert held == {case[i] for case in cases}
        assert len(held) <= size
    for i, j in combinations(range(len(sizes)), 2):
        assert {(cases[k][i], cases[k][j]) for k in pairs} == {(c[i], c[j]) for c in cases}
    assert once <= pairs
    if len(sizes) > 2:
        assert len(once) <= max(sizes) + 1
        assert len(pairs) < 0.75 * len(cases)


def test_no_case_is_lost_and_none_is_in_two_tiers():
    grid, few = _Mark(quick=1), _Mark(3)
    values = list(product(range(5), range(3), range(2)))
    cases = [_Case("grid", grid, {"a": a, "b": b, "c": c, "d": c}) for a, b, c in values]
    more = [_Case("quick_cases", few, {"a": i}) for i in range(9)]
    none = _Case("grid", _Mark(quick=0), {"a": 0, "c": 0, "d": 0}, "none[0]")
    assign([*cases[::2], *more, none, *cases[1::2]])
    assert none.tier == "slow"
    tiers = [case.tier for case in cases]
    assert tiers.count(None) == 5
    assert 15 - 5 <= tiers.count("slow") <= 13
    assert None not in {case.tier for case in more[1::4]}
    assert [case.tier for case in more].count(None) == 3
    assert {case.tier for case in more} == {None, "slow"}
    study = [_Case("slow_cases", _Mark(2), {"a": i}) for i in range(5)]
    assign(study)
    assert [case.tier for case in study] == ["slow", *["simulation"] * 3, "slow"]


def test_cases_are_spread_from_the_first_to_the_last():
    assert spread(9, 3) == {0, 4, 8}
    assert spread(2, 3) == {0, 1}
    assert spread(5, 1) == {0}


class _Mark:
    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs


class _Case:
    """A test case as pytest collects it."""

    def __init__(self, name, mark, params, nodeid=None):
        self.nodeid, self.tier = nodeid or f"{name}[{params}]", None
        self._name, self._mark = name, mark
        self.callspec = type("CallSpec", (), {"params": params})

    def iter_markers(self, _):
        return iter([_Mark("a"), _Mark(("c", "d"))])

    def get_closest_marker(self, name):
        return self._mark if name == self._name else None

    def add_marker(self, name):
        assert self.tier is None
        self.tier = name
