"""Sanitised tables, reports and densities on Spark: the numbers of one machine, and no rows."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.frames.spark.dataframe import in_large_batches
from sourdine.local import Aggregator, Choice, Flag, Number, Schema, density, estimate
from sourdine.local.reports.records import to_lines
from sourdine.local.reports.sources import records, to_ipc
from sourdine.local.spark.tasks import AT_ONCE
from sourdine.noise import SeededSource

SCHEMA = Schema(
    age=Number(0, 120, step=1),
    height=Number(1, 2.5, step=0.25),
    region=Choice("n", "s", "e", "w"),
    smokes=Flag(missing=True),
    epsilon=8,
    missing="random",
)
SAMPLED = Schema(
    age=Number(0, 120, step=1), vote=Choice("a", "b"), epsilon=3, method="sample", missing="random"
)
PAIRS = [("age", "region")]


def people(spark, n, partitions=2):
    return spark.range(0, n, 1, partitions).selectExpr(
        "cast(id % 130 as int) as age",
        "1 + (id % 7) / 4d as height",
        "substr('nsew?', 1 + cast(id % 5 as int), 1) as region",
        "if(id % 3 = 0, null, id % 3 = 1) as smokes",
    )


def same(one, other):
    return all(map(np.array_equal, one, other)) and len(one) == len(other)


def tallies(found):
    return [*found.tallies.values(), *found.joint.values()]


def test_a_sanitised_frame_carries_its_schema_and_estimates_as_on_one_machine(each_spark, tmp_path):
    clean = SCHEMA.sanitize(people(each_spark, 3000), to=tmp_path / "clean")
    assert dict(clean.dtypes) == {
        "age": "bigint", "height": "double", "region": "string", "smokes": "boolean",
    }  # fmt: skip
    there = estimate(clean, pairs=PAIRS)
    here = estimate(str(tmp_path / "clean" / "*.parquet"), pairs=PAIRS)
    assert there.schema == here.schema == SCHEMA
    assert same(tallies(there), tallies(here))
    assert (there.counts, there.dropped, there.notes) == (here.counts, here.dropped, here.notes)
    assert there.counts["age"] == 3000
    with pytest.raises(ParameterError, match="sanitised with, got one with epsilon 4"):
        estimate(clean, schema=Schema(age=Flag(), epsilon=4, missing="random"))


def test_what_no_report_could_be_is_counted_as_on_one_machine(spark, tmp_path):
    rows = spark.range(0, 600, 1, 3).selectExpr("id % 120 as age", "'a' as vote")
    clean = SAMPLED.sanitize(rows, to=tmp_path / "clean")
    dirty = clean.unionAll(
        spark.createDataFrame([(None, None), (3, "a"), (999, "?")], "age bigint, vote string")
    )
    there, here = SAMPLED.estimate(dirty), SAMPLED.estimate(dirty.toPandas())
    assert same(tallies(there), tallies(here))
    assert (there.counts, there.dropped, there.notes) == (here.counts, here.dropped, here.notes)
    assert there.notes


def sent(schema, n):
    rows = {"age": [3, 50, 99] * n, "vote": ["a", "b", None] * n}
    rows |= {"height": [1, 2, 2.5] * n, "region": ["n", "s", "w"] * n, "smokes": [True] * 3 * n}
    [found] = records(schema, {name: rows[name] for name in schema.columns})
    return found


@pytest.mark.parametrize(
    ("which", "schema", "pairs"), [("classic", SCHEMA, PAIRS), ("connect", SAMPLED, [])]
)
def test_reports_are_counted_as_on_one_machine(sparks, tmp_path, which, schema, pairs):
    """Replays, garbage and foreign reports among them, bit for bit."""
    spark = getattr(sparks, which)
    drawn = sent(schema, 300)
    lines = to_lines(drawn)
    other = to_lines(sent(Schema(age=Number(0, 120, step=1), epsilon=1, missing="random"), 1))
    strange = [
        "{}",
        "",
        "x" * 5000,
        lines[0].replace("[", "[1,"),
        lines[1].replace('"v":1', '"v":2'),
    ]
    lines += [*lines[:70], *strange, *other, lines[5].replace('"a":[', '"a":[99999'), *lines[-30:]]
    one = Aggregator(schema, pairs=pairs)
    one.add([*lines, b"\xff\xfe{"])
    (tmp_path / "lines").mkdir()
    for i in range(3):
        text = "\n".join(lines[i::3]).encode() + (b"\n\xff\xfe{" if i == 2 else b"")
        (tmp_path / "lines" / f"{i}.jsonl").write_bytes(text + b"\n")
    frame = spark.read.text(str(tmp_path / "lines")).repartition(2)
    total = Aggregator(schema, pairs=pairs, remember="frame")
    assert str(total.add(frame)) == str(one.receipt)
    assert same(total.numbers, one.numbers)
    assert total.receipt == one.receipt
    many = Aggregator(schema, remember="none")
    assert many.add(frame).accepted == one.receipt.accepted + 100
    total.save(tmp_path / "total")
    assert Aggregator.load(tmp_path / "total", schema) == total
    assert (total + total).receipt.accepted == 2 * one.receipt.accepted


def test_files_of_reports_are_read_whole(spark, tmp_path):
    drawn = sent(SCHEMA, 100)
    for name in ("a.arrow", "b.arrow"):
        (tmp_path / name).write_bytes(to_ipc(drawn))
    (tmp_path / "c.arrow").write_bytes(b"ARROW1 and nothing else")
    files = spark.read.format("binaryFile").load(str(tmp_path)).select("content")
    total, one = Aggregator(SCHEMA, remember="frame"), Aggregator(SCHEMA)
    total.add(files)
    for name in ("a.arrow", "b.arrow", "c.arrow"):
        one.add(tmp_path / name)
    assert same(total.numbers, one.numbers)
    assert total.receipt == one.receipt
    assert total.estimate()["region"].value == pytest.approx(one.estimate()["region"].value)


def test_densities_are_played_where_the_values_are(each_spark):
    rows = people(each_spark, 20_000)
    asked = {"column": "height", "bounds": (1, 2.5), "epsilon": 4}
    one, two = (density(rows, source=SeededSource(1), **asked) for _ in range(2))
    assert one.reports == 20_000
    assert one.mass.tolist() == two.mass.tolist(), "the same key, the same reports"
    found = density(rows, **asked)
    assert abs(found.mean - 1.75) < 0.05
    assert str(found.cost) == "epsilon 4, any two inputs of one person"
    assert "NOT PRIVATE" in str(one.cost)


def test_only_tallies_come_to_the_driver(sparks, settings):
    """Results of 10**4 and of 10**6 rows have the same size, within a hundredth."""
    spark = sparks.classic
    settings(spark, {"spark.sql.adaptive.coalescePartitions.enabled": "false"})

    def size(call):
        before = sparks.jobs()[2]
        call()
        return sparks.jobs()[2] - before

    lines = to_lines(sent(SCHEMA, 100))
    age = {"column": "age", "bounds": (0, 120), "epsilon": 1, "method": "square-wave"}
    for n, call in (
        (10**6, lambda n: SCHEMA.estimate(people(spark, n), pairs=PAIRS)),
        (10**6, lambda n: density(people(spark, n), **age)),
        (10**5, lambda n: Aggregator(SCHEMA, remember="frame").add(texts(spark, lines, n))),
    ):
        few, many = size(lambda call=call: call(10**4)), size(lambda n=n, call=call: call(n))
        assert abs(few - many) <= 0.01 * few
        assert many < 10**5


def texts(spark, lines, n):
    some = ", ".join(f"'{line}'" for line in lines[:20])
    return spark.range(0, n, 1, 4).selectExpr(f"array({some})[cast(id % 20 as int)] as value")


def test_what_is_written_is_no_result(sparks, tmp_path):
    spark = sparks.classic
    before = sparks.jobs()[2]
    SCHEMA.sanitize(people(spark, 50_000), to=tmp_path / "clean")
    assert sparks.jobs()[2] - before < 5 * 10**4


def test_names_and_texts_of_any_kind(each_spark, settings, tmp_path):
    names = {"a.b": Number(0, 9, step=1), "c `d`": Flag(), "é, f": Choice("x", "y z")}
    schema = Schema.of(names, epsilon=600, missing="random")
    rows = each_spark.createDataFrame(
        [("7", True, "x", 1), ("nonsense", None, "?", 2)],
        "`a.b` string, c boolean, e string, i int",
    ).toDF("a.b", "c `d`", "é, f", "id")
    written = {"decimal": "."}
    clean = schema.sanitize(rows, to=tmp_path / "clean", drop="id", read=written)
    assert clean.columns == list(names)
    assert any(tuple(row) == (7, True, "x") for row in clean.collect())
    assert schema.estimate(clean).counts == dict.fromkeys(names, 2)
    twice = Schema(a=Flag(), A=Flag(), epsilon=1, missing="random")
    both = each_spark.range(3).selectExpr("true as a", "true as b").toDF("a", "A")
    with pytest.raises(ParameterError, match="differ in more than upper and lower case"):
        twice.sanitize(both, to=tmp_path / "twice")
    settings(each_spark, {"spark.sql.caseSensitive": "true"})
    assert twice.sanitize(both, to=tmp_path / "twice").count() == 3


def test_columns_beyond_those_that_spark_packs(spark, tmp_path):
    """Python reads and writes the last ones itself; with so much epsilon reports are true."""
    names = [f"a{i}" for i in range(AT_ONCE + 3)]
    schema = Schema.of(
        {name: Choice("x", "y z", "é") for name in names}, epsilon=60 * len(names), missing="random"
    )
    listed = [f"array('x', 'y z', 'é')[(id + {i}) % 3] as {name}" for i, name in enumerate(names)]
    rows = spark.range(0, 30, 1, 1).selectExpr(*listed)
    assert schema.sanitize(rows, to=tmp_path / "clean").collect() == rows.collect()


ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"


@pytest.mark.parametrize(
    ("name", "chosen", "narrow", "used"),
    [
        (ROWS, None, False, "65536"),
        (ROWS, None, True, "65536"),
        (ROWS, "777", True, "777"),
        (ROWS, "10000", True, "10000"),
        (BYTES, None, True, "2147483647"),
        (BYTES, None, False, "67108864b"),
        (BYTES, "5000000b", True, "5000000b"),
    ],
)
def test_batches_are_larger_for_a_while_unless_somebody_chose_their_size(
    each_spark, settings, name, chosen, narrow, used
):
    if chosen is not None:
        settings(each_spark, {name: chosen})

    def fails():
        with in_large_batches(each_spark, narrow=narrow):
            assert each_spark.conf.get(name) == used
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert each_spark.conf.get(name, None) == chosen


def test_columns_without_blanks_are_written_as_such(each_spark, tmp_path):
    """Their levels, of which Spark writes one a value, are left out; blanks need them."""
    rows = each_spark.range(0, 20, 1, 1).selectExpr("id as age", "id = 3 as smokes")
    for blank in (False, True):
        columns = {"age": Number(0, 120, step=1), "smokes": Flag(missing=blank)}
        to = tmp_path / str(blank)
        Schema.of(columns, epsilon=60, missing="random").sanitize(rows, to=to)
        (file,) = to.glob("*.parquet")
        assert [field.nullable for field in pq.read_schema(file)] == [False, blank]


def test_no_rows_are_sanitised_too(each_spark, tmp_path):
    clean = SCHEMA.sanitize(people(each_spark, 10).filter("age > 1000"), to=tmp_path / "clean")
    assert clean.count() == 0
    assert estimate(clean).counts["age"] == 0


def test_what_is_refused(each_spark, tmp_path):
    rows = people(each_spark, 10)
    with pytest.raises(ParameterError, match=r"to must name the output folder .* Use to='clean'"):
        SCHEMA.sanitize(rows)
    with pytest.raises(ParameterError, match="overwrite must be False"):
        SCHEMA.sanitize(rows, to=tmp_path / "clean", overwrite=True)
    with pytest.raises(ParameterError, match="to must be a path"):
        SCHEMA.sanitize(rows, to=3)
    with pytest.raises(ParameterError, match=r"rand\(\)"):
        SCHEMA.sanitize(rows.selectExpr("rand() as age", "height", "region", "smokes"), to="x")
    with pytest.raises(ParameterError, match="have all columns of the schema, got no column 'age'"):
        SCHEMA.sanitize(rows.drop("age"), to=tmp_path / "clean")
    with pytest.raises(ParameterError, match="in the schema or dropped, got 'id'"):
        SCHEMA.sanitize(rows.selectExpr("*", "1 as id"), to=tmp_path / "clean")
    with pytest.raises(ParameterError, match="remember='frame'"):
        Aggregator(SCHEMA).add(rows)
    with pytest.raises(ParameterError, match="be a single column of a Spark frame"):
        Aggregator(SCHEMA, remember="frame").add(rows)
    with pytest.raises(ParameterTypeError, match="remember='ids'"):
        Aggregator(SCHEMA, remember="frame").add(["{}"])
    with pytest.raises(ParameterError, match="on this machine"):
        next(SCHEMA.reports(rows))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("letter", "*?[]{}")
def test_a_folder_that_could_not_be_read_again_is_refused(letter, spark, tmp_path):
    with pytest.raises(ParameterError, match="which Spark reads as a pattern, got"):
        SCHEMA.sanitize(people(spark, 10), to=tmp_path / f"clean{letter}")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_exists_is_refused(each_spark, tmp_path):
    """So is what a killed driver left."""
    rows = people(each_spark, 10)
    left = tmp_path / "clean" / "_temporary" / "0"
    left.mkdir(parents=True)
    with pytest.raises(FileExistsError, match=r"delete it first; otherwise use to="):
        SCHEMA.sanitize(rows, to=tmp_path / "clean")
    assert list((tmp_path / "clean").rglob("*")) == [left.parent, left]


FORMULAS = Schema.of(
    {
        "age // 20 * 20": Choice(0, 20, 40, 60, 80, 100, 120, missing="none"),
        "upper(region)": Choice("N", "S", "E", "W", missing="none"),
        "smokes": Flag(missing=True),
    },
    epsilon=6,
)


@pytest.mark.parametrize("where", [None, "age >= 18 and height < 2.2"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_formulas_and_conditions_are_computed_there(each_spark, tmp_path, where, shuffled):
    """What is drawn is that of a frame with the values of the formulas, and blanks elsewhere."""
    rows = people(each_spark, 600)
    rows = rows.repartition(3) if shuffled else rows
    own = {"drop": ["age", "height", "region"], "where": where}
    clean = FORMULAS.sanitize(rows, to=tmp_path / "clean", **own)
    assert clean.columns == ["smokes", "age // 20 * 20", "upper(region)"]
    found = estimate(clean)
    assert found.counts["smokes"] == 600
    sure = Schema.of(FORMULAS.columns, epsilon=200)
    told = sure.sanitize(rows, to=tmp_path / "sure", **own).toPandas()
    here = sure.sanitize(rows.toPandas(), **own)
    for name in FORMULAS.columns:
        counts = [f[name].astype(str).value_counts().to_dict() for f in (told, here)]
        assert {str(k).lower() for k in counts[0]} == {str(k).lower() for k in counts[1]}
        assert sorted(counts[0].values()) == sorted(counts[1].values())
