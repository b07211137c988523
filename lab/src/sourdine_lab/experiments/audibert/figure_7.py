"""Figure 7: the epsilon that keeps a private median within a tenth of the range."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.quantiles.exponential import QExp
from sourdine.central.quantiles.points import Points
from sourdine_lab import look
from sourdine_lab.bounds import exact_epsilon, exact_miss, rank_epsilon, spread_printed
from sourdine_lab.experiment import Experiment
from sourdine_lab.settings import DataLaw, Setting, integer, integers, law, number, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

__all__ = ["BETA", "BOUNDS", "ERROR", "STATED", "N", "by_law", "by_the_formula", "samples"]

N, BOUNDS, ERROR, BETA = 1000, (0, 200), 20, 0.01
LAW, SEED = "uniform(0,200)", 7
STATED = 0.99
WAYS = {
    "stated": "The document: ε = {:.2f}",
    "formula": "Its own formula: ε = {:.3f}",
    "law": "The smallest by the law: ε = {:.3f}",
}


def samples(
    sets: int, seed: int = SEED, *, law: str = LAW, n: int = N, bounds: Sequence[int] = BOUNDS
) -> NDArray[np.float64]:
    """Return data sets like the document's, a row each."""
    drawn = DataLaw.read(law).draw(np.random.default_rng(seed), (sets, n))
    return np.clip(drawn, bounds[0], bounds[1])


def by_the_formula(
    sets: NDArray[np.float64],
    *,
    bounds: Sequence[int] = BOUNDS,
    error: float = ERROR,
    beta: float = BETA,
) -> NDArray[np.float64]:
    """Return the epsilon that the document's proposition gives for each data set.

    An error of a tenth of the range is a rank error of a tenth of the values.
    """
    (low, high), n = bounds, sets.shape[1]
    rank = n * error / (high - low)
    return np.array([rank_epsilon(rank, spread_printed(x, (low, high)), beta) for x in sets])


@cache
def by_law(sets: int) -> float:
    """Return the smallest epsilon that meets the document's target, over so many data sets."""
    return exact_epsilon(samples(sets), 0.5, BOUNDS, error=ERROR, beta=BETA)


def parts(settings: Settings) -> list[Settings]:
    """One part a way to choose epsilon, and one for the chance of a large error."""
    common = {"sets": settings["sets"], "runs": settings["runs"]}
    return [{"way": way, **common} for way in (*WAYS, "curve")]


def compute(part: Part) -> Iterator[Row]:
    """Yield the curve, or the estimates at one epsilon."""
    sets = samples(
        part["sets"], part["data_seed"], law=part["law"], n=part["n"], bounds=part["bounds"]
    )
    yield from _curve(part, sets) if part["way"] == "curve" else _estimates(part, sets)


def _curve(part: Part, sets: NDArray[np.float64]) -> Iterator[Row]:
    low, high = part["epsilon_range"]
    for epsilon in np.geomspace(low, high, part["points"]):
        corrected, printed = (
            exact_miss(sets, part["order"], tuple(part["bounds"]), epsilon=e, error=part["error"])
            for e in (epsilon, 2 * epsilon)
        )
        yield {"way": "curve", "epsilon": epsilon, "missed": corrected, "printed": printed}


def _estimates(part: Part, sets: NDArray[np.float64]) -> Iterator[Row]:
    way, runs, source = part["way"], part["runs"], part.source
    (low, high), order, error, beta = part["bounds"], part["order"], part["error"], part["beta"]
    if way == "stated":
        epsilon = float(part["stated"])
    elif way == "formula":
        given = by_the_formula(sets, bounds=(low, high), error=error, beta=beta)
        epsilon = float(np.median(given))
    else:
        epsilon = exact_epsilon(sets, order, (low, high), error=error, beta=beta)
    ticks, edges = part["ticks"], np.linspace(-2 * error, 2 * error, part["bins"] + 1)
    cells = (high - low) * ticks + 1
    points = Points.of(np.round((sets[0] - low) * ticks), cells)
    mechanism = QExp(epsilon=epsilon, q=[order], cells=cells, relation="substitute")
    drawn = low + np.array([mechanism.one(points, source)[0] for _ in range(runs)]) / ticks
    true = np.median(sets[0]) if order == 0.5 else np.quantile(sets[0], order)
    counts, _ = np.histogram(drawn - true, edges)
    missed = exact_miss(sets, order, (low, high), epsilon=epsilon, error=error)
    for left, right, count in zip(edges[:-1], edges[1:], counts, strict=True):
        yield {
            "way": way, "epsilon": epsilon, "missed": missed, "runs": runs,
            "low": left, "high": right, "estimates": count,
        }  # fmt: skip


def draw(table: Table, settings: Settings) -> Any:
    """Draw the estimates at the three epsilons, and the chance of a large error."""
    figure, panels = look.panels(4, rows=2, width=9.5, height=6, sharey=False)
    for axes, way in zip(panels, WAYS, strict=False):
        _histogram(axes, table.where(way=way), way, settings)
    _chances(panels[3], table, settings)
    return figure


def _histogram(axes: Any, rows: Table, way: str, settings: Settings) -> None:
    error, what = settings["error"], "median" if settings["order"] == 0.5 else "quantile"
    title = WAYS[way]
    if way == "stated" and settings["stated"] != STATED:
        title = "As given: ε = {:.3g}"
    tint = look.colour("stated" if way == "stated" else "qexp")
    edges = np.append(rows["low"], rows["high"][-1])
    axes.stairs(rows["estimates"], edges, fill=True, color=tint, alpha=0.35)
    for end in (-error, error):
        axes.axvline(end, color=look.SLATE, linestyle="--", linewidth=0.9)
    look.note(axes, f"chance of\nan error\nabove {error:g}:\n{_short(rows['missed'][0])}")
    look.titled(
        axes, title.format(rows["epsilon"][0]), x=f"private {what} less the {what}",
        y=f"estimates of {rows['runs'][0]} per bin",
    )  # fmt: skip
    axes.set_ylim(0, 1.1 * rows["estimates"].max())


def _short(chance: float) -> str:
    """Return a probability in a digit, its power of ten written as one."""
    digit, power = f"{chance:.0e}".split("e")
    return f"{chance:.2g}" if chance > 1e-3 else f"${digit}\\cdot10^{{{int(power)}}}$"


def _chances(axes: Any, table: Table, settings: Settings) -> None:
    """Draw the chance of an error above the target against epsilon, and the three choices."""
    curve = table.where(way="curve")
    for column, name, dashed in (("missed", "QExp", False), ("printed", "as printed", True)):
        shown = curve[column] > 1e-12
        if not shown.any():
            continue
        x, y = curve["epsilon"][shown], curve[column][shown]
        look.band(axes, x, y, method="qexp", dashed=dashed)
        axes.annotate(
            name, (x[-1], y[-1]), (-6, 0), textcoords="offset points", ha="right", fontsize=9,
            color=look.colour("qexp"),
        )  # fmt: skip
    axes.axhline(settings["beta"], color=look.SLATE, linestyle="--", linewidth=0.9)
    look.logarithmic(axes)
    chosen = [float(table.where(way=way)["epsilon"][0]) for way in WAYS]
    close = any(b < 1.3 * a for a, b in pairwise(sorted(chosen)))
    for i, epsilon in enumerate(chosen):
        axes.axvline(epsilon, color=look.BLACK, linestyle=":", linewidth=1.3)
        axes.annotate(
            f"{epsilon:.2g}", (epsilon, 1), (3, -2 - 10 * i * close), va="top", fontsize=9,
            xycoords=("data", "axes fraction"), textcoords="offset points", color=look.BLACK,
        )  # fmt: skip
    low, high = settings["epsilon_range"]
    axes.set_xlim(0.9 * low, 1.6 * high)
    look.titled(
        axes, f"Chance of an error above {settings['error']:g}; the target is {settings['beta']:g}",
        x="ε", y="probability",
    )  # fmt: skip


EXPERIMENT = Experiment(
    name="audibert-7",
    ids=("A6",),
    title="The smallest epsilon for a median within a tenth of the range",
    question=(
        "Which epsilon keeps the error of the median of 1000 values, uniform on [0, 200], below 20 "
        "with probability 0.99?"
    ),
    stated="the best compromise is about 0.99, a very good one",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("error", ERROR, number(above=0), "the target: an error above it is to be rare"),
        Setting("beta", BETA, number(above=0, below=1), "the chance of it that is allowed"),
        Setting("stated", STATED, number(above=0), "the document's epsilon"),
        Setting("n", N, integer(least=2), "values in a data set"),
        Setting("law", LAW, law(), "the law of the values"),
        Setting("bounds", list(BOUNDS), integers(count=2), "public; values are cut off there"),
        Setting("order", 0.5, number(above=0, below=1), "order of the quantile"),
        Setting("sets", 1000, integer(least=1), "data sets that chances are a mean over", quick=100,
                split=True),
        Setting("runs", 500, integer(least=1), "estimates from the first data set", split=True),
        Setting("epsilon_range", [0.02, 1.0], numbers(count=2, above=0), "ends of the curve"),
        Setting("points", 25, integer(least=2), "epsilons of the curve"),
        Setting("bins", 80, integer(least=2), "bins of a histogram"),
        Setting("ticks", 1024, integer(least=1), "steps of the grid of answers in a unit"),
        Setting("data_seed", SEED, integer(least=0), "seed of the data sets"),
    ),
)  # fmt: skip
