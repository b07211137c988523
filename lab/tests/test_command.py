"""The command, driven as a person would, in this process or in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from subprocess import CompletedProcess

import pytest

from sourdine.cli import main
from sourdine_lab.claims import verdicts
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.registry import all_experiments
from sourdine_lab.table import Table


def sourdine(*words, cwd):
    """Run in a process of its own."""
    command = [sys.executable, "-c", "from sourdine.cli import main; main()", *words]
    wide = {**os.environ, "COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}
    return subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, check=False, env=wide, cwd=cwd
    )


@pytest.fixture
def lab(monkeypatch, capsys):
    """Run ``sourdine lab`` in this process."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words):
        monkeypatch.setattr("sys.argv", ["sourdine", "lab", *words])
        with pytest.raises(SystemExit) as caught:
            main()
        told = capsys.readouterr()
        return CompletedProcess(words, caught.value.code or 0, told.out, told.err)

    return run


def check(form):
    """Whether a bound of ``form`` holds for the number 10."""
    return Finding(form >= 10, form, 0.5, f"{form} against 10")


def made(row, printed, instead):
    return Claim(
        id=row, statement=f"a bound of {printed}", printed=printed, instead=instead,
        other=Instead.CORRECTION, check=check,
    )  # fmt: skip


@pytest.fixture
def known(tmp_path, monkeypatch):
    """Claims of our own, judged in this process, and a record of our own."""
    known = {"C5": made("C5", 8, 12), "A3": made("A3", 9, 11)}
    path = tmp_path / "recorded.json"
    path.write_text("{}\n")
    monkeypatch.setattr(verdicts, "RECORDED", path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(verdicts, "all_claims", lambda: known)

    def judge(these, done=lambda _: None, **_):
        found = [claim.judge() for claim in these]
        for one in reversed(found):  # as processes may finish
            done(one)
        return found

    monkeypatch.setattr(verdicts, "judge", judge)
    return known


def test_list_shows_every_experiment_with_its_rows(lab):
    told = lab("list")
    assert told.returncode == 0
    for experiment in all_experiments().values():
        assert experiment.name in told.stdout
    assert "C6" in told.stdout


def test_list_shows_the_settings_of_one(lab):
    told = lab("list", "canesse-4")
    assert told.returncode == 0
    for one in all_experiments()["canesse-4"].settings:
        assert one.name in told.stdout
        assert one.meaning in told.stdout
    assert "100:5000:100" in told.stdout
    assert "sourdine lab run canesse-4 --set 'epsilon=1'" in told.stdout


@pytest.mark.parametrize(
    ("word", "there"),
    [
        ("Théorème 3.4.1.2", "Canesse, 3.4.1"),
        ("theorem 3.4.1.2", "Canesse, 3.4.1"),
        ("figure 12", "sourdine lab run audibert-12"),
        ("RecExp", "Audibert, 4.3"),
        ("GRR", "Couchot"),
        ("C5", "C5 "),
    ],
)
def test_where_shows_statement_functions_figures_and_verdicts(lab, word, there):
    told = lab("where", word)
    assert told.returncode == 0, told.stderr
    assert there in told.stdout
    assert "says" in told.stdout


def test_a_run_with_other_settings_says_so_and_overwrites_nothing(lab, tmp_path):
    words = ("run", "canesse-4", "--workers", "1", "-o", str(tmp_path), "--set", "runs=2")
    words += ("--set", "sizes=100,200")
    told = lab(*words, "--set", "epsilon=0.1")
    assert told.returncode == 0, told.stderr
    (folder,) = tmp_path.glob("with-*")
    page = (folder / "run.html").read_text()
    assert "epsilon=0.1 (the document: 1)" in page
    assert not (tmp_path / "figures").exists()
    assert lab(*words, "--set", "epsilon=0.2").returncode == 0
    assert lab(*words, "--set", "epsilon=0.2", "--seed", "7").returncode == 0
    assert len(list(tmp_path.glob("with-*"))) == 3


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("epsilon", "--set must be like epsilon=0.1, got 'epsilon'"),
        ("epsilom=1", "Did you mean epsilon?"),
        ("epsilon=-1", "epsilon must be a number above 0, got -1"),
    ],
)
def test_other_settings_are_refused_before_anything_is_computed(lab, tmp_path, typed, says):
    told = lab("run", "canesse-4", "--set", typed, "-o", str(tmp_path / "out"))
    assert told.returncode == 2
    assert says in told.stderr
    assert not list(tmp_path.iterdir())


def test_claims_exit_with_1_until_they_are_recorded(lab, known):
    told = lab("claims")
    assert told.returncode == 1
    assert "C5: corrected now, recorded as nothing" in told.stderr
    assert "8 against 10; correction: 12 against 10" in told.stdout
    assert told.stdout.index("C5 ") < told.stdout.index("A3 ")
    assert "2 claims: 2 corrected." in told.stdout
    assert lab("claims", "--record").returncode == 0
    assert verdicts.recorded() == {"C5": "corrected", "A3": "corrected"}
    assert lab("claims").returncode == 0
    known["C5"] = made("C5", 12, 8)
    told = lab("claims")
    assert told.returncode == 1
    assert "C5: undecided now, recorded as corrected" in told.stderr
    assert "A3" not in told.stderr


def test_claims_exit_with_1_where_swapping_changes_nothing(lab, known):
    known["C5"] = made("C5", 12, 12)
    told = lab("claims", "C5", "--record")
    assert told.returncode == 1
    assert "C5: the verdict stays when the two forms are swapped" in told.stderr


def test_claims_of_some_rows(lab, known):
    assert known
    told = lab("claims", "a3", "--record")
    assert told.returncode == 0
    assert "9 against 10" in told.stdout
    assert "8 against 10" not in told.stdout


@pytest.mark.parametrize(
    "words", [("claims", "Z9"), ("run", "no-such"), ("run",), ("claims", "C99")]
)
def test_what_is_not_there_is_refused(lab, words):
    told = lab(*words)
    assert told.returncode == 2
    assert told.stderr.strip()
    assert "Traceback" not in told.stderr


def test_a_run_writes_page_figures_numbers_and_seed(lab, known, tmp_path):
    told = lab("run", "today-mean", "--quick", "--workers", "1", "--seed", "3", "-o", str(tmp_path))
    assert told.returncode == 0, told.stderr
    assert known
    assert "1 figure: open" in told.stdout
    assert not (tmp_path / "figures").exists(), "that is for the usual seed"
    (folder,) = tmp_path.glob("with-*seed-3*")
    assert (folder / "figures" / "today-mean.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "figures" / "today-mean.svg").read_text()
    table = Table.read(folder / "numbers" / "today-mean.csv")
    assert set(table["method"]) == {"Laplace", "staircase", "Gaussian, classic", "Gaussian, tight"}
    page = (folder / "run.html").read_text()
    assert "quick run, seed 3" in page
    seeds = {json.loads(p.read_text())["seed"] for p in tmp_path.glob("parts/*/*.json")}
    assert seeds == {3}
    assert not (folder / "claims.json").exists(), "that is for a run of everything"


def test_the_real_command_lists_and_refuses(tmp_path):
    listed = sourdine("lab", "list", cwd=tmp_path)
    assert listed.returncode == 0
    assert "canesse-2" in listed.stdout
    refused = sourdine("lab", "run", "canese-2", cwd=tmp_path)
    assert refused.returncode == 2
    assert "Run sourdine lab run canesse-2." in refused.stderr
    assert not list(tmp_path.iterdir())


def test_a_row_without_a_figure_has_its_claims(lab, tmp_path):
    said = lab("run", "C1", "--out", str(tmp_path), "--workers", "1")
    assert said.returncode == 0
    assert "0 figures" not in said.stdout
    assert 'id="claim-C1"' in (tmp_path / "run.html").read_text()
    assert "No figure shows C1" in said.stdout


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_a_folder_that_cannot_be_is_refused_before_anything_is_computed(lab, tmp_path, out):
    (tmp_path / "file").write_text("")
    said = lab("run", "today-mean", "--quick", "--out", str(tmp_path / out))
    assert said.returncode == 2
    assert "--out must be a folder that can be written" in said.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_what_the_lab_needs_is_asked_for_before_anything_is_computed(lab, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "sourdine_lab.command.find_spec", lambda name: None if name == "igraph" else 1
    )
    said = lab("run", "today-mean", "--quick", "--out", str(tmp_path / "lab"))
    assert said.returncode == 2
    assert "the lab needs igraph" in said.stderr
    assert "In the checkout, type pip install . ./lab." in said.stderr
    assert not list(tmp_path.iterdir())


def test_a_quick_run_does_not_overwrite_a_full_one(lab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert lab("run", "today-mean", "--quick", "--workers", "1").returncode == 0
    assert [p.name for p in tmp_path.iterdir()] == ["lab-report-quick"]
