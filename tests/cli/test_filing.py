"""``sourdine ledger --report`` and ``sourdine disclose``."""

from __future__ import annotations

import json

import pytest

from sourdine import Session
from sourdine.cli.ledger import _facts, opened
from sourdine.cli.output import save
from sourdine.errors import ExistingFileError

ASKED = ("--ledger", "x.ledger", "--total", "5")


@pytest.fixture
def ledger(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("age\n" + "30\n40\n50\n" * 200)
    run("count", "people.csv", "-e", "1", *ASKED)
    run("mean", "people.csv", "-c", "age", "--bounds", "0,120", "--step", "1", "-e", "1", *ASKED)
    (tmp_path / "about.toml").write_text('title = "Ages"\npurpose = "Planning"\n')
    return tmp_path / "x.ledger"


def test_an_entry_that_exists_is_kept(tmp_path):
    out = tmp_path / "entry.yaml"
    out.write_text("old")
    with pytest.raises(ExistingFileError, match="File already exists"):
        save(out, "new", overwrite=False)
    assert out.read_text() == "old"
    save(out, "new", overwrite=True)
    assert out.read_text() == "new"


def test_the_json_of_a_ledger_says_what_is_left(tmp_path):
    Session([30, 40, 50], epsilon=3, ledger=tmp_path / "x.ledger").count(epsilon=1)
    ledger = opened(tmp_path / "x.ledger")
    facts = _facts(ledger, ledger.history)
    assert [facts[name]["epsilon"] for name in ("total", "remaining")] == [3, 2]
    assert [charge["cost"]["epsilon"] for charge in facts["charges"]] == [1]


@pytest.mark.slow
def test_a_ledger_shows_what_was_answered(run, ledger):
    _, out, _ = run("ledger", ledger.name, "--json")
    answers = [charge["answer"]["value"] for charge in json.loads(out)["charges"]]
    assert answers[0] == pytest.approx(600, abs=60)
    _, out, _ = run("ledger", ledger.name)
    assert str(answers[0]) in out


@pytest.mark.slow
def test_answers_need_not_be_kept(run, ledger):
    run("count", "people.csv", "-e", "1", "--no-keep", *ASKED)
    _, out, _ = run("ledger", ledger.name)
    assert "none kept" in out
    _, out, _ = run("ledger", ledger.name, "--json")
    assert [charge["answer"] is None for charge in json.loads(out)["charges"]] == [
        *(False, False, True)
    ]
    status, _, err = run("count", "people.csv", "-e", "1", "--no-keep")
    assert status == 2
    assert "--no-keep must be omitted without --ledger" in err


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_a_report_is_written(run, ledger, ending):
    words = ("ledger", ledger.name, "--report", f"r.{ending}", "--about", "about.toml")
    assert run(*words) == (0, "", f"Report: r.{ending}\n")
    assert "Planning" in (ledger.parent / f"r.{ending}").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--report", "r.pdf"), "--report must end in .html, .md or .json"),
        (("--report", "no/r.md"), "could not be written"),
        (("--about", "about.toml"), "--about must be omitted without --report"),
        (("--report", "r.md", "--about", "none.toml"), "No such file: 'none.toml'"),
    ],
)
def test_a_wrong_report_is_refused(run, ledger, words, said):
    status, out, err = run("ledger", ledger.name, *words)
    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.slow
def test_an_entry_is_written_and_checked(run, ledger):
    pytest.importorskip("yaml")
    status, out, err = run("disclose", ledger.name, "--about", "about.toml")
    assert status == 0
    assert 'intended_use: "Planning"' in out
    assert "Tier 1. Still to be said" in err
    assert "deployment.basic.description" in err.replace("\n", "")
    assert run("disclose", ledger.name, "-o", "d.yaml")[0] == 0
    status, out, _ = run("disclose", "--check", "d.yaml")
    assert (status, "as they must be" in out) == (0, True)
    status, _, err = run("disclose", ledger.name, "-o", "d.yaml")
    assert status == 2
    assert "File already exists: " in err
    assert "--overwrite" in err
    assert run("disclose", ledger.name, "-o", "d.yaml", "--overwrite")[0] == 0
    entry = ledger.parent / "d.yaml"
    entry.write_text(entry.read_text("utf-8").replace("tier: 1", "tier: 9"), "utf-8")
    status, out, err = run("disclose", "--check", "d.yaml")
    assert (status, out) == (1, "")
    assert "tier must be one of 1, 2, 3, got 9" in err


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("x.ledger", "--check", "d.yaml")])
def test_an_entry_is_written_or_checked(run, ledger, words):
    assert ledger.exists()
    status, _, err = run("disclose", *words)
    assert status == 2
    assert "LEDGER must be the path of a ledger" in err


@pytest.mark.slow
def test_what_cannot_be_read_is_refused(run, ledger):
    pytest.importorskip("yaml")
    assert run("disclose", "--check", "none.yaml")[0] == 2
    assert run("disclose", "none.ledger")[0] == 2
    (ledger.parent / "d.yaml").write_bytes(b"\xff")
    status, _, err = run("disclose", "--check", "d.yaml")
    assert (status, "UTF-8" in err) == (1, True)
