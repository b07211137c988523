"""A plan before a survey is opened: intervals that come true, and what forgers can do."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine.local import Aggregator, Choice, Choices, Flag, Number, Schema
from sourdine.noise import SeededSource
from sourdine.survey.precision import precision

COLUMNS = {
    "smokes": Flag(),
    "way": Choice("foot", "bike", "bus", "car"),
    "minutes": Number(0, 120, 1),
    "hours": Number(0, 40, 1, missing=True),
    "wishes": Choices("seats", "shade", "times"),
}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("method", ["split", "sample"])
def test_a_plan_gives_the_intervals_of_the_survey(method):
    schema, n = Schema.of(COLUMNS, epsilon=4, method=method, missing="random"), 3000
    planned = {line.name: line for line in precision(schema, n).lines}
    rng = np.random.default_rng(7)
    table = {
        "smokes": (rng.random(n) < 0.5).tolist(),
        "way": rng.choice(["foot", "bike", "bus", "car"], n).tolist(),
        "minutes": rng.integers(0, 121, n).tolist(),
        "hours": rng.integers(0, 41, n).tolist(),
        "wishes": rng.choice(["seats", "shade;times", ";"], n).tolist(),
    }
    total = Aggregator(schema)
    for records in schema.reports(table, source=SeededSource(9)):
        total.add(records)
    found = total.estimate()
    for name, line in planned.items():
        low, high = found[name].interval(0.95)
        half = float(np.max(np.asarray(high) - np.asarray(low))) / 2
        assert half == pytest.approx(line.half, rel=0.25), name


def test_invented_records_move_no_more_than_the_plan_says():
    schema, n = (
        Schema.of(
            {name: COLUMNS[name] for name in ("smokes", "minutes")}, epsilon=2, missing="random"
        ),
        4000,
    )
    planned = {line.name: line.invented for line in precision(schema, n).lines}
    rng = np.random.default_rng(3)
    table = {"smokes": (rng.random(n) < 0.5).tolist(), "minutes": rng.integers(0, 121, n).tolist()}
    [records] = schema.reports(table, source=SeededSource(4))
    total = Aggregator(schema)
    total.add(records)
    honest, fakes = total.estimate(), n // 100
    for y in (0, 5, int(schema.parts("report")["minutes"].mechanism.codes) - 1):
        answers = [part.copy() for part in records.answers]
        answers[0][:fakes], answers[1][:fakes] = y, 1
        forged = Aggregator(schema)
        forged.add(type(records)(records.form, records.ids, tuple(answers), records.asked))
        moved = forged.estimate()
        change = np.max(np.abs(np.asarray(moved["smokes"].value) - honest["smokes"].value))
        assert change <= planned["smokes"] * (1 + 1e-9)
        assert abs(moved["minutes"].value - honest["minutes"].value) <= planned["minutes"] * 1.3
    assert planned["minutes"] > 1


def test_more_people_tell_more():
    schema = Schema(smokes=Flag(), epsilon=1, missing="random")
    few, many = (precision(schema, n).lines[0] for n in (200, 5000))
    assert few.half / many.half == pytest.approx(5, rel=0.15)
    assert few.invented == many.invented


def test_a_plan_prints_and_refuses():
    plan = precision(Schema(smokes=Flag(), epsilon=1, missing="random"), 2000)
    assert "can be at most 74% sure" in " ".join(str(plan).split())
    assert plan.to_dict()["questions"]["smokes"]["estimate"] == "share"
    with pytest.raises(ParameterError, match=r"n must be from 50 to 1000000, got 49. Use n=1000"):
        precision(Schema(smokes=Flag(), epsilon=1, missing="random"), 49)
