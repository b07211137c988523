from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest

from sourdine.audit import p_value, replay
from sourdine.errors import ParameterError
from sourdine.exact import exp_neg
from sourdine.laws import Law
from sourdine.local.categorical.choosing import oracles
from sourdine.local.categorical.hashing import HadamardResponse, LocalHashing
from sourdine.local.categorical.oracle import ones
from sourdine.local.categorical.subset import SubsetSelection, _noise_variance
from sourdine.local.categorical.unary import UnaryEncoding
from sourdine.mechanisms.randomized_response import RandomizedResponse
from sourdine.noise import SeededSource
from sourdine.noise.coins import _dyadic_bits, bernoulli_bits
from sourdine.results.release import Release

BUILT = list(oracles().items())

each_oracle = pytest.mark.parametrize("make", [m for _, m in BUILT], ids=[n for n, _ in BUILT])


def small(make, epsilon=1, k=6):
    return make(epsilon=epsilon, categories=k)


def supported(oracle, outcomes, v):
    if isinstance(oracle, RandomizedResponse):
        return outcomes == v
    return oracle.supports(outcomes, v)


@each_oracle
@pytest.mark.parametrize("epsilon", [0.2, 1, 3])
@pytest.mark.parametrize("k", [2, 3, 7, 8])
def test_supports_have_their_chances(make, epsilon, k):
    oracle = make(epsilon=epsilon, categories=k)
    p, q = oracle.chances
    for x in range(k):
        law = oracle.law(x)
        cells = np.arange(law.first, law.end)
        mass = law.pmf(cells)
        for v in range(k):
            chance = mass[supported(oracle, cells, v)].sum()
            assert chance == pytest.approx(p if v == x else q, abs=1e-12)
    if not isinstance(oracle, RandomizedResponse):
        assert float(oracle.miss) == pytest.approx(1 - p, abs=1e-15)


@each_oracle
@pytest.mark.parametrize("k", [2, 5, 8, 10, 27, 50])
@pytest.mark.parametrize("epsilon", [0.3, 1, 2.5])
def test_supports_are_those_of_every_report(make, k, epsilon):
    oracle = make(epsilon=epsilon, categories=k)
    reports = oracle.randomise(np.arange(300) % k, source=SeededSource(k))
    outcomes = oracle.outcomes(reports)
    want = [int(supported(oracle, outcomes, v).sum()) for v in range(k)]
    tally = oracle.tally(reports)
    assert tally.shape == (oracle.cells,)
    assert oracle.support(tally).tolist() == want
    assert oracle.support(oracle.tally(reports[:99]) + oracle.tally(reports[99:])).tolist() == want


@pytest.mark.quick_cases(2)
@each_oracle
@pytest.mark.parametrize(("epsilon", "k"), [(0.2, 30), (1, 100), (2, 12)])
def test_estimates_are_unbiased_with_the_variance_stated(make, epsilon, k):
    oracle = make(epsilon=epsilon, categories=k)
    people, runs = 250, 400
    codes = np.tile(np.repeat([1, k - 1], [100, 150]), runs)
    reports = oracle.randomise(codes, source=SeededSource(11))
    p, q = oracle.chances
    supports = np.array([oracle.support(oracle.tally(r)) for r in np.split(reports, runs)])
    f = (supports / people - q) / (p - q)
    variance = oracle.noise_variance / people
    rare = np.setdiff1d(np.arange(k), [1, k - 1])
    assert f[:, rare].mean() == pytest.approx(0, abs=6 * (variance / runs) ** 0.5)
    own = p * (1 - p) / (p - q) ** 2 / people
    for v, share in ((1, 0.4), (k - 1, 0.6)):
        spread = share * own + (1 - share) * variance
        assert f[:, v].mean() == pytest.approx(share, abs=6 * (spread / runs) ** 0.5)
    assert f[:, rare].var(axis=0).mean() == pytest.approx(variance, rel=0.15)


@each_oracle
def test_noise_variance_is_that_of_the_chances(make):
    for epsilon, k in product((0.05, 1, 4), (2, 3, 17, 100)):
        oracle = make(epsilon=epsilon, categories=k)
        p, q = oracle.chances
        assert oracle.noise_variance == pytest.approx(q * (1 - q) / (p - q) ** 2, rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "k", "row"),
    [
        (1, 10, (3.63, 3.68, 3.92, None, 4.68, 2.82)),
        (1, 100, (34.1, 3.68, 3.92, None, 4.68, 3.59)),
        (2, 100, (2.58, 0.724, 0.92, 0.732, 1.72, 0.690)),
        (4, 100, (0.053, 0.076, 0.181, 0.076, 1.08, 0.053)),
    ],
)
def test_variances_are_those_published(epsilon, k, row):
    for make, want in zip(oracles().values(), row, strict=True):
        if want is not None:
            got = make(epsilon=epsilon, categories=k).noise_variance
            assert got == pytest.approx(want, rel=0.01)


def test_hashing_loses_little_to_a_real_number_of_values():
    for epsilon in (0.5, 1, 1.5, 2, 3, 4):
        ideal = 4 * exp(epsilon) / (exp(epsilon) - 1) ** 2
        got = LocalHashing(epsilon=epsilon, categories=500).noise_variance
        assert ideal <= got <= 1.025 * ideal


@pytest.mark.parametrize(("epsilon", "k"), [(0.1, 16), (1, 27), (1.6, 60), (2, 40), (3, 30)])
def test_hashes_are_universal(epsilon, k):
    """Of all keys exactly one in g makes two categories collide, whichever two."""
    oracle = LocalHashing(epsilon=epsilon, categories=k)
    g, keys = oracle.values, oracle.values**oracle.digits
    hashed = oracle.hashed(np.arange(keys)[:, None], np.arange(k))
    for x in range(k):
        for v in range(x):
            differences = np.bincount((hashed[:, x] - hashed[:, v]) % g, minlength=g)
            assert (differences == keys // g).all()


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "k"), [(0.1, 30), (1, 30), (2, 200), (6, 90)])
def test_supports_of_many_reports_are_exact(epsilon, k):
    """A tally of 10^12 reports, against whole numbers."""
    oracle = LocalHashing(epsilon=epsilon, categories=k)
    tally = np.random.default_rng(k).integers(0, 2 * 10**12 // oracle.cells, oracle.cells)
    cells = np.arange(oracle.cells)
    want = [int(tally[oracle.supports(cells, v)].sum()) for v in range(k)]
    assert oracle.support(tally).tolist() == want


@pytest.mark.parametrize("epsilon", [0.2, 0.26, 0.15])
def test_hashes_are_randomised_at_their_epsilon(epsilon):
    """The same two values at all three, so that only the chances differ."""
    law = LocalHashing(epsilon=0.2, categories=7).law(5)
    oracle = LocalHashing(epsilon=epsilon, categories=7)
    drawn = oracle.randomise(np.full(200_000, 5), source=SeededSource(4))
    assert oracle.values == 2
    assert (p_value(drawn, law) > 1e-9) == (epsilon == 0.2)


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("k", [6, 9, 12])
@pytest.mark.parametrize("size", [1, 2, 4, 5])
def test_sets_are_uniform(k, size):
    """All sets that hold the true category are alike, and all that do not."""
    oracle = SubsetSelection(epsilon=Fraction(1, 2), categories=k, size=size)
    for x in (0, k - 1):
        drawn = oracle.randomise(np.full(60_000, x), source=SeededSource(3))
        assert oracle.valid(drawn).all()
        assert p_value(oracle.outcomes(drawn), oracle.law(x)) > 1e-9


def test_the_best_size_is_the_best_of_all():
    for epsilon in (0.01, 0.3, 1, 2, 4, 7, 12):
        for k in (*range(2, 60), 333, 1000):
            sizes = np.arange(1, k)
            variances = _noise_variance(epsilon, k, sizes)
            got = SubsetSelection(epsilon=epsilon, categories=k).noise_variance
            assert got == pytest.approx(variances.min(), rel=1e-12)


def test_one_category_is_randomised_response():
    subset = SubsetSelection(epsilon=1, categories=9, size=1)
    response = RandomizedResponse(epsilon=1, categories=9)
    assert subset.chances == pytest.approx(response.chances, rel=1e-12)


class Counting:
    """Gives for the i-th call the i-th bit of 0, 1, 2, ..., packed: every word once."""

    private = False

    def __init__(self, skipped):
        self.digit = skipped

    def bytes(self, count):
        bits = np.arange(8 * count) >> self.digit & 1
        self.digit += 1
        return np.packbits(bits.astype(np.uint8), bitorder="little").tobytes()


@pytest.mark.parametrize("byte", range(1, 256))
def test_packed_coins_are_exact(byte):
    """Over all 256 words of eight bits, exactly ``byte`` lanes are 1."""
    skipped = (byte & -byte).bit_length() - 1
    drawn = _dyadic_bits(byte, 32, Counting(skipped))
    assert int(np.bitwise_count(drawn).sum()) == byte


@pytest.mark.parametrize(
    "p", [0, 1, 0.5, 0.001, 0.3, 0.75, 0.999, exp_neg(1), 1 - exp_neg(3), Fraction(69, 256)]
)
@pytest.mark.parametrize("columns", [1, 8, 13])
def test_packed_coins_fit(p, columns):
    chance = float(p)
    rows = bernoulli_bits(p, 200_000 // columns, columns, source=SeededSource(5))
    bits = np.unpackbits(rows, axis=1, bitorder="little")
    assert not bits[:, columns:].any()
    heads = int(bits.sum())
    coins = bits[:, :columns].size
    assert heads == pytest.approx(coins * chance, abs=6.2 * (coins * chance * (1 - chance)) ** 0.5)
    if columns == 8 and 0 < chance < 1:  # neighbouring lanes know nothing of each other
        log_odds = np.log(chance) - np.log1p(-chance)
        every = np.bitwise_count(np.arange(256, dtype=np.uint8)) * log_odds
        assert p_value(rows[:, 0], Law.finite(every)) > 1e-9


@pytest.mark.parametrize("people", [0, 1, 254, 255, 2041, 70_000])
@pytest.mark.parametrize("width", [1, 3, 13])
def test_ones_are_counted(people, width):
    rows = np.random.default_rng(people).integers(0, 256, (people, width), dtype=np.uint8)
    rows[: people // 2] = 255
    want = np.unpackbits(rows, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    assert ones(rows).tolist() == want.tolist()
    assert ones(rows[:, ::-1]).reshape(width, 8)[::-1].ravel().tolist() == want.tolist()


@each_oracle
def test_codes_outside_count_as_the_nearest(make):
    oracle = small(make)
    given = np.array([-5, 99, 2**62])
    ends = np.array([0, 5, 5])
    got, want = (oracle.randomise(c, source=SeededSource(8)) for c in (given, ends))
    assert np.array_equal(got, want)


@each_oracle
def test_nobody_answered(make):
    oracle = small(make)
    reports = oracle.randomise(np.empty(0, np.int64))
    assert len(reports) == 0
    assert oracle.support(oracle.tally(reports)).tolist() == [0] * 6
    assert oracle.valid(reports).shape == (0,)


@each_oracle
@pytest.mark.parametrize("k", [2, 8, 11, 100])
def test_reports_are_valid_and_others_are_not(make, k):
    oracle = make(epsilon=1, categories=k)
    reports = oracle.randomise(np.arange(500) % k, source=SeededSource(2))
    assert oracle.valid(reports).all()
    if reports.ndim == 1:
        assert oracle.valid(np.array([-1, oracle.codes])).tolist() == [False, False]
        return
    longer = np.concatenate((reports, reports[:, :1]), axis=1)
    for foreign in (longer, reports[:, :-1], reports[:, 0], reports.astype(np.int64)):
        assert not oracle.valid(foreign).any()
    if k % 8:
        reports[:, -1] |= np.uint8(1 << k % 8)
        assert not oracle.valid(reports).any()


def test_sets_of_another_size_are_not_valid():
    oracle = SubsetSelection(epsilon=1, categories=10, size=3)
    rows = np.array([[7, 0], [3, 0], [15, 0], [3, 2], [3, 4]], np.uint8)
    assert oracle.valid(rows).tolist() == [True, False, False, True, False]


@each_oracle
def test_replay_on_two_neighbours(make):
    oracle = small(make, k=12)

    def survey(codes):
        tally = oracle.tally(oracle.randomise(codes))
        return Release(value=oracle.support(tally), cost=oracle.guarantee, mechanism=oracle)

    people = np.arange(40) % 12
    one, two = people.copy(), people.copy()
    one[7] = 0
    two[:2] = 11
    assert replay(survey, people, one).holds
    assert not replay(survey, people, two).holds


@each_oracle
def test_a_copy_sent_to_another_process_is_the_same(make):
    oracle = small(make, k=20)
    copy = pickle.loads(pickle.dumps(oracle))  # noqa: S301 - our own
    assert copy == oracle
    drawn = [o.randomise([3, 19], source=SeededSource(1)) for o in (oracle, copy)]
    assert np.array_equal(*drawn)


@each_oracle
def test_one_report_of_many_categories(make):
    oracle = make(epsilon=1, categories=100)
    release = oracle.release(99, source=SeededSource(1))
    assert 0 <= release.value < oracle.codes
    assert "NOT PRIVATE" in str(release)


@each_oracle
def test_a_tiny_and_a_huge_epsilon(make):
    for epsilon in (Fraction(1, 10**9), 700, 5000):
        oracle = make(epsilon=epsilon, categories=5)
        assert oracle.noise_variance >= 0
        reports = oracle.randomise([3] * 50, source=SeededSource(1))
        assert oracle.valid(reports).all()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: UnaryEncoding(epsilon=1, categories=1), "categories must be at least 2, got 1"),
        (lambda: UnaryEncoding(epsilon=1, categories=4, method="x"), "method must be 'optimal' or"),
        (lambda: SubsetSelection(epsilon=1, categories=4, size=4), "size must be below the number"),
        (lambda: SubsetSelection(epsilon=1, categories=4, size=0), "size must be at least 1, got"),
        (lambda: LocalHashing(epsilon=1, categories=2**24), "categories must be at most"),
        (lambda: HadamardResponse(epsilon=1, categories=2**24), "categories must be at most"),
        (lambda: UnaryEncoding(epsilon=1, categories=17).law(0), "categories must be at most 16"),
    ],
)
def test_bad_parameters_are_refused(call, text):
    with pytest.raises(ParameterError, match=text):
        call()


def test_the_largest_tallies_stay_within_their_bound():
    for epsilon, k in product((0.1, 1, 3, 6, 9), (5, 100, 5000, 2**20, 2**23)):
        oracle = LocalHashing(epsilon=epsilon, categories=k)
        assert oracle.values**oracle.digits >= k
        assert oracle.cells <= 2**24
    assert HadamardResponse(epsilon=1, categories=2**24 - 1).cells == 2**24
