"""Each person keeps so many rows, chosen by a key and by their own rows."""

from __future__ import annotations

import itertools

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.frames import units
from sourdine.frames.cells import Codes, Ticks
from sourdine.frames.duck import stays
from sourdine.frames.frame import Frame
from sourdine.frames.memory import Column
from sourdine.frames.reading import read_text
from sourdine.frames.units import MOST, NARROW, chosen, sort_key
from sourdine.grid import Grid
from sourdine.noise import SeededSource

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


@pytest.mark.slow
@given(ROWS, st.integers(1, 4), st.integers(0, 5))
def test_nobody_keeps_more(rows, most, seed):
    frame = Frame(table(rows))
    owned, stay = kept(frame), kept(frame.bound("who", most, source=SeededSource(seed)))
    assert (stay <= owned).all()
    assert (stay.sum(1) == np.minimum(owned.sum(1), most)).all()


@pytest.mark.slow
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


@pytest.mark.quick_cases(1)
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


@pytest.mark.quick_cases(1)
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


@pytest.mark.parametrize("n", range(1, 13))
def test_so_many_rows_stay_for_every_start(n):
    """All starts and all numbers of rows: so many stay, and each row for so many starts."""
    for k in range(1, n):
        found = np.array([chosen(np.arange(n), n, start, k) for start in range(n)])
        assert (found.sum(1) == k).all()
        assert (found.sum(0) == k).all()
        assert (chosen(np.arange(n), n, 5 * n, k) == found[0]).all()


LEVEL = 1e-3
"""How often a test of uniformity that is drawn anew would fail."""


def uniform(counts, off):
    """Whether sets are equally frequent; a set that is so much off is noticed 19 times of 20."""
    n, sets = sum(counts), len(counts)
    limit = stats.chi2.isf(LEVEL, sets - 1)
    noncentral = n * off**2 / (sets - 1)  # one set off by that part, the others share it
    assert stats.ncx2.sf(limit, sets - 1, noncentral) > 0.95
    return stats.chisquare(counts).statistic < limit


@pytest.mark.slow
def test_every_row_is_kept_equally_often():
    """Over keys, the seven sets of three rows out of seven that can stay."""
    frame = Frame({"who": ["a"] * 7, "x": list(range(7))})
    drawn = [
        tuple(frame.bound("who", 3, source=SeededSource(s)).distinct("x")[0]) for s in range(4000)
    ]
    sets, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(sets) == 7
    assert uniform(counts.tolist(), 0.25)
    assert np.unique(sets, return_counts=True)[1].tolist() == [3] * 7


def test_people_start_anywhere():
    """Over people, under one key."""
    people = 20_000
    frame = Frame({"who": np.repeat(np.arange(people), 5), "x": np.tile(np.arange(5), people)})
    kept_ones = frame.bound("who", 1, source=SeededSource(6)).tally(Ticks("x", Grid(0, 4, step=1)))
    assert kept_ones.total == people
    assert uniform(kept_ones.counts[:5].tolist(), 0.1)


EDGES = [
    *((NARROW - 1, 1 << 46), (NARROW, 1 << 46), (NARROW - 1, NARROW), (1, 1 << 62)),
    *((NARROW, MOST), (MOST // 2, MOST), (MOST - 1, MOST), (MOST, MOST)),
]


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(("rows", "owned"), EDGES)
def test_many_rows_kept_do_not_overflow(rows, owned):
    places = [0, 1, owned // 3, owned - 2, owned - 1]
    for place, first in itertools.product(places, (0, 1, owned // 2, owned - 1)):
        values = {"place": place, "owned": owned, "first": first}
        columns = ", ".join(f"CAST('{v}' AS BIGINT) AS {name}" for name, v in values.items())
        ((found,),) = duckdb.sql(f"SELECT {columns}").project(stays(rows)).fetchall()
        assert found == (owned <= rows or chosen(place, owned, first, rows))


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("engine", ["list", "duckdb"])
@pytest.mark.parametrize("most", [2, 40, 10**30])
def test_wide_numbers_choose_the_same(engine, most, as_engine, monkeypatch):
    rng = np.random.default_rng(7)
    rows = pa.table({"who": rng.integers(0, 3, 300), "x": rng.integers(0, 99, 300)})
    want = Frame(rows).bound("who", most, source=SeededSource(2)).combinations(["who", "x"])
    monkeypatch.setattr("sourdine.frames.units._SQUARED", 1)
    monkeypatch.setattr("sourdine.frames.units.NARROW", 1)
    stay = as_engine(engine, rows).bound("who", most, source=SeededSource(2))
    assert stay.combinations(["who", "x"]) == want
    assert sum(want.values()) == min(3 * most, 300)


NUMBERS = st.one_of(
    st.floats(), st.integers(-(2**63), 2**64 - 1), st.integers(2**53 - 3, 2**53 + 3), st.booleans()
)
TEXTS = st.one_of(
    st.none(), NUMBERS.map(str), st.text("0a\0é😀. 1e-", min_size=1), st.text(min_size=1)
)


@pytest.mark.slow
@given(st.lists(NUMBERS, max_size=9))
def test_columns_of_numbers_are_in_the_order_of_their_texts(values):
    """What is sorted as numbers is in the order of the definition."""
    for kind in (float, int, bool):
        own = [v for v in values if type(v) is kind]
        key = (lambda v: (v == v, v)) if kind is float else None  # noqa: PLR0124
        by_number = [read_text(v) for v in sorted((v for v in own if v == v), key=key)]  # noqa: PLR0124
        texts = [t for t in map(read_text, own) if t is not None]
        assert by_number == sorted(texts, key=sort_key)


@pytest.mark.slow
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=2, max_size=6))
def test_keys_of_columns_may_be_put_together(rows):
    rows = [[read_text(t) for t in row] for row in rows]
    together = sorted(rows, key=lambda row: b"".join(map(sort_key, row)))
    assert together == sorted(rows, key=lambda row: [sort_key(t) for t in row])


HOSTILE = [
    *("1", " 1", "1.0", "-0", "0", "-0.0", "1e999", "-1e999", "1e-999", "inf", "-Infinity", "nan"),
    *("0x1", "1_0", "٣", "a", "A", "b", "B", "é", "e\u0301", "😀", "\uffff", "10", "9", "+9", "9."),
    *(
        "9007199254740993",
        "9007199254740992.0",
        "9007199254740992",
        "9" * 38,
        "9" * 39,
        "-" + "9" * 38,
    ),
    *(
        "10000000000000000",
        "9999999999999999",
        "-9999999999999999",
        "-10000000000000000",
        "2024-01-01",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine", ["list", "numpy", "pandas", "polars-lazy", "duckdb", "parquet", "csv"]
)
def test_texts_have_one_order(engine, as_engine):
    """A different start shows each place of the order."""
    rng = np.random.default_rng(1)
    rows = pa.table({"who": [3] * len(HOSTILE), "t": rng.permutation(HOSTILE).tolist()})
    frame = as_engine(engine, rows)
    seen = set()
    for seed in range(60):
        (text,) = frame.bound("who", 1, source=SeededSource(seed)).distinct("t")[0]
        assert [text] == Frame(rows).bound("who", 1, source=SeededSource(seed)).distinct("t")[0]
        seen.add(text)
    assert len(seen) > len(HOSTILE) / 2


def test_a_collation_does_not_matter():
    connection = duckdb.connect()
    connection.execute("SET default_collation = 'nocase'; SET default_order = 'DESC'")
    rng = np.random.default_rng(3)
    rows = pa.table(
        {
            "who": rng.choice(["a", "A", "b"], 60).tolist(),
            "t": rng.choice(["x", "X", "y", "Y"], 60).tolist(),
            "i": np.arange(60),
        }
    )
    want = Frame(rows).bound("who", 4, source=SeededSource(1)).distinct("i")[0]
    connection.register("rows_of_test", rows)
    relation = connection.sql("SELECT * FROM rows_of_test")
    assert len(want) == 12
    assert Frame(relation).bound("who", 4, source=SeededSource(1)).distinct("i")[0] == want


def test_every_call_has_a_key_of_its_own():
    frame = Frame({"who": np.repeat(np.arange(64), 2), "x": np.arange(128)})
    drawn = [frame.bound("who", 1).distinct("x")[0] for _ in range(3)]
    assert all(a != b for a, b in itertools.combinations(drawn, 2))


def test_bad_parameters():
    frame = Frame({"who": ["a"], "x": [1]})
    with pytest.raises(ParameterError, match="rows must be at least 1, got 0"):
        frame.bound("who", 0)
    with pytest.raises(ParameterTypeError, match="rows must be a whole number"):
        frame.bound("who", 1.5)
    with pytest.raises(
        ParameterError, match=r"got 'whom'. Did you mean 'who'\? The columns are: 'who', 'x'"
    ):
        frame.bound("whom", 1)


@pytest.mark.quick_cases(2)
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


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_nobody_keeps_more_rows_than_are_asked_for(rows):
    unit, x = Column.of(["a"] * 4 + ["b"] * 3 + ["c"]), Column.of(list(range(8)))
    places = units.kept(unit, [unit, x], rows, b"key")
    owners = unit[places].texts.tolist()
    assert [owners.count(name) for name in "abc"] == [min(rows, n) for n in (4, 3, 1)]
    assert len(set(places.tolist())) == len(places)
