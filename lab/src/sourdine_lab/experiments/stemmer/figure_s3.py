"""An oblivious algorithm made robust: what probes do to it, and what a step of it costs."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.attacks import probe
from sourdine.adaptive.robust.proof import copies_needed, cost
from sourdine.adaptive.sketches.ams import AmsSketch
from sourdine.noise import SeededSource
from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.stemmer.copies import ACCURACY, private_median
from sourdine_lab.lecture import lecture_cost

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.adaptive.sketches.ams import F2Sketch
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

COPIES, ROWS, SAMPLE, EPSILON0 = 200, 200, 25, 2
VICTIMS = {"one": "one copy, 200 rows", "plain": "plain, 40,000 rows", "robust": "private median"}
EDGES, VERTICES = 10**6, 10**4
TIMES = {"t_init": EDGES, "t_update": sqrt(VERTICES), "t_query": 1}
SKELETON = {"t_init": 16.0, "t_update": 0.025, "t_query": 12.5}
"""Milliseconds of a sample of 25% of the edges, of 120 vertices, as the min-cut guide has them."""
EXACT = 57.0
"""Milliseconds to compute that min-cut from all edges."""


def parts(settings: Settings) -> list[Settings]:
    """One part a victim and number of probes, one a length of the phase."""
    probes = [
        {"panel": "probes", "victim": victim, "probes": steps,
         "runs": min(settings["runs"], settings["work"] // steps)}
        for victim in VICTIMS
        for steps in settings["probes"]
    ]  # fmt: skip
    lengths = np.unique(np.geomspace(10, 10**7, settings["lengths"]).astype(int))
    return [*probes, {"panel": "cost", "lengths": lengths.tolist()}]


def compute(part: Part) -> Iterator[Row]:
    """Yield the relative error after the probes, or the cost of a step."""
    return _probed(part) if part["panel"] == "probes" else _costs(part)


def _probed(part: Part) -> Iterator[Row]:
    rng, runs = part.rng, part["runs"]
    errors = [
        abs(probe(made(part["victim"], int(seed)), part["probes"], rng=rng).ratio - 1)
        for seed in rng.integers(1 << 62, size=runs)
    ]
    yield {"panel": "probes", "victim": part["victim"], "probes": part["probes"],
           "error": float(np.mean(errors)), "runs": runs,
           "deviation": float(np.std(errors, ddof=1)) / sqrt(runs)}  # fmt: skip


def made(victim: str, seed: int) -> F2Sketch:
    """Return a sketch to attack, by its name."""
    if victim == "robust":
        return private_median(
            COPIES, ROWS, sample=SAMPLE, epsilon0=EPSILON0, start=1e6, source=SeededSource(seed)
        )
    return AmsSketch(ROWS if victim == "one" else COPIES * ROWS, seed)


def _costs(part: Part) -> Iterator[Row]:
    for steps in part["lengths"]:
        k, root = copies_needed(steps), max(round(sqrt(steps)), SAMPLE)
        yield {"panel": "cost", "steps": steps, "lecture": lecture_cost(steps, **TIMES),
               "proved": cost(steps, **TIMES, copies=k, sample=k), "copies": k,
               "measured": lecture_cost(steps, **SKELETON),
               "asked": cost(steps, **SKELETON, copies=root, sample=SAMPLE)}  # fmt: skip


def draw(table: Table) -> Any:
    """Draw the error against the number of probes, and the cost against the phase."""
    figure, (left, middle, right) = look.panels(3, width=13.5, height=4.6, sharey=False)
    _draw_probes(left, table.where(panel="probes"))
    costs = table.where(panel="cost")
    _draw_costs(middle, costs, {"lecture": "√T copies", "proved": "proved copies"}, EDGES)
    look.titled(middle, "Min-cut in theory: |E| = 10⁶, |V| = 10⁴",
                x="steps of a phase, T", y="operations a step, on average")  # fmt: skip
    _draw_costs(right, costs, {"measured": "one asked", "asked": "25 asked"}, EXACT)
    look.titled(right, "Min-cut as measured: 120 vertices, 6,400 edges",
                x="steps of a phase, T", y="milliseconds a step, on average")  # fmt: skip
    return figure


def _draw_probes(axes: Any, table: Table) -> None:
    ways = {"one": ("unprotected", True), "plain": ("unprotected", False),
            "robust": ("protected", False)}  # fmt: skip
    for victim, own in table.by("victim"):
        method, dashed = ways[victim]
        look.band(axes, own["probes"], own["error"], own["deviation"], method=method,
                  label=VICTIMS[victim], dashed=dashed)  # fmt: skip
    least, most = table["probes"].min(), table["probes"].max()
    look.stated(axes, [least, most], [ACCURACY] * 2, "accuracy 0.25")
    look.logarithmic(axes, "x")
    axes.set_ylim(0, 1.1)
    axes.set_xlim(least, most)
    look.name_lines(axes)
    look.note(axes, f"{COPIES} copies of {ROWS} rows, {SAMPLE} asked, ε₀ = {EPSILON0}", y=0.99)
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
    axes.set_xticks([10, 10**3, 10**5, 10**7])
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
    full={"probes": [100, 300, 1000, 3000, 10_000], "runs": 12, "work": 30_000, "lengths": 29},
    quick={"probes": [100, 300, 1000], "runs": 5, "work": 2000, "lengths": 15},
)
