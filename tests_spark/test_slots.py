"""Row by row, Spark and Python on its executors find the slots that each value has alone."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from sourdine.frames.cells import Codes, Edges, Octaves, Present, Ticked, Ticks
from sourdine.frames.engine import Asked
from sourdine.frames.frame import Frame
from sourdine.frames.spark.executors import Work
from sourdine.grid import Grid

INF, NAN = float("inf"), float("nan")
ROW = "row"
NUMBER = Ticks(ROW, Grid(0, 1000, step=1))
FLOATS = [
    *(3.0, 7.5, -(2.0**63), 1e22, 9007199254740993.0, 0.1 + 0.2, 1e-5, -7.25, 2.0**-20, 2.0**64),
    *(2.0**-21, 1023.9999999999999, 2.0**40 - 2.0**-13, -1.0, 1.5e-6, 123456.789, 3e-310),
]
MOMENTS = [
    *("2024-03-10 10:30:00", "2024-11-03 08:30:00.000005", None, "0001-01-01 00:00:00"),
    *("9999-12-31 23:59:59.500000", "1900-01-01 00:00:00", "1969-12-31 23:59:59.999999"),
    *("2024-02-29 12:00:00", "2020-01-15 00:00:00", "1970-01-01 00:00:00", "2024-03-10 02:30:00"),
    *["2011-11-11 11:11:11.111111"] * 6,
]


def moments(zone=None):
    read = [None if m is None else dt.datetime.fromisoformat(m) for m in MOMENTS]
    if zone is not None:
        read = [None if m is None else m.replace(tzinfo=dt.UTC) for m in read]
    return pa.array(read, pa.timestamp("us", zone))


@pytest.fixture(scope="module")
def hostile(suite):
    """The hostile table of all engines, and a little more."""
    shared = suite("test_engines").HOSTILE
    return {
        **shared,
        "floats": pa.array(FLOATS),
        "single": pa.array([*FLOATS[:10], None, NAN, INF, -INF, -0.0, 0.1, 1.5], pa.float32()),
        "zoned": moments("UTC"),
        "ntz": moments(),
        "flag": pa.array([True, False, None] * 5 + [True] * 2),
        "far": pa.array([0, None, 10**18, -(10**18), *range(13)], pa.timestamp("us")),
        "bytes": pa.array([b"a", None, b"", b"\xff", *[b"1"] * 13]),
        "list": pa.array([[1], None, [], *[[2, 3]] * 14]),
        ROW: pa.array(range(17), pa.int64()),
    }


def cells_of(shared, name):
    grids = (*shared.GRIDS, Grid(-7, 1000, step=0.5), Octaves(-1000, 10**6, bits=7))
    dates = (
        Grid("2020-01-01", "2024-12-26", "3 days"),
        Grid("0001-01-01", "9999-12-31"),
        Grid("1969-12-31T23:59", "1970-01-01T00:01", "1 us"),
        Grid("0001-01-01T00:00", "9999-12-31T00:00", "1 day"),
    )
    listed = [
        *(0, 1, "abc", " 2 ", 7, 0.5, "é", "'", '"', "a b", "a", 2**63 - 1, 2**63, "1.50", -8, 99),
        *("nan", "inf", "A", "true", "0", "3", dt.date(2024, 2, 29), "2024-02-29 01:02:03", 1e22),
        *("2024-11-03 08:30:00.000005", "9999-12-31 23:59:59.500000", "-0.0", 2**53 + 1),
    ]
    return [
        *(Ticks(name, grid) for grid in (*grids, *dates)),
        Ticks(name, grids[1], block=7),
        Ticks(name, dates[0], block=3),
        *(Edges(name, edges) for edges in shared.SORTS),
        Edges(name, ["1969-12-31", "1970-01-01", "1970-01-01T00:00:00.000001", "2020-09-13"]),
        Codes(name, [value for value in listed if value != "0"]),
        Codes(name, ["zero", *(f"other {i}" for i in range(70)), *map(str, range(-5, 12)), "é"]),
        Codes(name, ["zero", *range(-30, 40), "é"]),
        Ticked(name, ("a", "1", "abc"), " "),
        Present(name),
    ]


def alone(cell, column):
    """Each value in a frame of its own, beside an object that keeps Python's reading."""
    values = [value.as_py() if held(value) else None for value in column]
    return cell.slots(Frame([*values, object()]).engine.column("value"))[:-1].tolist()


def held(value):
    try:
        value.as_py()
    except (ValueError, OverflowError):
        return False
    return True


def check_expressions(frame, shared, hostile, every=1):
    """All expressions in one query, row by row."""
    engine = Frame(frame).engine
    wanted, columns = {}, []
    for i, (name, column) in enumerate(hostile.items()):
        for cell in cells_of(shared, name)[i % every :: every]:
            key = engine._key(name, cell)
            if key is not None and key.direct:
                wanted[f"x{len(columns)}"] = (name, cell, column)
                columns.append(key.expression.alias(f"x{len(columns)}"))
    place = engine._place[ROW]
    assert len(wanted) > 150 / every
    found = {}
    for i in range(0, len(columns), 20):  # more in one query are compiled slowly
        part = engine._frame.select(place, *columns[i : i + 20]).toArrow().sort_by(place)
        found |= part.to_pydict()
    for x, (name, cell, column) in wanted.items():
        assert found[x] == alone(cell, column), (name, cell)


def check_executors(frame, shared, hostile, *, python=True, every=1):
    """All cells in one query of Python on the executors, row by row."""
    engine = Frame(frame).engine
    if python:
        engine._key = lambda *_: None
    asked, wanted = [], []
    for i, (name, column) in enumerate(hostile.items()):
        for cell in cells_of(shared, name)[i % every :: every]:
            asked.append(Asked(((ROW, NUMBER), (name, cell))))
            wanted.append((name, cell, column))
    for (slots, numbers), (name, cell, column) in zip(
        engine._on_executors(asked), wanted, strict=True
    ):
        found = dict(zip(slots[0].tolist(), slots[1].tolist(), strict=True))
        assert [found[i] for i in range(17)] == alone(cell, column), (name, cell)
        assert numbers == [[1]] * 17


OTHERS = {
    "ansi off": {"spark.sql.ansi.enabled": "false"},
    "Los Angeles": {"spark.sql.session.timeZone": "America/Los_Angeles"},
    "case sensitive": {"spark.sql.caseSensitive": "true"},
    "no code": {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    },
    "parser": {
        "spark.sql.parser.escapedStringLiterals": "true",
        "spark.sql.ansi.doubleQuotedIdentifiers": "true",
        "spark.sql.legacy.timeParserPolicy": "LEGACY",
    },
}
MOST_USED = ("ansi off", "Los Angeles", "parser")


def test_expressions_find_the_slots_of_single_values(spark, as_spark, suite, hostile, settings):
    """All of them as Spark reads them; below some of them as code that Spark writes."""
    settings(spark, OTHERS["no code"])
    check_expressions(as_spark(spark, pa.table(hostile)), suite("test_engines"), hostile)


@pytest.mark.parametrize(("session", "every"), [("classic", 4), ("connect", 12)])
def test_expressions_that_are_compiled(session, every, sparks, as_spark, suite, hostile):
    """Both sessions send Spark the same plans, so of Connect a part shows that they arrive."""
    frame = as_spark(getattr(sparks, session), pa.table(hostile))
    check_expressions(frame, suite("test_engines"), hostile, every=every)


@pytest.mark.parametrize(("session", "every"), [("classic", 1), ("connect", 4)])
def test_executors_find_the_slots_of_single_values(
    session, every, sparks, as_spark, suite, hostile
):
    frame = as_spark(getattr(sparks, session), pa.table(hostile))
    check_executors(frame, suite("test_engines"), hostile, every=every)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in MOST_USED else pytest.mark.simulation)
        for name in OTHERS
    ],
)
def test_settings_of_the_session_do_not_matter(name, spark, as_spark, suite, hostile, settings):
    settings(spark, OTHERS[name])
    frame = as_spark(spark, pa.table(hostile), 2)
    check_expressions(frame, suite("test_engines"), hostile, every=5)
    python = name == "Los Angeles"
    check_executors(frame, suite("test_engines"), hostile, python=python, every=5)


@pytest.mark.parametrize("partitions", [1, 7, pytest.param(200, marks=pytest.mark.simulation)])
def test_partitions_do_not_matter(partitions, spark, as_spark, suite, hostile, settings):
    more = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "3"}
    settings(spark, {**more, "spark.sql.execution.arrow.maxRecordsPerBatch": "3"})
    frame = as_spark(spark, pa.table(hostile), partitions)
    every = 5 + partitions // 10
    check_expressions(frame, suite("test_engines"), hostile, every=every)
    check_executors(frame, suite("test_engines"), hostile, python=False, every=every)


def test_batches_are_cut_and_joined():
    """However Spark cuts a partition, the same comes out, and sums of halves stay exact."""
    cell = Ticks("x", Grid(0, 2**40, step=1))
    asked = (Asked((("x", cell),), 2), Asked((("x", cell),)))
    work = Work(asked, {})
    n = 300_001
    column = pa.array([2**40 - 1 - i % 5 for i in range(n)])
    whole = pa.record_batch({"x": column})
    for cut in (n, 10_000, 7_777):
        batches = [whole.slice(i, cut) for i in range(0, n, cut)]
        sums, counts = list(work(iter(batches)))
        assert sums.num_rows == 1
        assert counts.num_rows == 5
        row = [sums.column(n).to_pylist()[0] for n in work.names if n.startswith("v")]
        from sourdine.frames.spark.executors import decoded

        ticks = column.to_pylist()
        assert decoded(asked[0], row) == [n, n, sum(ticks), sum(t * t for t in ticks)]
