"""300 statements: half are the same question asked by functions, half are refused by name."""

from __future__ import annotations

import random

import numpy as np
import pytest

import sourdine as sd
from sourdine.noise import SeededSource

N = 600
RNG = np.random.default_rng(4)
PEOPLE = {
    "sex": ["f", "m", "f"] * (N // 3),
    "town": ["Ulm", "Bonn"] * (N // 2),
    "age": RNG.integers(0, 100, N).tolist(),
    "pay": RNG.integers(0, 1001, N).tolist(),
    "who": list(range(N)),
}


# ---- Statements that are answered ----------------------------------------------------------------
#
# A question is drawn; one function writes it as SQL, another as the arguments of `sourdine.table`
# or of the statistic's own function. Neither reads what the other wrote.


BOUNDS = {"age": (0, 100), "pay": (0, 1000), "pay / (age + 1)": (0, 1000), "abs(age - 50)": (0, 50)}
WORDS = {
    "count": "COUNT({})", "sum": "SUM({})", "mean": "AVG({})", "median": "MEDIAN({})",
    "variance": "VAR_POP({})", "std": "STDDEV({})",
    "p90": "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY {})", "p12.5": "quantile_cont({}, 0.125)",
}  # fmt: skip
CONDITIONS = (
    "age >= 18", "pay < 500 AND age // 10 > 2", "town = 'Ulm'", "NOT (age BETWEEN 20 AND 30)",
    "age IS NOT NULL", "(town LIKE 'B%' OR pay > 900)",
    "CASE WHEN age > 50 THEN 1 ELSE 0 END = 1",
)  # fmt: skip
GROUPS = {
    "sex": ("f", "m", "x"), "town": ("Ulm", "Bonn"), "age // 25": (0, 1, 2, 3),
    "upper(town)": ("ULM", "BONN"),
}  # fmt: skip


def question(seed):
    """Draw the statistics, the condition, the groups, and where their keys are listed."""
    rng = random.Random(seed)  # noqa: S311
    columns = rng.sample(list(BOUNDS), rng.randint(1, 2))
    of = {column: rng.sample(list(WORDS), rng.randint(1, 2)) for column in columns}
    if rng.random() < 0.5:
        of["*"] = ["count"]
    by = rng.sample(list(GROUPS), rng.choice((0, 0, 1, 1, 2)))
    return {
        "of": of,
        "where": rng.choice(CONDITIONS) if rng.random() < 0.5 else None,
        "by": by,
        "listed": rng.random() < 0.5,
        "style": rng.randrange(8),
        "relation": rng.choice(("add_remove", "substitute")),
    }


def literal(value):
    return f"'{value}'" if isinstance(value, str) else str(value)


def as_sql(asked):
    """Write the statement, and say what else is typed."""
    style, outputs = asked["style"], []
    for i, column in enumerate(asked["by"]):
        outputs.append(f"{column} AS g{i}")
    for column, words in asked["of"].items():
        outputs += [WORDS[word].format(column) for word in words]
    if style & 1:
        outputs = [x if " AS " in x else f"{x} AS v{i}" for i, x in enumerate(outputs)]
    conditions = [asked["where"]] if asked["where"] else []
    for column in asked["by"] if asked["listed"] else []:
        conditions += [f"{column} IN ({', '.join(map(literal, GROUPS[column]))})"]
    text = f"SELECT {', '.join(outputs)} FROM p"  # noqa: S608
    if conditions:
        text += f" WHERE {' AND '.join(f'({c})' if ' OR ' in c else c for c in conditions)}"
    if asked["by"]:
        names = asked["by"] if style & 2 else [str(i + 1) for i in range(len(asked["by"]))]
        text += f" GROUP BY {', '.join(names)}"
    if style & 4:
        text = text.replace(" FROM ", "\n  from ").replace("SELECT", "select")
    return text, {} if asked["listed"] or not asked["by"] else {"keys": keys(asked)}


def keys(asked):
    listed = {column: list(GROUPS[column]) for column in asked["by"]}
    return listed if len(listed) > 1 else next(iter(listed.values()))


def as_table(asked):
    """Return the arguments of the same table."""
    conditions = [f"({asked['where']})"] if asked["where"] else []
    for column in asked["by"] if asked["listed"] else []:
        some = [f"{column} = {literal(key)}" for key in GROUPS[column]]
        conditions.append(f"({' OR '.join(some)})")
    own = {"of": asked["of"], "where": " AND ".join(conditions) or None}
    if asked["by"]:
        own["by"] = asked["by"] if len(asked["by"]) > 1 else asked["by"][0]
        own["keys"] = keys(asked)
    return own


FUNCTIONS = {
    "count": sd.count, "sum": sd.sum, "mean": sd.mean, "variance": sd.variance, "std": sd.std,
}  # fmt: skip


@pytest.mark.quick_cases(40)
@pytest.mark.parametrize("seed", range(150))
def test_a_statement_is_the_same_question_asked_by_functions(seed):
    """It draws the same from the same bytes, costs the same, and shows the same numbers."""
    asked = question(seed)
    statement, more = as_sql(asked)
    bounds = {c: BOUNDS[c] for c, words in asked["of"].items() if set(words) - {"count"}} or None
    common = {"epsilon": 2, "relation": asked["relation"]}
    one = sd.sql(statement, p=PEOPLE, bounds=bounds, source=SeededSource(1), **more, **common)
    own = as_table(asked)
    other = sd.table(PEOPLE, bounds=bounds, source=SeededSource(1), **own, **common)
    assert one.to_dict()["drawn"] == other.to_dict()["drawn"]
    assert one.value == other.value
    first = len(asked["by"])
    shown = [value for row in one.rows() for value in list(row.values())[first:]]
    assert shown == list(other.columns().values)
    assert [tuple(row.values())[:first] for row in one.rows()] == sorted(
        {tuple(row.values())[:first] for row in one.rows()},
        key=lambda key: [GROUPS[c].index(k) for c, k in zip(asked["by"], key, strict=True)],
    )
    parts = [(column, word) for column, words in asked["of"].items() for word in words]
    if len(parts) == 1 and parts[0][1] in FUNCTIONS:  # asked by the statistic's own function too
        column, word = parts[0]
        typed = {k: v for k, v in own.items() if k != "of"}
        if bounds:
            typed["bounds"] = bounds[column]
        if column != "*":
            typed["column"] = column
        alone = FUNCTIONS[word](PEOPLE, source=SeededSource(1), **typed, **common)
        assert shown == list(alone.columns().values)


# ---- Statements that are refused -----------------------------------------------------------------


BAD = {
    "SELECT * FROM p": (
        "not use SELECT *",
        "Rows cannot be published: select statistics",
    ),
    "SELECT age FROM p": (
        "contain only statistics and the columns of GROUP BY, got age",
        "Add 'age' to GROUP BY, or select AVG(age)",
    ),
    "SELECT sex, COUNT(*) FROM p GROUP BY town": (
        "contain only statistics and the columns of GROUP BY, got sex",
        "Add 'sex' to GROUP BY, or select AVG(sex)",
    ),
    "DELETE FROM p": (
        "be a SELECT, got DELETE",
        'Write it like "SELECT sex, AVG(age) FROM',
    ),
    "SELECT COUNT(*) FROM p UNION SELECT COUNT(*) FROM q": (
        "be a SELECT, got UNION",
        'Write it like "SELECT sex, AVG(age) FROM',
    ),
    "SELECT COUNT(*) FROM p; DROP TABLE p": (
        "be one statement, got 2",
        "Ask them one after the other",
    ),
    "SELECT AVG(age FROM p": (
        "be valid SQL",
        "The parser stopped in FROM",
    ),
    "SELECT COUNT(*)": (
        "name the data after FROM",
        'Write it like "SELECT sex, AVG(age) FROM',
    ),
    "SELECT MAX(age) FROM p": (
        "not use MAX(age)",
        "The largest value is one person's: use",
    ),
    "SELECT MIN(age) FROM p": (
        "not use MIN(age)",
        "The least value is one person's: use",
    ),
    "SELECT MODE(age) FROM p": (
        "not use MODE(age)",
        "Use one of AVG, CORR, COUNT, COVAR_POP,",
    ),
    "SELECT AVG(age) OVER () FROM p": (
        "not use a window function (OVER)",
        "Use GROUP BY",
    ),
    "SELECT AVG(age) FROM (SELECT * FROM p)": (
        "not use a subquery or a function in FROM",
        "Name one table",
    ),
    "SELECT AVG(age) FROM p WHERE age > (SELECT 1)": (
        "not use a subquery",
        "A row may only depend on itself and on",
    ),
    "SELECT AVG(age) FROM p WHERE EXISTS (SELECT 1)": (
        "not use a subquery",
        "A row may only depend on itself and on",
    ),
    "WITH a AS (SELECT 1) SELECT COUNT(*) FROM a": (
        "not use WITH",
        "Write the condition in WHERE, and derived",
    ),
    "SELECT AVG(age) FROM p, q": (
        "not use this join: , q",
        "Only JOIN table USING (column) with a",
    ),
    "SELECT AVG(age) FROM p JOIN q ON p.a = q.a": (
        "not use this join: JOIN q ON p.a = q.a",
        "Only JOIN table USING (column) with a",
    ),
    "SELECT AVG(age) FROM p RIGHT JOIN q USING (a)": (
        "not use this join: RIGHT JOIN q USING (a)",
        "Only JOIN table USING (column) with a",
    ),
    "SELECT AVG(age) FROM p CROSS JOIN q": (
        "not use this join: CROSS JOIN q",
        "Only JOIN table USING (column) with a",
    ),
    "SELECT AVG(age) + 1 FROM p": (
        "not use AVG(age) in an expression of single rows (SELECT)",
        "Select statistics one by one, and compute",
    ),
    "SELECT AVG(AVG(age)) FROM p": (
        "not use AVG(age) in an expression of single rows (SELECT)",
        "Select statistics one by one, and compute",
    ),
    "SELECT AVG(age) FROM p WHERE AVG(age) > 1": (
        "not use AVG(age) in a condition of single rows (WHERE)",
        "Select statistics one by one, and compute",
    ),
    "SELECT DISTINCT AVG(age) FROM p": (
        "not use DISTINCT",
        "Use GROUP BY, with the values in keys",
    ),
    "SELECT AVG(DISTINCT age) FROM p": (
        "not use DISTINCT in AVG(DISTINCT age)",
        "Omit DISTINCT",
    ),
    "SELECT COUNT(DISTINCT age) FROM p": (
        "use COUNT(DISTINCT) only of the column that identifies a person, got",
        "If it does, use unit='age'; for the values",
    ),
    "SELECT AVG(age) FROM p HAVING SUM(age) > 3": (
        "use in HAVING only what it selects, got SUM(age)",
        "Add SUM(age) to SELECT: HAVING acts on",
    ),
    "SELECT AVG(age) FROM p ORDER BY age": (
        "use in ORDER BY only what it selects, got age",
        "Add age to SELECT: ORDER BY acts on",
    ),
    "SELECT AVG(age) FROM p ORDER BY random()": (
        "use in ORDER BY only what it selects, got RANDOM()",
        "Add RANDOM() to SELECT: ORDER BY acts on",
    ),
    "SELECT AVG(age) FROM p ORDER BY 2": (
        "use column numbers from 1 to 1 in ORDER BY, got 2",
        "Use the name of a column",
    ),
    "SELECT COUNT(*) FROM p LIMIT ?": (
        "not use a placeholder",
        "Write the value: the statement is public",
    ),
    "SELECT COUNT(*) FROM p LIMIT 3 OFFSET 2": (
        "not use OFFSET",
        "Use LIMIT, or take the rows you need from",
    ),
    "SELECT COUNT(*) FROM p QUALIFY 1": (
        "not use QUALIFY",
        "Use HAVING",
    ),
    "SELECT COUNT(*) FILTER (WHERE age > 3) FROM p": (
        "not use FILTER",
        "Use WHERE, or ask for it in a statement of",
    ),
    "SELECT sex, COUNT(*) FROM p GROUP BY ROLLUP(sex)": (
        "not use ROLLUP",
        "Ask for each grouping in a statement of its",
    ),
    "SELECT sex, COUNT(*) FROM p GROUP BY ALL": (
        "not use GROUP BY ALL",
        "List the columns",
    ),
    "SELECT COUNT(*) FROM read_csv('p')": (
        "not use a subquery or a function in FROM",
        "Name one table",
    ),
    "SELECT COUNT(*) FROM p TABLESAMPLE 10": (
        "not use p TABLESAMPLE RESERVOIR (10 ROWS) in FROM",
        "Name one table",
    ),
    "SELECT COUNT(*) n, SUM(age) n FROM p": (
        "give each column of the result its own name",
        "Rename one with AS",
    ),
    "SELECT PERCENTILE_CONT(1.5) WITHIN GROUP (ORDER BY age) FROM p": (
        "not use PERCENTILE_CONT(1.5) WITHIN GROUP (ORDER BY age)",
        "Use one order above 0 and below 1, such as",
    ),
    "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age DESC) FROM p": (
        "not use DESC in WITHIN GROUP",
        "Use the complement of the order",
    ),
    "SELECT COUNT(*) INTO t FROM p": (
        "not use INTO",
        "Omit it: keep the result, or write it with",
    ),
    "SELECT 1 FROM p": (
        "not use 1 in SELECT",
        "Omit it: a constant is no statistic",
    ),
    "SELECT PERCENTILE_CONT() FROM p": (
        "not use PERCENTILE_CONT()",
        "Write PERCENTILE_CONT(0.5) WITHIN GROUP",
    ),
    "SELECT MODE() WITHIN GROUP (ORDER BY age) FROM p": (
        "not use MODE() WITHIN GROUP (ORDER BY age)",
        "Use PERCENTILE_CONT",
    ),
    "SELECT RANK(0.5) WITHIN GROUP (ORDER BY age) FROM p": (
        "not use RANK(0.5) WITHIN GROUP (ORDER BY age)",
        "Use PERCENTILE_CONT",
    ),
    "SELECT COUNT(DISTINCT) FROM p": (
        "be valid SQL",
        "Write it like",
    ),
    "SELECT COUNT(age, sex) FROM p": (
        "not use COUNT(age, sex)",
        "Count one column",
    ),
    "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age, sex) FROM p": (
        "be valid SQL",
        "Write it like",
    ),
    "SELECT COUNT(*) FROM p FETCH FIRST 1 ROWS ONLY": (
        "not use FETCH FIRST 1 ROWS ONLY",
        "Use LIMIT with a whole number",
    ),
    "SELECT COUNT(*) FROM p LIMIT 50 PERCENT": (
        "not use LIMIT 50 PERCENT",
        "Use LIMIT with a whole number",
    ),
    "SELECT COUNT(*) FROM p HAVING COUNT(*) > -'a'": (
        "be valid SQL",
        "Write it like",
    ),
    "SELECT COUNT(*) FROM p WHERE q.age > 3": (
        "name columns of its tables, got q.age",
        "Omit the name before the dot",
    ),
    "SELECT AVG(age) FROM p AS u(a, b)": (
        "not use p AS u(a, b) in FROM",
        "Columns keep their names",
    ),
    "SELECT AVG(age) FROM p ASOF JOIN q USING (a)": (
        "not use this join: ASOF JOIN q USING (a)",
        "Only JOIN table USING (column) with a",
    ),
    "SELECT AVG(age) FROM p NATURAL JOIN q USING (a)": (
        "not use this join: NATURAL JOIN q USING (a)",
        "Only JOIN table USING (column) with a",
    ),
    "SELECT age // 10 AS age, COUNT(*) FROM p GROUP BY age": (
        "not use the alias 'age', which is a column too",
        "Choose another",
    ),
    "SELECT age, pay FROM p": (
        "contain only statistics and the columns of GROUP BY, got age",
        "Add 'age' to GROUP BY, or select AVG(age)",
    ),
    "SELECT sex, age FROM p GROUP BY sex": (
        "contain only statistics and the columns of GROUP BY, got age",
        "Add 'age' to GROUP BY, or select AVG(age)",
    ),
    "SELECT p.* FROM p": (
        "not use SELECT *",
        "Rows cannot be published: select statistics",
    ),
    "SELECT COUNT(*), * FROM p": (
        "not use SELECT *",
        "Rows cannot be published: select statistics",
    ),
    "SELECT DISTINCT sex FROM p": (
        "not use DISTINCT",
        "Use GROUP BY, with the values in keys",
    ),
    "SELECT DISTINCT ON (sex) sex, COUNT(*) FROM p GROUP BY sex": (
        "not use DISTINCT",
        "Use GROUP BY, with the values in keys",
    ),
    "SELECT ALL AVG(age) FROM p WHERE": (
        "be valid SQL",
        "The parser stopped in WHERE",
    ),
    "SELECT TOP 5 AVG(age) FROM p": (
        "be valid SQL",
        "The parser stopped in SELECT",
    ),
    "SELECT UPPER(sex) FROM p": (
        "contain only statistics and the columns of GROUP BY, got UPPER(sex)",
        "Add 'UPPER(sex)' to GROUP BY, or select",
    ),
    "SELECT FROM p": (
        "contain at least one statistic",
        "Rows cannot be published: select COUNT(*),",
    ),
    "SELECT AVG(age) AS FROM p": (
        "be valid SQL",
        "The parser stopped in FROM",
    ),
    "SELECT AVG() FROM p": (
        "not use AVG()",
        "Write AVG(column)",
    ),
    "SELECT AVG(*) FROM p": (
        "not use * where a column stands",
        "Name the column; COUNT(*) counts records",
    ),
    "SELECT SUM(*) FROM p": (
        "not use * where a column stands",
        "Name the column; COUNT(*) counts records",
    ),
    "SELECT MEDIAN(*) FROM p": (
        "not use * where a column stands",
        "Name the column; COUNT(*) counts records",
    ),
    "SELECT AVG(age, pay) FROM p": (
        "not use AVG(age, pay)",
        "Write AVG(column)",
    ),
    "SELECT SUM(DISTINCT age) FROM p": (
        "not use DISTINCT in SUM(DISTINCT age)",
        "Omit DISTINCT",
    ),
    "SELECT COUNT(DISTINCT sex) FROM p": (
        "use COUNT(DISTINCT) only of the column that identifies a person, got",
        "If it does, use unit='sex'; for the values",
    ),
    "SELECT COUNT(DISTINCT sex, town) FROM p": (
        "not use COUNT(DISTINCT sex, town)",
        "Count the distinct values of one column",
    ),
    "SELECT COUNT(1, 2) FROM p": (
        "not use COUNT(1, 2)",
        "Count one column",
    ),
    "SELECT MAX(pay) FROM p": (
        "not use MAX(pay)",
        "The largest value is one person's: use",
    ),
    "SELECT MIN(pay), COUNT(*) FROM p": (
        "not use MIN(pay)",
        "The least value is one person's: use",
    ),
    "SELECT FIRST(pay) FROM p": (
        "not use FIRST(pay)",
        "Use one of AVG, CORR, COUNT, COVAR_POP,",
    ),
    "SELECT ANY_VALUE(pay) FROM p": (
        "not use ANY_VALUE(pay)",
        "Use one of AVG, CORR, COUNT, COVAR_POP,",
    ),
    "SELECT ARRAY_AGG(pay) FROM p": (
        "not use ARRAY_AGG(pay)",
        "Use one of AVG, CORR, COUNT, COVAR_POP,",
    ),
    "SELECT STRING_AGG(town, ',') FROM p": (
        "not use STRING_AGG(town, ',')",
        "Use one of AVG, CORR, COUNT, COVAR_POP,",
    ),
    "SELECT GROUP_CONCAT(town) FROM p": (
        "not use GROUP_CONCAT(town)",
        "Use one of AVG, CORR, COUNT, COVAR_POP,",
    ),
    "SELECT LISTAGG(town) FROM p": (
        "not use LISTAGG(town)",
        "Use one of AVG, CORR, COUNT, COVAR_POP,",
    ),
    "SELECT APPROX_COUNT_DISTINCT(town) FROM p": (
        "not use APPROX_COUNT_DISTINCT(town)",
        "Group by the column and count the groups",
    ),
    "SELECT APPROX_QUANTILE(age, 0.5) FROM p": (
        "not use APPROX_QUANTILE(age, 0.5)",
        "Use PERCENTILE_CONT(0.9) WITHIN GROUP",
    ),
    "SELECT COUNT_IF(age > 3) FROM p": (
        "not use COUNT_IF(age > 3)",
        "Use COUNT(*) with the condition in WHERE",
    ),
    "SELECT SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END) / COUNT(*) FROM p": (
        "not use SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END) in an expression of",
        "Select statistics one by one, and compute",
    ),
    "SELECT AVG(age) - AVG(pay) FROM p": (
        "not use AVG(age) in an expression of single rows (SELECT)",
        "Select statistics one by one, and compute",
    ),
    "SELECT ROUND(AVG(age), 1) FROM p": (
        "not use AVG(age) in an expression of single rows (SELECT)",
        "Select statistics one by one, and compute",
    ),
    "SELECT CAST(AVG(age) AS INTEGER) FROM p": (
        "not use AVG(age) in an expression of single rows (SELECT)",
        "Select statistics one by one, and compute",
    ),
    "SELECT COALESCE(AVG(age), 0) FROM p": (
        "not use AVG(age) in an expression of single rows (SELECT)",
        "Select statistics one by one, and compute",
    ),
    "SELECT -AVG(age) FROM p": (
        "not use AVG(age) in an expression of single rows (SELECT)",
        "Select statistics one by one, and compute",
    ),
    "SELECT 2 * COUNT(*) FROM p": (
        "not use COUNT(*) in an expression of single rows (SELECT)",
        "Select statistics one by one, and compute",
    ),
    "SELECT CASE WHEN COUNT(*) > 3 THEN 1 END FROM p": (
        "not use COUNT(*) in an expression of single rows (SELECT)",
        "Select statistics one by one, and compute",
    ),
    "SELECT KURTOSIS(age) FROM p": (
        "not use KURTOSIS(age)",
        "Use one of AVG, CORR, COUNT, COVAR_POP,",
    ),
    "SELECT SKEWNESS(age) FROM p": (
        "not use SKEWNESS(age)",
        "Use one of AVG, CORR, COUNT, COVAR_POP,",
    ),
    "SELECT ENTROPY(town) FROM p": (
        "not use ENTROPY(town)",
        "Group by the column and compute it from the",
    ),
    "SELECT HISTOGRAM(age) FROM p": (
        "not use HISTOGRAM(age)",
        "Use one of AVG, CORR, COUNT, COVAR_POP,",
    ),
    "SELECT BOOL_AND(age > 3) FROM p": (
        "not use BOOL_AND(age > 3)",
        "Use one of AVG, CORR, COUNT, COVAR_POP,",
    ),
    "SELECT REGR_SLOPE(pay, age) FROM p": (
        "not use REGR_SLOPE(pay, age)",
        "Ask sourdine.regression for slopes and",
    ),
    "SELECT CORR(age) FROM p": (
        "not use CORR(age)",
        "Write CORR(one, other)",
    ),
    "SELECT CORR(age, pay, who) FROM p": (
        "not use CORR(age, pay, who)",
        "Write CORR(one, other)",
    ),
    "SELECT COVAR_POP(age) FROM p": (
        "not use COVAR_POP(age)",
        "Write COVAR_POP(one, other)",
    ),
    "SELECT PERCENTILE_CONT(0.5) FROM p": (
        "not use PERCENTILE_CONT(0.5)",
        "Write PERCENTILE_CONT(0.5) WITHIN GROUP",
    ),
    "SELECT PERCENTILE_CONT(50) WITHIN GROUP (ORDER BY age) FROM p": (
        "not use PERCENTILE_CONT(50) WITHIN GROUP (ORDER BY age)",
        "Use one order above 0 and below 1, such as",
    ),
    "SELECT PERCENTILE_CONT(0) WITHIN GROUP (ORDER BY age) FROM p": (
        "not use PERCENTILE_CONT(0) WITHIN GROUP (ORDER BY age)",
        "Use one order above 0 and below 1, such as",
    ),
    "SELECT PERCENTILE_CONT(1) WITHIN GROUP (ORDER BY age) FROM p": (
        "not use PERCENTILE_CONT(1) WITHIN GROUP (ORDER BY age)",
        "Use one order above 0 and below 1, such as",
    ),
    "SELECT PERCENTILE_CONT(pay) WITHIN GROUP (ORDER BY age) FROM p": (
        "not use PERCENTILE_CONT(pay) WITHIN GROUP (ORDER BY age)",
        "Use one order above 0 and below 1, such as",
    ),
    "SELECT QUANTILE(age) FROM p": (
        "not use QUANTILE(age)",
        "Write PERCENTILE_CONT(0.5) WITHIN GROUP",
    ),
    "SELECT QUANTILE(age, 'half') FROM p": (
        "not use QUANTILE(age, 'half')",
        "Use one order above 0 and below 1, such as",
    ),
    "SELECT AVG(age) OVER (PARTITION BY sex) FROM p": (
        "not use a window function (OVER)",
        "Use GROUP BY",
    ),
    "SELECT ROW_NUMBER() OVER (ORDER BY age) FROM p": (
        "not use a window function (OVER)",
        "Use GROUP BY",
    ),
    "SELECT LAG(age) OVER (ORDER BY age) FROM p": (
        "not use a window function (OVER)",
        "Use GROUP BY",
    ),
    "SELECT RANK() OVER () FROM p": (
        "not use a window function (OVER)",
        "Use GROUP BY",
    ),
    "SELECT SUM(age) FILTER (WHERE sex = 'f') FROM p": (
        "not use FILTER",
        "Use WHERE, or ask for it in a statement of",
    ),
    "SELECT (SELECT AVG(age) FROM p) FROM p": (
        "not use a subquery",
        "A row may only depend on itself and on",
    ),
    "SELECT AVG(age) n, COUNT(*) n FROM p": (
        "give each column of the result its own name",
        "Rename one with AS",
    ),
    "SELECT AVG(age), AVG(age) FROM p": (
        "give each column of the result its own name",
        "Rename one with AS",
    ),
    "SELECT NOW() FROM p": (
        "in SELECT must give the same value each time, got 'now', which does not",
        "Write the value, such as date '2024-12-31'.",
    ),
    "SELECT RANDOM() FROM p": (
        "in SELECT must give the same value each time, got 'random', which does not",
        "Write the value, such as date '2024-12-31'.",
    ),
    "SELECT AVG(RANDOM()) FROM p": (
        "in SELECT must give the same value each time, got 'random', which does not",
        "Write the value, such as date '2024-12-31'.",
    ),
    "SELECT AVG(age + RANDOM()) FROM p": (
        "in SELECT must give the same value each time, got 'random', which does not",
        "Write the value, such as date '2024-12-31'.",
    ),
    "SELECT AVG(SUM(age)) FROM p": (
        "not use SUM(age) in an expression of single rows (SELECT)",
        "Select statistics one by one, and compute",
    ),
    "SELEC AVG(age) FROM p": (
        "be a SELECT, got SELEC",
        'Write it like "SELECT sex, AVG(age) FROM',
    ),
    "SELECT AVG(age) FORM p": (
        "be valid SQL",
        "The parser stopped in SELECT",
    ),
    "SELECT AVG(age)": (
        "name the data after FROM",
        'Write it like "SELECT sex, AVG(age) FROM',
    ),
    "SELECT AVG(age) FROM": (
        "be valid SQL",
        "The parser stopped in FROM",
    ),
    "SELECT AVG(age) FROM p JOIN q ON p.who = q.who": (
        "not use this join: JOIN q ON p.who = q.who",
        "Only JOIN table USING (column) with a",
    ),
    "SELECT AVG(age) FROM p JOIN q USING (who, town)": (
        "not use this join: JOIN q USING (who, town)",
        "Only JOIN table USING (column) with a",
    ),
    "SELECT AVG(age) FROM p FULL JOIN q USING (who)": (
        "not use this join: FULL JOIN q USING (who)",
        "Only JOIN table USING (column) with a",
    ),
    "SELECT AVG(age) FROM p RIGHT JOIN q USING (who)": (
        "not use this join: RIGHT JOIN q USING (who)",
        "Only JOIN table USING (column) with a",
    ),
    "SELECT AVG(age) FROM p SEMI JOIN q USING (who)": (
        "not use this join: SEMI JOIN q USING (who)",
        "Only JOIN table USING (column) with a",
    ),
    "SELECT AVG(age) FROM p NATURAL JOIN q": (
        "not use this join: NATURAL JOIN q",
        "Only JOIN table USING (column) with a",
    ),
    "SELECT AVG(age) FROM p JOIN q USING (town)": (
        "tables must name the file of the public table 'q', which the statement joins. Use",
        "Use tables=",
    ),
    "SELECT AVG(age) FROM p JOIN p USING (who)": (
        "tables must name the file of the public table 'p', which the statement joins. Use",
        "Use tables=",
    ),
    "SELECT AVG(age) FROM p JOIN (SELECT * FROM p) USING (who)": (
        "not use a subquery or a function in FROM",
        "Name one table",
    ),
    "SELECT AVG(age) FROM (SELECT age FROM p)": (
        "not use a subquery or a function in FROM",
        "Name one table",
    ),
    "SELECT AVG(age) FROM (VALUES (1))": (
        "not use a subquery or a function in FROM",
        "Name one table",
    ),
    "SELECT AVG(age) FROM read_parquet('x')": (
        "not use a subquery or a function in FROM",
        "Name one table",
    ),
    "SELECT AVG(age) FROM UNNEST([1, 2])": (
        "not use a subquery or a function in FROM",
        "Name one table",
    ),
    "SELECT AVG(age) FROM p TABLESAMPLE BERNOULLI (10)": (
        "not use p TABLESAMPLE BERNOULLI (10 ROWS) in FROM",
        "Name one table",
    ),
    "SELECT AVG(age) FROM p AS t(a, b)": (
        "not use p AS t(a, b) in FROM",
        "Columns keep their names",
    ),
    "SELECT AVG(age) FROM main.p, main.q": (
        "not use this join: , main.q",
        "Only JOIN table USING (column) with a",
    ),
    "SELECT AVG(q.age) FROM p": (
        "name columns of its tables, got q.age",
        "Omit the name before the dot",
    ),
    "SELECT AVG(age) FROM p WHERE q.age > 3": (
        "name columns of its tables, got q.age",
        "Omit the name before the dot",
    ),
    "SELECT AVG(age) FROM p WHERE AVG(age) > 3": (
        "not use AVG(age) in a condition of single rows (WHERE)",
        "Select statistics one by one, and compute",
    ),
    "SELECT AVG(age) FROM p WHERE COUNT(*) > 3": (
        "not use COUNT(*) in a condition of single rows (WHERE)",
        "Select statistics one by one, and compute",
    ),
    "SELECT AVG(age) FROM p WHERE age > (SELECT AVG(age) FROM p)": (
        "not use a subquery",
        "A row may only depend on itself and on",
    ),
}


@pytest.mark.parametrize("statement", BAD)
def test_a_refused_statement_says_where_and_what_to_type_instead(statement):
    """The error names what is wrong, a hint says what to type, and nothing is charged."""
    session = sd.Session(PEOPLE, epsilon=1)
    with pytest.raises(sd.ParameterError) as refused:
        session.sql(statement, bounds={"age": (0, 100)}, epsilon=1)
    assert refused.value.name in {"statement", "where", "tables"}
    for phrase in BAD[statement]:
        assert phrase in str(refused.value)
    assert session.spent.exact_epsilon() == 0


def test_there_are_as_many_of_each():
    assert len(BAD) == 150
    assert len({as_sql(question(seed))[0] for seed in range(150)}) >= 145
