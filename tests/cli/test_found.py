"""Bounds that nobody knows, in a shell."""

from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture
def people(tmp_path):
    wages = np.random.default_rng(1).lognormal(10, 1, 1500).round().astype(int)
    rows = "".join(f"{i // 3},{wage}\n" for i, wage in enumerate(wages))
    (tmp_path / "people.csv").write_text("who,wage\n" + rows)
    return str(tmp_path / "people.csv")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("--bounds find", "find"),
        ("--bounds=find", "find"),
        ("--bounds 0 none", [0, None]),
        ("--bounds none,1e9", [None, 10**9]),
        ("--bounds 0 1e9 find", [0, 10**9, "find"]),
        ("--bounds=0,1e9,find", [0, 10**9, "find"]),
    ],
)
def test_bounds_are_left_open_in_words(run, people, words, asked):
    code, out, _ = run("mean", people, "-c", "wage", *words.split(), "-e", "1", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["question"]["bounds"] == asked
    low, high = found["drawn"]["bounds"]
    assert low < high


@pytest.mark.slow
def test_the_file_may_stand_behind_find(run, people):
    code, out, _ = run("sum", "--bounds", "find", people, "-c", "wage", "-e", "1")
    assert code == 0
    assert "found outward from 0" in out


def test_leaving_bounds_out_is_answered_with_both_ways(run, people):
    code, _, err = run("mean", people, "-c", "wage", "-e", "1")
    assert code == 2
    assert "Use --bounds 0 120; if they are not known, --bounds find" in " ".join(err.split())


@pytest.mark.slow
def test_rows_are_found_and_a_plan_says_what_that_costs(run, people):
    unit = ("--unit", "who", "--rows", "find", "-e", "1")
    _, out, _ = run("count", people, *unit, "--json")
    assert json.loads(out)["drawn"]["rows"] in (2, 3, 4)
    _, out, _ = run("plan", "sum", "--bounds", "0", "none", *unit)
    assert "found bounds times found rows" in " ".join(out.split())
