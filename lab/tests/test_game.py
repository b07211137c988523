"""The game, its transcript, truths and concentrated queries; splitting where it fails."""

from __future__ import annotations

from itertools import product
from math import comb, exp

import numpy as np
import pytest

from sourdine.adaptive.query_server.server import QueryServer
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.noise import SeededSource
from sourdine_lab.answering import Empirical, Splitting
from sourdine_lab.attacks.holdouts import overfit
from sourdine_lab.game import (
    AdaptiveGame,
    Decoding,
    Exchange,
    Honest,
    Transcript,
    all_samples,
    miss_chance,
    simulated_miss_chance,
    splitting_on_encoded,
    splitting_on_repeated,
    truth,
)
from sourdine_lab.game.analysts.decoding import SMALL
from sourdine_lab.samples import blocks, encoded, lazy_matrix, lazy_walk

COIN = np.array([0.0, 1.0])
FAIR = [[0.5, 0.5], [0.5, 0.5]]


class Spy:
    """An analyst who notes what it is shown, and stops after some rounds."""

    def __init__(self, stop):
        self.stop, self.seen = stop, []

    def ask(self, transcript):
        self.seen.append([exchange.answer for exchange in transcript])
        return None if len(transcript) == self.stop else np.full(3, len(transcript) / 10)


class Counting:
    """A mechanism that answers with the number of the question, and notes its sample."""

    samples = ()

    def __init__(self, sample):
        Counting.samples = (*Counting.samples, sample)
        self.asked = 0

    def answer(self, query):
        assert query.shape == (3,)
        self.asked += 1
        return np.float32(self.asked)


def test_the_game_is_played_as_written():
    sample, spy, Counting.samples = np.array([0, 1, 2]), Spy(stop=99), ()
    transcript = AdaptiveGame(spy, sample, Counting, rounds=4).play()
    assert len(Counting.samples) == 1
    assert Counting.samples[0] is sample
    assert spy.seen == [[], [1], [1, 2], [1, 2, 3]]
    assert transcript.answers.tolist() == [1, 2, 3, 4]
    assert [exchange.query[0] for exchange in transcript] == [0, 0.1, 0.2, 0.3]
    assert all(type(exchange.answer) is float for exchange in transcript)


def test_the_analyst_may_stop():
    assert len(AdaptiveGame(Spy(stop=2), np.arange(3), Counting, rounds=9).play()) == 2


def test_a_bar_changes_nothing(capsys):
    game = AdaptiveGame(Honest([COIN] * 3), np.array([0, 1, 1, 1]), Empirical, rounds=3)
    assert game.play(progress=True).answers.tolist() == [0.75] * 3
    assert "queries" in capsys.readouterr().out


def test_transcripts_are_sequences():
    exchanges = [Exchange(COIN, 0.25), Exchange(1 - COIN, 1.0), Exchange(COIN, 0.5)]
    talk = Transcript(exchanges)
    assert list(talk) == exchanges
    assert talk[-1].answer == 0.5
    assert talk[1:].answers.tolist() == [1.0, 0.5]
    assert isinstance(talk[1:], Transcript)
    assert talk.errors([0.25, 0.75]).tolist() == [-0.5, 0.75, -0.25]
    assert talk.errors(population=np.array([0, 1, 1, 1])).tolist() == [-0.5, 0.75, -0.25]
    assert repr(talk) == "<Transcript of 3 exchanges>"
    assert not Transcript()


def test_truth_needs_one_law():
    assert truth(lambda codes: codes == 1, [0.25, 0.75]) == 0.75
    for given in ({}, {"law": [1.0], "population": np.zeros(3)}):
        with pytest.raises(ParameterError, match="a truth must come from a law or"):
            truth(COIN, **given)


def test_miss_chance_is_the_binomial_tail():
    n = 9
    for alpha in (0, 0.05, 1 / 6, 0.3, 0.5):
        tail = sum(comb(n, k) for k in range(n + 1) if abs(k / n - 0.5) > alpha + 1e-9) / 2**n
        assert miss_chance(COIN, all_samples(FAIR, n), alpha) == pytest.approx(tail, abs=1e-12)


def test_all_samples_are_there_with_their_chances():
    found = list(all_samples([[0.9, 0.1], [0.3, 0.7]], 3))
    assert [tuple(rows.tolist()) for _, rows in found] == list(product(range(2), repeat=3))
    assert sum(p for p, _ in found) == pytest.approx(1)
    assert dict(zip(product(range(2), repeat=3), (p for p, _ in found), strict=True))[
        0, 1, 1
    ] == pytest.approx(0.75 * 0.1 * 0.7)


def test_every_query_is_concentrated_on_the_lazy_walk():
    """Within Hoeffding's bound of a third of the rows; not within that of all of them."""
    n, beyond = 9, False
    for law in ([0.5, 0.5], [0.8, 0.2]):
        outcomes = list(all_samples(lazy_matrix(law), n))
        for alpha in np.linspace(0.1, 0.8, 8):
            chance = miss_chance(COIN, outcomes, float(alpha))
            assert chance <= 2 * exp(-2 * n * alpha**2 / 3)
            beyond |= chance > 2 * exp(-2 * n * alpha**2)
    assert beyond


def test_simulated_chances_are_near_the_exact_ones():
    rng = np.random.default_rng(1)
    exact = miss_chance(COIN, all_samples(lazy_matrix([0.5, 0.5]), 12), 0.25)
    found = simulated_miss_chance(
        COIN,
        lambda rng: lazy_walk([0.5, 0.5], 12, rng=rng),
        0.25,
        centre=0.5,
        draws=2000,
        rng=rng,
        level=1e-9,
    )
    assert found.lower < exact < found.upper
    assert found.lower < found.share < found.upper < found.lower + 0.2
    fewer = simulated_miss_chance(
        COIN,
        lambda rng: blocks([0.5, 0.5], 12, size=12, rng=rng),
        0.25,
        centre=0.5,
        draws=50,
        rng=rng,
    )
    assert fewer.share == 1


def test_queries_of_the_decoder_are_concentrated():
    """All samples of six encoded rows, exactly."""
    n = 6

    def outcomes():
        for coins in product([0, 1], repeat=n):
            code = sum(coin << j for j, coin in enumerate(coins))
            yield 2.0**-n, np.array([(coin << n) + code for coin in coins])

    decoder = Decoding(n)
    assert miss_chance(decoder.reading, outcomes(), SMALL / 2) == 0
    for code in (0, 5, 63):
        assert miss_chance(decoder.telling(code), outcomes(), 2.0**-n) == pytest.approx(2.0**-n)


@pytest.mark.parametrize("n", [2, 3, 17, 40])
def test_splitting_fails_on_encoded_rows(n):
    for seed in range(20):
        found = splitting_on_encoded(n, rng=np.random.default_rng(seed))
        assert (found.answer, found.truth) == (1.0, 2.0**-n)


def test_a_coin_of_encoded_rows_is_as_good_as_ever():
    rng = np.random.default_rng(1)
    found = [(encoded(40, rng=rng) >> 40).mean() for _ in range(2000)]
    assert np.var(found) == pytest.approx(0.25 / 40, rel=6 * (2 / 2000) ** 0.5)


def test_splitting_fails_on_a_repeated_block():
    """100 rows to a part: a fixed query is off by 0.2 with a chance of 2 exp(-8)."""
    law = np.full(1000, 0.001)
    found = [
        splitting_on_repeated(law, 40_000, times=400, rng=np.random.default_rng(seed)).error
        for seed in range(4)
    ]
    assert min(found) > 0.3


def test_splitting_holds_on_independent_rows():
    law = np.full(1000, 0.001)
    for seed in range(4):
        source = SeededSource(seed)
        found = overfit(
            lambda rows, source=source: Splitting(rows, 400, source=source),
            law,
            40_000,
            400,
            rng=np.random.default_rng(seed),
        )
        assert abs(found.error) < 0.2


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: AdaptiveGame(Spy(1), COIN, Empirical, rounds=0), ParameterError, "rounds must be"),
        (
            lambda: AdaptiveGame(Spy(1), COIN, Empirical, rounds=1).play(progress="no"),
            ParameterTypeError,
            "progress must be True or False",
        ),
        (lambda: list(all_samples(FAIR, 30)), ParameterError, "at most 1048576 samples"),
        (lambda: miss_chance(COIN, all_samples(FAIR, 2), -1), ParameterError, "alpha must be"),
    ],
)
def test_bad_parameters(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_without_rounds_the_analyst_decides_when_to_stop():
    queries = [np.array([0, 1, 1]), np.array([1, 0, 0])]
    game = AdaptiveGame(Honest(queries), np.array([0, 1, 2, 2]), Empirical)
    assert game.play().answers.tolist() == [0.75, 0.25]


def test_a_mechanism_that_has_seen_its_sample_is_refused():
    sample = np.array([0, 1, 2, 2])
    with pytest.raises(ParameterTypeError, match="mechanism must be a function of the sample"):
        AdaptiveGame(Honest([]), sample, Empirical(sample))


def test_a_server_plays_the_game():
    zipf = 1 / np.arange(1, 257) ** 0.8
    law, rng = np.random.default_rng(7).permutation(zipf / zipf.sum()), np.random.default_rng(5)
    found = overfit(lambda rows: QueryServer(rows, universe=256), law, 100_000, 400, rng=rng)
    assert abs(found.error) <= found.mechanism.certificate().halfwidth <= 0.12
