"""With a unit, a question reads the columns that it names, and no others."""

from __future__ import annotations

import pytest

import sourdine as sd
from sourdine.frames.frame import Frame
from sourdine.frames.memory import Column, Memory

ROWS = {
    "who": ["a", "a", "b", "c", "c", "c"] * 20,
    "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] * 20,
    "g": ["f", "m"] * 60,
    "secret": ["not to be read"] * 120,
    "other": [7] * 120,
}
X = {"column": "x", "bounds": (0, 10), "step": 1}
ASKED = {
    "count": (sd.count, {"who"}),
    "mean": (lambda f, **o: sd.mean(f, **X, **o), {"who", "x"}),
    "median": (lambda f, **o: sd.quantiles(f, 0.5, **X, **o), {"who", "x"}),
    "groups": (lambda f, **o: sd.mean(f, **X, by="g", keys=["f", "m"], **o), {"who", "x", "g"}),
    "rows found": (lambda f, **o: sd.count(f, column="x", **o | {"rows": "find"}), {"who", "x"}),
    "description": (
        lambda f, **o: sd.describe(f, columns=["x", "other"], delta=1e-6, **o),
        {"who", "x", "other"},
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_only_needed_columns_are_read(name):
    ask, needed = ASKED[name]
    read = set()

    def reader(column):
        return lambda: read.add(column) or Column.of(ROWS[column])

    frame = Frame(Memory({column: reader(column) for column in ROWS}, 120))
    ask(frame, unit="who", rows=2, epsilon=1)
    assert read == needed
