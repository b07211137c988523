"""The slides' one draw at epsilon 1 a column, placed among many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.couchot import pima
from sourdine_lab.experiments.couchot.naive_bayes import scores, untouched
from sourdine_lab.experiments.couchot.pima import STATED, at_hand, cleaned, table_of
from sourdine_lab.experiments.couchot.standing_in import name_data
from sourdine_lab.settings import Setting, integer, number, word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

TITLES = {"accuracy": "Accuracy", "F1": "F1"}
SETTINGS = (
    Setting("epsilon", 1, number(above=0, most=50), "privacy loss of a column"),
    Setting("method", "bounded laplace", word(*pima.METHODS), "how a column of numbers is cleaned"),
    Setting("runs", 1000, integer(least=2), "cleanings", quick=60, split=True),
    *pima.settings(),
)


def bins(tested: int) -> dict[str, Any]:
    """Return the edges of the bins; scores beyond the ends count with the nearest bin.

    An accuracy's bin holds as many whole test rows as every other: three of the slides' 154.
    """
    rows = np.arange(round(0.37 * tested) - 0.5, 0.87 * tested, max(round(tested / 50), 1))
    return {"accuracy": rows / tested, "F1": np.arange(0, 0.72, 0.03)}


def parts(settings: Settings) -> list[Settings]:
    """One part, that of the data at hand."""
    return [{"runs": settings["runs"], "data": at_hand()}]


def compute(part: Part) -> Iterator[Row]:
    """Yield how many cleanings scored what, and where the stated number stands among them."""
    table = table_of(part)
    clean = untouched(table)
    found = scores(
        table, *cleaned(table, part["method"], part["epsilon"], part["runs"], part.source)
    )
    for measure, values, whole in (
        ("accuracy", found.accuracy, clean.accuracy[0]),
        ("F1", found.f1, clean.f1[0]),
    ):
        edges = bins(len(table.test))[measure]
        counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
        facts: Row = {
            "data": table.data, "measure": measure, "runs": part["runs"], "mean": values.mean(),
            "sd": values.std(ddof=1), "clean": whole, "constant": found.constant.mean(),
            "below": float(np.mean(values < STATED[measure][1] - 1e-9)),
        }  # fmt: skip
        for low, high, count in zip(edges, edges[1:], counts, strict=False):
            yield facts | {"low": low, "high": high, "count": count}


def draw(table: Table, settings: Settings) -> Any:
    """Draw a histogram of each score."""
    figure, panels = look.panels(2, width=10.5, height=4.2, sharey=False)
    for axes, (measure, rows) in zip(panels, table.by("measure"), strict=True):
        axes.bar(
            rows["low"], rows["count"], rows["high"] - rows["low"], align="edge",
            color=look.colour("bounded laplace"), alpha=0.35, edgecolor="white", linewidth=0.5,
        )  # fmt: skip
        top = 1.32 * rows["count"].max()
        axes.set_ylim(0, top)
        _lines(axes, rows, measure, top, settings)
        runs, below = rows["runs"][0], rows["below"][0]
        look.titled(
            axes, f"{TITLES[measure]}: {below:.0%} of {runs} score less than the slides'",
            x=f"{measure}, ε = {settings['epsilon']:g} a column", y="cleanings",
        )  # fmt: skip
    name_data(figure, table)
    return figure


def _lines(axes: Any, rows: Table, measure: str, top: float, settings: Settings) -> None:
    clean, one = STATED[measure]
    mean, constant = float(rows["mean"][0]), float(rows["constant"][0])
    bare, said = f"clean table\nstated {clean:.3f}", f"stated {one:.3f}"
    if not pima.as_on_the_slides(settings, *SETTINGS[:2]):
        said += "\n(for ε = 1)"
    if not pima.as_on_the_slides(settings):
        clean = float(rows["clean"][0])
        bare = f"clean table\n{clean:.3f}"
    left = mean < one
    span = rows["high"].max() - rows["low"].min()
    high = 0.91 if clean - mean > 0.4 * span else 0.81
    marks = [
        (one, ":", look.colour("stated"), said, 0.98, not left),
        (mean, "-", look.colour("bounded laplace"), f"mean {mean:.3f}", 0.91, left),
        (clean, ":", look.colour("no privacy"), bare, high, True),
    ]
    for x, style, colour, text, height, beside in marks:
        axes.plot([x, x], [0, height * top], style, color=colour, linewidth=1.4)
        _beside(axes, (x, height * top), text, colour, left=beside)
    if measure == "accuracy":
        colour = look.colour("no privacy")
        axes.plot([constant, constant], [0, 0.77 * top], "--", color=colour, linewidth=1.4)
        text = f"dashed: commoner\nanswer, {constant:.3f}"
        place = max(one, constant) if left else constant
        _beside(axes, (place, 0.77 * top), text, colour, left=not left)


def _beside(
    axes: Any,
    place: tuple[float, float],
    text: str,
    colour: str,
    *,
    left: bool,
) -> None:
    axes.annotate(
        text, place, (-4 if left else 4, 0), textcoords="offset points",
        ha="right" if left else "left", va="top", fontsize=9, color=colour,
    )  # fmt: skip


EXPERIMENT = Experiment(
    name="couchot-one-draw",
    ids=("L7",),
    title="The slides' one draw among many",
    question="Are accuracy .604 and F1 .116 at epsilon 1 a column what to expect?",
    stated="accuracy 0.604 and F1 0.116 after one cleaning at epsilon 1 a column; 0.786 and 0.637"
    " on the clean table",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=SETTINGS,
)
