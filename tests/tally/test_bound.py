"""Each person keeps so many rows, chosen by a hash of their own rows."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.grid import Grid
from sourdine.noise import SeededSource
from sourdine.tally import Codes, Frame, Ticks

ENGINES = (
    *("list", "numpy", "pandas", "pandas-arrow", "polars", "polars-lazy", "arrow"),
    *("duckdb", "parquet", "csv"),
)
ROWS = st.lists(
    st.tuples(st.sampled_from(["ann", "bob", "çelik", None]), st.integers(0, 3)), max_size=25
)


def table(rows):
    people, values = zip(*rows, strict=True) if rows else ((), ())
    return {"who": list(people), "x": list(values)}


def kept(frame):
    """The rows that stay, as counts of (who, x)."""
    counts = frame.tally(Codes("who", ["ann", "bob", "çelik"]), Ticks("x", Grid(0, 3, step=1)))
    return counts.counts[:, :4]


@given(ROWS, st.integers(1, 4), st.integers(0, 5))
def test_nobody_keeps_more(rows, most, seed):
    frame = Frame(table(rows))
    owned, stay = kept(frame), kept(frame.bound("who", most, source=SeededSource(seed)))
    assert (stay <= owned).all()
    assert (stay.sum(1) == np.minimum(owned.sum(1), most)).all()


@given(ROWS, ROWS, st.integers(1, 3), st.randoms(use_true_random=False))
def test_others_do_not_change_what_is_kept(mine, others, most, random):
    mine = [("ann", x) for _, x in mine]
    others = [(who, x) for who, x in others if who != "ann"]
    mixed = mine + others
    random.shuffle(mixed)
    alone, together = (
        kept(Frame(table(rows)).bound("who", most, source=SeededSource(2)))[0]
        for rows in (mine, mixed)
    )
    assert (alone == together).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_keep_the_same_rows(engine, as_engine):
    rng = np.random.default_rng(5)
    who = pa.array([None if w == 0 else int(w) for w in rng.integers(0, 9, 200)])
    rows = pa.table(
        {
            "who": who,
            "text": pa.array([["é", "a:b", "1", None, "😀x"][i] for i in rng.integers(0, 5, 200)]),
            "half": pa.array(rng.integers(0, 4, 200) / 2 + 0.25),
            'whole "n"': pa.array(rng.integers(-2, 2, 200)),
            "rank": pa.array(rng.integers(0, 50, 200)),
        }
    )
    stay = as_engine(engine, rows).bound("who", 3, source=SeededSource(9))
    reference = Frame(rows).bound("who", 3, source=SeededSource(9))
    assert len(stay) == len(reference) == 27
    for name in rows.column_names:
        assert stay.distinct(name)[0] == reference.distinct(name)[0]
        assert stay.distinct(name)[1].tolist() == reference.distinct(name)[1].tolist()


@pytest.mark.parametrize("engine", ["list", "duckdb", "parquet", "polars-lazy", "csv"])
def test_rows_without_a_name_are_one_person(engine, as_engine):
    rows = pa.table({"who": pa.array([None, None, None, "", "a"]), "x": pa.array([1, 2, 3, 4, 5])})
    assert len(as_engine(engine, rows).bound("who", 2)) == 3


@pytest.mark.parametrize("engine", ["list", "duckdb", "parquet"])
def test_identical_rows_are_counted_one_by_one(engine, as_engine):
    rows = pa.table({"who": pa.array(["a"] * 9), "x": pa.array([1] * 8 + [2])})
    drawn = [
        as_engine(engine, rows).bound("who", 3, source=SeededSource(s)).distinct("x")[1].tolist()
        for s in range(6)
    ]
    reference = [
        Frame(rows).bound("who", 3, source=SeededSource(s)).distinct("x")[1].tolist()
        for s in range(6)
    ]
    assert all(sum(counts) == 3 for counts in drawn)
    assert drawn == reference
    assert len({tuple(counts) for counts in drawn}) == 2


def test_every_row_is_kept_equally_often():
    frame = Frame({"who": ["a"] * 4, "x": [0, 0, 1, 2]})
    grid = Ticks("x", Grid(0, 2, step=1))
    n = 1000
    kept_ones = sum(
        frame.bound("who", 1, source=SeededSource(s)).tally(grid).counts for s in range(n)
    )
    expected = n * np.array([0.5, 0.25, 0.25, 0])
    assert (np.abs(kept_ones - expected) <= 6.2 * np.sqrt(n) / 2).all()


def test_every_call_has_a_key_of_its_own():
    frame = Frame({"who": ["a"] * 64, "x": list(range(64))})
    chosen = [frame.bound("who", 20).distinct("x")[0] for _ in range(3)]
    assert all(a != b for a, b in itertools.combinations(chosen, 2))


def test_bad_parameters():
    frame = Frame({"who": ["a"], "x": [1]})
    with pytest.raises(ParameterError, match="rows must be at least 1, got 0"):
        frame.bound("who", 0)
    with pytest.raises(ParameterTypeError, match="rows must be a whole number"):
        frame.bound("who", 1.5)
    with pytest.raises(ParameterError, match=r"got 'whom'. The columns are: 'who', 'x'"):
        frame.bound("whom", 1)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("most", [1, 3, 1001])
def test_what_is_written_alike_is_one_row_several_times(engine, most, as_engine):
    """Zeros of both signs, NaN and nothing, empty texts: equal texts are numbered together."""
    nan, rng = float("nan"), np.random.default_rng(4)
    floats = rng.choice([0.0, -0.0, nan, 2.5], 90).tolist()
    texts = [None if i == 0 else ["", "a", "b"][i % 3] for i in rng.integers(0, 4, 90)]
    rows = pa.table(
        {
            "who": pa.array([None if nan != x else x for x in rng.choice([0.5, nan, -1], 90)]),
            "x": pa.array([None if i % 17 == 0 else x for i, x in enumerate(floats)]),
            "t": pa.array(texts, pa.string()),
            "at": pa.array(rng.integers(0, 3, 90) * 10**6, pa.timestamp("us")),
        }
    )
    stay = as_engine(engine, rows).bound("who", most, source=SeededSource(3))
    reference = Frame(rows).bound("who", most, source=SeededSource(3))
    columns = rows.column_names[1:]
    assert stay.combinations(columns) == reference.combinations(columns)
    for name in rows.column_names:
        assert stay.distinct(name)[1].tolist() == reference.distinct(name)[1].tolist()
        assert stay.present(name) == reference.present(name)


def test_columns_that_are_not_asked_for_do_not_matter():
    """The rows that stay are those of a table that has no other columns."""
    rows = {"who": ["a"] * 9 + ["b"] * 5, "x": [*range(9), *range(5)]}
    more = {"z": [float(i) for i in range(14)], **rows, "y": list("abcdefghijklmn")}
    want = Frame(rows).bound("who", 2, source=SeededSource(1)).distinct("x")
    stay = Frame(more).only("x", "who").bound("who", 2, source=SeededSource(1))
    assert stay.columns == ("who", "x")
    assert stay.distinct("x")[0] == want[0]
