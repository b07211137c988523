"""Random formulas, computed by Spark and on executors, row by row as plain Python does."""

from __future__ import annotations

from collections import Counter

import pytest

from formula_reference import text as expected
from formula_reference import value
from random_formulas import PARTS, UNITS, formulas, hostile
from sourdine.errors import ParameterError
from sourdine.frames.formulas.engine import Formulas, read_formulas
from sourdine.frames.formulas.tree import Formula, NotExactError, Type
from sourdine.frames.frame import Frame
from sourdine.frames.reading import read_text
from sourdine.frames.spark.formulas import LARGEST

FORMULAS = 240
OF_SPARK = [
    "whole + small", "whole * whole", "whole - 9223372036854775807", "whole // small", "-whole",
    "whole % small", "abs(whole)", "sign(small)", "amount + 1e308", "amount - amount",
    "round(amount)", "amount * 0.0", "amount / amount", "amount // 0.3", "amount % 0.7",
    "sqrt(amount)", "floor(amount)", "ceil(amount)", "-amount", "abs(amount)", "integer(amount)",
    "whole / small", "number(flag)", "round(amount, 2)", "integer(9.3e18 * amount)",
    "amount // 1e-300", "lower(city)", "upper(city)", "trim(city)", "ltrim(city)", "rtrim(city)",
    "substr(city, 2, 2)", "left(city, 1)", "right(city, 2)", "replace(city, 'a', 'ab')",
    "city || digits", "length(city)", "text(whole)", "text(flag)", "city like '%a_'",
    "city like '%b__'", "starts_with(city, 'P')", "contains(city, 'a')",
    "ends_with(digits, '1')", "city < digits", "city in ('Paris', 'é')", "flag and small > 0",
    "flag or amount <= 0.5", "small in (1, 3)",
    "not flag", "coalesce(whole, small)", "nullif(small, 3)", "greatest(amount, 0.5)",
    "case when flag then city else digits end", "day is null", "moment - day > interval '1 day'",
    "moment + interval '36 hours'", "date(moment)", *(f"{p}(moment)" for p in PARTS),
    *(f"date_trunc('{u}', moment)" for u in UNITS), *(f"{p}(day)" for p in PARTS[:6]),
]  # fmt: skip
"""What Spark computes itself, at least once for each step."""


@pytest.fixture
def frame(spark, as_spark):
    return Frame(as_spark(spark, hostile()))


def read(engine, text):
    try:
        return read_formulas(engine, None, [("column", text)]).columns[text]
    except (ParameterError, KeyError):  # constants alone, and literals of another type
        return None


def test_spark_agrees_on_formulas(frame):
    rows = hostile().to_pylist()
    asked = {text: read(frame.engine, text) for _, text in formulas(FORMULAS)}
    asked = {text: tree for text, tree in asked.items() if tree is not None}
    assert len(asked) > 200
    derived = frame.derived(None, *(("column", text) for text in asked)).computed()
    names = list(asked)
    found = Counter()
    for columns, counts in derived.engine.combinations(names):
        texts = zip(*(column.texts.tolist() for column in columns), strict=True)
        for key, n in zip(texts, counts.tolist(), strict=True):
            found[key] += n
    want = Counter(tuple(expected(asked[text], row) for text in names) for row in rows)
    for i, text in enumerate(names):
        one, other = Counter(), Counter()
        for key, n in found.items():
            one[key[i]] += n
        for key, n in want.items():
            other[key[i]] += n
        assert one == other, text
    assert found == want


def of_spark(engine, tree):
    try:
        engine.expressions.column(tree)
    except NotExactError:
        return False
    return True


def counted(derived, texts):
    """How often each text occurs among the values of each formula."""
    found = [Counter() for _ in texts]
    for columns, counts in derived.engine.combinations(texts):
        for own, column in zip(found, columns, strict=True):
            for text, n in zip(column.texts.tolist(), counts.tolist(), strict=True):
                own[text] += n
    return found


@pytest.mark.parametrize(
    ("session", "ansi"), [("classic", "true"), ("classic", "false"), ("connect", "true")]
)
def test_every_step_that_spark_computes_agrees(sparks, as_spark, settings, session, ansi):
    """Where Spark raises errors of arithmetic, and where it does not."""
    spark, rows = getattr(sparks, session), hostile().to_pylist()
    frame = Frame(as_spark(spark, hostile()))
    asked = {text: read(frame.engine, text) for text in OF_SPARK}
    assert all(asked.values())
    assert [text for text, tree in asked.items() if not of_spark(frame.engine, tree)] == []
    settings(spark, {"spark.sql.ansi.enabled": ansi})
    derived = frame.derived(None, *(("column", text) for text in asked)).computed()
    found = dict(zip(asked, counted(derived, list(asked)), strict=True))
    for text, tree in asked.items():
        assert found[text] == Counter(expected(tree, row) for row in rows), text


@pytest.mark.parametrize("kind", [Type.INTEGER, Type.TEXT, Type.FLOAT])
def test_spark_looks_up(frame, kind):
    values = {Type.INTEGER: (3, 2**62), Type.TEXT: ("x", "é"), Type.FLOAT: (0.5, -1e300)}[kind]
    pairs = (("Paris", values[0]), ("Évry", None), ("😀 a", values[1]))
    node = Formula("looked_up", (Formula("column", (), "city", Type.TEXT),), pairs, kind)
    assert of_spark(frame.engine, node)
    (columns, counts), *_ = frame.engine.derived(Formulas(None, {"x": node})).combinations(["x"])
    found = Counter()
    for text, n in zip(columns[0].texts.tolist(), counts.tolist(), strict=True):
        found[text] += n
    known = {text: value and read_text(value) for text, value in pairs}
    assert found == Counter(known.get(row["city"]) for row in hostile().to_pylist())


def test_spark_leaves_what_it_cannot_compute_equally(frame):
    left = ["number(digits)", "text(amount)", "decimal + 1", "date(digits)", "time(digits)"]
    left += ["make_date(2023, small, 29)", " + ".join(["amount"] * (LARGEST // 2 + 1))]
    for text in left:
        assert not of_spark(frame.engine, read(frame.engine, text)), text


@pytest.mark.parametrize(
    "where", ["whole % 2 = 1 or city like '%a%'", "moment > day", "number(digits) > 0"]
)
def test_spark_keeps_the_same_rows(frame, where):
    tree = read(frame.engine, where)
    kept = sum(value(tree, row) is True for row in hostile().to_pylist())
    found = frame.derived(where).computed()
    assert len(found) == kept
    assert len(found.only("city").bound("city", 1)) <= kept
