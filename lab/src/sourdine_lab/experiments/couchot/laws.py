"""The laws of the slides' three randomisers: GRR, bounded Laplace, the staircase redrawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.mechanisms import BoundedLaplace, BoundedStaircase, RandomizedResponse
from sourdine.mechanisms.mechanism import settle
from sourdine_lab import look
from sourdine_lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.mechanisms.mechanism import Report
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

CATEGORIES, KEPT = 9, 6
INPUTS = (0.0, 0.3, 0.7)
COLOURS = dict(zip(INPUTS, ("today", "histogram", "laplace"), strict=True))


def parts(settings: Settings) -> list[Settings]:
    """One part a law."""
    return [{"law": law, "cells": settings["cells"]} for law in ("grr", "laplace", "staircase")]


def compute(part: Part) -> Iterator[Row]:
    """Yield the probabilities of an answer, or the densities on [0, 1], at epsilon = 1."""
    if part["law"] == "grr":
        law = RandomizedResponse(epsilon=1, categories=CATEGORIES).law(KEPT - 1)
        for y, p in enumerate(law.pmf(np.arange(CATEGORIES)).tolist(), 1):
            yield {"law": "grr", "x": KEPT, "y": y, "density": p}
        return
    last = part["cells"]
    made: Report = BoundedLaplace(epsilon=1, last=last)
    if part["law"] == "staircase":
        made = BoundedStaircase(epsilon=1, last=last)
        settle(made, method="truncated")  # at the nominal level, as on the slides
    for x in INPUTS:
        density = made.law(round(x * last)).pmf(np.arange(last + 1)) * last
        for y, d in enumerate(density.tolist()):
            yield {"law": part["law"], "x": x, "y": y / last, "density": d}


def draw(table: Table) -> Any:
    """Draw bars for the categories, and densities for the numbers."""
    figure, (bars, laplace, stairs) = look.panels(3, width=13.5, height=4.0, sharey=False)
    rows = table.where(law="grr")
    tints = [look.colour("today" if y == KEPT else "no privacy") for y in rows["y"]]
    bars.bar(rows["y"], rows["density"], color=tints, width=0.7)
    for y, p in zip(rows["y"], rows["density"], strict=True):
        bars.annotate(f"{p:.3f}", (y, p), (0, 2), textcoords="offset points", ha="center",
                      fontsize=8, color=look.colour("truth"))  # fmt: skip
    bars.set_xticks(range(1, CATEGORIES + 1))
    look.titled(bars, f"GRR: ε = 1, k = {CATEGORIES}, x = {KEPT}", x="answer", y="probability")
    for axes, law, title in (
        (laplace, "laplace", "Bounded Laplace on [0, 1], ε = 1"),
        (stairs, "staircase", "Staircase redrawn on [0, 1], ε = 1"),
    ):
        own = table.where(law=law)
        for x, line in own.by("x"):
            look.band(axes, line["y"], line["density"], method=COLOURS[x], label=f"x = {x:g}")
        axes.set_ylim(0, None)
        axes.set_xlim(0, 1)
        look.note(
            axes, f"most over least of the three, at one place: e^{_loss(own):.3f}", 0.98, 0.1
        )
        look.titled(axes, title, x="answer", y="density")
        look.name_lines(axes)
    return figure


def _loss(table: Table) -> float:
    """Return the greatest log ratio of two densities at one place."""
    logs = np.log([line["density"] for _, line in table.by("x")])
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


EXPERIMENT = Experiment(
    name="couchot-laws",
    ids=("L3", "L4", "L5"),
    title="The laws of the three randomisers",
    question="What may come out, and how much does it tell?",
    stated="GRR keeps x = 6 of 9 with probability c e^eps, each other answer has c; bounded "
    "Laplace and the staircase are redrawn until inside and called eps-LDP (the staircase is not)",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"cells": 1000},
    quick={"cells": 200},
)
