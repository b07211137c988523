"""Kill the Python workers of Spark's executors in the middle of releases, and look for each charge.

Each round asks for a table of several statistics, or for a mean with two rows a person: both are
counted by Python on the executors. It is asked of a session with a ledger on disk, and again from
known random bytes. Meanwhile a random worker is killed (SIGKILL), again and again, until as many
kills as asked have hit. Then:

* each release was answered, or refused with an error that says nothing of the data;
* the charge stands in the ledger once, whether it was answered or not;
* known bytes give what they give without any kill: the counts were the same, so the law was.

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
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import sourdine as sd
from small_spark import children, session
from sourdine.errors import ParameterError
from sourdine.noise import SeededSource
from sourdine.session.ledger import FileLedger

if TYPE_CHECKING:
    from collections.abc import Callable

BOUNDS = {"wage": (0, 200_000), "age": (0, 120)}
TABLE = {"of": {"wage": ["mean", "deciles"], "age": ["median"]}, "bounds": BOUNDS, "epsilon": 1}
MEAN = {"column": "wage", "bounds": BOUNDS["wage"], "epsilon": 1}
OWNED = {"unit": "patient", "rows": 2}
CHARGED: tuple[Callable[[Any, Path], Any], ...] = (
    lambda rows, ledger: sd.Session(rows, epsilon=2, ledger=ledger).table(**TABLE),
    lambda rows, ledger: sd.Session(rows, epsilon=2, ledger=ledger, **OWNED).mean(**MEAN),
)
"""Releases that a session charges."""
SEEDED: tuple[Callable[[Any], Any], ...] = (
    lambda rows: sd.table(rows, **TABLE, source=SeededSource(1)),
    lambda rows: sd.mean(rows, **MEAN, **OWNED, source=SeededSource(1)),
)
"""Releases from known bytes."""


def people(spark: Any, rows: int) -> Any:
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
    while not done.wait(random.uniform(0.2, 2.5)):  # noqa: S311 - when, not what
        for pid in random.sample(found := workers(jvm), min(1, len(found))):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            hits.append(pid)


def charges(path: Path) -> int:
    """Return how many charges the ledger on disk holds."""
    return len(FileLedger(path, None).history)


@dataclass
class Outcome:
    """What became of the releases."""

    answered: int = 0
    refused: int = 0
    hits: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{len(self.hits)} kills: {self.answered} answers, {self.refused} errors"


def disturbed(work: Callable[[], Any], jvm: int, outcome: Outcome) -> Any:
    """Return what a release gives while workers are killed; None if it was refused."""
    done = Event()
    killer = Thread(target=kill, args=(jvm, done, outcome.hits))
    killer.start()
    try:
        found = work()
    except ParameterError as error:
        outcome.refused += 1
        if "whose query failed" not in str(error):
            outcome.wrong.append(f"another error: {error}")
        return None
    finally:
        done.set()
        killer.join()
    outcome.answered += 1
    return found


def rounds(frame: Any, jvm: int, kills: int, folder: Path) -> Outcome:
    """Ask until as many kills have hit."""
    calm = [repr(call(frame).value) for call in SEEDED]
    outcome, i = Outcome(), 0
    while len(outcome.hits) < kills:
        which, path = i % len(CHARGED), folder / f"{i}.ledger"
        disturbed(lambda: CHARGED[which](frame, path), jvm, outcome)  # noqa: B023
        if charges(path) != 1:
            outcome.wrong.append(f"round {i}: {charges(path)} charges")
        found = disturbed(lambda: SEEDED[which](frame), jvm, outcome)  # noqa: B023
        if found is not None and repr(found.value) != calm[which]:
            outcome.wrong.append(f"round {i}: another answer")
        i += 1
        print(f"\r{outcome}", end="", flush=True)
    print()
    return outcome


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
        outcome = rounds(frame, jvm, given.kills, Path(place))
    spark.stop()
    print(f"{outcome}, {len(outcome.wrong)} wrong", *outcome.wrong, sep="\n")
    sys.exit(bool(outcome.wrong))


if __name__ == "__main__":
    main()
