"""Columns: how answers are read, randomised, written and read back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sourdine.audit import p_value
from sourdine.audit.exhaustive import ALPHA
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.frames.frame import Frame
from sourdine.grid import MISSING
from sourdine.local.table.columns import CATEGORICAL, NUMERIC, Choice, Flag, Number
from sourdine.local.table.part import (
    FLAG_SHARE,
    AnyAnswer,
    ColumnPart,
    PaidFlag,
    decimals,
    filled,
    paid_flag,
)
from sourdine.mechanisms import BoundedLaplace, RandomizedResponse
from sourdine.noise import SeededSource

TRUTHS = (True, False)
NUMBERS = [(0, 12, 1), (0, 5000, 1), (-3, 3, 0.25), (0, 1, None), (10, 1000, 10)]


def part(column, epsilon=2, use="table"):
    return ColumnPart(name="x", column=column, epsilon=Fraction(epsilon), use=use)


def test_an_absent_answer_is_any_answer():
    value = RandomizedResponse(epsilon=1, categories=7)
    draws = AnyAnswer(answer=value).reports(np.full(100_000, 7), SeededSource(1))
    assert np.bincount(draws, minlength=7).min() > 13_500
    assert filled(np.array([3, 7, 2]), 6, SeededSource(1))[[0, 2]].tolist() == [3, 2]


def test_a_paid_flag_spends_exactly():
    for epsilon in (1, Fraction(1, 3), 0.1):
        flagged = paid_flag(BoundedLaplace, epsilon=epsilon, last=9)
        exact = Fraction(str(epsilon))
        assert flagged.guarantee.epsilon == exact
        assert flagged.flag.epsilon == FLAG_SHARE * exact


def test_a_paid_flag_counts_none_apart():
    flagged = paid_flag(BoundedLaplace, epsilon=1, last=3)
    reports = np.array([0, 1, 1, 4, 4, 4, 3])
    assert flagged.tally(reports).tolist() == [1, 2, 0, 1, 3]
    assert flagged.tally(reports).size == flagged.cells
    assert flagged.valid(np.array([-1, 4, 5])).tolist() == [False, True, False]


@pytest.mark.parametrize("method", [None, *NUMERIC])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("ends", NUMBERS, ids=str)
def test_numbers_are_read_back(ends, missing, method):
    """Every report has a value of its own, which is read as the report again."""
    column = part(Number(*ends, method=method, missing=missing))
    codes = np.unique(np.linspace(0, column.mechanism.codes - 1, 5000).astype(np.int64))
    shown = column.shown(codes)
    values = column.written.values(shown)
    assert values.dtype == (np.int64 if column.written.kind == "whole" else np.float64)
    assert len(np.unique(values[shown >= 0])) == np.count_nonzero(shown >= 0)
    blanks = [None if s < 0 else v for s, v in zip(shown, values.tolist(), strict=True)]
    texts = [t or None for t in column.written.texts(shown)]
    for data in (blanks, texts):
        (slots,) = Frame({"x": data}).codes(column.written_cell)
        assert column.read_back(slots[0]).tolist() == codes.tolist()


def test_what_no_report_could_be_is_not_read_back():
    column = part(Number(0, 12, 1, method="laplace"))
    hostile = [0, 12, 13, -1, 1e400, -1e400, "abc", None, 10**400, float("nan"), "6"]
    (slots,) = Frame({"x": hostile}).codes(column.written_cell)
    assert column.read_back(slots[0]).tolist() == [0, 12, *[MISSING] * 8, 6]


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (Choice("a", "b", 'c,"d"\n', " e"), "text"),
        (Choice(1, 2, 3), "whole"),
        (Choice(1, 2.5), "float"),
        (Choice(*TRUTHS), "flag"),
        (Choice(1, 2, missing="none"), "text"),
        (Choice("a", 2**70), "text"),
        (Flag(), "flag"),
        (Flag(missing=True), "flag"),
    ],
    ids=repr,
)
def test_categories_are_read_back(column, kind, tmp_path):
    own = part(column)
    codes = np.arange(own.mechanism.codes)
    shown = own.shown(codes)
    assert own.written.kind == kind
    values = own.written.values(shown).tolist()
    blanks = [None if s < 0 else v for s, v in zip(shown, values, strict=True)]
    path = tmp_path / "x.csv"
    path.write_text("x,y\n" + "".join(f"{t},1\n" for t in own.written.texts(shown)))
    for data in ({"x": blanks}, path):
        (slots,) = Frame(data).codes(own.written_cell)
        assert own.read_back(slots[0]).tolist() == codes.tolist()


@pytest.mark.parametrize("method", [None, *CATEGORICAL])
def test_reports_may_go_by_any_oracle(method):
    for column in (
        Choice(*"abcdefgh", method=method),
        Flag(method=method),
        Choice("a", "b", method=method, missing="-"),
    ):
        own = part(column, use="report")
        assert own.mechanism.guarantee.epsilon == 2
        reports = own.reports(np.array([0, 1, MISSING, 1]), SeededSource(1))
        assert own.mechanism.valid(reports).all()
        assert own.answer.tally(reports).size == own.answer.cells


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("method", NUMERIC)
@pytest.mark.parametrize("missing", [False, True])
def test_a_part_follows_its_law(method, missing):
    own = part(Number(0, 8, 1, method=method, missing=missing), epsilon=1)
    for slot in (0, 5, MISSING):
        drawn = own.reports(np.full(40_000, slot), SeededSource(3))
        law = own.mechanism.law(own.mechanism.top if slot < 0 else slot)
        assert p_value(own.mechanism.outcomes(drawn), law) >= ALPHA
        other = own.mechanism.law(0 if slot == 5 else 8)
        assert p_value(own.mechanism.outcomes(drawn), other) < ALPHA


def test_a_flag_reads_booleans_digits_and_words(tmp_path):
    cell = Flag().cell("x")
    data = [True, False, 0, 1, 0.0, 1.0, "0", "1", "true", "False", "yes", 2, None, "",
            "TRUE", "No", "Y", "f", "maybe"]  # fmt: skip
    (slots,) = Frame({"x": data}).codes(cell)
    assert slots[0].tolist() == [1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, -1, -1, -1, 1, 0, 1, 0, -1]
    (tmp_path / "x.csv").write_text("x\nYES\nFALSE\n n\n1\nt\n")
    (slots,) = Frame(tmp_path / "x.csv").codes(cell)
    assert slots[0].tolist()[:2] + slots[0].tolist()[3:] == [1, 0, 1, 1]
    for kind in (bool, np.int8, np.float64):
        (slots,) = Frame({"x": np.array([1, 0], kind)}).codes(cell)
        assert slots[0].tolist() == [1, 0]


def test_a_third_answer_costs_no_flag():
    own = part(Flag(missing=True), epsilon=1)
    assert own.mechanism == RandomizedResponse(epsilon=1, categories=3)
    assert own.none == 2
    assert not isinstance(own.mechanism, PaidFlag)


def test_decimals_follow_the_grid():
    own = part(Number(0, 1, 0.05, method="laplace"))
    assert own.written.texts(np.array([0, 1, 20, -1])) == ["0.00", "0.05", "1.00", ""]
    assert own.written.values(np.array([3, 6, 7])).tolist() == [0.15, 0.3, 0.35]
    assert decimals(Number(0, 1, Fraction(1, 3)).grid) is None


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Number(3, 1, 1), "lower must be below upper"),
        (lambda: Number(0, 10, 3), "step must divide"),
        (lambda: Number(0, 10, 1, missing="no"), "missing must be True or False"),
        (lambda: Number(0, 10, 1, method="response"), "method must be one of 'square-wave'"),
        (lambda: Choice("a", "b", method="laplace"), "method must be one of 'response'"),
        (lambda: Choice("a"), "categories must hold at least two"),
        (lambda: Choice("a", "a"), "categories must differ"),
        (
            lambda: Choice("a\rb", "c"),
            "categories must be strings without carriage returns and NUL",
        ),
        (lambda: Choice("a", "b", missing="b"), "missing must differ from the categories"),
        (lambda: Choice("a", "b", missing=3), "missing must be True or the name"),
        (lambda: Choice("a", None), "categories must be strings"),
        (lambda: Flag(missing="x"), "missing must be True or False"),
        (lambda: Flag(method="unique"), "method must be one of"),
    ],
)
def test_bad_columns_are_refused(make, said):
    with pytest.raises((ParameterError, ParameterTypeError), match=said):
        make()
