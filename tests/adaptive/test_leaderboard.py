from __future__ import annotations

from fractions import Fraction
from math import log2, sqrt

import numpy as np
import pytest

from sourdine.adaptive.holdout import GuardedHoldout, Leaderboard
from sourdine.adaptive.ledger import kt_bits
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError

N = 400
LABELS = np.random.default_rng(8).integers(0, 2, N)


def mistaken(wrong, start=0):
    told = LABELS.copy()
    told[start : start + wrong] = 1 - told[start : start + wrong]
    return told


def test_only_leaders_see_a_score():
    board = Leaderboard(GuardedHoldout(LABELS), step=0.05)
    first = board.submit("anna", mistaken(200))
    assert first.score.value == 0.5
    assert first.bits == pytest.approx(log2(21))
    same = board.submit("ben", mistaken(180))
    assert same.score is None
    assert not same
    lead = board.submit("cleo", mistaken(179))
    assert lead.score.value == pytest.approx(0.55)
    assert [s.name for s in board.standings] == ["cleo", "anna"]
    assert board.guard.bits == pytest.approx(kt_bits(1, 1) + 2 * log2(21))
    assert sum(s.bits for s in (first, same, lead)) == pytest.approx(board.guard.bits)


def test_a_fine_step_costs_no_more_than_all_averages():
    board = Leaderboard(GuardedHoldout(LABELS, error=0.17), step=1e-15)
    first, second = board.submit("anna", mistaken(33)), board.submit("ben", mistaken(31))
    assert (first.score.value, second.score.value) == (1 - 33 / N, 1 - 31 / N)
    assert first.bits == pytest.approx(log2(N + 1))
    assert second.bits == pytest.approx(1 + log2(N + 1))


def test_auto_step_is_a_paired_standard_error():
    for won in range(1, 30):
        for lost in (0, 5, 20):
            board = Leaderboard(GuardedHoldout(LABELS))
            board.submit("old", mistaken(won, start=200))
            mean = (won - lost) / N
            error = sqrt((won + lost) / N - mean**2) / sqrt(N)
            leads = board.submit("new", mistaken(lost))
            assert bool(leads) == (mean > max(error, 0))
    assert board.step == Fraction(1, 20)
    assert Leaderboard(GuardedHoldout([1] * 401)).step == Fraction(1, 21)


def test_intervals_are_those_of_the_ledger_after_the_bit():
    guard = GuardedHoldout(LABELS)
    board = Leaderboard(guard, step=0.01)
    board.submit("a", mistaken(100))
    after = guard.ledger.spent.bit(answer=True)
    ends = [guard.ledger.interval_after(after, average) for average in (0.875, 0.885)]
    score = board.submit("b", mistaken(50)).score
    assert score.value == 0.88
    assert (score.lower, score.upper) == pytest.approx((ends[0][0], ends[1][1]))


def test_refusal_does_not_depend_on_the_answer():
    def told(wrong):
        board = Leaderboard(GuardedHoldout(LABELS, error=0.13), step=0.01)
        board.submit("first", mistaken(200))
        with pytest.raises(BudgetExceededError) as caught:
            board.submit("next", mistaken(wrong))
        return str(caught.value), board.guard.ledger.history[-1].what, len(board.standings)

    assert told(10) == told(390)
    room = GuardedHoldout(LABELS, error=0.13)
    room.score(mistaken(200), step=0.01)
    assert room.remaining.answers > 0, "a no alone would have fitted"


def test_luck_does_not_lead_for_long():
    """Five hundred guesses at coins: few lead, and every interval holds the truth, one half."""
    rng = np.random.default_rng(1)
    board = Leaderboard(GuardedHoldout(rng.integers(0, 2, 2000)))
    for i in range(500):
        board.submit(f"guess {i}", rng.integers(0, 2, 2000))
    shown = board.standings
    assert 1 <= len(shown) <= 10
    assert all(s.score.lower <= 0.5 <= s.score.upper for s in shown)
    assert board.guard.bits < 130


def test_bad_submissions():
    board = Leaderboard(GuardedHoldout(LABELS))
    with pytest.raises(ParameterError, match="name must be a text, got an empty one"):
        board.submit("", LABELS)
    with pytest.raises(ParameterError, match="name must be a text, got a value of type int"):
        board.submit(3, LABELS)
    with pytest.raises(ParameterError, match="one for each of 400 labels"):
        board.submit("a", LABELS[1:])
    assert board.guard.bits == 0
    with pytest.raises(ParameterTypeError, match="step must be 'auto' or a number"):
        Leaderboard(board.guard, step="small")
    with pytest.raises(ParameterError, match="step must be above 0"):
        Leaderboard(board.guard, step=0)


def test_an_empty_leaderboard_prints():
    text = str(Leaderboard(GuardedHoldout(LABELS)))
    assert text.splitlines()[0].split() == ["name", "score", "from", "to", "bits"]
    assert "0 more did not beat the leader" in text


def test_what_is_left_is_said():
    board = Leaderboard(GuardedHoldout(LABELS, error=0.3))
    assert "more answers" in str(board.submit("a", LABELS))
