"""What is refused is named as it was typed: an option, an argument in capitals, or a thing."""

from __future__ import annotations

import re
import shlex

import pytest

SCHEMA = """epsilon = 6
missing = "random"
[columns]
{} = {{kind = "number", lower = 0, upper = 120, step = 1}}
vote = {{kind = "choice", categories = ["yes", "no"]}}
"""
AGE = "--bounds 0 120 -e 1"
WRONG = f"""
count none.csv -e 1
count x.xlsx -e 1
count people.csv -e 0
count people.csv -e 1 --by nope --keys a
count people.csv -e 1 --unit nope
count people.csv -e 1 --ledger people.csv --total 2
mean none.csv {AGE}
mean people.csv {AGE}
mean people.csv -c nope {AGE}
mean people.csv -c age --bounds 9 1 -e 1
mean people.csv -c age {AGE} --encoding nope
histogram people.csv -c age -e 1
quantiles people.csv -c age {AGE} -q 7
mode people.csv -c vote -e 1
inspect none.csv
inspect people.csv --unit nope
schema x.xlsx
schema people.csv -o s.toml
sanitize none.csv -s s.toml -o c.csv
sanitize people.csv -s none.toml -o c.csv
sanitize people.csv -s people.csv -o c.csv
sanitize people.csv -s other.toml -o c.csv
sanitize people.csv -s s.toml -o c.xyz
sanitize people.csv -s s.toml -o people.csv
sanitize people.csv -s s.toml -o c.csv --drop nope
estimate none.csv
estimate people.csv
estimate people.csv -s s.toml --unmarked --pair age,nope
estimate people.csv -s s.toml --unmarked --pair age
estimate people.csv -s none.toml
report -s none.toml -a age=3
report -s s.toml -a nope=3
collect none.jsonl -s s.toml
collect -s s.toml
collect people.csv -s s.toml
collect people.csv -s s.toml --pair age,nope
collect people.csv -s s.toml --aggregate people.csv
density none.csv {AGE}
density people.csv {AGE}
density people.csv -c age -e 1
density people.csv -c age {AGE} --method nope
ledger none
ledger people.csv
plot people.csv
plot people.csv -o x.nope
guard init none.csv -o g
guard init people.csv -o g
guard init labels.csv -o people.csv
guard init labels.csv -o g --loss nope
guard confirm none labels.csv
guard confirm people.csv labels.csv
guard confirm eval.guard none.csv
guard confirm eval.guard people.csv -c age
guard confirm eval.guard labels.csv
guard confirm eval.guard labels.csv --old labels.csv --margin x
guard score eval.guard people.csv -c age
guard score eval.guard labels.csv --step 7
guard final eval.guard
guard leaderboard submit eval.guard '' labels.csv
guard leaderboard submit eval.guard anna people.csv -c age
guard leaderboard show none
guard plan --n 5
guard plan --n 50 --answers 3 --yes 9
plan mean -e 1
plan mean {AGE}
plan histogram -e 1
"""
SUBJECT = re.compile(r"sourdine: (.+?) must ")
QUOTED = re.compile(
    r"sourdine: (?:No such file|File already exists|\w+\(\) missing a required argument): '([^']+)'"
)
PYTHON = re.compile(r"(?<![\w-])[a-z_]+=(?!\.\.\.)")
"""A parameter as Python spells it."""


@pytest.fixture
def folder(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 90},{'yes' if i % 3 else 'no'}" for i in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["age,vote", *rows, ""]))
    (tmp_path / "labels.csv").write_text("y\n1\n0\n1\n")
    (tmp_path / "s.toml").write_text(SCHEMA.format("age"))
    (tmp_path / "other.toml").write_text(SCHEMA.format("agee"))
    run("guard", "init", "labels.csv", "-o", "eval.guard")


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_every_error_names_what_was_typed(run):
    for line in WRONG.strip().splitlines():
        status, _, err = run(*shlex.split(line))
        assert status == 2, line
        said = err.splitlines()[-1]
        if found := QUOTED.match(said):
            assert found[1] in line or f"--{found[1]} " in said, (line, said)
        else:
            found = SUBJECT.match(said)
            assert found, (line, said)
            subject = found[1]
            proper = subject.startswith("--") or subject.isupper()
            assert proper or " " in subject or "." in subject, (line, said)
        assert not PYTHON.search(said), (line, said)
