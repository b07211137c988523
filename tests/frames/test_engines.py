"""Every engine counts the same, whatever stands in the data."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sourdine.frames.cells import Codes, Edges, Octaves, Ticks
from sourdine.frames.frame import Frame
from sourdine.frames.reading import read_number, read_text
from sourdine.grid import MISSING, Grid
from sourdine.noise import SeededSource

ENGINES = (
    *("list", "numpy", "pandas", "pandas-arrow", "polars", "polars-lazy", "arrow"),
    *("duckdb", "parquet", "csv"),
)
INF, NAN = float("inf"), float("nan")
NAME = "a \"select\" 'x' column"

MOMENT = dt.datetime(2024, 2, 29, 1, 2, 3)  # noqa: DTZ001
MICROS = dt.datetime(1999, 1, 1, 0, 0, 0, 5)  # noqa: DTZ001
FLOATS = [
    *(0.5, None, NAN, INF, -INF, -0.0, 0.0, 1e308, -1e308, 5e-324, 0.49999999999999994, 2.5, 99.0),
    *(1.0, 2.0**53, 2.0**63, 0.1 + 0.2),
]
WHOLE = [
    *(0, None, 1, -1, 2**53, 2**53 + 1, 2**53 - 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**62, 7, 7),
    *(3, 2**50 + 1, 2**49, 10),
]
UNSIGNED = [
    *(0, None, 1, 2**64 - 1, 2**63, 2**63 + 1, 2**53 + 1, 5, 5, 5, 2**62, 7, None, 3, 2, 1, 10),
]
TEXTS = [
    *("1", None, " 2 ", "abc", "1e3", "nan", "inf", "-Infinity", "1_0", "9007199254740993", "0x1"),
    *("3.0", "1.", ".5", "+7", "٣", "12345678901234567890123456789012345678901"),
]
CENTS = [Decimal("1.50"), None, Decimal("9007199254740993.00"), *[Decimal("-3.25")] * 14]
WIDE = [Decimal(9007199254740993), None, Decimal(10**30), *[Decimal(4)] * 14]
HOSTILE = {
    "float": pa.array(FLOATS, pa.float64()),
    "whole": pa.array(WHOLE, pa.int64()),
    "unsigned": pa.array(UNSIGNED, pa.uint64()),
    "small": pa.array([*range(-8, 8), None], pa.int8()),
    "text": pa.array(TEXTS),
    "decimal": pa.array(CENTS, pa.decimal128(38, 2)),
    "wide": pa.array(WIDE, pa.decimal128(38, 0)),
    "date": pa.array([dt.date(2024, 2, 29), None, *[dt.date(1, 1, 1)] * 15]),
    "moment": pa.array([MOMENT, None, *[MICROS] * 15], pa.timestamp("us")),
    "nothing": pa.array([None] * 17, pa.float64()),
    NAME: pa.array([*"abcabcabc", "é", "'", '"', None, "a b", "A", "a", ""]),
}
GRIDS = (
    Grid(0, 10, step=1),
    Grid(-5, 5, step=0.1),
    Grid(0, 1),
    Grid(0, 30, step=3),
    Grid(2**53 - 4, 2**53 + 4, step=1),
    Grid(0, 2**61, step=1),
    Grid(-(2**63), 2**64, step=2**20),
    Grid(10**38, 10**38 + 20, step=1),
    Grid(-1e300, 1e300, step=1e297),
    Octaves(),
    Octaves(0, 1000, step=1),
    Octaves(-5, None, Fraction(1, 100), bits=4),
)
SORTS = (
    [0, 1, 2.5, 10],
    [-(2**63), 2**53 + 1, 2**64],
    [0.1, 0.30000000000000004, 7],
    [0, 1],
    list(range(70)),
)


@pytest.fixture(params=ENGINES)
def frames(request, as_engine):
    """The hostile rows in an engine, and read value by value."""
    table = pa.table(HOSTILE)
    return as_engine(request.param, table), {n: c.to_pylist() for n, c in HOSTILE.items()}


def expected_ticks(values, grid):
    """Read each value alone and snap it alone."""
    read = [read_number(v) for v in values]
    return [int(grid.ticks(np.array([v], object), missing=MISSING)[0]) for v in read]


def as_pairs(tally):
    return dict(zip(tally.ticks.tolist(), tally.tallied.tolist(), strict=True)), tally.missing


def counted(slots):
    present = [s for s in slots if s >= 0]
    return {s: present.count(s) for s in sorted(set(present))}, len(slots) - len(present)


@pytest.mark.quick_cases(2, slow=43)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_engines_agree_on_hostile_values(frames, grid):
    frame, rows = frames
    for name, values in rows.items():
        want = expected_ticks(values, grid)
        cell = Ticks(name, grid)
        assert as_pairs(frame.tally(cell)) == counted(want), name
        powers = (0, 1, 2, 3) if name == "whole" and grid in GRIDS[4:6] else (2,)
        for power in powers if name in {"float", "whole", "unsigned", "text"} else ():
            assert frame.total(cell, power) == sum(t**power for t in want if t >= 0), (name, power)


@pytest.mark.slow
def test_engines_agree_on_windows(frames):
    frame, rows = frames
    for grid in GRIDS[::3]:
        ranges = [(0, 2), (1, 3), (grid.last // 2, grid.last // 2 + 5), (grid.last, grid.last + 9)]
        for name, values in rows.items():
            ticks, counts = frame.between(Ticks(name, grid), ranges)
            want = [t for t in expected_ticks(values, grid) if any(a <= t < b for a, b in ranges)]
            assert dict(zip(ticks.tolist(), counts.tolist(), strict=True)) == counted(want)[0]
            assert ticks.tolist() == sorted(ticks.tolist())
    assert [len(part) for part in frame.between(Ticks("float", GRIDS[0]), [])] == [0, 0]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("edges", SORTS, ids=len)
def test_engines_agree_on_edges(frames, edges):
    frame, rows = frames
    inner = Edges(None, edges).edges[1:-1]
    for name in ("float", "whole", "unsigned", "text", "wide"):
        read = [read_number(v) for v in rows[name]]
        want = [-1 if v is None else sum(v >= e for e in inner) for v in read]
        assert as_pairs(frame.tally(Edges(name, edges))) == counted(want), name


@pytest.mark.quick_cases(1)
def test_engines_agree_on_codes(frames):
    frame, rows = frames
    categories = [
        *(0, 1, "abc", " 2 ", 7, 0.5, "é", "'", '"', "a b", "a", 2**63 - 1, 2**63, "1.50", -8, 99),
        *(dt.date(2024, 2, 29), MOMENT, MICROS, "inf", "A", 2**53 + 1),
    ]
    for name, values in rows.items():
        cell = Codes(name, categories)
        want = cell.slots(Frame([*values, object()]).engine.column("value"))[:-1].tolist()
        assert as_pairs(frame.tally(cell)) == counted(want), name
        few = [*[c for c in range(len(categories)) if c in want][:3], 15]
        parts = frame.split(name, [categories[c] for c in few])
        assert [len(part) for part in parts] == [want.count(c) for c in few]


@pytest.mark.quick_cases(2)
def test_engines_agree_on_keys(frames):
    frame, rows = frames
    for name, values in rows.items():
        keys, counts = frame.distinct(name)
        want_keys, want_counts = Frame([*values, None]).distinct()
        assert keys == want_keys, name
        assert counts.tolist() == want_counts.tolist()
        again = frame.tally(Codes(name, keys)).counts if keys else counts
        assert again[: len(keys)].tolist() == counts.tolist()


@pytest.mark.quick_cases(5)
def test_engines_agree_on_products(frames):
    frame, rows = frames
    cells = (Ticks("float", GRIDS[0]), Codes(NAME, ["a", "b"]), Edges("small", [-8, 0, 8]))
    slots = [c.slots(Frame([*rows[c.column], object()]).engine.column("value"))[:-1] for c in cells]
    want = np.zeros([c.size + 1 for c in cells], np.int64)
    np.add.at(want, tuple(slots), 1)
    assert (frame.tally(*cells).counts == want).all()


@pytest.mark.quick_cases(1)
def test_engines_agree_on_length_and_names(frames):
    frame, rows = frames
    assert len(frame) == 17
    assert frame.columns == tuple(rows)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("engine", ENGINES)
def test_no_rows_at_all(engine, as_engine):
    names = ("float", "whole", "text", "date")
    frame = as_engine(engine, pa.table({n: HOSTILE[n][:0] for n in names}))
    assert len(frame) == 0
    for name in names:
        assert frame.tally(Ticks(name, GRIDS[0])).counts.tolist() == [0] * 12
        assert as_pairs(frame.tally(Ticks(name, Grid(0, 10**7, step=1)))) == ({}, 0)
        assert frame.total(Ticks(name, GRIDS[6]), 2) == 0
        assert frame.distinct(name)[0] == []
        assert [len(part) for part in frame.split(name, ["a", 1])] == [0, 0]
        assert len(frame.bound(name, 2, source=SeededSource(1))) == 0
        assert frame.tally(Edges(name, [0, 1, 2])).counts.tolist() == [0, 0, 0]


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("engine", [e for e in ENGINES if e != "csv"])
def test_true_and_false_are_one_and_zero(engine, as_engine):
    frame = as_engine(engine, pa.table({"b": pa.array([True, False, None, True])}))
    assert frame.tally(Ticks("b", Grid(0, 2, step=1))).counts.tolist() == [1, 2, 0, 1]
    assert frame.tally(Codes("b", [True, False])).counts.tolist() == [2, 1, 1]
    assert frame.tally(Codes("b", ["false"])).counts.tolist() == [1, 3]
    assert [len(p) for p in frame.split("b", [True, False, "x"])] == [2, 1, 0]


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("engine", ENGINES)
def test_single_precision(engine, as_engine):
    values = np.array([0.1, 0.5, np.nan, 3.4e38, 1.5], np.float32)
    frame = as_engine(engine, pa.table({"x": pa.array(values)}))
    grid = Grid(0, 2, step=0.1)
    want = counted(grid.ticks(values, missing=MISSING).tolist())
    assert as_pairs(frame.tally(Ticks("x", grid))) == want


@pytest.mark.grid(quick=0)
@pytest.mark.parametrize("engine", ["parquet", "relation", "polars-scan"])
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()], ids=str)
@pytest.mark.parametrize("values", [[0.5], [0.5, 1.5], [None, 1e30]])
def test_nan_hidden_by_statistics(values, kind, engine, tmp_path):
    """The file's least and greatest value say nothing of NaN; engines infer that there is none."""
    path = tmp_path / "rows.parquet"
    rows = [*values, NAN, NAN]
    table = pa.table({"x": pa.array(rows, kind), "i": pa.array(range(len(rows)))})
    pq.write_table(table, path)
    connection = duckdb.connect()
    make = {
        "parquet": lambda: path,
        "relation": lambda: connection.sql(f"SELECT * FROM '{path}'"),  # noqa: S608
        "polars-scan": lambda: pl.scan_parquet(path),
    }
    frame, grid = Frame(make[engine]()), Grid(0, 3, step=0.5)
    want = expected_ticks(rows, grid)
    assert as_pairs(frame.tally(Ticks("x", grid))) == counted(want)
    assert as_pairs(frame.tally(Edges("x", [0, 0.7, 9]))) == counted(
        [-1 if v is None or v != v else int(v >= 0.7) for v in rows]  # noqa: PLR0124
    )
    assert frame.tally(Codes("x", [0.5])).counts.tolist()[0] == values.count(0.5)
    assert frame.total(Ticks("x", grid), 2) == sum(t * t for t in want if t >= 0)
    assert frame.present("x") == sum(v is not None for v in values)
    ticks, counts = frame.between(Ticks("x", grid), [(0, 7)])
    assert dict(zip(ticks.tolist(), counts.tolist(), strict=True)) == counted(want)[0]
    assert [len(part) for part in frame.split("x", [0.5])] == [values.count(0.5)]
    assert frame.distinct("x")[0] == Frame([*values, None]).distinct()[0] or kind == pa.float32()
    kept, wanted = (f.bound("x", 1, source=SeededSource(4)) for f in (frame, Frame(table)))
    assert kept.distinct("i")[0] == wanted.distinct("i")[0]


@pytest.mark.quick_cases(2)
def test_engines_agree_on_what_is_present(frames):
    frame, rows = frames
    for name, values in rows.items():
        want = sum(read_text(v) is not None for v in values)
        assert frame.present(name) == frame.distinct(name)[1].sum() == want, name


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("engine", [e for e in ENGINES if e != "csv"])
def test_present_values_of_other_types(engine, as_engine):
    odd = {
        "flag": pa.array([True, None, False, True]),
        "bytes": pa.array([b"a", None, b"", b"\xff"]),
        "word": pa.array(["a", None, "", "a"]).dictionary_encode(),
        "single": pa.array([0.5, None, NAN, INF], pa.float32()),
        "clock": pa.array([dt.time(1), None, dt.time(0), dt.time(2)]),
        "lasting": pa.array([dt.timedelta(1), None, dt.timedelta(0), dt.timedelta(2)]),
        "far": pa.array([2**62, None, 0, 1], pa.timestamp("us")),
    }
    kept = {n: c for n, c in odd.items() if not (engine in {"list", "numpy"} and n == "far")}
    frame = as_engine(engine, pa.table(kept))
    for name in kept:
        assert frame.present(name) == frame.distinct(name)[1].sum(), name
    assert [frame.present(n) for n in ("flag", "word", "single")] == [3, 2, 2]


def test_present_values_are_counted_without_their_texts():
    for values in (np.arange(9), np.arange(9.0), [True] * 9, ["a"] * 9):
        frame = Frame(values)
        assert frame.present() == 9
        assert "texts" not in vars(frame.engine.column("value"))
