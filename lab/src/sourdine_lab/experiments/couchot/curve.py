"""The curve of the slides: accuracy against epsilon, bounded Laplace and the redrawn staircase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.couchot import pima
from sourdine_lab.experiments.couchot.naive_bayes import scores, untouched
from sourdine_lab.experiments.couchot.pima import STATED, at_hand, cleaned, excess, table_of
from sourdine_lab.experiments.couchot.standing_in import name_data
from sourdine_lab.settings import Setting, integer, numbers, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

LOOKS = {
    "bounded laplace": ("bounded laplace", "bounded Laplace"),
    "staircase": ("staircase", "staircase, redrawn"),
    "window": ("today", "staircase that keeps its word"),
    "staircase kept": ("hybrid", "staircase, redrawn at a lower level"),
}
SHOWN = ("bounded laplace", "staircase", "window")
MEASURES = {
    "accuracy": "Tested on cleaned rows, as on the slides",
    "clean_accuracy": "The same models, tested on clean rows",
}


def epsilons(count: int) -> list[float]:
    """Return the range of the slides, with so many values."""
    return [round(float(e), 4) for e in np.geomspace(0.01, 10, count)]


SETTINGS = (
    Setting("epsilons", epsilons(22), numbers(above=0, most=50), "privacy loss of a column",
            quick=epsilons(13), split=True),
    Setting("runs", 600, integer(least=2), "cleanings for each epsilon; the slides have 30",
            quick=30, split=True),
    Setting("methods", list(SHOWN), words(*LOOKS), "how a column of numbers is cleaned"),
    *pima.settings(),
)  # fmt: skip


def parts(settings: Settings) -> list[Settings]:
    """One part an epsilon; the data are named, so that another table is another part."""
    shared = {"runs": settings["runs"], "data": at_hand()}
    return [{"epsilon": float(e), **shared} for e in settings["epsilons"]]


def compute(part: Part) -> Iterator[Row]:
    """Yield mean and standard deviation of each mechanism's scores, and what it truly spends."""
    table, epsilon = table_of(part), part["epsilon"]
    for way in part["methods"]:
        found = scores(table, *cleaned(table, way, epsilon, part["runs"], part.source))
        row: Row = {
            "data": table.data, "mechanism": way, "epsilon": epsilon, "runs": part["runs"],
            "spent": epsilon + (excess(epsilon) if way == "staircase" else 0.0),
        }  # fmt: skip
        for measure in (*MEASURES, "f1", "constant"):
            values = getattr(found, measure)
            row |= {measure: values.mean(), f"{measure}_sd": values.std(ddof=1)}
        yield row | {"clean": untouched(table).accuracy[0]}


def draw(table: Table, settings: Settings) -> Any:
    """Draw both scores: deviations as on the slides, and standard errors of the means."""
    figure, panels = look.panels(2, width=11.5, height=4.6)
    spent = len(settings["columns"]) + 1
    for axes, (measure, title) in zip(panels, MEASURES.items(), strict=True):
        for way in settings["methods"]:
            method, name = LOOKS[way]
            rows = table.where(mechanism=way)
            wide = rows[f"{measure}_sd"] / 2 if measure == "accuracy" else _error(rows, measure)
            shown = 0.0 if measure == "accuracy" and way == "window" else wide
            look.band(axes, rows["epsilon"], rows[measure], shown, method=method, label=name)
        if "staircase" in settings["methods"]:
            _true_level(axes, table.where(mechanism="staircase"), measure)
            look.note(axes, "circles: staircase, redrawn, at the ε it spends", 0.02, 0.835)
        axes.set_xlim(table["epsilon"].min(), 1.15 * table["epsilon"].max())
        axes.set_ylim(0.4, 0.85)
        look.logarithmic(axes, "x")
        look.titled(axes, title, x=f"ε of a column (a record spends {spent} times as much)", y="")
    _stated(panels, table, settings)
    look.name_lines(panels[1])
    panels[0].set_ylabel("accuracy: mean, and one standard deviation")
    panels[1].set_ylabel("mean accuracy, and two standard errors")
    name_data(figure, table)
    return figure


def _error(rows: Table, measure: str) -> Any:
    return rows[f"{measure}_sd"] / rows["runs"] ** 0.5


def _true_level(axes: Any, rows: Table, measure: str) -> None:
    axes.plot(
        rows["spent"], rows[measure], "o", color=look.colour("staircase"), markersize=4,
        markerfacecolor="white", label="_at the ε it spends",
    )  # fmt: skip


def _stated(panels: list[Any], table: Table, settings: Settings) -> None:
    first, last = table["epsilon"].min(), table["epsilon"].max()
    clean, said = table["clean"][0], STATED["accuracy"][0]
    ours = not pima.as_on_the_slides(settings)
    for axes in panels:
        if ours:
            look.band(axes, [first, last], [clean] * 2, method="no privacy", label="_clean",
                      dashed=True)  # fmt: skip
            look.note(axes, f"clean table: {clean:.3f}", 0.02, 0.915)
            continue
        data = "" if table["data"][0] == "Pima" else f" ({clean:.3f} on the stand-in)"
        look.stated(axes, [first, last], [said, said], "_clean")
        look.note(axes, f"clean table: stated {said:.3f}{data}", 0.02, 0.915)
    axes = panels[0]
    if first < 1:
        look.stated(axes, [first, min(1, last)], [0.5, 0.5], "_guesses")
        look.note(axes, "stated on [0.01, 1): about random, alike", 0.02, 0.09)
    if last >= 1:
        look.stated(axes, [max(1, first)] * 2, [0.4, 0.54], "_one")
        look.note(axes, "stated on [1, 10]:\nstaircase more useful", 0.98, 0.13)


EXPERIMENT = Experiment(
    name="couchot-curve",
    ids=("L8",),
    title="Learning from a cleaned table",
    question="How right is naive Bayes on a table cleaned with bounded Laplace, and how right with"
    " the staircase of the slides, which spends more than it says?",
    stated="30 cleanings an epsilon in [0.01, 10], mean and standard deviation; answers about"
    " random below 1, the staircase more useful on [1, 10]; 0.786 on the clean table",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=SETTINGS,
)
