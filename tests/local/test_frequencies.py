from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.local.categorical.hashing import HadamardResponse, LocalHashing
from sourdine.local.categorical.subset import SubsetSelection
from sourdine.local.categorical.unary import UnaryEncoding
from sourdine.local.estimators.frequencies import frequencies
from sourdine.mechanisms import BoundedLaplace, RandomizedResponse, Warner
from sourdine.noise import SeededSource
from sourdine.privacy import LOCAL, Guarantee
from sourdine.results.release import Release

SHARES = np.array([0.35, 0.25, 0.2, 0.15, 0.04, 0.01])
ORACLES = {
    "warner": Warner(truth=0.5, yes=0.3),
    "response": RandomizedResponse(epsilon=1, categories=6),
    "unary": UnaryEncoding(epsilon=1, categories=6),
    "symmetric": UnaryEncoding(epsilon=1, categories=6, method="symmetric"),
    "hashing": LocalHashing(epsilon=1, categories=6),
    "hadamard": HadamardResponse(epsilon=1, categories=6),
    "subset": SubsetSelection(epsilon=1, categories=6),
}
SINGLE = ("warner", "response", "hashing", "hadamard")


def people(oracle, n):
    """Return n answers of a fixed crowd, and the true shares."""
    shares = SHARES if oracle.categories == 6 else np.array([0.9, 0.1])
    counts = np.round(shares * n).astype(int)
    return np.repeat(np.arange(oracle.categories), counts), counts / n


@pytest.fixture(scope="module", params=ORACLES)
def survey(request):
    """Return 1200 surveys of the same 200 people by one randomiser."""
    oracle, n, runs = ORACLES[request.param], 200, 1200
    codes, truth = people(oracle, n)
    reports = oracle.randomise(np.tile(codes, runs), source=SeededSource(7))
    tallies = [oracle.tally(part) for part in np.split(reports, runs)]
    return oracle, n, truth, [frequencies(oracle, t, n) for t in tallies]


@pytest.mark.slow_cases(3)
def test_shares_are_unbiased(survey):
    oracle, n, truth, releases = survey
    raw = np.array([r.drawn["raw"] for r in releases])
    variance = releases[0].mechanism.variance(truth)
    p, q = map(np.asarray, oracle.chances)
    assert np.allclose(variance * n * (p - q) ** 2, truth * p * (1 - p) + (1 - truth) * q * (1 - q))
    off = (raw.mean(axis=0) - truth) / np.sqrt(variance / len(raw))
    assert np.abs(off).max() < 6.1
    assert np.all(np.abs(raw.var(axis=0) / variance - 1) < 6.1 * np.sqrt(2.5 / len(raw)))
    plugged = np.array([r.drawn["variance"] for r in releases])
    assert plugged.min() > 0
    assert np.allclose(plugged.mean(axis=0), variance, rtol=0.1)


@pytest.mark.slow_cases(3)
def test_intervals_cover_in_surveys(survey):
    _, _, truth, releases = survey
    every = replace(
        releases[0],
        value=np.array([r.value for r in releases]),
        drawn={"support": [r.drawn["support"] for r in releases]},
    )
    least = 0.9 - 6.1 * np.sqrt(0.09 / len(releases))
    for of in ("sample", "population"):
        low, high = every.interval(0.9, of=of)
        assert np.array_equal([low[3], high[3]], releases[3].interval(0.9, of=of))
        assert ((low <= truth) & (truth <= high)).mean(axis=0).min() > least
        middle, half = (low + high) / 2, (high - low) / 4
        assert (np.abs(middle - truth) <= half).mean(axis=0).min() < least, "half as long"


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", ORACLES)
def test_release_reads_back(name):
    oracle = ORACLES[name]
    codes, _ = people(oracle, 200)
    tally = oracle.tally(oracle.randomise(codes, source=SeededSource(2)))
    labels = ["a", 2, None, date(2026, 1, 2), np.int64(3), True][: oracle.categories]
    for consistent in (None, "norm-sub"):
        release = frequencies(
            oracle,
            tally,
            200,
            labels=labels,
            consistent=consistent,
            cost=Guarantee.none(LOCAL),
        )
        again = Release.from_json(release.to_json())
        assert str(again) == str(release)
        assert "NOT PRIVATE" in str(again)
        assert np.array_equal(again.value, release.value)
        for of in ("sample", "population"):
            assert np.array_equal(again.interval(0.8, of=of), release.interval(0.8, of=of))
        assert again.to_json() == release.to_json()
        assert json.loads(release.to_json())["question"]["statistic"] == "frequencies"


def test_raw_shares_are_always_kept():
    oracle = ORACLES["response"]
    tally = [100, 60, 30, 5, 5, 0]
    raw = frequencies(oracle, tally, 200)
    for consistent in ("norm-sub", "em"):
        made = frequencies(oracle, tally, 200, consistent=consistent)
        assert raw.value.min() < 0 <= made.value.min()
        assert made.value.sum() == pytest.approx(1)
        assert np.array_equal(made.drawn["raw"], raw.value)
        (low, high), (least, most) = made.interval(), np.clip(raw.interval(), 0, 1)
        assert np.all((low <= least) & (most <= high))  # wider only where the value lies outside
        inside = (least <= made.value) & (made.value <= most)
        assert np.array_equal(low[inside], least[inside])
        assert np.array_equal(high[inside], most[inside])
        assert "biased" in " ".join(made.caveats)
    assert "Each interval" in " ".join(raw.caveats)


@pytest.mark.parametrize("name", SINGLE)
def test_the_most_likely_shares_are_near_the_truth(name):
    oracle = ORACLES[name]
    codes, truth = people(oracle, 100_000)
    tally = oracle.tally(oracle.randomise(codes, source=SeededSource(3)))
    likely = frequencies(oracle, tally, 100_000, consistent="em")
    sd = np.sqrt(likely.drawn["variance"])
    assert np.all(np.abs(likely.value - truth) < 6.1 * sd)


@pytest.mark.parametrize("name", [name for name in ORACLES if name not in SINGLE])
def test_iterative_bayes_needs_single_reports(name):
    oracle = ORACLES[name]
    tally = oracle.tally(oracle.randomise([0] * 50, source=SeededSource(3)))
    with pytest.raises(ParameterError, match=r"norm-sub.*got 'em'"):
        frequencies(oracle, tally, 50, consistent="em")


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("consistent", [None, "norm-sub"])
def test_nobody_reported(name, consistent):
    oracle, k = ORACLES[name], ORACLES[name].categories
    none = frequencies(oracle, np.zeros(oracle.cells, int), 0, consistent=consistent)
    assert np.allclose(none.value, 1 / k)
    for of in ("sample", "population"):
        assert [end.tolist() for end in none.interval(of=of)] == [[0] * k, [1] * k]
    assert np.isfinite(none.drawn["variance"]).all()
    assert "nothing is known" in str(none)
    assert str(Release.from_json(none.to_json())) == str(none)


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("n", [1, 2])
def test_hardly_anybody_reported(name, n):
    oracle = ORACLES[name]
    tally = oracle.tally(oracle.randomise([1] * n, source=SeededSource(3)))
    few = frequencies(oracle, tally, n, consistent="norm-sub")
    for of in ("sample", "population"):
        low, high = few.interval(of=of)
        assert np.all((low >= 0) & (low <= high) & (high <= 1))
    assert str(few)


def test_tallies_may_be_added():
    oracle = ORACLES["hashing"]
    reports = oracle.randomise(np.arange(6).repeat(50), source=SeededSource(1))
    parts = sum(oracle.tally(part) for part in np.split(reports, 3))
    whole = frequencies(oracle, oracle.tally(reports), 300)
    assert np.array_equal(frequencies(oracle, parts, 300).value, whole.value)


def test_all_intervals_together_by_bonferroni():
    oracle = ORACLES["response"]
    tally = [60, 50, 40, 30, 15, 5]
    every = frequencies(oracle, tally, 200, together=True)
    each = frequencies(oracle, tally, 200)
    assert np.array_equal(every.interval(0.94), each.interval(0.99))
    assert "simultaneously for all categories." in str(every)
    assert np.array_equal(Release.from_json(every.to_json()).interval(0.94), each.interval(0.99))


def test_of_many_categories_the_largest_are_shown():
    oracle = RandomizedResponse(epsilon=3, categories=100)
    tally = np.arange(100)
    release = frequencies(oracle, tally, int(tally.sum()))
    lines = str(release).splitlines()
    assert lines[1].startswith("60 ")
    assert lines[40].startswith("99 ")
    assert lines[41] == "and 60 smaller"


@pytest.mark.slow
def test_picture(tmp_path):
    pytest.importorskip("matplotlib")
    few = frequencies(ORACLES["response"], [60, 50, 40, 30, 15, 5], 200, labels=list("abcdef"))
    figure = few.plot(truth=SHARES, path=str(tmp_path / "few.png"), title="A survey")
    assert (tmp_path / "few.png").stat().st_size > 5000
    axes = figure.axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == list("abcdef")
    assert axes.get_title(loc="left") == "A survey"
    oracle = RandomizedResponse(epsilon=3, categories=100)
    many = frequencies(oracle, np.arange(100), 4950).plot().axes[0]
    assert [t.get_text() for t in many.get_yticklabels()] == [str(v) for v in range(60, 100)]
    assert "40 largest of 100" in many.get_xlabel()
    assert frequencies(oracle, np.zeros(100, int), 0).plot()


def test_bad_parameters_are_refused():
    oracle = ORACLES["response"]
    tally = [60, 50, 40, 30, 15, 5]
    with pytest.raises(ParameterTypeError, match="randomiser of categories"):
        frequencies(BoundedLaplace(epsilon=1, last=5), tally, 200)
    with pytest.raises(ParameterError, match="tally must be 6 whole numbers"):
        frequencies(oracle, tally[:5], 200)
    with pytest.raises(ParameterError, match="tally must be 6 whole numbers"):
        frequencies(oracle, [0.5] * 6, 200)
    with pytest.raises(ParameterError, match="reports must be"):
        frequencies(oracle, tally, 50)
    with pytest.raises(ParameterError, match="reports must be at least 0"):
        frequencies(oracle, tally, -1)
    with pytest.raises(ParameterError, match="labels must name each of the 6 categories"):
        frequencies(oracle, tally, 200, labels=["a"])
    with pytest.raises(ParameterError, match="consistent must be"):
        frequencies(oracle, tally, 200, consistent="clip")
    with pytest.raises(ParameterTypeError, match="together must be"):
        frequencies(oracle, tally, 200, together="yes")
    with pytest.raises(ParameterError, match="larger epsilon"):
        frequencies(RandomizedResponse(epsilon=1e-18, categories=6), tally, 200)
    release = frequencies(oracle, tally, 200)
    with pytest.raises(ParameterError, match="confidence must be"):
        release.interval(1.5)
