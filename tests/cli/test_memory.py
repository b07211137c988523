"""A survey of several rounds as a person types it: the memory's file, and which round is meant."""

from __future__ import annotations

import io
import json
import stat

import pytest

SCHEMA = """
epsilon = 2
rounds = 3
[columns.vote]
kind = "choice"
categories = ["yes", "no"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCHEMA)
    (tmp_path / "once.toml").write_text(SCHEMA.replace("rounds = 3", ""))
    return tmp_path


@pytest.mark.slow
def test_rounds_are_answered_from_a_file(run, folder):
    words = ("report", "--schema", "s.toml", "--memory", "me.json", "-a", "vote=yes")
    status, first, told = run(*words)
    assert status == 0
    kept = json.loads((folder / "me.json").read_text())
    assert stat.S_IMODE((folder / "me.json").stat().st_mode) == 0o600
    status, second, _ = run(*words, "--round", "3")
    assert status == 0
    after = json.loads((folder / "me.json").read_text())
    assert "round 1 of 3: epsilon 0.5, any two inputs" in told
    assert "me.json is a secret" in told
    assert (kept["answered"], after["answered"]) == (1, 3)
    assert kept["columns"] == after["columns"]
    status, out, told = run(*words)
    assert (status, out) == (2, "")
    assert "The total is spent" in told
    (folder / "both.jsonl").write_text(first + second)
    status, _, told = run("collect", "both.jsonl", "--schema", "s.toml", "--round", "3")
    assert status == 0
    assert "1 accepted, 1 dropped (1 foreign schema)" in told


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("report", "--schema", "s.toml", "-a", "vote=yes"), "Use --memory memory.json."),
        (("report", "--schema", "once.toml", "--memory", "m", "-a", "vote=yes"), "--memory must"),
        (("report", "--schema", "once.toml", "--round", "1", "-a", "vote=yes"), "--round must"),
        (("collect", "s.toml", "--schema", "s.toml"), "Use --round 1."),
        (("collect", "s.toml", "--schema", "s.toml", "--round", "4"), "be from 1 to 3, got 4"),
        (("collect", "s.toml", "--schema", "once.toml", "--round", "1"), "--round must be omitted"),
        (("report", "--schema", "s.toml", "--memory", "s.toml", "-a", "vote=no"), "damaged data"),
    ],
)
def test_refusals(run, folder, words, said):
    status, out, told = run(*words)
    assert (status, out) == (2, "")
    assert said in " ".join(told.split())
    assert sorted(p.name for p in folder.iterdir()) == ["once.toml", "s.toml"]


def test_a_memory_is_of_one_person(run, folder, monkeypatch):
    two = b'{"vote": "yes"}\n{"vote": "no"}\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(two)))
    status, _, told = run("report", "--schema", "s.toml", "--memory", "me.json")
    assert status == 2
    assert "belong to one respondent, got 2 people" in told
    assert not (folder / "me.json").exists()
