"""Mechanisms to compare with, and the half-widths that are proved of them."""

from __future__ import annotations

from fractions import Fraction
from math import exp, isnan, log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.adaptive import privacy_to_validity
from sourdine.adaptive.ledger.dependence import Iid
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.errors import BudgetExceededError, ParameterError
from sourdine.mechanisms.gaussian import gaussian_law
from sourdine.noise import SeededSource
from sourdine.privacy import SUBSTITUTE, Concentrated, Guarantee
from sourdine_lab.answering import (
    Empirical,
    GaussianNoise,
    Rounding,
    Splitting,
    Thresholdout,
    concentrated_accuracy,
    widths,
)
from sourdine_lab.answering.ticks import GRID
from sourdine_lab.game import AdaptiveGame, Overfitting

TABLE = [
    # n, k, non-adaptive, split, Gauss + information, Gauss + transfer, 5 hard, 50 hard
    (10**4, 100, 0.020, 0.204, 0.182, 0.232, 0.051, 0.121),
    (10**4, 1000, 0.023, 0.728, 0.322, 0.431, 0.057, 0.145),
    (10**5, 1000, 0.007, 0.230, 0.102, 0.135, 0.018, 0.046),
    (10**5, 10**4, 0.008, 0.803, 0.185, 0.249, 0.020, 0.052),
    (10**6, 10**4, 0.003, 0.254, 0.058, 0.079, 0.006, 0.016),
]
CODES = 512


def overfit(mechanism, k, rng):
    """Ask k random questions, then the one that their answers favour; return the largest error."""
    worst, favour = 0.0, np.zeros(CODES)
    for _ in range(k):
        query = (rng.random(CODES) < 0.5).astype(float)
        error = mechanism.answer(query) - query.mean()
        worst, favour = max(worst, abs(error)), favour + np.clip(error, -0.2, 0.2) * (query - 0.5)
    last = (favour > 0).astype(float)
    return max(worst, abs(mechanism.answer(last) - last.mean())), last


def fresh(n, rng):
    return rng.integers(CODES, size=n)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]}-{row[1]}")
def test_table_of_widths(row):
    n, k, *printed = row
    found = [
        widths.non_adaptive(n, k),
        widths.splitting(n, k),
        widths.gaussian_information(n, k),
        widths.gaussian_transfer(n, k),
        widths.hard_answers(n, k, hard=5),
        widths.hard_answers(n, k, hard=50),
    ]
    transfer, seen = found.pop(3), printed.pop(3)
    assert [round(w, 3) for w in found] == printed
    # a finer search for the same formula's minimum: every parameter gives a valid width
    assert seen - 0.002 < transfer < seen + 0.0005
    assert widths.gaussian_sharp(n, k) < found[2] < transfer


def test_transfer_width_is_the_formula_at_its_best():
    from scipy.special import ndtr, ndtri

    n, k, beta, rng = 10**4, 100, 0.05, np.random.default_rng(1)
    found, tried = widths.gaussian_transfer(n, k), []
    for _ in range(5000):
        sigma, e, b = 10 ** rng.uniform(-2.2, -1), rng.uniform(0.02, 0.3), 10 ** rng.uniform(-6, -2)
        mu = sqrt(k) / (n * sigma)
        delta = ndtr(mu / 2 - e / mu) - exp(e) * ndtr(-mu / 2 - e / mu)
        noise = -sigma * ndtri(b / (2 * k))
        tried.append(noise + exp(e) - 1 + (sqrt(b) + sqrt(2 * max(delta, 0))) ** 2 / beta)
    assert found < min(tried) < found + 0.01


@pytest.mark.parametrize("variance", [Fraction(1, 2), 1, 4, 100])
@pytest.mark.parametrize(("step", "chance"), [(1, 0.5), (1, 0.2), (3, 0.5)])
def test_gaussian_answers_tell_at_most_their_share(variance, step, chance):
    """An eighth of a nat over sigma squared for one row in [0, 1], on whole ticks too."""
    cells = np.arange(-150, 151)
    one, two = (gaussian_law(x, Fraction(variance)).pmf(cells) for x in (0, step))
    mixed = (1 - chance) * one + chance * two
    parts = [(1 - chance, one), (chance, two)]
    with np.errstate(divide="ignore", invalid="ignore"):
        told = sum(w * np.nansum(p * np.log(p / mixed)) for w, p in parts)
    share = chance * (1 - chance) * step**2 / (2 * float(variance))
    assert told <= share <= step**2 / (8 * float(variance))
    if variance == 100:
        assert told > 0.97 * share


def mechanisms(rows, k, source):
    yield Splitting(rows, k + 1, source=source)
    yield Rounding(rows, 0.02)
    yield GaussianNoise(rows, 0.03, source=source)
    yield Thresholdout(rows, threshold=0.1, tolerance=0.01, budget=k + 1, source=source)


def test_certificates_cover_an_overfitting_analyst():
    """Of 20 runs 8 may miss at beta = .05, but for a chance of 1e-7."""
    n, k, rng, source = 4000, 60, np.random.default_rng(3), SeededSource(3)
    missed, fooled = dict.fromkeys(range(4), 0), 0
    for _ in range(20):
        rows = fresh(n, rng)
        fooled += overfit(Empirical(rows), k, rng)[0] > widths.non_adaptive(n, k + 1)
        for i, mechanism in enumerate(mechanisms(rows, k, source)):
            error, _ = overfit(mechanism, k, rng)
            certificate = mechanism.certificate(0.05)
            assert certificate.answers == k + 1
            missed[i] += error > certificate.halfwidth
    assert max(missed.values()) <= 8, missed
    assert fooled == 20, "what is proved of one question fails for many"


def test_mechanisms_play_the_game():
    law, rng = np.full(CODES, 1 / CODES), np.random.default_rng(12)
    rows = fresh(4000, rng)
    for i in range(4):

        def make(sample, i=i):
            return list(mechanisms(sample, 40, SeededSource(12)))[i]

        transcript = AdaptiveGame(Overfitting(law, 41, rng=rng), rows, make, rounds=41).play()
        assert len(transcript) == 41
        assert abs(transcript.answers - 0.5).max() < 0.5


def test_certificates_of_those_who_may_stop_early():
    rows = np.zeros(1000)
    noisy, rounded = GaussianNoise(rows, 0.05), Rounding(rows, 0.1)
    guard = Thresholdout(rows, threshold=0.1, tolerance=0.01, budget=1)
    for mechanism in (noisy, rounded, guard):
        mechanism.answer(lambda x: x)
    for mechanism in (noisy, guard):
        early, planned = mechanism.certificate(), mechanism.certificate(rounds=100)
        assert early.halfwidth < planned.halfwidth
        assert (early.answers, planned.answers) == (1, 1)
        assert mechanism.certificate(rounds=1) == early
    ledger = TranscriptLedger(1000, confidence=0.95)
    assert rounded.certificate().halfwidth == pytest.approx(0.05 + ledger.halfwidth(), abs=1e-5)


def test_gaussian_certificate_is_near_the_best_width():
    n, k = 10**5, 10**4
    by_sigma = [gaussian_width(n, k, s) for s in (0.005, 0.01, 0.02, 0.025, 0.05, 0.1)]
    best = widths.gaussian_sharp(n, k)
    assert best * (1 - 1e-3) < min(by_sigma) < 1.1 * best
    assert by_sigma.index(min(by_sigma)) in (1, 2, 3)


def gaussian_width(n, k, sigma):
    mechanism = GaussianNoise(np.zeros(n, np.int8), sigma)
    mechanism.asked = k
    return mechanism.certificate(0.05).halfwidth


def test_an_overfitting_query_is_within_what_privacy_leaves():
    n, k, rng, source = 4000, 60, np.random.default_rng(4), SeededSource(4)
    for _ in range(6):
        rows = fresh(n, rng)
        mechanism = GaussianNoise(rows, 0.01, source=source)
        _, last = overfit(mechanism, k, rng)
        bias = last[rows].mean() - last.mean()
        spent = Concentrated.gaussian(1, (n * mechanism.sigma) ** 2, SUBSTITUTE).times(k + 1)
        assert 0.005 < bias <= privacy_to_validity(spent, n, 0.05)


def test_gaussian_noise_is_what_it_says():
    rows = np.repeat([0, 1], [300, 700])
    noisy = GaussianNoise(rows, 0.05, source=SeededSource(5))
    errors = np.array([noisy.answer(lambda x: x == 1) - 0.7 for _ in range(1000)])
    ticks = (errors + 0.7) * 1000 * GRID
    assert np.abs(ticks - np.rint(ticks)).max() < 1e-3
    assert abs(errors.std() / 0.05 - 1) < 6 / sqrt(2000)
    assert abs(errors.mean()) < 6 * 0.05 / sqrt(1000)


def test_privacy_is_promised_for_secret_noise_only():
    noisy = GaussianNoise(np.zeros(1000), 0.05)
    for _ in range(3):
        noisy.answer(lambda x: x)
    assert noisy.privacy.rho == Fraction(3, 2 * 1000**2) / Fraction(5, 100) ** 2
    assert not GaussianNoise([0], 1, source=SeededSource(1)).privacy.is_finite
    terms = {"threshold": 0.1, "tolerance": 0.001, "budget": 3}
    pair = (np.ones(100), np.zeros(1000))
    assert Thresholdout(pair, **terms).guarantee == Guarantee(6, 0, SUBSTITUTE)
    assert not Thresholdout(pair, **terms, source=SeededSource(1)).guarantee.is_finite


def test_splitting_uses_each_row_once():
    parts = Splitting(np.arange(103), 10, source=SeededSource(6))
    seen = []
    for _ in range(10):
        parts.answer(lambda x: seen.extend(x.tolist()) or np.zeros(len(x)))
    assert len(seen) == len(set(seen)) == 100
    assert seen != sorted(seen)
    with pytest.raises(BudgetExceededError, match="at most rounds=10"):
        parts.answer(lambda x: x > 0)
    assert parts.certificate().halfwidth == widths.non_adaptive(10, 10)
    with pytest.raises(ParameterError, match="at most the number of rows, 3"):
        Splitting(np.zeros(3), 4)


@given(st.integers(0, 1000), st.sampled_from([0.1, 0.25, 0.3, Fraction(1, 7), 1]))
def test_rounding_is_to_the_nearest_multiple(ones, step):
    rows = np.arange(1000) < ones
    rounded = Rounding(rows, step)
    answer = rounded.answer(lambda x: x)
    multiple = Fraction(answer).limit_denominator(1000) / Fraction(str(step))
    assert multiple.denominator == 1 or answer == 1
    assert abs(answer - ones / 1000) <= float(step) / 2 + 1e-12
    assert rounded.levels >= len({min(round(i / 50 / step) * step, 1) for i in range(51)})


def test_thresholdout_answers_from_training_rows_while_they_agree():
    train, holdout = np.repeat([0, 1], [40, 60]), np.repeat([0, 1], [420, 580])
    guard = Thresholdout(
        (train, holdout), threshold=0.1, tolerance=0.001, budget=2, source=SeededSource(7)
    )
    limit = guard._limit
    assert [guard.answer(lambda x: x == 1) for _ in range(20)] == 20 * [0.6]
    assert (guard.overflows, guard._limit) == (0, limit)


def test_thresholdout_draws_its_threshold_anew():
    train, holdout = np.ones(100), np.zeros(1000)
    guard = Thresholdout(
        (train, holdout), threshold=0.1, tolerance=0.001, budget=3, source=SeededSource(8)
    )
    limits, answers = [guard._limit], []
    for _ in range(5):
        answers.append(guard.answer(lambda x: x))
        limits.append(guard._limit)
    assert len(set(limits[:4])) == 4
    assert all(abs(a) < 0.03 for a in answers[:3])
    assert all(isnan(a) for a in answers[3:])
    assert guard.overflows == 3


def test_thresholdout_noise_has_the_papers_scales():
    """The limit has scale 2 sigma, the comparison 4 sigma, the answer sigma."""
    source, n, sigma = SeededSource(9), 100, 0.01
    far = (np.ones(10), np.zeros(n))
    limits, answers = [], []
    for _ in range(600):
        guard = Thresholdout(far, threshold=0.2, tolerance=sigma, budget=1, source=source)
        limits.append(guard._limit / (n * GRID) - 0.2)
        answers.append(guard.answer(lambda x: x))
    for values, scale in ((limits, 2 * sigma), (answers, sigma)):
        assert abs(np.abs(values).mean() / scale - 1) < 6 / sqrt(600)
    near = (np.zeros(10), np.zeros(n))
    guard = Thresholdout(near, threshold=0, tolerance=sigma, budget=10**9, source=source)
    guard._limit = round(4 * sigma * n * GRID)  # one scale of the comparison's noise away
    passed = 0
    for _ in range(1500):
        limit, before = guard._limit, guard.overflows
        guard.answer(lambda x: x)
        passed += guard.overflows - before
        guard._limit = limit
    assert abs(passed / 1500 - exp(-1) / 2) < 6 * sqrt(0.15 / 1500)


def test_thresholdout_width_covers_its_draws():
    """Threshold and comparison together pass 6 sigma L rarely; half of that they pass too often."""
    n, k, most, sigma, beta = 10**5, 50, 3, 0.01, 0.1
    width = widths.thresholdout(n, k, beta, threshold=0.1, tolerance=sigma, budget=most)
    spent = Guarantee(Fraction(2 * most, n) * 100, 0, SUBSTITUTE)
    chosen = privacy_to_validity(spent, n, beta / 2)
    draws = width - chosen - 0.1
    rng = np.random.default_rng(13)
    noise = rng.laplace(0, 4 * sigma, (20_000, k)).max(axis=1) + rng.laplace(0, 2 * sigma, 20_000)
    assert (noise > draws).mean() <= beta / 2
    assert (noise > draws / 2).mean() > beta / 2


def test_width_of_what_was_told_is_the_ledgers():
    n, k, beta, levels = 10**4, 30, 0.05, 11
    ledger = TranscriptLedger(n, confidence=1 - beta)
    for _ in range(k - 1):
        ledger.charge_value(levels)
    found = widths.told(n, k, beta, log2(levels))
    nats = ledger.nats_after(ledger.spent) - log(k + 1)  # all k alike in place of beta/i(i + 1)
    assert found == pytest.approx(Iid().width(n, nats))
    assert found < ledger.halfwidth()


def test_halves_are_disjoint_and_random():
    guard = Thresholdout(
        np.arange(101), threshold=0.1, tolerance=0.1, budget=1, source=SeededSource(10)
    )
    parts = [set(guard._train.tolist()), set(guard._holdout.tolist())]
    assert not parts[0] & parts[1]
    assert parts[0] | parts[1] == set(range(101))
    assert parts[0] != set(range(50))


def test_what_comes_between():
    """Median mechanism and splitting say nothing where the ledger still does."""
    n, k = 10**5, 10**4
    assert concentrated_accuracy(n, k, 2**13).total > widths.splitting(n, k) > 0.8
    assert 0.05 + widths.hard_answers(n, k, hard=70, levels=41) < 0.12


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Empirical([]),
        lambda: GaussianNoise([1], 0),
        lambda: Rounding([1], 2),
        lambda: Thresholdout([1], threshold=0, tolerance=1, budget=1),
        lambda: Thresholdout(([1], [1], [1]), threshold=0, tolerance=1, budget=1),
        lambda: Thresholdout([1, 2], threshold=-1, tolerance=1, budget=1),
        lambda: widths.non_adaptive(0, 1),
        lambda: widths.hard_answers(10, 5, hard=6),
        lambda: widths.splitting(10, 1, 0),
    ],
)
def test_bad_parameters_are_told(wrong):
    with pytest.raises(ParameterError, match=r"must .*, got .*\. "):
        wrong()


def test_too_many_parts_say_nothing():
    assert widths.splitting(10, 11) == float("inf")


def test_an_average_holds_no_more_than_its_bits():
    """A query that packs every row into one average cannot be read back."""
    rows = np.arange(60)
    told = Empirical(rows).answer(lambda x: (x % 2) * 2.0 ** -(x // 2))
    ticks = told * len(rows) * GRID
    assert abs(ticks - round(ticks)) < 1e-4
