"""Dates in a shell: bounds, steps, formats, ledgers, plans, pictures."""

from __future__ import annotations

import json
import shlex

import pytest

GERMAN = ("--date-format", "%d.%m.%Y")


@pytest.fixture
def people(tmp_path):
    """A file of admissions, as a German hospital writes it."""
    path = tmp_path / "people.csv"
    rows = [f"{k % 28 + 1:02}.{k % 12 + 1:02}.{2020 + k % 5};{k % 28 + 1}.1.2020 {k % 24:02}:30;f"
            for k in range(600)]  # fmt: skip
    path.write_text("\n".join(["admitted;at;sex", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_median_in_the_files_own_format(run, people):
    words = ("median", people, "-c", "admitted", *GERMAN, "--epsilon", 2, "--json")
    for bounds in (
        ("01.01.2020", "31.12.2024"),
        ("2020-01-01", "31.12.2024"),
        ("1.1.2020,31.12.2024",),
    ):
        status, out, _ = run(*words, "--bounds", *bounds, "--step", "1 day")
        facts = json.loads(out)
        assert status == 0
        assert "2021-06" < facts["value"] < "2023-06"
        assert facts["question"]["bounds"] == ["2020-01-01", "2024-12-31"]
        assert facts["question"]["step"] == "1 day"
        assert facts["question"]["read"] == {"date_format": "%d.%m.%Y"}


@pytest.mark.slow
def test_a_mean_of_times_with_a_ledger_and_a_picture(run, people, tmp_path):
    ledger, saved = tmp_path / "a.ledger", tmp_path / "release.json"
    words = (
        "mean",
        people,
        "-c",
        "at",
        *GERMAN,
        "--bounds",
        "01.01.2020 00:00",
        "01.02.2020 00:00",
    )
    status, out, _ = run(
        *words, "--step", "15 min", "--epsilon", 1, "--ledger", ledger, "--total", 3, "--json"
    )
    assert status == 0
    saved.write_text(out, encoding="utf-8")
    low, high = json.loads(out)["interval"]["ends"]
    assert "2020-01-01" <= low <= json.loads(out)["value"] <= high <= "2020-02-01T00"
    assert run("plot", saved, "--out", tmp_path / "release.png")[0] == 0
    assert (tmp_path / "release.png").stat().st_size > 1000
    assert "mean of at" in run("ledger", ledger)[1]


@pytest.mark.slow
def test_a_plan_in_days(run):
    words = ("plan", "mean", "--bounds", "2020-01-01", "2024-12-31", "--n", 10_000)
    status, out, _ = run(*words, "--error", "3 days")
    assert status == 0
    assert "stays within 3 days" in out
    assert json.loads(run(*words, "--epsilon", 1, "--json")[1])["error"].endswith(" us")


@pytest.mark.slow
def test_what_is_refused_in_a_shell(run, people):
    ask = ("mean", people, "-c", "admitted", "--epsilon", 1)
    status, _, err = run(*ask, "--bounds", "01.01.2020", "31.12.2024")
    assert status == 2
    assert "or two dates such as 2020-01-31" in err
    _, _, err = run(*ask, "--bounds", "2020-01-01", "2024-12-31", "--step", 1)
    assert "--step '1 day'" in err
    _, _, err = run("sum", *ask[1:], "--bounds", "2020-01-01", "2024-12-31")
    assert "a sum is not available for dates" in err
    _, _, err = run(*ask, "--bounds", "2020-01-01", "2024-12-31", "--date-format", "%m.%Y")
    assert "--date-format must contain a year, a month and a day" in err


@pytest.mark.slow
def test_the_check_says_what_to_type(run, people):
    status, out, _ = run("inspect", people)
    assert status == 0
    assert "'99.99.9999' 600 times" in out
    (line,) = (line for line in out.splitlines() if line.startswith("type"))
    words = shlex.split(line.removeprefix("type"))
    assert words[-4:-2] == ["--date-format", "%d.%m.%Y"]
    assert run(*words[1:])[0] == 0
