"""Analysts in good faith, and those who mislead."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine.noise import SeededSource
from sourdine_lab.answering import Empirical, Thresholdout
from sourdine_lab.attacks.holdouts import overfit
from sourdine_lab.averages import average
from sourdine_lab.game import (
    AdaptiveGame,
    Exchange,
    Freedman,
    HillClimbing,
    Honest,
    Overfitting,
    Transcript,
    freedman,
    truth,
)
from sourdine_lab.game.analysts.freedman import Vote
from sourdine_lab.samples import blocks, iid, lazy_walk

LAW = np.full(1000, 0.001)


def rngs(count):
    return [np.random.default_rng(seed) for seed in range(count)]


def plain(_, holdout):
    return Empirical(holdout)


def thresholdout(train, holdout):
    unit = len(holdout) ** -0.5
    halves = train, holdout
    source = SeededSource(1)
    return Thresholdout(halves, threshold=2 * unit, tolerance=unit / 4, budget=10**6, source=source)


class Deaf:
    """A mechanism that answers one half, whatever the sample."""

    def __init__(self, sample):
        pass

    def answer(self, _):
        return 0.5


# honest


def test_honest_queries_do_not_depend_on_answers():
    asked = []
    for mechanism in (Empirical, Deaf):
        analyst = Honest.random(50, 9, rng=np.random.default_rng(1))
        game = AdaptiveGame(analyst, np.arange(50), mechanism, rounds=20)
        asked.append(np.array([exchange.query for exchange in game.play()]))
    assert asked[0].shape == (9, 50)
    assert (asked[0] == asked[1]).all()
    assert 0.3 < asked[0].mean() < 0.7


def test_honest_queries_stay_true():
    rng = np.random.default_rng(1)
    analyst = Honest.random(1000, 400, rng=rng)
    talk = AdaptiveGame(analyst, iid(LAW, 1000, rng=rng), Empirical, rounds=400).play()
    assert np.abs(talk.errors(LAW)).max() < (np.log(2 * 400 / 1e-9) / 2000) ** 0.5


# overfitting


@pytest.mark.parametrize(("one_bit", "least"), [(False, 0.15), (True, 0.12)])
def test_overfitting_misleads_plain_averages(one_bit, least):
    """A fixed query is off by 0.06 with a chance of 2 exp(-7.2); nor is this one, on fresh rows."""
    for rng in rngs(4):
        sample = iid(LAW, 1000, rng=rng)
        analyst = Overfitting(LAW, 400, rng=rng, one_bit=one_bit)
        last = AdaptiveGame(analyst, sample, Empirical, rounds=400).play()[-1]
        assert last.answer - truth(last.query, LAW) > least
        assert abs(average(last.query, iid(LAW, 1000, rng=rng)) - truth(last.query, LAW)) < 0.06


def test_overfitting_grows_with_the_rounds():
    errors = [
        np.mean([overfit(Empirical, LAW, 1000, k, rng=rng).error for rng in rngs(4)])
        for k in (25, 100, 400)
    ]
    assert errors[2] > 1.5 * errors[1] > 2 * errors[0] > 0


def test_overfitting_learns_nothing_where_nothing_is_said():
    found = overfit(Deaf, LAW, 1000, 400, rng=np.random.default_rng(1))
    assert abs(found.bias) < 0.1
    assert isinstance(found.mechanism, Deaf)
    assert found.error == 0.5 - found.truth


@pytest.mark.parametrize(("one_bit", "last"), [(False, [1, 0, 1]), (True, [1, 0, 0])])
def test_overfitting_asks_what_it_says(one_bit, last):
    """Surpluses 0.01 and -0.2: the weights are 0.105, -0.105, 0.095; by signs 1, -1, 0."""
    rng = np.random.default_rng(1)
    analyst = Overfitting([0.5, 0.25, 0.25], 3, rng=rng, one_bit=one_bit)
    heard = [
        Exchange(np.array([True, False, False]), 0.51),
        Exchange(np.array([False, True, False]), 0.05),
    ]
    analyst.ask(Transcript())
    analyst.ask(Transcript(heard[:1]))
    assert analyst.ask(Transcript(heard)).tolist() == last
    assert analyst.ask(Transcript([*heard, heard[0]])) is None


@pytest.mark.parametrize(
    ("sampler", "ratio"),
    [
        (lazy_walk, 3**0.5),
        (lambda law, n, *, rng: blocks(law, n, size=10, rng=rng), 10**0.5),
    ],
    ids=["lazy walk", "tenfold rows"],
)
def test_dependent_rows_are_easier_to_overfit(sampler, ratio):
    law = np.full(4000, 1 / 4000)
    biases = [
        np.mean([overfit(Empirical, law, 4000, 200, rng=rng, sampler=s).bias for rng in rngs(4)])
        for s in (iid, sampler)
    ]
    assert biases[1] / biases[0] == pytest.approx(ratio, rel=0.25)


# hill climbing


def test_hill_climbing_gains_what_is_not_there():
    for rng in rngs(4):
        sample = iid(LAW, 1000, rng=rng)
        analyst = HillClimbing(500, 500, rng=rng, flips=10)
        talk = AdaptiveGame(analyst, sample, Empirical, rounds=600).play()
        assert len(talk) == 500
        assert talk[-1].answer > 0.6
        assert talk[-1].answer == talk.answers.max()
        assert truth(talk[-1].query, LAW) == pytest.approx(0.5)
        assert (talk[-1].query[1::2] == analyst.predictor).all()


def test_proposals_flip_a_few_predictions():
    analyst = HillClimbing(50, 9, rng=np.random.default_rng(1), flips=3)
    first = analyst.ask(Transcript())
    talk = [Exchange(first, 0.5)]
    second = analyst.ask(Transcript(talk))
    assert np.count_nonzero(first != second) == 6
    talk.append(Exchange(second, 0.6))
    third = analyst.ask(Transcript(talk))
    assert np.count_nonzero(third != second) == 6
    talk.append(Exchange(third, 0.6))
    fourth = analyst.ask(Transcript(talk))
    assert np.count_nonzero(fourth != second) == 6
    assert (fourth != third).any()


# Freedman's paradox


def test_freedman_finds_what_is_not_there():
    for rng in rngs(3):
        found = freedman(1000, 1000, top=125, answer=plain, rng=rng)
        assert found.gap > 0.07
        assert abs(found.fresh - 0.5) < 0.07
        assert 20 < found.chosen <= 125


def test_thresholdout_sees_through_freedman():
    naive, careful = (
        np.mean([freedman(2000, 1000, top=125, answer=answer, rng=rng).gap for rng in rngs(3)])
        for answer in (plain, thresholdout)
    )
    assert naive > 0.05
    assert abs(careful) < 0.03


def test_freedman_finds_what_is_there():
    found = freedman(1000, 100, top=50, answer=plain, rng=np.random.default_rng(1), signal=20)
    assert found.fresh > 0.6


def test_freedman_chooses_by_both_samples():
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, 400, dtype=np.bool_)
    noise = rng.integers(0, 2, 400, dtype=np.bool_)
    train = np.column_stack([label, ~label, label, noise & label, label])
    analyst = Freedman(train, top=2)
    heard = [Exchange(lambda rows: rows, answer) for answer in (0.9, 0.1, 0.4, 0.51)]
    vote = analyst.ask(Transcript(heard))
    # the third disagrees with the holdout, the fourth is too near to one half there
    assert vote.columns.tolist() == [0, 1]
    assert vote.against.tolist() == [False, True]
    assert vote(train).all()
    assert analyst.ask(Transcript([*heard, heard[0]])) is None


def test_votes():
    rows = np.array([[1, 1, 0, 1], [1, 0, 0, 1], [0, 0, 1, 0]], bool)
    every = Vote(np.arange(3), np.zeros(3, bool))
    assert every(rows).tolist() == [True, False, True]
    tie = Vote(np.arange(2), np.array([False, True]))
    assert tie(rows).tolist() == [True, True, False]
    assert Vote(np.arange(0), np.zeros(0, bool))(rows).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda rng: Overfitting(LAW, 1, rng=rng), "rounds must be at least 2"),
        (lambda rng: HillClimbing(5, 1, rng=rng), "rounds must be at least 2"),
        (lambda rng: freedman(9, 5, top=0, answer=plain, rng=rng), "top must be at least 1"),
        (lambda rng: freedman(9, 5, top=1, answer=plain, rng=rng, signal=6), "signal must be"),
    ],
)
def test_bad_parameters(call, text):
    with pytest.raises(ParameterError, match=text):
        call(np.random.default_rng(1))
