"""Statistics of dates and times: answers are dates, and the promise is that of the ticks."""

from __future__ import annotations

import datetime as dt
import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sourdine as sd
from sourdine.audit import replay
from sourdine.calendar import about, micros, read_date, read_duration, spelled
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.grid import Grid
from sourdine.noise import SeededSource

DAYS = ("2020-01-01", "2024-12-31")
HOURS = ("2020-01-01T00:00", "2020-02-01T00:00")
START = dt.date(2020, 1, 1)
RNG = np.random.default_rng(5)
OFFSETS = RNG.integers(0, 1827, 6000).tolist()
PEOPLE = {
    "admitted": [START + dt.timedelta(days=k) for k in OFFSETS],
    "sex": ["f", "m"] * 3000,
    "who": [f"p{k}" for k in RNG.integers(0, 3000, 6000)],
}


def at(hours):
    return dt.datetime(2020, 1, 1) + dt.timedelta(hours=hours)  # noqa: DTZ001


def test_a_median_is_a_date_near_the_truth():
    truth = sorted(PEOPLE["admitted"])[2999]
    release = sd.median(PEOPLE, column="admitted", bounds=DAYS, epsilon=5)
    assert type(release.value) is dt.date
    assert abs(release.value - truth) < dt.timedelta(days=8)
    low, high = release.interval()
    assert type(low) is type(high) is dt.date
    assert low <= release.value <= high


def test_a_mean_is_a_time_near_the_truth():
    times = [at(k % 700) for k in range(5000)]
    truth = at(sum(k % 700 for k in range(5000)) / 5000)
    release = sd.mean(times, bounds=HOURS, step="1 h", epsilon=5)
    assert type(release.value) is dt.datetime
    assert abs(release.value - truth) < dt.timedelta(hours=6)
    low, high = release.interval()
    assert low <= release.value <= high
    for method in ("exponential", "gaussian"):
        extra = {"delta": 1e-6} if method == "gaussian" else {}
        chosen = sd.mean(times, bounds=HOURS, step="1 h", epsilon=5, method=method, **extra)
        assert abs(chosen.value - truth) < dt.timedelta(hours=12)


@pytest.mark.slow
@pytest.mark.parametrize("population", [False, True])
def test_groups_of_dates_are_a_duration_apart(population, tmp_path):
    own = {"column": "at", "bounds": HOURS, "epsilon": 8, "by": "sex", "keys": ["f", "m"]}
    data = {"at": [at(300), at(200)] * 500, "sex": ["f", "m"] * 500}
    release = sd.mean(data, **own, population=population)
    apart = release.difference("f", "m")
    assert abs(apart.value - dt.timedelta(hours=100)) < dt.timedelta(hours=30)
    for of in ("sample", "population"):
        low, high = apart.interval(of=of)
        assert low < dt.timedelta(hours=100) < high
    assert sd.Release.from_json(apart.to_json()) == apart
    assert "days" in str(apart)
    assert np.asarray(apart).dtype.kind == "m"
    with pytest.raises(ParameterTypeError, match="that is a duration cannot be converted"):
        float(apart)
    apart.plot(path=str(tmp_path / "apart.png"))
    assert len(apart.to_frame()) == 1
    days = sd.median(data, **{**own, "bounds": DAYS}).difference("f", "m")
    assert isinstance(days.value, dt.timedelta)


def test_populations_of_dates():
    release = sd.mean(PEOPLE, column="admitted", bounds=DAYS, epsilon=4, population=True)
    low, high = release.interval(of="population")
    assert low <= release.value <= high
    assert " to " in str(release)
    assert sd.Release.from_json(release.to_json()) == release


def test_a_time_counts_as_its_date():
    late = [dt.datetime(2020, 5, 5, 23, 59)] * 999  # noqa: DTZ001
    assert sd.median(late, bounds=DAYS, epsilon=20).value == dt.date(2020, 5, 5)
    by_hour = sd.median(late, bounds=HOURS, step="1 h", epsilon=20).value
    assert by_hour == dt.datetime(2020, 2, 1)  # noqa: DTZ001 - the upper bound


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"d": pd.to_datetime(pd.Series(PEOPLE["admitted"]))}),
        pl.DataFrame({"d": PEOPLE["admitted"]}),
        pl.LazyFrame({"d": PEOPLE["admitted"]}),
        {"d": np.array(PEOPLE["admitted"], "datetime64[D]")},
        {"d": [str(day) for day in PEOPLE["admitted"]]},
        "SELECT DATE '2020-01-01' + unnest($1::INT[]) AS d",
    ],
    ids=["pandas", "polars", "lazy", "numpy", "texts", "duckdb"],
)
def test_every_library_gives_the_same_answer(data):
    if isinstance(data, str):  # a relation that pytest held would outlive DuckDB at exit
        data = duckdb.sql(data, params=[OFFSETS])
    own = {"column": "d", "bounds": DAYS, "epsilon": 1}
    rows = {"d": PEOPLE["admitted"]}
    for ask in (sd.median, sd.mean):
        one, two = (ask(x, **own, source=SeededSource(3)).value for x in (data, rows))
        assert one == two
    counted = [
        sd.histogram(x, **own, bins=12, source=SeededSource(3)).value.tolist() for x in (data, rows)
    ]
    assert counted[0] == counted[1]


@pytest.mark.slow
def test_a_file_in_another_format(tmp_path):
    path = tmp_path / "people.csv"
    rows = "\n".join(f"{day:%d.%m.%Y};{i % 2}" for i, day in enumerate(PEOPLE["admitted"]))
    path.write_text(f"admitted;x\n{rows}\n", encoding="utf-8")
    own = {"column": "admitted", "epsilon": 1, "source": SeededSource(3)}
    typed = ("01.01.2020", "31.12.2024")
    read = {"date_format": "%d.%m.%Y"}
    german = sd.median(path, bounds=typed, read=read, **own)
    assert (
        german.value == sd.median(PEOPLE, bounds=DAYS, **{**own, "source": SeededSource(3)}).value
    )
    assert german.to_dict()["question"]["bounds"] == list(DAYS)
    session = sd.Session(path, epsilon=2, read=read, ledger=tmp_path / "a.ledger")
    release = session.median(column="admitted", bounds=typed, epsilon=1)
    assert DAYS[0] < str(release.value) < DAYS[1]
    (charge,) = session.history
    assert json.loads(charge.parameters)["bounds"] == list(DAYS)


RELEASES = {
    "median": lambda: sd.median(PEOPLE, column="admitted", bounds=DAYS, epsilon=1),
    "mean": lambda: sd.mean(PEOPLE, column="admitted", bounds=DAYS, epsilon=1),
    "seconds": lambda: sd.mean([at(5)] * 99, bounds=HOURS, epsilon=1),
    "quantiles": lambda: sd.quantiles(
        PEOPLE, [0.1, 0.9], column="admitted", bounds=DAYS, epsilon=1, interval=0.9
    ),
    "histogram": lambda: sd.histogram(PEOPLE, column="admitted", bounds=DAYS, bins=5, epsilon=1),
    "edges": lambda: sd.histogram(
        PEOPLE, column="admitted", bins=["2020-01-01", "2022-01-01T12:00", "2025-01-01"], epsilon=1
    ),
    "groups": lambda: sd.mean(
        PEOPLE, column="admitted", bounds=DAYS, epsilon=1, by="sex", keys=["f", "m"], unit="who"
    ),
    "of groups": lambda: sd.quantiles(
        PEOPLE, [0.5], column="admitted", bounds=DAYS, epsilon=1, by="sex", keys=["f", "m"]
    ),
}


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("name", RELEASES)
def test_answers_read_back(name):
    release = RELEASES[name]()
    again = sd.Release.from_json(release.to_json())
    assert again == release
    assert str(again) == str(release)
    assert again.columns() == release.columns()
    assert np.array_equal(np.asarray(again), np.asarray(release))
    assert again.grid == release.grid or "groups" in name
    facts = json.loads(release.to_json())
    question = sd.questions.read(facts["question"])
    assert question.to_dict() == facts["question"]
    assert "T00:00:00" not in json.dumps(facts["value"]) or name == "seconds"
    for library in ("pandas", "polars", "pyarrow"):
        assert len(release.to_frame(library)) == len(release.columns().values)
    assert release._repr_html_()


@pytest.mark.slow
@pytest.mark.parametrize("name", RELEASES)
def test_pictures_have_a_calendar(name, tmp_path):
    figure = RELEASES[name]().plot(path=str(tmp_path / "picture.png"))
    figure.canvas.draw()
    axis = figure.axes[0].yaxis if name == "quantiles" else figure.axes[0].xaxis
    words = [label.get_text() for label in axis.get_ticklabels()]
    words.append(axis.get_offset_text().get_text())
    assert any("20" in word for word in words), words
    assert not any(" 000" in word for word in words)


def test_an_answer_that_is_a_date_is_no_number():
    release = sd.median(PEOPLE, column="admitted", bounds=DAYS, epsilon=1)
    for become in (float, int):
        with pytest.raises(
            ParameterTypeError, match=r"An answer that is a date cannot be converted"
        ):
            become(release)
    assert f"{release:%d.%m.%Y}" == release.value.strftime("%d.%m.%Y")
    assert np.asarray(release).dtype == "datetime64[D]"
    assert np.asarray(sd.mean([at(1)], bounds=HOURS, epsilon=1)).dtype == "datetime64[us]"


@pytest.mark.slow
def test_tables_show_as_much_of_the_clock_as_is_known():
    few = sd.mean(["2020-01-09"] * 9, bounds=DAYS, epsilon=0.1)
    assert len(few.sheet().lines[0][0]) == len("2020-01-09")
    many = sd.mean([at(5)] * 10**5, bounds=HOURS, epsilon=1)
    text, interval = many.sheet().lines[0]
    low, high = interval.strip("[]").split(", ")
    assert len(text) == len("2020-01-01 05:00:00")
    ends = many.interval()
    assert dt.datetime.fromisoformat(low) <= ends[0] <= ends[1] <= dt.datetime.fromisoformat(high)


@pytest.mark.parametrize("ask", [sd.sum, sd.variance])
def test_dates_have_no_sum(ask):
    with pytest.raises(
        ParameterError, match=r"bounds must be two numbers, as a .* is not available for dates"
    ):
        ask(PEOPLE, column="admitted", bounds=DAYS, epsilon=1)


def test_the_questions_kind_decides():
    """Values of the other kind are missing; nothing is refused by what stands in the data."""
    for data in (["2020-05-05"] * 50, [3] * 50, [None] * 50, ["x", 3, "2020-05-05"] * 20):
        assert sd.mean(data, bounds=DAYS, epsilon=1).value
        assert sd.mean(data, bounds=(0, 9), epsilon=1).value >= 0
        assert sd.median(data, bounds=HOURS, epsilon=1).value
    some = sd.histogram(
        ["2020-05-05", 3, "x"] * 500, bins=1, bounds=DAYS, epsilon=9, missing="count"
    )
    assert some.value.tolist() == pytest.approx([500, 1000], abs=20)


# ---- plans


def test_errors_of_means_are_durations():
    plan = sd.plan.mean(bounds=DAYS, n=10_000, epsilon=0.5)
    assert isinstance(plan.error, dt.timedelta)
    assert dt.timedelta(hours=12) < plan.error < dt.timedelta(days=2)
    assert "h" in plan.sheet().lines[0][-1]
    wanted = sd.plan.mean(bounds=DAYS, n=10_000, error="3 days")
    assert wanted.target == dt.timedelta(days=3)
    assert wanted.at(wanted.epsilon) <= wanted.target < wanted.at(wanted.epsilon * 0.99)
    assert read_duration(json.loads(wanted.to_json())["error"]) == wanted.error
    shared = sd.plan.together([wanted, sd.plan.count(error=5)], epsilon=1)
    assert shared.factor == pytest.approx(shared[0].error / wanted.target, rel=0.2)
    assert "3 days" in str(shared)
    figure = plan.plot()
    assert figure.axes[0].get_ylabel() == "error (95%), h"


def test_the_same_numbers_as_a_column_of_numbers():
    """Days as numbers and as dates have the same law, the same interval and the same plan."""
    numbers = {"x": OFFSETS}
    own = {"epsilon": 1, "step": 1, "bounds": (0, 1826), "source": SeededSource(7)}
    dated = {"epsilon": 1, "bounds": DAYS, "source": SeededSource(7), "column": "admitted"}
    plain, moved = sd.median(numbers, **own), sd.median(PEOPLE, **dated)
    assert START + dt.timedelta(days=plain.value) == moved.value
    assert [START + dt.timedelta(days=v) for v in plain.interval()] == list(moved.interval())
    own["source"] = dated["source"] = SeededSource(8)
    plain = sd.mean(numbers, **own).value
    dated["source"] = SeededSource(8)
    moved = sd.mean(PEOPLE, **dated).value
    assert abs(at(24 * plain) - moved) < dt.timedelta(milliseconds=1)
    one = sd.plan.mean(bounds=(0, 1826), step=1, n=100, epsilon=1).error
    two = sd.plan.mean(bounds=DAYS, n=100, epsilon=1).error
    assert two / dt.timedelta(days=1) == pytest.approx(one)


# ---- the promise


HOSTILE = (
    *("2020-05-05", "2020-05-05T23:59:60Z", "9999-12-31T23:59:59-23:59", "0001-01-01", "", "-5"),
    *(None, 3.5, float("nan"), pd.NaT, np.datetime64("NaT"), dt.date.max, dt.datetime.min),  # noqa: DTZ901
    *(pd.Timestamp("2020-03-03 10:00", tz="Asia/Kathmandu"), np.datetime64("30000-01-01"), b"x"),
    "9" * 4000,
)
CALLS = {
    "median": lambda x: sd.median(x, bounds=DAYS, epsilon=1),
    "quantiles": lambda x: sd.quantiles(x, [0.2, 0.8], bounds=HOURS, epsilon=1, interval=0.9),
    "mean": lambda x: sd.mean(x, bounds=DAYS, step="2 days", epsilon=1),
    "fixed": lambda x: sd.mean(x, bounds=HOURS, step="1 h", epsilon=1, relation="substitute"),
    "chosen": lambda x: sd.mean(x, bounds=DAYS, epsilon=1, method="exponential"),
    "histogram": lambda x: sd.histogram(x, bounds=DAYS, bins=7, epsilon=1, missing="count"),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("changed", HOSTILE, ids=lambda v: f"{type(v).__name__}{str(v)[:30]}")
def test_neighbours_with_dates_replay(name, changed):
    rows = ["2020-01-05", dt.date(2020, 1, 9), at(100), "2021-12-31T10:00", 5, None]
    neighbour = [*rows[:-1], changed] if name == "fixed" else [*rows, changed]
    assert replay(CALLS[name], rows, neighbour).faults == ()
    assert replay(CALLS[name], neighbour, rows).faults == ()


# ---- round trips


TIMES = st.datetimes(dt.datetime(1800, 1, 1), dt.datetime(2300, 1, 1))  # noqa: DTZ001


@pytest.mark.slow
@settings(max_examples=200)
@given(st.dates(), st.integers(1, 40_000), st.data())
def test_dates_of_a_lattice_come_back(first, days, data):
    last = min(first.toordinal() + days, dt.date.max.toordinal())
    if last == first.toordinal():
        return
    grid = Grid(first, dt.date.fromordinal(last))
    tick = data.draw(st.integers(0, grid.last))
    day = dt.date.fromordinal(first.toordinal() + tick)
    assert grid.value(tick) == day == grid.values([tick])[0].item()
    assert grid.ticks([day, str(day), np.datetime64(day)]).tolist() == [tick] * 3


@pytest.mark.slow
@settings(max_examples=200)
@given(TIMES, st.integers(1, 10**12), st.sampled_from(["1 us", "1 ms", "1 s", "15 min", "2 days"]))
def test_times_of_a_lattice_come_back(first, steps, step):
    size = read_duration(step)
    steps = min(steps, (dt.datetime.max - first) // size)  # noqa: DTZ901
    grid = Grid(first, first + steps * size, step)
    assert (grid.points, grid.last) == ("times", steps)
    for tick in (0, 1, steps // 2, steps):
        time = first + tick * size
        assert grid.value(tick) == time == grid.values(tick).item()
        assert grid.ticks([time, time.isoformat()]).tolist() == [tick] * 2
    assert eval(f"'{grid}'").endswith(f"in steps of {spelled(size)}")  # noqa: S307


@settings(max_examples=200)
@given(st.timedeltas(dt.timedelta(microseconds=1), dt.timedelta(days=3_000_000)))
def test_durations_come_back(lasting):
    assert read_duration(spelled(lasting)) == lasting
    assert abs(micros(read_duration(about(micros(lasting)))) / micros(lasting) - 1) < 1e-3


@pytest.mark.slow
@settings(max_examples=200)
@given(st.one_of(st.dates(), st.datetimes()))
def test_typed_dates_come_back(date):
    assert read_date(date.isoformat()) == date
    assert type(read_date(date.isoformat())) is type(date)


@given(TIMES, TIMES)
def test_questions_come_back(one, two):
    low, high = sorted((one, two))
    if low == high:
        return
    asked = {"statistic": "mean", "bounds": [str(low), str(high)], "epsilon": 1}
    question = sd.questions.read(asked)
    assert question.bounds == (low, high)
    assert sd.questions.read(question.to_dict()) == question


@pytest.mark.parametrize(
    ("bounds", "step"),
    [
        (DAYS, "1 day"),
        (HOURS, "1 s"),
        (("2020-01-01T00:00", "2025-01-01T00:00"), "1 min"),
        (("0001-01-01T00:00", "9999-12-31T00:00"), "1 day"),
        (("2020-01-01T00:00", "2020-01-01T00:01"), "1 us"),
    ],
)
def test_steps_that_nobody_typed(bounds, step):
    grid = Grid(*bounds)
    assert str(grid).endswith(f"in steps of {step}")


def test_bounds_of_many_kinds():
    want = Grid(*HOURS)
    for pair in (
        tuple(map(dt.datetime.fromisoformat, HOURS)),
        tuple(map(np.datetime64, HOURS)),
        tuple(map(pd.Timestamp, HOURS)),
        (pd.Timestamp("2020-01-01 01:00", tz="Europe/Paris"), "2020-02-01T02:00+02:00"),
        ("2020-01-01", HOURS[1]),
    ):
        assert Grid(*pair) == want
    assert Grid(*DAYS) != Grid("2020-01-01T00:00", "2024-12-31T00:00", "1 day")
