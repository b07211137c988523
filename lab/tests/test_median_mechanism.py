"""The Median Mechanism, literally: accuracy, halving, compression, and how little it promises."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, log, log2

import numpy as np
import pytest

from sourdine.adaptive.ledger.dependence import Blocks, Iid, Markov
from sourdine.adaptive.ledger.transaction import kt_bits
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine_lab.answering import (
    MedianMechanism,
    MedianPlan,
    compressed_chance,
    concentrated_accuracy,
    median_mechanism_n,
    widths,
)
from sourdine_lab.answering.small_databases import SmallDatabases
from sourdine_lab.answering.ticks import GRID, SLACK


def hardest(mechanism):
    """Return the yes-or-no query on which median and sample differ most: an analyst who peeks."""
    queries = np.array(list(product((0, 1), repeat=mechanism.universe)))
    share = mechanism._counts / mechanism.n
    gaps = []
    for query in queries:
        totals = mechanism.databases.totals(query)
        gaps.append(abs(mechanism.databases.median(totals) / mechanism.size - query @ share))
    return queries[int(np.argmax(gaps))]


def skewed(universe, n, rng):
    """Draw rows of which most are the same: far from what most small databases say."""
    law = np.full(universe, 0.12 / (universe - 1))
    law[rng.integers(universe)] = 0.88
    return rng.choice(universe, n, p=law)


def run(universe, rounds, accuracy, seed):
    """Ask hardest and random queries by turns; yield each with its answer and what was left."""
    rng = np.random.default_rng(seed)
    rows = skewed(universe, 500, rng)
    mechanism = MedianMechanism(rows, universe=universe, rounds=rounds, accuracy=accuracy)
    for i in range(rounds):
        query = hardest(mechanism) if i % 3 else rng.random(universe)
        left, hard = mechanism.databases.left, mechanism.hard
        yield mechanism, rows, query, mechanism.answer(query), left, mechanism.hard - hard


CASES = [(3, 30, 0.12, 1), (3, 40, 0.2, 2), (4, 30, 0.2, 3), (5, 12, 0.3, 4), (2, 30, 0.05, 5)]


@pytest.mark.parametrize("case", CASES)
def test_median_mechanism_never_errs_above_its_accuracy(case):
    for mechanism, rows, query, answer, _, _ in run(*case):
        slack = 0 if set(query.tolist()) <= {0, 1} else SLACK
        error = abs(answer - query[rows].mean())
        assert error <= float(mechanism.accuracy) + slack + 1e-12
        assert 0 <= answer <= 1


@pytest.mark.parametrize("case", CASES)
def test_hard_queries_halve_what_is_left(case):
    hard_ones = 0
    for mechanism, _, _, _, left, hard in run(*case):
        now = mechanism.databases.left
        assert (2 * now <= left) if hard else (now == left)
        hard_ones += hard
    assert mechanism.databases.left >= 1
    assert mechanism.hard == hard_ones >= 2
    assert hard_ones <= mechanism.most_hard <= mechanism.size * log2(mechanism.universe)
    assert mechanism.asked == case[1]


@pytest.mark.parametrize("case", CASES[:3])
def test_places_and_levels_tell_the_whole_transcript(case):
    """Someone who knows only the hard answers replays all others, without the sample."""
    universe, rounds, accuracy, _ = case
    databases = SmallDatabases(universe, ceil(log(4 * rounds) / (2 * accuracy**2)))
    for mechanism, _, query, answer, _, hard in run(*case):
        totals = databases.totals(np.rint(query * GRID).astype(np.int64))
        pivot = databases.median(totals)
        median = pivot / (databases.size * GRID)
        if hard:
            side = totals < pivot if answer < median else totals > pivot
            reach = accuracy + 0.5 / mechanism.levels + 1e-12
            databases.keep(side & (abs(totals / (databases.size * GRID) - answer) <= reach))
            assert answer * mechanism.levels % 1 == pytest.approx(0.5)
        else:
            assert answer == median
    bits = mechanism.compression_bits
    assert bits == widths.transcript_bits(rounds, mechanism.hard, mechanism.levels)
    assert mechanism.ledger.spent.yes == mechanism.hard
    told = kt_bits(mechanism.hard, rounds - mechanism.hard)
    told += mechanism.hard * log2(mechanism.levels)
    assert mechanism.ledger.bits == pytest.approx(told)


@pytest.mark.parametrize(("universe", "size"), [(2, 5), (3, 4), (4, 3)])
def test_multisets_with_their_orders(universe, size):
    listed = SmallDatabases(universe, size)
    everything = np.array(list(product(range(universe), repeat=size)))
    counts = np.array([np.bincount(d, minlength=universe) for d in everything])
    found, orders = np.unique(counts, axis=0, return_counts=True)
    mine = sorted(zip(listed.counts.tolist(), listed.weights.tolist(), strict=True))
    assert mine == sorted(zip(found.tolist(), orders.tolist(), strict=True))
    assert listed.left == universe**size
    query = np.random.default_rng(universe).integers(0, 50, universe)
    totals = np.sort(query[everything].sum(axis=1))
    assert listed.median(listed.totals(query)) == totals[(len(totals) - 1) // 2]


def test_weights_are_exact_beyond_64_bits():
    listed = SmallDatabases(3, 100)
    assert listed.left == 3**100
    assert max(listed.weights.tolist()).bit_length() > 100


def test_certificate_is_accuracy_and_ledger():
    rng = np.random.default_rng(6)
    rows = rng.integers(3, size=2000)
    mechanism = MedianMechanism(rows, universe=3, rounds=50, accuracy=0.1, beta=0.05)
    assert mechanism.certificate().answers == 0
    for _ in range(50):
        query, before = rng.random(3), mechanism.ledger.halfwidth()
        assert abs(mechanism.answer(query) - query.mean()) <= mechanism.certificate().halfwidth
        assert mechanism.certificate().halfwidth == pytest.approx(0.1 + before + SLACK)
    assert "rows iid" in mechanism.certificate().grounds
    with pytest.raises(BudgetExceededError, match="at most rounds=50"):
        mechanism.answer(query)
    dependent = MedianMechanism(
        rows, universe=3, rounds=50, accuracy=0.1, dependence=Blocks(10)
    ).certificate()
    assert dependent.halfwidth - 0.1 > 3 * (MedianMechanism(
        rows, universe=3, rounds=50, accuracy=0.1
    ).certificate().halfwidth - 0.1)  # fmt: skip


def test_the_lectures_constants_are_the_default():
    mechanism = MedianMechanism(np.zeros(200, int), universe=2, rounds=10)
    plan = MedianPlan(200, 10, 2)
    assert float(mechanism.accuracy) == pytest.approx(plan.accuracy)
    assert plan.accuracy == pytest.approx((log(40) / 400) ** 0.25)
    assert mechanism.size == plan.size == ceil((200 * log(40) / 2) ** 0.5)
    assert mechanism.levels == ceil(1 / (2 * plan.accuracy))


def test_large_universes_are_refused_with_a_way_out():
    with pytest.raises(ParameterError, match=r"at most 2000000 .*QueryServer\(sample, universe=64"):
        MedianMechanism(np.zeros(100, int), universe=64, rounds=10, accuracy=0.1)
    with pytest.raises(ParameterError, match="small databases"):
        SmallDatabases(2, 50_000)


def test_codes_outside_count_as_the_nearest():
    mechanism = MedianMechanism([-5, 0, 1, 99], universe=2, rounds=2, accuracy=0.3)
    assert mechanism._counts.tolist() == [2, 2]
    odd = [float("nan"), float("inf"), -float("inf"), 1.0]
    mechanism = MedianMechanism(odd, universe=2, rounds=2, accuracy=0.3)
    assert mechanism._counts.tolist() == [2, 2]
    for wrong in (["a", "b"], [[0, 1], [1, 0]]):
        with pytest.raises(ParameterTypeError, match="one list of codes"):
            MedianMechanism(wrong, universe=2, rounds=2, accuracy=0.3)


@pytest.mark.parametrize(("universe", "printed"), [(2**10, 2.8e8), (2**16, 6.1e8)])
def test_rows_needed_for_a_tenth(universe, printed):
    """The printed figure was found in steps of 1.3, so it is at most that much too large."""
    n = median_mechanism_n(universe, 1000, 0.1)
    assert printed / 1.3 < 1.005 * n
    assert n < 1.005 * printed
    assert concentrated_accuracy(n, 1000, universe).total <= 0.1
    assert concentrated_accuracy(n - 1, 1000, universe).total > 0.1


def test_rounding_alone_promises_more():
    """At k = 1000 every query may be hard: the mechanism's promise is that of rounding."""
    plan = MedianPlan(10**6, 1000, 2**10)
    assert plan.hard > plan.k
    assert median_mechanism_n(2**10, 1000, 0.1, sharp=True) < 1e6
    assert 0.05 + widths.told(10**6, 1000, 0.05, log2(11)) < 0.1


@pytest.mark.parametrize(("size", "printed"), [(2**10, 0.74), (2**16, 0.91)])
def test_corollary_with_its_constants(size, printed):
    n, k, beta = 10**5, 10**4, 0.05
    found = concentrated_accuracy(n, k, size, beta)
    assert round(found.total, 2) == printed
    closed = ((log(2 * k / beta) + found.bits * log(2)) / (2 * n)) ** 0.5
    assert found.sampling == pytest.approx(closed)
    nats = 2 * n * found.sampling**2 - log(2)  # of Hoeffding's bound at that width
    assert compressed_chance(nats, k, found.bits) == pytest.approx(beta)
    lazy = concentrated_accuracy(n, k, size, beta, dependence=Markov(0.5))
    assert lazy.sampling == pytest.approx(3**0.5 * found.sampling)
    assert concentrated_accuracy(n, k, size, dependence=Iid()) == found


def test_compressed_chance_is_at_most_one():
    assert compressed_chance(1.0, 1000, 1e6) == 1.0
    assert compressed_chance(1e5, 1, 0.0) == 0.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"universe": 1, "rounds": 1},
        {"universe": 2, "rounds": 0},
        {"universe": 2, "rounds": 1, "accuracy": 0},
        {"universe": 2, "rounds": 1, "accuracy": Fraction(3, 2)},
    ],
)
def test_bad_terms_are_told(wrong):
    with pytest.raises(ParameterError, match=r"must be .*, got .*\. Use"):
        MedianMechanism([0, 1], **wrong)


def test_queries_of_a_wrong_shape_are_told():
    mechanism = MedianMechanism([0, 1], universe=2, rounds=2, accuracy=0.5)
    with pytest.raises(ParameterError, match="one value for each"):
        mechanism.answer([1, 0, 0])
    with pytest.raises(ParameterError, match="one value for each"):
        mechanism.answer([[1, 0]])
    assert (mechanism.asked, mechanism.ledger.spent.answers) == (0, 0)
