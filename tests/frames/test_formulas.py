"""The language of formulas: what it parses, how it is typed, and what it refuses by name."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sourdine as sd
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.frames.formulas.parsing import (
    AGGREGATES,
    CHANGING,
    FUNCTIONS,
    INEXACT,
    WINDOWS,
    parsed,
)
from sourdine.frames.frame import Frame

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "formulas.md"
ROWS = pd.DataFrame(
    {
        "i": np.array([7, -7, 0]),
        "x": [7.5, -7.5, np.nan],
        "t": pd.array(["Ab", " c ", ""], "string"),
        "d": pd.to_datetime(["2024-02-29", "1999-12-31", None]),
        "e": pd.to_datetime(["2024-03-01 12:00", "2000-01-01 00:00", None]),
        "b": pd.array([True, False, None], "boolean"),
    }
)


def values(text, data=ROWS):
    """Return the texts of a formula, in the order of the rows."""
    return Frame(data).derived(None, ("column", text)).column(text).texts.tolist()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("i // 2", ["3", "-4", "0"]),
        ("i % 3", ["1", "-1", "0"]),
        ("i % -3", ["1", "-1", "0"]),
        ("x % 4", ["3.5", "-3.5", None]),
        ("x // 2", ["3", "-4", None]),
        ("i / 0", [None, None, None]),
        ("7 // i", ["1", "-1", None]),
        ("i * 9223372036854775807", [None, None, "0"]),
        ("round(x)", ["8", "-8", None]),
        ("coalesce(x, i)", ["7.5", "-7.5", "0"]),
        ("least(x, i, 3)", ["3", "-7.5", "0"]),
        ("clamp(i, -1, 1)", ["1", "-1", "0"]),
        ("case when i > 0 then 'up' when i < 0 then 'down' end", ["up", "down", None]),
        ("t || '!'", ["Ab!", " c !", None]),
        ("concat(t, '!')", ["Ab!", " c !", "!"]),
        ("length(trim(t))", ["2", "1", None]),
        ("upper(t)", ["AB", " C ", None]),
        ("replace(t, 'b', '')", ["A", " c ", None]),
        ("substr(t, 2)", ["b", "c ", None]),
        ("e - d", ["1.5", "1", None]),
        ("hours(e - d)", ["36", "24", None]),
        ("date_diff('year', d, e)", ["0", "1", None]),
        ("weekday(d)", ["4", "5", None]),
        ("date_trunc('month', d)", ["2024-02-01", "1999-12-01", None]),
        ("d + interval '1 day'", ["2024-03-01 00:00:00", "2000-01-01 00:00:00", None]),
        ("extract(year from d)", ["2024", "1999", None]),
        ("b and null", [None, "false", None]),
        ("b or null", ["true", None, None]),
        ("not b", ["false", "true", None]),
        ("b is null", ["false", "false", "true"]),
        ("b is not true", ["false", "true", "true"]),
        ("x is distinct from i", ["true", "true", "true"]),
        ("number(b) + 1", ["2", "1", None]),
        ("cast(x as integer)", ["8", "-8", None]),
        ("integer(x)", ["7", "-7", None]),
        ("cast(i as integer)", ["7", "-7", "0"]),
        ("(i / 2)::int", ["4", "-4", "0"]),
        ("x::varchar", ["7.5", "-7.5", None]),
        ("i in (7, 8.5)", ["true", "false", "false"]),
        ("t like 'A_'", ["true", "false", None]),
        ("d >= '2000-01-01'", ["true", "false", None]),
        ("make_date(2023, 2, 29 + i)", [None, "2023-02-22", None]),
    ],
)
def test_a_formula_has_these_values(text, wanted):
    assert values(text) == wanted


def test_cells_without_a_type_are_read_as_they_are_needed():
    data = {"a": ["3", " 4 ", "x", None, "1e400"], "b": ["10", "4", "5", "6", "7"]}
    assert values("a + 1", data) == ["4", "5", None, None, "inf"]
    assert values("number(a) < number(b)", data) == ["true", "false", None, None, "false"]
    assert values("text(a) < text(b)", data) == ["false", "true", "false", None, "true"]
    assert values("a = '3'", data) == ["true", "false", "false", None, "false"]


@pytest.mark.parametrize("name", sorted({*AGGREGATES, *WINDOWS, *CHANGING, *INEXACT}))
def test_what_one_row_does_not_decide_is_refused_by_name(name):
    with pytest.raises(ParameterError) as caught:
        parsed(f"i > {name}(i)")
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("i > (select max(i) from t)", "a query inside"),
        ("exists (select 1)", "a query inside"),
        ("i in (select 1)", "a query inside"),
        ("sum(i) over ()", "a window"),
        ("count(*) > 3", "'count'"),
        ("max(i) > 3", "'max'"),
        ("i ^ 2", "have no powers"),
        ("i > ?", "have no placeholders"),
        ("t ~ 'a'", "supported operators"),
        ("i >", "be one expression"),
        ("i; drop table x", "one expression"),
        ("s.i > 3", "name columns without a table"),
        ("foo(i)", "'foo'"),
        ("lowr(t)", "lower"),
        ("d + interval '1 month'", "fixed length"),
        ("current_date > d", "'current_date'"),
        ("(" * 3000 + "i" + ")" * 3000, "one expression"),
        ("not " * 70 + "b", "have at most 60 steps"),
        ("i" + " + 1" * 5000, "have at most 10000 characters"),
        ("i + 't'", "got 't'"),
        ("t + 1", "a number there"),
        ("i = t", "one type"),
        ("t = ''", "not empty"),
        ("d - 3", "take durations from dates"),
        ("round(x, i)", "a whole number from -15 to 15"),
        ("abs()", "call abs(x)"),
        ("1 + 1", "at least one column"),
        ("x > 9e999", "64 bits"),
        ("t like 'a\\%'", "like"),
    ],
)
def test_wrong_formulas_are_refused(text, said):
    with pytest.raises(ParameterError) as caught:
        values(f"({text})")
    assert said in str(caught.value)


def test_unreadable_texts_are_no_error_of_another_kind():
    """Whatever is typed, the error is one of parameters."""
    rng = np.random.default_rng(2)
    words = ["i", "x", "t", "(", ")", "+", "and", "case", "when", "'a'", "1", ",", "in", "between",
             "not", "is", "null", "interval", "date", "::", "over", "select", '"', "[", "{", "--",
             "/*", "\\", "\0", "é", "%", "like", "end", ".", ";", "abs", "lower", "="]  # fmt: skip
    for _ in range(1500):
        text = " ".join(rng.choice(words, rng.integers(1, 9)))
        with suppress(ParameterError, ParameterTypeError):
            sd.count(ROWS, where=text, epsilon=1)


def test_the_guide_lists_every_function():
    rows = [line.split(" | ") for line in GUIDE.read_text(encoding="utf-8").splitlines()]
    listed = {row[0].strip("| "): row[1] for row in rows if len(row) == 2 and row[0][2:3] == "`"}
    for function in FUNCTIONS.values():
        assert listed[f"`{function.usage}`"].startswith(function.text)
        assert all(f"`{name}`" in listed[f"`{function.usage}`"] for name in function.names)


def test_the_parser_is_loaded_by_the_first_formula():
    code = (
        "import sys, sourdine as sd; sd.count([1, 2], epsilon=1); "
        "assert 'sqlglot' not in sys.modules; "
        "sd.count({'x': [1, 2]}, where='x > 1', epsilon=1); assert 'sqlglot' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own
