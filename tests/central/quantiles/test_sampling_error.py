from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sourdine as sd
from sourdine.central.quantiles.intervals import band_reach, most_records, population_reach
from sourdine.noise import SeededSource

HALF, TENTH = Fraction(1, 2), Fraction(1, 10)


@pytest.mark.parametrize("q", [HALF, TENTH])
@pytest.mark.parametrize("beta", [0.025, 2e-4])
def test_the_reach_of_both_errors_is_passed_rarely(q, beta):
    rng, n, scale, runs = np.random.default_rng(3), 2000, 2.0, 60_000
    walk = np.cumsum(rng.laplace(scale=scale, size=(runs, 3)), axis=1)
    noise = walk[:, :2] - float(q) * walk[:, 2:]
    records = rng.binomial(n, float(q), runs) - n * float(q)
    low, high = population_reach(2, q, scale, n, beta)
    room = 4 * (beta / runs) ** 0.5
    assert np.mean(-records + (-noise).max(axis=1) >= low) <= beta + room
    assert np.mean(records + noise.max(axis=1) >= high) <= beta + room
    if beta > 1e-3:
        assert np.mean(records + noise.max(axis=1) >= 0.9 * high) > beta


def test_one_error_alone_is_the_least():
    """Without noise it is the binomial's own quantile, without records that of the noise."""
    low, high = population_reach(2, HALF, 1e-9, 10_000, 0.025)
    assert low == high == pytest.approx(98, abs=2)
    assert max(population_reach(2, HALF, 1.0, 1, 0.025)) < 8


@pytest.mark.slow
def test_most_records_is_passed_rarely():
    rng = np.random.default_rng(1)
    n = 500 + rng.laplace(scale=3, size=(20_000, 5)).sum(axis=1)
    assert np.mean([most_records(total, 5, 3, 0.01) < 500 for total in n]) <= 0.012


def test_the_reach_of_a_band():
    """Without noise it is the inequality of Dvoretzky, Kiefer and Wolfowitz."""
    alone = (1000 * np.log(40) / 2) ** 0.5
    assert band_reach(lambda _: 0.0, 1000, 0.05) == pytest.approx(alone, abs=0.05)
    assert band_reach(lambda _: 7.0, 1000, 0.05) == pytest.approx(alone + 7, abs=0.05)


GRID = {"bounds": (0, 1000), "step": 1, "epsilon": 1}


@pytest.mark.slow_cases(2)
@pytest.mark.parametrize(
    ("q", "n", "relation"),
    [(0.5, 2000, "add_remove"), (0.9, 5000, "add_remove"), (0.5, 4000, "substitute")],
)
def test_population_intervals_cover(q, n, relation):
    """Whole ranges are allowed once in 200 calls: four of sixty would be one chance in 3000."""
    rng, truth, hit, wide = np.random.default_rng(8), 1000 * q, 0, 0
    for _ in range(60):
        r = sd.quantile(rng.uniform(0, 1000, n), q, **GRID, relation=relation, population=True)
        low, high = r.interval(of="population")
        sample = r.interval()
        assert low <= sample[0] <= r.value <= sample[1] <= high
        wide += high - low >= 260
        hit += low - 1 <= truth <= high + 1
    assert hit >= 50  # fewer are one chance in 10,000
    assert wide <= 3


@pytest.mark.slow
def test_a_population_is_asked_about_in_every_way():
    x = np.random.default_rng(2).normal(500, 90, 3000)
    for asked in ({"interval": 0.9}, {"n": 3000}, {"relation": "substitute"}):
        r = sd.quantiles(x, [0.25, 0.5, 0.75], **GRID, population=True, **asked)
        assert "population" in str(r)
        low, high = r.interval(r.mechanism.display.confidence, of="population")
        assert (high - low < 400).all()
        assert sd.Release.from_json(r.to_json()) == r
    with pytest.raises(sd.errors.ParameterError, match="population must be omitted for method"):
        sd.median(x, **GRID, population=True, method="tree")


@pytest.mark.slow
def test_a_whole_range_says_what_to_type():
    x = np.random.default_rng(2).normal(500, 90, 3000)
    assert "whole range" not in str(sd.median(x, **GRID, source=SeededSource(1)))
    few = {**GRID, "epsilon": 0.05, "source": SeededSource(1)}
    told = [sd.median(x[:2], **few) for _ in range(20)]
    texts = [text for release in told for text in (str(release), release._repr_html_())]
    said = [text for text in texts if "whole range" in text]
    assert said
    assert all("interval=None" in text for text in said)
    frame = {"x": x[:4], "g": ["a", "b"] * 2}
    grouped = [str(sd.median(frame, **few, column="x", by="g", keys=["a", "b"])) for _ in range(20)]
    assert max(text.count("whole range") for text in grouped) == 1
