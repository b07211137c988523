"""Commands that other distributions add, and what is said where one is not installed."""

from __future__ import annotations

import os
import sys
from functools import partial

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from sourdine.cli import app as plugins
from sourdine.cli.app import app, narrowed
from sourdine.errors import SourdineError

GREETING = """
import typer

app = typer.Typer(no_args_is_help=True, help="Greetings.")


@app.callback()
def root() -> None: ...


@app.command()
def say(name: str) -> None:
    typer.echo(f"good day, {name}")
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution with these entry points; return the commands that are there then."""

    def run(**commands):
        (tmp_path / "greeting.py").write_text(GREETING)
        facts = tmp_path / "greeting-1.0.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
        lines = [f"{name} = {value}" for name, value in commands.items()]
        (facts / "entry_points.txt").write_text("\n".join(["[sourdine.commands]", *lines]) + "\n")
        monkeypatch.syspath_prepend(tmp_path)
        path = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
        return partial(CliRunner().invoke, with_plugins())

    yield run
    sys.modules.pop("greeting", None)


def with_plugins():
    """Two commands of our own, and what others add."""
    app = typer.Typer(pretty_exceptions_enable=False)
    own = typer.Typer(help="Our plan.")
    own.command("mean")(lambda: typer.echo("our plan of a mean"))
    own.callback()(lambda: None)
    app.add_typer(own, name="plan")
    app.command("mean")(lambda: typer.echo("our mean"))
    plugins.add_plugins(app)
    return app


@pytest.mark.slow
def test_a_distribution_adds_a_command(install, process):
    assert process("greet", "say", "Ada").returncode == 2
    install(greet="greeting:app")
    said = process("greet", "say", "Ada")
    assert (said.returncode, said.stdout) == (0, "good day, Ada\n")
    assert "Greetings." in process("--help").stdout


def test_the_librarys_commands_keep_their_names(install):
    run = install(mean="greeting:app", plan="greeting:app", greet="greeting:app")
    assert run(["mean"]).output == "our mean\n"
    assert run(["plan", "mean"]).output == "our plan of a mean\n"
    assert run(["greet", "say", "Ada"]).output == "good day, Ada\n"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("nowhere:app", "ModuleNotFoundError: No module named 'nowhere'."),
        ("greeting:nothing", "AttributeError"),
        ("greeting:say", "TypeError: it must be a typer.Typer, got function."),
    ],
)
def test_a_broken_command_says_so_and_stops_no_other(install, value, why):
    run = install(greet=value)
    said = run(["greet", "say", "Ada", "--loud"])
    assert isinstance(said.exception, SourdineError)
    assert str(said.exception).startswith(f"sourdine greet cannot be loaded from {value}: ")
    assert why in str(said.exception)
    assert run(["mean"]).output == "our mean\n"
    assert "greet" not in run(["--help"]).output


@pytest.mark.parametrize("words", [[], ["list"], ["run", "canesse-4", "--quick"], ["--help"]])
def test_the_lab_says_what_to_install(monkeypatch, words):
    monkeypatch.setattr(plugins, "entry_points", lambda **_: ())
    app = with_plugins()
    told = CliRunner().invoke(app, ["lab", *words])
    assert isinstance(told.exception, SourdineError)
    assert (
        str(told.exception)
        == "sourdine lab comes with sourdine-lab: in the checkout, run pip install . ./lab."
    )
    assert "lab" not in CliRunner().invoke(app, ["--help"]).output


def test_only_the_command_that_was_typed_is_read():
    alone = narrowed(app, ["audit", "--help"])
    assert list(get_command(alone).commands) == ["audit"]
    planned = get_command(narrowed(app, ["plan", "mean", "--n", "5"])).commands
    assert list(planned) == ["plan"]
    assert list(planned["plan"].commands) == ["mean"]
    assert len(get_command(app).commands["plan"].commands) > 10
    for words in ([], ["--help"], ["meen"], ["plan_mean"]):
        assert narrowed(app, words) is app
