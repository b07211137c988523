"""Statements: which table each is, what is shown of it, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import sourdine as sd
from sourdine.central import Sql, Table
from sourdine.central.sql import QueryResult, parsed
from sourdine.cli.app import app, narrowed
from sourdine.noise import SeededSource

N = 1200
RNG = np.random.default_rng(4)
PEOPLE = {
    "sex": ["f", "m", "f"] * (N // 3),
    "town": ["Ulm", "Bonn"] * (N // 2),
    "age": RNG.integers(0, 100, N).tolist(),
    "pay": RNG.integers(0, 1001, N).tolist(),
    "who": list(range(N)),
}
BOUNDS = {"age": (0, 100), "pay": (0, 1000), "pay / (age + 1)": (0, 1000)}
SAME = {
    "SELECT COUNT(*) FROM p": {"of": {"*": ["count"]}},
    "select avg(age), count(pay), sum(pay) from p": {
        "of": {"age": ["mean"], "pay": ["count", "sum"]}
    },
    "SELECT MEDIAN(age), VAR_POP(age), PERCENTILE_CONT(0.99) WITHIN GROUP (ORDER BY pay) FROM p": {
        "of": {"age": ["median", "variance"], "pay": ["p99"]}
    },
    "SELECT AVG(age), COUNT(*) FROM p WHERE pay < 500 AND age // 10 > 2": {
        "of": {"age": ["mean"], "*": ["count"]},
        "where": "pay < 500 AND age // 10 > 2",
    },
    "SELECT STDDEV(age), AVG(pay / (age + 1)) FROM p": {
        "of": {"age": ["std"], "pay / (age + 1)": ["mean"]},
    },
    "SELECT quantile_cont(age, 0.125) FROM p": {"of": {"age": ["p12.5"]}},
    "SELECT p.sex, AVG(p.age) a FROM p WHERE sex IN ('f', 'm') GROUP BY p.sex": {
        "of": {"age": ["mean"]},
        "where": "sex IN ('f', 'm')",
        "by": "sex",
        "keys": ["f", "m"],
    },
    "SELECT town t, sex, AVG(age) FROM p WHERE sex = 'f' AND (town IN ('Ulm')) GROUP BY 1, sex": {
        "of": {"age": ["mean"]},
        "where": "sex = 'f' AND (town IN ('Ulm'))",
        "by": ["town", "sex"],
        "keys": {"town": ["Ulm"], "sex": ["f"]},
    },
}


def _bounds(of):
    return {column: BOUNDS[column] for column, words in of.items() if words != ["count"]}


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("statement", SAME)
def test_statements_are_tables(statement, relation):
    """A statement draws what the same table draws from the same bytes, at the same cost."""
    same = SAME[statement]
    bounds = {c: b for c, b in BOUNDS.items() if set(same["of"].get(c, ())) - {"count"}}
    own = {"bounds": bounds or None, "epsilon": 1, "relation": relation}
    one = sd.sql(statement, p=PEOPLE, source=SeededSource(1), **own)
    other = sd.table(PEOPLE, source=SeededSource(1), **same, **own)
    assert one.to_dict()["drawn"] == other.to_dict()["drawn"]
    asked, table = Sql(statement, **own), Table(**same, **own)
    assert asked.cost == table.cost
    assert asked.parts == table.parts
    assert asked.shares == table.shares


GROUPED = (
    "SELECT COUNT(*) AS n, sex, AVG(age) FROM p WHERE sex IN ('f', 'm', 'x') GROUP BY sex "
    "HAVING n > {least} ORDER BY {order} LIMIT {limit}"
)


@pytest.mark.parametrize(
    ("least", "order", "limit", "sexes"),
    [
        (100, "n", 9, ["m", "f"]),
        (100, "1 DESC", 9, ["f", "m"]),
        (100, "sex DESC", 9, ["m", "f"]),
        (100, "COUNT(*) DESC", 1, ["f"]),
        (600, "n", 9, ["f"]),
        (-1000, "n", 9, ["x", "m", "f"]),
        (10**6, "n", 9, []),
        (100, "n", 0, []),
    ],
)
def test_released_numbers_are_filtered_and_sorted(least, order, limit, sexes):
    """HAVING, ORDER BY and LIMIT act alike on rows, frames, print and JSON read back."""
    statement = GROUPED.format(least=least, order=order, limit=limit)
    result = sd.sql(statement, p=PEOPLE, bounds={"age": (0, 100)}, epsilon=10)
    for release in (result, QueryResult.from_json(result.to_json())):
        rows = release.rows()
        assert [row["sex"] for row in rows] == sexes
        assert all(list(row) == ["n", "sex", "AVG(age)"] for row in rows)
        assert all(row["n"] > least for row in rows)
        assert len(release.sheet().lines) == len(sexes)
        assert set(release.value) == {"f", "m", "x"}  # what is not shown was released all the same
    if sexes:
        frame = result.table("polars")
        assert frame["sex"].to_list() == sexes
        assert (frame["n lower"] <= frame["n"]).all()
        for row, key in zip(rows, sexes, strict=True):
            assert row["AVG(age)"] == result.value[key]["mean of age"]
            assert row["n"] == result.value[key]["count"]


def test_all_groups_are_sorted_not_only_the_first():
    """More groups than are printed of other statistics are sorted as a whole."""
    keys = [f"k{i:03d}" for i in range(300)]
    data = {"k": keys * 10 + ["k299"] * 1000}
    r = sd.sql(
        "SELECT k, COUNT(*) AS n FROM p GROUP BY k ORDER BY n DESC LIMIT 1",
        p=data, keys=keys, epsilon=10,
    )  # fmt: skip
    assert [row["k"] for row in r.rows()] == ["k299"]
    assert r.sheet().lines[0][0] == "k299"
    assert len(r.sheet().lines) == 1


def test_conditions_of_released_numbers():
    """Each operator of HAVING holds where it should, of numbers, texts and dates."""
    row = {"n": 5, "name": "b", "day": np.datetime64("2026-01-31").item()}
    statement = "SELECT COUNT(*) AS n, name, day FROM p GROUP BY name, day HAVING {}"
    held = [
        "n = 5", "n <> 4", "n >= 5", "n <= 5", "n < 6", "n > -1", "n BETWEEN 5 AND 5", "NOT n > 5",
        "n > 9 OR name = 'b'", "n = 5 AND name < 'c'", "day >= '2026-01-31'",
        "(day < '2026-02-01')",
        "name <> 3", "COUNT(*) = 5",
    ]  # fmt: skip
    failing = [
        "n > 5",
        "n = 5 AND name = 'c'",
        "n BETWEEN 6 AND 9",
        "NOT n = 5",
        "name > 3",
        "name = 3",
    ]
    for text in held:
        assert parsed(statement.format(text)).having(row), text
    for text in failing:
        assert not parsed(statement.format(text)).having(row), text


DEEP = 10_000
HUGE = "9" * 400
COUNTED = "SELECT COUNT(*) AS n FROM p"
REFUSED = {
    COUNTED + " WHERE " + "(" * DEEP + "age>1" + ")" * DEEP: "nested too deeply",
    "SELECT " + "(" * DEEP + "COUNT(*)" + ")" * DEEP: "nested too deeply",
    COUNTED + " WHERE " + "not " * DEEP + "age>1": "nested too deeply",
    COUNTED + " WHERE age > " + "- " * DEEP + "1": "nested too deeply",
    COUNTED + " HAVING " + "(" * DEEP + "n>1" + ")" * DEEP: "nested too deeply",
    COUNTED + " ORDER BY " + "(" * DEEP + "n" + ")" * DEEP: "nested too deeply",
    COUNTED + " WHERE " + " AND ".join(["age>1"] * DEEP): "at most 50,000 characters",
    COUNTED + f" WHERE age < {HUGE}": "numbers of 64 bits",
    COUNTED + f" WHERE age * {HUGE} > 1": "numbers of 64 bits",
    "SELECT COUNT(*) FROM p WHERE age < 1e999999999": "numbers of 64 bits",
    "-- a comment": "be a SELECT, got no statement",
    "SELECT COUNT(*) FROM p;; DROP TABLE p": "be one statement, got 2",
    "SELECT COUNT(*) FROM p /* never closed": "be valid SQL",
    "SELECT COUNT(*) FROM p WHERE CURRENT_DATE > date '2020-01-01'": "not the same each time",
    "SELECT AVG(Current_Timestamp) FROM p": "not the same each time",
    "SELECT COUNT(*) FROM p GROUP BY current_user": "not the same each time",
    "SELECT COUNT(*) FROM p WHERE sex = '\0'": "no NUL character",
    'SELECT COUNT("x""; DROP TABLE p; --") FROM p': "got 'x\"; DROP TABLE p; --'",
}


@pytest.mark.parametrize("statement", REFUSED, ids=range(len(REFUSED)))
def test_what_is_hostile_is_refused_and_not_charged(statement):
    session = sd.Session(PEOPLE, epsilon=1)
    with pytest.raises(sd.ParameterError) as refused:
        session.sql(statement, epsilon=1)
    assert REFUSED[statement] in str(refused.value)
    assert len(str(refused.value)) < 500
    assert session.spent.exact_epsilon() == 0


ODD = {
    'a"b; --': [1, 2] * (N // 2),
    "current_date": [1, 2, 3] * (N // 3),
    "current_pay": [1, 2, 3, 4] * (N // 4),
}


@pytest.mark.parametrize(
    ("statement", "n"),
    [
        ("SELECT COUNT(*) AS n FROM p;;", N),
        ("SELECT /* AVG(x) -- */ COUNT(*) AS n FROM p -- ; DROP TABLE p", N),
        ("SELECT\u00a0COUNT(*)\u2003AS n FROM p", N),
        ('SELECT COUNT(*) AS n FROM p WHERE "a""b; --" = 1', N / 2),
        ('SELECT COUNT(*) AS n FROM p WHERE "current_date" = 1', N / 3),
        ("SELECT COUNT(*) AS n FROM p WHERE p.current_date = 1", N / 3),
        ("SELECT COUNT(*) AS n FROM p WHERE current_pay = 1", N / 4),
        ("SELECT COUNT(current_pay / 0) AS n FROM p", 0),
        ("SELECT COUNT(*) AS n FROM p WHERE current_pay % 0 = 1", 0),
    ],
)
def test_odd_statements_are_answered(statement, n):
    (row,) = sd.sql(statement, p=ODD, epsilon=20).rows()
    assert abs(row["n"] - n) < 20


def test_data_are_named_by_from():
    with pytest.raises(sd.ParameterTypeError, match="the statement says FROM p"):
        sd.sql("SELECT COUNT(*) FROM p", q=PEOPLE, epsilon=1)
    with pytest.raises(sd.ParameterTypeError, match="Did you mean 'epsilon'"):
        sd.sql("SELECT COUNT(*) FROM p", p=PEOPLE, epsilno=1)
    with pytest.raises(sd.ParameterError, match="tables"):
        sd.sql("SELECT COUNT(*) FROM p JOIN towns USING (town)", p=PEOPLE, epsilon=1)


def test_people_are_counted_once():
    """COUNT(DISTINCT unit) counts people where one row of each is kept, and else is refused."""
    data = {"who": [1, 1, 1, 2, 2, 3] * 100}
    asked = {"p": data, "unit": "who", "epsilon": 50}
    r = sd.sql("SELECT COUNT(DISTINCT who) AS n FROM p", **asked)
    assert abs(r.rows()[0]["n"] - 3) < 3
    with pytest.raises(sd.ParameterError, match="rows must be 1"):
        sd.sql("SELECT COUNT(DISTINCT who) FROM p", rows=2, **asked)


def test_keys_are_listed_once():
    """A value that is listed twice, or a column that groups twice, is one."""
    for listed, n in (("30, 30", 1), ("1, 1.0, 2", 2)):
        r = sd.sql(f"SELECT age, COUNT(*) FROM p WHERE age IN ({listed}) GROUP BY age",  # noqa: S608
                   p=PEOPLE, epsilon=1)  # fmt: skip
        assert len(r.rows()) == n
    r = sd.sql(
        "SELECT sex, COUNT(*) FROM p GROUP BY sex, p.sex", p=PEOPLE, keys=["f", "m"], epsilon=1
    )
    assert [row["sex"] for row in r.rows()] == ["f", "m"]


def test_every_interface_answers_statements(tmp_path):
    statement = "SELECT sex, AVG(age) AS a FROM p WHERE sex IN ('f', 'm') GROUP BY sex ORDER BY a"
    own = {"bounds": {"age": (0, 100)}, "epsilon": 1}
    session = sd.Session(PEOPLE, epsilon=3)
    assert {row["sex"] for row in session.sql(statement, **own).rows()} == {"f", "m"}
    assert session.spent.exact_epsilon() == 1
    again = sd.ask(PEOPLE, {"statistic": "sql", "statement": statement, **own})
    assert isinstance(again, QueryResult)
    assert sd.plan.sql(statement, n=1000, **own).error > 0
    path = tmp_path / "p.csv"
    rows = zip(PEOPLE["sex"], PEOPLE["age"], strict=True)
    path.write_text("sex,age\n" + "\n".join(f"{s},{a}" for s, a in rows), "utf-8")
    told = ["sql", str(path), statement, "--bounds", "age:0,100", "--epsilon", "1", "--json"]
    ran = CliRunner().invoke(narrowed(app, told), told)
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["question"]["statement"] == statement


def test_statistics_of_two_columns_are_selected():
    """CORR and COVAR_POP draw what their functions draw, each with its share of epsilon."""
    bounds = {"age": (0, 100), "pay": (0, 1000)}
    asked = Sql(
        "SELECT CORR(age, pay), COVAR_POP(pay, age), COUNT(*) FROM p", bounds=bounds, epsilon=4
    )
    assert sum(asked.shares) <= 4
    parts = asked.statistics
    assert [type(part).__name__ for part in parts.values()] == [
        "Correlation",
        "Covariance",
        "Count",
    ]
    r = sd.sql(
        PEOPLE,
        "SELECT CORR(age, pay) AS r FROM p",
        bounds=bounds,
        epsilon=4,
        source=SeededSource(2),
    )
    own = sd.correlation(PEOPLE, x="age", y="pay", bounds=bounds, epsilon=4, source=SeededSource(2))
    assert r.rows() == [{"r": own.value}]


def test_public_tables_are_joined(tmp_path):
    path = tmp_path / "towns.csv"
    path.write_text("town,part\nUlm,south\nBonn,west\n", "utf-8")
    few = tmp_path / "few.csv"
    few.write_text("town,size\nUlm,3\n", "utf-8")
    for join, n in (("JOIN", N / 2), ("LEFT JOIN", N), ("LEFT OUTER JOIN", N)):
        r = sd.sql(f"SELECT COUNT(*) AS n FROM p {join} few USING (town)",  # noqa: S608
                   p=PEOPLE, few=str(few), epsilon=20)  # fmt: skip
        assert abs(r.rows()[0]["n"] - n) < 20, join
    r = sd.sql("SELECT COUNT(*) AS n FROM p JOIN few USING (town) WHERE sex = 'f' OR sex = 'm'",
               p=PEOPLE, few=str(few), epsilon=20)  # fmt: skip
    assert abs(r.rows()[0]["n"] - N / 2) < 20
    statement = (
        "SELECT part, COUNT(*) AS n FROM p JOIN towns USING (town) "
        "WHERE part IN ('south', 'west') GROUP BY part ORDER BY part"
    )
    for r in (
        sd.sql(statement, p=PEOPLE, towns=str(path), epsilon=20),
        sd.sql(PEOPLE, statement, tables={"towns": str(path)}, epsilon=20),
    ):
        assert [row["part"] for row in r.rows()] == ["south", "west"]
        assert all(abs(row["n"] - N / 2) < 20 for row in r.rows())


def test_bounds_of_correlations_are_found_too():
    """Each column has its share, as the second of two also; the parts add up to epsilon."""
    data = {"a": list(range(100)) * 20, "b": list(range(0, 200, 2)) * 20}
    statement = "SELECT CORR(a, b) AS r, AVG(a) AS m, COUNT(*) AS n FROM t"
    release = sd.sql(statement, t=data, bounds="find", epsilon=2, source=SeededSource(1))
    spent = {part: float(x) for part, x in release.drawn["spent"].items()}
    assert list(spent) == ["bounds of a", "bounds of b", "sql"]
    assert sum(spent.values()) == pytest.approx(2)
    assert spent["bounds of a"] > 1.5 * spent["bounds of b"]
    ((row),) = release.rows()
    assert row["r"] == pytest.approx(1, abs=0.1)
    assert row["m"] == pytest.approx(49.5, abs=3)
    charts = release.answer.mechanism.charts(release.answer)
    assert [chart.x.names for chart in charts.values()] == [["r"], ["m"], ["n"]]
    assert "Missing values are excluded, but all records are counted." in " ".join(release.caveats)
