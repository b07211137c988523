"""Random formulas, computed on executors, row by row as plain Python does."""

from __future__ import annotations

from collections import Counter

import pytest

from formula_reference import text as expected
from formula_reference import value
from random_formulas import formulas, hostile
from sourdine.errors import ParameterError
from sourdine.frames.formulas.engine import read_formulas
from sourdine.frames.frame import Frame

FORMULAS = 240


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


@pytest.mark.parametrize("where", ["whole % 2 = 1 or city like '%a%'", "moment > day", "not flag"])
def test_spark_keeps_the_same_rows(frame, where):
    tree = read(frame.engine, where)
    kept = sum(value(tree, row) is True for row in hostile().to_pylist())
    found = frame.derived(where).computed()
    assert len(found) == kept
    assert len(found.only("city").bound("city", 1)) <= kept
