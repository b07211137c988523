"""A whole distribution function: read off, printed, drawn, stored, grouped."""

from __future__ import annotations

import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sourdine as sd
from sourdine.central import Cdf, Distribution
from sourdine.errors import ParameterError
from sourdine.noise import SeededSource

GRID = {"bounds": (0, 1000), "step": 1, "epsilon": 1}
X = np.random.default_rng(6).integers(0, 1001, 30_000)


@pytest.fixture(scope="module")
def release():
    return sd.cdf(X, **GRID, population=True)


def test_quantiles_and_shares_are_read_off_with_intervals(release):
    assert isinstance(release, Distribution)
    found = release.quantile([0.1, 0.5, 0.9])
    truth = np.quantile(X, [0.1, 0.5, 0.9], method="inverted_cdf")
    low, high = found.interval(0.999)
    assert ((low <= truth) & (truth <= high) & (high - low < 80)).all()
    wide = found.interval(0.999, of="population")
    assert ((wide[0] <= low) & (high <= wide[1])).all()
    assert isinstance(release.quantile(0.5).value, int)
    for a, b in ((200, 400), (None, 700), (700, None), (None, None), (333, 333), (2000, 3000)):
        share = release.probability(a, b)
        first, last = (0 if a is None else a), (1000 if b is None else b)
        low, high = share.interval(0.999)
        assert low <= np.mean((first <= X) & (last >= X)) <= high
        assert low - 1e-9 <= share.value <= high + 1e-9
    assert release.probability().value == 1
    assert release.probability(2000, 3000).value == 0


def test_values_between_ticks_are_read_off_as_they_lie(release):
    assert release.probability(199.5, 400.5).value == release.probability(200, 400).value
    assert release.probability(-5.5, 2000).value == 1
    assert release.probability(100.2, 100.8).interval() == (0, 0)


def test_what_cannot_be_read_off_is_refused(release):
    with pytest.raises(ParameterError, match="q must be above 0 and below 1"):
        release.quantile(1.5)
    with pytest.raises(ParameterError, match="b must be at least a"):
        release.probability(5, 3)
    with pytest.raises(ParameterError, match="of must be 'sample' or 'population'"):
        release.quantile(0.5).interval(of="both")


def test_a_few_rows_are_printed_and_all_are_in_the_frame(release):
    lines = str(release).splitlines()
    table = lines[: next(i for i, line in enumerate(lines) if line.startswith("cost"))]
    assert len(table) <= 12
    assert max(map(len, table)) <= 80
    assert "population" in table[0]
    frame = release.to_frame("polars")
    assert len(frame) == len(release.value) > 100
    assert frame["share"].is_sorted()
    assert "population_lower" in frame.columns
    assert "<table>" in release._repr_html_()


def test_json_gives_the_same_distribution_back(release):
    back = sd.Release.from_json(release.to_json())
    assert back == release
    assert isinstance(back, Distribution)
    median = release.quantile(0.5)
    assert back.quantile(0.5) == median
    assert type(median).from_json(median.to_json()) == median
    share = release.probability(3, None)
    assert type(share).from_json(share.to_json()) == share


@pytest.mark.slow
def test_groups_have_a_curve_each():
    data = {"x": X, "g": np.where(X % 2, "odd", "even")}
    asked = {"column": "x", "by": "g", "keys": ["odd", "even"]}
    r = sd.cdf(data, **GRID, **asked)
    medians = r.quantile(0.5)
    assert set(medians.value) == {"odd", "even"}
    assert "odd" in str(medians)
    ends = r.quantile([0.25, 0.5]).interval(0.95)
    assert all(low.shape == (2,) and (low <= high).all() for low, high in ends.values())
    assert len(str(r).splitlines()) < 40
    assert sd.Release.from_json(r.to_json()).quantile(0.5) == medians
    share = r.probability(0, 500)
    assert share.to_frame("polars").columns == ["g", "from", "to", "share", "lower", "upper"]


@pytest.mark.slow
def test_pictures_are_drawn(release, tmp_path):
    release.plot(path=str(tmp_path / "cdf.png"), truth=X)
    grouped = {"x": X, "g": ["a", "b"] * 15_000}
    r = sd.cdf(grouped, **GRID, column="x", by="g", keys=["a", "b"])
    r.plot(path=str(tmp_path / "groups.png"))
    assert {path.name for path in tmp_path.iterdir()} == {"cdf.png", "groups.png"}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow", "duckdb", "csv"])
def test_every_engine_counts_alike(engine, tmp_path):
    frame, path = pd.DataFrame({"x": X[:3000]}), tmp_path / "x.csv"
    frame.to_csv(path, index=False)
    made = {
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "pyarrow": lambda: pa.Table.from_pandas(frame),
        "duckdb": lambda: duckdb.read_csv(str(path)),
        "csv": lambda: str(path),
    }[engine]()
    for step, name in ((1, "ticks"), (0.001, "edges")):
        drawn = [
            Cdf(bounds=(0, 1000), step=step, epsilon=8, source=SeededSource(1)).release(x).drawn
            for x in (X[:3000].tolist(), made)
        ]
        assert drawn[0].keys() == drawn[1].keys(), name
        for key in drawn[0]:
            assert np.array_equal(drawn[0][key], drawn[1][key]), (name, key)


def test_a_plan_says_how_high_the_band_will_be():
    plan = sd.plan.cdf(n=100_000, bounds=(0, 200_000), step=1, epsilon=1)
    assert 0.0013 < plan.error < 0.0015
    both = sd.plan.cdf(n=100_000, bounds=(0, 200_000), step=1, epsilon=1, population=True)
    assert 0.0053 < both.error < 0.0057


def test_the_count_is_not_paid_where_the_number_is_public():
    r = sd.cdf(X, **GRID, n=30_000)
    assert "count" not in r.drawn
    assert r.mechanism.curve(30_000).epsilon == 1


def test_what_is_read_off_shows_the_population_where_it_was_asked():
    x = list(range(100)) * 20
    asked = sd.cdf(x, bounds=(0, 120), step=1, epsilon=1, population=True)
    assert "population (any law)" in str(asked.quantile(0.5))
    assert "population (any law)" in str(asked.probability(10, 20))
    assert any("independently" in caveat for caveat in asked.caveats)
    plain = sd.cdf(x, bounds=(0, 120), step=1, epsilon=1)
    assert "population" not in str(plain.quantile(0.5))


DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=k % 1000) for k in range(20_000)]
YEARS = {"bounds": ("2020-01-01", "2023-12-31"), "epsilon": 1}


@pytest.mark.slow
def test_dates_have_a_distribution_function(tmp_path):
    release = sd.cdf(DAYS, **YEARS, population=True)
    median = release.quantile(0.5)
    assert abs(median.value - dt.date(2021, 5, 14)) < dt.timedelta(days=30)
    low, high = median.interval(1 - 1e-9)
    assert low <= dt.date(2021, 5, 14) <= high
    several = release.quantile([0.25, 0.75])
    assert several.value.dtype.kind == "M"
    assert "2020-" in str(several)
    release.plot(path=str(tmp_path / "days.png"), truth=DAYS)
    for read in (median, several, release.probability("2020-02-01", dt.date(2020, 2, 29))):
        again = type(read).from_json(read.to_json())
        assert str(again) == str(read)


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize(
    ("a", "b", "days"),
    [
        ("2020-01-01", "2020-01-31", 31),
        (None, "2020-01-31", 31),
        ("2020-02-01T15:00", "2020-02-29T09:00", 29),
        (dt.date(2022, 9, 26), None, 1),
        ("2023-01-01", None, 0),
        ("2019-01-01", "2019-12-31", 0),
    ],
)
def test_the_share_between_dates_holds_both_days(a, b, days):
    part = sd.cdf(DAYS, bounds=YEARS["bounds"], epsilon=1000).probability(a, b)
    assert part.value == pytest.approx(days / 1000, abs=2e-4)


def test_a_day_of_times_is_whole_and_a_time_is_what_it_says():
    hours = np.arange(24_000) % 240
    times = np.datetime64("2020-01-01T00") + hours.astype("timedelta64[h]")
    release = sd.cdf(
        times, bounds=("2020-01-01T00:00", "2020-02-01T00:00"), step="1 h", epsilon=1000
    )
    for a, b, share in (
        ("2020-01-02", "2020-01-02", 24),
        ("2020-01-02T06:00", "2020-01-02T08:00", 3),
        ("2020-01-02T06:00", "2020-01-03", 42),
    ):
        assert release.probability(a, b).value == pytest.approx(share / 240, abs=2e-4)


def test_dates_are_typed_as_the_data_are_written():
    own = {"bounds": ("01.01.2020", "31.12.2023"), "read": {"date_format": "%d.%m.%Y"}}
    release = sd.cdf([f"{day:%d.%m.%Y}" for day in DAYS], **own, epsilon=1000)
    assert release.probability("01.01.2020", "31.01.2020").value == pytest.approx(0.031, abs=2e-4)


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        (5, None, "a must be a date, like the bounds"),
        (None, "soon", "b must be a date, like the bounds"),
        ("2021-01-01", "2020-01-01", "b must be at least a"),
    ],
)
def test_what_is_no_date_is_refused(a, b, text, refused):
    refused(lambda: sd.cdf(DAYS, **YEARS).probability(a, b), text)
