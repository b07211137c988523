"""The wire format as a person types it: reports, and what many of them say."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sourdine.local import Aggregator, Schema
from sourdine.local.reports.records import to_lines

SCHEMA = """
epsilon = 9
missing = "random"
[columns]
age = {kind = "number", lower = 0, upper = 120, step = 1}
vote = {kind = "choice", categories = ["yes", "no"], method = "response"}
media = {kind = "choices", choices = ["tv", "web", "radio"]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCHEMA)
    rng = np.random.default_rng(1)
    people = {
        "age": rng.integers(20, 60, 600).tolist(),
        "vote": rng.choice(["yes", "no"], 600, p=[0.8, 0.2]).tolist(),
        "media": rng.choice(["tv", "tv;web", ""], 600).tolist(),
    }
    [sent] = Schema.read("s.toml").reports(people)
    (tmp_path / "reports.jsonl").write_text("\n".join(to_lines(sent)) + "\n")
    return tmp_path


def accepted(folder, *lines):
    total = Aggregator(Schema.read(folder / "s.toml"))
    return total.add(list(lines)).accepted


def test_answers_typed_become_one_report(sourdine, folder):
    words = ("-a", "age=31", "-a", "vote=yes", "-a", "media=tv;web")
    done = sourdine("report", "--schema", "s.toml", *words)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1
    assert accepted(folder, done.stdout) == 1
    assert "epsilon 9" in done.stderr


@pytest.mark.slow
def test_answers_piped_become_reports(sourdine, folder):
    one = json.dumps({"age": 31, "media": ["tv", "web"], "vote": None}, indent=2)
    done = sourdine("report", "-s", "s.toml", piped=one)
    assert accepted(folder, *done.stdout.splitlines()) == 1
    several = '{}\n{"age": 1e999, "media": []}\n{"age": -4, "vote": ""}\n'
    several += f'{{"age": 1{"0" * 5000}}}\n\n'
    done = sourdine("report", "-s", "s.toml", piped=several)
    assert done.returncode == 0
    assert accepted(folder, *done.stdout.splitlines()) == 4


def test_lists_of_choices_are_the_choices_listed(sourdine, folder):
    exact = SCHEMA.replace("epsilon = 9", "epsilon = 300")
    (folder / "exact.toml").write_text(exact)
    done = sourdine("report", "-s", "exact.toml", piped='{"media": ["web", "radio"]}')
    assert json.loads(done.stdout)["a"][1] == 0b110


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("words", "piped", "said"),
    [
        (("-a", "agee=3"), None, "--answer must name questions of the schema, got 'agee'"),
        (("-a", "31"), None, "Use --answer age=31."),
        ((), "", "--answer must be given"),
        ((), "[1]", "must be a JSON object"),
        ((), '{"age": 4711', "must be a JSON object"),
        ((), "[" * 100_000, "must be a JSON object"),
        ((), b"\xff", "must be a JSON object"),
        (("-a", "age=4711a"), None, "the answer to 'age' must be a number. Correct it"),
        (("-a", "vote=maybe"), None, "the answer to 'vote' must be one of 'yes', 'no'. Correct"),
        (("-a", "media=tv;4711"), None, "the answer to 'media' must be some of 'tv', 'web',"),
        (("-a", "age=31", "-a", "age=4711"), None, "the question 'age' must be answered once"),
        ((), '{"age": 31, "age": 4711}', "the question 'age' must be answered once, got two"),
        ((), '{"age": 31}\n{"age": [4711]}', "the answer to 'age' of person 2 must be a number"),
        ((), '{"vote": {"a": 1}}', "the answer to 'vote' must be one of"),
        ((), '{"media": ["tv", 4711]}', "the answer to 'media' must be some of"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_is_no_answer_is_refused(sourdine, words, piped, said):
    done = sourdine("report", "-s", "s.toml", *words, piped=piped)
    error = done.stderr if isinstance(done.stderr, str) else done.stderr.decode()
    assert done.returncode == 2
    assert said in error
    assert "4711" not in error
    assert not done.stdout


def test_reports_are_collected_and_estimated(sourdine, folder):
    words = ("-s", "s.toml", "--aggregate", "total.aggregate")
    done = sourdine("collect", "reports.jsonl", *words, "--pair", "media,vote")
    assert done.returncode == 0
    assert "600 accepted, 0 dropped, kept in total.aggregate" in done.stderr
    assert "media x vote" in done.stdout
    words = (*words, *2 * ("--pair", "media,vote"))
    done = sourdine("collect", "reports.jsonl", *words, "--json", "--plot", "all.svg")
    assert "600 accepted, 600 dropped (600 replayed)" in done.stderr
    facts = json.loads(done.stdout)["estimates"]["vote"]["shares"]
    low, high = facts["interval"]["ends"]
    assert low[0] < facts["value"][0] < high[0]
    assert abs(facts["value"][0] - 0.8) < 0.2
    assert "<svg" in (folder / "all.svg").read_text()
    again = sourdine("collect", *words, "--json")
    assert json.loads(again.stdout) == json.loads(done.stdout)


def test_lines_of_standard_input_are_collected(sourdine, folder):
    lines = (folder / "reports.jsonl").read_text()
    flood = f"{{}}\n{'x' * 5_000_000}\n{lines}"
    done = sourdine("collect", "-", "-s", "s.toml", piped=flood)
    assert "600 accepted, 2 dropped (1 too long, 1 malformed)" in done.stderr


@pytest.mark.slow
def test_aggregates_are_added_but_not_twice(sourdine, folder):
    lines = (folder / "reports.jsonl").read_text().splitlines()
    for name, part in (("a", lines[:400]), ("b", lines[400:])):
        (folder / f"{name}.jsonl").write_text("\n".join(part))
        sourdine("collect", f"{name}.jsonl", "-s", "s.toml", "--aggregate", f"{name}.aggregate",
                 "--pair", "age,vote")  # fmt: skip
    done = sourdine("collect", "a.aggregate", "b.aggregate", "-s", "s.toml")
    assert "600 accepted" in done.stderr
    assert "age x vote" in done.stdout
    before = (folder / "a.aggregate").read_bytes()
    done = sourdine("collect", "a.aggregate", "-s", "s.toml", "--aggregate", "a.aggregate")
    assert done.returncode == 2
    assert "400 of them" in done.stderr
    assert (folder / "a.aggregate").read_bytes() == before
    done = sourdine("collect", "b.jsonl", "-s", "s.toml", "--aggregate", "a.aggregate",
                    "--pair", "media,vote")  # fmt: skip
    assert "Omit --pair" in done.stderr


@pytest.mark.usefixtures("folder")
def test_nothing_is_estimated_from_no_reports(sourdine, tmp_path):
    foreign = tmp_path / "foreign.csv"
    foreign.write_text("wage\n1\n2\n")
    done = sourdine("collect", str(foreign), "-s", "s.toml")
    assert done.returncode == 2
    assert "FILES must hold reports of this schema, got none among 3 lines" in done.stderr
    assert done.stdout == ""


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_nothing_to_collect_is_said(sourdine):
    assert "use - for standard input" in sourdine("collect", "-s", "s.toml").stderr
    assert "No such file: 'no.jsonl'" in (sourdine("collect", "no.jsonl", "-s", "s.toml").stderr)
