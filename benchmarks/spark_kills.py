"""Kill the Python workers of Spark's executors in the middle of releases, and look for each charge.

Each round asks a session with a ledger on disk for a table of several statistics, or for a mean
with two rows a person: both are counted by Python on the executors. Meanwhile a random worker is
killed (SIGKILL), again and again, until as many kills as asked have hit. Then, of each release:

* it was answered, or refused with an error that says nothing of the data;
* its charge stands in the ledger once, whether it was answered or not;
* if it was answered, then with what the same random bytes give without any kill: the counts were
  the same, so the law was.

Run ``python benchmarks/spark_kills.py`` (``--kills 100``, ``--rows 2e5``) in an environment with
PySpark and Java 17. The exit status is 1 on failure.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import sourdine as sd
from small_spark import children, session
from sourdine.errors import ParameterError
from sourdine.noise import SeededSource
from sourdine.session import FileLedger

if TYPE_CHECKING:
    from collections.abc import Callable

BOUNDS = {"wage": (0, 200_000), "age": (0, 120)}
CALLS: tuple[tuple[dict[str, Any], Callable[[Any, SeededSource], Any]], ...] = (
    (
        {},
        lambda session, source: session.table(
            of={"wage": ["mean", "deciles"], "age": ["median"]},
            bounds=BOUNDS,
            epsilon=1,
            source=source,
        ),
    ),
    (
        {"unit": "patient", "rows": 2},
        lambda session, source: session.mean(
            column="wage", bounds=BOUNDS["wage"], epsilon=1, source=source
        ),
    ),
)


def people(spark: Any, rows: int) -> Any:  # noqa: ANN401
    """Return rows that are the same each time they are read."""
    return spark.range(0, rows, 1, 4).selectExpr(
        "cast(pmod(id * 7919, 199999) as double) + 0.25 as wage",
        "cast(id % 90 as int) as age",
        "id % 1000 as patient",
    )


def workers(jvm: int) -> list[int]:
    """Return the workers: children of the daemon that is a child of Spark's process."""
    parents, _ = children()
    daemons = {pid for pid, parent in parents.items() if parent == jvm}
    return [pid for pid, parent in parents.items() if parent in daemons]


def kill(jvm: int, done: Event, hits: list[int]) -> None:
    """Kill a worker now and then, until it is done."""
    while not done.wait(random.uniform(0.05, 0.6)):  # noqa: S311 - when, not what
        for pid in random.sample(found := workers(jvm), min(1, len(found))):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            hits.append(pid)


def charges(path: Path) -> int:
    """Return how many charges the ledger on disk holds."""
    return len(FileLedger(path, None).history)


def rounds(frame: Any, jvm: int, kills: int, folder: Path) -> tuple[list[str], int, int, int]:  # noqa: ANN401
    """Return what went wrong, and how many releases were answered, refused, and hit by kills."""
    calm = [call(sd.Session(frame, epsilon=2, **own), SeededSource(1)) for own, call in CALLS]
    wrong: list[str] = []
    answered = refused = 0
    hits: list[int] = []
    i = 0
    while len(hits) < kills:
        which, path = i % len(CALLS), folder / f"{i}.ledger"
        own, call = CALLS[which]
        asked = sd.Session(frame, epsilon=2, ledger=path, **own)
        done = Event()
        killer = Thread(target=kill, args=(jvm, done, hits))
        killer.start()
        try:
            release = call(asked, SeededSource(1))
            answered += 1
            if repr(release.value) != repr(calm[which].value):
                wrong.append(f"round {i}: another answer")
        except ParameterError as error:
            refused += 1
            if "whose query failed" not in str(error):
                wrong.append(f"round {i}: another error")
        finally:
            done.set()
            killer.join()
        if charges(path) != 1:
            wrong.append(f"round {i}: {charges(path)} charges")
        i += 1
        print(f"\r{len(hits)} kills, {answered} answers, {refused} errors", end="", flush=True)
    print()
    return wrong, answered, refused, len(hits)


def main() -> None:
    """Kill, compare, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--rows", type=float, default=2e5)
    given = parser.parse_args()
    spark = session(2, shuffled=4)
    jvm = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()  # noqa: SLF001
    with tempfile.TemporaryDirectory() as place:
        frame = people(spark, int(given.rows))
        wrong, answered, refused, hits = rounds(frame, jvm, given.kills, Path(place))
    spark.stop()
    print(f"{hits} kills: {answered} releases answered, {refused} refused, {len(wrong)} wrong")
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
