from __future__ import annotations

import re
import warnings
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sourdine import Frame
from sourdine.adaptive.holdout.guard import GuardedHoldout
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
    with pytest.raises(SourdineError, match=r"must (be|hold)"):
        GuardedHoldout(labels)


def test_no_labels_are_named_as_such():
    with pytest.raises(ParameterError, match=r"labels must hold a label for each row"):
        GuardedHoldout([])


@pytest.mark.parametrize("labels", [LABELS, LABELS.astype(float), [1.0, None] * (N // 2)])
def test_probabilities_for_whole_labels_are_refused_before_anything_is_charged(labels):
    """That labels are whole is public: the refusal does not depend on which ones they are."""
    guard = GuardedHoldout(labels, baseline=[0] * N)
    assert guard.whole
    p = np.random.default_rng(1).random(N)
    p[:5] = np.round(p[:5])
    for ask in (guard.confirm, guard.score, guard.final):
        with pytest.raises(ParameterError, match=r"as 0 or 1, got fractions. Use \(p > 0.5\)"):
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
            said.append(str(caught.value).replace("old must", "predictions must"))
        assert guard.ledger.history == []
    assert len(set(said)) == 1
    assert re.search("must (be|hold)", said[0])


def test_nothing_but_answers_depends_on_the_labels():
    guards = [GuardedHoldout(y, baseline=[0] * N, error=0.2) for y in (LABELS, 1 - LABELS)]
    seen = []
    for guard in guards:
        verdict = guard.confirm([0] * N)
        facts = repr(guard), str(verdict), str(guard.certificate()), repr(guard.remaining)
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
    with pytest.raises(ParameterError, match="scale must be omitted"):
        GuardedHoldout([1], scale=1)
    with pytest.raises(ParameterError, match="scale must be above 0"):
        GuardedHoldout([1], loss="absolute", scale=0)
    with pytest.raises(ParameterError, match=r"loss must be .* got 'mse'"):
        GuardedHoldout([1], loss="mse")
    with pytest.raises(ParameterError, match=r"loss must be .* got 3"):
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


FORMS = (
    *("list", "numpy", "pandas", "polars", "lazy", "arrow", "relation", "dict", "capsule"),
    *("csv", "semicolons", "parquet", "frame"),
)


class Capsule:
    def __init__(self, held):
        self.held = held

    def __arrow_c_stream__(self, requested_schema=None):
        return self.held.__arrow_c_stream__(requested_schema)


def formed(values, form, folder):
    """Put one column of values into one of the forms that data have."""
    frame = pl.DataFrame({"y": values})
    if form in {"csv", "semicolons", "frame"}:
        path = folder / f"{form}.csv"
        wide = frame.with_columns(row=pl.int_range(pl.len())) if form == "frame" else frame
        wide.write_csv(path, separator=";" if form == "semicolons" else ",")
        return Frame(path)["y"] if form == "frame" else path
    if form == "parquet":
        frame.write_parquet(folder / "rows.parquet")
        return folder / "rows.parquet"
    return {
        "list": lambda: values,
        "numpy": lambda: np.array(values),
        "pandas": frame.to_pandas,
        "polars": lambda: frame["y"],
        "lazy": frame.lazy,
        "arrow": lambda: pa.table({"y": values}),
        "relation": lambda: duckdb.connect().from_arrow(pa.table({"y": values})),
        "dict": lambda: {"y": values},
        "capsule": lambda: Capsule(frame),
    }[form]()


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("labels", "kind"),
    [([3, 1, 2, 1], "number"), ([0.5, -1.0, 2.0, 1e-3], "number"), (["b", "a", "é", "a"], "text")],
)
def test_labels_and_predictions_of_all_forms_of_data(labels, kind, form, tmp_path):
    guard = GuardedHoldout(formed(labels, form, tmp_path), baseline=labels)
    assert (guard.n, guard.kind) == (4, kind)
    told = [*labels[:-1], labels[0]]
    assert guard.score(formed(told, form, tmp_path)).value == 0.75
    assert GuardedHoldout(labels).final(formed(told, form, tmp_path)).value == 0.75


def test_one_column_is_wanted_and_no_dates(tmp_path):
    wide = pl.DataFrame({"y": [1, 2], "day": ["2026-05-01"] * 2})
    wide.write_csv(tmp_path / "wide.csv")
    for data in (wide, wide.lazy(), tmp_path / "wide.csv", {"a": [1], "b": [2]}):
        with pytest.raises(ParameterError, match="labels must be a single column, got 2"):
            GuardedHoldout(data)
    days = wide["day"].str.to_date()
    for data in (days, days.to_numpy(), duckdb.sql("SELECT DATE '2026-05-01' AS day")):
        with pytest.raises(
            ParameterTypeError, match="labels must be numbers or strings, got dates"
        ):
            GuardedHoldout(data)
    assert GuardedHoldout(Frame(tmp_path / "wide.csv")["day"]).kind == "text"
    assert GuardedHoldout(duckdb.sql("SELECT 1.50 AS price")).kind == "number"


def test_predictions_of_a_text_file_are_read_as_the_labels_are(tmp_path):
    (tmp_path / "digits.txt").write_text("1\n2\n")
    (tmp_path / "words.txt").write_text("1\ncat\n")
    texts, numbers = GuardedHoldout(["1", "3"]), GuardedHoldout([1, 3])
    assert texts.score(tmp_path / "digits.txt").value == 0.5
    assert numbers.score(str(tmp_path / "digits.txt")).value == 0.5
    assert texts.score(tmp_path / "words.txt").value == 0.5
    with pytest.raises(ParameterError, match="got another value in row 2"):
        numbers.score(tmp_path / "words.txt")


@pytest.mark.parametrize(
    ("labels", "classes", "good", "bad"),
    [
        ([0, 1, 1, 0], [0, 1, 2], [2, 1, True, 0.0], [0, 1, 3, 0]),
        ([0, 1, 1, 0], ["0", "1"], [1, 1, 1, 1], [0, 1, 1, 0.5]),
        (["a", "b", None, "c"], ("a", "b"), ["a", "a", "b", "b"], ["a", "c", "a", "a"]),
    ],
)
def test_predictions_of_no_class_are_refused_at_no_charge(labels, classes, good, bad, tmp_path):
    """Also by a guard in a file; whether the labels are among the classes is told to nobody."""
    path = tmp_path / "eval.guard"
    guards = [
        GuardedHoldout(labels, classes=classes, baseline=good),
        GuardedHoldout.create(path, labels, classes=classes, baseline=good),
    ]
    guards.append(GuardedHoldout.open(path))
    for guard in guards:
        before = guard.bits
        for ask in (guard.confirm, guard.score, guard.final, guard.read):
            with pytest.raises(
                ParameterError, match="hold only the classes of the guard, got"
            ) as e:
                ask(bad)
            assert "row" in str(e.value)
        assert guard.bits == before
        guard.confirm(good)
        assert guard.bits > before
    without = GuardedHoldout(labels, baseline=good)
    if not isinstance(bad[3], float):
        without.confirm(bad)
        assert without.bits > 0


def test_fractional_classes_are_answered_whether_or_not_they_occur(tmp_path):
    """Else a refusal would tell, at no charge, that no label is a fraction."""
    for labels in ([0, 1, 1, 0], [0.0, 1.0, 1.0, 0.0], [0, 0.5, 1, 0]):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.guard"
        classes, given = [0, 0.5, 1], [0, 0.5, 0.5, 0]
        GuardedHoldout.create(path, labels, classes=classes, baseline=given)
        for guard in (
            GuardedHoldout(labels, classes=classes, baseline=given),
            GuardedHoldout.open(path),
        ):
            for ask in (guard.score, guard.confirm, guard.read):
                ask(given)
            assert guard.bits > 0
            assert not guard.whole
    assert GuardedHoldout([0.5, 1], classes=[0, 1]).whole


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"classes": [0]}, "list at least two classes"),
        ({"classes": "ab"}, "list at least two classes"),
        ({"classes": ["a", "b"]}, "be numbers, like the labels"),
        ({"classes": [0, 0]}, "be distinct numbers, like the labels"),
        ({"classes": [0, None]}, "be distinct numbers, like the labels"),
        ({"classes": [0, 1], "loss": "absolute", "scale": 1}, "be omitted unless the loss is"),
    ],
)
def test_classes_that_say_nothing_are_refused(typed, told):
    with pytest.raises(SourdineError, match=told):
        GuardedHoldout([0, 1], **typed)


@pytest.mark.parametrize("error", [6, 0.51, -1, 0])
def test_an_error_that_says_nothing_is_refused(error):
    with pytest.raises(ParameterError, match=r"error must be .* error=0\.05"):
        GuardedHoldout([0, 1] * 1000, error=error)
