"""``sourdine survey``: from a new file to a page."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from importlib import import_module

import pytest
from typer.testing import CliRunner

from sourdine.cli.app import app, narrowed
from sourdine.errors import MissingExtraError


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*words, status=0):
        typed = ["survey", *words]
        done = CliRunner().invoke(narrowed(app, typed), typed)
        assert done.exit_code == status, done.output
        return done

    return call


@pytest.mark.slow
def test_from_new_to_page(run, tmp_path):
    assert "sourdine survey check survey.toml" in run("new").stderr
    said = " ".join(run("check", "survey.toml").stdout.split())
    assert "can be at most 74% sure of any yes or no" in said
    html = run("page", "survey.toml")
    written = (tmp_path / "commute.html").read_bytes()
    assert html.stdout == f"{sha256(written).hexdigest()}  commute.html\n"
    assert sha256(written).hexdigest() in said
    assert "way" in run("plan", "survey.toml", "--n", "500").stdout
    planned = json.loads(run("plan", "survey.toml", "--n", "500", "--json").stdout)
    assert planned["n"] == 500
    assert set(planned["questions"]) == {"way", "minutes", "late", "wishes"}


def test_a_new_survey_is_a_toml_file(run, tmp_path):
    failed = run("new", "survey.json", status=1)
    assert "must end in .toml, got survey.json" in str(failed.exception)
    assert not (tmp_path / "survey.json").exists()


@pytest.mark.slow
def test_nothing_is_overwritten_unasked(run, tmp_path):
    run("new")
    (tmp_path / "survey.toml").write_text("mine")
    failed = run("new", status=1)
    assert "File already exists: 'survey.toml'." in str(failed.exception)
    assert (tmp_path / "survey.toml").read_text() == "mine"
    run("new", "--overwrite")
    run("page", "survey.toml")
    failed = run("page", "survey.toml", status=1)
    assert "File already exists: " in str(failed.exception)
    run("page", "survey.toml", "--overwrite")
    run("page", "survey.toml", "-o", "other.html")


@pytest.mark.slow
def test_errors_speak_shell(run):
    run("new")
    for number, said in (("x", "--n must be a number, got x."),
                         ("3", "--n must be from 50 to 1000000, got 3. Use --n 1000."),
                         ("2.5", "--n must be a whole number")):  # fmt: skip
        assert str(run("plan", "survey.toml", "--n", number, status=1).exception).startswith(said)
    failed = run("check", "none.toml", status=1)
    assert str(failed.exception).startswith("No such file: ")


@pytest.mark.slow
def test_the_pages_and_stores_of_rounds(run, tmp_path):
    run("new", "weekly.toml")
    text = (tmp_path / "weekly.toml").read_text()
    head, _, _ = text.partition("[questions.")
    late = '[questions.late]\nkind = "flag"\nask = "Were you late?"\n'
    asked = "\n".join(line for line in head.splitlines() if not line.startswith("order"))
    (tmp_path / "weekly.toml").write_text(f"rounds = 52\n{asked}\n{late}")
    assert "52 rounds" in run("check", "weekly.toml").stdout
    for command in ("page", "open"):
        failed = run(command, "weekly.toml", status=1)
        assert "--round must be from 1 to 52. Use --round 1" in str(failed.exception)
        run(command, "weekly.toml", "--round", "3")
    assert (tmp_path / "commute-3.html").exists()
    assert "late" in run("results", "commute-3.db").stdout
    assert str(run("page", "weekly.toml", "--round", "53", status=1).exception).startswith(
        "--round must be from 1 to 52, got 53."
    )


@pytest.mark.slow
def test_a_store_in_postgresql(run, postgres):
    run("new")
    assert f"sourdine survey serve {postgres}" in run(
        "open", "survey.toml", "--store", postgres
    ).stderr.replace("\n", "")
    assert "way" in run("results", postgres).stdout
    run("export", postgres, "-o", "a.agg")
    assert "Closed commute: 0 people are counted" in run("close", postgres).stderr
    failed = run("open", "survey.toml", "--store", postgres, status=1)
    assert "--store must be a database without a survey" in str(failed.exception)


@pytest.mark.parametrize("module", ["serving", "demo"])
def test_serving_without_its_extra_says_what_to_install(monkeypatch, module):
    for name in ("collector", "serving", "demo"):
        monkeypatch.delitem(sys.modules, f"sourdine.survey.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "starlette.requests", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[server\]'"):
        import_module(f"sourdine.survey.{module}")
