"""A driver that sanitises with a known key, shows its plans, and is killed while it writes.

It is run by ``test_local_key.py``, which hands over what it needs as JSON on standard input.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql.connect.session import SparkSession as Connect  # noqa: E402

from sourdine.frames.reading import STANDARD  # noqa: E402
from sourdine.local import Flag, Schema, density  # noqa: E402
from sourdine.local.spark import sanitizing  # noqa: E402
from sourdine.local.spark.sanitizing import drawn  # noqa: E402
from sourdine.local.spark.tasks import settled  # noqa: E402


class Given:
    """Gives the known key."""

    private = True

    def __init__(self, key):
        self.key = key

    def bytes(self, count, /):
        assert count == len(self.key)
        return self.key


class Slow:
    """Hands rows on, and then takes its time."""

    def __call__(self, batches):
        for batch in batches:
            yield batch
            time.sleep(60)


def slowly_drawn(*args):
    """Return reports that take their time where they are written."""
    reports = drawn(*args)
    return reports.mapInArrow(Slow(), reports.schema)


def plan(frame):
    if hasattr(frame, "_jdf"):
        return frame._jdf.queryExecution().toString()
    return frame._explain_string(extended=True)


def main():
    told = json.load(sys.stdin)
    folder, key = Path(told["folder"]), told["key"].encode()
    builder = SparkSession.builder.master("local[2]")
    for name, value in told["settings"].items():
        builder = builder.config(name, value)
    classic = builder.getOrCreate()
    classic.sparkContext.setLogLevel("DEBUG")
    port = told["settings"]["spark.connect.grpc.binding.port"]
    connect = Connect.builder.remote(f"sc://127.0.0.1:{port}").create()
    schema = Schema(smokes=Flag(), epsilon=1, missing="random")
    for name, spark in {"classic": classic, "connect": connect}.items():
        rows = spark.range(0, 200, 1, 2).selectExpr("id % 2 = 0 as smokes")
        for i, frame in enumerate((rows, rows.repartition(2))):
            clean = schema.sanitize(frame, to=folder / "out" / f"{name}{i}", source=Given(key))
            clean.count()
            cells = [("smokes", schema.parts()["smokes"].cell)]
            reports = drawn(schema, settled(frame, cells, STANDARD), ("smokes",), key)
            print(plan(reports))  # noqa: T201
        ones = rows.selectExpr("cast(smokes as int) as x")
        density(ones, bounds=(0, 1), epsilon=1, source=Given(key))
        spark.range(3).selectExpr(f"'{told['other']}' as told").filter("told > 'a'").count()
    print("written", flush=True)  # noqa: T201
    sanitizing.drawn = slowly_drawn
    rows = classic.range(0, 200, 1, 2).selectExpr("true as smokes")
    work = {"target": schema.sanitize, "args": [rows], "kwargs": {"to": folder / "killed"}}
    threading.Thread(**work, daemon=True).start()
    while not list((folder / "killed").rglob("_temporary")):
        time.sleep(0.05)
    classic.sparkContext._gateway.proc.kill()
    os._exit(0)


if __name__ == "__main__":
    main()
