from __future__ import annotations

import pickle
from contextlib import suppress
from fractions import Fraction
from itertools import accumulate
from math import log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.adaptive.holdout.guard import GuardedHoldout, levels_of
from sourdine.adaptive.ledger.dependence import Iid
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.ledger.transaction import MemoryTransaction
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError

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


def test_an_interrupt_leaves_predictions_that_hold(monkeypatch):
    write = MemoryTransaction.write

    def interrupted(transaction, table, row):
        if table == "confirmed":
            raise KeyboardInterrupt
        write(transaction, table, row)

    guard = GuardedHoldout(LABELS, baseline=mistaken(LABELS, 100))
    monkeypatch.setattr(MemoryTransaction, "write", interrupted)
    with suppress(KeyboardInterrupt):
        guard.confirm(mistaken(LABELS, 60))
    assert guard.confirmed is not None


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


def test_the_first_confirm_needs_something_to_beat():
    guard = GuardedHoldout(LABELS)
    with pytest.raises(ParameterError, match="old must be given the first time"):
        guard.confirm(LABELS)
    assert guard.bits == 0


@pytest.mark.parametrize("step", ["1/59", "1/7", "3/10", "2/5", "1", "2/3"])
def test_scores_are_rounded_and_their_intervals_allow_for_it(step):
    step, n = Fraction(step), 60
    values = set()
    for wrong in range(n + 1):
        guard = GuardedHoldout([1] * n)
        lower, upper = guard.ledger.interval_after(guard.ledger.spent, 1 - wrong / n)
        answer = guard.score(mistaken([1] * n, wrong), step=step)
        assert answer.lower - 1e-12 <= lower <= upper <= answer.upper + 1e-12
        assert abs(answer.value - (1 - wrong / n)) <= step / 2 + Fraction(1, 10**12)
        cell = Fraction(answer.value).limit_denominator(10**6) / step
        assert cell.denominator == 1 or answer.value == 1
        assert answer.bits == pytest.approx(log2(levels_of(step)))
        values.add(answer.value)
    assert len(values) <= levels_of(step)


@pytest.mark.parametrize("step", [Fraction(1, 60), 1e-12, 1e-300])
def test_a_grid_finer_than_all_averages_costs_no_more_than_they(step):
    for wrong in (0, 1, 17, 60):
        guard = GuardedHoldout([1] * 60)
        ends = guard.ledger.interval_after(guard.ledger.spent, 1 - wrong / 60)
        answer = guard.score(mistaken([1] * 60, wrong), step=step)
        assert (answer.value, answer.lower, answer.upper) == (1 - wrong / 60, *ends)
        assert answer.bits == pytest.approx(log2(61))
        assert guard.certificate().halfwidth == guard.ledger.halfwidth()
    distances = GuardedHoldout([0, 1, 2], loss="absolute", scale=3)
    answer = distances.score([0, 1, 1], step=step)
    assert answer.bits == pytest.approx(min(log2(levels_of(Fraction(step))), 62))
    assert answer.value == pytest.approx(1 - 1 / 9, abs=float(step))


def test_levels_are_all_that_a_score_can_be():
    for step in (Fraction(1, 100), Fraction(3, 10), Fraction(2, 5), Fraction(2, 3), Fraction(1)):
        cells = {int(Fraction(a, 997) / step + Fraction(1, 2)) for a in range(998)}
        assert len(cells) == levels_of(step)


@pytest.mark.slow
@pytest.mark.parametrize("ask", ["score", "confirm"])
def test_scores_cover_the_truth(ask):
    """An analyst who fits noise by all it is told: every truth is one half."""
    n, runs, beta = 200, 50, Fraction(1, 2)
    misses = shorter = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 2, n)
        guard = GuardedHoldout(labels, confidence=1 - beta)
        held = rng.integers(0, 2, n)
        answers = []
        for _ in range(40):
            tried = np.where(rng.random(n) < 0.1, 1 - held, held)
            if ask == "score":
                answers.append(guard.score(tried, step=0.02))
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
    guard = GuardedHoldout(LABELS, baseline=mistaken(LABELS, 100), error=0.08)
    guard.confirm(mistaken(LABELS, 33))
    with pytest.raises(BudgetExceededError):
        guard.score(LABELS)
    lower, upper = guard.ledger.interval_after(guard.ledger.spent, 1 - 33 / N)
    answer = guard.final()
    assert (answer.value, answer.lower, answer.upper) == (1 - 33 / N, lower, upper)
    assert answer.bits == pytest.approx(log2(N + 1))
    assert guard.closed
    assert guard.remaining.answers == guard.remaining.bits == 0
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


def test_what_is_left_is_said_in_words():
    guard = GuardedHoldout(LABELS, baseline=mistaken(LABELS, 100), error=0.09)
    said = str(guard.confirm(mistaken(LABELS, 50)))
    assert said == "verdict    confirmed\ncost       1 bit\nremaining  1 more answer"
    assert str(guard.confirm(mistaken(LABELS, 90))).endswith(
        "no more yes-or-no answers, but a final answer"
    )
    with pytest.raises(BudgetExceededError, match="A final answer is still given"):
        guard.confirm(LABELS)
    with pytest.raises(BudgetExceededError, match="A final answer is still given"):
        guard.score(LABELS)
    assert guard.final().value == 1 - 50 / N


def test_history_is_what_was_asked_and_its_price():
    guard = GuardedHoldout(LABELS, baseline=mistaken(LABELS, 100))
    assert guard.history == []
    bits = [guard.confirm(mistaken(LABELS, 60)).bits, guard.confirm(LABELS, certified=True).bits]
    bits += [guard.score(LABELS, step=0.1).bits, guard.final().bits]
    lines = guard.history
    assert [line.number for line in lines] == [1, 2, 3, 4]
    whats = ["confirm", "confirm, certified", "score to 1/10", "final"]
    assert [line.what for line in lines] == whats
    assert [line.bits for line in lines] == pytest.approx(bits)
    assert sum(line.bits for line in lines) == pytest.approx(guard.bits)
    assert [line.when for line in lines] == [line.when for line in guard.ledger.history]
    head, first, *_ = str(lines).splitlines()
    assert head.split() == ["time", "question", "bits"]
    assert first.split() == ["1", lines[0].when, "confirm", "1"]
    assert "<td>score to 1/10</td>" in lines._repr_html_()
    assert lines.to_frame("polars")["bits"].to_list() == pytest.approx(bits)
    in_all = [line.bits for line in guard.ledger.history]
    assert guard.ledger.history.to_frame("polars")["bits"].to_list() == in_all
    assert in_all == pytest.approx(list(accumulate(bits)))


def test_final_without_predictions():
    guard = GuardedHoldout(LABELS)
    with pytest.raises(ParameterError, match=r"Pass the predictions to score"):
        guard.final()
    assert not guard.closed


def test_refusal_comes_before_the_answer():
    said = []
    for new in (mistaken(LABELS, 10), mistaken(LABELS, 300)):
        guard = GuardedHoldout(LABELS, baseline=mistaken(LABELS, 100), error=0.0755)
        with pytest.raises(BudgetExceededError) as caught:
            guard.confirm(new)
        said.append((str(caught.value), guard.ledger.history, guard.confirmed))
    assert said[0] == said[1]


def test_a_target_out_of_reach_is_refused_at_once():
    with pytest.raises(ParameterError, match=r"error must be at least 0\.07"):
        GuardedHoldout(LABELS, error=0.01)


def test_certificate_allows_for_rounding():
    guard = GuardedHoldout(LABELS)
    guard.score(LABELS, step=0.1)
    guard.score(LABELS, step=0.01)
    told = guard.certificate()
    assert told.halfwidth == pytest.approx(guard.ledger.halfwidth() + 0.05)
    assert (told.beta, told.answers) == (0.05, 2)
    assert "400 rows declared iid" in told.grounds


def test_a_ledger_of_others():
    ledger = TranscriptLedger(N, confidence=0.9)
    guard = GuardedHoldout(LABELS, ledger=ledger)
    ledger.charge_bit(answer=True)
    assert guard.bits == pytest.approx(1)
    with pytest.raises(ParameterError, match="confidence must be omitted"):
        GuardedHoldout(LABELS, ledger=ledger, confidence=0.95)
    with pytest.raises(ParameterTypeError, match="ledger must be a TranscriptLedger"):
        GuardedHoldout(LABELS, ledger="eval.ledger")
    with pytest.raises(ParameterError, match=f"ledger must have {N} rows"):
        GuardedHoldout(LABELS, ledger=TranscriptLedger(N + 1))


def test_a_guard_in_memory_is_not_copied():
    with pytest.raises(ParameterTypeError, match="cannot be copied or sent to another process"):
        pickle.dumps(GuardedHoldout(LABELS))


def test_a_notebook_shows_a_guard_as_a_table():
    labels = np.array([0, 1] * 500)
    guard = GuardedHoldout(labels, baseline=np.zeros(1000, int), error=0.1)
    guard.confirm(labels)
    shown = guard._repr_html_()
    assert "<th>rows</th><td>1000</td>" in shown
    assert f"{guard.bits:.4g} bits in {len(guard.history)} answers" in shown
    assert f"{guard.remaining.bits:.4g} bits, or {guard.remaining.answers} answers" in shown


def test_what_are_no_predictions_is_named():
    with pytest.raises(ParameterTypeError, match="new must be a list, an array, a frame or a path"):
        GuardedHoldout(LABELS).confirm(None)
