from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from sourdine.adaptive.holdout.adapters import GuardCallback, guarded_scorer
from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.labels import same_rows
from sourdine.adaptive.holdout.leaderboard import Leaderboard
from sourdine.errors import ParameterError, ParameterTypeError

N = 400
LABELS = np.random.default_rng(5).integers(0, 2, N)


def mistaken(labels, wrong, start=0):
    """Predictions that are wrong on so many rows."""
    told = np.array(labels)
    told[start : start + wrong] = 1 - told[start : start + wrong]
    return told


class Threshold:
    def __init__(self, cut=0.0):
        self.cut = cut

    def fit(self, x, y):
        del x, y
        return self

    def predict(self, x):
        return (np.asarray(x)[:, 0] > self.cut).astype(int)


def data(n=300, seed=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, (x[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.slow
def test_scorer_in_a_search_with_one_fixed_split():
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import check_scoring
    from sklearn.model_selection import GridSearchCV, cross_val_score

    x, y = data()
    train, held = np.arange(200), np.arange(200, 300)
    guard = GuardedHoldout(y[held])
    scorer = guarded_scorer(guard, step=0.02)
    hidden = np.concatenate([y[train], np.arange(100) % 2])
    model = LogisticRegression()
    assert check_scoring(model, scoring=scorer) is scorer
    search = GridSearchCV(
        model, {"C": [0.001, 1.0]}, scoring=scorer, cv=[(train, held)], refit=False,
        error_score="raise",
    ).fit(x, hidden)  # fmt: skip
    told = search.cv_results_["mean_test_score"]
    assert [line.what for line in guard.ledger.history] == ["score to 1/50"] * 2
    truth = [
        (LogisticRegression(C=c).fit(x[train], y[train]).predict(x[held]) == y[held]).mean()
        for c in (0.001, 1.0)
    ]
    assert np.abs(told - truth).max() <= 0.01 + 1e-9
    with pytest.raises(ParameterError, match="a prediction for each of the 100 labels"):
        cross_val_score(model, x[held], hidden[held], scoring=scorer, cv=2, error_score="raise")


def test_scorer_in_permutation_importance():
    from sklearn.inspection import permutation_importance

    x, y = data()
    guard = GuardedHoldout(y)
    found = permutation_importance(
        Threshold(), x, None, scoring=guarded_scorer(guard), n_repeats=2, random_state=1
    )
    assert found.importances_mean[0] > 0.2
    assert np.all(found.importances_mean[1:] == 0)
    assert guard.ledger.spent.answers == 1 + 3 * 2


def test_folds_as_long_as_the_guard_are_refused_where_its_rows_are_known():
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    x, y = data(200)
    model = LogisticRegression()
    held = np.arange(100, 200)
    guard = GuardedHoldout(y[held])
    terms = {"cv": 2, "error_score": "raise"}
    cross_val_score(model, x, y, scoring=guarded_scorer(guard), **terms)
    assert guard.ledger.spent.answers == 2, "their lengths alone cannot tell them apart"
    known = guarded_scorer(guard, features=x[held])
    with pytest.raises(ParameterError, match="X must be the rows of the guard"):
        cross_val_score(model, x, y, scoring=known, **terms)
    assert guard.ledger.spent.answers == 2
    assert known(Threshold(), x[held].copy()) > 0.5


X = np.array([[1.0, np.nan], [3.0, 4.0]])
MIXED = pd.DataFrame({"a": ["x", None], "b": [1.0, np.nan], "c": pd.array([1, None], "Int64")})
DAYS = np.array(["2020-01-01", "NaT"], "M8[D]")


@pytest.mark.parametrize(
    ("rows", "same", "other"),
    [
        (X, X.copy(), X[::-1]),
        (X, pd.DataFrame(X), X[:1]),
        (MIXED, MIXED.copy(), MIXED.assign(b=[1.0, 2.0])),
        (MIXED, MIXED.copy(), MIXED.assign(c=[1, 2])),
        (pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}), pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
         pl.DataFrame({"a": [1, 2], "b": ["x", "z"]})),
        (DAYS, DAYS.copy(), DAYS[::-1]),
        (["some", "texts"], np.array(["some", "texts"]), ["some", "others"]),
        ([[1, 2], [3]], [[1, 2], [3]], [[1, 2], [4]]),
        (range(4), [0, 1, 2, 3], ["0", "1", "2", "3"]),
        (csr_array(X[1:]), csr_array(X[1:]), csr_array([[3.0, 5.0]])),
        (csr_array(X[1:]), csr_array(X[1:]), csr_array([[3.0, 4.0, 0.0]])),
    ],
)  # fmt: skip
def test_rows_are_compared(rows, same, other):
    assert same_rows(rows, rows)
    assert same_rows(rows, same)
    assert not same_rows(rows, other)


@pytest.mark.parametrize("make", [guarded_scorer, GuardCallback, Leaderboard])
def test_labels_are_not_a_guard(make):
    with pytest.raises(
        ParameterTypeError, match="guard must be a GuardedHoldout, got a value of type ndarray"
    ):
        make(LABELS)


def test_printed_forms_show_public_facts():
    guard = GuardedHoldout([0, 1])
    inside = "GuardedHoldout(n=2, loss='zero-one', bits=0)"
    assert repr(guarded_scorer(guard)) == f"guarded_scorer({inside}, step=0.01)"
    assert repr(Leaderboard(guard)) == f"Leaderboard({inside}, step=0.5)"
    assert repr(Leaderboard(guard, 0.1)) == f"Leaderboard({inside}, step=0.1)"
    callback = f"GuardCallback({inside}, certified=False, asked=0, confirmed=None)"
    assert repr(GuardCallback(guard)) == callback


class Trial:
    def __init__(self, number, value, attributes):
        self.number, self.value, self.user_attrs = number, value, attributes


class Study:
    """What a callback sees of a study that maximises."""

    def __init__(self):
        self.trials, self.stopped = [], False

    @property
    def best_trial(self):
        done = [trial for trial in self.trials if trial.value is not None]
        if not done:
            raise ValueError
        return max(done, key=lambda trial: trial.value)

    def stop(self):
        self.stopped = True

    def run(self, tries, callback):
        for number, (value, predictions) in enumerate(tries):
            if self.stopped:
                return
            attributes = {} if predictions is None else {"predictions": predictions}
            self.trials.append(Trial(number, value, attributes))
            callback(self, self.trials[-1])


def test_callback_asks_about_the_best_alone():
    guard = GuardedHoldout(LABELS, baseline=mistaken(LABELS, 100))
    callback, study = GuardCallback(guard), Study()
    good, bad = mistaken(LABELS, 50), mistaken(LABELS, 101)
    study.run([(None, bad), (0.7, bad), (0.6, good), (0.8, good), (0.9, bad)], callback)
    assert [(number, bool(v)) for number, v in callback.verdicts] == [
        (1, False), (3, True), (4, False),
    ]  # fmt: skip
    assert callback.confirmed == 3
    assert not study.stopped
    with pytest.raises(ParameterTypeError, match="user attribute 'predictions'"):
        study.run([(0.95, None)], callback)


def test_callback_stops_when_nothing_is_left():
    guard = GuardedHoldout(LABELS, baseline=mistaken(LABELS, 100), error=0.1)
    left = guard.ledger.until(0.1).answers
    callback, study = GuardCallback(guard, lambda *_: LABELS, certified=True), Study()
    study.run([(i / 100, None) for i in range(50)], callback)
    assert study.stopped
    assert callback.exhausted
    assert left <= len(callback.verdicts) < 50
    again = GuardCallback(GuardedHoldout(LABELS, ledger=guard.ledger), lambda *_: LABELS)
    guard.final()
    study = Study()
    study.run([(1.0, None)], again)
    assert study.stopped
    assert again.verdicts == []
    with pytest.raises(
        ParameterTypeError, match=r"must be a function of study .* got a value of type int"
    ):
        GuardCallback(guard, 7)
