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
    assert "Choose them from public knowledge, before looking" in done.stderr
    done = sourdine("plan", "mean", "--epsilon", "1", "--bounds", "0", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "such as --n 1000" in done.stderr


@pytest.fixture
def ledger(sourdine, tmp_path):
    """A ledger of which 1 of 3 is spent."""
    (tmp_path / "people.csv").write_text("age\n" + "31\n" * 50)
    done = sourdine("count", "people.csv", "--epsilon", "1", "--ledger", "people.ledger",
                    "--total", "3", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return tmp_path / "people.ledger"


def test_a_plan_says_what_a_ledger_has_left(sourdine, ledger):
    before = ledger.read_bytes()
    done = sourdine("plan", "count", "--epsilon", "0.5", "--ledger", ledger)
    assert done.returncode == 0, done.stderr
    assert "remaining  epsilon 2, one record added or removed" in done.stdout
    assert "after      epsilon 1.5, one record added or removed" in done.stdout
    done = sourdine("plan", "count", "--epsilon", "0.5", "--ledger", ledger, "--json")
    facts = json.loads(done.stdout)
    assert facts["ledger"]["fits"] is True
    assert facts["ledger"]["remaining"]["epsilon"] == "2"
    assert facts["ledger"]["after"]["epsilon"] == "3/2"
    assert ledger.read_bytes() == before


def test_a_plan_says_that_a_ledger_would_refuse_it(sourdine, ledger):
    before = ledger.read_bytes()
    done = sourdine("plan", "count", "--epsilon", "2.5", "--ledger", ledger)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert (
        "The ledger would refuse this release: Budget exceeded: requested epsilon=2.5, 2 of 3"
        in said
    )
    assert "Use --epsilon 2 or less." in said
    facts = json.loads(
        sourdine("plan", "count", "--epsilon", "2.5", "--ledger", ledger, "--json").stdout
    )["ledger"]
    assert (facts["fits"], facts["after"], facts["largest"]) == (False, None, 2.0)
    assert ledger.read_bytes() == before


def test_a_plan_without_epsilon_means_what_a_ledger_has_left(sourdine, ledger):
    done = sourdine("plan", "count", "--ledger", ledger, "--json")
    assert json.loads(done.stdout)["epsilon"] == 2.0


def test_a_plan_goes_by_the_terms_of_its_ledger(sourdine, ledger, tmp_path):
    done = sourdine("plan", "count", "--epsilon", "1", "--relation", "add_remove", "--ledger",
                    ledger)  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = sourdine("plan", "count", "--epsilon", "1", "--relation", "substitute", "--ledger",
                    ledger)  # fmt: skip
    assert done.returncode == 2
    assert "--relation must be add_remove" in done.stderr
    done = sourdine("plan", "count", "--epsilon", "1", "--ledger", tmp_path / "none.ledger")
    assert done.returncode == 2
    assert "No such file" in done.stderr
    assert not (tmp_path / "none.ledger").exists()


def test_a_plan_of_a_ledger_with_delta(sourdine, ledger, tmp_path):
    done = sourdine("count", "people.csv", "--epsilon", "0.1", "--ledger", "delta.ledger",
                    "--total", "3", "--total-delta", "1e-6", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    where = ledger.with_name("delta.ledger")
    said = sourdine("plan", "count", "--epsilon", "0.1", "--rows", "1", "--ledger", where)
    assert said.returncode == 0, said.stderr
    assert "remaining  97.58% of epsilon 3, delta 1e-06" in said.stdout
    assert "after      9" in said.stdout
    facts = json.loads(sourdine("plan", "count", "--epsilon", "9", "--ledger", where,
                                "--json").stdout)["ledger"]  # fmt: skip
    assert facts["fits"] is False
    assert facts["remaining"]["share"] == pytest.approx(0.9758, abs=1e-4)
