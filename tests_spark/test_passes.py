"""How often the data is read, and how much of it reaches the driver."""

from __future__ import annotations

import pytest

import sourdine as sd
from sourdine.frames.cells import Ticks
from sourdine.frames.frame import Frame
from sourdine.frames.grouped import between_each
from sourdine.grid import Grid
from sourdine.noise import SeededSource

DECILES = [i / 10 for i in range(1, 10)]
WAGE = {"column": "wage", "bounds": (0, 200_000), "epsilon": 1}
REGIONS = {"by": "region", "keys": ["n", "s", "e", "w"]}


@pytest.fixture
def work(sparks):
    """Return the jobs, tasks and bytes of results that a call takes."""

    def measure(call):
        before = sparks.jobs()
        call()
        return tuple(b - a for a, b in zip(before, sparks.jobs(), strict=True))

    return measure


def people(spark, n, partitions=4):
    return spark.range(0, n, 1, partitions).selectExpr(
        "id",
        "cast(pmod(id * 7919, 199999) as double) + 0.25 as wage",
        "cast(id % 90 as int) as age",
        "substr('nsew', 1 + cast(id % 4 as int), 1) as region",
        "id % 1000 as patient",
    )


def test_deciles_take_four_jobs(spark, work):
    rows = people(spark, 20_000)
    assert work(lambda: sd.quantiles(rows, DECILES, **WAGE))[0] <= 4
    assert work(lambda: sd.quantiles(rows, DECILES, interval=0.95, **WAGE))[0] <= 4
    assert work(lambda: sd.quantiles(rows, DECILES, **WAGE, **REGIONS))[0] <= 4
    many = {"by": "age", "keys": list(range(80))}
    assert work(lambda: sd.quantiles(rows, DECILES, **WAGE, **many))[0] <= 4


def test_sums_take_one_query(spark, work):
    rows = people(spark, 2000)
    for call in (
        lambda: sd.count(rows, epsilon=1),
        lambda: sd.count(rows, column="wage", epsilon=1),
        lambda: sd.mean(rows, **WAGE),
        lambda: sd.mean(rows, **WAGE, relation="substitute"),
        lambda: sd.mean(rows, **WAGE, **REGIONS),
        lambda: sd.variance(rows, **WAGE),
        lambda: sd.histogram(rows, column="region", categories=["n", "s"], epsilon=1),
        lambda: sd.median(rows, column="age", bounds=(0, 120), step=1, epsilon=1),
    ):
        assert work(call)[0] <= 2


def test_tables_share_their_passes(spark, work):
    """Ten statistics take at most three jobs more than one of them."""
    rows = people(spark, 2000)
    words = ["mean", "sum", "variance", "median", "deciles"]
    table = {
        "of": {"wage": words, "age": words, "*": ["count"]},
        "bounds": {"wage": (0, 200_000), "age": (0, 120)},
        "epsilon": 10,
    }
    alone = work(lambda: sd.quantiles(rows, DECILES, **WAGE))[0]
    assert work(lambda: sd.table(rows, **table))[0] <= alone + 3


def test_bytes_do_not_grow_with_rows(spark, work, settings):
    """At the same number of partitions results have the same size, within a hundredth."""
    settings(spark, {"spark.sql.adaptive.coalescePartitions.enabled": "false"})
    few, many = (people(spark, n) for n in (5_000, 50_000))
    for call in (
        lambda rows: sd.mean(rows, **WAGE),
        lambda rows: sd.mean(rows, unit="patient", rows=2, **WAGE),
        lambda rows: sd.histogram(rows, column="region", categories=["n", "s"], epsilon=1),
        lambda rows: sd.mean(rows, **WAGE, **REGIONS),
        lambda rows: sd.mean(rows, unit="patient", rows="find", **{**WAGE, "epsilon": 4}),
    ):
        small, large = (work(lambda rows=rows, call=call: call(rows))[2] for rows in (few, many))
        assert abs(large - small) <= 0.01 * small
        assert large < 120_000
    assert work(lambda: sd.mean(many, **WAGE))[2] < 60_000


def test_bytes_of_deciles_grow_with_the_cells_that_occur_not_with_rows(spark, work, settings):
    """A hundred times the rows with the same thousand values bring no more."""
    from pyspark.sql.functions import col

    settings(spark, {"spark.sql.adaptive.coalescePartitions.enabled": "false"})
    few, many = (
        people(spark, n).withColumn("wage", (200 * (col("id") % 1000)).cast("double"))
        for n in (5_000, 500_000)
    )
    small, large = (
        work(lambda rows=rows: sd.quantiles(rows, DECILES, **WAGE))[2] for rows in (few, many)
    )
    assert large <= 1.01 * small


def test_windows_of_groups_are_their_own(spark):
    """What is read of all groups at once is what each holds."""
    rows = people(spark, 3000)
    cell = Ticks("wage", Grid(0, 200_000, step=1))
    keys = [("n",), ("s",)]
    together = Frame(rows).groups(["region"], keys, other=True)
    ranges = [[(0, 5000), (90_000, 91_000)], [(100, 30_000)], [(199_000, 200_001)]]
    local = Frame(rows.toPandas()).groups(["region"], keys, other=True)
    found, want = (
        between_each([part.engine for part in parts], "wage", cell, ranges)
        for parts in (together, local)
    )
    for ours, theirs in zip(found, want, strict=True):
        assert [x.tolist() for x in ours] == [x.tolist() for x in theirs]


def test_nobody_is_named_to_find_how_many_rows_people_own(spark, monkeypatch):
    from sourdine.frames.spark.engine import Spark

    monkeypatch.setattr(Spark, "combinations", None)
    rows = people(spark, 3000)
    call = {"unit": "patient", "rows": "find", **WAGE, "epsilon": 4}
    ours = sd.mean(rows, source=SeededSource(4), **call).value
    assert ours == sd.mean(rows.toPandas(), source=SeededSource(4), **call).value
