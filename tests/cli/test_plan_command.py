"""``sourdine plan``: spends nothing, reads no file."""

from __future__ import annotations

import json

import pytest

from sourdine import plan


@pytest.mark.slow
def test_epsilon_for_an_error(sourdine):
    words = ("--bounds", "0", "500000", "--step", "1", "--n", "100000")
    done = sourdine("plan", "mean", *words, "--error", "100", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    planned = plan.mean(bounds=(0, 500_000), step=1, n=100_000, error=100)
    assert facts == json.loads(planned.to_json())
    done = sourdine("plan", "mean", *words, "--epsilon", facts["epsilon"])
    assert f"error stays within {planned.error:.4g}" in done.stdout


@pytest.mark.slow
def test_every_statistic_can_be_planned(sourdine, tmp_path):
    pytest.importorskip("matplotlib")
    done = sourdine("plan", "histogram", "--bins", "0,18,65", "--error", "20", "--plot",
                    tmp_path / "x.html")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Nothing was spent" in done.stdout
    assert "<svg" in (tmp_path / "x.html").read_text()


@pytest.mark.slow
def test_wrong_plans_are_explained(sourdine):
    done = sourdine("plan", "mean", "--epsilon", "1", "--n", "10")
    assert done.returncode == 2
    assert "Choose them from what everybody knows, before looking" in done.stderr
    done = sourdine("plan", "mean", "--epsilon", "1", "--bounds", "0", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "such as --n 1000" in done.stderr
