"""A script whose executors may run another Python than it does: see ``test_other_python.py``.

It prints what calls on a Spark frame and on the same rows in memory gave, as JSON.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from tempfile import mkdtemp

import pyarrow as pa
import pyarrow.parquet as pq

import sourdine as sd
from sourdine.local import Choice, Number, Schema, estimate
from sourdine.noise import SeededSource

N = 400
ROWS = pa.table({
    "who": [f"p{i % 37}" for i in range(N)],
    "wage": [(i * 7919 % 1999) + 0.25 for i in range(N)],
    "big": [(-1) ** i * (i * 10**16) for i in range(N)],
    "text": [f"{i % 90},5" for i in range(N)],
    "vote": ["yes" if i % 3 else "no" for i in range(N)],
})  # fmt: skip
WAGE = {"column": "wage", "epsilon": 2}
CALLS = {
    "mean": lambda rows, s: sd.mean(rows, bounds=(0, 2000), source=s, **WAGE),
    "unit": lambda rows, s: sd.mean(rows, bounds=(0, 2000), unit="who", rows=2, source=s, **WAGE),
    "find": lambda rows, s: sd.mean(rows, bounds="find", source=s, **WAGE),
    "wide": lambda rows, s: sd.median(
        rows, column="big", bounds=(-(2**62), 2**62), step=2**30, epsilon=2, source=s
    ),
    "text": lambda rows, s: sd.mean(
        rows, column="text", bounds=(0, 100), read={"decimal": ","}, epsilon=2, source=s
    ),
}


def session(remote):
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": "1",
    }
    if remote:
        settings["spark.plugins"] = "org.apache.spark.sql.connect.SparkConnectPlugin"
        settings["spark.connect.grpc.binding.port"] = remote
        settings["spark.connect.grpc.binding.address"] = "127.0.0.1"
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    classic = builder.getOrCreate()
    classic.sparkContext.setLogLevel("OFF")
    if not remote:
        return classic
    from pyspark.sql.connect.session import SparkSession as Connect

    return Connect.builder.remote(f"sc://127.0.0.1:{remote}").create()


def told(work):
    try:
        return work()
    except sd.ParameterError as error:
        return str(error)


def main(names, remote=""):
    warnings.simplefilter("ignore")
    folder = Path(mkdtemp())
    pq.write_table(ROWS, folder / "rows.parquet")
    frame = session(remote).read.parquet(str(folder / "rows.parquet"))
    found = {
        name: [told(lambda: call(rows, SeededSource(5)).value) for rows in (frame, ROWS)]  # noqa: B023
        for name, call in CALLS.items()
        if name in names.split(",")
    }
    schema = Schema(
        wage=Number(0, 2000, step=1), vote=Choice("yes", "no"), epsilon=4, missing="random"
    )

    def sanitised():
        drop = ["who", "big", "text"]
        return estimate(schema.sanitize(frame, to=folder / "clean", drop=drop)).reports("vote")

    found["sanitised"] = [told(sanitised), N]
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
