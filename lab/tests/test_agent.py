"""An agent's loop, and the judges that it climbs on."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.leaderboard import Leaderboard
from sourdine.adaptive.ledger.dependence import Blocks
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.errors import BudgetExceededError, ParameterError
from sourdine.noise import SeededSource
from sourdine_lab.answering import Thresholdout
from sourdine_lab.attacks.holdouts import MIXED, NO_GAINS, agent_loop, hill_climb
from sourdine_lab.game import Direct, Guarded, Ladder, Posted, Scored
from sourdine_lab.game.agent import Model


def rngs(count):
    return [np.random.default_rng(seed) for seed in range(count)]


def test_a_proposal_moves_the_truth_by_its_gain():
    rng = np.random.default_rng(1)
    n = 400_000
    labels = rng.integers(0, 2, n, dtype=np.bool_)
    model = Model((rng.random(n) < 0.7) == labels, 0.7)
    for gain in (0.0, 0.03, -0.03, 0.04):
        new = model.proposed(labels, gain, 0.04, rng)
        assert new.accuracy == 0.7 + gain
        assert abs((new.predictions == labels).mean() - new.accuracy) < 6 * (0.21 / n) ** 0.5
        assert abs((new.predictions != model.predictions).mean() - 0.04) < 0.003
    top = Model((rng.random(n) < 0.96) == labels, 0.96)
    assert top.proposed(labels, 0.03, 0.04, rng).accuracy == 0.96
    new = top.proposed(labels, 0.01, 0.04, rng)
    assert abs((new.predictions == labels).mean() - 0.97) < 6 * (0.03 / n) ** 0.5


def test_the_guarded_agent_reports_what_is_true():
    """No progress is possible: the naive loop shows about 0.09, the guarded one 0.03 at most."""
    gaps = {}
    for judge in ("naive", "confirm"):
        runs = [agent_loop(judge, n=2000, proposals=500, rng=rng) for rng in rngs(12)]
        gaps[judge] = np.mean([run.gap for run in runs])
        assert all(run.true == 0.7 for run in runs)
        if judge == "confirm":
            assert all(run.covers for run in runs)
    assert 0.075 < gaps["naive"] < 0.105
    assert gaps["confirm"] <= 0.03


def test_other_judges_do_not_save_the_agent():
    for judge, least in (("ladder", 0.05), ("thresholdout", 0.06)):
        runs = [agent_loop(judge, n=2000, proposals=500, rng=rng) for rng in rngs(4)]
        assert np.mean([run.gap for run in runs]) > least
        assert all(run.interval is None and not run.covers for run in runs)


def test_the_ladder_asks_for_a_standard_error():
    """Of 100 rows, w are mended and l lost: better if w - l > sqrt(w + l - (w - l)**2/100)."""
    labels, old = np.ones(100, bool), np.arange(100) < 50
    for mended, lost in ((1, 0), (2, 1), (6, 2), (6, 3), (20, 14), (20, 13), (0, 0)):
        new = old.copy()
        new[50 : 50 + mended], new[:lost] = True, False
        judge = Ladder(labels)
        expected = mended - lost > (mended + lost - (mended - lost) ** 2 / 100) ** 0.5
        assert judge.better(new, old) == expected
        assert np.isnan(judge.heard) != expected
        assert judge.report(new) == (50 + mended - lost) / 100


def test_real_progress_is_made_behind_the_guard():
    runs = [
        agent_loop("confirm", n=8000, proposals=600, rng=rng, gains=MIXED, every=10)
        for rng in rngs(2)
    ]
    assert all(run.true > 0.75 and run.confirmed > 3 and run.covers for run in runs)


def test_runs_are_told_in_full():
    calls = []
    run = agent_loop(
        "naive",
        n=500,
        proposals=60,
        rng=np.random.default_rng(1),
        gains=[(0.5, 0.01), (0.5, 0)],
        progress=lambda: calls.append(1),
    )
    assert len(calls) == run.proposals == len(run.heard) == len(run.truth) == 60
    assert run.truth[-1] == run.true
    assert run.heard[-1] == run.reported
    assert (np.diff(run.heard) >= 0).all()
    assert 0 < run.accepted < 60
    assert run.gap == run.reported - run.true


@pytest.mark.parametrize("every", [1, 7, 100])
def test_what_is_not_confirmed_is_given_up(every):
    class Never(Scored):
        def confirm(self, new, old):
            del new, old
            return False

    gains = [(1.0, 0.01)]
    run = agent_loop(
        Never, n=300, proposals=20, rng=np.random.default_rng(1), gains=gains, every=every
    )
    assert (run.true, run.confirmed) == (0.7, 0)
    assert run.accepted > 0


def test_an_agent_stops_when_nothing_is_left_to_tell():
    def guard(labels):
        return GuardedHoldout(labels, error=0.07)

    run = agent_loop(
        lambda labels: Guarded(labels, guard),
        n=2000,
        proposals=500,
        rng=np.random.default_rng(1),
        every=5,
    )
    assert 5 < run.proposals < 500
    assert run.covers
    board = agent_loop(
        lambda labels: Posted(labels, lambda y: Leaderboard(GuardedHoldout(y, error=0.06))),
        n=4000,
        proposals=300,
        rng=np.random.default_rng(1),
        gains=[(1.0, 0.01)],
    )
    assert board.proposals == 300, "a board raises the bar instead"
    assert board.covers
    assert (board.interval[1] - board.interval[0]) / 2 <= 0.06


@pytest.mark.parametrize("silent", [True, False])
def test_an_agent_that_is_stopped_keeps_what_was_confirmed(silent):
    class Stopping(Scored):
        asked = 0

        def better(self, new, old):
            del new, old
            self.asked += 1
            if self.asked > 12:
                raise BudgetExceededError("nothing is left")
            return True

        def confirm(self, new, old):
            del new, old
            if silent and self.asked > 12:
                raise BudgetExceededError("nothing is left")
            return True

    rng, gains = np.random.default_rng(1), [(1.0, 0.01)]
    run = agent_loop(Stopping, n=300, proposals=40, rng=rng, gains=gains, every=5)
    assert run.proposals == run.accepted == 12
    assert run.true == pytest.approx(0.8 if silent else 0.82)


def test_a_noisy_judge_that_falls_silent_accepts_nothing_more():
    def silent(rows):
        half = len(rows) // 2
        halves = rows[:half], rows[half:]
        return Thresholdout(halves, threshold=0, tolerance=1e-4, budget=3, source=SeededSource(1))

    run = agent_loop(
        lambda labels: Scored(labels, silent), n=400, proposals=50, rng=np.random.default_rng(1)
    )
    assert run.accepted <= 3
    assert not np.isnan(run.reported)


# hill climbing against guards


@pytest.mark.parametrize("judge", [Direct, Posted])
def test_guards_cover_what_hill_climbing_gains(judge):
    for rng in rngs(4):
        run = hill_climb(judge, n=1000, proposals=300, rng=rng)
        assert run.true == 0.5
        assert run.covers
        if judge is Direct:
            assert run.gap > 0.05
        else:
            assert abs(run.gap) < 0.05, "a climb of less than a step is not told"


def test_hill_climbing_fools_a_plain_score():
    runs = [hill_climb("naive", n=1000, proposals=300, rng=rng) for rng in rngs(4)]
    assert min(run.gap for run in runs) > 0.09


def test_the_guard_of_a_judge_may_be_of_any_terms():
    def guard(labels):
        return GuardedHoldout(labels, ledger=TranscriptLedger(500, dependence=Blocks(2)))

    run = agent_loop(
        lambda labels: Guarded(labels, guard), n=1000, proposals=30, rng=np.random.default_rng(1)
    )
    assert run.interval[1] - run.interval[0] > 0.1


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda rng: agent_loop("nave", n=100, proposals=5, rng=rng), "judge must be one of naive"),
        (lambda rng: agent_loop("naive", n=1, proposals=5, rng=rng), "n must be at least 2"),
        (lambda rng: agent_loop("naive", n=9, proposals=0, rng=rng), "proposals must be"),
        (lambda rng: agent_loop("naive", n=9, proposals=5, rng=rng, churn=0.6), "churn must be"),
        (lambda rng: agent_loop("naive", n=9, proposals=5, rng=rng, accuracy=0.99), "accuracy"),
        (
            lambda rng: agent_loop("naive", n=9, proposals=5, rng=rng, gains=[(1, 0.05)]),
            "gains must be pairs",
        ),
    ],
)
def test_bad_parameters(call, text):
    with pytest.raises(ParameterError, match=text):
        call(np.random.default_rng(1))


def test_gains_are_laws():
    assert sum(chance for chance, _ in MIXED) == pytest.approx(1)
    assert NO_GAINS == ((1.0, 0.0),)


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
