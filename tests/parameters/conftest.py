"""The table of questions for each test, and five ways to ask them."""

from __future__ import annotations

import datetime as dt
import json
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from typing import Any

import pytest
from typer.main import get_command

import sourdine as sd
from sourdine.cli.app import app
from sourdine.cli.options import ShellWording
from sourdine.errors import SourdineError
from sourdine.questions import STATISTICS
from typed_questions import DATA, MISTAKES, QUESTIONS, SHARED, Asked


def pytest_generate_tests(metafunc):
    """Give each test a third of the questions, or of the mistakes, of one statistic at a time.

    As many slow cases as there are statistics are one third of each, not the same third.
    """
    for name, table in (("questions", QUESTIONS), ("mistakes", MISTAKES)):
        if name in metafunc.fixturenames:
            parts = {}
            for place, statistic in enumerate(STATISTICS):
                own = [asked for asked in table if asked.name == statistic]
                parts |= {f"{statistic}-{i}": own[(i + place) % 3 :: 3] for i in range(3)}
            metafunc.parametrize(name, parts.values(), ids=parts)


# ---- five interfaces: what was understood, or the error


@dataclass(frozen=True)
class Interface:
    """A way to ask."""

    name: str
    ask: Any
    takes: Any

    def __call__(self, asked: Asked) -> dict[str, Any] | SourdineError:
        """Return the question that was understood, as JSON, or the error."""
        try:
            return self.ask(asked)
        except SourdineError as error:
            return error


def _understood(release: sd.Release) -> dict[str, Any]:
    return release.mechanism.to_dict()


def by_function(asked: Asked) -> dict[str, Any]:
    return _understood(getattr(sd, asked.name)(DATA, **asked.typed))


def by_session(asked: Asked) -> dict[str, Any]:
    shared = {name: x for name, x in asked.typed.items() if name in SHARED}
    rest = {name: x for name, x in asked.typed.items() if name not in SHARED}
    session = sd.Session(DATA, epsilon=10**6, delta=0.5, **shared)
    release = getattr(session, asked.name)(**rest)
    assert json.loads(session.history[-1].parameters) == _understood(release)
    return _understood(release)


def by_plan(asked: Asked) -> dict[str, Any]:
    return getattr(sd.plan, asked.name)(**asked.typed).question.to_dict()


def by_json(asked: Asked) -> dict[str, Any]:
    return sd.questions.read(asked.json).to_dict()


COMMANDS = get_command(app)


def run(*words: str) -> dict[str, Any]:
    """Run a command in this process and return the JSON that it prints."""
    out = StringIO()
    with redirect_stdout(out):
        COMMANDS.main([*words, "--json"], "sourdine", standalone_mode=False)
    return json.loads(out.getvalue())


def by_plan_command(asked: Asked) -> dict[str, Any]:
    return run("plan", asked.name, *asked.words)["question"]


@pytest.fixture(scope="session")
def people(tmp_path_factory):
    """The data as a file, whose number of rows is public."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path_factory.mktemp("data") / "people.parquet"
    days = [dt.datetime.fromisoformat(day) for day in DATA["day"]]
    parquet.write_table(pa.table({**DATA, "day": days}), path)
    return str(path)


@pytest.fixture(scope="session")
def shell(people):
    """The command that releases: what it prints for these words, which run once."""
    ran = cache(run)

    def typed(name, words):
        return ran(name, people, *words)

    return typed


@pytest.fixture(scope="session")
def interfaces(shell):
    """The function, the session's method, the plan, JSON, and two commands."""

    def by_command(asked):
        return shell(asked.name, asked.words)["question"]

    def always(_):
        return True

    def spelled(asked):
        return asked.words is not None

    answered = {str(asked) for asked in (*QUESTIONS[::4], *MISTAKES)}  # a file takes its time

    return [
        Interface("function", by_function, always),
        Interface("session", by_session, always),
        Interface("plan", by_plan, always),
        Interface("JSON", by_json, lambda asked: asked.json is not None),
        Interface("command", by_command, lambda asked: spelled(asked) and str(asked) in answered),
        Interface("plan command", by_plan_command, spelled),
    ]


@pytest.fixture(scope="session")
def wording():
    """How a command spells its parameters."""
    return {name: ShellWording(command.params) for name, command in COMMANDS.commands.items()}


@pytest.fixture(scope="session")
def tables():
    """All good questions, and all bad ones."""
    return QUESTIONS, MISTAKES
