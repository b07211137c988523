from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sourdine.adaptive.holdout import GuardedHoldout
from sourdine.errors import ParameterError, ParameterTypeError, SourdineError

N = 400
LABELS = np.random.default_rng(5).integers(0, 2, N)


@pytest.mark.parametrize(
    ("labels", "right", "hits"),
    [
        ([0, 1, 1, 0], [False, True, True, True], 3),
        ([True, False], np.array([1, 0]), 2),
        (["1", "0"], ["1", "1"], 1),
        ([0.5, 1.0, 2.0], [0.5, 1, 2], 3),
        ([2**60 + 1, 3], [float(2**60), 3.0], 1),
        ([1, None, 2], [1, 2, 2], 2),
        ([float("nan"), 1.0], [1.0, 1.0], 1),
        (["a", None], ["a", "None"], 1),
        (["a", "a\0"], ["a", "a"], 1),
        (np.array(["x", "yy"]), ["x", "y"], 1),
        (pd.Series([1, 2, 3]), pl.Series([1, 2, 4]), 2),
        (pd.Series(["a", "b", None]), pl.Series(["a", "b", "c"]), 2),
        (pl.Series(["a", None]), pd.Series(["a", "b"]), 1),
        (pd.Series([1, None, 3], dtype="Int64"), [1, 2, 3], 2),
        (pd.Series(["a", "b"], dtype="category"), ["a", "b"], 2),
        (pd.Series([True, False]), [1, 1], 1),
        (np.array([1, 2], np.uint64), np.array([1, 2], np.uint8), 2),
        ([Fraction(1, 2)], [0.5], 1),
    ],
)
def test_labels_and_predictions_of_many_kinds(labels, right, hits):
    assert GuardedHoldout(labels).final(right).value == pytest.approx(hits / len(labels))


@pytest.mark.parametrize(
    "labels", [["a", 1], [b"a"], [[1, 2], [3, 4]], "abc", np.ones((2, 2)), [1j], [10**30], [], {1}]
)
def test_labels_of_no_kind_are_refused(labels):
    with pytest.raises(SourdineError, match="must be"):
        GuardedHoldout(labels)


def test_no_labels_are_named_as_such():
    with pytest.raises(ParameterError, match=r"labels must be one for each row .* got none"):
        GuardedHoldout([])


@pytest.mark.parametrize("labels", [LABELS, LABELS.astype(float), [1.0, None] * (N // 2)])
def test_probabilities_for_whole_labels_are_refused_before_anything_is_charged(labels):
    """That labels are whole is public: the refusal does not depend on which ones they are."""
    guard = GuardedHoldout(labels, baseline=[0] * N)
    assert guard.whole
    p = np.random.default_rng(1).random(N)
    p[:5] = np.round(p[:5])
    for ask in (guard.confirm, guard.score, guard.final):
        with pytest.raises(ParameterError, match=r"as 0 or 1, got fractions. Type \(p > 0.5\)"):
            ask(p)
    assert guard.history == []
    assert guard.score((p > 0.5).astype(float)).bits > 0
    with pytest.raises(ParameterError, match="baseline must be labels"):
        GuardedHoldout(labels, baseline=p)


def test_fractions_are_fine_where_labels_have_them_or_distances_count():
    half = GuardedHoldout([0.5, 1.0])
    assert not half.whole
    assert half.final([0.5, 0.3]).value == 0.5
    assert GuardedHoldout([0, 1], loss="absolute", scale=1).final([0.5, 0.5]).value == 0.5
    assert GuardedHoldout([0, 1], loss=lambda p, y: abs(p - y)).final([0.5, 0.5]).value == 0.5
    assert not GuardedHoldout(["a"]).whole


BAD = [
    [0] * (N - 1),
    [0] * (N + 1),
    [],
    ["0"] * N,
    [0.0] * (N - 1) + [float("nan")],
    [0] * (N - 1) + [None],
    [0.0] * (N - 1) + [float("inf")],
    np.zeros((N, 1)),
    np.zeros(N, complex),
    "0" * N,
    None,
    7,
    (x for x in range(N)),
]


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_what_is_said_of_bad_predictions_is_the_same_for_all_labels(bad):
    said = []
    for labels in (LABELS, 1 - LABELS, np.zeros(N, int)):
        guard = GuardedHoldout(labels, baseline=np.zeros(N, int))
        asked = [guard.score, lambda p, g=guard: g.confirm(np.ones(N, int), p)]
        for ask in asked if bad is not None else asked[:1]:
            with pytest.raises((ParameterError, ParameterTypeError)) as caught:
                ask(bad)
            said.append(str(caught.value).replace("old", "predictions"))
        assert guard.ledger.history == []
    assert len(set(said)) == 1
    assert "must be" in said[0]


def test_nothing_but_answers_depends_on_the_labels():
    guards = [GuardedHoldout(y, baseline=[0] * N, target=0.2) for y in (LABELS, 1 - LABELS)]
    seen = []
    for guard in guards:
        verdict = guard.confirm([0] * N)
        facts = repr(guard), str(verdict), str(guard.certificate()), repr(guard.remaining())
        seen.append((*facts, [(line.what, line.bits) for line in guard.history]))
    assert seen[0] == seen[1]
    assert not {"_labels"} & {name for name in dir(guards[0]) if not name.startswith("_")}
    assert "array" not in repr(guards[0]._labels)


def test_absolute_loss():
    guard = GuardedHoldout([0, 10, 20, None], loss="absolute", scale=10)
    assert guard.final([5, 10, 100, 0]).value == pytest.approx(1 - (0.5 + 0 + 1 + 1) / 4)
    with pytest.raises(ParameterError, match="scale must be given"):
        GuardedHoldout([1], loss="absolute")
    with pytest.raises(ParameterTypeError, match="labels must be numbers"):
        GuardedHoldout(["a"], loss="absolute", scale=1)
    with pytest.raises(ParameterError, match="scale must be left out"):
        GuardedHoldout([1], scale=1)
    with pytest.raises(ParameterError, match="scale must be above 0"):
        GuardedHoldout([1], loss="absolute", scale=0)
    with pytest.raises(ParameterError, match=r"loss must be .* got 'mse'"):
        GuardedHoldout([1], loss="mse")
    with pytest.raises(ParameterError, match=r"loss must be .* got int"):
        GuardedHoldout([1], loss=3)


def test_a_loss_of_your_own():
    guard = GuardedHoldout(
        [0, 1, 1], loss=lambda p, y: (p[:, 1] if p.ndim == 2 else p) * 0 + 9 * (y - 0.9)
    )
    assert guard.score(np.full((3, 2), 0.5)).value == pytest.approx(
        1 - (0 + 0.9 + 0.9) / 3, abs=0.01
    )

    def fussy(p, y):
        warnings.warn(str(y), stacklevel=1)
        if (p[y == 1] == 7).any():
            raise ValueError(y)
        return np.where(p == 8, np.nan, p != y)

    with pytest.warns(UserWarning, match="0 1 1"):
        guard = GuardedHoldout([0, 1, 1], loss=fussy)
    assert guard.score([0, 1, 1]).value == 1
    assert guard.score([0, 7, 1]).value == 0
    assert guard.score([8, 1, 1]).value == pytest.approx(0.67)
    with pytest.raises(ParameterError, match="one value for each of 3 rows"):
        GuardedHoldout([0, 1, 1], loss=lambda p, y: 0.5)  # noqa: ARG005


def test_a_loss_of_your_own_works_on_copies():
    labels = np.array([0.0, 1.0, -1.0] * 100)

    def spoils(predictions, truth):
        predictions[truth == -1] = -1
        predictions -= truth
        truth[:] = 0
        return np.minimum(np.abs(predictions), 1)

    guard = GuardedHoldout(labels, loss=spoils, baseline=np.zeros(300))
    guard.confirm(np.ones(300))
    assert set(guard.confirmed) == {0.0}
    assert guard.score(labels).value == 1
