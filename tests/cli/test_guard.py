from __future__ import annotations

import gzip
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import polars as pl
import pytest

from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.labels import Labels
from sourdine.adaptive.holdout.losses import ZeroOne
from sourdine.cli import main
from sourdine.cli.guard import one_column

N = 600
RNG = np.random.default_rng(4)
LABELS = RNG.integers(0, 2, N)


def mistaken(wrong):
    told = LABELS.copy()
    told[:wrong] = 1 - told[:wrong]
    return told


def write(path, values, header="y"):
    path.write_text("\n".join([*([header] if header else []), *map(str, values), ""]))
    return path


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "labels.csv", LABELS)
    write(tmp_path / "old.csv", mistaken(200))
    write(tmp_path / "new.txt", mistaken(120), header="")
    np.save(tmp_path / "newer.npy", mistaken(100))
    rows = [f"{i},{p}" for i, p in enumerate(mistaken(150))]
    write(tmp_path / "worse.csv", rows, header="row,prediction")
    return tmp_path


@pytest.fixture
def guard(folder, monkeypatch, capsys):
    """Run ``sourdine guard`` there, in this process."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words):
        monkeypatch.setattr("sys.argv", ["sourdine", "guard", *words])
        with pytest.raises(SystemExit) as caught:
            main()
        told = capsys.readouterr()
        return CompletedProcess(words, caught.value.code or 0, told.out, told.err)

    return run


@pytest.mark.slow
def test_exit_status_of_a_process(sourdine, guard, folder):
    guard("init", "labels.csv", "--out", "eval.guard")
    words = ("guard", "confirm", "eval.guard", "old.csv", "--old", "new.txt")
    done = sourdine(*words, cwd=folder)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("not confirmed\nremaining: next answer within 0.0")


@pytest.mark.slow
def test_a_lone_column_of_predictions_may_have_any_name(guard, folder):
    write(folder / "named.csv", mistaken(200), header="pred")
    made = guard("init", "labels.csv", "-c", "y", "--baseline", "named.csv", "-o", "eval.guard")
    assert made.returncode == 0, made.stderr
    other = guard("init", "named.csv", "-c", "y", "-o", "other.guard")
    assert (
        "--column must be a column that the first line of named.csv names, got y." in other.stderr
    )
    assert "pred" not in other.stderr
    other = guard("init", "named.csv", "-c", "prod", "-o", "other.guard")
    assert "got prod. Did you mean 'pred'?" in other.stderr


@pytest.mark.slow
def test_a_guard_from_its_labels_to_its_end(guard, folder):
    made = guard(
        "init", "labels.csv", "--out", "eval.guard", "--baseline", "old.csv", "--error", "0.11",
        "--name", "coins",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert "600 whole numbers, zero-one loss" in made.stdout
    assert stat.S_IMODE((folder / "eval.guard").stat().st_mode) == 0o600

    yes = guard("confirm", "eval.guard", "new.txt")
    assert (yes.returncode, yes.stderr) == (0, "")
    assert [line.split(":")[0] for line in yes.stdout.splitlines()] == ["confirmed", "remaining"]

    no = guard("confirm", "eval.guard", "worse.csv", "-c", "prediction", "--json")
    assert (no.returncode, no.stderr) == (1, "")
    facts = json.loads(no.stdout)
    assert facts["confirmed"] is False
    assert facts["remaining"]["answers"] > 0

    proved = guard("confirm", "eval.guard", "newer.npy", "--old", "old.csv", "--certified")
    assert (proved.returncode, proved.stdout.splitlines()[0]) == (0, "confirmed")

    score = guard("score", "eval.guard", "newer.npy", "--step", "0.1", "--json")
    facts = json.loads(score.stdout)
    assert (score.returncode, facts["value"]) == (0, 0.8)
    assert facts["lower"] < 5 / 6 < facts["upper"]

    out = guard("score", "eval.guard", "newer.npy", "--step", "0.00001")
    assert (out.returncode, out.stdout) == (3, "")
    assert "above the limit of 0.11" in out.stderr
    assert "A final answer is still given" in out.stderr

    status = json.loads(guard("status", "eval.guard", "--json").stdout)
    assert (status["answers"], status["name"], status["closed"]) == (4, "coins", False)

    final = guard("final", "eval.guard")
    assert final.returncode == 0
    assert final.stdout.startswith("0.833333 (between 0.")
    assert "nothing: the final answer was given" in final.stdout

    over = guard("confirm", "eval.guard", "new.txt")
    assert (over.returncode, over.stdout) == (3, "")
    assert "final answer was given" in over.stderr


@pytest.mark.slow
def test_terms(guard):
    for words, facts in [
        (("--blocks", "3"), {"name": "blocks", "size": 3}),
        (("--markov", "0.5", "--confidence", "0.9"), {"name": "markov", "eigenvalue": "1/2"}),
        (("--loss", "absolute", "--scale", "2"), {"name": "iid"}),
    ]:
        made = guard("init", "labels.csv", "-o", f"{words[0]}.guard", *words, "--json")
        assert made.returncode == 0, made.stderr
        assert json.loads(made.stdout)["dependence"] == facts


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--blocks", "2", "--markov", "0.5"), "blocks must not be combined with --markov"),
        (("--blocks", "2.5"), "blocks must be a whole number"),
        (("--confidence", "x"), "confidence must be a number"),
        (("--error", "0.0001"), "error must be at least"),
        (("--column", "z"), "column must be a column that the first line of labels.csv names"),
        (("--loss", "mse"), "got 'mse'"),
        (("--loss", "absolute"), "scale must be given"),
        (("--baseline", "none.csv"), "No such file: "),
        (("--baseline", "none.parquet"), "No such file: "),
        (("--baseline", "labels.xls"), "must end in .csv"),
    ],
)
def test_bad_terms(guard, folder, words, said):
    done = guard("init", "labels.csv", "--out", "eval.guard", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (folder / "eval.guard").exists()


@pytest.mark.slow
def test_errors_of_a_label_file_show_no_value(guard, folder):
    (folder / "a.csv").write_bytes(b"y\nsecret\xff\n")
    (folder / "b.csv").write_text('y\n"secret\n')
    (folder / "c.csv").write_text("secret,y\n1,2\n3\n")
    (folder / "d.npy").write_bytes(b"secret")
    np.save(folder / "e.npy", np.array([{"secret": 1}, None], object), allow_pickle=True)
    (folder / "f.csv").write_text("row,y\n1,secret\n")
    (folder / "g.csv").write_text("7,secret\n8,b\n")
    for name in "abcdefg":
        file = next(folder.glob(f"{name}.*")).name
        done = guard("init", file, "--out", "eval.guard", *(["-c", "y"] if name == "c" else []))
        assert done.returncode == 2, name
        for leak in ("secret", "0xff", "position", "Traceback"):
            assert leak not in done.stdout + done.stderr, name


@pytest.mark.slow
def test_bad_predictions(guard, folder):
    guard("init", "labels.csv", "--out", "eval.guard")
    (folder / "words.txt").write_text("1\n" * (N - 1) + "cat\n")
    (folder / "short.csv").write_text("y\n" + "1\n" * (N - 1))
    for file, said in [
        ("words.txt", f"got another value in row {N}"),
        ("short.csv", f"a prediction for each of the {N} labels, got {N - 1}"),
        ("new.txt", "old must be given the first time. Use --old"),
    ]:
        done = guard("confirm", "eval.guard", file)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
    assert json.loads(guard("status", "eval.guard", "--json").stdout)["answers"] == 0
    assert guard("status", "labels.csv").returncode == 2


@pytest.mark.slow
def test_gaps_keep_their_place(tmp_path):
    """A blank line of one column is a row without a label, not a line to be skipped."""

    def read(text, name="x.csv"):
        (tmp_path / name).write_text(text)
        return Labels.read(one_column(tmp_path / name, None), "labels")

    assert str(read("y\n1\n\n0\n").values.tolist()) == "[1.0, nan, 0.0]"
    assert read("y\na\n\nb\n\n").values.tolist() == ["a", None, "b"]
    assert read("\ufeffy\n1\n2.5\n").values.tolist() == [1.0, 2.5]
    assert read("007\n7\n", "x.txt").values.tolist() == ["007", "7"]
    assert read(f"1\n{10**30}\n", "x.txt").kind == "text"
    assert read('"a\nb"\n"c"\n"d, e"\n').values.tolist() == ["c", "d, e"]
    assert read('y\na\n""\nb\n""\n').values.tolist() == ["a", None, "b", None]
    assert read("a\n\nb\n\n", "x.txt").values.tolist() == ["a", None, "b"]
    assert read("y\r\n1\r\n2\r\n").values.tolist() == [1, 2]


@pytest.mark.slow
def test_files_of_all_kinds_hold_the_same_labels(guard, folder):
    """The statistics read these files, so the guard does."""
    wide = pl.DataFrame({"row": range(N), "y": mistaken(120), "word": ["a;b", "c,d"] * (N // 2)})
    wide.write_csv(folder / "comma.csv")
    for separator, name in ((";", "semicolon.csv"), ("\t", "tab.tsv"), ("|", "bar.csv")):
        wide.write_csv(folder / name, separator=separator)
    (folder / "zipped.csv.gz").write_bytes(gzip.compress((folder / "semicolon.csv").read_bytes()))
    wide.write_parquet(folder / "wide.parquet")
    wide.with_columns(pl.col("y").cast(pl.Decimal(10, 0))).write_parquet(folder / "decimal.pq")
    guard("init", "labels.csv", "--out", "eval.guard")
    said = set()
    for name in ("comma.csv", "semicolon.csv", "tab.tsv", "bar.csv", "zipped.csv.gz",
                 "wide.parquet", "decimal.pq"):  # fmt: skip
        done = guard("score", "eval.guard", name, "-c", "y", "--json", "--step", "0.001")
        assert done.returncode == 0, (name, done.stderr)
        said.add(json.loads(done.stdout)["value"])
        made = guard("init", name, "-c", "y", "--out", f"{name}.guard", "--json")
        assert json.loads(made.stdout)["whole"] is True, name
        other = guard("score", "eval.guard", name, "-c", "z")
        assert "--column must be a column that" in other.stderr
        if not name.endswith(("parquet", "pq")):
            assert "sourdine inspect" in other.stderr
        else:
            assert "The columns are: 'row', 'y', 'word'." in other.stderr
    assert said == {0.8}


@pytest.mark.slow
def test_a_file_that_cannot_be_read_is_said_to_be(guard, folder):
    (folder / "a.csv.gz").write_bytes(b"secret")
    (folder / "b.parquet").write_bytes(b"secret")
    (folder / "c.csv").mkdir()
    (folder / "d.txt").write_bytes(b"secret\xff")
    np.save(folder / "e.npy", np.eye(2))
    for name in "abcde":
        file = next(folder.glob(f"{name}.*")).name
        done = guard("init", file, "--out", "eval.guard")
        assert (done.returncode, done.stdout) == (2, ""), name
        assert "must" in done.stderr
        assert "secret" not in done.stderr


@pytest.mark.slow
def test_help_reads_well(guard):
    text = guard("--help").stdout
    for word in ("init", "confirm", "score", "final", "status", "1 if not confirmed"):
        assert word in text


def lost(folder, stdout, *words, stderr=subprocess.PIPE):
    """Run ``sourdine`` where its output, buffered as usual, cannot be written."""
    usual = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-c", "from sourdine.cli import main; main()", *words]
    return subprocess.run(  # noqa: S603 - our own
        command, stdout=stdout, stderr=stderr, text=True, cwd=folder, check=False, env=usual
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_an_answer_that_cannot_be_printed_is_not_a_no(guard, folder):
    guard("init", "labels.csv", "--out", "eval.guard", "--baseline", "old.csv")
    confirm, status = ("guard", "confirm", "eval.guard", "new.txt"), ("guard", "status")
    with Path("/dev/full").open("w") as full:
        done = lost(folder, full, *confirm)
        assert done.returncode == 74
        assert "No space left on device. What was answered is charged" in done.stderr
        assert "'sourdine guard status GUARD'" in done.stderr
        assert "Traceback" not in done.stderr
        for words in (confirm, (*status, "eval.guard"), (*status, "eval.guard", "--json")):
            assert lost(folder, full, *words, stderr=full).returncode == 74, words
        assert lost(folder, full, *status, "none.guard", stderr=full).returncode == 2
        assert lost(folder, full, "--version").returncode == 2
    assert GuardedHoldout.open(folder / "eval.guard").confirmed == mistaken(120).tolist()


@pytest.mark.slow
def test_an_answer_to_a_broken_pipe_is_not_a_no(guard, folder):
    guard("init", "labels.csv", "--out", "eval.guard", "--baseline", "old.csv")
    for words in (("confirm", "eval.guard", "new.txt"), ("status", "eval.guard")):
        ours, theirs = os.pipe()
        os.close(ours)
        done = lost(folder, theirs, "guard", *words)
        os.close(theirs)
        assert (done.returncode, "Broken pipe" in done.stderr) == (74, True)


@pytest.mark.slow
def test_a_crash_is_not_a_no_and_shows_no_value(guard, monkeypatch):
    guard("init", "labels.csv", "--out", "eval.guard", "--baseline", "old.csv")

    def crash(*_, **__):
        raise KeyError("secret")

    monkeypatch.setattr(ZeroOne, "of", crash)
    done = guard("confirm", "eval.guard", "new.txt")
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr.startswith("sourdine: KeyError at sourdine/adaptive/holdout/guard.py:")
    assert "secret" not in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_file_without_a_header_loses_no_label(guard, folder):
    for text, said in [
        ("1\n0\n1\n", "got values. Add a header, such as y; or use"),
        ("-0.5\n1\n", "got values. "),
        ("NA\n1\n", "got values. "),
        ("0,1\n1,1\n", "got values. "),
        ("", "got an empty file"),
        ("\n1\n", "got an empty file"),
        ("y\n", "LABELS must hold a label for each row"),
        ("row,y\n1,1\n", "be a column that the first line of a.csv names. Look at the"),
    ]:
        (folder / "a.csv").write_text(text)
        done = guard("init", "a.csv", "--out", "a.guard")
        assert (done.returncode, done.stdout) == (2, ""), text
        assert said in done.stderr
    (folder / "years.csv").write_text("2019,2020\n1,0\n0,1\n")
    assert guard("init", "years.csv", "-c", "2020", "-o", "years.guard").returncode == 0
    (folder / "a.txt").write_text("\n")
    assert "LABELS must hold a label for each row" in guard("init", "a.txt", "-o", "a.guard").stderr


@pytest.mark.slow
def test_a_column_is_refused_where_no_file_has_any(guard):
    guard("init", "labels.csv", "-c", "y", "--baseline", "new.txt", "--out", "eval.guard")
    for words in (
        ("init", "new.txt", "-o", "other.guard"),
        ("confirm", "eval.guard", "new.txt", "--old", "newer.npy"),
        ("score", "eval.guard", "newer.npy"),
        ("final", "eval.guard"),
    ):
        done = guard(*words, "-c", "y")
        assert (done.returncode, done.stdout) == (2, ""), words
        assert (
            "column must be omitted unless the file is a .csv or .parquet file, got y"
            in done.stderr
        )
    assert guard("confirm", "eval.guard", "new.txt", "--old", "old.csv", "-c", "y").returncode == 0


@pytest.mark.slow
def test_what_is_left_does_not_contradict_itself(guard):
    guard("init", "labels.csv", "-o", "eval.guard", "--baseline", "newer.npy", "--error", "0.075")
    said = [guard("confirm", "eval.guard", "new.txt").stdout for _ in range(12)]
    told = [text.splitlines()[1] for text in said if text]
    assert any(", or one score of up to " in line for line in told)
    assert told[-1].startswith("remaining: only ")
    assert "the final answer; next answer within" in told[-1]
    assert all(" 0 yes-or-no" not in line for line in told)
    made = guard("init", "labels.csv", "-o", "full.guard", "--error", "0.0605")
    assert "only the final answer; next answer within 0.06043" in made.stdout


@pytest.mark.slow
def test_figures_are_clean(guard):
    guard("init", "labels.csv", "-o", "eval.guard", "--baseline", "old.csv", "--error", "0.2")
    assert json.loads(guard("confirm", "eval.guard", "new.txt", "--json").stdout)["bits"] == 1
    assert "spent      1 answer, 1 bit\n" in _trimmed(guard("status", "eval.guard").stdout)
    assert json.loads(guard("confirm", "eval.guard", "new.txt", "--json").stdout)["bits"] == 2
    status = json.loads(guard("status", "eval.guard", "--json").stdout)
    assert (status["bits"], status["whole"]) == (3, True)


def _trimmed(text):
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("status", "done"),
    [(0, "cp"), (1, "rm"), (2, ""), (3, ""), (70, ""), (74, "")],
)
def test_the_agent_of_the_guide_throws_work_away_on_a_no_alone(status, done):
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "holdout.md").read_text()
    (script,) = [b for b in guide.split("```sh\n") if "case $said in" in b.partition("```")[0]]
    stubs = f'sourdine() {{ [ "$2" = final ] || return {status}; }}\n'
    stubs += "cp() { echo cp; }\nrm() { echo rm; }\n"
    script = script.partition("```")[0]
    ran = subprocess.run(["sh", "-c", stubs + script], capture_output=True, text=True, check=False)  # noqa: S603, S607
    assert (ran.stdout.strip(), ran.stderr) == (done, "")
    assert (ran.returncode == 0) == (status < 2)


@pytest.mark.slow
def test_a_leaderboard_from_the_shell(guard, tmp_path):
    guard("init", "labels.csv", "-o", "eval.guard")
    first = guard("leaderboard", "submit", "eval.guard", "anna <b>", "old.csv")
    assert first.returncode == 0
    assert first.stdout.startswith("leads with ")
    worse = guard("leaderboard", "submit", "eval.guard", "ben", "old.csv", "--json")
    assert worse.returncode == 1
    facts = json.loads(worse.stdout)
    assert (facts["leads"], facts["value"]) == (False, None)
    assert guard("leaderboard", "submit", "eval.guard", "cleo", "new.txt").returncode == 0
    shown = guard("leaderboard", "show", "eval.guard", "--plot", "board.html")
    for name in ("anna <b>", "ben", "cleo", "3 submissions of 3 teams, 2 led"):
        assert name in shown.stdout
    page = (tmp_path / "board.html").read_text(encoding="utf-8")
    assert "<title>Leaderboard</title>" in page
    assert "anna &lt;b&gt;" in page
    assert "anna <b>" not in page
    guard("leaderboard", "show", "eval.guard", "--plot", "board.png")
    assert (tmp_path / "board.png").stat().st_size > 5000
    listed = json.loads(guard("leaderboard", "show", "eval.guard", "--json").stdout)["teams"]
    assert [team["name"] for team in listed] == ["cleo", "anna <b>", "ben"]
    refused = guard("leaderboard", "submit", "eval.guard", "a", "old.csv", "--step", "0.3")
    assert refused.returncode == 2
    assert "--step must be 0." in refused.stderr


@pytest.mark.slow
def test_plans_from_the_shell(guard):
    planned = json.loads(
        guard("plan", "--n", "5000", "--answers", "300", "--yes", "10", "--json").stdout
    )
    assert 0.07 < planned["error"] < 0.073
    board = guard("plan", "--n", "5000", "--submissions", "300", "--leads", "3").stdout
    assert "3rd lead" in board
    words = ("--surprises", "5", "--volunteer", "500", "--error", "0.03")
    asked = guard("plan", "--n", "100000", "--queries", "10000", *words).stdout
    assert "last answer" in asked
    assert "0.0773" in asked
    several = guard("plan", "--n", "100000", "--queries", "10", "--answers", "3")
    assert "--queries must not be combined with --answers" in several.stderr
    alone = guard("plan", "--n", "5000", "--answers", "300", "--volunteer", "500")
    assert "--volunteer must be omitted without --queries" in alone.stderr
    both = guard("plan", "--n", "5000", "--submissions", "300", "--answers", "3")
    assert both.returncode == 2
    none = guard("plan", "--n", "5000")
    assert "--answers must be given, or --submissions. Use --answers 300." in none.stderr


@pytest.mark.slow
def test_how_label_files_are_read_is_declared(guard, folder):
    labels = "".join(f"José;{i % 7},{i % 10}\n" for i in range(300))
    (folder / "odd.csv").write_bytes(f"näme;y\n{labels}".encode("cp1252"))
    (folder / "bare.csv").write_text("".join(f"{i % 7},{i % 10}\n" for i in range(300)))
    odd = ("--separator", ";", "--decimal", ",")
    terms = ("--loss", "absolute", "--scale", "1", "-o", "odd.guard")
    refused = guard("init", "odd.csv", "-c", "y", *odd, *terms)
    assert (refused.returncode, "must be a well-formed CSV file" in refused.stderr) == (2, True)
    made = guard("init", "odd.csv", "-c", "y", *odd, *terms, "--encoding", "cp1252")
    assert "300 numbers, absolute loss" in made.stdout, made.stderr
    bare = ("bare.csv", "--header", "y", *odd)
    assert guard("score", "odd.guard", *bare).stdout.startswith("1 (between 0.")
    assert guard("confirm", "odd.guard", *bare, "--old", "bare.csv").returncode == 1
    assert "leads with 1 " in guard("leaderboard", "submit", "odd.guard", "anna", *bare).stdout
    assert guard("final", "odd.guard", *bare).stdout.startswith("1 (between 0.")


@pytest.mark.slow
def test_rows_are_added(guard, folder):
    write(folder / "more.csv", LABELS[::-1])
    write(folder / "continued.csv", 1 - LABELS[::-1])
    write(folder / "all.csv", [*mistaken(100), *LABELS[::-1]])
    guard("init", "labels.csv", "--baseline", "old.csv", "--out", "eval.guard")
    done = guard("extend", "eval.guard", "more.csv", "--confirmed", "continued.csv")
    assert done.returncode == 0, done.stderr
    assert "1200 whole numbers" in done.stdout
    assert "added      600 rows on 20" in done.stdout
    assert "UTC, after 0 answers" in done.stdout
    assert guard("confirm", "eval.guard", "all.csv").returncode == 0
    facts = json.loads(guard("status", "eval.guard", "--json").stdout)
    assert facts["labels"] == 1200
    assert [(g["added"], g["n"], g["answers"]) for g in facts["growth"]] == [(600, 1200, 0)]
    done = guard("confirm", "eval.guard", "old.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "a prediction for each of the 1200 labels, got 600" in done.stderr
    write(folder / "more.csv", [f"{y};x" for y in LABELS], header="y;z")
    done = guard("extend", "eval.guard", "more.csv", "-c", "y", "--separator", ";")
    assert (done.returncode, done.stdout.count("added")) == (0, 2)
    done = guard("extend", "eval.guard", "labels.csv", "--confirmed", "continued.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--confirmed must be omitted when no predictions are confirmed" in done.stderr


@pytest.mark.slow
def test_how_many_rows_to_add(guard):
    done = guard("plan", "--n", "5000", "--answers", "300", "--yes", "10", "--error", "0.05")
    assert done.returncode == 0, done.stderr
    assert "final answer, 5262 rows added" in done.stdout
    words = ("--n", "5000", "--submissions", "300", "--leads", "3", "--error", "0.05", "--json")
    assert json.loads(guard("plan", *words).stdout)["added"] == 3411
