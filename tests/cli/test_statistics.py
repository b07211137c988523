"""The statistics on the command line, driven as a person would."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction

import pyarrow.csv as pa_csv
import pyarrow.dataset as ds
import pytest
from rich.console import Console
from typer.main import get_command

import sourdine as sd
from sourdine.cli import output
from sourdine.cli.app import app
from sourdine.cli.options import ShellWording
from sourdine.errors import LEFT_OUT, ParameterError, SourdineError

AGE = ("-c", "age", "--bounds", "0", "120", "--step", "1")


@pytest.fixture
def csv(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    rows = [f"{20 + i % 50},{'fm'[i % 2]},p{i // 2},{-5 + i % 10}" for i in range(2000)]
    path.write_text("\n".join(["age,sex,person,cold", *rows, "n/a,f,p7,1"]))
    return path


CALLS = {
    "count": (),
    "sum": AGE,
    "mean": AGE,
    "variance": AGE,
    "proportion": ("-c", "sex", "--category", "f"),
    "histogram": ("-c", "age", "--bins", "6", "--bounds", "0", "120"),
    "quantiles": (*AGE, "--quartiles"),
    "quantile": (*AGE, "--q", "0.9"),
    "median": AGE,
    "cdf": AGE,
    "mode": ("-c", "sex", "--categories", "f,m"),
}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", CALLS)
def test_a_table_names_value_interval_cost_and_caveats(run, csv, name):
    status, out, err = run(name, csv, *CALLS[name], "--epsilon", "1")
    assert (status, err) == (0, "")
    assert ("95% CI" in out) == (name != "mode")
    assert "cost    epsilon 1, one record added or removed" in out
    assert "method  " in out
    assert "note  " in out


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", CALLS)
def test_json_alone_is_printed_and_read_back(run, csv, name):
    status, out, err = run(name, csv, *CALLS[name], "--epsilon", "0.5", "--json")
    assert (status, err) == (0, "")
    facts = json.loads(out)
    assert facts["cost"]["epsilon"] == "1/2"
    assert facts.get("interval", {"confidence": 0.95})["confidence"] == 0.95
    assert ("interval" in facts) == (name != "mode")
    assert facts["caveats"]
    again = sd.Release.from_json(out)
    assert str(again.cost) == "epsilon 0.5, one record added or removed"


@pytest.mark.slow
def test_a_process_of_its_own_answers_like_this_one(sourdine, csv):
    done = sourdine("mean", csv, *AGE, "--epsilon", "1", "--json")
    assert done.returncode == 0, done.stderr
    assert abs(json.loads(done.stdout)["value"] - 44.5) < 2


@pytest.mark.slow
def test_values_are_those_of_the_file(run, csv):
    _, out, _ = run("count", csv, "--epsilon", "5", "--json")
    assert abs(json.loads(out)["value"] - 2001) < 10
    _, out, _ = run("mean", csv, "-c", "cold", "--bounds", "-10", "10", "-e", "5", "--json")
    assert abs(json.loads(out)["value"] - -0.5) < 0.3


def test_parquet_is_read_too(run, tmp_path):
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "ages.parquet"
    pa.parquet = pytest.importorskip("pyarrow.parquet")
    pa.parquet.write_table(pa.table({"age": [20, 40] * 1000}), path)
    _, out, _ = run("mean", path, "--bounds", "0", "120", "--epsilon", "5", "--json")
    assert abs(json.loads(out)["value"] - 30) < 1


@pytest.mark.slow
def test_groups_persons_and_relations(run, csv):
    keys = ("--by", "sex", "--keys", "f, m")
    _, out, _ = run("mean", csv, *AGE, *keys, "--epsilon", "1", "--json")
    assert set(json.loads(out)["value"]) == {"f", "m"}
    persons = ("--unit", "person", "--rows", "2")
    _, out, _ = run("count", csv, *persons, "--relation", "substitute", "--epsilon", "1")
    assert "one person with all their rows replaced" in out
    _, out, _ = run("count", csv, *persons, "--error", "50", "--json")
    assert json.loads(out)["question"]["rows"] == 2


@pytest.mark.slow
def test_orders_are_typed_in_three_ways(run, csv):
    for words, count in ((("--q", "0.5,0.9"), 2), (("--deciles",), 9), (("--quartiles",), 3)):
        _, out, _ = run("quantiles", csv, *AGE, *words, "-e", "5", "--json")
        value = json.loads(out)["value"]
        assert len(value) == count
        assert value == sorted(value)


@pytest.mark.slow
def test_intervals_of_quantiles_are_there_unless_they_are_left_out(run, csv):
    asked = ("quantiles", csv, *AGE, "--q", "0.5", "-e", "1")
    for more, confidence in (((), "95"), (("--interval", "0.9"), "90")):
        _, out, _ = run(*asked, *more)
        assert f"with {confidence}% intervals" in out
        assert f"{confidence}% CI" in out
    _, out, _ = run(*asked, "--interval", "none")
    assert "% CI" not in out
    _, out, _ = run(*asked, "--interval", "none", "--json")
    assert json.loads(out)["question"]["interval"] is None


@pytest.mark.slow
def test_categories_known_and_unknown(run, csv):
    _, out, _ = run("histogram", csv, "-c", "sex", "--categories", "f,m", "-e", "1", "--json")
    assert abs(json.loads(out)["value"][0] - 1001) < 50
    named = ("-c", "sex", "--categories", "unknown", "--delta", "1e-6")
    status, out, _ = run("histogram", csv, *named, "-e", "1")
    assert status == 0
    assert "threshold" in out
    split = ("-c", "age", "--bins", "0,45,120", "--by", "sex", "--keys", "f,m")
    status, out, _ = run("histogram", csv, *split, "-e", "1")
    assert (status, out.count("45 to 120")) == (0, 2)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["png", "svg", "html"])
def test_pictures(run, csv, tmp_path, ending):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"picture.{ending}"
    assert run("histogram", csv, *CALLS["histogram"], "-e", "1", "--plot", path)[0] == 0
    start = {"png": b"\x89PNG", "svg": b"<?xml", "html": b"<!doctype html>"}[ending]
    drawn = path.read_bytes()
    assert drawn.startswith(start)
    assert len(drawn) > 8000
    if ending == "html":
        text = drawn.decode()
        assert "<svg" in text
        assert "<table>" in text
        assert "<script" not in text
        assert "src=" not in text


@pytest.mark.slow
def test_a_picture_of_deciles(run, csv):
    pytest.importorskip("matplotlib")
    pytest.importorskip("sourdine.central.quantiles.figure")
    status, _, err = run("quantiles", csv, *AGE, "--deciles", "-e", "1", "--plot", "d.png")
    assert (status, err) == (0, "")
    assert (csv.parent / "d.png").stat().st_size > 10_000


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("mean", "-c", "agge", "--bounds", "0", "9", "-e", "1"), "Did you mean 'age'?"),
        (
            ("mean", "-c", "age", "-e", "1"),
            "at the data: an age is within 0 and 120",
        ),
        (("histogram", "-c", "age", "--bins", "5", "-e", "1"), "--bounds must be given if --bins"),
        (("histogram", "-c", "age", "-e", "1"), "--bins must be given, or --categories instead"),
        (
            ("quantiles", *AGE, "-e", "1"),
            "missing a required argument: 'q'. Use --q 0.25,0.5,0.75;",
        ),
        (
            ("quantiles", *AGE, "--q", "0.5", "--deciles", "-e", "1"),
            "--deciles must not be combined with --q. Omit",
        ),
        (
            ("quantiles", *AGE, "--deciles", "--quartiles", "-e", "1"),
            "--quartiles must not be combined with --deciles",
        ),
        (
            ("quantiles", *AGE, "--q", "0.5,2", "-e", "1"),
            "Use --q 0.25,0.5,0.75; 50% is 0.5.",
        ),
        (("mean", *AGE), "Use --epsilon 1, or --error with the largest acceptable error."),
        (
            ("mean", *AGE, "-e", "0"),
            "--epsilon must be above 0, got 0. Use a positive number, such as --epsilon 1.",
        ),
        (("mean", *AGE, "-e", "much"), "--epsilon must be a number, got 'much'"),
        (("mean", *AGE, "-e", "inf"), "--epsilon must be finite"),
        (
            ("mean", *AGE, "-e", "1", "--error", "1"),
            "--epsilon must not be combined with --error. Use --epsilon",
        ),
        (("mean", *AGE, "--error", "1"), "such as --n 1000."),
        (("mean", *AGE, "--error", "1", "--n", "10.5"), "--n must be a whole number"),
        (("mean", *AGE, "-e", "1", "--relation", "swap"), "Use --relation add_remove."),
        (("mean", *AGE, "-e", "1", "--unit", "who"), "sourdine inspect"),
        (("count", "-e", "1", "--by", "sex"), "Use --keys a,b;"),
        (("count", "-e", "1", "--by", "sxe", "--keys", "f"), "Did you mean 'sex'?"),
        (
            ("mean", *AGE, "-e", "1", "--plot", "x.gif"),
            "--plot must end in .png, .svg, .pdf or .html",
        ),
        (("mean", *AGE, "-e", "1", "--plot", "no/where/x.png"), "existing folder"),
        (("mean", *AGE, "-e", "1", "--ledger", "new"), "--total must be given for a new ledger"),
        (
            ("mean", "-c", "age", "--bounds", "9", "0", "-e", "1"),
            "--bounds: lower must be below upper",
        ),
    ],
)
def test_a_wrong_word_is_explained(run, csv, words, text):
    status, out, err = run(words[0], csv, *words[1:])
    assert (status, out) == (2, "")
    assert text in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_missing_file_is_named(run, tmp_path):
    status, _, err = run("count", tmp_path / "no.csv", "--epsilon", "1")
    assert status == 2
    assert "no.csv" in err


def test_no_option_is_a_seed(run, csv):
    status, out, _ = run("count", csv, "--epsilon", "1", "--seed", "1")
    assert (status, out) == (2, "")


@pytest.mark.slow
def test_a_ledger_is_charged_and_refuses(run, csv, tmp_path):
    ledger = ("--ledger", tmp_path / "people.ledger")
    status, out, _ = run("mean", csv, *AGE, "-e", "0.6", *ledger, "--total", "1")
    assert status == 0
    assert "remaining  epsilon 0.4" in out
    status, out, err = run("count", csv, "-e", "0.5", *ledger)
    assert (status, out) == (3, "")
    assert "requested epsilon=0.5, 0.4 of 1 remaining. Use --epsilon 0.4" in err
    status, _, err = run("count", csv, "--error", "1", *ledger)
    assert status == 3
    assert "what the --error needs: ask for a larger one, or omit it and use --ep" in err
    status, _, err = run("count", csv, "-e", "0.1", *ledger, "--total", "2")
    assert (status, "--total must be 1, as the ledger people.ledger" in err) == (2, True)
    status, _, err = run("count", csv, "-e", "0.1", *ledger, "--relation", "substitute")
    assert (status, "--relation must be add_remove" in err) == (2, True)
    _, out, _ = run("count", csv, "-e", "0.4", *ledger, "--json")
    assert json.loads(out)["ledger"]["remaining"]["epsilon"] == "0"


@pytest.mark.slow
def test_what_is_said_of_a_ledger_needs_one(run, csv):
    for words in (("--total", "3"), ("--total-delta", "0.1"), ("--name", "people")):
        status, out, err = run("count", csv, "-e", "1", *words)
        assert (status, out) == (2, "")
        assert f"{words[0]} must be omitted without --ledger" in err


@pytest.mark.slow
def test_a_ledger_may_call_the_data_otherwise(run, csv, tmp_path):
    ledger = ("--ledger", tmp_path / "people.ledger")
    assert run("count", csv, "-e", "0.1", *ledger, "--total", "1")[0] == 0
    moved = csv.rename(tmp_path / "2020.csv")
    status, _, err = run("count", moved, "-e", "0.1", *ledger)
    assert (status, "moved or renamed, use --name people.csv, or open" in err) == (2, True)
    assert run("count", moved, "-e", "0.1", *ledger, "--name", "people.csv")[0] == 0


@pytest.mark.slow
def test_a_unit_may_be_named_like_a_number(run, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("2020,age\na,1\nb,2\n")
    words = ("--unit", "2020", "--ledger", tmp_path / "x.ledger", "--total", "1")
    assert run("count", path, "-e", "0.5", *words)[0] == 0


@pytest.mark.slow
def test_a_ledger_is_shown(run, csv):
    words = ("--unit", "person", "--rows", "2", "--ledger", "x.ledger")
    run("mean", csv, *AGE, "-e", "0.6", *words, "--total", "1")
    run("count", csv, "-e", "0.1", *words)
    status, out, _ = run("ledger", "x.ledger")
    assert status == 0
    assert "mean of age" in out
    assert "person, at most 2 rows of each" in out
    assert "remaining  epsilon 0.3" in out
    facts = json.loads(run("ledger", "x.ledger", "--json")[1])
    assert [charge["what"] for charge in facts["charges"]] == ["mean of age", "count"]
    assert facts["charges"][0]["question"]["bounds"] == [0, 120]
    assert facts["total"]["epsilon"] == 1
    assert facts["remaining"] == {
        "epsilon": 0.3,
        "delta": 0,
        "relation": "add_remove",
        "exact": {"epsilon": "3/10", "delta": "0"},
    }
    assert [charge["spent"]["epsilon"] for charge in facts["charges"]] == [0.6, 0.7]
    status, _, err = run("ledger", csv)
    assert (status, "LEDGER must be a file written by Sourdine" in err) == (2, True)
    status, _, err = run("ledger", "none.ledger")
    assert status == 2
    assert "none.ledger'. Use the path given to --ledger." in err
    assert "--epsilon" not in err


@pytest.mark.slow
def test_the_lines_of_a_ledger_show_delta(run, csv):
    words = ("--ledger", "x.ledger", "--total", "2", "--total-delta", "0.001")
    run("count", csv, "-e", "0.1", *words)
    _, out, _ = run("ledger", "x.ledger")
    assert out.split("when (UTC)")[1].split()[1:3] == ["epsilon", "delta"]
    assert "delta 0.001" in out


@pytest.mark.slow
def test_a_bar_is_drawn_for_a_person_and_a_large_file(run, csv, monkeypatch):
    words = ("count", csv, "-e", "1", "--json")
    assert run(*words)[2] == ""
    monkeypatch.setattr(output, "LARGE", 0)
    assert run(*words)[2] == ""
    monkeypatch.setattr(Console, "is_terminal", property(lambda console: console.stderr))
    _, out, err = run(*words)
    assert "reading" in err
    assert json.loads(out)["caveats"]


def test_a_picture_that_cannot_be_drawn_costs_nothing(run, csv, tmp_path):
    ledger = tmp_path / "people.ledger"
    words = ("-e", "0.6", "--ledger", ledger, "--total", "1", "--plot", "x.gif")
    assert run("count", csv, *words)[0] == 2
    assert not ledger.exists()


def test_what_was_paid_for_is_shown_whatever_becomes_of_the_picture(run, csv, monkeypatch):
    def fail(*_, **__):
        raise SourdineError("no ink")

    monkeypatch.setattr("sourdine.cli.output.draw", fail)
    status, out, err = run("count", csv, "-e", "1", "--plot", "x.png", "--json")
    assert (status, err) == (2, "sourdine: no ink\n")
    assert "value" in json.loads(out)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", CALLS)
def test_help_of_a_statistic_teaches_by_example(run, name):
    _, out, _ = run(name, "--help")
    assert f"$ sourdine {name} " in out
    assert f"$ sourdine plan {name} " in out


def test_help_teaches_by_example(run):
    _, out, _ = run("--help")
    assert "Examples:" in out


@pytest.mark.slow
def test_help_loads_nothing_large(sourdine):
    code = (
        "import sys; from sourdine.cli import app; "
        "print(*{'scipy', 'duckdb', 'narwhals', 'matplotlib', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == ""
    assert sourdine("--help").returncode == 0


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("tries", "typed"),
    [
        ({"epsilon": 0.4}, "Use --epsilon 0.4."),
        ({"bounds": (0, 120)}, "Use --bounds 0 120."),
        ({"bounds": (-5, 120)}, "Use --bounds -5 120."),
        ({"keys": ["a", "b c"]}, "Use --keys 'a,b c'."),
        ({"relation": "add_remove"}, "Use --relation add_remove."),
        ({"step": Fraction(1, 3)}, "Use --step 1/3."),
        ({"column": LEFT_OUT}, "Use --column."),
        ({"source": 3}, "Use source=3."),
    ],
)
def test_hints_are_in_the_words_of_the_command_line(tries, typed):
    command = get_command(app).commands["mean"]
    (name,) = tries
    error = ParameterError(name, "be so", "not so", f"Use {{{name}}}.", **tries)
    assert error.said(ShellWording(command.params)).endswith(typed)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["describe"], "describe() missing a required argument: 'epsilon'. Use --epsilon 1."),
        (["describe", "-e", "1", "--kinds", "age:integer"], "got 'integer'. Use --kinds"),
        (
            ["mean", "-c", "age", "--bounds", "fnd", "-e", "1"],
            "or find, got 'fnd'",
        ),
        (
            ["median", "-c", "age", "--bounds", "01.02.2020", "31.12.2024"],
            "the date format",
        ),
        (["table", "--of", "mean"], "name only the count if no column is named, got 'mean'"),
        (["histogram", "-c", "age", "--bins", "month"], "edges may be dates"),
        (
            [
                "table",
                "--of",
                "age:median",
                "--of",
                "cold:mean",
                "--bounds",
                "age:2020-01-01,2024-12-31",
            ],
            "Use --bounds age:2020-01-01,2024-12-31 --bounds cold:0,120; or 'find' in place of",
        ),
    ],
)
def test_what_to_type_is_said_in_the_words_of_the_shell(run, csv, words, said):
    command, *rest = words
    paid = [] if command == "describe" else ["-e", "1"]
    _, out, err = run(command, csv, *rest, *(paid if "-e" not in rest else []))
    assert said in " ".join((out + err).split())


@pytest.mark.slow
def test_kinds_may_be_typed_as_the_help_says(run, csv):
    for kinds in ("age:category,cold:number", "age=category,cold=number"):
        code, out, _ = run("describe", csv, "-e", "9", "--columns", "age,cold", "--kinds", kinds)
        assert code == 0
        assert "top 1" in out


@pytest.mark.slow
def test_wide_tables_are_cut_to_a_terminal(run, csv):
    options = ("--by", "sex", "--keys", "f,m", "--bounds", "age:0,120")
    _, out, _ = run("table", csv, *options, "--of", "age:mean,deciles", "--of", "count", "-e", "1")
    assert max(map(len, out.split("\ncost ")[0].splitlines())) <= 80
    dates = "\n".join(["day", *(f"2020-01-{1 + i % 28:02}" for i in range(900))])
    csv.write_text(dates)
    asked = ("-c", "day", "--bounds", "2020-01-01", "2020-12-31", "--population", "-e", "1")
    _, out, _ = run("mean", csv, *asked)
    assert max(map(len, out.split("\ncost ")[0].splitlines())) <= 80


@pytest.mark.slow
def test_folders_of_files(csv, run):
    """A folder without an ending, and columns in the names of folders below it."""
    table = pa_csv.read_csv(csv)
    ds.write_dataset(
        table, "people", format="parquet",
        partitioning=ds.partitioning(table.select(["sex"]).schema, flavor="hive"),
    )  # fmt: skip
    asked = ("-c", "person", "--epsilon", "9", "--by", "sex", "--keys", "f,m", "--json")
    status, out, _ = run("count", "people", *asked)
    assert status == 0
    found = json.loads(out)["value"]
    assert list(found) == ["f", "m"]
    assert all(abs(count - 1000) < 20 for count in found.values())
    status, _, err = run("count", ".", "--epsilon", "1")
    assert status == 2
    assert "the folder must hold files of one kind only" in " ".join(err.split())


@pytest.mark.slow
def test_several_columns_are_named_between_commas(run, tmp_path):
    """Of groups and of predictors; formulas keep their commas, and names in quotes theirs."""
    path = tmp_path / "several.csv"
    rows = [f"{20 + i % 50},{30 + i % 11},{i % 50 + i % 11},{'fm'[i % 2]},u" for i in range(900)]
    path.write_text("\n".join(['age,hours,pay,sex,"town, street"', *rows]))
    asked = ("regression", path, "--y", "pay", "-e", "9", "--json")
    for x in (["--x", "age,hours"], ["--x", "age", "--x", "hours"], ["--x", '"age" ,hours']):
        status, out, _ = run(*asked, *x, "--bounds", "find")
        assert status == 0
        assert list(json.loads(out)["value"]) == ["intercept", "age", "hours"]
    capped = ("--x", "least(age, 60),hours", "--bounds", "find")
    assert run(*asked, *capped)[0] == 0
    grouped = ("count", path, "-e", "9", "--keys", "f,m", "--keys", "u", "--json")
    for by in (["sex", '"town, street"'], ['sex,"town, street"']):
        status, out, _ = run(*grouped, *(word for name in by for word in ("--by", name)))
        assert status == 0
        assert "town, street" in out
    status, _, err = run(
        "count", path, "-e", "9", "--by", "sex,twon", "--keys", "f,m", "--keys", "u"
    )
    assert status == 2
    assert "'twon'" in err
