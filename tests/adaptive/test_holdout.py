from __future__ import annotations

import pickle
import warnings
from fractions import Fraction
from itertools import product
from math import comb, exp, log, log2, sqrt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.adaptive.attacks.holdouts import agent_loop
from sourdine.adaptive.holdout import GuardCallback, GuardedHoldout, guarded_scorer
from sourdine.adaptive.holdout.evidence import log_evidence, proves_progress, stands_out
from sourdine.adaptive.holdout.rounding import levels_of
from sourdine.adaptive.ledger import Blocks, Custom, Iid, Markov, TranscriptLedger
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError, SourdineError

N = 400
LABELS = np.random.default_rng(5).integers(0, 2, N)


def mistaken(labels, wrong, start=0):
    """Predictions that are wrong on so many rows."""
    told = np.array(labels)
    told[start : start + wrong] = 1 - told[start : start + wrong]
    return told


def test_confirm_keeps_what_is_better():
    guard = GuardedHoldout(LABELS, baseline=mistaken(LABELS, 100))
    better, worse = mistaken(LABELS, 60), mistaken(LABELS, 80)
    assert guard.confirm(better).confirmed
    assert guard.confirmed == better.tolist()
    assert not guard.confirm(worse)
    assert guard.confirmed == better.tolist()
    assert guard.confirm(worse, old=mistaken(LABELS, 120))
    assert guard.confirmed == worse.tolist()
    assert [line.what for line in guard.ledger.history] == ["confirm"] * 3
    assert (guard.ledger.spent.yes, guard.ledger.spent.no) == (2, 1)


@given(st.integers(0, 40), st.integers(0, 40), st.fractions(0, 3))
def test_confirm_is_a_paired_test(won, lost, margin):
    new = mistaken(LABELS, lost)
    old = mistaken(LABELS, won, start=200)
    verdict = GuardedHoldout(LABELS).confirm(new, old, margin=margin)
    mean = (won - lost) / N
    error = sqrt((won + lost) / N - mean**2) / sqrt(N)
    if abs(mean - float(margin) * error) > 1e-12:
        assert bool(verdict) == (mean > max(float(margin) * error, 0))


def test_what_is_alike_is_not_confirmed():
    guard = GuardedHoldout(LABELS)
    assert not guard.confirm(LABELS, LABELS, margin=0)
    assert not guard.confirm(mistaken(LABELS, 5), mistaken(LABELS, 5, start=9), margin=0)


def test_dependence_widens_the_standard_error():
    d = np.array([1.0] * 24 + [-1.0] * 12 + [0.0] * 164)
    least = d.mean() / (d.std() / sqrt(200))
    for rows, wider in [(Iid(), 1), (Blocks(4), 2), (Markov(0.6), 2), (Blocks(9), 3)]:
        assert stands_out(d, 0.999 * least / wider, rows, 4.0)
        assert not stands_out(d, 1.001 * least / wider, rows, 4.0)
    wide = Custom("none", lambda n, t: float("inf"))  # noqa: ARG005
    assert not stands_out(d, 1.0, wide, 4.0)


def test_the_first_confirm_needs_something_to_beat():
    guard = GuardedHoldout(LABELS)
    with pytest.raises(ParameterError, match="old must be given the first time"):
        guard.confirm(LABELS)
    assert guard.bits == 0


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
        seen.append((repr(guard), str(verdict), str(guard.certificate()), repr(guard.remaining())))
    assert seen[0] == seen[1]
    assert not {"_labels"} & {name for name in dir(guards[0]) if not name.startswith("_")}
    assert "array" not in repr(guards[0]._labels)


@pytest.mark.parametrize("step", ["1/100", "1/7", "3/10", "2/5", "1", "2/3"])
def test_scores_are_rounded_and_their_intervals_allow_for_it(step):
    step, n = Fraction(step), 60
    values = set()
    for wrong in range(n + 1):
        guard = GuardedHoldout([1] * n)
        lower, upper = guard.ledger.interval(1 - wrong / n)
        answer = guard.score(mistaken([1] * n, wrong), resolution=step)
        assert answer.lower - 1e-12 <= lower <= upper <= answer.upper + 1e-12
        assert abs(answer.value - (1 - wrong / n)) <= step / 2 + Fraction(1, 10**12)
        cell = Fraction(answer.value).limit_denominator(10**6) / step
        assert cell.denominator == 1 or answer.value == 1
        assert answer.bits == pytest.approx(log2(levels_of(step)))
        values.add(answer.value)
    assert len(values) <= levels_of(step)


def test_levels_are_all_that_a_score_can_be():
    for step in (Fraction(1, 100), Fraction(3, 10), Fraction(2, 5), Fraction(2, 3), Fraction(1)):
        cells = {int(Fraction(a, 997) / step + Fraction(1, 2)) for a in range(998)}
        assert len(cells) == levels_of(step)


@pytest.mark.parametrize("ask", ["score", "confirm"])
def test_scores_cover_the_truth(ask):
    """An analyst who fits noise by all it is told: every truth is one half."""
    n, runs, beta = 200, 50, Fraction(1, 2)
    misses = shorter = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 2, n)
        guard = GuardedHoldout(labels, beta=beta)
        held = rng.integers(0, 2, n)
        answers = []
        for _ in range(40):
            tried = np.where(rng.random(n) < 0.1, 1 - held, held)
            if ask == "score":
                answers.append(guard.score(tried, resolution=0.02))
                better = answers[-1].value > max([a.value for a in answers[:-1]], default=0)
            else:
                better = bool(guard.confirm(tried, held, margin=0))
            held = tried if better else held
        answers.append(guard.final(held))
        misses += any(not a.lower <= 0.5 <= a.upper for a in answers)
        width = Iid().width(n, log(1 / beta))
        shorter += answers[-1].value - width > 0.5
    assert misses <= beta * runs
    assert shorter > 0.5 * runs, "the attack works where bits are not counted"


def test_final_is_exact_and_the_last():
    guard = GuardedHoldout(LABELS, baseline=mistaken(LABELS, 100), target=0.09)
    guard.confirm(mistaken(LABELS, 33))
    with pytest.raises(BudgetExceededError):
        guard.score(LABELS)
    lower, upper = guard.ledger.interval(1 - 33 / N)
    answer = guard.final()
    assert (answer.value, answer.lower, answer.upper) == (1 - 33 / N, lower, upper)
    assert answer.bits == pytest.approx(log2(N + 1))
    assert guard.closed
    assert guard.remaining().answers == guard.remaining().bits == 0
    for ask in (guard.final, lambda: guard.score(LABELS), lambda: guard.confirm(LABELS)):
        with pytest.raises(BudgetExceededError, match="final answer was given"):
            ask()
    assert guard.certificate().answers == 2


def test_final_is_charged_to_a_shared_ledger():
    ledger = TranscriptLedger(N)
    GuardedHoldout(LABELS, ledger=ledger).final(LABELS)
    assert ledger.bits == pytest.approx(log2(N + 1))
    distances = TranscriptLedger(N)
    GuardedHoldout(LABELS, loss="absolute", scale=1, ledger=distances).final(LABELS)
    assert distances.bits == pytest.approx(62)


def test_final_closes_all_guards_of_a_ledger():
    ledger = TranscriptLedger(N)
    one, two = (GuardedHoldout(LABELS, ledger=ledger) for _ in range(2))
    two.score(LABELS)
    one.final(LABELS)
    ledger.charge_bit(answer=True)
    assert two.closed
    with pytest.raises(BudgetExceededError):
        two.score(LABELS)


def test_final_without_predictions():
    guard = GuardedHoldout(LABELS)
    with pytest.raises(ParameterError, match=r"final\(predictions\)"):
        guard.final()
    assert not guard.closed


def test_refusal_comes_before_the_answer():
    said = []
    for new in (mistaken(LABELS, 10), mistaken(LABELS, 300)):
        guard = GuardedHoldout(LABELS, baseline=mistaken(LABELS, 100), target=0.08)
        with pytest.raises(BudgetExceededError) as caught:
            guard.confirm(new)
        said.append((str(caught.value), guard.ledger.history, guard.confirmed))
    assert said[0] == said[1]


def test_a_target_out_of_reach_is_refused_at_once():
    with pytest.raises(ParameterError, match=r"target must be at least 0\.07"):
        GuardedHoldout(LABELS, target=0.01)


def test_certificate_allows_for_rounding():
    guard = GuardedHoldout(LABELS)
    guard.score(LABELS, resolution=0.1)
    guard.score(LABELS, resolution=0.01)
    told = guard.certificate()
    assert told.halfwidth == pytest.approx(guard.ledger.halfwidth() + 0.05)
    assert (told.beta, told.answers) == (0.05, 2)
    assert "400 rows declared iid" in told.grounds


def test_a_ledger_of_others():
    ledger = TranscriptLedger(N, beta=0.1)
    guard = GuardedHoldout(LABELS, ledger=ledger)
    ledger.charge_bit(answer=True)
    assert guard.bits == pytest.approx(1)
    with pytest.raises(ParameterError, match="beta must be left out"):
        GuardedHoldout(LABELS, ledger=ledger, beta=0.05)
    with pytest.raises(ParameterTypeError, match="ledger must be a TranscriptLedger"):
        GuardedHoldout(LABELS, ledger="eval.ledger")
    with pytest.raises(ParameterError, match=f"ledger must be of {N} rows"):
        GuardedHoldout(LABELS, ledger=TranscriptLedger(N + 1))


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
    with pytest.raises(ParameterError, match="loss must be"):
        GuardedHoldout([1], loss="squared")


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


def test_a_guard_in_memory_is_not_copied():
    with pytest.raises(ParameterTypeError, match="must stay in its process"):
        pickle.dumps(GuardedHoldout(LABELS))


# Evidence


def chances(n, win, lose):
    """Yield all numbers of rows won and lost with their chances."""
    for won in range(n + 1):
        for lost in range(n - won + 1):
            ways = comb(n, won) * comb(n - won, lost)
            yield won, lost, ways * win**won * lose**lost * (1 - win - lose) ** (n - won - lost)


@pytest.mark.parametrize(("win", "lose"), [(0.5, 0.5), (0.1, 0.1), (0.3, 0.3), (0.02, 0.03)])
@pytest.mark.parametrize("copies", [1, 3])
def test_evidence_against_no_progress_is_rare(win, lose, copies):
    """Exactly, over all samples of 30 blocks; a block holds copies of one row."""
    n, mean, passed = 30, 0.0, dict.fromkeys((0.5, 1.0, 2.0, 4.0), 0.0)
    for won, lost, chance in chances(n, win, lose):
        d = np.repeat([1.0] * won + [-1.0] * lost + [0.0] * (n - won - lost), copies)
        told = log_evidence(d, copies)
        mean += chance * exp(told)
        for t in passed:
            passed[t] += chance * (told >= t)
    assert mean <= 1 + 1e-9
    assert all(chance <= exp(-t) for t, chance in passed.items())
    if win == lose:
        assert mean > 0.999, "no slack where rows in a block are alike"


def test_evidence_of_blocks_whose_rows_lean_on_each_other():
    """Blocks of three rows that win together or lose apart, and one of a single row."""
    blocks = [((1.0, 1.0, -1.0), 0.25), ((-1.0, 0.5, 0.5), 0.25), ((-0.5, -0.25, -0.25), 0.5)]
    assert sum(sum(d) * p for d, p in blocks) <= 0
    mean = 0.0
    for drawn in product(blocks, repeat=6):
        d = np.concatenate([np.array(rows) for rows, _ in drawn] + [np.array([0.0])])
        mean += np.prod([p for _, p in drawn]) * exp(log_evidence(d, 3))
    assert mean <= 1


def test_evidence_sees_what_hoeffding_misses():
    d = np.array([1.0] * 60 + [-1.0] * 20 + [0.0] * 1920)
    nats = log(2 / 0.05)
    assert proves_progress(d, Iid(), nats)
    assert Iid().interval((d.mean() + 1) / 2, len(d), nats)[0] < 0.5
    assert not proves_progress(d, Blocks(10), nats)
    assert not proves_progress(d, Markov(0.1), nats)
    assert proves_progress(np.full(2000, 0.5), Markov(0.1), nats)
    assert not proves_progress(-d, Iid(), 0.0)


def climbed(seed, *, certified, confirms=60, n=200):
    """Return how often an agent is confirmed that climbs where nothing can be better."""
    rng = np.random.default_rng(seed)
    held = rng.integers(0, 2, n)
    guard = GuardedHoldout(rng.integers(0, 2, n), baseline=held, beta=Fraction(1, 2))
    for _ in range(confirms):
        tried = np.where(rng.random(n) < 0.2, 1 - held, held)
        if guard.confirm(tried, certified=certified, margin=0):
            held = tried
    return guard.ledger.spent.yes


def test_certified_confirmations_are_true():
    """All labels are coins: every confirmation is false. beta is one half."""
    runs = 40
    assert sum(climbed(seed, certified=True) > 0 for seed in range(runs)) <= runs / 2
    assert all(climbed(seed, certified=False) > 0 for seed in range(10))
    guard = GuardedHoldout(LABELS, baseline=mistaken(LABELS, 100))
    assert guard.confirm(mistaken(LABELS, 60), certified=True)
    assert not guard.confirm(mistaken(LABELS, 56), certified=True)
    assert guard.confirm(mistaken(LABELS, 56))
    assert [line.what for line in guard.ledger.history][:3:2] == ["confirm, certified", "confirm"]


def test_certified_confirmations_need_more_as_more_is_told():
    guard = GuardedHoldout(LABELS)
    new, old = mistaken(LABELS, 20), mistaken(LABELS, 36)
    assert guard.confirm(new, old, certified=True)
    for _ in range(10):
        guard.score(LABELS)
    assert not guard.confirm(new, old, certified=True)


def test_guarded_agents_report_the_truth():
    """Five hundred changes that improve nothing, on two thousand rows."""

    def runs(judge):
        return [
            agent_loop(judge, n=2000, proposals=500, rng=np.random.default_rng(seed))
            for seed in range(8)
        ]

    plain, guarded = runs("naive"), runs("confirm")
    assert np.mean([run.gap for run in plain]) > 0.07
    assert np.mean([run.gap for run in guarded]) <= 0.03
    assert all(run.covers for run in guarded)


# Where people search


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


def test_scorer_in_a_search_with_one_fixed_split():
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow to import
    from sklearn.metrics import check_scoring  # noqa: PLC0415
    from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: PLC0415

    x, y = data()
    train, held = np.arange(200), np.arange(200, 300)
    guard = GuardedHoldout(y[held])
    scorer = guarded_scorer(guard, resolution=0.02)
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
    with pytest.raises(ParameterError, match="one for each of 100 labels"):
        cross_val_score(model, x[held], hidden[held], scoring=scorer, cv=2, error_score="raise")


def test_scorer_in_permutation_importance():
    from sklearn.inspection import permutation_importance  # noqa: PLC0415 - slow to import

    x, y = data()
    guard = GuardedHoldout(y)
    found = permutation_importance(
        Threshold(), x, None, scoring=guarded_scorer(guard), n_repeats=2, random_state=1
    )
    assert found.importances_mean[0] > 0.2
    assert np.all(found.importances_mean[1:] == 0)
    assert guard.ledger.spent.answers == 1 + 3 * 2


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
    guard = GuardedHoldout(LABELS, baseline=mistaken(LABELS, 100), target=0.1)
    left = guard.remaining().answers
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
    with pytest.raises(ParameterTypeError, match="predictions must be a function"):
        GuardCallback(guard, 7)
