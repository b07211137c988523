"""Amplification by shuffling: never below the truth, and close to it."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import comb, exp, log, sqrt
from time import process_time

import numpy as np
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.local.categorical.hashing import HadamardResponse, LocalHashing
from sourdine.local.categorical.subset import SubsetSelection
from sourdine.local.categorical.unary import UnaryEncoding
from sourdine.local.numeric.duchi import Duchi, HybridReport
from sourdine.local.numeric.sliding import SlidingWindow
from sourdine.local.shuffling import (
    Blanket,
    _blanket,
    below,
    chance,
    others,
    shuffled,
    shuffled_allowance,
)
from sourdine.mechanisms import BoundedLaplace, BoundedStaircase, RandomizedResponse, Warner
from sourdine.privacy import LOCAL, SUBSTITUTE, Guarantee


def response(epsilon, categories=2):
    return RandomizedResponse(epsilon=epsilon, categories=categories)


def matrix(report):
    """Return the chances of every report (columns) for every answer (rows)."""
    laws = [report.law(x) for x in range(report.top + 1)]
    cells = max(2, max(int(law.quantile(1)) for law in laws) + 1)
    return np.array([law.pmf(np.arange(cells)) for law in laws])


def joined(seen, weight, row, base):
    """Return the histograms, written to this base, and their weights with one report more."""
    units = base ** np.flatnonzero(row)
    all_seen, place = np.unique(np.add.outer(seen, units), return_inverse=True)
    return all_seen, np.bincount(place.ravel(), np.outer(weight, row[row != 0]).ravel())


def true_delta(channel, n, epsilon):
    """Return delta in the worst population of n, by listing them all."""
    worst, answers = 0.0, range(len(channel))
    for rest in combinations_with_replacement(answers, n - 1):
        seen, weight = np.array([0]), np.array([1.0])
        for x in rest:
            seen, weight = joined(seen, weight, channel[x], n + 1)
        for x, z in permutations(answers, 2):
            _, difference = joined(seen, weight, channel[x] - exp(epsilon) * channel[z], n + 1)
            worst = max(worst, float(difference[difference > 0].sum()))
    return worst


def worst_others(a, b, n, epsilon):
    return max(ones.delta(epsilon) for ones in others(a, b, n))


REPORTS = [
    response(1, 3),
    response(2, 4),
    UnaryEncoding(epsilon=1, categories=3),
    UnaryEncoding(epsilon=2, categories=3, method="symmetric"),
    LocalHashing(epsilon=0.7, categories=3),
    HadamardResponse(epsilon=1.5, categories=3),
    SubsetSelection(epsilon=1, categories=4, size=2),
    SubsetSelection(epsilon=2, categories=3, size=2),
    SlidingWindow(epsilon=1, last=2, slide=2, width=2),
    SlidingWindow(epsilon=1, last=3, slide=2, width=1),
    SlidingWindow(epsilon=1, last=2, slide=2, width=4),
    BoundedLaplace(epsilon=1, last=3),
    BoundedStaircase(epsilon=1, last=4),
    BoundedStaircase(epsilon=1, last=3, method="truncated"),
    HybridReport(epsilon=0.5, last=3),
    Duchi(epsilon=1, last=2),
]


def bound_of(report):
    return _blanket(report, float(report.guarantee.epsilon))


@pytest.mark.slow_cases(6)
@pytest.mark.parametrize("report", REPORTS, ids=str)
def test_blanket_is_above_truth(report):
    channel, bound = matrix(report), bound_of(report)
    assert np.allclose(channel.sum(axis=1), 1)
    for n in (1, 2, 3, 4):
        if channel.shape[1] ** n > 5000:
            continue
        for epsilon in (0, 0.1, 0.4, 0.9):
            truth = true_delta(channel, n, epsilon)
            assert bound.delta(epsilon, n) >= truth - 1e-15
            if truth > 1e-12:
                told = shuffled(report, n, delta=truth)
                assert told.epsilon >= Fraction(epsilon) - Fraction(1, 10**9)


def assert_told(report, n, truth, epsilon):
    if truth > 1e-12:
        told = float(shuffled(report, n, delta=truth * (1 - 1e-9)).epsilon)
        assert epsilon <= told <= epsilon + 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("epsilon0", [0.3, 1, 3])
def test_binary_is_exact(epsilon0):
    report, own = response(epsilon0), 1 / (1 + exp(epsilon0))
    channel = matrix(report)
    for n in (1, 2, 3, 5, 8):
        for epsilon in (0, 0.05, 0.2, 0.25, 1.2):
            truth = true_delta(channel, n, epsilon)
            assert worst_others(1 - own, own, n, epsilon) == pytest.approx(
                truth, rel=1e-8, abs=1e-14
            )
            assert_told(report, n, truth, epsilon)


@pytest.mark.slow
def test_coins_of_two_kinds_are_exact():
    coins = Warner(truth=0.3, yes=0.8)
    channel = matrix(coins)
    for n, epsilon in product((1, 2, 4, 6), (0, 0.1, 0.3)):
        truth = true_delta(channel, n, epsilon)
        assert_told(coins, n, truth, epsilon)


def test_leaving_people_out_is_worse(monkeypatch):
    b = 1 / (1 + exp(1))
    for n in (20, 64):
        exact = [worst_others(1 - b, b, n, e) for e in (0.1, 0.3, 0.5)]
        monkeypatch.setattr("sourdine.local.shuffling.BLOCKS", 5)
        rough = [worst_others(1 - b, b, n, e) for e in (0.1, 0.3, 0.5)]
        monkeypatch.undo()
        assert all(r >= e for r, e in zip(rough, exact, strict=True))


def test_transform_is_above_convolution(monkeypatch):
    b = 1 / (1 + exp(1))
    direct = [worst_others(1 - b, b, 3000, e) for e in (0.02, 0.05, 0.08)]
    monkeypatch.setattr("sourdine.local.shuffling.DIRECT", 0)
    fast = [worst_others(1 - b, b, 3000, e) for e in (0.02, 0.05, 0.08)]
    assert fast == pytest.approx(direct, rel=1e-7)
    assert all(f >= d for f, d in zip(fast, direct, strict=True))


def pair_delta(blanket, epsilon, n):
    """Return the expectation of `Blanket`, listed."""
    gain, total = exp(blanket.epsilon) - 1, 0.0
    for m in range(n):
        hidden = comb(n - 1, m) * blanket.hidden**m * (1 - blanket.hidden) ** (n - 1 - m)
        for t in range(m + 2):
            apart = comb(m + 1, t) * blanket.apart**t * (1 - blanket.apart) ** (m + 1 - t)
            r = blanket.both / (1 - blanket.apart) if blanket.both else 0.0
            for a, s in product(range(t + 1), range(m + 2 - t)):
                both = comb(m + 1 - t, s) * r**s * (1 - r) ** (m + 1 - t - s)
                value = gain * (a - exp(epsilon) * (t - a))
                value -= (exp(epsilon) - 1) * (m + 1 + gain * s)
                weight = hidden * apart * both * comb(t, a) / 2**t
                total += weight * blanket.level / (m + 1) * max(value, 0)
    return total


@pytest.mark.parametrize("report", REPORTS, ids=str)
def test_sum_over_slices(report):
    blanket = bound_of(report)
    for n, epsilon in product((1, 2, 9), (0, 0.1, 0.5)):
        listed, bound = pair_delta(blanket, epsilon, n), blanket.delta(epsilon, n)
        assert bound >= listed * (1 - 1e-12)
        if blanket.both == 0:
            assert bound == pytest.approx(listed, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("slices", "caution"), [(3, 5.0), (64, -2.0)])
def test_coarse_slices_are_above(monkeypatch, slices, caution):
    monkeypatch.setattr("sourdine.local.shuffling.STEPS", 0)
    monkeypatch.setattr("sourdine.local.shuffling.SLICES", slices)
    monkeypatch.setattr("sourdine.local.shuffling.CAUTION", caution)
    unary, hadamard = (kind(epsilon=3, categories=3) for kind in (UnaryEncoding, HadamardResponse))
    for report in (response(1, 5), unary, hadamard):
        blanket = bound_of(report)
        for n, epsilon in product((9, 20), (0.05, 0.4, 0.9)):
            assert blanket.delta(epsilon, n) >= pair_delta(blanket, epsilon, n)


@pytest.mark.slow
def test_slices_cost_little(monkeypatch):
    blanket, coarse = bound_of(response(1, 20)), shuffled(response(1, 20), 10_000, delta=1e-6)
    monkeypatch.setattr("sourdine.local.shuffling.SLICES", 400)
    assert blanket.delta(0.99 * float(coarse.epsilon), 10_000) > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon0", "clones"), [(0.5, 0.0052), (1, 0.0124), (2, 0.033), (4, 0.118)]
)
def test_known_values(epsilon0, clones):
    n, delta = 100_000, 1e-6
    pair = Blanket.two_levels(epsilon0, 1 / (1 + exp(-epsilon0)), 1 / (1 + exp(epsilon0)))
    assert pair.delta(clones * 1.02, n) <= delta <= pair.delta(clones * 0.98, n)
    exact = float(shuffled(response(epsilon0), n, delta=delta).epsilon)
    general = float(shuffled(Guarantee(epsilon0, 0, LOCAL), n, delta=delta).epsilon)
    assert clones / sqrt(2) < exact < clones * 1.01 < general < closed_form(epsilon0, n, delta)


def closed_form(epsilon0, n, delta):
    """Return the bound of Feldman, McMillan and Talwar, theorem 3.2 of 2021, in closed form."""
    e = exp(epsilon0)
    root = 8 * sqrt(e * log(4 / delta) / n) + 8 * e / n
    return log(1 + (e - 1) / (e + 1) * root)


@pytest.mark.slow
def test_monotone():
    def epsilon(report, n, delta):
        return shuffled(report, n, delta=delta).epsilon

    for make in (response, lambda e: response(e, 8), lambda e: Guarantee(e, 0, LOCAL)):
        over_n = [epsilon(make(1), n, 1e-6) for n in (1, 2, 10, 60, 64, 65, 70, 200, 10**4)]
        over_own = [epsilon(make(e), 2000, 1e-6) for e in (0.1, 1, 2, 5, 12, 29, 31)]
        over_delta = [epsilon(make(1), 2000, d) for d in (1e-12, 1e-9, 1e-6, 1e-3, 0.9)]
        assert over_n == sorted(over_n, reverse=True)
        assert over_own == sorted(over_own)
        assert over_delta == sorted(over_delta, reverse=True)
        assert over_n[0] <= 1
        assert over_own[-1] == 31
        assert over_delta[-1] == 0


def test_more_clones_need_more():
    e = exp(1)
    channel = matrix(SubsetSelection(epsilon=1, categories=3, size=2))
    channel = channel[:, channel.sum(axis=0) > 0]
    assert (channel[2] < (channel[0] + channel[1]) / (1 + e) - 0.01).any()
    assert (channel >= (channel[0] + channel[1]) / (2 * e) - 1e-12).all()
    quoted = matrix(response(1, 3))
    assert (quoted >= (quoted[0] + quoted[1]) / (1 + e) - 1e-12).all()


@pytest.mark.slow
def test_many_people_take_little_time():
    for report in (response(1), response(1, 100), Guarantee(1, 0, LOCAL)):
        start = process_time()
        assert 0 < shuffled(report, 10**9, delta=1e-9).epsilon < 1e-3
        assert process_time() - start < 6


@pytest.mark.slow
def test_binomials_keep_their_digits():
    for n, x in ((1, 1), (7, 0), (40, 33), (1001, 560), (3000, 1620)):
        exact = Fraction(comb(n, x), 2**n)
        got = float(chance(np.array([float(x)]), np.array([float(n)]))[0])
        assert got == pytest.approx(float(exact), rel=1e-11)
        left = float(Fraction(sum(comb(n, i) for i in range(x)), 2**n))
        assert float(below(np.array([float(x)]), np.array([float(n)]), 0.5)[0]) == pytest.approx(
            left, rel=1e-10
        )
    n = np.array([1e9, 1e10])
    x = n / 2 + 6 * np.sqrt(n) / 2
    steps = np.arange(0, 200_000.0)
    tail = [chance(a + steps, np.full_like(steps, b)).sum() for a, b in zip(x, n, strict=True)]
    assert below(n - x + 1, n, 0.5) == pytest.approx(tail, rel=1e-9)


@pytest.mark.slow
def test_shuffled_allowance_is_within():
    for make in (response, lambda e: response(e, 12), None):
        wanted = Guarantee(0.1, 1e-6, SUBSTITUTE)
        own = shuffled_allowance(wanted, 20_000, make=make)
        build = make or (lambda e: Guarantee(e, 0, LOCAL))
        assert own.relation is LOCAL
        assert shuffled(build(own.epsilon), 20_000, delta=1e-6).epsilon <= wanted.epsilon
        more = own.epsilon * Fraction(1001, 1000)
        assert shuffled(build(more), 20_000, delta=1e-6).epsilon > wanted.epsilon
    assert shuffled_allowance(Guarantee(1, 1e-6, SUBSTITUTE), 1).epsilon >= 1


def test_promise():
    told = shuffled(response(1), 1000, delta=1e-6)
    assert (told.relation, told.delta) == (SUBSTITUTE, Fraction(1, 10**6))
    assert shuffled(Guarantee(0, 0, LOCAL), 10, delta=1e-6).epsilon == 0


def test_refusals():
    for report in (1, "grr", None):
        with pytest.raises(ParameterTypeError):
            shuffled(report, 10, delta=1e-6)
    for report in (Guarantee(1, 0, SUBSTITUTE), Guarantee(1, 0.1, LOCAL), Guarantee.none(LOCAL)):
        with pytest.raises(ParameterError):
            shuffled(report, 10, delta=1e-6)
    for n in (0, -1, 10**13):
        with pytest.raises(ParameterError):
            shuffled(response(1), n, delta=1e-6)
    for delta in (0, 1, 1e-13, 2):
        with pytest.raises(ParameterError):
            shuffled(response(1), 10, delta=delta)
    replaced = Guarantee(0, 1e-6, SUBSTITUTE), Guarantee(1, 0, SUBSTITUTE)
    for wanted in (Guarantee(1, 1e-6, LOCAL), Guarantee(1, 1e-6), *replaced):
        with pytest.raises(ParameterError):
            shuffled_allowance(wanted, 10)
