"""Figure 7: the epsilon that keeps a private median within a tenth of the range."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.quantiles.exponential import QExp
from sourdine.central.quantiles.points import Points
from sourdine_lab import look
from sourdine_lab.bounds import exact_epsilon, exact_miss, rank_epsilon, spread_printed
from sourdine_lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

__all__ = ["BETA", "BOUNDS", "ERROR", "STATED", "N", "by_law", "by_the_formula", "samples"]

N, BOUNDS, ERROR, BETA = 1000, (0, 200), 20, 0.01
STATED = 0.99
TICKS = 1024
EDGES = np.linspace(-40, 40, 81)
WAYS = {
    "stated": "The document: ε = {:.2f}",
    "formula": "Its own formula: ε = {:.3f}",
    "law": "The smallest by the law: ε = {:.3f}",
}


def samples(sets: int, seed: int = 7) -> NDArray[np.float64]:
    """Return data sets like the document's, a row each."""
    return np.random.default_rng(seed).uniform(*BOUNDS, (sets, N))


def by_the_formula(sets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the epsilon that the document's proposition gives for each data set.

    An error of a tenth of the range is a rank error of a tenth of the values.
    """
    return np.array([rank_epsilon(N / 10, spread_printed(x, BOUNDS), BETA) for x in sets])


@cache
def by_law(sets: int) -> float:
    """Return the smallest epsilon that meets the target, over so many data sets."""
    return exact_epsilon(samples(sets), 0.5, BOUNDS, error=ERROR, beta=BETA)


def parts(settings: Settings) -> list[Settings]:
    """One part a way to choose epsilon, and one for the chance of a large error."""
    common = {"sets": settings["sets"], "runs": settings["runs"]}
    return [{"way": way, **common} for way in (*WAYS, "curve")]


def compute(part: Part) -> Iterator[Row]:
    """Yield the curve, or the estimates at one epsilon."""
    yield from _curve(part["sets"]) if part["way"] == "curve" else _estimates(part)


def _curve(count: int) -> Iterator[Row]:
    sets = samples(count)
    for epsilon in np.geomspace(0.02, 1.0, 25):
        corrected, printed = (
            exact_miss(sets, 0.5, BOUNDS, epsilon=e, error=ERROR) for e in (epsilon, 2 * epsilon)
        )
        yield {"way": "curve", "epsilon": epsilon, "missed": corrected, "printed": printed}


def _estimates(part: Part) -> Iterator[Row]:
    way, runs, source = part["way"], part["runs"], part.source
    sets = samples(part["sets"])
    epsilon = {
        "stated": lambda: STATED,
        "formula": lambda: float(np.median(by_the_formula(sets))),
        "law": lambda: by_law(part["sets"]),
    }[way]()
    cells = BOUNDS[1] * TICKS + 1
    points = Points.of(np.round(sets[0] * TICKS), cells)
    mechanism = QExp(epsilon=epsilon, q=[0.5], cells=cells, relation="substitute")
    drawn = np.array([mechanism.one(points, source)[0] for _ in range(runs)]) / TICKS
    counts, _ = np.histogram(drawn - np.median(sets[0]), EDGES)
    missed = exact_miss(sets, 0.5, BOUNDS, epsilon=epsilon, error=ERROR)
    for low, high, count in zip(EDGES[:-1], EDGES[1:], counts, strict=True):
        yield {
            "way": way, "epsilon": epsilon, "missed": missed, "runs": runs,
            "low": low, "high": high, "estimates": count,
        }  # fmt: skip


def draw(table: Table) -> Any:
    """Draw the estimates at the three epsilons, and the chance of a large error."""
    figure, panels = look.panels(4, rows=2, width=9.5, height=6, sharey=False)
    for axes, way in zip(panels, WAYS, strict=False):
        _histogram(axes, table.where(way=way), WAYS[way], way)
    _chances(panels[3], table)
    return figure


def _histogram(axes: Any, rows: Table, title: str, way: str) -> None:
    tint = look.colour("stated" if way == "stated" else "qexp")
    edges = np.append(rows["low"], rows["high"][-1])
    axes.stairs(rows["estimates"], edges, fill=True, color=tint, alpha=0.35)
    for end in (-ERROR, ERROR):
        axes.axvline(end, color=look.SLATE, linestyle="--", linewidth=0.9)
    look.note(axes, f"chance of\nan error\nabove {ERROR}:\n{_short(rows['missed'][0])}")
    look.titled(
        axes, title.format(rows["epsilon"][0]), x="private median less the median",
        y=f"estimates of {rows['runs'][0]} per bin",
    )  # fmt: skip
    axes.set_ylim(0, 1.1 * rows["estimates"].max())


def _short(chance: float) -> str:
    """Return a probability in a digit, its power of ten written as one."""
    digit, power = f"{chance:.0e}".split("e")
    return f"{chance:.2g}" if chance > 1e-3 else f"${digit}\\cdot10^{{{int(power)}}}$"


def _chances(axes: Any, table: Table) -> None:
    """Draw the chance of an error above the target against epsilon, and the three choices."""
    curve = table.where(way="curve")
    for column, name, dashed in (("missed", "QExp", False), ("printed", "as printed", True)):
        shown = curve[column] > 1e-12
        x, y = curve["epsilon"][shown], curve[column][shown]
        look.band(axes, x, y, method="qexp", dashed=dashed)
        axes.annotate(
            name, (x[-1], y[-1]), (-6, 0), textcoords="offset points", ha="right", fontsize=9,
            color=look.colour("qexp"),
        )  # fmt: skip
    axes.axhline(BETA, color=look.SLATE, linestyle="--", linewidth=0.9)
    look.logarithmic(axes)
    for way in WAYS:
        epsilon = table.where(way=way)["epsilon"][0]
        axes.axvline(epsilon, color=look.BLACK, linestyle=":", linewidth=1.3)
        axes.annotate(
            f"{epsilon:.2g}", (epsilon, 1), (3, -2), xycoords=("data", "axes fraction"),
            textcoords="offset points", fontsize=9, va="top", color=look.BLACK,
        )  # fmt: skip
    axes.set_xlim(0.018, 1.6)
    look.titled(
        axes, f"Chance of an error above {ERROR}; the target is {BETA}", x="ε", y="probability"
    )


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
    full={"sets": 1000, "runs": 500},
    quick={"sets": 100, "runs": 500},
)
