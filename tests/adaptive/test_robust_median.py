"""The private median of values, on a window that follows it."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.adaptive.robust.wrapper import PrivateMedian
from sourdine.noise import SeededSource


def median(**changed):
    terms = {"epsilon0": 1, "error": 0.25, "window": 12, "least": 1.0, "start": 100.0}
    return PrivateMedian(**(terms | changed))


def test_the_mechanism_allows_for_doubled_scores():
    m = median(window=3)
    values = np.array([90.0, 95, 101, 107, 120])
    others = [np.append(values[:-1], x) for x in (0.0, 50.0, 100.0, 1e300, np.nan)]
    moves = [np.abs(m.scores(values) - m.scores(other)).max() for other in others]
    assert max(moves) == m._mechanism.sensitivity == 2


@pytest.mark.slow
def test_one_copy_moves_a_score_by_one():
    rng, moves = np.random.default_rng(1), set()
    for _ in range(2000):
        m = median(window=int(rng.integers(1, 14)), start=float(rng.choice([0, 1, 50, 1e9])))
        values = np.exp(rng.normal(4, rng.choice([0.1, 1, 8]), rng.integers(1, 30)))
        other = values.copy()
        other[rng.integers(len(values))] = rng.choice([0.0, np.inf, np.nan, -1.0, 50.0, 1e300])
        moves |= set((m.scores(values) - m.scores(other)).tolist())
    assert max(map(abs, moves)) == 2  # scores are doubled


def test_values_that_agree_are_found():
    m = median(epsilon0=2)
    values = np.full(25, 130.0)
    scores = m.scores(values)
    assert sorted(scores)[-2:] == [-25, 0]
    assert abs(m.middle(m.first + int(scores.argmax())) / 130 - 1) < 0.04


def right_and_wrong(rng, f, alpha, s, bad):
    right = f * (1 + 0.75 * alpha * rng.choice([-1, 1, rng.uniform(-1, 1)], s - bad))
    wrong = max(f, 1) * np.exp(rng.choice([-1, 1]) * rng.exponential(3, bad))
    return np.concatenate([right, wrong])


def good(m, values, bad):
    """Return the places of all cells with a score that the noise alone may choose."""
    return np.flatnonzero(m.scores(values) > -(len(values) - 2 * bad))


@pytest.mark.slow
def test_a_good_score_is_a_right_answer():
    # wherever the window is, within reach of the truth or not
    rng, seen, moved = np.random.default_rng(2), 0, 0
    for _ in range(2500):
        alpha = rng.uniform(0.05, 1)
        f = rng.choice([0.0, np.exp(rng.uniform(2, 9))], p=[0.1, 0.9])
        s = int(rng.integers(3, 40))
        bad = int(rng.integers(0, (s + 1) // 2))
        start = rng.choice([0.0, f * np.exp(rng.normal(0, 1))])
        m = median(error=alpha, start=start, window=int(rng.integers(1, 25)))
        answers = [
            m.answer(place) for place in good(m, right_and_wrong(rng, f, alpha, s, bad), bad)
        ]
        moved += None in answers
        told = np.array([a for a in answers if a is not None])
        assert np.all(np.abs(told - f) <= alpha * f * (1 + 1e-9))
        seen += len(told)
    assert seen > 1500
    assert moved > 500


@pytest.mark.slow
def test_a_leap_is_followed_one_way():
    rng, longest = np.random.default_rng(7), 0
    for _ in range(300):
        alpha = rng.uniform(0.05, 1)
        ratio = np.log(1 + alpha / 4)
        hull = np.log((1 + 0.75 * alpha) / (1 - 0.75 * alpha)) / ratio
        window = 1 + int(np.ceil(hull)) + int(rng.integers(0, 3))
        start, f = (float(np.exp(rng.uniform(2, 12))) for _ in range(2))
        m = median(error=alpha, start=start, window=window)
        far = abs(np.log(f / start)) / ratio
        cells, answer = [m._cell], None
        while answer is None:  # as unlucky as can be: any good cell, at a new sample each time
            values = right_and_wrong(rng, f, alpha, 15, bad := int(rng.integers(0, 7)))
            place = rng.choice(good(m, values, bad))
            answer = m.answer(place)
            m._cell = m.first + int(place)
            cells.append(m._cell)
        steps = np.diff(cells[:-1])
        assert np.all(np.abs(steps) >= window)
        assert len(set(np.sign(steps))) <= 1
        assert len(steps) <= (far + hull) / window + 1
        longest = max(longest, len(steps))
    assert longest > 5


@pytest.mark.slow
def test_the_median_follows_its_law():
    # the chance of each cell is e^{eps0 u / 2}, u the undoubled score
    m = median(epsilon0=0.5, window=2)
    values = np.array([90.0, 95, 101, 107, 120, 130, 80])
    weights = np.exp(0.5 * m.scores(values) / 2 / 2)
    source, draws, first, cell = SeededSource(3), 3000, m.first, m._cell
    counts = np.zeros(5)
    for _ in range(draws):
        m._cell = cell
        m.look(values, source)
        counts[m._cell - first] += 1
    expected = draws * weights / weights.sum()
    assert ((counts - expected) ** 2 / expected).sum() < 48.0  # 1e-9 of chi-square with 4


def test_zero_is_answered_as_zero_and_left_again():
    m = median(epsilon0=20, start=0.0)
    source = SeededSource(4)
    silent = [np.zeros(20), np.full(20, -3.0), np.full(20, np.nan), np.full(20, 0.99)]
    assert [m.look(values, source) for values in silent] == [0.0] * 4
    assert abs(m.look(np.full(20, 1.5), source) / 1.5 - 1) < 0.04
    assert m.look(np.zeros(20), source) == 0.0


def test_values_beyond_the_window_are_no_answer():
    m = median(epsilon0=20, start=1.0)
    source = SeededSource(5)
    looks = [m.look(np.full(20, 1e6), source) for _ in range(24)]
    assert looks[:18] == [None] * 18
    assert all(abs(answer / 1e6 - 1) < 0.04 for answer in looks[20:])
    down = [m.look(np.full(20, 7.0), source) for _ in range(24)]
    assert down[0] is None
    assert abs(down[-1] / 7 - 1) < 0.04
    assert [m.look(np.zeros(20), source) for _ in range(5)][-1] == 0.0


@pytest.mark.slow
def test_what_is_not_finite_has_an_end():
    m = median(epsilon0=20, least=1e-9)
    source, answer, looks = SeededSource(5), None, 0
    while answer is None:
        answer, looks = m.look(np.full(20, np.inf), source), looks + 1
    assert abs(answer / 1e300 - 1) < 0.04
    assert looks < 1100
