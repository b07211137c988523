"""Random formulas over hostile rows, on every engine, against a reference in plain Python.

Run ``python benchmarks/formulas.py [--formulas 2000] [ENGINE ...]``; engines are those of `WAYS`.
Each formula is a derived column, and a condition is a filter, too. For each engine it prints how
many formulas were compared, how many the engine computed itself, and how many differ from the
reference (`tests/formula_reference.py`); the exit status is 1 if one does. PostgreSQL is started
for it; ``spark`` needs an interpreter with PySpark.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from contextlib import contextmanager
from os import pathsep
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sourdine.errors import ParameterError
from sourdine.frames.formulas.engine import Derived, read_formulas
from sourdine.frames.formulas.tree import NotExactError, Type
from sourdine.frames.frame import Frame

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "frames")]

from formula_reference import text as expected  # noqa: E402 - of the tests
from formula_reference import value  # noqa: E402
from random_formulas import formulas, hostile  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

TOGETHER, IN_SPARK = 25, 50
"""How many formulas are derived at once: a query of Spark's takes seconds.

Lazy Polars gets one at a time of those that it computes itself: it plans queries of many long
expressions for minutes.
"""


class Reference:
    """What plain Python computes of the rows: texts and their counts, for typed formulas."""

    def __init__(self, table: pa.Table) -> None:
        self.table, self._rows = table, table.to_pylist()
        self._known: dict[Any, Counter[str | None]] = {}

    def counts(self, tree: Any) -> Counter[str | None]:
        if tree not in self._known:
            self._known[tree] = Counter(expected(tree, row) for row in self._rows)
        return self._known[tree]

    def kept(self, tree: Any) -> int:
        return sum(value(tree, row) is True for row in self._rows)


def typed(frame: Frame, n: int) -> dict[str, Any]:
    """Return formulas with the types that the columns have in an engine."""
    found = {}
    for _, text in formulas(n * 3 // 2):
        try:
            found[text] = read_formulas(frame.engine, None, [("column", text)]).columns[text]
        except (ParameterError, KeyError):
            continue  # constants alone, and literals of another type
    return dict(list(found.items())[:n])


def compare(
    frame: Frame, reference: Reference, n: int, together: int
) -> tuple[int, int, list[str]]:
    """Return how many formulas were compared, how many the engine computed, and which differ."""
    asked, wrong = typed(frame, n), []
    own = [text for text, tree in asked.items() if _computes(frame, text, tree)]
    rest = [text for text in asked if text not in set(own)]
    for part, size in ((own, together), (rest, max(together, TOGETHER))):
        for i in range(0, len(part), size):
            some = part[i : i + size]
            derived = frame.derived(None, *(("column", text) for text in some)).computed()
            for text, found in zip(some, _found(derived, some), strict=True):
                if found != reference.counts(asked[text]):
                    wrong.append(text)
    conditions = [text for text, tree in asked.items() if tree.type is Type.BOOLEAN]
    if _is_spark(frame):  # a filter takes seconds there
        conditions = conditions[:20]
    wrong += [
        f"where {text}"
        for text in conditions
        if len(frame.derived(text).computed()) != reference.kept(asked[text])
    ]
    return len(asked), len(own), wrong


def _is_spark(frame: Frame) -> bool:
    return type(frame.engine).__name__ == "Spark"


def _computes(frame: Frame, text: str, tree: Any) -> bool:
    """Return whether the engine computes a formula itself."""
    if not _is_spark(frame):
        derived = frame.derived(None, ("column", text)).computed()
        return not isinstance(derived.engine, Derived)

    engine: Any = frame.engine
    try:
        engine.expressions.column(tree)
    except NotExactError:
        return False
    return True


def _found(derived: Frame, some: list[str]) -> Iterator[Counter[str | None]]:
    """Yield how often each text occurs among the values of each formula: one query for all."""
    read = [
        [column.texts.tolist() for column in columns]
        + [np.ones(len(columns[0]), int).tolist() if counts is None else counts.tolist()]
        for columns, counts in derived.engine.combinations(some)
    ]
    for i in range(len(some)):
        rows: Counter[str | None] = Counter()
        for block in read:
            for key, k in zip(block[i], block[-1], strict=True):
                rows[key] += k
        yield rows


# ---- The engines ---------------------------------------------------------------------------------


@contextmanager
def pandas(table: pa.Table, _: str) -> Iterator[Frame]:
    from pandas import ArrowDtype

    yield Frame(table.to_pandas(types_mapper=ArrowDtype))


@contextmanager
def polars(table: pa.Table, _: str) -> Iterator[Frame]:
    from polars import from_arrow

    yield Frame(from_arrow(table))


@contextmanager
def polars_lazy(table: pa.Table, _: str) -> Iterator[Frame]:
    from polars import DataFrame

    yield Frame(DataFrame(table).lazy())


@contextmanager
def duckdb(table: pa.Table, folder: str) -> Iterator[Frame]:
    path = f"{folder}/rows.parquet"
    pq.write_table(table, path, row_group_size=5)
    yield Frame(path)


@contextmanager
def postgres(table: pa.Table, _: str) -> Iterator[Frame]:
    from test_postgres_table import written

    from postgres import BINARIES, Cluster
    from sourdine.frames.databases import open_table

    cluster = Cluster(
        next(p for p in map(Path, BINARIES.split(pathsep)) if (p / "initdb").exists())
    )
    dsn = cluster.create()
    try:
        yield Frame(open_table(dsn, written(dsn, table)))
    finally:
        cluster.stop()


@contextmanager
def spark(table: pa.Table, folder: str) -> Iterator[Frame]:
    sys.path.insert(0, str(TESTS.parent / "tests_spark"))  # it has a conftest, as the others do
    from conftest import Sparks

    path = f"{folder}/spark.parquet"
    pq.write_table(table, path)
    sparks = Sparks("local[2]")
    try:
        yield Frame(sparks.classic.read.parquet(path))
    finally:
        sparks.stop()


WAYS = {one.__name__: one for one in (pandas, polars, polars_lazy, duckdb, postgres, spark)}


def main(names: list[str], n: int) -> int:
    table, failed = hostile(), 0
    cities = [c and c.replace("\0", "") for c in table["city"].to_pylist()]
    plain = table.set_column(table.column_names.index("city"), "city", pa.array(cities))
    whole, without_nul = Reference(table), Reference(plain)
    for name in names:
        reference = without_nul if name == "postgres" else whole
        with TemporaryDirectory() as folder, WAYS[name](reference.table, folder) as frame:
            start = process_time()
            together = {"spark": IN_SPARK, "polars_lazy": 1}.get(name, TOGETHER)
            compared, own, wrong = compare(frame, reference, n, together)
        seconds = process_time() - start
        print(
            f"{name:12} {compared:5} formulas x {table.num_rows} rows, {own:4} computed by the "
            f"engine, {len(wrong)} differ, {seconds:.0f} CPU s",
            flush=True,
        )
        for text in wrong[:20]:
            print("   ", text)
        failed += len(wrong)
    return int(failed > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*", default=[name for name in WAYS if name != "spark"])
    parser.add_argument("--formulas", type=int, default=2000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.exit(main(given.engines, given.formulas))
