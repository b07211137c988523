"""The same seed gives the same release from Spark and from DuckDB, to the letter."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sourdine as sd
from sourdine.noise import SeededSource

N = 6000
DECILES = [i / 10 for i in range(1, 10)]
WAGE = {"column": "wage", "bounds": (0, 200_000), "epsilon": 1}
REGIONS = {"by": "region", "keys": ["n", "s", "e", "w", "?"]}
BY_UNIT = {"unit": "patient", "rows": 2}
CALLS = {
    "count": lambda x, s: sd.count(x, epsilon=1, source=s),
    "count column": lambda x, s: sd.count(x, column="wage", epsilon=1, source=s),
    "count by": lambda x, s: sd.count(x, epsilon=1, source=s, **REGIONS),
    "sum": lambda x, s: sd.sum(x, source=s, **WAGE),
    "mean": lambda x, s: sd.mean(x, source=s, **WAGE),
    "mean known": lambda x, s: sd.mean(x, source=s, relation="substitute", **WAGE),
    "mean found": lambda x, s: sd.mean(x, column="wage", bounds="find", epsilon=1, source=s),
    "variance": lambda x, s: sd.variance(x, source=s, **WAGE),
    "proportion": lambda x, s: sd.proportion(x, column="smokes", epsilon=1, source=s),
    "histogram": lambda x, s: sd.histogram(
        x, column="wage", bins=[0, 1e4, 2e4, 5e4], epsilon=1, source=s
    ),
    "unknown": lambda x, s: sd.histogram(
        x, column="region", categories="unknown", epsilon=1, delta=1e-6, source=s
    ),
    "deciles": lambda x, s: sd.quantiles(x, DECILES, source=s, **WAGE),
    "interval": lambda x, s: sd.quantiles(x, DECILES, interval=0.95, source=s, **WAGE),
    "median": lambda x, s: sd.median(x, column="age", bounds=(0, 120), step=1, epsilon=1, source=s),
    "dates": lambda x, s: sd.median(
        x, column="day", bounds=("2019-01-01", "2022-01-01"), epsilon=1, source=s
    ),
    "mean by": lambda x, s: sd.mean(x, source=s, **WAGE, **REGIONS),
    "deciles by": lambda x, s: sd.quantiles(x, DECILES, source=s, **WAGE, **REGIONS),
    "found groups": lambda x, s: sd.mean(
        x, source=s, by="region", keys="unknown", delta=1e-6, **WAGE
    ),
    "unit": lambda x, s: sd.mean(x, source=s, **BY_UNIT, **WAGE),
    "unit by": lambda x, s: sd.mean(x, source=s, **BY_UNIT, **WAGE, **REGIONS),
    "unit deciles": lambda x, s: sd.quantiles(x, DECILES, source=s, **BY_UNIT, **WAGE),
    "rows found": lambda x, s: sd.mean(
        x, source=s, unit="patient", rows="find", **{**WAGE, "epsilon": 4}
    ),
    "cdf": lambda x, s: sd.cdf(x, source=s, **WAGE),
    "table": lambda x, s: sd.table(
        x,
        of={"wage": ["mean", "deciles"], "age": ["median"], "*": ["count"]},
        bounds={"wage": (0, 200_000), "age": (0, 120)},
        epsilon=4,
        source=s,
    ),
    "describe": lambda x, s: sd.describe(
        x, columns=["age", "region"], epsilon=8, delta=1e-6, source=s
    ),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(3)
    wage = np.round(rng.lognormal(10, 0.6, N), 2)
    wage[::97] = np.nan
    table = pa.table(
        {
            "wage": wage,
            "age": rng.integers(18, 90, N),
            "region": np.array(list("nsew"))[rng.integers(0, 4, N)],
            "smokes": rng.random(N) < 0.3,
            "patient": rng.integers(0, 2000, N),
            "day": (np.datetime64("2020-01-01") + rng.integers(0, 700, N)).astype("datetime64[D]"),
        }
    )
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(table, path, row_group_size=1000)
    return str(path)


@pytest.mark.parametrize("name", CALLS)
def test_spark_and_duckdb_release_the_same(name, path, spark):
    call = CALLS[name]
    frame = spark.read.parquet(path).repartition(3)
    ours, theirs = (call(data, SeededSource(7)) for data in (frame, path))
    assert repr(ours.value) == repr(theirs.value)
    assert json.dumps(ours.to_dict()) == json.dumps(theirs.to_dict())


def test_a_session_charges_once_and_answers(path, sparks):
    with_connect = sparks.connect.read.parquet(path)
    session = sd.Session(with_connect, epsilon=2)
    release = session.median(column="wage", bounds=(0, 200_000), epsilon=1)
    assert 0 < release.value < 200_000
    assert session.remaining.exact_epsilon() == 1
    assert len(session.history) == 1
