"""Guess and check: how rows are split, what is told of them, guesses of your own."""

from __future__ import annotations

import warnings

import duckdb
import numpy as np
import polars as pl
import pytest

from sourdine.adaptive.ledger.dependence import Blocks, Custom, Iid, Markov
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.query_server.guesses import halves
from sourdine.adaptive.query_server.server import QueryServer
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.noise import SeededSource


def test_split_answers_within_its_ends():
    rng = np.random.default_rng(1)
    ages = rng.integers(0, 100, 20_000)
    server = QueryServer(ages, guess="split", source=SeededSource(1))
    for limit in range(100):
        answer = server.ask(lambda rows, limit=limit: rows < limit)
        assert answer.lower <= limit / 100 <= answer.upper
        assert answer.source == "hypothesis"
    assert server.ledger.n == 10_000
    assert server.certificate().halfwidth < 0.08


def test_split_corrects_what_is_fitted_to_the_training_rows():
    rng = np.random.default_rng(2)
    train, check = rng.integers(0, 10**9, (2, 2000))
    server = QueryServer(check, guess="split", training=train)
    answer = server.ask(lambda rows: np.isin(rows, train))
    assert server.guess(lambda rows: np.isin(rows, train)) == 1
    assert answer.source == "data"
    assert answer.value <= 0.05
    assert answer.lower == 0


@pytest.mark.parametrize("seed", range(5))
def test_blocks_stay_whole(seed):
    train, check = halves(1000, Blocks(10), source=SeededSource(seed))
    assert not set(train // 10) & set(check // 10)
    assert len(train) == len(check) == 500
    assert sorted([*train, *check]) == list(range(1000))
    labels = np.random.default_rng(seed).integers(0, 50, 1000)
    train, check = halves(1000, Blocks(40), groups=labels, source=SeededSource(seed))
    assert not set(labels[train]) & set(labels[check])
    assert sorted([*train, *check]) == list(range(1000))


def test_splits_are_drawn_by_chance():
    counts = np.zeros(6)
    for seed in range(2000):
        counts[halves(6, Iid(), source=SeededSource(seed))[0]] += 1
    assert np.abs(counts / 2000 - 0.5).max() < 6.2 * 0.5 / 2000**0.5


@pytest.mark.parametrize("dependence", [Markov(0.5), Custom("own", lambda n, t: (t + 1) / n)])
def test_dependent_rows_are_not_split(dependence):
    rows = np.arange(100)
    with pytest.raises(ParameterError, match="training must be given"):
        QueryServer(rows, guess="split", dependence=dependence)
    server = QueryServer(rows, guess="split", dependence=dependence, training=rows)
    assert server.ask(lambda x: x < 50).value == pytest.approx(0.5)
    with pytest.raises(ParameterError, match="at least 2 independent blocks"):
        QueryServer(rows, guess="split", dependence=Blocks(100))


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars"])
def test_split_of_frames(kind):
    columns = {"age": np.arange(100), "sex": np.array(["f", "m"] * 50)}
    rows = columns
    if kind == "pandas":
        rows = pytest.importorskip("pandas").DataFrame(columns)
    if kind == "polars":
        rows = pytest.importorskip("polars").DataFrame(columns)
    server = QueryServer(rows, guess="split", error=0.5)
    assert server.ledger.n == 50
    assert 0.2 < server.ask(lambda d: d["age"] > 49).value < 0.8


@pytest.mark.parametrize("form", ["lazy", "arrow", "relation", "parquet", "csv", "series"])
def test_split_of_other_data(form, tmp_path):
    frame = pl.DataFrame({"age": [*range(99), None], "sex": ["f", "m"] * 50})
    path = tmp_path / f"rows.{form}"
    write = {"parquet": frame.write_parquet, "csv": frame.write_csv}
    rows = {
        "lazy": frame.lazy,
        "arrow": frame.to_arrow,
        "relation": lambda: duckdb.connect().from_arrow(frame.to_arrow()),
        "series": lambda: frame["sex"],
    }.get(form, lambda: write[form](path) or path)()
    server = QueryServer(rows, guess="split", error=0.5)
    assert server.ledger.n == 50
    assert 0.2 < server.ask(lambda d: np.asarray(d["sex"]) == "f").value < 0.8
    if form in {"lazy", "relation", "parquet"}:
        assert 0.2 < server.ask(lambda d: d["age"] > 49).value < 0.8


def test_a_value_of_a_list_changes_no_other():
    rows = {"age": [30, "forty", 50], "sex": ["f", "m", None]}
    server = QueryServer(rows, guess=lambda query: 0.5, error=0.001)  # noqa: ARG005
    young = server.ask(lambda d: [a == 30 for a in d["age"]])
    assert young.value == pytest.approx(1 / 3, abs=0.001)


def test_split_over_a_universe():
    """Queries are then asked of the cells, and rows beyond belong to the nearest."""
    seen = []
    rows = np.append(np.arange(900) % 4, np.full(100, 99))
    server = QueryServer(rows, universe=4, guess="split")
    answer = server.ask(lambda code: seen.append(code.copy()) or code == 3)
    assert answer.value == pytest.approx(0.325, abs=0.1)
    assert [code.tolist() for code in seen] == [[0, 1, 2, 3]]
    assert server.ask([0.0, 0.0, 0.0, 1.0]).value == pytest.approx(answer.value)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        server.ask(lambda code: code)


def test_values_beyond_0_and_1_are_refused_on_public_rows_and_clipped_on_private_ones():
    rows = np.array([0.0, 3.0, -2.0, 0.5])
    trained = QueryServer(rows, guess="split", training=[0.0, 1.0], error=0.001)
    assert trained.ask(lambda x: x).value == pytest.approx(0.375, abs=0.001 + 1e-9)
    for guess in (None, 0.5):
        with pytest.raises(ParameterError, match="must be between 0 and 1, got values outside"):
            trained.ask(lambda x: x + 40, guess=guess)
        with pytest.raises(ParameterError, match="must be between 0 and 1, got NaN"):
            trained.ask(lambda x: np.where(x > 0, np.nan, 1.0), guess=guess)
    assert trained.answers == 1
    told = QueryServer(rows, guess=lambda query: 0.5, error=0.001)  # noqa: ARG005
    assert told.ask(lambda x: x).value == pytest.approx(0.375, abs=0.001 + 1e-9)


def test_a_query_that_fails_on_private_rows_says_nothing(capsys, recwarn):
    rows = np.array([1.0, 2.0, 0.0])
    failing = [
        lambda x: 1 / 0 if (x == 0).any() else x,
        lambda x: x[x > 0],
        lambda x: np.full(len(x), "no"),
        lambda x: np.full(len(x), np.nan),
    ]
    for query in failing:
        server = QueryServer(rows, guess=lambda query: 0.5)  # noqa: ARG005
        assert server.ask(query).value <= 0.1
    dividing = QueryServer(rows, guess=lambda query: 0.5)  # noqa: ARG005
    assert dividing.ask(lambda x: 1 / x).value > 0.5
    assert dividing.ask(lambda x: warnings.warn("zero", stacklevel=1) or x >= 0).value > 0.5
    assert not recwarn.list
    assert capsys.readouterr() == ("", "")


def test_queries_cannot_write_to_the_rows():
    rows = np.array([3, 1, 2])
    server = QueryServer(rows, guess=lambda query: 0.5)  # noqa: ARG005
    server.ask(lambda x: x.sort() or x > 1)
    server.ask(lambda x: x.__setitem__(0, 9) or x > 1)
    assert rows.tolist() == [3, 1, 2]
    assert server.ask(lambda x: x > 1).value == pytest.approx(2 / 3, abs=0.05)


def test_public_rows_may_fail_loudly():
    server = QueryServer([1, 2, 3], guess="split", training=[1, 2])
    with pytest.raises(ZeroDivisionError):
        server.ask(lambda rows: 1 / 0)  # noqa: ARG005
    with pytest.raises(ParameterError, match="one value for each of 2 rows"):
        server.ask(lambda rows: rows[:1])
    with pytest.raises(ParameterTypeError, match="query must be a function"):
        server.ask([0.0, 1.0])
    assert server.answers == 0


def test_guesses_of_your_own():
    server = QueryServer([0] * 600 + [1] * 400, universe=2)
    law = server.hypothesis
    assert server.ask([1.0, 0.0], guess=0.58).source == "hypothesis"
    assert server.ask([1.0, 0.0], guess=0.9).source == "data"
    assert np.array_equal(server.hypothesis, law)
    told = QueryServer([0] * 500 + [1] * 500, universe=2, guess=lambda query: query[0])
    assert told.ask([0.5, 0.5]).bits == 0
    assert told.ask([0.9, 0.0]).value == pytest.approx(0.45, abs=0.05)
    assert told.most_hard is None


def test_groups_are_blocks():
    """Households of copies: with the groups alone, the width is that of so many households."""
    houses = np.repeat(np.arange(80), 50)
    server = QueryServer(np.zeros(4000), guess="split", groups=houses, source=SeededSource(1))
    assert server.ledger.dependence == Blocks(50)
    for declared in (Iid(), Blocks(2)):
        with pytest.raises(ParameterError, match="Blocks of at least the largest group, 50 rows"):
            QueryServer(np.zeros(4000), guess="split", groups=houses, dependence=declared)
    wider = QueryServer(np.zeros(4000), guess="split", groups=houses, dependence=Blocks(100))
    assert wider.ledger.dependence == Blocks(100)


def test_households_hold_their_ends():
    rng, houses, missed = np.random.default_rng(5), np.repeat(np.arange(80), 50), 0
    for run in range(60):
        rows = np.repeat(rng.random(80) < 0.5, 50)
        server = QueryServer(rows, guess="split", groups=houses, source=SeededSource(run))
        answer = server.ask(lambda yes: yes, guess=0.5)
        missed += not answer.lower <= 0.5 <= answer.upper
    assert missed <= 10  # but for a chance of 2e-4, at beta = 0.05


def test_halves_are_not_drawn_anew_under_an_old_ledger(tmp_path):
    ledger = TranscriptLedger(500, path=tmp_path / "a.ledger")
    with pytest.raises(
        ParameterError, match="ledger must be omitted for the guess 'split', unless"
    ):
        QueryServer(np.zeros(1000), guess="split", ledger=ledger)
    QueryServer(np.zeros(500), guess="split", training=np.zeros(500), ledger=ledger)


def test_a_query_looks_at_one_row_at_a_time():
    server = QueryServer(np.arange(100), guess="split", source=SeededSource(2))
    with pytest.raises(ParameterError, match="must depend on one row at a time"):
        server.ask(lambda rows: np.full(len(rows), rows.sum() % 2 == 0))
    with pytest.raises(ParameterError, match="must depend on one row at a time"):
        server.ask(lambda rows: rows > rows.mean())
    server.ask(lambda rows: rows > 50)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_query_cannot_change_the_rows(library):
    frames = pytest.importorskip(library)
    server = QueryServer(frames.DataFrame({"x": [-1.0, 1.0] * 50}), guess="split")

    def spoils(frame):
        if library == "pandas":
            frame["x"] = frame["x"].abs()
        else:
            frame.replace_column(0, frame["x"].abs())
        return frame["x"] > 0

    server.ask(spoils)
    assert server.ask(lambda frame: frame["x"] < 0).upper < 1
    assert server.guess(lambda frame: frame["x"] < 0) > 0
