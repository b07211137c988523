"""Widths and intervals of one fixed query: never missed more often than they say."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product
from math import comb, exp, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.adaptive.ledger.dependence import (
    Blocks,
    Custom,
    DependencyGraph,
    Iid,
    Markov,
    chernoff,
    colour_classes,
    dependence_of,
    mcdiarmid,
    second_eigenvalue,
    stationary,
)
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.errors import ParameterError, ParameterTypeError

NATS = (0.01, 0.3, 1.0, 2.0, 3.0, 6.0, 12.0)
ROUNDING = 1 + 1e-12


def binomial(n, p):
    return np.array([comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)])


def misses(dependence, law, values, truth, n, nats):
    """Return the chances that the width and the interval miss, by adding up a law."""
    far = np.abs(values - truth) > dependence.width(n, nats) * ROUNDING
    low, high = ends(dependence, tuple(values.tolist()), n, nats)
    return law[far].sum(), law[(truth < low) | (high < truth)].sum()


@cache
def ends(dependence, averages, n, nats):
    return np.array([dependence.interval(a, n, nats) for a in averages]).T


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 45])
def test_independent_rows_stay_within_their_width(n):
    for p in np.linspace(0, 1, 41):
        law, values = binomial(n, p), np.arange(n + 1) / n
        for nats in NATS:
            worst = max(misses(Iid(), law, values, p, n, nats))
            assert worst <= exp(-nats) * ROUNDING


@pytest.mark.parametrize("sizes", [[10] * 6, [10, 10, 10, 3, 2, 1], [4] * 7, [5, 1, 1]])
def test_blocks_stay_within_their_width(sizes):
    n, dependence = sum(sizes), Blocks(max(sizes))
    for p in np.linspace(0.02, 0.98, 25):
        law = np.ones(1)
        for size in sizes:  # a block is yes as a whole, or no
            step = np.zeros(size + 1)
            step[[0, size]] = 1 - p, p
            law = np.convolve(law, step)
        for nats in NATS:
            worst = max(misses(dependence, law, np.arange(n + 1) / n, p, n, nats))
            assert worst <= exp(-nats) * ROUNDING


def test_copies_pass_the_width_of_independent_rows():
    law, n = binomial(10, 0.5), 100
    far, outside = misses(Iid(), law, np.arange(11) / 10, 0.5, n, 3.0)
    assert min(far, outside) > exp(-3.0)
    assert max(misses(Blocks(10), law, np.arange(11) / 10, 0.5, n, 3.0)) <= exp(-3.0)


def law_of_average(matrix, query, n):
    """Return the law of the number of yes among n states of a chain, exactly.

    A query is a vector over the states, or one for each row.
    """
    asked = np.broadcast_to(query, (n, len(matrix)))
    start = stationary(matrix)
    counts = np.zeros((n + 1, len(matrix)))
    counts[0], counts[1] = start * (1 - asked[0]), start * asked[0]
    for one in asked[1:]:
        moved = counts @ matrix
        counts = moved * (1 - one)
        counts[1:] += (moved * one)[:-1]
    return counts.sum(axis=1), float((asked @ start).mean())


def lazy_matrix(law, stay):
    """Stay with that probability, else follow the law."""
    return stay * np.eye(len(law)) + (1 - stay) * np.asarray(law)


def random_chain(rng, states):
    return rng.dirichlet(np.full(states, 0.5), states)


def reversible_chain(rng, states):
    weights = rng.gamma(0.4, size=(states, states))
    weights += weights.T
    return weights / weights.sum(axis=1, keepdims=True)


def cycle(states, stay):
    return stay * np.eye(states) + (1 - stay) * np.roll(np.eye(states), 1, axis=1)


def chains():
    rng = np.random.default_rng(31)
    yield from (lazy_matrix([1 - p, p], stay=s) for p in (0.1, 0.5) for s in (0, 0.2, 0.5, 0.9))
    yield from (cycle(states, stay) for states in (3, 4) for stay in (0.1, 0.5))
    yield from (random_chain(rng, states) for states in (2, 3, 4, 5) for _ in range(4))
    yield from (reversible_chain(rng, states) for states in (2, 3, 4, 5) for _ in range(4))
    yield np.array([[0.1, 0.9], [0.9, 0.1]])
    yield np.array([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.slow
def test_chains_stay_within_their_width():
    seen, rng = set(), np.random.default_rng(7)
    for matrix in chains():
        value = second_eigenvalue(matrix)
        if value > 1 - 1e-9:
            continue
        seen.add(round(value, 1))
        for n in (1, 2, 10, 40):
            turning = [rng.integers(0, 2, (n, len(matrix))) for _ in range(4)]
            for query in [*_queries(len(matrix)), *turning, *_undone(matrix, n)]:
                law, truth = law_of_average(matrix, query, n)
                for nats in NATS:
                    worst = max(misses(Markov(value), law, np.arange(n + 1) / n, truth, n, nats))
                    assert worst <= exp(-nats) * ROUNDING, (matrix, query, n, nats)
    assert {0.0, 0.2, 0.5, 0.8, 0.9} <= seen


def _undone(matrix, n):
    """Yield queries that are turned round in every other row."""
    for query in _queries(len(matrix)):
        yield np.where(np.arange(n)[:, None] % 2, 1 - query, query)


def _queries(states):
    return [np.array([x >> s & 1 for s in range(states)], float) for x in range(1, 2**states - 1)]


def test_a_chain_passes_the_width_of_a_smaller_eigenvalue():
    law, truth = law_of_average(lazy_matrix([0.5, 0.5], stay=0.9), np.array([0.0, 1.0]), 400)
    values = np.arange(401) / 400
    assert misses(Markov(0.9), law, values, truth, 400, 4.0)[0] <= exp(-4.0)
    assert misses(Markov(0.6), law, values, truth, 400, 4.0)[0] > exp(-4.0)
    assert misses(Iid(), law, values, truth, 400, 4.0)[0] > exp(-4.0)


def test_inflation_is_the_variance_of_a_long_lazy_walk():
    for stay in (0.0, 0.5, 0.8):
        law, truth = law_of_average(lazy_matrix([0.5, 0.5], stay=stay), np.array([0.0, 1.0]), 1000)
        variance = law @ (np.arange(1001) / 1000 - truth) ** 2 * 1000 / 0.25
        assert variance == pytest.approx(Markov(stay).inflation, rel=0.01)
        assert variance <= Markov(stay).inflation * ROUNDING


def test_alternation_can_be_undone():
    """One question gains by the eigenvalue -0.8; predictions that alternate too lose by it."""
    matrix, n = np.array([[0.1, 0.9], [0.9, 0.1]]), 400
    assert second_eigenvalue(matrix) == pytest.approx(0.8)
    values, yes = np.arange(n + 1) / n, np.array([0.0, 1.0])
    steady, truth = law_of_average(matrix, yes, n)
    assert steady @ (values - truth) ** 2 < 0.25 / n
    turning, truth = law_of_average(matrix, np.where(np.arange(n)[:, None] % 2, 1 - yes, yes), n)
    assert misses(Iid(), turning, values, truth, n, 4.0)[0] > exp(-4.0)
    assert misses(Markov(0.8), turning, values, truth, n, 4.0)[0] <= exp(-4.0)


@pytest.mark.slow
@given(st.floats(0, 1), st.floats(1e-12, 3))
def test_ends_are_those_of_the_divergence_and_outward(average, nats):
    low, high = chernoff(average, nats)
    assert 0 <= low <= average <= high <= 1
    for end, inward in ((low, 1e-7), (high, -1e-7)):
        if end not in (0.0, 1.0):
            assert divergence(average, end) >= nats * (1 - 1e-6) - 1e-14
        if abs(end - average) > 1e-3 and 0 < end + inward < 1:
            assert divergence(average, end + inward) <= nats + 1e-9


def divergence(a, b):
    terms = [(a, b), (1 - a, 1 - b)]
    return sum(inf if y == 0 else x * log(x / y) for x, y in terms if x > 0)


@given(st.floats(0, 1), st.integers(1, 10**8), st.floats(0, 1e5), st.integers(1, 50))
def test_chernoff_is_never_longer_than_hoeffding(average, n, nats, size):
    for dependence in (Iid(), Blocks(size)):
        low, high = dependence.interval(average, n, nats)
        width = dependence.width(n, nats)
        assert average - low <= width * (1 + 1e-9) + 1e-12
        assert high - average <= width * (1 + 1e-9) + 1e-12


def test_chernoff_is_much_shorter_near_the_ends():
    low, high = Iid().interval(0.001, 10_000, 3.0)
    assert high - low < 0.2 * 2 * Iid().width(10_000, 3.0)
    assert Iid().interval(0.0, 1000, 3.0)[1] == pytest.approx(1 - exp(-(3 + log(2)) / 1000))
    assert Iid().interval(1.0, 1000, 3.0)[1] == 1.0


ALL = [
    Iid(), Markov(0), Markov(0.5), Markov(0.99), Blocks(1), Blocks(10), DependencyGraph(1.5),
]  # fmt: skip


@pytest.mark.parametrize("dependence", ALL, ids=str)
def test_widths_grow_with_nats_and_fall_with_rows(dependence):
    nats, rows = np.linspace(0, 500, 60), [10, 11, 100, 10**4, 10**9]
    widths = np.array([[dependence.width(n, t) for t in nats] for n in rows])
    assert (np.diff(widths, axis=1) > 0).all()
    assert (np.diff(widths, axis=0) < 0).all()
    ends = np.array([dependence.interval(0.3, 1000, t) for t in nats])
    assert (np.diff(ends[:, 0]) <= 0).all()
    assert (np.diff(ends[:, 1]) >= 0).all()


@pytest.mark.parametrize("dependence", ALL, ids=str)
def test_nats_inverts_width(dependence):
    for n in (10, 10**4, 10**7):
        for nats in (0.0, 0.7, 30.0, 2e4):
            width = dependence.width(n, nats)
            assert dependence.nats(n, width) == pytest.approx(nats, rel=1e-12, abs=1e-12)
            assert dependence.width(n, dependence.nats(n, width * 1.3)) <= width * 1.3
        assert dependence.nats(n, dependence.width(n, 0.0) * 0.999) == -inf


def test_formulas():
    t = 5.0
    hoeffding = sqrt(log(2 / exp(-t)) / (2 * 400))
    assert Iid().width(400, t) == pytest.approx(hoeffding, rel=1e-14)
    assert Markov(0.5).width(400, t) == pytest.approx(sqrt(3) * hoeffding, rel=1e-14)
    assert Markov(0).width(400, t) == Iid().width(400, t)
    assert Blocks(10).width(400, t) == pytest.approx(sqrt(10) * hoeffding, rel=1e-14)
    assert Blocks(10).interval(0.3, 400, t) == pytest.approx(Iid().interval(0.3, 40, t))
    assert Markov(0.5).interval(0.01, 400, t) == (0.0, 0.01 + Markov(0.5).width(400, t))


def test_custom_says_what_its_function_says():
    slow = Custom("slow", lambda n, t: ((t + 1) / n) ** 0.25)
    assert slow.width(16, 0.0) == 0.5
    assert slow.interval(0.25, 16, 0.0) == (0.0, 0.75)
    assert slow.nats(16, 0.75) == pytest.approx(16 * 0.75**4 - 1)
    assert slow.facts() == {"name": "custom slow"}
    flat = Custom("flat", lambda _n, _t: 0.1)
    assert flat.nats(5, 0.2) > 1e300
    unknown = Custom("unknown", lambda _n, _t: float("nan"))
    assert unknown.width(5, 1.0) == inf
    assert unknown.interval(0.5, 5, 1.0) == (0.0, 1.0)


@pytest.mark.parametrize("dependence", ALL, ids=str)
def test_facts_name_the_dependence(dependence):
    assert dependence_of(dependence.facts(), None) == dependence


def test_a_custom_dependence_must_be_given_again():
    slow = Custom("slow", lambda n, t: ((t + 1) / n) ** 0.25)
    assert dependence_of(slow.facts(), slow) is slow
    for other in (None, Custom("fast", slow.function), Iid()):
        with pytest.raises(ParameterError, match=r"dependence=Custom\('slow', \.\.\.\)"):
            dependence_of(slow.facts(), other)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Markov(1), "eigenvalue must be at least 0 and below 1, got 1"),
        (lambda: Markov(-0.1), "eigenvalue must be at least 0"),
        (lambda: Blocks(0), "size must be"),
        (lambda: Blocks(2.5), "size must be"),
        (lambda: DependencyGraph(0.9), "inflation must be at least 1, got 0.9"),
        (lambda: DependencyGraph.of(5, [(0, 5)]), "join two different rows from 0 to 4"),
        (lambda: DependencyGraph.of(5, [(1, 1)]), "join two different rows"),
        (lambda: DependencyGraph.of(5, [(0, 1, 2)]), "an edge must be a pair of rows"),
        (lambda: DependencyGraph.of(5, [1]), "an edge must be a pair of rows"),
        (lambda: Custom(3, abs), "custom dependence must be a name and a function"),
        (lambda: Custom("slow", 0.5), "custom dependence must be a name and a function"),
        (lambda: TranscriptLedger(5, dependence=0.5), "dependence must be Iid"),
    ],
)
def test_refusals(make, text):
    with pytest.raises((ParameterError, ParameterTypeError), match=text):
        make()


def test_eigenvalues_of_a_chain_that_turns_back_on_itself_say_nothing():
    """The last two of many coins: all eigenvalues but one are 0, the norm is 1."""
    coins = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5], [0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    assert np.sort(np.abs(np.linalg.eigvals(coins)))[:3] == pytest.approx([0, 0, 0], abs=1e-7)
    assert second_eigenvalue(coins) == pytest.approx(1)
    with pytest.raises(ParameterError, match="below 1"):
        Markov(round(second_eigenvalue(coins), 9))


# Rows that a graph joins: all outcomes of twelve coins, so every chance is exact.


COINS = np.array(list(product((0, 1), repeat=12)))
RING = [(i, (i + 1) % 12) for i in range(12)]
STAR = [(i, 12) for i in range(12)]
SAMPLES = {
    "ring, both": (COINS & np.roll(COINS, 1, axis=1), RING),
    "ring, either": (COINS | np.roll(COINS, -1, axis=1), RING),
    "ring, pairs alike": (np.repeat(COINS[:, :6], 2, axis=1), RING),
    "star, majority": (np.c_[COINS, COINS.sum(axis=1) > 6], STAR),
    "star, parity": (np.c_[COINS, COINS.sum(axis=1) % 2], STAR),
    "all pairs, blocks of three": (
        np.repeat(COINS[:, :4], 3, axis=1),
        [e for e in combinations(range(12), 2) if e[0] // 3 == e[1] // 3],
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_dependency_graphs_stay_within_their_width(name):
    rows, edges = SAMPLES[name]
    n = rows.shape[1]
    declared = DependencyGraph.of(n, edges)
    for p in (0.2, 0.5, 0.8):
        heads = COINS.sum(axis=1)
        law = p**heads * (1 - p) ** (12 - heads)
        values = rows.mean(axis=1)
        truth = law @ values
        for nats in NATS:
            assert max(misses(declared, law, values, truth, n, nats)) <= exp(-nats) * ROUNDING


def test_copies_declared_independent_would_miss_more_often():
    rows, _ = SAMPLES["all pairs, blocks of three"]
    law, values = np.full(len(COINS), 2.0**-12), rows.mean(axis=1)
    assert max(misses(Iid(), law, values, 0.5, 12, 3.0)) > 2 * exp(-3)


@pytest.mark.parametrize(
    ("n", "edges", "inflation"),
    [
        (9, [], 1),
        (12, RING, 2),
        (13, STAR, 2),
        (12, SAMPLES["all pairs, blocks of three"][1], 3),
        (7, list(combinations(range(7), 2)), 7),
        (5, [(i, (i + 1) % 5) for i in range(5)], 3),
    ],
)
def test_inflations_by_hand(n, edges, inflation):
    assert DependencyGraph.of(n, edges).inflation == inflation


def test_a_graph_holds_for_any_part_of_its_rows():
    """A hundred copies of one coin among ten thousand rows: alone they are one coin."""
    copies = list(combinations(range(100), 2))
    declared = DependencyGraph.of(10_000, copies)
    assert declared.width(100, 3.0) > 0.5


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12))
def test_a_graph_of_blocks_is_no_narrower_than_blocks(sizes):
    """What blocks of their true sizes give is the sum of squares over n, at most the largest."""
    ends = np.cumsum([0, *sizes]).tolist()
    edges = [e for a, b in pairwise(ends) for e in combinations(range(a, b), 2)]
    found = DependencyGraph.of(ends[-1], edges).inflation
    assert found >= Fraction(sum(s * s for s in sizes), ends[-1])
    assert found <= max(sizes)
    if len(set(sizes)) == 1:
        assert DependencyGraph.of(ends[-1], edges).width(ends[-1], 3.0) == Blocks(sizes[0]).width(
            ends[-1], 3.0
        )


@given(st.integers(1, 14), st.integers(0, 2**30))
def test_colours_are_those_of_independent_rows(n, seed):
    rng = np.random.default_rng(seed)
    near = [set() for _ in range(n)]
    for u, v in combinations(range(n), 2):
        if rng.random() < 0.4:
            near[u].add(v)
            near[v].add(u)
    classes = colour_classes(near)
    assert sorted(row for chosen in classes for row in chosen) == list(range(n))
    assert not any(v in near[u] for chosen in classes for u in chosen for v in chosen)
    assert len(classes) <= 1 + max(len(ends) for ends in near)


# Statistics of the whole sample.


def largest_gap(samples):
    """Return the largest gap between the distribution function of rows in [0, 1] and its law."""
    n = samples.shape[1]
    x = np.sort(samples, axis=1)
    steps = np.arange(n + 1) / n
    return np.maximum(steps[1:] - x, x - steps[:-1]).max(axis=1)


def median_of_groups(samples):
    """Return the median of the averages of ten groups of ten rows: one row moves it by 1/10."""
    return np.median(samples.reshape(-1, 10, 10).mean(axis=2), axis=1)


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize(("statistic", "moved"), [(largest_gap, 0.01), (median_of_groups, 0.1)])
def test_statistics_stay_within_their_width(statistic, moved, size):
    rng, n = np.random.default_rng(5), 100
    values = statistic(np.repeat(rng.random((20_000, n // size)), size, axis=1))
    off = np.abs(values - values.mean())
    for nats in (0.3, 1.0, 2.0, 3.0):
        assert (off > Blocks(size).statistic_width(n, nats, moved)).mean() <= exp(-nats)


def test_a_statistic_near_its_bound_needs_the_width():
    """The share of ones, as a statistic: a quarter of the width is missed far too often."""
    rng, n = np.random.default_rng(6), 100
    values = rng.binomial(n, 0.5, 20_000) / n
    width = Iid().statistic_width(n, 2.0, 1 / n)
    assert (np.abs(values - 0.5) > width).mean() <= exp(-2)
    assert (np.abs(values - 0.5) > width / 2).mean() > exp(-2)


def test_a_statistic_that_one_row_moves_as_an_average_has_its_width():
    for n, nats in ((10, 0.5), (1000, 20.0)):
        assert Iid().statistic_width(n, nats, 1 / n) == pytest.approx(Iid().width(n, nats))
        assert Blocks(7).statistic_width(n, nats, 1 / n) == pytest.approx(Blocks(7).width(n, nats))
        assert mcdiarmid(1, n, nats, 3.0) == pytest.approx(3 * mcdiarmid(1, n, nats, 1.0))


@pytest.mark.parametrize(
    "dependence", [Markov(0.5), DependencyGraph(2), Custom("slow", lambda n, t: (t + 1) / n)]
)
def test_statistics_are_refused_where_no_block_is_independent(dependence):
    ledger = TranscriptLedger(100, dependence=dependence)
    with pytest.raises(ParameterError, match=r"dependence must be Iid\(\) or Blocks"):
        ledger.charge_statistic(levels=10, sensitivity=0.01)
    assert ledger.bits == 0
