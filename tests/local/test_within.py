"""Two columns crossed: shares of all people, and shares within a row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from sourdine.answers import Release
from sourdine.local import Choice, Choices, Number, Schema
from sourdine.local.reports.aggregator import joint_tally
from sourdine.local.table.crossed import axis, pair
from sourdine.noise import SeededSource

RARE = 1e-9
SURVEYS = 300
SCHEMA = Schema(
    vote=Choice("yes", "no", "none"),
    media=Choices("tv", "web"),
    age=Number(0, 99, step=1),
    sick=Choice("a", "b"),
    epsilon=8,
    missing="random",
)
PAIRS = [("vote", "sick"), ("media", "vote"), ("sick", "media"), ("vote", "age")]


def answers(name, truth, n, rng):
    """Draw the codes of a column that goes along with another number of 0 to 1."""
    if name == "vote":
        return np.where(rng.random(n) < 0.2 + 0.5 * truth, 0, rng.integers(1, 3, n))
    if name == "media":
        return (rng.random(n) < truth) + 2 * (rng.random(n) < 0.3)
    if name == "age":
        return np.clip(20 + 60 * truth + rng.normal(0, 8, n), 0, 99).astype(np.int64)
    return (rng.random(n) < truth).astype(np.int64)


def members(name, codes):
    """Return who is in each part of a column, a column each."""
    if name == "media":
        return codes[:, None] >> np.arange(2) & 1
    if name == "age":
        return np.eye(2)[codes // 50]
    return np.eye({"vote": 3, "sick": 2}[name])[codes]


def survey(one, other, n, seed):
    rng, source, parts = np.random.default_rng(seed), SeededSource(seed), SCHEMA.parts()
    truth = rng.random(n)
    codes = {name: answers(name, truth, n, rng) for name in (one, other)}
    drawn = {name: parts[name].mechanism.randomise(codes[name], source=source) for name in codes}
    made = [parts[name].mechanism for name in codes]
    tally = joint_tally(made[0], drawn[one], made[1], drawn[other])
    first, second = (axis(parts[name], n, 2) for name in codes)
    found = pair(first, second, tally, SCHEMA.guarantee, within=True)
    rows, columns = members(one, codes[one]), members(other, codes[other])
    return found, (rows.T @ columns) / rows.sum(axis=0)[:, None]


@pytest.mark.slow_cases(3)
@pytest.mark.parametrize("names", PAIRS)
@pytest.mark.parametrize("of", ["sample", "population"])
def test_shares_within_a_row_cover(names, of):
    missed, narrow = 0, 0
    for seed in range(SURVEYS):
        found, truth = survey(*names, 500, seed)
        low, high = found.interval(0.95, of=of)
        missed = missed + ((truth < low) | (truth > high))
        middle, half = np.asarray(found.value), (high - low) / 2
        narrow = narrow + (np.abs(truth - middle) > 0.4 * half)
    most = binom.isf(RARE, SURVEYS, 0.05)
    assert (missed <= most).all(), missed
    assert (narrow > most).any(), narrow


def test_a_row_of_nobody_is_unknown():
    rows = {"vote": ["yes"] * 300, "sick": ["a"] * 300, "age": [30] * 300, "media": [""] * 300}
    clean = SCHEMA.sanitize(rows, source=SeededSource(1))
    found = SCHEMA.estimate(clean, pairs=[("vote", "sick")]).within("vote", "sick")
    low, high = found.interval(0.95)
    assert (high - low)[1:].max() > 0.9
    assert (high - low)[0].max() < 0.5
    nobody = SCHEMA.estimate({name: [] for name in rows}, pairs=[("vote", "sick")])
    low, high = nobody.within("vote", "sick").interval()
    assert (low == 0).all()
    assert (high == 1).all()
    assert "Nobody reported" in str(nobody.within("vote", "sick"))


@pytest.mark.slow
def test_a_crossed_table_is_printed_in_rows_and_columns():
    rng = np.random.default_rng(1)
    rows = {"vote": rng.choice(["yes", "no"], 3000).tolist(), "sick": ["a", "b"] * 1500}
    rows |= {"age": [30] * 3000, "media": ["tv"] * 3000}
    found = SCHEMA.estimate(SCHEMA.sanitize(rows), pairs=[("vote", "sick"), ("sick", "age")])
    lines = str(found.pair("vote", "sick")).splitlines()
    assert lines[0].split() == ["vote", "\\", "sick,", "%", "share", "a", "b", "all"]
    assert [line.split()[0] for line in lines[1:7]] == ["yes", "yes", "no", "no", "none", "none"]
    assert lines[1].split()[1:3] == ["of", "all"]
    assert lines[2].split()[1:4] == ["of", "the", "row"]
    for table in (str(found), found._repr_html_()):
        assert "vote x sick" in table
        assert "sick x age" in table
    assert found._repr_html_().count("<table>") == 3
    long = found.pair("vote", "sick").columns()
    assert list(long.labels) == ["vote", "sick"]
    assert len(long.values) == 6
    frame = found.to_frame()
    assert {"shares", "shares of the row"} <= set(frame["what"])


def test_printed_ends_are_rounded_outwards():
    found, _ = survey("vote", "sick", 3000, 1)
    low, high = found.interval(0.95)
    text = str(found).splitlines()[1:4]
    for i, line in enumerate(text):
        cells = [cell.split("]")[0].split(", ") for cell in line.split("[")[1:]]
        for j, (a, b) in enumerate(cells):
            assert float(a) <= 100 * low[i, j] + 1e-6
            assert float(b) >= 100 * high[i, j] - 1e-6


def test_a_wide_table_is_a_list():
    names = [f"c{i}" for i in range(7)]
    schema = Schema(a=Choice("x", "y"), b=Choice(*names), epsilon=9, missing="random")
    found = schema.estimate(
        schema.sanitize({"a": ["x"] * 70, "b": names * 10}), pairs=[("a", "b")]
    ).pair("a", "b")
    assert str(found).split()[:4] == ["a", "b", "share", "95%"]


def test_json_gives_back_the_shares_within():
    found, _ = survey("media", "vote", 400, 2)
    again = Release.from_json(found.to_json())
    assert again == found
    assert str(again) == str(found)
