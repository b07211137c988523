"""Ledgers with a delta or rho in a shell: what fits, what is left, and the words of refusals."""

from __future__ import annotations

import json

import pytest

from sourdine.session import Session

AGE = ("-c", "age", "--bounds", "0", "120", "--step", "1")
NEW = ("--ledger", "x.ledger", "--total", "3", "--total-delta", "1e-6")
OLD = ("--ledger", "x.ledger")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "20,f\n30,m\n" * 50)
    return str(path)


@pytest.mark.slow
def test_a_share_is_left(run, csv):
    _, out, _ = run("mean", csv, *AGE, "-e", "0.5", *NEW)
    assert "% of epsilon 3, delta 1e-06, one record added or removed" in out
    status, out, _ = run("count", csv, "-e", "0.1", *OLD, "--json")
    left = json.loads(out)["ledger"]["remaining"]
    assert status == 0
    assert left["share"] == float(Session(csv, ledger="x.ledger").remaining.share)
    assert set(left["largest"]) == {"pure", "laplace", "range"}


@pytest.mark.slow
def test_a_ledger_shows_shares_and_what_fits(run, csv):
    run("mean", csv, *AGE, "-e", "0.5", *NEW)
    run("count", csv, "-e", "0.1", *OLD)
    _, out, _ = run("ledger", "x.ledger")
    assert "spent so far" in out
    assert "epsilon so far" not in out
    said = " ".join(out.split())
    assert "total epsilon 3, delta 1e-06, one record added or removed remaining " in said
    assert "fits epsilon 2.4 for anything, " in said
    facts = json.loads(run("ledger", "x.ledger", "--json")[1])
    assert facts["account"] == "renyi"
    assert facts["total"]["delta"] == 1e-6
    assert [charge["number"] for charge in facts["charges"]] == [1, 2]
    assert all(charge["parts"] and charge["price"] for charge in facts["charges"])
    assert facts["remaining"]["share"] == 1 - facts["charges"][-1]["share"]


@pytest.mark.slow
def test_a_refusal_names_what_to_type(run, csv):
    run("mean", csv, *AGE, "-e", "2", *NEW)
    status, _, err = run("count", csv, "-e", "2.5", *OLD)
    assert status == 3
    assert "at most 1 fits into the 33.33% left of" in err
    assert run("count", csv, "-e", "1", *OLD)[0] == 0
    status, _, err = run("count", csv, "--by", "sex", "--keys", "unknown", "--delta", "1e-7",
                         "-e", "0.1", *OLD)  # fmt: skip
    assert (status, "1e-09 of the reserve of" in err) == (3, True)


@pytest.mark.slow
def test_a_reserve_is_said_once(run, csv):
    unknown = ("count", csv, "--by", "sex", "--keys", "unknown", "-e", "0.5", "--delta", "4e-7")
    assert run(*unknown, *NEW, "--reserve", "5e-7")[0] == 0
    status, _, err = run("count", csv, "-e", "0.1", *OLD, "--reserve", "1e-7")
    assert (status, "--reserve must be 5e-7, as the ledger x.ledger" in err) == (2, True)
    status, _, err = run(*unknown, "--ledger", "y", *NEW[2:], "--reserve", "1e-5")
    assert (status, "--reserve must be at most delta" in err) == (2, True)


def test_a_refused_first_release_leaves_no_ledger(run, csv, tmp_path):
    first = ("describe", csv, "-e", "1", "--ledger", "x.ledger", "--total", "1")
    status, _, err = run(*first)
    assert (status, "but the total has no delta. Create the ledger with" in err) == (3, True)
    assert "--total-delta 1e-06 and --reserve 1e-06" in err
    assert run("count", csv, "-e", "2", "--ledger", "x.ledger", "--total", "1")[0] == 3
    assert not (tmp_path / "x.ledger").exists()
    assert run(*first, "--total-delta", "1e-6", "--reserve", "1e-6")[0] == 0


@pytest.mark.slow
def test_a_total_of_rho(run, csv):
    words = ("--ledger", "r.ledger", "--total-rho", "0.5")
    _, out, _ = run("count", csv, "-e", "0.5", *words)
    assert "75% of rho 0.5, one record added or removed" in out
    _, out, _ = run("ledger", "r.ledger")
    assert "rho 0.5, one record added or removed" in out
    assert json.loads(run("ledger", "r.ledger", "--json")[1])["total"]["rho"] == 0.5
    status, _, err = run("count", csv, "-e", "0.5", *words, "--total", "3")
    assert (status, "--total must be omitted if the total is rho" in err) == (2, True)
    status, _, err = run("count", csv, "-e", "0.5", "--total-rho", "1")
    assert (status, "--total-rho must be omitted without --ledger" in err) == (2, True)


@pytest.mark.slow
def test_without_a_delta_all_is_as_it_was(run, csv):
    run("count", csv, "-e", "0.25", "--ledger", "p.ledger", "--total", "1")
    _, out, _ = run("ledger", "p.ledger")
    assert "epsilon so far" in out
    assert "fits" not in out
    assert json.loads(run("ledger", "p.ledger", "--json")[1])["remaining"]["epsilon"] == 0.75
