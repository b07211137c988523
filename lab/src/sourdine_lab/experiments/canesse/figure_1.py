"""Figure 1: the cells of [0, 1], and what the histogram method counts in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.canesse.samples import fractions
from sourdine_lab.settings import DataLaw, Setting, integer, number, written
from sourdine_lab.settings import bounds as bounds_kind
from sourdine_lab.settings import law as law_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


def parts(settings: Settings) -> list[Settings]:
    """One part."""
    return [{"steps": settings["steps"], "n": settings["n"]}]


def compute(part: Part) -> Iterator[Row]:
    """Yield the cells and the number of values below each right edge, then the values."""
    steps, n, (low, high) = part["steps"], part["n"], part["bounds"]
    drawn = DataLaw.read(part["law"]).draw(part.rng, n)
    x = np.sort(low + (high - low) * fractions(drawn, part["bounds"]))
    for i in range(1, steps + 1):
        edge = low + (high - low) * i / steps
        yield {"kind": "edge", "place": edge, "below": int((x < edge).sum()), "n": n}
    for value in x.tolist():
        yield {"kind": "value", "place": round(value, 4), "below": 0, "n": n}


def draw(table: Table, settings: Settings) -> Any:
    """Draw the line with its cells, the values, and the count that belongs to each edge."""
    figure, (axes,) = look.panels(1, width=8, height=2.6)
    edges, values = table.where(kind="edge"), table.where(kind="value")
    (low, high), ink = settings["bounds"], look.colour("truth")
    n, wanted = int(table["n"][0]), settings["order"] * int(table["n"][0])
    axes.plot([low, high], [0, 0], color=ink, linewidth=1.4, label="_line")
    for place in (low, *edges["place"].tolist()):
        axes.plot([place] * 2, [-0.25, 0.25], color=ink, linewidth=1.4, label="_edge")
    axes.plot(values["place"], np.zeros(n), "o", color=look.colour("histogram"), markersize=5)
    every = -(-len(edges) // 12)
    for i, (edge, below) in enumerate(zip(edges["place"], edges["below"], strict=True), 1):
        if i % every:
            continue
        axes.annotate(
            f"$f_{{{i}}}$ = {below}" if len(edges) <= 8 else f"{below}", (edge, 0.3), (0, 6),
            textcoords="offset points", ha="center", fontsize=10,
            color=look.colour("today" if below >= wanted else "no privacy"),
        )  # fmt: skip
    axes.set_xlim(low - 0.02 * (high - low), high + 0.02 * (high - low))
    axes.set_ylim(-1.1, 1)
    axes.set_yticks([])
    axes.spines[["left"]].set_visible(False)
    ends = f"a = {written(low)}, b = {written(high)}"
    look.titled(axes, f"The cells for {ends}, steps = {len(edges)}; {n} values", x="", y="")
    axes.grid(visible=False)
    sought = "median" if settings["order"] == 0.5 else f"{settings['order']:g}-quantile"
    look.note(
        axes,
        f"$f_i$: values below the right edge of cell i. For the {sought} the search stops at the "
        f"first noisy $f_i$\nabove a noisy {wanted:g}; without noise at the first blue one. The "
        f"listing answers with the left edge of that cell.",
        0.02,
        0.26,
    )
    return figure


EXPERIMENT = Experiment(
    name="canesse-1",
    ids=("C4",),
    title="The cells of the histogram method",
    question="What does the histogram method count?",
    stated="[a, b] is cut into cells of the same size; for each decile AboveThreshold names the "
    "first edge that passes it",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("steps", 4, integer(least=1, most=100), "cells"),
        Setting("n", 20, integer(least=1, most=1000), "values"),
        Setting("law", "beta(2,3)", law_kind(), "the law of the values; the report draws none"),
        Setting("bounds", [0, 1], bounds_kind(), "a and b, at which values are cut off"),
        Setting("order", 0.5, number(above=0, below=1), "the quantile that is searched for"),
    ),
)
