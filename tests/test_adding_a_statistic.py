"""The page on adding a statistic, followed in a copy of the library: one file and one line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sourdine

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tasks" / "add-a-statistic.md").read_text()
FILE = ROOT / "docs" / "tasks" / "trimmed_mean.py"
MOST_LINES = 80

ASKED = """
import json, sys
from pathlib import Path
import httpx
import numpy as np
from typer.testing import CliRunner
import sourdine as sd
from serving import Api, filled_store, served
from sourdine.cli.app import app
from sourdine.privacy import Guarantee
from sourdine.session import Terms

folder = Path(sys.argv[1])
assert str(folder) in sd.__file__
x = np.random.default_rng(1).gamma(2, 10, 5000).clip(0, 120).round().astype(int)
truth = np.sort(x)[500:-500].mean()
asked = {"bounds": (0, 120), "step": 1, "epsilon": 1}

def near(value, ends):
    assert abs(value - truth) < 1, (value, truth)
    assert ends[0] - 0.5 < truth < ends[1] + 0.5 and ends[1] - ends[0] < 2, ends

release = sd.trimmed_mean(x, **asked)
near(release.value, release.interval(0.95))
assert sd.Release.from_json(release.to_json()) == release
groups = sd.trimmed_mean(
    {"x": x, "g": ["a", "b"] * 2500}, column="x", by="g", keys=["a", "b"], **asked
)
assert set(groups.value) == {"a", "b"}
found = sd.trimmed_mean(x, bounds="find", epsilon=1)
assert abs(found.value - truth) < 2
assert sd.trimmed_mean(x, trim=0.4, **asked).value < release.value

release = sd.Session(x, epsilon=2).trimmed_mean(**asked)
near(release.value, release.interval(0.95))
plan = sd.plan.trimmed_mean(n=5000, **asked)
assert 0.1 < plan.error < 2
assert sd.questions.schema()["$defs"]["trimmed_mean"]["properties"]["trim"]

path = folder / "people.csv"
path.write_text("age\\n" + "\\n".join(map(str, x)) + "\\n")
words = "--bounds 0 120 --step 1 --epsilon 1 --json".split()
typed = ["trimmed_mean", str(path), *words]
ran = CliRunner().invoke(app, typed)
assert ran.exit_code == 0, ran.output
told = json.loads(ran.stdout)
near(told["value"], told["interval"]["ends"])
assert CliRunner().invoke(app, ["trimmed_mean", "--help"]).output.count("--trim") >= 1

terms = Terms(total=Guarantee(1000))
columns = {"age": {"bounds": [0, 120], "step": 1}}
address = f"sqlite:///{folder}/store.db"
store, tokens = filled_store(address, path, terms, columns)
with served(address) as url:
    body = {"statistic": "trimmed_mean", "column": "age", "epsilon": 1}
    told = Api(url, tokens["anna"]).release(body)
    assert told.status_code == 200, told.text
    near(told.json()["answers"][0]["value"], (truth - 0.5, truth + 0.5))
    browser = Api.logged_in(url, store, "anna")
    page = httpx.get(url + "/data/people", headers=browser.client.headers)
    assert page.status_code == 200
    assert 'value="trimmed_mean"' in page.text and 'name="trim"' in page.text, page.text
print("answered everywhere")
"""


def added(source: str) -> str:
    """Apply the lines of the page's diff to a file: each follows the line above it in the diff."""
    (diff,) = re.findall(r"```diff\n(.*?)```", PAGE, re.DOTALL)
    before = ""
    for line in diff.splitlines():
        if line.startswith("+"):
            assert source.count(before + "\n") == 1, before
            source = source.replace(before + "\n", f"{before}\n{line[1:]}\n")
            before = line[1:]
        else:
            before = line[1:]
    return source


def test_the_example_is_short():
    assert len(FILE.read_text().splitlines()) <= MOST_LINES
    assert "{literalinclude} trimmed_mean.py" in PAGE


@pytest.mark.slow
def test_one_file_and_one_line_add_a_statistic_everywhere(tmp_path):
    copy = tmp_path / "sourdine"
    shutil.copytree(
        Path(sourdine.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(FILE, copy / "central")
    questions = copy / "questions.py"
    questions.write_text(added(questions.read_text()))
    env = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(__file__).parent}"}
    ran = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-c", ASKED, str(tmp_path)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "answered everywhere\n"
