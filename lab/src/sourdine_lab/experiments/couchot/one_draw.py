"""The slides' one draw at epsilon 1 a column, placed among many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.couchot.naive_bayes import scores, untouched
from sourdine_lab.experiments.couchot.pima import STATED, at_hand, cleaned, read
from sourdine_lab.experiments.couchot.standing_in import name_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

TITLES = {"accuracy": "Accuracy", "F1": "F1"}
BINS = {"accuracy": np.arange(56.5, 134, 3) / 154, "F1": np.arange(0, 0.72, 0.03)}
"""Three test rows of 154 a bin; scores beyond the ends count with the nearest bin."""


def parts(settings: Settings) -> list[Settings]:
    """One part, that of the data at hand."""
    return [{**settings, "data": at_hand()}]


def compute(part: Part) -> Iterator[Row]:
    """Yield how many cleanings scored what, and where the stated number stands among them."""
    table = read()
    clean = untouched(table)
    found = scores(table, *cleaned(table, "bounded laplace", 1.0, part["runs"], part.source))
    for measure, values, whole in (
        ("accuracy", found.accuracy, clean.accuracy[0]),
        ("F1", found.f1, clean.f1[0]),
    ):
        edges = BINS[measure]
        counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
        facts: Row = {
            "data": table.data, "measure": measure, "runs": part["runs"], "mean": values.mean(),
            "sd": values.std(ddof=1), "clean": whole, "constant": found.constant.mean(),
            "below": float(np.mean(values < STATED[measure][1] - 1e-9)),
        }  # fmt: skip
        for low, high, count in zip(edges, edges[1:], counts, strict=False):
            yield facts | {"low": low, "high": high, "count": count}


def draw(table: Table) -> Any:
    """Draw a histogram of each score."""
    figure, panels = look.panels(2, width=10.5, height=4.2, sharey=False)
    for axes, (measure, rows) in zip(panels, table.by("measure"), strict=True):
        axes.bar(
            rows["low"], rows["count"], rows["high"] - rows["low"], align="edge",
            color=look.colour("bounded laplace"), alpha=0.35, edgecolor="white", linewidth=0.5,
        )  # fmt: skip
        top = 1.32 * rows["count"].max()
        axes.set_ylim(0, top)
        _lines(axes, rows, measure, top)
        runs, below = rows["runs"][0], rows["below"][0]
        look.titled(
            axes, f"{TITLES[measure]}: {below:.0%} of {runs} cleanings score less than the slides'",
            x=measure, y="cleanings",
        )  # fmt: skip
    name_data(figure, table)
    return figure


def _lines(axes: Any, rows: Table, measure: str, top: float) -> None:
    clean, one = STATED[measure]
    mean, constant = float(rows["mean"][0]), float(rows["constant"][0])
    marks = [
        (one, ":", look.colour("stated"), f"stated {one:.3f}", 0.98),
        (mean, "-", look.colour("bounded laplace"), f"mean {mean:.3f}", 0.91),
        (clean, ":", look.colour("no privacy"), f"clean table\nstated {clean:.3f}", 0.91),
    ]
    for x, style, colour, text, height in marks:
        axes.plot([x, x], [0, height * top], style, color=colour, linewidth=1.4)
        left = text.startswith("clean") or (text.startswith("mean") == (measure == "accuracy"))
        _beside(axes, (x, height * top), text, colour, left=left)
    if measure == "accuracy":
        colour = look.colour("no privacy")
        axes.plot([constant, constant], [0, 0.77 * top], "--", color=colour, linewidth=1.4)
        text = f"dashed: commoner\nanswer, {constant:.3f}"
        _beside(axes, (one, 0.77 * top), text, colour, left=False)


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
    full={"runs": 1000},
    quick={"runs": 60},
)
