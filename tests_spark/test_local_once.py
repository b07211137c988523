"""Each record is randomised once, whatever fails and runs again."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import defaultdict
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from pyspark import TaskContext, cloudpickle
from scipy.special import gammaincc

from sourdine.frames.reading import STANDARD
from sourdine.local import Choice, Number, Schema
from sourdine.local.spark import sanitizing
from sourdine.local.spark import tasks as drawing
from sourdine.local.spark.tasks import Randomise, is_ordered, settled
from sourdine.mechanisms import RandomizedResponse
from sourdine.noise import SYSTEM

N = 1600
PEOPLE = Schema(
    person=Choice(*range(N)),
    wage=Number(0, 10**6, step=1),
    region=Choice("n", "s", "e", "w"),
    epsilon=122,
    weights={"person": 60, "region": 60, "wage": 2},
    missing="random",
)
"""Reports of a person and of a region are true; two of a wage are the same once in 300 times."""
NAMES = ("person", "wage", "region")


# Executors have no copy of the tests: they get what is defined here by value.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def fail(how):
    """Raise, or end the Python worker, in the first attempt of a task."""
    if TaskContext.get().attemptNumber() > 0:
        return
    if how == "raises":
        raise RuntimeError
    if how == "is killed":
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class FailsOnce:
    """Hands batches on; the first attempt of each task fails after the first batch.

    When it runs again the rows of a batch come in another order, as after a shuffle they may.
    """

    how: str
    reorder: bool = False

    def __call__(self, batches):
        turned = self.reorder and TaskContext.get().attemptNumber() > 0
        for batch in batches:
            yield batch.take(list(reversed(range(batch.num_rows)))) if turned else batch
            fail(self.how)


class Noted:
    """Gives the bytes of another source, and remembers what it gave."""

    private = True

    def __init__(self, source, place):
        self.source, self.place, self.digest = source, list(place), sha256()

    def bytes(self, count, /):
        given = self.source.bytes(count)
        self.digest.update(given)
        return given


@dataclass(frozen=True)
class Observed(Randomise):
    """Randomises blocks of 300 rows, and writes down what it used and what it drew."""

    seen: str = ""
    how_it_fails: str = ""
    system: bool = False

    def __call__(self, batches):
        plain, rows = drawing.block_source, drawing.ROWS
        place = []

        def noted(key, partition, block, slots):
            place[:] = [partition, block]
            return Noted(SYSTEM if self.system else plain(key, partition, block, slots), place)

        drawing.block_source, drawing.ROWS = noted, 300
        try:
            for batch in super().__call__(batches):
                yield batch
                fail(self.how_it_fails)
        finally:
            drawing.block_source, drawing.ROWS = plain, rows

    def reports(self, slots, source):
        shown = super().reports(slots, source)
        columns = list(self.schema.columns)
        people = slots[columns.index("person")].tolist()
        wages = self.schema.parts()["wage"].written.values(shown[columns.index("wage")])
        facts = {
            "place": source.place,
            "attempt": TaskContext.get().attemptNumber(),
            "contents": sha256(b"".join(s.tobytes() for s in slots)).hexdigest(),
            "bytes": source.digest.hexdigest(),
            "drawn": list(zip(people, wages.tolist(), strict=True)),
        }
        Path(self.seen, uuid4().hex).write_text(json.dumps(facts))
        return shown


def people(spark, partitions=2):
    return spark.range(0, N, 1, partitions).selectExpr(
        "id as person", "id * 7 as wage", "substr('nsew', 1 + cast(id % 4 as int), 1) as region"
    )


@pytest.fixture
def observed(monkeypatch, tmp_path):
    """Return a function that makes the next calls fail, and one that tells what tasks drew."""
    seen = tmp_path / "seen"
    seen.mkdir()

    def watch(how, *, system=False):
        def made(*args):
            return Observed(*args, seen=str(seen), how_it_fails=how, system=system)

        monkeypatch.setattr(sanitizing, "Randomise", made)

    def facts():
        return [json.loads(path.read_text()) for path in seen.iterdir()]

    return watch, facts


def draws(facts):
    """Return for each person all wages that any attempt drew."""
    found = defaultdict(set)
    for block in facts:
        for person, wage in block["drawn"]:
            found[person].add(wage)
    return found


def check_blocks(facts):
    """Each block has one content and one string of bytes in all attempts, and its own."""
    by_place = defaultdict(set)
    for block in facts:
        by_place[tuple(block["place"])].add((block["contents"], block["bytes"]))
    assert {len(own) for own in by_place.values()} == {1}
    assert len({next(iter(own))[1] for own in by_place.values()}) == len(by_place)


def drawn(schema, rows, names, key):
    cells = [(name, part.cell) for name, part in schema.parts().items()]
    return sanitizing.drawn(schema, settled(rows, cells, STANDARD), names, key)


def written(frame):
    return {row["person"]: row["wage"] for row in frame.collect()}


@pytest.mark.parametrize(("which", "how"), [("classic", "raises"), ("connect", "is killed")])
def test_each_record_once_though_a_task_of_every_stage_fails(
    sparks, settings, observed, monkeypatch, tmp_path, which, how
):
    """Three stages: before a shuffle, the draws, the files. Rows come in another order again."""
    spark = getattr(sparks, which)
    settings(spark, {"spark.sql.execution.arrow.maxRecordsPerBatch": "150"})
    watch, facts = observed
    watch(how)
    types = "person bigint, wage bigint, region string"
    before = people(spark).mapInArrow(FailsOnce(how), types).repartition(2, "region")
    rows = before.mapInArrow(FailsOnce("", reorder=True), types)
    assert not is_ordered(rows)
    plain = sanitizing.drawn

    def and_fails(*args):
        reports = plain(*args)
        return reports.mapInArrow(FailsOnce(how), reports.schema)

    monkeypatch.setattr(sanitizing, "drawn", and_fails)
    clean = PEOPLE.sanitize(rows, to=tmp_path / "clean")
    assert clean.count() == N
    found, seen = written(clean), draws(facts())
    assert found.keys() == seen.keys() == set(range(N))
    assert {len(own) for own in seen.values()} == {1}, "nobody has a second draw"
    assert all(seen[person] == {wage} for person, wage in found.items())
    assert {block["attempt"] for block in facts()} >= {0, 1}
    check_blocks(facts())


def test_scans_keep_their_order_and_fail_alike(spark, observed, tmp_path):
    watch, facts = observed
    watch("raises")
    rows = people(spark)
    assert is_ordered(rows)
    clean = PEOPLE.sanitize(rows, to=tmp_path / "clean")
    files = sorted((tmp_path / "clean").glob("*.parquet"))
    read = [spark.read.parquet(str(file)).collect() for file in files]
    assert [row["person"] for own in read for row in own] == list(range(N))
    assert all(draws(facts())[row["person"]] == {row["wage"]} for row in clean.collect())
    check_blocks(facts())
    left = {path.name for path in (tmp_path / "clean").iterdir() if path.name[0] not in "._"}
    assert left == {file.name for file in files}


def test_bytes_of_the_system_would_draw_twice(spark, observed, tmp_path):
    """What the tests above see: without the key everybody in a failed block has two reports."""
    watch, facts = observed
    watch("raises", system=True)
    PEOPLE.sanitize(people(spark), to=tmp_path / "clean")
    assert max(len(own) for own in draws(facts()).values()) == 2


def test_a_frame_that_is_read_twice_gives_the_same_reports(sparks):
    for rows in (people(sparks.connect), people(sparks.classic).repartition(2, "region")):
        keys = (bytes(32), bytes(32), SYSTEM.bytes(32))
        found = [written(drawn(PEOPLE, rows, NAMES, key)) for key in keys]
        assert found[0] == found[1]
        same = sum(found[0][person] == found[2][person] for person in range(N))
        assert same < 40, "another key, other reports"  # about 5 are the same by chance


def test_no_two_blocks_share_their_bytes(spark):
    """A hundred tasks that hold the same records give a hundred different strings of reports."""
    schema = Schema(wage=Number(0, 10**6, step=1), epsilon=1, missing="random")
    rows = spark.range(0, 400, 1, 100).selectExpr("0L as wage")
    reports = drawn(schema, rows, ("wage",), SYSTEM.bytes(32))
    tasks = reports.selectExpr("spark_partition_id() as task", "wage").collect()
    found = defaultdict(list)
    for row in tasks:
        found[row["task"]].append(row["wage"])
    assert len(found) == len({tuple(own) for own in found.values()}) == 100


def test_whatever_stands_in_a_block_its_bytes_follow_from_it(spark):
    """Of slots that Spark packed and of those that Python read; of each one, in each row."""
    schema = Schema(
        age=Number(0, 9, step=1),
        job=Choice(*range(3)),
        wage=Number(0, 9, step=1),
        epsilon=3,
        missing="random",
    )
    cells = [(name, part.cell) for name, part in schema.parts().items()]
    rows = {"age": [1, 2, 3], "job": [0, 1, 2], "wage": ["4", "5", "6"]}
    others = [rows] + [
        {**rows, name: [*own[:i], value, *own[i + 1 :]]}
        for name, own in rows.items()
        for i in range(3)
        for value in ({"1", "8"} if name == "wage" else {None, 0, 1, 2} - {own[i]})
    ]
    found = set()
    for own in others:
        frame = spark.createDataFrame(
            list(zip(*own.values(), strict=True)), "age int, job int, wage string"
        )
        placed = settled(frame, cells, STANDARD)
        assert placed.how.found == (0, 1)
        ((_, told),) = drawing.blocks(iter(placed.rows.toArrow().to_batches()), placed.how)
        found.add(drawing.block_source(bytes(32), 0, 0, told).bytes(16))
    assert len(found) == len(others) == 26


def p_value(counts, law):
    """Return how likely counts at least as far from a law are: chi-square."""
    expected = np.array(law) * sum(counts)
    score = ((np.array(counts) - expected) ** 2 / expected).sum()
    return float(gammaincc((len(law) - 1) / 2, score / 2))


def test_reports_follow_the_law_of_one_machine(sparks, tmp_path):
    rows = [
        spark.range(0, 40_000, 1, 2).selectExpr("'n' as region")
        for spark in (sparks.classic, sparks.connect)
    ]
    schema = Schema(region=Choice("n", "s", "e", "w"), epsilon=1, missing="random")
    for i, frame in enumerate((rows[0], rows[1].repartition(2))):
        clean = schema.sanitize(frame, to=tmp_path / f"clean{i}")
        found = {row["region"]: row["count"] for row in clean.groupBy("region").count().collect()}
        counts = [found[region] for region in "nsew"]
        for epsilon, fits in ((1, True), (0.7, False), (1.3, False)):
            law = RandomizedResponse(epsilon=epsilon, categories=4).law(0)
            likely = p_value(counts, [float(law.pmf(k)) for k in range(4)])
            assert (likely > 1e-9) is fits


def test_neither_order_nor_file_tells_what_a_row_held(spark, tmp_path):
    """Rows that a shuffle brought together by a private value do not stay together."""
    sorted_ = people(spark).repartition(4, "region").sortWithinPartitions("wage")
    together = {len(own) for own in regions(sorted_.rdd.glom().collect())}
    assert min(together) < 4
    clean = PEOPLE.sanitize(sorted_, to=tmp_path / "clean").coalesce(1).collect()
    assert [row["person"] for row in clean] != sorted(row["person"] for row in clean)
    ranks = np.corrcoef(np.arange(N), [row["person"] for row in clean])[0, 1]
    assert abs(ranks) < 6 / N**0.5
    for own in (clean[: N // 4], clean[-N // 4 :]):
        assert len({row["region"] for row in own}) == 4


def regions(parts):
    return [{row["region"] for row in own} for own in parts if own]
