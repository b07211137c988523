from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, exp, log, sqrt

import numpy as np
import pytest

from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.losses import log_evidence, proves_progress, stands_out
from sourdine.adaptive.ledger.dependence import Blocks, Custom, Iid, Markov

N = 400
LABELS = np.random.default_rng(5).integers(0, 2, N)


def mistaken(labels, wrong, start=0):
    """Predictions that are wrong on so many rows."""
    told = np.array(labels)
    told[start : start + wrong] = 1 - told[start : start + wrong]
    return told


def test_dependence_widens_the_standard_error():
    d = np.array([1.0] * 24 + [-1.0] * 12 + [0.0] * 164)
    least = d.mean() / (d.std() / sqrt(200))
    for rows, wider in [(Iid(), 1), (Blocks(4), 2), (Markov(0.6), 2), (Blocks(9), 3)]:
        assert stands_out(d, 0.999 * least / wider, rows, 4.0)
        assert not stands_out(d, 1.001 * least / wider, rows, 4.0)
    wide = Custom("none", lambda n, t: float("inf"))  # noqa: ARG005
    assert not stands_out(d, 1.0, wide, 4.0)


def chances(n, win, lose):
    """Yield all numbers of rows won and lost with their chances."""
    for won in range(n + 1):
        for lost in range(n - won + 1):
            ways = comb(n, won) * comb(n - won, lost)
            yield won, lost, ways * win**won * lose**lost * (1 - win - lose) ** (n - won - lost)


@pytest.mark.quick_cases(3)
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
    guard = GuardedHoldout(rng.integers(0, 2, n), baseline=held, confidence=1 - Fraction(1, 2))
    for _ in range(confirms):
        tried = np.where(rng.random(n) < 0.2, 1 - held, held)
        if guard.confirm(tried, certified=certified, margin=0):
            held = tried
    return guard.ledger.spent.yes


@pytest.mark.slow
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
