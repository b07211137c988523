"""One value for each person: exact, in any order, alike in all engines, and one record each."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from math import floor

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from sourdine.errors import ParameterError
from sourdine.frames.frame import Frame
from sourdine.frames.people import MOST, REDUCTIONS, Reduction, exponent

OPENED = {
    "memory": Frame,
    "duckdb": lambda t: Frame(duckdb.from_arrow(t)),
    "polars": lambda t: Frame(pl.from_arrow(t).lazy()),
}


def reductions(*groups, exponents=(-3,)):
    for how, e in itertools.product(REDUCTIONS, exponents):
        yield Reduction("who", how, "x", e, order="t" if how == "last" else None, groups=groups)


def records(frame, how, engine="memory"):
    """The records of people, as counts of (bits of the value, group)."""
    reduced = OPENED[engine](frame).reduced(how)
    found = Counter()
    for columns, counts in reduced.engine.combinations(list(how.names)):
        value, *groups = columns
        texts = [c.texts.tolist() for c in groups]
        bits = [None if np.isnan(v) else float(v).hex() for v in value.floats.tolist()]
        n = [1] * len(bits) if counts is None else counts.tolist()
        for key, k in zip(zip(bits, *texts, strict=True), n, strict=True):
            found[key] += k
    return found


def random_rows(seed, n=400):
    """Numbers of every size, of few people, in any order."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n) * 10.0 ** rng.integers(-12, 25, n)
    x[rng.random(n) < 0.2] = np.round(x[rng.random(n) < 0.2].sum(), 2)
    x[rng.random(n) < 0.05] = np.inf
    x[rng.random(n) < 0.05] = -np.inf
    x[rng.random(n) < 0.1] = np.nan
    who = [None if w == 0 else f"p{w}" for w in rng.integers(0, 60, n).tolist()]
    return pa.table(
        {
            "who": who,
            "x": x,
            "t": pa.array(rng.integers(-2, 3, n), mask=rng.random(n) < 0.2),
            "g": [f"g{g}" for g in rng.integers(0, 2, n).tolist()],
        }
    )


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_engines_reduce_people_alike(engine):
    for seed, how in enumerate(reductions("g", exponents=(-9, -3, 0, 2))):
        rows = random_rows(seed)
        mixed = rows.take(np.random.default_rng(seed).permutation(len(rows)))
        assert records(mixed, how, engine) == records(rows, how)


def test_sums_and_means_are_those_of_integers():
    """Of numbers that no float adds up: the sum is that of the decimals, not of the floats."""
    x = [0.1] * 10 + [1e15, 0.2, -1e15]
    rows = pa.table({"who": ["a"] * 10 + ["b"] * 3, "x": x})
    assert sum(x[:10]) != 1.0
    for engine in OPENED:
        found = records(rows, Reduction("who", "sum", "x", -3), engine)
        assert found == Counter([((1.0).hex(),), ((0.2).hex(),)]), engine
    half = pa.table({"who": ["a", "a", "b", "b"], "x": [0.001, 0.002, -0.001, -0.002]})
    found = records(half, Reduction("who", "mean", "x", -3))
    assert found == Counter([((0.002).hex(),), ((-0.001).hex(),)]), "halves are rounded up"


@pytest.mark.parametrize("engine", OPENED)
def test_absurd_rows_count_as_the_largest_number(engine):
    x = [1e300, float("inf"), 5.0, -1e300, 1e300, -float("inf")]
    rows = pa.table({"who": ["a", "a", "a", "b", "b", "c"], "x": x})
    top = float(MOST) / 1000
    sums = records(rows, Reduction("who", "sum", "x", -3), engine)
    assert sums == Counter([(top.hex(),), ((0.0).hex(),), ((-top).hex(),)])
    mean = records(rows, Reduction("who", "mean", "x", -3), engine)
    third = floor(Fraction(2 * MOST + 5000, 3) + Fraction(1, 2))
    assert mean == Counter([((third / 1000).hex(),), ((0.0).hex(),), ((-top).hex(),)])


@pytest.mark.parametrize("engine", OPENED)
def test_people_without_a_number_are_missing_records(engine):
    rows = pa.table({"who": ["a", "a", "b", None, ""], "x": [None, float("nan"), 1.0, None, 2.0]})
    values = {h: records(rows, Reduction("who", h, "x"), engine) for h in ("sum", "max", "count")}
    for how in ("sum", "max"):
        assert values[how] == Counter([(None,), ((1.0).hex(),), ((2.0).hex(),)]), how
    assert values["count"] == Counter([((0.0).hex(),), ((1.0).hex(),), ((1.0).hex(),)])
    counted = records(rows, Reduction("who", "count"), engine)
    assert counted == Counter([((2.0).hex(),), ((2.0).hex(),), ((1.0).hex(),)])


@pytest.mark.parametrize("engine", OPENED)
def test_the_last_row_is_settled_by_content(engine):
    """Equally late rows: the largest; rows without a time are the earliest of all."""
    days = pa.array([1, 1, 0, None, None, None], pa.int32()).cast(pa.date32())
    rows = pa.table({"who": [*"aaa", *"bbb"], "x": [1.0, 3.0, 9.0, 4.0, 7.0, None], "t": days})
    want = Counter([((3.0).hex(),), ((7.0).hex(),)])
    how = Reduction("who", "last", "x", order="t")
    for order in list(itertools.permutations(range(6)))[:: 1 if engine == "memory" else 41]:
        assert records(rows.take(list(order)), how, engine) == want


@pytest.mark.parametrize("engine", OPENED)
def test_a_group_is_what_all_rows_share(engine):
    rows = pa.table(
        {
            "who": ["a", "a", "b", "b", "c", "d", "d"],
            "x": [1.0] * 7,
            "g": ["u", None, "u", "v", None, "", "v"],
            "h": pa.array([1, 1, 2, 2, 3, None, 4]),
        }
    )
    found = records(rows, Reduction("who", "max", "x", groups=("g", "h")), engine)
    one = (1.0).hex()
    want = [(one, "u", "1"), (one, None, "2"), (one, None, "3"), (one, "v", "4")]
    assert found == Counter(want)


VALUES = (None, 0.0, 1.5, 1e300)


def all_rows(most=2):
    """All that one person may own: up to two rows of a value, a time and a group."""
    rows = [(x, t, g) for x in VALUES for t in (1, None) for g in ("u", "v")]
    return [
        own for n in range(1, most + 1) for own in itertools.combinations_with_replacement(rows, n)
    ]


def table(people):
    rows = [(who, *row) for who, own in people.items() for row in own]
    names = ("who", "x", "t", "g")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


@pytest.mark.parametrize("how", list(reductions("g")), ids=REDUCTIONS)
def test_a_person_is_one_record(how):
    """Whatever rows a person has: added or removed they are one record, replaced one other."""
    others = {"p": [(1.5, 1, "u"), (0.0, 1, "u")], "q": [(None, None, "v")]}
    without = records(table(others), how)
    assert without.total() == 2
    alone = set()
    for own in all_rows():
        added = records(table({**others, "r": own}), how)
        assert not without - added
        assert (added - without).total() == 1
        alone |= set(added - without)
        first = records(table({"r": own, **others}), how)
        assert first == added, "a person is the same wherever their rows are"
    assert len(alone) > 4, "people differ"


def test_the_unit_of_rows_is_fine_and_within_reach():
    for step, bound in ((1, 100), (Fraction(1, 4), 10**6), (Fraction(1, 3), 1), (1000, 10**9)):
        unit = Fraction(10) ** exponent(Fraction(step), [Fraction(0), Fraction(bound)])
        assert step / 10_000 < unit <= Fraction(step) / 1000
    far = [Fraction(10**14), Fraction(10**14 + 1)]
    unit = Fraction(10) ** exponent(Fraction(1, 10**3), far)
    assert unit <= Fraction(1, 10**3)
    assert far[1] <= unit * MOST / 4
    with pytest.raises(ParameterError, match="steps between 0 and the bounds"):
        exponent(Fraction(1, 10**6), [Fraction(10**14)])


def test_no_rows_are_no_people():
    rows = pa.table({"who": pa.array([], pa.string()), "x": pa.array([], pa.float64())})
    for engine, how in itertools.product(OPENED, ("sum", "mean", "max", "count")):
        assert len(OPENED[engine](rows).reduced(Reduction("who", how, "x"))) == 0
