"""Samples: independent rows, chains, growing rows, and those that no answer suits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sourdine.adaptive.ledger.dependence import Markov, second_eigenvalue, stationary
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine_lab import samples
from sourdine_lab.game import miss_chance

LAW = np.array([0.4, 0.3, 0.2, 0.1])
QUERY = np.array([1.0, 0.0, 1.0, 0.25])
VARIANCE = LAW @ QUERY**2 - (LAW @ QUERY) ** 2
CYCLE = np.roll(np.eye(3), 1, axis=1) * 0.8 + np.eye(3) * 0.2
UNEVEN = np.array([[0.1, 0.6, 0.3], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])


def spread(sampler, draws, seed=1):
    """Return the variance of the average of QUERY over many samples."""
    rng = np.random.default_rng(seed)
    return np.var([QUERY[sampler(rng)].mean() for _ in range(draws)])


def within(measured, expected, draws):
    """A variance of so many nearly normal averages, at 6 standard errors."""
    return abs(measured / expected - 1) < 6 * (2 / draws) ** 0.5


@pytest.mark.parametrize(
    "sampler",
    [
        lambda rng: samples.iid(LAW, 50, rng=rng),
        lambda rng: samples.lazy_walk(LAW, 50, rng=rng),
        lambda rng: samples.blocks(LAW, 50, size=7, rng=rng),
        lambda rng: samples.repeated(LAW, 50, times=4, rng=rng),
        lambda rng: samples.markov_chain(samples.lazy_matrix(LAW, stay=0.3), 50, rng=rng),
    ],
    ids=["iid", "lazy_walk", "blocks", "repeated", "markov_chain"],
)
def test_every_row_follows_the_law(sampler):
    rng = np.random.default_rng(1)
    rows = np.array([sampler(rng) for _ in range(4000)])
    assert rows.shape == (4000, 50)
    assert rows.dtype == np.int64
    for place in (0, 1, 6, 13, 49):
        found = np.bincount(rows[:, place], minlength=4) / 4000
        assert (np.abs(found - LAW) < 6 * np.sqrt(LAW * (1 - LAW) / 4000)).all()


def test_variance_of_independent_rows():
    assert within(spread(lambda rng: samples.iid(LAW, 100, rng=rng), 4000), VARIANCE / 100, 4000)


@pytest.mark.parametrize("stay", [0, 0.3, 0.5, 0.8])
def test_variance_of_the_lazy_walk(stay):
    n, draws = 100, 4000
    expected = (1 + stay) / (1 - stay) - 2 * stay * (1 - stay**n) / (n * (1 - stay) ** 2)
    measured = spread(lambda rng: samples.lazy_walk(LAW, n, rng=rng, stay=stay), draws)
    assert within(measured, VARIANCE / n * expected, draws)


def test_the_lazy_walk_inflates_threefold():
    measured = spread(lambda rng: samples.lazy_walk(LAW, 2000, rng=rng), 3000)
    assert within(measured, 3 * VARIANCE / 2000, 3000)
    assert not within(measured, 2 * VARIANCE / 2000, 3000)
    assert Markov(0.5).inflation == 3


@pytest.mark.parametrize("stay", [0, 0.25, 0.5, 0.9])
def test_eigenvalue_of_the_lazy_walk(stay):
    matrix = samples.lazy_matrix(LAW, stay=stay)
    assert stationary(matrix) == pytest.approx(LAW, abs=1e-14)
    assert second_eigenvalue(matrix) == pytest.approx(stay, abs=1e-14)


def test_the_walk_and_its_matrix_are_one_chain():
    rng = np.random.default_rng(1)
    walk = samples.lazy_walk(LAW, 200_000, rng=rng)
    chain = samples.markov_chain(samples.lazy_matrix(LAW), 200_000, rng=rng)
    for rows in (walk, chain):
        moves = np.zeros((4, 4))
        np.add.at(moves, (rows[:-1], rows[1:]), 1)
        moves /= moves.sum(axis=1, keepdims=True)
        assert np.abs(moves - samples.lazy_matrix(LAW)).max() < 0.02


def test_a_chain_begins_where_it_stays():
    matrix = [[0.5, 0.25, 0.25], [0, 0.9, 0.1], [0, 0.3, 0.7]]
    assert samples.markov_chain(matrix, 500, rng=np.random.default_rng(1)).min() == 1


def test_a_chain_takes_possible_steps_only():
    rows = samples.markov_chain(CYCLE, 3000, rng=np.random.default_rng(1))
    moves = set(zip(rows[:-1].tolist(), rows[1:].tolist(), strict=True))
    assert moves == {(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)}


def test_blocks_spread_as_fewer_rows():
    measured = spread(lambda rng: samples.blocks(LAW, 1000, size=10, rng=rng), 4000)
    assert within(measured, VARIANCE / 100, 4000)


def test_blocks_and_repeats_are_copies():
    rng = np.random.default_rng(1)
    rows = samples.blocks(LAW, 25, size=10, rng=rng)
    assert len(rows) == 25
    assert all(len(set(rows[i : i + 10].tolist())) == 1 for i in (0, 10, 20))
    rows = samples.repeated(LAW, 24, times=4, rng=rng)
    assert (rows.reshape(4, 6) == rows[:6]).all()


def test_growing_rows_are_between_the_mean_and_twice_the_mean():
    rng = np.random.default_rng(1)
    for n in (1, 2, 500):
        rows = samples.growing_mean(n, rng=rng)
        before = np.cumsum(rows)[:-1] / np.arange(1, n)
        places = (rows[1:] - before) / before
        assert len(rows) == n
        assert ((places > -1e-9) & (places < 1 + 1e-9)).all()
        if n > 100:
            assert abs(places.mean() - 0.5) < 6 / (12 * n) ** 0.5


def test_growing_rows_do_not_concentrate():
    """The scale's query spreads as much over 10^4 rows as over 100; a threshold's dies out."""
    rng = np.random.default_rng(1)

    def deviation(query, n):
        return np.std([query(samples.growing_mean(n, rng=rng)).mean() for _ in range(400)])

    scale = [deviation(samples.even_octave, n) for n in (100, 10_000)]
    assert scale[1] > 0.8 * scale[0] > 0.08
    threshold = [deviation(lambda x: x > 1000, n) for n in (1000, 50_000)]
    assert threshold[1] < 0.7 * threshold[0]
    independent = np.std([rng.binomial(10_000, 0.5) / 10_000 for _ in range(400)])
    assert scale[1] > 10 * independent


def test_encoded_rows_hold_the_sample():
    rng = np.random.default_rng(1)
    for n in (1, 9, 40):
        rows = samples.encoded(n, rng=rng)
        assert rows.shape == (n,)
        assert (rows >= 0).all()
        assert all((samples.decode(row, n) == (rows >> n)).all() for row in rows)
    with pytest.raises(ParameterError, match="n must be at most 40"):
        samples.encoded(41, rng=rng)


GRID = [Fraction(i, 16) for i in range(17)]


def mechanisms():
    """All laws of an answer with two answers on a grid and chances in eighths."""
    for a, b in product(GRID, repeat=2):
        for eighths in range(9):
            law = {a: Fraction(0), b: Fraction(0)}
            law[a] += Fraction(eighths, 8)
            law[b] += Fraction(8 - eighths, 8)
            yield law


@pytest.mark.parametrize("alpha", [0, Fraction(1, 10), Fraction(249_999, 1_000_000)])
def test_no_mechanism_answers_both(alpha):
    found = [samples.failures(law, alpha) for law in mechanisms()]
    assert min(b0 + b1 for b0, b1 in found) == Fraction(1, 2)
    assert min(max(pair) for pair in found) == Fraction(1, 4) == samples.least_failure(alpha)
    assert all(
        max(abs(a - Fraction(1, 4)), abs(a - Fraction(3, 4))) >= Fraction(1, 4) for a in GRID
    )


def test_constants_of_the_pair_are_tight():
    quarter = Fraction(1, 4)
    coin = {quarter: Fraction(1, 2), 3 * quarter: Fraction(1, 2)}
    assert samples.failures(coin, 0) == (quarter, quarter)
    assert samples.failures({Fraction(1, 2): 1}, quarter) == (0, 0)
    assert samples.least_failure(quarter) == 0
    assert samples.failures({quarter: 1}, 0) == (0, Fraction(1, 2))


def test_the_pair_is_what_the_lecture_says():
    for coin, truth in ((samples.P0, Fraction(1, 4)), (samples.P1, Fraction(3, 4))):
        outcomes = coin.outcomes(5)
        assert sum(p for p, _ in outcomes) == 1
        assert sum(p * Fraction(float(rows.mean())) for p, rows in outcomes) == truth == coin.value
        assert miss_chance(lambda rows: rows, outcomes, 0.24) == 1
        rng = np.random.default_rng(1)
        draws = np.array([coin.draw(3, rng=rng) for _ in range(1000)])
        assert (draws == draws[:, :1]).all()
        assert abs((draws[:, 0] == 0.5).mean() - 0.5) < 6 * 0.5 / 1000**0.5
    assert (samples.P0.outcomes(5)[0][1] == samples.P1.outcomes(5)[0][1]).all()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda rng: samples.iid([0.5, 0.6], 5, rng=rng), "law must be a vector"),
        (lambda rng: samples.iid([-0.5, 1.5], 5, rng=rng), "law must be a vector"),
        (lambda rng: samples.iid([0.5, np.nan], 5, rng=rng), "law must be a vector"),
        (lambda rng: samples.iid([[1.0]], 5, rng=rng), "law must be a vector"),
        (lambda rng: samples.iid([1.0], 0, rng=rng), "n must be at least 1"),
        (lambda rng: samples.blocks([1.0], 5, size=0, rng=rng), "size must be at least 1"),
        (lambda rng: samples.repeated([1.0], 5, times=0, rng=rng), "times must be at least 1"),
        (lambda rng: samples.lazy_walk([1.0], 5, rng=rng, stay=2), "stay must be from 0 to 1"),
        (lambda rng: samples.markov_chain([[0.5, 0.4], [0, 1]], 5, rng=rng), "matrix must be"),
        (lambda rng: samples.markov_chain(np.eye(2), 5, rng=rng), "a single stationary"),
        (lambda _: samples.failures({0.5: 0.5}, 0), "answers must have probabilities"),
        (lambda _: samples.failures({0.5: 1}, -1), "alpha must be at least 0"),
    ],
)
def test_bad_parameters(call, text):
    with pytest.raises((ParameterError, ParameterTypeError), match=text):
        call(np.random.default_rng(1))
