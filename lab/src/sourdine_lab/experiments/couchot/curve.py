"""The curve of the slides: accuracy against epsilon, bounded Laplace and the redrawn staircase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.couchot.naive_bayes import scores, untouched
from sourdine_lab.experiments.couchot.pima import STATED, at_hand, cleaned, excess, read
from sourdine_lab.experiments.couchot.standing_in import name_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

LOOKS = {
    "bounded laplace": ("bounded laplace", "bounded Laplace"),
    "staircase": ("staircase", "staircase, redrawn"),
    "window": ("today", "staircase that keeps its word"),
}
MEASURES = {
    "accuracy": "Tested on cleaned rows, as on the slides",
    "clean_accuracy": "The same models, tested on clean rows",
}


def parts(settings: Settings) -> list[Settings]:
    """One part an epsilon; the data are named, so that another table is another part."""
    epsilons = np.geomspace(0.01, 10, settings["epsilons"])
    shared = {"runs": settings["runs"], "data": at_hand()}
    return [{"epsilon": round(float(e), 4), **shared} for e in epsilons]


def compute(part: Part) -> Iterator[Row]:
    """Yield mean and standard deviation of each mechanism's scores, and what it truly spends."""
    table, epsilon = read(), part["epsilon"]
    for way in LOOKS:
        found = scores(table, *cleaned(table, way, epsilon, part["runs"], part.source))
        row: Row = {
            "data": table.data, "mechanism": way, "epsilon": epsilon, "runs": part["runs"],
            "spent": epsilon + (excess(epsilon) if way == "staircase" else 0.0),
        }  # fmt: skip
        for measure in (*MEASURES, "f1", "constant"):
            values = getattr(found, measure)
            row |= {measure: values.mean(), f"{measure}_sd": values.std(ddof=1)}
        yield row | {"clean": untouched(table).accuracy[0]}


def draw(table: Table) -> Any:
    """Draw both scores: deviations as on the slides, and standard errors of the means."""
    figure, panels = look.panels(2, width=11.5, height=4.6)
    for axes, (measure, title) in zip(panels, MEASURES.items(), strict=True):
        for way, (method, name) in LOOKS.items():
            rows = table.where(mechanism=way)
            wide = rows[f"{measure}_sd"] / 2 if measure == "accuracy" else _error(rows, measure)
            shown = 0.0 if measure == "accuracy" and way == "window" else wide
            look.band(axes, rows["epsilon"], rows[measure], shown, method=method, label=name)
        _true_level(axes, table.where(mechanism="staircase"), measure)
        axes.set_xlim(table["epsilon"].min(), 11.5)
        axes.set_ylim(0.4, 0.85)
        look.logarithmic(axes, "x")
        look.titled(axes, title, x="ε of a column (a record spends 9 times as much)", y="")
    _stated(panels, table)
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


def _stated(panels: list[Any], table: Table) -> None:
    first, (clean, said) = table["epsilon"].min(), (table["clean"][0], STATED["accuracy"][0])
    data = "" if table["data"][0] == "Pima" else f" ({clean:.3f} on the stand-in)"
    for axes in panels:
        look.stated(axes, [first, 10], [said, said], "_clean")
        look.note(axes, f"clean table: stated {said:.3f}{data}", 0.02, 0.915)
        look.note(axes, "circles: staircase, redrawn, at the ε it spends", 0.02, 0.835)
    axes = panels[0]
    look.stated(axes, [first, 1], [0.5, 0.5], "_guesses")
    look.stated(axes, [1, 1], [0.4, 0.54], "_one")
    look.note(axes, "stated on [0.01, 1): about random, alike", 0.02, 0.09)
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
    full={"epsilons": 22, "runs": 600},
    quick={"epsilons": 13, "runs": 30},
)
