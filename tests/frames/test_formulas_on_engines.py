"""Random formulas on hostile rows: every engine gives what plain Python computes row by row.

``python benchmarks/formulas.py`` compares 2,000 of them, on PostgreSQL and Spark, too.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib.util import find_spec

import pytest

from every_engine import ENGINES, OPTIONAL
from formula_reference import text as expected
from formula_reference import value
from random_formulas import formulas, hostile
from sourdine.errors import ParameterError
from sourdine.frames.duck import Duck
from sourdine.frames.formulas.engine import Derived, read_formulas
from sourdine.frames.frame import Frame
from sourdine.frames.lazy import LazyEngine

QUICK, MANY, TOGETHER = 90, 330, 15


ALWAYS = [
    ("float", "amount / 0"), ("float", "1 / amount"), ("float", "amount // 0"),
    ("float", "amount % (amount - amount)"), ("boolean", "not (amount in (0.5, 2.5))"),
    ("boolean", "not (amount < 1)"), ("text", "city || digits"), ("text", "concat(city, digits)"),
    ("integer", "whole + 1"), ("integer", "whole * whole"), ("integer", "abs(whole)"),
    ("integer", "whole // small"), ("integer", "whole % small"), ("integer", "-whole"),
    ("float", "round(amount)"), ("float", "number(digits)"), ("integer", "integer(amount)"),
    ("text", "lower(city)"), ("text", "upper(city)"), ("text", "trim(city)"),
    ("integer", "weekday(day)"), ("time", "moment + interval '1 day'"), ("float", "moment - day"),
    ("boolean", "flag and amount > 1"), ("boolean", "flag or amount > 1"), ("boolean", "not flag"),
]  # fmt: skip
"""Formulas that are compared in every run: each has an edge of its own."""


@cache
def wanted(n):
    """Return formulas, and what plain Python gives for each: texts, and how often they occur."""
    table = hostile()
    engine, rows = Frame(table).engine, table.to_pylist()
    found = []
    for kind, text in [*ALWAYS, *formulas(n)]:
        try:
            formula = read_formulas(engine, None, [("column", text)]).columns[text]
        except (ParameterError, KeyError):
            continue  # constants alone, and literals of another type
        texts = Counter(expected(formula, row) for row in rows)
        kept = sum(value(formula, row) is True for row in rows) if kind == "boolean" else None
        del texts[None]
        found.append((text, dict(texts), kept))
    return found


def compare(frame, asked):
    """Compare some formulas, which are all derived at once, and each filter alone."""
    derived = frame.derived(None, *(("column", text) for text, _, _ in asked)).computed()
    for text, texts, kept in asked:
        keys, counts = derived.distinct(text)
        assert dict(zip(keys, counts.tolist(), strict=True)) == texts, text
        if kept is not None:
            assert len(frame.derived(text).computed()) == kept, text


@pytest.mark.slow
def test_formulas_are_enough_and_of_every_step():
    assert len(wanted(MANY)) >= 300
    engine = Frame(hostile()).engine
    nodes = [read_formulas(engine, None, [("column", t)]).columns[t] for t, _, _ in wanted(MANY)]
    from sourdine.frames.formulas.arrays import _STEPS

    assert {n.operation for node in nodes for n in node} >= set(_STEPS) - {"looked_up"}


UNTYPED = {"list", "json lines", "excel"}
"""Their cells have no types: formulas read them as they need, integers as floats."""
TYPED = [name for name in ENGINES if name not in UNTYPED]


@pytest.mark.quick_cases(2)
@pytest.mark.filterwarnings("ignore:.*:FutureWarning", "ignore:.*:DeprecationWarning")
@pytest.mark.parametrize("engine", TYPED)
def test_engines_agree_on_formulas(engine, tmp_path):
    agree(engine, wanted(QUICK), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pandas", "polars lazy", "duckdb file"])
def test_engines_agree_on_many_formulas(engine, tmp_path):
    agree(engine, wanted(MANY), tmp_path)


def agree(engine, asked, folder):
    needed = OPTIONAL.get(engine)
    if needed and find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed: pip install '.[dev]'")
    frame = ENGINES[engine](folder)(hostile())
    if isinstance(frame.engine, LazyEngine):  # it computes all formulas of a question, or none
        alone = {text: frame.derived(None, ("column", text)).computed() for text, _, _ in asked}
        own = [one for one in asked if isinstance(alone[one[0]].engine, LazyEngine)]
        assert len(own) > len(asked) / 5 or not engine.startswith("polars")
        asked = [*own, *(one for one in asked if one not in own)]
    for i in range(0, len(asked), TOGETHER):
        compare(frame, asked[i : i + TOGETHER])


@pytest.mark.parametrize("engine", ["polars lazy", "duckdb file"])
def test_a_filter_is_computed_where_a_column_is_not(engine, tmp_path):
    """The engine keeps the rows, and NumPy computes the others' column."""
    table, where, text = hostile(), "whole > small", "make_date(2024, small, 1)"
    frame = ENGINES[engine](tmp_path)(table).derived(where, ("column", text)).computed()
    assert isinstance(frame.engine, Derived)
    assert frame.engine.formulas.where is None
    here = Frame(table).derived(where, ("column", text)).computed()
    assert len(frame) == len(here)
    (keys, counts), (wanted, own) = (f.distinct(text) for f in (frame, here))
    assert (keys, counts.tolist()) == (wanted, own.tolist())
    assert 0 < own.sum() < len(here)


def test_duckdb_computes_most_formulas_itself(tmp_path):
    frame = ENGINES["duckdb file"](tmp_path)(hostile())
    own = [isinstance(frame.derived(None, ("column", t)).computed().engine, Duck)
           for t, _, _ in wanted(QUICK)]  # fmt: skip
    assert sum(own) > 0.7 * len(own)


def test_the_rows_of_a_key_are_still_cut_when_formulas_are_computed():
    people = Frame({"region": ["n", "s", "n", "e"], "age": [31, 17, 52, 40]})
    parts = people.derived("age > 18", ("column", "age * 2")).split("region", ["n", "s", "e"])
    assert [len(part.computed()) for part in parts] == [len(part) for part in parts] == [2, 0, 1]
