"""Counts: their error, their interval, what is refused."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
import pytest
from scipy.special import gammaincc

from sourdine import count
from sourdine.audit import worst_case
from sourdine.central import Count
from sourdine.frames import Frame
from sourdine.frames.memory import Memory
from sourdine.noise import SeededSource


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("rows", [1, 3])
def test_count_error_is_that_of_the_noise(rows, simulated):
    asked = Count(epsilon=0.5, rows=rows)
    values, low, high = simulated(asked, [0] * 100, 2000)
    seen = np.quantile(np.abs(values - 100), 0.95)
    assert 0.9 <= asked.error(0.05) / seen <= 1.2
    assert ((low <= 100) & (high >= 100)).mean() >= 0.95 - 6 * sqrt(0.0475 / 2000)


@pytest.mark.parametrize("rows", [1, 3])
def test_a_person_changes_the_law_by_what_is_charged(rows):
    asked = Count(epsilon=0.5, rows=rows)
    worst = worst_case(asked.mechanism, [100, 100 + rows])
    assert worst.epsilon == pytest.approx(float(asked.cost.epsilon), abs=1e-9)


@pytest.mark.parametrize("rows", [1, 3])
def test_all_records_of_a_person_move_the_law_by_what_is_charged(rows):
    asked = Count(epsilon=0.5, rows=rows)
    here, there = (asked.mechanism.law(n) for n in (100, 100 + rows))
    assert here.divergence(there).value == pytest.approx(0.5, abs=1e-9)


def test_as_many_records_of_a_person_are_counted_as_are_asked_for():
    x = {"who": ["a"] * 30 + ["b"] * 20 + ["c"], "age": [1] * 51}
    for rows, kept in [(1, 3), (5, 11), (20, 41)]:
        assert abs(count(x, epsilon=1000, unit="who", rows=rows).value - kept) <= 1


def test_a_column_is_counted_without_what_is_missing():
    x = {"a": [1, None, float("nan"), 4] * 500, "b": ["x", None, "", "y"] * 500}
    every, some, texts = (count(x, epsilon=5, **c) for c in ({}, {"column": "a"}, {"column": "b"}))
    assert abs(every.value - 2000) < 50
    assert abs(some.value - 1000) < 50
    assert abs(texts.value - 1000) < 50  # an empty text is missing
    assert "All records are counted, including those with missing values." in every.caveats
    assert "Records whose value is empty are not counted; any other text counts." in some.caveats


WRONG = [
    (
        lambda: count([1]),
        "count() missing a required argument: 'epsilon' or 'error'. Use epsilon=1",
    ),
    (
        lambda: count([1], epsilon=1, error=1),
        "epsilon must not be combined with error",
    ),
    (lambda: count([1], epsilon=0), "epsilon must be above 0, got 0. Use"),
    (lambda: count([1], epsilon="much"), "epsilon must be a number, got 'much'"),
    (lambda: count([1], epsilon=1, rows=0), "rows must be at least 1, got 0. Use"),
    (lambda: count([1], epsilon=1, n="nonsense"), "n must be a whole number, got 'nonsense'"),
    (lambda: count([1], epsilon=1, n=-5), "n must be at least 1, got -5"),
    (lambda: count([1], epsilon=1, delta=0.05), "delta must be omitted where nothing needs it"),
    (lambda: count([1], epsilon=1, relation="local"), "must be 'add_remove' or 'substitute'"),
    (lambda: count([1], epsilon=1, relation="x"), "relation must be"),
    (lambda: count([1], error=-1), "error must be above 0"),
    (lambda: count([1], epsilon=1, confidence=1), "confidence must be above 0 and below 1"),
    (lambda: count([1], epsilon=1).interval(of="law"), "of must be 'sample' or 'population'"),
    (lambda: count([1], epsilon=1).interval(of="population"), "or ask for a mean or a proportion."),
    (lambda: count([1], epsilon=1).interval(1.2), "confidence must be above 0 and below 1"),
]


@pytest.mark.parametrize(("call", "text"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_parameters_say_what_to_type(call, text, refused):
    refused(call, text)


@pytest.mark.slow
def test_single_counts_follow_the_law_that_is_charged():
    """Chi-squared over 5000 public calls: noise at nine tenths of its scale is seen."""
    source, q = SeededSource(11), exp(-1)
    off = [round(count([0] * 40, epsilon=1, source=source).value) - 40 for _ in range(5000)]
    sizes = np.bincount(np.minimum(np.abs(off), 5), minlength=6)
    chances = (1 - q) / (1 + q) * np.array([1, *(2 * q**k for k in range(1, 5)), 0])
    chances[5] = 1 - chances.sum()
    distance = float((((sizes - 5000 * chances) ** 2) / (5000 * chances)).sum())
    assert gammaincc(5 / 2, distance / 2) > 1e-3
    assert abs(np.sign(off).sum()) < 4 * np.count_nonzero(off) ** 0.5


def test_only_data_that_were_opened_before_are_read_afresh(monkeypatch):
    """An open frame may hold answers to an earlier question."""
    seen = []
    monkeypatch.setattr(Memory, "afresh", lambda rows: seen.append(rows) or rows)
    frame = Frame([1, 2, 3])
    for data, times in ((frame, 1), (frame.engine, 2), ([1, 2, 3], 2)):
        Count(epsilon=1).release(data)
        assert len(seen) == times
