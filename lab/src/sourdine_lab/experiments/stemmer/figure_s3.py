"""An oblivious algorithm made robust: what probes do to it, and what a step of it costs."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.attacks import probe
from sourdine.adaptive.robust.proof import copies_needed, cost
from sourdine.adaptive.sketches.f2 import AmsSketch
from sourdine.noise import SeededSource
from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.stemmer.copies import private_median
from sourdine_lab.experiments.stemmer.numerals import powers
from sourdine_lab.lecture import lecture_cost
from sourdine_lab.settings import Setting, integer, integers, number, numbers, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.adaptive.sketches.f2 import F2Sketch
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

VICTIMS = ("one", "plain", "robust")


def parts(settings: Settings) -> list[Settings]:
    """One part a victim and number of probes, one a length of the phase."""
    probes = [
        {"panel": "probes", "victim": victim, "probes": steps,
         "runs": max(2, min(settings["runs"], settings["work"] // steps))}
        for victim in settings["victims"]
        for steps in settings["probes"]
    ]  # fmt: skip
    first, last = settings["phases"]
    lengths = np.unique(np.geomspace(first, last, settings["lengths"]).astype(int))
    return [*probes, {"panel": "cost", "lengths": lengths.tolist()}]


def compute(part: Part) -> Iterator[Row]:
    """Yield the relative error after the probes, or the cost of a step."""
    return _probed(part) if part["panel"] == "probes" else _costs(part)


def _probed(part: Part) -> Iterator[Row]:
    rng, runs = part.rng, part["runs"]
    errors = [
        abs(probe(made(part, int(seed)), part["probes"], rng=rng).ratio - 1)
        for seed in rng.integers(1 << 62, size=runs)
    ]
    yield {"panel": "probes", "victim": part["victim"], "probes": part["probes"],
           "error": float(np.mean(errors)), "runs": runs,
           "deviation": float(np.std(errors, ddof=1)) / sqrt(runs)}  # fmt: skip


def made(part: Part, seed: int) -> F2Sketch:
    """Return the sketch that a part attacks."""
    copies, rows = part["copies"], part["rows"]
    if part["victim"] == "robust":
        return private_median(
            copies, rows, sample=part["sample"], epsilon0=part["epsilon0"], start=1e6,
            source=SeededSource(seed), error=part["accuracy"],
        )  # fmt: skip
    return AmsSketch(rows if part["victim"] == "one" else copies * rows, seed)


def _costs(part: Part) -> Iterator[Row]:
    names = ("t_init", "t_update", "t_query")
    theory = dict(zip(names, (part["edges"], sqrt(part["vertices"]), 1), strict=True))
    measured = dict(zip(names, part["times"], strict=True))
    for steps in part["lengths"]:
        k, root = copies_needed(steps), max(round(sqrt(steps)), part["sample"])
        yield {"panel": "cost", "steps": steps, "lecture": lecture_cost(steps, **theory),
               "proved": cost(steps, **theory, copies=k, sample=k), "copies": k,
               "measured": lecture_cost(steps, **measured),
               "asked": cost(steps, **measured, copies=root, sample=part["sample"])}  # fmt: skip


def draw(table: Table, settings: Settings) -> Any:
    """Draw the error against the number of probes, and the cost against the phase."""
    figure, (left, middle, right) = look.panels(3, width=13.5, height=4.6, sharey=False)
    _draw_probes(left, table.where(panel="probes"), settings)
    costs = table.where(panel="cost")
    _draw_costs(middle, costs, {"lecture": "√T copies", "proved": "proved copies"},
                settings["edges"])  # fmt: skip
    look.titled(middle, f"Min-cut in theory: |E| = {powers(settings['edges'])}, |V| = "
                f"{powers(settings['vertices'])}",
                x="steps of a phase, T", y="operations a step, on average")  # fmt: skip
    _draw_costs(right, costs, {"measured": "one asked",
                "asked": f"{settings['sample']} asked"}, settings["anew"])  # fmt: skip
    measured = settings["times"] == [16.0, 0.025, 12.5] and settings["anew"] == 57
    title = "as measured: 120 vertices, 6,400 edges" if measured else "with the times given"
    look.titled(right, f"Min-cut {title}",
                x="steps of a phase, T", y="milliseconds a step, on average")  # fmt: skip
    return figure


def _draw_probes(axes: Any, table: Table, settings: Settings) -> None:
    copies, rows, accuracy = (settings[name] for name in ("copies", "rows", "accuracy"))
    names = {"one": f"one copy, {rows} rows", "plain": f"plain, {copies * rows:,} rows",
             "robust": "private median"}  # fmt: skip
    ways = {"one": ("unprotected", True), "plain": ("unprotected", False),
            "robust": ("protected", False)}  # fmt: skip
    for victim, own in table.by("victim"):
        method, dashed = ways[victim]
        look.band(axes, own["probes"], own["error"], own["deviation"], method=method,
                  label=names[victim], dashed=dashed)  # fmt: skip
    least, most = table["probes"].min(), table["probes"].max()
    look.stated(axes, [least, most], [accuracy] * 2, f"accuracy {accuracy:g}")
    look.logarithmic(axes, "x")
    axes.set_ylim(0, 1.1)
    axes.set_xlim(least, most)
    look.name_lines(axes)
    look.note(axes, f"{copies} copies of {rows} rows, {settings['sample']} asked, "
              f"ε₀ = {settings['epsilon0']:g}", y=0.99)  # fmt: skip
    look.titled(axes, "Second moment under attack",
                x="adaptive probes", y="relative error of the answer")  # fmt: skip


def _draw_costs(axes: Any, table: Table, names: dict[str, str], anew: float) -> None:
    steps = table["steps"]
    first, second = names
    look.stated(axes, steps, table[first], f"lecture: {names[first]}")
    look.band(axes, steps, table[second], method="protected", label=names[second])
    look.band(axes, steps, np.full(len(steps), anew), method="truth", label="anew each step")
    for column, method in ((first, "stated"), (second, "protected")):
        best = int(np.argmin(table[column]))
        axes.plot(steps[best], table[column][best], "o", color=look.colour(method), markersize=5,
                  label="_least")  # fmt: skip
    look.logarithmic(axes)
    axes.set_xlim(steps.min(), steps.max())
    if steps.max() / steps.min() > 1e4:
        axes.set_xticks(
            [10.0**i for i in range(16) if i % 2 and steps.min() <= 10**i <= steps.max()]
        )
    look.name_lines(axes)
    look.note(axes, "dots: the least", x=0.35, y=0.99)


EXPERIMENT = Experiment(
    name="stemmer-s3",
    ids=("S3", "S4"),
    title="An oblivious algorithm made robust",
    question="Do many copies and a private median withstand adaptive updates, and at what cost?",
    stated="about sqrt(T) copies suffice for T steps, a step costs t_init/sqrt T + sqrt T t_update "
    "+ t_query on average, least at T = |E|/sqrt|V|",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("probes", [100, 300, 1000, 3000, 10_000], integers(least=1),
                "adaptive probes of an attack", quick=[100, 300, 1000], split=True),
        Setting("runs", 12, integer(least=2), "attacks for each point, at most", quick=5,
                split=True),
        Setting("work", 30_000, integer(least=1),
                "probes for each point, in all: longer attacks have fewer runs, 2 at least",
                quick=2000, split=True),
        Setting("victims", list(VICTIMS), words(*VICTIMS), "the sketches that are attacked",
                split=True),
        Setting("copies", 200, integer(least=1), "copies of the sketch"),
        Setting("rows", 200, integer(least=1), "rows of a copy"),
        Setting("sample", 25, integer(least=1), "copies that are asked, s"),
        Setting("epsilon0", 2, number(above=0), "privacy loss of one median"),
        Setting("accuracy", 0.25, number(above=0, most=1), "relative error that is allowed"),
        Setting("lengths", 29, integer(least=3), "how many lengths of a phase", quick=15,
                split=True),
        Setting("phases", [10, 10**7], integers(count=2, least=1),
                "the shortest and the longest phase", split=True),
        Setting("edges", 10**6, integer(least=1), "edges of the graph in theory, |E|"),
        Setting("vertices", 10**4, integer(least=2), "vertices of the graph in theory, |V|"),
        Setting("times", [16.0, 0.025, 12.5], numbers(count=3, above=0),
                "milliseconds to make, update and ask a sample of 25% of the edges of a graph of "
                "120 vertices, as the guide to the min-cut has them"),
        Setting("anew", 57.0, number(above=0),
                "milliseconds to compute that min-cut from all edges"),
    ),
)  # fmt: skip
