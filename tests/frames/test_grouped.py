"""Groups counted in one pass: the same numbers as cutting the rows out, on every engine."""

from __future__ import annotations

from itertools import product

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sourdine.frames.cells import Codes, Edges, Ticks
from sourdine.frames.frame import Frame
from sourdine.frames.grouped import GroupRows
from sourdine.grid import Grid

RNG = np.random.default_rng(3)
N = 4000
NAN = float("nan")
DATA = {
    "sex": [None if i % 97 == 0 else "fm"[i % 2] for i in range(N)],
    "place": RNG.integers(-3, 90, N).tolist(),
    "age": [NAN if i % 31 == 0 else float(x) for i, x in enumerate(RNG.integers(-5, 130, N))],
    "far": RNG.integers(0, 1 << 40, N).tolist(),
    "word": [None if i % 5 == 0 else f"w{i % 3}" for i in range(N)],
}
AGES = Ticks("age", Grid(0, 120, step=1))
FAR = Ticks("far", Grid(0, 1 << 40, step=1))
ASKED = {
    "sex": (["sex"], [("f",), ("m",), ("x",)]),
    "places": (["place"], [(i,) for i in range(80)]),
    "texts": (["place"], [(str(i),) for i in (7, 3, 500, -3)]),
    "both": (["sex", "place"], list(product("fm", range(70)))),
    "some": (["place", "sex"], [(3, "m"), (70, "f"), (3, "f")]),
    "three": (["sex", "place", "word"], [("f", 3, "w1"), ("m", 4, "w2"), ("f", 3, "w9")]),
    "ages": (["age"], [(5,), (7.0,), (119,)]),
    "many ages": (["age"], [(i,) for i in range(100)]),
}


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grouped")
    arrow = pa.table(DATA)
    pq.write_table(arrow, folder / "x.parquet")
    pd.DataFrame(DATA).to_csv(folder / "x.csv", index=False)
    connection = duckdb.connect()
    yield {
        "dict": Frame(DATA),
        "pandas": Frame(pd.DataFrame(DATA)),
        "polars": Frame(pl.DataFrame(DATA)),
        "lazy": Frame(pl.DataFrame(DATA).lazy()),
        "duck": Frame(connection.from_arrow(arrow)),
        "parquet": Frame(folder / "x.parquet"),
        "csv": Frame(folder / "x.csv"),
    }
    connection.close()


def facts(frame):
    bins = Edges("age", [0, 18, 65, 120])
    words = Codes("word", ["w0", "w2"])
    ticks, counts = frame.between(AGES, [(3, 9), (20, 40)])
    return [
        len(frame),
        frame.present("word"),
        frame.present("age"),
        frame.moments(AGES, 2),
        frame.total(AGES, 1),
        frame.moments(FAR, 3),
        frame.tally(AGES).counts.tolist(),
        frame.tally(bins, words).counts.tolist(),
        frame.tally(FAR).ticks.tolist(),
        ticks.tolist(),
        counts.tolist(),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("name", ASKED)
def test_parts_count_what_the_split_rows_hold(name, other, frames):
    columns, keys = ASKED[name]
    texts = [Frame({c: DATA[c]}).column().texts for c in columns]
    wanted = {
        tuple(p if isinstance(p, str) else str(int(p)) for p in key): i
        for i, key in enumerate(keys)
    }
    place = [wanted.get(tuple(t[i] for t in texts), len(keys)) for i in range(N)]
    cut = []
    for g in range(len(keys) + other):
        rows = [i for i in range(N) if place[i] == g]
        cut.append(Frame({c: [values[i] for i in rows] for c, values in DATA.items()}))
    expected = [facts(part) for part in cut]
    assert sum(e[0] for e in expected) > 0
    for engine, frame in frames.items():
        if engine == "csv" and columns == ["age"]:
            continue  # where 5 is written as 5.0, which is another text
        parts = frame.groups(columns, keys, other=other)
        assert [facts(part) for part in parts] == expected, engine


def test_one_pass_serves_all_groups(frames, monkeypatch):
    """However many groups there are, the data is read once for each kind of question."""
    from sourdine.frames.duck import Duck

    asked = []
    sums = Duck.sums
    monkeypatch.setattr(Duck, "sums", lambda *a: asked.append(a) or sums(*a))
    parts = frames["parquet"].groups(["place"], [(i,) for i in range(80)])
    assert sum(part.moments(AGES, 1)[0] for part in parts) > N / 2
    assert len(asked) == 1


def test_a_group_gives_out_no_rows():
    (part,) = Frame(DATA).groups(["sex"], [("f",)])
    assert isinstance(part.engine, GroupRows)
    for work in (
        lambda: part.column("age"),
        lambda: part.distinct("age"),
        lambda: part["age"],
        lambda: part.split("sex", ["f"]),
        lambda: part.bound("sex", 1),
        lambda: next(part.codes(AGES)),
    ):
        with pytest.raises(TypeError, match="a group counts its rows and gives out none"):
            work()


def test_combinations_agree(frames):
    found = [frame.combinations(["sex", "place"]) for frame in frames.values()]
    assert all(one == found[0] for one in found)
    assert all(None not in key for key in found[0])
    assert sum(found[0].values()) == sum(x is not None for x in DATA["sex"])
    single = frames["csv"].combinations(["word"])
    texts, counts = frames["csv"].distinct("word")
    assert single == {(t,): n for t, n in zip(texts, counts.tolist(), strict=True)}


@pytest.mark.slow
def test_windows_of_all_groups_are_one_query(frames, monkeypatch):
    """Each group has ranges of its own; one pass serves them all."""
    from sourdine.frames.duck import Duck
    from sourdine.frames.grouped import between_each

    asked = []
    within = Duck.within
    monkeypatch.setattr(Duck, "within", lambda *a: asked.append(a) or within(*a))
    keys = [(i,) for i in range(80)]
    ranges = [[(i, i + 9), (i + 20, i + 31)] for i in range(80)] + [[(0, 121)]]
    want = [
        Frame(part).between(AGES, own)
        for part, own in zip(Frame(DATA).groups(["place"], keys, other=True), ranges, strict=True)
    ]
    for name, frame in frames.items():
        parts = [part.engine for part in frame.groups(["place"], keys, other=True)]
        found = between_each(parts, "age", AGES, ranges)
        for (ticks, counts), (more, own) in zip(found, want, strict=True):
            assert ticks.tolist() == more.tolist(), name
            assert counts.tolist() == own.tolist()
        assert between_each(parts[5:2:-1], "age", AGES, ranges[5:2:-1])[1][0].tolist() == (
            want[4][0].tolist()
        )
    assert len(asked) == 2 * 3
    apart = [Frame(DATA).engine, *parts[:2]]
    assert len(between_each(apart, "age", AGES, ranges[:3])[0][0]) == 9 + 11
    assert between_each([], "age", AGES, []) == []


def test_rows_of_no_listed_key_are_in_no_group_or_in_one_of_their_own():
    x = {"g": ["a", None, "b", "c", "a"], "h": [1, 1, 1, 1, 2]}
    keys = [("a",), ("b",)]
    assert [len(part) for part in Frame(x).groups(("g",), keys, other=False)] == [2, 1]
    assert [len(part) for part in Frame(x).groups(("g",), keys, other=True)] == [2, 1, 2]
    both = [("a", 2), ("b", 1), ("c", 2)]
    assert [len(part) for part in Frame(x).groups(("g", "h"), both, other=False)] == [1, 1, 0]
    assert [len(part) for part in Frame(x).groups(("g", "h"), both, other=True)] == [1, 1, 0, 3]


@pytest.mark.parametrize("upper", [1, 2**26, 2**40], ids=["floats", "halves", "integers"])
def test_sums_of_groups_are_those_of_python_integers(upper):
    """Each way to add up: as floats, in halves, and beyond 62 bits; of values, some missing."""
    rng = np.random.default_rng(5)
    x = np.where(rng.random(5_000) < 0.1, np.nan, rng.uniform(0, upper, 5_000))
    key = rng.integers(0, 3, 5_000)
    grid = Grid(0, 1) if upper == 1 else Grid(0, upper, step=1)
    parts = Frame({"x": x, "key": key}).groups(["key"], [(0,), (1,), (2,)])
    for k, part in enumerate(parts):
        ticks = [t for t in grid.ticks(x[key == k], missing=-1).tolist() if t >= 0]
        assert upper == 1 or sum(ticks) > 1 << 31
        expected = [sum(t**power for t in ticks) for power in range(4)]
        assert part.moments(Ticks("x", grid), 3) == expected
        assert len(part) == np.count_nonzero(key == k) > len(ticks)
