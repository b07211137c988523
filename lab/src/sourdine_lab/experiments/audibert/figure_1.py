"""Figures 1 to 3: private means of 1000 values, with Laplace and with Gaussian noise.

Values are whole numbers, so the noise is drawn on their sum, in whole numbers, and the mean is what
is drawn over their number.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine import noise
from sourdine.mechanisms.gaussian import gaussian_law, tight_variance
from sourdine.mechanisms.laplace import laplace_law
from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.settings import DataLaw, Setting, integer, integers, law, number, numbers, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.laws import Law
    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

__all__ = ["EXPERIMENT", "compute", "whole_values"]

METHODS = ("laplace", "gaussian")
FINE = 50
"""The tight variance is found for so many ticks of sensitivity: the same to some millionths."""
FIGURES = {("laplace", 0.8): 1, ("gaussian", 0.1): 2, ("gaussian", 0.8): 3}


def parts(settings: Settings) -> list[Settings]:
    """One part a panel."""
    return [
        {"kind": kind, "epsilon": epsilon, "runs": settings["runs"]}
        for kind, epsilon in product(settings["methods"], settings["epsilons"])
    ]


def whole_values(
    of: DataLaw, n: int, bounds: Sequence[int], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return values of a law, rounded to whole numbers and cut off at the bounds.

    A uniform law with whole ends is uniform on whole numbers, both ends included.
    """
    low, high = of.parameters[0], of.parameters[-1]
    if of.name == "uniform" and low == int(low) and high == int(high):
        values = rng.integers(int(low), int(high), n, endpoint=True)
    else:
        values = np.rint(of.draw(rng, n)).astype(np.int64)
    return np.clip(values, bounds[0], bounds[1])


def compute(part: Part) -> Iterator[Row]:
    """Yield, for each bin, how many means fell there and how many the law expects."""
    epsilon, runs, n, bins = Fraction(str(part["epsilon"])), part["runs"], part["n"], part["bins"]
    values = whole_values(
        DataLaw.read(part["law"]), n, part["bounds"], np.random.default_rng(part["data_seed"])
    )
    total = int(values.sum())
    law, tight = _laws(part, total, epsilon)
    drawn = total + _noise(part, epsilon, runs, part.source)
    half = part["bin"] * bins / 2
    edges = total / n + np.linspace(-1, 1, bins + 1) * half * part["epsilons"][0] / part["epsilon"]
    counts, _ = np.histogram(drawn / n, edges)
    expected, tightly = (runs * _between(one, edges, n) for one in (law, tight))
    deviation, least = (one.variance() ** 0.5 / n for one in (law, tight))
    for i in range(bins):
        yield {
            "kind": part["kind"], "epsilon": part["epsilon"], "runs": runs,
            "low": edges[i], "high": edges[i + 1], "estimates": counts[i],
            "expected": expected[i], "tight": tightly[i], "mean": total / n,
            "deviation": deviation, "tight_deviation": least,
        }  # fmt: skip


def _width(part: Part) -> int:
    low, high = part["bounds"]
    return int(high - low)


def _variance(part: Part, epsilon: Fraction) -> Fraction:
    """Return the document's variance of the sum's noise."""
    return (Fraction(str(part["c"])) * _width(part) / epsilon) ** 2


def _laws(part: Part, total: int, epsilon: Fraction) -> tuple[Law, Law]:
    """Return the law of the noisy sum, and the one with no more noise than it takes."""
    width = _width(part)
    if part["kind"] == "laplace":
        law = laplace_law(total, width / epsilon)
        return law, law
    ticks = min(width, FINE)
    tight = (
        tight_variance(epsilon, Fraction(str(part["delta"])), ticks) * Fraction(width, ticks) ** 2
    )
    return gaussian_law(total, _variance(part, epsilon)), gaussian_law(total, tight)


def _noise(part: Part, epsilon: Fraction, runs: int, source: Source) -> NDArray[np.int64]:
    if part["kind"] == "laplace":
        return noise.discrete_laplace(_width(part) / epsilon, runs, source=source)
    return noise.discrete_gaussian(_variance(part, epsilon), runs, source=source)


def _between(law: Law, edges: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the probability of a mean from each edge up to the next."""
    return np.diff(law.cdf(np.ceil(edges * n).astype(np.int64) - 1))


def draw(table: Table, settings: Settings) -> Any:
    """Draw the histograms, a row for each kind of noise."""
    kinds, epsilons = settings["methods"], settings["epsilons"]
    figure, panels = look.panels(
        len(kinds) * len(epsilons), rows=len(kinds), width=9.5, height=3 * len(kinds)
    )
    usual = not EXPERIMENT.other(settings, quick=True)
    for axes, (kind, epsilon) in zip(panels, product(kinds, epsilons), strict=True):
        _histogram(axes, table.where(kind=kind, epsilon=epsilon))
        number = FIGURES.get((kind, epsilon)) if usual else None
        title = f"{kind.capitalize()}, ε = {epsilon:g}"
        look.titled(
            axes, f"Figure {number}: {title}" if number else title,
            x="private mean" if kind == kinds[-1] else "", y="",
        )  # fmt: skip
    for axes in panels[:: len(epsilons)]:
        axes.set_ylabel(f"estimates of {table['runs'][0]} per bin", color=look.BLACK)
    if usual:
        look.note(panels[2], "the document:\n“a finer and higher peak”\nthan Laplace's", x=0.98)
        look.note(panels[3], "the document:\n“much more blurred”\nthan Laplace's", x=0.98)
    return figure


def _histogram(axes: Any, rows: Table) -> None:
    """Draw the estimates, their law, and the law with no more noise than it takes."""
    tint = look.colour(rows["kind"][0])
    edges = np.append(rows["low"], rows["high"][-1])
    x = (edges[:-1] + edges[1:]) / 2
    axes.axvline(rows["mean"][0], color=look.colour("truth"), linewidth=0.8)
    axes.stairs(rows["estimates"], edges, fill=True, color=tint, alpha=0.35)
    axes.plot(x, rows["expected"], color=tint, linewidth=1.6)
    words = f"standard deviation {rows['deviation'][0]:.3g}"
    if rows["kind"][0] == "gaussian":
        axes.plot(x, rows["tight"], "--", color=look.colour("today"), linewidth=1.3)
        words += f"\ntight calibration {rows['tight_deviation'][0]:.3g} (dashed)"
    look.note(axes, words)
    axes.set_xlim(edges[0], edges[-1])


EXPERIMENT = Experiment(
    name="audibert-1",
    ids=("A1", "A2", "A4"),
    title="A private mean with Laplace and with Gaussian noise",
    question=(
        "How do 2000 private means of the same 1000 values spread, and does lowering epsilon by a "
        "factor of 8 hurt Gaussian noise more than Laplace noise?"
    ),
    stated=(
        "the Gaussian peak at epsilon 0.8 is finer and higher than the Laplace peak, and lowering "
        "epsilon blurs it much more; normal values give similar results (law=normal(500,11.18))"
    ),
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("epsilons", [0.8, 0.1], numbers(above=0), "privacy losses, a column each",
                split=True),
        Setting("delta", 0.00001, number(above=0, below=1), "of Gaussian noise: 1/(100 n)"),
        Setting("c", 5, number(above=0), "Gaussian noise deviates by c (b - a)/(n epsilon)"),
        Setting("n", 1000, integer(least=1), "values in the data set"),
        Setting("law", "uniform(0,1000)", law(), "the law of the values, rounded to whole numbers"),
        Setting("bounds", [0, 1000], integers(count=2), "public; values are cut off there"),
        Setting("methods", list(METHODS), words(*METHODS), "noises, a row each", split=True),
        Setting("runs", 2000, integer(least=1), "private means of the data set", split=True),
        Setting("bin", 0.5, number(above=0), "width of a bin at the first epsilon"),
        Setting("bins", 81, integer(least=2), "bins of a histogram"),
        Setting("data_seed", 1, integer(least=0), "seed of the data set"),
    ),
    figures=("audibert-1", "audibert-2", "audibert-3"),
)  # fmt: skip
