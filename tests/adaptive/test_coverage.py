"""Analysts who overfit on purpose: all their queries stay within what the ledger certifies."""

from __future__ import annotations

import importlib.util
import sys
from math import log, pi, sqrt
from pathlib import Path

import numpy as np
import pytest

from sourdine.adaptive.ledger.dependence import Blocks, Iid, Markov
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.ledger.transaction import Spent

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "adversaries.py"
RUNS = 24
BETA = 0.05


@pytest.fixture(scope="module")
def adversaries():
    spec = importlib.util.spec_from_file_location("adversaries", BENCHMARK)
    module = sys.modules["adversaries"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["adversaries"]


SIZES = ((1_000, 60), (4_000, 150))
ATTACKS = ["one bit, pairs", "one bit, random queries", "values, random queries", "hill-climbing"]


@pytest.fixture(scope="module")
def runs(adversaries):
    """All verdicts, right and wrong, by attack and kind of rows."""
    return {
        (attack, rows): adversaries.Cell(attack, rows, SIZES * (RUNS // 2), (7, i, rows)).run()
        for i, attack in enumerate(ATTACKS)
        for rows in range(3)
    }


@pytest.mark.slow
def test_ledger_covers_adversaries(runs):
    """Of all runs, and of those of each attack on each kind of rows, at most beta miss."""
    missed = {cell: [right.missed for right, _ in found] for cell, found in runs.items()}
    assert len(missed) == 12
    for cell, found in missed.items():
        assert np.mean(found) <= BETA, cell


@pytest.mark.slow
def test_all_intervals_that_are_given_hold():
    """A thousand fixed queries of each of 60 samples, each charged: one ledger in twenty may err.

    The same intervals without a charge, as if each query were the only one, err in nearly all.
    """
    rng, runs, n, queries = np.random.default_rng(11), 60, 400, 1000
    missed = alone = 0
    for _ in range(runs):
        averages = rng.binomial(n, 0.5, queries) / n
        ledger = TranscriptLedger(n, confidence=1 - BETA)
        ledger.turn(lambda turn: [turn.value(1) for _ in range(queries)])
        before = [Spent(), *(line.spent for line in ledger.history)]
        far = np.flatnonzero(abs(averages - 0.5) > 0.06)  # all intervals reach further than that
        ends = [ledger.interval_after(before[i], averages[i]) for i in far]
        for i, given in zip(far[:3], ends, strict=False):
            assert ledger.interval(averages[i], answer=int(i) + 1) == given
        missed += any(not low <= 0.5 <= high for low, high in ends)
        first = [ledger.interval_after(Spent(), averages[i]) for i in far]
        alone += any(not low <= 0.5 <= high for low, high in first)
    assert ledger.halfwidth_after(Spent()) > 0.07
    assert missed <= BETA * runs
    assert alone > 0.8 * runs


@pytest.mark.slow
def test_attacks_work(runs):
    """What the ledger covers are errors that ignore all intervals of unadaptive questions."""
    for (attack, rows), verdicts in runs.items():
        inflation = (1, 3, 10)[rows]
        for (n, k), (right, _) in zip(SIZES * RUNS, verdicts, strict=False):
            alone = sqrt(inflation * log(2 / BETA) / (2 * n))
            assert right.error > 1.2 * alone, (attack, rows, n, k)


@pytest.mark.slow
def test_copies_declared_independent_miss(runs):
    for attack in ATTACKS:
        missed = [wrong.missed for _, wrong in runs[attack, 2]]
        assert np.mean(missed) >= 0.9, attack


def test_a_walk_declared_independent_misses(runs):
    for attack in ("one bit, pairs", "hill-climbing"):
        assert np.mean([wrong.missed for _, wrong in runs[attack, 1]]) >= 0.5, attack


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("n", "k"), [(10_000, 100), (10_000, 1_000), (100_000, 5_000)])
def test_certificate_is_close_to_what_an_attack_achieves(adversaries, n, k):
    """At most 2.5 times; the pairs attack gets sqrt(k / 2 pi n), the theorem allows 1.48 times."""
    verdicts = adversaries.Cell("one bit, pairs", 0, ((n, k),) * 3, (9, n, k)).run()
    for right, _ in verdicts:
        assert 1 <= right.width / right.error <= 2.5
        assert right.error == pytest.approx(sqrt(k / (2 * pi * n)), rel=0.2)
        assert right.width >= 1.47 * sqrt(k / (2 * pi * n))


def test_verdicts_can_be_bad(adversaries):
    """A query that is off by more than its width, in the middle of a run, is a miss."""
    play = adversaries.Play(
        averages=np.array([0.5, 0.9, 0.5]),
        truths=np.array([0.5, 0.5, 0.5]),
        answers=np.array([True, False]),
    )
    ledger = TranscriptLedger(100, confidence=1 - BETA)
    verdict = adversaries.judged(play, adversaries.charged(play, ledger), ledger)
    assert verdict.missed
    assert verdict.worst > 1
    assert verdict.error == 0
    assert ledger.spent.answers == 2


def test_plays_are_what_they_say(adversaries):
    """Averages and truths are those of real queries over the rows and the law."""
    rng = np.random.default_rng(3)
    rows = adversaries.independent(3000, rng)
    for name, attack in adversaries.ATTACKS.items():
        play = attack(rows, 50, np.random.default_rng(4))
        assert len(play.averages) == len(play.truths) == 51, name
        assert len(play.answers) == 50
        assert ((play.averages >= 0) & (play.averages <= 1)).all()
        assert play.averages[-1] > play.truths[-1], name
    cell = np.random.default_rng(4).permutation(adversaries.UNIVERSE) * 100 // adversaries.UNIVERSE
    query = np.where(cell == 0, 1.0, np.where(cell == 1, 0.0, 0.5))
    play = adversaries.pairs(rows, 50, np.random.default_rng(4))
    assert play.averages[0] == pytest.approx(query[rows].mean(), abs=1e-12)
    assert play.truths[0] == pytest.approx(query.mean(), abs=1e-12)


def test_hill_climbing_keeps_what_is_better(adversaries):
    rows = adversaries.independent(3000, np.random.default_rng(5))
    play = adversaries.hill_climbing(rows, 80, np.random.default_rng(6))
    gaps, best = play.averages - play.truths, None
    for gap, kept in zip(gaps[:-1], play.answers, strict=True):
        if best is not None:
            assert kept == (gap > best)
        best = gap if kept else best
    assert gaps[-1] == pytest.approx(best) == pytest.approx(gaps[:-1][play.answers].max())


def test_rows_are_as_declared(adversaries):
    assert [kind.dependence for kind in adversaries.ROWS] == [Iid(), Markov(0.5), Blocks(10)]
    rng = np.random.default_rng(8)
    for kind in adversaries.ROWS:
        rows = kind.draw(20_000, rng)
        again = np.mean(rows[1:] == rows[:-1])
        expected = {"independent": 0, "lazy walk": 0.5, "tenfold": 0.9}[kind.name]
        assert again == pytest.approx(expected, abs=0.03)
    assert len(adversaries.tenfold(100, rng)) == 100
