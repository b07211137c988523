"""Learning from a cleaned table: as on the slides, and knowing the noise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.couchot import pima
from sourdine_lab.experiments.couchot.pima import (
    COLUMNS,
    STATED,
    at_hand,
    cleaned,
    table_of,
    values,
)
from sourdine_lab.experiments.couchot.standing_in import name_data
from sourdine_lab.experiments.today.errors import mean_and_error
from sourdine_lab.settings import Setting, integer, numbers, spaced, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.experiments.couchot.pima import Column, Pima
    from sourdine_lab.table import Table

LABEL = "Outcome"
WAYS = {"bounded laplace": "laplace", "window": "staircase"}
"""How the table is cleaned, and the name of that in a schema."""
SHOWN = {
    ("staircase", "naive"): ("staircase", True, "staircase redrawn, naive (spends more)"),
    ("bounded laplace", "naive"): ("bounded laplace", True, "bounded Laplace, naive"),
    ("bounded laplace", "knows"): ("hybrid", False, "bounded Laplace, noise known"),
    ("window", "knows"): ("today", False, "Sourdine: window, noise known"),
}


CLEANED = ("staircase", "bounded laplace", "window")


SETTINGS = (
    Setting("epsilons", spaced(0.5, 10, 8, digits=3), numbers(above=0, most=50),
            "privacy loss of a column", quick=spaced(0.5, 10, 4, digits=3), split=True),
    Setting("runs", 30, integer(least=2), "cleanings for each epsilon", quick=6, split=True),
    Setting("methods", list(CLEANED), words(*CLEANED), "how a column of numbers is cleaned"),
    *pima.settings(),
)  # fmt: skip


def parts(settings: Settings) -> list[Settings]:
    """One part a value of epsilon."""
    common = {"cleanings": settings["runs"], "data": at_hand()}
    return [{"epsilon": float(e), **common} for e in settings["epsilons"]]


def compute(part: Part) -> Iterator[Row]:
    """Yield the accuracy on clean test rows of each way to clean and to learn."""
    table, source = table_of(part), part.source
    clean = _accuracy(table, table, knows=None)
    for way in part["methods"]:
        found: dict[str, list[float]] = {"naive": []}
        if way in WAYS:
            found["knows"] = []
        ticks, labels = cleaned(table, way, part["epsilon"], part["cleanings"], source)
        for drawn, y in zip(ticks, labels, strict=True):
            noisy = replace(table, ticks=drawn, y=y)
            for learning, seen in found.items():
                knows = learning == "knows"
                schema = _schema(way, part["epsilon"], table.columns) if knows else None
                seen.append(_accuracy(noisy, table, knows=schema))
        for learning, seen in found.items():
            accuracy, deviation = mean_and_error(seen)
            yield {"epsilon": part["epsilon"], "way": way, "learning": learning,
                   "data": table.data, "cleanings": len(seen), "accuracy": accuracy,
                   "deviation": deviation, "clean": clean,
                   "majority": _majority(table)}  # fmt: skip


def _schema(way: str, epsilon: float, columns: Sequence[Column] = COLUMNS) -> Any:
    """Return the schema with the same epsilon for each column and for the label."""
    from fractions import Fraction

    from sourdine.local.table.columns import Choice, Number
    from sourdine.local.table.schema import Schema

    cleaned = {c.name: Number(c.low, c.high, c.step, method=WAYS[way]) for c in columns}
    total = (len(columns) + 1) * Fraction(str(epsilon))
    return Schema.of({**cleaned, LABEL: Choice(0, 1)}, epsilon=total)


def _accuracy(learnt: Pima, tested: Pima, *, knows: Any) -> float:
    """Learn from the training rows of one table, and predict the test rows of the other."""
    from sourdine.local.learn import NoisyGaussianNB

    model = NoisyGaussianNB(schema=knows, label=LABEL if knows is not None else None)
    model.fit(values(learnt.ticks[learnt.train], learnt.columns), learnt.y[learnt.train])
    guess = model.predict(values(tested.ticks[tested.test], tested.columns))
    return float(np.mean(guess == tested.y[tested.test]))


def _majority(table: Pima) -> float:
    ones = float(np.mean(table.y[table.test]))
    return max(ones, 1 - ones)


def draw(table: Table, settings: Settings) -> Any:
    """Draw the accuracies against epsilon."""
    figure, (axes,) = look.panels(1, width=8.5, height=5.0)
    for (way, learning), (colour, dashed, label) in SHOWN.items():
        if way not in settings["methods"]:
            continue
        rows = table.where(way=way, learning=learning)
        look.band(
            axes, rows["epsilon"], rows["accuracy"], rows["deviation"], method=colour,
            label=label, dashed=dashed,
        )  # fmt: skip
    ends = [table["epsilon"].min(), table["epsilon"].max()]
    look.band(axes, ends, [table["clean"][0]] * 2, method="no privacy", label="no noise")
    look.band(
        axes, ends, [table["majority"][0]] * 2, method="no privacy", label="the commoner class",
        dashed=True,
    )  # fmt: skip
    shown = ends[0] <= 1 <= ends[1] and pima.as_on_the_slides(settings)
    if table.rows[0]["data"] == "Pima" and shown:
        one, accuracy = 1.0, STATED["accuracy"][1]
        axes.plot([one], [accuracy], "x", color=look.colour("stated"), label="_stated")
        axes.annotate(
            "stated: one cleaning, tested on noisy rows", (one, accuracy), (6, -3),
            textcoords="offset points", fontsize=8,
        )  # fmt: skip
    look.logarithmic(axes, "x")
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    count = len(settings["columns"])
    look.titled(
        axes, f"Diabetes from {words[count]} randomised column{'s' if count > 1 else ''}, tested"
        " on clean rows",
        x=f"ε of a column (a record spends {words[count + 1]} times as much)", y="accuracy",
    )  # fmt: skip
    look.name_lines(axes)
    name_data(figure, table)
    return figure


EXPERIMENT = Experiment(
    name="today-pima",
    ids=("L7", "L8"),
    title="Learning from a cleaned table, knowing the noise",
    question="How much of what naive training loses comes back when the learner knows how the "
    "table was randomised?",
    stated="accuracy 0.786 clean, 0.604 after one cleaning at epsilon 1 a column; random below 1; "
    "the staircase better on [1, 10]",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=SETTINGS,
    figures=(),
)
