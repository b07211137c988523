"""Tables: what they cost, how they share, what their interfaces show."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import attrs
import numpy as np
import pytest
from typer.testing import CliRunner

import sourdine as sd
from sourdine import table
from sourdine.answers import Release
from sourdine.audit import replay
from sourdine.central import Table
from sourdine.central import groups as multiples
from sourdine.central.table import relative_error
from sourdine.cli.app import app
from sourdine.noise import SYSTEM, SeededSource

OF = {"v": ["mean", "deciles", "sum", "variance", "count"], "w": ["median"], "*": ["count"]}
BOUNDS = {"v": (0, 10), "w": (0, 100)}
STEPS = {"v": 1, "w": 1}
ASKED = {"of": OF, "bounds": BOUNDS, "steps": STEPS}
N = 1200
RNG = np.random.default_rng(4)
DATA = {
    "sex": ["f", "m", "f"] * (N // 3),
    "town": ["Ulm", "Bonn"] * (N // 2),
    "v": RNG.integers(0, 11, N).tolist(),
    "w": RNG.integers(0, 101, N).tolist(),
    "who": list(range(N)),
}
GROUPS = {
    "none": {},
    "listed": {"by": "sex", "keys": ["f", "m", "x"]},
    "pairs": {"by": ["sex", "town"], "keys": {"sex": ["f", "m"], "town": ["Ulm", "Bonn"]}},
    "found": {"by": "town", "keys": "unknown", "delta": 1e-6, "other": True},
}


@pytest.mark.slow
@pytest.mark.parametrize("groups", GROUPS)
def test_tables_cost_what_they_say(groups, relation):
    """Replay of the whole call: the steps that moved add up to no more than epsilon."""

    def call(records):
        x = {name: [record[i] for record in records] for i, name in enumerate(DATA)}
        asked = table(
            x, **ASKED, **GROUPS[groups], relation=relation, epsilon=1, unit="who",
            source=SeededSource(1),
        )  # fmt: skip
        question = getattr(asked.mechanism, "question", asked.mechanism)
        return replace(asked, cost=attrs.evolve(question, source=SYSTEM).cost)

    people = list(zip(*DATA.values(), strict=True))[:600]
    one = [("f", "Ulm", 10, 0, 9999), ("m", "Bonn", 0, 100, 9999), ("f", "Rome", 5, 5, 9999)]
    neighbours = (
        [people[1:], *([*people, person] for person in one)]
        if relation == "add_remove"
        else [[(*person[:4], 0), *people[1:]] for person in one]
    )
    for neighbour in neighbours:
        result = replay(call, people, neighbour)
        assert result.holds, result.faults


@pytest.mark.parametrize("epsilon", [0.1, 1, 8])
def test_shares_add_up(epsilon):
    asked = Table(**ASKED, epsilon=epsilon)
    spent = sum(asked.shares)
    assert Fraction(99, 100) * asked.epsilon < spent <= asked.epsilon


@pytest.mark.slow
def test_no_split_beats_the_shares():
    """A search over all splits in steps of a hundredth finds none that is better by a hundredth."""
    of = {"*": ["count"], "v": ["mean"], "w": ["deciles"]}
    asked = Table(of=of, bounds=BOUNDS, steps=STEPS, epsilon=1, n=500)
    errors = [relative_error(part, 500) for part in asked._asked.values()]
    ours = max(error(float(share)) for error, share in zip(errors, asked.shares, strict=True))
    curve = [[error(k / 100) for k in range(1, 100)] for error in errors]
    best = min(
        max(curve[0][i - 1], curve[1][j - 1], curve[2][99 - i - j])
        for i in range(1, 99)
        for j in range(1, 100 - i)
    )
    assert ours <= 1.01 * best
    even = max(error(1 / 3) for error in errors)
    assert even > 1.2 * ours


@pytest.mark.slow
@pytest.mark.parametrize("groups", GROUPS)
def test_every_interface(groups, tmp_path):
    release = table(DATA, **ASKED, **GROUPS[groups], epsilon=4)
    back = Release.from_json(release.to_json())
    assert back == release
    assert str(back) == str(release)
    assert back.mechanism == release.mechanism
    frame = release.to_frame("polars")
    numbers = 1 + 9 + 1 + 1 + 1 + 1 + 1
    keys = len(release.value) if groups != "none" else 1
    assert len(frame) == keys * numbers
    by = {"none": [], "listed": ["sex"], "pairs": ["sex", "town"], "found": ["town"]}[groups]
    assert frame.columns == [*by, "column", "statistic", "q", "value", "lower", "upper"]
    assert (frame["lower"] <= frame["upper"]).all()
    top = str(release).split("cost    epsilon")[0].splitlines()
    assert max(map(len, top)) <= 80
    assert "v mean" in str(release)
    release.plot(path=str(tmp_path / "table.png"))
    lines = numbers if groups == "none" else keys
    assert release._repr_html_().count("<tr>") == lines + 1
    question = getattr(release.mechanism, "question", release.mechanism)
    facts = json.loads(json.dumps(question.to_dict()))
    assert sd.questions.read(facts) == question
    assert facts["of"] == {name: list(words) for name, words in OF.items()}


def test_answers_are_near_the_truth():
    release = table(DATA, **ASKED, **GROUPS["listed"], epsilon=50)
    rows = [i for i in range(N) if DATA["sex"][i] == "f"]
    v = np.array(DATA["v"])[rows]
    found = release.value["f"]
    assert abs(found["count"] - len(rows)) < 20
    assert abs(found["mean of v"] - v.mean()) < 0.2
    assert abs(found["sum of v"] - v.sum()) < 300
    assert abs(found["variance of v"] - v.var()) < 1
    assert np.abs(found["deciles of v"] - np.quantile(v, np.arange(1, 10) / 10)).max() <= 2
    assert set(release.value) == {"f", "m", "x"}


@pytest.mark.slow
def test_a_session_charges_once_and_a_plan_costs_nothing(tmp_path):
    session = sd.Session(DATA, epsilon=3, ledger=tmp_path / "x.ledger")
    session.table(**ASKED, **GROUPS["pairs"], epsilon=1)
    assert len(session.history) == 1
    assert float(session.spent.epsilon) == 1
    assert session.history[0].what.startswith("table of mean of v, deciles of v")
    plan = sd.plan.table(**ASKED, **GROUPS["pairs"], n=5000, epsilon=1)
    assert 0 < plan.error < 1
    wanted = sd.plan.table(
        of={"*": ["count"], "v": ["mean"]}, bounds={"v": (0, 10)}, n=300, error=0.05
    )
    assert wanted.error <= 0.05


@pytest.mark.slow
def test_intervals_of_tables_cover():
    asked = Table(
        of={"v": ["mean", "sum"], "*": ["count"]}, bounds={"v": (0, 10)}, steps={"v": 1},
        by="sex", keys=["f", "m"], epsilon=1, source=SeededSource(2),
    )  # fmt: skip
    data, missed, runs = sd.Frame(DATA), 0, 300
    truth = {}
    for key in "fm":
        v = np.array([x for s, x in zip(DATA["sex"], DATA["v"], strict=True) if s == key])
        truth[key] = {"mean of v": v.mean(), "sum of v": v.sum(), "count": len(v)}
    for _ in range(runs):
        ends = asked.release(data).interval(0.9)
        missed += any(
            not low - 1e-9 <= truth[key][name] <= high + 1e-9
            for key, own in ends.items()
            for name, (low, high) in own.items()
        )
    assert missed < 0.1 * runs + 6 * np.sqrt(0.09 * runs)


@pytest.mark.slow
def test_in_a_shell(tmp_path):
    path = tmp_path / "people.csv"
    lines = [
        "sex,town,v",
        *(
            ",".join(map(str, row))
            for row in zip(DATA["sex"], DATA["town"], DATA["v"], strict=True)
        ),
    ]
    path.write_text("\n".join(lines))
    words = [
        "table", str(path), "--by", "sex", "--by", "town", "--keys", "f,m", "--keys", "Ulm,Bonn",
        "--of", "v:mean,deciles", "--of", "count", "--bounds", "v:0,10", "--steps", "v:1",
        "--epsilon", "4", "--other",
    ]  # fmt: skip
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0, shown.output
    assert "v mean" in shown.output
    facts = json.loads(CliRunner().invoke(app, [*words, "--json"]).output)
    assert set(facts["value"]) == {"f, Ulm", "f, Bonn", "m, Ulm", "m, Bonn", "other, other"}
    assert facts["question"]["keys"] == [["f", "Ulm"], ["f", "Bonn"], ["m", "Ulm"], ["m", "Bonn"]]
    found = CliRunner().invoke(
        app, ["count", str(path), "--by", "town", "--keys", "unknown", "--delta", "1e-6", "-e", "4"]
    )
    assert "Ulm" in found.output
    planned = CliRunner().invoke(
        app, ["plan", "table", "--of", "v:mean", "--bounds", "v:0,10", "--n", "100", "-e", "1"]
    )
    assert planned.exit_code == 0, planned.output


WRONG = [
    ({"of": None}, "table() missing a required argument: 'of'"),
    ({"of": {"v": ["modus"]}}, "of must hold only count, sum"),
    ({"of": {"*": ["mean"]}}, "of must name only the count"),
    ({"of": {"v": ["mean", "mean"]}}, "of must list each statistic once"),
    ({"bounds": None}, "bounds must be given for 'v', 'w'"),
    (
        {"bounds": {**BOUNDS, "z": (0, 1)}},
        "bounds must hold only columns whose numbers are requested",
    ),
    ({"steps": {"z": 1}}, "steps must hold only columns whose numbers are requested"),
    ({"steps": {"v": 0.7}}, "steps must"),
    ({"of": {"gone": ["count"]}, "bounds": None, "steps": None}, "of must be one of the columns"),
]


@pytest.mark.parametrize(("typed", "text"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_tables_say_what_to_type(typed, text, refused):
    refused(lambda: table(DATA, **{**ASKED, **typed}, epsilon=1), text)


def test_what_is_said_of_one_population_adds_its_risks_up():
    """Two statistics of the same records are not independent, as their noises are."""
    asked = Table(of={"x": ["mean", "median"]}, bounds={"x": (0, 9)}, epsilon=5)
    release = asked.release({"x": [i % 10 for i in range(2000)]})
    said = asked.limits(release, 0.05, "population")
    name, part = "mean of x", asked.statistics["mean of x"]
    alone = replace(release, value=release.value[name], mechanism=part, drawn=release.drawn[name])
    assert said[name] == part.limits(alone, 0.025, "population")


@pytest.mark.slow
def test_dates_have_ticks_for_ranges_from_a_minute_to_1900_years():
    """Matplotlib warns of ranges for which it finds none; warnings fail."""
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axis = figure.subplots().xaxis
    multiples._as_dates(axis)
    for minutes in np.unique(np.geomspace(1, 10**9, 3000).astype(int)):
        axis.axes.set_xlim(18_000.3, 18_000.3 + minutes / 1440)
        assert 1 <= len(axis.get_majorticklocs()) <= 8


@pytest.mark.slow
def test_a_table_of_dates_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    data = {"day": [f"2020-01-{1 + i % 28:02d}" for i in range(200)], "sex": ["f", "m"] * 100}
    bounds = {"day": ["2020-01-01", "2020-02-01"]}
    of = {"day": ["mean", "quartiles"], "*": ["count"]}
    drawn = table(data, of=of, by="sex", keys=["f", "m"], bounds=bounds, epsilon=5)
    drawn.plot(path=str(tmp_path / "dates.svg"))
    assert (tmp_path / "dates.svg").stat().st_size > 1000


@pytest.mark.parametrize("groups", [{}, {"by": "sex", "keys": ["f", "m"]}])
def test_printed_tables_have_their_intervals(groups):
    asked = {"of": {"age": ["mean", "quartiles"], "*": ["count"]}, "bounds": {"age": (0, 120)}}
    people = {"age": [20, 30, 40] * 1000, "sex": ["f", "m", "f"] * 1000}
    release = sd.table(people, epsilon=1, **asked, **groups)
    text = " ".join(str(release).split())
    for value, low, high in release.columns().texts():
        assert f"{value} [{low}, {high}]" in text


def test_a_table_without_groups_is_drawn():
    """Whether groups are found depends on the data, so nothing may fail where there are none."""
    rows = {"a": [1, 2], "g": ["x", "y"]}
    asked = {"bounds": {"a": (0, 10)}, "keys": "unknown", "delta": 1e-6, "epsilon": 1}
    found = sd.table(rows, of={"a": ["mean"]}, by="g", **asked)
    assert len(found.value) == 0
    assert found.plot().get_axes()
    assert sd.sql("SELECT g, AVG(a) FROM d GROUP BY g", d=rows, **asked).plot().get_axes()
