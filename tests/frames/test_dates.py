"""Dates and times in every physical type: every engine counts what one value at a time says."""

from __future__ import annotations

import datetime as dt
import itertools
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sourdine.calendar import FIRST, ISO, LAST, NOWHERE, DateFormat, instants_of, read_instant
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.frames.cells import Codes, Edges, Ticks
from sourdine.frames.frame import Frame
from sourdine.frames.memory import Column
from sourdine.frames.reading import Reading
from sourdine.grid import MISSING, Grid

ENGINES = (
    *("list", "numpy", "pandas", "pandas-arrow", "polars", "polars-lazy", "arrow"),
    *("duckdb", "parquet", "csv"),
)
DAY = 86_400 * 10**6
FAR = 2**62
SECONDS = [0, None, -1, 1, FIRST // 10**6, FIRST // 10**6 - 1, LAST // 10**6, LAST // 10**6 + 1]
SECONDS += [1_600_000_000, 1_600_000_000, 1_580_515_199, FAR, -FAR, -(2**63) + 1, 2**63 - 1]
MICROS = [
    *(0, None, -1, 1, FIRST, FIRST - 1, LAST, LAST + 1, 1_600_000_000_123_456, -DAY, DAY - 1),
    *(FAR, -FAR, 1_580_515_199_999_999, 43_200 * 10**6),
]
NANOS = [
    *(0, None, -1, 1, 999, 1000, -999, -1000, -1001, 1_600_000_000_123_456_789, FAR, -FAR),
    *(2**63 - 2, -(2**63) + 2, DAY * 1000 - 1),
]
DAYS = [*(0, None, -1, 1, -719_162, -719_163, 2_932_896, 2_932_897, 18_262, 18_262, 20_000)]
DAYS += [2**31 - 2, -(2**31) + 2, 18_300, 19_000]
MIDNIGHTS = [None if d is None else d * 86_400_000 for d in DAYS]
TEXTS = [
    *("2020-01-15", None, " 2020-01-15T10:00Z ", "2020-01-15 10:00:00.123456789", "15.01.2020"),
    *("2020-01-15T10:00+05:45", "2020-06-30T23:59:60Z", "2020-02-30", "0000-01-01", "nan", "12"),
    *("9999-12-31T23:59:59-01:00", "-0044-03-15", "2020-01-15T24:00", ""),
]
FAR_TOO = {"s": SECONDS, "ms": SECONDS, "us": MICROS, "ns": NANOS}
ZONES = ("UTC", "Asia/Kathmandu", "America/New_York")
TYPES = {
    **{f"plain {unit}": pa.array(x, pa.timestamp(unit)) for unit, x in FAR_TOO.items()},
    **{
        f"{zone} {unit}": pa.array(x, pa.timestamp(unit, zone))
        for zone in ZONES
        for unit, x in FAR_TOO.items()
    },
    "date32": pa.array(DAYS, pa.int32()).cast(pa.date32()),
    "date64": pa.array(MIDNIGHTS, pa.int64()).cast(pa.date64()),
    "text": pa.array(TEXTS),
    "float": pa.array([0.0, None, float("nan"), *[18_262.0] * 12]),
    "whole": pa.array([0, None, *[20200115] * 13]),
    "flag": pa.array([True, None, *[False] * 13]),
    "bytes": pa.array([b"2020-01-15", None, *[b"\xff"] * 13]),
    "clock": pa.array([dt.time(1), None, *[dt.time(2)] * 13]),
    "lasting": pa.array([dt.timedelta(1), None, *[dt.timedelta(0)] * 13]),
    "word": pa.array(TEXTS).dictionary_encode(),
}
GRIDS = (
    Grid("2020-01-01", "2020-12-31"),
    Grid("2020-01-01", "2020-12-26", "6 days"),
    Grid("0001-01-01", "9999-12-31"),
    Grid("1969-12-31T23:59", "1970-01-01T00:01", "1 us"),
    Grid("1969-12-01", "1970-01-31", "1 h"),
    Grid("0001-01-01T00:00", "9999-12-31T00:00", "1 day"),
)
CELLS = (
    *(lambda c, g=g: Ticks(c, g) for g in GRIDS),
    lambda c: Ticks(c, GRIDS[4], block=7),
    lambda c: Edges(c, ["1969-12-31", "1970-01-01", "1970-01-01T00:00:00.000001", "2020-09-13"]),
    lambda c: Edges(c, ["2020-01-01", "2020-01-15", "2020-07-01"]),
)


SIZES = {"s": 10**6, "ms": 10**3, "us": 1}


def physical(name, column):
    """Return the instant of each value, by arithmetic on the numbers that stand for them."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        whole = column.cast(pa.int64()).to_pylist()
        size = SIZES.get(kind.unit, 0)
        exact = [v if v is None else v * size if size else v // 1000 for v in whole]
    elif pa.types.is_date32(kind):
        exact = [None if d is None else d * DAY for d in column.cast(pa.int32()).to_pylist()]
    elif pa.types.is_date64(kind):
        exact = [None if d is None else d * 1000 for d in column.cast(pa.int64()).to_pylist()]
    elif name in {"text", "word"}:
        exact = [None if t is None else ISO.read(t) for t in TEXTS]
    else:
        exact = [None] * len(column)
    return [v if v is not None and FIRST <= v <= LAST else None for v in exact]


@cache
def slot_of(cell, instant):
    """Return the slot of one instant, by the definition."""
    if instant is None:
        return MISSING
    if isinstance(cell, Edges):
        return sum(instant >= e for e in cell.inner)
    grid = cell.grid
    x = instant // DAY * DAY if grid.points == "dates" else instant
    top = grid.lower + grid.last * grid.step
    near = min(max(x, grid.lower), top)
    return int((near - grid.lower + grid.step / 2) // grid.step) // cell.block


def as_pairs(tally):
    return dict(zip(tally.ticks.tolist(), tally.tallied.tolist(), strict=True)), tally.missing


def counted(slots):
    present = [s for s in slots if s >= 0]
    return {s: present.count(s) for s in sorted(set(present))}, len(slots) - len(present)


def is_held(engine, value):
    """Return whether a date or time reaches an engine at all: some libraries refuse it before."""
    unit, zone = getattr(value.type, "unit", ""), getattr(value.type, "tz", None)
    if engine in {"list", "numpy", "csv"} or (engine == "pandas" and not unit):
        try:
            return value.as_py() is not None
        except (ValueError, OverflowError):  # no Python object holds it
            return False
    far = value.is_valid and abs(value.value) * SIZES.get(unit, 0) >= 2**63
    fails = {"duckdb": zone, "parquet": True, "polars": unit == "s", "polars-lazy": unit == "s"}
    return not (far and fails.get(engine))


def columns_of(engine):
    """Return the columns that an engine's own types can hold."""
    kept = {}
    for name, column in TYPES.items():
        if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
            kept[name] = pa.array([v if is_held(engine, v) else None for v in column], column.type)
        else:
            kept[name] = column
    return kept


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree_on_hostile_dates(engine, as_engine):
    columns = columns_of(engine)
    frame = as_engine(engine, pa.table(columns))
    turn = ENGINES.index(engine)  # each pair of a column and a cell is counted, or read by rows
    for i, (name, column) in enumerate(columns.items()):
        read = physical(name, column)
        if engine == "csv" and name in {"bytes", "flag", "clock", "lasting"}:
            continue  # in a text file they are texts
        for k, make in enumerate(CELLS):
            cell = make(name)
            want = [slot_of(cell, v) for v in read]
            if (i + k + turn) % 2:
                assert as_pairs(frame.tally(cell)) == counted(want), (name, cell)
                continue
            slots = itertools.chain(*(part[0].tolist() for part in frame.codes(cell, chunk=4)))
            assert list(slots) == want, (name, cell)
        for cell in [Ticks(name, GRIDS[4 - 2 * ((i + turn) % 2)])]:
            want = [slot_of(cell, v) for v in read]
            there = [t for t in want if t >= 0]
            assert frame.moments(cell, 2) == [sum(t**k for t in there) for k in range(3)]
            ticks, counts = frame.between(cell, [(0, 5), (700, 800)])
            inside = counted([t for t in want if 0 <= t < 5 or 700 <= t < 800])[0]
            assert dict(zip(ticks.tolist(), counts.tolist(), strict=True)) == inside


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("engine", ENGINES)
def test_dates_are_no_numbers_and_numbers_no_dates(engine, as_engine):
    table = pa.table({"d": TYPES["date32"][8:11], "x": pa.array([1, 2, 3])})
    frame = as_engine(engine, table)
    assert frame.tally(Ticks("d", Grid(0, 3, step=1))).counts.tolist() == [0, 0, 0, 0, 3]
    assert frame.tally(Ticks("x", Grid("1970-01-01", "1970-01-03"))).counts.tolist() == [0, 0, 0, 3]


FORMATS = {
    "%d.%m.%Y": ("15.01.2020", "5.1.2020", "2020-01-15", "32.01.2020", "15.01.20"),
    "%m/%d/%y %I:%M %p": ("01/15/20 02:30 PM", "01/15/69 12:00 am", "13/15/20 02:30 PM"),
    "%d %b %Y": ("15 Jan 2020", "15 JAN 2020", "15 Janv 2020"),
    "%A %d %B %Y": ("Wednesday 15 January 2020", "15 January 2020"),
    "%Y%m%d": ("20200115", "2020115"),
    "%Y-%j": ("2020-015", "2021-366", "2020-366", "2020-0"),
    "%F %T.%f%z": ("2020-01-15 02:30:00.5+0230", "2020-01-15 02:30:00.5"),
}


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", FORMATS)
def test_engines_agree_on_declared_dates(engine, form, as_engine):
    texts = [t for each in FORMATS.values() for t in each]
    days = pa.array([18_276] * len(texts), pa.int32()).cast(pa.date32())
    frame = as_engine(engine, pa.table({"x": texts, "d": days}), Reading(date_format=form))
    cell = Ticks("x", GRIDS[2])
    want = [slot_of(cell, DateFormat(form).read(t)) for t in texts]
    assert as_pairs(frame.tally(cell)) == counted(want)
    assert frame.tally(cell).missing < len(texts)
    if engine != "csv":  # there a date is a text, too
        assert frame.tally(Ticks("d", GRIDS[0])).missing == 0


BROKEN = ["%m.%Y", "%d.%m", "%Q", "%d.%d.%m.%Y", "%I:%M %d.%m.%Y", "%Y %j %m", "", "%", "%d%m%Y%"]


def test_declared_dates_by_hand():
    at = dt.datetime(2020, 1, 15, 14, 30)  # noqa: DTZ001
    assert DateFormat("%m/%d/%y %I:%M %p").read("01/15/20 02:30 PM") == read_instant(at)
    assert DateFormat("%F %T.%f%z").read("2020-01-15 02:30:00.5+0230") == read_instant(
        dt.datetime(2020, 1, 15, 0, 0, 0, 500_000)  # noqa: DTZ001
    )
    assert DateFormat("%Y-%j").read("2020-366") == read_instant(dt.date(2020, 12, 31))
    assert DateFormat("%Y-%j").read("2021-366") is None
    assert ISO.read("2016-12-31T23:59:60Z") == ISO.read("2017-01-01")
    assert ISO.read("2020-01-15T10:00:00,5") - ISO.read("2020-01-15T10:00") == 500_000


@pytest.mark.parametrize("form", BROKEN)
def test_formats_that_name_no_day(form):
    with pytest.raises(ParameterError, match=r"date_format must .* Use date_format='%d\.%m\.%Y'"):
        Reading(date_format=form)


def test_a_format_is_a_text():
    with pytest.raises(ParameterTypeError, match="date_format must be a string"):
        Reading(date_format=3)
    with pytest.raises(ParameterError, match="read: date_format must"):
        Frame(["x"], read={"date_format": "%m"})


HOSTILE = st.one_of(
    st.datetimes(timezones=st.one_of(st.none(), st.timezones(), st.just(dt.UTC))),
    st.dates(),
    st.text(st.sampled_from("0123456789-:T Z+.,einf"), max_size=40),
    st.integers(),
    st.floats(),
    st.none(),
    st.binary(max_size=12),
    st.builds(
        lambda v, unit: np.array(v, np.int64).view(f"datetime64[{unit}]")[()],
        st.integers(-(2**63), 2**63 - 1),
        st.sampled_from(["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "as", "25s"]),
    ),
)


class Odd(dt.tzinfo):
    """A zone that breaks."""

    def utcoffset(self, _):
        raise RuntimeError


@pytest.mark.slow
@settings(max_examples=600)
@given(HOSTILE)
@example("9" * 4000)
@example("2020-01-01T00:00:00." + "1" * 4000)
@example(pd.NaT)
@example(pd.Timestamp.max)
@example(pd.Timestamp("2020-01-01", tz="Asia/Kathmandu"))
@example(dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=23, minutes=59))))
@example(dt.datetime(2020, 1, 1, tzinfo=Odd()))
@example(np.datetime64("NaT"))
def test_no_value_raises_as_a_date(v):
    read = read_instant(v)
    assert read is None or (type(read) is int and FIRST <= read <= LAST)
    slots = Ticks(None, GRIDS[0]).slots(Frame([v, None]).engine.column("value")).tolist()
    assert slots == [slot_of(Ticks(None, GRIDS[0]), read), MISSING]
    for form in FORMATS:
        read_instant(v, DateFormat(form))


@pytest.mark.slow
@settings(max_examples=300)
@given(st.datetimes(timezones=st.one_of(st.none(), st.timezones())))
def test_times_are_read_as_they_are_written(time):
    read = read_instant(time)
    ahead = time.utcoffset() or dt.timedelta(0)
    exact = time.replace(tzinfo=None) - dt.datetime(1970, 1, 1) - ahead  # noqa: DTZ001
    exact //= dt.timedelta(microseconds=1)
    assert read == (exact if FIRST <= exact <= LAST else None)
    assert ISO.read(time.isoformat()) == exact


UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "2M", "7D"]


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.sampled_from(UNITS))
def test_arrays_are_read_as_their_values(numbers, unit):
    array = np.array(numbers, np.int64).view(f"datetime64[{unit}]")
    each = [read_instant(v) for v in array]
    assert instants_of(array).tolist() == [NOWHERE if v is None else v for v in each]
    for number, found in zip(numbers, each, strict=True):
        if unit in {"s", "ms", "us", "D", "h"}:
            size = {"D": DAY, "h": DAY // 24, "s": 10**6, "ms": 1000, "us": 1}[unit]
            inside = number > -(2**63) and FIRST <= number * size <= LAST
            assert found == (number * size if inside else None)


PLAIN = st.from_regex(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{6})?)?)?", fullmatch=True
)


@pytest.mark.slow
@settings(max_examples=500)
@given(PLAIN)
@example("2020-01-15T24:00")
@example("2020-02-30 10:00")
@example("0000-01-01")
def test_plain_texts_are_read_as_any_other(text):
    """A text that is read quickly is what it is when it is read slowly, with a zone."""
    if len(text) > len("2020-01-15"):
        assert ISO.read(text) == ISO.read(f"{text}Z")
    else:
        assert ISO.read(text) == ISO.read(f"{text} 00:00Z") == DateFormat("%Y-%m-%d").read(text)


def test_a_text_that_comes_again_is_read_once(monkeypatch):
    read, seen = Reading.instant, []
    monkeypatch.setattr(Reading, "instant", lambda own, v: seen.append(v) or read(own, v))
    day, date = "2020-01-15", dt.date(2020, 1, 15)
    for missing in (None, float("nan"), date):  # with a float or a date texts are not all there is
        seen.clear()
        found = Column.of([day, missing, day] * 9).instants.reshape(9, 3)
        assert seen.count(day) == 1
        assert (found[:, [0, 2]] == read_instant(day)).all()
        assert (found[:, 1] == (read_instant(day) if missing is date else NOWHERE)).all()


def test_months_and_years_of_arrays():
    months = np.array(["0001-01", "9999-12", "2020-02", "NaT"], "datetime64[M]")
    want = [FIRST, read_instant("9999-12-01"), read_instant("2020-02-01"), NOWHERE]
    assert instants_of(months).tolist() == want
    years = np.array([-1970, -1969, 8029, 8030], np.int64).view("datetime64[Y]")
    assert instants_of(years).tolist() == [NOWHERE, FIRST, read_instant("9999-01-01"), NOWHERE]


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("0123456789-:T Z+./"), max_size=30))
@example("2020-01-15T10:00:00+05:45")
def test_python_and_the_engine_read_the_same_date(text):
    frame = Frame(duckdb.sql("SELECT $1 AS x", params=[text]))
    cell = Ticks("x", GRIDS[3])
    assert next(frame.codes(cell))[0].tolist() == [slot_of(cell, read_instant(text))]


def test_values_beside_do_not_matter():
    column = ["2020-01-15", 3, dt.date(2020, 1, 16), None, pd.Timestamp("2020-01-17 23:00"), b"x"]
    cell = Ticks(None, GRIDS[0])
    alone = [cell.slots(Frame([v, object()]).engine.column("value"))[0] for v in column]
    assert cell.slots(Frame(column).engine.column("value")).tolist() == alone
    assert alone == [14, -1, 15, -1, 16, -1]


def test_masked_times_are_missing():
    times = np.ma.masked_array(np.array(["2020-01-02"] * 2, "datetime64[s]"), [False, True])
    assert Frame(times).tally(Ticks(None, GRIDS[0])).missing == 1
    assert Frame(times).distinct()[0] == ["2020-01-02 00:00:00"]


def test_out_of_range_times_are_counted_as_texts_too(as_engine):
    """The engine of a relation fails on what it cannot convert; no value may make it."""
    for unit in ("s", "ms", "ns"):
        frame = as_engine("duckdb", pa.table({"x": pa.array([FAR, 0, -1], pa.timestamp(unit))}))
        assert frame.tally(Codes("x", ["1970-01-01 00:00:00"])).counts.tolist()[0] == 1


def test_lazy_frames_stay_lazy():
    frame = Frame(pl.LazyFrame({"x": [1, 2], "d": [dt.date(2020, 1, 1)] * 2}))
    assert frame.tally(Ticks("d", GRIDS[0]), Ticks("x", Grid(0, 2, step=1))).counts[0].sum() == 2
