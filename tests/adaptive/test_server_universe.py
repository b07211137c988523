"""The universe of a query server: the cell of a row, the values of a query, what is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from sourdine.adaptive.query_server.evidence import Universe
from sourdine.adaptive.query_server.server import QueryServer
from sourdine.errors import ParameterError, ParameterTypeError


class Hostile:
    def __float__(self):
        raise RuntimeError("no number")

    def __hash__(self):
        raise RuntimeError("no hash")


@pytest.mark.parametrize(
    ("value", "code"),
    [(2, 2), (-5, 0), (99, 3), (1.4, 1), (1.5, 1), (np.nan, 0), (None, 0), (np.inf, 3),
     ("2", 2), ("x", 0), ([1, 2], 0), ({}, 0), (1j, 0), (Hostile(), 0), (True, 1), (10**400, 3)],
)  # fmt: skip
def test_every_value_has_a_cell(value, code):
    assert Universe.read(4).codes([value, 1]).tolist() == [code, 1]
    column = Universe.read({"a": [0, 1, 2, 3]})
    assert column.codes({"a": [value, 1]}).tolist() == [code, 1]


@pytest.mark.parametrize(
    ("value", "code"), [("b", 1), ("a", 0), ("c", 2), (None, 2), (1, 2), ([], 2), (Hostile(), 2)]
)
def test_every_word_has_a_cell(value, code):
    assert Universe.read({"a": ["a", "b"]}).codes({"a": [value, "b"]}).tolist() == [code, 1]
    assert Universe.read({"a": ["a", "b", None]}).codes({"a": [value, "b"]}).tolist() == [code, 1]


def test_a_word_that_is_not_listed_is_none_of_them():
    city = ["Ulm"] * 600 + ["Bonn"] * 300 + ["bonn"] * 100
    server = QueryServer({"city": city}, universe={"city": ["ulm", "bonn"]}, error=0.01)
    assert server.ask(lambda d: d["city"] == "ulm").lower == 0
    assert server.ask(lambda d: d["city"] == "bonn").value == pytest.approx(0.1, abs=0.01)
    assert server.ask(lambda d: d["city"] == None).value == pytest.approx(0.9, abs=0.01)  # noqa: E711
    assert server.ask(lambda d: ~np.isin(d["city"], ["ulm", "bonn"])).value > 0.88


DAY, NEXT = date(2026, 5, 1), date(2026, 5, 2)
EAST = timezone(timedelta(hours=12))


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (DAY, 0), (NEXT, 1), (datetime(2026, 5, 2), 1), (datetime(2026, 5, 2, 10), 2),  # noqa: DTZ001
        (datetime(2026, 5, 2, tzinfo=UTC), 1), (datetime(2026, 5, 2, tzinfo=EAST), 2),
        (datetime(2026, 5, 2, 12, tzinfo=EAST), 1), (np.datetime64("2026-05-02"), 1),
        (np.datetime64("NaT"), 2), (None, 2), ("2026-05-02", 1), ("2026-05-02T12:00+12:00", 1),
        ("2 May", 2), ("20260502", 2), (20260502, 2), ("2026-05-99", 2), (Hostile(), 2),
    ],
)  # fmt: skip
def test_every_date_has_a_cell(value, code):
    universe = Universe.read({"a": [DAY, NEXT]})
    assert universe.codes({"a": [value]}).tolist() == [code]
    if isinstance(value, np.datetime64):
        assert universe.codes({"a": np.array([value])}).tolist() == [code]


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
def test_columns_of_dates(unit):
    rows = {"day": np.array(["2026-05-01", "2026-05-02", "2026-05-02", "NaT"], f"M8[{unit}]")}
    server = QueryServer(rows, universe={"day": [DAY, NEXT]}, error=0.001)
    late = server.ask(lambda d: d["day"] >= np.datetime64("2026-05-02"))
    assert late.value == pytest.approx(0.5, abs=0.001)
    assert server.ask(lambda d: d["day"] == DAY).value == pytest.approx(0.25, abs=0.001)
    assert server.ask(lambda d: np.isnat(d["day"])).value == pytest.approx(0.25, abs=0.001)
    hours = Universe.read({"day": np.array(["2026-05-02T10"], "M8[h]")})
    assert hours.codes(rows).tolist() == [1, 1, 1, 1]


class Capsule:
    def __init__(self, held):
        self.held = held

    def __arrow_c_stream__(self, requested_schema=None):
        return self.held.__arrow_c_stream__(requested_schema)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    "form",
    ["dict", "pandas", "polars", "lazy", "arrow", "relation", "capsule", "csv", "tsv", "parquet"],
)
def test_rows_of_all_forms_of_data_have_the_same_cells(form, tmp_path):
    columns = {
        "age": [30, 41, None, 65, 200],
        "wage": [0.5, float("nan"), 1e9, None, -3.0],
        "city": ["ulm", "Bonn", None, "bonn", ""],
        "day": [DAY, NEXT, None, date(1, 1, 1), NEXT],
        "member": [True, False, None, True, False],
    }
    frame = pl.DataFrame(columns)
    if form in {"csv", "tsv"}:
        rows = tmp_path / f"rows.{form}"
        frame.write_csv(rows, separator="," if form == "csv" else "\t")
    elif form == "parquet":
        rows = tmp_path / "rows.parquet"
        frame.write_parquet(rows)
    else:
        rows = {
            "dict": lambda: columns,
            "pandas": frame.to_pandas,
            "polars": lambda: frame,
            "lazy": frame.lazy,
            "arrow": frame.to_arrow,
            "relation": lambda: duckdb.connect().from_arrow(frame.to_arrow()),
            "capsule": lambda: Capsule(frame),
        }[form]()
    codes = {
        "age": (range(100), [30, 41, 0, 65, 99]),
        "wage": ([0, 1], [0, 0, 1, 0, 0]),
        "city": (["ulm", "bonn"], [0, 2, 2, 1, 2]),
        "day": ([DAY, NEXT], [0, 1, 2, 2, 1]),
        "member": ([False, True], [1, 0, 0, 1, 0]),
    }
    for name, (categories, want) in codes.items():
        assert Universe.read({name: categories}).codes(rows).tolist() == want, name
    whole = Universe.read({name: categories for name, (categories, _) in codes.items()})
    assert len(whole.codes(rows)) == 5
    server = QueryServer(rows, universe={"age": range(100)}, error=0.001)
    assert server.ask(lambda d: d["age"] > 40).value == pytest.approx(0.6, abs=0.001)


def test_booleans():
    rows = {"flag": [True, True, True, False]}
    for given in (rows["flag"], np.array(rows["flag"]), [1, 1, 1, 0]):
        server = QueryServer({"flag": given}, universe={"flag": [False, True]}, error=0.001)
        assert server.ask(lambda d: d["flag"]).value == pytest.approx(0.75, abs=0.001)
        assert server.ask(lambda d: ~d["flag"]).value == pytest.approx(0.25, abs=0.001)
    assert Universe.read({"flag": np.array([False, True])}).size == 2


def test_categories_of_all_kinds():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    city = pd.Series(["ulm", "bonn", None], dtype="category")
    for words in (
        city.cat.categories, pd.Index(["bonn", "ulm"]), np.array(["bonn", "ulm"]),
        pl.Series(["bonn", "ulm"]), ("bonn", "ulm"), city.sort_values().unique(),
    ):  # fmt: skip
        universe = Universe.read({"city": words})
        assert universe.coordinates["city"].tolist() == ["bonn", "ulm", None]
        assert universe.codes(pd.DataFrame({"city": city})).tolist() == [1, 0, 2]
    days = pd.date_range("2026-05-01", periods=2)
    for dates in (
        days,
        days.to_numpy().astype("M8[ns]"),
        list(days),
        days.insert(2, pd.NaT),
        days.tz_localize("UTC"),
    ):
        universe = Universe.read({"day": dates})
        assert universe.coordinates["day"].astype(str).tolist() == [
            "2026-05-01",
            "2026-05-02",
            "NaT",
        ]
        for zone in (None, "UTC"):
            frame = pd.DataFrame({"day": days.tz_localize(zone)})
            assert universe.codes(frame).tolist() == [0, 1]
            assert universe.codes(pl.from_pandas(frame)).tolist() == [0, 1]
    assert Universe.read({"age": pd.RangeIndex(3)}).size == 3
    halves = Universe.read({"age": [Fraction(1, 2), 1]})
    assert halves.coordinates["age"].dtype == float
    assert halves.codes({"age": [0.6]}).tolist() == [0]


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "pyarrow"])
def test_columns_of_another_kind_are_refused(kind):
    columns = {
        "age": np.array([30, 41]), "city": np.array(["ulm", "bonn"]),
        "day": np.array([DAY, NEXT], "M8[s]"), "member": np.array([True, False]),
    }  # fmt: skip
    makers = {
        "dict": lambda: columns,
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(columns),
        "polars": lambda: pytest.importorskip("polars").DataFrame(
            {name: column.tolist() for name, column in columns.items()}
        ),
        "pyarrow": lambda: pytest.importorskip("pyarrow").table(columns),
    }
    rows = makers[kind]()
    fitting = {"age": range(99), "city": ["ulm"], "day": [DAY], "member": [False, True]}
    kinds = {"age": "numbers", "city": "words", "day": "dates", "member": "numbers"}
    for name in columns:
        for other, categories in fitting.items():
            universe = Universe.read({name: categories})
            if kinds[name] == kinds[other]:
                assert len(universe.codes(rows)) == 2
                continue
            text = f"column '{name}' must hold {kinds[other]}, .* got {kinds[name]}"
            with pytest.raises(ParameterError, match=text):
                universe.codes(rows)
    with pytest.raises(ParameterError, match=r"data must hold numbers, .* got words"):
        QueryServer(columns["city"], universe=2)


def test_columns_of_objects_are_never_refused():
    """What they hold is private."""
    for values in (["ulm", 3], [DAY, None], [Hostile(), 2.5]):
        for categories in (range(9), ["ulm"], [DAY], ["ulm", 3]):
            assert len(Universe.read({"a": categories}).codes({"a": values})) == 2


AGES = {"age": [38, 41, 65]}


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (lambda d: d["age"], "got values outside"),
        (lambda d: d["age"] - 1000, "got values outside"),
        (lambda d: np.where(d["age"] > 40, np.nan, 1.0), "got NaN"),
        (lambda d: np.where(d["age"] > 40, np.inf, 1.0), "got values outside"),
        (np.linspace(0, 1.001, 100), "got values outside"),
    ],
)
def test_values_beyond_0_and_1_are_refused(query, text):
    server = QueryServer(AGES, universe={"age": range(100)})
    for call in (server.ask, server.guess, lambda q: server.ask(q, guess=0.5)):
        with pytest.raises(ParameterError, match=text):
            call(query)
    assert server.answers == server.bits == 0


def test_values_beyond_by_rounding_are_not_refused():
    server = QueryServer(AGES, universe={"age": range(100)}, error=0.001)
    assert server.ask(np.full(100, 1 + 1e-12)).value == 1
    assert server.ask(np.full(100, -1e-12)).value == 0


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "pyarrow"])
def test_frames(kind):
    columns = {"age": [30.0, 41.0, 65.0, None], "sex": ["f", "m", "f", "?"]}
    rows = columns
    if kind == "pandas":
        rows = pytest.importorskip("pandas").DataFrame(columns)
    if kind == "polars":
        rows = pytest.importorskip("polars").DataFrame(columns)
    if kind == "pyarrow":
        rows = pytest.importorskip("pyarrow").table(columns)
    universe = {"age": range(100), "sex": ["f", "m"]}
    assert Universe.read(universe).codes(rows).tolist() == [90, 124, 195, 2]
    server = QueryServer(rows, universe=universe, error=0.001)
    assert server.ask(lambda d: d["age"] > 40).value == pytest.approx(0.5, abs=0.001)
    assert server.ask(lambda d: (d["sex"] == "m") & (d["age"] > 40)).value == pytest.approx(
        0.25, abs=0.001
    )


def test_queries_see_the_universe_only():
    seen = []
    server = QueryServer([3] * 10, universe=8)
    server.ask(lambda codes: seen.append(codes.copy()) or codes > 2)
    assert np.array_equal(seen[0], np.arange(8))
    with pytest.raises(ValueError, match="read-only"):
        server.ask(lambda codes: codes.sort())


@pytest.mark.parametrize(
    ("universe", "error", "text"),
    [
        (2**16 + 1, ParameterError, "from 1 to 65536 cells"),
        ({"a": range(300), "b": range(300)}, ParameterError, "from 1 to 65536 cells"),
        ({"a": []}, ParameterError, "at least one"),
        ({"a": [1, 1]}, ParameterError, "must be distinct"),
        ({"a": "words"}, ParameterTypeError, "must list the categories"),
        ({"a": {1, 2}}, ParameterTypeError, "must list the categories"),
        ({"a": np.eye(2)}, ParameterTypeError, "must list the categories"),
        ({"a": [[1], [2]]}, ParameterTypeError, "strings, numbers or dates"),
        ({"a": [1, np.nan]}, ParameterError, "must be finite"),
        ({"a": [1, None]}, ParameterError, "must be finite"),
        ({"a": [1, np.inf]}, ParameterError, "must be finite"),
        (0, ParameterError, "universe must be at least 1"),
        ("all", ParameterTypeError, "universe must be a whole number"),
        (None, ParameterError, "universe must be given"),
        ({"b": [1]}, ParameterError, "must have a column 'b', which the universe names"),
    ],
)
def test_bad_universes(universe, error, text):
    with pytest.raises(error, match=text):
        QueryServer({"a": [1, 2]}, universe=universe)


def test_what_pandas_writes_for_nothing_is_nothing():
    rows = {"city": pd.Series(["ulm", pd.NA, "bonn"] * 20, dtype="string")}
    server = QueryServer(rows, universe={"city": ["ulm", "bonn", pd.NA]}, error=0.1)
    assert server.ask(lambda d: d["city"] == "ulm").value == pytest.approx(1 / 3, abs=0.1)
    assert len(server.hypothesis) == 3
