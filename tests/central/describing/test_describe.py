"""Descriptions: what they cost, what they show, that their intervals hold."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pandas as pd
import pytest

import sourdine as sd
from sourdine.audit import replay
from sourdine.central import Describe
from sourdine.central.describe import Described
from sourdine.noise import SeededSource
from sourdine.privacy import ADD_REMOVE

RNG = np.random.default_rng(2)
N = 3000
TABLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 90, N),
        "income": np.round(RNG.lognormal(10, 0.6, N)),
        "sex": RNG.choice(["f", "m"], N),
        "town": RNG.choice(["ulm", "bonn", "köln", None], N, p=[0.5, 0.2, 0.1, 0.2]),
    }
)
SMALL = {"age": [31, 45, None, 62, 19] * 4, "sex": ["f", "m", None, "m", "x"] * 4}


def spent(part, kind):
    """Return the sum of all epsilons that a column's mechanisms are built with."""
    choosing = part.choosing.epsilon
    if kind == "category":
        return choosing + part.count.epsilon + part.histogram.epsilon
    return choosing + part.mean.epsilon + part.epsilon * (1 - Fraction(1, 20) - Fraction(11, 20))


@pytest.mark.parametrize("kind", ["number", "category"])
def test_a_description_costs_what_it_says(kind):
    asked = Describe(epsilon=1)
    part = asked.part("age", None, 7, 100)
    assert spent(part, kind) == part.epsilon
    assert asked.counting.epsilon + 7 * part.epsilon == 1
    assert 7 * part.histogram.delta == asked.delta == asked.cost.delta


def test_deciles_spend_what_is_left_of_a_column():
    part = Described(
        name="age", declared="number", epsilon=Fraction(1), delta=Fraction(1, 10**6), rows=500,
        common={"relation": ADD_REMOVE, "rows": 1, "source": SeededSource(1)},
    )  # fmt: skip
    drawn = part.draw(sd.Frame({"age": list(range(500))}))
    assert part.mean.epsilon + part.deciles(drawn).epsilon + part.choosing.epsilon == 1


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_whole_descriptions_hold_on_neighbours(relation):
    fewer = {name: column[:-1] for name, column in SMALL.items()}
    other = {
        name: [*column[:-1], value]
        for (name, column), value in zip(SMALL.items(), (99, "m"), strict=True)
    }
    neighbour = fewer if relation == "add_remove" else other
    result = replay(lambda x: sd.describe(x, epsilon=1, relation=relation), SMALL, neighbour)
    assert result.holds, result.faults


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("value", [None, "a", 2])
def test_how_a_list_is_stored_states_no_kind(value):
    """A list of truths alone is stored as an array of them, and any other value changes that."""
    call = lambda x: sd.describe(x, epsilon=1, relation="substitute")  # noqa: E731
    result = replay(call, {"ill": [True] * 20}, {"ill": [*[True] * 19, value]})
    assert result.holds, result.faults


@pytest.mark.slow
def test_it_shows_every_column_of_a_frame():
    release = sd.describe(TABLE, epsilon=8)
    assert list(release.value) == list(TABLE)
    ages, towns = release.value["age"], release.value["town"]
    assert abs(ages["mean"] - TABLE["age"].mean()) < 3
    assert abs(ages["50 %"] - TABLE["age"].median()) < 5
    assert abs(towns["missing"] - 0.2) < 0.05
    assert abs(towns["= ulm"] - 0.5 / 0.8) < 0.1
    assert list(towns)[2] == "= ulm"
    text = str(release)
    assert max(len(line) for line in text.splitlines()) <= 88
    assert "köln" in text
    assert sd.Release.from_json(release.to_json()) == release
    frame = release.to_frame()
    assert {"column", "statistic", "value", "lower", "upper"} == set(frame)
    assert "<table>" in release._repr_html_()


@pytest.mark.slow
def test_a_file_of_text_is_described_like_a_frame(tmp_path):
    TABLE.to_csv(tmp_path / "people.csv", index=False)
    release = sd.describe(tmp_path / "people.csv", epsilon=20)
    kinds = {name: own["kind"] for name, own in release.drawn["columns"].items()}
    assert kinds == {"age": "number", "income": "number", "sex": "category", "town": "category"}
    assert abs(release.value["income"]["mean"] / TABLE["income"].mean() - 1) < 0.1


@pytest.mark.slow
def test_types_state_kinds():
    data = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=99), "yes": [True] * 99})
    release = sd.describe(data.assign(n=range(99), x=0.5), epsilon=40)
    kinds = {name: own["kind"] for name, own in release.drawn["columns"].items()}
    assert kinds == {"day": "date", "yes": "category", "n": "whole", "x": "number"}
    assert set(release.value["day"]) == {"count", "missing"}
    assert all(float(release.value["n"][q]).is_integer() for q in ("10 %", "50 %", "90 %"))


def test_declared_kinds_and_columns():
    data = {"zip": [89073, 53111] * 200, "age": [30, 40] * 200}
    release = sd.describe(data, epsilon=8, columns=["zip"], kinds={"zip": "category"})
    assert list(release.value) == ["zip"]
    assert "= 89073" in release.value["zip"]
    again = sd.Release.from_json(release.to_json())
    assert again.mechanism == release.mechanism


STRANGE = {
    "nothing": {"a": []},
    "all missing": {"a": [None, float("nan")]},
    "one": {"a": [3.0]},
    "huge": {"a": [10**40, -(10**40), float("inf")]},
    "mixed": {"a": ["x", 3, None, b"\xff", "4"]},
    "constant": {"a": [7] * 100},
}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_nothing_in_the_data_raises(name, relation):
    release = sd.describe(STRANGE[name], epsilon=1, relation=relation)
    assert str(release)
    assert "NaN" not in release.to_json()
    release.plot()


def test_a_session_charges_a_description_once(tmp_path):
    session = sd.Session(TABLE, epsilon=2, delta=1e-5, reserve=1e-5, ledger=tmp_path / "ledger")
    session.describe(epsilon=1.5)
    assert session.spent.epsilon == Fraction(3, 2)
    assert len(session.history) == 1
    with pytest.raises(sd.BudgetExceededError):
        session.describe(epsilon=1)


@pytest.mark.slow
def test_persons_are_described_by_a_bounded_number_of_rows():
    data = {"who": list(range(200)) * 3, "age": [20] * 200 + [30] * 200 + [40] * 200}
    release = sd.describe(data, epsilon=20, unit="who", rows=2)
    assert "who" not in release.value
    assert abs(release.value["age"]["count"] - 400) < 40
    assert "who" in str(release.cost.told(release.mechanism.display.protected))


@pytest.mark.slow
def test_intervals_of_descriptions_cover():
    """Each on its own: means and deciles of the values within the bounds that were found."""
    runs, held, asked = 25, [], Describe(epsilon=4, source=SeededSource(3))
    x = RNG.normal(50, 10, 2000)
    for _ in range(runs):
        release = asked.release({"x": x})
        ends = release.interval(0.95)["x"]
        inside = np.clip(x, release.value["x"]["lowest"], release.value["x"]["highest"])
        truth = {
            "mean": inside.mean(),
            "sd": inside.std(),
            "count": 2000,
            "50 %": np.median(inside),
        }
        held.append(
            [ends[name][0] - 1e-9 <= t <= ends[name][1] + 1e-9 for name, t in truth.items()]
        )
    assert np.mean(held, axis=0).min() >= 0.95 - 6 * sqrt(0.0475 / runs)


WRONG = [
    (lambda: sd.describe(TABLE, epsilon=1, columns=["wage"]), "columns must be one of the columns"),
    (lambda: sd.describe(TABLE, epsilon=1, kinds={"age": "colour"}), "kinds must be"),
    (lambda: sd.describe(TABLE, epsilon=1, columns=3), "columns must be a list"),
    (lambda: sd.describe(TABLE, epsilon=1, delta=0), "delta must be above 0"),
    (lambda: sd.describe(TABLE), "describe() missing a required argument: 'epsilon'"),
    (lambda: Describe(epsilon=1).error(), "error() is not available for a description"),
]


@pytest.mark.parametrize(("call", "text"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_parameters_say_what_to_type(call, text, refused):
    refused(call, text)


@pytest.mark.slow
def test_few_records_in_many_columns_keep_their_bounds():
    rng = np.random.default_rng(3)
    few = {f"column {i}": rng.normal(120, 30, 768).round() for i in range(9)}
    found = sd.describe(few, epsilon=1, source=SeededSource(2)).value
    assert np.median([numbers["highest"] for numbers in found.values()]) >= 120
