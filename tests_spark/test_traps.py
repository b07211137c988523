"""Nothing in the data, in names or in settings makes a call fail or count otherwise."""

from __future__ import annotations

import logging

import pyarrow as pa
import pytest

import sourdine as sd
from sourdine.errors import ParameterError
from sourdine.frames.cells import Codes, Ticks
from sourdine.frames.frame import Frame
from sourdine.frames.spark.dataframe import guarded
from sourdine.frames.spark.engine import Place
from sourdine.grid import Grid
from sourdine.local.spark.tasks import is_ordered
from sourdine.noise import SeededSource

G = Grid(0, 10, step=1)
SECRET = "salary 12345"  # noqa: S105


@pytest.fixture
def people(spark):
    return spark.range(200).selectExpr(
        "cast(id % 100 as int) age",
        "id",
        "substr('nsew', 1 + cast(id % 4 as int), 1) region",
        "cast(id as double) / 7 wage",
    )


def test_names_that_differ_in_case_only(people):
    both = people.selectExpr("age as A", "age + 1 as a")
    frame = Frame(both)
    assert [frame.tally(Ticks(name, G)).counts[0] for name in "Aa"] == [2, 0]


def test_names_with_dots_backticks_and_quotes(people):
    names = ["a.b", "a`b", 'a"b', "a b", "", "c0"]
    frame = Frame(people.select(*[people["age"].alias(name) for name in names]))
    assert frame.columns == tuple(names)
    assert [frame.tally(Ticks(name, G)).counts[0] for name in names] == [2] * 6


def test_a_name_twice_is_refused(people):
    with pytest.raises(ParameterError, match="have columns with different names, got 'a' twice"):
        Frame(people.selectExpr("age as a", "id as a"))


def test_a_stream_is_refused(spark):
    stream = spark.readStream.format("rate").load()
    with pytest.raises(ParameterError, match=r"data must not be a stream\. Write it"):
        sd.count(stream, epsilon=1)


def test_collations_do_not_merge_texts(people):
    mixed = people.selectExpr("collate(if(id % 2 = 0, 'a', 'A'), 'UTF8_LCASE') as r", "id")
    frame = Frame(mixed)
    assert frame.tally(Codes("r", ["a", "A"])).counts.tolist() == [100, 100, 0]
    assert frame.distinct("r")[0] == ["A", "a"]
    assert len(frame.bound("r", 3)) == 6
    assert frame.owners("r", [50, 100]).tolist() == [0, 2, 0]


def test_char_and_varchar(spark, settings):
    settings(spark, {"spark.sql.preserveCharVarcharTypeInfo": "true"})
    rows = spark.sql("select cast('ab' as char(4)) c, cast('7' as varchar(3)) v")
    assert {field.dataType.simpleString() for field in rows.schema} == {"char(4)", "varchar(3)"}
    frame = Frame(rows)
    assert frame.tally(Codes("c", ["ab  "])).counts.tolist() == [1, 0]
    assert frame.tally(Ticks("v", G)).counts[7] == 1
    assert len(frame.bound("v", 1)) == 1


def test_bytes_that_are_no_text(people):
    odd = people.selectExpr("if(id = 0, cast(X'ff41' as string), '3') as r", "id")
    frame = Frame(odd)
    assert frame.tally(Codes("r", ["3"])).counts.tolist() == [199, 1]
    assert frame.tally(Ticks("r", G)).counts.tolist()[3] == 199
    assert frame.distinct("r")[0] == ["3"]
    assert len(frame.bound("r", 2, source=SeededSource(1))) == 3


def test_years_that_python_does_not_know(people):
    far = people.selectExpr("if(id = 0, timestamp_seconds(568971820800), timestamp_seconds(id)) t")
    frame = Frame(far)
    assert frame.present("t") == 199
    assert len(frame.distinct("t")[0]) == 199
    assert frame.tally(Ticks("t", Grid("1970-01-01", "1970-01-02"))).missing == 1
    assert len(frame.bound("t", 1)) == 200


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_days_whose_microseconds_64_bits_do_not_hold(ansi, spark, as_spark, settings):
    """Databases write infinite dates and times so; one day wraps round to 1970."""
    settings(spark, {"spark.sql.ansi.enabled": ansi})
    days = pa.array([0, 2**31 - 1, -(2**31), 2_135_039_825], pa.int32()).cast(pa.date32())
    times = pa.array([0, 2**63 - 1, 1 - 2**63, -(2**63)], pa.int64()).cast(pa.timestamp("us"))
    frame = Frame(as_spark(spark, pa.table({"day": days, "time": times})))
    for name in ("day", "time"):
        assert frame.present(name) == 1
        assert frame.distinct(name)[1].tolist() == [1]
        assert frame.tally(Ticks(name, Grid("1969-01-01", "1971-01-01"))).missing == 3
        assert len(frame.bound(name, 1)) == 2, "those without a name are one person"


def test_columns_of_any_type_beside(people):
    kinds = ["map('a', 1)", "interval 1 day", "X'00'", "array(1)", "struct(1 as a)"]
    kinds += ["parse_json('1')", "interval 1 month"]
    frame = Frame(people.selectExpr("age", *(f"{kind} as m{i}" for i, kind in enumerate(kinds))))
    for i in range(len(kinds)):
        assert frame.tally(Ticks(f"m{i}", G)).missing == 200
        assert frame.present(f"m{i}") == 200, kinds[i]
    assert frame.tally(Ticks("age", G)).counts[0] == 2
    assert len(frame.bound("age", 1)) == 100


def test_sums_beyond_64_bits(spark):
    wide = Frame(spark.range(1000).selectExpr(f"{2**61 - 2}L as x"))
    cell = Ticks("x", Grid(0, 2**61 - 2, step=1))
    assert wide.moments(cell, 2) == [1000 * (2**61 - 2) ** p for p in range(3)]
    (part,) = wide.groups(["x"], [(2**61 - 2,)])
    assert part.moments(cell, 3) == [1000 * (2**61 - 2) ** p for p in range(4)]


def test_a_failing_frame_says_nothing_of_the_data(each_spark, caplog, capfd):
    """An expression of the user's fails on a value in ANSI mode; the error holds none."""
    rows = each_spark.range(3).selectExpr(f"cast(if(id = 1, '{SECRET}', '1') as int) as x")
    with caplog.at_level(logging.DEBUG, "sourdine"), pytest.raises(ParameterError) as failed:
        sd.mean(rows, column="x", bounds=(0, 1), epsilon=1)
    assert "readable to the end" in str(failed.value)
    assert SECRET not in str(failed.value)
    assert SECRET not in caplog.text
    assert not any(SECRET in text for text in capfd.readouterr())


@pytest.mark.parametrize("kind", ["SQL", "DataFrame"])
def test_what_pyspark_logs_of_a_failure_is_not_written(kind, capfd):
    """It has a logger for errors of SQL and one for those of columns, both to standard error."""
    from pyspark.logger import PySparkLogger

    def fails():
        PySparkLogger.getLogger(f"{kind}QueryContextLogger").error(SECRET, errorClass="CAST")
        raise ValueError

    with pytest.raises(ParameterError, match="readable to the end"):
        guarded(fails)
    assert not any(SECRET in text for text in capfd.readouterr())


def test_loggers_stay_those_of_pyspark(spark):
    """An error of the user's own, later, is PySpark's and no other."""
    from pyspark.errors import AnalysisException

    sd.count(spark.range(3), epsilon=1)
    with pytest.raises(AnalysisException):
        spark.range(3).selectExpr("cast(id as binary)")


@pytest.mark.parametrize(
    "drawn",
    {
        "rand()": lambda d: d.where("rand() < 0.5"),
        "uuid()": lambda d: d.selectExpr("*", "uuid() as u"),
        "rand(7)": lambda d: d.selectExpr(*(f"age as a{i}" for i in range(40)), "rand(7) as r"),
        "sample": lambda d: d.sample(0.5, 3),
        "limit": lambda d: d.limit(10),
        "number": lambda d: d.selectExpr("*", "monotonically_increasing_id() as i"),
        "first": lambda d: d.groupBy("region").agg({"age": "first"}),
        "deep first": lambda d: d.selectExpr("first(coalesce(abs(cast(age as bigint)), 0)) x"),
        "dropped": lambda d: d.dropDuplicates(["region"]),
        "nested": lambda d: d.where("id in (select id from range(5) where rand() < 0.5)"),
    }.items(),
    ids=lambda item: item[0],
)
def test_frames_that_are_drawn_anew_are_refused(drawn, each_spark):
    frame = each_spark.range(100).selectExpr("id", "cast(id as int) age", "'n' as region")
    with pytest.raises(ParameterError, match="must be the same each time they are read"):
        sd.count(drawn[1](frame), epsilon=1)


def test_frames_in_order_are_not_refused(each_spark):
    frame = each_spark.range(100).selectExpr("id", "id as `rand(1)`", "id as first")
    wide = frame.selectExpr("*", *(f"id + {i} as x{i}" for i in range(40)))
    for fine in (frame, frame.orderBy("id").limit(10), frame.dropDuplicates(), wide.distinct()):
        assert sd.count(fine, epsilon=100).value in {10, 100}


def test_plans_are_read_to_their_end(each_spark, settings):
    """Spark cuts off long plans where it is told to."""
    settings(each_spark, {"spark.sql.maxPlanStringLength": "400"})
    wide = [f"id + {i} as a_rather_long_name_{i}" for i in range(20)]
    with pytest.raises(ParameterError, match="must be the same each time they are read"):
        sd.count(
            each_spark.range(9).groupBy().agg({"id": "first"}).toDF("id").selectExpr(*wide),
            epsilon=1,
        )
    assert not is_ordered(each_spark.range(9).repartition(2).selectExpr(*wide))
    assert each_spark.conf.get("spark.sql.maxPlanStringLength") == "400"


def test_plans_of_another_session_are_read_to_their_end(spark):
    """Not that which is active: Spark would cut off all fields but the first 25."""
    many = [f"sum(id + {i}) as a{i}" for i in range(40)]
    frame = spark.newSession().range(9).selectExpr(*many, "first(id) as b")
    with pytest.raises(ParameterError, match="must be the same each time they are read"):
        sd.count(frame, epsilon=1)


def test_groups_without_their_keys_are_refused(each_spark, settings):
    settings(each_spark, {"spark.sql.retainGroupColumns": "false"})
    with pytest.raises(ParameterError, match=r"retainGroupColumns must be true, got false\. Call"):
        sd.mean(each_spark.range(9), column="id", bounds=(0, 9), epsilon=1)


def test_a_function_that_says_it_draws_is_refused(spark):
    from pyspark.sql.functions import udf

    drawn = udf(lambda: 0.5, "double").asNondeterministic()
    with pytest.raises(ParameterError, match="must be the same each time"):
        sd.count(spark.range(3).select(drawn().alias("x")), epsilon=1)


def test_other_rows_in_a_second_pass_are_noticed(spark):
    """What no plan shows is seen before anything is drawn from it."""
    from pyspark.sql.functions import pandas_udf

    @pandas_udf("double")
    def drawn(x):
        import time

        return x + 50.0 * (time.time_ns() // 1000 % 97)

    rows = spark.range(2000).select(drawn("id").alias("x"))
    with pytest.raises(ParameterError, match="not change while they are read"):
        sd.median(rows, bounds=(0, 10**6), epsilon=100)


def test_rows_of_a_person_do_not_depend_on_partitions(people):
    drawn = [
        Frame(part).bound("region", 7, source=SeededSource(1)).distinct("id")[0]
        for part in (people.repartition(5), people.coalesce(1), people.repartition(3, "id"))
    ]
    assert drawn[0] == drawn[1] == drawn[2]
    assert len(drawn[0]) == 28


def test_one_person_with_nearly_all_rows(spark, settings):
    """A skewed key, in batches of a few rows, with partitions that stay empty."""
    settings(spark, {"spark.sql.execution.arrow.maxRecordsPerBatch": "50"})
    rows = spark.range(3000).selectExpr("if(id < 2990, 'a', 'b') as who", "id % 7 as x")
    frame = Frame(rows.repartition(20))
    kept = frame.bound("who", 4, source=SeededSource(5))
    table = pa.table(
        {"who": ["a" if i < 2990 else "b" for i in range(3000)], "x": [i % 7 for i in range(3000)]}
    )
    wanted = Frame(table).bound("who", 4, source=SeededSource(5))
    cells = Codes("who", ["a", "b"]), Ticks("x", G)
    assert (kept.tally(*cells).counts == wanted.tally(*cells).counts).all()
    assert kept.tally(*cells).total == 8


@pytest.mark.parametrize("most", [2, 5, 1 << 16, 1 << 63])
def test_many_rows_kept_do_not_overflow(most, spark, monkeypatch):
    """Places are multiplied in 128 bits; a low limit makes small tables take that way too."""
    monkeypatch.setattr("sourdine.frames.units.NARROW", 5)
    rows = spark.range(300).selectExpr("id % 7 as who", "id * id % 31 as x")
    stay, want = (
        Frame(data).bound("who", most, source=SeededSource(8)).combinations(["who", "x"])
        for data in (rows, rows.toPandas())
    )
    assert stay == want


def test_the_key_is_in_no_plan(people, capfd):
    source = SeededSource(3)
    key = SeededSource(3).bytes(32)
    bound = Frame(people).bound("region", 2, source=source)
    plan = bound.engine._frame
    text = plan._jdf.queryExecution().toString()
    plan.explain("extended")
    text += capfd.readouterr().out
    assert "MapInArrow" in text
    assert key.hex() not in text
    assert str(list(key))[1:-1] not in text
    assert "key" not in repr(Place("who", key))


def test_only_needed_columns_are_read(people):
    """Beside the person, the column alone comes to the executors."""
    asked = sd.questions.read(
        {"statistic": "mean", "column": "wage", "bounds": [0, 200], "unit": "id", "epsilon": 1}
    )
    frame = Frame(people)
    bound = frame.only(*asked.needs(frame)).bound("id", 1)
    assert set(bound.columns) == {"id", "wage"}
    assert len(bound.engine._frame.columns) == 2


def test_no_partitions_at_all(spark):
    for empty in (spark.range(5).where("id < 0"), spark.createDataFrame([], "id bigint")):
        frame = Frame(empty)
        assert frame.moments(Ticks("id", G), 2) == [0, 0, 0]
        assert frame.tally(Ticks("id", G)).total == 0
        assert frame.present("id") == len(frame) == 0
        assert sd.median(empty, bounds=(0, 1), epsilon=1).value is not None
        assert sd.mean(empty, bounds=(0, 1), unit="id", epsilon=1, column="id").value is not None


def test_rows_are_not_read_one_by_one(people):
    frame = Frame(people)
    for work in (lambda: frame.column("age"), lambda: frame.codes(Ticks("age", G))):
        with pytest.raises(ParameterError, match="be on this machine to be read row by row"):
            work()


def test_failing_tasks_are_run_again(spark, tmp_path):
    """A task that fails once, after it has counted, is not counted twice."""
    from pyspark.sql.functions import pandas_udf

    marks = str(tmp_path)

    @pandas_udf("bigint")
    def fails_once(x):
        import os
        from pathlib import Path

        mark = Path(marks) / f"{int(x.iloc[0])}"
        if not mark.exists():
            mark.touch()
            os._exit(3)
        return x

    rows = spark.range(0, 400, 1, 4).select(fails_once("id").alias("x"))
    assert Frame(rows).moments(Ticks("x", Grid(0, 400, step=1)), 1) == [400, 79800]
    assert len(list(tmp_path.iterdir())) > 0
