from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from sourdine.audit import p_value, worst_case
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.mechanisms import (
    BoundedLaplace,
    BoundedStaircase,
    Exponential,
    Laplace,
    RandomizedResponse,
    Subsample,
    Warner,
)
from sourdine.noise import SYSTEM
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE, Guarantee

HALF = Fraction(1, 2)


def test_two_fair_coins():
    """Row L2: matrix 3/4, 1/4; ln 3; f = 2r - 1/2; variance 3/(4n)."""
    coins = Warner(truth=HALF, yes=HALF)
    assert coins.channel == (Fraction(3, 4), Fraction(1, 4))
    assert float(coins.guarantee.epsilon) == pytest.approx(log(3), abs=1e-15)
    assert coins.guarantee.epsilon >= Fraction(log(3)) - Fraction(1, 10**15)
    for r in (0, 250, 600, 1000):
        assert coins.estimate(yes=r, n=1000) == 2 * Fraction(r, 1000) - HALF
    assert coins.variance(0.3, 1000) == coins.variance(0.9, 1000) == Fraction(3, 4000)


@pytest.mark.parametrize(("truth", "yes"), [(0.5, 0.5), (0.5, 0.25), (0.2, 0.7), (0.8, 0.1)])
def test_warner_estimator(truth, yes):
    """Unbiased, with the variances given, by simulation."""
    coins = Warner(truth=truth, yes=yes)
    n, runs, people = 200, 20_000, 60
    said = coins.simulate(1, people * runs).reshape(runs, people).sum(axis=1)
    said = said + coins.simulate(0, (n - people) * runs).reshape(runs, n - people).sum(axis=1)
    estimates = np.array([float(coins.estimate(yes=int(s), n=n)) for s in said])
    f = Fraction(people, n)
    variance = float(coins.variance(f, n))
    assert estimates.mean() == pytest.approx(float(f), abs=6 * (variance / runs) ** 0.5)
    assert estimates.var() == pytest.approx(variance, rel=0.06)
    assert coins.bias(f) == 0
    a, b = coins.channel
    assert coins.bias(f, corrected=False) == f * a + (1 - f) * b - f
    sampled = coins.variance(f, n, of="population")
    assert sampled - coins.variance(f, n) == f * (1 - f) / n


@pytest.mark.parametrize("epsilon", [0.3, 1, log(3), 2.5])
def test_warner_optimum_beats_other_coins(epsilon):
    """Every other pair of coins with the same epsilon has a larger variance."""
    best = Warner.optimum(epsilon)
    assert float(best.guarantee.epsilon) == pytest.approx(epsilon, abs=1e-12)
    assert best.guarantee.epsilon <= Fraction(str(epsilon)) + Fraction(1, 10**15)
    for yes in (0.05, 0.25, 0.4, 0.6, 0.9):
        worst = max(yes, 1 - yes)
        least = min(yes, 1 - yes)
        truth = (exp(epsilon) - 1) * least / (1 + (exp(epsilon) - 1) * least)
        other = Warner(truth=truth, yes=yes)
        assert float(other.guarantee.epsilon) == pytest.approx(epsilon, abs=1e-9)
        assert worst > least
        for f in (0, 0.1, 0.5, 0.9, 1):
            assert other.variance(f, 1) > best.variance(f, 1)
    assert float(Warner.optimum(log(3)).truth) == pytest.approx(0.5)


def test_randomized_response_estimator():
    survey = RandomizedResponse(epsilon=1, categories=4)
    n, runs = 400, 5000
    truth = np.array([200, 120, 80, 0])
    counts = np.zeros((runs, 4), np.int64)
    for code, people in enumerate(truth):
        reports = survey.simulate(code, people * runs).reshape(runs, people)
        counts += np.stack([(reports == c).sum(axis=1) for c in range(4)], axis=1)
    estimates = np.array([survey.estimate(c) for c in counts])
    for code in range(4):
        f = truth[code] / n
        variance = survey.variance(f, n)
        assert estimates[:, code].mean() == pytest.approx(f, abs=6 * (variance / runs) ** 0.5)
        assert estimates[:, code].var() == pytest.approx(variance, rel=0.12)


def test_two_categories_are_warner_s_best_coins():
    p, q = RandomizedResponse(epsilon=1.3, categories=2).channel
    a, b = Warner.optimum(1.3).channel
    assert (p, q) == pytest.approx((float(a), float(b)), abs=1e-12)


def test_answers_outside_the_domain_count_as_the_nearest():
    survey = RandomizedResponse(epsilon=50, categories=3)
    assert [int(survey.release(x)) for x in (-7, 99)] == [0, 2]
    report = BoundedLaplace(epsilon=2000, last=10)
    assert [int(report.release(x)) for x in (-7, 99)] == [0, 10]


def test_bounded_laplace_is_tight_at_the_ends_for_every_size():
    for last in (1, 2, 17, 100):
        mechanism = BoundedLaplace(epsilon=0.7, last=last)
        worst = worst_case(mechanism, [0, last])
        assert worst.epsilon == pytest.approx(0.7, abs=1e-12)


def test_bounded_laplace_bias():
    """On the continuum at epsilon 1 the mean report of 0 is .418 of the range."""
    assert BoundedLaplace(epsilon=1, last=10_000).bias(0) / 10_000 == pytest.approx(0.418, abs=5e-4)


@pytest.mark.parametrize("method", ["window", "truncated"])
@pytest.mark.parametrize("minimise", ["l1", "l2"])
@pytest.mark.parametrize("last", [2, 3, 10, 57])
@pytest.mark.parametrize("epsilon", [0.1, 1, 6])
def test_bounded_staircase_keeps_its_promise_at_every_size(method, minimise, last, epsilon):
    mechanism = BoundedStaircase(epsilon=epsilon, last=last, method=method, minimise=minimise)
    worst = worst_case(mechanism, range(last + 1))
    assert worst.within(mechanism.guarantee)
    for x in range(last + 1):
        first, width = mechanism.near(x)
        assert first <= x < first + width <= last + 1


def test_recalibrated_level_is_the_note_s():
    """2 ln((1 + sqrt(1 + 8 e^eps))/4) on a fine grid: .3508, .7325, 1.5663."""
    for epsilon, level in ((0.5, 0.3508), (1, 0.7325), (2, 1.5663)):
        mechanism = BoundedStaircase(epsilon=epsilon, last=20_000, method="truncated")
        assert float(mechanism.level) == pytest.approx(level, abs=3e-4)


def test_subsample_of_a_fixed_size_takes_each_record_equally_often():
    count = Laplace(epsilon=1, relation=SUBSTITUTE)
    part = Subsample(mechanism=count, values=(0, 1), sample=2, n=5)
    kept = part._kept(5, 50_000, SYSTEM)
    assert (kept.sum(axis=1) == 2).all()
    pairs = np.unique(kept, axis=0, return_counts=True)[1]
    assert len(pairs) == 10
    assert np.abs(pairs - 5000).max() < 6 * 5000**0.5


def test_subsample_relation_must_fit_the_sampling():
    with pytest.raises(ParameterError, match="must be for one record added or removed, got SUBS"):
        Subsample(mechanism=Laplace(epsilon=1, relation=SUBSTITUTE), values=(0, 1), rate=0.5)
    with pytest.raises(ParameterError, match="must be for one record replaced, got ADD_REMOVE"):
        Subsample(mechanism=Laplace(epsilon=1, relation=ADD_REMOVE), values=(0, 1), sample=1, n=2)


def test_subsample_of_everything_is_the_mechanism():
    whole = Subsample(mechanism=Laplace(epsilon=1, relation=ADD_REMOVE), values=(0, 1), rate=1)
    assert float(whole.guarantee.epsilon) == pytest.approx(1, abs=1e-15)
    assert whole.law(whole.read([1, 1, 0])).mean() == pytest.approx(2)


COUNT = Laplace(epsilon=1, relation=ADD_REMOVE)


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: Warner(truth=1),
            ParameterError,
            "truth must be above 0 and below 1, got 1. A sure",
        ),
        (
            lambda: Warner(truth=0.5, yes=0),
            ParameterError,
            "yes must be above 0 and below 1, got 0",
        ),
        (lambda: Warner(truth=1.5), ParameterError, "truth must be from 0 to 1, got 1.5. Type"),
        (lambda: Warner(truth=0.5).variance(0.5, 0), ParameterError, "n must be at least 1"),
        (
            lambda: Warner(truth=0.5).variance(0.5, 9, of="all"),
            ParameterError,
            "of must be 'sample' or 'population', got 'all'. Type",
        ),
        (
            lambda: RandomizedResponse(epsilon=1, categories=1),
            ParameterError,
            "categories must be at least 2, got 1. Type",
        ),
        (
            lambda: RandomizedResponse(epsilon=1, categories=3).release([1, 2]),
            ParameterTypeError,
            "the input must be one code from 0 to 2, got a value of type list. Code the answers",
        ),
        (
            lambda: BoundedLaplace(epsilon=1, last=0),
            ParameterError,
            "last must be at least 1, got 0",
        ),
        (
            lambda: BoundedStaircase(epsilon=1, last=9, method="clip"),
            ParameterError,
            "method must be 'window' or 'truncated', got 'clip'. Type",
        ),
        (
            lambda: Subsample(mechanism=COUNT, values=(), rate=0.5),
            ParameterError,
            "values must be a list of at least one whole number, got none. Type",
        ),
        (
            lambda: Subsample(mechanism=COUNT, values=(0, 1)),
            ParameterTypeError,
            "rate must be given, or else sample and n, got rate=None",
        ),
        (
            lambda: Subsample(mechanism=COUNT, values=(0, 1), rate=0),
            ParameterError,
            "rate must be above 0 and at most 1, got 0",
        ),
        (
            lambda: Subsample(
                mechanism=Laplace(epsilon=1, relation=SUBSTITUTE),
                values=(0, 1),
                sample=1,
                n=3,
            ).release([1, 0]),
            ParameterTypeError,
            "the input must have the public number of 3 records, got 2",
        ),
    ],
)
def test_bad_parameters_say_what_to_type(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(text)


def test_guarantees_are_local():
    assert RandomizedResponse(epsilon=1, categories=3).guarantee.relation.name == "LOCAL"
    assert BoundedStaircase(epsilon=1, last=9).guarantee == Guarantee(
        1, relation=BoundedLaplace(epsilon=1, last=9).guarantee.relation
    )


def test_numpy_integers_are_stored_as_whole_numbers():
    for mechanism in (
        BoundedLaplace(epsilon=1, last=np.uint8(255)),
        BoundedStaircase(epsilon=1, last=np.uint8(255)),
    ):
        assert type(mechanism.last) is int
        assert len(list(mechanism.neighbours(0))) == 256
    assert type(RandomizedResponse(epsilon=1, categories=np.uint8(255)).categories) is int


def test_many_categories_cost_no_memory():
    survey = RandomizedResponse(epsilon=1, categories=3 * 2**60)
    assert len(survey.law(survey.read(5)).pieces.start) == 3
    last = 3 * 2**60 - 1
    thirds = np.bincount(survey.simulate(last, 30_000) // 2**60, minlength=3)
    assert np.abs(thirds - 10_000).max() < 600


def test_error_bounds_of_reports_are_useful():
    assert BoundedLaplace(epsilon=50, last=100).error(0.05) <= 6
    assert BoundedStaircase(epsilon=12, last=100).error(0.05) <= 3
    assert BoundedStaircase(epsilon=12, last=100, method="truncated").error(0.05) <= 3
    assert BoundedStaircase(epsilon=1, last=100).error(0.5) < 100
    assert RandomizedResponse(epsilon=9, categories=3).error(0.05) == 0
    assert Warner.optimum(5).error(0.05) == 0


def test_subsample_reads_the_nearest_value():
    part = Subsample(mechanism=COUNT, values=(-10, 0, 7), rate=0.5)
    assert part.read([-99, -6, -4, 2, 4, 99]).tolist() == [-10, -10, 0, 0, 7, 7]
    assert part.read([]).tolist() == []
    wide = Subsample(mechanism=COUNT, values=range(1001), rate=0.5)
    assert len(wide.read(np.arange(10**6))) == 10**6


def test_subsample_interval_and_text_are_the_mechanism_s():
    part = Subsample(mechanism=COUNT, values=(0, 1), rate=0.5)
    release = part.release([1, 1])
    assert release.interval(0.95) == COUNT.interval(release.value, 0.95)
    assert "statistic=total" in str(part)


def test_truncated_staircase_is_built_at_any_epsilon():
    mechanism = BoundedStaircase(epsilon=10_000, last=999, method="truncated")
    assert 9_990 < mechanism.level < 10_000


def test_any_mechanism_can_be_sampled():
    """A choice among three by the counts of a sample: the worst case keeps the promise."""
    vote = Exponential(epsilon=1, candidates=3, monotone=True, relation=ADD_REMOVE)
    part = Subsample(
        mechanism=vote,
        values=(0, 1, 2),
        statistic=lambda records: np.bincount(records, minlength=3),
        rate=Fraction(1, 2),
    )
    worst = worst_case(part, [[], [0], [0, 1, 2], [2, 2, 2, 2]])
    assert worst.within(part.guarantee)
    assert worst.epsilon > 0.3
    assert p_value(part.simulate([0, 0, 2], 50_000), part.law(part.read([0, 0, 2]))) > 1e-9
    assert int(part.release([0, 1, 2])) in (0, 1, 2)
