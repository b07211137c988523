"""Two columns together."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine.local.table.columns import Choice, Number
from sourdine.local.table.crossed import axis, pair
from sourdine.local.table.schema import Schema
from sourdine.noise import SeededSource
from sourdine.results.release import Release

SURVEYS = 400


def asked(n, seed=1):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 60, n)
    vote = np.where(rng.random(n) < age / 60, 0, rng.integers(1, 3, n))
    return age, vote


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "n", "method"), [(4, 2000, None), (8, 200, None), (6, 2000, "laplace")]
)
def test_pairs_are_unbiased_and_cover(epsilon, n, method):
    schema = Schema(
        age=Number(0, 59, step=1, method=method),
        vote=Choice("a", "b", "c"),
        epsilon=epsilon,
        missing="random",
    )
    parts = schema.parts()
    age, vote = asked(n)
    truth = np.zeros((3, 3))
    np.add.at(truth, (age // 20, vote), 1 / n)
    axes = [axis(parts["age"], n, 3), axis(parts["vote"], n)]
    y = parts["age"].mechanism.randomise(np.tile(age, SURVEYS), source=SeededSource(1))
    z = parts["vote"].mechanism.randomise(np.tile(vote, SURVEYS), source=SeededSource(2))
    found = []
    for a, b in zip(y.reshape(SURVEYS, n), z.reshape(SURVEYS, n), strict=True):
        tally = np.zeros((len(axes[0].scores), 3), np.int64)
        np.add.at(tally, (a, b), 1)
        found.append(pair(*axes, tally, schema.guarantee))
    values = np.array([r.value for r in found])
    off = np.abs(values.mean(axis=0) - truth)
    bias = np.outer(axes[0].bias, 1 + axes[1].bias) + axes[1].bias
    assert (off <= 5 * values.std(axis=0) / sqrt(SURVEYS) + bias).all()
    ends = np.array([r.interval() for r in found])
    covered = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    assert (covered.mean(axis=0) >= 0.95 - 5 * sqrt(0.95 * 0.05 / SURVEYS)).all()
    if method is None:
        shortest = 2 * np.quantile(np.abs(values - truth), 0.95, axis=0)
        assert (np.median(ends[:, 1] - ends[:, 0], axis=0) <= 1.4 * shortest).all()


def clean(n=3000):
    schema = Schema(
        age=Number(0, 59, step=1), vote=Choice("a", "b", "c"), epsilon=8, missing="random"
    )
    age, vote = asked(n)
    table = {"age": age, "vote": np.array(["a", "b", "c"])[vote]}
    return schema, schema.sanitize(table, source=SeededSource(5))


def test_a_pair_of_a_table():
    schema, table = clean()
    found = schema.estimate(table, pairs=[("age", "vote")])
    r, other = found.pair("age", "vote", bins=3), found.pair("vote", "age", bins={"age": 3})
    np.testing.assert_allclose(r.value, np.transpose(other.value))
    assert abs(np.sum(r.value) - 1) < 0.1
    assert r.cost == schema.guarantee
    assert r.mechanism.parts[0] == ("0 to 19", "20 to 39", "40 to 59")
    again = Release.from_json(r.to_json())
    np.testing.assert_array_equal(again.interval()[1], r.interval()[1])
    assert "20 to 39" in str(again)


def test_no_reports_tell_nothing():
    schema = Schema(
        age=Number(0, 59, step=1), vote=Choice("a", "b", "c"), epsilon=8, missing="random"
    )
    r = schema.estimate({"age": [], "vote": []}, pairs=[("age", "vote")]).pair("age", "vote")
    low, high = r.interval()
    assert (low == 0).all()
    assert (high == 1).all()


@pytest.mark.parametrize("pairs", [[("age", "age")], [("age", "sex")], [("age",)]])
def test_bad_pairs_are_refused(pairs):
    schema, table = clean(10)
    with pytest.raises(ParameterError, match="pairs must hold two different columns"):
        schema.estimate(table, pairs=pairs)


def test_a_pair_must_be_counted():
    schema, table = clean(10)
    with pytest.raises(ParameterError, match=r"pairs=\[\('vote', 'age'\)\]"):
        schema.estimate(table).pair("vote", "age")
    sampled = Schema.of(schema.columns, epsilon=1, method="sample", missing="random")
    with pytest.raises(ParameterError, match="with the method 'split'"):
        sampled.estimate(table, pairs=[("age", "vote")])


def test_rare_pairs_of_few_people_are_covered():
    """Hardly anybody draws the reports that would show the noise: it is known all the same."""
    n, schema = 50, Schema(a=Choice(*"abcd"), b=Choice(*"abcd"), epsilon=4, missing="random")
    parts = schema.parts()
    code = np.zeros(n, np.int64)
    code[0] = 1
    axes = [axis(parts[name], n) for name in "ab"]
    y, z = (
        parts[name].mechanism.randomise(np.tile(code, SURVEYS), source=SeededSource(seed))
        for seed, name in enumerate("ab")
    )
    hits = np.zeros((4, 4))
    truth = np.zeros((4, 4))
    truth[0, 0], truth[1, 1] = 1 - 1 / n, 1 / n
    for one, other in zip(y.reshape(SURVEYS, n), z.reshape(SURVEYS, n), strict=True):
        tally = np.zeros((4, 4), np.int64)
        np.add.at(tally, (one, other), 1)
        low, high = pair(*axes, tally, schema.guarantee).interval()
        hits += (low <= truth) & (truth <= high)
    assert (hits / SURVEYS).min() >= 0.95 - 5 * sqrt(0.95 * 0.05 / SURVEYS)


def test_a_pair_is_no_column():
    schema = Schema(age=Number(0, 9, missing=True), vote=Choice("a", "b", missing=True), epsilon=1)
    estimates = schema.estimate({"age": [], "vote": []}, pairs=[("age", "vote")])
    with pytest.raises(ParameterError, match=r"Use pair\(one, other\) for two columns together"):
        _ = estimates["age", "vote"]
