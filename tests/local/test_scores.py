"""Scores average to the truth: exactly for categories, within their bias for bins."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.local.table.columns import Choice, Flag, Number
from sourdine.local.table.crossed import axis
from sourdine.local.table.schema import Schema

BINS_AND_NONE = np.vstack((np.repeat(np.eye(6)[:5], 4, axis=0), np.eye(6)[5]))


def part(column, epsilon=2, use="table"):
    return Schema.of({"c": column}, epsilon=epsilon).parts(use)["c"]


def rows(mechanism):
    """Return the chances of the cells of the tally, a row for each input, absent last."""
    every = np.arange(mechanism.codes)
    cell = np.repeat(np.arange(mechanism.cells), mechanism.tally(every))
    return np.array(
        [
            np.bincount(cell, mechanism.law(x).pmf(every), mechanism.cells)
            for x in range(mechanism.top + 1)
        ]
    )


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize(
    ("column", "truth"),
    [
        (Choice("a", "b", "c", missing="none"), np.eye(4)),
        (Flag(), np.eye(2)),
        (Flag(missing=True), np.eye(3)),
        (Number(0, 19, step=1), np.repeat(np.eye(5), 4, axis=0)),
        (Number(0, 19, step=1, missing=True), BINS_AND_NONE),
        (Number(0, 19, step=1, method="laplace"), np.repeat(np.eye(5), 4, axis=0)),
        (Number(0, 19, step=1, method="truncated-staircase", missing=True),
         BINS_AND_NONE),
    ],
    ids=str,
)  # fmt: skip
def test_scores_have_the_stated_means(column, truth):
    c = part(column)
    a = axis(c, 10**9)
    means = rows(c.mechanism)[: len(truth)] @ a.scores
    assert means.shape == truth.shape
    assert (np.abs(means - truth) <= a.bias + 1e-9).all()
    exact = not isinstance(column, Number) or column.method is None
    assert not exact or a.bias.max() < 1e-6


def test_parts_have_names():
    assert axis(part(Number(0, 19, step=1)), 10).labels == (
        "0 to 3", "4 to 7", "8 to 11", "12 to 15", "16 to 19",
    )  # fmt: skip
    assert axis(part(Number(0, 1, step=0.25, missing=True)), 10, bins=2).labels == (
        "0 to 0.50", "0.75 to 1", "no answer",
    )  # fmt: skip
    assert axis(part(Number(18, 20, step=1)), 10, bins=9).labels == ("18", "19", "20")
    assert axis(part(Flag(missing=True)), 10).labels == ("false", "true", "no answer")
    assert axis(part(Number(0, 119, step=1)), 10, bins=[18, 65]).labels == (
        "0 to 17", "18 to 64", "65 to 119",
    )  # fmt: skip


@pytest.mark.parametrize("bins", [0, [5, 3], [0, 5], [500]])
def test_bad_bins_are_refused(bins):
    with pytest.raises(ParameterError, match="bins must be"):
        axis(part(Number(0, 19, step=1)), 10, bins=bins)


def test_a_bit_vector_has_no_scores():
    many = Choice(*map(str, range(50)), method="unary")
    with pytest.raises(ParameterTypeError, match="method='response'"):
        axis(part(many, use="report"), 10)
