"""The laws of the slides' three randomisers: GRR, bounded Laplace, the staircase redrawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.mechanisms import BoundedLaplace, BoundedStaircase, RandomizedResponse
from sourdine.mechanisms.mechanism import settle
from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.settings import Setting, integer, number, numbers, word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.mechanisms.mechanism import Report
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

COLOURS = ("today", "histogram", "laplace", "inverse sensitivity", "qexp", "gaussian")
SETTINGS = (
    Setting("epsilon", 1, number(above=0, most=50), "privacy loss of a report"),
    Setting("categories", 9, integer(least=2, most=40), "categories k of GRR"),
    Setting("kept", 6, integer(least=1), "the true category x of GRR, from 1 to k"),
    Setting("inputs", [0.0, 0.3, 0.7], numbers(least=0, most=1), "true numbers, on [0, 1]"),
    Setting("minimise", "l1", word("l1", "l2"), "which best width the staircase has: l1 as in the"
            " slides' code, l2 as on the slide"),
    Setting("cells", 1000, integer(least=10), "ticks of [0, 1]", quick=200, split=True),
)  # fmt: skip


def parts(settings: Settings) -> list[Settings]:
    """One part a law."""
    return [{"law": law, "cells": settings["cells"]} for law in ("grr", "laplace", "staircase")]


def compute(part: Part) -> Iterator[Row]:
    """Yield the probabilities of an answer, or the densities on [0, 1]."""
    epsilon, k = part["epsilon"], part["categories"]
    if part["law"] == "grr":
        kept = _kept(part["kept"], k)
        law = RandomizedResponse(epsilon=epsilon, categories=k).law(kept - 1)
        for y, p in enumerate(law.pmf(np.arange(k)).tolist(), 1):
            yield {"law": "grr", "x": kept, "y": y, "density": p}
        return
    last = part["cells"]
    made: Report = BoundedLaplace(epsilon=epsilon, last=last)
    if part["law"] == "staircase":
        made = BoundedStaircase(epsilon=epsilon, last=last, minimise=part["minimise"])
        settle(made, method="truncated")  # at the nominal level, as on the slides
    for x in part["inputs"]:
        density = made.law(round(x * last)).pmf(np.arange(last + 1)) * last
        for y, d in enumerate(density.tolist()):
            yield {"law": part["law"], "x": x, "y": y / last, "density": d}


def _kept(kept: int, k: int) -> int:
    if kept > k:
        raise ParameterError(f"kept must be at most categories, {k}, got {kept}. Use kept={k}.")
    return kept


def draw(table: Table, settings: Settings) -> Any:
    """Draw bars for the categories, and densities for the numbers."""
    figure, (bars, laplace, stairs) = look.panels(3, width=13.5, height=4.0, sharey=False)
    _draw_bars(bars, table.where(law="grr"), settings)
    epsilon = settings["epsilon"]
    for axes, law, title in (
        (laplace, "laplace", f"Bounded Laplace on [0, 1], ε = {epsilon:g}"),
        (stairs, "staircase", f"Staircase redrawn on [0, 1], ε = {epsilon:g}"),
    ):
        own = table.where(law=law)
        for i, (x, line) in enumerate(own.by("x")):
            method = COLOURS[i % len(COLOURS)]
            look.band(axes, line["y"], line["density"], method=method, label=f"x = {x:g}")
        axes.set_ylim(0, 1.15 * own["density"].max())
        axes.set_xlim(0, 1)
        if len(settings["inputs"]) > 1:
            count = "three" if len(settings["inputs"]) == 3 else "lines"
            text = f"most over least of the {count}, at one place: e^{_loss(own):.3f}"
            look.note(axes, text, 0.98, 0.98)
        look.titled(axes, title, x="answer", y="density")
        look.name_lines(axes)
    return figure


def _draw_bars(axes: Any, rows: Table, settings: Settings) -> None:
    k, kept = settings["categories"], settings["kept"]
    tints = [look.colour("today" if y == kept else "no privacy") for y in rows["y"]]
    axes.bar(rows["y"], rows["density"], color=tints, width=0.7)
    for y, p in zip(rows["y"], rows["density"], strict=True):
        if k <= 10 or y == kept:
            axes.annotate(f"{p:.3f}", (y, p), (0, 2), textcoords="offset points", ha="center",
                          fontsize=8, color=look.colour("truth"))  # fmt: skip
    axes.set_xticks(range(1, k + 1, 1 if k <= 12 else 5))
    look.titled(
        axes, f"GRR: ε = {settings['epsilon']:g}, k = {k}, x = {kept}", x="answer", y="probability"
    )


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
    settings=SETTINGS,
)
