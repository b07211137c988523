"""Tables, the bounds of whose columns are found: what they cost, survive and say."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import attrs
import numpy as np
import pytest
from tests.central.finding.test_found import HOSTILE, WAGES
from typer.testing import CliRunner

import sourdine as sd
from sourdine.answers import Release
from sourdine.audit import replay
from sourdine.central import Table
from sourdine.cli.app import app, narrowed
from sourdine.noise import SYSTEM, SeededSource

OF = {"x": ["mean", "deciles", "variance"], "y": ["sum", "median"], "*": ["count"]}
GROUPS = {
    "none": {},
    "listed": {"by": "sex", "keys": ["f", "m"]},
    "found": {"by": "sex", "keys": "unknown", "delta": 1e-6},
}


def frame(x, y=None):
    x = list(x)
    sex = [("f", "m")[i % 2] for i in range(len(x))]
    return {"x": x, "y": x if y is None else list(y), "sex": sex}


def numbers(value):
    return np.concatenate([np.ravel(np.asarray(part, float)) for part in value.values()])


@pytest.mark.slow
@pytest.mark.parametrize("bounds", ["find", {"x": (0, None), "y": (0, 10**9, "find")}], ids=str)
def test_nothing_in_the_data_makes_a_table_raise(bounds, relation):
    asked = {"of": OF, "bounds": bounds, "epsilon": 1, "relation": relation}
    usual = sd.table(frame(WAGES), **asked)
    for x in HOSTILE.values() if bounds == "find" else list(HOSTILE.values())[::4]:
        release = sd.table(frame(x), **asked)
        assert np.isfinite(numbers(release.value)).all()
        assert release.caveats == usual.caveats
        assert release.cost == usual.cost


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 0.01, "1e-9"])
def test_no_step_of_a_table_meets_data_that_it_cannot_hold(step):
    for x in list(HOSTILE.values())[::2]:
        release = sd.table(frame(x), of=OF, bounds="find", steps={"x": step, "y": step}, epsilon=1)
        assert np.isfinite(numbers(release.value)).all()


@pytest.mark.slow
@pytest.mark.parametrize("groups", GROUPS)
def test_whole_tables_hold_on_neighbours(groups, relation):
    """Replay of the whole call: the steps that moved add up to no more than epsilon."""

    def asked(records):
        data = dict(zip(("x", "y", "sex"), zip(*records, strict=True), strict=True))
        release = sd.table(
            {name: list(column) for name, column in data.items()}, of=OF, bounds="find", epsilon=1,
            relation=relation, source=SeededSource(1), **GROUPS[groups],
        )  # fmt: skip
        question = attrs.evolve(release.mechanism.question, source=SYSTEM)
        return replace(release, cost=question.cost)

    rng = np.random.default_rng(2)
    records = [
        (float(v), float(w), "fm"[i % 2]) for i, (v, w) in enumerate(rng.normal(9, 3, (80, 2)))
    ]
    for one in ((1e9, -1e9, "f"), (0.0, float("nan"), "m")):
        other = [*records, one] if relation == "add_remove" else [one, *records[1:]]
        result = replay(asked, records, other)
        assert result.holds, result.faults


@pytest.mark.slow
def test_parts_of_a_table_add_up_to_epsilon(relation):
    for n in (None, 40, 4000):
        release = sd.table(frame(WAGES), of=OF, bounds="find", epsilon=0.7, relation=relation, n=n)
        spent = {part: Fraction(str(x)) for part, x in release.drawn["spent"].items()}
        assert set(spent) == {"bounds of x", "bounds of y", "table"}
        assert sum(spent.values()) == Fraction("0.7")
        assert spent["table"] >= Fraction("0.7") / 3
        own = release.drawn["found"].values()
        assert spent["bounds of x"] + spent["bounds of y"] == sum(
            Fraction(str(x)) for found in own for x in found["spent"].values()
        )
        settled = release.mechanism.settled(release.drawn)
        assert sum(part.epsilon for part in settled.statistics.values()) <= spent["table"]


@pytest.mark.slow
def test_bounds_of_a_column_are_found_once_and_reach_about_as_far_as_the_data():
    release = sd.table(frame(WAGES, WAGES - 5e4), of=OF, bounds="find", epsilon=4)
    settled = release.mechanism.settled(release.drawn)
    for part in settled.statistics.values():
        if part.column is not None:
            assert part.bounds == dict(settled.bounds)[part.column]
    low, high = map(float, dict(settled.bounds)["x"])
    assert low <= np.quantile(WAGES, 0.05)
    assert np.quantile(WAGES, 0.97) <= high <= 8 * WAGES.max()
    clipped = np.clip(WAGES, low, high)
    least, most = release.interval(1 - 1e-9)["mean of x"]
    assert least <= clipped.mean() <= most


@pytest.mark.slow
def test_quantiles_alone_need_no_search_and_public_bounds_stay():
    release = sd.table(
        frame(WAGES), of={"x": ["median"], "y": ["mean"]}, bounds={"x": "find", "y": (0, 10**6)},
        epsilon=1,
    )  # fmt: skip
    assert "spent" not in release.drawn
    assert np.quantile(WAGES, 0.4) < release.value["median of x"] < np.quantile(WAGES, 0.6)
    both = Table(of=OF, bounds={"x": (0, 10**6), "*": "find"}, epsilon=1)
    assert both.searched == ("y",)
    assert Table(of=OF, bounds="find", epsilon=1).searched == ("x", "y")
    assert "x: Values are clamped" in " ".join(both.estimator.caveats)


@pytest.mark.slow
@pytest.mark.parametrize("groups", GROUPS)
def test_a_table_says_what_was_found_and_is_read_again(groups, tmp_path):
    release = sd.table(frame(WAGES), of=OF, bounds="find", epsilon=2, **GROUPS[groups])
    text = str(release)
    for said in ("bounds found first", "found outward from", "bounds of x", "shares", "mean of x"):
        assert said in text
    assert str(Release.from_json(release.to_json())) == text
    release.plot(path=str(tmp_path / "table.png"))
    assert len(release.to_frame()) >= 14


@pytest.mark.slow
def test_rows_and_bounds_of_a_table_are_found():
    data = {**frame(WAGES), "who": [i // 2 for i in range(len(WAGES))]}
    release = sd.table(data, of=OF, bounds="find", unit="who", rows="find", epsilon=4)
    assert "at most" in str(release)
    assert "found outward from" in str(release)


@pytest.mark.slow
def test_tables_with_found_bounds_are_planned_charged_and_typed(tmp_path):
    planned = sd.plan.table(of=OF, bounds="find", n=4000, epsilon=1)
    assert "bounds of x" in str(planned)
    reached = sd.plan.table(of=OF, bounds="find", n=4000, error=0.05)
    assert 0 < reached.epsilon < 5
    session = sd.Session(frame(WAGES), epsilon=1)
    session.table(of=OF, bounds="find", epsilon=0.75)
    assert session.remaining.epsilon == Fraction(1, 4)
    path = tmp_path / "x.csv"
    path.write_text("x\n" + "\n".join(map(str, WAGES)))
    for words in (["find"], ["x:find"], ["x:0,none"]):
        typed = ["table", str(path), "--of", "x:mean", "--bounds", *words, "-e", "1"]
        shown = CliRunner().invoke(narrowed(app, typed), typed)
        assert shown.exit_code == 0, shown.output
        assert "found outward" in shown.output


def test_tables_too_small_for_a_search_are_refused_before_data_are_read(refused):
    refused(lambda: Table(of=OF, bounds="find", epsilon=1e-300), "the noise's scale must")
    refused(lambda: Table(of=OF, bounds={"x": "find"}, epsilon=1), "bounds must be given for 'y'")
    refused(lambda: Table(of=OF, bounds="found", epsilon=1), "bounds must be a dict of columns")
