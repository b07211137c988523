"""What a person expects of any command: words, pipes, Ctrl-C, completion, saved pictures."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

import sourdine as sd
from sourdine.cli.app import app
from sourdine.cli.output import complain

SOURDINE = (sys.executable, "-c", "from sourdine.cli import main; main()")


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(1)
    rows = (f"p{i // 2},{age}\n" for i, age in enumerate(rng.integers(0, 100, 400)))
    (tmp_path / "people.csv").write_text("id,age\n" + "".join(rows))
    return str(tmp_path / "people.csv")


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("words", ["--bounds 0 100", "--bounds=0,100", "--bounds 0,100"])
def test_bounds_are_typed_in_three_ways(run, people, words):
    _, out, _ = run("mean", people, "-c", "age", *words.split(), "-e", "1", "--json")
    assert json.loads(out)["question"]["bounds"] == [0, 100]


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--bounds", "0"], ["--bounds"], ["--bounds=1,2,3"]])
def test_bounds_are_two(run, people, words):
    code, _, err = run("mean", people, "-c", "age", *words, "-e", "1")
    assert code == 2
    assert "--bounds must be two numbers, the lower first, or find" in err
    assert "Use --bounds 0 120." in err


def test_a_bound_may_be_negative(run, people):
    _, out, _ = run("mean", people, "-c", "age", "--bounds", "-5", "100", "-e", "1", "--json")
    assert json.loads(out)["question"]["bounds"] == [-5, 100]


def test_a_complaint_does_not_steer_a_terminal(capsys):
    complain("no column called \x1b[31mred\x1b[0m\r\n")
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert said.endswith(r"no column called \x1b[31mred\x1b[0m\r\n" + "\n")


def test_no_column_is_none(run, people):
    _, _, err = run("mean", people, "--bounds", "0", "100", "-e", "1")
    assert "--column must be given, because the data have several columns." in err


@pytest.mark.slow
def test_what_is_refused_leaves_no_ledger(run, people, tmp_path):
    ledger = tmp_path / "new.ledger"
    for wrong in (("-c", "nosuch"), ("-c", "age", "--unit", "nosuch")):
        code, _, _ = run(
            "mean", people, *wrong, "--bounds", "0", "9", "-e", "1",
            "--ledger", str(ledger), "--total", "2",
        )  # fmt: skip
        assert code == 2
        assert not ledger.exists()


@pytest.mark.slow
def test_the_cost_names_the_persons(run, people, tmp_path):
    persons = ("--unit", "id", "--rows", "2", "-e", "1")
    _, out, _ = run("count", people, *persons)
    assert "one id with all their rows added or removed" in out
    assert "one record" not in out
    page = tmp_path / "count.html"
    run("count", people, *persons, "--plot", str(page))
    assert "one id with all their rows added or removed" in page.read_text()
    assert "<title>Count</title>" in page.read_text()


@pytest.mark.slow
def test_a_large_epsilon_says_so(run, people):
    for epsilon, told in (("20", False), ("1e9", True)):
        _, out, _ = run("count", people, "--epsilon", epsilon)
        assert ("provides almost no protection" in out) == told


def test_unknown_keys_need_a_delta(run, people):
    code, _, err = run(
        "mean", people, "-c", "age", "--bounds", "0", "9", "-e", "1", "--by", "id",
        "--keys", "unknown",
    )  # fmt: skip
    assert code == 2
    assert "--delta must be above 0 if keys are unknown" in err


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_words_are_completed(shell):
    typed = {"COMP_WORDS": "sourdine me", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "sourdine me"}
    asked = {"_SOURDINE_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    program = [sys.executable, "-c", "import sys; sys.argv[0] = 'sourdine'\n" + SOURDINE[2]]
    done = subprocess.run(  # noqa: S603 - our own program
        program, env={**os.environ, **typed, **asked}, capture_output=True, text=True, check=False
    )
    assert {"mean", "median"} <= set(done.stdout.replace('"', " ").replace(":", " ").split())
    assert "count" not in done.stdout


@pytest.mark.slow
def test_a_saved_release_is_drawn(run, people, tmp_path):
    _, out, _ = run("mean", people, "-c", "age", "--bounds", "0", "100", "-e", "1", "--json")
    saved = tmp_path / "mean.json"
    saved.write_text(out)
    assert run("plot", str(saved))[0] == 0
    assert (tmp_path / "mean.png").read_bytes()[:4] == b"\x89PNG"
    page = tmp_path / "mean.html"
    assert run("plot", str(saved), "-o", str(page))[0] == 0
    assert "<title>Mean of age</title>" in page.read_text()
    code, _, err = run("plot", people)
    assert code == 2
    assert "must hold a release, a plan, estimates or a density, as --json printed it" in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "title"),
    [
        (("plan", "mean", "--bounds", "0", "9", "--n", "50", "--error", "1"), "Mean"),
        (("density", "PEOPLE", "-c", "age", "--bounds", "0", "100", "-e", "1"), "Density"),
        (("estimate", "CLEAN", "--pair", "age,region"), "saved"),
    ],
)
def test_whatever_has_a_picture_is_drawn_when_saved(words, title, run, people, tmp_path):
    columns = {"age": sd.local.Number(0, 100, step=1), "region": sd.local.Choice("a", "b")}
    schema = sd.local.Schema(**columns, epsilon=4, missing="random")
    table = {"age": [31, 44, 60, 75] * 100, "region": ["a", "b"] * 200}
    schema.sanitize(table, to=tmp_path / "clean.csv")
    files = {"PEOPLE": people, "CLEAN": str(tmp_path / "clean.csv")}
    status, out, err = run(*(files.get(word, word) for word in words), "--json")
    assert status == 0, err
    saved, page = tmp_path / "saved.json", tmp_path / "page.html"
    saved.write_text(out)
    assert run("plot", str(saved))[0] == 0
    assert (tmp_path / "saved.png").read_bytes()[:4] == b"\x89PNG"
    assert run("plot", str(saved), "-o", str(page))[0] == 0
    assert f"<title>{title}" in page.read_text()
    assert "<table" in page.read_text()


@pytest.mark.slow
def test_help_has_no_types_of_flags(run):
    for words in ((), ("mean",), ("plan", "mean"), ("guard",)):
        _, out, _ = run(*words, "--help")
        assert "<bool>" not in out
        assert "{" not in out


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to write to")
def test_a_full_disk_loses_no_charge(people, tmp_path):
    ledger = str(tmp_path / "ledger")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(  # noqa: S603 - our own program
            [*SOURDINE, "count", people, "-e", "1", "--ledger", ledger, "--total", "3"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "epsilon 1 was charged to the ledger." in done.stderr
    assert "the answer could not be printed: No space left on device." in done.stderr


@pytest.mark.slow
def test_a_reader_may_leave(people):
    with subprocess.Popen(  # noqa: S603 - our own program
        [*SOURDINE, "count", people, "-e", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        program.stdout.close()
        assert program.stderr.read() == b""
        assert program.wait() == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_ctrl_c_stops_soon_and_says_what_was_charged(tmp_path):
    """The file is a pipe that never ends, so the command is surely reading when it is stopped."""
    data, ledger = tmp_path / "endless.csv", tmp_path / "ledger"
    data.write_text("age\n" + "31\n17\n" * 20_000_000)
    with subprocess.Popen(  # noqa: S603 - our own program
        [*SOURDINE, "mean", str(data), "-c", "age", "--bounds", "0", "100", "-e", "0.5",
         "--ledger", str(ledger), "--total", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    ) as program:  # fmt: skip
        while not (ledger.exists() and b"mean" in ledger.read_bytes()):
            with suppress(subprocess.TimeoutExpired):
                program.wait(0.01)
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=5)
    assert program.returncode == 130
    assert out == ""
    assert "epsilon 0.5 was charged to the ledger." in err
    assert "stopped." in err


@pytest.mark.slow
def test_a_name_of_a_ledger_steers_no_terminal(run, people, tmp_path):
    ledger = str(tmp_path / "ledger")
    name = "e\x1b[2J\nleft  epsilon 99"
    asked = ("count", people, "-e", "1", "--ledger", ledger, "--total", "5", "--name", name)
    assert run(*asked)[0] == 0
    _, out, _ = run("ledger", ledger)
    assert "\x1b" not in out
    assert r"e\x1b[2J\nleft  epsilon 99" in out


@pytest.mark.slow
def test_a_column_in_json_steers_no_terminal(run, tmp_path):
    ledger, column = str(tmp_path / "ledger"), "e\x9b2J"
    (tmp_path / "odd.csv").write_text(f"{column},age\n" + "1,2\n" * 50)
    asked = ("-c", column, "-e", "1", "--ledger", ledger)
    assert run("count", str(tmp_path / "odd.csv"), *asked, "--total", "5")[0] == 0
    for words in (("ledger", ledger), ("plan", "count", *asked)):
        code, out, _ = run(*words, "--json")
        assert code == 0
        assert "\x9b" not in out
        assert column in json.dumps(json.loads(out), ensure_ascii=False)


@pytest.mark.slow
def test_wide_tables_keep_their_numbers(run, people, tmp_path, monkeypatch):
    ledger = str(tmp_path / "ledger")
    run("count", people, "-e", "1", "--ledger", ledger, "--total", "5")
    monkeypatch.setenv("COLUMNS", "40")
    _, out, _ = run("ledger", ledger)
    assert "epsilon so far" in out
    assert "…" not in out


@pytest.mark.slow
def test_lines_of_a_label_stay_lines_in_a_picture(run, tmp_path):
    picture = tmp_path / "plan.svg"
    asked = ("plan", "mean", "--bounds", "0", "100", "--n", "1000", "--error", "1")
    assert run(*asked, "--plot", str(picture))[0] == 0
    assert "\\n" not in picture.read_text()


def test_a_directory_is_no_file(run, tmp_path):
    (tmp_path / "x.csv").mkdir()
    code, _, err = run("inspect", str(tmp_path / "x.csv"))
    assert code == 2
    assert "should not be" not in err


@pytest.mark.slow
def test_python_runs_it_by_the_name_of_the_package():
    done = subprocess.run(
        [sys.executable, "-m", "sourdine", "--version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"sourdine {sd.__version__}\n")


def commands(command, name="sourdine"):
    yield name, command
    for own, each in getattr(command, "commands", {}).items():
        yield from commands(each, f"{name} {own}")


@pytest.mark.parametrize(
    ("name", "command"), list(commands(get_command(app))), ids=lambda x: str(x)[:40]
)
def test_help_shows_no_types_of_python(name, command, capsys):
    """FILE and NAME say what to type; <str> and <path> do not."""
    with pytest.raises(SystemExit):
        command.main(["--help"], name)
    assert not re.findall(r"<(str|path|int|float|text|bool)>", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("typed", "meant"), [("--eps", "--epsilon"), ("--filter", "--where"), ("--boundss", "--bounds")]
)
def test_an_unknown_option_resembles_a_known_one(typed, meant, capsys):
    with pytest.raises(SystemExit):
        get_command(app).main(["mean", "people.csv", typed, "1"], "sourdine")
    assert f"{typed} (Possible options: {meant}" in " ".join(capsys.readouterr().err.split())


def test_an_argument_is_shown_without_braces(capsys):
    with pytest.raises(SystemExit):
        get_command(app).main(["lab", "run", "--help"], "sourdine")
    assert "}" not in capsys.readouterr().out.split("Usage:")[1].split("\n")[0]
