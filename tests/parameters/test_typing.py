"""What a person's tools see: a type checker, an editor's completion, ``help()``."""

from __future__ import annotations

import inspect
import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sourdine as sd
from sourdine.parameters.question import parameters
from sourdine.questions import STATISTICS

CALLS = """
from fractions import Fraction

import sourdine as sd
from sourdine.noise import SeededSource

x = [1.0, 2.0]
session = sd.Session(x, epsilon=1)

right: sd.Release = sd.mean(x, bounds=(0, 1), epsilon=0.5)
sd.mean(x, bounds=(0, 1), step=Fraction(1, 4), epsilon=Fraction(1, 2), n=None)
sd.mean(x, bounds="find", epsilon=1)
sd.sum(x, bounds=(0, None), unit="who", rows="find", epsilon=1)
sd.variance(x, bounds=(0, 1e9, "find"), epsilon=1)
sd.count(x, error=10, by="sex", keys=["f", "m"], source=SeededSource(1))
sd.quantiles(x, [0.1, 0.9], bounds=(0, 1), epsilon=1, method="tree")
sd.quantile(x, 0.9, bounds=(0, 1), epsilon=1)
sd.histogram(x, bins=[0, 1, 2], missing="count", epsilon=1)
sd.histogram(x, categories="unknown", delta=1e-6, epsilon=1)
of_session: sd.Release = session.median(bounds=(0, 1), epsilon=0.5)
planned: float = sd.plan.median(bounds=(0, 1), n=1000, epsilon=0.5).error
of_plan: sd.plan.Plan = session.plan.sum(bounds=(0, 1), error=10)

session.mean(epsilom=1, bounds=(0, 1))  # wrong
sd.plan.median(q=0.5, bounds=(0, 1), epsilon=1)  # wrong
sd.mean(x, bounds=(0, 1), epsilon=0.5, delat=1)  # wrong
sd.mean(x, (0, 1), epsilon=0.5)  # wrong
sd.mean(x, bounds=3, epsilon=0.5)  # wrong
sd.count(x, epsilon=1, rows="many")  # wrong
sd.count(x, epsilon=1, delta=[0.1])  # wrong
sd.quantile(x, bounds=(0, 1), epsilon=1)  # wrong
session.count(epsilon=[1])  # wrong
session.quantiles([0.5], bounds=(0, 1), epsilon=1, interval="wide")  # wrong
session.plan.histogram(bins={}, epsilon=1)  # wrong
wrong: int = sd.count(x, epsilon=1)  # wrong
unplanned: sd.Release = sd.plan.count(epsilon=1)  # wrong
"""


@pytest.mark.slow
def test_a_type_checker_finds_exactly_the_wrong_calls(tmp_path):
    pytest.importorskip("mypy")
    script = tmp_path / "calls.py"
    script.write_text(CALLS)
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(script)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=_environment(),
    )
    found = {int(line) for line in re.findall(r"calls\.py:(\d+): error", done.stdout)}
    lines = CALLS.splitlines()
    assert found == {i for i, line in enumerate(lines, 1) if "# wrong" in line}, done.stdout
    assert len(found) == 13


def _environment():
    """Return what lets a checker find the library where it is now."""
    return {**os.environ, "MYPYPATH": str(Path(sd.__file__).parents[1])}


INTERFACES = {
    "function": lambda name: getattr(sd, name),
    "session": lambda name: getattr(sd.Session, name),
    "plan": lambda name: getattr(sd.plan, name),
    "bound": lambda name: getattr(sd.Session([1], epsilon=1), name),
}


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("name", STATISTICS)
def test_every_parameter_is_in_the_signature_and_in_the_help(name, interface):
    call = INTERFACES[interface](name)
    listed = [p.name for p in parameters(STATISTICS[name])]
    signature = inspect.signature(call)
    assert set(listed) <= set(signature.parameters)
    assert call.__name__ == name
    text = pydoc.plain(pydoc.render_doc(call))
    for p in parameters(STATISTICS[name]):
        assert re.search(rf"^ *{p.name}$", call.__doc__, re.MULTILINE), p.name
        assert p.help in call.__doc__
        assert re.search(rf"\b{p.name}\b", text)
        shown = signature.parameters[p.name]
        typed_by_position = shown.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert typed_by_position == (p.name in ("q", "statement"))
    assert STATISTICS[name].text in call.__doc__


def test_an_editor_completes_the_statistics():
    for interface in (sd, sd.plan, sd.Session, sd.Session([1], epsilon=1), sd.plan.Planner()):
        assert set(STATISTICS) <= set(dir(interface))


def test_defaults_are_shown_as_they_are_typed():
    shown = inspect.signature(sd.mean).parameters
    assert (shown["relation"].default, shown["confidence"].default) == ("add_remove", 0.95)
    assert (shown["epsilon"].default, shown["rows"].default) == (None, 1)
