"""The private query server: exact laws of conversations, replay, draws, and ends that hold."""

from __future__ import annotations

from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise
from math import inf, log

import numpy as np
import pytest

from sourdine.adaptive.information import likely_loss
from sourdine.adaptive.ledger.dependence import Blocks
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.query_server import looks
from sourdine.adaptive.query_server.looks import Costs, PrivateLook
from sourdine.adaptive.query_server.server import Left, QueryServer
from sourdine.audit.exhaustive import ALPHA, p_value
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.laws import Law
from sourdine.mechanisms.above_threshold import first_above_law
from sourdine.mechanisms.laplace import laplace_law
from sourdine.noise import SYSTEM, SeededSource
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE, Concentrated, Guarantee

FEW = 4
"""Ticks of a query value, so few that laws can be summed up."""
ROWS, THRESHOLD = 4, 0.25
FIRST, LATER, BOTH = (np.array(q) for q in ([1.0, 0.0], [0.0, 1.0], [1.0, 0.25]))
MIXED = ((FIRST, None), (LATER, 0.25), (BOTH, None), (LATER, None))
"""Questions to a hypothesis that learns."""
OPPOSED = (*5 * ((FIRST, 0.0),), (FIRST, 1.0))
"""Where one gap grows as the others shrink, as in the worst case of the search."""


@contextmanager
def scripted(script):
    """Let every look answer as the script says, and yield what it was asked."""
    given, inputs = list(script), []

    def answers(_, x):
        inputs.append(x)
        return given.pop(0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PrivateLook, "fires", answers)
        patch.setattr(PrivateLook, "disturbed", answers)
        yield inputs


@pytest.fixture
def few_ticks(monkeypatch):
    monkeypatch.setattr(looks, "TICKS", FEW)


def budget_of(epsilon, delta=0):
    return Guarantee(epsilon, delta, SUBSTITUTE)


def small(counts, epsilon, hard, source=SYSTEM):
    rows = np.repeat([0, 1], counts)
    privacy = budget_of(epsilon)
    return QueryServer(rows, universe=2, error=THRESHOLD, privacy=privacy, hard=hard, source=source)


# --- the law of a conversation, by hand: given questions, all that may be told


def step_of(total, query, guess):
    average = min(max(total / (ROWS * FEW), query.min()), query.max())
    below, above = guess - query.min(), query.max() - guess
    step = round(2 * (average - guess) / THRESHOLD)
    return min(max(step, -round(2 * below / THRESHOLD)), round(2 * above / THRESHOLD))


class Conversation:
    """All that a server may tell, and its chances for given rows."""

    def __init__(self, questions, epsilon, hard):
        self.questions, self.epsilon, self.hard = questions, epsilon, hard
        self.costs = Costs.share(budget_of(epsilon), hard)
        self._guesses = {}

    def guesses(self, past):
        """Return the guesses after what was told: None for a nod, or a noisy sum."""
        if past not in self._guesses:
            script = [x for told in past for x in ([False] if told is None else [True, told])]
            with scripted(script):
                server = small((ROWS, 0), self.epsilon, self.hard)
                for query, guess in self.questions[: len(past)]:
                    server.ask(query, guess=guess)
            self._guesses[past] = [
                server.guess(query) if guess is None else guess for query, guess in self.questions
            ]
        return self._guesses[past]

    def steps(self, query, guess, counts):
        """Return the chance of each step, and a sum that leads to it."""
        law, reach = laplace_law(round(query @ counts * FEW), FEW / self.costs.value), 60
        totals = np.arange(-reach, ROWS * FEW + reach + 1)
        chances = law.pmf(totals)
        chances[0], chances[-1] = law.cdf(totals[:1])[0], 1 - law.cdf(totals[-2:-1])[0]
        steps = {}
        for total, chance in zip(totals.tolist(), chances.tolist(), strict=True):
            step = step_of(total, query, guess)
            before, any_total = steps.get(step, (0.0, total))
            steps[step] = (before + chance, any_total)
        return steps

    def law(self, counts, past=(), told=()):
        """Return the chance of everything that may be told."""
        rest = self.questions[len(past) :]
        if not rest or sum(x is not None for x in past) == self.hard:
            return {told: 1.0}
        asked = [
            (query, guess)
            for (query, _), guess in zip(rest, self.guesses(past)[len(past) :], strict=True)
        ]
        heights = [
            abs(round(query @ counts * FEW) - round(guess * ROWS * FEW))
            - round(THRESHOLD * ROWS * FEW)
            for query, guess in asked
        ]
        scales = 2 * FEW / self.costs.search, 4 * FEW / self.costs.search
        first = first_above_law(np.array(heights), *scales).pmf(np.arange(len(rest) + 1))
        chances = {told + (None,) * len(rest): first[-1]}
        for i, (query, guess) in enumerate(asked):
            for step, (p, total) in self.steps(query, guess, counts).items():
                here, there = (*past, *(None,) * i, total), (*told, *(None,) * i, step)
                for end, q in self.law(counts, here, there).items():
                    chances[end] = chances.get(end, 0.0) + first[i] * p * q
        return chances

    def loss(self):
        """Return the largest log ratio of any outcome between any neighbours."""
        laws = [self.law(np.array([ROWS - i, i])) for i in range(ROWS + 1)]
        assert all(sum(law.values()) == pytest.approx(1) for law in laws)
        return max(
            abs(log(one[told] / two[told])) for one, two in pairwise(laws) for told in one | two
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("questions", "epsilon", "hard", "tight"),
    [(OPPOSED, 4, 1, 0.9), (OPPOSED, 16, 1, 0.9), (MIXED, 16, 2, 0.3)],
)
@pytest.mark.usefixtures("few_ticks")
def test_exact_laws_of_all_neighbours(questions, epsilon, hard, tight):
    loss = Conversation(questions, epsilon, hard).loss()
    assert tight * epsilon < loss <= epsilon


def converse(server, questions):
    """Return what a server tells, as steps from its guesses."""
    told = []
    for query, given in questions:
        guess = server.guess(query) if given is None else given
        try:
            answer = server.ask(query, guess=given)
        except BudgetExceededError:
            break
        nod = answer.source == "hypothesis"
        told.append(None if nod else step_of(answer.value * ROWS * FEW, query, guess))
    return tuple(told)


@pytest.mark.slow
@pytest.mark.usefixtures("few_ticks")
def test_draws_follow_the_law_of_the_conversation():
    counts, epsilon, source = np.array([1, 3]), 8, SeededSource(7)
    runs = [converse(small(counts, epsilon, 2, source=source), MIXED) for _ in range(500)]
    law = Conversation(MIXED, epsilon, 2).law(counts)
    index = {told: i for i, told in enumerate(law)}
    fit = p_value([index[told] for told in runs], Law.finite(np.log(list(law.values()))))
    assert fit > ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1, 1.3, 0.7])
def test_search_and_noise_follow_their_laws(factor):
    """A look draws as the laws say; noise 30% too small or too large is seen."""
    ticks = looks.TICKS
    look = small((ROWS, 0), 8, 1, source=SeededSource(5))._look
    gaps = [0, 2 * ticks, ticks, 0, 3 * ticks]

    def first():
        found = next((i for i, gap in enumerate(gaps) if look.fires(gap)), len(gaps))
        look._rho = None
        return found

    heights = np.array(gaps) - look._search.threshold
    scales = 2 * ticks / (6 * Fraction(factor)), 4 * ticks / (6 * Fraction(factor))
    searches = p_value([first() for _ in range(6000)], first_above_law(heights, *scales))
    noises = p_value(
        [look.disturbed(100) for _ in range(4000)],
        laplace_law(100, ticks / (2 * Fraction(factor))),
    )
    for fit in (searches, noises):
        assert fit > ALPHA if factor == 1 else fit < ALPHA


def test_the_threshold_is_drawn_anew_for_each_search():
    """Once for all looks of a search, and not again until it has found something."""
    look = small((ROWS, 0), 8, 2, source=SeededSource(6))._look
    drawn = []
    for _ in range(20):
        assert not look.fires(-(10**9))
        drawn.append(look._rho)
        assert not look.fires(-(10**9))
        assert look._rho == drawn[-1]
        assert look.fires(10**9)
        assert look._rho is None
    assert len(set(drawn)) > 10


# --- replay: the same answers on a neighbour


@pytest.mark.slow
def test_replay_on_neighbours():
    rng = np.random.default_rng(11)
    rows = rng.integers(0, 16, 300)
    queries = [rng.random(16) ** rng.choice([0.2, 1, 5]) for _ in range(120)]
    queries += [np.eye(16)[i] for i in range(16)]
    script = [x for i in range(136) for x in ([True, 90_000 + 997 * i] if i % 9 == 4 else [False])]

    def run(data):
        with scripted(script) as inputs:
            server = QueryServer(
                data, universe=16, privacy=budget_of(1), hard=40, source=SeededSource(1)
            )
            answers = [server.ask(query) for query in queries]
        return inputs, answers, server.hypothesis.tolist(), server.bits, str(server.certificate())

    inputs, *public = run(rows)
    for row, value in [(0, 15), (7, 0), (299, 3)]:
        neighbour = rows.copy()
        neighbour[row] = value
        moved, *same = run(neighbour)
        assert same == public
        assert max(abs(a - b) for a, b in zip(inputs, moved, strict=True)) <= looks.TICKS
    assert len(inputs) == 136 + 15
    assert all(isinstance(x, int) for x in inputs)


# --- the budget


def test_costs_add_up():
    costs = Costs.share(budget_of(1), 7)
    assert 7 * (costs.search + costs.value) == costs.pure == 1
    look = QueryServer([0] * 900, universe=2, privacy=budget_of(1), hard=7, confidence=0.94)._look
    assert look.nats(5) == pytest.approx(likely_loss(1, 900, 0.01) + log(5 * 6 / 0.01))
    for budget in (Concentrated(Fraction(1, 3), SUBSTITUTE), budget_of(1, 1e-6)):
        rho = budget.rho if isinstance(budget, Concentrated) else Concentrated.rho_for(1, 1e-6)
        costs = Costs.share(budget, 7)
        spent = 7 * (costs.search**2 + costs.value**2) / 2
        assert rho * Fraction(999_999, 1_000_000) < spent <= rho


def test_rows_are_not_touched_after_the_last_surprise():
    server = QueryServer([0] * 1000, universe=4, privacy=budget_of(50), hard=1)
    assert server.ask([1.0, 0.0, 0.0, 0.0]).source == "data"
    server._look._evidence = None
    hypothesis = server.hypothesis
    with pytest.raises(BudgetExceededError, match="Budget exceeded: all surprises"):
        server.ask([0.0, 1.0, 0.0, 0.0])
    assert server.guess([1.0, 0.0, 0.0, 0.0]) == pytest.approx(hypothesis[0])
    assert server.hard == 1


def test_what_remains_of_privacy():
    server = QueryServer([0] * 1000, universe=4, privacy=budget_of(50), hard=1)
    assert server.remaining == Left(1, None)
    assert server.until(0.9).surprises == 1
    server.ask([1.0, 0.0, 0.0, 0.0])
    assert server.remaining == server.until(0.9) == Left(0, 0)


def test_cost_is_the_whole_budget():
    assert QueryServer([0], universe=2, privacy=budget_of(1), hard=1).cost == budget_of(1)
    assert QueryServer([0], universe=2).cost is None
    seeded = QueryServer([0], universe=2, privacy=budget_of(1), hard=1, source=SeededSource(1))
    assert seeded.cost.epsilon == inf


def test_surprises_are_planned_from_public_numbers():
    plans = {
        n: QueryServer(np.zeros(n, int), universe=2, error=0.1, privacy=budget_of(1))._look
        for n in (10_000, 40_000)
    }
    few, many = (plan.costs.hard for plan in plans.values())
    assert 1 <= few < many
    ones = QueryServer(np.ones(10_000, int), universe=2, error=0.1, privacy=budget_of(1))
    assert ones._look.costs.hard == few
    with pytest.raises(ParameterError, match="error must be at least"):
        QueryServer(np.zeros(100, int), universe=2, privacy=budget_of(1))


def test_bad_private_terms():
    with pytest.raises(ParameterTypeError, match="privacy must be a Guarantee"):
        QueryServer([0], universe=2, privacy=1)
    with pytest.raises(ParameterError, match="under SUBSTITUTE"):
        QueryServer([0], universe=2, privacy=Guarantee(1, 0, ADD_REMOVE))
    with pytest.raises(ParameterError, match="finite and above 0"):
        QueryServer([0], universe=2, privacy=budget_of(0))
    with pytest.raises(ParameterError, match="privacy must be used with the guess 'weights'"):
        QueryServer([0, 1], guess="split", privacy=budget_of(1))
    with pytest.raises(ParameterError, match="dependence must be Iid"):
        QueryServer([0], universe=2, privacy=budget_of(1), dependence=Blocks(2))
    with pytest.raises(ParameterError, match="ledger must be omitted"):
        QueryServer([0], universe=2, privacy=budget_of(1), ledger=TranscriptLedger(1))
    with pytest.raises(ParameterTypeError, match="privacy must be a Guarantee"):
        QueryServer([0], universe=2, hard=3)


# --- validity


@pytest.mark.parametrize(
    "privacy", [budget_of(1), Concentrated(0.05, SUBSTITUTE), budget_of(0.5, 1e-6)]
)
def test_private_answers_hold_their_ends(privacy):
    size, n, rng = 128, 50_000, np.random.default_rng(3)
    law = rng.dirichlet(np.full(size, 0.2))
    rows = rng.choice(size, n, p=law)
    share = np.bincount(rows, minlength=size) / n
    server = QueryServer(rows, universe=size, error=0.1, privacy=privacy, source=SeededSource(4))
    weights = np.zeros(size)
    for i in range(400):
        query = rng.random(size) < 0.5 if i % 10 else weights > 0
        if not i % 7:
            query = rng.random(size)
        try:
            answer = server.ask(query)
        except BudgetExceededError:
            break
        assert answer.lower <= float(query @ law) <= answer.upper
        assert abs(answer.value - query @ share) < 0.2
        weights += (answer.value - query @ law) * (query - 0.5)
    assert server.answers == 400 or server.hard == server._look.costs.hard
    assert server.hard > 0
    assert server.certificate().halfwidth < 0.25
    assert "the better of two accounts" in server.certificate().grounds


def test_a_small_epsilon_certifies_where_bits_do_not():
    """The account of privacy is the better one if many small things are told privately."""
    n = 400_000
    server = QueryServer(np.zeros(n, int), universe=2, privacy=budget_of(0.01), hard=1)
    by_privacy = server._look.nats(1000)
    by_bits = server.ledger.nats_after(server.ledger.spent.value(2**60))
    assert by_privacy < by_bits
