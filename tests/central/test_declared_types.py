"""Every statistic on every engine refuses a column by its declared type, before any charge.

The expected answers stand in one table here; engines and statistics are found by themselves.
"""

from __future__ import annotations

import datetime as dt
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sourdine as sd
from every_engine import ENGINES, OPTIONAL, UNTYPED
from sourdine.errors import ParameterError
from sourdine.frames.databases import open_table
from sourdine.noise import SeededSource
from sourdine.questions import STATISTICS

N = 12
DAY = dt.date(2024, 2, 29)
TABLE = pa.table(
    {
        "whole": pa.array(range(N), pa.int32()),
        "real": pa.array([0.5] * N, pa.float64()),
        "yes": pa.array([True] * N),
        "word": pa.array(["12"] * N),
        "day": pa.array([DAY] * N),
        "moment": pa.array([dt.datetime(2024, 2, 29, 12)] * N, pa.timestamp("us")),  # noqa: DTZ001
        "while": pa.array([dt.timedelta(hours=1)] * N, pa.duration("us")),
        "many": pa.array([[1, 2]] * N),
    }
)
NUMBERS, DATES = {"whole", "real", "yes"}, {"day", "moment"}
TEXTS = {*NUMBERS, *DATES, "word", "while"}
ALL = {*TEXTS, "many"}

BETWEEN, DATED = {"bounds": (0, 100)}, {"bounds": ("2020-01-01", "2024-12-31")}
ASKED = [
    ("count", {}, ALL),
    ("sum", BETWEEN, NUMBERS),
    ("sum", {"bounds": "find"}, NUMBERS),
    ("variance", BETWEEN, NUMBERS),
    ("std", BETWEEN, NUMBERS),
    *((name, BETWEEN, NUMBERS) for name in ("covariance", "correlation", "regression")),
    ("proportion", {}, NUMBERS),
    ("proportion", {"category": "12"}, TEXTS),
    ("histogram", {"bins": 4, **BETWEEN}, NUMBERS),
    ("histogram", {"bins": 4, "bounds": "find"}, NUMBERS),
    ("histogram", {"bins": [0, 50, 100]}, NUMBERS),
    ("histogram", {"bins": 4, **DATED}, DATES),
    ("histogram", {"categories": ["12"]}, TEXTS),
    ("histogram", {"categories": "unknown", "delta": 1e-6}, TEXTS),
    ("mode", {"categories": ["12", "13"]}, TEXTS),
    *[
        (name, {**own, **bounds}, kinds)
        for name, own in (
            ("mean", {}),
            ("median", {}),
            ("quantile", {"q": 0.9}),
            ("quantiles", {"q": [0.1, 0.9]}),
            ("cdf", {}),
        )
        for bounds, kinds in ((BETWEEN, NUMBERS), ({"bounds": "find"}, NUMBERS), (DATED, DATES))
    ],
    ("table", {"of": ["mean"], **BETWEEN}, NUMBERS),
    ("table", {"of": ["median"], "bounds": "find"}, NUMBERS),
    ("table", {"of": ["mean"], **DATED}, DATES),
    ("table", {"of": ["count"]}, ALL),
    ("sql", {"statement": "SELECT AVG({}) FROM t", **BETWEEN}, NUMBERS),
    ("sql", {"statement": "SELECT COUNT({}) FROM t"}, ALL),
    ("describe", {}, TEXTS),
    ("describe", {"kinds": "number"}, NUMBERS),
]
"""A statistic, what is typed, and the columns that it takes."""


def typed(name, own, column):
    """Return what is typed for one column: a table and a description name it in their own way."""
    own = {"epsilon": 1, **own}
    if name == "table":
        bounds = {"bounds": {column: own["bounds"]}} if "bounds" in own else {}
        return {**own, "of": {column: own["of"]}, **bounds}
    if name == "sql":
        bounds = {"bounds": {column: own["bounds"]}} if "bounds" in own else {}
        return {**own, "statement": own["statement"].format(f'"{column}"'), **bounds}
    if name in ("covariance", "correlation", "regression"):
        other = "whole" if column != "whole" else "real"
        bounds = {column: own["bounds"], other: (0, 9)}
        return {"epsilon": 1, "x": other, "y": column, "bounds": bounds}
    if name == "describe":
        return {
            **own,
            "columns": [column],
            **({"kinds": {column: own["kinds"]}} if "kinds" in own else {}),
        }
    return {**own, "column": column}


def test_all_statistics_are_asked():
    assert {name for name, _, _ in ASKED} == {*STATISTICS, "describe"}


def in_postgres(dsn):
    psycopg = pytest.importorskip("psycopg")
    types = ["int4", "float8", "bool", "text", "date", "timestamp", "interval", "int4[]"]
    columns = ", ".join(f'"{c}" {t}' for c, t in zip(TABLE.column_names, types, strict=True))
    rows = list(zip(*(c.to_pylist() for c in TABLE.columns), strict=True))
    with psycopg.connect(dsn) as db:
        db.execute(f"CREATE TABLE typed ({columns})")
        marks = ", ".join(["%s"] * len(types))
        db.cursor().executemany(f"INSERT INTO typed VALUES ({marks})", rows)  # noqa: S608
    return sd.Frame(open_table(dsn, "typed"))


TYPED = [*(name for name in ENGINES if name not in {"list", *UNTYPED}), "numpy", "pandas 3"]


@pytest.fixture(params=[*TYPED, pytest.param("postgres", marks=pytest.mark.slow)])
def frame(request, tmp_path):
    needed = OPTIONAL.get(request.param)
    if needed and find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    if request.param == "postgres":
        return in_postgres(request.getfixturevalue("postgres"))
    if request.param == "numpy":
        kinds = {"word": "U2", "day": "M8[D]", "moment": "M8[us]", "while": "m8[us]"}
        columns = {c: np.array(TABLE[c].to_pylist(), kinds.get(c)) for c in set(ALL) - {"many"}}
        return sd.Frame(columns)
    if request.param == "pandas 3":
        frame = TABLE.to_pandas().drop(columns=["many", "day"])
        return sd.Frame(frame.astype({"word": "string"}))
    plain = request.param in {"duckdb file", "duckdb relation of a file"}
    table = TABLE.drop(["while"]) if plain else TABLE  # a number, in Parquet's own types
    return ENGINES[request.param](tmp_path)(table)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*:FutureWarning", "ignore:.*:DeprecationWarning")
def test_declared_types_are_refused_before_anything_is_charged(frame, tmp_path):
    ledger = tmp_path / "typed.ledger"
    session = sd.Session(frame, epsilon=10**6, delta=0.5, ledger=ledger)
    before, refused = ledger.read_bytes(), 0
    for column in frame.columns:
        for name, own, takes in ASKED:
            asked = typed(name, own, column)
            ask = getattr(session, name)
            if column in takes:
                getattr(session.can_release, name)(**asked)  # refuses nothing
                continue
            refused += 1
            with pytest.raises(ParameterError) as error:
                ask(**asked)
            assert repr(column) in str(error.value), (name, asked)
            assert error.value.hint, (name, asked)
            assert session.charges == []
            assert ledger.read_bytes() == before
    assert refused > 90


@pytest.mark.filterwarnings("ignore:.*:FutureWarning", "ignore:.*:DeprecationWarning")
def test_keys_and_persons_are_single_values(frame):
    for column in set(frame.columns) & {"many"}:
        with pytest.raises(ParameterError, match="by must hold single values"):
            sd.count(frame, by=column, keys=["a"], epsilon=1)
        with pytest.raises(ParameterError, match="unit must hold single values"):
            sd.count(frame, unit=column, epsilon=1)


@pytest.mark.quick_cases(1)
@pytest.mark.filterwarnings("ignore:.*:FutureWarning", "ignore:.*:DeprecationWarning")
def test_hints_for_declared_types_are_obeyed(frame):
    """What the refusal says to type is accepted, for the same column."""
    for column in frame.columns:
        for name, own, takes in ASKED:
            asked = typed(name, own, column)
            if column in takes:
                continue
            with pytest.raises(ParameterError) as error:
                getattr(sd, name)(frame, **asked)
            tries = dict(error.value.tries)
            reading = tries.pop("read", None)
            if reading is not None:
                need = "numbers" if "decimal" in reading else "dates"
                assert frame.declared(column).fits(need, sd.Reading(**reading))
            elif tries:
                sd.Session(frame, epsilon=9, delta=0.1).can_release(name, **{**asked, **tries})


def test_text_is_read_where_it_is_declared_how():
    frame = pd.DataFrame({"pay": ["12", "13"] * 500, "day": ["2024-02-29"] * 1000}, dtype="string")
    told = sd.mean(frame, column="pay", bounds=(0, 25), epsilon=9, read={"decimal": "."})
    assert abs(told.value - 12.5) < 1
    told = sd.mean(
        frame, column="day", epsilon=9, bounds=("2024-01-01", "2024-12-31"),
        read={"date_format": "%Y-%m-%d"},
    )  # fmt: skip
    assert abs(told.value.date() - DAY) < dt.timedelta(days=9)


@pytest.mark.slow
@pytest.mark.parametrize("value", ["12", DAY, [1, 2], dt.timedelta(1), None, 3.5])
def test_what_declares_no_type_is_never_refused(value, tmp_path):
    """Lists, objects and text files: a refusal would depend on a value."""
    text = tmp_path / "text.csv"
    text.write_text(f'x,whole\n"{value}",1\n1,2\n', encoding="utf-8")
    whole = {"whole": [1, 2]}
    objects = pd.DataFrame({"x": pd.Series([value, 1], dtype=object), **whole})
    array = {"x": np.array([value, 1, None], object), "whole": [1, 2, 3]}
    for data in ({"x": [value, 1], **whole}, objects, str(text), array):
        for name, own, _ in ASKED:
            getattr(sd.Session(data, epsilon=99, delta=0.5).can_release, name)(
                **typed(name, own, "x")
            )


@pytest.mark.parametrize("name", ["mean", "proportion", "regression"])
def test_whether_a_list_holds_texts_is_told_by_nothing(name):
    """A list states no type: texts, numbers and nothing at all have the same cost and caveats."""
    said = {
        "mean": {"column": "x", "bounds": (0, 9)},
        "proportion": {"column": "x"},
        "regression": {"y": "y", "x": "x", "bounds": {"x": (0, 9), "y": (0, 9)}},
    }[name]
    told = set()
    for x in (["Ann", "Bob"] * 50, [1, 0] * 50, [None] * 100, ["1", 0] * 50):
        release = getattr(sd, name)({"x": x, "y": [1, 2] * 50}, epsilon=1, **said)
        told.add((release.caveats, str(release.cost)))
    assert len(told) == 1
    if name == "mean":
        names = {"x": ["Ann", "Bob"] * 500}
        release = sd.mean(names, epsilon=1, source=SeededSource(2), **said)
        assert "The interval is the whole range" in str(release)
    frame = pd.DataFrame({"x": ["Ann", "Bob"], "y": [1, 2]})
    with pytest.raises(ParameterError, match="must hold numbers"):
        getattr(sd, name)(frame, epsilon=1, **said)
