"""Statistics of the rows that a condition keeps."""

from __future__ import annotations

import json
import math
from itertools import product

import numpy as np
import pytest

import sourdine as sd
from sourdine.audit import replay
from sourdine.audit.exhaustive import recording
from sourdine.central import Count, Mean
from sourdine.central.statistic import Statistic
from sourdine.frames.frame import Frame
from sourdine.questions import STATISTICS
from typed_questions import BASE

ROWS = list(product((0, 1), (0, 2, None)))
"""Every row of a small table: whether the filter keeps it, and a value."""
WHERE = {"where": "g = 1", "column": "v", "epsilon": 1}
GRID = {"bounds": (0, 2), "step": 1}


def table(rows):
    return {"g": [g for g, _ in rows], "v": [v for _, v in rows], "p": list(range(len(rows)))}


def tables(most=2):
    """Return every table of up to so many rows; their order does not matter."""
    found = {
        tuple(sorted(rows, key=str)) for n in range(most + 1) for rows in product(ROWS, repeat=n)
    }
    return sorted(found, key=str)


def neighbours(rows, relation):
    if relation == "add_remove":
        yield from ((*rows, row) for row in ROWS)
    else:
        for i in range(len(rows)):
            yield from ((*rows[:i], row, *rows[i + 1 :]) for row in ROWS)


CALLS = {
    "count": lambda x, **more: sd.count(x, **{**WHERE, **more, "column": None}),
    "count of values": lambda x, **more: sd.count(x, **WHERE, **more),
    "sum": lambda x, **more: sd.sum(x, **WHERE, **GRID, **more),
    "mean": lambda x, **more: sd.mean(x, **WHERE, **GRID, **more),
    "proportion": lambda x, **more: sd.proportion(x, **WHERE, category="2", **more),
    "histogram": lambda x, **more: sd.histogram(x, **WHERE, categories=["0", "2"], **more),
    "derived": lambda x, **more: sd.sum(x, **{**WHERE, "column": "v * g + 1"}, **GRID, **more),
    "median": lambda x, **more: sd.median(x, **WHERE, **GRID, method="exponential", **more),
}


def losses(call, relation):
    """Return the loss of each pair of neighbours, added up over the mechanisms of the call."""
    steps, apart = {}, {}
    for rows in {*tables(2), *tables(3)} if relation == "add_remove" else tables(2):
        with recording() as seen:
            call(table(rows), relation=relation)
        steps[rows] = seen.steps
    for rows in tables(2):
        for other in neighbours(rows, relation):
            near = tuple(sorted(other, key=str))
            for one, two in ((rows, near), (near, rows)):
                total = 0.0
                for a, b in zip(steps[one], steps[two], strict=True):
                    assert a.mechanism == b.mechanism
                    key = (a.mechanism, str(a.x), str(b.x))
                    if key not in apart:
                        p, q = a.mechanism.law(a.x), b.mechanism.law(b.x)
                        apart[key] = p.divergence(q).upper
                    total += apart[key]
                yield total


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("name", CALLS)
def test_exact_laws_of_all_neighbours_keep_the_claim(name, relation):
    worst = max(losses(CALLS[name], relation))
    assert worst <= 1 + 1e-9
    tight = {"mean", "count", "count of values", "histogram"}
    assert worst > (0.99 if name in tight else 0.1)


def test_a_weaker_copy_is_rejected(monkeypatch):
    """If the number of kept rows counted as public, a replaced record could change it."""
    monkeypatch.setattr(Statistic, "alone", property(lambda self: self.by is None))
    data, neighbour = table([(1, 2), (1, 0)]), table([(1, 2), (0, 0)])
    found = replay(
        lambda x: CALLS["mean"](x, relation="substitute", missing="middle"), data, neighbour
    )
    assert not found.holds


def test_the_number_of_kept_rows_is_private():
    data = {"g": [1, 1, 0, 1] * 25, "v": [1, 0] * 50}
    whole = {"column": "v", **GRID, "epsilon": 1, "relation": "substitute"}
    assert "records" in sd.mean(data, **whole, missing="middle").drawn
    assert "records" not in sd.mean(data, **whole, where="g = 1").drawn
    assert Mean(**whole, where="g = 1").known is False
    for kind, more in (("mean", {"missing": "middle"}), ("proportion", {"missing": "no"})):
        asked = {**whole, **more, "where": "g = 1"}
        if kind == "proportion":
            asked = {k: v for k, v in asked.items() if k not in GRID}
        with pytest.raises(sd.ParameterError, match="number of records is private"):
            getattr(sd, kind)(data, **asked)


def filtered(kind, asked, condition):
    """Return a question with a condition; a statement says it and its groups itself."""
    if kind != "sql":
        return {**asked, "where": condition}
    by = asked.pop("by", None)
    groups = "" if by is None else f" GROUP BY {by}"
    return {**asked, "statement": f"{asked['statement']} WHERE {condition}{groups}"}


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("kind", STATISTICS)
def test_an_onlooker_sees_no_difference(kind, relation):
    """Replay of whole calls, grouped ones, and ones whose bounds are found."""
    rng = np.random.default_rng(3)

    def rows(n):
        return {
            "age": [*rng.choice([3.0, 17, 40, np.nan], n)], "region": [*rng.choice(["f", "m"], n)],
            "patient": [*rng.integers(0, 9, n)],
        }  # fmt: skip

    def joined(x, y):
        return {name: x[name] + y[name] for name in x}

    base = {k: v for k, v in BASE[kind].items() if k != "error"} if kind in BASE else None
    if base is None:
        pytest.skip("no question of it is typed")
    calls = [{}, {"by": "region", "keys": ["f", "m"]}, {"unit": "patient", "rows": 60}]
    if kind in {"mean", "sum"}:
        calls.append({"bounds": (0, None), "step": 1})
    if kind == "table":
        calls.append({"of": {"age": ["mean"]}, "bounds": {"age": "find"}, "n": None})
    for more in calls:
        typed = filtered(kind, {**base, **more}, "age > 10 or patient % 2 = 0")
        typed["relation"] = relation
        for n in (0, 4, 30):
            whole, one, other = rows(n), rows(1), rows(1)
            if relation == "substitute":
                pair = joined(whole, one), joined(whole, other)
            else:
                pair = whole, joined(whole, one)
            if "unit" in more and relation == "substitute":
                pair[1]["patient"][-1] = pair[0]["patient"][-1]
            found = replay(lambda x, t=typed: sd.ask(x, {"statistic": kind, **t}), *pair)
            assert found.holds, (more, n, found.faults)


@pytest.mark.parametrize("kind", [kind for kind in STATISTICS if kind in BASE])
def test_filtered_rows_are_counted_as_if_they_were_alone(kind):
    """The same seeded draw from filtered data, and from the data filtered before."""
    rng = np.random.default_rng(4)
    n = 2000
    age = np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 100, n))
    region, patient = rng.choice(["f", "m"], n), rng.integers(0, 900, n)
    kept = (age >= 18) & (region == "f")

    def data(rows):
        return {"age": age[rows], "region": region[rows], "patient": patient[rows]}

    for more in ({}, {"unit": "patient", "rows": 2}):
        asked = {**BASE[kind], **more}
        typed = filtered(kind, asked, "age >= 18 and region = 'f'")
        found = []
        for x, question in ((data(slice(None)), typed), (data(kept), asked)):
            source = sd.noise.SeededSource(9)
            release = sd.ask(x, {"statistic": kind, **question, "source": source})
            found.append(release.to_dict()["drawn"])
        assert found[0] == found[1]


def test_where_and_formulas_are_public(tmp_path):
    data = {"age": [20, 30, 40, 50] * 50, "size": [1, 2] * 100}
    asked = {"column": "age / size", "where": "age >= 30 and size in (1, 2)", "bounds": (0, 60)}
    release = sd.mean(data, **asked, epsilon=1)
    assert "Only rows for which this is true are included: age >= 30" in str(release)
    said = json.loads(release.to_json())["question"]
    assert (said["column"], said["where"]) == (asked["column"], asked["where"])
    assert sd.Release.from_json(release.to_json()).caveats == release.caveats
    session = sd.Session(data, epsilon=2, ledger=tmp_path / "people.ledger")
    session.mean(**asked, epsilon=1)
    assert asked["where"] in json.loads(session.history[-1].parameters)["where"]
    assert "where age >= 30" in str(session.history)
    assert Count(where="age > 3", epsilon=1).name == "count where age > 3"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (
            {"where": "agee > 3"},
            "where must name existing columns, got 'agee'. Did you mean 'age'?",
        ),
        ({"where": "age > 'x'"}, "where must have an integer there, got 'x'"),
        ({"where": "age"}, "where must have true or false there, got the column 'age'"),
        ({"column": "agee / 2"}, "column must name existing columns, got 'agee'"),
        ({"column": "age / name"}, "column must have a number there, got the column 'name'"),
        ({"by": "age // name", "keys": [1]}, "by must have a number there"),
    ],
)
def test_wrong_formulas_are_refused_before_anything_is_charged(typed, said):
    data = {"age": np.array([1, 2]), "name": np.array(["a", "b"])}
    session = sd.Session(data, epsilon=1)
    with pytest.raises(sd.ParameterError) as caught:
        session.mean(**{"column": "age", "bounds": (0, 2), "epsilon": 1, **typed})
    assert said in str(caught.value)
    assert not session.history


def test_the_name_of_a_column_wins():
    data = {"a - b": [1.0] * 5, "a": [5.0] * 5, "b": [1.0] * 5}
    for column, total in (("a - b", 5), ("(a - b)", 20)):
        drawn = sd.sum(data, column=column, bounds=(0, 9), step=1, epsilon=100)
        assert abs(drawn.value - total) < 2


def test_values_that_do_not_exist_are_missing():
    data = {
        "x": ["1", "0", "x", None, "1e400"],
        "d": ["2024-02-29", "2023-02-29", "", "?", "0001-01-01"],
    }
    frame = Frame(data)
    for text, there in (("1 / x", 2), ("year(d)", 2), ("date(d) - interval '1 day'", 1)):
        assert frame.derived(None, ("column", text)).present(text) == there


def test_filters_come_before_rows_of_a_person_are_dropped():
    data = {"p": [1] * 10 + [2] * 10, "v": [0] * 9 + [1] + [0] * 9 + [1]}
    kept = sd.count(data, where="v = 1", unit="p", rows=1, epsilon=200)
    assert kept.value == 2
    assert math.isclose(float(kept.cost.epsilon), 200)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_descriptions_of_filtered_rows_show_no_difference(relation):
    rng = np.random.default_rng(5)
    whole = {"x": [*rng.choice([1.0, 2, 7, np.nan], 60)], "g": [*rng.choice([0, 1], 60)]}
    other = {name: list(values) for name, values in whole.items()}
    other["x"][-1], other["g"][-1] = 2.0, 1 - whole["g"][-1]
    if relation == "add_remove":
        other = {name: values[:-1] for name, values in whole.items()}
    asked = {"columns": ["x"], "where": "g = 1", "epsilon": 4, "delta": 1e-6, "relation": relation}
    found = replay(lambda x: sd.describe(x, **asked), whole, other)
    assert found.holds, found.faults


@pytest.mark.parametrize("kind", ["mean", "table"])
def test_bounds_are_found_without_the_number_of_kept_rows(kind):
    """A replaced record that passes the filter only before changes no public share of epsilon."""
    one = {"x": [5.0] * 2001, "g": [1] * 2001}
    other = {"x": one["x"], "g": [0, *one["g"][1:]]}
    asked = {"where": "g = 1", "epsilon": 1, "relation": "substitute"}
    more = {"column": "x", "bounds": "find"}
    if kind == "table":
        more = {"of": {"x": ["mean"]}, "bounds": {"x": "find"}}
    found = replay(lambda x: getattr(sd, kind)(x, **asked, **more), one, other)
    assert found.holds, found.faults
