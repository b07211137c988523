"""Every mutant that ``make mutants`` runs can still be planted, and the results are about them."""

from __future__ import annotations

import ast
import json
import sys
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules

import pytest

import sourdine

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "sourdine"
FEWEST = 3
SHARE = 0.95


def program():
    """Return the program that runs the mutants as a module."""
    spec = spec_from_file_location("run_mutants", ROOT / "tests" / "mutants" / "run.py")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


RUN = program()
MUTANTS = RUN.read()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_a_mutant_can_be_planted(mutant):
    text = (SOURCE / mutant.file).read_text("utf-8")
    wrong = mutant.apply(text)  # raises unless the old text occurs once
    ast.parse(wrong)
    assert wrong != text
    assert mutant.id.startswith(f"{mutant.package}-")
    assert mutant.description.endswith(".")
    assert mutant.tests
    named = (*mutant.tests, *mutant.near)
    assert [name for name in named if not (ROOT / name.partition("::")[0]).exists()] == []


def test_the_text_of_a_mutant_must_occur_once():
    one = RUN.Mutant("grid-x", "grid.py", "kind", "What is wrong.", "a = 1", "a = 2")
    assert one.apply("a = 1\nb = 1") == "a = 2\nb = 1"
    for text in ("b = 1", "a = 1\na = 1"):
        with pytest.raises(ValueError, match="grid-x"):
            one.apply(text)


def test_every_package_has_mutants():
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS)
    numbers = Counter(mutant.package for mutant in MUTANTS)
    for found in iter_modules(sourdine.__path__):
        fewest = FEWEST if found.ispkg else found.name not in {"__main__", "answers", "version"}
        assert numbers[found.name] >= fewest, found.name


def test_the_first_failure_is_found_in_what_pytest_prints():
    printed = (
        "F\n=== short test summary info ===\n"
        "FAILED tests/a/test_b.py::test_c[x - y] - assert 1 == 2\n"
        "ERROR tests/a/test_d.py - ImportError: no\nERROR tests/a/test_e.py::test_f\n1 failed"
    )
    assert RUN.failed(printed) == [
        "tests/a/test_b.py::test_c[x - y]",
        "tests/a/test_d.py",
        "tests/a/test_e.py::test_f",
    ]
    assert RUN.failed("3 passed") == []


def test_what_is_run_ends_with_all_tests():
    mutant = MUTANTS[0]
    tiers = [(tier, tests) for tier, _, tests in RUN.stages(mutant)]
    assert [tier for tier, _ in tiers] == ["quick", "quick", "quick", "slow", "slow"]
    assert [tests for _, tests in tiers if tests == ("tests",)] == [("tests",)] * 2
    assert tiers[0][1] == mutant.tests
    module = f"sourdine/{mutant.file}".removesuffix(".py").replace("/", ".")
    assert tiers[1][1][0] == f"tests/test_docstrings.py::test_docstrings[{module}]"


def test_a_result_is_forgotten_with_its_mutant(tmp_path, monkeypatch):
    first, second = MUTANTS[:2]
    kept = {"digest": first.digest, "tier": "quick", "test": "tests/test_a.py::test_b"}
    monkeypatch.setattr(RUN, "RESULTS", tmp_path / "results.json")
    assert RUN.recorded(MUTANTS) == {}
    RUN.write({first.id: kept, second.id: {**kept, "digest": "another"}, "gone": kept})
    assert RUN.recorded(MUTANTS) == {first.id: kept}


def test_the_summary_counts_what_any_test_finds():
    tiers = ["quick"] * 19 + ["slow", "none"]
    some = MUTANTS[: len(tiers)]
    results = {one.id: {"tier": tier} for one, tier in zip(some, tiers, strict=True)}
    said = RUN.summary(MUTANTS, results)
    assert said == "The quick tests find 19 of the 20 mutants that any test finds: 95.0%."


def test_the_recorded_results_show_what_the_quick_tests_find():
    results = json.loads((ROOT / "tests" / "mutants" / "results.json").read_text())["mutants"]
    tiers = Counter(one["tier"] for one in results.values())
    assert tiers.keys() <= {"quick", "slow", "none"}
    assert tiers["quick"] >= SHARE * tiers.total()
    for one in results.values():
        assert (one["test"] is None) is (one["tier"] == "none")
