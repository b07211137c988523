from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import exp, factorial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import exp_neg
from sourdine.noise import SeededSource, choose, choose_run, permute_and_flip
from sourdine.noise.selection import _Runs


def runs(cells, distances, decay):
    cells, distances = np.array(cells), np.array(distances)
    least = distances[cells > 0].min()
    offsets = np.where(cells > 0, distances - least, 0).astype(np.uint64)
    return _Runs(cells, offsets, Fraction(decay))


def law(cells, distances, decay):
    weights = np.array(cells) * np.exp(-float(decay) * np.array(distances, float))
    return weights / weights.sum()


RUNS = [
    ([1, 2, 0, 3], [5, 6, -100, 5], Fraction(1)),
    ([2**40, 1, 2**41], [20, 0, 25], Fraction(1)),
    ([1, 1, 1], [-(2**62), 2**62, -(2**62) + 1], Fraction(1, 3)),
    ([5, 3, 2], [9, 1, 4], Fraction(0)),
    ([1, 1], [0, 1], Fraction(1, 10**9)),
]


@pytest.mark.parametrize(("cells", "distances", "decay"), RUNS)
def test_law_of_runs(cells, distances, decay, fits, source):
    draws = choose_run(cells, distances, decay, 200_000, source=source)
    shifted = [d - min(distances) for d in distances]
    if cells[2:3] == [0]:
        shifted = [min(d, 200) for d in shifted]
    assert fits(draws, law(cells, shifted, decay))


@pytest.mark.slow
def test_law_of_runs_one_by_one(fits, source):
    draws = np.array([choose_run([1, 2, 3], [0, 1, 2], 1, source=source) for _ in range(20_000)])
    assert fits(draws, law([1, 2, 3], [0, 1, 2], 1))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("error", [0.97, 1.03, 0.7, 1.3])
def test_the_test_of_fit_rejects_a_wrong_decay(error, fits, source):
    draws = choose_run([1, 2, 3], [0, 1, 2], error, 10**6, source=source)
    assert not fits(draws, law([1, 2, 3], [0, 1, 2], 1))


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.integers(0, 2**50), st.integers(-(2**40), 2**40)), min_size=1, max_size=12
    ).filter(lambda r: any(c for c, _ in r)),
    st.fractions(0, 50, max_denominator=10**9),
)
@settings(max_examples=150, deadline=None)
def test_bounds_are_above_the_weights_and_the_chances_give_the_law(pairs, decay):
    cells, distances = zip(*pairs, strict=True)
    table = runs(cells, distances, decay)
    least = min(d for c, d in pairs if c)
    bounds = table._bounds.tolist()
    assert table._sums[-1] == sum(bounds) < 2**63
    excess = Fraction(0)
    for i, (c, d) in enumerate(pairs):
        if c == 0:
            assert bounds[i] == 0
            continue
        factor = Fraction(exp_neg((d - least) * decay).bounds(400)[1], 1 << 400)
        weight = Fraction(2) ** table._scale * c * factor
        assert weight <= bounds[i]
        excess += bounds[i] - weight
        low, high = table._chance(i).bounds(100)
        # what a trial gives to i: U_i times the chance, the weight itself
        assert low <= weight / bounds[i] * 2**100 + 1
        assert high >= weight / bounds[i] * 2**100 - 1
        if bounds[i] > 2**32:
            assert low > (2**100 - 2**72)
    assert excess <= sum(bounds) * Fraction(1, 2**28)


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 6)), min_size=1, max_size=5),
    st.fractions(Fraction(1, 10), 2, max_denominator=10),
    st.integers(0, 2**32),
)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_law_of_small_runs(fits, pairs, decay, seed):
    cells, distances = zip(*pairs, strict=True)
    draws = choose_run(cells, distances, decay, 2000, source=SeededSource(seed))
    assert fits(draws, law(cells, distances, decay))


def test_a_refused_trial_is_drawn_again(scripted):
    table = runs([1, 1], [0, 200], Fraction(1))
    assert table._bounds.tolist()[1] == 1
    total = int(table._sums[-1])
    word = total - 1 + total  # falls on the last run, whose coin is as good as lost
    trial = scripted(scripted.words(word, 2**63))
    assert table.choose(None, trial) == 0
    assert trial.beyond > 0


def test_coins_of_runs_are_exact_at_ties(scripted):
    table = runs([3, 5], [0, 1], Fraction(1))
    chance = table._chance(1)
    tie = chance.bounds(64)[0]
    low, high = chance.bounds(128)
    assert high - low <= 2
    following = low - (tie << 64)
    assert 2**64 - 2**36 < tie < 2**64
    index = np.array([1])
    for step, kept in ((-1, True), (2, False)):
        source = scripted(scripted.words(tie, following + step))
        assert table._kept(index, source).tolist() == [kept]
        assert source.beyond == 0


def test_when_every_coin_is_decided_with_integers(fits, source, monkeypatch):
    monkeypatch.setattr("sourdine.noise.selection._SURE_COIN", 0)
    draws = choose_run([1, 2, 3], [0, 1, 2], 1, 5000, source=source)
    assert fits(draws, law([1, 2, 3], [0, 1, 2], 1))


@pytest.mark.slow
def test_loose_bounds_do_not_change_the_law(fits, source, monkeypatch):
    monkeypatch.setattr("sourdine.noise.selection._SURE_COIN", 0)
    table = runs([1, 2, 3], [0, 1, 2], Fraction(1))
    table._bounds *= np.array([1, 3, 2])
    table._sums = np.cumsum(table._bounds)
    assert int(table._sums[-1]) < 2**63
    assert fits(table.choose(5000, source), law([1, 2, 3], [0, 1, 2], 1))


def test_a_million_runs(fits, source):
    cells = np.full(10**6, 2**40)
    distances = np.arange(10**6) // 1000
    draws = choose_run(cells, distances, Fraction(1, 100), 20_000, source=source)
    assert fits(draws // 1000, law(np.ones(1000), np.arange(1000), 0.01))
    assert fits(draws % 1000 // 20, np.full(50, 1 / 50))


def test_law_of_scores(fits, source):
    scores = [0, 3, 1, 3, -2]
    draws = choose(scores, Fraction(1, 2), 200_000, source=source)
    assert fits(draws, law(np.ones(5), -np.array(scores), 0.5))
    ends = choose([2**63 - 1, -(2**63)], 1, 50, source=source)
    assert not ends.any()


def brute_force(scores, decay):
    """McKenna and Sheldon's loop over every order."""
    heads = [exp(decay * (s - max(scores))) for s in scores]
    out = np.zeros(len(scores))
    for order in permutations(range(len(scores))):
        left = 1 / factorial(len(scores))
        for i in order:
            out[i] += left * heads[i]
            left *= 1 - heads[i]
    return out


@pytest.mark.parametrize("scores", [[0, 1, 2, 3], [5, 5, 4], [0], [0, -3, 0, -1, -10, 0]])
def test_permute_and_flip_is_the_loop(scores, fits, source):
    draws = permute_and_flip(scores, Fraction(1, 2), 100_000, source=source)
    assert fits(draws, brute_force(scores, 0.5))
    if len(set(scores)) > 2:
        assert not fits(draws, brute_force(scores, 0.54))
        assert not fits(draws, law(np.ones(len(scores)), -np.array(scores), 0.5))


@pytest.mark.slow
def test_permute_and_flip_one_by_one(fits, source):
    draws = [permute_and_flip([0, 1, 2], 1, source=source) for _ in range(5000)]
    assert fits(np.array(draws), brute_force([0, 1, 2], 1))


def test_sizes():
    for draw in (choose, permute_and_flip):
        assert type(draw([1, 2], 1)) is int
        assert draw([1, 2], 1, (2, 3)).shape == (2, 3)
        assert draw([1, 2], 1, 0).shape == (0,)
    assert type(choose_run([1], [1], 1)) is int
    assert choose_run([1], [1], 1, (4, 1)).tolist() == [[0]] * 4


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: choose_run([0, 0], [1, 2], 1), ParameterError, "cells must hold at least one"),
        (lambda: choose_run([], [], 1), ParameterError, "cells must hold at least one"),
        (
            lambda: choose_run([1], [1, 2], 1),
            ParameterError,
            "be a list as long as distances",
        ),
        (lambda: choose_run([-1], [1], 1), ParameterError, "cells must be at least 0"),
        (lambda: choose_run([1], [1], -1), ParameterError, "decay must be at least 0, got -1"),
        (lambda: choose_run([1], [0.5], 1), ParameterTypeError, "distances must be whole numbers"),
        (lambda: choose([], 1), ParameterError, "scores must be a list of at least one"),
        (lambda: permute_and_flip([1.5], 1), ParameterTypeError, "scores must be whole numbers"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
