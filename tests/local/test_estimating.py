"""From a sanitised table, or from reports, to estimates of every column."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine.local import Aggregator, Choice, Flag, Number, Schema
from sourdine.noise import SeededSource
from sourdine.results.release import Release

N = 6000


def schema(**more):
    return Schema(
        age=Number(0, 99, step=1),
        vote=Choice("left", "right", missing="none"),
        income=Number(0, 1000, step=10, missing=True),
        smokes=Flag(),
        **{"epsilon": 12, "missing": "random", **more},
    )


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(1)
    income = rng.gamma(3, 80, N)
    return {
        "age": np.minimum(rng.gamma(6, 7, N), 99).astype(int).tolist(),
        "vote": rng.choice(["left", "right", ""], N, p=[0.5, 0.3, 0.2]).tolist(),
        "income": [None if rng.random() < 0.3 else x for x in income.tolist()],
        "smokes": (rng.random(N) < 0.2).tolist(),
    }


def check(found, people):
    """Demand that intervals of confidence 1 - 1e-6 hold the truth, all of them."""
    sure = 1 - 1e-6
    low, high = found["age"].interval(sure)
    assert low <= np.mean(people["age"]) <= high
    low, high = found.quantiles("age", [0.5]).interval(sure)
    assert low[0] <= np.quantile(people["age"], 0.5, method="inverted_cdf") <= high[0]
    truth = [people["vote"].count(v) / N for v in ("left", "right", "")]
    low, high = found["vote"].interval(sure)
    assert (low <= truth).all()
    assert (truth <= high).all()
    there = [x for x in people["income"] if x is not None]
    low, high = found.mean("income").interval(sure)
    assert low <= np.mean(np.minimum(there, 1000)) <= high
    low, high = found.answered("income").interval(sure)
    assert low[0] <= len(there) / N <= high[0]
    low, high = found["smokes"].interval(sure)
    assert low[1] <= np.mean(people["smokes"]) <= high[1]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("method", ["split", "sample"])
def test_a_table_tells_the_truth(people, method):
    given = schema(method=method)
    if method == "sample":
        given = Schema.of(
            {**given.columns, "income": Number(0, 1000, step=10)},
            epsilon=12,
            method="sample",
            missing="random",
        )
        whole = {**people, "income": [0 if x is None else x for x in people["income"]]}
        found = given.estimate(given.sanitize(whole, source=SeededSource(1)))
        assert sum(found.counts.values()) == N
        low, high = found["age"].interval(1 - 1e-6)
        assert low <= np.mean(people["age"]) <= high
        again = Release.from_json(found["vote"].to_json())
        np.testing.assert_array_equal(again.interval()[0], found["vote"].interval()[0])
        assert "vote: " in str(again)
        assert "Asked of some people" in str(again)
    else:
        check(given.estimate(given.sanitize(people, source=SeededSource(1))), people)


def test_reports_tell_the_truth(people):
    given = schema()
    total = Aggregator(given)
    for records in given.reports(people, source=SeededSource(2)):
        total.add(records)
    check(total.estimate(), people)


@pytest.mark.slow
def test_all_is_shown(people):
    given = schema()
    found = given.estimate(given.sanitize(people, source=SeededSource(1)), pairs=[("age", "vote")])
    text = str(found)
    rows = {tuple(line.split()[:2]) for line in text.splitlines()}
    for words in (("age", "mean"), ("age", "quartiles"), ("vote", "shares"), ("income", "answered"),
                  ("smokes", "shares"), ("age", "x"), ("cost", "epsilon")):  # fmt: skip
        assert words in rows
    facts = json.loads(found.to_json())
    shares = facts["estimates"]["vote"]["shares"]
    assert Release.from_json(json.dumps(shares)) == found.shares("vote")
    assert shares["interval"]["confidence"] == 0.95
    assert len(facts["estimates"]["age x vote"]["shares"]["value"]) == 5
    frame = found.to_frame("polars")
    assert frame.columns == ["column", "what", "of", "estimate", "lower", "upper"]
    assert frame.height == len(found.sheet().lines) + 2 * 5 * 3
    assert list(found) == ["age", "vote", "income", "smokes"]
    assert "<table>" in found._repr_html_()


@pytest.mark.slow
def test_pictures_are_drawn(people, tmp_path):
    given = schema()
    found = given.estimate(given.sanitize(people, source=SeededSource(1)), pairs=[("age", "vote")])
    found.plot(path=str(tmp_path / "all.png"))
    found.pair("age", "vote").plot(path=str(tmp_path / "pair.png"))
    found.quantiles("income").plot(path=str(tmp_path / "income.png"))
    assert all(
        (tmp_path / f"{name}.png").stat().st_size > 5000 for name in ("all", "pair", "income")
    )


def test_what_no_report_could_be_is_dropped():
    given = Schema(
        vote=Choice("a", "b"),
        age=Number(0, 9, step=1, method="laplace"),
        epsilon=1,
        missing="random",
    )
    found = given.estimate({"vote": ["a", "x", None, "b"], "age": [3, 3.5, -1, 10]})
    assert found.counts == {"vote": 2, "age": 2}
    assert found.dropped == {"vote": 2, "age": 2}


@pytest.mark.parametrize("columns", [0, 1])
def test_no_rows_and_one(columns):
    given = schema()
    row = {"age": [31], "vote": ["left"], "income": [None], "smokes": [True]}
    table = {name: values[:columns] for name, values in row.items()}
    found = given.estimate(given.sanitize(table, source=SeededSource(1)))
    assert found["age"].interval()[1] > 50
    assert str(found)


@pytest.mark.parametrize(
    ("ask", "hint"),
    [
        (lambda e: e["sex"], "The columns are"),
        (lambda e: e.mean("vote"), r"shares\('vote'\)"),
        (lambda e: e.shares("age"), r"mean\('age'\)"),
        (lambda e: e.answered("age"), "missing=True"),
        (lambda e: e.distribution("income"), r"quantiles\('income'\)"),
    ],
)
def test_wrong_questions_are_answered_with_a_hint(ask, hint):
    given = schema()
    empty = {name: [] for name in given.columns}
    with pytest.raises(ParameterError, match=hint):
        ask(given.estimate(empty))


@pytest.mark.slow
def test_asking_some_people_widens_the_interval_to_all():
    """At a large epsilon the noise is next to nothing, and who was asked is what is left."""
    given = Schema(
        vote=Choice("a", "b"), drink=Choice("a", "b"), age=Number(0, 9, step=1), epsilon=20,
        method="sample", missing="random",
    )  # fmt: skip
    votes = ["a"] * 200 + ["b"] * 200
    table = {"vote": votes, "drink": votes, "age": [2] * 200 + [7] * 200}
    inside = {"vote": [], "age": []}
    for seed in range(200):
        found = given.estimate(given.sanitize(table, source=SeededSource(seed)))
        low, high = found["vote"].interval()
        inside["vote"].append(low[0] <= 0.5 <= high[0])
        low, high = found["age"].interval()
        inside["age"].append(low <= 4.5 <= high)
    assert min(map(np.mean, inside.values())) >= 0.95 - 5 * (0.95 * 0.05 / 200) ** 0.5


def test_a_sampled_table_has_one_answer_a_row():
    """Rows with more were not written by this schema, or cost more than it says."""
    given = Schema(
        vote=Choice("a", "b"), drink=Choice("c", "d"), epsilon=1, method="sample", missing="random"
    )
    table = {"vote": ["a", None, "a", "what?", None], "drink": [None, "c", "d", None, None]}
    found = given.estimate(table)
    assert found.counts == {"vote": 1, "drink": 1}
    assert found.dropped == {"vote": 1, "drink": 1}
    assert found.notes[0].startswith("2 people")
    assert "dropped" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("use", ["table", "report"])
def test_every_estimate_is_read_back(people, use):
    """With all that follows from it, intervals and tables."""
    given = schema()
    if use == "table":
        found = given.estimate(
            given.sanitize(people, source=SeededSource(1)), pairs=[("age", "vote")]
        )
    else:
        total = Aggregator(given)
        total.add(given.reports(people, source=SeededSource(2)))
        found = total.estimate()
    releases = [release for _, _, release in found.releases()]
    for release in [*releases, found.distribution("age"), found.quantiles("income")]:
        again = Release.from_json(release.to_json())
        assert str(again) == str(release)
        np.testing.assert_array_equal(again.interval(0.9), release.interval(0.9))
