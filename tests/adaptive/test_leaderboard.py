"""A leaderboard on rungs: what it tells, what it costs, and that its intervals hold."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb, log2

import numpy as np
import pytest

from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.leaderboard import Ladder, Leaderboard
from sourdine.adaptive.holdout.planning import plan_guard, plan_leaderboard
from sourdine.adaptive.ledger.dependence import Blocks, Markov
from sourdine.adaptive.ledger.transaction import TOLD, Spent, kt_bits
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError

N = 400
LABELS = np.random.default_rng(8).integers(0, 2, N)


def mistaken(wrong, start=0):
    told = LABELS.copy()
    told[start : start + wrong] = 1 - told[start : start + wrong]
    return told


def season(rng, n, *, error=None, teams=20, rounds=15):
    """Return a board after a season of teams that get better, and the truth of each lead."""
    labels = rng.integers(0, 2, n)
    board, truths = Leaderboard(GuardedHoldout(labels, error=error)), []
    skill = rng.uniform(0.6, 0.85, teams)
    for i in range(teams * rounds):
        team = i % teams
        right = skill[team] + 0.05 * i / (teams * rounds)
        if board.submit(f"team {team}", np.where(rng.random(n) < right, labels, 1 - labels)):
            truths.append(right)
    return board, truths


# Rungs.


@pytest.mark.parametrize(("visited", "skipped"), [(0, 0), (3, 5), (0, 9), (7, 0)])
def test_climbs_are_a_code(visited, skipped):
    ladder, past = Ladder(Fraction(1, 20)), {"visited": visited, "skipped": skipped}
    for room in (1, 2, 7, 20):
        for least in range(1, room + 1):
            climbs = range(least, room + 1)
            chances = [ladder.chance(s, room=room, least=least, **past) for s in climbs]
            assert sum(chances) == 1
            assert chances == sorted(chances, reverse=True)


def test_scores_of_all_leaders_are_a_code():
    """Over all ways up a ladder of five rungs, from any first one."""
    ladder = Ladder(Fraction(1, 4))

    def climbing(rungs, chance):
        room = ladder.top - rungs[-1]
        total = chance
        for s in range(1, room + 1):
            visited = len(rungs) - 1
            skipped = rungs[-1] - rungs[0] - visited
            odds = ladder.chance(s, room=room, visited=visited, skipped=skipped)
            below = chance * odds
            assert -log2(below) <= ladder.most_bits(len(rungs) + 1) + 1e-9
            total += climbing((*rungs, rungs[-1] + s), below) - below
        return total

    assert sum(climbing((first,), Fraction(1, 5)) for first in range(5)) == 1


def test_many_small_climbs_are_cheap():
    ladder, chance = Ladder(Fraction(1, 100)), Fraction(1)
    for visited in range(9):
        chance *= ladder.chance(1, room=60 - visited, visited=visited, skipped=0)
    assert -log2(chance) < 3
    assert ladder.most_bits(10) < log2(101) + log2(comb(100, 9)) + 7


def test_rungs_are_exact():
    ladder = Ladder(Fraction(1, 20))
    assert [ladder.rung(Fraction(k, 20)) for k in range(21)] == list(range(21))
    assert ladder.rung(Fraction(13999, 20000)) == 13
    assert Ladder(Fraction(3, 10)).top == 3
    assert Ladder(Fraction(3, 10)).ends(3) == (0.9, 1.0)
    board = Leaderboard(GuardedHoldout([1] * 10), step=0.1)
    for right in range(11):
        one = Leaderboard(GuardedHoldout([1] * 10), step=0.1)
        assert one.submit("a", [1] * right + [0] * (10 - right)).score.value == right / 10
        assert bool(board.submit("b", [1] * right + [0] * (10 - right)))


# Submissions.


def test_only_leaders_see_a_score():
    board = Leaderboard(GuardedHoldout(LABELS), step=0.05)
    first = board.submit("anna", mistaken(200))
    assert first.score.value == 0.5
    assert first.bits == pytest.approx(log2(21))
    same = board.submit("ben", mistaken(181))
    assert same.score is None
    assert not same
    lead = board.submit("cleo", mistaken(179))
    assert lead.score.value == pytest.approx(0.55)
    assert [s.name for s in board.standings] == ["cleo", "anna"]
    climb = -log2(board.ladder.chance(1, room=10, visited=0, skipped=0))
    assert board.guard.bits == pytest.approx(kt_bits(1, 1) + log2(21) + climb)
    assert sum(s.bits for s in (first, same, lead)) == pytest.approx(board.guard.bits)


def test_all_teams_are_listed():
    board = Leaderboard(GuardedHoldout(LABELS), step=0.05)
    for name, wrong in (("a", 200), ("never", 200), ("b", 150), ("a", 170), ("b", 100), ("z", 300)):
        board.submit(name, mistaken(wrong))
    teams = [(t.name, t.score and round(t.score.value, 2), t.tries) for t in board.teams]
    assert teams == [("b", 0.75, 2), ("a", 0.5, 2), ("never", None, 1), ("z", None, 1)]
    text = str(board)
    assert all(name in text for name in ("never", "z", "6 submissions of 4 teams, 3 led"))
    assert "a score of 0.80 or more takes the lead" in text
    facts = board.to_dict()
    assert [team["name"] for team in facts["teams"]] == ["b", "a", "never", "z"]
    assert facts["teams"][2]["value"] is None


def test_intervals_are_those_of_the_ledger_after_the_bit():
    guard = GuardedHoldout(LABELS)
    board = Leaderboard(guard, step=0.01)
    board.submit("a", mistaken(100))
    after = guard.ledger.spent.bit(answer=True, claim=False)
    ends = [guard.ledger.interval_after(after, average) for average in (0.87, 0.88)]
    score = board.submit("b", mistaken(50)).score
    assert score.value == 0.87
    assert (score.lower, score.upper) == pytest.approx((ends[0][0], ends[1][1]))
    assert guard.ledger.spent.claims == 2


def test_nothing_leads_above_the_highest_rung():
    board = Leaderboard(GuardedHoldout(LABELS), step=0.05)
    assert board.submit("all right", LABELS)
    bits = board.guard.bits
    assert not board.submit("all right too", LABELS)
    assert board.guard.bits == bits
    assert board.bar is None
    assert "no score can take the lead any more" in str(board)


def test_refusal_does_not_depend_on_the_answer():
    said, spent = set(), Spent(90, 10, 80, 3000.0, 1)
    for wrong in (0, 150, 399):
        board = Leaderboard(GuardedHoldout(LABELS, error=0.1), step=0.02)
        board.submit("first", mistaken(200))
        told = TOLD.pack(spent.yes, spent.no, spent.value_bits, spent.claims).hex()
        lines = board.guard.ledger._memory.tables["answers"]
        lines.append({**lines[-1], "number": 90, "told": told})
        with pytest.raises(BudgetExceededError) as caught:
            board.submit("next", mistaken(wrong))
        said.add(str(caught.value))
    assert len(said) == 1


def test_where_no_score_fits_the_final_answer_does():
    board = Leaderboard(GuardedHoldout([1] * 40, error=0.3), step=0.5)
    with pytest.raises(
        BudgetExceededError, match=r"the score could be off by .* above the limit of 0\.3"
    ) as caught:
        board.submit("a", [1] * 40)
    assert "A final answer is still given" in str(caught.value)
    assert board.guard.final([1] * 40).value == 1


@pytest.mark.slow
def test_the_bar_rises_where_intervals_would_be_too_wide():
    board, truths = season(np.random.default_rng(2), 5000, error=0.05)
    assert sum(team.tries for team in board.teams) == 300
    assert len(board.teams) == 20
    for standing, truth in zip(board.standings, reversed(truths), strict=True):
        assert (standing.score.upper - standing.score.lower) / 2 <= 0.05
        assert standing.score.lower <= truth <= standing.score.upper
    assert board.bar > board.standings[0].score.value + float(board.step) * 1.5


def test_three_hundred_submissions_are_served_without_a_limit():
    board, truths = season(np.random.default_rng(1), 5000)
    assert sum(team.tries for team in board.teams) == 300
    assert len(truths) >= 6
    for standing, truth in zip(board.standings, reversed(truths), strict=True):
        assert standing.score.lower <= truth <= standing.score.upper
        assert standing.score.upper - standing.score.lower < 0.12


def test_luck_does_not_lead_for_long():
    """Five hundred guesses at coins: few lead, and every interval holds the truth, one half."""
    rng = np.random.default_rng(1)
    board = Leaderboard(GuardedHoldout(rng.integers(0, 2, 2000)))
    for i in range(500):
        board.submit(f"guess {i}", rng.integers(0, 2, 2000))
    shown = board.standings
    assert 1 <= len(shown) <= 6
    assert all(s.score.lower <= 0.5 <= s.score.upper for s in shown)
    assert board.guard.bits < 60


@pytest.mark.slow
def test_colluding_teams_do_not_get_beyond_their_interval():
    """Teams that pool what each was told: hill-climbing on all labels, in 300 runs."""
    misses = climbs = 0
    runs, n, beta = 300, 200, 0.1
    rng = np.random.default_rng(7)
    for _ in range(runs):
        labels = rng.integers(0, 2, n)
        board = Leaderboard(GuardedHoldout(labels, confidence=1 - beta), step=0.01)
        best = rng.integers(0, 2, n)
        board.submit("0", best)
        for i in range(60):
            tried = best.copy()
            flip = rng.choice(n, 6, replace=False)
            tried[flip] = 1 - tried[flip]
            if board.submit(f"{i % 5}", tried):
                best = tried
        scores = [s.score for s in board.standings]
        misses += any(not s.lower <= 0.5 <= s.upper for s in scores)
        climbs += scores[0].value > 0.5 + 1.64 * 0.5 / n**0.5
    assert misses <= beta * runs
    assert climbs > runs / 2, "the attack works where bits are not counted"


def test_a_board_keeps_its_step(tmp_path):
    guard = GuardedHoldout.create(tmp_path / "x.guard", LABELS)
    board = Leaderboard(guard, step=0.02)
    fresh = Leaderboard(GuardedHoldout.open(guard.path))
    assert fresh.step == Fraction(1, 20)
    board.submit("a", mistaken(100))
    with pytest.raises(
        ParameterError, match=r"step must be 0\.02, the step the leaderboard was created with"
    ):
        fresh.submit("b", mistaken(90))
    with pytest.raises(ParameterError, match=r"step must be 0\.02, .*got 0\.1\. Use step=0\.02"):
        Leaderboard(guard, step=0.1)
    again = Leaderboard(GuardedHoldout.open(guard.path))
    assert again.step == Fraction(1, 50)
    assert again.submit("b", mistaken(50)).score.value == pytest.approx(0.86)
    assert str(board) == str(again)


@pytest.mark.parametrize("dependence", [Blocks(4), Markov(0.5)])
def test_other_rows_have_boards_too(dependence):
    board = Leaderboard(GuardedHoldout(LABELS, dependence=dependence, error=0.25))
    first = board.submit("a", mistaken(100)).score
    alone = Leaderboard(GuardedHoldout(LABELS)).submit("a", mistaken(100)).score
    assert first.upper - first.lower > 1.4 * (alone.upper - alone.lower)


def test_bad_submissions():
    board = Leaderboard(GuardedHoldout(LABELS))
    with pytest.raises(ParameterError, match="name must be a string, got an empty string"):
        board.submit("", LABELS)
    with pytest.raises(ParameterError, match="name must be a string, got a value of type int"):
        board.submit(3, LABELS)
    with pytest.raises(ParameterError, match="a prediction for each of the 400 labels"):
        board.submit("a", LABELS[1:])
    assert board.guard.bits == 0
    with pytest.raises(ParameterTypeError, match="step must be 'auto' or a number"):
        Leaderboard(board.guard, step="small")
    with pytest.raises(ParameterError, match="step must be above 0"):
        Leaderboard(board.guard, step=0)


def test_an_empty_leaderboard_prints_and_is_drawn():
    board = Leaderboard(GuardedHoldout(LABELS))
    assert str(board).splitlines()[0].split() == ["team", "score", "interval", "tries"]
    assert "0 submissions of 0 teams, 0 led" in str(board)
    assert board.plot() is not None


@pytest.mark.slow
def test_names_are_shown_as_they_are(tmp_path):
    board = Leaderboard(GuardedHoldout(LABELS))
    for name in ("<b>x</b>", "$\\frac{1}{0}$", "n" * 99):
        board.submit(name, LABELS)
    for name in ("a\x1b[31mb", "a\nb", "a\u202eb"):
        with pytest.raises(ParameterError, match="name must contain printable characters only"):
            board.submit(name, LABELS)
    assert "<b>" not in board._repr_html_()
    figure = board.plot(path=tmp_path / "board.png")
    assert len(figure.axes[0].get_yticklabels()) == 3
    assert (tmp_path / "board.png").stat().st_size > 5000


# Plans.


def test_no_score_is_wider_than_planned():
    rng = np.random.default_rng(3)
    for n, submissions in ((500, 40), (5000, 120)):
        board, _ = season(rng, n, teams=10, rounds=submissions // 10)
        leads = len(board.standings)
        plan = plan_leaderboard(n, submissions=submissions, leads=leads)
        for width, standing in zip(plan.widths, reversed(board.standings), strict=True):
            assert (standing.score.upper - standing.score.lower) / 2 <= width.error


def test_a_plan_of_a_guard_is_what_the_guard_says():
    guard = GuardedHoldout(LABELS, baseline=mistaken(200))
    for wrong in (150, 300, 300, 100, 300):
        guard.confirm(mistaken(wrong))
    plan = plan_guard(N, answers=5, yes=2)
    assert plan.error == pytest.approx(guard.ledger.halfwidth())
    guard.score(LABELS, step=0.1)
    plan = plan_guard(N, answers=5, yes=2, scores=1, step=0.1)
    assert plan.error == pytest.approx(guard.ledger.halfwidth())
    assert plan_guard(N, answers=6).error == plan_guard(N, answers=6, yes=3).error
    assert plan_guard(N, answers=6, yes=6).error == plan_guard(N, answers=6, yes=3).error


def test_bad_plans():
    with pytest.raises(ParameterError, match=r"yes must be at most 3, .* Use yes=3"):
        plan_guard(N, answers=3, yes=4)
    with pytest.raises(ParameterError, match=r"leads must be at most 3"):
        plan_leaderboard(N, submissions=3, leads=4)
    with pytest.raises(ParameterError, match=r"leads must be at most 11"):
        plan_leaderboard(N, submissions=300, leads=12, step=0.1)
    rows = list(itertools.pairwise(w.error for w in plan_leaderboard(N, submissions=50).widths))
    assert all(a < b for a, b in rows)
