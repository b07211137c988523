"""Figures 14 to 17: how long four quantiles of 100 records take, by each algorithm."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.many_quantiles import algorithm, common, on_grid
from sourdine_lab.settings import DataLaw, Setting, integer, number, words
from sourdine_lab.settings import orders as orders_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

ORDERS = [0.2, 0.4, 0.6, 0.8]
NAMES = {"indexp": "IndExp", "jointexp": "JointExp", "recexp": "RecExp", "no privacy": "no privacy"}


def parts(settings: Settings) -> list[Settings]:
    """One part an algorithm."""
    return [{"method": method, "runs": settings["runs"]} for method in settings["methods"]]


def compute(part: Part) -> Iterator[Row]:
    """Yield the time of each run: the records put in order, and the draw.

    The operating system's randomness is used, as a person would.
    """
    x = DataLaw.read(part["law"]).draw(part.rng, part["n"])
    call = _call(part, x)
    for run in range(-part["warm"], part["runs"]):
        start = perf_counter()
        call()
        seconds = perf_counter() - start
        if run >= 0:
            yield {"method": part["method"], "run": run, "milliseconds": 1e3 * seconds}


def _call(part: Part, x: np.ndarray[Any, Any]) -> Callable[[], object]:
    method, orders, cells = part["method"], part["orders"], part["cells"]
    if method == "no privacy":
        return lambda: np.quantile(x, orders)
    mechanism = algorithm(
        method, orders, part["epsilon"], n=part["n"], cells=cells, relation=part["relation"]
    )
    return lambda: mechanism.release(on_grid(x, cells))


def draw(table: Table, settings: Settings) -> Any:
    """Draw a histogram an algorithm, on one scale."""
    count = len(settings["methods"])
    figure, axes = look.panels(count, rows=count, height=1.5 * count, sharex=True)
    every = table["milliseconds"]
    edges = np.geomspace(every.min() * 0.9, every.max() * 1.1, 60)
    for one, (method, rows) in zip(axes, table.by("method"), strict=True):
        times = rows["milliseconds"]
        one.hist(times, edges, color=look.colour(method), alpha=0.8, linewidth=0)
        look.titled(one, f"{NAMES[method]}: median {np.median(times):.3g} ms", x="", y="runs")
    axes[-1].set_xlabel("time of one run, milliseconds")
    look.logarithmic(axes[-1], "x")
    return figure


EXPERIMENT = Experiment(
    name="audibert-14",
    figures=("audibert-14", "audibert-15", "audibert-16", "audibert-17"),
    ids=("A8", "A9", "A10", "A11"),
    title="Run times of four quantiles of 100 records",
    question="How long do IndExp, JointExp, RecExp and the sample's quantiles take?",
    stated="four histograms of 40 runs each, at epsilon 1, without numbers in the text; said to "
    "agree with Kaplan, Schnapp and Stemmer 2022",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("epsilon", 1.0, number(above=0), "of all quantiles together"),
        Setting("orders", ORDERS, orders_kind(), "orders of the quantiles, ascending"),
        Setting("runs", 40, integer(least=1), "runs that are timed", split=True),
        Setting("warm", 3, integer(least=0), "runs before them that are not"),
        Setting("methods", list(NAMES), words(*NAMES), "the algorithms", split=True),
        *common("uniform(0.01,0.99)"),
    ),
    alone=True,
)  # fmt: skip
